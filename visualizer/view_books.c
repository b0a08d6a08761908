/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* view_books.c - the reports of a span: view_books.h. */
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
#define MAX_BOOKS  (16u << 20) /* bytes that a view keeps */

void view_books_window(struct view_session *session, struct view_question *question, struct report *report)
{
	struct view_window window = view_window_asked(session, question);

	report->window = session->window;
	if (question_text(question, "from", NULL) || question_text(question, "to", NULL))
		report->window = (struct time_window){window.from, window.to, true, true};
	report->is_windowed = report->window.has_from || report->window.has_to;
}

bool view_books_begin(struct report *report, struct trace_error *ret_error)
{
	if (!report->servers && !report->is_windowed)
		report->servers = trace_servers_new(report->trace, report->analysis, ret_error);
	if (report->servers || report->is_windowed)
		report->user = trace_user_events_new(report->trace, report->analysis, ret_error);
	if (!report->user)
		return false;
	report->disks = disk_figures_new(report->trace, report->analysis, &report->window);
	command_begin(&report->command, report->trace, report->analysis);
	if (!trace_string(report->trace, TRACE_STRING_KERNEL_CODE, 0)) /* it comes with samples */
		return true;
	report->profile = trace_profile_new(report->analysis, ret_error);
	return report->profile;
}

void view_books_end(struct report *report)
{
	trace_user_events_free(report->user);
	disk_figures_free(report->disks);
	wait_places_free(report->places);
	trace_profile_free(report->profile);
	command_end(&report->command);
}

/* struct view_books_pass - @report: of the span, which uses @options */
struct view_books_pass {
	struct visualizer_options options;
	struct report report;
};

struct view_books_pass *view_books_pass_free(struct view_books_pass *pass)
{
	if (!pass)
		return NULL;
	view_books_end(&pass->report);
	trace_servers_free(pass->report.servers);
	trace_analysis_free(pass->report.analysis);
	free(pass);
	return NULL;
}

static bool pass_begin(struct report *report, struct trace_error *ret_error)
{
	struct trace_analysis_options asked = {.size = sizeof(asked)};

	if (report->is_windowed) {
		asked.from_ns = report->window.from_ns;
		asked.to_ns = report->window.has_to ? report->window.to_ns : 0;
	}
	report->analysis = trace_analysis_new(report->trace, &asked, ret_error);
	return report->analysis && view_books_begin(report, ret_error);
}

struct view_books_pass *view_books_pass_new(struct view_session *session, struct view_question *question)
{
	struct view_books_pass *pass = memory_take(1, sizeof(*pass));
	struct trace_error error = {0};

	pass->options = session->options;
	pass->options.reports = (struct report_choice){.json = true};
	pass->report = (struct report){.options = &pass->options, .trace = session->report.trace};
	view_books_window(session, question, &pass->report);
	if (!*question->error && !pass_begin(&pass->report, &error))
		snprintf(question->error, sizeof(question->error), "%.100s", error.message);
	return *question->error ? view_books_pass_free(pass) : pass;
}

const struct trace_analysis *view_books_pass_analysis(const struct view_books_pass *pass)
{
	return pass->report.analysis;
}

int view_books_pass_step(struct view_books_pass *pass, uint64_t until_ns, struct trace_error *ret_error)
{
	return trace_analysis_step(pass->report.analysis, until_ns, ret_error);
}

void view_books_pass_write(struct view_books_pass *pass, FILE *out)
{
	pass->report.output.out = out;
	pass->report.is_for_page = true;
	pass->report.places = wait_places_new(&pass->report);
	report_json(&pass->report);
}

/* ---- of the whole trace ---- */

bool view_books_can_keep(const struct view_session *session)
{
	return !session->is_of_index && !session->window.has_from && !session->window.has_to &&
	       !trace_string(session->report.trace, TRACE_STRING_KERNEL_CODE, 0);
}

void view_books_keep(struct view_session *session, struct report *report)
{
	struct visualizer_options options = session->options;
	struct text_stream stream;
	size_t size, head;
	char *text;

	options.reports = (struct report_choice){.json = true};
	report->options = &options;
	report->is_for_page = true;
	report->places = wait_places_new(report);
	report_json_head(memory_stream_begin(&stream), report->trace);
	free(memory_stream_end(&stream, &head));
	report->output.out = memory_stream_begin(&stream);
	report_json(report);
	text = memory_stream_end(&stream, &size);
	if (size - head <= MAX_BOOKS)
		session->books = (struct view_whole_books){text + head, size - head, text};
	else
		free(text);
}

static void put_kept(const struct view_session *session, FILE *out)
{
	report_json_head(out, session->report.trace);
	fwrite(session->books.text, 1, session->books.bytes, out);
}

bool view_books_are_kept(const struct view_session *session)
{
	return session->books.text;
}

/* True if @question is about the whole trace, and its report is kept. */
static bool is_of_kept(struct view_session *session, struct view_question *question)
{
	struct report report = {0};

	if (!view_books_are_kept(session))
		return false;
	view_books_window(session, question, &report);
	return !report.is_windowed && !*question->error;
}

void view_books(struct view_session *session, struct view_question *question, FILE *out)
{
	struct trace_error error = {0};
	struct view_books_pass *pass;

	if (is_of_kept(session, question)) {
		put_kept(session, out);
		return;
	}
	pass = *question->error ? NULL : view_books_pass_new(session, question);
	if (!pass)
		return;
	if (view_books_pass_step(pass, UINT64_MAX, &error) > 0)
		view_books_pass_write(pass, out);
	else
		snprintf(question->error, sizeof(question->error), "%.100s", error.message);
	view_books_pass_free(pass);
}

/* ---- events ---- */

/*
 * The time after the first @max events from @from on, but after all of one time; @to: none is left.
 */
static uint64_t time_after(const struct trace *trace, uint64_t from, uint64_t to, uint64_t max)
{
	struct trace_cursor_options options = {.size = sizeof(options), .from_ns = from, .to_ns = to};
	struct trace_cursor *cursor = pass_cursor(trace, &options);
	const struct trace_event *event;
	uint64_t last = from;

	while ((event = trace_cursor_next(cursor)) && (max > 0 || event->ts_ns == last)) {
		last = event->ts_ns;
		max -= max > 0;
	}
	to = event ? event->ts_ns : to;
	events_pass_end(cursor, true);
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
	struct text_stream stream;
	char *lines;

	if (*question->error)
		return;
	/* the end is excluded, and the last event of a trace is at its end */
	trace_analysis_window(session->report.analysis, &start, &end);
	if (window.to == end)
		window.to = UINT64_MAX;
	next = time_after(report.trace, window.from, window.to, max < MAX_EVENTS ? max : MAX_EVENTS);
	options.reports = (struct report_choice){.list = true, .list_json = true};
	report.window = (struct time_window){window.from, next, true, true};
	report.output.out = memory_stream_begin(&stream);
	if (report_list(&report) < 0)
		memory_end();
	lines = memory_stream_end(&stream, NULL);
	json_open(&json, NULL, "{");
	json_open(&json, "events", "[");
	put_lines(&json, lines);
	json_close(&json, "]");
	if (next < window.to)
		json_time(&json, session, "next", next);
	json_close(&json, "}\n");
	free(lines);
}
