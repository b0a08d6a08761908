/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_view_tables.c - the tables of a span that a page asks for are those of the report of the
 * span, byte for byte, and need no pass of their own
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "builder.h"
#include "unit.h"
#include "view_profile.h"
#include "view_session.h"
#include "view_tables.h"

#define NR_STEPS  20
#define NR_SPANS  60
#define NR_ROUNDS 400

static const struct visualizer_options options = {
	.reports.view = true, .events.cpu = -1, .processes.pid = -1, .processes.tid = -1};

static uint16_t type_of(struct tb *tb, const char *name, enum trace_event_role role)
{
	struct trace_event_type type = {.name = name,
					.classic = "NONE",
					.text = "",
					.doc = "",
					.program = "NONE",
					.source = "",
					.fixed_bytes = 8,
					.category = TRACE_CATEGORY_USER,
					.flags = TRACE_EVENT_ON | TRACE_EVENT_TID,
					.role = role};

	return tb_user_type(tb, &type);
}

/* A program reads a file in a scope, and asks another one for the time; both wait. */
static struct trace *story(uint64_t lost)
{
	struct tb *tb = tb_new();
	uint16_t begin = type_of(tb, "shop:look.begin", TRACE_ROLE_BEGIN),
		 end = type_of(tb, "shop:look.end", TRACE_ROLE_END);
	struct trace_user_stream stream = {.stream = TB_USER_STREAM, .pid = 10};
	struct trace_event_cost cost = {.ps = 2000, .least_ps = 1000, .most_ps = 3000};
	struct trace *trace;
	uint64_t ns = 1000, reader = 10;

	tb_string(tb, TRACE_STRING_SYSCALL, SYS_read, "read");
	tb_string(tb, TRACE_STRING_SYSCALL, SYS_futex, "futex");
	tb_thread(tb, 10, 10, 1, "reader", 0, true);
	tb_thread(tb, 20, 20, 1, "helper", 1, true);
	tb_fd(tb, 10, 3, 8, 30, S_IFREG | 0644, "/data/three");
	tb_start(tb, 1000, TRACE_EV_event_cost, &cost, sizeof(cost), NULL);
	tb_event(tb, 0, 1000, TRACE_EV_user_stream, &stream, sizeof(stream), "/bin/shop");
	for (unsigned int i = 0; i < NR_ROUNDS; i++, ns += 1000 + 7 * (i % 13)) {
		tb_user_event(tb, 0, ns - 1, begin, &reader, sizeof(reader));
		tb_sys_enter(tb, 0, ns, SYS_read, 3, 0, 100);
		tb_fault(tb, 0, ns + 20, 0x7000 + i, false);
		tb_fault_end(tb, 0, ns + 50 + i % 5, false);
		tb_sys_exit(tb, 0, ns + 100 + i % 40, (int64_t)i);
		tb_user_event(tb, 0, ns + 150 + i % 9, end, &reader, sizeof(reader));
		tb_sys_enter(tb, 0, ns + 200, SYS_futex, 0x1000, 0);
		tb_switch(tb, 0, ns + 220, 10, 0, TRACE_TASK_INTERRUPTIBLE);
		tb_sys_enter(tb, 1, ns + 300, SYS_futex, 0x1000, 1);
		tb_waking(tb, 1, ns + 310, 10, TRACE_CONTEXT_TASK);
		tb_switch(tb, 0, ns + 350 + i % 90, 0, 10, TRACE_TASK_RUNNING);
		tb_sys_exit(tb, 1, ns + 450, 1);
		tb_sys_exit(tb, 0, ns + 500, 0);
		if (i == NR_ROUNDS / 2 && lost)
			tb_lost(tb, 0, lost);
	}
	trace = tb_open_trace(tb);
	tb_free(tb);
	return trace;
}

static void read_all(struct view_session *session)
{
	int result = 0;

	for (unsigned int i = 1; result == 0; i++)
		result = view_session_step(session, i, NR_STEPS);
	CU_ASSERT_EQUAL_FATAL(result, 1);
}

static char *ask(struct view_session *session, const char *question, uint64_t from, uint64_t to)
{
	char text[100];

	snprintf(text, sizeof(text), "%s?from=%lu&to=%lu", question, from, to);
	return view_answer(session, text).bytes; /* it ends with a 0 that is not counted */
}

/* The part of @text from @begin to @end is in @whole. Returns what follows; NULL: no part. */
static const char *is_part(const char *text, const char *begin, const char *end, const char *whole)
{
	const char *from = strstr(text, begin), *to = from ? strstr(from, end) : NULL;
	char *part;

	if (!to)
		return NULL;
	part = strndup(from, (size_t)(to - from));
	CU_ASSERT_PTR_NOT_NULL(strstr(whole, part));
	free(part);
	return to;
}

static void check_span(struct view_session *session, uint64_t from, uint64_t to, size_t *nr_rows)
{
	char *tables = ask(session, "tables", from, to), *books = ask(session, "books", from, to);
	const char *at = tables;

	CU_ASSERT_PTR_NOT_NULL(strstr(tables, "\"ready\":true"));
	while ((at = is_part(at, "\"syscalls\":", ",\"files\":", books))) {
		at = is_part(at, "\"files\":", "]", books);
		(*nr_rows)++;
	}
	CU_ASSERT_PTR_NOT_NULL(is_part(tables, "\"locks\":", ",\"spans\":", books));
	for (at = strstr(tables, "\"spans\":"); (at = is_part(at, "{\"kind\":", "}", books));)
		(*nr_rows)++;
	CU_ASSERT_PTR_NOT_NULL(is_part(tables, "\"probes\":", "]", books));
	CU_ASSERT_PTR_NOT_NULL(is_part(tables, "\"event_costs\":", "}]", books));
	free(tables);
	free(books);
}

static void check_story(uint64_t lost)
{
	struct trace *trace = story(lost);
	struct view_session session;
	uint64_t whole;
	size_t nr_rows = 0;
	char *answer;

	CU_ASSERT_EQUAL_FATAL(view_session_begin(&session, trace, &options), 0);
	read_all(&session);
	CU_ASSERT(!view_tables_are_wanted(&session));
	answer = ask(&session, "tables", 0, 1000);
	CU_ASSERT_STRING_EQUAL(answer, "{\"ready\":false,\"comes\":true}\n");
	free(answer);
	CU_ASSERT(view_tables_are_wanted(&session));
	read_all(&session);
	CU_ASSERT(!view_tables_are_wanted(&session));
	whole = session.end - session.start;
	for (unsigned int i = 0; i < NR_SPANS; i++) {
		uint64_t from = tb_random() % (whole - 1);

		check_span(&session, from, from + 1 + tb_random() % (whole - from), &nr_rows);
	}
	check_span(&session, 0, whole, &nr_rows);
	answer = ask(&session, "tables", 0, whole);
	CU_ASSERT_PTR_NOT_NULL(strstr(answer, "\"spans\":[{\"kind\":\"scope\",\"name\":\"shop:look\""));
	CU_ASSERT_PTR_NOT_NULL(strstr(answer, "\"uses\":[{\"name\":\"shop:look."));
	free(answer);
	CU_ASSERT(nr_rows > NR_SPANS);
	view_session_end(&session);
	trace_close(trace);
}

static void tables_of_spans_are_those_of_their_reports(void)
{
	check_story(0);
}

static void a_trace_with_losses_has_tables(void)
{
	check_story(3);
}

/* The words of the page come with its losses. */
static void the_view_tells_which_losses_only_programs_counted(void)
{
	struct tb *tb = tb_new();
	struct view_session session;
	struct view_answer about;
	struct trace *trace;

	tb_thread(tb, 10, 10, 1, "load", 0, true);
	tb_user_lost(tb, 0, 1020);
	tb_lost(tb, 0, 3);
	trace = tb_open_trace(tb);
	tb_free(tb);
	CU_ASSERT_EQUAL_FATAL(view_session_begin(&session, trace, &options), 0);
	read_all(&session);
	about = view_answer(&session, "about");
	CU_ASSERT_PTR_NOT_NULL(strstr((const char *)about.bytes,
				      "\"lost\":1023,\"claim_words\":\" (1,020 of them counted by "
				      "programs only)\""));
	free(about.bytes);
	view_session_end(&session);
	trace_close(trace);
}

/* The pass of the functions has a copy of the session, which need not have a view. */
static void functions_of_a_row_need_no_view(void)
{
	struct trace *trace = story(0);
	struct view_session session, copy;
	struct view_answer of_row, of_copy;
	char question[100], *chosen;

	CU_ASSERT_EQUAL_FATAL(view_session_begin(&session, trace, &options), 0);
	read_all(&session);
	snprintf(question, sizeof(question), "functions?row=%u&from=1000&to=90000", 1u << 29);
	of_row = view_answer(&session, question);
	chosen = view_functions_chosen(&session, question);
	CU_ASSERT_PTR_NOT_NULL_FATAL(chosen);
	CU_ASSERT_STRING_EQUAL(chosen, "functions?from=1000&to=90000&tid=10");
	copy = session;
	copy.view = NULL;
	of_copy = view_answer(&copy, chosen);
	CU_ASSERT(!of_row.is_wrong);
	CU_ASSERT_EQUAL_FATAL(of_row.size, of_copy.size);
	CU_ASSERT_EQUAL(memcmp(of_row.bytes, of_copy.bytes, of_row.size), 0);
	CU_ASSERT_PTR_NULL(view_functions_chosen(&session, "functions?row=0"));
	CU_ASSERT_PTR_NULL(view_functions_chosen(&session, "functions?row=x"));
	free(chosen);
	free(of_row.bytes);
	free(of_copy.bytes);
	view_session_end(&session);
	trace_close(trace);
}

/* One pass has the functions of all spans. A session without its log makes a pass for each. */
static void functions_of_spans_are_those_of_a_pass(void)
{
	struct trace *trace = story(3);
	struct view_session session, copy;
	uint64_t whole;

	CU_ASSERT_EQUAL_FATAL(view_session_begin(&session, trace, &options), 0);
	read_all(&session);
	copy = session;
	copy.profile_log = NULL;
	whole = session.end - session.start;
	for (unsigned int i = 0; i < NR_SPANS; i++) {
		uint64_t from = i ? tb_random() % (whole - 1) : 0,
			 to = i ? from + 1 + tb_random() % (whole - from) : whole;
		char *of_log = ask(&session, "functions", from, to), *of_pass = ask(&copy, "functions", from, to);

		CU_ASSERT_PTR_NOT_NULL(strstr(of_log, "\"rows\":[\n{"));
		CU_ASSERT_STRING_EQUAL(of_log, of_pass);
		free(of_log);
		free(of_pass);
	}
	view_session_end(&session);
	trace_close(trace);
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		CASE(tables_of_spans_are_those_of_their_reports),
		CASE(a_trace_with_losses_has_tables),
		CASE(the_view_tells_which_losses_only_programs_counted),
		CASE(functions_of_a_row_need_no_view),
		CASE(functions_of_spans_are_those_of_a_pass),
		{NULL, NULL},
	};

	return unit_main("view tables", cases, argc, argv);
}
