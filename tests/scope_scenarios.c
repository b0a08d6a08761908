/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * scope_scenarios.c - a shop that tells of itself by tracepoints, and writes down what it measured of the same pieces: argument TRUTH.
 *
 * Each of its checkouts works 3 ms, sleeps 4 ms and waits for the till, a child that takes 3 ms, in one scope each inside the checkout's.
 * Each order is begun by the main thread, worked on for 1 ms, handed to a second thread through memory, and worked on there for 2 ms.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <trace/tracepoint.h>
#include <unistd.h>

#define CHECKOUTS 20
#define ORDERS 20
#define MS 1000000ull

static uint64_t now(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void work(uint64_t ns)
{
	uint64_t until = now(CLOCK_THREAD_CPUTIME_ID) + ns;

	while (now(CLOCK_THREAD_CPUTIME_ID) < until)
		;
}

static void pause_for(uint64_t ns)
{
	struct timespec t = {.tv_nsec = (long)ns};

	nanosleep(&t, NULL);
}

/* ---- checkouts ---- */

static uint64_t checkout_ns, checkout_cpu_ns, sleep_ns, till_ns;
static int to_till[2], from_till[2];

static void ask_till(void)
{
	char byte = 'x';

	trace_scope(shop, till);
	if (write(to_till[1], &byte, 1) != 1 || read(from_till[0], &byte, 1) != 1)
		abort();
}

static void checkout(int number)
{
	uint64_t from = now(CLOCK_MONOTONIC), cpu = now(CLOCK_THREAD_CPUTIME_ID), at;

	{
		trace_scope(shop, checkout);
		work(3 * MS);
		at = now(CLOCK_MONOTONIC);
		pause_for(4 * MS);
		sleep_ns += now(CLOCK_MONOTONIC) - at;
		at = now(CLOCK_MONOTONIC);
		ask_till();
		till_ns += now(CLOCK_MONOTONIC) - at;
		tracepoint(shop, paid, number, "euro");
	}
	checkout_cpu_ns += now(CLOCK_THREAD_CPUTIME_ID) - cpu;
	checkout_ns += now(CLOCK_MONOTONIC) - from;
}

static void till(void)
{
	char byte;

	close(to_till[1]);
	while (read(to_till[0], &byte, 1) == 1) {
		work(3 * MS);
		if (write(from_till[1], &byte, 1) != 1)
			abort();
	}
	_exit(0);
}

/* ---- orders ---- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int made, taken;
static uint64_t order_begin_ns[ORDERS], order_ns, order_cpu_ns;

static void *kitchen(void *unused)
{
	for (int i = 0; i < ORDERS; i++) {
		uint64_t cpu;

		pthread_mutex_lock(&lock);
		while (made <= i)
			pthread_cond_wait(&changed, &lock);
		pthread_mutex_unlock(&lock);
		trace_request_begin(shop, order, i);
		cpu = now(CLOCK_THREAD_CPUTIME_ID);
		work(2 * MS);
		cpu = now(CLOCK_THREAD_CPUTIME_ID) - cpu;
		trace_request_end(shop, order, i);
		pthread_mutex_lock(&lock);
		order_cpu_ns += cpu;
		order_ns += now(CLOCK_MONOTONIC) - order_begin_ns[i];
		taken = i + 1;
		pthread_cond_broadcast(&changed);
		pthread_mutex_unlock(&lock);
	}
	return unused;
}

static void order(int i)
{
	uint64_t cpu;

	order_begin_ns[i] = now(CLOCK_MONOTONIC);
	trace_request_begin(shop, order, i);
	cpu = now(CLOCK_THREAD_CPUTIME_ID);
	work(1 * MS);
	cpu = now(CLOCK_THREAD_CPUTIME_ID) - cpu;
	trace_request_handoff(shop, order, i);
	pthread_mutex_lock(&lock);
	order_cpu_ns += cpu;
	made = i + 1;
	trace_counter(shop, queue, made - taken);
	pthread_cond_broadcast(&changed);
	while (taken <= i - 2)
		pthread_cond_wait(&changed, &lock);
	pthread_mutex_unlock(&lock);
}

int main(int argc, char **argv)
{
	pthread_t thread;
	pid_t child;
	FILE *truth;

	if (argc != 2 || pipe(to_till) || pipe(from_till))
		return 2;
	child = fork();
	if (child == 0)
		till();
	for (int i = 0; i < CHECKOUTS; i++)
		checkout(i);
	close(to_till[1]);
	waitpid(child, NULL, 0);
	pthread_create(&thread, NULL, kitchen, NULL);
	for (int i = 0; i < ORDERS; i++)
		order(i);
	pthread_join(thread, NULL);
	truth = fopen(argv[1], "we");
	if (!truth)
		return 1;
	fprintf(truth, "pid %d\ntill_pid %d\ncheckouts %d\norders %d\n", getpid(), child, CHECKOUTS, ORDERS);
	fprintf(truth, "checkout_ns %llu\ncheckout_cpu_ns %llu\nsleep_ns %llu\ntill_ns %llu\n", (unsigned long long)checkout_ns,
		(unsigned long long)checkout_cpu_ns, (unsigned long long)sleep_ns, (unsigned long long)till_ns);
	fprintf(truth, "order_ns %llu\norder_cpu_ns %llu\n", (unsigned long long)order_ns, (unsigned long long)order_cpu_ns);
	return fclose(truth) ? 1 : 0;
}
