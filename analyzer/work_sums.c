/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * work_sums.c - what deferred work of the kernel costs, and for which process
 *
 * A kworker executes work that a thread queued: its CPU time from work_start to work_end is for the
 * process of that thread (state_work.c). Work that an interrupt or a timer queued is for no process
 * and keeps the name of its function.
 *
 * Writeback is different: a flusher writes the dirty pages of many files in one run. Each
 * fs_writeback ends the part of one file, which began with the run or with the file before. That
 * part, and the pages, are for the process that has written to the file since the last writeback of
 * it: `several` if there is more than one, or if another process has the file mapped to write. A
 * file that no recorded call wrote to is for `unknown`. The rest of the run is for its queuer.
 *
 * The requests that a run issues are of a file, too, but its events come in another order: the
 * kernel collects requests, and issues those of several files together, when there are many or when
 * the run ends. The recorder tells the files of each request (block_file, disk_sums.c). Without
 * that, requests in the part of a file are of that file, or of one since the previous requests. If
 * one process wrote to all of these, it has the requests, else `several`. Requests of a run that
 * writes no file back are for its queuer.
 *
 * Example: process 10 writes 1 MiB to /a, and 11 writes to /b. A timer queues the flusher. It runs
 * 300 us until the fs_writeback of /a, then 200 us until that of /b, then 100 us: 300 us and 1 MiB
 * for process 10, 200 us for process 11, 100 us for no process.
 */
#include <stdlib.h>
#include <string.h>
#include "dirty_files.h"
#include "result_order.h"
#include "sort.h"
#include "state.h"
#include "work_sums.h"

#define FOR_NO_PROCESS PROCESS_IDLE /* in work_sum_row.target */

struct work_sum_row {
	uint64_t key;
	uint64_t func;
	uint64_t runs; /* 0: the row is new */
	uint64_t files;
	uint64_t cpu;
	uint64_t bytes;
	uint32_t target; /* process_idx */
	uint32_t dev;	 /* 0: none */
};

/* A worker: the work that it executes. */
struct work_run_row {
	uint64_t key;  /* trace_thread_index() + 1 */
	uint64_t func; /* 0: none */
	uint64_t began;
	uint64_t ns;	 /* begin of the part */
	uint64_t cpu;	 /* CPU time of the worker then */
	uint64_t cpu_to; /* the same at the end of the window: what follows is not counted */
	uint32_t queuer; /* process_idx */
	uint32_t target; /* of the part: process_idx, and the device */
	uint32_t dev;
	uint32_t wrote;	 /* the process whose files requests may be of: process_idx; 0: none yet */
	bool has_issued; /* requests whose process is not decided yet */
};

#define PAGE_BYTES 4096u

static uint64_t cpu_time(const struct trace_thread *thread)
{
	return thread->acct.user + thread->acct.syscall + thread->acct.trap;
}

static struct work_sum_row *sum_of(struct trace_analysis *a, const struct work_run_row *run)
{
	uint64_t key = hash_u64(run->func ^ hash_u64((uint64_t)run->target << 32 | run->dev));
	struct work_sum_row *row;

	for (;; key++) { /* two sums with the same hash take neighbouring keys */
		key += !key;
		row = acct_row(a, &a->work_sums.rows, sizeof(*row), key);
		if (!row->func) {
			row->func = run->func;
			row->target = run->target;
			row->dev = run->dev;
		}
		if (a->failed || (row->func == run->func && row->target == run->target && row->dev == run->dev))
			return row;
	}
}

static struct work_run_row *run_of(struct trace_analysis *a, const struct cpu *cpu)
{
	const struct trace_thread *thread = cpu->current;
	struct work_run_row *run;

	if (cpu->nested || !is_thread(cpu, thread) || !(thread->flags & THREAD_KERNEL))
		return NULL;
	run = table_find(&a->work_sums.runs, sizeof(*run), thread->idx + 1ull);
	return run && run->func ? run : NULL;
}

/* Ends the part of the run; a loss in it leaves its time out. */
static void end_part(struct trace_analysis *a, struct cpu *cpu, struct work_run_row *run, uint64_t ns)
{
	uint64_t now;

	acct_cpu(a, cpu, ns);
	now = a->is_past_window ? run->cpu_to : cpu_time(cpu->current);
	if (now != run->cpu && gap_log_first_loss(&a->gaps, run->ns, ns + 1) == UINT64_MAX)
		sum_of(a, run)->cpu += now - run->cpu;
	run->ns = ns;
	run->cpu = now;
}

/* The process that two parts are for. */
static uint32_t both(uint32_t one, uint32_t other)
{
	if (!one || one == other)
		return other;
	return one == PROCESS_UNKNOWN || other == PROCESS_UNKNOWN ? (uint32_t)PROCESS_UNKNOWN
								  : (uint32_t)PROCESS_SEVERAL;
}

/* Decides the process of the requests that the run has issued: @process, 0: not known. */
static void own_requests(struct trace_analysis *a, const struct cpu *cpu, struct work_run_row *run, uint32_t process)
{
	if (run->has_issued)
		disk_own(a, DISK_OF_WORKER(cpu->current), process ? process : (uint32_t)PROCESS_UNKNOWN);
	run->has_issued = false;
}

/* The part of a file has ended. After requests, only those of this file may remain collected. */
static void part_written(struct trace_analysis *a, const struct cpu *cpu, struct work_run_row *run)
{
	uint32_t process = both(run->wrote, run->target);

	run->wrote = run->has_issued ? run->target : process;
	own_requests(a, cpu, run, process);
}

void work_run_begin(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, uint64_t func,
		    const struct trace_thread *queuer)
{
	struct work_run_row *run = acct_row(a, &a->work_sums.runs, sizeof(*run), cpu->current->idx + 1ull);

	acct_cpu(a, cpu, ns);
	run->func = func ? func : 1;
	run->began = run->ns = ns;
	run->cpu = run->cpu_to = cpu_time(cpu->current);
	run->target = run->queuer = queuer ? queuer->process->idx : (uint32_t)FOR_NO_PROCESS;
	run->dev = 0;
	run->wrote = 0;
	own_requests(a, cpu, run, 0); /* a loss has left the end of another run out */
	if (!a->is_past_window)
		sum_of(a, run)->runs++;
}

uint64_t work_run_began(const struct trace_analysis *a, uint32_t thread)
{
	const struct work_run_row *run = table_find(&a->work_sums.runs, sizeof(*run), thread + 1ull);

	return run ? run->began : 0;
}

bool work_run_issues(struct trace_analysis *a, const struct cpu *cpu)
{
	struct work_run_row *run = run_of(a, cpu);

	if (run)
		run->has_issued = true;
	return run;
}

void work_run_end(struct trace_analysis *a, struct cpu *cpu, uint64_t ns)
{
	struct work_run_row *run = run_of(a, cpu);

	if (!run)
		return;
	end_part(a, cpu, run, ns);
	own_requests(a, cpu, run, run->wrote ? run->wrote : run->queuer);
	run->func = 0;
}

void on_fs_writeback(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event)
{
	const struct trace_fs_writeback *writeback = event->payload;
	struct work_run_row *run = run_of(a, cpu);
	uint32_t process = dirty_take(a, writeback->dev, writeback->ino, ns, writeback->more);

	if (!run)
		return;
	run->target = process ? process : (uint32_t)PROCESS_UNKNOWN;
	run->dev = writeback->dev;
	part_written(a, cpu, run);
	if (!a->is_past_window) {
		sum_of(a, run)->files++;
		sum_of(a, run)->bytes += (uint64_t)writeback->pages * PAGE_BYTES;
	}
	end_part(a, cpu, run, ns);
	run->target = run->queuer;
	run->dev = 0;
}

/*
 * The CPU time of a worker until now, the time since its last accounting included. In its work a
 * worker is in the kernel, and an interrupt may have the CPU.
 */
static uint64_t cpu_time_now(const struct trace_analysis *a, const struct trace_thread *thread)
{
	struct trace_times times;

	trace_thread_times(a, thread, &times);
	return times.user_ns + times.syscall_ns + times.trap_ns;
}

void work_sums_edge(struct trace_analysis *a, uint64_t ns)
{
	bool begins = !a->is_past_window;
	uint64_t now = a->now;

	a->now = ns;
	if (begins) {
		acct_give_rows(a, &a->work_sums.rows, sizeof(struct work_sum_row));
		table_clear(&a->work_sums.rows);
	}
	for (uint32_t i = NR_PSEUDO_PROCESSES; i < a->threads.nr_processes && a->work_sums.runs.used; i++)
		for (struct trace_thread *thread = a->threads.processes[i]->first; thread; thread = thread->next) {
			struct work_run_row *run = table_find(&a->work_sums.runs, sizeof(*run), thread->idx + 1ull);

			if (run && run->func)
				*(begins ? &run->cpu : &run->cpu_to) = cpu_time_now(a, thread);
		}
	a->now = now;
}

/* ---- results ---- */

static int order(const void *left, const void *right)
{
	const struct trace_deferred_work *l = left, *r = right;
	int difference = descending(l->cpu_ns, r->cpu_ns);

	difference = difference ?: ascending(l->pid, r->pid);
	difference = difference ?: strcmp(l->work, r->work);
	difference = difference ?: ascending(l->func, r->func);
	difference = difference ?: strcmp(l->device, r->device);
	difference = difference ?: strcmp(l->comm, r->comm);
	difference = difference ?: descending(l->runs, r->runs);
	difference = difference ?: descending(l->written_bytes, r->written_bytes);
	return difference;
}

static void fill(const struct trace_analysis *a, const struct work_sum_row *row, struct trace_deferred_work *ret_work)
{
	const struct trace_process *process = a->threads.processes[row->target];
	const char *name = trace_string(a->trace, TRACE_STRING_SYMBOL, row->func),
		   *device = row->dev ? trace_string(a->trace, TRACE_STRING_DEVICE, row->dev) : "";

	*ret_work = (struct trace_deferred_work){.work = name ? name : "",
						 .func = row->func,
						 .pid = process->pid,
						 .comm = row->target == FOR_NO_PROCESS ? "" : process->comm,
						 .device = device ? device : "",
						 .runs = row->runs,
						 .files = row->files,
						 .cpu_ns = row->cpu,
						 .written_bytes = row->bytes};
}

struct trace_deferred_work *trace_deferred_works(const struct trace_analysis *a, size_t *ret_nr)
{
	struct trace_deferred_work *list = calloc(a->work_sums.rows.used + 1, sizeof(*list)), *at = list;

	for (const struct work_sum_row *row = NULL; list && (row = table_next(&a->work_sums.rows, sizeof(*row), row));
	     at++)
		fill(a, row, at);
	if (list && sort_rows(list, *ret_nr = (size_t)(at - list), sizeof(*list), order))
		return list;
	free(list);
	return NULL;
}

void work_sums_clear(struct work_sums *sums)
{
	table_clear(&sums->rows);
	table_clear(&sums->runs);
}
