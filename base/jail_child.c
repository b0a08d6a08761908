/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* jail_child.c - fork a child with few descriptors, and report how it ended. */
#include "jail_child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "clock_ns.h"
#include "file_envelope.h"
#include "jail.h"

#define ENDS_IN_MS   1000 /* a child that has closed its socket */
#define BUSY_NS	     10000000000ull
#define BUSY_STEP_NS 100000000ull
#define DIES_IN_MS   100 /* a child that was killed, unless it waits for a file system */

#define LOADER_STATUS 127 /* of a process that the program loader of glibc ended */

/* ---- the child ---- */

/* The caller's handlers must not run in the child. All signals are blocked until then. */
static void reset_signals(void)
{
	sigset_t none;

	for (int number = 1; number < NSIG; number++) {
#ifdef JAIL_SANITIZED /* it reports these */
		if (number == SIGSEGV || number == SIGBUS || number == SIGABRT || number == SIGFPE || number == SIGILL)
			continue;
#endif
		signal(number, SIG_DFL);
	}
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

/* First out of the way of the descriptors that the child will have, then to its place. */
static void move_descriptors(int *fds, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		fds[i] = fcntl(fds[i], F_DUPFD, JAIL_DESCRIPTORS);
		if (fds[i] < 0)
			_exit(1);
	}
	for (size_t i = 0; i < nr; i++)
		if (dup2(fds[i], JAIL_SOCKET + (int)i) < 0)
			_exit(1);
}

static void open_envelopes(size_t nr_files)
{
	for (int fd = JAIL_FILES; fd < JAIL_FILES + (int)nr_files; fd++) {
		int file = file_envelope_open(fd);

		if (file != fd && dup2(file, fd) < 0)
			_exit(1);
		if (file != fd)
			close(file);
	}
}

/*
 * Close all descriptors but the socket and the files; a sanitizer keeps the first three for its
 * reports.
 */
static void keep_descriptors(int socket, const struct jail_role *role)
{
	int fds[JAIL_DESCRIPTORS - JAIL_SOCKET] = {socket};
	size_t nr = 1;

	for (size_t i = 0; i < role->nr_files; i++)
		fds[nr++] = role->files[i];
	move_descriptors(fds, nr);
	syscall(SYS_close_range, JAIL_SOCKET + (unsigned int)nr, ~0u, 0);
#ifndef JAIL_SANITIZED
	syscall(SYS_close_range, 0, JAIL_SOCKET - 1, 0);
#endif
}

static void __attribute__((noreturn)) run_child(int socket, const struct jail_role *role)
{
	reset_signals();
	setsid(); /* keys of the terminal stop and interrupt the caller only */
	keep_descriptors(socket, role);
	open_envelopes(role->nr_files);
	role->run(role->context);
}

/* ---- children that do not end ---- */

static struct {
	pthread_mutex_t lock;
	pid_t owner; /* a fork of it has no such children */
	pid_t pids[JAIL_MAX_ABANDONED];
	size_t nr;
} abandoned = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void reap_abandoned(void)
{
	size_t nr = 0;

	if (abandoned.owner != getpid())
		abandoned.nr = 0;
	abandoned.owner = getpid();
	for (size_t i = 0; i < abandoned.nr; i++)
		if (waitpid(abandoned.pids[i], NULL, WNOHANG) == 0)
			abandoned.pids[nr++] = abandoned.pids[i];
	abandoned.nr = nr;
}

size_t jail_nr_abandoned(void)
{
	size_t nr;

	pthread_mutex_lock(&abandoned.lock);
	reap_abandoned();
	nr = abandoned.nr;
	pthread_mutex_unlock(&abandoned.lock);
	return nr;
}

/* Without room for its id, the child stays until the caller ends. */
static void abandon(pid_t pid)
{
	pthread_mutex_lock(&abandoned.lock);
	reap_abandoned();
	if (abandoned.nr < JAIL_MAX_ABANDONED)
		abandoned.pids[abandoned.nr++] = pid;
	pthread_mutex_unlock(&abandoned.lock);
}

/* ---- the caller ---- */

int jail_child_start(const struct jail_role *role, struct jail_child *ret_child)
{
	sigset_t all, before;
	int sockets[2], err;
	pid_t pid;

	if (role->nr_files >= JAIL_DESCRIPTORS - JAIL_SOCKET)
		return -EINVAL;
	if (jail_nr_abandoned() == JAIL_MAX_ABANDONED)
		return -EBUSY;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) < 0)
		return -errno;
#ifdef JAIL_SANITIZED
	fflush(NULL); /* the end of a child with a sanitizer writes what stdio has not written yet */
#endif
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	pid = fork();
	if (pid == 0)
		run_child(sockets[1], role);
	err = -errno;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	close(sockets[1]);
	if (pid < 0) {
		close(sockets[0]);
		return err;
	}
	*ret_child = (struct jail_child){
		.socket = sockets[0], .pid = pid, .owner = getpid(), .cpu_seconds = role->cpu_seconds, .runs = true};
	return 0;
}

int jail_left_ms(uint64_t deadline_ns)
{
	uint64_t now = clock_monotonic_ns();

	return now < deadline_ns ? (int)((deadline_ns - now) / 1000000) : 0;
}

/*
 * Has the child ended? A child that has not been waited for keeps its process id, so the id is not
 * that of another process.
 */
enum jail_progress { RUNS, HAS_ENDED, IS_UNKNOWN };

static enum jail_progress progress_of(const struct jail_child *child)
{
	siginfo_t info = {0};

	while (waitid(P_PID, (id_t)child->pid, &info, WEXITED | WNOHANG | WNOWAIT) < 0)
		if (errno != EINTR)
			return IS_UNKNOWN;
	return info.si_pid ? HAS_ENDED : RUNS;
}

static void await_end(const struct jail_child *child, int limit_ms)
{
	const struct timespec nap = {.tv_nsec = 100000};

	for (int tenths = 0; tenths < 10 * limit_ms && progress_of(child) == RUNS; tenths++)
		nanosleep(&nap, NULL);
}

static void describe_end(const struct jail_child *child, int status, const struct rusage *usage, char *ret_reason,
			 size_t bytes)
{
	long seconds = usage->ru_utime.tv_sec + usage->ru_stime.tv_sec;

	if (WIFSIGNALED(status) &&
	    (WTERMSIG(status) == SIGXCPU || (WTERMSIG(status) == SIGKILL && seconds >= (long)child->cpu_seconds - 1)))
		snprintf(ret_reason, bytes, "it took more than %u s of CPU time", child->cpu_seconds);
	else if (WIFEXITED(status) && WEXITSTATUS(status) == LOADER_STATUS)
		snprintf(ret_reason, bytes, "the program loader had no memory, or a library is damaged");
	else if (WIFSIGNALED(status))
		snprintf(ret_reason, bytes, "signal %d, %s", WTERMSIG(status), strsignal(WTERMSIG(status)));
	else
		snprintf(ret_reason, bytes, "it gave up with status %d", WEXITSTATUS(status));
}

void jail_child_end(struct jail_child *child, bool has_left, char *ret_reason, size_t reason_bytes)
{
	struct rusage usage = {0};
	int status = 0;
	pid_t waited;

	close(child->socket);
	child->socket = -1;
	child->runs = false;
	if (child->owner != getpid())
		return;
	if (has_left)
		await_end(child, ENDS_IN_MS);
	if (progress_of(child) == RUNS) {
		kill(child->pid, SIGKILL);
		await_end(child, DIES_IN_MS);
	}
	do
		waited = wait4(child->pid, &status, WNOHANG, &usage);
	while (waited < 0 && errno == EINTR);
	if (!waited)
		abandon(child->pid);
	if (has_left && !waited)
		snprintf(ret_reason, reason_bytes, "it waits for a file system that does not answer");
	else if (has_left && waited < 0)
		snprintf(ret_reason, reason_bytes, "its exit status is not known, because its parent ignores SIGCHLD");
	else if (has_left)
		describe_end(child, status, &usage, ret_reason, reason_bytes);
}

void jail_child_stop(struct jail_child *child)
{
	if (child->runs)
		jail_child_end(child, false, NULL, 0);
}

int jail_child_keep(const struct jail_role *role, struct jail_child *child)
{
	if (child->owner != getpid())
		jail_child_stop(child);
	return child->runs ? 0 : jail_child_start(role, child);
}

/* ---- packets ---- */

union descriptor_control {
	struct cmsghdr head;
	char bytes[CMSG_SPACE(sizeof(int))];
};

bool jail_send(int socket, const void *bytes, size_t nr_bytes, int fd, int flags)
{
	struct iovec part = {(void *)bytes, nr_bytes};
	union descriptor_control control = {
		.head = {.cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(sizeof(fd))}};
	struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
	ssize_t sent;

	if (fd >= 0) {
		memcpy(CMSG_DATA(&control.head), &fd, sizeof(fd));
		message.msg_control = &control;
		message.msg_controllen = sizeof(control);
	}
	do
		sent = sendmsg(socket, &message, MSG_NOSIGNAL | flags);
	while (sent < 0 && errno == EINTR);
	return sent == (ssize_t)nr_bytes;
}

/* The room is for one descriptor: the kernel drops any other. */
static int take_descriptor(struct msghdr *message)
{
	struct cmsghdr *part = CMSG_FIRSTHDR(message);
	int fd = -1;

	if (part && part->cmsg_level == SOL_SOCKET && part->cmsg_type == SCM_RIGHTS &&
	    part->cmsg_len == CMSG_LEN(sizeof(fd)))
		memcpy(&fd, CMSG_DATA(part), sizeof(fd));
	return fd;
}

ssize_t jail_receive(int socket, void *bytes, size_t room, int *ret_fd)
{
	struct iovec part = {bytes, room};
	union descriptor_control control = {0};
	struct msghdr message = {.msg_iov = &part,
				 .msg_iovlen = 1,
				 .msg_control = ret_fd ? &control : NULL,
				 .msg_controllen = ret_fd ? sizeof(control) : 0};
	ssize_t got;
	int fd;

	do
		got = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
	while (got < 0 && errno == EINTR);
	if (got < 0)
		return errno == ECONNRESET ? 0 : -errno;
	fd = ret_fd ? take_descriptor(&message) : -1;
	if (message.msg_flags & MSG_TRUNC) {
		if (fd >= 0)
			close(fd);
		return -EBADMSG;
	}
	if (ret_fd)
		*ret_fd = fd;
	return got;
}

/* The state of a child, proc(5): "42 (name) R 1 ..." */
bool jail_child_is_runnable(const struct jail_child *child)
{
	char path[32], text[128], *name_end;
	ssize_t got = -1;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)child->pid);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (fd >= 0) {
		got = read(fd, text, sizeof(text) - 1);
		close(fd);
	}
	text[got > 0 ? got : 0] = '\0';
	name_end = strrchr(text, ')');
	return name_end && name_end[1] == ' ' && name_end[2] == 'R';
}

/*
 * The caller waits, so the child gets its priority: among 20,000 runnable threads a child of
 * niceness 0 gets no CPU time, and the rings of a real-time caller fill.
 */
static void follow_priority(const struct jail_child *child)
{
	int policy = sched_getscheduler(0), nice = getpriority(PRIO_PROCESS, 0);
	struct sched_param param;

	if (policy >= 0 && policy != sched_getscheduler(child->pid) && !sched_getparam(0, &param))
		sched_setscheduler(child->pid, policy, &param);
	if (nice != getpriority(PRIO_PROCESS, (id_t)child->pid))
		setpriority(PRIO_PROCESS, (id_t)child->pid, nice);
}

ssize_t jail_await(const struct jail_child *child, void *bytes, size_t room, int *ret_fd, uint64_t deadline_ns,
		   int stop_fd)
{
	struct pollfd wait[] = {{.fd = child->socket, .events = POLLIN}, {.fd = stop_fd, .events = POLLIN}};
	int ready;

	follow_priority(child);
	do
		ready = poll(wait, 2, jail_left_ms(deadline_ns));
	while (ready < 0 && errno == EINTR);
	if (ready < 0)
		return -errno;
	if (ready && wait[1].revents)
		return -ECANCELED;
	return ready ? jail_receive(child->socket, bytes, room, ret_fd) : -ETIMEDOUT;
}

ssize_t jail_answer(const struct jail_child *child, void *bytes, size_t room, int *ret_fd, uint64_t limit_ns,
		    int stop_fd)
{
	uint64_t deadline_ns = clock_monotonic_ns() + limit_ns, last_ns = deadline_ns + BUSY_NS;
	ssize_t got;

	while ((got = jail_await(child, bytes, room, ret_fd, deadline_ns, stop_fd)) == -ETIMEDOUT) {
		uint64_t now_ns = clock_monotonic_ns();

		if (now_ns >= last_ns || !jail_child_is_runnable(child))
			break;
		deadline_ns = now_ns + BUSY_STEP_NS;
	}
	return got;
}
