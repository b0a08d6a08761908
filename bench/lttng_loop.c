/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* lttng_loop COUNT - COUNT tracepoints of one int; prints the nanoseconds of one: of the thread's CPU time on the last CPU, as user_loop does. */
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "lttng_provider.h"

static double now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (double)ts.tv_sec * 1e9 + (double)ts.tv_nsec;
}

int main(int argc, char **argv)
{
	long count = argc > 1 ? atol(argv[1]) : 1000000;
	cpu_set_t cpus;
	double begin;

	CPU_ZERO(&cpus);
	CPU_SET((int)sysconf(_SC_NPROCESSORS_ONLN) - 1, &cpus);
	sched_setaffinity(0, sizeof(cpus), &cpus);
	for (long i = 0; i < 1000; i++)
		lttng_ust_tracepoint(bench, number, (int)i);
	begin = now_ns();
	for (long i = 0; i < count; i++)
		lttng_ust_tracepoint(bench, number, (int)i);
	printf("%.3f\n", (now_ns() - begin) / (double)count);
	return 0;
}
