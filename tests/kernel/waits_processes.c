/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* waits_processes.c - children, stops, signals, time. */
#include <fcntl.h>
#include <linux/sched.h>
#include <mqueue.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ipc.h>
#include <sys/ptrace.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
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
	write_truth("who", child);
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

/* The child stops itself and its parent continues it: the roles are the reverse of the other
 * scenarios. */
static void stop_myself(void *context)
{
	kill(getpid(), SIGSTOP);
}

static void continue_parent(void *context)
{
	wait_for_state(getppid(), 'T');
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

/* The measured thread is in the child, which stops for its tracer. */
static void traced(void)
{
	pid_t child = fork();
	int status;

	if (child == 0) {
		write_truth("pid", getpid());
		require(!ptrace(PTRACE_TRACEME, 0, 0, 0));
		measure(stop_myself, NULL);
		_exit(0);
	}
	require(waitpid(child, &status, 0) == child && WIFSTOPPED(status));
	sleep_ns(PAUSE_NS);
	let_tracee_go(&child);
	waitpid(child, NULL, 0);
}

static pid_t traced_child;

/* It knows the end of the other child before the parent does. */
static void trace_child(void)
{
	char byte = 'x';

	require(!ptrace(PTRACE_SEIZE, traced_child, 0, 0) && write(ready[1], &byte, 1) == 1);
	require(waitpid(traced_child, NULL, 0) == traced_child);
}

static void wait_traced(void *context)
{
	require(waitpid(traced_child, NULL, 0) == traced_child);
}

static void wait_traced_by_id(void *context)
{
	siginfo_t info;

	require(!waitid(P_PID, (id_t)traced_child, &info, WEXITED));
}

static void for_traced_child(void (*wait_for)(void *))
{
	pid_t tracer;
	char byte;

	traced_child = child_that(exit_code, NULL);
	tracer = fork();
	if (tracer == 0) {
		trace_child();
		_exit(0);
	}
	require(read(ready[0], &byte, 1) == 1);
	measure(wait_for, NULL);
	waitpid(tracer, NULL, 0);
}

static void waitpid_traced(void)
{
	for_traced_child(wait_traced);
}

static void waitid_traced(void)
{
	for_traced_child(wait_traced_by_id);
}

/* ---- signals ---- */

static void on_signal(int number)
{
}

static void signal_parent(void *context)
{
	wait_for_state(getppid(), 'S');
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

#define SIGNAL_DESCRIPTOR(name, wait_for)                     \
	static void name(void)                                \
	{                                                     \
		sigset_t set = block_signal();                \
		int fds[2] = {signalfd(-1, &set, 0), -1};     \
                                                              \
		wait_for_child(signal_parent, wait_for, fds); \
	}
SIGNAL_DESCRIPTOR(signalfd_read, read_8)
SIGNAL_DESCRIPTOR(poll_signalfd, poll_one)

/* ---- time ---- */

#define TIMER_DESCRIPTOR(name, wait_for)                                 \
	static void name(void)                                           \
	{                                                                \
		struct itimerspec once = {.it_value.tv_nsec = PAUSE_NS}; \
		int fds[2] = {timerfd_create(CLOCK_MONOTONIC, 0), -1};   \
                                                                         \
		require(!timerfd_settime(fds[0], 0, &once, NULL));       \
		measure(wait_for, fds);                                  \
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

/* Calls that time out. */

static void select_in_vain(void *context)
{
	struct timeval limit = {.tv_usec = PAUSE_NS / 1000};

	require(select(0, NULL, NULL, NULL, &limit) == 0);
}

static void select_timeout(void)
{
	measure(select_in_vain, NULL);
}

static void epoll_in_vain(void *fds)
{
	struct epoll_event event;

	require(epoll_wait(((int *)fds)[0], &event, 1, PAUSE_NS / MS) == 0);
}

static void epoll_timeout(void)
{
	int fds[2], epoll;

	make_pipe(fds);
	epoll = epoll_of(fds[0]);
	measure(epoll_in_vain, &epoll);
}

static void sigwait_in_vain(void *set)
{
	struct timespec limit = {.tv_nsec = PAUSE_NS};

	require(sigtimedwait(set, NULL, &limit) < 0);
}

static void sigwait_timeout(void)
{
	sigset_t set = block_signal();

	measure(sigwait_in_vain, &set);
}

static void semop_in_vain(void *id)
{
	struct timespec limit = {.tv_nsec = PAUSE_NS};
	struct sembuf operation = {.sem_op = -1};

	require(semtimedop(*(int *)id, &operation, 1, &limit) < 0);
}

static void semaphore_timeout(void)
{
	int id = semget(IPC_PRIVATE, 1, 0600);

	measure(semop_in_vain, &id);
	semctl(id, 0, IPC_RMID);
}

static void queue_in_vain(void *queue)
{
	struct timespec until;
	char text[64];

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += PAUSE_NS;
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	require(mq_timedreceive(*(mqd_t *)queue, text, sizeof(text), NULL, &until) < 0);
}

static void queue_timeout(void)
{
	struct mq_attr attributes = {.mq_maxmsg = 2, .mq_msgsize = 64};
	char name[64];
	mqd_t queue;

	snprintf(name, sizeof(name), "/queue-timeout-%d", getpid());
	queue = mq_open(name, O_RDWR | O_CREAT, 0600, &attributes);
	if (queue == (mqd_t)-1)
		skip();
	mq_unlink(name);
	measure(queue_in_vain, &queue);
}

/* ---- processes by descriptor ---- */

static void wait_pidfd(void *context)
{
	siginfo_t info;

	require(!waitid(3 /* P_PIDFD */, (id_t)pid_descriptor, &info, WEXITED));
}

static void open_pidfd(pid_t pid)
{
	pid_descriptor = (int)syscall(SYS_pidfd_open, pid, 0);
	if (pid_descriptor < 0)
		skip();
}

static void pidfd_wait(void)
{
	open_pidfd(child_that(exit_code, NULL));
	measure(wait_pidfd, NULL);
}

static void epoll_pidfd(void)
{
	open_pidfd(child_that(exit_code, NULL));
	measure(epoll_one, &pid_descriptor);
}

static void signal_by_pidfd(void *context)
{
	require(!syscall(SYS_pidfd_send_signal, pid_descriptor, SIGUSR1, NULL, 0));
}

static void pidfd_signal(void)
{
	signal(SIGUSR1, on_signal);
	open_pidfd(getpid());
	wait_for_child(signal_by_pidfd, pause_once, NULL);
}

/* ---- throttled by its control group ---- */

static char group[256];

static void group_write(const char *name, const char *text)
{
	char path[512];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", group, name);
	fd = open(path, O_WRONLY);
	require(fd >= 0 && write(fd, text, strlen(text)) > 0);
	close(fd);
}

/* The measured thread requests it, and reads from the clock that it is over. */
static void be_held_up(void)
{
	char byte = 'x';
	long long last, now = now_ns();

	require(write(ready[1], &byte, 1) == 1);
	do {
		last = now;
		now = now_ns();
	} while (now - last < PAUSE_NS / 2);
	write_window(last, now, 0);
}

/* The place of the control groups, and the file that throttles one. */
struct generation {
	const char *root, *file, *on, *off;
};

/* A new group in the first of these that exists. */
static const struct generation *group_make(const struct generation *generations)
{
	char path[512];

	for (; generations->root; generations++) {
		snprintf(group, sizeof(group), "%s/trace-waits-%d", generations->root, getpid());
		snprintf(path, sizeof(path), "%s/%s", group, generations->file);
		if (access(generations->root, W_OK) || mkdir(group, 0755))
			continue;
		if (!access(path, W_OK))
			return generations;
		rmdir(group);
	}
	skip();
	return NULL;
}

/* The measured process is in the group before it begins. */
static pid_t group_child(void)
{
	char byte, pid[16];
	pid_t child = fork();

	if (child == 0) {
		write_truth("pid", getpid());
		be_held_up();
		_exit(0);
	}
	require(read(ready[0], &byte, 1) == 1);
	snprintf(pid, sizeof(pid), "%d", child);
	group_write("cgroup.procs", pid);
	return child;
}

static void frozen(void)
{
	static const struct generation generations[] = {{"/sys/fs/cgroup/freezer", "freezer.state", "FROZEN", "THAWED"},
							{"/sys/fs/cgroup/unified", "cgroup.freeze", "1", "0"},
							{"/sys/fs/cgroup", "cgroup.freeze", "1", "0"},
							{NULL, NULL, NULL, NULL}};
	const struct generation *generation = group_make(generations);
	pid_t child = group_child();

	group_write(generation->file, generation->on);
	sleep_ns(PAUSE_NS);
	group_write(generation->file, generation->off);
	waitpid(child, NULL, 0);
	rmdir(group);
}

/* It may run for 10 ms of each 300 ms, and only runs. */
static void quota(void)
{
	static const struct generation generations[] = {{"/sys/fs/cgroup/cpu", "cpu.cfs_quota_us", "10000", "-1"},
							{"/sys/fs/cgroup", "cpu.max", "10000 300000", "max"},
							{NULL, NULL, NULL, NULL}};
	const struct generation *generation = group_make(generations);
	pid_t child;

	if (generation == generations)
		group_write("cpu.cfs_period_us", "300000");
	group_write(generation->file, generation->on);
	child = group_child();
	waitpid(child, NULL, 0);
	rmdir(group);
}

/* struct sched_attr of Linux 3.14 */
struct deadline {
	uint32_t size, policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime_ns, deadline_ns, period_ns;
};

/* As above, by its class. */
static void deadline(void)
{
	const uint64_t period_ns = 300 * MS;
	struct deadline may = {sizeof(may), SCHED_DEADLINE, 0, 0, 0, 10 * MS, period_ns, period_ns};

	if (syscall(SYS_sched_setattr, 0, &may, 0))
		skip();
	be_held_up();
}

const struct scenario process_scenarios[] = {
	SCENARIO(waitpid_any),
	SCENARIO(vfork_waits),
	SCENARIO(pidfd),
	SCENARIO(stopped),
	SCENARIO(traced),
	SCENARIO(waitpid_traced),
	SCENARIO(waitid_traced),
	SCENARIO(pause_for_signal),
	SCENARIO(sigwait_for_signal),
	SCENARIO(signalfd_read),
	SCENARIO(poll_signalfd),
	SCENARIO(timerfd_read),
	SCENARIO(poll_timerfd),
	SCENARIO(epoll_timerfd),
	SCENARIO(receive_timeout),
	SCENARIO(select_timeout),
	SCENARIO(epoll_timeout),
	SCENARIO(sigwait_timeout),
	SCENARIO(semaphore_timeout),
	SCENARIO(queue_timeout),
	SCENARIO(pidfd_wait),
	SCENARIO(pidfd_signal),
	SCENARIO(epoll_pidfd),
	SCENARIO(frozen),
	SCENARIO(quota),
	SCENARIO(deadline),
	{NULL, NULL},
};
