/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* process_rows.c - choose and sort the processes of a report. */
#include <stdlib.h>
#include <string.h>
#include "checked_figures.h"
#include "process_choice.h"
#include "process_rows.h"
#include "recorded_family.h"
#include "row_limit.h"
#include "thread_choice.h"

static int descending(uint64_t left, uint64_t right)
{
	return left > right ? -1 : left < right;
}

static uint64_t cpu_ns(const struct process_row *row)
{
	return row->user_ns + row->system_ns;
}

/* User and system time cannot be told apart without system calls: then sort by their sum. */
static enum sort_key sort_key_of(const struct report *report)
{
	enum sort_key key = report->options->rows.sort;

	return (key == SORT_USER || key == SORT_SYSTEM) && !trace_analysis_sees_calls(report->analysis) ? SORT_CPU
													: key;
}

static bool has_user_order(const struct report *report)
{
	return report->options->rows.sorted || has_process_choice(&report->options->processes);
}

int process_rows_compare(const void *left, const void *right, void *data)
{
	const struct process_row *l = left, *r = right;
	const struct report *report = data;
	int order = has_user_order(report) ? 0 : (int)l->rank - (int)r->rank;

	if (order)
		return order;

	switch (sort_key_of(report)) {
	case SORT_ELAPSED:
		order = descending(l->elapsed_ns, r->elapsed_ns);
		break;
	case SORT_CPU:
		break; /* the second key of every order */
	case SORT_USER:
		order = descending(l->user_ns, r->user_ns);
		break;
	case SORT_SYSTEM:
		order = descending(l->system_ns, r->system_ns);
		break;
	case SORT_WAIT:
		order = descending(l->blocked_ns, r->blocked_ns);
		break;
	case SORT_WAIT_CPU:
		order = descending(l->wait_cpu_ns, r->wait_cpu_ns);
		break;
	case SORT_PID:
		order = -descending(trace_process_pid(l->process), trace_process_pid(r->process));
		break;
	case SORT_NAME:
		order = strcmp(trace_process_comm(l->process), trace_process_comm(r->process));
		break;
	}
	if (!order)
		order = descending(cpu_ns(l), cpu_ns(r));
	return order ? order : -descending(trace_process_pid(l->process), trace_process_pid(r->process));
}

/*
 * The time in which a process ran, or was kept from running: waits for CPUs, files, network and
 * memory, without idle waits.
 */
static uint64_t weight_ns(const struct trace_figures *f)
{
	uint64_t ns = f->user_ns + f->syscall_ns + f->trap_ns + f->wait_cpu_ns;

	for (size_t i = 0; i < f->nr_waits; i++)
		if (!f->waits[i].idle &&
		    (f->waits[i].kind == TRACE_WAIT_FILE || f->waits[i].kind == TRACE_WAIT_NETWORK ||
		     f->waits[i].kind == TRACE_WAIT_MEMORY))
			ns += f->waits[i].ns;
	return ns;
}

/* A process that a filter excluded has unknown time only. */
static bool is_known(const struct trace_figures *f)
{
	return unknown_wait_ns(f) < f->elapsed_ns;
}

static void find_worst(const struct trace_figures *f, struct process_row *row)
{
	uint64_t *ns = row->kind_ns;

	if (!f->nr_waits)
		return;
	row->worst = f->waits[0];
	row->only_own = true;
	for (size_t i = 0; i < f->nr_waits; i++) {
		/* a part of the first one may have been subtracted */
		if (f->waits[i].idle == row->worst.idle && f->waits[i].ns > row->worst.ns)
			row->worst = f->waits[i];
		*(f->waits[i].idle ? &row->idle_ns : &ns[f->waits[i].kind]) += f->waits[i].ns;
		row->only_own &= f->waits[i].kind != TRACE_WAIT_PROCESS ||
				 f->waits[i].pid == trace_process_pid(row->process);
	}
	for (int kind = 0; kind < TRACE_NR_WAIT_KINDS; kind++) {
		if (ns[kind] <= row->worst_kind_ns)
			continue;
		row->worst_kind = (enum trace_wait_kind)kind;
		row->worst_kind_ns = ns[kind];
	}
}

static void fill(const struct report *report, const struct trace_process *process, struct process_row *row)
{
	struct trace_figures *f = chosen_figures(report, process);
	uint64_t start, end;

	/* in text; JSON has it among the waits, so that the sums of threads agree */
	if (process == report->command.process && !report->options->reports.json)
		command_subtract_recorder_wait(&report->command, f);
	*row = (struct process_row){
		.process = process,
		.elapsed_ns = f->elapsed_ns,
		.user_ns = f->user_ns,
		.system_ns = f->syscall_ns + f->trap_ns,
		.interrupted_ns = f->interrupted_ns,
		.wait_cpu_ns = f->wait_cpu_ns,
		.blocked_ns = f->blocked_ns,
	};
	find_worst(f, row);
	trace_analysis_window(report->analysis, &start, &end);
	row->folded = !weight_ns(f) || (!report->options->rows.top && percent(weight_ns(f), end - start) < WORTH_A_ROW);
	row->rank = trace_analysis_is_filtered(report->analysis) && !is_known(f) ? RANK_NOT_RECORDED : RANK_OTHER;
	if (trace_analysis_is_filtered(report->analysis) && is_known(f)) /* the filter chose it */
		row->folded = false;
	trace_figures_free(f);
}

bool command_comes_first(const struct report *report)
{
	return report->command.process && !has_user_order(report) && !report->options->reports.json;
}

/*
 * Users record a command or a process to learn about that one. By elapsed time a daemon with three
 * sleeping threads would come first: it has three times the elapsed time.
 */
static void mark_asked(const struct report *report, struct process_row *rows, size_t nr)
{
	struct pointers family = recorded_family(report);
	struct hash_table members = {0}; /* rows are keys: addresses of processes */

	for (size_t i = 0; i < family.nr; i++)
		memory_row(&members, sizeof(uint64_t), (uintptr_t)family.at[i]);
	for (size_t i = 0; i < nr; i++)
		if ((rows[i].rank == RANK_OTHER || (family.nr && rows[i].process == family.at[0])) &&
		    table_find(&members, sizeof(uint64_t), (uintptr_t)rows[i].process))
			rows[i].rank = RANK_ASKED;
	table_clear(&members);
	pointers_free(&family);
}

struct process_row *process_rows(const struct report *report, size_t *ret_nr)
{
	size_t all = trace_nr_processes(report->analysis), nr = 0;
	struct process_row *list = memory_take(all + 1, sizeof(*list));
	bool named = has_process_choice(&report->options->processes) || report->options->rows.all;

	for (size_t i = 0; i < all; i++) {
		const struct trace_process *process = trace_get_process(report->analysis, i);

		if (!process_is_chosen(&report->options->processes, process) || !trace_nr_threads(process))
			continue;
		if (report->is_windowed && trace_process_end_ns(process) <= trace_process_start_ns(process))
			continue; /* it lived before the window, or after it */
		fill(report, process, &list[nr]);
		if (named)
			list[nr].folded = false;
		nr++;
	}
	if (!report->options->reports.json || !report->command.process)
		mark_asked(report, list, nr);
	memory_sort(list, nr, sizeof(*list), process_rows_compare, (void *)report);
	*ret_nr = nr;
	return list;
}
