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
 * Three events are measured:
 * - one with 24 bytes of fields and thread number, the most that a program writes in line;
 * - one with a text of 16 bytes, and one with 256 bytes more, which libtracer writes: the code is
 *   in record_image.h. Their difference is what the length costs.
 *
 * Events of other languages cost more than that: their own part of a call is not measured.
 */
#include "event_cost.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#define TRACEPOINT_DISABLE /* its structures alone: this is not a program with tracepoints */
#include "../record_image.h"

#define BATCHES	     15
#define EVENTS	     1024 /* in a batch */
#define LONG_EVENTS  256
#define RECORD_BYTES 32 /* of a record with 24 bytes of payload: also of that with the short text */
#define SHORT_TEXT   16
#define MORE_TEXT    256
#define AREA_BYTES   (LONG_EVENTS * (RECORD_BYTES + MORE_TEXT) * BATCHES)

_Static_assert(AREA_BYTES >= EVENTS * RECORD_BYTES * BATCHES, "an area for both");

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
	const struct trace_tracepoint *tracepoint; /* with a text */
	const char *volatile text;
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

/* As trace_tracepoint_record_texts(). */
static __attribute__((noinline)) void record_text(const struct site *site, uint64_t first, uint64_t second)
{
	const volatile uint32_t *where = site->where;
	const struct trace_window *window = &site->windows[where[0]];
	struct trace_bytes_value text = trace_bytes(site->text, SIZE_MAX);
	uint32_t image[2] = {(uint32_t)first, (uint32_t)second}, payload[TEXTS_IMAGE_WORDS], words, low, high;

	if (!*site->flag)
		return;
	words = texts_image(payload, site->tracepoint, image, &text);
	now_in_halves(site->is_tsc, &low, &high);
	if (!site->word)
		return;
	(void)append_image(window, where, (uint64_t)high << 32 | low, site->word, payload[1], payload, words);
}

static __attribute__((noinline)) void do_nothing(const struct site *site, uint64_t first, uint64_t second)
{
	__asm__ volatile("" : : "r"(site), "r"(first), "r"(second) : "memory");
}

static uint64_t batch(site_fn *volatile fn, const struct site *site, uint32_t events)
{
	uint64_t begin = cpu_time();

	for (uint64_t i = 0; i < events; i++)
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

/* The block of all CPUs continues at @offset. Records have the lower half of their time. */
static void block_begin(const struct site *site, uint64_t *block, unsigned char *area, uint32_t offset)
{
	uint32_t low, high;

	now_in_halves(site->is_tsc, &low, &high);
	*block = offset;
	for (uint32_t cpu = 0; cpu < site->nr_windows; cpu++)
		site->windows[cpu] = (struct trace_window){.block = block,
							   .base = (uint64_t)high << 32 | low,
							   .subbuf = area,
							   .bytes = AREA_BYTES,
							   .cpu = cpu,
							   .record = 1ULL << TRACE_BLOCK_RECORD_SHIFT};
}

/* One kind of event: @events in a batch, with records of @bytes. */
struct kind {
	site_fn *fn;
	uint32_t events;
	uint32_t bytes;
};

/* A batch in which the thread was disturbed misses a record, and is repeated. */
static struct event_cost measure(struct site *site, unsigned char *area, struct kind kind)
{
	uint32_t ps[BATCHES], batch_bytes = kind.events * kind.bytes;
	uint64_t empty, full, block;
	int nr = 0;

	site->word = (uint64_t)kind.bytes / 8 << 48;
	block_begin(site, &block, area, 0);
	batch(kind.fn, site, kind.events);
	for (int tries = 0; nr < BATCHES && tries < 2 * BATCHES; tries++) {
		block_begin(site, &block, area, (uint32_t)nr * batch_bytes);
		empty = batch(do_nothing, site, kind.events);
		full = batch(kind.fn, site, kind.events);
		if ((uint32_t)block == (uint32_t)(nr + 1) * batch_bytes)
			ps[nr++] = full > empty ? (uint32_t)((full - empty) * 1000 / kind.events) : 0;
	}
	if (nr < BATCHES)
		return (struct event_cost){0};
	qsort(ps, BATCHES, sizeof(*ps), ascending);
	return (struct event_cost){.ps = ps[BATCHES / 2], .least_ps = ps[0], .most_ps = ps[BATCHES - 1]};
}

/* A longer text that cost less was measured while something else slowed the CPU down. */
static void measure_all(struct site *site, unsigned char *area, struct event_costs *ret_costs)
{
	static const struct kind inlined = {record, EVENTS, RECORD_BYTES},
				 text = {record_text, LONG_EVENTS, RECORD_BYTES},
				 longer = {record_text, LONG_EVENTS, RECORD_BYTES + MORE_TEXT};
	static const struct trace_tracepoint_field field = {.type = USER_FIELD_STRING, .offset = 4, .bytes = 4};
	static const struct trace_tracepoint tracepoint = {.fields = &field, .payload_bytes = 8, .nr_fields = 1};
	char letters[SHORT_TEXT + MORE_TEXT + 1];
	struct event_cost more;

	memset(letters, 'a', sizeof(letters) - 1);
	letters[sizeof(letters) - 1] = '\0';
	site->tracepoint = &tracepoint;
	ret_costs->inlined = measure(site, area, inlined);
	site->text = letters + MORE_TEXT;
	ret_costs->text = measure(site, area, text);
	site->text = letters;
	more = measure(site, area, longer);
	if (ret_costs->text.ps && more.ps > ret_costs->text.ps)
		ret_costs->ps_per_64_bytes = (more.ps - ret_costs->text.ps) / (MORE_TEXT / 64);
}

struct event_costs event_cost_measure(void)
{
	static const volatile unsigned char on = 1;
	struct event_costs costs = {0};
	unsigned char *area;
	struct site site = {.flag = &on, .nr_windows = (uint32_t)sysconf(_SC_NPROCESSORS_CONF), .is_tsc = is_tsc()};

	if (!&__rseq_offset || !__rseq_offset)
		return costs;
	site.where = (const volatile uint32_t *)((const char *)__builtin_thread_pointer() + __rseq_offset);
	if (site.where[1] >= site.nr_windows)
		return costs;
	site.windows = aligned_alloc(64, site.nr_windows * sizeof(*site.windows));
	area = malloc(AREA_BYTES);
	if (site.windows && area) {
		memset(area, 1, AREA_BYTES); /* its pages may be missing */
		measure_all(&site, area, &costs);
	}
	free(area);
	free(site.windows);
	return costs;
}
#else
struct event_costs event_cost_measure(void)
{
	return (struct event_costs){0};
}
#endif
