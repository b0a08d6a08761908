/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * probe_target.c - a program to be probed, which counts what it does. Compiled without optimisation
 * and with debug information.
 *
 * 	probe_target CALLS THREADS TRUTH    each thread pays CALLS times; "key value" lines to TRUTH
 * 	probe_target hold                   prints a line and calls hold(), which returns at the
 * 	                                    next byte; repeats
 */
#define _SDT_HAS_SEMAPHORES 1
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sdt.h>
#include <sys/wait.h>
#include <unistd.h>

struct item {
	int id;
	const char *name;
};

enum state { STATE_NEW = -1, STATE_PAID = 7 };

struct order {
	long id;
	double price;
	struct item items[3];
	char code[8];
	unsigned int low : 3, high : 7;
	enum state state;
	_Bool urgent;
	short small;
	struct order *next;
};

long pay(struct order *order, double price, int number, const char *who);
int recurse(int depth);
int never_called(void);
int hold(void);

/* Three names of one function, as in the C library. */
long __shop_settle(long id);
long shop_settle(long id) __attribute__((alias("__shop_settle")));
long _shop_settle_order(long id) __attribute__((alias("__shop_settle")));

unsigned short shop_paid_semaphore __attribute__((section(".probes"))); /* the names that SystemTap uses */
unsigned short shop_done_semaphore __attribute__((section(".probes")));
int counter; /* number of calls, of all threads */
static long watched, result_sum;
static __thread long thread_local_number;

long __shop_settle(long id)
{
	return id + 1;
}

long pay(struct order *order, double price, int number, const char *who)
{
	long result = order->id * 2 - number;

	__atomic_fetch_add(&counter, 1, __ATOMIC_RELAXED);
	thread_local_number++;
	if (shop_paid_semaphore) {
		__atomic_fetch_add(&watched, 1, __ATOMIC_RELAXED);
		STAP_PROBE4(shop, paid, order->id, number, who, (short)-5);
	}
	STAP_PROBE(shop, done);
	return price > 0 ? result : 0;
}

int recurse(int depth)
{
	return depth ? recurse(depth - 1) + 1 : 0;
}

int never_called(void)
{
	return counter;
}

int hold(void)
{
	char byte;

	return read(STDIN_FILENO, &byte, 1) == 1;
}

static int hold_often(void)
{
	do
		if (write(STDOUT_FILENO, "\n", 1) != 1)
			return 1;
	while (hold());
	return 0;
}

static void *pay_often(void *argument)
{
	long calls = *(long *)argument, sum = 0;
	struct order next = {.id = 99};
	struct order order = {
		.id = 1000,
		.price = 2.5,
		.items = {{1, "one"}, {2, "two"}, {3, "three"}},
		.code = "abc",
		.low = 5,
		.high = 77,
		.state = STATE_NEW,
		.urgent = 1,
		.small = -3,
		.next = &next,
	};

	for (long i = 0; i < calls; i++) {
		order.id = 1000 + i;
		sum += pay(&order, 2.5, (int)i, i % 2 ? "odd" : "even");
		if (i % 16 == 0)
			getppid();
	}
	__atomic_fetch_add(&result_sum, sum, __ATOMIC_RELAXED);
	return NULL;
}

int main(int argc, char **argv)
{
	long calls = argc > 1 ? atol(argv[1]) : 1;
	int nr_threads = argc > 2 ? atoi(argv[2]) : 1;
	FILE *truth = argc > 3 ? fopen(argv[3], "w") : stdout;
	pthread_t threads[64];
	int status;

	if (argc > 1 && !strcmp(argv[1], "hold"))
		return hold_often();
	if (!truth || nr_threads > 64)
		return 1;
	for (int i = 0; i < nr_threads; i++)
		if (pthread_create(&threads[i], NULL, pay_often, &calls))
			return 1;
	for (int i = 0; i < nr_threads; i++)
		pthread_join(threads[i], NULL);
	if (fork() == 0) {
		recurse(10);
		_exit(0);
	}
	wait(&status);
	fprintf(truth, "calls %d\nwatched %ld\nresults %ld\ngetppid %ld\nbreakpoint %d\n", counter, watched, result_sum,
		(calls + 15) / 16 * nr_threads, *(volatile unsigned char *)(uintptr_t)pay == 0xcc);
	return fclose(truth) != 0;
}
