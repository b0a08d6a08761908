/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* report_pages.c - a page for each process, and one for the whole system. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "checked_figures.h"
#include "cpu_takers.h"
#include "grid.h"
#include "recorded.h"
#include "report_cpus.h"
#include "report_disk_uses.h"
#include "report_files.h"
#include "report_identity.h"
#include "report_pages.h"
#include "report_probes.h"
#include "report_threads.h"
#include "row_limit.h"
#include "thread_choice.h"
#include "wait_places.h"
#include "wait_text.h"

#define NAME_BYTES  256
#define PAGE_INDENT "\t\t  "
#define PAGES	    10
#define ROWS	    15 /* in each table of a page */

static void share(const struct text_output *output, const char *label, uint64_t ns, uint64_t whole)
{
	output_line(output, "\t\t", "%s: (%" PRIu64 ", %" PRIu64 ") => %2.2f %%", label, ns / 1000000000,
		    ns / 1000 % 1000000, percent(ns, whole));
}

/* The same for a figure that needs the events @without: without them it is unknown. */
static void share_if(const struct report *report, bool is_recorded, const char *without, const char *label, uint64_t ns,
		     uint64_t whole)
{
	if (!has_scheduling(report->analysis))
		output_line(&report->output, "\t\t", "%s: unknown without scheduling changes", label);
	else if (is_recorded)
		share(&report->output, label, ns, whole);
	else
		output_line(&report->output, "\t\t", "%s: unknown without %s", label, without);
}

static void share_if_calls(const struct report *report, const char *label, uint64_t ns, uint64_t whole)
{
	share_if(report, trace_analysis_sees_calls(report->analysis), "system calls", label, ns, whole);
}

static void call_table(const struct report *report, const char *title, const struct trace_call *calls, size_t nr,
		       const char *counted, const char *errors, uint64_t whole)
{
	bool scheduling = has_scheduling(report->analysis);
	enum grid_kind figure = scheduling ? GRID_OPTIONAL : GRID_HIDDEN;
	const struct grid_column columns[] = {{counted, GRID_RIGHT},
					      {errors, *errors ? GRID_RIGHT : GRID_HIDDEN},
					      {"elapsed", GRID_RIGHT},
					      {"%", GRID_RIGHT},
					      {"CPU", scheduling ? GRID_RIGHT : GRID_HIDDEN},
					      {"interrupted", has_interrupts(report->analysis) ? figure : GRID_HIDDEN},
					      {"CPU wait", figure},
					      {"blocked", figure},
					      {"shortest", GRID_OPTIONAL},
					      {"~median", GRID_OPTIONAL},
					      {"~99th %", GRID_OPTIONAL},
					      {"longest", GRID_OPTIONAL},
					      {"name", GRID_ELASTIC}};
	struct row_limit limit = row_limit_new(&report->options->rows, ROWS);
	struct value_text rest;
	struct grid *grid;

	if (!nr || (calls[0].elapsed_ns == 0 && !report->options->rows.all))
		return;
	output_title(&report->output, "\t\t", title);
	grid = grid_new(&report->output, PAGE_INDENT, columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = 0; i < nr; i++) {
		if (!row_limit_shows(&limit, calls[i].elapsed_ns, whole))
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
	grid_end(grid, row_limit_rest(&limit, &report->output, &rest));
}

/*
 * Without recorded system calls, only calls in progress at the start or the end are known. They say
 * nothing about numbers and durations.
 */
static void system_call_table(const struct report *report, const struct trace_figures *f)
{
	if (!is_unrecorded(report->trace, report->analysis, TRACE_CATEGORY_SYSCALL))
		call_table(report, "System call usage:", f->syscalls, f->nr_syscalls_rows, "calls", "errors",
			   f->elapsed_ns);
}

static struct grid *time_grid(const struct text_output *output, const char *title)
{
	static const struct grid_column columns[] = {
		{"time", GRID_RIGHT}, {"%", GRID_RIGHT}, {"count", GRID_RIGHT}, {"", GRID_ELASTIC}};

	output_title(output, "\t\t", title);
	return grid_new(output, PAGE_INDENT, columns, 4);
}

static void time_line(struct grid *grid, uint64_t ns, uint64_t whole, uint64_t count, const char *text)
{
	struct value_text n;

	snprintf(n.bytes, sizeof(n.bytes), "%" PRIu64, count);
	grid_ns(grid, ns);
	grid_percent(grid, ns, whole);
	grid_text(grid, count ? n.bytes : "");
	grid_text(grid, text);
}

static void end_time_grid(struct grid *grid, const struct text_output *output, const struct row_limit *limit)
{
	struct value_text rest;

	grid_end(grid, row_limit_rest(limit, output, &rest));
}

/** struct mode_page - the times of @process, with the functions in which most of them were */
struct mode_page {
	const struct report *report;
	const struct trace_process *process;
	const struct trace_figures *f;
	struct grid *grid;
};

static void mode_line(const struct mode_page *page, uint64_t ns, uint64_t count, const char *text)
{
	time_line(page->grid, ns, page->f->elapsed_ns, count, text);
	grid_name(page->grid, "");
}

static void cpu_line(const struct mode_page *page, uint64_t ns, uint64_t count, enum cpu_part part, const char *text)
{
	struct wait_place place = cpu_place_of_process(page->report->places, page->process, part);
	struct string where = {0};

	cpu_place_text(&place, &where);
	time_line(page->grid, ns, page->f->elapsed_ns, count, text);
	grid_name(page->grid, ns ? string_text(&where) : "");
	string_free(&where);
}

/* CPU time, divided as far as the recorded events allow. */
static void cpu_lines(const struct mode_page *page)
{
	const struct trace_analysis *analysis = page->report->analysis;
	const struct trace_figures *f = page->f;
	bool traps = has_recorded(analysis, TRACE_EV_fault_entry);
	uint64_t cpu_ns = f->user_ns + f->syscall_ns + f->trap_ns,
		 recording_ns = event_cost_matters(f->event_ns, cpu_ns) ? f->event_ns : 0;

	if (!trace_analysis_sees_calls(analysis)) {
		cpu_line(page, cpu_ns, 0, CPU_ALL, "on a CPU, in its own code or in the kernel");
	} else {
		cpu_line(page, f->user_ns - recording_ns, 0, CPU_OWN_CODE,
			 traps ? "on a CPU, in its own code" : "on a CPU, in its own code, or in traps not recorded");
		if (recording_ns)
			mode_line(page, recording_ns, f->event_records, "on a CPU, recording its own events");
		cpu_line(page, f->syscall_ns, f->nr_syscalls, CPU_KERNEL,
			 f->nr_kernel_work ? "on a CPU, in system calls and other work of the kernel"
					   : "on a CPU, in system calls");
		if (traps)
			cpu_line(page, f->trap_ns, f->nr_traps, CPU_TRAPS, "on a CPU, in traps (page faults)");
	}
	if (has_interrupts(analysis))
		mode_line(page, f->interrupted_ns, 0, "interrupted");
}

static void mode_table(const struct report *report, const struct trace_process *process, const struct trace_figures *f)
{
	static const struct grid_column columns[] = {{"time", GRID_RIGHT},
						     {"%", GRID_RIGHT},
						     {"count", GRID_RIGHT},
						     {"", GRID_ELASTIC},
						     {"mostly in", GRID_EXTRA}};
	struct mode_page page = {.report = report, .process = process, .f = f};
	uint64_t unknown_ns = unknown_wait_ns(f);

	output_title(&report->output, "\t\t", "Where the time went (% of the elapsed time of all its threads):");
	page.grid = grid_new(&report->output, PAGE_INDENT, columns, sizeof(columns) / sizeof(columns[0]));
	mode_line(&page, f->elapsed_ns, 0, "elapsed, of all threads");
	if (has_scheduling(report->analysis)) {
		cpu_lines(&page);
		if (f->stolen_ns)
			mode_line(&page, f->stolen_ns, 0, "(of that, taken by the virtual machine's host)");
		mode_line(&page, f->wait_cpu_ns, 0, "waiting for a CPU");
		mode_line(&page, f->blocked_ns - unknown_ns, 0, "waiting for something else");
	}
	if (unknown_ns)
		mode_line(&page, unknown_ns, 0, "unknown: not recorded");
	grid_end(page.grid, NULL);
}

static void interrupt_table(const struct report *report, const struct trace_figures *f)
{
	struct row_limit limit = row_limit_new(&report->options->rows, ROWS);
	struct grid *grid;

	if (percent(f->interrupted_ns, f->elapsed_ns) < WORTH_A_ROW && !report->options->rows.all)
		return;
	if (!f->nr_interrupts)
		return;
	grid = time_grid(&report->output, "Interrupted by:");
	for (size_t i = 0; i < f->nr_interrupts; i++) {
		char text[NAME_BYTES + 64], name[NAME_BYTES];

		if (!row_limit_shows(&limit, f->interrupts[i].ns, f->interrupted_ns))
			continue;
		snprintf(text, sizeof(text), "%s %s", f->interrupts[i].type,
			 text_name(f->interrupts[i].name, name, sizeof(name)));
		time_line(grid, f->interrupts[i].ns, f->elapsed_ns, f->interrupts[i].count, text);
	}
	end_time_grid(grid, &report->output, &limit);
}

static void cpu_wait_table(const struct report *report, const struct trace_figures *f,
			   const struct trace_process *process)
{
	static const struct grid_column columns[] = {{"time", GRID_RIGHT}, {"%", GRID_RIGHT}, {"", GRID_ELASTIC}};
	struct row_limit limit = row_limit_new(&report->options->rows, ROWS);
	size_t nr;
	struct cpu_taker *takers = cpu_takers(f->wait_cpu_for, f->nr_wait_cpu_for, trace_process_pid(process), &nr);
	struct grid *grid;

	if (nr)
		output_title(&report->output, "\t\t", "Waiting for a CPU that was taken by:");
	grid = grid_new(&report->output, PAGE_INDENT, columns, 3);
	for (size_t i = 0; i < nr; i++) {
		struct string s = {0};

		if (!row_limit_shows(&limit, takers[i].ns, f->wait_cpu_ns))
			continue;
		if (takers[i].first.process == process)
			cpu_taker_own_text(&s, &takers[i]);
		else
			cpu_taker_text(&s, &takers[i], trace_process_cgroup(process));
		grid_ns(grid, takers[i].ns);
		grid_percent(grid, takers[i].ns, f->elapsed_ns);
		grid_text(grid, string_text(&s));
		string_free(&s);
	}
	end_time_grid(grid, &report->output, &limit);
	free(takers);
}

static void wait_table(const struct report *report, const struct trace_figures *f, const struct trace_process *process)
{
	static const struct grid_column columns[] = {{"time", GRID_RIGHT},	{"%", GRID_RIGHT},
						     {"count", GRID_RIGHT},	{"", GRID_ELASTIC},
						     {"mostly in", GRID_EXTRA}, {"woken in", GRID_EXTRA}};
	struct row_limit limit = row_limit_new(&report->options->rows, ROWS);
	struct grid *grid;

	if (!f->nr_waits)
		return;
	output_title(&report->output, "\t\t", "Waiting for:");
	grid = grid_new(&report->output, PAGE_INDENT, columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = 0; i < f->nr_waits; i++) {
		char text[2 * NAME_BYTES];
		struct wait_place place;
		struct string where = {0}, woken = {0};

		if (!row_limit_shows(&limit, f->waits[i].ns, f->elapsed_ns))
			continue;
		place = wait_place_of_process(report->places, process, &f->waits[i]);
		wait_place_text(&place, &where);
		wait_place_waker_text(&place, &woken);
		time_line(grid, f->waits[i].ns, f->elapsed_ns, f->waits[i].count,
			  text_wait(report->analysis, &f->waits[i], trace_process_pid(process), text, sizeof(text)));
		grid_name(grid, string_text(&where));
		grid_name(grid, string_text(&woken));
		string_free(&where);
		string_free(&woken);
	}
	end_time_grid(grid, &report->output, &limit);
}

static void file_table(const struct report *report, const struct trace_figures *f)
{
	if (!f->nr_files)
		return;
	output_title(&report->output, "\t\t", "Files:");
	report_files(report, PAGE_INDENT, f, f->elapsed_ns, ROWS);
}

static uint64_t io_ns(const struct trace_figures *f)
{
	uint64_t ns = 0;

	for (size_t i = 0; i < f->nr_waits; i++)
		if (f->waits[i].kind == TRACE_WAIT_FILE || f->waits[i].kind == TRACE_WAIT_DEVICE ||
		    f->waits[i].kind == TRACE_WAIT_NETWORK)
			ns += f->waits[i].ns;
	return ns;
}

/* The lines of the original, in its words. Percentages are of the trace's duration, as there. */
static void classic_lines(const struct report *report, const struct trace_figures *f, uint64_t trace_ns)
{
	bool calls = !is_unrecorded(report->trace, report->analysis, TRACE_CATEGORY_SYSCALL),
	     traps = !is_unrecorded(report->trace, report->analysis, TRACE_CATEGORY_TRAP);
	struct value_text t[2];

	snprintf(t[0].bytes, sizeof(t[0].bytes), "%" PRIu64, f->nr_syscalls);
	snprintf(t[1].bytes, sizeof(t[1].bytes), "%" PRIu64, f->nr_traps);
	output_line(&report->output, "\t\t", "Number of system calls: %s", calls ? t[0].bytes : "not recorded");
	output_line(&report->output, "\t\t", "Number of traps: %s", traps ? t[1].bytes : "not recorded");
	output_line(&report->output, "\t\t", "Quantity of data read from files: %s",
		    calls ? text_bytes(&report->output, f->read_bytes, &t[0]) : "not recorded");
	output_line(&report->output, "\t\t", "Quantity of data written to files: %s",
		    calls ? text_bytes(&report->output, f->written_bytes, &t[0]) : "not recorded");
	share_if_calls(report, "Time executing process code", f->user_ns, trace_ns);
	share_if(report, true, "", "Time running", f->user_ns + f->syscall_ns + f->trap_ns, trace_ns);
	if (trace_analysis_sees_wakeups(report->analysis))
		share_if_calls(report, "Time waiting for I/O", io_ns(f), trace_ns);
	else
		share_if(report, false, "wakeups", "Time waiting for I/O", 0, trace_ns);
}

/* Writes nothing for a process outside containers. */
static void container_lines(const struct text_output *output, const struct trace_process *process)
{
	const char *cgroup = trace_process_cgroup(process);
	uint32_t ns_pid = trace_process_ns_pid(process);
	char name[NAME_BYTES];

	if (ns_pid && ns_pid != trace_process_pid(process))
		output_line(output, "\t\t", "Number in its own namespace: %u", ns_pid);
	if (*cgroup && strcmp(cgroup, "/") != 0) {
		text_name(cgroup, name, sizeof(name));
		output_line(output, "\t\t", "Control group: %s", name);
	}
}

/* The figures of the page have the wait for the recorder, as those of its threads have. */
static void held_line(const struct report *report, const struct trace_figures *f, const struct process_row *row)
{
	struct value_text held, ran;

	if (row->elapsed_ns < f->elapsed_ns)
		output_line(&report->output, "\t\t", "Held by the recorder for %s before it ran, for %s",
			    text_ns(&report->output, f->elapsed_ns - row->elapsed_ns, &held),
			    text_ns(&report->output, row->elapsed_ns, &ran));
}

static void process_page(const struct report *report, const struct process_row *row, uint64_t trace_ns)
{
	struct trace_figures *f = chosen_figures(report, row->process);
	char title[3 * NAME_BYTES + 96], name[NAME_BYTES], exe[NAME_BYTES];
	struct string threads = {0};

	text_comm(trace_process_title(row->process), name, sizeof(name));
	text_name(trace_process_exe(row->process), exe, sizeof(exe));
	chosen_threads_text(&threads, report, row->process);
	snprintf(title, sizeof(title), "Process (%u, %u): %s%s%s%s:", trace_process_pid(row->process),
		 trace_process_ppid(row->process), name, *exe ? "  " : "", exe, string_text(&threads));
	string_free(&threads);
	output_title(&report->output, "\t", title);
	container_lines(&report->output, row->process);
	held_line(report, f, row);
	report_identities(report, row->process);
	classic_lines(report, f, trace_ns);
	mode_table(report, row->process, f);
	report_threads(report, row->process);
	system_call_table(report, f);
	call_table(report, "Work of the kernel outside of calls:", f->kernel_work, f->nr_kernel_work, "count", "",
		   f->elapsed_ns);
	call_table(report, "Traps:", f->traps, f->nr_traps_rows, "count", "major", f->elapsed_ns);
	interrupt_table(report, f);
	cpu_wait_table(report, f, row->process);
	wait_table(report, f, row->process);
	disk_use_lines(report, row->process, f);
	file_table(report, f);
	fputs("\n", report->output.out);
	trace_figures_free(f);
}

void report_system_page(const struct report *report, const struct trace_figures *f)
{
	struct cpu_total cpus = cpu_total(report->analysis);
	uint64_t start, end, nr = trace_nr_cpus(report->analysis), whole;

	trace_analysis_window(report->analysis, &start, &end);
	whole = (end - start) * (nr ? nr : 1);
	output_title(&report->output, "\t", "System-wide:");
	if (!has_scheduling(report->analysis)) {
		system_call_table(report, f);
		return;
	}
	share_if_calls(report, "Total process time", cpus.user_ns, whole);
	share_if_calls(report, "Total system time", cpus.system_ns + cpus.interrupts_ns, whole);
	if (trace_analysis_is_filtered(report->analysis))
		output_line(&report->output, "\t\t",
			    "System idle: unknown, because processes excluded by the filter may have run");
	else
		share(&report->output, "System idle", cpus.idle_ns, whole);
	system_call_table(report, f);
}

void report_pages(const struct report *report, const struct process_row *rows, size_t nr)
{
	size_t max = row_limit_max(&report->options->rows, nr, PAGES), shown = 0, left = 0;
	uint64_t start, end;

	trace_analysis_window(report->analysis, &start, &end);
	output_title(&report->output, "", "Analysis details:");
	for (size_t i = 0; i < nr; i++) {
		if (rows[i].folded)
			continue;
		if (shown++ >= max)
			left++;
		else
			process_page(report, &rows[i], end - start);
	}
	if (left) {
		output_line(&report->output, "\t", "(%zu more process%s no page here; --all shows all, --pid=N one)",
			    left, left == 1 ? " has" : "es have");
		fputs("\n", report->output.out);
	}
}
