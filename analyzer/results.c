/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * results.c - turn the sums into figures: sorted rows with names, sums over threads, and the check
 * that all sums balance.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "accounting_packed.h"
#include "error_set.h"
#include "histogram.h"
#include "latency.h"
#include "rules/rules.h"
#include "slice_log.h"
#include "result_order.h"
#include "sort.h"
#include "state.h"
#include "wait_cause.h"

const char *trace_state_name(enum trace_state state)
{
	static const char *const names[] = {"user", "syscall", "trap", "interrupted", "wait-cpu", "blocked", "running"};

	return (unsigned int)state < sizeof(names) / sizeof(names[0]) ? names[state] : "unknown";
}

/* ---- identities ---- */

uint32_t trace_thread_tid(const struct trace_thread *thread)
{
	return thread->tid;
}

uint32_t trace_thread_index(const struct trace_thread *thread)
{
	return thread->idx;
}

const char *trace_thread_comm(const struct trace_thread *thread)
{
	return thread->comm;
}

bool trace_thread_is_io_worker(const struct trace_thread *thread)
{
	return thread->flags & THREAD_IO_WORKER;
}

const struct trace_process *trace_thread_process(const struct trace_thread *thread)
{
	return thread->process;
}

bool trace_thread_is_kernel(const struct trace_thread *thread)
{
	return thread->flags & THREAD_KERNEL;
}

uint64_t trace_thread_start_ns(const struct trace_thread *thread)
{
	return thread->start_ns;
}

uint64_t trace_thread_end_ns(const struct trace_thread *thread)
{
	return thread->end_ns;
}

uint32_t trace_process_pid(const struct trace_process *process)
{
	return process->pid;
}

uint32_t trace_process_ppid(const struct trace_process *process)
{
	return process->ppid;
}

uint32_t trace_process_uid(const struct trace_process *process)
{
	return process->uid;
}

uint32_t trace_process_gid(const struct trace_process *process)
{
	return process->gid;
}

uint32_t trace_thread_uid(const struct trace_thread *thread)
{
	return thread->uid;
}

const char *trace_process_comm(const struct trace_process *process)
{
	return process->comm;
}

const char *trace_process_exe(const struct trace_process *process)
{
	return strings_text(process->strings, process->exe);
}

bool trace_process_is_kernel(const struct trace_process *process)
{
	return process->kernel;
}

size_t trace_nr_processes(const struct trace_analysis *a)
{
	return a->threads.nr_processes > NR_PSEUDO_PROCESSES ? a->threads.nr_processes - NR_PSEUDO_PROCESSES : 0;
}

const struct trace_process *trace_get_process(const struct trace_analysis *a, size_t idx)
{
	return idx < trace_nr_processes(a) ? a->threads.processes[idx + NR_PSEUDO_PROCESSES] : NULL;
}

uint64_t trace_process_end_ns(const struct trace_process *process)
{
	return process_end_ns(process);
}

size_t trace_nr_threads(const struct trace_process *process)
{
	return process->nr_threads;
}

const struct trace_thread *trace_next_thread(const struct trace_process *process, const struct trace_thread *thread)
{
	return thread ? thread->next : process->first;
}

/* ---- sums ---- */

static bool add_thread(const struct trace_analysis *a, struct acct *sum, const struct trace_thread *thread)
{
	struct acct scratch = {0};
	const struct acct *acct = acct_of(a, thread, &scratch);
	bool ok = acct && acct_add(sum, acct);

	acct_clear(&scratch);
	return ok;
}

/* ---- rows with names ---- */

static int order_calls(const void *left, const void *right)
{
	const struct trace_call *l = left, *r = right;

	return descending(l->elapsed_ns, r->elapsed_ns) ?: strcmp(l->name, r->name) ?: ascending(l->row, r->row);
}

static int order_interrupts(const void *left, const void *right)
{
	const struct trace_interrupt *l = left, *r = right;
	int difference = descending(l->ns, r->ns);

	difference = difference ?: strcmp(l->name, r->name);
	difference = difference ?: strcmp(l->type, r->type);
	difference = difference ?: descending(l->count, r->count);
	return difference;
}

static int order_files(const void *left, const void *right)
{
	const struct trace_file_use *l = left, *r = right;
	int difference = descending(l->wait_ns, r->wait_ns);

	difference = difference ?: strcmp(l->path, r->path);
	difference = difference ?: descending(l->read_bytes + l->written_bytes, r->read_bytes + r->written_bytes);
	difference = difference ?: descending(l->reads, r->reads);
	difference = difference ?: descending(l->writes, r->writes);
	difference = difference ?: descending(l->read_bytes, r->read_bytes);
	return difference;
}

/* Sort @list, which may be NULL. Returns @list; NULL when out of memory: then @list is released. */
static void *sorted(void *list, size_t nr, size_t bytes, int (*order)(const void *, const void *))
{
	if (list && sort_rows(list, nr, bytes, order))
		return list;
	free(list);
	return NULL;
}

/* Equal names are in the order of their processes and threads, not in that of the table. */
static int order_holders(const void *left, const void *right, void *processes)
{
	const struct cpu_holder_row *l = left, *r = right;
	struct trace_process *const *list = processes;
	int order = descending(l->ns, r->ns);

	if (!order)
		order = strcmp(list[slice_log_process(l->key)]->comm, list[slice_log_process(r->key)]->comm);
	return order ? order : descending(r->key, l->key);
}

#define FIRST_THREADS 4

struct thread_place {
	uint64_t key; /* thread index + 1 */
	uint64_t row;
};

/* One of the first threads of @process; NULL: it is none of these. */
static const struct trace_thread *first_threads_find(const struct trace_process *process, uint32_t idx)
{
	const struct trace_thread *thread = process->first;

	for (unsigned int i = 0; thread && thread->idx != idx; i++)
		thread = i < FIRST_THREADS ? thread->next : NULL;
	return thread;
}

/* Sets the threads of those rows that are of @process. */
static void name_threads_of(const struct trace_process *process, const struct hash_table *places,
			    struct trace_cpu_wait *list)
{
	for (const struct trace_thread *thread = NULL; (thread = trace_next_thread(process, thread));) {
		const struct thread_place *place = table_find(places, sizeof(*place), thread->idx + 1ull);

		if (place)
			list[place->row].thread = thread;
	}
}

/* The analysis has no list of threads by index: one look at those of each process finds all. */
static bool name_threads(const struct trace_analysis *a, const struct cpu_holder_row *holders, size_t nr,
			 struct trace_cpu_wait *list)
{
	struct hash_table places = {0};
	bool ok = true;

	for (size_t i = 0; ok && i < nr; i++) {
		uint32_t thread = slice_log_thread(holders[i].key);
		struct thread_place *place = NULL;

		if (thread == ANY_THREAD || list[i].thread)
			continue;
		place = table_add(&places, sizeof(*place), thread + 1ull);
		ok = place != NULL;
		if (ok)
			place->row = i;
	}
	for (size_t i = 0; ok && i < nr; i++)
		if (slice_log_thread(holders[i].key) != ANY_THREAD && !list[i].thread)
			name_threads_of(a->threads.processes[slice_log_process(holders[i].key)], &places, list);
	table_clear(&places);
	return ok;
}

/* There may be hundreds of rows, so they are sorted before they get their names. */
static struct trace_cpu_wait *figures_holders(const struct trace_analysis *a, const struct hash_table *rows,
					      size_t *ret_nr)
{
	struct cpu_holder_row *holders = calloc(rows->used + 1, sizeof(*holders));
	struct trace_cpu_wait *list = calloc(rows->used + 1, sizeof(*list));
	bool is_named = true;
	size_t nr = 0;

	for (const struct cpu_holder_row *row = NULL; holders && (row = table_next(rows, sizeof(*row), row));)
		holders[nr++] = *row;
	if (!holders || !sort_stable(holders, nr, sizeof(*holders), order_holders, a->threads.processes)) {
		free(list);
		list = NULL;
	}
	for (size_t i = 0; list && i < nr; i++) {
		const struct trace_process *process = a->threads.processes[slice_log_process(holders[i].key)];

		list[i] = (struct trace_cpu_wait){.pid = process->pid,
						  .comm = process->comm,
						  .ns = holders[i].ns,
						  .title = trace_process_title(process),
						  .process = process->pid ? process : NULL};
		if (slice_log_thread(holders[i].key) == ANY_THREAD)
			continue;
		list[i].thread = first_threads_find(process, slice_log_thread(holders[i].key));
		is_named &= list[i].thread != NULL;
	}
	if (list && !is_named && !name_threads(a, holders, nr, list)) {
		free(list);
		list = NULL;
	}
	free(holders);
	*ret_nr = nr;
	return list;
}

static struct trace_wait *figures_waits(const struct trace_analysis *a, const struct hash_table *rows, size_t *ret_nr)
{
	struct trace_wait *list = calloc(rows->used + 1, sizeof(*list)), *at = list;

	for (const struct wait_row *row = NULL; list && (row = table_next(rows, sizeof(*row), row)); at++) {
		struct wait_cause v = wait_of_key(row->key);
		const struct trace_process *process = wait_process(a, &v);

		at->kind = (enum trace_wait_kind)v.kind;
		at->via = via_name((enum via)v.via);
		at->idle = v.idle;
		at->pid = process ? process->pid : 0;
		at->comm = process ? process->comm : "";
		at->target = wait_target(a, &v);
		at->path = strings_text(&a->strings, wait_path(a, &v));
		at->thread = wait_thread(a, &v);
		at->ns = row->ns;
		at->count = row->count;
	}
	return sorted(list, *ret_nr = (size_t)(at - list), sizeof(*list), order_waits);
}

/* ---- quantiles ---- */

static uint64_t clamp(uint64_t ns, uint64_t low, uint64_t high)
{
	return ns < low ? low : ns > high ? high : ns;
}

/* The first bucket of the call @key. */
static size_t first_bucket(const struct histogram_count *times, size_t nr, uint64_t key)
{
	size_t low = 0, high = nr;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (times[middle].key >> LATENCY_KEY_BITS < key)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The @percent-th percentile: the smallest time that so many percent of the calls do not exceed. */
static uint64_t quantile(const struct histogram_count *times, size_t nr, const struct call_row *row,
			 unsigned int percent)
{
	uint64_t rank = row->calls / 100 * percent + (row->calls % 100 * percent + 99) / 100, seen = 0;
	size_t low = first_bucket(times, nr, row->key);

	for (; low < nr && times[low].key >> LATENCY_KEY_BITS == row->key; low++) {
		seen += times[low].count;
		if (seen >= rank)
			return clamp(latency_middle(times[low].key & ((1u << LATENCY_KEY_BITS) - 1)), ~row->shortest,
				     row->longest);
	}
	return row->longest;
}

enum call_rows { ROWS_CALLS, ROWS_KERNEL_WORK, ROWS_TRAPS };

static bool is_of(enum call_rows which, const struct call_row *row)
{
	return which == ROWS_TRAPS || (which == ROWS_KERNEL_WORK) == (row->key - 1 >= CALL_EXITING);
}

/* The elapsed times of a table of calls, sorted: their quantiles are found there. */
struct times {
	struct histogram_count *list; /* owned */
	size_t nr;
};

static struct times times_of(const struct hash_table *by_time)
{
	struct times times = {0};

	times.list = histogram_list(by_time, &times.nr);
	return times;
}

static struct trace_call *figures_calls(const struct trace_analysis *a, const struct hash_table *rows,
					const struct times *times, enum call_rows which, size_t *ret_nr)
{
	struct trace_call *list = times->list ? calloc(rows->used + 1, sizeof(*list)) : NULL, *at = list;

	for (const struct call_row *row = NULL; list && (row = table_next(rows, sizeof(*row), row));) {
		if (!is_of(which, row))
			continue;
		*at++ = (struct trace_call){
			.name = which == ROWS_TRAPS ? "page fault"
						    : strings_text(&a->strings, a->calls[row->key - 1].name),
			.calls = row->calls,
			.errors = row->errors,
			.elapsed_ns = row->elapsed,
			.cpu_ns = row->cpu,
			.interrupted_ns = row->interrupted,
			.wait_cpu_ns = row->wait_cpu,
			.wait_ns = row->wait,
			.min_ns = row->calls ? ~row->shortest : 0,
			.p50_ns = a->no_call_times ? 0 : quantile(times->list, times->nr, row, 50),
			.p99_ns = a->no_call_times ? 0 : quantile(times->list, times->nr, row, 99),
			.max_ns = row->longest,
			.row = row->key << 1 | (which == ROWS_TRAPS),
		};
	}
	return sorted(list, *ret_nr = (size_t)(at - list), sizeof(*list), order_calls);
}

/* struct trace_time_counts - what trace_call_times() needs of the accounts */
struct trace_time_counts {
	struct times calls;
	struct times traps;
};

size_t trace_call_times(const struct trace_figures *figures, const struct trace_call *call,
			struct trace_time_range ret_ranges[TRACE_TIME_RANGES])
{
	const struct times *times = call->row & 1 ? &figures->times->traps : &figures->times->calls;
	uint64_t key = call->row >> 1;
	size_t nr = 0;

	for (size_t i = first_bucket(times->list, times->nr, key);
	     i < times->nr && times->list[i].key >> LATENCY_KEY_BITS == key; i++) {
		uint64_t low = latency_low(times->list[i].key & ((1u << LATENCY_KEY_BITS) - 1));
		unsigned int power = low ? 63u - (unsigned int)__builtin_clzll(low) : 0;
		uint64_t from_ns = power ? 1ull << power : 0;

		if (!nr || ret_ranges[nr - 1].from_ns != from_ns)
			ret_ranges[nr++] = (struct trace_time_range){.from_ns = from_ns, .to_ns = 2ull << power};
		ret_ranges[nr - 1].count += times->list[i].count;
	}
	return nr;
}

static struct trace_interrupt *figures_interrupts(const struct trace_analysis *a, const struct hash_table *rows,
						  size_t *ret_nr)
{
	struct trace_interrupt *list = calloc(rows->used + 1, sizeof(*list)), *at = list;

	for (const struct interrupt_row *row = NULL; list && (row = table_next(rows, sizeof(*row), row)); at++) {
		/* The name is interned by the first query. */
		at->name = strings_text(&a->strings, nest_name((struct trace_analysis *)a, row->key, &at->type));
		at->ns = row->ns;
		at->count = row->count;
	}
	return sorted(list, *ret_nr = (size_t)(at - list), sizeof(*list), order_interrupts);
}

struct trace_interrupt *trace_system_interrupts(const struct trace_analysis *a, size_t *ret_nr)
{
	struct trace_interrupt *list = figures_interrupts(a, &a->interrupts, ret_nr);

	if (!trace_analysis_error(a, NULL))
		return list;
	free(list);
	return NULL;
}

static struct trace_file_use *figures_files(const struct trace_analysis *a, const struct hash_table *rows,
					    size_t *ret_nr)
{
	struct trace_file_use *list = calloc(rows->used + 1, sizeof(*list)), *at = list;

	for (const struct file_row *row = NULL; list && (row = table_next(rows, sizeof(*row), row)); at++)
		*at = (struct trace_file_use){
			.path = strings_text(&a->strings, (string_id)(row->key - 1)),
			.read_bytes = row->read_bytes,
			.written_bytes = row->written_bytes,
			.reads = row->reads,
			.writes = row->writes,
			.wait_ns = row->wait_ns,
		};
	return sorted(list, *ret_nr = (size_t)(at - list), sizeof(*list), order_files);
}

struct trace_figures *figures_of(const struct trace_analysis *a, const struct acct *acct, uint64_t elapsed)
{
	struct trace_figures *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	f->times = calloc(1, sizeof(*f->times));
	if (!f->times)
		return trace_figures_free(f);
	f->times->calls = times_of(&acct->call_times);
	f->times->traps = times_of(&acct->trap_times);
	f->elapsed_ns = elapsed;
	f->user_ns = acct->user;
	f->syscall_ns = acct->syscall;
	f->trap_ns = acct->trap;
	f->interrupted_ns = acct->interrupted;
	f->wait_cpu_ns = acct->wait_cpu;
	f->blocked_ns = acct->blocked;
	f->stolen_ns = acct->stolen;
	f->wait_cpu_for = figures_holders(a, &acct->cpu_holders, &f->nr_wait_cpu_for);
	f->waits = figures_waits(a, &acct->waits, &f->nr_waits);
	f->syscalls = figures_calls(a, &acct->calls, &f->times->calls, ROWS_CALLS, &f->nr_syscalls_rows);
	f->kernel_work = figures_calls(a, &acct->calls, &f->times->calls, ROWS_KERNEL_WORK, &f->nr_kernel_work);
	f->traps = figures_calls(a, &acct->traps, &f->times->traps, ROWS_TRAPS, &f->nr_traps_rows);
	f->interrupts = figures_interrupts(a, &acct->interrupts, &f->nr_interrupts);
	f->files = figures_files(a, &acct->files, &f->nr_files);
	if (!f->wait_cpu_for || !f->waits || !f->syscalls || !f->kernel_work || !f->traps || !f->interrupts ||
	    !f->files || trace_analysis_error(a, NULL) < 0)
		return trace_figures_free(f);
	for (size_t i = 0; i < f->nr_syscalls_rows; i++)
		f->nr_syscalls += f->syscalls[i].calls;
	for (size_t i = 0; i < f->nr_traps_rows; i++)
		f->nr_traps += f->traps[i].calls;
	for (size_t i = 0; i < f->nr_files; i++) {
		f->read_bytes += f->files[i].read_bytes;
		f->written_bytes += f->files[i].written_bytes;
	}
	return f;
}

struct trace_figures *trace_figures_free(struct trace_figures *f)
{
	if (!f)
		return NULL;
	free(f->wait_cpu_for);
	free(f->waits);
	free(f->syscalls);
	free(f->kernel_work);
	free(f->traps);
	free(f->interrupts);
	free(f->files);
	if (f->times) {
		free(f->times->calls.list);
		free(f->times->traps.list);
	}
	free(f->times);
	free(f);
	return NULL;
}

/*
 * During the pass: flush the deferred additions of the threads from @first to @last, or to the end.
 */
static void flush_threads(const struct trace_analysis *a, const struct trace_thread *first,
			  const struct trace_thread *last)
{
	for (const struct trace_thread *thread = first; thread && !a->done;
	     thread = thread == last ? NULL : thread->next) {
		slice_log_flush((struct trace_analysis *)a, (struct trace_thread *)thread);
		latencies_flush((struct trace_analysis *)a, (struct trace_thread *)thread);
	}
	acct_flush((struct trace_analysis *)a);
}

/* The cost of probes and of the thread's own events. In a window that of probes is not known. */
static void add_tracing(const struct trace_analysis *a, const struct trace_thread *thread,
			struct trace_figures *figures)
{
	struct acct scratch = {0};
	const struct acct *acct;

	if (!a->window)
		probe_figures(a, thread, figures);
	if (!thread->rare || !thread->rare->own_events.events)
		return;
	acct = acct_of(a, thread, &scratch);
	if (acct)
		event_figures(a, thread, acct->user, figures);
	acct_clear(&scratch);
}

struct trace_figures *trace_thread_figures(const struct trace_analysis *a, const struct trace_thread *thread)
{
	struct trace_figures *figures = NULL;
	struct acct scratch = {0};
	const struct acct *acct;

	flush_threads(a, thread, thread);
	acct = acct_of(a, thread, &scratch);
	if (acct)
		figures = figures_of(a, acct, thread->end_ns - thread->start_ns);
	if (figures)
		add_tracing(a, thread, figures);
	acct_clear(&scratch);
	return figures;
}

/** struct chosen - some threads of a process; @fn NULL: all */
struct chosen {
	trace_thread_fn fn;
	const void *data;
};

static bool has(const struct chosen *chosen, const struct trace_thread *thread)
{
	return !chosen->fn || chosen->fn(chosen->data, thread);
}

static void add_tracing_of(const struct trace_analysis *a, const struct trace_process *process,
			   const struct chosen *chosen, struct trace_figures *figures)
{
	for (const struct trace_thread *thread = process->first; figures && thread; thread = thread->next)
		if (has(chosen, thread))
			add_tracing(a, thread, figures);
}

static bool add_process(const struct trace_analysis *a, struct acct *sum, uint64_t *elapsed,
			const struct trace_process *process, const struct chosen *chosen)
{
	for (const struct trace_thread *thread = process->first; thread; thread = thread->next) {
		if (!has(chosen, thread))
			continue;
		*elapsed += thread->end_ns - thread->start_ns;
		if (!add_thread(a, sum, thread))
			return false;
	}
	return true;
}

struct trace_figures *trace_process_figures(const struct trace_analysis *a, const struct trace_process *process)
{
	if (process->nr_threads == 1)
		return trace_thread_figures(a, process->first);
	return trace_process_figures_of(a, process, NULL, NULL);
}

struct trace_figures *trace_process_figures_of(const struct trace_analysis *a, const struct trace_process *process,
					       trace_thread_fn fn, const void *data)
{
	struct chosen chosen = {.fn = fn, .data = data};
	struct trace_figures *figures = NULL;
	struct acct sum = {0};
	uint64_t elapsed = 0;

	flush_threads(a, process->first, NULL);
	if (add_process(a, &sum, &elapsed, process, &chosen))
		figures = figures_of(a, &sum, elapsed);
	add_tracing_of(a, process, &chosen, figures);
	acct_clear(&sum);
	return figures;
}

struct trace_figures *trace_system_figures(const struct trace_analysis *a)
{
	struct trace_figures *figures = NULL;
	struct acct sum = {0};
	uint64_t elapsed = 0;
	bool ok = true;

	for (uint32_t i = NR_PSEUDO_PROCESSES; i < a->threads.nr_processes; i++)
		flush_threads(a, a->threads.processes[i]->first, NULL);
	for (uint32_t i = NR_PSEUDO_PROCESSES; i < a->threads.nr_processes && ok; i++)
		ok = add_process(a, &sum, &elapsed, a->threads.processes[i], &(struct chosen){0});
	if (ok)
		figures = figures_of(a, &sum, elapsed);
	for (uint32_t i = NR_PSEUDO_PROCESSES; i < a->threads.nr_processes; i++)
		add_tracing_of(a, a->threads.processes[i], &(struct chosen){0}, figures);
	acct_clear(&sum);
	return figures;
}

size_t trace_nr_cpus(const struct trace_analysis *a)
{
	return a->nr_cpus;
}

void trace_cpu_figures(const struct trace_analysis *a, size_t cpu, struct trace_cpu_figures *ret_figures)
{
	if (cpu < a->nr_cpus)
		*ret_figures = a->cpus[cpu].figures;
}

void trace_analysis_window(const struct trace_analysis *a, uint64_t *ret_start_ns, uint64_t *ret_end_ns)
{
	*ret_start_ns = a->start_ns;
	*ret_end_ns = a->end_ns;
}

uint64_t trace_analysis_count(const struct trace_analysis *a, uint32_t id)
{
	return id < TRACE_EV_MAX ? a->counts[id] : 0;
}

uint64_t trace_analysis_inconsistencies(const struct trace_analysis *a)
{
	return a->inconsistencies;
}

/* ---- verification ---- */

static uint64_t sum_column(const struct hash_table *table, size_t row_bytes, size_t column)
{
	const uint64_t *row = NULL;
	uint64_t sum = 0;

	while ((row = table_next(table, row_bytes, row)))
		sum += row[column];
	return sum;
}

static int verify_calls(const struct trace_thread *thread, const struct hash_table *rows,
			const struct hash_table *times, struct trace_error *ret_error)
{
	if (times && sum_column(rows, sizeof(struct call_row), 1) != histogram_total(times))
		return error_set(ret_error, -EBADMSG, "thread %u (%s): its histograms do not contain all of its calls",
				 thread->tid, thread->comm);
	for (const struct call_row *row = NULL; (row = table_next(rows, sizeof(*row), row));)
		if (row->elapsed != row->cpu + row->interrupted + row->wait_cpu + row->wait)
			return error_set(ret_error, -EBADMSG,
					 "thread %u (%s): a call's elapsed time is %" PRId64 " ns off its parts",
					 thread->tid, thread->comm,
					 (int64_t)(row->elapsed - row->cpu - row->interrupted - row->wait_cpu -
						   row->wait));
	return 0;
}

static int verify_times(const struct trace_analysis *a, const struct trace_thread *thread, const struct acct *b,
			struct trace_error *ret_error)
{
	struct {
		const char *what;
		uint64_t whole, parts;
	} sums[] = {
		{"elapsed time", thread->end_ns - thread->start_ns,
		 b->user + b->syscall + b->trap + b->interrupted + b->wait_cpu + b->blocked},
		{"blocked time", b->blocked, sum_column(&b->waits, sizeof(struct wait_row), 1)},
		{"wait for a CPU", b->wait_cpu, sum_column(&b->cpu_holders, sizeof(struct cpu_holder_row), 1)},
		{"interrupted time", b->interrupted, sum_column(&b->interrupts, sizeof(struct interrupt_row), 1)},
	};
	int error;

	for (size_t i = 0; i < sizeof(sums) / sizeof(sums[0]); i++)
		if (sums[i].whole != sums[i].parts)
			return error_set(ret_error, -EBADMSG,
					 "thread %u (%s): %s is %" PRIu64 " ns, its parts are %" PRId64 " ns off",
					 thread->tid, thread->comm, sums[i].what, sums[i].whole,
					 (int64_t)(sums[i].parts - sums[i].whole));
	error = verify_calls(thread, &b->calls, a->no_call_times ? NULL : &b->call_times, ret_error);
	if (error)
		return error;
	return verify_calls(thread, &b->traps, a->no_call_times ? NULL : &b->trap_times, ret_error);
}

static int verify_thread(const struct trace_analysis *a, const struct trace_thread *thread,
			 struct trace_error *ret_error)
{
	struct acct scratch = {0};
	const struct acct *acct = acct_of(a, thread, &scratch);
	int error;

	if (acct)
		error = verify_times(a, thread, acct, ret_error);
	else /* not a violation: without memory, balance cannot be verified */
		error = error_set(ret_error, -ENOMEM,
				  "out of memory to verify the times of the threads; stop other programs or analyze on "
				  "a larger machine");
	acct_clear(&scratch);
	return error;
}

int trace_analysis_verify(const struct trace_analysis *a, struct trace_error *ret_error)
{
	uint64_t thread_user = 0, thread_system = 0, cpu_user = 0, cpu_system = 0;
	int error = 0;

	if (!a->done)
		return error_set(ret_error, -EBADMSG, "the analysis has not been run to its end");
	for (uint32_t i = 0; i < a->nr_cpus; i++) {
		const struct trace_cpu_figures *f = &a->cpus[i].figures;
		uint64_t sum = f->user_ns + f->system_ns + f->irq_ns + f->softirq_ns + f->idle_ns + f->unknown_ns;

		if (sum != a->end_ns - a->start_ns)
			return error_set(ret_error, -EBADMSG,
					 "CPU %u: its times are %" PRId64 " ns off the elapsed time of %" PRIu64 " ns",
					 i, (int64_t)(sum - (a->end_ns - a->start_ns)), a->end_ns - a->start_ns);
		cpu_user += f->user_ns;
		cpu_system += f->system_ns;
	}
	for (uint32_t i = NR_PSEUDO_PROCESSES; i < a->threads.nr_processes; i++)
		for (const struct trace_thread *thread = a->threads.processes[i]->first; thread && !error;
		     thread = thread->next) {
			error = verify_thread(a, thread, ret_error);
			thread_user += thread->acct.user;
			thread_system += thread->acct.syscall + thread->acct.trap;
		}
	if (error)
		return error;
	if (thread_user != cpu_user || thread_system != cpu_system)
		return error_set(ret_error, -EBADMSG,
				 "threads and CPUs disagree: %" PRId64 " ns of user and %" PRId64 " ns of system time",
				 (int64_t)(thread_user - cpu_user), (int64_t)(thread_system - cpu_system));
	return rules_verify(a->rules, ret_error);
}
