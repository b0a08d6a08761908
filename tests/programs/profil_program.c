/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * profil_program.c - a program that uses the C library's profil() and sprofil(), and knows nothing
 * of this project: profil_is_interposed
 *
 *	profil_program threads     four threads of 300 ms: the CPU time in ms, and ticks in its text
 *	profil_program full        sprofil() with 16-bit cells that begin 5 below their maximum
 *	profil_program tick        the period that sprofil() tells, in us
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/profil.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define THREADS 4
#define BURN_NS 300000000

extern char __executable_start, etext;
static unsigned short cells[1 << 20];
static unsigned int counts[1 << 19];
static volatile unsigned long sink;

static long long clock_ns(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return time.tv_sec * 1000000000ll + time.tv_nsec;
}

static void *burn(void *ns)
{
	long long end = clock_ns(CLOCK_THREAD_CPUTIME_ID) + *(long long *)ns;

	while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < end)
		for (int i = 0; i < 200000; i++)
			sink++;
	return NULL;
}

static int run_threads(void)
{
	struct prof region = {counts, sizeof(counts), (size_t)&__executable_start, 0x10000};
	long long ns = BURN_NS, before = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	unsigned long long ticks = 0;
	pthread_t threads[THREADS];
	struct timeval tick;

	if (sprofil(&region, 1, &tick, PROF_UINT))
		return 1;
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, burn, &ns);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	sprofil(NULL, 0, NULL, 0);
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
		ticks += counts[i];
	printf("%lld %lld\n", (clock_ns(CLOCK_PROCESS_CPUTIME_ID) - before) / 1000000,
	       (long long)(ticks * (unsigned long long)tick.tv_usec / 1000));
	return 0;
}

static int fill_cells(void)
{
	long long ns = BURN_NS;

	memset(cells, 0xff, sizeof(cells));
	for (size_t i = 0; i < sizeof(cells) / sizeof(cells[0]); i++)
		cells[i] -= 5;
	if (profil(cells, sizeof(cells), (size_t)&__executable_start, 0x10000))
		return 1;
	burn(&ns);
	profil(cells, 0, 0, 0);
	for (size_t i = 0; i < sizeof(cells) / sizeof(cells[0]); i++)
		if (cells[i] < 0xffff - 5)
			return 2; /* it began anew at 0 */
	return 0;
}

static int tell_tick(void)
{
	struct prof region = {counts, sizeof(counts), (size_t)&__executable_start, 0x10000};
	struct timeval tick;

	if (sprofil(&region, 1, &tick, 0))
		return 1;
	printf("%ld\n", (long)tick.tv_usec);
	return 0;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	return !strcmp(what, "threads") ? run_threads()
	       : !strcmp(what, "full")	? fill_cells()
	       : !strcmp(what, "tick")	? tell_tick()
					: 2;
}
