/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_slice_log.c - which threads had the CPU while a thread waited for it: analyzer/slice_log.c,
 * compared with a simple machine.
 *
 * The machine is random, and slow on purpose: at each step every waiting thread charges the time
 * since the last step to the thread on its CPU, one by one. For a thread that never waited for more
 * time slices than the analysis names, the analysis must give the same result to the nanosecond.
 * For others it may charge a part to "several", but never charge a thread with more than it had.
 */
#include <stdio.h>
#include <stdlib.h>
#include <trace/analysis.h>
#include "builder.h"
#include "unit.h"

#define MAX_CPUS      4
#define MAX_THREADS   1500
#define FIRST_TID     100
#define FIRST_PID     10000
#define START_NS      1000
#define NAMED	      128 /* time slices of a wait that are all named */
#define NAMED_THREADS 256 /* threads of a process that are told apart */
#define NOBODY	      (-1)

enum { IDLE, INTERRUPTS, FIRST_PROCESS }; /* columns of the times */

/**
 * struct kind - the parameters of a machine
 * @nr_processes: processes, with as many threads each
 * @sleep: percent of the time slices that end with a sleep
 * @in_order: the thread that waits longest has the next slice; otherwise any thread
 * @migrate, @interrupt, @ask: per mille of the steps; "ask" reads figures during the pass
 * @nr_idle: more CPUs, without events: the log of each CPU is shorter then
 * @at_once: percent of the steps that have the time of the step before, if its CPU is not a later
 *   one: a reader orders those of one time by CPU. Sometimes with a new chunk
 */
struct kind {
	const char *name;
	uint32_t nr_cpus, nr_threads, nr_processes, nr_steps;
	uint32_t sleep;
	bool in_order;
	uint32_t migrate, interrupt, ask;
	uint32_t nr_idle;
	uint32_t at_once;
};

struct queue {
	uint32_t threads[MAX_THREADS];
	uint32_t nr;
};

struct machine {
	const struct kind *kind;
	uint64_t seed;
	uint64_t now;
	uint32_t last_cpu; /* with an event */
	struct tb *tb;
	int current[MAX_CPUS]; /* thread, or the constant for idle */
	bool interrupted[MAX_CPUS];
	uint64_t nr_turns[MAX_CPUS];
	struct queue queues[MAX_CPUS], asleep;
	uint64_t since[MAX_THREADS];   /* slice of its CPU in which its wait began */
	uint64_t longest[MAX_THREADS]; /* wait, in slices */
	bool seen[MAX_THREADS];	       /* in an event: an earlier wait is known only from its first slice */
	uint64_t *had;		       /* [thread][column] */
	uint64_t *sibling_had;	       /* [thread][thread]: of one process */
};

static uint64_t below(struct machine *m, uint64_t n)
{
	uint64_t x = m->seed += 0x9e3779b97f4a7c15ULL; /* splitmix64 */

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ x >> 27) * 0x94d049bb133111ebULL;
	return (x ^ x >> 31) % n;
}

static uint32_t process_of(const struct machine *m, uint32_t thread)
{
	return thread % m->kind->nr_processes;
}

static uint32_t nr_columns(const struct machine *m)
{
	return FIRST_PROCESS + m->kind->nr_processes;
}

static uint32_t take(struct queue *queue, uint32_t at)
{
	uint32_t thread = queue->threads[at];

	memmove(&queue->threads[at], &queue->threads[at + 1], (--queue->nr - at) * sizeof(thread));
	return thread;
}

/* ---- the machine ---- */

static void pass(struct machine *m, uint64_t ns)
{
	m->now += ns;
	for (uint32_t cpu = 0; cpu < m->kind->nr_cpus; cpu++) {
		int current = m->current[cpu];
		uint32_t column = m->interrupted[cpu] ? INTERRUPTS
				  : current == NOBODY ? IDLE
						      : FIRST_PROCESS + process_of(m, (uint32_t)current);

		for (uint32_t i = 0; i < m->queues[cpu].nr; i++) {
			uint32_t thread = m->queues[cpu].threads[i];

			m->had[thread * nr_columns(m) + column] += ns;
			if (column == FIRST_PROCESS + process_of(m, thread))
				m->sibling_had[thread * m->kind->nr_threads + (uint32_t)current] += ns;
		}
	}
}

static void queue(struct machine *m, uint32_t cpu, uint32_t thread)
{
	m->queues[cpu].threads[m->queues[cpu].nr++] = thread;
	m->since[thread] = m->nr_turns[cpu];
}

static void waited(struct machine *m, uint32_t cpu, uint32_t thread)
{
	uint64_t nr = m->nr_turns[cpu] - m->since[thread] + 1;

	if (nr > m->longest[thread])
		m->longest[thread] = nr;
	m->seen[thread] = true;
}

static void interrupt(struct machine *m, uint32_t cpu)
{
	if (m->interrupted[cpu])
		tb_irq_exit(m->tb, cpu, m->now, 7);
	else
		tb_irq(m->tb, cpu, m->now, 7);
	m->interrupted[cpu] = !m->interrupted[cpu];
}

static void take_turns(struct machine *m, uint32_t cpu)
{
	struct queue *waiting = &m->queues[cpu];
	int prev = m->current[cpu], next = NOBODY;
	bool sleeps = prev != NOBODY && below(m, 100) < m->kind->sleep;

	if (m->interrupted[cpu] || (prev == NOBODY && !waiting->nr))
		return;
	if (waiting->nr)
		next = (int)take(waiting, m->kind->in_order ? 0 : (uint32_t)below(m, waiting->nr));
	if (next != NOBODY)
		waited(m, cpu, (uint32_t)next);
	else if (!sleeps)
		return; /* it is alone */
	tb_switch(m->tb, cpu, m->now, prev == NOBODY ? 0 : FIRST_TID + (uint32_t)prev,
		  next == NOBODY ? 0 : FIRST_TID + (uint32_t)next,
		  sleeps ? TRACE_TASK_INTERRUPTIBLE : TRACE_TASK_RUNNING);
	m->nr_turns[cpu]++;
	m->current[cpu] = next;
	if (sleeps)
		m->asleep.threads[m->asleep.nr++] = (uint32_t)prev;
	else if (prev != NOBODY)
		queue(m, cpu, (uint32_t)prev);
}

static void wake(struct machine *m, uint32_t cpu)
{
	uint32_t thread, on = (uint32_t)below(m, m->kind->nr_cpus);
	struct trace_sched_waking waking = {.target_cpu = (uint16_t)on, .context = TRACE_CONTEXT_HARDIRQ};

	if (!m->asleep.nr)
		return;
	thread = take(&m->asleep, (uint32_t)below(m, m->asleep.nr));
	waking.tid = FIRST_TID + thread;
	m->seen[thread] = true;
	tb_event(m->tb, cpu, m->now, TRACE_EV_sched_waking, &waking, sizeof(waking), NULL);
	queue(m, on, thread);
}

static void migrate(struct machine *m, uint32_t from)
{
	uint32_t to = (from + 1) % m->kind->nr_cpus, at, thread;
	struct trace_sched_migrate event = {.from_cpu = (uint16_t)from, .to_cpu = (uint16_t)to};

	if (!m->queues[from].nr || to == from)
		return;
	at = (uint32_t)below(m, m->queues[from].nr);
	if (!m->seen[m->queues[from].threads[at]])
		return;
	thread = take(&m->queues[from], at);
	waited(m, from, thread);
	event.tid = FIRST_TID + thread;
	tb_event(m->tb, to, m->now, TRACE_EV_sched_migrate, &event, sizeof(event), NULL);
	queue(m, to, thread);
}

static void step(struct machine *m)
{
	uint32_t cpu = (uint32_t)below(m, m->kind->nr_cpus), what = (uint32_t)below(m, 1000);
	uint32_t on = what < m->kind->migrate ? (cpu + 1) % m->kind->nr_cpus : cpu;

	if (!m->kind->at_once || on < m->last_cpu || below(m, 100) >= m->kind->at_once)
		pass(m, 1 + below(m, 1000));
	else if (below(m, 20) == 0)
		tb_cut(m->tb, cpu);
	m->last_cpu = on;
	if (what < m->kind->migrate)
		migrate(m, cpu);
	else if (what < m->kind->migrate + m->kind->interrupt || m->interrupted[cpu])
		interrupt(m, cpu);
	else if (m->asleep.nr && below(m, 100) < m->kind->sleep * 5 / 4 + 1)
		wake(m, cpu);
	else
		take_turns(m, cpu);
}

static struct machine *machine_run(const struct kind *kind, uint64_t seed)
{
	struct machine *m = calloc(1, sizeof(*m));

	m->kind = kind;
	m->seed = seed;
	m->now = START_NS;
	m->tb = tb_new();
	m->had = calloc((size_t)kind->nr_threads * nr_columns(m), sizeof(*m->had));
	m->sibling_had = calloc((size_t)kind->nr_threads * kind->nr_threads, sizeof(*m->sibling_had));
	for (uint32_t cpu = 0; cpu < kind->nr_cpus; cpu++) {
		struct trace_trace_heartbeat heartbeat = {0};

		m->current[cpu] = NOBODY;
		tb_event(m->tb, cpu ? cpu + kind->nr_idle : 0, START_NS, TRACE_EV_trace_heartbeat, &heartbeat,
			 sizeof(heartbeat), NULL);
	}
	for (uint32_t thread = 0; thread < kind->nr_threads; thread++) {
		uint32_t pid = FIRST_PID + process_of(m, thread), cpu = (uint32_t)below(m, kind->nr_cpus);
		bool sleeps = below(m, 100) < kind->sleep;
		struct trace_start_thread start = {.tid = FIRST_TID + thread,
						   .tgid = pid,
						   .ppid = 1,
						   .ns_tid = FIRST_TID + thread,
						   .ns_tgid = pid,
						   .state = sleeps ? TRACE_TASK_INTERRUPTIBLE : TRACE_TASK_RUNNING,
						   .nr = -1,
						   .prio = 120,
						   .cpu = cpu};

		tb_start(m->tb, START_NS, TRACE_EV_start_thread, &start, sizeof(start), "worker");
		if (sleeps)
			m->asleep.threads[m->asleep.nr++] = thread;
		else
			queue(m, cpu, thread);
	}
	for (uint32_t i = 0; i < kind->nr_steps; i++)
		step(m);
	if (below(m, 2)) /* or a thread begins to wait as the trace ends */
		pass(m, 10);
	for (uint32_t cpu = 0; cpu < kind->nr_cpus; cpu++)
		for (uint32_t i = 0; i < m->queues[cpu].nr; i++)
			waited(m, cpu, m->queues[cpu].threads[i]);
	tb_window(m->tb, START_NS, m->now);
	return m;
}

static void machine_free(struct machine *m)
{
	tb_free(m->tb);
	free(m->had);
	free(m->sibling_had);
	free(m);
}

/* ---- the result of the analysis ---- */

static bool is_whole(struct trace_figures *f)
{
	uint64_t ns = 0;

	for (size_t i = 0; i < f->nr_wait_cpu_for; i++)
		ns += f->wait_cpu_for[i].ns;
	ns -= f->wait_cpu_ns;
	trace_figures_free(f);
	return !ns;
}

/* Reads figures during the pass: of a thread, of its process, or of all. */
static void ask(void *data, struct trace_analysis *analysis, const struct trace_event *event)
{
	struct machine *m = data;
	const struct trace_thread *thread;

	if (event->id != TRACE_EV_sched_switch || below(m, 1000) >= m->kind->ask)
		return;
	thread = trace_find_thread(analysis, FIRST_TID + (uint32_t)below(m, m->kind->nr_threads));
	switch (below(m, 3)) {
	case 0:
		CU_ASSERT(is_whole(trace_thread_figures(analysis, thread)));
		break;
	case 1:
		CU_ASSERT(is_whole(trace_process_figures(analysis, trace_thread_process(thread))));
		break;
	default:
		CU_ASSERT(is_whole(trace_system_figures(analysis)));
	}
}

/* The column of a row, or the constant for "several". */
static int column_of(const struct trace_cpu_wait *row)
{
	if (row->pid)
		return FIRST_PROCESS + (int)(row->pid - FIRST_PID);
	if (strcmp(row->comm, "several") == 0)
		return NOBODY;
	return strcmp(row->comm, "interrupts") == 0 ? INTERRUPTS : IDLE;
}

/* A row for the thread's own process: of one other thread, or, in a long wait, of several. */
static bool is_wrong_sibling(const struct machine *m, uint32_t thread, const struct trace_cpu_wait *row)
{
	bool is_exact = m->longest[thread] < NAMED;
	uint64_t had;

	if (!row->thread)
		return is_exact && m->kind->nr_threads / m->kind->nr_processes < NAMED_THREADS;
	had = m->sibling_had[thread * m->kind->nr_threads + trace_thread_tid(row->thread) - FIRST_TID];
	return is_exact ? row->ns != had : row->ns > had;
}

/* Returns the time charged to "several". *@ret_wrong: rows that differ, or are too many. */
static uint64_t compare(const struct machine *m, uint32_t thread, const struct trace_figures *f, uint32_t *ret_wrong)
{
	const uint64_t *had = &m->had[thread * nr_columns(m)];
	uint64_t several = 0, named = 0, own = 0, whole = 0, at_most = 0;
	bool is_exact = m->longest[thread] < NAMED;

	for (uint32_t i = 0; i < nr_columns(m); i++)
		whole += had[i];
	for (size_t i = 0; i < f->nr_wait_cpu_for; i++) {
		const struct trace_cpu_wait *row = &f->wait_cpu_for[i];
		int column = column_of(row);
		uint64_t ns = row->ns;

		named += ns;
		if (column == NOBODY) {
			several += ns;
		} else if (column == FIRST_PROCESS + (int)process_of(m, thread)) {
			own += ns;
			if (is_wrong_sibling(m, thread, row))
				++*ret_wrong;
		} else {
			at_most += had[column];
			if (is_exact ? ns != had[column] : ns > had[column])
				++*ret_wrong;
		}
	}
	at_most += own;
	if (is_exact ? own != had[FIRST_PROCESS + process_of(m, thread)]
		     : own > had[FIRST_PROCESS + process_of(m, thread)])
		++*ret_wrong;
	*ret_wrong += named != whole || f->wait_cpu_ns != whole ||
		      (m->longest[thread] < NAMED && (several || at_most != whole));
	return several;
}

/**
 * struct outcome - sums over all threads of a machine
 * @exact_ns: waited by threads that must have only exact rows
 * @long_ns: waited by the others, with @several_ns of it charged to "several"
 */
struct outcome {
	uint32_t wrong, nr;
	uint64_t exact_ns, long_ns, several_ns;
};

static struct outcome machine_check(struct machine *m)
{
	struct trace *trace = tb_open_trace(m->tb);
	struct trace_error error = {0};
	struct trace_analysis *analysis = trace_analysis_new(trace, NULL, &error);
	struct outcome outcome = {0};

	if (m->kind->ask)
		CU_ASSERT_EQUAL(trace_analysis_on_event(analysis, NULL, ask, m), 0);
	CU_ASSERT_EQUAL_FATAL(trace_analysis_run(analysis, &error), 0);
	CU_ASSERT_EQUAL(trace_analysis_verify(analysis, &error), 0);
	for (uint32_t thread = 0; thread < m->kind->nr_threads; thread++) {
		struct trace_figures *f = trace_thread_figures(analysis,
							       trace_find_thread(analysis, FIRST_TID + thread));
		uint64_t several = compare(m, thread, f, &outcome.wrong);

		*(m->longest[thread] < NAMED ? &outcome.exact_ns : &outcome.long_ns) += f->wait_cpu_ns;
		outcome.several_ns += several;
		outcome.nr++;
		trace_figures_free(f);
	}
	trace_analysis_free(analysis);
	trace_close(trace);
	return outcome;
}

static struct outcome check(const struct kind *kind)
{
	struct outcome sum = {0};

	for (uint64_t seed = 1; seed <= 3; seed += (uint64_t)unit_step(3)) {
		struct machine *m = machine_run(kind, seed);
		struct outcome outcome = machine_check(m);

		if (outcome.wrong)
			printf("\n    %s, seed %llu: %u rows are wrong", kind->name, (unsigned long long)seed,
			       outcome.wrong);
		CU_ASSERT_EQUAL(outcome.wrong, 0);
		CU_ASSERT_EQUAL(outcome.nr, kind->nr_threads);
		sum.exact_ns += outcome.exact_ns;
		sum.long_ns += outcome.long_ns;
		sum.several_ns += outcome.several_ns;
		machine_free(m);
	}
	return sum;
}

/* ---- cases ---- */

static void the_thread_on_the_cpu_is_charged_to_the_nanosecond(void)
{
	static const struct kind kinds[] = {
		{"few", 2, 6, 4, 6000, 20, false, 5, 20, 0, 0, 0},
		{"threads that never sleep", 2, 60, 60, 12000, 0, true, 0, 30, 0, 0, 0},
		{"they are moved", 2, 100, 30, 12000, 0, true, 10, 30, 0, 0, 0},
		{"they sleep", 2, 150, 40, 12000, 30, true, 5, 30, 0, 0, 0},
		{"seldom", 1, 90, 90, 16000, 2, true, 0, 20, 0, 0, 0},
		{"of one process", 2, 120, 1, 8000, 1, true, 2, 20, 0, 0, 0},
		{"of few, in no order", 4, 40, 3, 12000, 5, false, 3, 20, 0, 0, 0},
		{"somebody asks", 2, 120, 50, 10000, 1, true, 2, 20, 30, 0, 0},
		{"of a large machine", 2, 220, 40, 30000, 0, true, 1, 20, 0, 1000, 0},
		{"of a large machine, in no order", 2, 24, 24, 24000, 1, false, 1, 20, 0, 1000, 0},
		{"of a coarse clock", 3, 60, 20, 12000, 20, true, 5, 30, 0, 0, 70},
		{"of a coarse clock, in order", 1, 50, 50, 16000, 2, true, 0, 20, 20, 0, 50},
	};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		struct outcome outcome = check(&kinds[i]);

		CU_ASSERT(outcome.exact_ns > outcome.long_ns);
		CU_ASSERT(outcome.several_ns <= outcome.long_ns);
	}
}

static void no_thread_is_charged_with_more_than_it_had(void)
{
	static const struct kind kinds[] = {
		{"in order", 2, 1500, 1500, 9000, 0, true, 0, 20, 0, 0, 0},
		{"in no order", 2, 900, 900, 9000, 0, false, 2, 20, 0, 0, 0},
		{"they sleep", 2, 1200, 700, 9000, 10, true, 5, 20, 5, 0, 0},
		{"of a large machine, whose logs are short", 2, 1500, 1500, 9000, 0, true, 0, 20, 0, 1000, 0},
	};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		struct outcome outcome = check(&kinds[i]);

		CU_ASSERT(outcome.several_ns < outcome.long_ns);
	}
}

/* 600 threads have a slice each on a CPU. More than one in five is named: those that had it
 * last. */
static void long_waits_name_the_latest_threads(void)
{
	static const struct kind kind = {"in order", 1, 600, 600, 12000, 0, true, 0, 0, 0, 0, 0};
	struct outcome outcome = check(&kind);

	CU_ASSERT(outcome.long_ns > outcome.exact_ns);
	CU_ASSERT((outcome.long_ns - outcome.several_ns) * 600 >= outcome.long_ns * NAMED);
}

/* However many slices it takes: a wait for few processes does not need "several". */
static void long_waits_for_few_processes_are_completely_named(void)
{
	static const struct kind kinds[] = {
		{"ten of many threads", 2, 1200, 10, 16000, 0, true, 0, 20, 0, 0, 0},
		{"that sleep at times", 2, 1200, 10, 16000, 1, true, 0, 20, 10, 0, 0},
	};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		struct outcome outcome = check(&kinds[i]);

		CU_ASSERT(outcome.long_ns > outcome.exact_ns);
		/* waited before it was known that the wait would be long */
		CU_ASSERT(outcome.several_ns * 10 < outcome.long_ns);
	}
}

static uint64_t had_by(const struct trace_figures *f, uint32_t pid)
{
	for (size_t i = 0; i < f->nr_wait_cpu_for; i++)
		if (f->wait_cpu_for[i].pid == pid)
			return f->wait_cpu_for[i].ns;
	return 0;
}

/* In the state, thread 5 is on CPU 0, in its third slice there, when it leaves CPU 1 and waits for
 * that one. Or (@moved) it leaves CPU 1 and is migrated at once. */
static void check_other_cpu(bool moved)
{
	struct trace_sched_migrate migrate = {.tid = 5, .from_cpu = 0, .to_cpu = 1};
	/* THIRD_TURN: the slices before its end */
	enum { NR = 40, TURN_NS = 10, THIRD_TURN = 2 * NR + 5, OTHERS = 300, NR_OTHERS = 30 };
	struct tb *tb = tb_new();
	struct trace_error error = {0};
	struct trace_analysis *analysis;
	struct trace_figures *f;
	struct trace *trace;
	uint64_t now = START_NS;

	for (uint32_t tid = 1; tid <= NR; tid++) {
		struct trace_start_thread start = {.tid = tid,
						   .tgid = tid,
						   .ns_tid = tid,
						   .ns_tgid = tid,
						   .state = TRACE_TASK_RUNNING,
						   .nr = -1,
						   .prio = 120};

		tb_start(tb, START_NS, TRACE_EV_start_thread, &start, sizeof(start), "worker");
	}
	tb_switch(tb, 1, START_NS, 0, 200, TRACE_TASK_RUNNING);
	tb_switch(tb, 0, START_NS, 0, 1, TRACE_TASK_RUNNING);
	for (uint32_t turn = 1; turn < THIRD_TURN; turn++)
		tb_switch(tb, 0, now += TURN_NS, (turn - 1) % NR + 1, turn % NR + 1, TRACE_TASK_RUNNING);
	tb_switch(tb, 1, now += TURN_NS, moved ? 200 : 5, OTHERS, TRACE_TASK_RUNNING);
	if (moved) {
		tb_switch(tb, 0, now, 5, 6, TRACE_TASK_RUNNING);
		tb_event(tb, 1, now, TRACE_EV_sched_migrate, &migrate, sizeof(migrate), NULL);
	}
	for (uint32_t i = 1; i < NR_OTHERS; i++)
		tb_switch(tb, 1, now += TURN_NS, OTHERS + i - 1, OTHERS + i, TRACE_TASK_RUNNING);
	tb_switch(tb, 1, now += TURN_NS, OTHERS + NR_OTHERS - 1, 5, TRACE_TASK_RUNNING);
	tb_switch(tb, 1, now += TURN_NS, 5, 0, TRACE_TASK_INTERRUPTIBLE);
	trace = tb_open_trace(tb);
	analysis = trace_analysis_new(trace, NULL, &error);
	CU_ASSERT_EQUAL_FATAL(trace_analysis_run(analysis, &error), 0);
	CU_ASSERT_EQUAL(trace_analysis_verify(analysis, &error), 0);
	f = trace_thread_figures(analysis, trace_find_thread(analysis, 5));
	for (uint32_t tid = 1; tid <= NR; tid++)
		CU_ASSERT_EQUAL(had_by(f, tid), tid == 5 ? 0 : tid < 5 ? 3 * TURN_NS : 2 * TURN_NS);
	for (uint32_t i = 0; i < NR_OTHERS; i++)
		CU_ASSERT_EQUAL(had_by(f, OTHERS + i), TURN_NS);
	trace_figures_free(f);
	trace_analysis_free(analysis);
	trace_close(trace);
	tb_free(tb);
}

/* It waited for CPU 0 before that. */
static void a_thread_that_appears_on_another_cpu_is_charged_on_both(void)
{
	check_other_cpu(false);
}

static void a_thread_migrated_before_it_waited_is_charged_on_both(void)
{
	check_other_cpu(true);
}

/*
 * A thread without events has a CPU last. That its slice is over is known only at the end, when
 * nothing is flushed any more. That may be exactly where the log is half full again while the wait
 * of another thread can still be asked for. The test tries all numbers of slices, and one of them
 * hits this.
 */
static void a_hidden_thread_may_come_last(void)
{
	enum { WAITS = 1, TURNS = 2, HIDDEN = 4, FIRST = 250, LAST = 550 };

	for (uint32_t nr = FIRST; nr <= LAST; nr++) {
		struct trace_start_thread start = {
			.ns_tid = 1, .ns_tgid = 1, .state = TRACE_TASK_RUNNING, .nr = -1, .prio = 120};
		struct trace_error error = {0};
		struct trace_analysis *analysis;
		struct tb *tb = tb_new();
		struct trace *trace;
		uint32_t prev = 0;

		for (uint32_t tid = WAITS; tid <= HIDDEN; tid++) {
			start.tid = start.tgid = tid;
			start.flags = tid == HIDDEN ? TRACE_THREAD_HIDDEN : 0;
			tb_start(tb, START_NS, TRACE_EV_start_thread, &start, sizeof(start), "worker");
		}
		for (uint32_t turn = 0; turn < nr; turn++) {
			uint32_t next = turn == nr - 1	  ? (uint32_t)HIDDEN
					: turn % 20 == 19 ? (uint32_t)WAITS
							  : TURNS + turn % 2;

			tb_switch(tb, 0, START_NS + 10 * turn, prev, next, TRACE_TASK_RUNNING);
			prev = next;
		}
		tb_window(tb, START_NS, START_NS + 10 * nr);
		trace = tb_open_trace(tb);
		analysis = trace_analysis_new(trace, NULL, &error);
		CU_ASSERT_EQUAL_FATAL(trace_analysis_run(analysis, &error), 0);
		CU_ASSERT_EQUAL(trace_analysis_verify(analysis, &error), 0);
		trace_analysis_free(analysis);
		trace_close(trace);
		tb_free(tb);
	}
}

/*
 * A log that doubles keeps the slices that it has, and the one before the first slice with a link
 * is not among them. Two threads take turns while thread WOKEN begins to wait; then many compete,
 * so that the log doubles, and WOKEN has its turn at last. The test tries all slices in which the
 * wait may begin, and one of them is the one before the first.
 */
static void a_log_that_doubles_has_no_slice_from_before(void)
{
	enum { TURN_NS = 10, ALONE = 330, ALL = 390, WOKEN = 50, NR = 24, FIRST = 100, LAST = 200 };
	struct trace_sched_waking waking = {.tid = WOKEN, .context = TRACE_CONTEXT_HARDIRQ};

	for (uint32_t woken_at = FIRST; woken_at <= LAST; woken_at++) {
		struct trace_start_thread start = {.ns_tid = 1, .ns_tgid = 1, .nr = -1, .prio = 120};
		struct trace_error error = {0};
		struct trace_analysis *analysis;
		struct trace_figures *f;
		struct tb *tb = tb_new();
		struct trace *trace;
		uint32_t prev = 0;

		for (uint32_t i = 0; i <= NR; i++) {
			start.tid = start.tgid = i == NR ? (uint32_t)WOKEN : 1 + i;
			start.state = i == NR ? TRACE_TASK_INTERRUPTIBLE : TRACE_TASK_RUNNING;
			tb_start(tb, START_NS, TRACE_EV_start_thread, &start, sizeof(start), "worker");
		}
		for (uint32_t turn = 0; turn <= ALL; turn++) {
			uint32_t next = turn == ALL ? (uint32_t)WOKEN : 1 + turn % (turn < ALONE ? 2 : NR);

			tb_switch(tb, 0, START_NS + TURN_NS * turn, prev, next, TRACE_TASK_RUNNING);
			if (turn == woken_at)
				tb_event(tb, 0, START_NS + TURN_NS * turn + TURN_NS / 2, TRACE_EV_sched_waking, &waking,
					 sizeof(waking), NULL);
			prev = next;
		}
		tb_window(tb, START_NS, START_NS + TURN_NS * (ALL + 1));
		trace = tb_open_trace(tb);
		analysis = trace_analysis_new(trace, NULL, &error);
		CU_ASSERT_EQUAL_FATAL(trace_analysis_run(analysis, &error), 0);
		CU_ASSERT_EQUAL(trace_analysis_verify(analysis, &error), 0);
		f = trace_thread_figures(analysis, trace_find_thread(analysis, WOKEN));
		CU_ASSERT_EQUAL(f->wait_cpu_ns, TURN_NS * (ALL - woken_at) - TURN_NS / 2);
		for (size_t i = 0; i < f->nr_wait_cpu_for; i++)
			CU_ASSERT_TRUE(f->wait_cpu_for[i].pid || strcmp(f->wait_cpu_for[i].comm, "several") == 0);
		trace_figures_free(f);
		trace_analysis_free(analysis);
		trace_close(trace);
		tb_free(tb);
	}
}

static const struct unit_case cases[] = {
	{"the_thread_on_the_cpu_is_charged_to_the_nanosecond", the_thread_on_the_cpu_is_charged_to_the_nanosecond},
	{"no_thread_is_charged_with_more_than_it_had", no_thread_is_charged_with_more_than_it_had},
	{"long_waits_name_the_latest_threads", long_waits_name_the_latest_threads},
	{"long_waits_for_few_processes_are_completely_named", long_waits_for_few_processes_are_completely_named},
	{"a_thread_that_appears_on_another_cpu_is_charged_on_both",
	 a_thread_that_appears_on_another_cpu_is_charged_on_both},
	{"a_thread_migrated_before_it_waited_is_charged_on_both",
	 a_thread_migrated_before_it_waited_is_charged_on_both},
	{"a_hidden_thread_may_come_last", a_hidden_thread_may_come_last},
	{"a_log_that_doubles_has_no_slice_from_before", a_log_that_doubles_has_no_slice_from_before},
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	return unit_main("slice_log", cases, argc, argv);
}
