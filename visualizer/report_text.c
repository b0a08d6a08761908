/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * report_text.c - the text summary: the labels and the order of the original, and what each process
 * waited for, which the original could not know.
 *
 * The order is from the general to the particular. First come the first paragraph
 * (report_verdict.c), the CPUs, a line for each process, and the machine by files, locks and so on
 * (report_sections.c). The parts of the original follow: the numbers of events, a page for each
 * process, the whole system.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include "grid.h"
#include "report_user.h"

#define NAME_BYTES 256
#define INDENT "  "
#define PAGE_INDENT "\t\t  "
#define PROCESSES 40 /* in the table, unless --top or --all choose another number */
#define CROWDS 10 /* lines for groups of small processes with one name */
#define PAGES 10
#define ROWS 15 /* in each table of a page */

static void seconds(const struct report *report, const char *label, uint64_t ns)
{
	grid_line(report, "", "%s: (%" PRIu64 ", %" PRIu64 ")", label, ns / 1000000000, ns / 1000 % 1000000);
}

static void share(const struct report *report, const char *label, uint64_t ns, uint64_t whole)
{
	grid_line(report, "\t\t", "%s: (%" PRIu64 ", %" PRIu64 ") => %2.2f %%", label, ns / 1000000000, ns / 1000 % 1000000, percent(ns, whole));
}

/* The same for a figure that needs the events @without: without them it is unknown. */
static void share_if(const struct report *report, bool is_recorded, const char *without, const char *label, uint64_t ns, uint64_t whole)
{
	if (!has_turns(report))
		grid_line(report, "\t\t", "%s: unknown without scheduling changes", label);
	else if (is_recorded)
		share(report, label, ns, whole);
	else
		grid_line(report, "\t\t", "%s: unknown without %s", label, without);
}

static void share_if_calls(const struct report *report, const char *label, uint64_t ns, uint64_t whole)
{
	share_if(report, trace_analysis_sees_calls(report->analysis), "system calls", label, ns, whole);
}

/* ---- the summary of the original ---- */

/* The events that each line of the original counts. */
static const struct {
	const char *label;
	uint32_t ids[3];
} counted[] = {
	{"Scheduling changes", {TRACE_EV_sched_switch}},
	{"Kernel timer tics", {TRACE_EV_vector_entry}},
	{"System call entries", {TRACE_EV_sys_enter, TRACE_EV_sys_enter3, TRACE_EV_sys_enter6}},
	{"System call exits", {TRACE_EV_sys_exit}},
	{"Trap entries", {TRACE_EV_fault_entry}},
	{"Trap exits", {TRACE_EV_fault_exit}},
	{"IRQ entries", {TRACE_EV_irq_entry}},
	{"IRQ exits", {TRACE_EV_irq_exit}},
	{"Bottom halves", {TRACE_EV_softirq_entry}},
	{"Timer expiries", {TRACE_EV_timer_expire, TRACE_EV_hrtimer_expire}},
	{"Page allocations", {TRACE_EV_page_alloc}},
	{"Page frees", {TRACE_EV_page_free}},
	{"Packets Out", {TRACE_EV_net_tx}},
	{"Packets In", {TRACE_EV_net_rx}},
};

/* A paragraph. */
#define put_note(report, ...) (fputs("\n", (report)->out), grid_line(report, "", __VA_ARGS__))

static void put_unrecorded(const struct report *report)
{
	bool turns = has_turns(report);
	struct string names = {0};

	if (turns && !trace_analysis_sees_wakeups(report->analysis))
		put_note(report,
			 "Wakeups were not recorded, or not all of the time: while a thread was not on a CPU, it is unknown "
			 "whether it waited for a CPU or for something else.");
	if (turns && !trace_analysis_sees_calls(report->analysis))
		put_note(report,
			 "System calls were not recorded, or not all of the time, or without their entries or exits: for time on "
			 "a CPU it is unknown which part was in a thread's own code, and which in the kernel.");
	if (turns && !trace_analysis_sees_traps(report->analysis))
		put_note(report, "Page faults were not recorded, or not all of the time: their time counts as that of the code in which they occurred.");
	if (turns && !trace_analysis_sees_interrupts(report->analysis))
		put_note(report, "Interrupts were not recorded, or not all of them: their time counts as that of the running thread.");
	for (enum trace_category category = 0; category < TRACE_NR_CATEGORIES; category++)
		if (is_unrecorded(report, category))
			string_addf(&names, "%s%s", names.len ? ", " : "", trace_category_name(category));
	if (names.len)
		put_note(report, "Not recorded, and so not in this report (categories of events): %s.", string_text(&names));
	string_free(&names);
}

/* @what may contain a path with arbitrary bytes. */
static void put_not_traced(const struct report *report, const char *what, bool first)
{
	size_t bytes = 4 * strlen(what) + 1; /* \xNN is the longest form of a byte */
	char *name = memory_take(bytes, 1);

	fputs(first ? "\n" : "", report->out);
	grid_line(report, "", "Not traced: %s", text_name(what, name, bytes));
	free(name);
}

static void put_losses(const struct report *report)
{
	uint64_t contradictions = trace_analysis_contradictions(report->analysis), halted = trace_analysis_halted_ns(report->analysis);
	uint64_t overwritten = trace_losses(report->trace).overwritten, older = report_older(report);
	struct text t;
	size_t gaps;

	report_lost(report, &gaps);
	if (overwritten)
		put_note(report,
			 "%" PRIu64 " older event%s overwritten: the report covers the time for which the flight recorder "
			 "had the events of all CPUs.",
			 overwritten, overwritten == 1 ? " was" : "s were");
	if (older)
		put_note(report, "Only -d shows the %" PRIu64 " older event%s of some CPUs and of programs.", older, older == 1 ? "" : "s");
	if (contradictions)
		put_note(report, "%" PRIu64 " inconsistenc%s: an event contradicts the state of its thread, because events before it "
			 "are missing without a gap, or were filtered.",
			 contradictions, contradictions == 1 ? "y" : "ies");
	if (gaps)
		put_note(report, "Lost: %s in %zu gap%s; the affected times are counted as unknown.", text_lost(report, &t), gaps, gaps == 1 ? "" : "s");
	if (halted && !is_left_out(report->trace, TRACE_LEFT_OUT_KERNEL))
		put_note(report,
			 "For %s no scheduling changes were recorded, because recording was halted or the event was not enabled: "
			 "that time is unknown.", text_ns(report, halted, &t));
	put_unrecorded(report);
	for (size_t i = 0; trace_not_traced(report->trace, i); i++)
		put_not_traced(report, trace_not_traced(report->trace, i), !i);
}

/* The ids are variants of one event: one recorded id is enough. */
static void put_count(const struct report *report, const char *label, const uint32_t *ids)
{
	enum trace_recorded recorded = TRACE_RECORDED_NEVER;
	uint64_t nr = 0;

	for (int i = 0; i < 3 && ids[i]; i++) {
		nr += trace_analysis_count(report->analysis, ids[i]);
		recorded = MAX(recorded, trace_analysis_recorded(report->analysis, ids[i]));
	}
	if (!nr && recorded == TRACE_RECORDED_NEVER)
		grid_line(report, "\t", "%s: not recorded", label);
	else
		grid_line(report, "\t", "%s: %" PRIu64 "%s", label, nr, recorded == TRACE_RECORDED_PARTLY ? ", not recorded all the time" : "");
}

void report_summary(struct report *report)
{
	const struct trace_info *info = trace_get_info(report->trace);
	uint64_t start, end, events = 0, offset, own = 0;

	trace_analysis_window(report->analysis, &start, &end);
	offset = info->start_realtime_ns ? info->start_realtime_ns - info->start_ns : 0;
	seconds(report, "Trace start time", start + offset);
	seconds(report, "Trace end time", end + offset);
	seconds(report, "Trace duration", end - start);
	for (uint32_t id = 0; id < TRACE_EV_MAX; id++) {
		const struct trace_event_type *type = trace_type_by_id(report->trace, id);
		uint64_t nr = trace_analysis_count(report->analysis, id);

		/* made by the reader, or part of the start state */
		if (id == TRACE_EV_trace_lost || (type && type->category == TRACE_CATEGORY_START))
			continue;
		events += nr;
		own += type && type->category == TRACE_CATEGORY_TRACE ? nr : 0;
	}
	fputs("\nNumber of occurences of:\n", report->out);
	if (own)
		grid_line(report, "\t", "Events: %" PRIu64 ", %" PRIu64 " of them of the trace itself", events, own);
	else
		grid_line(report, "\t", "Events: %" PRIu64, events);
	for (size_t i = 0; i < sizeof(counted) / sizeof(counted[0]); i++)
		put_count(report, counted[i].label, counted[i].ids);
	put_losses(report);
}

/* @kind for a column of interrupt time, which is hidden if no interrupts were recorded. */
static enum grid_kind if_interrupts(const struct report *report, enum grid_kind kind)
{
	return has_interrupts(report) ? kind : GRID_HIDDEN;
}

/* ---- the CPUs ---- */

struct cpu_total {
	uint64_t user, system, interrupts, idle, unknown, all;
};

static struct cpu_total cpu_total(const struct report *report)
{
	struct cpu_total total = {0};
	struct trace_cpu_figures f;

	for (size_t i = 0; i < trace_nr_cpus(report->analysis); i++) {
		trace_cpu_figures(report->analysis, i, &f);
		total.user += f.user_ns;
		total.system += f.system_ns;
		total.interrupts += f.irq_ns + f.softirq_ns;
		total.idle += f.idle_ns;
		total.unknown += f.unknown_ns;
	}
	total.all = total.user + total.system + total.interrupts + total.idle + total.unknown;
	return total;
}

static void cpu_table(const struct report *report)
{
	bool calls = trace_analysis_sees_calls(report->analysis);
	enum grid_kind irqs = has_recorded(report, TRACE_EV_irq_entry) || has_recorded(report, TRACE_EV_vector_entry) ? GRID_RIGHT : GRID_HIDDEN;
	enum grid_kind softirqs = has_recorded(report, TRACE_EV_softirq_entry) ? GRID_RIGHT : GRID_HIDDEN;
	const struct grid_column columns[] = {{"CPU", GRID_RIGHT}, {"busy %", GRID_RIGHT}, {calls ? "programs" : "threads", GRID_RIGHT},
					      {"kernel", calls ? GRID_RIGHT : GRID_HIDDEN}, {"irq", irqs}, {"softirq", softirqs},
					      {"idle", trace_analysis_is_filtered(report->analysis) ? GRID_HIDDEN : GRID_RIGHT}, {"unknown", GRID_OPTIONAL}};
	struct grid *grid = grid_new(report, INDENT, columns, 8);
	struct trace_cpu_figures f;
	struct text cpu;

	grid_title(report, "", "CPUs (% of the trace):");
	for (size_t i = 0; i < trace_nr_cpus(report->analysis); i++) {
		uint64_t busy;

		trace_cpu_figures(report->analysis, i, &f);
		busy = f.user_ns + f.system_ns + f.irq_ns + f.softirq_ns;
		snprintf(cpu.bytes, sizeof(cpu.bytes), "%u", f.cpu);
		grid_text(grid, cpu.bytes);
		if (f.unknown_ns && !busy && !f.idle_ns)
			grid_text(grid, "?");
		else
			grid_percent(grid, busy, busy + f.idle_ns + f.unknown_ns);
		grid_ns(grid, f.user_ns + (calls ? 0 : f.system_ns));
		grid_ns(grid, f.system_ns);
		grid_ns(grid, f.irq_ns);
		grid_ns(grid, f.softirq_ns);
		grid_ns(grid, f.idle_ns);
		grid_ns(grid, f.unknown_ns);
	}
	grid_end(grid, NULL);
	fputs("\n", report->out);
}

/* ---- the processes ---- */

/*
 * Without system calls user and system time cannot be told apart: the first column has both, and
 * the second is hidden.
 */
static void times_cells(struct grid *grid, const struct report *report, const struct process_row *row)
{
	grid_ns(grid, row->elapsed_ns);
	grid_percent(grid, row->user_ns + row->system_ns, row->elapsed_ns);
	grid_ns(grid, row->user_ns + (trace_analysis_sees_calls(report->analysis) ? 0 : row->system_ns));
	grid_ns(grid, row->system_ns);
	grid_ns(grid, row->interrupted_ns);
	grid_ns(grid, row->wait_cpu_ns);
	grid_ns(grid, row->blocked_ns);
}

/*
 * The target of the longest wait if it is half of the blocked time. Else a kind of waits that is
 * half of it. Else the longest wait with its percentage.
 */
static const char *most_of_it(const struct report *report, const struct process_row *row, char *text, size_t size)
{
	static const char *const kinds[TRACE_NR_WAIT_KINDS] = {
		[TRACE_WAIT_FILE] = "files",	      [TRACE_WAIT_PROCESS] = "several processes", [TRACE_WAIT_NETWORK] = "the network",
		[TRACE_WAIT_TIMEOUT] = "timeout",     [TRACE_WAIT_DEVICE] = "devices",		  [TRACE_WAIT_MEMORY] = "memory",
		[TRACE_WAIT_STOPPED] = "stopped",     [TRACE_WAIT_OTHER] = "the end of calls",	  [TRACE_WAIT_UNKNOWN] = "something unknown",
		[TRACE_WAIT_KERNEL] = "the kernel",   [TRACE_WAIT_QUOTA] = "quota",
	};
	_Static_assert(TRACE_NR_WAIT_KINDS == 11, "each kind has its words");
	int used = 0;

	if (!row->worst.ns)
		return "";
	if (row->worst.ns < row->blocked_ns / 2 && row->worst_kind_ns >= row->blocked_ns / 2)
		return row->worst_kind == TRACE_WAIT_PROCESS && row->only_own ? "others of its threads" : kinds[row->worst_kind];
	if (row->worst.ns < row->blocked_ns / 2)
		used = snprintf(text, size, "%.0f %%: ", percent(row->worst.ns, row->blocked_ns));
	text_wait(report, &row->worst, trace_process_pid(row->process), text + used, size - (size_t)used);
	return text;
}

static void process_line(struct grid *grid, const struct report *report, const struct process_row *row)
{
	char text[2 * NAME_BYTES];
	struct text pid;

	snprintf(pid.bytes, sizeof(pid.bytes), "%u", trace_process_pid(row->process));
	grid_text(grid, pid.bytes);
	snprintf(pid.bytes, sizeof(pid.bytes), "%u", trace_process_ppid(row->process));
	grid_text(grid, pid.bytes);
	times_cells(grid, report, row);
	grid_text(grid, text_comm(trace_process_comm(row->process), text, sizeof(text)));
	grid_text(grid, most_of_it(report, row, text, sizeof(text)));
}

/* Processes of one name, each below WORTH_A_ROW. Together they may be most of the work. */
struct crowd {
	uint64_t key; /* the name */
	struct process_row sum; /* process: the first one */
	size_t nr;
};

static uint64_t crowd_ns(const struct crowd *crowd)
{
	return crowd->sum.user_ns + crowd->sum.system_ns + crowd->sum.wait_cpu_ns;
}

/* By CPU time and wait for a CPU, unless --sort is given. */
static int order_crowds(const void *left, const void *right, void *data)
{
	const struct crowd *l = left, *r = right;
	const struct report *report = data;

	if (report->options->sorted)
		return process_rows_compare(&l->sum, &r->sum, data);
	if (crowd_ns(l) != crowd_ns(r))
		return crowd_ns(l) > crowd_ns(r) ? -1 : 1;
	return strcmp(trace_process_comm(l->sum.process), trace_process_comm(r->sum.process));
}

/** struct crowds - all groups, by name */
struct crowds {
	struct strings names;
	struct hash_table by_name; /* struct crowd */
};

static void crowd_add(struct crowds *crowds, const struct process_row *row)
{
	struct crowd *crowd = memory_row(&crowds->by_name, sizeof(*crowd), memory_key(&crowds->names, trace_process_comm(row->process)));

	if (!crowd->nr)
		crowd->sum.process = row->process;
	crowd->sum.elapsed_ns += row->elapsed_ns;
	crowd->sum.user_ns += row->user_ns;
	crowd->sum.system_ns += row->system_ns;
	crowd->sum.interrupted_ns += row->interrupted_ns;
	crowd->sum.wait_cpu_ns += row->wait_cpu_ns;
	crowd->sum.blocked_ns += row->blocked_ns;
	crowd->nr++;
}

static void crowd_line(struct grid *grid, const struct report *report, const struct crowd *crowd)
{
	char text[2 * NAME_BYTES], name[NAME_BYTES];

	grid_text(grid, "");
	grid_text(grid, "");
	times_cells(grid, report, &crowd->sum);
	snprintf(text, sizeof(text), "%s (%zu more)", text_comm(trace_process_comm(crowd->sum.process), name, sizeof(name)), crowd->nr);
	grid_text(grid, text);
	grid_text(grid, "");
}

/* Returns the sum of the processes that got no line. */
static struct crowd put_crowds(const struct report *report, struct grid *grid, const struct crowds *crowds, size_t *ret_kernel)
{
	struct crowd *list = memory_take(crowds->by_name.used, sizeof(*list)), rest = {0};
	const struct crowd *row = NULL;
	uint64_t start, end;
	size_t shown = 0, nr = 0;

	while ((row = table_next(&crowds->by_name, sizeof(*row), row)))
		list[nr++] = *row;
	memory_sort(list, nr, sizeof(*list), order_crowds, (void *)report);
	trace_analysis_window(report->analysis, &start, &end);
	for (size_t i = 0; i < nr; i++) {
		const struct crowd *crowd = &list[i];

		if (crowd->nr > 1 && shown < CROWDS && percent(crowd_ns(crowd), end - start) >= WORTH_A_ROW) {
			crowd_line(grid, report, crowd);
			shown++;
			continue;
		}
		rest.nr += crowd->nr;
		rest.sum.user_ns += crowd->sum.user_ns;
		rest.sum.system_ns += crowd->sum.system_ns;
		*ret_kernel += trace_process_is_kernel(crowd->sum.process) ? crowd->nr : 0;
	}
	free(list);
	return rest;
}

static void process_table(const struct report *report, const struct process_row *rows, size_t nr)
{
	bool calls = trace_analysis_sees_calls(report->analysis);
	const struct grid_column columns[] = {
		{"PID", GRID_RIGHT}, {"parent", GRID_OPTIONAL}, {"elapsed", GRID_RIGHT}, {"CPU %", GRID_OPTIONAL},
		{calls ? "programs" : "on a CPU", GRID_RIGHT}, {"kernel", calls ? GRID_RIGHT : GRID_HIDDEN},
		{"interrupted", if_interrupts(report, GRID_OPTIONAL)}, {"for a CPU", GRID_RIGHT}, {"for else", GRID_RIGHT},
		{"command", GRID_ELASTIC}, {"most of it for", GRID_EXTRA}};
	size_t most = report->options->all ? nr : report->options->top ? (size_t)report->options->top : PROCESSES, shown = 0, kernel = 0;
	struct grid *grid = grid_new(report, INDENT, columns, sizeof(columns) / sizeof(columns[0]));
	struct crowds crowds = {0};
	uint64_t cpu_ns;
	struct crowd left;
	char rest[128] = "", title[128];
	struct text t;

	snprintf(title, sizeof(title), "Processes%s (%s; waiting: for a CPU, for else):", command_comes_first(report) ? ", the command's first" : "",
		 calls ? "CPU time: in programs, in the kernel" : "time on a CPU");
	grid_title(report, "", title);
	for (size_t i = 0; i < nr; i++) {
		if (!rows[i].folded && shown < most) {
			process_line(grid, report, &rows[i]);
			shown++;
		} else {
			crowd_add(&crowds, &rows[i]);
		}
	}
	left = put_crowds(report, grid, &crowds, &kernel);
	cpu_ns = left.sum.user_ns + left.sum.system_ns;
	if (left.nr && !cpu_ns && trace_analysis_is_filtered(report->analysis))
		snprintf(rest, sizeof(rest), "%zu more, not recorded because of the filter; --all shows them", left.nr);
	else if (left.nr)
		snprintf(rest, sizeof(rest), "%zu more, %zu of them kernel threads, used %.30s%sCPU; --all shows them", left.nr, kernel,
			 cpu_ns ? text_ns(report, cpu_ns, &t) : "no", cpu_ns ? " of " : " ");
	grid_end(grid, rest);
	table_clear(&crowds.by_name);
	strings_clear(&crowds.names);
	fputs("\n", report->out);
}

/* ---- a page for each process ---- */

static void call_table(const struct report *report, const char *title, const struct trace_call *calls, size_t nr, const char *errors,
		       uint64_t whole)
{
	bool turns = has_turns(report);
	enum grid_kind figure = turns ? GRID_OPTIONAL : GRID_HIDDEN;
	const struct grid_column columns[] = {
		{"calls", GRID_RIGHT},	  {errors, GRID_RIGHT},	       {"elapsed", GRID_RIGHT},	 {"%", GRID_RIGHT},
		{"CPU", turns ? GRID_RIGHT : GRID_HIDDEN}, {"interrupted", if_interrupts(report, figure)}, {"for a CPU", figure}, {"for else", figure},
		{"shortest", GRID_OPTIONAL}, {"median", GRID_OPTIONAL},   {"99th %", GRID_OPTIONAL},	 {"longest", GRID_OPTIONAL},
		{"name", GRID_ELASTIC}};
	struct fold fold = fold_begin(report, ROWS);
	struct text rest;
	struct grid *grid;

	if (!nr || (calls[0].elapsed_ns == 0 && !report->options->all))
		return;
	grid_title(report, "\t\t", title);
	grid = grid_new(report, PAGE_INDENT, columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = 0; i < nr; i++) {
		if (!fold_shows(&fold, calls[i].elapsed_ns, whole))
			continue;
		grid_count(grid, calls[i].calls);
		grid_count(grid, calls[i].errors);
		grid_ns(grid, calls[i].elapsed_ns);
		grid_percent(grid, calls[i].elapsed_ns, whole);
		grid_ns(grid, calls[i].cpu_ns);
		grid_ns(grid, calls[i].interrupted_ns);
		grid_ns(grid, calls[i].wait_cpu_ns);
		grid_ns(grid, calls[i].wait_ns);
		grid_ns(grid, calls[i].min_ns);
		grid_ns(grid, calls[i].p50_ns);
		grid_ns(grid, calls[i].p99_ns);
		grid_ns(grid, calls[i].max_ns);
		grid_name(grid, calls[i].name);
	}
	grid_end(grid, fold_rest(&fold, &rest));
}

/*
 * Without recorded system calls, only calls in progress at the start or the end are known. They say
 * nothing about numbers and durations.
 */
static void system_call_table(const struct report *report, const struct trace_figures *f)
{
	if (!is_unrecorded(report, TRACE_CATEGORY_SYSCALL))
		call_table(report, "System call usage:", f->syscalls, f->nr_syscalls_rows, "errors", f->elapsed_ns);
}

static struct grid *time_grid(const struct report *report, const char *title)
{
	static const struct grid_column columns[] = {{"time", GRID_RIGHT}, {"%", GRID_RIGHT}, {"count", GRID_RIGHT}, {"", GRID_ELASTIC}};

	grid_title(report, "\t\t", title);
	return grid_new(report, PAGE_INDENT, columns, 4);
}

static void time_line(struct grid *grid, uint64_t ns, uint64_t whole, uint64_t count, const char *text)
{
	struct text n;

	snprintf(n.bytes, sizeof(n.bytes), "%" PRIu64, count);
	grid_ns(grid, ns);
	grid_percent(grid, ns, whole);
	grid_text(grid, count ? n.bytes : "");
	grid_text(grid, text);
}

static void end_time_grid(struct grid *grid, const struct fold *fold)
{
	struct text rest;

	grid_end(grid, fold_rest(fold, &rest));
}

/* CPU time, divided as far as the recorded events allow. */
static void put_cpu_lines(const struct report *report, struct grid *grid, const struct trace_figures *f)
{
	bool traps = has_recorded(report, TRACE_EV_fault_entry);

	if (!trace_analysis_sees_calls(report->analysis)) {
		time_line(grid, f->user_ns + f->syscall_ns + f->trap_ns, f->elapsed_ns, 0, "on a CPU, in its own code or in the kernel");
	} else {
		time_line(grid, f->user_ns, f->elapsed_ns, 0, traps ? "on a CPU, in its own code" : "on a CPU, in its own code, or in traps not recorded");
		time_line(grid, f->syscall_ns, f->elapsed_ns, f->nr_syscalls, "on a CPU, in system calls");
		if (traps)
			time_line(grid, f->trap_ns, f->elapsed_ns, f->nr_traps, "on a CPU, in traps (page faults)");
	}
	if (has_interrupts(report))
		time_line(grid, f->interrupted_ns, f->elapsed_ns, 0, "interrupted");
}

static void mode_table(const struct report *report, const struct trace_figures *f)
{
	struct grid *grid = time_grid(report, "Where the time went (% of the elapsed time of all its threads):");
	uint64_t unknown_ns = not_seen_ns(f);

	time_line(grid, f->elapsed_ns, f->elapsed_ns, 0, "elapsed, of all threads");
	if (has_turns(report)) {
		put_cpu_lines(report, grid, f);
		if (f->stolen_ns)
			time_line(grid, f->stolen_ns, f->elapsed_ns, 0, "(of that, taken by the virtual machine's host)");
		time_line(grid, f->wait_cpu_ns, f->elapsed_ns, 0, "waiting for a CPU");
		time_line(grid, f->blocked_ns - unknown_ns, f->elapsed_ns, 0, "waiting for something else");
	}
	if (unknown_ns)
		time_line(grid, unknown_ns, f->elapsed_ns, 0, "unknown: not recorded");
	grid_end(grid, NULL);
}

static void interrupt_table(const struct report *report, const struct trace_figures *f)
{
	struct fold fold = fold_begin(report, ROWS);
	struct grid *grid;

	if (percent(f->interrupted_ns, f->elapsed_ns) < WORTH_A_ROW && !report->options->all)
		return;
	if (!f->nr_interrupts)
		return;
	grid = time_grid(report, "Interrupted by:");
	for (size_t i = 0; i < f->nr_interrupts; i++) {
		char text[NAME_BYTES + 64], name[NAME_BYTES];

		if (!fold_shows(&fold, f->interrupts[i].ns, f->interrupted_ns))
			continue;
		snprintf(text, sizeof(text), "%s %s", f->interrupts[i].type, text_name(f->interrupts[i].name, name, sizeof(name)));
		time_line(grid, f->interrupts[i].ns, f->elapsed_ns, f->interrupts[i].count, text);
	}
	end_time_grid(grid, &fold);
}

static void cpu_wait_table(const struct report *report, const struct trace_figures *f, uint32_t own_pid)
{
	struct fold fold = fold_begin(report, ROWS);
	struct grid *grid;

	if (!f->nr_wait_cpu_for)
		return;
	grid = time_grid(report, "Waiting for a CPU that was taken by:");
	for (size_t i = 0; i < f->nr_wait_cpu_for; i++) {
		char text[NAME_BYTES + 64], name[NAME_BYTES];

		if (!fold_shows(&fold, f->wait_cpu_for[i].ns, f->wait_cpu_ns))
			continue;
		text_name(f->wait_cpu_for[i].comm, name, sizeof(name));
		if (f->wait_cpu_for[i].pid == own_pid)
			snprintf(text, sizeof(text), "another of its threads");
		else if (f->wait_cpu_for[i].pid)
			snprintf(text, sizeof(text), "process %u%s%s", f->wait_cpu_for[i].pid, *name ? " " : "", name);
		else if (is_idle(&f->wait_cpu_for[i]))
			snprintf(text, sizeof(text), "(idle CPU waking up)");
		else
			snprintf(text, sizeof(text), "(%s)", name);
		time_line(grid, f->wait_cpu_for[i].ns, f->elapsed_ns, 0, text);
	}
	end_time_grid(grid, &fold);
}

static void wait_table(const struct report *report, const struct trace_figures *f, uint32_t own_pid)
{
	struct fold fold = fold_begin(report, ROWS);
	struct grid *grid;

	if (!f->nr_waits)
		return;
	grid = time_grid(report, "Waiting for:");
	for (size_t i = 0; i < f->nr_waits; i++) {
		char text[2 * NAME_BYTES];

		if (fold_shows(&fold, f->waits[i].ns, f->elapsed_ns))
			time_line(grid, f->waits[i].ns, f->elapsed_ns, f->waits[i].count, text_wait(report, &f->waits[i], own_pid, text, sizeof(text)));
	}
	end_time_grid(grid, &fold);
}

static void file_table(const struct report *report, const struct trace_figures *f)
{
	if (!f->nr_files)
		return;
	grid_title(report, "\t\t", "Files:");
	report_files(report, PAGE_INDENT, f, f->elapsed_ns, ROWS);
}

static uint64_t io_ns(const struct trace_figures *f)
{
	uint64_t ns = 0;

	for (size_t i = 0; i < f->nr_waits; i++)
		if (f->waits[i].kind == TRACE_WAIT_FILE || f->waits[i].kind == TRACE_WAIT_DEVICE || f->waits[i].kind == TRACE_WAIT_NETWORK)
			ns += f->waits[i].ns;
	return ns;
}

/* The lines of the original, in its words. Percentages are of the trace's duration, as there. */
static void classic_lines(const struct report *report, const struct trace_figures *f, uint64_t trace_ns)
{
	bool calls = !is_unrecorded(report, TRACE_CATEGORY_SYSCALL), traps = !is_unrecorded(report, TRACE_CATEGORY_TRAP);
	struct text t[2];

	snprintf(t[0].bytes, sizeof(t[0].bytes), "%" PRIu64, f->nr_syscalls);
	snprintf(t[1].bytes, sizeof(t[1].bytes), "%" PRIu64, f->nr_traps);
	grid_line(report, "\t\t", "Number of system calls: %s", calls ? t[0].bytes : "not recorded");
	grid_line(report, "\t\t", "Number of traps: %s", traps ? t[1].bytes : "not recorded");
	grid_line(report, "\t\t", "Quantity of data read from files: %s", calls ? text_bytes(report, f->read_bytes, &t[0]) : "not recorded");
	grid_line(report, "\t\t", "Quantity of data written to files: %s", calls ? text_bytes(report, f->written_bytes, &t[0]) : "not recorded");
	share_if_calls(report, "Time executing process code", f->user_ns, trace_ns);
	share_if(report, true, "", "Time running", f->user_ns + f->syscall_ns + f->trap_ns, trace_ns);
	if (trace_analysis_sees_wakeups(report->analysis))
		share_if_calls(report, "Time waiting for I/O", io_ns(f), trace_ns);
	else
		share_if(report, false, "wakeups", "Time waiting for I/O", 0, trace_ns);
}

/* Writes nothing for a process outside containers. */
static void container_lines(const struct report *report, const struct trace_process *process)
{
	const char *cgroup = trace_process_cgroup(process);
	uint32_t ns_pid = trace_process_ns_pid(process);
	char name[NAME_BYTES];

	if (ns_pid && ns_pid != trace_process_pid(process))
		grid_line(report, "\t\t", "Number in its own namespace: %u", ns_pid);
	if (*cgroup && strcmp(cgroup, "/") != 0) {
		text_name(cgroup, name, sizeof(name));
		grid_line(report, "\t\t", "Control group: %s", name);
	}
}

static void process_page(const struct report *report, const struct process_row *row, uint64_t trace_ns)
{
	struct trace_figures *f = whole_figures(trace_process_figures(report->analysis, row->process));
	char title[2 * NAME_BYTES + 64], name[NAME_BYTES], exe[NAME_BYTES];

	text_comm(trace_process_comm(row->process), name, sizeof(name));
	text_name(trace_process_exe(row->process), exe, sizeof(exe));
	snprintf(title, sizeof(title), "Process (%u, %u): %s%s%s:", trace_process_pid(row->process), trace_process_ppid(row->process), name,
		 *exe ? "  " : "", exe);
	grid_title(report, "\t", title);
	container_lines(report, row->process);
	classic_lines(report, f, trace_ns);
	mode_table(report, f);
	system_call_table(report, f);
	call_table(report, "Traps:", f->traps, f->nr_traps_rows, "major", f->elapsed_ns);
	interrupt_table(report, f);
	cpu_wait_table(report, f, trace_process_pid(row->process));
	wait_table(report, f, trace_process_pid(row->process));
	file_table(report, f);
	fputs("\n", report->out);
	trace_figures_free(f);
}

static void system_page(const struct report *report, const struct trace_figures *f, uint64_t trace_ns)
{
	struct cpu_total cpus = cpu_total(report);
	uint64_t nr = trace_nr_cpus(report->analysis), whole = trace_ns * (nr ? nr : 1);

	grid_title(report, "\t", "System-wide:");
	if (!has_turns(report)) {
		system_call_table(report, f);
		return;
	}
	share_if_calls(report, "Total process time", cpus.user, whole);
	share_if_calls(report, "Total system time", cpus.system + cpus.interrupts, whole);
	if (trace_analysis_is_filtered(report->analysis))
		grid_line(report, "\t\t", "System idle: unknown, because processes excluded by the filter may have run");
	else
		share(report, "System idle", cpus.idle, whole);
	system_call_table(report, f);
}

/* A page for each process above WORTH_A_ROW, up to the maximum. */
static void process_pages(const struct report *report, const struct process_row *rows, size_t nr, uint64_t trace_ns)
{
	size_t most = report->options->all ? nr : report->options->top ? (size_t)report->options->top : PAGES, shown = 0, left = 0;

	grid_title(report, "", "Analysis details:");
	for (size_t i = 0; i < nr; i++) {
		if (rows[i].folded)
			continue;
		if (shown++ >= most)
			left++;
		else
			process_page(report, &rows[i], trace_ns);
	}
	if (left) {
		grid_line(report, "\t", "(%zu more process%s no page here; --all shows all, --pid=N one)", left, left == 1 ? " has" : "es have");
		fputs("\n", report->out);
	}
}

/* The trace has no kernel events: processes, CPUs and waits are unknown. */
static void programs_alone(struct report *report)
{
	bool any = report_user_has_any(report);

	report_verdict_of_programs(report, any);
	report_user(report);
	report_summary(report);
}

void report_text(struct report *report)
{
	bool chosen = report->options->pid >= 0 || report->options->comm || report->options->cgroup;
	struct trace_figures *system;
	struct process_row *rows;
	uint64_t start, end;
	size_t nr;

	if (is_left_out(report->trace, TRACE_LEFT_OUT_KERNEL)) {
		programs_alone(report);
		return;
	}
	rows = process_rows(report, &nr);
	system = whole_figures(trace_system_figures(report->analysis));
	trace_analysis_window(report->analysis, &start, &end);
	report_verdict(report, rows, nr, system);
	if (has_turns(report)) {
		cpu_table(report);
		process_table(report, rows, nr);
	}
	report_servers(report);
	report_user(report);
	if (!chosen)
		report_sections(report, system);
	report_summary(report);
	fputs("\n", report->out);
	process_pages(report, rows, nr, end - start);
	system_page(report, system, end - start);
	trace_figures_free(system);
	free(rows);
}
