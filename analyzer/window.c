/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * window.c - the accounts of a window of the trace
 *
 * The pass is over the whole trace, because the state at the beginning of the window comes from the
 * events before it, and the cause of a wait in it may come after it. Beside the accounts of the
 * whole trace, the window keeps its own; window_close() replaces the former by the latter. Without
 * a window none of this runs.
 *
 * - Times of threads come from the intervals that hooks get, cut at the edges of the window. They
 *   cover the life of a thread without hole or overlap, so the sums close to the nanosecond.
 * - A call is cut with the sums of its thread at the edges. A call or wait is counted if it begins
 *   in the window; its latency is the whole one.
 * - Columns of CPUs without a thread (idle, interrupts, unknown) are differences between the edges.
 *   At an edge the time since a CPU's last accounting has no column yet: the next accounting gives
 *   it (cpu_settle()).
 * - A wait for a lock and an interrupted wait are cut like intervals. The parts of deferred work in
 *   progress at an edge are cut by the CPU time of their worker; runs, bytes and hits of probes are
 *   counted at their events.
 * - Bytes and numbers of interrupts are set to 0 at the first edge and taken at the second one.
 *
 * Example: a thread blocks at 10 ms and is woken at 30 ms, and the window is from 20 ms to 50 ms.
 * The interval of 20 ms is cut to the 10 ms from 20 ms on, and no wait is counted.
 */
#include <stdlib.h>
#include <string.h>
#include "accounting_packed.h"
#include "histogram.h"
#include "latency.h"
#include "slice_log.h"
#include "state.h"
#include "state_frame.h"
#include "wait_cause.h"
#include "window.h"

enum edge { EDGE_FROM, EDGE_TO, NR_EDGES };

struct share_row {
	uint64_t key; /* CPU + 1 */
	uint64_t ns;
};

/* The accounts of a thread in the window. */
struct window_thread {
	struct acct acct;
	struct thread_snapshot at[NR_EDGES]; /* its sums at the edges; ns 0: since its begin */
	uint64_t since[NR_EDGES];	     /* its state between then and the edge was not sure yet */
	enum trace_state open[NR_EDGES];     /* it was taken to be in this one */
	uint8_t frames_at[NR_EDGES];	     /* it had so many; UINT8_MAX: not known yet */
	struct hash_table running;	     /* share_row: user mode, or in a system call */
	uint64_t stolen;		     /* at the first edge */
};

struct window_cpu {
	struct trace_cpu_figures at[NR_EDGES];
	uint64_t accounted_ns[NR_EDGES]; /* the time after it has no column yet */
	uint64_t interrupt[NR_EDGES];	 /* nest_key() of the interrupt in progress */
	bool is_open[NR_EDGES];
	uint64_t user_ns, system_ns; /* from intervals */
};

struct window {
	uint64_t ns[NR_EDGES];
	bool is_to_end;			/* the window has no end of its own */
	unsigned int next;		/* enum edge */
	unsigned int nr_open;		/* of window_cpu.is_open */
	struct window_cpu *cpus;	/* owned */
	struct window_thread **threads; /* owned array, by trace_thread_index() */
	uint32_t max_threads;
	struct hash_table interrupts[NR_EDGES]; /* interrupt_row */
	uint64_t counts[NR_EDGES][TRACE_EV_MAX];
};

/* ---- threads ---- */

static struct window_thread *thread_get(struct trace_analysis *a, const struct trace_thread *thread)
{
	struct window *w = a->window;

	if (thread->idx >= w->max_threads) {
		uint32_t max = thread->idx + thread->idx / 2 + 64;
		struct window_thread **bigger = reallocarray(w->threads, max, sizeof(struct window_thread *));

		if (!bigger) {
			a->failed = -ENOMEM;
			return NULL;
		}
		memset(bigger + w->max_threads, 0, (max - w->max_threads) * sizeof(*bigger));
		w->threads = bigger;
		w->max_threads = max;
	}
	if (!w->threads[thread->idx] && !(w->threads[thread->idx] = calloc(1, sizeof(struct window_thread))))
		a->failed = -ENOMEM;
	return w->threads[thread->idx];
}

static const struct window_thread *thread_at(const struct window *w, const struct trace_thread *thread)
{
	return thread->idx < w->max_threads ? w->threads[thread->idx] : NULL;
}

/* ---- intervals ---- */

struct window_holders {
	struct trace_analysis *a;
	struct acct *acct;
	uint64_t ns;
	uint64_t interrupts_ns;
	const struct trace_thread *thread; /* that waits */
	uint64_t oldest;		   /* the holder of the first time slice in the wait */
	uint64_t oldest_ns;
};

static uint64_t *holder_row(struct window_holders *holders, uint64_t key)
{
	struct cpu_holder_row *row = acct_row(holders->a, &holders->acct->cpu_holders, sizeof(*row), key);

	return &row->ns;
}

static void add_holder(void *data, uint32_t process, uint32_t thread, uint64_t ns)
{
	struct window_holders *holders = data;
	uint64_t key = slice_log_key_of(holders->thread, process, thread);

	if (process != PROCESS_INTERRUPTS) {
		holders->oldest = key;
		holders->oldest_ns = ns;
	} else {
		holders->interrupts_ns += ns;
	}
	if (ns)
		*holder_row(holders, key) += ns;
	holders->ns += ns;
}

/*
 * The log gives the interrupts of the slice in which the wait began in proportion. For a wait
 * that lies in the window and ends now, they are known exactly.
 */
static void correct_interrupts(struct window_holders *holders, const struct cpu *cpu, const struct trace_thread *thread,
			       const struct trace_interval *cut)
{
	uint64_t exact = cpu_irq_time(cpu, cut->to_ns) - thread->queued_irq, off;

	if (thread->queued_ns != cut->from_ns || holders->a->now != cut->to_ns ||
	    slice_log_process(holders->oldest) == PROCESS_SEVERAL || exact > cut->to_ns - cut->from_ns)
		return;
	if (exact > holders->interrupts_ns) {
		off = exact - holders->interrupts_ns;
		off = off < holders->oldest_ns ? off : holders->oldest_ns;
		*holder_row(holders, slice_log_key(PROCESS_INTERRUPTS, ANY_THREAD)) += off;
		*holder_row(holders, holders->oldest) -= off;
	} else if (exact < holders->interrupts_ns) {
		off = holders->interrupts_ns - exact;
		*holder_row(holders, slice_log_key(PROCESS_INTERRUPTS, ANY_THREAD)) -= off;
		*holder_row(holders, holders->oldest) += off;
	}
}

static void add_wait_cpu(struct trace_analysis *a, struct acct *acct, const struct trace_interval *cut)
{
	struct window_holders holders = {.a = a, .acct = acct, .thread = cut->thread};
	uint64_t now = a->now > cut->to_ns ? a->now : cut->to_ns;

	acct->wait_cpu += cut->to_ns - cut->from_ns;
	if (cut->cpu >= 0 && (uint32_t)cut->cpu < a->nr_cpus) {
		slice_log_holders(&a->cpus[cut->cpu], now, cut->from_ns, cut->to_ns, add_holder, &holders);
		correct_interrupts(&holders, &a->cpus[cut->cpu], cut->thread, cut);
	}
	add_holder(&holders, PROCESS_UNKNOWN, ANY_THREAD, cut->to_ns - cut->from_ns - holders.ns);
}

static void add_blocked(struct trace_analysis *a, struct acct *acct, const struct trace_interval *cut, bool begins)
{
	struct wait_cause unknown = wait_unknown_cause(a, cut->thread);
	uint64_t key = a->hooks.wait_key ? a->hooks.wait_key : wait_key(&unknown), ns = cut->to_ns - cut->from_ns;
	struct wait_row *row = acct_row(a, &acct->waits, sizeof(*row), key);
	struct file_row *file;

	acct->blocked += ns;
	row->ns += ns;
	row->count += begins;
	if (wait_of_key(key).kind != TRACE_WAIT_FILE || !a->hooks.wait_key)
		return;
	file = acct_row(a, &acct->files, sizeof(*file), (string_id)key + 1ull);
	file->wait_ns += ns;
}

static void add_on_cpu(struct trace_analysis *a, struct window_thread *t, const struct trace_interval *cut)
{
	uint64_t ns = cut->to_ns - cut->from_ns;
	struct window_cpu *cpu = &a->window->cpus[cut->cpu];
	struct interrupt_row *interrupt;
	struct share_row *share;

	switch (cut->state) {
	case TRACE_STATE_USER:
		t->acct.user += ns;
		cpu->user_ns += ns;
		break;
	case TRACE_STATE_INTERRUPTED:
		t->acct.interrupted += ns;
		interrupt = acct_row(a, &t->acct.interrupts, sizeof(*interrupt),
				     nest_key(&a->cpus[cut->cpu].nest[a->cpus[cut->cpu].nested - 1]));
		interrupt->ns += ns;
		break;
	case TRACE_STATE_RUNNING:
		share = acct_row(a, &t->running, sizeof(*share), (uint64_t)cut->cpu + 1);
		share->ns += ns;
		break;
	default:
		*(cut->state == TRACE_STATE_TRAP ? &t->acct.trap : &t->acct.syscall) += ns;
		cpu->system_ns += ns;
	}
}

/* The sum of a call to which time in @state belongs. NULL: none */
static uint64_t *part_at(struct thread_snapshot *at, enum trace_state state)
{
	switch (state) {
	case TRACE_STATE_USER:
		return NULL;
	case TRACE_STATE_WAIT_CPU:
		return &at->wait_cpu;
	case TRACE_STATE_BLOCKED:
		return &at->wait;
	case TRACE_STATE_INTERRUPTED:
		return &at->interrupted;
	default:
		return &at->cpu;
	}
}

/*
 * The state at an edge may be told later: the thread was off the CPUs since the start, its group
 * had used up its quota, or the end of an interrupt is missing.
 */
static void correct_edges(const struct window *w, struct window_thread *t, const struct trace_interval *interval)
{
	for (enum edge edge = EDGE_FROM; edge < NR_EDGES && edge < w->next; edge++) {
		uint64_t from = interval->from_ns > t->since[edge] ? interval->from_ns : t->since[edge],
			 to = interval->to_ns < w->ns[edge] ? interval->to_ns : w->ns[edge];
		uint64_t *part, *taken;

		if (from >= to)
			continue;
		part = part_at(&t->at[edge], interval->state);
		taken = t->at[edge].ns ? part_at(&t->at[edge], t->open[edge]) : NULL;
		if (taken)
			*taken -= to - from;
		if (part)
			*part += to - from;
	}
}

static void on_interval(void *data, struct trace_analysis *a, const struct trace_interval *interval)
{
	const struct window *w = data;
	struct trace_interval cut = *interval;
	struct window_thread *t;

	t = (struct window_thread *)thread_at(w, cut.thread);
	if (!t && w->next && cut.from_ns < w->ns[w->next - 1])
		t = thread_get(a, cut.thread);
	if (t)
		correct_edges(w, t, interval);
	if (cut.from_ns < w->ns[EDGE_FROM])
		cut.from_ns = w->ns[EDGE_FROM];
	if (cut.to_ns > w->ns[EDGE_TO])
		cut.to_ns = w->ns[EDGE_TO];
	if (cut.from_ns >= cut.to_ns)
		return;
	t = thread_get(a, cut.thread);
	if (!t)
		return;
	if (cut.state == TRACE_STATE_BLOCKED)
		add_blocked(a, &t->acct, &cut, interval->from_ns >= w->ns[EDGE_FROM]);
	else if (cut.state == TRACE_STATE_WAIT_CPU)
		add_wait_cpu(a, &t->acct, &cut);
	else
		add_on_cpu(a, t, &cut);
}

void window_mode(struct trace_analysis *a, struct trace_thread *thread, bool in_syscall)
{
	struct window_thread *t = thread_get(a, thread);

	if (!t)
		return;
	for (const struct share_row *row = NULL; (row = table_next(&t->running, sizeof(*row), row));) {
		struct window_cpu *cpu = &a->window->cpus[row->key - 1];

		*(in_syscall ? &t->acct.syscall : &t->acct.user) += row->ns;
		*(in_syscall ? &cpu->system_ns : &cpu->user_ns) += row->ns;
	}
	acct_give_rows(a, &t->running, sizeof(struct share_row));
	table_clear(&t->running);
}

uint64_t window_to(const struct window *window)
{
	return window ? window->ns[EDGE_TO] : UINT64_MAX;
}

bool window_cut(const struct window *w, uint64_t *from, uint64_t *to)
{
	if (w && *from < w->ns[EDGE_FROM])
		*from = w->ns[EDGE_FROM];
	if (w && *to > w->ns[EDGE_TO])
		*to = w->ns[EDGE_TO];
	return *from < *to;
}

bool window_wait(const struct trace_analysis *a, const struct pending *wait, uint64_t *ret_ns, uint64_t *ret_count)
{
	const struct window *w = a->window;
	uint64_t from = wait->from, to = wait->to;

	if (!w)
		return true;
	if (!window_cut(w, &from, &to))
		return false;
	*ret_ns = to - from - gap_log_overlap(&a->gaps, from, to);
	*ret_count = wait->from >= w->ns[EDGE_FROM];
	return true;
}

/* ---- calls ---- */

/*
 * The sums of a thread at an edge within its frame. Those of a thread that was not known at the
 * edge come from the intervals that it had until then, and it was in one call. A page fault begins
 * before its first event, on the CPU: at an edge in between, its frame was not there yet.
 */
static struct thread_snapshot call_edge(const struct window *w, const struct window_thread *t, enum edge edge,
					unsigned int frame, const struct thread_snapshot *begin)
{
	struct thread_snapshot at = t->at[edge], sums = *begin;

	if (at.ns && frame < t->frames_at[edge])
		return at;
	sums.ns = w->ns[edge];
	sums.wait += at.ns ? 0 : at.wait;
	sums.wait_cpu += at.ns ? 0 : at.wait_cpu;
	sums.cpu += w->ns[edge] - begin->ns - (at.ns ? 0 : at.wait + at.wait_cpu);
	return sums;
}

static uint64_t part_of(uint64_t *rest, uint64_t ns)
{
	uint64_t part = ns < *rest ? ns : *rest;

	*rest -= part;
	return part;
}

/*
 * An inconsistency may change what was known at an edge, so a part may seem to be longer than the
 * call. The rest is blocked time.
 */
static void add_parts(struct call_row *row, const struct thread_snapshot *from, const struct thread_snapshot *to)
{
	uint64_t rest = to->ns - from->ns;

	row->elapsed += rest;
	row->cpu += part_of(&rest, to->cpu - from->cpu);
	row->interrupted += part_of(&rest, to->interrupted - from->interrupted);
	row->wait_cpu += part_of(&rest, to->wait_cpu - from->wait_cpu);
	row->wait += rest;
}

void window_call(struct trace_analysis *a, struct trace_thread *thread, uint64_t ns, const struct frame *frame,
		 int64_t ret)
{
	const struct window *w = a->window;
	bool trap = frame->kind == FRAME_TRAP, begins = frame->begin.ns >= w->ns[EDGE_FROM];
	struct thread_snapshot from = frame->begin, to;
	struct window_thread *t;
	struct call_row *row;
	uint64_t key = trap ? 1 : frame->call + 1ull, whole = ns - frame->begin.ns;

	if ((ns <= w->ns[EDGE_FROM] && !begins) || (from.ns >= w->ns[EDGE_TO] && !w->is_to_end) ||
	    !(t = thread_get(a, thread)))
		return;
	thread_snapshot(thread, ns, &to);
	if (!begins)
		from = call_edge(w, t, EDGE_FROM, thread->depth, &frame->begin);
	if (ns > w->ns[EDGE_TO])
		to = call_edge(w, t, EDGE_TO, thread->depth, &frame->begin);
	row = acct_row(a, trap ? &t->acct.traps : &t->acct.calls, sizeof(*row), key);
	add_parts(row, &from, &to);
	if (!begins)
		return;
	row->calls++;
	row->errors += frame_is_error(frame, ret);
	row->longest = whole > row->longest ? whole : row->longest;
	row->shortest = ~whole > row->shortest ? ~whole : row->shortest;
	if (a->no_call_times)
		return;
	key = latency_key(row->key, whole);
	if (!histogram_add(trap ? &t->acct.trap_times : &t->acct.call_times, histogram_row_key(key),
			   histogram_cell(key), 1))
		a->failed = -ENOMEM;
}

void window_major(struct trace_analysis *a, struct trace_thread *thread, uint64_t ns)
{
	struct window_thread *t = ns >= a->window->ns[EDGE_FROM] && ns < a->window->ns[EDGE_TO] ? thread_get(a, thread)
												: NULL;

	if (t)
		((struct call_row *)acct_row(a, &t->acct.traps, sizeof(struct call_row), 1))->errors++;
}

/* ---- CPUs ---- */

/*
 * The time from the last accounting until the edge belongs to the column that has grown since. A
 * thread's time comes first, because it grows no column here, and unknown time last.
 */
static void cpu_settle(struct trace_analysis *a, struct window_cpu *c, const struct cpu *cpu, enum edge edge)
{
	struct trace_cpu_figures *at = &c->at[edge];
	const struct trace_cpu_figures *now = &cpu->figures;
	struct {
		uint64_t *at, now;
		bool interrupts;
	} columns[] = {{&at->irq_ns, now->irq_ns, true},
		       {&at->softirq_ns, now->softirq_ns, true},
		       {&at->idle_ns, now->idle_ns, false},
		       {&at->unknown_ns, now->unknown_ns, false}};
	uint64_t before = a->window->ns[edge] - c->accounted_ns[edge],
		 threads = cpu->accounted_ns - c->accounted_ns[edge];

	for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++)
		threads -= columns[i].now - *columns[i].at;
	before -= threads < before ? threads : before;
	for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]) && before; i++) {
		uint64_t grown = columns[i].now - *columns[i].at, part = grown < before ? grown : before;
		struct interrupt_row *row;

		*columns[i].at += part;
		before -= part;
		if (!columns[i].interrupts || !part || !c->interrupt[edge])
			continue;
		row = acct_row(a, &a->window->interrupts[edge], sizeof(*row), c->interrupt[edge]);
		row->ns += part;
	}
	c->is_open[edge] = false;
	a->window->nr_open--;
}

static void cpus_settle(struct trace_analysis *a)
{
	struct window *w = a->window;

	for (uint32_t i = 0; i < a->nr_cpus && w->nr_open; i++)
		for (enum edge edge = EDGE_FROM; edge < NR_EDGES; edge++)
			if (w->cpus[i].is_open[edge] && a->cpus[i].accounted_ns > w->cpus[i].accounted_ns[edge])
				cpu_settle(a, &w->cpus[i], &a->cpus[i], edge);
}

static void on_event(void *data, struct trace_analysis *a, const struct trace_event *event)
{
	if (((const struct window *)data)->nr_open)
		cpus_settle(a);
}

static void cpus_at_edge(struct trace_analysis *a, enum edge edge)
{
	struct window *w = a->window;
	const struct interrupt_row *row = NULL;

	cpus_settle(a);
	for (uint32_t i = 0; i < a->nr_cpus; i++) {
		const struct cpu *cpu = &a->cpus[i];

		w->cpus[i].at[edge] = cpu->figures;
		w->cpus[i].accounted_ns[edge] = cpu->accounted_ns;
		w->cpus[i].interrupt[edge] = cpu->nested ? nest_key(&cpu->nest[cpu->nested - 1]) : 0;
		w->cpus[i].is_open[edge] = cpu->accounted_ns < w->ns[edge];
		w->nr_open += w->cpus[i].is_open[edge];
	}
	while ((row = table_next(&a->interrupts, sizeof(*row), row))) {
		struct interrupt_row *copy = acct_row(a, &w->interrupts[edge], sizeof(*copy), row->key);

		copy->ns += row->ns;
		copy->count += row->count;
	}
}

/* ---- edges ---- */

/* The sums of @thread now, with the time since its last accounting */
static void window_snapshot(const struct trace_analysis *a, const struct trace_thread *thread,
			    struct thread_snapshot *at)
{
	struct trace_times times;

	trace_thread_times(a, thread, &times);
	at->ns = a->now;
	at->cpu = times.syscall_ns + times.trap_ns;
	if (thread->flags & THREAD_MODE_UNKNOWN)
		at->cpu += times.user_ns - thread->acct.user;
	at->interrupted = times.interrupted_ns;
	at->wait_cpu = times.wait_cpu_ns;
	at->wait = times.blocked_ns;
}

/* Bytes and numbers of interrupts are counted from the first edge on. */
static void thread_begin(struct trace_thread *thread, struct window_thread *t)
{
	const struct use_row *use = NULL;
	struct interrupt_row *interrupt = NULL;

	while ((use = table_next(&thread->uses, sizeof(*use), use)))
		use->use->reads = use->use->read_bytes = use->use->writes = use->use->written_bytes = 0;
	while ((interrupt = (struct interrupt_row *)table_next(&thread->acct.interrupts, sizeof(*interrupt),
							       interrupt)))
		interrupt->count = 0;
	t->stolen = thread->acct.stolen;
}

static void thread_end_counts(struct trace_analysis *a, const struct trace_thread *thread, struct window_thread *t)
{
	struct acct scratch = {0};
	const struct acct *acct = acct_of(a, thread, &scratch);
	const struct file_row *file = NULL;
	const struct interrupt_row *interrupt = NULL;

	if (!acct) {
		a->failed = -ENOMEM;
		return;
	}
	t->acct.stolen = thread->acct.stolen - t->stolen;
	while ((file = table_next(&acct->files, sizeof(*file), file)))
		if (file->reads || file->writes) {
			struct file_row *row = acct_row(a, &t->acct.files, sizeof(*row), file->key);

			row->reads = file->reads;
			row->read_bytes = file->read_bytes;
			row->writes = file->writes;
			row->written_bytes = file->written_bytes;
		}
	while ((interrupt = table_next(&acct->interrupts, sizeof(*interrupt), interrupt)))
		if (interrupt->count) {
			struct interrupt_row *row = acct_row(a, &t->acct.interrupts, sizeof(*row), interrupt->key);

			row->count = interrupt->count;
		}
	acct_clear(&scratch);
}

static void threads_at_edge(struct trace_analysis *a, enum edge edge)
{
	for (uint32_t i = NR_PSEUDO_PROCESSES; i < a->threads.nr_processes; i++)
		for (struct trace_thread *thread = a->threads.processes[i]->first; thread; thread = thread->next) {
			bool died = thread->sched_state == SCHED_DEAD;
			struct window_thread *t;

			if (died && (edge == EDGE_FROM || thread->end_ns <= a->window->ns[EDGE_FROM]))
				continue;
			if (!(t = thread_get(a, thread)))
				return;
			if (edge == EDGE_FROM)
				thread_begin(thread, t);
			else
				thread_end_counts(a, thread, t);
			if (!died)
				window_snapshot(a, thread, &t->at[edge]);
			t->since[edge] = thread->sched_state == SCHED_ON_CPU ? a->cpus[thread->cpu].accounted_ns
									     : thread->since;
			t->open[edge] = acct_open_state(a, thread);
			t->frames_at[edge] = thread->flags & THREAD_MODE_UNKNOWN || thread->sched_state != SCHED_ON_CPU
						     ? UINT8_MAX
						     : thread->depth;
		}
}

uint64_t window_next(const struct window *window)
{
	return window && window->next < NR_EDGES ? window->ns[window->next] : UINT64_MAX;
}

void window_edge(struct trace_analysis *a)
{
	enum edge edge = (enum edge)a->window->next++;
	uint64_t now = a->now;

	a->now = a->window->ns[edge];
	acct_flush(a);
	cpus_at_edge(a, edge);
	threads_at_edge(a, edge);
	a->is_before_window = false;
	a->hooks.on_cpu_from_ns = 0; /* what comes from now on may correct the edge */
	a->is_past_window = edge == EDGE_TO;
	memcpy(a->window->counts[edge], a->counts, sizeof(a->counts));
	a->now = now;
}

/* ---- before and after the pass ---- */

struct window *window_new(struct trace_analysis *a, uint64_t from_ns, uint64_t to_ns)
{
	struct window *w = calloc(1, sizeof(*w));

	if (!w)
		return NULL;
	w->ns[EDGE_FROM] = from_ns;
	w->ns[EDGE_TO] = to_ns;
	w->is_to_end = to_ns == UINT64_MAX;
	w->cpus = calloc(a->nr_cpus + 1, sizeof(*w->cpus));
	if (!w->cpus || trace_analysis_on_interval(a, on_interval, w) < 0 ||
	    trace_analysis_on_event(a, NULL, on_event, w) < 0) {
		trace_analysis_remove_hooks(a, w);
		return window_free(w);
	}
	a->is_before_window = true;
	return w;
}

void window_limit_hooks(struct trace_analysis *a)
{
	if (hooks_want_on_cpu(a, a->window))
		return;
	a->hooks.on_cpu_from_ns = a->window->ns[EDGE_FROM];
	a->hooks.on_cpu_to_ns = a->window->ns[EDGE_TO];
}

struct window *window_free(struct window *w)
{
	if (!w)
		return NULL;
	for (uint32_t i = 0; i < w->max_threads; i++)
		if (w->threads[i]) {
			acct_clear(&w->threads[i]->acct);
			table_clear(&w->threads[i]->running);
			free(w->threads[i]);
		}
	for (enum edge edge = EDGE_FROM; edge < NR_EDGES; edge++)
		table_clear(&w->interrupts[edge]);
	free(w->threads);
	free(w->cpus);
	free(w);
	return NULL;
}

void window_clamp(struct trace_analysis *a, bool at_end)
{
	struct window *w = a->window;

	for (enum edge edge = EDGE_FROM; edge < NR_EDGES; edge++) {
		if (w->ns[edge] < a->start_ns)
			w->ns[edge] = a->start_ns;
		if (at_end && w->ns[edge] > a->end_ns)
			w->ns[edge] = a->end_ns;
	}
	if (w->ns[EDGE_TO] < w->ns[EDGE_FROM])
		w->ns[EDGE_TO] = w->ns[EDGE_FROM];
}

static uint64_t into(const struct window *w, uint64_t ns)
{
	return ns < w->ns[EDGE_FROM] ? w->ns[EDGE_FROM] : ns > w->ns[EDGE_TO] ? w->ns[EDGE_TO] : ns;
}

static void thread_replace(struct trace_analysis *a, struct trace_thread *thread)
{
	struct window_thread *t = (struct window_thread *)thread_at(a->window, thread);

	thread->start_ns = into(a->window, thread->start_ns);
	thread->end_ns = into(a->window, thread->end_ns);
	acct_clear(&thread->acct);
	free(thread->packed);
	thread->packed = NULL;
	thread->nr_latencies = 0;
	thread->in_episode = false;
	table_clear(&thread->uses);
	thread->acct = t ? t->acct : (struct acct){0};
	if (t)
		t->acct = (struct acct){0};
}

static void cpu_replace(struct window_cpu *c, struct trace_cpu_figures *figures)
{
	*figures = (struct trace_cpu_figures){.cpu = figures->cpu,
					      .user_ns = c->user_ns,
					      .system_ns = c->system_ns,
					      .irq_ns = c->at[EDGE_TO].irq_ns - c->at[EDGE_FROM].irq_ns,
					      .softirq_ns = c->at[EDGE_TO].softirq_ns - c->at[EDGE_FROM].softirq_ns,
					      .idle_ns = c->at[EDGE_TO].idle_ns - c->at[EDGE_FROM].idle_ns,
					      .unknown_ns = c->at[EDGE_TO].unknown_ns - c->at[EDGE_FROM].unknown_ns};
}

static void interrupts_replace(struct trace_analysis *a)
{
	struct hash_table before = a->window->interrupts[EDGE_FROM], sum = {0};
	const struct interrupt_row *row = NULL;

	while ((row = table_next(&a->window->interrupts[EDGE_TO], sizeof(*row), row))) {
		const struct interrupt_row *old = table_find(&before, sizeof(*old), row->key);
		struct interrupt_row difference = *row, *into_row;

		difference.ns -= old ? old->ns : 0;
		difference.count -= old ? old->count : 0;
		if (!difference.ns && !difference.count)
			continue;
		into_row = acct_row(a, &sum, sizeof(*into_row), row->key);
		into_row->ns = difference.ns;
		into_row->count = difference.count;
	}
	table_clear(&a->interrupts);
	a->interrupts = sum;
}

void window_close(struct trace_analysis *a)
{
	struct window *w = a->window;

	cpus_settle(a);
	for (uint32_t i = NR_PSEUDO_PROCESSES; i < a->threads.nr_processes; i++)
		for (struct trace_thread *thread = a->threads.processes[i]->first; thread; thread = thread->next)
			thread_replace(a, thread);
	for (uint32_t i = 0; i < a->nr_cpus; i++)
		cpu_replace(&w->cpus[i], &a->cpus[i].figures);
	interrupts_replace(a);
	for (uint32_t id = 0; id < TRACE_EV_MAX; id++)
		a->counts[id] = w->counts[EDGE_TO][id] - w->counts[EDGE_FROM][id];
	a->start_ns = w->ns[EDGE_FROM];
	a->end_ns = w->ns[EDGE_TO];
}
