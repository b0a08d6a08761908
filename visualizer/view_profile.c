/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "view_profile.h"

#include <errno.h>
#include <string.h>
#include "checked_memory.h"
#include "profile_json.h"
#include "profile_rows.h"
#include "view_books.h"
#include "view_profile_log.h"
#include "view_row.h"
#include "view_symbols.h"

/* Returns false, with an error of the question, if it names a row that has no profile. */
static bool choose_row(struct view_session *session, struct view_question *question, struct process_choice *choice)
{
	struct trace_row row;

	if (!question_text(question, "row", NULL)) {
		choice->tid = question_text(question, "tid", NULL) ? (int64_t)question_number(question, "tid", 0) : -1;
		choice->pid = question_text(question, "pid", NULL) ? (int64_t)question_number(question, "pid", 0) : -1;
		return !*question->error;
	}
	if (!view_row_asked(session, question, &row))
		return false;
	if (!row.process) {
		snprintf(question->error, sizeof(question->error), "only processes and threads have a profile");
		return false;
	}
	*choice = (struct process_choice){.pid = -1, .tid = -1};
	if (row.thread)
		choice->tid = (int64_t)trace_thread_tid(row.thread);
	else
		choice->pid = (int64_t)trace_process_pid(row.process);
	return true;
}

char *view_functions_chosen(struct view_session *session, const char *text)
{
	struct process_choice choice = {.pid = -1, .tid = -1};
	struct view_question question;
	struct string chosen = {0};
	bool is_good = question_parse(&question, text) && choose_row(session, &question, &choice);

	string_addf(&chosen, "%s?", question.name);
	for (size_t i = 0; i < question.nr; i++)
		if (strcmp(question.parameters[i].key, "from") == 0 || strcmp(question.parameters[i].key, "to") == 0)
			string_addf(&chosen, "%s=%s&", question.parameters[i].key, question.parameters[i].value);
	if (choice.tid >= 0)
		string_addf(&chosen, "tid=%lld", (long long)choice.tid);
	else if (choice.pid >= 0)
		string_addf(&chosen, "pid=%lld", (long long)choice.pid);
	question_free(&question);
	if (is_good)
		return string_take(&chosen);
	string_free(&chosen);
	return NULL;
}

static bool run_pass(struct report *report, struct trace_error *ret_error)
{
	struct trace_analysis_options asked = {.size = sizeof(asked)};

	if (report->is_windowed) {
		asked.from_ns = report->window.from_ns;
		asked.to_ns = report->window.has_to ? report->window.to_ns : 0;
	}
	report->analysis = trace_analysis_new(report->trace, &asked, ret_error);
	if (report->analysis)
		report->profile = trace_profile_new(report->analysis, ret_error);
	return report->profile && trace_analysis_run(report->analysis, ret_error) == 0;
}

void view_functions(struct view_session *session, struct view_question *question, FILE *out)
{
	struct visualizer_options options = session->options;
	struct report report = {.options = &options, .trace = session->report.trace, .output.out = out};
	struct profile_rows rows = {0};
	struct trace_error error = {0};
	bool of_log;

	options.reports = (struct report_choice){.profile = true, .json = true};
	options.profile = (struct profile_choice){.is_flat = true};
	view_books_window(session, question, &report);
	if (*question->error || !choose_row(session, question, &options.processes))
		return;
	of_log = view_profile_log_of(session, &report);
	if (of_log || run_pass(&report, &error)) {
		view_symbols_take(session->symbols, &report);
		if (profile_rows_make(&report, NULL, &rows, &error) == -ENOMEM)
			memory_end(); /* other rows without names are answers */
		profile_json(&report, &rows, NULL);
		report_check_memory(&report);
		profile_rows_free(&rows);
		view_symbols_give(session->symbols, &report);
	} else {
		snprintf(question->error, sizeof(question->error), "%.100s", error.message);
	}
	trace_profile_free(report.profile);
	if (!of_log)
		trace_analysis_free(report.analysis);
}
