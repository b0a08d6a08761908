/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "background.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "message.h"

/* Exits with the status of the child. */
static void exit_as(pid_t child)
{
	int status;

	if (waitpid(child, &status, 0) == child && WIFEXITED(status))
		_exit(WEXITSTATUS(status));
	_exit(1);
}

/* Exits with 0 when the daemon is ready, and with the daemon's status if it fails before. */
static void wait_until_ready(int ready_fd, pid_t daemon)
{
	char ready;

	if (read(ready_fd, &ready, 1) == 1)
		_exit(0);
	exit_as(daemon);
}

/*
 * SECURITY: the leader of the new session forks the daemon, so the daemon is not a session leader,
 * and no terminal that it opens can become its controlling terminal. It closes inherited
 * descriptors: otherwise a lock or a pipe of the caller would stay open as long as the daemon runs.
 */
int background_start(void)
{
	int ends[2], err;
	pid_t leader, daemon;

	close_range(STDERR_FILENO + 1, ~0u, 0);
	if (pipe2(ends, O_CLOEXEC) < 0)
		return -errno;
	leader = fork();
	if (leader < 0) {
		err = -errno;
		close(ends[0]);
		close(ends[1]);
		return err;
	}
	if (leader > 0) {
		close(ends[0]);
		close(ends[1]);
		exit_as(leader);
	}
	setsid();
	daemon = fork();
	if (daemon < 0) {
		message_error("cannot go to the background: %s", strerror(errno));
		_exit(1);
	}
	if (daemon > 0) {
		close(ends[1]);
		wait_until_ready(ends[0], daemon);
	}
	close(ends[0]);
	return ends[1];
}

void background_ready(int ready_fd)
{
	int null = open("/dev/null", O_RDWR | O_NOCTTY | O_CLOEXEC);

	message_to_log();
	for (int fd = STDIN_FILENO; null >= 0 && fd <= STDERR_FILENO; fd++)
		dup2(null, fd);
	if (null > STDERR_FILENO)
		close(null);
	if (write(ready_fd, "", 1) < 0)
		message_note("the process that started this daemon has ended");
	close(ready_fd);
}
