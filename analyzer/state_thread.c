/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * state_thread.c - the tables of processes and threads
 *
 * A process and its threads stay until the analysis is freed, because results refer to them. The
 * table of threads by number has the latest thread of each number, also when it is dead.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "accounting_packed.h"
#include "state.h"
#include "state_filtered.h"
#include "state_identity.h"
#include "state_thread.h"

/* ---- processes ---- */

struct process_idx_row {
	uint64_t key;
	uint32_t idx;
};

struct trace_process *process_new(struct trace_analysis *a, uint32_t pid)
{
	struct trace_process *process;
	struct process_idx_row *row;

	if (a->threads.nr_processes >= a->threads.max_processes) {
		uint32_t max = a->threads.max_processes ? a->threads.max_processes * 2 : 64;
		struct trace_process **bigger = reallocarray(a->threads.processes, max, sizeof(*bigger));

		if (!bigger)
			goto fail;
		a->threads.processes = bigger;
		a->threads.max_processes = max;
	}
	process = arena_take(&a->arena, sizeof(*process));
	if (!process)
		goto fail;
	process->idx = a->threads.nr_processes;
	process->pid = pid;
	process->uid = process->gid = TRACE_ID_UNKNOWN;
	process->strings = &a->strings;
	a->threads.processes[a->threads.nr_processes++] = process;
	row = acct_row(a, &a->threads.process_by_pid, sizeof(*row), pid + 1ull);
	row->idx = process->idx;
	return process;
fail:
	a->failed = -ENOMEM;
	return NULL;
}

void process_renumber(struct trace_analysis *a, struct trace_process *process, uint32_t idx)
{
	struct process_idx_row *row = acct_row(a, &a->threads.process_by_pid, sizeof(*row), process->pid + 1ull);

	if (row->idx == process->idx)
		row->idx = idx;
	process->idx = idx;
	for (struct trace_thread *thread = process->first; thread; thread = thread->next)
		thread->process_idx = idx;
}

uint64_t process_end_ns(const struct trace_process *process)
{
	uint64_t end = 0;

	for (const struct trace_thread *thread = process->first; thread; thread = thread->next)
		if (thread->end_ns > end)
			end = thread->end_ns;
	return end;
}

struct trace_process *process_find(const struct thread_table *table, uint32_t pid)
{
	const struct process_idx_row *row = table_find(&table->process_by_pid, sizeof(*row), pid + 1ull);

	return row && row->idx >= NR_PSEUDO_PROCESSES ? table->processes[row->idx] : NULL;
}

struct trace_process *process_get(struct trace_analysis *a, uint32_t pid)
{
	struct trace_process *process = process_find(&a->threads, pid);

	return process ? process : process_new(a, pid);
}

/*
 * The recorder tells which threads are workers of io_uring. Older recorders did not: then the name
 * decides, which any thread may have.
 */
static bool is_worker_by_name(const struct trace_analysis *a, const struct trace_thread *thread)
{
	return !(thread->flags & THREAD_KERNEL) && !trace_type_by_id(a->trace, TRACE_EV_fs_dir) &&
	       (strncmp(thread->comm, "iou-wrk-", 8) == 0 || strncmp(thread->comm, "iou-sqp-", 8) == 0);
}

void process_set_comm(struct trace_analysis *a, struct trace_thread *thread, const char *comm)
{
	strncpy(thread->comm, comm, sizeof(thread->comm) - 1);
	if (thread->tid == thread->process->pid || (!thread->process->comm[0] && !thread->process->is_renamed))
		memcpy(thread->process->comm, thread->comm, sizeof(thread->comm));
	if ((thread->flags & THREAD_KERNEL) && strncmp(comm, "ksoftirqd/", 10) == 0)
		thread->flags |= THREAD_SOFTIRQ_DAEMON;
	if (is_worker_by_name(a, thread))
		thread->flags |= THREAD_IO_WORKER;
}

static void thread_release(struct trace_thread *thread)
{
	fds_unref(thread->fds);
	memory_unref(thread->memory);
	directories_unref(thread->directories);
	acct_clear(&thread->acct);
	table_clear(&thread->uses);
	free(thread->packed);
	free(thread->path);
	free(thread->signals);
	free(thread->ready);
	free(thread->rare);
	free(thread->interrupted);
	free(thread->kept_waits);
	free(thread->requests.rests);
	free(thread->shares);
}

void process_release(struct trace_process *process)
{
	if (process->identities) {
		free(process->identities->rows);
		free(process->identities->apart);
	}
	free(process->identities);
	process->identities = NULL;
	for (struct trace_thread *thread = process->first; thread; thread = thread->next)
		thread_release(thread);
}

struct trace_thread *process_owner(const struct thread_table *table, const struct trace_process *process)
{
	struct trace_thread *leader = thread_find(table, process->pid), *thread = process->first;

	if (leader && leader->process == process && leader->sched_state != SCHED_DEAD)
		return leader;
	while (thread && thread->sched_state == SCHED_DEAD)
		thread = thread->next;
	return thread;
}

/* ---- threads ---- */

struct trace_thread **thread_slot(struct trace_analysis *a, uint32_t tid)
{
	struct trace_thread ***page = &a->threads.pages[tid / TID_PAGE];

	if (!*page) {
		*page = calloc(TID_PAGE, sizeof(**page));
		if (!*page) {
			a->failed = -ENOMEM;
			return NULL;
		}
	}
	return &(*page)[tid % TID_PAGE];
}

struct trace_thread *thread_find(const struct thread_table *table, uint32_t tid)
{
	if (tid >= MAX_TID || !table->pages[tid / TID_PAGE])
		return NULL;
	return table->pages[tid / TID_PAGE][tid % TID_PAGE];
}

struct trace_thread *thread_new(struct trace_analysis *a, uint32_t tid, struct trace_process *process,
				uint64_t start_ns)
{
	struct trace_thread **slot = tid && tid < MAX_TID && process ? thread_slot(a, tid) : NULL;
	struct trace_thread *thread = slot ? arena_take(&a->arena, sizeof(*thread)) : NULL;

	if (!thread) {
		if (slot)
			a->failed = -ENOMEM;
		return NULL;
	}
	*slot = thread;
	thread->idx = a->threads.nr++;
	thread->tid = tid;
	thread->uid = process->uid;
	thread->process = process;
	thread->process_idx = process->idx;
	thread->start_ns = thread->since = start_ns;
	thread->flags = filtered_hides(&a->filter, process) ? THREAD_FILTERED : 0;
	thread->sched_state = SCHED_NEW;
	if (process->last)
		process->last->next = thread;
	else
		process->first = thread;
	process->last = thread;
	process->nr_threads++;
	process->nr_living++;
	if (process->has_left_living)
		wakers_revive(a, process);
	if (a->hooks.new_thread && !a->threads.may_drop)
		a->hooks.new_thread(a->hooks.new_thread_data, thread);
	return thread;
}

uint32_t process_drop(struct trace_analysis *a, struct trace_process *process, thread_choice *is_unwanted)
{
	struct trace_thread **at = &process->first, *thread;
	uint32_t nr = 0;

	process->last = NULL;
	while ((thread = *at)) {
		if (!is_unwanted(thread)) {
			process->last = thread;
			at = &thread->next;
			continue;
		}
		if (thread_find(&a->threads, thread->tid) == thread)
			*thread_slot(a, thread->tid) = NULL;
		process->nr_threads--;
		process->nr_living -= thread->sched_state != SCHED_DEAD;
		*at = thread->next;
		thread_release(thread);
		nr++;
	}
	return nr;
}

void threads_stay(struct trace_analysis *a)
{
	a->threads.may_drop = false;
	for (uint32_t i = NR_PSEUDO_PROCESSES; a->hooks.new_thread && i < a->threads.nr_processes; i++)
		for (const struct trace_thread *t = a->threads.processes[i]->first; t; t = t->next)
			a->hooks.new_thread(a->hooks.new_thread_data, t);
}

void thread_snapshot(const struct trace_thread *thread, uint64_t ns, struct thread_snapshot *ret_snapshot)
{
	ret_snapshot->ns = ns;
	ret_snapshot->cpu = thread->acct.syscall + thread->acct.trap;
	ret_snapshot->interrupted = thread->acct.interrupted;
	ret_snapshot->wait_cpu = thread->acct.wait_cpu;
	ret_snapshot->wait = thread->acct.blocked;
}

void thread_mode_unknown(struct trace_thread *thread, uint64_t ns)
{
	struct frame *frame = &thread->frames[0];

	thread->depth = 0;
	if ((thread->flags & (THREAD_KERNEL | THREAD_IO_WORKER)) || thread->is_dying)
		return;
	thread->flags |= THREAD_MODE_UNKNOWN;
	memset(frame, 0, sizeof(*frame));
	frame->kind = FRAME_SYSCALL;
	frame->call = CALL_UNKNOWN;
	thread_snapshot(thread, ns, &frame->begin);
}

void thread_table_clear(struct thread_table *table)
{
	for (uint32_t i = 0; i < table->nr_processes; i++)
		process_release(table->processes[i]);
	for (uint32_t i = 0; i < MAX_TID / TID_PAGE; i++)
		free(table->pages[i]);
	free(table->processes);
	table_clear(&table->process_by_pid);
}

uint64_t trace_process_start_ns(const struct trace_process *process)
{
	uint64_t start = UINT64_MAX;

	for (const struct trace_thread *thread = process->first; thread; thread = thread->next)
		if (thread->start_ns < start)
			start = thread->start_ns;
	return start;
}
