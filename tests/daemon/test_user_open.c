/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test_user_open.c - the daemon opens a program's memory through /proc, and no other file that the
 * program puts in its place. */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "user_find.h"

/**
 * struct open_file - a descriptor of this process as the daemon finds it
 * @fd: owned
 * @path: the link in /proc
 */
struct open_file {
	int fd;
	ino_t ino;
	char path[64];
};

static struct open_file open_file_of(int fd)
{
	struct open_file file = {.fd = fd};
	struct stat status;

	CU_ASSERT_FATAL(fd >= 0);
	CU_ASSERT_EQUAL_FATAL(fstat(fd, &status), 0);
	file.ino = status.st_ino;
	snprintf(file.path, sizeof(file.path), "/proc/%d/fd/%d", (int)getpid(), fd);
	return file;
}

static void refused(const struct open_file *file)
{
	errno = 0;
	CU_ASSERT_EQUAL(user_find_open(file->path, file->ino), -1);
	CU_ASSERT_EQUAL(errno, ESTALE);
	close(file->fd);
}

static void memory_is_opened(void)
{
	struct open_file file = open_file_of(memfd_create("memory", MFD_CLOEXEC | MFD_ALLOW_SEALING));
	int fd = user_find_open(file.path, file.ino);

	CU_ASSERT(fd >= 0);
	CU_ASSERT_EQUAL(open_file_of(fd).ino, file.ino);
	CU_ASSERT_EQUAL(fcntl(fd, F_GETFL) & O_ACCMODE, O_RDWR);
	close(fd);
	close(file.fd);
}

static void another_memory_is_not_opened(void)
{
	struct open_file file = open_file_of(memfd_create("memory", MFD_CLOEXEC | MFD_ALLOW_SEALING));

	file.ino++;
	refused(&file);
}

static void a_file_on_a_disk_is_not_opened(void)
{
	struct open_file file = open_file_of(open("/proc/self/exe", O_RDONLY | O_CLOEXEC));

	refused(&file);
}

static void a_file_of_another_tmpfs_is_not_opened(void)
{
	char path[] = "/dev/shm/test_user_open.XXXXXX";
	struct open_file file = open_file_of(mkstemp(path));

	unlink(path);
	refused(&file);
}

/* A FIFO without a reader would block a daemon that opens it only for writing. Opening and closing
 * it would end it for others that wait. */
static void a_fifo_is_not_opened(void)
{
	struct pollfd end = {.events = POLLIN};
	int ends[2];
	struct open_file file;

	CU_ASSERT_EQUAL_FATAL(pipe2(ends, O_CLOEXEC), 0);
	end.fd = ends[0];
	file = open_file_of(ends[1]);
	refused(&file);
	CU_ASSERT_EQUAL(poll(&end, 1, 0), 1); /* POLLHUP: no other writer has it */
	CU_ASSERT(end.revents & POLLHUP);
	close(ends[0]);
}

/* Runs in a session of its own, without a terminal, as a daemon started by cron or by a unit does.
 * Exits with the number of the step that failed. */
static void be_given_a_terminal(void)
{
	struct open_file file;
	int terminal = posix_openpt(O_RDWR | O_NOCTTY), other;
	char name[64];

	if (setsid() < 0 || terminal < 0 || grantpt(terminal) || unlockpt(terminal) ||
	    ptsname_r(terminal, name, sizeof(name)))
		_exit(77);
	file = open_file_of(open(name, O_RDWR | O_NOCTTY | O_CLOEXEC));
	if (user_find_open(file.path, file.ino) >= 0)
		_exit(1);
	other = open("/dev/tty", O_RDWR | O_NOCTTY); /* it opens only if the process took the terminal */
	_exit(other >= 0 ? 2 : 0);
}

static void a_terminal_is_neither_opened_nor_taken(void)
{
	pid_t child = fork();
	int status = -1;

	if (child == 0)
		be_given_a_terminal();
	CU_ASSERT_EQUAL(waitpid(child, &status, 0), child);
	CU_ASSERT(WIFEXITED(status));
	CU_ASSERT_EQUAL(WEXITSTATUS(status), 0);
}

static const struct unit_case cases[] = {
	CASE(memory_is_opened),
	CASE(another_memory_is_not_opened),
	CASE(a_file_on_a_disk_is_not_opened),
	CASE(a_file_of_another_tmpfs_is_not_opened),
	CASE(a_fifo_is_not_opened),
	CASE(a_terminal_is_neither_opened_nor_taken),
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	return unit_main("user_open", cases, argc, argv);
}
