/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "background.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "message.h"

static void parent_main(int ready_fd, pid_t child)
{
	char ready;
	int status;

	if (read(ready_fd, &ready, 1) == 1)
		_exit(0);
	if (waitpid(child, &status, 0) == child && WIFEXITED(status))
		_exit(WEXITSTATUS(status));
	_exit(1);
}

int background_start(void)
{
	int ends[2];
	pid_t child;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return -errno;
	child = fork();
	if (child < 0) {
		close(ends[0]);
		close(ends[1]);
		return -errno;
	}
	if (child > 0) {
		close(ends[1]);
		parent_main(ends[0], child);
	}
	close(ends[0]);
	setsid();
	return ends[1];
}

void background_ready(int ready_fd)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	message_to_log();
	for (int fd = STDIN_FILENO; null >= 0 && fd <= STDERR_FILENO; fd++)
		dup2(null, fd);
	if (null > STDERR_FILENO)
		close(null);
	if (write(ready_fd, "", 1) < 0)
		message_note("whoever started this daemon has gone");
	close(ready_fd);
}
