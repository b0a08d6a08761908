/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * storm_families.c - families of processes that begin, adopt, execute and end at random, for
 * storms_verify; storm.h has the arguments
 *
 * The first process starts one family after the other. Each process of a family makes some
 * operations, and those that fork may let the child make operations, too, some generations deep.
 */
#include <linux/sched.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "spend.h"
#include "storm.h"

enum { GENERATIONS = 4, EXECUTING_GENERATIONS = 3 };

static const char after_exec[] = "after-exec"; /* instead of SECONDS */
static char program[4096];
static uint32_t generation; /* of this process */
static pid_t last;	    /* a number that may be free again; 0: none */

/* ---- processes and threads ---- */

static void reap_all(void)
{
	while (waitpid(-1, NULL, WNOHANG) > 0)
		;
}

/* Waits for @child, so that its number is free. */
static void reap(pid_t child)
{
	if (child > 0 && waitpid(child, NULL, 0) == child)
		last = child;
}

/* fork() with choices of its own for the child. */
static pid_t fork_child(void)
{
	uint64_t seed = storm_new_seed();
	pid_t pid = fork();

	if (pid == 0)
		storm_seed(seed);
	return pid;
}

/* The same by clone3(). @number: of the child; 0: any */
static pid_t clone_child(uint64_t flags, pid_t number)
{
	struct clone_args arguments = {.flags = flags,
				       .exit_signal = flags & CLONE_PARENT ? 0 : SIGCHLD,
				       .set_tid = number ? (uintptr_t)&number : 0,
				       .set_tid_size = number != 0};
	uint64_t seed = storm_new_seed();
	pid_t pid = (pid_t)syscall(SYS_clone3, &arguments, sizeof(arguments));

	if (pid == 0)
		storm_seed(seed);
	return pid;
}

static void sleeping_child(uint32_t most_us)
{
	if (fork_child())
		return;
	nap_us(below(most_us));
	_exit(0);
}

static void start_thread(void *(*run)(void *))
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, run, (void *)(uintptr_t)storm_new_seed()) == 0)
		pthread_detach(thread);
}

static void make_operations(void)
{
	if (one_in(4))
		prctl(PR_SET_CHILD_SUBREAPER, 1);
	for (uint32_t nr = 3 + below(12); nr; nr--) {
		storm_operate();
		if (one_in(3))
			reap_all();
	}
}

static void next_generation(void)
{
	if (++generation <= GENERATIONS)
		make_operations();
}

/* ---- what threads do ---- */

static void *sleeps(void *seed)
{
	storm_seed((uintptr_t)seed);
	nap_us(below(1000));
	return NULL;
}

static void *forks(void *seed)
{
	storm_seed((uintptr_t)seed);
	sleeping_child(3000);
	nap_us(below(200));
	return NULL;
}

static void *ends_process(void *seed)
{
	storm_seed((uintptr_t)seed);
	nap_us(below(500));
	_exit(0);
}

static void *executes(void *seed)
{
	char numbers[3][24];

	storm_seed((uintptr_t)seed);
	nap_us(below(300));
	snprintf(numbers[0], sizeof(numbers[0]), "%llu", (unsigned long long)storm_new_seed());
	snprintf(numbers[1], sizeof(numbers[1]), "%u", (unsigned int)generation + 1);
	snprintf(numbers[2], sizeof(numbers[2]), "%llu", (unsigned long long)storm_chosen());
	execl(program, "storm_families", after_exec, numbers[0], numbers[1], numbers[2], NULL);
	_exit(3);
}

/* ---- operations ---- */

static void storm_fork(void)
{
	pid_t child = fork_child();

	if (child == 0) {
		next_generation();
		nap_us(below(2000));
		_exit(0);
	}
	if (!one_in(3))
		reap(child);
}

static void storm_double_fork(void)
{
	pid_t child = fork_child();

	if (child == 0) {
		if (fork_child() == 0) {
			nap_us(below(5000));
			if (one_in(3))
				next_generation();
		}
		_exit(0);
	}
	reap(child);
}

static void storm_number_again(void)
{
	pid_t child = last ? clone_child(0, last) : -1;

	if (child == 0) {
		sleeping_child(4000);
		if (one_in(2))
			next_generation();
		nap_us(below(500));
		_exit(0);
	}
	if (one_in(2))
		reap(child);
	else
		last = 0;
}

static void storm_threads(void)
{
	for (uint32_t nr = 1 + below(3); nr; nr--)
		start_thread(sleeps);
}

static void storm_exec_in_thread(void)
{
	pid_t child = fork_child();

	if (child == 0) {
		sleeping_child(3000);
		start_thread(generation < EXECUTING_GENERATIONS ? executes : sleeps);
		if (one_in(2))
			pthread_exit(NULL);
		nap_us(20000);
		_exit(0);
	}
	if (one_in(2))
		reap(child);
}

static void storm_exit_in_thread(void)
{
	pid_t child = fork_child();

	if (child == 0) {
		start_thread(forks);
		start_thread(ends_process);
		if (one_in(2))
			pthread_exit(NULL);
		nap_us(below(800));
		_exit(0);
	}
	reap(child);
}

static void storm_vfork(void)
{
	pid_t child = vfork();

	if (child == 0)
		_exit(0);
	reap(child);
}

static void storm_sibling(void)
{
	if (clone_child(CLONE_PARENT, 0))
		return;
	nap_us(below(3000));
	_exit(0);
}

static void storm_sleep(void)
{
	nap_us(below(800));
}

static void storm_compute(void)
{
	spin_cpu_ns(below(400) * 1000);
}

static const struct storm_operation operations[] = {
	OPERATION(4, fork),
	OPERATION(2, double_fork),
	OPERATION(4, number_again),
	OPERATION(2, threads),
	OPERATION(2, exec_in_thread),
	OPERATION(2, exit_in_thread),
	OPERATION(2, vfork),
	OPERATION(2, sibling),
	OPERATION(1, sleep),
	OPERATION(1, compute),
	{NULL, 0, NULL},
};

/* ---- the storm ---- */

static void begin(void)
{
	for (;;) {
		pid_t family = fork_child();

		if (family == 0) {
			make_operations();
			_exit(0);
		}
		waitpid(family, NULL, 0);
		reap_all();
	}
}

int main(int argc, char **argv)
{
	static const struct storm storm = {.operations = operations, .begin = begin};

	if (readlink("/proc/self/exe", program, sizeof(program) - 1) < 0)
		return 1;
	if (argc != 5 || strcmp(argv[1], after_exec) != 0)
		return storm_main(&storm, argc, argv);
	storm_seed(strtoull(argv[2], NULL, 10));
	generation = (uint32_t)atoi(argv[3]);
	storm_choose(operations, strtoull(argv[4], NULL, 10));
	make_operations();
	return 0;
}
