/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * event_cost.c - measure what an event of a program costs that program.
 *
 * A program records its events in its own thread, in user mode: some 10 ns each, most of which is
 * the price of reading the clock. Ten million calls a second recorded by libtracer-functions.so are
 * 100 ms of that second, which are not the program's own. The price differs between machines, so
 * each recording measures it: the daemon executes the sequence of <trace/tracepoint_inline.h>, the
 * same instructions as in programs, with a block of memory of its own, in batches. The same loop
 * with a call that does nothing is subtracted, and with it the price of reading the CPU time. The
 * cost is the median of the batches' means, and the spread is between the cheapest and the dearest
 * batch. The thread's CPU time counts, so a preemption does not.
 *
 * The measured event has 24 bytes of fields and thread number, the most that a program writes in
 * line. Events with texts or more fields, and those of other languages, cost more than that.
 */
#include "event_cost.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <trace/tracepoint_inline.h>

#define BATCHES	     15
#define EVENTS	     1024 /* in a batch */
#define RECORD_BYTES 32
#define AREA_BYTES   (EVENTS * RECORD_BYTES * BATCHES)
#define RECORD_WORD  ((uint64_t)RECORD_BYTES / 8 << 48)

#if defined(__x86_64__)
/* of the C library; as in tracer/user/memory.c */
extern const ptrdiff_t __rseq_offset __attribute__((weak));

/* One place that records, with all that the inlined code reads in a program. */
struct site {
	const volatile unsigned char *flag;
	const volatile uint32_t *where;
	struct trace_window *windows;
	uint32_t nr_windows;
	bool is_tsc;
	volatile uint64_t word;
};

typedef void site_fn(const struct site *site, uint64_t first, uint64_t second);

static uint64_t cpu_time(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void now_in_halves(bool is_tsc, uint32_t *ret_low, uint32_t *ret_high)
{
	struct timespec now;
	uint64_t ns;

	if (is_tsc) {
		__asm__ volatile("rdtsc" : "=a"(*ret_low), "=d"(*ret_high));
		return;
	}
	clock_gettime(CLOCK_MONOTONIC, &now);
	ns = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
	*ret_low = (uint32_t)ns;
	*ret_high = (uint32_t)(ns >> 32);
}

/* As a function that libtracer-functions.so interposes. */
static __attribute__((noinline)) void record(const struct site *site, uint64_t first, uint64_t second)
{
	const volatile uint32_t *where = site->where;
	const struct trace_window *window = &site->windows[where[0]];
	uint32_t low, high;

	if (!*site->flag)
		return;
	now_in_halves(site->is_tsc, &low, &high);
	if (!site->word)
		return;
	(void)trace_append(window, where, low, high, site->word, 3, 1, first, second);
}

static __attribute__((noinline)) void do_nothing(const struct site *site, uint64_t first, uint64_t second)
{
	__asm__ volatile("" : : "r"(site), "r"(first), "r"(second) : "memory");
}

static uint64_t batch(site_fn *volatile fn, const struct site *site)
{
	uint64_t begin = cpu_time();

	for (uint64_t i = 0; i < EVENTS; i++)
		fn(site, i, begin);
	return cpu_time() - begin;
}

static int ascending(const void *left, const void *right)
{
	uint32_t l = *(const uint32_t *)left, r = *(const uint32_t *)right;

	return l < r ? -1 : l > r;
}

/* The kernel's clock, which programs use, too. */
static bool is_tsc(void)
{
	FILE *file = fopen("/sys/devices/system/clocksource/clocksource0/current_clocksource", "re");
	char text[16] = "";

	if (!file)
		return false;
	if (!fgets(text, sizeof(text), file))
		text[0] = '\0';
	fclose(file);
	return strcmp(text, "tsc\n") == 0;
}

/* The block of all CPUs continues with batch @nr. Records have the lower half of their time. */
static void block_begin(const struct site *site, uint64_t *block, unsigned char *area, int nr)
{
	uint32_t low, high;

	now_in_halves(site->is_tsc, &low, &high);
	*block = (uint64_t)nr * EVENTS * RECORD_BYTES;
	for (uint32_t cpu = 0; cpu < site->nr_windows; cpu++)
		site->windows[cpu] = (struct trace_window){.block = block,
							   .base = (uint64_t)high << 32 | low,
							   .subbuf = area,
							   .bytes = AREA_BYTES,
							   .cpu = cpu,
							   .record = 1ULL << TRACE_BLOCK_RECORD_SHIFT};
}

/* A batch in which the thread was disturbed misses a record, and is repeated. */
static struct event_cost measure(const struct site *site, unsigned char *area)
{
	uint32_t ps[BATCHES];
	uint64_t empty, full, block;
	int nr = 0;

	block_begin(site, &block, area, 0);
	batch(record, site);
	for (int tries = 0; nr < BATCHES && tries < 2 * BATCHES; tries++) {
		block_begin(site, &block, area, nr);
		empty = batch(do_nothing, site);
		full = batch(record, site);
		if ((uint32_t)block == (uint32_t)(nr + 1) * EVENTS * RECORD_BYTES)
			ps[nr++] = full > empty ? (uint32_t)((full - empty) * 1000 / EVENTS) : 0;
	}
	if (nr < BATCHES)
		return (struct event_cost){0};
	qsort(ps, BATCHES, sizeof(*ps), ascending);
	return (struct event_cost){.ps = ps[BATCHES / 2], .least_ps = ps[0], .most_ps = ps[BATCHES - 1]};
}

struct event_cost event_cost_measure(void)
{
	static const volatile unsigned char on = 1;
	struct event_cost cost = {0};
	unsigned char *area;
	struct site site = {.flag = &on,
			    .nr_windows = (uint32_t)sysconf(_SC_NPROCESSORS_CONF),
			    .is_tsc = is_tsc(),
			    .word = RECORD_WORD};

	if (!&__rseq_offset || !__rseq_offset)
		return cost;
	site.where = (const volatile uint32_t *)((const char *)__builtin_thread_pointer() + __rseq_offset);
	if (site.where[1] >= site.nr_windows)
		return cost;
	site.windows = aligned_alloc(64, site.nr_windows * sizeof(*site.windows));
	area = malloc(AREA_BYTES);
	if (site.windows && area) {
		memset(area, 1, AREA_BYTES); /* its pages may be missing */
		cost = measure(&site, area);
	}
	free(area);
	free(site.windows);
	return cost;
}
#else
struct event_cost event_cost_measure(void)
{
	return (struct event_cost){0};
}
#endif
