/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test_kernel_numbers.c - recorded numbers and their names are those of this system. */
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <linux/ipc.h>
#include <netinet/in.h>
#include <linux/sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "linux_names.h"
#include "kernel_numbers.h"
#include "unit.h"

static const struct {
	const char *name;
	long long recorded, here;
} numbers[] = {
#define SAME(name)                        \
	{                                 \
#name, LINUX_##name, name \
	}
	SAME(EINTR),
	SAME(EAGAIN),
	SAME(ETIMEDOUT),
	SAME(S_IFMT),
	SAME(S_IFSOCK),
	SAME(S_IFLNK),
	SAME(S_IFREG),
	SAME(S_IFBLK),
	SAME(S_IFDIR),
	SAME(S_IFCHR),
	SAME(S_IFIFO),
	SAME(AT_FDCWD),
	SAME(O_ACCMODE),
	SAME(O_WRONLY),
	SAME(O_CLOEXEC),
	SAME(FD_CLOEXEC),
	{"__WALL", LINUX_WALL, __WALL},
	SAME(P_PID),
	SAME(F_DUPFD),
	SAME(F_SETFD),
	SAME(F_DUPFD_CLOEXEC),
	SAME(FIONCLEX),
	SAME(FIOCLEX),
	SAME(MAP_SHARED),
	SAME(MAP_PRIVATE),
	SAME(MAP_ANONYMOUS),
	SAME(PROT_WRITE),
	SAME(AF_UNSPEC),
	SAME(AF_UNIX),
	SAME(AF_INET),
	SAME(AF_INET6),
	SAME(AF_NETLINK),
	SAME(AF_PACKET),
	SAME(AF_BLUETOOTH),
	SAME(AF_ALG),
	SAME(AF_VSOCK),
	SAME(AF_XDP),
	SAME(SOCK_STREAM),
	SAME(SOCK_DGRAM),
	SAME(SOCK_RAW),
	SAME(IPPROTO_ICMP),
	SAME(IPPROTO_ICMPV6),
	SAME(SOCK_SEQPACKET),
	SAME(MSG_PEEK),
	SAME(MSG_DONTWAIT),
	SAME(MSG_ERRQUEUE),
	SAME(CLONE_VM),
	SAME(CLONE_FS),
	SAME(CLONE_FILES),
	SAME(CLONE_VFORK),
	SAME(CLONE_PARENT),
	SAME(CLONE_THREAD),
	SAME(CLONE_NEWNS),
	SAME(SIGQUIT),
	SAME(SIGILL),
	SAME(SIGTRAP),
	SAME(SIGABRT),
	SAME(SIGBUS),
	SAME(SIGFPE),
	SAME(SIGKILL),
	SAME(SIGSEGV),
	SAME(SIGCHLD),
	SAME(SIGCONT),
	SAME(SIGSTOP),
	SAME(SIGTSTP),
	SAME(SIGTTIN),
	SAME(SIGTTOU),
	SAME(SIGURG),
	SAME(SIGXCPU),
	SAME(SIGXFSZ),
	SAME(SIGWINCH),
	SAME(SIGSYS),
	SAME(FUTEX_WAIT),
	SAME(FUTEX_WAKE),
	SAME(FUTEX_REQUEUE),
	SAME(FUTEX_CMP_REQUEUE),
	SAME(FUTEX_LOCK_PI),
	SAME(FUTEX_UNLOCK_PI),
	SAME(FUTEX_WAIT_BITSET),
	SAME(FUTEX_WAKE_BITSET),
	{"SHMAT", LINUX_IPC_SHMAT, SHMAT},
	SAME(FUTEX_WAIT_REQUEUE_PI),
	SAME(FUTEX_CMP_REQUEUE_PI),
	SAME(FUTEX_LOCK_PI2),
	SAME(FUTEX_PRIVATE_FLAG),
	SAME(FUTEX_CMD_MASK),
	SAME(FUTEX_WAITERS),
	SAME(FUTEX_TID_MASK),
#undef SAME
};

static void recorded_numbers_are_those_of_linux(void)
{
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		CU_ASSERT_EQUAL(numbers[i].recorded, numbers[i].here);
		if (numbers[i].recorded != numbers[i].here)
			printf("%s is %lld\n", numbers[i].name, numbers[i].here);
	}
	CU_ASSERT_TRUE(LINUX_AF_MAX <= AF_MAX); /* newer headers have more families */
}

static void kinds_of_files_are_those_of_linux(void)
{
	size_t nr_differ = 0;

	for (unsigned int mode = 0; mode < 1u << 16; mode++)
		nr_differ += !!S_ISSOCK(mode) != LINUX_S_ISSOCK(mode) || !!S_ISREG(mode) != LINUX_S_ISREG(mode) ||
			     !!S_ISBLK(mode) != LINUX_S_ISBLK(mode) || !!S_ISDIR(mode) != LINUX_S_ISDIR(mode) ||
			     !!S_ISCHR(mode) != LINUX_S_ISCHR(mode) || !!S_ISFIFO(mode) != LINUX_S_ISFIFO(mode);
	CU_ASSERT_EQUAL(nr_differ, 0);
}

static bool same(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

static void names_are_those_of_linux(void)
{
	for (int number = 1; number < 512; number++)
		CU_ASSERT_TRUE(same(linux_errno_name((uint64_t)number), strerrorname_np(number)));
	for (int number = 1; number < NSIG; number++)
		CU_ASSERT_TRUE(same(linux_signal_name((uint64_t)number), sigabbrev_np(number)));
	CU_ASSERT_PTR_NULL(linux_errno_name(0));
	CU_ASSERT_PTR_NULL(linux_errno_name(UINT64_MAX));
	CU_ASSERT_PTR_NULL(linux_signal_name(0));
	CU_ASSERT_PTR_NULL(linux_signal_name(UINT64_MAX));
	CU_ASSERT_STRING_EQUAL(linux_errno_name(516), "ERESTART_RESTARTBLOCK");
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		CASE(recorded_numbers_are_those_of_linux),
		CASE(kinds_of_files_are_those_of_linux),
		CASE(names_are_those_of_linux),
		{NULL, NULL},
	};

	return unit_main("kernel numbers", cases, argc, argv);
}
