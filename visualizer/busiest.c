/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* busiest.c - the thread with the most work. */
#include <stdlib.h>
#include <string.h>
#include "busiest.h"
#include "checked_figures.h"
#include "checked_memory.h"
#include "process_choice.h"
#include "recorded.h"
#include "thread_choice.h"

#define MAX_GENERATIONS 64

/* struct family_row - a process and its parent */
struct family_row {
	uint64_t key; /* pid */
	uint32_t ppid;
};

/* struct busiest - what the search knows */
struct busiest {
	const struct report *report;
	struct hash_table family;
};

static void take_family(struct busiest *busiest)
{
	for (size_t i = 0; i < trace_nr_processes(busiest->report->analysis); i++) {
		const struct trace_process *process = trace_get_process(busiest->report->analysis, i);
		struct family_row *row;

		if (!trace_process_pid(process))
			continue;
		row = memory_row(&busiest->family, sizeof(*row), trace_process_pid(process));
		row->ppid = trace_process_ppid(process);
	}
}

static bool is_descendant(const struct busiest *busiest, uint32_t pid, uint32_t ancestor)
{
	for (int i = 0; pid && i < MAX_GENERATIONS; i++) {
		const struct family_row *row = table_find(&busiest->family, sizeof(*row), pid);

		pid = row ? row->ppid : 0;
		if (pid == ancestor)
			return true;
	}
	return false;
}

static bool is_work(const struct busiest *busiest, const struct trace_wait *wait, uint32_t own_pid)
{
	if (wait->idle)
		return false;
	if (wait->kind == TRACE_WAIT_PROCESS)
		return wait->pid != own_pid && strcmp(wait->via, "waitpid") != 0 &&
		       !is_descendant(busiest, wait->pid, own_pid);
	/* a call whose end no recorded thread caused: the reason is outside of the filter */
	if (wait->kind == TRACE_WAIT_OTHER && trace_analysis_is_filtered(busiest->report->analysis))
		return true;
	return wait->kind == TRACE_WAIT_FILE || wait->kind == TRACE_WAIT_NETWORK || wait->kind == TRACE_WAIT_MEMORY ||
	       wait->kind == TRACE_WAIT_QUOTA;
}

static uint64_t work_ns(const struct busiest *busiest, const struct trace_figures *f, uint32_t own_pid)
{
	uint64_t ns = f->user_ns + f->syscall_ns + f->trap_ns;

	if (f->elapsed_ns == f->wait_cpu_ns + f->blocked_ns)
		return 0;
	for (size_t i = 0; i < f->nr_waits; i++)
		ns += is_work(busiest, &f->waits[i], own_pid) ? f->waits[i].ns : 0;
	return ns + f->wait_cpu_ns;
}

static const struct trace_thread *thread_of(const struct busiest *busiest, const struct trace_process *process)
{
	const struct trace_thread *best = NULL;
	uint64_t most = 0;

	for (const struct trace_thread *thread = NULL; (thread = trace_next_thread(process, thread));) {
		struct trace_figures *f;
		uint64_t ns;

		if (!thread_is_chosen(busiest->report, thread))
			continue;
		f = checked_figures(trace_thread_figures(busiest->report->analysis, thread));
		ns = work_ns(busiest, f, trace_process_pid(process));
		if (!best || ns > most) {
			best = thread;
			most = ns;
		}
		trace_figures_free(f);
	}
	return best;
}

/* True for the process of tracedaemon -P. */
static bool is_recorded(const struct report *report, const struct trace_process *process)
{
	uint32_t pid = chosen_pid(report->trace);

	return pid && pid == trace_process_pid(process);
}

static const struct trace_process *process_of(const struct busiest *busiest, const struct process_row *rows, size_t nr)
{
	const struct report *report = busiest->report;
	const struct trace_process *best = NULL;
	uint64_t most = 0;

	for (size_t i = 0; i < nr; i++) {
		struct trace_figures *f;
		uint64_t ns;

		if (trace_process_is_kernel(rows[i].process) && !has_process_choice(&report->options->processes))
			continue;
		f = chosen_figures(report, rows[i].process);
		ns = is_recorded(report, rows[i].process) ? UINT64_MAX
							  : work_ns(busiest, f, trace_process_pid(rows[i].process));
		if (ns > most || (!best && has_process_choice(&report->options->processes))) {
			best = rows[i].process;
			most = ns;
		}
		trace_figures_free(f);
	}
	return best;
}

const struct trace_thread *busiest_thread(const struct report *report, const struct process_row *rows, size_t nr)
{
	struct busiest busiest = {.report = report};
	const struct trace_process *process;
	const struct trace_thread *thread;

	take_family(&busiest);
	process = process_of(&busiest, rows, nr);
	thread = process ? thread_of(&busiest, process) : NULL;
	table_clear(&busiest.family);
	return thread;
}
