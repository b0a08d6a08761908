/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test_reader_order.c - the reader returns events in time order, whatever the streams are like:
 * compared with a sort of all events. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "image.h"
#include "unit.h"

/* ---- one stream or two ---- */

static void events_of_several_cpus_come_in_time_order(void)
{
	struct tb *tb = tb_new();
	const struct trace_event *event;
	struct trace_cursor *cursor;
	struct trace *trace;
	uint64_t before = 0;
	int nr = 0;

	tb_switch(tb, 0, 1000, 0, 42, 0);
	tb_switch(tb, 1, 1100, 0, 43, 0);
	tb_sys_enter(tb, 0, 1500, 0, 3, 4, 5);
	tb_sys_exit(tb, 0, 1700, -2);
	tb_exec(tb, 1, 1600, 43, "/bin/true");
	trace = tb_open_trace(tb);
	cursor = trace_cursor_new(trace, NULL, NULL);
	while ((event = trace_cursor_next(cursor))) {
		CU_ASSERT_TRUE(event->ts_ns >= before);
		before = event->ts_ns;
		nr++;
		if (event->id == TRACE_EV_sched_exec)
			CU_ASSERT_STRING_EQUAL(trace_event_string(event), "/bin/true");
		if (event->id == TRACE_EV_sys_enter3)
			CU_ASSERT_EQUAL(((const struct trace_sys_enter3 *)event->payload)->arg2, 5);
	}
	CU_ASSERT_EQUAL(nr, 5);
	CU_ASSERT_EQUAL(trace_nr_gaps(trace), 0);
	CU_ASSERT_EQUAL(trace_nr_damages(trace), 0);
	CU_ASSERT_EQUAL(trace_verify(trace, NULL), 0);
	CU_ASSERT_TRUE(trace_get_info(trace)->clean_end);
	CU_ASSERT_FALSE(trace_get_info(trace)->index_rebuilt);
	CU_ASSERT_EQUAL(trace_cursor_end(cursor, NULL), 0);
	trace_close(trace);
	tb_free(tb);
}

static void equal_times_come_by_cpu_and_chunks_that_overlap_are_merged(void)
{
	struct tb *tb = tb_new();
	struct trace *trace;
	char text[256];

	tb_switch(tb, 1, 1000, 0, 1, 0);
	tb_switch(tb, 0, 1000, 0, 1, 0);
	tb_switch(tb, 0, 3000, 0, 1, 0);
	tb_cut(tb, 0);
	tb_switch(tb, 0, 2000, 0, 1, 0); /* a writer that was interrupted across a change of sub-buffers */
	tb_switch(tb, 0, 4000, 0, 1, 0);
	tb_switch(tb, 1, 3000, 0, 1, 0);
	trace = tb_open_trace(tb);
	tb_order_text(trace, text);
	CU_ASSERT_STRING_EQUAL(text, "0@1000 1@1000 0@2000 0@3000 1@3000 0@4000 ");
	trace_close(trace);
	tb_free(tb);
}

static void disorder_within_a_block_is_sorted_and_stays_stable(void)
{
	struct tb *tb = tb_new();
	const struct trace_event *event;
	struct trace_cursor *cursor;
	struct trace *trace;
	uint64_t before = 0, sum = 0;
	uint32_t before_tid = 0;

	srandom(1);
	for (uint32_t i = 0; i < 20000; i++) /* far worse than any nesting */
		tb_switch(tb, 0, 1000 + (uint64_t)random() % 4000, 0, i, 0);
	trace = tb_open_trace(tb);
	cursor = trace_cursor_new(trace, NULL, NULL);
	while ((event = trace_cursor_next(cursor))) {
		uint32_t tid = ((const struct trace_sched_switch *)event->payload)->next_tid;

		CU_ASSERT_TRUE(event->ts_ns > before || (event->ts_ns == before && tid > before_tid));
		before = event->ts_ns;
		before_tid = tid;
		sum += tid;
	}
	CU_ASSERT_EQUAL(sum, 20000ull * 19999 / 2);
	CU_ASSERT_EQUAL(trace_cursor_end(cursor, NULL), 0);
	trace_close(trace);
	tb_free(tb);
}

/* Every @seldom-th writer was interrupted by up to @depth others, of any type. */
static void expect_slight_disorder_is_sorted(uint32_t nr, uint32_t seldom, uint32_t depth)
{
	struct tb *tb = tb_new();
	const struct trace_event *event;
	struct trace_cursor *cursor;
	struct trace *trace;
	uint64_t before = 0, sum = 0;

	for (uint32_t i = 0; i < nr; i++) {
		uint64_t late = i % seldom == seldom - 1 ? 10 * (1 + i / seldom % depth) + 5 : 0,
			 ts_ns = 1000000 + 10 * i - late;

		if (i % 3)
			tb_switch(tb, 0, ts_ns, (uint32_t)late, i, 0);
		else
			tb_sys_exit(tb, 0, ts_ns, (int64_t)(late << 32 | i));
	}
	trace = tb_open_trace(tb);
	cursor = trace_cursor_new(trace, NULL, NULL);
	while ((event = trace_cursor_next(cursor))) {
		const struct trace_sched_switch *change = event->payload;
		uint64_t ret = (uint64_t)((const struct trace_sys_exit *)event->payload)->ret;
		uint64_t number = event->id == TRACE_EV_sched_switch ? change->next_tid : (uint32_t)ret,
			 late = event->id == TRACE_EV_sched_switch ? change->prev_tid : ret >> 32;

		CU_ASSERT_TRUE(event->ts_ns > before);
		CU_ASSERT_EQUAL(event->ts_ns, 1000000 + 10 * number - late);
		CU_ASSERT_EQUAL(event->id, number % 3 ? TRACE_EV_sched_switch : TRACE_EV_sys_exit);
		before = event->ts_ns;
		sum += number;
	}
	CU_ASSERT_EQUAL(sum, (uint64_t)nr * (nr - 1) / 2);
	CU_ASSERT_EQUAL(trace_cursor_end(cursor, NULL), 0);
	trace_close(trace);
	tb_free(tb);
}

static void slight_disorder_of_several_types_is_sorted(void)
{
	expect_slight_disorder_is_sorted(100, 10, 3);
	expect_slight_disorder_is_sorted(100, 100, 1); /* the last one */
	expect_slight_disorder_is_sorted(3000, 50, 20);
	expect_slight_disorder_is_sorted(3000, 7, 5);
	expect_slight_disorder_is_sorted(3000, 1500, 1200); /* one event by very much */
}

static void times_may_wrap_around_32_bits(void)
{
	static const uint64_t bases[] = {0, 0xfffffff0, 0x1fffffff0, 0x3ffffffeffffff00};

	for (size_t i = 0; i < sizeof(bases) / sizeof(bases[0]); i++) {
		struct tb *tb = tb_new();
		struct trace_cursor *cursor;
		struct trace *trace;

		tb_switch(tb, 0, bases[i], 0, 1, 0);
		tb_switch(tb, 0, bases[i] + 0x20, 0, 2, 0);
		tb_switch(tb, 0, bases[i] + 0xffffffff, 0, 3, 0); /* the latest time that a block can hold */
		trace = tb_open_trace(tb);
		cursor = trace_cursor_new(trace, NULL, NULL);
		CU_ASSERT_EQUAL(trace_cursor_next(cursor)->ts_ns, bases[i]);
		CU_ASSERT_EQUAL(trace_cursor_next(cursor)->ts_ns, bases[i] + 0x20);
		CU_ASSERT_EQUAL(trace_cursor_next(cursor)->ts_ns, bases[i] + 0xffffffff);
		CU_ASSERT_PTR_NULL(trace_cursor_next(cursor));
		CU_ASSERT_EQUAL(trace_verify(trace, NULL), 0);
		trace_cursor_free(cursor);
		trace_close(trace);
		tb_free(tb);
	}
}

/* ---- many streams ---- */

/**
 * struct made - an event that was written
 * @number: among all of them, ascending in each stream
 */
struct made {
	uint64_t ts_ns;
	uint32_t cpu;
	uint32_t number;
	bool is_switch;
};

/**
 * struct shape - the parameters of a trace
 * @most_ns: limit of the random time between two events of a stream
 * @slower: factor of that time for all streams but the first
 * @cut: a chunk ends with one of this many events
 * @apart_ns: each stream begins this much later than the one before
 */
struct shape {
	uint32_t streams;
	uint32_t events;
	uint64_t most_ns;
	uint64_t slower;
	uint32_t cut;
	uint64_t apart_ns;
};

static int compare_made(const void *a, const void *b)
{
	const struct made *made_a = a, *made_b = b;

	if (made_a->ts_ns != made_b->ts_ns)
		return made_a->ts_ns < made_b->ts_ns ? -1 : 1;
	if (made_a->cpu != made_b->cpu)
		return made_a->cpu < made_b->cpu ? -1 : 1;
	return made_a->number < made_b->number ? -1 : 1;
}

/* One of four events is a system call's exit, the others are switches. Each carries its number. */
static struct made *make_events(struct tb *tb, const struct shape *shape)
{
	struct made *made = malloc(shape->events * sizeof(*made));
	uint64_t *now = malloc(shape->streams * sizeof(*now));

	for (uint32_t i = 0; i < shape->streams; i++)
		now[i] = 1000 + i * shape->apart_ns;
	for (uint32_t i = 0; i < shape->events; i++) {
		uint32_t cpu = (uint32_t)random() % shape->streams;

		now[cpu] += ((uint64_t)random() << 31 | (uint64_t)random()) % shape->most_ns *
			    (cpu ? shape->slower : 1);
		made[i] = (struct made){now[cpu], cpu, i, random() % 4};
		if (made[i].is_switch)
			tb_switch(tb, cpu, now[cpu], 0, i, 0);
		else
			tb_sys_exit(tb, cpu, now[cpu], i);
		if ((uint32_t)random() % shape->cut == 0)
			tb_cut(tb, cpu);
	}
	free(now);
	qsort(made, shape->events, sizeof(*made), compare_made);
	return made;
}

static uint64_t number_of(const struct trace_event *event)
{
	if (event->id == TRACE_EV_sched_switch)
		return ((const struct trace_sched_switch *)event->payload)->next_tid;
	return (uint64_t)((const struct trace_sys_exit *)event->payload)->ret;
}

/* Reads all events, or those of one type, in a window: the cursor returns those of the sorted ones,
 * and no others. */
static void expect_order(const struct trace *trace, const struct made *made, uint32_t nr,
			 const struct trace_cursor_options *options)
{
	struct trace_cursor *cursor = trace_cursor_new(trace, options, NULL);
	uint32_t wrong = 0;

	for (uint32_t i = 0; i < nr; i++) {
		uint32_t id = made[i].is_switch ? TRACE_EV_sched_switch : TRACE_EV_sys_exit;
		const struct trace_event *event;

		if (made[i].ts_ns < options->from_ns || (options->to_ns && made[i].ts_ns >= options->to_ns))
			continue;
		if (options->mask && !(options->mask[id / 64] >> (id % 64) & 1))
			continue;
		event = trace_cursor_next(cursor);
		wrong += !event || event->ts_ns != made[i].ts_ns || event->cpu != made[i].cpu || event->id != id ||
			 number_of(event) != made[i].number;
		if (!event)
			break;
	}
	CU_ASSERT_EQUAL(wrong, 0);
	CU_ASSERT_PTR_NULL(trace_cursor_next(cursor));
	CU_ASSERT_PTR_NULL(trace_cursor_next(cursor));
	trace_cursor_free(cursor);
}

static void expect_order_of(const struct shape *shape)
{
	uint64_t switches[TRACE_MASK_WORDS] = {0}, exits[TRACE_MASK_WORDS] = {0};
	struct trace_cursor_options options = {.size = sizeof(options)};
	struct tb *tb = tb_new();
	struct made *made = make_events(tb, shape);
	struct trace *trace = tb_open_trace(tb);
	uint32_t nr = shape->events;

	switches[TRACE_EV_sched_switch / 64] |= 1ull << (TRACE_EV_sched_switch % 64);
	exits[TRACE_EV_sys_exit / 64] |= 1ull << (TRACE_EV_sys_exit % 64);
	for (int window = 0; window < 3; window++) {
		options.from_ns = window ? made[nr / 3].ts_ns : 0;
		options.to_ns = window == 2 ? made[nr / 2].ts_ns + 1 : 0;
		options.mask = NULL;
		expect_order(trace, made, nr, &options);
		options.mask = switches;
		expect_order(trace, made, nr, &options);
		options.mask = exits;
		expect_order(trace, made, nr, &options);
	}
	trace_close(trace);
	free(made);
	tb_free(tb);
}

static void streams_of_any_number_are_merged(void)
{
	srandom(3);
	for (uint32_t streams = 1; streams <= 20; streams++)
		expect_order_of(&(struct shape){streams, 3000, 100, 1, 200, 0});
	expect_order_of(&(struct shape){200, 20000, 1000, 1, 300, 0});
}

static void streams_that_are_slow_do_not_hold_up_a_fast_one(void)
{
	srandom(4);
	expect_order_of(&(struct shape){2, 20000, 100, 1000, 2000, 0});
	expect_order_of(&(struct shape){50, 20000, 100, 10000, 2000, 0});
}

static void events_of_one_time_come_by_cpu_however_many_they_are(void)
{
	srandom(5);
	expect_order_of(&(struct shape){3, 20000, 1, 1, 100000, 0}); /* all events at one time */
	expect_order_of(&(struct shape){40, 20000, 2, 1, 1000, 0});
}

static void streams_and_events_may_be_years_apart(void)
{
	srandom(6);
	expect_order_of(&(struct shape){30, 3000, 100, 1, 100, 1ull << 56});
	expect_order_of(&(struct shape){30, 3000, 1ull << 53, 1, 1000, 1000});
}

static const struct unit_case cases[] = {
	{"events_of_several_cpus_come_in_time_order", events_of_several_cpus_come_in_time_order},
	{"equal_times_come_by_cpu_and_chunks_that_overlap_are_merged",
	 equal_times_come_by_cpu_and_chunks_that_overlap_are_merged},
	{"disorder_within_a_block_is_sorted_and_stays_stable", disorder_within_a_block_is_sorted_and_stays_stable},
	{"slight_disorder_of_several_types_is_sorted", slight_disorder_of_several_types_is_sorted},
	{"times_may_wrap_around_32_bits", times_may_wrap_around_32_bits},
	{"streams_of_any_number_are_merged", streams_of_any_number_are_merged},
	{"streams_that_are_slow_do_not_hold_up_a_fast_one", streams_that_are_slow_do_not_hold_up_a_fast_one},
	{"events_of_one_time_come_by_cpu_however_many_they_are", events_of_one_time_come_by_cpu_however_many_they_are},
	{"streams_and_events_may_be_years_apart", streams_and_events_may_be_years_apart},
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	return unit_main("reader_order", cases, argc, argv);
}
