/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * paced_loop COUNT RATE - a load for a daemon that records events of programs.
 *
 * On each CPU a thread records COUNT events of one int, RATE of them per second, in one burst per
 * ms.
 */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <trace/tracepoint.h>
#include <unistd.h>

static struct {
	long count;
	long burst;
} wanted;

static void *loop(void *argument)
{
	struct timespec next;
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET((int)(intptr_t)argument, &cpus);
	sched_setaffinity(0, sizeof(cpus), &cpus);
	clock_gettime(CLOCK_MONOTONIC, &next);
	for (long done = 0; done < wanted.count; done += wanted.burst) {
		for (long i = 0; i < wanted.burst; i++)
			tracepoint(bench, paced, (int)i);
		next.tv_nsec += 1000000;
		next.tv_sec += next.tv_nsec / 1000000000;
		next.tv_nsec %= 1000000000;
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	pthread_t threads[1024];

	wanted.count = argc > 2 ? atol(argv[1]) : 0;
	wanted.burst = argc > 2 ? atol(argv[2]) / 1000 : 0;
	if (wanted.count <= 0 || wanted.burst <= 0 || cpus > 1024) {
		fprintf(stderr, "usage: paced_loop COUNT RATE\n");
		return 2;
	}
	for (long i = 0; i < cpus; i++)
		pthread_create(&threads[i], NULL, loop, (void *)(intptr_t)i);
	for (long i = 0; i < cpus; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
