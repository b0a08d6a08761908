/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test_reader.c - the reader returns what the writer was given: every event, in order, and every
 * loss at its position. */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "image.h"
#include "rawfile.h"
#include "unit.h"

/* ---- round trips ---- */

/**
 * struct sample - an event that was written
 */
struct sample {
	uint64_t ts_ns;
	uint32_t cpu;
	uint32_t id;
	unsigned char payload[TRACE_RECORD_MAX_BYTES];
	char string[64];
};

static void sample_make(struct sample *sample, const struct trace_event_type *type, uint64_t ts_ns,
			unsigned int variety)
{
	sample->ts_ns = ts_ns;
	sample->cpu = (uint32_t)random() % 3;
	sample->id = type->id;
	memset(sample->payload, 0, sizeof(sample->payload));
	for (size_t at = 0; at < type->fixed_bytes; at += 8) {
		uint64_t word = variety ? tb_random() % variety * 0x123456789abcdef : tb_random();

		memcpy(sample->payload + at, &word, 8);
	}
	for (size_t i = 0, length = (size_t)random() % 60; i <= length; i++)
		sample->string[i] = i < length ? (char)(1 + random() % 255) : '\0';
	for (size_t i = 0; i < type->nr_fields; i++)
		if (type->fields[i].kind == TRACE_KIND_BYTES) { /* of no bytes, behind the fixed part */
			uint32_t none = type->fixed_bytes;

			memcpy(sample->payload + type->fields[i].offset, &none, sizeof(none));
			sample->string[0] = '\0';
		}
}

static void samples_write(struct tb *tb, const struct sample *samples, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		const struct trace_event_type *type = NULL;

		for (size_t j = 0; j < trace_catalogue_size(); j++)
			if (trace_catalogue_type(j)->id == samples[i].id)
				type = trace_catalogue_type(j);
		tb_event(tb, samples[i].cpu, samples[i].ts_ns, samples[i].id, samples[i].payload, type->fixed_bytes,
			 type->has_string ? samples[i].string : NULL);
	}
}

static bool sample_is(const struct sample *sample, const struct trace_event *event)
{
	size_t fixed = event->type->fixed_bytes;

	return event->ts_ns == sample->ts_ns && event->cpu == sample->cpu && event->id == sample->id &&
	       event->payload_bytes == fixed + (event->type->has_string ? strlen(sample->string) + 1 : 0) &&
	       (uintptr_t)event->payload % 8 == 0 && !memcmp(event->payload, sample->payload, fixed) &&
	       (!event->type->has_string || !strcmp(trace_event_string(event), sample->string));
}

/* Writes @nr events of random types with random payloads of @variety different words, and reads all
 * of them back unchanged. */
static void round_trip(size_t nr, unsigned int variety)
{
	struct sample *samples = calloc(nr, sizeof(*samples));
	struct tb *tb = tb_new();
	const struct trace_event *event;
	struct trace_cursor *cursor;
	struct trace_error error;
	struct trace *trace;
	size_t nr_wrong = 0, at = 0;

	for (size_t i = 0; i < nr; i++) {
		size_t idx = i < trace_catalogue_size() ? i : (size_t)random() % trace_catalogue_size();

		while (trace_catalogue_type(idx)->id == TRACE_EV_trace_missed ||
		       trace_catalogue_type(idx)->id == TRACE_EV_trace_lost ||
		       trace_catalogue_type(idx)->id == TRACE_EV_sample)
			idx++; /* the reader interprets these; references of a sample are not random */
		sample_make(&samples[i], trace_catalogue_type(idx), 1000 + 7 * i, variety);
	}
	samples_write(tb, samples, nr);
	trace = tb_open_trace(tb);
	cursor = trace_cursor_new(trace, NULL, NULL);
	while ((event = trace_cursor_next(cursor)) && at < nr)
		nr_wrong += !sample_is(&samples[at++], event);
	CU_ASSERT_EQUAL(at, nr);
	CU_ASSERT_EQUAL(nr_wrong, 0);
	CU_ASSERT_EQUAL(trace_get_info(trace)->events, nr);
	CU_ASSERT_EQUAL(trace_verify(trace, &error), 0);
	CU_ASSERT_EQUAL(trace_cursor_end(cursor, NULL), 0);
	trace_close(trace);
	tb_free(tb);
	free(samples);
}

static void every_event_of_the_catalogue_is_read_back(void)
{
	round_trip(2 * trace_catalogue_size(), 0);
}

static void random_events_come_back(void)
{
	static const unsigned int varieties[] = {0, 1, 2, 100, 255, 256, 257, 1000};

	srandom(3);
	for (size_t i = 0; i < sizeof(varieties) / sizeof(varieties[0]); i++)
		round_trip(30000 / (size_t)unit_step(6), varieties[i]);
}

static void columns_of_any_length_come_back(void)
{
	for (size_t nr = 1; nr < 1100; nr += nr < 70 ? 1 : 101) {
		struct tb *tb = tb_new();
		const struct trace_event *event;
		struct trace_cursor *cursor;
		struct trace *trace;
		uint64_t before = 0;

		for (size_t i = 0; i < nr; i++)
			tb_add(tb, 0, 1000 + i * i, sys_exit, NULL, .ret = (int64_t)(i * 0x10001));
		trace = tb_open_trace(tb);
		cursor = trace_cursor_new(trace, NULL, NULL);
		while ((event = trace_cursor_next(cursor))) {
			CU_ASSERT_EQUAL(*(const uint64_t *)event->payload, before * 0x10001);
			before++;
		}
		CU_ASSERT_EQUAL(before, nr);
		CU_ASSERT_EQUAL(trace_cursor_end(cursor, NULL), 0);
		trace_close(trace);
		tb_free(tb);
	}
}

/* ---- decoding ahead ---- */

/**
 * struct walk - the events that a cursor returns, as one number
 */
struct walk {
	uint64_t nr;
	uint64_t hash;
	int error;
};

static void walk_on(struct walk *walk, struct trace_cursor *cursor, uint64_t most)
{
	const struct trace_event *event;

	for (; most && (event = trace_cursor_next(cursor)); most--) {
		walk->nr++;
		walk->hash = (walk->hash ^ event->ts_ns) * 0x100000001b3;
		walk->hash = (walk->hash ^ event->id ^ (uint64_t)event->cpu << 32) * 0x100000001b3;
		for (uint32_t i = 0; i < event->payload_bytes; i++)
			walk->hash = (walk->hash ^ ((const unsigned char *)event->payload)[i]) * 0x100000001b3;
	}
	CU_ASSERT_NOT_EQUAL(trace_cursor_error(cursor, NULL), -ENOMEM);
}

/* All events; then, from a position in the middle, some, and from another position the rest. */
static struct walk walk(const struct trace *trace, const struct trace_cursor_options *options, size_t ahead)
{
	struct trace_cursor_options all = *options;
	struct trace_cursor *cursor;
	struct walk walk = {0};

	all.decode_ahead = ahead;
	cursor = trace_cursor_new(trace, &all, NULL);
	walk_on(&walk, cursor, UINT64_MAX);
	CU_ASSERT_EQUAL(trace_cursor_seek(cursor, 20000), 0);
	walk_on(&walk, cursor, 3000);
	CU_ASSERT_EQUAL(trace_cursor_seek(cursor, 30000), 0);
	walk_on(&walk, cursor, UINT64_MAX);
	walk.error = trace_cursor_error(cursor, NULL);
	CU_ASSERT_EQUAL(trace_cursor_seek(cursor, 10), 0);
	walk_on(&walk, cursor, 3000); /* the cursor is freed while its thread decodes */
	trace_cursor_free(cursor);
	return walk;
}

static void decoding_ahead_changes_nothing(void)
{
	uint64_t mask[TRACE_MASK_WORDS] = {0};
	uint32_t cpu = 2;
	const struct trace_cursor_options options[] = {
		{.size = sizeof(options[0])},
		{.size = sizeof(options[0]), .from_ns = 15000, .to_ns = 35000},
		{.size = sizeof(options[0]), .cpus = &cpu, .nr_cpus = 1},
		{.size = sizeof(options[0]), .mask = mask},
		{.size = sizeof(options[0]), .no_lost = true},
	};
	struct tb *tb = tb_new();
	struct trace *trace;

	mask[TRACE_EV_sys_exit / 64] |= 1ULL << TRACE_EV_sys_exit % 64;
	for (uint64_t i = 0; i < 40000; i++) {
		uint32_t on = (uint32_t)(i * i % 7 % 4);

		if (i % 500 == 0)
			tb_cut(tb, on);
		if (i % 5000 == 0)
			tb_lost(tb, on, 3);
		if (i % 3)
			tb_add(tb, on, 10 + i, sys_exit, NULL, .ret = (int64_t)(i * 77));
		else
			tb_add(tb, on, 10 + i, sched_comm, i % 2 ? "odd" : "even", .tid = (uint32_t)i);
	}
	trace = tb_open_trace(tb);
	CU_ASSERT_TRUE(trace_nr_chunks(trace) > 80);
	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
		struct walk alone = walk(trace, &options[i], 0);

		for (size_t ahead = 1; ahead < 70; ahead = ahead * 3 + 1) {
			struct walk both = walk(trace, &options[i], ahead);

			CU_ASSERT_TRUE(alone.nr > 3000);
			CU_ASSERT_EQUAL(both.nr, alone.nr);
			CU_ASSERT_EQUAL(both.hash, alone.hash);
			CU_ASSERT_EQUAL(both.error, alone.error);
		}
	}
	trace_close(trace);
	tb_free(tb);
}

/* Registers that a call does not use hold any value. */
static void arguments_that_a_call_does_not_have_are_zero(void)
{
	struct tb *tb = tb_new();
	struct trace_cursor *cursor;
	const struct trace_event *event;
	struct trace *trace;

	tb_string(tb, TRACE_STRING_SYSCALL, 3, "close");
	tb_string(tb, TRACE_STRING_SYSCALL, 257, "openat");
	tb_string(tb, TRACE_STRING_SYSCALL_32, 3, "read");
	tb_add(tb, 0, 1000, sys_enter3, NULL, .nr = 3, .arg0 = 11, .arg1 = 12, .arg2 = 13);
	tb_add(tb, 0, 1001, sys_enter3, NULL, .nr = 3, .abi = TRACE_ABI_32, .arg0 = 11, .arg1 = 12, .arg2 = 13);
	tb_add(tb, 0, 1002, sys_enter3, NULL, .nr = 4, .arg0 = 11, .arg1 = 12, .arg2 = 13);
	tb_add(tb, 0, 1003, sys_enter6, NULL, .nr = 257, .arg0 = 1, .arg1 = 2, .arg2 = 3, .arg3 = 4, .arg4 = 5,
	       .arg5 = 6);
	tb_add(tb, 0, 1004, sys_enter6, NULL, .nr = 257, .abi = TRACE_ABI_X32, .arg0 = 1, .arg1 = 2, .arg2 = 3,
	       .arg3 = 4, .arg4 = 5, .arg5 = 6);
	tb_add(tb, 0, 1005, sys_enter6, NULL, .nr = 100000, .arg0 = 1, .arg1 = 2, .arg2 = 3, .arg3 = 4, .arg4 = 5,
	       .arg5 = 6);
	trace = tb_open_trace(tb);
	cursor = trace_cursor_new(trace, NULL, NULL);
	for (int i = 0; i < 6 && (event = trace_cursor_next(cursor)); i++) {
		static const uint64_t expected[6][6] = {{11},
							{11, TRACE_ARG_ADDRESS, 13},
							{11, 12, 13},
							{1, TRACE_ARG_ADDRESS, 3, 4},
							{1, 2, 3, 4, 5, 6},
							{1, 2, 3, 4, 5, 6}};
		size_t nr = i < 3 ? 3 : 6;

		CU_ASSERT_EQUAL(event->payload_bytes, 8 + 8 * nr);
		CU_ASSERT_EQUAL(memcmp((const char *)event->payload + 8, expected[i], 8 * nr), 0);
	}
	CU_ASSERT_EQUAL(trace_cursor_end(cursor, NULL), 0);
	trace_close(trace);
	tb_free(tb);
}

/* The writer does not keep the addresses of a program's buffers, only whether they are NULL. It
 * keeps addresses that manage memory or distinguish calls. */
static void addresses_are_kept_where_they_have_a_meaning(void)
{
	static const struct {
		const char *name;
		uint32_t nr_args;
		uint64_t given[6], kept[6];
	} calls[] = {
		{"read", 3, {3, 0x7f0000001000, 4096}, {3, TRACE_ARG_ADDRESS, 4096}},
		{"wait4", 6, {77, 0, 2, 0x7f0000001000, 5, 6}, {77, 0, 2, TRACE_ARG_ADDRESS}},
		{"mmap", 6, {0x7f0000001000, 4096, 3, 1, 5, 8192}, {0x7f0000001000, 4096, 3, 1, 5, 8192}},
		{"futex",
		 6,
		 {0x7f0000001000, 0, 2, 0x7f0000002000, 5, 6},
		 {0x7f0000001000, 0, 2, 0x7f0000002000, 5, 6}},
		{"poll", 3, {0x7f0000001000, 2, 1000}, {0x7f0000001000, 2, 1000}},
		{"newfstatat",
		 6,
		 {4, 0x7f0000001000, 0x7f0000002000, 256, 5, 6},
		 {4, TRACE_ARG_ADDRESS, TRACE_ARG_ADDRESS, 256}},
	};
	enum { NR = sizeof(calls) / sizeof(calls[0]) };
	struct tb *tb = tb_new();
	struct trace_cursor *cursor;
	const struct trace_event *event;
	struct trace *trace;

	for (uint32_t i = 0; i < NR; i++) {
		tb_string(tb, TRACE_STRING_SYSCALL, i, calls[i].name);
		tb_sys_enter_args(tb, 0, 1000 + i, i, calls[i].given, calls[i].nr_args);
	}
	trace = tb_open_trace(tb);
	cursor = trace_cursor_new(trace, NULL, NULL);
	for (uint32_t i = 0; i < NR && (event = trace_cursor_next(cursor)); i++)
		CU_ASSERT_EQUAL(memcmp((const char *)event->payload + 8, calls[i].kept, 8 * calls[i].nr_args), 0);
	CU_ASSERT_EQUAL(trace_cursor_end(cursor, NULL), 0);
	trace_close(trace);
	tb_free(tb);
}

static void the_catalogue_is_in_the_trace(void)
{
	struct tb *tb = tb_new();
	struct trace *trace = tb_open_trace(tb);

	CU_ASSERT_EQUAL(trace_nr_types(trace), trace_catalogue_size());
	for (size_t i = 0; i < trace_catalogue_size(); i++) {
		const struct trace_event_type *own = trace_catalogue_type(i), *read = trace_type_by_id(trace, own->id);

		CU_ASSERT_PTR_NOT_NULL_FATAL(read);
		CU_ASSERT_STRING_EQUAL(read->name, own->name);
		CU_ASSERT_STRING_EQUAL(read->text, own->text);
		CU_ASSERT_STRING_EQUAL(read->doc, own->doc);
		CU_ASSERT_STRING_EQUAL(read->classic, own->classic);
		CU_ASSERT_STRING_EQUAL(read->program, own->program);
		CU_ASSERT_EQUAL(read->category, own->category);
		CU_ASSERT_EQUAL(read->flags, own->flags);
		CU_ASSERT_EQUAL(read->fixed_bytes, own->fixed_bytes);
		CU_ASSERT_EQUAL(read->has_string, own->has_string);
		CU_ASSERT_EQUAL_FATAL(read->nr_fields, own->nr_fields);
		for (size_t j = 0; j < own->nr_fields; j++) {
			CU_ASSERT_STRING_EQUAL(read->fields[j].name, own->fields[j].name);
			CU_ASSERT_EQUAL(read->fields[j].kind, own->fields[j].kind);
			CU_ASSERT_EQUAL(read->fields[j].offset, own->fields[j].offset);
			CU_ASSERT_EQUAL(read->fields[j].bytes, own->fields[j].bytes);
			CU_ASSERT_EQUAL(read->fields[j].is_signed, own->fields[j].is_signed);
		}
	}
	trace_close(trace);
	tb_free(tb);
}

/* ---- losses ---- */

static void a_loss_is_an_event_at_its_end(void)
{
	struct tb *tb = tb_new();
	const struct trace_trace_lost *lost;
	const struct trace_event *event;
	struct trace_cursor *cursor;
	struct trace *trace;

	tb_switch(tb, 0, 1000, 0, 42, 0);
	tb_lost(tb, 0, 7);
	tb_switch(tb, 0, 5000, 42, 0, 1);
	trace = tb_open_trace(tb);
	cursor = trace_cursor_new(trace, NULL, NULL);
	CU_ASSERT_EQUAL(trace_cursor_next(cursor)->ts_ns, 1000);
	event = trace_cursor_next(cursor);
	lost = event->payload;
	CU_ASSERT_EQUAL(event->id, TRACE_EV_trace_lost);
	CU_ASSERT_EQUAL(event->ts_ns, 5000);
	CU_ASSERT_EQUAL(lost->lost, 7);
	CU_ASSERT_EQUAL(lost->from_ns, 1000);
	CU_ASSERT_EQUAL(lost->cause, TRACE_GAP_DISCARDED);
	CU_ASSERT_EQUAL(trace_cursor_next(cursor)->id, TRACE_EV_sched_switch);
	CU_ASSERT_PTR_NULL(trace_cursor_next(cursor));
	CU_ASSERT_EQUAL(trace_cursor_error(cursor, NULL), 0);
	CU_ASSERT_EQUAL(trace_get_info(trace)->lost, 7);
	CU_ASSERT_EQUAL(trace_verify(trace, NULL), 0);
	trace_cursor_free(cursor);
	trace_close(trace);
	tb_free(tb);
}

static void losses_before_the_first_and_after_the_last_event_are_gaps(void)
{
	struct tb *tb = tb_new();
	struct trace *trace;
	char text[256];

	tb_window(tb, 500, 9000);
	tb_lost(tb, 0, 3);
	tb_switch(tb, 0, 1000, 0, 42, 0);
	tb_lost(tb, 0, 4);
	trace = tb_open_trace(tb);
	CU_ASSERT_EQUAL(trace_nr_gaps(trace), 2);
	CU_ASSERT_EQUAL(trace_get_gap(trace, 0)->start_ns, 500);
	CU_ASSERT_EQUAL(trace_get_gap(trace, 0)->end_ns, 1000);
	CU_ASSERT_EQUAL(trace_get_gap(trace, 0)->lost, 3);
	CU_ASSERT_EQUAL(trace_get_gap(trace, 1)->start_ns, 1000);
	CU_ASSERT_EQUAL(trace_get_gap(trace, 1)->end_ns, 9000);
	CU_ASSERT_EQUAL(trace_get_gap(trace, 1)->lost, 4);
	tb_order_text(trace, text);
	CU_ASSERT_STRING_EQUAL(text, "lost:0@1000 0@1000 lost:0@9000 ");
	CU_ASSERT_EQUAL(trace_get_stream(trace, 0)->discarded, 7);
	trace_close(trace);
	tb_free(tb);
}

static void missed_programs_are_gaps_next_to_their_events(void)
{
	struct tb *tb = tb_new();
	struct trace *trace;
	char text[256];

	tb_window(tb, 500, 9000);
	tb_add(tb, 0, 2000, trace_missed, NULL, .count = 5, .event = TRACE_EV_sched_switch);
	tb_cut(tb, 0);
	tb_add(tb, 0, 4000, trace_missed, NULL, .count = 6, .event = TRACE_EV_sched_switch);
	trace = tb_open_trace(tb);
	CU_ASSERT_EQUAL(trace_nr_gaps(trace), 2);
	CU_ASSERT_EQUAL(trace_get_gap(trace, 0)->cause, TRACE_GAP_MISSED);
	CU_ASSERT_EQUAL(trace_get_gap(trace, 0)->start_ns, 500);
	CU_ASSERT_EQUAL(trace_get_gap(trace, 0)->end_ns, 2000);
	CU_ASSERT_EQUAL(trace_get_gap(trace, 1)->start_ns, 2000);
	CU_ASSERT_EQUAL(trace_get_gap(trace, 1)->lost, 6);
	CU_ASSERT_EQUAL(trace_get_info(trace)->lost, 11);
	tb_order_text(trace, text); /* not twice: the events are in the trace */
	CU_ASSERT_STRING_EQUAL(text, "0@2000 0@4000 ");
	CU_ASSERT_EQUAL(trace_verify(trace, NULL), 0);
	trace_close(trace);
	tb_free(tb);
}

/* ---- filters, positions ---- */

static size_t nr_seen(const struct trace *trace, const struct trace_cursor_options *options)
{
	struct seen seen = seen_of(trace, options);

	seen_free(&seen);
	return seen.nr + seen.nr_lost;
}

static struct tb *mixed_trace(void)
{
	struct tb *tb = tb_new();

	for (uint64_t i = 0; i < 3000; i++) {
		uint32_t cpu = i % 3;

		if (i % 300 < 3)
			tb_cut(tb, cpu);
		if (i % 5)
			tb_add(tb, cpu, 1000 + i, sys_exit, NULL, .ret = (int64_t)i);
		else
			tb_add(tb, cpu, 1000 + i, sched_exec, "/bin/sh", .tid = (uint32_t)i);
	}
	return tb;
}

static void filters_return_the_selected_events(void)
{
	struct tb *tb = mixed_trace();
	struct trace *trace = tb_open_trace(tb);
	uint64_t mask[TRACE_MASK_WORDS] = {1ull << TRACE_EV_sched_exec},
		 none[TRACE_MASK_WORDS] = {1ull << TRACE_EV_trace_mark};
	const uint32_t cpus[] = {0, 2, 77};
	struct trace_cursor_options options = {.size = sizeof(options)};

	CU_ASSERT_EQUAL(nr_seen(trace, &options), 3000);
	options.mask = mask;
	CU_ASSERT_EQUAL(nr_seen(trace, &options), 600);
	options.mask = none;
	CU_ASSERT_EQUAL(nr_seen(trace, &options), 0);
	options.mask = NULL;
	options.cpus = cpus;
	options.nr_cpus = 3;
	CU_ASSERT_EQUAL(nr_seen(trace, &options), 2000);
	options.cpus = NULL;
	options.from_ns = 2000;
	options.to_ns = 2100;
	CU_ASSERT_EQUAL(nr_seen(trace, &options), 100);
	options.mask = mask;
	options.cpus = cpus;
	CU_ASSERT_EQUAL(nr_seen(trace, &options), 13); /* of 20 in the window, those not of CPU 1 */
	trace_close(trace);
	tb_free(tb);
}

/* For each event: the next payloads of its type and stream. At the end of a chunk nothing is known
 * about the next one. */
static void peeking_returns_the_next_payloads_within_a_chunk(void)
{
	struct tb *tb = tb_new();
	struct trace *trace;
	struct trace_cursor *cursor;
	const struct trace_event *event;
	const struct trace_sys_exit *one, *two;
	int nr_foreseen = 0, nr_unknown = 0;

	for (uint64_t i = 0; i < 600; i++) {
		if (i == 300)
			tb_cut(tb, 0);
		tb_add(tb, i % 2, 1000 + 2 * i, sys_exit, NULL, .ret = (int64_t)i);
		tb_add(tb, i % 2, 1001 + 2 * i, sched_migrate, NULL, .tid = (uint32_t)i);
	}
	trace = tb_open_trace(tb);
	cursor = trace_cursor_new(trace, NULL, NULL);
	CU_ASSERT_PTR_NULL(trace_cursor_peek(cursor, 1));
	CU_ASSERT_EQUAL(trace_cursor_peek_ns(cursor), 0);
	while ((event = trace_cursor_next(cursor))) {
		int64_t at = ((const struct trace_sys_exit *)event->payload)->ret;

		CU_ASSERT_PTR_NULL(trace_cursor_peek(cursor, 0));
		CU_ASSERT_PTR_NULL(trace_cursor_peek(cursor, 1000));
		CU_ASSERT_PTR_NULL(trace_cursor_peek(cursor, UINT32_MAX));
		if (event->id != TRACE_EV_sys_exit)
			continue;
		one = trace_cursor_peek(cursor, 1);
		two = trace_cursor_peek(cursor, 2);
		CU_ASSERT(!one || one->ret == at + 2);
		CU_ASSERT_EQUAL(trace_cursor_peek_ns(cursor), one ? event->ts_ns + 4 : 0);
		CU_ASSERT(!two || two->ret == at + 4);
		CU_ASSERT(one || !two);
		nr_foreseen += one != NULL;
		nr_unknown += !one;
	}
	CU_ASSERT_EQUAL(nr_foreseen, 597);
	CU_ASSERT_EQUAL(nr_unknown, 3); /* two chunks of CPU 0, one of CPU 1 */
	CU_ASSERT_PTR_NULL(trace_cursor_peek(cursor, 1));
	CU_ASSERT_EQUAL(trace_cursor_end(cursor, NULL), 0);
	trace_close(trace);
	tb_free(tb);
}

/* A chunk that begins before the end of the one before it, as with nested writers, contains the
 * next event from its begin on. The peeked time may be unknown then, but never wrong. */
static void a_peeked_time_never_passes_another_chunk(void)
{
	struct tb *tb = tb_new();
	struct trace *trace;
	struct trace_cursor *cursor;
	const struct trace_event *event;
	uint64_t foreseen[2] = {0, 0};
	size_t nr_told = 0;

	for (uint64_t i = 0; i < 20; i++) {
		tb_add(tb, 0, 1000 + 100 * i, sys_exit, NULL, .ret = 1);
		tb_add(tb, 1, 1001 + 100 * i, sys_exit, NULL, .ret = 1);
	}
	tb_cut(tb, 0);
	for (uint64_t i = 0; i < 3; i++)
		tb_add(tb, 0, 2030 + 20 * i, sys_exit, NULL, .ret = 2);
	trace = tb_open_trace(tb);
	cursor = trace_cursor_new(trace, NULL, NULL);
	while ((event = trace_cursor_next(cursor))) {
		CU_ASSERT(!foreseen[event->cpu] || event->ts_ns == foreseen[event->cpu]);
		foreseen[event->cpu] = trace_cursor_peek_ns(cursor);
		nr_told += foreseen[event->cpu] != 0;
	}
	CU_ASSERT_EQUAL(nr_told, 18 + 19 + 2); /* not at 2000; the last event of each chunk has none */
	CU_ASSERT_EQUAL(trace_cursor_end(cursor, NULL), 0);
	trace_close(trace);
	tb_free(tb);
}

static void seeking_gives_the_first_event_at_or_after(void)
{
	struct tb *tb = mixed_trace();
	struct trace *trace = tb_open_trace(tb);
	struct trace_cursor *cursor = trace_cursor_new(trace, NULL, NULL);

	srandom(5);
	for (int i = 0; i < 500; i++) {
		uint64_t ts_ns = 990 + (uint64_t)random() % 3020, want = ts_ns < 1000 ? 1000 : ts_ns;
		const struct trace_event *event;

		CU_ASSERT_EQUAL(trace_cursor_seek(cursor, ts_ns), 0);
		for (int step = 0; step < 5 && want < 4000; step++, want++) {
			event = trace_cursor_next(cursor);
			CU_ASSERT_PTR_NOT_NULL_FATAL(event);
			CU_ASSERT_EQUAL(event->ts_ns, want);
			CU_ASSERT_EQUAL(event->cpu, (want - 1000) % 3);
		}
		if (want >= 4000)
			CU_ASSERT_PTR_NULL(trace_cursor_next(cursor));
	}
	trace_cursor_free(cursor);
	trace_close(trace);
	tb_free(tb);
}

static int compare_u64(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/*
 * Chunks written in an order that is independent of their times, or (@hops small) nearly so; each
 * in a stream of its own, and long enough to overlap many others. A search from a time on finds
 * exactly the chunks that were put there.
 */
static void check_found_by_time(uint32_t nr, uint32_t hops)
{
	struct rawfile *file = rawfile_new();
	uint64_t *times = calloc(2 * nr, sizeof(*times)), *all = times;
	struct trace_cursor *cursor;
	struct trace *trace;

	for (uint32_t i = 0; i < nr; i++) {
		uint64_t at = i / hops * hops + hops - 1 - i % hops, base_ns = 1000 + 10 * at,
			 length = at % 7 == 3 ? 20000 : 15;
		struct trace_source source = {.records = file->words,
					      .base_ns = base_ns,
					      .seq = 1,
					      .stream = i,
					      .cpu = i % 5,
					      .nr_records = 2,
					      .kind = TRACE_CHUNK_EVENTS};

		rawfile_exit(file, (uint32_t)base_ns, 1);
		rawfile_exit(file, (uint32_t)(base_ns + length), 1);
		source.bytes = file->nr_words * 8;
		file->nr_words = file->nr_records = 0;
		CU_ASSERT_EQUAL(trace_writer_write(file->writer, trace_writer_pack(file->writer, &source, NULL), NULL),
				0);
		times[2 * i] = base_ns;
		times[2 * i + 1] = base_ns + length;
	}
	qsort(times, 2 * nr, sizeof(*times), compare_u64);
	trace = rawfile_open(file, NULL);
	cursor = trace_cursor_new(
		trace, &(struct trace_cursor_options){.size = sizeof(struct trace_cursor_options), .no_lost = true},
		NULL);
	for (uint64_t ts_ns = 0; ts_ns <= times[2 * nr - 1]; ts_ns += 7) {
		const struct trace_event *event;

		CU_ASSERT_EQUAL(trace_cursor_seek(cursor, ts_ns), 0);
		for (; *all < ts_ns; all++)
			;
		for (uint64_t *time = all; time < times + 2 * nr && time < all + 3; time++)
			CU_ASSERT_TRUE((event = trace_cursor_next(cursor)) && event->ts_ns == *time);
	}
	CU_ASSERT_EQUAL(trace_cursor_seek(cursor, times[2 * nr - 1] + 1), 0);
	CU_ASSERT_PTR_NULL(trace_cursor_next(cursor));
	trace_cursor_free(cursor);
	trace_close(trace);
	free(times);
}

static void chunks_in_any_order_are_found_by_time(void)
{
	check_found_by_time(1, 1);
	check_found_by_time(64, 1);
	check_found_by_time(200, 4);
	check_found_by_time(200, 200);
}

static void gaps_obey_filters_and_positions(void)
{
	struct tb *tb = tb_new();
	uint64_t mask[TRACE_MASK_WORDS] = {1ull << TRACE_EV_sched_switch | 1ull << TRACE_EV_trace_lost};
	const uint32_t cpus[] = {0};
	struct trace_cursor_options options = {.size = sizeof(options)};
	struct trace *trace;

	tb_switch(tb, 0, 1000, 0, 1, 0);
	tb_lost(tb, 0, 1);
	tb_switch(tb, 0, 2000, 0, 1, 0);
	tb_switch(tb, 1, 1000, 0, 1, 0);
	tb_lost(tb, 1, 1);
	tb_switch(tb, 1, 3000, 0, 1, 0);
	trace = tb_open_trace(tb);
	CU_ASSERT_EQUAL(nr_seen(trace, NULL), 6);
	options.mask = mask;
	CU_ASSERT_EQUAL(nr_seen(trace, &options), 6);
	mask[0] = 1ull << TRACE_EV_sched_switch;
	CU_ASSERT_EQUAL(nr_seen(trace, &options), 4);
	options.mask = NULL;
	options.no_lost = true;
	CU_ASSERT_EQUAL(nr_seen(trace, &options), 4);
	options.no_lost = false;
	options.cpus = cpus;
	options.nr_cpus = 1;
	CU_ASSERT_EQUAL(nr_seen(trace, &options), 3);
	options.from_ns = 2000;
	CU_ASSERT_EQUAL(nr_seen(trace, &options), 2);
	options.from_ns = 2001;
	CU_ASSERT_EQUAL(nr_seen(trace, &options), 0);
	trace_close(trace);
	tb_free(tb);
}

static void the_start_state_is_separate(void)
{
	struct trace_cursor_options options = {.size = sizeof(options), .start_state = true};
	struct tb *tb = tb_new();
	struct trace *trace;

	tb_thread(tb, 42, 42, 1, "shell", 0, true);
	tb_fd(tb, 42, 0, 0x800001, 99, 0100644, "/etc/passwd");
	tb_switch(tb, 0, 1000, 0, 1, 0);
	trace = tb_open_trace(tb);
	CU_ASSERT_EQUAL(nr_seen(trace, NULL), 1);
	CU_ASSERT_EQUAL(nr_seen(trace, &options), 2);
	trace_close(trace);
	tb_free(tb);
}

static void *count_in_thread(void *trace)
{
	size_t nr = 0;

	for (int i = 0; i < 10; i++)
		nr += nr_seen(trace, NULL);
	return (void *)nr;
}

static void cursors_of_several_threads_do_not_meet(void)
{
	struct tb *tb = mixed_trace();
	struct trace *trace = tb_open_trace(tb);
	pthread_t threads[4];
	void *nr;

	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, count_in_thread, trace);
	for (int i = 0; i < 4; i++) {
		pthread_join(threads[i], &nr);
		CU_ASSERT_EQUAL((size_t)nr, 30000);
	}
	trace_close(trace);
	tb_free(tb);
}

static void clocks_come_back(void)
{
	struct rawfile *file = rawfile_new();
	struct trace *trace;

	CU_ASSERT_EQUAL(trace_writer_clock(file->writer, 1, 2, 3, NULL), 0);
	CU_ASSERT_EQUAL(trace_writer_clock(file->writer, 4, 5, 6, NULL), 0);
	trace = rawfile_open(file, NULL);
	CU_ASSERT_EQUAL(trace_nr_clocks(trace), 2);
	CU_ASSERT_EQUAL(trace_get_clock(trace, 1)->tsc, 6);
	CU_ASSERT_PTR_NULL(trace_get_clock(trace, 2));
	trace_close(trace);
}

/* Every sub-buffer is a chunk, and this many fill more than one chunk of the index. */
static void an_index_of_several_chunks_is_followed(void)
{
	struct tb *tb = tb_new();
	struct trace *trace;
	struct walk all;

	for (uint64_t i = 0; i < 2 * TRACE_INDEX_ENTRIES + 100; i++) {
		tb_cut(tb, i % 2);
		tb_add(tb, i % 2, 10 + i, sys_exit, NULL, .ret = (int64_t)i);
	}
	trace = tb_open_trace(tb);
	CU_ASSERT_TRUE(trace_nr_chunks(trace) >= 2 * TRACE_INDEX_ENTRIES + 100);
	CU_ASSERT_FALSE(trace_get_info(trace)->index_rebuilt);
	CU_ASSERT_EQUAL(trace_get_info(trace)->lost, 0);
	CU_ASSERT_EQUAL(trace_nr_gaps(trace), 0);
	all = walk(trace, &(struct trace_cursor_options){.size = sizeof(struct trace_cursor_options)}, 0);
	CU_ASSERT_EQUAL(trace_get_info(trace)->events, 2 * TRACE_INDEX_ENTRIES + 100);
	CU_ASSERT_EQUAL(all.nr, 2 * (2 * TRACE_INDEX_ENTRIES + 100)); /* the cursor returns to the begin once */
	trace_close(trace);
	tb_free(tb);
}

static const struct unit_case cases[] = {
	{"every_event_of_the_catalogue_is_read_back", every_event_of_the_catalogue_is_read_back},
	{"random_events_come_back", random_events_come_back},
	{"columns_of_any_length_come_back", columns_of_any_length_come_back},
	{"decoding_ahead_changes_nothing", decoding_ahead_changes_nothing},
	{"arguments_that_a_call_does_not_have_are_zero", arguments_that_a_call_does_not_have_are_zero},
	{"addresses_are_kept_where_they_have_a_meaning", addresses_are_kept_where_they_have_a_meaning},
	{"the_catalogue_is_in_the_trace", the_catalogue_is_in_the_trace},
	{"a_loss_is_an_event_at_its_end", a_loss_is_an_event_at_its_end},
	{"losses_before_the_first_and_after_the_last_event_are_gaps",
	 losses_before_the_first_and_after_the_last_event_are_gaps},
	{"missed_programs_are_gaps_next_to_their_events", missed_programs_are_gaps_next_to_their_events},
	{"filters_return_the_selected_events", filters_return_the_selected_events},
	{"peeking_returns_the_next_payloads_within_a_chunk", peeking_returns_the_next_payloads_within_a_chunk},
	{"a_peeked_time_never_passes_another_chunk", a_peeked_time_never_passes_another_chunk},
	{"seeking_gives_the_first_event_at_or_after", seeking_gives_the_first_event_at_or_after},
	{"chunks_in_any_order_are_found_by_time", chunks_in_any_order_are_found_by_time},
	{"gaps_obey_filters_and_positions", gaps_obey_filters_and_positions},
	{"the_start_state_is_separate", the_start_state_is_separate},
	{"cursors_of_several_threads_do_not_meet", cursors_of_several_threads_do_not_meet},
	{"clocks_come_back", clocks_come_back},
	{"an_index_of_several_chunks_is_followed", an_index_of_several_chunks_is_followed},
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	return unit_main("reader", cases, argc, argv);
}
