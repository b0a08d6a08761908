/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_plausible.c - a trace contains impossible data: events of programs after the end or before
 * the start, CPUs that the machine does not have, impossible numbers of losses. The reader leaves
 * that out, names its offset, and does not verify such a trace.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <trace/analysis.h>

#include "image.h"
#include "rawfile.h"
#include "unit.h"
#include "user_events_case.h"

/*
 * A recording from 1000 to 9000 ns of 2 CPUs with a program, which has an event at @ts_ns on @cpu.
 */
static struct tb *recording(uint32_t cpu, uint64_t ts_ns)
{
	struct tb *tb = tb_new();
	uint16_t id = event_type(tb, "shop:paid", TRACE_ROLE_EVENT);

	tb_window(tb, 1000, 9000);
	tb_keep_end(tb);
	tb_thread(tb, 10, 10, 1, "shop", 0, true);
	for (uint32_t i = 0; i < 2; i++)
		tb_switch(tb, i, 1001, 0, 0, TRACE_TASK_RUNNING);
	emit(tb, 0, 2000, id, 10, 1);
	if (cpu)
		tb_user_cut(tb, cpu);
	emit(tb, cpu, ts_ns, id, 10, 2);
	return tb;
}

static struct trace *open_it(struct tb *tb)
{
	struct trace *trace = tb_open_trace(tb);

	tb_free(tb);
	return trace;
}

/* The first violation contains @one, @other and an offset. */
static void check_refused(const struct trace *trace, const char *one, const char *other)
{
	struct trace_error error = {0};

	CU_ASSERT_EQUAL(trace_verify(trace, &error), -EBADMSG);
	CU_ASSERT_PTR_NOT_NULL(strstr(error.message, "offset "));
	CU_ASSERT_PTR_NOT_NULL(strstr(error.message, one));
	CU_ASSERT_PTR_NOT_NULL(strstr(error.message, other));
}

/* The elapsed time of CPU 0 in the analysis. */
static uint64_t elapsed_of(const struct trace *trace)
{
	struct trace_analysis *analysis = trace_analysis_new(trace, NULL, NULL);
	struct trace_cpu_figures figures;

	CU_ASSERT_EQUAL_FATAL(trace_analysis_run(analysis, NULL), 0);
	CU_ASSERT_EQUAL(trace_analysis_verify(analysis, NULL), 0);
	CU_ASSERT_EQUAL(trace_nr_cpus(analysis), 2);
	trace_cpu_figures(analysis, 0, &figures);
	trace_analysis_free(analysis);
	return figures.user_ns + figures.system_ns + figures.irq_ns + figures.softirq_ns + figures.idle_ns +
	       figures.unknown_ns;
}

static uint64_t nr_of_program(const struct trace *trace)
{
	struct trace_cursor *cursor = trace_cursor_new(trace, NULL, NULL);
	const struct trace_event *event;
	uint64_t nr = 0;

	while ((event = trace_cursor_next(cursor)))
		nr += event->id >= TRACE_EV_MAX;
	if (trace_cursor_end(cursor, NULL) == -ENOMEM)
		return UINT64_MAX;
	return nr;
}

/* ---- times ---- */

static void a_program_s_events_up_to_the_end_are_fine(void)
{
	struct trace *trace = open_it(recording(1, 9000));

	CU_ASSERT_EQUAL(trace_verify(trace, NULL), 0);
	CU_ASSERT_EQUAL(nr_of_program(trace), 2);
	trace_close(trace);
}

static void a_program_s_event_behind_the_end_is_refused(void)
{
	static const uint64_t times[] = {9001, 9000 + 3600000000000ull, INT64_MAX};

	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
		struct trace *trace = open_it(recording(1, times[i]));
		char stream[32], at[80];

		snprintf(stream, sizeof(stream), "stream %u", TB_USER_STREAM + 1);
		snprintf(at, sizeof(at), "%llu ns, but the recording ended at 9000 ns", (unsigned long long)times[i]);
		check_refused(trace, stream, at);
		CU_ASSERT_EQUAL(trace_get_info(trace)->end_ns, 9000);
		CU_ASSERT_EQUAL(elapsed_of(trace), 8000);
		CU_ASSERT_EQUAL(nr_of_program(trace), 1);
		/* the refused event counts as lost */
		CU_ASSERT_EQUAL(trace_get_info(trace)->lost, 1);
		for (size_t k = 0; k < trace_nr_gaps(trace); k++)
			CU_ASSERT_TRUE(trace_get_gap(trace, k)->end_ns <= 9000);
		trace_close(trace);
	}
}

/* Without kernel events the end is the recorder's, too. */
static void nor_does_it_lengthen_a_recording_of_programs(void)
{
	struct tb *tb = tb_new();
	uint16_t id = event_type(tb, "shop:paid", TRACE_ROLE_EVENT);
	struct trace *trace;

	tb_window(tb, 1000, 9000);
	emit(tb, 0, 2000, id, 10, 1);
	emit(tb, 1, 5000000, id, 10, 1);
	trace = open_it(tb);
	check_refused(trace, "stream 65537", "5000000 ns");
	CU_ASSERT_EQUAL(trace_get_info(trace)->end_ns, 9000);
	CU_ASSERT_EQUAL(nr_of_program(trace), 1);
	trace_close(trace);
}

/*
 * A recorder drains its buffers after the end, and then notes the clocks. So events of programs may
 * be as late as the last clock correspondence, but at most 10 s after the end.
 */
static void the_last_clock_correspondence_is_the_end_of_programs(void)
{
	static const struct {
		uint64_t event_ns;
		uint64_t clock_ns;
		bool good;
	} ends[] = {{50000, 60000, true},
		    {60000, 60000, true},
		    {60001, 60000, false},
		    {9000 + 10000000000ull, 1ull << 62, true},
		    {9001 + 10000000000ull, 1ull << 62, false},
		    {9001, INT64_MAX, false}}; /* no machine is up for so long */

	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		struct tb *tb = recording(1, ends[i].event_ns);
		struct trace *trace;

		tb_clock(tb, ends[i].clock_ns, 1, 1);
		trace = open_it(tb);
		CU_ASSERT_EQUAL(trace_verify(trace, NULL), ends[i].good ? 0 : -EBADMSG);
		CU_ASSERT_EQUAL(trace_get_info(trace)->end_ns, ends[i].good ? ends[i].event_ns : 9000);
		trace_close(trace);
	}
}

/*
 * The end of a truncated recording is unknown: its programs may have recorded after the kernel's
 * last chunk.
 */
static void a_recording_that_was_cut_off_ends_with_its_last_event(void)
{
	struct tb *tb = recording(1, 20000);
	struct image image = image_new(tb, false);
	struct trace *trace = trace_open(image.path, NULL);

	CU_ASSERT_EQUAL(trace_nr_damages(trace), 0);
	CU_ASSERT_EQUAL(trace_get_info(trace)->end_ns, 20000);
	trace_close(trace);
	image_free(&image);
	tb_free(tb);
}

static void a_program_s_event_before_the_start_is_a_violation(void)
{
	struct trace *trace = open_it(recording(1, 999));

	check_refused(trace, "stream 65537", "999 ns, but the recording began at 1000 ns");
	trace_close(trace);
}

/*
 * The table of chunks is good, and the index, which the reader does not check while there is a
 * table, is nonsense. A refused chunk is described by its entry in the table alone.
 */
static void a_refused_chunk_needs_no_index(void)
{
	struct tb *tb = recording(0, 20000);
	struct trace_end_mark mark;
	struct image image;
	struct trace *trace;

	tb_user_cut(tb, 0);
	image = image_new(tb, true);
	memcpy(&mark, image.data + image.bytes - sizeof(mark), sizeof(mark));
	memset(image.data + mark.index_offset, 0xff, image.bytes - sizeof(mark) - mark.index_offset);
	trace = trace_open(image.path, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(trace);
	CU_ASSERT_FALSE(trace_get_info(trace)->index_rebuilt);
	CU_ASSERT_EQUAL(trace_get_info(trace)->lost, 2); /* both events are in the refused chunk */
	CU_ASSERT_EQUAL(trace_get_info(trace)->end_ns, 9000);
	trace_close(trace);
	image_free(&image);
	tb_free(tb);
}

/* ---- CPUs ---- */

static void a_cpu_that_no_stream_of_the_kernel_has_is_refused(void)
{
	struct trace *trace = open_it(recording(1500, 3000));

	check_refused(trace, "stream 67036", "CPU 1500, which the machine does not have");
	CU_ASSERT_EQUAL(trace_get_info(trace)->nr_cpus, 2);
	CU_ASSERT_EQUAL(nr_of_program(trace), 1);
	CU_ASSERT_EQUAL(elapsed_of(trace), 8000);
	for (size_t k = 0; k < trace_nr_gaps(trace); k++)
		CU_ASSERT_TRUE(trace_get_gap(trace, k)->cpu != 1500);
	trace_close(trace);
}

/* Without kernel events the number of CPUs is that of the recorder. */
static void a_cpu_beyond_those_of_the_machine_is_refused(void)
{
	struct tb *tb = tb_new();
	uint16_t id = event_type(tb, "shop:paid", TRACE_ROLE_EVENT);
	struct trace *trace;

	tb_string(tb, TRACE_STRING_INFO, TRACE_INFO_CPUS, "4");
	emit(tb, 3, 2000, id, 10, 1);
	emit(tb, 4, 3000, id, 10, 1);
	trace = open_it(tb);
	check_refused(trace, "stream 65540", "CPU 4, which the machine does not have");
	CU_ASSERT_EQUAL(trace_get_info(trace)->nr_cpus, 4);
	CU_ASSERT_EQUAL(nr_of_program(trace), 1);
	trace_close(trace);
}

/* Its number is noted: no ring of the kernel has a higher one. */
static void a_ring_of_the_kernel_on_such_a_cpu_is_refused(void)
{
	static const uint32_t cpus[] = {2, 1500};

	for (size_t i = 0; i < sizeof(cpus) / sizeof(cpus[0]); i++) {
		struct tb *tb = recording(1, 3000);
		struct trace *trace;
		char cpu[64];

		tb_string(tb, TRACE_STRING_INFO, TRACE_INFO_CPUS, "2");
		tb_switch(tb, cpus[i], 4000, 0, 0, TRACE_TASK_RUNNING);
		trace = open_it(tb);
		snprintf(cpu, sizeof(cpu), "events of CPU %u, which the machine does not have", cpus[i]);
		check_refused(trace, "stream ", cpu);
		CU_ASSERT_EQUAL(trace_get_info(trace)->nr_cpus, 2);
		CU_ASSERT_EQUAL(elapsed_of(trace), 8000);
		CU_ASSERT_EQUAL(trace_get_info(trace)->lost, 1);
		trace_close(trace);
	}
}

/* The recorder may take long to detach its programs. Then it reads the clock. */
static void an_event_of_the_kernel_long_after_the_end_is_refused(void)
{
	static const uint64_t later = 10000000000ull;
	static const struct {
		uint64_t clock_ns, event_ns;
		bool good;
	} events[] = {{0, 9000 + later, true},
		      {0, 9001 + later, false},
		      {0, INT64_MAX, false},
		      {9000 + 5 * later, 9000 + 6 * later, true},
		      {9000 + 5 * later, 9001 + 6 * later, false}};

	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
		struct tb *tb = recording(1, 3000);
		struct trace *trace;

		tb_cut(tb, 0);
		tb_switch(tb, 0, events[i].event_ns, 0, 0, TRACE_TASK_RUNNING);
		if (events[i].clock_ns)
			tb_clock(tb, events[i].clock_ns, 1, 1);
		trace = open_it(tb);
		CU_ASSERT_EQUAL(trace_get_info(trace)->end_ns, events[i].good ? events[i].event_ns : 9000);
		CU_ASSERT_EQUAL(trace_get_info(trace)->lost, !events[i].good);
		if (events[i].good) {
			CU_ASSERT_EQUAL(trace_verify(trace, NULL), 0);
		} else {
			check_refused(trace, "stream 0 has events at ", "but the recording ended at 9000 ns");
			CU_ASSERT_EQUAL(elapsed_of(trace), 8000);
		}
		trace_close(trace);
	}
}

/* A recording that was cut off cannot have events later than a later reading of the clock. */
static void an_event_later_than_a_later_reading_of_the_clock_is_refused(void)
{
	static const uint64_t last = 9000 + 10000000000ull;
	static const struct {
		uint64_t event_ns;
		bool is_clock_last, good;
	} events[] = {{last, true, true},	 {last + 1, true, false},	   {last + 1, false, true},
		      {1ull << 62, false, true}, {(1ull << 62) + 1, false, false}, {INT64_MAX, false, false}};

	for (size_t i = 0; i < 2 * sizeof(events) / sizeof(events[0]); i++) {
		bool is_of_program = i % 2, good = events[i / 2].good;
		struct tb *tb = recording(1, is_of_program ? events[i / 2].event_ns : 3000);
		struct image image;
		struct trace *trace;

		tb_cut(tb, 0);
		tb_switch(tb, 0, is_of_program ? 8000 : events[i / 2].event_ns, 0, 0, TRACE_TASK_RUNNING);
		tb_clock(tb, 9000, 1, 1);
		if (events[i / 2].is_clock_last)
			tb_clocks_last(tb);
		image = image_new(tb, false);
		trace = trace_open(image.path, NULL);
		CU_ASSERT_EQUAL(trace_nr_damages(trace), good ? 0 : 1);
		CU_ASSERT_EQUAL(trace_verify(trace, NULL), good ? 0 : -EBADMSG);
		CU_ASSERT_EQUAL(trace_get_info(trace)->end_ns > 8000, good);
		trace_close(trace);
		image_free(&image);
		tb_free(tb);
	}
}

/* A writer may have been stopped for 10 s between its clock and its record. */
static void an_event_of_the_kernel_long_before_the_start_is_refused(void)
{
	static const uint64_t start = 3600000000000ull, first = start - 10000000000ull;

	for (uint64_t less = 0; less < 2; less++) {
		struct tb *tb = tb_new();
		struct trace *trace;

		tb_window(tb, start, start + 8000);
		tb_switch(tb, 0, first - less, 0, 0, TRACE_TASK_RUNNING);
		tb_cut(tb, 0);
		tb_switch(tb, 0, start + 1000, 0, 0, TRACE_TASK_RUNNING);
		trace = open_it(tb);
		CU_ASSERT_EQUAL(trace_get_info(trace)->start_ns, start);
		CU_ASSERT_EQUAL(trace_get_info(trace)->lost, less);
		if (less)
			check_refused(trace, "stream 0 has events at 3589999999999 ns", "began at 3600000000000 ns");
		else
			CU_ASSERT_EQUAL(trace_verify(trace, NULL), 0);
		trace_close(trace);
	}
}

/* The recorder reads its clock after the end. */
static void an_end_long_after_the_last_reading_of_the_clock_is_refused(void)
{
	static const uint64_t last = 9000 + 10000000000ull;
	static const struct {
		uint64_t end_ns, clock_ns;
		const char *why;
	} ends[] = {{last, 9000, NULL},
		    {last + 1, 9000, "the recorder last read its clock at 9000 ns"},
		    {INT64_MAX, 9000, "the recorder last read its clock at 9000 ns"},
		    {1ull << 62, 0, NULL},
		    {(1ull << 62) + 1, 0, "no machine is up for 146 years"},
		    {UINT64_MAX, 0, "no machine is up for 146 years"}};

	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		struct tb *tb = recording(1, 3000);
		struct trace *trace;

		tb_window(tb, 1000, ends[i].end_ns);
		if (ends[i].clock_ns)
			tb_clock(tb, ends[i].clock_ns, 1, 1);
		trace = open_it(tb);
		if (ends[i].why) {
			check_refused(trace, "the recording cannot have ended at ", ends[i].why);
			CU_ASSERT_EQUAL(trace_get_info(trace)->end_ns, ends[i].clock_ns ? 9000 : 3000);
		} else {
			CU_ASSERT_EQUAL(trace_verify(trace, NULL), 0);
			CU_ASSERT_EQUAL(trace_get_info(trace)->end_ns, ends[i].end_ns);
		}
		trace_close(trace);
	}
}

/* Rings are numbered by CPU, one or two for each. The number of CPUs is not noted here. */
static void a_ring_with_a_lower_number_than_its_cpu_is_refused(void)
{
	for (uint32_t cpu = 9; cpu < 11; cpu++) {
		struct rawfile *file = rawfile_new();
		struct trace *trace;

		rawfile_single(file, 9, cpu);
		trace = rawfile_open_with(file, NULL, 0);
		if (cpu == 10)
			check_refused(trace, "stream 9 has events of CPU 10", "streams have higher numbers");
		CU_ASSERT_EQUAL(trace_nr_damages(trace), cpu == 10);
		trace_close(trace);
	}
}

static void a_program_on_a_cpu_of_which_the_kernel_recorded_nothing_is_fine(void)
{
	struct tb *tb = recording(3, 3000);
	struct trace *trace;

	tb_string(tb, TRACE_STRING_INFO, TRACE_INFO_CPUS, "4");
	trace = open_it(tb);
	CU_ASSERT_EQUAL(trace_verify(trace, NULL), 0);
	CU_ASSERT_EQUAL(trace_get_info(trace)->nr_cpus, 4);
	trace_close(trace);
}

/* A ring that lost all its events has no chunk. */
static void a_cpu_that_is_only_in_the_statistics_is_refused(void)
{
	struct tb *tb = recording(1, 3000);
	struct trace *trace;

	tb_user_lost(tb, 700, 5);
	trace = open_it(tb);
	check_refused(trace, "stream 66236", "CPU 700");
	CU_ASSERT_EQUAL(trace_get_info(trace)->nr_cpus, 2);
	trace_close(trace);
}

/* ---- losses ---- */

static void impossible_losses_are_not_in_the_sum(void)
{
	static const uint64_t losses[] = {1ull << 62, UINT64_MAX - 999, UINT64_MAX, 1ull << 33};

	for (size_t i = 0; i < sizeof(losses) / sizeof(losses[0]); i++) {
		struct rawfile *file = rawfile_new();
		const struct trace_stream_stats stats[] = {
			{.stream = 9, .cpu = 2, .stored = 1, .discarded = 1000, .attempted = 1001},
			{.stream = 0x10000, .cpu = 0, .discarded = losses[i], .attempted = losses[i]}};
		struct trace *trace;

		rawfile_exit(file, 1000, 0);
		CU_ASSERT_EQUAL(rawfile_block(file, 1000, 0, 0), 0);
		trace = rawfile_open_with(file, stats, 2);
		check_refused(trace, "the statistics of stream 65536", "more events than possible");
		CU_ASSERT_EQUAL(trace_get_info(trace)->lost, 1000);
		CU_ASSERT_EQUAL(trace_nr_gaps(trace), 2); /* the size of one is unknown */
		trace_close(trace);
	}
}

/* Each field fits, but discarded + overwritten = 2^64 overflows. */
static void statistics_with_an_overflowing_sum_are_refused(void)
{
	struct rawfile *file = rawfile_new();
	const struct trace_stream_stats stats = {
		.stream = 9, .cpu = 2, .stored = 1, .discarded = 1ull << 63, .overwritten = 1ull << 63, .attempted = 1};
	struct trace *trace;

	rawfile_exit(file, 1000, 0);
	CU_ASSERT_EQUAL(rawfile_block(file, 1000, 0, 0), 0);
	trace = rawfile_open(file, &stats);
	check_refused(trace, "the statistics of stream 9", "more events than possible");
	CU_ASSERT_EQUAL(trace_get_info(trace)->lost, 0);
	trace_close(trace);
}

static void a_block_that_declares_impossible_losses_is_refused(void)
{
	struct rawfile *file = rawfile_new();
	struct trace *trace;

	rawfile_exit(file, 1000, 0);
	CU_ASSERT_EQUAL(rawfile_block(file, 1000, 0, 0), 0);
	rawfile_exit(file, 2000, 0);
	CU_ASSERT_EQUAL(rawfile_block(file, 2000, 1ull << 62, TRACE_GAP_DISCARDED), 0);
	trace = rawfile_open_with(file, NULL, 0);
	check_refused(trace, "stream 9", "more lost events than possible");
	CU_ASSERT_TRUE(trace_get_info(trace)->lost < 10);
	trace_close(trace);
}

/* The file header is damaged, so the reader scans the chunks twice. */
static void a_block_with_impossible_losses_is_reported_once(void)
{
	struct rawfile *file = rawfile_new();
	struct trace *trace;
	size_t nr = 0;

	rawfile_exit(file, 1000, 0);
	CU_ASSERT_EQUAL(rawfile_block(file, 1000, 0, 0), 0);
	rawfile_exit(file, 2000, 0);
	CU_ASSERT_EQUAL(rawfile_block(file, 2000, 1ull << 62, TRACE_GAP_DISCARDED), 0);
	CU_ASSERT_EQUAL(pwrite(file->fd, "?", 1, 0), 1);
	trace = rawfile_open_with(file, NULL, 0);
	for (size_t i = 0; i < trace_nr_damages(trace); i++)
		nr += strstr(trace_get_damage(trace, i)->message, "more lost events") != NULL;
	CU_ASSERT_EQUAL(nr, 1);
	trace_close(trace);
}

/* The maximum: one event per ns on one CPU since boot. */
static void possible_losses_are_not_changed(void)
{
	uint64_t ns = 100000000000ull;

	for (uint64_t more = 0; more < 2; more++) {
		struct rawfile *file = rawfile_new();
		struct trace_stream_stats stats = {
			.stream = 9, .cpu = 2, .stored = 1, .discarded = ns - 1 + more, .attempted = ns + more};
		struct trace *trace;

		rawfile_exit(file, (uint32_t)ns, 0);
		CU_ASSERT_EQUAL(rawfile_block(file, ns, 0, 0), 0);
		trace = rawfile_open(file, &stats);
		CU_ASSERT_EQUAL(trace_verify(trace, NULL), more ? -EBADMSG : 0);
		CU_ASSERT_EQUAL(trace_get_info(trace)->lost, more ? 0 : ns - 1);
		trace_close(trace);
	}
}

/*
 * The writer gets loss totals that rise and fall, and that exceed 64 bits together with the stored
 * events.
 */
static void the_writer_s_sums_do_not_wrap(void)
{
	static const uint64_t totals[] = {1000, 10, 2000, 0, UINT64_MAX, 5};
	struct rawfile *file = rawfile_new();
	struct trace_chunk_header header;
	struct image image;
	struct trace *trace;
	unsigned char bytes[65536];
	uint64_t before = 0;
	ssize_t nr;

	for (uint32_t i = 0; i < sizeof(totals) / sizeof(totals[0]); i++) {
		rawfile_exit(file, 1000 + i, 0);
		CU_ASSERT_EQUAL(rawfile_block(file, 1000 + i, totals[i], TRACE_GAP_DISCARDED), 0);
	}
	nr = pread(file->fd, bytes, sizeof(bytes), 0);
	CU_ASSERT_TRUE_FATAL(nr > 0 && nr < (ssize_t)sizeof(bytes));
	image = image_of(bytes, (size_t)nr);
	for (size_t nth = 0; image_find(&image, TRACE_CHUNK_EVENTS, nth, &header) >= 0; nth++) {
		CU_ASSERT_TRUE(header.events_before >= before);
		before = header.events_before;
	}
	CU_ASSERT_EQUAL(before, UINT64_MAX);
	image_free(&image);
	trace = rawfile_open_with(file, NULL, 0);
	check_refused(trace, "stream 9", "more lost events than possible");
	CU_ASSERT_TRUE(trace_get_info(trace)->lost >= 2000);
	CU_ASSERT_TRUE(trace_get_info(trace)->lost < 2010);
	trace_close(trace);
}

static const struct unit_case cases[] = {
	CASE(a_program_s_events_up_to_the_end_are_fine),
	CASE(a_program_s_event_behind_the_end_is_refused),
	CASE(nor_does_it_lengthen_a_recording_of_programs),
	CASE(the_last_clock_correspondence_is_the_end_of_programs),
	CASE(a_recording_that_was_cut_off_ends_with_its_last_event),
	CASE(a_program_s_event_before_the_start_is_a_violation),
	CASE(a_refused_chunk_needs_no_index),
	CASE(a_cpu_that_no_stream_of_the_kernel_has_is_refused),
	CASE(a_cpu_beyond_those_of_the_machine_is_refused),
	CASE(a_ring_of_the_kernel_on_such_a_cpu_is_refused),
	CASE(an_event_of_the_kernel_long_after_the_end_is_refused),
	CASE(an_event_later_than_a_later_reading_of_the_clock_is_refused),
	CASE(an_event_of_the_kernel_long_before_the_start_is_refused),
	CASE(an_end_long_after_the_last_reading_of_the_clock_is_refused),
	CASE(a_ring_with_a_lower_number_than_its_cpu_is_refused),
	CASE(a_program_on_a_cpu_of_which_the_kernel_recorded_nothing_is_fine),
	CASE(a_cpu_that_is_only_in_the_statistics_is_refused),
	CASE(impossible_losses_are_not_in_the_sum),
	CASE(statistics_with_an_overflowing_sum_are_refused),
	CASE(a_block_that_declares_impossible_losses_is_refused),
	CASE(a_block_with_impossible_losses_is_reported_once),
	CASE(possible_losses_are_not_changed),
	CASE(the_writer_s_sums_do_not_wrap),
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	return unit_main("plausible", cases, argc, argv);
}
