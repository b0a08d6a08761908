/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * probe_jail.c - drop the rights, limits and system calls of a process that reads untrusted files.
 *
 * The seccomp filter is a hand-written array of BPF. It allows 28 system calls, 6 of them on a
 * condition, and fits one screen; libseccomp would be one more library in a program that runs as
 * root. A refused call fails with EPERM and does not kill the process: libdw tries to open files
 * that it does not need, and continues without them.
 */
#include <errno.h>
#include <grp.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "probe_reader.h"

#define NOBODY 65534

#if defined(__x86_64__)
#define OWN_ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define OWN_ARCHITECTURE AUDIT_ARCH_AARCH64
#else
#error "the reader's filter does not know this machine's system calls yet"
#endif

/* ---- user and capabilities ---- */

/*
 * A user namespace may not map user 65534; then the user cannot be changed, but the reader still
 * drops everything else.
 */
static int drop_user(void)
{
	if (getuid() != 0 && geteuid() != 0)
		return 0;
	if ((setgroups(0, NULL) < 0 || setresgid(NOBODY, NOBODY, NOBODY) < 0 || setresuid(NOBODY, NOBODY, NOBODY) < 0) && errno != EPERM && errno != EINVAL)
		return -errno;
	return 0;
}

static int drop_capabilities(void)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {0};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0)
		return -errno;
	return syscall(SYS_capset, &header, none) < 0 ? -errno : 0;
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

static int limit_all(void)
{
	int result = limit(RLIMIT_CPU, PROBE_JAIL_CPU_SECONDS, PROBE_JAIL_CPU_SECONDS + 1); /* SIGXCPU, then SIGKILL */

#ifndef PROBE_SANITIZED /* its shadow memory exceeds any limit */
	if (!result)
		result = limit(RLIMIT_AS, PROBE_JAIL_MEMORY_BYTES, PROBE_JAIL_MEMORY_BYTES);
#endif
	if (!result)
		result = limit(RLIMIT_NOFILE, PROBE_JAIL_DESCRIPTORS, PROBE_JAIL_DESCRIPTORS);
	if (!result)
		result = limit(RLIMIT_FSIZE, 0, 0);
	return result ? result : limit(RLIMIT_CORE, 0, 0);
}

/* ---- system calls ---- */

#ifndef PROBE_SANITIZED /* its run-time library makes other system calls */
#define LOAD(field)    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define IF_EQUAL(k, t, f) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, k, t, f)
#define ALLOW	       BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
#define REFUSE	       BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM)
#define MASK(bits)     BPF_STMT(BPF_ALU | BPF_AND | BPF_K, bits)

#define CALL(name)     IF_EQUAL(__NR_##name, 0, 1), ALLOW
/* Allow the call if the low half of argument @n, masked with @bits, equals @value. */
#define CALL_IF(name, n, bits, value) \
	IF_EQUAL(__NR_##name, 0, 5), LOAD(args[n]), MASK(bits), IF_EQUAL(value, 0, 1), ALLOW, REFUSE

static int filter_calls(void)
{
	/* clang-format off */
	struct sock_filter filter[] = {
		LOAD(arch), IF_EQUAL(OWN_ARCHITECTURE, 1, 0), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		LOAD(nr),
		CALL(read), CALL(pread64), CALL(lseek), CALL(close), CALL(fstat), CALL(fcntl),
		CALL(brk), CALL(munmap), CALL(mremap), CALL(madvise), CALL(futex), CALL(sched_yield), CALL(getrandom), CALL(clock_gettime),
		CALL(rt_sigprocmask), CALL(rt_sigaction), CALL(rt_sigreturn), CALL(restart_syscall), CALL(getpid), CALL(gettid),
		CALL(exit), CALL(exit_group),
		CALL_IF(sendmsg, 0, ~0u, PROBE_JAIL_SOCKET),
		CALL_IF(recvmsg, 0, ~0u, PROBE_JAIL_SOCKET),
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
static int filter_calls(void)
{
	return 0;
}
#endif

int probe_jail_enter(void)
{
	int result = drop_user();

	if (!result)
		result = drop_capabilities();
	if (!result && prctl(PR_SET_PDEATHSIG, SIGKILL) < 0)
		result = -errno;
	if (!result)
		result = limit_all();
	return result ? result : filter_calls();
}
