/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * critical_scenarios.c - programs of several threads in which the causes of the first thread's
 * waits are known, for test_e2e_critical.c.
 *
 * Each program measures itself from inside and writes its results as lines "key value".
 *
 * 	critical_scenarios SCENARIO TRUTH-FILE
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "spend.h"

#define ITEMS	60
#define WORKERS 4
#define ROUNDS	10

static FILE *truth;

static void write_truth(const char *key, long long value)
{
	fprintf(truth, "%s %lld\n", key, value);
	fflush(truth);
}

static void wait_for(pid_t pid)
{
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
}

/* A parent waits for its child, which waits for its own child; that one computes, and then
 * sleeps. */
static void family(void)
{
	pid_t child = fork(), grandchild;
	long long start;

	if (child) {
		write_truth("child", child);
		wait_for(child);
		return;
	}
	grandchild = fork();
	if (grandchild) {
		wait_for(grandchild);
		_exit(0);
	}
	write_truth("grandchild", getpid());
	spin_cpu_ns(300 * MS);
	start = clock_ns(CLOCK_MONOTONIC);
	sleep_ns(200 * MS);
	write_truth("slept_ns", clock_ns(CLOCK_MONOTONIC) - start);
	write_truth("grandchild_cpu_ns", clock_ns(CLOCK_PROCESS_CPUTIME_ID));
	_exit(0);
}

/* A stage between two pipes, with work for each item. -1: no pipe on this side. */
static pid_t stage(const char *name, int in, int out, long long work_ns, const int *others)
{
	pid_t pid = fork();
	char key[32], item = 'x';

	if (pid) {
		write_truth(name, pid);
		return pid;
	}
	for (int i = 0; i < 4; i++)
		if (others[i] != in && others[i] != out)
			close(others[i]);
	for (int i = 0; i < ITEMS; i++) {
		if (in >= 0 && read(in, &item, 1) != 1)
			_exit(1);
		spin_cpu_ns(work_ns);
		if (out >= 0 && write(out, &item, 1) != 1)
			_exit(1);
	}
	snprintf(key, sizeof(key), "%s_cpu_ns", name);
	write_truth(key, clock_ns(CLOCK_PROCESS_CPUTIME_ID));
	_exit(0);
}

/* a | b | c, where b is the slow one. */
static void pipeline(void)
{
	int ends[4];
	pid_t pids[3];

	if (pipe(ends) || pipe(ends + 2))
		exit(1);
	pids[0] = stage("a", -1, ends[1], MS / 2, ends);
	pids[1] = stage("b", ends[0], ends[3], 5 * MS, ends);
	pids[2] = stage("c", ends[2], -1, MS / 10, ends);
	for (int i = 0; i < 4; i++)
		close(ends[i]);
	for (int i = 2; i >= 0; i--)
		wait_for(pids[i]);
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *work_locked(void *cpu_ns)
{
	for (int i = 0; i < ROUNDS; i++) {
		pthread_mutex_lock(&lock);
		spin_cpu_ns(5 * MS);
		pthread_mutex_unlock(&lock);
	}
	*(long long *)cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	return NULL;
}

/* Threads that want the same lock all the time: however many there are, they work one after the
 * other. */
static void convoy(void)
{
	pthread_t workers[WORKERS];
	long long cpu_ns[WORKERS], sum = 0;

	for (int i = 0; i < WORKERS; i++)
		pthread_create(&workers[i], NULL, work_locked, &cpu_ns[i]);
	for (int i = 0; i < WORKERS; i++) {
		pthread_join(workers[i], NULL);
		sum += cpu_ns[i];
	}
	write_truth("workers_cpu_ns", sum);
}

static const struct {
	const char *name;
	void (*run)(void);
} scenarios[] = {{"family", family}, {"pipeline", pipeline}, {"convoy", convoy}};

int main(int argc, char **argv)
{
	long long start = clock_ns(CLOCK_MONOTONIC);

	if (argc != 3) {
		fprintf(stderr, "usage: critical_scenarios SCENARIO TRUTH-FILE\n");
		return 2;
	}
	truth = fopen(argv[2], "ae"); /* several processes write lines to it */
	if (!truth)
		return 1;
	write_truth("pid", getpid());
	for (size_t i = 0; i < sizeof(scenarios) / sizeof(scenarios[0]); i++)
		if (strcmp(scenarios[i].name, argv[1]) == 0) {
			scenarios[i].run();
			write_truth("elapsed_ns", clock_ns(CLOCK_MONOTONIC) - start);
			return 0;
		}
	fprintf(stderr, "critical_scenarios: no scenario %s\n", argv[1]);
	return 2;
}
