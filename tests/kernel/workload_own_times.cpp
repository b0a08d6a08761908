/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * workload_own_times.cpp - functions that measure their own CPU time and their own waits, for
 * test_e2e_own_times.c
 *
 *     workload_own_times TRUTH            all functions by turns, NR_ROUNDS times, in a child
 *     workload_own_times TRUTH spawned    one function, of a program that another one spawned
 *
 * Each line of the file TRUTH is "function ns": of the CPU, or of what the program waited for. A
 * function in several processes has several lines. "usage" is the CPU time of the child and its
 * children until their end, as the kernel tells the process "parent".
 */
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <pthread.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "as_it_is.h"

#define NR_ROUNDS  30
#define NR_THREADS 3
#define NR_WAITS   10
#define WAIT_NS	   20000000l
#define DEPTH	   40

static volatile unsigned long sink;

static long long clock_ns(clockid_t clock)
{
	timespec now;

	clock_gettime(clock, &now);
	return now.tv_sec * 1000000000ll + now.tv_nsec;
}

static long long cpu_ns()
{
	return clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

/* In a macro, because the time of a function is its own. */
#define SPIN(units)                                           \
	for (unsigned long i_ = 0; i_ < (units)*4000ul; i_++) \
		sink = sink * 1664525 + 1013904223;

/* ns of each function */
static long long recursive_ns, outer_ns, inner_ns, tail_first_ns, tail_second_ns, caught_ns, handler_ns, thread_ns;

extern "C" {
AS_IT_IS unsigned long own_recursive(int depth)
{
	SPIN(20);
	return depth ? own_recursive(depth - 1) + 1 : 0;
}

static inline __attribute__((always_inline)) void own_inner()
{
	long long begin = cpu_ns();

	SPIN(700);
	inner_ns += cpu_ns() - begin;
}

AS_IT_IS void own_outer()
{
	long long begin = cpu_ns();

	SPIN(300);
	own_inner();
	outer_ns += cpu_ns() - begin;
}

/* The compiler makes jumps of these calls: nothing of the caller is on the stack. */
AS_IT_IS unsigned long own_tail_second(long long begin)
{
	SPIN(600);
	tail_second_ns += cpu_ns() - begin;
	return sink;
}

AS_IT_IS unsigned long own_tail_first()
{
	long long begin = cpu_ns(), end;

	SPIN(400);
	end = cpu_ns();
	tail_first_ns += end - begin;
	return own_tail_second(end);
}

AS_IT_IS void throw_below(int depth)
{
	if (depth)
		throw_below(depth - 1);
	else
		throw depth;
	sink = sink + 1;
}

AS_IT_IS void own_caught()
{
	long long begin = cpu_ns();

	try {
		throw_below(20);
	} catch (int depth) {
		SPIN(900);
	}
	caught_ns += cpu_ns() - begin;
}

AS_IT_IS void own_handler(int number)
{
	long long begin = cpu_ns();

	SPIN(500);
	handler_ns += cpu_ns() - begin;
}

AS_IT_IS void *own_thread(void *nothing)
{
	long long begin = cpu_ns(), used;

	SPIN(400);
	used = cpu_ns() - begin;
	__atomic_fetch_add(&thread_ns, used, __ATOMIC_RELAXED);
	return nothing;
}

AS_IT_IS long long own_child()
{
	long long begin = cpu_ns();

	SPIN(600);
	return cpu_ns() - begin;
}

AS_IT_IS long long own_spawned()
{
	long long begin = cpu_ns();

	SPIN(800);
	return cpu_ns() - begin;
}

/* ---- waits ---- */

AS_IT_IS long long own_pipe_wait(int out, int in)
{
	long long begin = clock_ns(CLOCK_MONOTONIC);
	char byte = 0;

	if (write(out, &byte, 1) != 1 || read(in, &byte, 1) != 1)
		abort();
	return clock_ns(CLOCK_MONOTONIC) - begin;
}

AS_IT_IS long long own_lock_wait(pthread_mutex_t *lock)
{
	long long begin = clock_ns(CLOCK_MONOTONIC);

	pthread_mutex_lock(lock);
	begin = clock_ns(CLOCK_MONOTONIC) - begin;
	pthread_mutex_unlock(lock);
	return begin;
}
}

/* Appended as a whole, because several processes write. */
static void tell(const char *path, const char *function, long long ns)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
	char line[96];
	int chars = snprintf(line, sizeof(line), "%s %lld\n", function, ns);

	if (fd < 0 || write(fd, line, static_cast<size_t>(chars)) != chars)
		abort();
	close(fd);
}

static void nap()
{
	const timespec time = {0, WAIT_NS};

	clock_nanosleep(CLOCK_MONOTONIC, 0, &time, nullptr);
}

/* Answers each byte after WAIT_NS, until the end. */
static void answer(int in, int out)
{
	char byte;

	while (read(in, &byte, 1) == 1) {
		nap();
		if (write(out, &byte, 1) != 1)
			abort();
	}
	_exit(0);
}

static void wait_for_pipes(const char *truth)
{
	long long waited = 0;
	int to[2], from[2];
	pid_t pid;

	if (pipe(to) || pipe(from))
		abort();
	pid = fork();
	if (pid == 0) {
		close(to[1]);
		answer(to[0], from[1]);
	}
	for (int i = 0; i < NR_WAITS; i++)
		waited += own_pipe_wait(to[1], from[0]);
	close(to[1]);
	waitpid(pid, nullptr, 0);
	tell(truth, "own_pipe_wait", waited);
}

struct held {
	pthread_mutex_t lock;
	int told[2];
};

/* Locks, tells it, and unlocks after WAIT_NS. */
static void *hold(void *context)
{
	held *held_one = static_cast<held *>(context);
	char byte = 0;

	pthread_mutex_lock(&held_one->lock);
	if (write(held_one->told[1], &byte, 1) != 1)
		abort();
	nap();
	pthread_mutex_unlock(&held_one->lock);
	return nullptr;
}

static void wait_for_locks(const char *truth)
{
	held one = {PTHREAD_MUTEX_INITIALIZER, {-1, -1}};
	long long waited = 0;
	char byte;

	if (pipe(one.told))
		abort();
	for (int i = 0; i < NR_WAITS; i++) {
		pthread_t thread;

		if (pthread_create(&thread, nullptr, hold, &one) || read(one.told[0], &byte, 1) != 1)
			abort();
		waited += own_lock_wait(&one.lock);
		pthread_join(thread, nullptr);
	}
	tell(truth, "own_lock_wait", waited);
}

/* ---- processes ---- */

static void run_child(const char *truth)
{
	pid_t pid = fork();

	if (pid == 0) {
		tell(truth, "own_child", own_child());
		_exit(0);
	}
	waitpid(pid, nullptr, 0);
}

/* glibc spawns like vfork(): the child uses the memory of its parent until the exec. */
static void run_spawned(const char *self, const char *truth)
{
	char *arguments[] = {const_cast<char *>(self), const_cast<char *>(truth), const_cast<char *>("spawned"),
			     nullptr},
	     *none[] = {nullptr};
	pid_t pid;

	if (posix_spawn(&pid, self, nullptr, nullptr, arguments, none))
		abort();
	waitpid(pid, nullptr, 0);
}

static void run_threads()
{
	pthread_t threads[NR_THREADS];

	for (pthread_t &thread : threads)
		if (pthread_create(&thread, nullptr, own_thread, nullptr))
			abort();
	for (pthread_t thread : threads)
		pthread_join(thread, nullptr);
}

static void run_round(const char *self, const char *truth)
{
	long long begin = cpu_ns();

	sink = sink + own_recursive(DEPTH);
	recursive_ns += cpu_ns() - begin;
	own_outer();
	sink = sink + own_tail_first();
	own_caught();
	raise(SIGUSR1);
	run_threads();
	run_child(truth);
	run_spawned(self, truth);
}

static void run_worker(const char *self, const char *truth)
{
	signal(SIGUSR1, own_handler);
	for (int i = 0; i < NR_ROUNDS; i++)
		run_round(self, truth);
	wait_for_pipes(truth);
	wait_for_locks(truth);
	tell(truth, "own_recursive", recursive_ns);
	tell(truth, "own_outer", outer_ns);
	tell(truth, "own_inner", inner_ns);
	tell(truth, "own_tail_first", tail_first_ns);
	tell(truth, "own_tail_second", tail_second_ns);
	tell(truth, "own_caught", caught_ns);
	tell(truth, "own_handler", handler_ns);
	tell(truth, "own_thread", thread_ns);
}

static long long ns_of(const timeval &time)
{
	return time.tv_sec * 1000000000ll + time.tv_usec * 1000ll;
}

int main(int argc, char **argv)
{
	rusage usage = {};
	pid_t pid;

	if (argc < 2)
		return 2;
	if (argc > 2) {
		tell(argv[1], "own_spawned", own_spawned());
		return 0;
	}
	pid = fork();
	if (pid == 0) {
		run_worker(argv[0], argv[1]);
		return 0;
	}
	if (wait4(pid, nullptr, 0, &usage) != pid)
		return 1;
	tell(argv[1], "parent", getpid());
	tell(argv[1], "usage", ns_of(usage.ru_utime) + ns_of(usage.ru_stime));
	return 0;
}
