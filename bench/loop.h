/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * loop.h - the CPU and the clock of the loops that measure events of programs. Needs _GNU_SOURCE.
 */
#ifndef BENCH_LOOP_H
#define BENCH_LOOP_H
#include <sched.h>
#include <time.h>
#include <unistd.h>

/*
 * Moves the calling thread to the last CPU if @n is 0, and to the CPU that is @n after it
 * otherwise.
 */
static inline void loop_go_to_cpu(long n)
{
	long nr = sysconf(_SC_NPROCESSORS_ONLN);
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET((int)((nr - 1 + n) % nr), &cpus);
	sched_setaffinity(0, sizeof(cpus), &cpus);
}

/* The CPU time of the thread, because other threads may share its CPU. */
static inline double loop_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}
#endif
