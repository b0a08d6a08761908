/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* view_books.c - the reports of a span, by a pass of their own. */
#include <stdlib.h>
#include <string.h>
#include "event_list.h"
#include "losses.h"
#include "report_disks.h"
#include "report_json.h"
#include "view_books.h"
#include "view_row.h"
#include "wait_places.h"

#define MAX_EVENTS 10000u

void view_books_window(struct view_session *session, struct view_question *question, struct report *report)
{
	struct view_window window = view_window_asked(session, question);

	report->window = session->window;
	if (question_text(question, "from", NULL) || question_text(question, "to", NULL))
		report->window = (struct time_window){window.from, window.to, true, true};
	report->is_windowed = report->window.has_from || report->window.has_to;
}

static bool analyze(struct report *report, struct trace_error *ret_error)
{
	struct trace_analysis_options asked = {.size = sizeof(asked)};

	if (report->is_windowed) {
		asked.from_ns = report->window.from_ns;
		asked.to_ns = report->window.has_to ? report->window.to_ns : 0;
	}
	report->analysis = trace_analysis_new(report->trace, &asked, ret_error);
	if (report->analysis && !report->is_windowed)
		report->servers = trace_servers_new(report->trace, report->analysis, ret_error);
	if (report->servers || (report->analysis && report->is_windowed))
		report->user = trace_user_events_new(report->trace, report->analysis, ret_error);
	if (!report->user)
		return false;
	report->disks = disk_figures_new(report->trace, report->analysis, &report->window);
	command_begin(&report->command, report->trace, report->analysis);
	if (trace_string(report->trace, TRACE_STRING_KERNEL_CODE, 0)) /* it comes with samples */
		report->profile = trace_profile_new(report->analysis, ret_error);
	if (trace_analysis_run(report->analysis, ret_error) != 0)
		return false;
	report->places = wait_places_new(report);
	return true;
}

void view_books(struct view_session *session, struct view_question *question, FILE *out)
{
	struct visualizer_options options = session->options;
	struct report report = {.options = &options, .trace = session->report.trace, .output.out = out};
	struct trace_error error = {0};

	options.reports = (struct report_choice){.json = true};
	view_books_window(session, question, &report);
	if (!*question->error) {
		if (analyze(&report, &error))
			report_json(&report);
		else
			snprintf(question->error, sizeof(question->error), "%.100s", error.message);
	}
	trace_servers_free(report.servers);
	trace_user_events_free(report.user);
	disk_figures_free(report.disks);
	wait_places_free(report.places);
	trace_profile_free(report.profile);
	command_end(&report.command);
	trace_analysis_free(report.analysis);
}

/*
 * The time after the first @max events from @from on, but after all of one time; @to: none is left.
 */
static uint64_t time_after(const struct trace *trace, uint64_t from, uint64_t to, uint64_t max)
{
	struct trace_cursor_options options = {.size = sizeof(options), .from_ns = from, .to_ns = to};
	struct trace_cursor *cursor = trace_cursor_new(trace, &options, NULL);
	const struct trace_event *event;
	uint64_t last = from;

	if (!cursor)
		return to;
	while ((event = trace_cursor_next(cursor)) && (max > 0 || event->ts_ns == last)) {
		last = event->ts_ns;
		max -= max > 0;
	}
	to = event ? event->ts_ns : to;
	pass_end(cursor, true);
	return to;
}

/* Lines of JSON become the members of an array. */
static void put_lines(struct json *json, char *lines)
{
	for (char *line = lines, *end; *line; line = end) {
		end = line + strcspn(line, "\n");
		json_separate(json);
		fwrite(line, 1, (size_t)(end - line), json->out);
		putc('\n', json->out);
		end += *end == '\n';
	}
}

void view_events(struct view_session *session, struct view_question *question, FILE *out)
{
	struct view_window window = view_window_asked(session, question);
	uint64_t max = question_number(question, "max", 1000), next, start, end;
	struct visualizer_options options = session->options;
	struct report report = {.options = &options, .trace = session->report.trace};
	struct json json = {.out = out, .first = true};
	char *lines = NULL;
	size_t size = 0;

	if (*question->error)
		return;
	/* the end is excluded, and the last event of a trace is at its end */
	trace_analysis_window(session->report.analysis, &start, &end);
	if (window.to == end)
		window.to = UINT64_MAX;
	next = time_after(report.trace, window.from, window.to, max < MAX_EVENTS ? max : MAX_EVENTS);
	options.reports = (struct report_choice){.list = true, .list_json = true};
	report.window = (struct time_window){window.from, next, true, true};
	report.output.out = open_memstream(&lines, &size);
	if (!report.output.out)
		memory_end();
	if (report_list(&report) < 0 || fclose(report.output.out) != 0)
		memory_end();
	json_open(&json, NULL, "{");
	json_open(&json, "events", "[");
	put_lines(&json, lines);
	json_close(&json, "]");
	if (next < window.to)
		json_time(&json, session, "next", next);
	json_close(&json, "}\n");
	free(lines);
}
