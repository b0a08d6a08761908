/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_view_rows.c - the rows of a trace with many processes and threads are cut for a page, and
 * the sums of the rest are exact
 */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include "builder.h"
#include "unit.h"
#include "view_session.h"

#define LISTED 10000u /* processes, and as many threads */
#define SPAN   "?from=1000000&to=9000000"

enum { FIRST = 100, STEP_NS = 1000, THREADS_OF_LAST = 3 };

static const struct visualizer_options options = {
	.reports.view = true, .events.cpu = -1, .processes.pid = -1, .processes.tid = -1};

/* Each process runs once, the last one the longest, with threads that do not run. */
static struct trace *many_processes(uint32_t nr)
{
	struct tb *tb = tb_new();
	struct trace *trace;
	uint64_t ns = 2000;

	for (uint32_t i = 0; i < nr; i++)
		tb_thread(tb, FIRST + i, FIRST + i, 1, "many", 0, false);
	for (uint32_t i = 0; i < THREADS_OF_LAST; i++)
		tb_thread(tb, FIRST + nr + i, FIRST + nr - 1, 1, "thread", 0, false);
	for (uint32_t i = 0; i < nr; i++) {
		tb_switch(tb, 0, ns, i ? FIRST + i - 1 : 0, FIRST + i, TRACE_TASK_INTERRUPTIBLE);
		ns += STEP_NS + i;
	}
	tb_switch(tb, 0, ns, FIRST + nr - 1, 0, TRACE_TASK_INTERRUPTIBLE);
	trace = tb_open_trace(tb);
	tb_free(tb);
	return trace;
}

static void session_read(struct view_session *session, const struct trace *trace)
{
	int result = 0;

	CU_ASSERT_EQUAL_FATAL(view_session_begin(session, trace, &options), 0);
	for (unsigned int i = 1; result == 0; i++)
		result = view_session_step(session, i, 1000);
	CU_ASSERT_EQUAL_FATAL(result, 1);
}

static json_t *answer_of(struct view_session *session, const char *question)
{
	struct view_answer answer = view_answer(session, question);
	json_t *value = json_loadb(answer.bytes, answer.size, 0, NULL);

	CU_ASSERT(!answer.is_wrong);
	CU_ASSERT_PTR_NOT_NULL_FATAL(value);
	free(answer.bytes);
	return value;
}

/* struct many - the rows of each kind in an answer, and the sum of a number of them */
struct many {
	size_t nr[TRACE_ROW_THREAD + 1];
	uint64_t sum[TRACE_ROW_THREAD + 1];
};

static uint64_t ns_of(const json_t *row)
{
	const json_t *list = json_object_get(row, "ns"), *value;
	uint64_t sum = 0;
	size_t i;

	if (!list)
		return (uint64_t)json_integer_value(json_object_get(row, "busy_ns"));
	json_array_foreach(list, i, value)
		sum += (i + 1) * (uint64_t)json_integer_value(value);
	return sum;
}

static void add_row(struct many *many, enum trace_row_kind kind, size_t nr, const json_t *row)
{
	many->nr[kind] += nr;
	many->sum[kind] += ns_of(row);
}

static void add_rest(struct many *many, enum trace_row_kind kind, const json_t *answer, const char *key)
{
	const json_t *rest = json_object_get(json_object_get(answer, "rest"), key);

	if (rest)
		add_row(many, kind, (size_t)json_integer_value(json_object_get(rest, "rows")), rest);
}

static struct many listed_of(const json_t *answer)
{
	const json_t *rows = json_object_get(answer, "rows"), *row;
	struct many many = {0};
	size_t i;

	json_array_foreach(rows, i, row)
		add_row(&many, (enum trace_row_kind)(json_integer_value(json_object_get(row, "id")) >> 28), 1, row);
	return many;
}

static struct many all_of(const json_t *answer)
{
	struct many many = listed_of(answer);

	add_rest(&many, TRACE_ROW_PROCESS, answer, "processes");
	add_rest(&many, TRACE_ROW_THREAD, answer, "threads");
	return many;
}

/* The same number as in an answer, from the view itself, of all rows of a kind. */
static uint64_t whole_of(struct view_session *session, enum trace_row_kind kind, uint64_t from, uint64_t to,
			 bool is_busy)
{
	uint64_t sum = 0, ns[TRACE_NR_CLASSES];

	for (uint32_t i = 0; i < trace_view_nr_rows(session->view, kind); i++) {
		CU_ASSERT_EQUAL(trace_view_columns(session->view, (struct trace_row_id){kind, i}, from, to, 1, ns), 0);
		for (size_t class = 0; class < TRACE_NR_CLASSES; class ++)
			if (!is_busy)
				sum += (class + 1) * ns[class];
			else if (class < TRACE_CLASS_ABSENT && class != TRACE_CLASS_REST && class != TRACE_CLASS_IDLE)
				sum += ns[class];
	}
	return sum;
}

static void check_cut(struct view_session *session, const char *question, uint64_t from, uint64_t to)
{
	json_t *answer = answer_of(session, question);
	struct many listed = listed_of(answer), all = all_of(answer);
	bool is_busy = strncmp(question, "rows", 4) == 0;

	CU_ASSERT_EQUAL(listed.nr[TRACE_ROW_PROCESS], LISTED);
	CU_ASSERT(listed.nr[TRACE_ROW_THREAD] <= LISTED);
	for (enum trace_row_kind kind = TRACE_ROW_CPU; kind <= TRACE_ROW_THREAD; kind++) {
		CU_ASSERT_EQUAL(all.nr[kind], trace_view_nr_rows(session->view, kind));
		CU_ASSERT_EQUAL(all.sum[kind],
				whole_of(session, kind, session->start + from, session->start + to, is_busy));
	}
	json_decref(answer);
}

static void rows_of_many_processes_are_cut_with_exact_sums_of_the_rest(void)
{
	static struct view_session session;
	struct trace *trace = many_processes(LISTED + 300);

	session_read(&session, trace);
	check_cut(&session, "rows", 0, session.end - session.start);
	check_cut(&session, "sums", 0, session.end - session.start);
	check_cut(&session, "sums" SPAN, 1000000, 9000000);
	view_session_end(&session);
	trace_close(trace);
}

/* The last process ran the longest: a page begins with it. */
static void the_most_interesting_rows_are_listed(void)
{
	static struct view_session session;
	struct trace *trace = many_processes(LISTED + 300);
	json_t *answer, *row = NULL;
	size_t i;

	session_read(&session, trace);
	answer = answer_of(&session, "rows");
	json_array_foreach(json_object_get(answer, "rows"), i, row)
		if (strcmp(json_string_value(json_object_get(row, "kind")), "process") == 0)
			break;
	CU_ASSERT_EQUAL(json_integer_value(json_object_get(row, "pid")), FIRST + LISTED + 299);
	json_decref(answer);
	view_session_end(&session);
	trace_close(trace);
}

static void rows_of_fewer_processes_have_no_rest(void)
{
	static const char *const questions[] = {"rows", "sums", "sums?from=100000&to=200000"};
	static struct view_session session;
	struct trace *trace = many_processes(300);

	session_read(&session, trace);
	for (size_t i = 0; i < sizeof(questions) / sizeof(questions[0]); i++) {
		json_t *answer = answer_of(&session, questions[i]);
		struct many listed = listed_of(answer);

		CU_ASSERT_PTR_NULL(json_object_get(answer, "rest"));
		CU_ASSERT_EQUAL(listed.nr[TRACE_ROW_PROCESS], trace_view_nr_rows(session.view, TRACE_ROW_PROCESS));
		json_decref(answer);
	}
	view_session_end(&session);
	trace_close(trace);
}

/* ---- bounds of lists ---- */

static json_t *answer_about(struct trace *trace, const char *question)
{
	struct view_session session;
	json_t *value;

	session_read(&session, trace);
	value = answer_of(&session, question);
	view_session_end(&session);
	trace_close(trace);
	return value;
}

static void a_search_with_more_than_500_rows_says_so(void)
{
	for (uint32_t nr = 248; nr <= 249; nr++) { /* each process has a thread, and the last one three more */
		json_t *answer = answer_about(many_processes(nr), "search?text=many");

		CU_ASSERT_EQUAL(json_array_size(json_object_get(answer, "rows")), nr == 248 ? 499 : 500);
		CU_ASSERT_EQUAL(json_is_true(json_object_get(answer, "cut")), nr == 249);
		json_decref(answer);
	}
}

static struct trace *many_gaps(uint32_t nr)
{
	struct tb *tb = tb_new();
	struct trace *trace;

	for (uint32_t i = 0; i <= nr; i++) {
		tb_switch(tb, 0, 2000 + i * STEP_NS, i % 2, (i + 1) % 2, TRACE_TASK_INTERRUPTIBLE);
		if (i < nr)
			tb_lost(tb, 0, 1);
	}
	trace = tb_open_trace(tb);
	tb_free(tb);
	return trace;
}

static void more_than_2000_gaps_are_said_to_be_more(void)
{
	for (uint32_t nr = 2000; nr <= 2001; nr++) {
		json_t *answer = answer_about(many_gaps(nr), "about");

		CU_ASSERT_EQUAL(json_array_size(json_object_get(answer, "gaps")), 2000);
		CU_ASSERT_EQUAL(json_is_true(json_object_get(answer, "gaps_cut")), nr > 2000);
		CU_ASSERT_EQUAL(json_integer_value(json_object_get(answer, "lost")), nr);
		json_decref(answer);
	}
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		CASE(rows_of_many_processes_are_cut_with_exact_sums_of_the_rest),
		CASE(the_most_interesting_rows_are_listed),
		CASE(rows_of_fewer_processes_have_no_rest),
		CASE(a_search_with_more_than_500_rows_says_so),
		CASE(more_than_2000_gaps_are_said_to_be_more),
		{NULL, NULL},
	};

	return unit_main("view_rows", cases, argc, argv);
}
