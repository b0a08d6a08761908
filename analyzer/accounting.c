/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * accounting.c - the only place where time is added.
 *
 * Terms. A CPU has columns: user, system, irq, softirq, idle, unknown. A thread has states: user,
 * syscall, trap, interrupted, wait for a CPU, blocked. An interval is a time in one of them.
 *
 * Rule: double entry. An interval on a CPU is added to one column of the CPU and to one state of
 * its thread. An interval off the CPUs is added to one state of the thread. The caller decides when
 * an interval ends and what it was. The caller does not pass its begin: that is the end of the
 * interval before (cpu->mark, thread->since). Therefore no time can be lost or counted twice.
 *
 * Example: CPU 0 has mark 100 ns and runs thread A in user mode. A enters a system call at 130 ns,
 * and the caller calls books_cpu(130): 30 ns are added to A's `user` and to the CPU's `user`, and
 * the mark becomes 130. A blocks at 150: books_cpu(150) adds 20 ns to A's `syscall` and to the
 * CPU's `system`, and A's `since` becomes 150. A is woken at 400: books_blocked(400) adds 250 ns to
 * A's `blocked`, and `since` becomes 400.
 *
 * Two facts are known late:
 * - The mode of a thread that ran at the start of the recording is unknown until the thread enters
 *   or leaves the kernel. Its CPU time is kept in `shares` until books_mode() accounts it.
 * - wait.c decides the cause of a wait at the end of the system call. Until then the interval is
 *   pending: its time is in books.blocked at once, its row in books.waits follows.
 *
 * Waits for files are kept with the other uses of files: accounting_files.c.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "slice_log.h"
#include "histogram.h"
#include "state.h"
#include "state_lost.h"
#include "state_syscall.h"
#include "wait.h"

/* Smaller rows are part of a slab. */
void books_give_rows(struct trace_analysis *a, const struct hash_table *table, size_t row_bytes)
{
	if (table->is_lent && table->capacity * row_bytes >= ARENA_ROWS_LEAST)
		arena_give_rows(&a->arena, table->rows, table->capacity * row_bytes);
}

void *books_new_row(struct trace_analysis *a, struct hash_table *table, size_t row_bytes, uint64_t key)
{
	const struct hash_table before = *table;
	size_t bytes = (size_t)table_more(table) * row_bytes;
	void *row = NULL;

	if (table_is_full(table) && bytes >= ARENA_ROWS_LEAST && bytes <= ARENA_ROWS_MOST && (row = arena_take_rows(&a->arena, bytes)))
		table_move(table, row_bytes, row, table_more(table));
	row = table_add(table, row_bytes, key);
	if (table->rows != before.rows)
		books_give_rows(a, &before, row_bytes);
	if (row)
		return row;
	a->failed = -ENOMEM; /* it ends the pass */
	return a->sink;
}

/* ---- deferred sums, which are not read before the end ---- */

static void sum_add(struct trace_analysis *a, struct hash_table *table, struct sum sum, uint64_t key, uint64_t amount)
{
	uint64_t *row = books_row(a, table, sum.row_bytes, key);

	row[sum.at] += amount;
	if (sum.counted)
		row[sum.at + 1]++;
}

static void later_add(struct trace_analysis *a, const struct later *later)
{
	sum_add(a, later->table, later->sum, later->key, later->amount);
}

void books_later(struct trace_analysis *a, struct hash_table *table, struct sum sum, uint64_t key, uint64_t amount)
{
	struct later *later;

	if (table->capacity < ROWS_COLD) {
		sum_add(a, table, sum, key, amount);
		return;
	}
	later = &a->later[a->later_pos++ % NR_LATER];
	if (later->table)
		later_add(a, later);
	*later = (struct later){.table = table, .key = key, .amount = amount, .sum = sum};
	table_prefetch(table, sum.row_bytes, key);
}

void books_settle(struct trace_analysis *a)
{
	uses_settle(a);
	for (uint32_t i = 0; i < NR_LATER; i++, a->later_pos++) {
		struct later *later = &a->later[a->later_pos % NR_LATER];

		if (later->table)
			later_add(a, later);
		later->table = NULL;
	}
}

/* ---- slabs ---- */

void desk_get(struct trace_analysis *a, struct trace_thread *thread)
{
	struct desk *desk = a->free_desks;

	if (desk) {
		a->free_desks = desk->next;
		memset(desk, 0, sizeof(*desk));
	} else if (!(desk = arena_take(&a->arena, sizeof(*desk)))) {
		return; /* the thread's tables and histograms work without it */
	}
	thread->desk = desk;
	if (!thread->books.calls.capacity)
		table_lend(&thread->books.calls, desk->calls, FIRST_CALLS);
	if (!thread->books.waits.capacity)
		table_lend(&thread->books.waits, desk->waits, FIRST_ROWS);
	if (!thread->books.who.capacity)
		table_lend(&thread->books.who, desk->who, FIRST_ROWS);
}

void desk_give(struct trace_analysis *a, struct trace_thread *thread)
{
	if (!thread->desk)
		return;
	thread->desk->next = a->free_desks;
	a->free_desks = thread->desk;
	thread->desk = NULL;
}

/* ---- latencies of calls ---- */

static struct hash_table *latencies_of(struct trace_thread *thread, bool trap)
{
	return trap ? &thread->books.trap_times : &thread->books.call_times;
}

/* As histogram_add(), with rows from the arena. */
static inline void latency_count(struct trace_analysis *a, struct hash_table *times, uint64_t key)
{
	uint64_t row_key = histogram_row_key(key);
	uint32_t cell = histogram_cell(key);

	while (!++((struct histogram_row *)books_row(a, times, sizeof(struct histogram_row), row_key))->counts[cell])
		row_key++;
}

/*
 * Prefetch the rows of the histograms. A table with no more cache lines than there are notes is
 * prefetched whole, so that its slots need not be computed twice.
 */
static void latencies_prefetch(struct trace_thread *thread, const uint32_t *noted, uint32_t nr)
{
	bool is_small = true;

	for (int trap = 0; trap < 2; trap++) {
		const struct hash_table *table = latencies_of(thread, trap);

		if (table->capacity * sizeof(struct histogram_row) <= (size_t)nr * CACHE_LINE)
			memory_prefetch(table->rows, table->capacity * sizeof(struct histogram_row));
		else
			is_small = false;
	}
	for (uint32_t i = 0; i < nr && !is_small; i++)
		table_prefetch(latencies_of(thread, noted[i] & 1), sizeof(struct histogram_row), histogram_row_key(noted[i] >> 1));
}

void latencies_settle(struct trace_analysis *a, struct trace_thread *thread)
{
	const uint32_t *noted = thread->desk ? thread->desk->latencies : NULL;
	uint32_t nr = thread->nr_latencies;

	thread->nr_latencies = 0;
	if (a->nr_threads >= THREADS_COLD)
		latencies_prefetch(thread, noted, nr);
	for (uint32_t i = 0; i < nr; i++)
		latency_count(a, latencies_of(thread, noted[i] & 1), noted[i] >> 1);
}

bool latencies_add(const struct trace_thread *thread, struct books *books)
{
	for (uint32_t i = 0; i < thread->nr_latencies; i++) {
		uint32_t noted = thread->desk->latencies[i];

		if (!histogram_add(noted & 1 ? &books->trap_times : &books->call_times, histogram_row_key(noted >> 1), histogram_cell(noted >> 1), 1))
			return false;
	}
	return true;
}

void books_latency(struct trace_analysis *a, struct trace_thread *thread, bool trap, uint64_t key)
{
	if (!thread->desk && thread->place != PLACE_DEAD)
		desk_get(a, thread);
	if (!thread->desk || key > UINT32_MAX >> 1) {
		latency_count(a, latencies_of(thread, trap), key);
		return;
	}
	thread->desk->latencies[thread->nr_latencies++] = (uint32_t)key << 1 | trap;
	if (thread->nr_latencies == NR_LATENCIES)
		latencies_settle(a, thread);
}

/* ---- hooks ---- */

#define WATCHED(a, state) ((a)->watched >> (state) & 1)

void interval_emit(struct trace_analysis *a, const struct trace_interval *interval)
{
	if (interval->to_ns <= interval->from_ns)
		return;
	for (size_t i = 0; i < a->nr_hooks; i++)
		if (a->hooks[i].states >> interval->state & 1)
			a->hooks[i].interval(a->hooks[i].data, a, interval);
}

/*
 * An interval off the CPUs may cross gaps: the hook gets it in pieces. Thousands of threads may
 * sleep through thousands of gaps, so the number of pieces is limited, and each gap adds to the
 * limit. Beyond the limit, the interval is unknown from the next gap until its end.
 */
static void emit_pieces(struct trace_analysis *a, const struct trace_interval *whole)
{
	struct trace_interval piece = *whole, lost = {.thread = whole->thread, .state = TRACE_STATE_BLOCKED, .cpu = -1, .kind = TRACE_WAIT_UNKNOWN, .via = ""};
	uint64_t at = whole->from_ns;

	lost.target = "";
	for (size_t i = lost_from(a, at); i < a->nr_gaps && a->gaps[i].start < whole->to_ns && at < whole->to_ns; i++) {
		if (a->gaps[i].end <= at)
			continue;
		piece.from_ns = at;
		piece.to_ns = lost.from_ns = a->gaps[i].start > at ? a->gaps[i].start : at;
		interval_emit(a, &piece);
		lost.to_ns = at = a->gaps[i].end < whole->to_ns && a->pieces_left ? a->gaps[i].end : whole->to_ns;
		interval_emit(a, &lost);
		a->pieces_left -= a->pieces_left > 0;
	}
	piece.from_ns = at;
	piece.to_ns = whole->to_ns;
	interval_emit(a, &piece);
}

static void emit_on_cpu(struct trace_analysis *a, struct cpu *cpu, struct trace_thread *thread, uint64_t from, uint64_t to,
			enum trace_state state)
{
	struct trace_interval interval = {
		.thread = thread, .from_ns = from, .to_ns = to, .state = state, .cpu = (int32_t)cpu->cpu, .target = "", .via = ""};
	const struct frame *call = frame_syscall(thread);
	const char *type;

	if (state == TRACE_STATE_INTERRUPTED)
		interval.name = strings_text(&a->strings, nest_name(a, nest_key(&cpu->nest[cpu->nested - 1]), &type));
	else if (call && state != TRACE_STATE_USER)
		interval.name = strings_text(&a->strings, a->calls[call->call].name);
	interval_emit(a, &interval);
}

/* ---- on a CPU ---- */

static void share_add(struct trace_analysis *a, struct trace_thread *thread, uint32_t cpu, uint64_t ns)
{
	struct cpu_share *bigger;

	for (uint32_t i = 0; i < thread->nr_shares; i++)
		if (thread->shares[i].cpu == cpu) {
			thread->shares[i].ns += ns;
			return;
		}
	bigger = reallocarray(thread->shares, thread->nr_shares + 1, sizeof(*bigger));
	if (!bigger) {
		a->failed = -ENOMEM;
		return;
	}
	thread->shares = bigger;
	thread->shares[thread->nr_shares++] = (struct cpu_share){.cpu = cpu, .ns = ns};
}

void books_mode(struct trace_analysis *a, struct trace_thread *thread, bool in_syscall)
{
	if (!(thread->flags & THREAD_MODE_UNKNOWN))
		return;
	thread->flags &= ~THREAD_MODE_UNKNOWN;
	for (uint32_t i = 0; i < thread->nr_shares; i++) {
		struct trace_cpu_figures *figures = &a->cpus[thread->shares[i].cpu].figures;

		*(in_syscall ? &thread->books.syscall : &thread->books.user) += thread->shares[i].ns;
		*(in_syscall ? &figures->system_ns : &figures->user_ns) += thread->shares[i].ns;
	}
	free(thread->shares);
	thread->shares = NULL;
	thread->nr_shares = 0;
	if (in_syscall)
		thread->depth = 1;
}

static enum trace_state running_state(const struct trace_analysis *a, const struct trace_thread *thread)
{
	unsigned int depth = thread->depth;

	if (thread->flags & THREAD_KERNEL)
		return TRACE_STATE_SYSCALL;
	if (thread->flags & THREAD_MODE_UNKNOWN)
		return TRACE_STATE_RUNNING;
	while (depth && a->no_fault_exit && thread->frames[depth - 1].kind == FRAME_TRAP)
		depth--; /* a fault without a recorded end does not show when it ended */
	if (!depth)
		/* an io_uring worker never leaves the kernel */
		return thread->flags & THREAD_IO_WORKER ? TRACE_STATE_SYSCALL : TRACE_STATE_USER;
	return thread->frames[depth - 1].kind == FRAME_TRAP ? TRACE_STATE_TRAP : TRACE_STATE_SYSCALL;
}

static void book_running(struct trace_analysis *a, struct cpu *cpu, struct trace_thread *thread, uint64_t from, uint64_t to)
{
	enum trace_state state = running_state(a, thread);
	uint64_t ns = to - from;

	switch (state) {
	case TRACE_STATE_USER:
		thread->books.user += ns;
		cpu->figures.user_ns += ns;
		break;
	case TRACE_STATE_TRAP:
		thread->books.trap += ns;
		cpu->figures.system_ns += ns;
		break;
	case TRACE_STATE_RUNNING:
		share_add(a, thread, cpu->cpu, ns);
		break;
	default:
		thread->books.syscall += ns;
		cpu->figures.system_ns += ns;
	}
	if (WATCHED(a, state))
		emit_on_cpu(a, cpu, thread, from, to, state);
}

/* Softirqs are the work of ksoftirqd, so they do not interrupt it. */
static bool interrupted(const struct cpu *cpu)
{
	if (!cpu->nested)
		return false;
	return !(cpu->current && (cpu->current->flags & THREAD_SOFTIRQ_DAEMON) && cpu->nest[cpu->nested - 1].type == NEST_SOFTIRQ);
}

static void book_interrupted(struct trace_analysis *a, struct cpu *cpu, uint64_t from, uint64_t to)
{
	const struct nest *top = &cpu->nest[cpu->nested - 1];
	struct trace_thread *thread = cpu->current;
	struct interrupt_row *row;

	*(top->type == NEST_SOFTIRQ ? &cpu->figures.softirq_ns : &cpu->figures.irq_ns) += to - from;
	cpu->irq_ns += to - from;
	((struct interrupt_row *)books_row(a, &a->interrupts, sizeof(*row), nest_key(top)))->ns += to - from;
	if (thread == &cpu->idle)
		return;
	thread->books.interrupted += to - from;
	row = books_row(a, &thread->books.interrupts, sizeof(*row), nest_key(top));
	row->ns += to - from;
	if (WATCHED(a, TRACE_STATE_INTERRUPTED))
		emit_on_cpu(a, cpu, thread, from, to, TRACE_STATE_INTERRUPTED);
}

static const struct nest *softirq_of(const struct cpu *cpu)
{
	const struct nest *top = cpu->nested ? &cpu->nest[cpu->nested - 1] : NULL;

	return top && top->type == NEST_SOFTIRQ && top->number < NR_SOFTIRQS ? top : NULL;
}

static void softirq_add(struct cpu *cpu, uint64_t ns)
{
	const struct nest *softirq = softirq_of(cpu);

	if (softirq)
		cpu->softirq_ns[softirq->number] += ns;
}

uint64_t books_cpu_softirq(const struct cpu *cpu, unsigned int vec, uint64_t ns)
{
	const struct nest *softirq = softirq_of(cpu);

	return cpu->softirq_ns[vec] + (softirq && softirq->number == vec && ns > cpu->mark ? ns - cpu->mark : 0);
}

void books_cpu(struct trace_analysis *a, struct cpu *cpu, uint64_t ns)
{
	uint64_t from = cpu->mark;

	if (ns <= from)
		return;
	cpu->mark = ns;
	if (cpu->nested)
		softirq_add(cpu, ns - from);
	if (!cpu->current)
		cpu->figures.unknown_ns += ns - from;
	else if (interrupted(cpu))
		book_interrupted(a, cpu, from, ns);
	else if (cpu->current == &cpu->idle)
		cpu->figures.idle_ns += ns - from;
	else
		book_running(a, cpu, cpu->current, from, ns);
}

uint64_t books_cpu_irq(const struct cpu *cpu, uint64_t ns)
{
	return cpu->irq_ns + (interrupted(cpu) && ns > cpu->mark ? ns - cpu->mark : 0);
}

static struct verdict unknown_of(struct trace_analysis *a, const struct trace_thread *thread)
{
	return thread && (thread->flags & THREAD_HIDDEN) ? hidden_wait(a, thread) : (struct verdict){.kind = TRACE_WAIT_UNKNOWN};
}

static void unknown_add(struct trace_analysis *a, struct trace_thread *thread, uint64_t ns)
{
	struct verdict unknown = unknown_of(a, thread);
	struct wait_row *row;

	if (!ns)
		return;
	row = books_row(a, &thread->books.waits, sizeof(*row), wait_key(&unknown));
	row->ns += ns;
	row->count++;
}

void books_cpu_unknown(struct trace_analysis *a, struct cpu *cpu, uint64_t ns)
{
	struct trace_interval interval = {.thread = cpu->current, .from_ns = cpu->mark, .to_ns = ns, .state = TRACE_STATE_BLOCKED,
					  .cpu = -1, .kind = TRACE_WAIT_UNKNOWN, .via = ""};

	if (ns <= cpu->mark)
		return;
	interval.target = strings_text(&a->strings, unknown_of(a, cpu->current).target);
	if (cpu->nested)
		softirq_add(cpu, ns - cpu->mark); /* a caller may have read the sum already: it must not decrease */
	cpu->figures.unknown_ns += ns - cpu->mark;
	if (cpu->current && cpu->current != &cpu->idle) {
		cpu->current->books.blocked += ns - cpu->mark;
		unknown_add(a, cpu->current, ns - cpu->mark);
		if (WATCHED(a, TRACE_STATE_BLOCKED))
			interval_emit(a, &interval);
	}
	cpu->mark = ns;
}

/* ---- waiting for a CPU ---- */

void books_queued(struct trace_analysis *a, struct trace_thread *thread, uint64_t ns, struct cpu *onto)
{
	uint64_t from = thread->since, lost;

	if (ns <= from)
		return;
	thread->since = ns;
	lost = lost_overlap(a, from, ns);
	thread->books.wait_cpu += ns - from - lost;
	thread->books.blocked += lost;
	unknown_add(a, thread, lost);
	if (!lost) {
		turns_charge(a, thread, from, ns, onto);
	} else if (ns - from > lost) {
		turns_settle(a, thread);
		books_later(a, &thread->books.who, SUM_OF(who_row, ns), PROCESS_UNKNOWN + 1ull, ns - from - lost);
	}
	if (WATCHED(a, TRACE_STATE_WAIT_CPU) || WATCHED(a, TRACE_STATE_BLOCKED)) {
		struct trace_interval interval = {.thread = thread, .from_ns = from, .to_ns = ns, .state = TRACE_STATE_WAIT_CPU,
						  .cpu = (int32_t)thread->cpu, .target = "", .via = ""};

		emit_pieces(a, &interval);
	}
}

/* ---- blocked ---- */

static void emit_blocked(struct trace_analysis *a, struct trace_thread *thread, const struct pending *pending, const struct verdict *v)
{
	const struct frame *call = frame_syscall(thread);
	struct trace_interval interval = {.thread = thread, .from_ns = pending->from, .to_ns = pending->to, .state = TRACE_STATE_BLOCKED,
					  .cpu = -1, .kind = (enum trace_wait_kind)v->kind, .idle = v->idle, .waker = pending->waker.thread, .worker = pending->waker.worker};

	interval.via = via_name((enum via)v->via);
	if (call)
		interval.name = strings_text(&a->strings, a->calls[call->call].name);
	if (v->kind == TRACE_WAIT_PROCESS)
		interval.other = a->processes[v->target];
	interval.target = interval.other ? interval.other->comm : strings_text(&a->strings, v->target);
	emit_pieces(a, &interval);
}

void books_decided(struct trace_analysis *a, struct trace_thread *thread, const struct pending *pending)
{
	struct verdict v = wait_decide(a, thread, pending);

	if (pending->known_ns) {
		if (v.kind == TRACE_WAIT_FILE)
			books_file_wait(a, thread, wait_key(&v), pending->depth ? thread->frames[pending->depth - 1].file : 0, pending->known_ns);
		else
			books_later(a, &thread->books.waits, COUNTED_SUM_OF(wait_row, ns), wait_key(&v), pending->known_ns);
		if (v.kind == TRACE_WAIT_PROCESS && (v.via == VIA_FUTEX || v.via == VIA_LOCK || v.via == VIA_SEMAPHORE))
			lock_waited(a, thread, &v, pending->known_ns);
	}
	if (WATCHED(a, TRACE_STATE_BLOCKED))
		emit_blocked(a, thread, pending, &v);
}

void books_blocked(struct trace_analysis *a, struct trace_thread *thread, uint64_t ns, const struct waker *waker)
{
	struct pending pending = {.from = thread->since, .to = ns, .task_state = thread->task_state, .flags = thread->flags, .depth = thread->depth};
	uint64_t lost;

	if (ns <= thread->since)
		return;
	lost = lost_overlap(a, pending.from, ns);
	pending.known_ns = ns - pending.from - lost;
	pending.cut = !waker || lost;
	if (waker)
		pending.waker = *waker;
	thread->since = ns;
	thread->books.blocked += ns - pending.from;
	unknown_add(a, thread, lost);
	if (!thread->depth) {
		books_decided(a, thread, &pending);
		return;
	}
	if (thread->nr_pending == MAX_PENDING) { /* The call blocks often: decide the oldest wait now. */
		books_decided(a, thread, &thread->pending[0]);
		memmove(&thread->pending[0], &thread->pending[1], sizeof(pending) * (MAX_PENDING - 1));
		thread->nr_pending--;
	}
	thread->pending[thread->nr_pending++] = pending;
	if (a->nr_files >= FILES_COLD) /* the wait's file is read when the call ends */
		line_prefetch(&a->files[thread->frames[thread->depth - 1].file]);
}

void books_unknown(struct trace_analysis *a, struct trace_thread *thread, uint64_t ns)
{
	struct trace_interval interval = {.thread = thread, .from_ns = thread->since, .to_ns = ns, .state = TRACE_STATE_BLOCKED, .cpu = -1,
					  .kind = TRACE_WAIT_UNKNOWN, .via = ""};

	if (ns <= thread->since)
		return;
	interval.target = strings_text(&a->strings, unknown_of(a, thread).target);
	interval.idle = unknown_of(a, thread).idle;
	thread->books.blocked += ns - thread->since;
	unknown_add(a, thread, ns - thread->since);
	thread->since = ns;
	if (WATCHED(a, TRACE_STATE_BLOCKED))
		interval_emit(a, &interval);
}

void books_snapshot(const struct trace_thread *thread, uint64_t ns, struct snapshot *ret_snapshot)
{
	ret_snapshot->ns = ns;
	ret_snapshot->cpu = thread->books.syscall + thread->books.trap;
	ret_snapshot->interrupted = thread->books.interrupted;
	ret_snapshot->wait_cpu = thread->books.wait_cpu;
	ret_snapshot->wait = thread->books.blocked;
}

/* ---- reading ---- */

/* The sum to which the time of @thread since the last accounting belongs. */
static uint64_t *open_column(const struct trace_analysis *a, const struct cpu *cpu, const struct trace_thread *thread, struct trace_times *times)
{
	if (thread->place != PLACE_ON_CPU)
		return thread->place == PLACE_QUEUED ? &times->wait_cpu_ns : &times->blocked_ns;
	if (interrupted(cpu))
		return &times->interrupted_ns;
	switch (running_state(a, thread)) {
	case TRACE_STATE_TRAP:
		return &times->trap_ns;
	case TRACE_STATE_SYSCALL:
		return &times->syscall_ns;
	default:
		return &times->user_ns;
	}
}

void trace_thread_times(const struct trace_analysis *a, const struct trace_thread *thread, struct trace_times *ret_times)
{
	const struct books *books = &thread->books;
	struct trace_times times = {books->user, books->syscall, books->trap, books->interrupted, books->wait_cpu, books->blocked};
	const struct cpu *cpu = &a->cpus[thread->cpu < a->nr_cpus ? thread->cpu : 0];
	uint64_t since = thread->place == PLACE_ON_CPU ? cpu->mark : thread->since;

	for (uint32_t i = 0; i < thread->nr_shares; i++)
		times.user_ns += thread->shares[i].ns;
	if (thread->place != PLACE_DEAD && !a->done && a->now > since)
		*open_column(a, cpu, thread, &times) += a->now - since;
	*ret_times = times;
}
