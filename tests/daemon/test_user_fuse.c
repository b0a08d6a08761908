/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_user_fuse.c - the daemon looks at a descriptor of a process, in a file system of its user.
 *
 * The test is the server of that file system (FUSE). It answers until the process has its file, and
 * then no longer. A question to it would end only when the test closes its connection.
 */
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>
#include "fuse_server.h"
#include "unit.h"
#include "user_find.h"

#define PATIENCE_S 5

static char folder[] = "/tmp/user_fuse_XXXXXX";

/* The process opens its file, says so, and then looks at the descriptor as the daemon does. */
static void __attribute__((noreturn)) run_process(int tell)
{
	char path[64], link[64];
	int file, result;

	snprintf(path, sizeof(path), "%s/f", folder);
	file = open(path, O_PATH | O_CLOEXEC);
	snprintf(link, sizeof(link), "/proc/self/fd/%d", file);
	if (write(tell, file < 0 ? "n" : "y", 1) != 1)
		_exit(1);
	result = user_find_open(link, FUSE_INODE);
	if (write(tell, "d", 1) != 1)
		_exit(1);
	_exit(file < 0 || result >= 0);
}

static void a_server_that_does_not_answer_is_not_asked(void)
{
	int fuse = fuse_mount(folder), ends[2], status;
	char answer = 0;
	pid_t child;

	if (fuse < 0)
		return;
	CU_ASSERT_EQUAL_FATAL(pipe2(ends, O_CLOEXEC), 0);
	child = fork();
	if (!child) {
		close(fuse);
		run_process(ends[1]);
	}
	CU_ASSERT(fuse_serve_until(fuse, ends[0], PATIENCE_S));
	CU_ASSERT_EQUAL(read(ends[0], &answer, 1), 1);
	CU_ASSERT_EQUAL(answer, 'y');
	CU_ASSERT_EQUAL(poll(&(struct pollfd){.fd = ends[0], .events = POLLIN}, 1, PATIENCE_S * 1000), 1);
	close(fuse); /* whatever waits for it ends now */
	CU_ASSERT_EQUAL(waitpid(child, &status, 0), child);
	CU_ASSERT(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	umount2(folder, MNT_DETACH);
	close(ends[0]);
	close(ends[1]);
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		CASE(a_server_that_does_not_answer_is_not_asked),
		{NULL, NULL},
	};
	int result;

	if (!mkdtemp(folder))
		abort();
	result = unit_main("files of users in daemons", cases, argc, argv);
	rmdir(folder);
	return result;
}
