/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* view_session.c - the analysis of a trace that is shown, in steps. */
#include <stdlib.h>
#include "charset.h"
#include "complain.h"
#include "only_client.h"
#include "report_disks.h"
#include "view_bills.h"
#include "view_clients.h"
#include "view_count.h"
#include "view_counters.h"
#include "view_functions.h"
#include "view_profile_log.h"
#include "view_symbols.h"
#include "view_samples.h"
#include "view_scopes.h"
#include "view_session.h"
#include "view_tables.h"

#define MAX_INTERVALS (8u << 20) /* 12 to 18 bytes each */

static void set_span(struct view_session *session)
{
	const struct time_window *window = &session->window;

	trace_analysis_window(session->report.analysis, &session->start, &session->end);
	if (window->has_from && window->from_ns > session->start)
		session->start = window->from_ns;
	if (window->has_to && window->to_ns < session->end)
		session->end = window->to_ns;
}

static void session_clear(struct view_session *session, const struct trace *trace,
			  const struct visualizer_options *options)
{
	charset_for_page();
	*session = (struct view_session){.options = *options};
	session->report = (struct report){.options = &session->options, .trace = trace};
	session->count = view_count_new();
	session->profile_log = view_profile_log_new();
	session->symbols = view_symbols_new();
}

int view_session_begin(struct view_session *session, const struct trace *trace,
		       const struct visualizer_options *options)
{
	struct trace_view_options asked = {.size = sizeof(asked), .max_intervals = MAX_INTERVALS};
	struct trace_error error = {0};
	struct report *report = &session->report;

	session_clear(session, trace, options);
	if (time_window_of(trace, &options->window, &session->window))
		return 2;
	report->window = session->window;
	if (session->window.has_from || session->window.has_to) {
		asked.from_ns = session->window.from_ns;
		asked.to_ns = session->window.has_to ? session->window.to_ns : 0;
	}
	asked.command = trace_string(trace, TRACE_STRING_INFO, TRACE_INFO_COMMAND);
	report->analysis = trace_analysis_new(trace, NULL, &error);
	if (report->analysis)
		session->view = trace_view_new(report->analysis, &asked, &error);
	if (!session->view || view_functions_begin(session, &error) < 0)
		return complain_of_error(&error);
	view_scopes_begin(session, report->analysis);
	view_counters_begin(session, report->analysis);
	report->history = trace_view_history(session->view);
	command_begin(&report->command, trace, report->analysis);
	set_span(session);
	return 0;
}

void view_session_of_index(struct view_session *session, const struct trace *trace,
			   const struct visualizer_options *options, struct trace_view *view,
			   struct trace_analysis *analysis)
{
	struct report *report = &session->report;

	session_clear(session, trace, options);
	session->view = view;
	report->analysis = analysis;
	report->history = trace_view_history(view);
	report->command = (struct report_command){.trace = trace, .analysis = analysis};
	session->is_complete = session->is_billed = session->is_of_index = true;
	set_span(session);
}

uint64_t view_session_time(const struct view_session *session, unsigned int nr, unsigned int of)
{
	uint64_t width = session->end - session->start;

	return nr < of ? session->start + (uint64_t)((double)width * nr / of) : UINT64_MAX;
}

static void find_functions(struct view_session *session)
{
	struct path_tree tree;

	view_session_choose(session);
	tree = answer_tree(&session->report, &session->answer.is, session->start, session->end);
	view_functions_find(session, &tree);
	path_tree_clear(&tree);
}

static int step_of_states(struct view_session *session, uint64_t until_ns)
{
	struct trace_error error = {0};
	int result = trace_analysis_step(session->report.analysis, until_ns, &error);

	if (result < 0)
		return -complain_of_error(&error);
	if (trace_view_error(session->view))
		view_counters_stop(session); /* no question about them is answered any more */
	set_span(session);		     /* the first event may be before what the header says */
	session->is_complete = result > 0;
	if (session->is_complete && session->functions)
		find_functions(session);
	return 0;
}

int view_session_step(struct view_session *session, unsigned int nr, unsigned int of)
{
	int result;

	if (!session->is_complete)
		return step_of_states(session, view_session_time(session, nr, of));
	if (session->is_billed && !view_tables_are_wanted(session))
		return 1;
	if (session->is_billed)
		return view_tables_step(session, view_session_time(session, ++session->nr_table_steps, of));
	result = view_bills_step(session, ++session->nr_bill_steps, of);
	session->is_billed = result > 0;
	return result;
}

void view_session_choose(struct view_session *session)
{
	struct view_choice *answer = &session->answer;
	struct process_row *rows;
	struct path_tree tree;
	size_t nr;

	if (answer->is_made)
		return;
	rows = process_rows(&session->report, &nr);
	answer_choice_clear(&answer->is);
	answer_choose(&session->report, rows, nr, &answer->is, &tree);
	answer->is_made = session->is_complete;
	path_tree_clear(&tree);
	free(rows);
}

void view_session_end(struct view_session *session)
{
	struct report *report = &session->report;

	answer_choice_clear(&session->answer.is);
	view_clients_free(session);
	view_scopes_free(session);
	free(session->requests);
	free(session->request_items);
	view_counters_free(session);
	view_samples_free(session);
	view_functions_free(session);
	free(session->books.owned);
	view_count_free(session->count);
	view_profile_log_free(session->profile_log);
	view_symbols_free(session->symbols);
	view_tables_free(session);
	view_bills_free(session);
	trace_view_free(session->view);
	command_end(&report->command);
	trace_analysis_free(report->analysis);
	for (size_t i = 0; i < report->nr_only_clients; i++)
		free((char *)session->clients[i].name);
	free(session->clients);
	*session = (struct view_session){0};
}
