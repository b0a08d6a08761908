/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* view_tables.c - the tables of a span from one pass for all spans: view_tables.h. */
#include <stdlib.h>
#include <trace/tables.h>
#include <unistd.h>
#include "checked_figures.h"
#include "nameless_file.h"
#include "report_json.h"
#include "report_probes.h"
#include "report_user.h"
#include "view_row.h"
#include "view_tables.h"

#define MAX_PROCESSES 5000u

enum tables_state { TABLES_WANTED, TABLES_COUNTED, TABLES_READY, TABLES_NEVER };

/* struct view_table_pass - @fd: of the tables; -1: they are in memory */
struct view_table_pass {
	enum tables_state state;
	struct trace_analysis *analysis; /* owned */
	struct trace_tables *tables;	 /* owned */
	struct trace_user_events *user;	 /* owned */
	int fd;
};

/* ---- the pass ---- */

static void events_pass_end(struct view_table_pass *pass, enum tables_state state)
{
	pass->tables = trace_tables_free(pass->tables);
	pass->user = trace_user_events_free(pass->user);
	pass->analysis = trace_analysis_free(pass->analysis);
	if (pass->fd >= 0)
		close(pass->fd);
	pass->fd = -1;
	pass->state = state;
}

static bool pass_begin(struct view_session *session, struct view_table_pass *pass)
{
	const struct trace *trace = session->report.trace;
	struct trace_tables_options options = {.size = sizeof(options)};

	pass->state = TABLES_COUNTED;
	pass->fd = nameless_file_open(trace_get_info(trace)->file);
	options.has_file = pass->fd >= 0;
	options.fd = pass->fd;
	pass->analysis = trace_analysis_new(trace, NULL, NULL);
	pass->tables = pass->analysis ? trace_tables_new(pass->analysis, &options, NULL) : NULL;
	pass->user = pass->tables ? trace_user_events_new(trace, pass->analysis, NULL) : NULL;
	return pass->user && trace_tables_add_user(pass->tables, pass->user, NULL) == 0;
}

bool view_tables_are_wanted(const struct view_session *session)
{
	return session->tables && session->tables->state <= TABLES_COUNTED;
}

int view_tables_step(struct view_session *session, uint64_t until_ns)
{
	struct view_table_pass *pass = session->tables;
	int result = -1;

	if (!view_tables_are_wanted(session))
		return 1;
	if (pass->state == TABLES_COUNTED || pass_begin(session, pass))
		result = trace_analysis_step(pass->analysis, until_ns, NULL);
	if (result < 0)
		events_pass_end(pass, TABLES_NEVER);
	else if (result > 0)
		pass->state = TABLES_READY;
	return result != 0;
}

void view_tables_free(struct view_session *session)
{
	if (!session->tables)
		return;
	events_pass_end(session->tables, TABLES_NEVER);
	free(session->tables);
	session->tables = NULL;
}

/* ---- the answer ---- */

/* The report of a choice of processes, or of some of them, has other rows. */
static bool is_of_all(const struct view_session *session)
{
	const struct process_choice *processes = &session->options.processes;

	return processes->pid < 0 && processes->tid < 0 && !processes->comm && !processes->cgroup &&
	       !session->options.rows.top;
}

static void put_process(struct json *json, const struct report *report, const struct trace_span_tables *span,
			const struct trace_process *process)
{
	struct trace_figures *figures = checked_figures(trace_span_tables_figures(span, process));

	if (figures->nr_syscalls_rows || figures->nr_kernel_work || figures->nr_traps_rows || figures->nr_files) {
		json_open(json, NULL, "\n{");
		json_u64(json, "pid", trace_process_pid(process));
		report_json_calls(json, report, figures);
		report_json_files(json, report, figures);
		json_close(json, "}");
	}
	trace_figures_free(figures);
}

static void put_costs(struct json *json, const struct report *report, const struct trace_span_tables *span)
{
	size_t nr_probes, nr_events;
	struct trace_probe_use *probes = trace_span_tables_probes(span, &nr_probes);
	struct trace_event_use *events = trace_span_tables_events(span, &nr_events);

	if (!probes || !events)
		memory_end();
	json_probe_uses(json, probes, nr_probes);
	json_event_uses(json, report->analysis, events, nr_events);
	free(probes);
	free(events);
}

/* More processes than a page lists: the report, which has their sums, is asked for instead. */
static bool are_too_many(const struct view_table_pass *pass)
{
	return pass->state == TABLES_READY && trace_nr_processes(pass->analysis) > MAX_PROCESSES;
}

static void put_span(struct json *json, const struct view_session *session, const struct trace_span_tables *span)
{
	struct report report = {.options = &session->options,
				.trace = session->report.trace,
				.analysis = session->tables->analysis};
	const struct trace_span *scopes;
	struct trace_lock_wait *locks;
	size_t nr;

	json_open(json, "processes", "[");
	for (size_t i = 0; i < trace_nr_processes(report.analysis); i++)
		put_process(json, &report, span, trace_get_process(report.analysis, i));
	json_close(json, "]");
	locks = trace_span_tables_locks(span, &nr);
	if (!locks)
		memory_end();
	report_json_locks(json, locks, nr);
	free(locks);
	scopes = trace_span_tables_scopes(span, &nr);
	report_user_json_spans(json, report.analysis, scopes, nr);
	put_costs(json, &report, span);
}

void view_tables(struct view_session *session, struct view_question *question, FILE *out)
{
	struct view_window window = view_window_asked(session, question);
	struct json json = {.out = out, .first = true};
	struct trace_span_tables *span = NULL;
	struct view_table_pass *pass;

	if (*question->error)
		return;
	if (!session->tables) {
		session->tables = memory_take(1, sizeof(*session->tables));
		*session->tables = (struct view_table_pass){.fd = -1};
		if (!is_of_all(session))
			session->tables->state = TABLES_NEVER;
	}
	pass = session->tables;
	if (are_too_many(pass))
		events_pass_end(pass, TABLES_NEVER);
	if (pass->state == TABLES_READY && trace_tables_of_span(pass->tables, window.from, window.to, &span, NULL) < 0)
		events_pass_end(pass, TABLES_NEVER);
	json_open(&json, NULL, "{");
	json_bool(&json, "ready", span);
	json_bool(&json, "comes", pass->state <= TABLES_COUNTED);
	if (span)
		put_span(&json, session, span);
	json_close(&json, "}\n");
	trace_span_tables_free(span);
}
