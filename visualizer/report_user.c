/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * report_user.c - events of programs: how often they occurred, and where the time between two of
 * them went.
 */
#include "report_user.h"

#include <inttypes.h>
#include <string.h>
#include "checked_memory.h"
#include "grid.h"
#include "process_choice.h"
#include "recorded.h"
#include "row_limit.h"
#include "wait_json.h"
#include "wait_text.h"

#define ROWS	   20 /* in each table, unless --top or --all choose another number */
#define WAIT_LINES 10 /* spans with a line about their waits */
#define WAITS	   5  /* in each such line */
#define INDENT	   "  "
#define TEXT_BYTES 512

static void end(struct grid *grid, const struct text_output *output, const struct row_limit *limit)
{
	struct value_text rest;

	grid_end(grid, row_limit_rest(limit, output, &rest));
	fputs("\n", output->out);
}

/*
 * The name of a process. Without kernel events: the file that it executes, or "" if that is
 * unknown.
 */
static void owner_name(const struct trace_analysis *analysis, const struct trace_process *process, uint32_t pid,
		       char name[static COMM_BYTES])
{
	const char *exe = process ? "" : trace_stream_exe(analysis, pid), *slash = strrchr(exe, '/');

	snprintf(name, COMM_BYTES, "%s", process ? trace_process_comm(process) : slash ? slash + 1 : exe);
}

static bool owner_wanted(const struct report *report, const struct trace_process *process, uint32_t pid)
{
	const struct visualizer_options *options = report->options;
	char name[COMM_BYTES];

	if (process)
		return process_is_chosen(&report->options->processes, process);
	owner_name(report->analysis, process, pid, name);
	return !options->processes.cgroup && (options->processes.pid < 0 || (uint32_t)options->processes.pid == pid) &&
	       (!options->processes.comm || comm_is(name, options->processes.comm));
}

static void put_owner(struct grid *grid, const struct trace_analysis *analysis, const struct trace_process *process,
		      uint32_t pid)
{
	char name[COMM_BYTES];

	owner_name(analysis, process, pid, name);
	if (process || pid)
		grid_process(grid, name, process ? trace_process_pid(process) : pid);
	else
		grid_text(grid, "(unknown)");
}

/* ---- events ---- */

static void put_rate(struct grid *grid, uint64_t count, uint64_t ns)
{
	struct value_text text;

	snprintf(text.bytes, sizeof(text.bytes), "%.*f", count * 1e9 < 100.0 * (double)ns ? 2 : 0,
		 ns ? (double)count * 1e9 / (double)ns : 0);
	grid_text(grid, text.bytes);
}

static void put_median(struct grid *grid, const struct trace_latency *latency)
{
	if (latency->count) {
		grid_ns(grid, latency->p50_ns);
		grid_ns(grid, latency->p99_ns);
	} else {
		grid_text(grid, "-");
		grid_text(grid, "-");
	}
}

static void by_event(const struct report *report)
{
	static const struct grid_column columns[] = {{"count", GRID_RIGHT},	     {"per s", GRID_RIGHT},
						     {"~median gap", GRID_OPTIONAL}, {"~99th %", GRID_OPTIONAL},
						     {"event", GRID_ELASTIC},	     {"process", GRID_ELASTIC}};
	struct row_limit limit = row_limit_new(&report->options->rows, ROWS);
	struct grid *grid = NULL;
	uint64_t start, finish;

	trace_analysis_window(report->analysis, &start, &finish);
	for (size_t i = 0; i < trace_nr_user_events(report->user); i++) {
		const struct trace_user_event *event = trace_get_user_event(report->user, i);

		if (event->is_counter || !owner_wanted(report, event->process, event->pid))
			continue;
		/* the table of spans has these */
		if (event->role != TRACE_ROLE_EVENT && !report->options->rows.all)
			continue;
		if (!row_limit_shows_if(&limit, true, 0))
			continue;
		if (!grid) {
			output_title(&report->output, "",
				     "Events of programs (gap: time between two of the same thread):");
			grid = grid_new(&report->output, INDENT, columns, 6);
		}
		grid_count(grid, event->count);
		put_rate(grid, event->count, finish - start);
		put_median(grid, &event->interval);
		grid_name(grid, event->name);
		put_owner(grid, report->analysis, event->process, event->pid);
	}
	if (grid)
		end(grid, &report->output, &limit);
}

static void put_value(struct grid *grid, double value)
{
	struct value_text text;

	snprintf(text.bytes, sizeof(text.bytes), "%.6g", value);
	grid_text(grid, text.bytes);
}

static void by_counter(const struct report *report)
{
	static const struct grid_column columns[] = {{"samples", GRID_RIGHT},  {"lowest", GRID_RIGHT},
						     {"mean", GRID_RIGHT},     {"highest", GRID_RIGHT},
						     {"last", GRID_RIGHT},     {"counter", GRID_ELASTIC},
						     {"process", GRID_ELASTIC}};
	struct row_limit limit = row_limit_new(&report->options->rows, ROWS);
	struct grid *grid = NULL;

	for (size_t i = 0; i < trace_nr_user_events(report->user); i++) {
		const struct trace_user_event *event = trace_get_user_event(report->user, i);

		if (!event->is_counter || !owner_wanted(report, event->process, event->pid) ||
		    !row_limit_shows_if(&limit, true, 0))
			continue;
		if (!grid) {
			output_title(&report->output, "", "Counters of programs (mean: of the samples):");
			grid = grid_new(&report->output, INDENT, columns, 7);
		}
		grid_count(grid, event->count);
		put_value(grid, event->lowest);
		put_value(grid, event->mean);
		put_value(grid, event->highest);
		put_value(grid, event->last);
		grid_name(grid, event->name);
		put_owner(grid, report->analysis, event->process, event->pid);
	}
	if (grid)
		end(grid, &report->output, &limit);
}

/* ---- spans ---- */

/* A name such as "shop:checkout" or "shop:ordered .. paid". */
static const char *span_name(const struct trace_span *span, char *buffer, size_t size)
{
	const char *colon = strchr(span->name, ':');

	if (span->kind == TRACE_SPAN_BETWEEN)
		snprintf(buffer, size, "%s .. %s", span->from, colon ? colon + 1 : span->name);
	else
		snprintf(buffer, size, "%s", span->name);
	return buffer;
}

static void put_span(struct grid *grid, const struct trace_analysis *analysis, const struct trace_span *span)
{
	char name[TEXT_BYTES];

	grid_count(grid, span->elapsed.count);
	grid_ns(grid, span->elapsed.sum_ns);
	put_median(grid, &span->elapsed);
	grid_ns(grid, span->user_ns + span->system_ns);
	grid_ns(grid, span->interrupted_ns);
	grid_ns(grid, span->wait_cpu_ns);
	grid_ns(grid, span->blocked_ns);
	grid_ns(grid, span->queued_ns);
	grid_ns(grid, span->unseen_ns);
	grid_name(grid, span_name(span, name, sizeof(name)));
	put_owner(grid, analysis, span->process, span->pid);
}

static bool span_shows(const struct report *report, const struct trace_span *span, enum trace_span_kind kind)
{
	return span->kind == kind && owner_wanted(report, span->process, span->pid);
}

static bool shares_its_name(const struct report *report, const struct trace_span *span)
{
	char name[TEXT_BYTES], other_name[TEXT_BYTES];

	span_name(span, name, sizeof(name));
	for (size_t i = 0; i < trace_nr_spans(report->user); i++) {
		const struct trace_span *other = trace_get_span(report->user, i);

		if (other != span && span_shows(report, other, span->kind) &&
		    strcmp(span_name(other, other_name, sizeof(other_name)), name) == 0)
			return true;
	}
	return false;
}

/*
 * Writes "shop:pay waited 12.00 ms for file orders.db, 3.00 ms for timeout, ...". If another span
 * has the same name: "shop:pay of shop (17) waited ...".
 */
static void put_waits_of_span(const struct report *report, const struct trace_span *span)
{
	struct string line = {0};
	char text[TEXT_BYTES], name[TEXT_BYTES], owner[COMM_BYTES];
	struct value_text ns;

	string_add(&line, text_name(span_name(span, name, sizeof(name)), text, sizeof(text)));
	if (shares_its_name(report, span)) {
		owner_name(report->analysis, span->process, span->pid, owner);
		string_addf(&line, " of %s (%u)", text_name(owner, text, sizeof(text)),
			    span->process ? trace_process_pid(span->process) : span->pid);
	}
	string_add(&line, " waited");
	for (size_t i = 0; i < span->nr_waits && (i < WAITS || report->options->rows.all); i++)
		string_addf(&line, "%s %s for %s", i ? "," : "", text_ns(&report->output, span->waits[i].ns, &ns),
			    text_wait(report->analysis, &span->waits[i], span->pid, text, sizeof(text)));
	if (span->nr_waits > WAITS && !report->options->rows.all)
		string_addf(&line, ", and for %zu more", span->nr_waits - WAITS);
	output_line(&report->output, INDENT, "%s", string_text(&line));
	string_free(&line);
}

/* A line for each span that waited. */
static void put_waits(const struct report *report, enum trace_span_kind kind)
{
	size_t shown = 0;

	for (size_t i = 0; i < trace_nr_spans(report->user) && (shown < WAIT_LINES || report->options->rows.all); i++) {
		const struct trace_span *span = trace_get_span(report->user, i);

		if (!span_shows(report, span, kind) || !span->blocked_ns)
			continue;
		shown++;
		put_waits_of_span(report, span);
	}
	if (shown)
		fputs("\n", report->output.out);
}

struct span_sums {
	uint64_t ns, open, unmatched;
	size_t nr;
};

static struct span_sums sum_spans(const struct report *report, enum trace_span_kind kind)
{
	struct span_sums sums = {0};

	for (size_t i = 0; i < trace_nr_spans(report->user); i++) {
		const struct trace_span *span = trace_get_span(report->user, i);

		if (!span_shows(report, span, kind))
			continue;
		sums.ns += span->elapsed.sum_ns;
		sums.open += span->open;
		sums.unmatched += span->unmatched;
		sums.nr++;
	}
	return sums;
}

/* Spans without an end or a beginning have no time, and no row in the table. */
static void put_unfinished(const struct report *report, const struct span_sums *sums)
{
	const struct text_output *output = &report->output;

	if (sums->open)
		output_line(output, INDENT, "%" PRIu64 " had no end in the %s.", sums->open,
			    report->is_windowed ? "window" : "trace");
	if (sums->unmatched)
		output_line(output, INDENT,
			    "%" PRIu64
			    " had no beginning in the trace, or are beyond the 64 open scopes that are followed.",
			    sums->unmatched);
	if (sums->open || sums->unmatched)
		fputs("\n", output->out);
}

static struct grid *span_grid(const struct report *report, enum trace_span_kind kind)
{
	bool kernel = !is_left_out(report->trace, TRACE_LEFT_OUT_KERNEL);
	enum grid_kind figure = kernel ? GRID_RIGHT : GRID_HIDDEN, rare = kernel ? GRID_RARE : GRID_HIDDEN;
	enum grid_kind interrupts = has_interrupts(report->analysis) ? GRID_RARE : GRID_HIDDEN;
	const struct grid_column columns[] = {{"count", GRID_RIGHT},
					      {"time", GRID_RIGHT},
					      {"~median", GRID_OPTIONAL},
					      {"~99th %", GRID_OPTIONAL},
					      {"CPU", figure},
					      {"interrupted", interrupts},
					      {"CPU wait", figure},
					      {"blocked", figure},
					      {"queued", kind == TRACE_SPAN_REQUEST ? GRID_RIGHT : GRID_HIDDEN},
					      {"unknown", rare},
					      {"name", GRID_ELASTIC},
					      {"process", GRID_ELASTIC}};

	return grid_new(&report->output, INDENT, columns, sizeof(columns) / sizeof(columns[0]));
}

static void by_span(const struct report *report, enum trace_span_kind kind)
{
	static const char *const titles[] = {
		"Scopes of programs (the time between begin and end, and where it went):",
		"Requests of programs (the time between begin and end, on any thread; queued: no thread worked on it):",
		"Time between consecutive events of programs (of one thread and provider):",
	};
	struct span_sums sums = sum_spans(report, kind);
	struct row_limit limit = row_limit_new(&report->options->rows, ROWS);
	struct grid *grid;

	if (!sums.nr)
		return;
	output_title(&report->output, "", titles[kind]);
	grid = span_grid(report, kind);
	for (size_t i = 0; i < trace_nr_spans(report->user); i++) {
		const struct trace_span *span = trace_get_span(report->user, i);

		if (span_shows(report, span, kind) && span->elapsed.count &&
		    row_limit_shows(&limit, span->elapsed.sum_ns, sums.ns))
			put_span(grid, report->analysis, span);
	}
	if (limit.shown || limit.left)
		end(grid, &report->output, &limit);
	else
		grid_end(grid, NULL);
	put_unfinished(report, &sums);
	put_waits(report, kind);
}

bool report_user_has_any(const struct report *report)
{
	for (size_t i = 0; i < trace_nr_user_events(report->user); i++)
		if (owner_wanted(report, trace_get_user_event(report->user, i)->process,
				 trace_get_user_event(report->user, i)->pid))
			return true;
	return false;
}

static void put_left_out(const struct report *report)
{
	if (!trace_spans_left_out(report->user))
		return;
	output_line(
		&report->output, INDENT,
		"The programs have more than 65,536 kinds of scopes, requests and pairs of events: those of further "
		"kinds are in no row.");
	fputs("\n", report->output.out);
}

void report_user(const struct report *report)
{
	by_span(report, TRACE_SPAN_SCOPE);
	by_span(report, TRACE_SPAN_REQUEST);
	by_event(report);
	by_counter(report);
	by_span(report, TRACE_SPAN_BETWEEN);
	put_left_out(report);
}

/* ---- JSON ---- */

static void json_latency(struct json *json, const struct trace_latency *latency)
{
	json_u64(json, "count", latency->count);
	json_u64(json, "sum_ns", latency->sum_ns);
	json_u64(json, "min_ns", latency->min_ns);
	json_u64(json, "p50_ns", latency->p50_ns);
	json_u64(json, "p99_ns", latency->p99_ns);
	json_u64(json, "max_ns", latency->max_ns);
}

static void json_owner(struct json *json, const struct trace_analysis *analysis, const struct trace_process *process,
		       uint32_t pid)
{
	char name[COMM_BYTES];

	owner_name(analysis, process, pid, name);
	json_u64(json, "pid", process ? trace_process_pid(process) : pid);
	json_text(json, "comm", name);
}

static void json_event(struct json *json, const struct trace_analysis *analysis, const struct trace_user_event *event)
{
	json_open(json, NULL, "{");
	json_text(json, "name", event->name);
	json_text(json, "role", trace_role_name(event->role));
	json_owner(json, analysis, event->process, event->pid);
	json_u64(json, "count", event->count);
	json_u64(json, "first_ns", event->first_ns);
	json_u64(json, "last_ns", event->last_ns);
	json_open(json, "interval", "{");
	json_latency(json, &event->interval);
	json_close(json, "}");
	if (event->is_counter) {
		json_double(json, "last", event->last);
		json_double(json, "lowest", event->lowest);
		json_double(json, "highest", event->highest);
		json_double(json, "mean", event->mean);
	}
	json_close(json, "}");
}

static void json_span_figures(struct json *json, const struct trace_analysis *analysis, const struct trace_span *span)
{
	json_text(json, "kind", trace_span_kind_name(span->kind));
	json_text(json, "name", span->name);
	json_text(json, "from", span->from);
	json_owner(json, analysis, span->process, span->pid);
	json_latency(json, &span->elapsed);
	json_u64(json, "open", span->open);
	json_u64(json, "unmatched", span->unmatched);
	json_u64(json, "cpu_ns", span->user_ns + span->system_ns);
	json_known(json, "user_ns", span->user_ns, trace_analysis_sees_calls(analysis));
	json_known(json, "system_ns", span->system_ns, trace_analysis_sees_calls(analysis));
	json_known(json, "interrupted_ns", span->interrupted_ns, has_interrupts(analysis));
	json_u64(json, "wait_cpu_ns", span->wait_cpu_ns);
	json_u64(json, "blocked_ns", span->blocked_ns);
	json_u64(json, "queued_ns", span->queued_ns);
	json_u64(json, "unseen_ns", span->unseen_ns);
}

static void json_span(struct json *json, const struct trace_analysis *analysis, const struct trace_span *span)
{
	json_open(json, NULL, "{");
	json_span_figures(json, analysis, span);
	json_open(json, "waits", "[");
	for (size_t i = 0; i < span->nr_waits; i++)
		json_wait(json, &span->waits[i]);
	json_close(json, "]");
	json_close(json, "}");
}

void report_user_json(struct json *json, const struct report *report)
{
	json_open(json, "user_events", "[");
	for (size_t i = 0; i < trace_nr_user_events(report->user); i++)
		json_event(json, report->analysis, trace_get_user_event(report->user, i));
	json_close(json, "]");
	json_open(json, "spans", "[");
	for (size_t i = 0; i < trace_nr_spans(report->user); i++)
		json_span(json, report->analysis, trace_get_span(report->user, i));
	json_close(json, "]");
	json_bool(json, "spans_left_out", trace_spans_left_out(report->user));
}

void report_user_json_spans(struct json *json, const struct trace_analysis *analysis, const struct trace_span *spans,
			    size_t nr)
{
	json_open(json, "spans", "[");
	for (size_t i = 0; i < nr; i++) {
		json_open(json, NULL, "{");
		json_span_figures(json, analysis, &spans[i]);
		json_close(json, "}");
	}
	json_close(json, "]");
}
