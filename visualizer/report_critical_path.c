/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * report_critical_path.c - tracevisualizer --critical-path: write the critical path of the chosen
 * thread.
 *
 * Text: one sentence that says what the thread waited for, tables of contributors, and with --all
 * every segment. JSON: schema trace-critical-path/1; keys may be added, but never renamed.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "complain.h"
#include "grid.h"
#include "json.h"
#include "losses.h"
#include "path_choice.h"
#include "report_critical_path.h"
#include "row_limit.h"

#define NAME_BYTES	  256
#define ROWS_SHOWN	  10 /* in each table, unless --top is given */
#define NAMED_IN_SENTENCE 3
#define WORTH_NAMING	  0.5 /* percent */

/* ---- words ---- */

static const char *state_name(enum trace_state state)
{
	return state == TRACE_STATE_RUNNING ? "cpu" : trace_state_name(state);
}

static const char *state_word(const struct trace_contributor *row)
{
	static const char *const words[] = {[TRACE_STATE_USER] = "user mode",
					    [TRACE_STATE_SYSCALL] = "system calls",
					    [TRACE_STATE_TRAP] = "traps",
					    [TRACE_STATE_INTERRUPTED] = "interrupted",
					    [TRACE_STATE_WAIT_CPU] = "waiting for a CPU",
					    [TRACE_STATE_RUNNING] = "CPU"};

	return row->state == TRACE_STATE_BLOCKED ? trace_wait_kind_name(row->kind) : words[row->state];
}

void path_row_text(const struct trace_contributor *row, char *text, size_t size)
{
	char name[NAME_BYTES], path[NAME_BYTES], pid[32] = "";

	if (row->by == TRACE_BY_TARGET)
		text_name(row->target, name, sizeof(name));
	else if (row->pid && !*row->title)
		snprintf(name, sizeof(name), "%s", row->tid ? "thread" : "process");
	else
		text_comm(row->title, name, sizeof(name));
	if (row->pid)
		snprintf(pid, sizeof(pid), " %u", row->tid ? row->tid : row->pid);
	switch (row->by) {
	case TRACE_BY_COMMAND:
	case TRACE_BY_THREAD:
		snprintf(text, size, "%s%s: %s", name, pid, state_word(row));
		break;
	case TRACE_BY_TARGET:
		snprintf(text, size, "%s%s%s%s%s%s", trace_wait_kind_name(row->kind), pid, *name ? " " : "", name,
			 *row->via ? " via " : "", row->via);
		break;
	case TRACE_BY_LOCK:
		text_name(row->target, path, sizeof(path));
		if (row->address)
			snprintf(path, sizeof(path), strcmp(row->via, "semaphore") == 0 ? "%" PRIu64 : "0x%" PRIx64,
				 row->address);
		snprintf(text, size, "%s%s via %s%s%s", name, pid, row->via, *path ? " " : "", path);
		break;
	default:
		snprintf(text, size, "%s%s%s%s", name, pid, *row->via ? " via " : "", row->via);
	}
}

/* ---- text ---- */

struct path_report {
	const struct report *report;
	const struct trace_critical_path *path;
	const struct trace_process *own;
	uint64_t from, to;
};

static bool is_own(const struct path_report *t, const struct trace_contributor *row)
{
	return row->pid == trace_process_pid(t->own) && strcmp(row->comm, trace_process_comm(t->own)) == 0;
}

static void reason(const struct path_report *t, const struct trace_contributor *row, char *text, size_t size)
{
	static const char *const own_waits[TRACE_NR_WAIT_KINDS] = {[TRACE_WAIT_FILE] = "for files",
								   [TRACE_WAIT_PROCESS] = "for other processes",
								   [TRACE_WAIT_NETWORK] = "for the network",
								   [TRACE_WAIT_TIMEOUT] = "for timeouts",
								   [TRACE_WAIT_DEVICE] = "for devices",
								   [TRACE_WAIT_MEMORY] = "for memory",
								   [TRACE_WAIT_STOPPED] = "while stopped",
								   [TRACE_WAIT_OTHER] = "in system calls",
								   [TRACE_WAIT_UNKNOWN] = "for something unknown",
								   [TRACE_WAIT_KERNEL] = "for the kernel",
								   [TRACE_WAIT_QUOTA] = "for its CPU quota"};
	_Static_assert(TRACE_NR_WAIT_KINDS == 11, "each kind has its words");
	char name[NAME_BYTES];

	if (!is_own(t, row))
		snprintf(text, size, "for %s (%s)",
			 text_process(row->title, *row->title ? 0 : row->pid, name, sizeof(name)), state_word(row));
	else if (row->state == TRACE_STATE_WAIT_CPU)
		snprintf(text, size, "for a CPU");
	else if (row->state == TRACE_STATE_INTERRUPTED)
		snprintf(text, size, "for interrupts");
	else
		snprintf(text, size, "%s", own_waits[row->kind]);
}

/* The first, hence longest, contributor of known cause. */
static const struct trace_contributor *greatest(const struct path_report *t, enum trace_contributor_by by)
{
	const struct trace_contributor *row;

	for (size_t i = 0; (row = trace_critical_path_contributor(t->path, i)); i++)
		if (row->by == by && row->kind != TRACE_WAIT_UNKNOWN)
			return row;
	return NULL;
}

/* True if @part is at least half of the sum of its kind and may be called "mostly". */
static bool is_most(const struct path_report *t, const struct trace_contributor *part)
{
	const struct trace_contributor *row;
	uint64_t whole = 0;

	for (size_t i = 0; (row = trace_critical_path_contributor(t->path, i)); i++)
		whole += row->by == part->by ? row->ns : 0;
	return part->ns >= whole - part->ns;
}

/* True for a taker without a process. A process may have the same name, so the pid must be 0. */
static bool is_without_process(const struct trace_contributor *taker, const char *word)
{
	return !taker->pid && strcmp(taker->comm, word) == 0;
}

/* The process; for a thread other than its first one also the thread. */
static void add_own(struct string *s, const struct path_report *t)
{
	const struct trace_thread *thread = trace_critical_path_thread(t->path);
	const char *title = trace_process_title(t->own);
	char name[NAME_BYTES];

	if (trace_thread_tid(thread) != trace_process_pid(t->own))
		string_addf(s, "Thread %s of ",
			    text_process(trace_thread_comm(thread), trace_thread_tid(thread), name, sizeof(name)));
	string_addf(s, "%s", text_process(title, *title ? 0 : trace_process_pid(t->own), name, sizeof(name)));
}

static void put_sentence(const struct path_report *t)
{
	const struct trace_contributor *row, *target = greatest(t, TRACE_BY_TARGET),
					     *taker = greatest(t, TRACE_BY_COMPETITOR);
	char text[2 * NAME_BYTES];
	uint64_t window = t->to - t->from, own_cpu = 0;
	struct value_text time;
	int named = 0;
	struct string s = {0};

	add_own(&s, t);
	for (size_t i = 0; (row = trace_critical_path_contributor(t->path, i)) && row->by == TRACE_BY_COMMAND; i++) {
		if (row->state == TRACE_STATE_RUNNING && is_own(t, row)) {
			own_cpu = row->ns;
			continue;
		}
		if (named == NAMED_IN_SENTENCE || (named && percent(row->ns, window) < WORTH_NAMING))
			continue;
		reason(t, row, text, sizeof(text));
		if (named++)
			string_addf(&s, ", %.1f %% %s", percent(row->ns, window), text);
		else
			string_addf(&s, " waited %.1f %% of its %s %s", percent(row->ns, window),
				    text_ns(&t->report->output, window, &time), text);
	}
	if (named)
		string_addf(&s, "; it ran on a CPU for %.1f %%.", percent(own_cpu, window));
	else
		string_addf(&s, " ran on a CPU for all of its %s.", text_ns(&t->report->output, window, &time));
	if (target && percent(target->ns, window) >= WORTH_NAMING) {
		path_row_text(target, text, sizeof(text));
		string_addf(&s,
			    is_most(t, target) ? " Waits that no other thread ended were mostly for %s: %s."
					       : " Waits that no other thread ended were longest for %s: %s.",
			    text, text_ns(&t->report->output, target->ns, &time));
	}
	if (taker && percent(taker->ns, window) >= WORTH_NAMING && is_without_process(taker, "idle CPU")) {
		string_addf(&s, " It waited %s for idle CPUs to wake up.",
			    text_ns(&t->report->output, taker->ns, &time));
	} else if (taker && percent(taker->ns, window) >= WORTH_NAMING && is_without_process(taker, "unknown")) {
		string_addf(&s, " It waited %s for CPUs that unrecorded threads may have used.",
			    text_ns(&t->report->output, taker->ns, &time));
	} else if (taker && percent(taker->ns, window) >= WORTH_NAMING) {
		path_row_text(taker, text, sizeof(text));
		string_addf(&s,
			    is_most(t, taker) ? " The CPU that it waited for was mostly taken by %s: %s."
					      : " The CPU that it waited for was taken the longest by %s: %s.",
			    text, text_ns(&t->report->output, taker->ns, &time));
	}
	losses_sentence(&s, t->report->trace, t->report->analysis);
	output_paragraph(&t->report->output, string_text(&s));
	string_free(&s);
}

static size_t put_contributors(const struct path_report *t, size_t first)
{
	static const char *const titles[TRACE_NR_CONTRIBUTORS_BY] = {"Time by command and state:",
								     "Time by thread and state:",
								     "Waits that no other thread ended, by target:",
								     "Waits for locks, by holder:",
								     "Waits for other processes, by process:",
								     "Waits for a CPU, by the thread that had it:"};
	static const struct grid_column columns[] = {
		{"time", GRID_RIGHT}, {"%", GRID_RIGHT}, {"segments", GRID_RIGHT}, {"", GRID_ELASTIC}};
	const struct trace_contributor *row = trace_critical_path_contributor(t->path, first);
	enum trace_contributor_by by = row->by;
	struct row_limit limit = row_limit_new(&t->report->options->rows, ROWS_SHOWN);
	struct grid *grid = grid_new(&t->report->output, "\t", columns, 4);
	char text[3 * NAME_BYTES];
	struct value_text rest;
	size_t i = first;

	output_title(&t->report->output, "", titles[by]);
	for (; (row = trace_critical_path_contributor(t->path, i)) && row->by == by; i++) {
		if (!row_limit_shows_if(&limit, true, row->ns))
			continue;
		path_row_text(row, text, sizeof(text));
		grid_ns(grid, row->ns);
		grid_percent(grid, row->ns, t->to - t->from);
		grid_count(grid, row->count);
		grid_text(grid, text);
	}
	grid_end(grid, row_limit_rest(&limit, &t->report->output, &rest));
	return i;
}

static void contributor_tables(const struct path_report *t)
{
	for (size_t i = 0; trace_critical_path_contributor(t->path, i);) {
		if (i)
			fputs("\n", t->report->output.out);
		i = put_contributors(t, i);
	}
}

static void segment_text(const struct trace_path_segment *s, char *text, size_t size)
{
	char name[NAME_BYTES], target[NAME_BYTES];

	text_name(s->name, name, sizeof(name));
	if (s->state == TRACE_STATE_WAIT_CPU)
		snprintf(text, size, "wait-cpu, taken by %s", text_name(s->holder_name, name, sizeof(name)));
	else if (s->state == TRACE_STATE_BLOCKED)
		snprintf(text, size, "blocked: %s%s%s%s%s%s%s%s", trace_wait_kind_name(s->kind), *s->target ? " " : "",
			 text_name(s->target, target, sizeof(target)), *s->via ? " via " : "", s->via,
			 s->idle ? " (idle)" : "", *s->name ? " in " : "", name);
	else
		snprintf(text, size, "%s%s%s", state_name(s->state), *s->name ? " " : "", name);
}

/*
 * There may be a million segments: they are written one by one, in columns of fixed width. A narrow
 * terminal loses the column of thread ids first, and then the start times.
 */
#define TIME_WIDTH 14
#define TID_WIDTH  8
#define TEXT_WIDTH 20
struct segment_columns {
	bool at, tid;
	size_t before; /* columns before the text */
};

static struct segment_columns segment_columns_of(const struct text_output *output)
{
	struct segment_columns columns = {.before = 2 + TIME_WIDTH + 2};

	columns.at = !output->width || output->width >= columns.before + TIME_WIDTH + 2 + TEXT_WIDTH;
	columns.before += columns.at ? TIME_WIDTH + 2 : 0;
	columns.tid = columns.at && (!output->width || output->width >= columns.before + TID_WIDTH + 2 + TEXT_WIDTH);
	columns.before += columns.tid ? TID_WIDTH + 2 : 0;
	return columns;
}

static void segment_row(const struct text_output *output, const struct segment_columns *columns, const char *at,
			const char *ns, const char *tid, const char *text)
{
	char *shown = output_cut(output, columns->before, text);

	if (columns->at)
		fprintf(output->out, "  %*s", TIME_WIDTH, at);
	fprintf(output->out, "  %*s", TIME_WIDTH, ns);
	if (columns->tid)
		fprintf(output->out, "  %*s", TID_WIDTH, tid);
	fprintf(output->out, "  %s\n", shown);
	free(shown);
}

/* Indented by the number of threads between this one and the chosen one. */
static void segment_line(const struct path_report *t, const struct segment_columns *columns,
			 const struct trace_path_segment *s)
{
	char text[3 * NAME_BYTES], name[NAME_BYTES], line[5 * NAME_BYTES];
	struct value_text at, ns, tid;

	segment_text(s, text, sizeof(text));
	snprintf(line, sizeof(line), "%*s%s: %s%s%s", (int)(s->depth < 20 ? s->depth * 2 : 40), "",
		 text_comm(trace_thread_comm(s->thread), name, sizeof(name)), text, s->waiter ? "  <- " : "",
		 s->waited_via);
	snprintf(tid.bytes, sizeof(tid.bytes), "%u", trace_thread_tid(s->thread));
	segment_row(&t->report->output, columns,
		    text_ns(&t->report->output, s->from_ns - trace_get_info(t->report->trace)->complete_from_ns, &at),
		    text_ns(&t->report->output, s->to_ns - s->from_ns, &ns), tid.bytes, line);
}

static void segment_lines(const struct path_report *t)
{
	struct segment_columns columns = segment_columns_of(&t->report->output);
	struct trace_path_segment s;

	fputs("\n", t->report->output.out);
	output_title(&t->report->output, "",
		     "Segments (indented by the depth of waits; <-: the means that ended the wait):");
	segment_row(&t->report->output, &columns, "start", "time", "TID", "thread: state");
	for (size_t i = 0; i < trace_critical_path_nr_segments(t->path); i++) {
		trace_critical_path_segment(t->path, i, &s);
		segment_line(t, &columns, &s);
	}
	if (!columns.tid)
		output_line(&t->report->output, "  ", "(no room for: %sTID)", columns.at ? "" : "start, ");
}

static void put_text(const struct report *report, const struct trace_critical_path *path)
{
	struct path_report t = {.report = report,
				.path = path,
				.own = trace_thread_process(trace_critical_path_thread(path))};

	trace_critical_path_window(path, &t.from, &t.to);
	put_sentence(&t);
	contributor_tables(&t);
	if (report->options->rows.all)
		segment_lines(&t);
}

/* ---- JSON ---- */

static void put_segment(struct json *json, const struct trace_path_segment *s)
{
	json_open(json, NULL, "{");
	json_u64(json, "tid", trace_thread_tid(s->thread));
	json_u64(json, "pid", trace_process_pid(trace_thread_process(s->thread)));
	json_text(json, "comm", trace_thread_comm(s->thread));
	json_u64(json, "from_ns", s->from_ns);
	json_u64(json, "to_ns", s->to_ns);
	json_text(json, "state", state_name(s->state));
	json_text(json, "name", s->name);
	if (s->state == TRACE_STATE_BLOCKED) {
		json_text(json, "kind", trace_wait_kind_name(s->kind));
		json_text(json, "target", s->target);
		json_u64(json, "target_pid", s->other ? trace_process_pid(s->other) : 0);
		json_text(json, "via", s->via);
		json_bool(json, "idle", s->idle);
	}
	if (s->state == TRACE_STATE_WAIT_CPU) {
		json_u64(json, "holder_tid", s->holder ? trace_thread_tid(s->holder) : 0);
		json_text(json, "holder", s->holder_name);
	}
	json_u64(json, "depth", s->depth);
	json_u64(json, "waiter_tid", s->waiter ? trace_thread_tid(s->waiter) : 0);
	json_text(json, "waited_via", s->waited_via);
	if (*s->waited_path)
		json_text(json, "waited_path", s->waited_path);
	if (s->waited_address)
		json_u64(json, "waited_address", s->waited_address);
	json_close(json, "}");
}

static void put_contributor(struct json *json, const struct trace_contributor *row)
{
	json_open(json, NULL, "{");
	json_text(json, "by", trace_contributor_by_name(row->by));
	json_text(json, "comm", row->comm);
	json_text(json, "title", row->title);
	json_u64(json, "pid", row->pid);
	json_u64(json, "tid", row->tid);
	json_text(json, "state", state_name(row->state));
	json_text(json, "kind", row->state == TRACE_STATE_BLOCKED ? trace_wait_kind_name(row->kind) : "");
	json_text(json, "target", row->target);
	json_text(json, "via", row->via);
	json_u64(json, "address", row->address);
	json_u64(json, "ns", row->ns);
	json_u64(json, "count", row->count);
	json_close(json, "}");
}

static void put_window(struct json *json, const struct trace_critical_path *path)
{
	const struct trace_thread *thread = trace_critical_path_thread(path);
	uint64_t from, to;

	trace_critical_path_window(path, &from, &to);
	json_open(json, "thread", "{");
	json_u64(json, "tid", trace_thread_tid(thread));
	json_u64(json, "pid", trace_process_pid(trace_thread_process(thread)));
	json_text(json, "comm", trace_thread_comm(thread));
	json_close(json, "}");
	json_open(json, "window", "{");
	json_u64(json, "from_ns", from);
	json_u64(json, "to_ns", to);
	json_u64(json, "ns", to - from);
	json_close(json, "}");
}

static void put_json(const struct report *report, const struct trace_critical_path *path)
{
	struct json json = {.out = report->output.out, .first = true};
	struct trace_path_segment segment;

	json_open(&json, NULL, "{");
	json_text(&json, "schema", "trace-critical-path/1");
	losses_json(&json, report->trace, report->analysis);
	json_bool(&json, "coarse", trace_history_is_coarse(report->history));
	put_window(&json, path);
	json_open(&json, "segments", "[");
	for (size_t i = 0; i < trace_critical_path_nr_segments(path); i++) {
		trace_critical_path_segment(path, i, &segment);
		putc('\n', report->output.out);
		put_segment(&json, &segment);
	}
	json_close(&json, "]");
	json_open(&json, "contributors", "[");
	for (size_t i = 0; i < trace_critical_path_nr_contributors(path); i++) {
		putc('\n', report->output.out);
		put_contributor(&json, trace_critical_path_contributor(path, i));
	}
	json_close(&json, "]");
	json_close(&json, "}\n");
}

int report_critical_path(const struct report *report)
{
	struct trace_error error = {0};
	struct trace_critical_path *path = critical_path_choose(report, &error);

	if (!path)
		return error.code ? complain(1, "--critical-path: %s", error.message) : 1;
	if (trace_history_is_coarse(report->history))
		fputs("tracevisualizer: warning: the window is too long to divide CPU time into user mode, system "
		      "calls, traps and interrupts; --from and --to choose a shorter one\n",
		      stderr);
	if (trace_critical_path_verify(path, &error) < 0) {
		trace_critical_path_free(path);
		if (error.code == -ENOMEM)
			memory_end();
		return complain(1, "%s", error.message);
	}
	if (report->options->reports.json)
		put_json(report, path);
	else
		put_text(report, path);
	trace_critical_path_free(path);
	return 0;
}
