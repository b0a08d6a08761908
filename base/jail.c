/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * jail.c - drop the rights, limits and system calls of a process that reads untrusted files.
 *
 * The seccomp filter is a hand-written array of BPF. It allows 28 system calls, 5 of them on a
 * condition (15 more for a process that opens files), and fits one screen; libseccomp would be one
 * more library in a program that runs as root. A refused call fails with EPERM and does not kill
 * the process: libdw tries to open files that it does not need, and continues without them.
 */
#include "jail.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/fiemap.h>
#include <linux/filter.h>
#include <linux/fs.h>
#include <linux/nsfs.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define OVERFLOW_ID	   65534 /* a user and group without rights */
#define OPENER_DESCRIPTORS 256	 /* also of one user that are in messages, unix(7) */

#if defined(__x86_64__)
#define OWN_ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define OWN_ARCHITECTURE AUDIT_ARCH_AARCH64
#else
#error "the reader's filter does not know this machine's system calls yet"
#endif

/* ---- user and capabilities ---- */

static bool has_failed(int result)
{
	return result < 0 && errno != EPERM && errno != EINVAL;
}

/*
 * A user namespace may not map user 65534, or may refuse setgroups(). Then that part cannot be
 * changed, but the process still drops everything else.
 */
static int drop_user(void)
{
	if (getuid() != 0 && geteuid() != 0)
		return 0;
	if (has_failed(setgroups(0, NULL)) || has_failed(setresgid(OVERFLOW_ID, OVERFLOW_ID, OVERFLOW_ID)) ||
	    has_failed(setresuid(OVERFLOW_ID, OVERFLOW_ID, OVERFLOW_ID)))
		return -errno;
	return 0;
}

/* Files of any user, and /proc/PID/map_files of any process. */
static const unsigned int opener_capabilities[] = {CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH, CAP_SYS_PTRACE,
						   CAP_CHECKPOINT_RESTORE};

static int drop_capabilities(bool opens_files)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct kept[_LINUX_CAPABILITY_U32S_3] = {0}, had[_LINUX_CAPABILITY_U32S_3];

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0 ||
	    syscall(SYS_capget, &header, had) < 0)
		return -errno;
	for (size_t i = 0; opens_files && i < sizeof(opener_capabilities) / sizeof(opener_capabilities[0]); i++) {
		size_t word = opener_capabilities[i] / 32;
		unsigned int bit = 1u << opener_capabilities[i] % 32 & had[word].effective;

		kept[word].permitted |= bit;
		kept[word].effective |= bit;
	}
	return syscall(SYS_capset, &header, kept) < 0 ? -errno : 0;
}

/* ---- limits ---- */

/* A limit that is already lower stays. */
static int limit(int resource, rlim_t soft, rlim_t hard)
{
	struct rlimit limits;

	if (getrlimit(resource, &limits) < 0)
		return -errno;
	if (hard < limits.rlim_max)
		limits.rlim_max = hard;
	if (soft < limits.rlim_cur)
		limits.rlim_cur = soft;
	if (limits.rlim_cur > limits.rlim_max)
		limits.rlim_cur = limits.rlim_max;
	return setrlimit(resource, &limits) < 0 ? -errno : 0;
}

static int limit_all(const struct jail *jail)
{
	int result = limit(RLIMIT_CPU, jail->cpu_seconds, jail->cpu_seconds + 1); /* SIGXCPU, then SIGKILL */

#ifndef JAIL_SANITIZED /* its shadow memory exceeds any limit */
	if (!result && jail->memory_bytes)
		result = limit(RLIMIT_AS, jail->memory_bytes, jail->memory_bytes);
#endif
	if (!result)
		result = jail->opens_files ? limit(RLIMIT_NOFILE, OPENER_DESCRIPTORS, OPENER_DESCRIPTORS)
					   : limit(RLIMIT_NOFILE, JAIL_DESCRIPTORS, JAIL_DESCRIPTORS);
	if (!result)
		result = limit(RLIMIT_FSIZE, 0, 0);
	return result ? result : limit(RLIMIT_CORE, 0, 0);
}

/* ---- system calls ---- */

#ifndef JAIL_SANITIZED /* its run-time library makes other system calls */
#define LOAD(field)	  BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define IF_EQUAL(k, t, f) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, k, t, f)
#define ALLOW		  BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
#define REFUSE		  BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM)
#define MASK(bits)	  BPF_STMT(BPF_ALU | BPF_AND | BPF_K, bits)

#define CALL(name) IF_EQUAL(__NR_##name, 0, 1), ALLOW
/* Allow the call if the low half of argument @n, masked with @bits, equals @value. */
#define CALL_IF(name, n, bits, value) \
	IF_EQUAL(__NR_##name, 0, 5), LOAD(args[n]), MASK(bits), IF_EQUAL(value, 0, 1), ALLOW, REFUSE

#define QUESTION_OF_MAPPINGS _IOWR('f', 17, char[104]) /* PROCMAP_QUERY, Linux 6.11 */
/* Parent and owner of a namespace, linux/nsfs.h. */
#define QUESTIONS_OF_NAMESPACE 0xb700
_Static_assert((NS_GET_PARENT & ~7u) == QUESTIONS_OF_NAMESPACE, "its numbers follow each other");
_Static_assert((NS_GET_OWNER_UID & ~7u) == QUESTIONS_OF_NAMESPACE, "its numbers follow each other");

/* A process that opens files of other users may make these calls, too. */
#define OPENER_CALLS                                                                                                  \
	CALL_IF(openat, 2, O_ACCMODE | O_CREAT | O_TRUNC, O_RDONLY), CALL(newfstatat), CALL(statx), CALL(readlinkat), \
		CALL(getdents64), CALL(process_vm_readv), CALL(socketpair), CALL(sendmsg), CALL(fstatfs),             \
		IF_EQUAL(__NR_ioctl, 0, 8), LOAD(args[1]), IF_EQUAL(FS_IOC_FIEMAP, 4, 0),                             \
		IF_EQUAL(QUESTION_OF_MAPPINGS, 2, 0), MASK(~7u), IF_EQUAL(QUESTIONS_OF_NAMESPACE, 0, 1), ALLOW, REFUSE
#ifdef __NR_readlink
#define OPENER_LINKS CALL(getcwd), CALL(faccessat), CALL(faccessat2), CALL(readlink), CALL(access)
#else
#define OPENER_LINKS CALL(getcwd), CALL(faccessat), CALL(faccessat2)
#endif
#define NR_OPENER_CALLS (sizeof((struct sock_filter[]){OPENER_CALLS, OPENER_LINKS}) / sizeof(struct sock_filter))

static int filter_calls(bool opens_files)
{
	/* clang-format off */
	struct sock_filter filter[] = {
		LOAD(arch), IF_EQUAL(OWN_ARCHITECTURE, 1, 0), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		LOAD(nr),
		BPF_STMT(BPF_JMP | BPF_JA, opens_files ? 0 : NR_OPENER_CALLS), OPENER_CALLS, OPENER_LINKS,
		CALL(read), CALL(pread64), CALL(lseek), CALL(close), CALL(fstat), CALL(fcntl),
		CALL(brk), CALL(munmap), CALL(mremap), CALL(madvise), CALL(futex), CALL(sched_yield),
		CALL(getrandom), CALL(clock_gettime), CALL(getpid), CALL(gettid),
		CALL(rt_sigprocmask), CALL(rt_sigaction), CALL(rt_sigreturn), CALL(restart_syscall),
		CALL(exit), CALL(exit_group),
		CALL_IF(sendmsg, 0, ~0u, JAIL_SOCKET),
		CALL(recvmsg), /* from JAIL_SOCKET, and from envelopes (file_envelope.h) */
		CALL_IF(newfstatat, 3, ~0u, 0x1000 /* AT_EMPTY_PATH: fstat() of glibc */),
		CALL_IF(mprotect, 2, PROT_EXEC, 0),
		CALL_IF(tgkill, 0, ~0u, (unsigned int)getpid()), /* abort() */
		IF_EQUAL(__NR_mmap, 0, 8), LOAD(args[3]), MASK(MAP_ANONYMOUS), IF_EQUAL(MAP_ANONYMOUS, 0, 4),
		LOAD(args[2]), MASK(PROT_EXEC), IF_EQUAL(0, 0, 1), ALLOW, REFUSE,
		REFUSE,
	};
	/* clang-format on */
	struct sock_fprog program = {.len = sizeof(filter) / sizeof(filter[0]), .filter = filter};

	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0 ? -errno : 0;
}
#else
static int filter_calls(bool opens_files)
{
	(void)opens_files;
	return 0;
}
#endif

int jail_enter(const struct jail *jail)
{
	int result = jail->opens_files ? 0 : drop_user();

	if (!result)
		result = drop_capabilities(jail->opens_files);
	/* the kernel clears this signal when the user changes, so it is set afterwards */
	if (!result && jail->dies_with_thread && prctl(PR_SET_PDEATHSIG, SIGKILL) < 0)
		result = -errno;
	if (!result)
		result = limit_all(jail);
	if (result)
		return result;
	result = filter_calls(jail->opens_files);
	return jail->filter_optional ? 0 : result;
}
