/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test_writer_calls.c - records of system calls, which hold two or three events each. */
#include <string.h>
#include <trace/format.h>

#include "rawfile.h"
#include "unit.h"

/* @entry: its payload, a struct trace_sys_enter or a larger variant. */
static void rawfile_call(struct rawfile *file, uint32_t time, uint32_t kind, uint32_t words, uint64_t elapsed,
			 int64_t ret, uint64_t entry)
{
	uint64_t payload[9] = {elapsed, (uint64_t)ret, entry, 1, 2, 3, 4, 5, 6};

	rawfile_record(file, time, TRACE_RECORD_CALL + kind, words, payload, (words - 1) * 8);
	file->nr_records++;
}

/* In order of time, whatever lies between the reservation of their record and its end. */
static void a_record_for_two_events_is_read_as_two(void)
{
	struct trace_stream_stats stats = {.stream = 9, .cpu = 2, .stored = 10, .attempted = 10};
	struct rawfile *file = rawfile_new();
	const struct trace_event *event;
	struct trace_cursor *cursor;
	struct trace *trace;
	char text[256];

	for (uint32_t kind = 0; kind < 3; kind++)
		rawfile_call(file, 1000 + 100 * kind, kind, 4 + 3 * kind, 50, 7 + kind, 40 + kind);
	rawfile_exit(file, 1420, 1); /* that of an interrupt, for example: the record of the call was reserved later */
	rawfile_call(file, 1400, 0, 4, 30, 1, 0);
	rawfile_exit(file, 1500, 2);
	CU_ASSERT_EQUAL(rawfile_block(file, 1000, 0, 0), 0);
	trace = rawfile_open(file, &stats);
	tb_order_text(trace, text);
	CU_ASSERT_STRING_EQUAL(text, "2@1000 2@1050 2@1100 2@1150 2@1200 2@1250 2@1400 2@1420 2@1430 2@1500 ");
	cursor = trace_cursor_new(trace, NULL, NULL);
	for (uint32_t kind = 0; kind < 3; kind++) {
		event = trace_cursor_next(cursor);
		CU_ASSERT_EQUAL(event->id, TRACE_EV_sys_enter + kind);
		CU_ASSERT_EQUAL(((const struct trace_sys_enter *)event->payload)->nr, 40 + kind);
		CU_ASSERT_TRUE(kind == 0 || ((const struct trace_sys_enter3 *)event->payload)->arg2 == 3);
		CU_ASSERT_TRUE(kind < 2 || ((const struct trace_sys_enter6 *)event->payload)->arg5 == 6);
		event = trace_cursor_next(cursor);
		CU_ASSERT_EQUAL(event->id, TRACE_EV_sys_exit);
		CU_ASSERT_EQUAL(((const struct trace_sys_exit *)event->payload)->ret, 7 + kind);
	}
	trace_cursor_free(cursor);
	CU_ASSERT_EQUAL(trace_nr_gaps(trace), 0);
	CU_ASSERT_EQUAL(trace_verify(trace, NULL), 0);
	trace_close(trace);
}

static void a_record_for_two_events_that_is_too_short_is_two_lost(void)
{
	struct trace_stream_stats stats = {.stream = 9, .cpu = 2, .stored = 12, .attempted = 12};
	struct rawfile *file = rawfile_new();
	struct trace *trace;
	char text[256];

	CU_ASSERT_TRUE(245 < TRACE_RECORD_PATH_ENTRY); /* other tests use this id for no event */
	for (uint32_t kind = 0; kind < 3; kind++)
		rawfile_call(file, 1000, kind, 3 + 3 * kind, 50, 0, 0);
	rawfile_call(file, 1100, 1, 7, 50, 0, 0);
	rawfile_call(file, 1200, 1, 6, 50, 0, 0); /* also after a valid one */
	rawfile_call(file, 1300, 1, 7, 50, 0, 0);
	CU_ASSERT_EQUAL(rawfile_block(file, 1000, 0, 0), 0);
	trace = rawfile_open(file, &stats);
	tb_order_text(trace, text);
	CU_ASSERT_STRING_EQUAL(text, "2@1100 2@1150 2@1300 2@1350 lost:2@9999 ");
	CU_ASSERT_EQUAL(trace_get_gap(trace, 0)->lost, 8);
	CU_ASSERT_EQUAL(trace_verify(trace, NULL), 0);
	trace_close(trace);
}

/* Also where the order is so bad that all events are sorted, and the clock stood still in between:
 * in the record the payload of the exit comes first. */
static void a_call_that_takes_no_time_begins_before_it_ends(void)
{
	struct trace_stream_stats stats = {.stream = 9, .cpu = 2, .stored = 202, .attempted = 202};
	struct rawfile *file = rawfile_new();
	const struct trace_event *event;
	struct trace_cursor *cursor;
	struct trace *trace;

	for (uint32_t i = 0; i < 100; i++)
		rawfile_exit(file, 2000 - i, 1);
	rawfile_call(file, 3000, 0, 4, 0, 7, 40);
	for (uint32_t i = 0; i < 100; i++)
		rawfile_exit(file, 5000 - i, 1);
	CU_ASSERT_EQUAL(rawfile_block(file, 1000, 0, 0), 0);
	trace = rawfile_open(file, &stats);
	cursor = trace_cursor_new(trace, NULL, NULL);
	CU_ASSERT_EQUAL(trace_cursor_seek(cursor, 3000), 0);
	event = trace_cursor_next(cursor);
	CU_ASSERT_EQUAL(event->ts_ns, 3000);
	CU_ASSERT_EQUAL(event->id, TRACE_EV_sys_enter);
	event = trace_cursor_next(cursor);
	CU_ASSERT_EQUAL(event->ts_ns, 3000);
	CU_ASSERT_EQUAL(event->id, TRACE_EV_sys_exit);
	trace_cursor_free(cursor);
	CU_ASSERT_EQUAL(trace_verify(trace, NULL), 0);
	trace_close(trace);
}

/* @first: TRACE_RECORD_PATH_ENTRY or TRACE_RECORD_PATH_CALL. @text: the @text_bytes of it in the
 *   record */
static void rawfile_path_call(struct rawfile *file, uint32_t time, uint16_t first, uint32_t kind, uint64_t elapsed,
			      int64_t ret, uint64_t entry, const char *text, size_t text_bytes)
{
	uint64_t payload[16] = {elapsed, (uint64_t)ret, entry, 1, 2, 3, 4, 5, 6};
	size_t words = 3 + 3 * kind;

	payload[words++] = entry;
	memcpy(&payload[words], text, text_bytes);
	words += text_bytes / 8;
	rawfile_record(file, time, (uint16_t)(first + kind), (uint32_t)words + 1, payload, words * 8);
	file->nr_records += first == TRACE_RECORD_PATH_CALL ? 2 : 1;
}

static void check_next(struct trace_cursor *cursor, uint32_t id, uint64_t ns, uint64_t first_word)
{
	const struct trace_event *event = trace_cursor_next(cursor);
	uint64_t word;

	CU_ASSERT_PTR_NOT_NULL_FATAL(event);
	memcpy(&word, event->payload, sizeof(word));
	CU_ASSERT_EQUAL(event->id, id);
	CU_ASSERT_EQUAL(event->ts_ns, ns);
	CU_ASSERT_EQUAL(word, first_word);
}

static void a_path_shares_the_record_of_its_call(void)
{
	struct trace_stream_stats stats = {.stream = 9, .cpu = 2, .stored = 18, .attempted = 18};
	struct rawfile *file = rawfile_new();
	const struct trace_event *event;
	struct trace_cursor *cursor;
	struct trace *trace;

	for (uint32_t kind = 0; kind < 3; kind++) {
		rawfile_path_call(file, 1000 + 100 * kind, TRACE_RECORD_PATH_CALL, kind, 50, 7 + kind, 40 + kind,
				  "/a/path\0", 8);
		rawfile_path_call(file, 1060 + 100 * kind, TRACE_RECORD_PATH_ENTRY, kind, 0, 0, 50 + kind,
				  "/its/own/name\0\0\0", 16);
		rawfile_exit(file, 1080 + 100 * kind, 1);
	}
	CU_ASSERT_EQUAL(rawfile_block(file, 1000, 0, 0), 0);
	trace = rawfile_open(file, &stats);
	cursor = trace_cursor_new(trace, NULL, NULL);
	for (uint32_t kind = 0; kind < 3; kind++) {
		check_next(cursor, TRACE_EV_sys_enter + kind, 1000 + 100 * kind, 40 + kind);
		event = trace_cursor_next(cursor);
		CU_ASSERT_EQUAL(event->id, TRACE_EV_sys_path);
		CU_ASSERT_EQUAL(event->ts_ns, 1000 + 100 * kind);
		CU_ASSERT_EQUAL(((const struct trace_sys_path *)event->payload)->nr, 40 + kind);
		CU_ASSERT_STRING_EQUAL((const char *)event->payload + sizeof(struct trace_sys_path), "/a/path");
		check_next(cursor, TRACE_EV_sys_exit, 1050 + 100 * kind, 7 + kind);
		check_next(cursor, TRACE_EV_sys_enter + kind, 1060 + 100 * kind, 50 + kind);
		event = trace_cursor_next(cursor);
		CU_ASSERT_EQUAL(event->id, TRACE_EV_sys_path);
		CU_ASSERT_EQUAL(event->ts_ns, 1060 + 100 * kind);
		CU_ASSERT_STRING_EQUAL((const char *)event->payload + sizeof(struct trace_sys_path), "/its/own/name");
		check_next(cursor, TRACE_EV_sys_exit, 1080 + 100 * kind, 1);
	}
	CU_ASSERT_PTR_NULL(trace_cursor_next(cursor));
	trace_cursor_free(cursor);
	CU_ASSERT_EQUAL(trace_nr_gaps(trace), 0);
	CU_ASSERT_EQUAL(trace_verify(trace, NULL), 0);
	trace_close(trace);
}

/* The record was reserved after an interrupt's: all its events come before that one's. */
static void a_path_comes_before_later_events(void)
{
	struct trace_stream_stats stats = {.stream = 9, .cpu = 2, .stored = 7, .attempted = 7};
	struct rawfile *file = rawfile_new();
	struct trace_cursor *cursor;
	struct trace *trace;

	rawfile_exit(file, 1000, 5);
	rawfile_exit(file, 1040, 6);
	rawfile_path_call(file, 1020, TRACE_RECORD_PATH_CALL, 0, 15, 8, 30, "/a/path\0", 8);
	rawfile_path_call(file, 1010, TRACE_RECORD_PATH_ENTRY, 0, 0, 0, 31, "/a/path\0", 8);
	CU_ASSERT_EQUAL(rawfile_block(file, 1000, 0, 0), 0);
	trace = rawfile_open(file, &stats);
	cursor = trace_cursor_new(trace, NULL, NULL);
	check_next(cursor, TRACE_EV_sys_exit, 1000, 5);
	check_next(cursor, TRACE_EV_sys_enter, 1010, 31);
	check_next(cursor, TRACE_EV_sys_path, 1010, 31);
	check_next(cursor, TRACE_EV_sys_enter, 1020, 30);
	check_next(cursor, TRACE_EV_sys_path, 1020, 30);
	check_next(cursor, TRACE_EV_sys_exit, 1035, 8);
	check_next(cursor, TRACE_EV_sys_exit, 1040, 6);
	trace_cursor_free(cursor);
	CU_ASSERT_EQUAL(trace_verify(trace, NULL), 0);
	trace_close(trace);
}

static void a_path_without_an_end_loses_its_call(void)
{
	struct trace_stream_stats stats = {.stream = 9, .cpu = 2, .stored = 13, .attempted = 13};
	struct rawfile *file = rawfile_new();
	struct trace *trace;
	char text[256];

	rawfile_path_call(file, 1000, TRACE_RECORD_PATH_CALL, 1, 50, 0, 0, "endless.", 8);
	rawfile_path_call(file, 1010, TRACE_RECORD_PATH_ENTRY, 1, 0, 0, 0, "endless.", 8);
	rawfile_path_call(file, 1020, TRACE_RECORD_PATH_CALL, 2, 50, 0, 0, "", 0); /* no text at all */
	rawfile_path_call(file, 1100, TRACE_RECORD_PATH_CALL, 1, 50, 0, 0, "an end.\0", 8);
	rawfile_path_call(file, 1200, TRACE_RECORD_PATH_ENTRY, 1, 0, 0, 0, "endless.", 8); /* also after a valid one */
	CU_ASSERT_EQUAL(rawfile_block(file, 1000, 0, 0), 0);
	trace = rawfile_open(file, &stats);
	tb_order_text(trace, text);
	CU_ASSERT_STRING_EQUAL(text, "2@1100 2@1100 2@1150 lost:2@9999 ");
	CU_ASSERT_EQUAL(trace_get_gap(trace, 0)->lost, 10);
	CU_ASSERT_EQUAL(trace_verify(trace, NULL), 0);
	trace_close(trace);
}

static const struct unit_case cases[] = {
	CASE(a_record_for_two_events_is_read_as_two),
	CASE(a_record_for_two_events_that_is_too_short_is_two_lost),
	CASE(a_path_shares_the_record_of_its_call),
	CASE(a_path_comes_before_later_events),
	CASE(a_path_without_an_end_loses_its_call),
	CASE(a_call_that_takes_no_time_begins_before_it_ends),
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	return unit_main("writer_calls", cases, argc, argv);
}
