/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_tables.c - the tables of a span equal those of a pass with that window
 *
 * The oracle is an analysis with a window, for each of many random spans. Its rows have all
 * figures that tables have, so they are compared one by one, as --json writes them.
 *
 * 	test_tables                random machines
 * 	TRACE_TEST_TABLES=FILE test_tables      also 50 spans of a recording
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <trace/analysis.h>
#include <trace/probes.h>
#include <trace/tables.h>
#include <unistd.h>
#include "builder.h"
#include "image.h"
#include "random_story.h"
#include "unit.h"
#include "user_events_case.h"

#define NR_SPANS       30
#define NR_SEEDS       24
#define NR_STEPS       3000
#define NR_CPUS	       2
#define NR_TIDS	       9
#define FIRST_TID      100
#define MANY_STRETCHES 7 /* entries of a stretch */

/* struct collected - a trace, its pass with tables, and how many rows were compared */
struct collected {
	struct trace *trace;
	struct trace_analysis *analysis;
	struct trace_tables *tables;
	struct trace_user_events *user;
	uint64_t start, end;
	size_t nr_calls, nr_files, nr_locks, nr_scopes, nr_open, nr_unmatched, nr_hits, nr_events;
};

static struct collected collect(struct trace *trace, const struct trace_tables_options *options)
{
	struct collected c = {.trace = trace, .analysis = trace_analysis_new(trace, NULL, NULL)};

	c.tables = trace_tables_new(c.analysis, options, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(c.tables);
	c.user = trace_user_events_new(trace, c.analysis, NULL);
	CU_ASSERT_EQUAL_FATAL(trace_tables_add_user(c.tables, c.user, NULL), 0);
	CU_ASSERT_EQUAL_FATAL(trace_analysis_run(c.analysis, NULL), 0);
	trace_analysis_window(c.analysis, &c.start, &c.end);
	return c;
}

static void collected_free(struct collected *c)
{
	trace_tables_free(c->tables);
	trace_user_events_free(c->user);
	trace_analysis_free(c->analysis);
}

/* ---- rows as text ---- */

static void put_calls(FILE *out, const struct trace_figures *f, const char *what, const struct trace_call *calls,
		      size_t nr)
{
	struct trace_time_range ranges[TRACE_TIME_RANGES];

	for (size_t i = 0; i < nr; i++) {
		const struct trace_call *c = &calls[i];
		size_t nr_ranges = trace_call_times(f, c, ranges);

		fprintf(out, "%s %s: %lu %lu, %lu = %lu %lu %lu %lu, %lu %lu %lu %lu;", what, c->name, c->calls,
			c->errors, c->elapsed_ns, c->cpu_ns, c->interrupted_ns, c->wait_cpu_ns, c->wait_ns, c->min_ns,
			c->p50_ns, c->p99_ns, c->max_ns);
		for (size_t r = 0; r < nr_ranges; r++)
			fprintf(out, " %lu %lu", ranges[r].from_ns, ranges[r].count);
		fputc('\n', out);
	}
}

static void put_figures(FILE *out, const struct trace_figures *f)
{
	put_calls(out, f, "call", f->syscalls, f->nr_syscalls_rows);
	put_calls(out, f, "work", f->kernel_work, f->nr_kernel_work);
	put_calls(out, f, "trap", f->traps, f->nr_traps_rows);
	for (size_t i = 0; i < f->nr_files; i++)
		fprintf(out, "file %s: %lu %lu, %lu %lu, %lu\n", f->files[i].path, f->files[i].reads,
			f->files[i].read_bytes, f->files[i].writes, f->files[i].written_bytes, f->files[i].wait_ns);
}

static void put_locks(FILE *out, const struct trace_lock_wait *locks, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		fprintf(out, "lock %u %u %s %s %lx: %lu %lu\n", trace_thread_tid(locks[i].waiter_thread),
			locks[i].holder_thread ? trace_thread_tid(locks[i].holder_thread) : 0, locks[i].via,
			locks[i].path, locks[i].address, locks[i].ns, locks[i].count);
}

static void put_latency(FILE *out, const struct trace_latency *times)
{
	fprintf(out, "%lu %lu, %lu %lu %lu %lu, ", times->count, times->sum_ns, times->min_ns, times->p50_ns,
		times->p99_ns, times->max_ns);
}

static void put_scope(FILE *out, const struct trace_span *s)
{
	fprintf(out, "%s %s %s of %u: ", trace_span_kind_name(s->kind), s->name, s->from,
		s->process ? trace_process_pid(s->process) : s->pid);
	put_latency(out, &s->elapsed);
	fprintf(out, "%lu open, %lu unmatched, %lu %lu %lu %lu %lu %lu %lu\n", s->open, s->unmatched, s->user_ns,
		s->system_ns, s->interrupted_ns, s->wait_cpu_ns, s->blocked_ns, s->queued_ns, s->unseen_ns);
}

static void put_costs(FILE *out, struct trace_probe_use *hits, size_t nr_hits, struct trace_event_use *events,
		      size_t nr_events)
{
	for (size_t i = 0; i < nr_hits; i++)
		fprintf(out, "probe %s of %u: %lu, %lu %lu %lu\n", hits[i].name, trace_process_pid(hits[i].process),
			hits[i].hits, hits[i].hit_ns, hits[i].hit_least_ns, hits[i].hit_most_ns);
	for (size_t i = 0; i < nr_events; i++)
		fprintf(out, "event %s of %u: %lu, %lu\n", events[i].name, trace_process_pid(events[i].process),
			events[i].events, events[i].cost_ns);
	free(hits);
	free(events);
}

static void put_user_of_pass(FILE *out, struct collected *c, struct trace_analysis *window,
			     struct trace_user_events *user)
{
	size_t nr_hits, nr_events;
	struct trace_probe_use *hits = trace_probe_uses(window, &nr_hits);
	struct trace_event_use *events = trace_event_uses(window, &nr_events);

	for (size_t i = 0; i < trace_nr_spans(user); i++) {
		const struct trace_span *scope = trace_get_span(user, i);

		put_scope(out, scope);
		c->nr_scopes++;
		c->nr_open += scope->open;
		c->nr_unmatched += scope->unmatched;
	}
	c->nr_hits += nr_hits;
	c->nr_events += nr_events;
	put_costs(out, hits, nr_hits, events, nr_events);
}

static void put_user_of_tables(FILE *out, const struct trace_span_tables *span)
{
	size_t nr, nr_hits, nr_events;
	const struct trace_span *scopes = trace_span_tables_scopes(span, &nr);
	struct trace_probe_use *hits = trace_span_tables_probes(span, &nr_hits);
	struct trace_event_use *events = trace_span_tables_events(span, &nr_events);

	for (size_t i = 0; i < nr; i++)
		put_scope(out, &scopes[i]);
	put_costs(out, hits, nr_hits, events, nr_events);
}

static char *text_of_pass(struct collected *c, uint64_t from, uint64_t to)
{
	struct trace_analysis_options options = {.size = sizeof(options), .from_ns = from, .to_ns = to};
	struct trace_analysis *window = trace_analysis_new(c->trace, &options, NULL);
	struct trace_user_events *user = trace_user_events_new(c->trace, window, NULL);
	struct trace_lock_wait *locks;
	char *text = NULL;
	size_t bytes, nr;
	FILE *out = open_memstream(&text, &bytes);

	CU_ASSERT_EQUAL_FATAL(trace_analysis_run(window, NULL), 0);
	for (size_t i = 0; i < trace_nr_processes(window); i++) {
		struct trace_figures *f = trace_process_figures(window, trace_get_process(window, i));

		fprintf(out, "process %zu\n", i);
		put_figures(out, f);
		c->nr_calls += f->nr_syscalls_rows;
		c->nr_files += f->nr_files;
		trace_figures_free(f);
	}
	locks = trace_lock_waits(window, &nr);
	put_locks(out, locks, nr);
	c->nr_locks += nr;
	free(locks);
	put_user_of_pass(out, c, window, user);
	trace_user_events_free(user);
	trace_analysis_free(window);
	fclose(out);
	return text;
}

static char *text_of_tables(const struct collected *c, uint64_t from, uint64_t to)
{
	struct trace_span_tables *span = NULL;
	struct trace_error error = {0};
	struct trace_lock_wait *locks;
	char *text = NULL;
	size_t bytes, nr;
	FILE *out = open_memstream(&text, &bytes);

	if (trace_tables_of_span(c->tables, from, to, &span, &error) < 0)
		fprintf(out, "%s\n", error.message);
	for (size_t i = 0; span && i < trace_nr_processes(c->analysis); i++) {
		struct trace_figures *f = trace_span_tables_figures(span, trace_get_process(c->analysis, i));

		fprintf(out, "process %zu\n", i);
		put_figures(out, f);
		trace_figures_free(f);
	}
	locks = span ? trace_span_tables_locks(span, &nr) : NULL;
	if (locks)
		put_locks(out, locks, nr);
	free(locks);
	if (span)
		put_user_of_tables(out, span);
	trace_span_tables_free(span);
	fclose(out);
	return text;
}

static void check_span(struct collected *c, uint64_t from, uint64_t to, uint64_t seed)
{
	char *expected = text_of_pass(c, from, to), *found = text_of_tables(c, from, to);

	CU_ASSERT_STRING_EQUAL(expected, found);
	if (strcmp(expected, found) != 0) {
		size_t i = 0;

		while (expected[i] == found[i])
			i++;
		while (i && expected[i - 1] != '\n')
			i--;
		printf("seed %lu, %lu to %lu of %lu to %lu:\n-%.*s\n+%.*s\n", seed, from, to, c->start, c->end,
		       (int)strcspn(expected + i, "\n"), expected + i, (int)strcspn(found + i, "\n"), found + i);
	}
	free(expected);
	free(found);
}

static void check_spans(struct collected *c, unsigned int nr, uint64_t seed)
{
	uint64_t whole = c->end - c->start;

	for (unsigned int i = 0; i < nr && whole > 2; i++) {
		uint64_t from = c->start + tb_random() % (whole - 1), width = 1 + tb_random() % (c->end - from);

		check_span(c, from, i % 8 == 7 ? 0 : from + (i % 2 ? width : 1 + width / 50), seed);
	}
	check_span(c, c->start, c->end, seed);
	check_span(c, c->start, 0, seed);
}

/* ---- stories ---- */

/* what goes wrong on a machine, as bits */
enum {
	LOSES = 1,	 /* events of a CPU, with a loss in the trace */
	CONTRADICTS = 2, /* single events are missing, and no loss says so */
	LIMITS = 4,	 /* control groups use up their CPU quota, and classes of the scheduler their time */
};

enum { TOLD_BEGIN, TOLD_END, TOLD_REQUEST, TOLD_ANSWER, TOLD_HANDOFF, TOLD_MARK, TOLD_OTHER, NR_TOLD };

/* struct machine - a plausible one: each thread sleeps, waits for a CPU, or has one */
struct machine {
	struct tb *tb;
	unsigned int faults;
	uint64_t ns;
	uint32_t on_cpu[NR_CPUS];
	enum { ASLEEP, QUEUED, RUNS } state[NR_TIDS];
	unsigned int depth[NR_TIDS]; /* 1: in a call; 2: in a fault in it */
	bool is_limited[NR_TIDS];
	uint32_t nr_lost[NR_CPUS]; /* so many of the next events */
	uint16_t told[NR_TOLD];	   /* types of events of the programs */
	uint16_t hit;		   /* of a probe */
};

static const struct {
	uint32_t nr;
	const char *name;
} calls_made[] = {{SYS_read, "read"},
		  {SYS_write, "write"},
		  {SYS_futex, "futex"},
		  {SYS_getpid, "getpid"},
		  {SYS_nanosleep, "nanosleep"}};

static uint64_t tick(struct machine *m)
{
	return m->ns += 1 + tb_random() % 90;
}

/* True if the next event of @cpu is in the trace. */
static bool is_seen(struct machine *m, uint32_t cpu)
{
	if (m->nr_lost[cpu]) {
		m->nr_lost[cpu]--;
		return false;
	}
	if (m->faults & LOSES && tb_random() % 150 == 0) {
		m->nr_lost[cpu] = 1 + (uint32_t)tb_random() % 20;
		tb_lost(m->tb, cpu, m->nr_lost[cpu] + 1);
		return false;
	}
	return !(m->faults & CONTRADICTS) || tb_random() % 100;
}

/* @thread is runnable and leaves its CPU: its quota, or the time of its class, is used up. */
static void limit(struct machine *m, uint32_t cpu, uint32_t thread)
{
	bool is_class = tb_random() % 3 == 0;

	m->is_limited[thread] = true;
	if (!is_seen(m, cpu))
		return;
	if (is_class)
		tb_add(m->tb, cpu, tick(m), sched_limit, NULL, .tid = FIRST_TID + thread,
		       .prio = tb_random() % 2 ? -1 : 50);
	else
		tb_add(m->tb, cpu, tick(m), sched_quota, NULL, .tid = FIRST_TID + thread, .ns = 1000);
}

static void unlimit(struct machine *m, uint32_t cpu, uint32_t thread)
{
	uint64_t ns = tb_random() % 3 ? tb_random() % 2000 : UINT64_MAX;

	if (m->is_limited[thread] && is_seen(m, cpu))
		tb_add(m->tb, cpu, tick(m), sched_quota, NULL, .tid = FIRST_TID + thread, .ns = ns, .over = 1);
	m->is_limited[thread] = false;
}

static void change(struct machine *m, uint32_t cpu, uint32_t thread, uint32_t next)
{
	bool sleeps = thread && m->depth[thread] && tb_random() % 3;

	unlimit(m, cpu, next);
	if (m->faults & LIMITS && thread && !sleeps && tb_random() % 3 == 0)
		limit(m, cpu, thread);
	if (is_seen(m, cpu))
		tb_switch(m->tb, cpu, tick(m), thread ? FIRST_TID + thread : 0, next ? FIRST_TID + next : 0,
			  sleeps ? TRACE_TASK_INTERRUPTIBLE : TRACE_TASK_RUNNING);
	m->state[thread] = sleeps ? ASLEEP : QUEUED;
	m->state[next] = RUNS;
	m->on_cpu[cpu] = next;
}

/* The thread on the CPU records an event of its program, or hits a probe. */
static void tell(struct machine *m, uint32_t cpu, uint32_t thread)
{
	uint64_t zero = 0;

	if (m->faults & LOSES && tb_random() % 60 == 0)
		tb_user_lost(m->tb, cpu, 2);
	if (!m->depth[thread] && !(m->faults & (LOSES | CONTRADICTS)) && tb_random() % 2) {
		if (is_seen(m, cpu))
			tb_event(m->tb, cpu, tick(m), m->hit, &zero, sizeof(zero), NULL);
		return;
	}
	emit(m->tb, cpu, tick(m), m->told[tb_random() % NR_TOLD], FIRST_TID + thread, (int64_t)(tb_random() % 3));
}

static void learn_types(struct machine *m)
{
	static const struct {
		const char *name;
		enum trace_event_role role;
	} kinds[NR_TOLD] = {{"shop:step.begin", TRACE_ROLE_BEGIN},
			    {"shop:step.end", TRACE_ROLE_END},
			    {"shop:order.begin", TRACE_ROLE_REQUEST_BEGIN},
			    {"shop:order.end", TRACE_ROLE_REQUEST_END},
			    {"shop:order.handoff", TRACE_ROLE_REQUEST_HANDOFF},
			    {"shop:met", TRACE_ROLE_EVENT},
			    {"shop:left", TRACE_ROLE_EVENT}};
	static const struct trace_field value = {.name = "value", .bytes = 8, .kind = TRACE_KIND_DEC};
	struct trace_event_type probe = {.name = "prog:hit",
					 .classic = "NONE",
					 .text = "",
					 .doc = "",
					 .program = "NONE",
					 .fields = &value,
					 .nr_fields = 1,
					 .fixed_bytes = 8,
					 .category = TRACE_CATEGORY_USER,
					 .flags = TRACE_EVENT_ON};
	struct trace_event_cost cost = {.ps = 2000, .least_ps = 1000, .most_ps = 3000};
	struct trace_probe_cost hit = {.ns = 7, .least_ns = 5, .most_ns = 9};

	for (int i = 0; i < NR_TOLD; i++)
		m->told[i] = event_type(m->tb, kinds[i].name, kinds[i].role);
	hit.event = m->hit = tb_user_type(m->tb, &probe);
	tb_start(m->tb, 1000, TRACE_EV_event_cost, &cost, sizeof(cost), NULL);
	tb_start(m->tb, 1000, TRACE_EV_probe_cost, &hit, sizeof(hit), NULL);
	for (uint32_t cpu = 0; cpu < NR_CPUS; cpu++)
		stream(m->tb, cpu, FIRST_TID + 1 + 4 * cpu);
}

static void step(struct machine *m, uint32_t cpu)
{
	uint32_t thread = m->on_cpu[cpu], other = 1 + (uint32_t)(tb_random() % (NR_TIDS - 1)),
		 call = calls_made[tb_random() % (sizeof(calls_made) / sizeof(*calls_made))].nr;

	if (thread && tb_random() % 5 == 0) {
		tell(m, cpu, thread);
	} else if (m->state[other] == ASLEEP && tb_random() % 2) {
		if (is_seen(m, cpu))
			tb_waking(m->tb, cpu, tick(m), FIRST_TID + other, TRACE_CONTEXT_TASK);
		m->state[other] = QUEUED;
	} else if (!thread || tb_random() % 3 == 0) {
		other = m->state[other] == QUEUED ? other : 0;
		if (thread != other)
			change(m, cpu, thread, other);
	} else if (!m->depth[thread]) {
		if (is_seen(m, cpu))
			tb_sys_enter(m->tb, cpu, tick(m), call,
				     call == SYS_futex ? 0x1000 + 64 * (thread % 3) : 3 + thread % 2,
				     call == SYS_futex ? tb_random() % 2 : 0, 1);
		m->depth[thread] = 1;
	} else if (tb_random() % 7 == 0) {
		if (is_seen(m, cpu))
			tb_fault(m->tb, cpu, tick(m), 0x7000 + m->ns, false);
		if (is_seen(m, cpu))
			tb_fault_end(m->tb, cpu, tick(m), tb_random() % 2);
	} else if (tb_random() % 5 == 0) {
		if (is_seen(m, cpu))
			tb_add(m->tb, cpu, tick(m), irq_entry, NULL, .irq = 7);
		if (is_seen(m, cpu))
			tb_add(m->tb, cpu, tick(m), irq_exit, NULL, .irq = 7);
	} else {
		if (is_seen(m, cpu))
			tb_sys_exit(m->tb, cpu, tick(m), tb_random() % 4 ? (int64_t)(tb_random() % 5000) : -11);
		m->depth[thread] = 0;
	}
}

static struct trace *machine_trace(uint64_t seed, unsigned int faults)
{
	struct machine m = {.tb = tb_new(), .faults = faults, .ns = 1000};
	struct trace *trace;

	srandom((unsigned int)seed);
	for (size_t i = 0; i < sizeof(calls_made) / sizeof(*calls_made); i++)
		tb_string(m.tb, TRACE_STRING_SYSCALL, calls_made[i].nr, calls_made[i].name);
	for (uint32_t thread = 1; thread < NR_TIDS; thread++) {
		tb_thread(m.tb, FIRST_TID + thread, FIRST_TID + (thread < 5 ? 1u : 5u), 1, "worker", 0, false);
		m.state[thread] = ASLEEP;
		tb_fd(m.tb, FIRST_TID + (thread < 5 ? 1u : 5u), 3, 8, 30, S_IFREG | 0644, "/data/three");
		tb_fd(m.tb, FIRST_TID + (thread < 5 ? 1u : 5u), 4, 8, 40, S_IFREG | 0644, "/data/four");
	}
	learn_types(&m);
	for (unsigned int i = 0; i < NR_STEPS; i++)
		step(&m, (uint32_t)(tb_random() % NR_CPUS));
	trace = tb_open_trace(m.tb);
	tb_free(m.tb);
	return trace;
}

/* Returns the step of the seeds: the sums are of each step-th one. */
static size_t check_machines(unsigned int faults, struct collected *sums)
{
	int step = unit_step(faults ? 3 : 5), nr = faults ? NR_SEEDS / 3 : NR_SEEDS;

	for (int seed = 1 + unit_first(step); seed <= nr; seed += step) {
		struct trace_tables_options options = {.size = sizeof(options),
						       .nr_entries = seed % 4 ? MANY_STRETCHES : 0};
		struct trace *trace = machine_trace((uint64_t)seed, faults);
		struct collected c = collect(trace, &options);

		check_spans(&c, NR_SPANS, (uint64_t)seed);
		sums->nr_calls += c.nr_calls;
		sums->nr_files += c.nr_files;
		sums->nr_locks += c.nr_locks;
		sums->nr_scopes += c.nr_scopes;
		sums->nr_open += c.nr_open;
		sums->nr_unmatched += c.nr_unmatched;
		sums->nr_hits += c.nr_hits;
		sums->nr_events += c.nr_events;
		collected_free(&c);
		trace_close(trace);
	}
	return (size_t)step;
}

/* The sum of each @step-th seed exceeds this if the sum of all exceeds @nr: seeds differ. */
static size_t part(size_t nr, size_t step)
{
	return step > 1 ? nr / (2 * step) : nr;
}

static void spans_of_machines_equal_a_pass(void)
{
	struct collected sums = {0};
	size_t step = check_machines(0, &sums);

	CU_ASSERT(sums.nr_calls > part(5000, step));
	CU_ASSERT(sums.nr_files > part(1000, step));
	CU_ASSERT(sums.nr_locks > part(100, step));
	CU_ASSERT(sums.nr_scopes > part(2000, step));
	CU_ASSERT(sums.nr_open > part(500, step));
	CU_ASSERT(sums.nr_unmatched > part(500, step));
	CU_ASSERT(sums.nr_hits > part(500, step));
	CU_ASSERT(sums.nr_events > part(500, step));
}

static void spans_with_limits_equal_a_pass(void)
{
	struct collected sums = {0};
	size_t step = check_machines(LIMITS, &sums);

	CU_ASSERT(sums.nr_calls > part(2000, step));
}

static void spans_with_contradictions_equal_a_pass(void)
{
	struct collected sums = {0};
	size_t step = check_machines(CONTRADICTS, &sums);

	CU_ASSERT(sums.nr_calls > part(2000, step));
}

static void spans_with_gaps_equal_a_pass(void)
{
	struct collected sums = {0};
	size_t step = check_machines(LOSES, &sums);

	check_machines(LOSES | LIMITS | CONTRADICTS, &sums);
	CU_ASSERT(sums.nr_calls > part(2000, step));
}

/* The switch tells that the interrupt has ended, when the edge has passed. */
static void an_interrupt_without_end_is_a_part_of_no_call(void)
{
	struct tb *tb = tb_new();
	struct trace *trace;
	struct collected c;

	tb_string(tb, TRACE_STRING_SYSCALL, SYS_nanosleep, "nanosleep");
	tb_thread(tb, 10, 10, 1, "worker", 0, true);
	tb_sys_enter(tb, 0, 2000, SYS_nanosleep, 0);
	tb_add(tb, 0, 2010, irq_entry, NULL, .irq = 7);
	tb_switch(tb, 0, 2100, 10, 0, TRACE_TASK_INTERRUPTIBLE);
	tb_switch(tb, 0, 3000, 0, 10, TRACE_TASK_RUNNING);
	tb_sys_exit(tb, 0, 3100, 0);
	trace = tb_open_trace(tb);
	c = collect(trace, NULL);
	check_span(&c, 2100, 2500, 0);
	check_span(&c, 2050, 2500, 0);
	check_span(&c, 1000, 2050, 0);
	collected_free(&c);
	trace_close(trace);
	tb_free(tb);
}

/* Threads die twice and return from calls that they never made; chunks are damaged */
static void spans_of_hostile_traces_equal_a_pass(void)
{
	struct trace_tables_options options = {.size = sizeof(options), .nr_entries = MANY_STRETCHES};

	uint64_t step = (uint64_t)unit_step(5);

	for (uint64_t seed = 1 + (uint64_t)unit_first((int)step); seed <= NR_SEEDS; seed += step) {
		struct mood mood = {.noise = (uint32_t)(seed % 3 * 10),
				    .nr_tids = 12,
				    .switches = 25,
				    .sleeps = 50,
				    .losses = seed & 1,
				    .cuts = 1,
				    .nr_events = 600,
				    .streams = seed % 3 == 0,
				    .masks = seed % 5 == 1,
				    .moves = seed & 2,
				    .programs = seed & 1};
		struct tb *tb = random_story(seed, &mood);
		struct image image = image_new(tb, true);
		struct trace *trace;
		struct collected c;

		for (size_t i = 1; seed % 4 > 1 && image_spoil(&image, TRACE_CHUNK_EVENTS, i); i += 3)
			;
		trace = trace_open(image.path, NULL);
		c = collect(trace, &options);
		check_spans(&c, NR_SPANS, seed);
		collected_free(&c);
		trace_close(trace);
		image_free(&image);
		tb_free(tb);
	}
}

/* In a file of the caller the tables are the same. */
static void a_file_keeps_what_memory_would(void)
{
	char path[] = "/tmp/test_tables.XXXXXX";
	struct trace_tables_options options = {
		.size = sizeof(options), .nr_entries = MANY_STRETCHES, .has_file = true, .fd = mkstemp(path)};
	struct trace *trace = machine_trace(99, 0);
	struct collected c = collect(trace, &options);
	struct trace_span_tables *span = NULL;

	unlink(path);
	check_spans(&c, 10, 99);
	CU_ASSERT(lseek(options.fd, 0, SEEK_END) > 0);
	CU_ASSERT_EQUAL(ftruncate(options.fd, 100), 0);
	CU_ASSERT_EQUAL(trace_tables_of_span(c.tables, c.start, c.end, &span, NULL), -EIO);
	collected_free(&c);
	trace_close(trace);
	close(options.fd);
}

/* The intervals of a pass are coarse then, so what a span has of a wait is not known. */
static void too_many_gaps_have_no_tables(void)
{
	enum { NR_SLEEPERS = 2000, NR_GAPS = 700 };
	struct tb *tb = tb_new();
	struct trace_span_tables *span = NULL;
	struct trace_error error = {0};
	struct trace *trace;
	struct collected c;

	for (uint32_t i = 1; i <= NR_SLEEPERS; i++)
		tb_thread(tb, FIRST_TID + i, FIRST_TID + i, 1, "sleeper", 0, false);
	for (uint32_t i = 0; i < NR_GAPS; i++) {
		tb_add(tb, 0, 2000 + 100 * i, irq_entry, NULL, .irq = 7);
		tb_add(tb, 0, 2010 + 100 * i, irq_exit, NULL, .irq = 7);
		tb_lost(tb, 0, 1);
	}
	trace = tb_open_trace(tb);
	c = collect(trace, NULL);
	CU_ASSERT_EQUAL(trace_tables_of_span(c.tables, c.start, c.end, &span, &error), -ENODATA);
	CU_ASSERT_PTR_NULL(span);
	CU_ASSERT_STRING_EQUAL(error.message, "events are missing in too many places, so the tables of a span need a "
					      "pass of their own");
	collected_free(&c);
	trace_close(trace);
	tb_free(tb);
}

static void tables_need_a_pass_of_their_own(void)
{
	struct trace_analysis_options window = {.size = sizeof(window), .from_ns = 2000};
	struct trace *trace = machine_trace(6, 0);
	struct trace_analysis *analysis = trace_analysis_new(trace, NULL, NULL),
			      *part = trace_analysis_new(trace, &window, NULL);
	struct trace_tables *tables = trace_tables_new(analysis, NULL, NULL);
	struct trace_user_events *user = trace_user_events_new(trace, analysis, NULL),
				 *other = trace_user_events_new(trace, part, NULL);
	struct trace_span_tables *span = NULL;
	struct trace_error error;

	CU_ASSERT_PTR_NULL(trace_tables_new(analysis, NULL, &error));
	CU_ASSERT_EQUAL(error.code, -EBUSY);
	CU_ASSERT_PTR_NULL(trace_tables_new(part, NULL, &error));
	CU_ASSERT_EQUAL(error.code, -EBUSY);
	CU_ASSERT_EQUAL(trace_tables_of_span(tables, 1000, 2000, &span, NULL), -EAGAIN);
	CU_ASSERT_EQUAL(trace_tables_add_user(tables, other, &error), -EBUSY);
	CU_ASSERT_EQUAL(trace_tables_add_user(tables, user, NULL), 0);
	CU_ASSERT_EQUAL(trace_tables_add_user(tables, user, &error), -EBUSY);
	CU_ASSERT_EQUAL(trace_analysis_run(analysis, NULL), 0);
	CU_ASSERT_EQUAL(trace_tables_of_span(tables, 2000, 2000, &span, NULL), -EINVAL);
	CU_ASSERT_PTR_NULL(trace_tables_free(NULL));
	CU_ASSERT_PTR_NULL(trace_span_tables_free(NULL));
	trace_tables_free(tables);
	trace_user_events_free(user);
	trace_user_events_free(other);
	trace_analysis_free(analysis);
	trace_analysis_free(part);
	trace_close(trace);
}

static void spans_of_a_recording_equal_a_pass(void)
{
	const char *path = getenv("TRACE_TEST_TABLES");
	struct trace *trace = path ? trace_open(path, NULL) : NULL;
	struct trace_tables_options options = {.size = sizeof(options), .nr_entries = 5000};
	struct collected c;

	if (!trace)
		return;
	c = collect(trace, &options);
	check_spans(&c, 50, 0);
	collected_free(&c);
	trace_close(trace);
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		CASE(spans_of_machines_equal_a_pass),
		CASE(spans_with_limits_equal_a_pass),
		CASE(spans_with_contradictions_equal_a_pass),
		CASE(spans_with_gaps_equal_a_pass),
		CASE(spans_of_hostile_traces_equal_a_pass),
		CASE(an_interrupt_without_end_is_a_part_of_no_call),
		CASE(a_file_keeps_what_memory_would),
		CASE(too_many_gaps_have_no_tables),
		CASE(tables_need_a_pass_of_their_own),
		CASE(spans_of_a_recording_equal_a_pass),
		{NULL, NULL},
	};

	return unit_main("tables", cases, argc, argv);
}
