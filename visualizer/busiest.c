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
	if (wait->kind == TRACE_WAIT_PROCESS && !wait->pid)
		return false; /* for one of several, or an unknown one: it waits for something to do */
	if (wait->kind == TRACE_WAIT_PROCESS)
		return wait->pid != own_pid && strcmp(wait->via, "waitpid") != 0 &&
		       !is_descendant(busiest, wait->pid, own_pid);
	/* a call whose end no recorded thread caused: the reason is outside of the filter */
	if (wait->kind == TRACE_WAIT_OTHER && trace_analysis_is_filtered(busiest->report->analysis))
		return true;
	return wait->kind == TRACE_WAIT_FILE || wait->kind == TRACE_WAIT_NETWORK || wait->kind == TRACE_WAIT_MEMORY ||
	       wait->kind == TRACE_WAIT_QUOTA;
}

/* Answers, files and quota: for these a program waits against its will. Its input may be a pipe. */
static bool is_need(const struct trace_wait *wait)
{
	return wait->kind != TRACE_WAIT_OTHER &&
	       (wait->kind != TRACE_WAIT_PROCESS || strcmp(wait->via, "tcp") == 0 || strcmp(wait->via, "unix") == 0);
}

static uint64_t waits_ns(const struct busiest *busiest, const struct trace_figures *f, uint32_t own_pid, bool needs)
{
	uint64_t ns = 0;

	for (size_t i = 0; i < f->nr_waits; i++)
		if (is_work(busiest, &f->waits[i], own_pid) && (!needs || is_need(&f->waits[i])))
			ns += f->waits[i].ns;
	return ns;
}

/* A process that never had a CPU has no work. */
static uint64_t work_ns(const struct busiest *busiest, const struct trace_figures *f, uint32_t own_pid)
{
	uint64_t ns = f->user_ns + f->syscall_ns + f->trap_ns;

	if (f->elapsed_ns == f->wait_cpu_ns + f->blocked_ns)
		return 0;
	return ns + waits_ns(busiest, f, own_pid, false) + f->wait_cpu_ns;
}

/* struct worker - a thread and its work */
struct worker {
	const struct trace_thread *thread;
	uint64_t ns;
	bool is_busy; /* most of its time is work */
};

static struct worker worker_of(const struct busiest *busiest, const struct trace_thread *thread)
{
	struct trace_figures *f = checked_figures(trace_thread_figures(busiest->report->analysis, thread));
	uint64_t ns = work_ns(busiest, f, trace_process_pid(trace_thread_process(thread)));
	struct worker worker = {.thread = thread, .ns = ns, .is_busy = ns > f->elapsed_ns / 2};

	trace_figures_free(f);
	return worker;
}

static struct worker *workers_of(const struct busiest *busiest, const struct trace_process *process, size_t *ret_nr)
{
	struct worker *list = NULL;
	size_t room = 0;

	*ret_nr = 0;
	for (const struct trace_thread *thread = NULL; (thread = trace_next_thread(process, thread));) {
		if (!thread_is_chosen(busiest->report, thread))
			continue;
		list = memory_grow(list, *ret_nr, &room, sizeof(*list));
		list[(*ret_nr)++] = worker_of(busiest, thread);
	}
	return list;
}

static int most_work_first(const void *left, const void *right, void *data)
{
	const struct worker *l = left, *r = right;

	return l->ns > r->ns ? -1 : l->ns < r->ns;
}

static bool is_named_like(const struct trace_thread *thread, const struct trace_thread *other)
{
	return strcmp(trace_thread_comm(thread), trace_thread_comm(other)) == 0;
}

/*
 * A server that begins a thread for each request has its work in many, none of which tells much. A
 * group is the busy threads with the name of the busiest of them, if together they have more than
 * twice the work of any thread. Returns how many threads it put into @threads, at most @max.
 */
static size_t take_group(const struct worker *list, size_t nr, const struct trace_thread **threads, size_t max)
{
	const struct trace_thread *busiest = NULL;
	uint64_t ns = 0;
	size_t found = 0;

	for (size_t i = 0; i < nr && found < max; i++) {
		if (!list[i].is_busy || (busiest && !is_named_like(list[i].thread, busiest)))
			continue;
		busiest = busiest ? busiest : list[i].thread;
		threads[found++] = list[i].thread;
		ns += list[i].ns;
	}
	return found > 1 && ns / 2 > list[0].ns ? found : 0;
}

static const struct trace_thread *thread_of(const struct busiest *busiest, const struct trace_process *process)
{
	size_t nr, best = 0;
	struct worker *list = workers_of(busiest, process, &nr);
	const struct trace_thread *thread;

	for (size_t i = 1; i < nr; i++)
		if (list[i].ns > list[best].ns)
			best = i;
	thread = nr ? list[best].thread : NULL;
	free(list);
	return thread;
}

/* True for the process of tracedaemon -P. */
static bool is_recorded(const struct report *report, const struct trace_process *process)
{
	uint32_t pid = chosen_pid(report->trace);

	return pid && pid == trace_process_pid(process);
}

/* A recorder waits for a CPU while the programs that it records have them; it is no cause. */
static bool is_recorder(const struct trace_process *process)
{
	return strcmp(trace_process_comm(process), "tracedaemon") == 0;
}

/*
 * The weight of a process in the choice. In a recording of a machine, a process that waited for
 * what it needed in half of the time comes before all that had the CPUs: the bars show these.
 */
static uint64_t weight_of(const struct busiest *busiest, const struct trace_process *process,
			  const struct trace_figures *f)
{
	const struct report *report = busiest->report;
	uint64_t work = work_ns(busiest, f, trace_process_pid(process)), start, end, waits;

	if (!work || has_process_choice(&report->options->processes))
		return work;
	if (is_recorder(process))
		return 1;
	trace_analysis_window(report->analysis, &start, &end);
	waits = waits_ns(busiest, f, trace_process_pid(process), true);
	return waits >= (end - start) / 2 ? UINT64_MAX / 2 + waits : work;
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
		ns = is_recorded(report, rows[i].process) ? UINT64_MAX : weight_of(busiest, rows[i].process, f);
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

void busiest_sort(const struct report *report, const struct trace_thread **threads, size_t nr)
{
	struct busiest busiest = {.report = report};
	struct worker *list;

	if (nr < 2)
		return;
	list = memory_take(nr, sizeof(*list));
	take_family(&busiest);
	for (size_t i = 0; i < nr; i++)
		list[i] = worker_of(&busiest, threads[i]);
	memory_sort(list, nr, sizeof(*list), most_work_first, NULL);
	for (size_t i = 0; i < nr; i++)
		threads[i] = list[i].thread;
	free(list);
	table_clear(&busiest.family);
}

size_t busiest_group(const struct report *report, const struct trace_process *process,
		     const struct trace_thread **threads, size_t max)
{
	struct busiest busiest = {.report = report};
	struct worker *list;
	size_t nr, found;

	if (trace_nr_threads(process) <= 2) /* of two, one has half of the work */
		return 0;
	take_family(&busiest);
	list = workers_of(&busiest, process, &nr);
	memory_sort(list, nr, sizeof(*list), most_work_first, NULL);
	found = take_group(list, nr, threads, max);
	free(list);
	table_clear(&busiest.family);
	return found;
}
