/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * report_threads.c - the threads of a process: the states of each, and what it waited for the
 * longest.
 *
 * The sums of a process with a pool of threads say little: twenty workers that sleep have most of
 * the time. A line for each thread shows which one worked, and which one the others waited for.
 */
#include <stdlib.h>
#include "checked_figures.h"
#include "grid.h"
#include "recorded.h"
#include "report_threads.h"
#include "row_limit.h"
#include "thread_choice.h"
#include "wait_text.h"

#define ROWS	   15 /* unless --top or --all choose another number */
#define NAME_BYTES 256

struct thread_row {
	const struct trace_thread *thread;
	struct trace_figures *figures; /* owned */
};

static uint64_t busy_ns(const struct trace_figures *f)
{
	return f->user_ns + f->syscall_ns + f->trap_ns + f->interrupted_ns + f->wait_cpu_ns;
}

/* A thread that worked or wanted a CPU comes before one that slept. */
static int busiest_first(const void *left, const void *right, void *data)
{
	const struct thread_row *l = left, *r = right;

	if (busy_ns(l->figures) != busy_ns(r->figures))
		return busy_ns(l->figures) > busy_ns(r->figures) ? -1 : 1;
	return trace_thread_tid(l->thread) < trace_thread_tid(r->thread) ? -1 : 1;
}

static void put_row(const struct report *report, struct grid *grid, const struct thread_row *row, uint32_t own_pid)
{
	const struct trace_figures *f = row->figures;
	char text[2 * NAME_BYTES];
	struct value_text tid;

	snprintf(tid.bytes, sizeof(tid.bytes), "%u", trace_thread_tid(row->thread));
	grid_text(grid, tid.bytes);
	grid_ns(grid, f->elapsed_ns);
	grid_ns(grid, f->user_ns + (trace_analysis_sees_calls(report->analysis) ? 0 : f->syscall_ns + f->trap_ns));
	grid_ns(grid, f->syscall_ns + f->trap_ns);
	grid_ns(grid, f->interrupted_ns);
	grid_ns(grid, f->wait_cpu_ns);
	grid_ns(grid, f->blocked_ns);
	grid_text(grid, text_comm(trace_thread_comm(row->thread), text, sizeof(text)));
	grid_text(grid, f->nr_waits ? text_wait(report->analysis, &f->waits[0], own_pid, text, sizeof(text)) : "");
}

static void put_rows(const struct report *report, const struct thread_row *rows, size_t nr, uint32_t own_pid)
{
	bool calls = trace_analysis_sees_calls(report->analysis);
	const struct grid_column columns[] = {{"TID", GRID_RIGHT},
					      {"elapsed", GRID_OPTIONAL},
					      {calls ? "own code" : "on a CPU", GRID_RIGHT},
					      {"kernel", calls ? GRID_RIGHT : GRID_HIDDEN},
					      {"interrupted",
					       has_interrupts(report->analysis) ? GRID_OPTIONAL : GRID_HIDDEN},
					      {"CPU wait", GRID_RIGHT},
					      {"blocked", GRID_RIGHT},
					      {"thread", GRID_ELASTIC},
					      {"blocked longest on", GRID_EXTRA}};
	struct row_limit limit = row_limit_new(&report->options->rows, ROWS);
	struct grid *grid = grid_new(&report->output, "\t\t  ", columns, sizeof(columns) / sizeof(columns[0]));
	struct value_text rest;

	output_title(&report->output, "\t\t", "Threads:");
	for (size_t i = 0; i < nr; i++)
		if (row_limit_shows_if(&limit, true, rows[i].figures->elapsed_ns))
			put_row(report, grid, &rows[i], own_pid);
	grid_end(grid, row_limit_rest(&limit, &report->output, &rest));
}

void report_threads(const struct report *report, const struct trace_process *process)
{
	size_t all = trace_nr_threads(process), nr = 0;
	struct thread_row *rows;

	if (all < 2 || !has_scheduling(report->analysis))
		return;
	rows = memory_take(all, sizeof(*rows));
	for (const struct trace_thread *thread = NULL; (thread = trace_next_thread(process, thread)) && nr < all;)
		if (thread_is_chosen(report, thread))
			rows[nr++] = (struct thread_row){.thread = thread,
							 .figures = checked_figures(
								 trace_thread_figures(report->analysis, thread))};
	memory_sort(rows, nr, sizeof(*rows), busiest_first, NULL);
	put_rows(report, rows, nr, trace_process_pid(process));
	for (size_t i = 0; i < nr; i++)
		trace_figures_free(rows[i].figures);
	free(rows);
}
