/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_e2e_boxes.c - programs with tracepoints in containers, chroots and other namespaces are
 * recorded, or counted as lost and named.
 */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <trace/reader.h>
#include <unistd.h>

#include "e2e_session.h"
#include "unit.h"

#define NR 1000

static struct session session;

static const struct {
	const char *place;
	int events;
	bool is_static; /* in an empty root there are no libraries */
} places[] = {
	{"mount", NR, false},	       {"net", NR, false},	   {"pid", NR, false},	{"user", NR, false},
	{"child", NR, false},	       {"root", NR, true},	   {"quick", NR, true}, {"killed", NR, true},
	{"fork", 2 * NR, true},	       {"size", 0, true},	   {"files", 0, true},	{"socketless", NR, false},
	{"connectionless", NR, false}, {"messageless", NR, false},
};
#define NR_PLACES (sizeof(places) / sizeof(places[0]))

static struct trace *trace;

static bool is_tried(size_t idx)
{
#ifndef TRACE_STATIC
	return !places[idx].is_static;
#endif
	return true;
}

/* All places in one recording. */
static void the_programs_run(void)
{
	struct trace_error error = {0};
	char path[128];
	FILE *commands;

	session_begin(&session);
	snprintf(path, sizeof(path), "%s/commands", session.folder);
	commands = fopen(path, "we");
	CU_ASSERT_PTR_NOT_NULL_FATAL(commands);
	fprintf(commands, "%s/workload_boxes time %d\n", TRACE_TESTS, NR);
	for (size_t i = 0; i < NR_PLACES; i++)
		if (is_tried(i))
			fprintf(commands, "%s/workload_boxes%s %s %d\n", TRACE_TESTS,
				places[i].is_static ? "_static" : "", places[i].place, NR);
	fclose(commands);
	CU_ASSERT_EQUAL(session_run("%s/tracedaemon --quiet -euser %s -- sh %s/commands >%s/out 2>&1 </dev/null",
				    TRACE_BIN, session.trace, session.folder, session.folder),
			0);
	trace = trace_open(session.trace, &error);
	CU_ASSERT_PTR_NOT_NULL_FATAL(trace);
	CU_ASSERT_EQUAL(trace_verify(trace, &error), 0);
}

static int events_of(const char *place)
{
	struct trace_cursor *cursor = trace_cursor_new(trace, NULL, NULL);
	const struct trace_event *event;
	int nr = 0;

	while ((event = trace_cursor_next(cursor)))
		if (event->id >= TRACE_EV_MAX && !strcmp(event->type->name, "box:event")) {
			char text[64];

			trace_event_format(trace, event, text, sizeof(text));
			nr += strstr(text, place) != NULL;
		}
	CU_ASSERT_EQUAL(trace_cursor_end(cursor, NULL), 0);
	return nr;
}

static void a_program_that_cannot_see_the_socket_is_recorded(void)
{
	for (size_t i = 0; i < NR_PLACES; i++) {
		int nr = is_tried(i) ? events_of(places[i].place) : places[i].events;

		if (nr != places[i].events)
			fprintf(stderr, "in %s: %d events\n", places[i].place, nr);
		CU_ASSERT_EQUAL(nr, places[i].events);
	}
}

static int named_for(const char *why)
{
	int nr = 0;

	for (size_t i = 0; trace_not_traced(trace, i); i++)
		nr += strstr(trace_not_traced(trace, i), "(workload_boxes") && strstr(trace_not_traced(trace, i), why);
	return nr;
}

static void programs_whose_events_are_missing_are_named(void)
{
#ifdef TRACE_STATIC
	CU_ASSERT_EQUAL(named_for("no memory or no descriptor"), 2);
#endif
	CU_ASSERT_EQUAL(named_for(""), named_for("no memory or no descriptor") + named_for("could not know"));
}

/* It makes its events twice. Unless the daemon is faster than it, the first ones are missing. */
static void a_program_in_another_time_namespace_is_found_and_named(void)
{
	int nr = events_of("time");

	CU_ASSERT_TRUE(nr == 2 * NR || (nr >= NR && named_for("could not know that a daemon listens") == 1));
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		CASE(the_programs_run),
		CASE(a_program_that_cannot_see_the_socket_is_recorded),
		CASE(programs_whose_events_are_missing_are_named),
		CASE(a_program_in_another_time_namespace_is_found_and_named),
		{NULL, NULL},
	};

	int status;

	if (geteuid() != 0 || access("/sys/kernel/btf/vmlinux", R_OK) != 0)
		return 77;
	status = unit_main("programs in boxes", cases, argc, argv);
	trace_close(trace);
	session_end(&session);
	return status;
}
