// SPDX-License-Identifier: LGPL-2.1-or-later
/* waits_processes.c - children, stops, signals, time. */
#include <poll.h>
#include <signal.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/sem.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "waits.h"

/* ---- life of processes ---- */

static void nothing(void *context)
{
}

static void wait_child(void *context)
{
	require(waitpid(-1, NULL, 0) > 0);
}

static void waitpid_any(void)
{
	wait_for_child(nothing, wait_child, NULL);
}

static void vfork_child(void *context)
{
	pid_t child = vfork();

	if (child == 0) {
		struct timespec pause = {.tv_nsec = PAUSE_NS};

		nanosleep(&pause, NULL);
		_exit(0);
	}
	tell("who", child);
}

static void vfork_waits(void)
{
	measure(vfork_child, NULL);
	wait(NULL);
}

static void exit_code(void *context)
{
}

static int pid_descriptor;
static void poll_pidfd(void *context)
{
	struct pollfd one = {.fd = pid_descriptor, .events = POLLIN};

	require(poll(&one, 1, -1) == 1);
}

static void pidfd(void)
{
	pid_t child = child_that(exit_code, NULL);

	pid_descriptor = (int)syscall(SYS_pidfd_open, child, 0);
	if (pid_descriptor < 0)
		skip();
	measure(poll_pidfd, NULL);
}

/* Stopped by itself, continued by its parent: the roles of the others are swapped. */
static void stop_myself(void *context)
{
	kill(getpid(), SIGSTOP);
}

static void continue_parent(void *context)
{
	kill(getppid(), SIGCONT);
}

static void stopped(void)
{
	wait_for_child(continue_parent, stop_myself, NULL);
}

static void let_tracee_go(void *tracee)
{
	require(!ptrace(PTRACE_DETACH, *(pid_t *)tracee, 0, 0));
}

/* The child is the one that is measured: it stops for its tracer. */
static void traced(void)
{
	pid_t child = fork();
	int status;

	if (child == 0) {
		tell("pid", getpid());
		require(!ptrace(PTRACE_TRACEME, 0, 0, 0));
		measure(stop_myself, NULL);
		_exit(0);
	}
	require(waitpid(child, &status, 0) == child && WIFSTOPPED(status));
	sleep_ns(PAUSE_NS);
	let_tracee_go(&child);
	waitpid(child, NULL, 0);
}

/* ---- signals ---- */

static void on_signal(int number)
{
}

static void signal_parent(void *context)
{
	kill(getppid(), SIGUSR1);
}

static void pause_once(void *context)
{
	pause();
}

static void pause_for_signal(void)
{
	signal(SIGUSR1, on_signal);
	wait_for_child(signal_parent, pause_once, NULL);
}

static sigset_t block_signal(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	return set;
}

static void wait_signal(void *set)
{
	sigwaitinfo(set, NULL);
}

static void sigwait_for_signal(void)
{
	sigset_t set = block_signal();

	wait_for_child(signal_parent, wait_signal, &set);
}

#define SIGNAL_DESCRIPTOR(name, wait_for)                                        \
	static void name(void)                                                   \
	{                                                                        \
		sigset_t set = block_signal();                                   \
		int fds[2] = {signalfd(-1, &set, 0), -1};                        \
                                                                                 \
		wait_for_child(signal_parent, wait_for, fds);                    \
	}
SIGNAL_DESCRIPTOR(signalfd_read, read_8)
SIGNAL_DESCRIPTOR(poll_signalfd, poll_one)

/* ---- time ---- */

#define TIMER_DESCRIPTOR(name, wait_for)                                         \
	static void name(void)                                                   \
	{                                                                        \
		struct itimerspec once = {.it_value.tv_nsec = PAUSE_NS};         \
		int fds[2] = {timerfd_create(CLOCK_MONOTONIC, 0), -1};           \
                                                                                 \
		require(!timerfd_settime(fds[0], 0, &once, NULL));               \
		measure(wait_for, fds);                                          \
	}
TIMER_DESCRIPTOR(timerfd_read, read_8)
TIMER_DESCRIPTOR(poll_timerfd, poll_one)
TIMER_DESCRIPTOR(epoll_timerfd, epoll_one)

static void receive_in_vain(void *fds)
{
	char byte;

	require(recv(((int *)fds)[0], &byte, 1, 0) < 0);
}

static void receive_timeout(void)
{
	struct timeval limit = {.tv_usec = PAUSE_NS / 1000};
	int fds[2];

	make_tcp(fds);
	setsockopt(fds[0], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	measure(receive_in_vain, fds);
}

/* nanosleep as 32-bit programs call it. */
static void sleep_32(void *times)
{
#ifdef __x86_64__
	long ret;

	__asm__ volatile("int $0x80" : "=a"(ret) : "a"(162), "b"(times), "c"(0) : "r8", "r9", "r10", "r11", "memory");
	require(ret == 0);
#endif
}

static void refused(int number)
{
	skip();
}

static void sleep_by_32_bit_call(void)
{
#ifdef __x86_64__
	int32_t *times = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);

	signal(SIGSEGV, refused); /* a kernel without the 32-bit calls */
	times[1] = PAUSE_NS;
	measure(sleep_32, times);
#else
	skip();
#endif
}

/* ---- calls of 32-bit programs that have others in them ---- */

#define SOCKETCALL 102
#define IPC	   117
#define CALL_RECV  10 /* SYS_RECV of <linux/net.h> */
#define CALL_SEMOP 1  /* SEMOP of <linux/ipc.h> */

/* int $0x80 with up to five arguments; what they point to has to lie low. */
static long call_32(long nr, long b, long c, long d, long si, long di)
{
	long ret = -1;
#ifdef __x86_64__
	__asm__ volatile("int $0x80"
			 : "=a"(ret)
			 : "a"(nr), "b"(b), "c"(c), "d"(d), "S"(si), "D"(di)
			 : "r8", "r9", "r10", "r11", "memory");
#endif
	return ret;
}

static void *low_memory(void)
{
#ifdef __x86_64__
	void *memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);

	signal(SIGSEGV, refused); /* a kernel without the 32-bit calls */
	require(memory != MAP_FAILED);
	return memory;
#else
	skip();
#endif
}

static void receive_32(void *arguments)
{
	require(call_32(SOCKETCALL, CALL_RECV, (long)(uintptr_t)arguments, 0, 0, 0) > 0);
}

static void receive_by_socketcall(void)
{
	uint32_t *memory = low_memory();
	int fds[2];

	make_unix(fds);
	memory[0] = (uint32_t)fds[0];
	memory[1] = (uint32_t)(uintptr_t)(memory + 16);
	memory[2] = 8;
	child_that(write_8, fds);
	measure(receive_32, memory);
}

static int semaphore_set;
static void semop_32(void *operation)
{
	require(call_32(IPC, CALL_SEMOP, semaphore_set, 1, 0, (long)(uintptr_t)operation) == 0);
}

static void post_semaphore(void *context)
{
	struct sembuf operation = {.sem_op = 1};

	require(!semop(semaphore_set, &operation, 1));
}

static void semaphore_by_ipc(void)
{
	struct sembuf *operation = low_memory();

	semaphore_set = semget(IPC_PRIVATE, 1, 0600);
	require(semaphore_set >= 0);
	*operation = (struct sembuf){.sem_op = -1};
	wait_for_child(post_semaphore, semop_32, operation);
	semctl(semaphore_set, 0, IPC_RMID);
}

const struct scenario process_scenarios[] = {
	SCENARIO(waitpid_any), SCENARIO(vfork_waits), SCENARIO(pidfd), SCENARIO(stopped), SCENARIO(traced),
	SCENARIO(pause_for_signal), SCENARIO(sigwait_for_signal), SCENARIO(signalfd_read), SCENARIO(poll_signalfd),
	SCENARIO(timerfd_read), SCENARIO(poll_timerfd), SCENARIO(epoll_timerfd), SCENARIO(receive_timeout),
	SCENARIO(sleep_by_32_bit_call),
	SCENARIO(receive_by_socketcall), SCENARIO(semaphore_by_ipc), {NULL, NULL},
};

