/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* jail_child.c - fork a child with few descriptors, and report how it ended. */
#include "jail_child.h"

#include <errno.h>
#include <fcntl.h>
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
#include "jail.h"

#define ENDS_IN_MS 1000 /* a child that has closed its socket */

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
	role->run(role->context);
}

/* ---- the caller ---- */

int jail_child_start(const struct jail_role *role, struct jail_child *ret_child)
{
	sigset_t all, before;
	int sockets[2], err;
	pid_t pid;

	if (role->nr_files >= JAIL_DESCRIPTORS - JAIL_SOCKET)
		return -EINVAL;
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
		.socket = sockets[0], .pid = pid, .owner = getpid(), .cpu_seconds = role->cpu_seconds};
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

static void await_end(const struct jail_child *child)
{
	const struct timespec nap = {.tv_nsec = 1000000};

	for (int ms = 0; ms < ENDS_IN_MS && progress_of(child) == RUNS; ms++)
		nanosleep(&nap, NULL);
}

static void describe_end(const struct jail_child *child, int status, const struct rusage *usage, char *ret_reason,
			 size_t bytes)
{
	long seconds = usage->ru_utime.tv_sec + usage->ru_stime.tv_sec;

	if (WIFSIGNALED(status) &&
	    (WTERMSIG(status) == SIGXCPU || (WTERMSIG(status) == SIGKILL && seconds >= (long)child->cpu_seconds - 1)))
		snprintf(ret_reason, bytes, "it took more than %u s of CPU time", child->cpu_seconds);
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
	if (child->owner != getpid())
		return;
	if (has_left)
		await_end(child);
	if (progress_of(child) == RUNS)
		kill(child->pid, SIGKILL);
	do
		waited = wait4(child->pid, &status, 0, &usage);
	while (waited < 0 && errno == EINTR);
	if (has_left && waited < 0)
		snprintf(ret_reason, reason_bytes, "its exit status is not known, because its parent ignores SIGCHLD");
	else if (has_left)
		describe_end(child, status, &usage, ret_reason, reason_bytes);
}
