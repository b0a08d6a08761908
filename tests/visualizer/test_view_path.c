/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_view_path.c - a path of many segments is answered in parts: they have all of its time and
 * all of its segments, and those segments that a screen shows
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <trace/events.h>
#include "builder.h"
#include "unit.h"
#include "view_row.h"
#include "view_session.h"

#define PIPE  0010600
#define TURN  1000u /* ns on the CPU */
#define LONG  40u   /* every so often a turn takes so much longer */
#define BEGIN 1000000u

/* Two threads that wake each other through pipes, @nr times. Every hundredth turn is long. */
static struct trace *ping_pong(unsigned int nr, uint64_t *ret_end)
{
	struct tb *tb = tb_new();
	uint64_t ns = BEGIN;
	struct trace *trace;

	tb_thread(tb, 10, 10, 1, "ping", 0, true);
	tb_thread_in(tb, 20, 20, 1, "pong", 0, false, SYS_read);
	for (uint32_t tgid = 10; tgid <= 20; tgid += 10) {
		tb_fd(tb, tgid, 3, 8, 77, PIPE, "pipe:[77]");
		tb_fd(tb, tgid, 4, 8, 78, PIPE, "pipe:[78]");
	}
	for (unsigned int i = 0; i < nr; i++) {
		uint32_t self = i % 2 ? 20 : 10, other = 30 - self;
		uint64_t end = ns + TURN * (i % 100 == 50 ? LONG : 1);

		tb_sys_enter(tb, 0, end - 400, SYS_write, self == 10 ? 3 : 4, 0, 1);
		tb_waking(tb, 0, end - 300, other, TRACE_CONTEXT_TASK);
		tb_sys_exit(tb, 0, end - 200, 1);
		tb_sys_enter(tb, 0, end - 100, SYS_read, self == 10 ? 4 : 3, 0, 1);
		tb_switch(tb, 0, end, self, other, TRACE_TASK_INTERRUPTIBLE);
		tb_sys_exit(tb, 0, end + 100, 1);
		ns = end;
	}
	tb_window(tb, BEGIN - 1000, ns + 200);
	*ret_end = ns + 200;
	trace = tb_open_trace(tb);
	tb_free(tb);
	return trace;
}

/* struct path_answer - the sums of an answer */
struct path_answer {
	uint64_t nr_segments, precision;
	uint64_t nr_shown, shortest;
	uint64_t nr_parts, ns, count, gap;
};

/* The number after @name in @line; UINT64_MAX: there is none. */
static uint64_t number_of(const char *line, const char *name)
{
	const char *at = strstr(line, name);

	return at ? strtoull(at + strlen(name), NULL, 10) : UINT64_MAX;
}

/* Each segment and each part has a line. */
static struct path_answer ask_path(struct view_session *session, uint64_t from, uint64_t to)
{
	struct path_answer result = {.shortest = UINT64_MAX};
	struct view_answer answer;
	struct trace_row_id id = {.kind = TRACE_ROW_THREAD};
	char question[128], *text;
	uint64_t ends[2] = {0};

	snprintf(question, sizeof(question), "path?row=%u&from=%llu&to=%llu", view_row_number(id),
		 (unsigned long long)from, (unsigned long long)to);
	answer = view_answer(session, question);
	text = strndup(answer.bytes, answer.size);
	free(answer.bytes);
	result.nr_segments = number_of(text, "\"nr_segments\":");
	result.precision = number_of(text, "\"precision_ns\":");
	strtok(text, "\n"); /* what comes before the segments */
	for (char *line; (line = strtok(NULL, "\n"));) {
		uint64_t length = number_of(line, "\"to\":") - number_of(line, "\"from\":");
		uint64_t row = number_of(line, "{\"row\":");

		if (strncmp(line, "{\"row\":", 7) != 0)
			continue;
		if (number_of(line, "\"count\":") == UINT64_MAX) {
			result.nr_shown++;
			result.shortest = length < result.shortest ? length : result.shortest;
			continue;
		}
		result.nr_parts++;
		result.ns += number_of(line, "\"ns\":");
		result.count += number_of(line, "\"count\":");
		CU_ASSERT(length >= number_of(line, "\"ns\":"));
		CU_ASSERT(!ends[row & 1] || number_of(line, "\"from\":") - ends[row & 1] >= result.precision);
		ends[row & 1] = number_of(line, "\"to\":");
	}
	free(text);
	return result;
}

static void session_of(struct view_session *session, const struct trace *trace)
{
	static const struct visualizer_options options = {
		.reports.view = true, .events.cpu = -1, .processes.pid = -1, .processes.tid = -1};

	CU_ASSERT_EQUAL_FATAL(view_session_begin(session, trace, &options), 0);
	while (view_session_step(session, 1, 1) == 0)
		;
}

static void a_short_path_has_all_segments(void)
{
	static struct view_session session;
	struct path_answer path;
	uint64_t end;
	struct trace *trace = ping_pong(200, &end);

	session_of(&session, trace);
	path = ask_path(&session, 0, session.end - session.start);
	CU_ASSERT(path.nr_segments > 200);
	CU_ASSERT_EQUAL(path.nr_shown, path.nr_segments);
	CU_ASSERT_EQUAL(path.nr_parts, 0);
	view_session_end(&session);
	trace_close(trace);
}

static uint64_t path_begin(struct view_session *session, uint32_t thread)
{
	struct trace_row_id id = {.kind = TRACE_ROW_THREAD, .index = thread};
	char question[64];
	struct view_answer answer;
	uint64_t from;

	snprintf(question, sizeof(question), "path?row=%u", view_row_number(id));
	answer = view_answer(session, question);
	from = number_of(answer.bytes, "\"from\":");
	free(answer.bytes);
	return from;
}

/* The recorder held the command at first: the answer begins behind that, and so does the path. */
static void the_path_of_the_answer_begins_with_it(void)
{
	static struct view_session session;
	uint64_t end, one, other;
	struct trace *trace = ping_pong(200, &end);

	session_of(&session, trace);
	view_session_choose(&session);
	session.answer.is.of_command = true;
	session.answer.is.from_ns = session.start + 50000;
	one = path_begin(&session, 0);
	other = path_begin(&session, 1);
	CU_ASSERT(one != other && (one == 50000 || other == 50000));
	CU_ASSERT(one < 50000 || other < 50000);
	view_session_end(&session);
	trace_close(trace);
}

static void a_long_path_has_parts_with_all_of_its_time(void)
{
	static struct view_session session;
	struct path_answer path;
	uint64_t end, width;
	struct trace *trace = ping_pong(9000, &end);

	session_of(&session, trace);
	width = session.end - session.start;
	path = ask_path(&session, 0, width);
	CU_ASSERT(path.nr_segments > 9000);
	CU_ASSERT_EQUAL(path.ns, width);
	CU_ASSERT_EQUAL(path.count, path.nr_segments);
	CU_ASSERT(path.nr_parts >= 2 && path.nr_parts <= 10000);
	CU_ASSERT_EQUAL(path.precision, width / 2000 + 1);
	CU_ASSERT(path.nr_shown >= 80 && path.nr_shown <= 5000);
	CU_ASSERT(path.shortest >= path.precision);
	view_session_end(&session);
	trace_close(trace);
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		CASE(a_short_path_has_all_segments),
		CASE(the_path_of_the_answer_begins_with_it),
		CASE(a_long_path_has_parts_with_all_of_its_time),
		{NULL, NULL},
	};

	return unit_main("view_path", cases, argc, argv);
}
