/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TESTS_SPEND_H
#define TESTS_SPEND_H
/* spend.h - for programs that know their truth: spend time asleep or on the CPU, and read the
 * clocks and the kernel's figures. All times in ns. */
#include <errno.h>
#include <stdio.h>
#include <sys/types.h>
#include <time.h>

#define MS 1000000ll

static inline long long clock_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * 1000000000ll + t.tv_nsec;
}

/* On the clock of traces. */
static inline long long now_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

static inline void sleep_ns(long long ns)
{
	struct timespec t = {.tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000};

	while (nanosleep(&t, &t) && errno == EINTR)
		;
}

/* Uses this much of the thread's own CPU time. Reading that clock is a system call, so it is read
 * rarely. */
static inline void spin_cpu_ns(long long ns)
{
	long long until = clock_ns(CLOCK_THREAD_CPUTIME_ID) + ns;

	while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < until)
		for (volatile int i = 0; i < 20000; i++)
			;
}

static inline char state_of(pid_t pid)
{
	char path[64], state = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	file = fopen(path, "re");
	if (file && fscanf(file, "%*d (%*[^)]) %c", &state) != 1)
		state = 0;
	if (file)
		fclose(file);
	return state;
}

/* Until the thread is asleep ('S') or stopped ('T') in the kernel's /proc/PID/stat; for some
 * seconds at most. */
static inline void wait_for_state(pid_t pid, char state)
{
	for (int i = 0; i < 5000 && state_of(pid) != state; i++)
		sleep_ns(MS);
}

/* Context switches of the machine since its boot, or -1 if the kernel does not say. */
static inline long long system_switches(void)
{
	FILE *file = fopen("/proc/stat", "r");
	char line[4096];
	long long count = -1;

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "ctxt %lld", &count) == 1)
			break;
	if (file)
		fclose(file);
	return count;
}

#endif
