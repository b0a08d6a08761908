/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * bell.c - reach a daemon without a path: from a container, a chroot or another mount namespace
 *
 * A program that finds no daemon's socket may be in a place where it cannot see it. Then it asks
 * the kernel whether a daemon listens anywhere, and calls that one. <trace/user_memory.h> has the
 * protocol: a lock on the file of the time namespace says that a daemon listens, and an unlock of
 * the program memory makes the kernel report this process to it. All of it is system calls on
 * descriptors of our own. Without a daemon it is one open, one or two fcntl and one close.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#include "user.h"

#define NAP_NS		     100000
#define MAX_UNANSWERED	     3
#define FIRST_TIME_NAMESPACE 0xeffffffau /* PROC_TIME_INIT_INO of Linux */

#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif
#define GET_TIME_NAMESPACE _IO(0xff, 7) /* PIDFD_GET_TIME_NAMESPACE of Linux 6.11 */

/* The file of our time namespace, which containers share with the machine. */
static int open_namespace(void)
{
	int fd = open("/proc/self/ns/time", O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK), process;

	if (fd >= 0 || errno == EMFILE)
		return fd;
	process = (int)syscall(SYS_pidfd_open, getpid(), 0); /* without /proc */
	if (process < 0)
		return -1;
	fd = ioctl(process, GET_TIME_NAMESPACE, 0);
	close(process);
	return fd;
}

/* Is the holder of the lock a process that programs trust? If it is in another pid namespace we
 * cannot tell. */
static bool may_be_trusted(pid_t holder)
{
	struct stat status;
	char path[32];

	if (holder <= 0)
		return true;
	snprintf(path, sizeof(path), "/proc/%d", (int)holder);
	return stat(path, &status) != 0 || status.st_uid == 0 || status.st_uid == geteuid();
}

/* Has a daemon that takes programs of @uid locked its byte? */
static bool listens(int fd, trace_u32 uid)
{
	struct flock lock = {.l_type = F_WRLCK,
			     .l_whence = SEEK_SET,
			     .l_start = (off_t)user_presence_offset(secure_getenv("TRACER_SOCKET"), uid),
			     .l_len = 1};

	return fcntl(fd, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK && may_be_trusted(lock.l_pid);
}

/* CANNOT_TELL: we have a time namespace of our own, or see none. */
static enum presence { ABSENT, CANNOT_TELL, PRESENT } daemon_presence(void)
{
	int fd = open_namespace();
	trace_u32 uid = (trace_u32)geteuid();
	enum presence presence = CANNOT_TELL;
	struct stat status;

	if (fd < 0)
		return CANNOT_TELL;
	if (listens(fd, 0) || (uid && listens(fd, uid)))
		presence = PRESENT;
	else if (fstat(fd, &status) == 0 && status.st_ino == FIRST_TIME_NAMESPACE)
		presence = ABSENT;
	close(fd);
	return presence;
}

/* The unlock is the call; the lock only makes it one. A daemon that claims the memory needs the
 * lock itself. */
static void ring(int fd)
{
	flock(fd, LOCK_SH | LOCK_NB);
	flock(fd, LOCK_UN);
}

static bool is_answered(const struct user_memory *memory)
{
	return __atomic_load_n(&memory->daemon_pid, __ATOMIC_ACQUIRE) != 0 ||
	       __atomic_load_n(&memory->answered, __ATOMIC_ACQUIRE) != 0;
}

enum user_offer_result user_bell(int memory_fd, const struct user_memory *memory, int naps)
{
	static uint32_t unanswered;
	const struct timespec nap = {0, NAP_NS};

	enum presence presence = daemon_presence();

	if (presence != ABSENT)
		ring(memory_fd);
	if (presence != PRESENT)
		return USER_NO_DAEMON; /* a daemon that hears the call switches the events on */
	for (; naps > 0 && !is_answered(memory); naps--)
		clock_nanosleep(CLOCK_MONOTONIC, 0, &nap, NULL);
	if (!is_answered(memory)) /* only a daemon can answer; any process can hold the lock */
		return __atomic_fetch_add(&unanswered, 1, __ATOMIC_RELAXED) < MAX_UNANSWERED ? USER_NOT_SENT
											     : USER_NO_DAEMON;
	return __atomic_load_n(&memory->daemon_pid, __ATOMIC_ACQUIRE) ? USER_SENT : USER_NO_DAEMON;
}

/* Without a descriptor nothing can be asked, so the call may reach no daemon. */
static void call_by_name(trace_u32 uid)
{
	char name[USER_BELL_NAME_BYTES], own[USER_BELL_NAME_BYTES] = "";

	user_bell_name(secure_getenv("TRACER_SOCKET"), uid, name);
	if (prctl(PR_GET_NAME, own) == 0 && prctl(PR_SET_NAME, name) == 0)
		prctl(PR_SET_NAME, own);
}

static bool has_descriptor(void)
{
	int fd = open_namespace();

	if (fd >= 0)
		close(fd);
	return fd >= 0 || (errno != EMFILE && errno != ENFILE);
}

void user_bell_without_memory(void)
{
	char name[USER_MEMORY_NAME_BYTES];
	int fd = -1;

	if (!has_descriptor()) {
		call_by_name(0);
		if (geteuid())
			call_by_name((trace_u32)geteuid());
		return;
	}

	if (daemon_presence() == ABSENT)
		return;
	user_memory_name(secure_getenv("TRACER_SOCKET"), name);
	fd = (int)syscall(SYS_memfd_create, name, 1U /* MFD_CLOEXEC */);
	if (fd < 0)
		return;
	ring(fd);
	close(fd);
}
