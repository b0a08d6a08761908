/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_e2e_boxes.c - programs with tracepoints in containers, chroots and other namespaces are
 * recorded, or counted as lost and named.
 */
#include <stdio.h>
#include <string.h>
#include <trace/reader.h>
#include <unistd.h>

#include "e2e_session.h"
#include "unit.h"

#define NR 1000

static struct session session;

/* Records @program in @place; returns the number of its events in the trace. */
static int events_in(const char *program, const char *place, int *ret_missing)
{
	struct trace_cursor *cursor;
	const struct trace_event *event;
	struct trace_error error = {0};
	struct trace *trace;
	int nr = 0;

	session_begin(&session);
	CU_ASSERT_EQUAL(session_run("%s/tracedaemon --quiet -euser %s -- %s/%s %s %d >%s/out 2>&1 </dev/null",
				    TRACE_BIN, session.trace, TRACE_TESTS, program, place, NR, session.folder),
			0);
	trace = trace_open(session.trace, &error);
	CU_ASSERT_PTR_NOT_NULL_FATAL(trace);
	CU_ASSERT_EQUAL(trace_verify(trace, &error), 0);
	cursor = trace_cursor_new(trace, NULL, NULL);
	while ((event = trace_cursor_next(cursor)))
		nr += event->id >= TRACE_EV_MAX && !strcmp(event->type->name, "box:event");
	CU_ASSERT_EQUAL(trace_cursor_end(cursor, NULL), 0);
	*ret_missing = 0;
	for (size_t i = 0; trace_not_traced(trace, i); i++)
		*ret_missing += strstr(trace_not_traced(trace, i), "workload_boxes") != NULL;
	trace_close(trace);
	if (nr % NR)
		session_run("cat %s/out >&2", session.folder);
	session_end(&session);
	return nr;
}

static void expect(const char *program, const char *place, int events, int missing)
{
	int named, nr = events_in(program, place, &named);

	if (nr != events || named != missing)
		fprintf(stderr, "%s in %s: %d events, %d processes named as missing\n", program, place, nr, named);
	CU_ASSERT_EQUAL(nr, events);
	CU_ASSERT_EQUAL(named, missing);
}

static void a_program_in_other_namespaces_is_recorded(void)
{
	expect("workload_boxes", "mount", NR, 0);
	expect("workload_boxes", "net", NR, 0);
	expect("workload_boxes", "pid", NR, 0);
	expect("workload_boxes", "user", NR, 0);
}

static void a_program_in_an_empty_root_is_recorded_even_if_it_ends_at_once(void)
{
	expect("workload_boxes", "root", NR, 0);
	expect("workload_boxes", "quick", NR, 0);
	expect("workload_boxes", "fork", 2 * NR, 0);
	expect("workload_boxes_static", "quick", NR, 0);
}

static void a_program_without_memory_is_named(void)
{
	expect("workload_boxes", "size", 0, 1);
	expect("workload_boxes", "files", 0, 1);
}

static void a_program_that_cannot_know_of_the_daemon_is_named(void)
{
	expect("workload_boxes", "time", 0, 1);
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		CASE(a_program_in_other_namespaces_is_recorded),
		CASE(a_program_in_an_empty_root_is_recorded_even_if_it_ends_at_once),
		CASE(a_program_without_memory_is_named),
		CASE(a_program_that_cannot_know_of_the_daemon_is_named),
		{NULL, NULL},
	};

	if (geteuid() != 0 || access("/sys/kernel/btf/vmlinux", R_OK) != 0)
		return 77;
	return unit_main("programs in boxes", cases, argc, argv);
}
