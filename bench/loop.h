/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* loop.h - what the loops of programs' events share: the CPU that they run on, and the clock that they are measured by. Needs _GNU_SOURCE. */
#ifndef BENCH_LOOP_H
#define BENCH_LOOP_H
#include <sched.h>
#include <time.h>
#include <unistd.h>

/* The calling thread runs on the last CPU with @n of 0, and of others on those that come behind it in turn. */
static inline void loop_go_to_cpu(long n)
{
	long nr = sysconf(_SC_NPROCESSORS_ONLN);
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET((int)((nr - 1 + n) % nr), &cpus);
	sched_setaffinity(0, sizeof(cpus), &cpus);
}

/* The thread's own time, because others may share its CPU. */
static inline double loop_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}
#endif
