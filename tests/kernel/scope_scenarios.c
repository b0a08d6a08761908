/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * scope_scenarios.c - a shop with tracepoints that also measures itself and writes the results to
 * the file TRUTH.
 *
 * It measures each piece from outside and from inside its tracepoints, because it may be
 * interrupted between them and its clocks: the trace's value lies between.
 *
 * Each checkout works for 3 ms, sleeps for 4 ms and waits for the till, a child that takes 3 ms;
 * each in a scope of its own inside the checkout's scope. The main thread begins each order, works
 * on it for 1 ms, and passes it through memory to a second thread, which works on it for 2 ms.
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
#define ORDERS	  20
#define MS	  1000000ull

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

/* ---- measurements ---- */

/* struct span - a clock's time for all pieces of a kind, read outside the tracepoints and inside
 * them */
struct span {
	uint64_t without, within;
};

static struct span checkout_time, checkout_cpu, till_time, order_time, order_cpu;
static uint64_t sleep_ns;

static void write_truth(FILE *truth, const char *name, const struct span *s)
{
	fprintf(truth, "%s_ns %llu\n%s_within_ns %llu\n", name, (unsigned long long)s->without, name,
		(unsigned long long)s->within);
}

/* ---- checkouts ---- */

static int to_till[2], from_till[2];

static void ask_till(void)
{
	trace_scope(shop, till);
	uint64_t from = now(CLOCK_MONOTONIC);
	char byte = 'x';

	if (write(to_till[1], &byte, 1) != 1 || read(from_till[0], &byte, 1) != 1)
		abort();
	till_time.within += now(CLOCK_MONOTONIC) - from;
}

static void serve(int number)
{
	trace_scope(shop, checkout);
	uint64_t from = now(CLOCK_MONOTONIC), cpu = now(CLOCK_THREAD_CPUTIME_ID), at;

	work(3 * MS);
	at = now(CLOCK_MONOTONIC);
	pause_for(4 * MS);
	sleep_ns += now(CLOCK_MONOTONIC) - at;
	at = now(CLOCK_MONOTONIC);
	ask_till();
	till_time.without += now(CLOCK_MONOTONIC) - at;
	tracepoint(shop, paid, number, "euro");
	checkout_cpu.within += now(CLOCK_THREAD_CPUTIME_ID) - cpu;
	checkout_time.within += now(CLOCK_MONOTONIC) - from;
}

static void checkout(int number)
{
	uint64_t from = now(CLOCK_MONOTONIC), cpu = now(CLOCK_THREAD_CPUTIME_ID);

	serve(number);
	checkout_cpu.without += now(CLOCK_THREAD_CPUTIME_ID) - cpu;
	checkout_time.without += now(CLOCK_MONOTONIC) - from;
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

/* struct slip - an order on its way, with the measurements of both threads */
static struct slip {
	uint64_t without, within; /* CLOCK_MONOTONIC, before its begin and after it */
	struct span cpu;	  /* the main thread's share */
} slips[ORDERS];

static void *kitchen(void *unused)
{
	for (int i = 0; i < ORDERS; i++) {
		struct slip *slip = &slips[i];
		uint64_t without, within, end;

		pthread_mutex_lock(&lock);
		while (made <= i)
			pthread_cond_wait(&changed, &lock);
		pthread_mutex_unlock(&lock);
		without = now(CLOCK_THREAD_CPUTIME_ID);
		trace_request_begin(shop, order, i);
		within = now(CLOCK_THREAD_CPUTIME_ID);
		work(2 * MS);
		within = now(CLOCK_THREAD_CPUTIME_ID) - within;
		end = now(CLOCK_MONOTONIC);
		trace_request_end(shop, order, i);
		order_time.without += now(CLOCK_MONOTONIC) - slip->without;
		order_time.within += end - slip->within;
		without = now(CLOCK_THREAD_CPUTIME_ID) - without;
		pthread_mutex_lock(&lock);
		order_cpu.without += without + slip->cpu.without;
		order_cpu.within += within + slip->cpu.within;
		taken = i + 1;
		pthread_cond_broadcast(&changed);
		pthread_mutex_unlock(&lock);
	}
	return unused;
}

static void order(int i)
{
	struct slip *slip = &slips[i];

	slip->without = now(CLOCK_MONOTONIC);
	slip->cpu.without = now(CLOCK_THREAD_CPUTIME_ID);
	trace_request_begin(shop, order, i);
	slip->cpu.within = now(CLOCK_THREAD_CPUTIME_ID);
	slip->within = now(CLOCK_MONOTONIC);
	work(1 * MS);
	slip->cpu.within = now(CLOCK_THREAD_CPUTIME_ID) - slip->cpu.within;
	trace_request_handoff(shop, order, i);
	slip->cpu.without = now(CLOCK_THREAD_CPUTIME_ID) - slip->cpu.without;
	pthread_mutex_lock(&lock);
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
	fprintf(truth, "sleep_ns %llu\n", (unsigned long long)sleep_ns);
	write_truth(truth, "checkout", &checkout_time);
	write_truth(truth, "checkout_cpu", &checkout_cpu);
	write_truth(truth, "till", &till_time);
	write_truth(truth, "order", &order_time);
	write_truth(truth, "order_cpu", &order_cpu);
	return fclose(truth) ? 1 : 0;
}
