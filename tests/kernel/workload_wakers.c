/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * workload_wakers.c - a thread that waits, and one that knows how it wakes it
 *
 * Built without frame pointers. The waiter measures each wait; at the end a line for each waker has
 * the sum: "wake_by_pipe 1234567".
 */
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#define NS 1000000000ull
#define NR 4	 /* wakers */
#ifdef __clang__ /* it makes no clones */
#define NOINLINE __attribute__((noinline))
#else
#define NOINLINE __attribute__((noinline, noclone))
#endif

static int data[2], event, orders[2], done[2];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static int is_set;
static volatile int sink;
static uint64_t waited_ns[NR];

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * NS + (uint64_t)now.tv_nsec;
}

/* ---- wakers ---- */

static NOINLINE void wake_by_pipe(void)
{
	sink += write(data[1], "x", 1) == 1;
}

static NOINLINE void wake_by_event(void)
{
	uint64_t one = 1;

	sink += write(event, &one, sizeof(one)) == sizeof(one);
}

static NOINLINE void wake_by_condition(void)
{
	pthread_mutex_lock(&mutex);
	is_set = 1;
	pthread_mutex_unlock(&mutex);
	pthread_cond_signal(&condition);
	sink++;
}

static NOINLINE int wake_deep(int depth)
{
	int result = depth ? wake_deep(depth - 1) : (int)write(data[1], "x", 1);

	sink += result;
	return result + sink;
}

static void wake(int which)
{
	switch (which) {
	case 0:
		wake_by_pipe();
		break;
	case 1:
		wake_by_event();
		break;
	case 2:
		wake_by_condition();
		break;
	default:
		wake_deep(40);
	}
}

/* ---- the waiter ---- */

static NOINLINE void wait_for_pipe(void)
{
	char byte;

	sink += read(data[0], &byte, 1) == 1;
}

static NOINLINE void wait_for_event(void)
{
	uint64_t value;

	sink += read(event, &value, sizeof(value)) == sizeof(value);
}

static NOINLINE void wait_for_condition(void)
{
	pthread_mutex_lock(&mutex);
	while (!is_set)
		pthread_cond_wait(&condition, &mutex);
	is_set = 0;
	pthread_mutex_unlock(&mutex);
	sink++;
}

static NOINLINE void *waiter(void *unused)
{
	char which;

	while (read(orders[0], &which, 1) == 1 && which < NR) {
		uint64_t from_ns = now_ns();

		if (which == 1)
			wait_for_event();
		else if (which == 2)
			wait_for_condition();
		else
			wait_for_pipe();
		waited_ns[(int)which] += now_ns() - from_ns;
		sink += write(done[1], &which, 1) == 1;
	}
	return unused;
}

/* ---- the story ---- */

static void pause_ns(uint64_t ns)
{
	struct timespec length = {.tv_nsec = (long)ns};

	nanosleep(&length, NULL);
}

/* @ns: how long the waiter waits for waker 0, and 1 more part for each further one. */
static void wake_all(uint64_t ns, int rounds)
{
	for (int i = 0; i < rounds * NR; i++) {
		char which = (char)(i % NR);

		sink += write(orders[1], &which, 1) == 1;
		pause_ns(ns * (uint64_t)(which + 1));
		wake(which);
		sink += read(done[0], &which, 1) == 1;
	}
}

int main(int argc, char **argv)
{
	static const char *const names[NR] = {"wake_by_pipe", "wake_by_event", "wake_by_condition", "wake_deep"};
	uint64_t ns = argc > 1 ? strtoull(argv[1], NULL, 10) : 2000000;
	int rounds = argc > 2 ? atoi(argv[2]) : 50;
	char end = NR;
	pthread_t thread;

	event = eventfd(0, 0);
	if (event < 0 || pipe(data) || pipe(orders) || pipe(done) || pthread_create(&thread, NULL, waiter, NULL))
		return 1;
	pause_ns(NS / 2); /* the tables of the files become ready */
	wake_all(ns, rounds);
	sink += write(orders[1], &end, 1) == 1;
	pthread_join(thread, NULL);
	for (int i = 0; i < NR; i++)
		printf("%s %llu\n", names[i], (unsigned long long)waited_ns[i]);
	return 0;
}
