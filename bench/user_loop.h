/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * user_loop.h - run a loop of COUNT events in each of N threads, and print the mean ns of one
 * event.
 */
#ifndef BENCH_USER_LOOP_H
#define BENCH_USER_LOOP_H
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "loop.h"

struct user_loop {
	const char *name;
	void (*run)(long count);
};

struct user_loop_thread {
	pthread_t thread;
	void (*run)(long count);
	long count;
	int cpu; /* counted from the last CPU, as in loop_go_to_cpu() */
	double ns;
};

static pthread_barrier_t user_loop_start;

static void *user_loop_thread(void *argument)
{
	struct user_loop_thread *thread = argument;
	double begin;

	loop_go_to_cpu(thread->cpu);
	thread->run(1000);
	pthread_barrier_wait(&user_loop_start);
	begin = loop_now_ns();
	thread->run(thread->count);
	thread->ns = (loop_now_ns() - begin) / (double)thread->count;
	return NULL;
}

/*
 * main() of PROGRAM CASE COUNT [THREADS]. @loops ends with a NULL name. Thread 0 runs on the last
 * CPU.
 */
static int user_loop_main(int argc, char **argv, const struct user_loop *loops)
{
	struct user_loop_thread threads[64] = {0};
	int nr = argc > 3 ? atoi(argv[3]) : 1;
	double sum = 0;

	while (argc > 2 && loops->name && strcmp(loops->name, argv[1]) != 0)
		loops++;
	if (argc < 3 || !loops->name || nr < 1 || nr > 64) {
		fprintf(stderr, "usage: %s CASE COUNT [THREADS]\n", argv[0]);
		return 2;
	}
	pthread_barrier_init(&user_loop_start, NULL, (unsigned int)nr);
	for (int i = 0; i < nr; i++) {
		threads[i].run = loops->run;
		threads[i].count = atol(argv[2]);
		threads[i].cpu = i;
		pthread_create(&threads[i].thread, NULL, user_loop_thread, &threads[i]);
	}
	for (int i = 0; i < nr; i++) {
		pthread_join(threads[i].thread, NULL);
		sum += threads[i].ns;
	}
	printf("%.3f\n", sum / nr);
	return 0;
}
#endif
