/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_window.c - the accounts of a window equal brute force over the intervals of the full pass
 *
 * The oracle keeps all intervals of a pass over the whole trace, and cuts and adds them for each
 * window. The windows of a partition add up to the whole.
 *
 * 	test_window                random stories
 * 	TRACE_TEST_WINDOW=FILE test_window      also 50 windows of a recording
 */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <trace/analysis.h>
#include <trace/user_events.h>
#include "builder.h"
#include "random_story.h"
#include "unit.h"

#define NR_WINDOWS 50

struct kept {
	struct trace_interval interval;
	uint32_t thread; /* index */
};

struct whole {
	struct trace *trace;
	struct trace_analysis *analysis;
	struct kept *kept; /* owned */
	size_t nr, max;
	uint64_t start, end;
};

static void keep(void *data, struct trace_analysis *analysis, const struct trace_interval *interval)
{
	struct whole *whole = data;

	if (whole->nr == whole->max) {
		whole->max = whole->max ? 2 * whole->max : 1024;
		whole->kept = reallocarray(whole->kept, whole->max, sizeof(*whole->kept));
	}
	whole->kept[whole->nr++] = (struct kept){*interval, trace_thread_index(interval->thread)};
}

static int by_thread(const void *left, const void *right)
{
	const struct kept *l = left, *r = right;

	return l->thread < r->thread ? -1 : l->thread > r->thread;
}

static struct whole whole_new(struct trace *trace)
{
	struct whole whole = {.trace = trace, .analysis = trace_analysis_new(trace, NULL, NULL)};

	CU_ASSERT_EQUAL(trace_analysis_on_interval(whole.analysis, keep, &whole), 0);
	CU_ASSERT_EQUAL(trace_analysis_run(whole.analysis, NULL), 0);
	trace_analysis_window(whole.analysis, &whole.start, &whole.end);
	qsort(whole.kept, whole.nr, sizeof(*whole.kept), by_thread);
	return whole;
}

static void whole_free(struct whole *whole)
{
	free(whole->kept);
	trace_analysis_free(whole->analysis);
}

static uint64_t cut(const struct trace_interval *interval, uint64_t from, uint64_t to)
{
	uint64_t begin = interval->from_ns > from ? interval->from_ns : from,
		 end = interval->to_ns < to ? interval->to_ns : to;

	return begin < end ? end - begin : 0;
}

static bool is_of(const struct trace_wait *wait, const struct trace_interval *interval)
{
	uint32_t pid = interval->other ? trace_process_pid(interval->other) : 0;

	if (wait->kind == TRACE_WAIT_UNKNOWN) /* a gap in an interval has no words */
		return interval->state == TRACE_STATE_BLOCKED && interval->kind == TRACE_WAIT_UNKNOWN;
	return interval->state == TRACE_STATE_BLOCKED && wait->kind == interval->kind && wait->idle == interval->idle &&
	       (strcmp(wait->target, interval->target) == 0 ||
		(pid && wait->pid == pid)) && /* it may have got a name */
	       strcmp(wait->via, interval->via) == 0 &&
	       strcmp(wait->path, interval->path ? interval->path : "") == 0 && (wait->pid == pid || !pid);
}

static const struct kept *first_of(const struct whole *whole, uint32_t thread)
{
	size_t low = 0, high = whole->nr;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (whole->kept[middle].thread < thread)
			low = middle + 1;
		else
			high = middle;
	}
	return whole->kept + low;
}

/* The figures of one thread are those of its intervals, cut at the edges. */
static void check_thread(const struct whole *whole, const struct trace_analysis *part,
			 const struct trace_thread *thread, uint64_t from, uint64_t to)
{
	struct trace_figures *f = trace_thread_figures(part, thread);
	uint32_t idx = trace_thread_index(thread);
	const struct kept *first = first_of(whole, idx), *end = whole->kept + whole->nr;
	uint64_t states[TRACE_STATE_RUNNING + 1] = {0}, life = 0, of_waits = 0;

	for (const struct kept *at = first; at < end && at->thread == idx; at++) {
		states[at->interval.state] += cut(&at->interval, from, to);
		life += cut(&at->interval, from, to);
	}
	CU_ASSERT_EQUAL(life, f->elapsed_ns);
	CU_ASSERT_EQUAL(f->user_ns + f->syscall_ns,
			states[TRACE_STATE_USER] + states[TRACE_STATE_SYSCALL] + states[TRACE_STATE_RUNNING]);
	CU_ASSERT_EQUAL(f->trap_ns, states[TRACE_STATE_TRAP]);
	CU_ASSERT_EQUAL(f->interrupted_ns, states[TRACE_STATE_INTERRUPTED]);
	CU_ASSERT_EQUAL(f->wait_cpu_ns, states[TRACE_STATE_WAIT_CPU]);
	CU_ASSERT_EQUAL(f->blocked_ns, states[TRACE_STATE_BLOCKED]);
	for (size_t i = 0; i < f->nr_waits; i++) {
		uint64_t ns = 0;

		for (const struct kept *at = first; at < end && at->thread == idx; at++)
			ns += is_of(&f->waits[i], &at->interval) ? cut(&at->interval, from, to) : 0;
		/* several rows may have the same words, for example two processes of one name */
		CU_ASSERT(ns >= f->waits[i].ns);
		of_waits += f->waits[i].ns;
	}
	CU_ASSERT_EQUAL(of_waits, states[TRACE_STATE_BLOCKED]);
	trace_figures_free(f);
}

static struct trace_analysis *part_new(const struct whole *whole, uint64_t from, uint64_t to)
{
	struct trace_analysis_options options = {.size = sizeof(options), .from_ns = from, .to_ns = to};
	struct trace_analysis *part = trace_analysis_new(whole->trace, &options, NULL);
	struct trace_error error = {0};

	CU_ASSERT_EQUAL(trace_analysis_run(part, NULL), 0);
	CU_ASSERT_EQUAL(trace_analysis_verify(part, &error), 0);
	if (error.code)
		printf("from %llu to %llu: %s\n", (unsigned long long)from, (unsigned long long)to, error.message);
	return part;
}

static void check_window(const struct whole *whole, uint64_t from, uint64_t to)
{
	struct trace_analysis *part = part_new(whole, from, to);
	uint64_t start, end;

	trace_analysis_window(part, &start, &end);
	CU_ASSERT_EQUAL(start, from);
	CU_ASSERT_EQUAL(end, to);
	for (size_t i = 0; i < trace_nr_processes(part); i++)
		for (const struct trace_thread *thread = NULL;
		     (thread = trace_next_thread(trace_get_process(part, i), thread));)
			check_thread(whole, part, thread, from, to);
	trace_analysis_free(part);
}

static void check_windows(struct trace *trace, uint64_t seed, unsigned int nr)
{
	struct whole whole = whole_new(trace);
	struct dice dice = {seed, NULL};

	for (unsigned int i = 0; i < nr; i++) {
		uint64_t from = whole.start + below(&dice, whole.end - whole.start),
			 to = from + 1 + below(&dice, whole.end - from);

		check_window(&whole, from, to);
	}
	whole_free(&whole);
}

/* ---- the windows of a partition ---- */

struct totals {
	uint64_t states[6], waits, wait_count, calls, call_ns, bytes, interrupts, interrupt_count, events;
	uint64_t cpus[6];
	uint64_t events_of_programs, spans, span_ns, span_parts[6], span_waits;
	uint64_t locks, lock_count, interrupted_waits, nr_interrupted_waits, work, runs, files, written, hits;
};

/* The parts of reports that have rows of their own. */
static void more_totals(const struct trace_analysis *a, struct totals *t)
{
	size_t nr_locks, nr_interrupted, nr_works, nr_uses;
	struct trace_lock_wait *locks = trace_lock_waits(a, &nr_locks);
	struct trace_interruption *interrupted = trace_interruptions(a, &nr_interrupted);
	struct trace_deferred_work *works = trace_deferred_works(a, &nr_works);
	struct trace_probe_use *uses = trace_probe_uses(a, &nr_uses);

	for (size_t i = 0; i < nr_locks; i++) {
		t->locks += locks[i].ns;
		t->lock_count += locks[i].count;
	}
	for (size_t i = 0; i < nr_interrupted; i++) {
		t->interrupted_waits += interrupted[i].ns;
		t->nr_interrupted_waits += interrupted[i].count;
	}
	for (size_t i = 0; i < nr_works; i++) {
		t->work += works[i].cpu_ns;
		t->runs += works[i].runs;
		t->files += works[i].files;
		t->written += works[i].written_bytes;
	}
	for (size_t i = 0; i < nr_uses; i++)
		t->hits += uses[i].hits;
	free(locks);
	free(interrupted);
	free(works);
	free(uses);
}

static struct totals totals_of(const struct trace *trace, const struct trace_analysis *a)
{
	struct trace_figures *f = trace_system_figures(a);
	struct totals t = {.states = {f->user_ns, f->syscall_ns, f->trap_ns, f->interrupted_ns, f->wait_cpu_ns,
				      f->blocked_ns},
			   .calls = f->nr_syscalls + f->nr_traps,
			   .bytes = f->read_bytes + f->written_bytes};
	size_t nr;
	struct trace_interrupt *interrupts = trace_system_interrupts(a, &nr);

	for (size_t i = 0; i < nr; i++)
		t.interrupts += interrupts[i].ns;
	for (size_t i = 0; i < nr; i++)
		t.interrupt_count += interrupts[i].count;
	free(interrupts);
	for (size_t i = 0; i < f->nr_waits; i++) {
		t.waits += f->waits[i].ns;
		t.wait_count += f->waits[i].count;
	}
	for (size_t i = 0; i < f->nr_syscalls_rows; i++)
		t.call_ns += f->syscalls[i].elapsed_ns;
	for (size_t i = 0; i < trace_nr_cpus(a); i++) {
		struct trace_cpu_figures c;

		trace_cpu_figures(a, i, &c);
		t.cpus[0] += c.user_ns;
		t.cpus[1] += c.system_ns;
		t.cpus[2] += c.irq_ns;
		t.cpus[3] += c.softirq_ns;
		t.cpus[4] += c.idle_ns;
		t.cpus[5] += c.unknown_ns;
	}
	for (uint32_t id = 0; id < TRACE_EV_MAX; id++)
		if (trace_type_by_id(trace, id) && trace_type_by_id(trace, id)->category != TRACE_CATEGORY_START)
			t.events += trace_analysis_count(a, id);
	trace_figures_free(f);
	more_totals(a, &t);
	return t;
}

/* ---- events of programs ---- */

static void user_totals(struct trace_user_events *user, struct totals *t)
{
	struct trace_error error = {0};

	CU_ASSERT_EQUAL(trace_user_events_verify(user, &error), 0);
	if (error.code)
		printf("%s\n", error.message);
	for (size_t i = 0; i < trace_nr_user_events(user); i++)
		t->events_of_programs += trace_get_user_event(user, i)->count;
	for (size_t i = 0; i < trace_nr_spans(user); i++) {
		const struct trace_span *s = trace_get_span(user, i);
		const uint64_t parts[] = {s->user_ns + s->system_ns,
					  s->interrupted_ns,
					  s->wait_cpu_ns,
					  s->blocked_ns,
					  s->queued_ns,
					  s->unseen_ns};

		t->spans += s->elapsed.count;
		t->span_ns += s->elapsed.sum_ns;
		for (int n = 0; n < 6; n++)
			t->span_parts[n] += parts[n];
		for (size_t n = 0; n < s->nr_waits; n++)
			t->span_waits += s->waits[n].ns;
	}
}

static struct totals user_totals_of(struct trace *trace, uint64_t from, uint64_t to)
{
	struct trace_analysis_options options = {.size = sizeof(options), .from_ns = from, .to_ns = to};
	struct trace_analysis *a = trace_analysis_new(trace, &options, NULL);
	struct trace_user_events *user = trace_user_events_new(trace, a, NULL);
	struct totals t = {0};

	CU_ASSERT_EQUAL(trace_analysis_run(a, NULL), 0);
	user_totals(user, &t);
	trace_user_events_free(user);
	trace_analysis_free(a);
	return t;
}

/* The spans that end in the windows of a partition are all, with all their parts. */
static void check_programs(struct trace *trace, uint64_t seed)
{
	struct totals all = user_totals_of(trace, 0, 0), sum = {0};
	struct dice dice = {seed, NULL};
	uint64_t from = trace_get_info(trace)->start_ns, end = trace_get_info(trace)->end_ns;

	for (int i = 0; i < 5; i++) {
		uint64_t to = i == 4 ? 0 : from + 1 + below(&dice, (end - from) / 2 + 1);
		struct totals t = user_totals_of(trace, from, to);

		for (size_t n = 0; n < sizeof(t) / sizeof(uint64_t); n++)
			((uint64_t *)&sum)[n] += ((uint64_t *)&t)[n];
		from = to;
	}
	CU_ASSERT(all.spans > 0);
	CU_ASSERT_EQUAL(sum.events_of_programs, all.events_of_programs);
	CU_ASSERT_EQUAL(sum.spans, all.spans);
	CU_ASSERT_EQUAL(sum.span_ns, all.span_ns);
	CU_ASSERT_EQUAL(sum.span_waits, all.span_waits);
	for (int n = 0; n < 6; n++)
		CU_ASSERT_EQUAL(sum.span_parts[n], all.span_parts[n]);
}

static void check_partition(struct trace *trace, uint64_t seed, unsigned int nr, bool is_plausible)
{
	struct whole whole = whole_new(trace);
	struct totals all = totals_of(trace, whole.analysis), sum = {0};
	struct dice dice = {seed, NULL};
	uint64_t from = whole.start;

	for (unsigned int i = 0; i < nr; i++) {
		uint64_t to = i + 1 == nr ? 0 : from + 1 + below(&dice, (whole.end - from) / 2 + 1);
		struct trace_analysis *part = part_new(&whole, from, to);
		struct totals t = totals_of(trace, part);

		for (size_t n = 0; n < sizeof(t) / sizeof(uint64_t); n++)
			((uint64_t *)&sum)[n] += ((uint64_t *)&t)[n];
		trace_analysis_free(part);
		from = to;
	}
	for (int i = 0; i < 6; i++) {
		CU_ASSERT_EQUAL(sum.states[i], all.states[i]);
		CU_ASSERT_EQUAL(sum.cpus[i], all.cpus[i]);
	}
	CU_ASSERT_EQUAL(sum.waits, all.waits);
	CU_ASSERT_EQUAL(sum.bytes, all.bytes);
	CU_ASSERT_EQUAL(sum.interrupts, all.interrupts);
	CU_ASSERT_EQUAL(sum.interrupt_count, all.interrupt_count);
	CU_ASSERT_EQUAL(sum.events, all.events);
	CU_ASSERT_EQUAL(sum.locks, all.locks);
	CU_ASSERT_EQUAL(sum.interrupted_waits, all.interrupted_waits);
	CU_ASSERT_EQUAL(sum.runs, all.runs);
	CU_ASSERT_EQUAL(sum.files, all.files);
	CU_ASSERT_EQUAL(sum.written, all.written);
	CU_ASSERT_EQUAL(sum.hits, all.hits);
	if (is_plausible) {
		CU_ASSERT_EQUAL(sum.calls, all.calls);
		CU_ASSERT_EQUAL(sum.call_ns, all.call_ns);
		CU_ASSERT_EQUAL(sum.wait_count, all.wait_count);
		CU_ASSERT_EQUAL(sum.lock_count, all.lock_count);
		CU_ASSERT_EQUAL(sum.nr_interrupted_waits, all.nr_interrupted_waits);
		CU_ASSERT_EQUAL(sum.work, all.work);
	}

	whole_free(&whole);
}

/* ---- the traces ---- */

static struct trace *story(uint64_t seed, const struct mood *mood)
{
	struct tb *tb = random_story(seed, mood);
	struct trace *trace = tb_open_trace(tb);

	tb_free(tb);
	return trace;
}

static void check_story(uint64_t seed, struct mood mood)
{
	struct trace *trace = story(seed, &mood);

	check_windows(trace, seed, NR_WINDOWS / 10);
	check_partition(trace, seed, 5, !mood.noise && !mood.losses);
	trace_close(trace);
}

static void windows_of_plausible_traces_equal_their_intervals(void)
{
	for (uint64_t seed = 1; seed <= 10; seed++)
		check_story(seed, (struct mood){.nr_tids = 12, .switches = 25, .sleeps = 50, .nr_events = 2000});
}

static void windows_of_crowded_machines_equal_their_intervals(void)
{
	for (uint64_t seed = 20; seed < 24; seed++)
		check_story(seed, (struct mood){.nr_tids = 60, .switches = 80, .sleeps = 10, .moves = true});
}

static void windows_of_noise_and_gaps_equal_their_intervals(void)
{
	for (uint64_t seed = 40; seed < 50; seed++)
		check_story(seed, (struct mood){.noise = (uint32_t)(seed % 3 * 20),
						.nr_tids = 12,
						.switches = 25,
						.sleeps = 50,
						.nr_events = 2000,
						.losses = true});
}

/* ---- locks, interrupted waits, deferred work, hits of probes ---- */

#define WORK 0xffff888800001000u
#define FUNC 0xffffffff81001000u
#define DISK 0x00800001u

static uint64_t after(struct dice *dice, uint64_t *ns)
{
	return *ns += 1 + below(dice, 300);
}

/* On CPU 0: 11 waits for a futex that 12 holds, or in a read that a signal of 12 interrupts. */
static void wait_round(struct dice *dice, struct tb *tb, uint64_t *ns, bool signal)
{
	tb_sys_enter(tb, 0, after(dice, ns), signal ? SYS_read : SYS_futex, signal ? 3 : 0xabc0, 0, 2);
	tb_switch(tb, 0, after(dice, ns), 11, 12, TRACE_TASK_INTERRUPTIBLE);
	tb_sys_enter(tb, 0, after(dice, ns), signal ? SYS_kill : SYS_futex, signal ? 11 : 0xabc0, 1, 1);
	tb_waking(tb, 0, after(dice, ns), 11, TRACE_CONTEXT_TASK);
	if (signal)
		tb_add(tb, 0, *ns + 1, signal_generate, NULL, .tid = 11, .signal = 10, .group = 1);
	*ns += 1;
	tb_sys_exit(tb, 0, after(dice, ns), 1);
	tb_switch(tb, 0, after(dice, ns), 12, 11, TRACE_TASK_RUNNING);
	tb_sys_exit(tb, 0, after(dice, ns), signal ? -512 : 0);
	if (!signal)
		return;
	tb_sys_enter(tb, 0, after(dice, ns), SYS_read, 3, 0, 2); /* the kernel restarts it */
	tb_sys_exit(tb, 0, after(dice, ns), 2);
}

/* On CPU 1: worker 30 runs, is interrupted, and perhaps writes a file back. */
static void work_round(struct dice *dice, struct tb *tb, uint64_t *ns)
{
	tb_sys_enter(tb, 1, after(dice, ns), SYS_write, 3, 0, 100);
	tb_sys_exit(tb, 1, after(dice, ns), 100);
	tb_add(tb, 1, after(dice, ns), work_queue, NULL, .work = WORK, .func = FUNC);
	tb_waking(tb, 1, after(dice, ns), 30, TRACE_CONTEXT_TASK);
	tb_switch(tb, 1, after(dice, ns), 20, 30, TRACE_TASK_RUNNING);
	tb_add(tb, 1, after(dice, ns), work_start, NULL, .work = WORK, .func = FUNC);
	tb_irq(tb, 1, after(dice, ns), 7);
	tb_irq_exit(tb, 1, after(dice, ns), 7);
	if (below(dice, 2))
		tb_add(tb, 1, after(dice, ns), fs_writeback, NULL, .ino = 70, .dev = DISK, .pages = 2);
	tb_add(tb, 1, after(dice, ns), work_end, NULL, .work = WORK);
	tb_switch(tb, 1, after(dice, ns), 30, 20, TRACE_TASK_INTERRUPTIBLE);
}

/* @hit_ns: the cost of a hit; 0: not known, and no hit counts */
static struct trace *rounds(uint64_t seed, uint32_t hit_ns)
{
	static const struct trace_field value = {.name = "value", .bytes = 8, .kind = TRACE_KIND_DEC};
	struct trace_event_type type = {.name = "prog:hit",
					.classic = "NONE",
					.text = "",
					.doc = "",
					.program = "NONE",
					.fields = &value,
					.nr_fields = 1,
					.fixed_bytes = 8,
					.category = TRACE_CATEGORY_USER,
					.flags = TRACE_EVENT_ON};
	struct trace_start_thread worker = {.tid = 30,
					    .tgid = 30,
					    .ppid = 2,
					    .nr = -1,
					    .flags = TRACE_THREAD_KERNEL,
					    .cpu = 1,
					    .state = TRACE_TASK_INTERRUPTIBLE};
	struct dice dice = {seed, NULL};
	uint64_t ns[2] = {2000, 2000}, zero = 0;
	struct tb *tb = tb_new();
	struct trace *trace;
	uint16_t hit = tb_user_type(tb, &type);
	struct trace_probe_cost cost = {.event = hit, .ns = hit_ns, .least_ns = hit_ns, .most_ns = hit_ns};

	tb_window(tb, 1000, 100000);
	tb_string(tb, TRACE_STRING_SYSCALL, SYS_read, "read");
	tb_string(tb, TRACE_STRING_SYSCALL, SYS_write, "write");
	tb_string(tb, TRACE_STRING_SYSCALL, SYS_futex, "futex");
	tb_string(tb, TRACE_STRING_SYSCALL, SYS_kill, "kill");
	tb_string(tb, TRACE_STRING_SYMBOL, FUNC, "wb_workfn");
	tb_thread(tb, 11, 10, 1, "one", 0, true);
	tb_thread(tb, 12, 10, 1, "one", 0, false);
	tb_thread(tb, 20, 20, 1, "two", 1, true);
	tb_start(tb, 1000, TRACE_EV_start_thread, &worker, sizeof(worker), "kworker/u4:1");
	tb_start(tb, 1000, TRACE_EV_probe_cost, &cost, sizeof(cost), NULL);
	tb_fd(tb, 10, 3, 1, 60, S_IFIFO | 0600, "pipe");
	tb_fd(tb, 20, 3, DISK, 70, S_IFREG | 0600, "/a");
	for (int i = 0; i < 20; i++) {
		wait_round(&dice, tb, &ns[0], below(&dice, 2));
		tb_event(tb, 0, after(&dice, &ns[0]), hit, &zero, sizeof(zero), NULL);
		work_round(&dice, tb, &ns[1]);
	}
	trace = tb_open_trace(tb);
	tb_free(tb);
	return trace;
}

static bool is_lock_wait(const struct trace_interval *interval)
{
	return interval->state == TRACE_STATE_BLOCKED && interval->kind == TRACE_WAIT_PROCESS && !interval->idle &&
	       strcmp(interval->via, "futex") == 0;
}

/* Times of the worker that are in its runs, from the events: each run is from start to end. */
static uint64_t work_in(struct trace *trace, const struct whole *whole, uint64_t from, uint64_t to)
{
	struct trace_cursor *cursor = trace_cursor_new(trace, NULL, NULL);
	const struct trace_event *event;
	uint64_t begin = 0, ns = 0;

	while ((event = trace_cursor_next(cursor))) {
		if (event->id == TRACE_EV_work_start)
			begin = event->ts_ns > from ? event->ts_ns : from;
		if (event->id != TRACE_EV_work_end)
			continue;
		for (size_t i = 0; i < whole->nr; i++)
			if (whole->kept[i].interval.state == TRACE_STATE_SYSCALL &&
			    trace_thread_tid(whole->kept[i].interval.thread) == 30)
				ns += cut(&whole->kept[i].interval, begin, event->ts_ns < to ? event->ts_ns : to);
	}
	CU_ASSERT_EQUAL(trace_cursor_end(cursor, NULL), 0);
	return ns;
}

static void check_rows(struct trace *trace, const struct whole *whole, uint64_t from, uint64_t to)
{
	struct trace_analysis *part = part_new(whole, from, to);
	struct totals t = {0};
	uint64_t locks = 0, interrupted = 0;

	more_totals(part, &t);
	for (size_t i = 0; i < whole->nr; i++) {
		const struct trace_interval *interval = &whole->kept[i].interval;

		if (is_lock_wait(interval))
			locks += cut(interval, from, to);
		else if (interval->state == TRACE_STATE_BLOCKED && interval->name &&
			 strcmp(interval->name, "read") == 0)
			interrupted += cut(interval, from, to);
	}
	CU_ASSERT_EQUAL(t.locks, locks);
	CU_ASSERT_EQUAL(t.interrupted_waits, interrupted);
	CU_ASSERT_EQUAL(t.work, work_in(trace, whole, from, to));
	trace_analysis_free(part);
}

static void rows_of_locks_interruptions_and_work_equal_their_intervals(void)
{
	for (uint64_t seed = 60; seed < 64; seed++) {
		struct trace *trace = rounds(seed, 0);
		struct whole whole = whole_new(trace);
		struct totals all = {0};
		struct dice dice = {seed, NULL};

		more_totals(whole.analysis, &all);
		CU_ASSERT(all.locks && all.interrupted_waits && all.work && all.files);
		CU_ASSERT_EQUAL(all.runs, 20);
		for (unsigned int i = 0; i < 10; i++) {
			uint64_t from = whole.start + below(&dice, 20000);

			check_rows(trace, &whole, from, from + 1 + below(&dice, 20000));
		}
		check_partition(trace, seed, 5, true);
		whole_free(&whole);
		trace_close(trace);
	}
}

/* The hits of the windows of a partition are those of the whole. */
static void hits_of_probes_are_counted_in_their_window(void)
{
	struct trace *trace = rounds(70, 20);
	struct whole whole = whole_new(trace);
	uint64_t hits = 0, edges[] = {whole.start, 5000, 5001, 9000, 0};

	for (int i = 0; i < 4; i++) {
		struct trace_analysis *part = part_new(&whole, edges[i], edges[i + 1]);
		struct totals t = {0};

		more_totals(part, &t);
		CU_ASSERT(t.hits < 20);
		hits += t.hits;
		trace_analysis_free(part);
	}
	CU_ASSERT_EQUAL(hits, 20);
	whole_free(&whole);
	trace_close(trace);
}

static void spans_of_programs_count_in_the_window_where_they_end(void)
{
	for (uint64_t seed = 80; seed < 86; seed++) {
		struct mood mood = {.nr_tids = 12,
				    .switches = 25,
				    .sleeps = 50,
				    .nr_events = 3000,
				    .programs = true,
				    .noise = seed % 2 ? 20 : 0,
				    .losses = seed % 2};
		struct trace *trace = story(seed, &mood);

		check_programs(trace, seed);
		trace_close(trace);
	}
}

static void windows_of_a_recording_equal_their_intervals(void)
{
	const char *path = getenv("TRACE_TEST_WINDOW");
	struct trace *trace = path ? trace_open(path, NULL) : NULL;

	if (!trace)
		return;
	check_windows(trace, 1, NR_WINDOWS);
	check_partition(trace, 1, 7, false);
	trace_close(trace);
}

/* ---- one window by hand ---- */

/* Thread 10 reads from 2000 to 6000 and is blocked from 3000 to 5000. */
static void a_call_and_its_wait_are_cut_at_the_edges(void)
{
	static const struct {
		uint64_t from, to, elapsed, wait, calls, waits, max;
	} cases[] = {
		{1000, 9000, 4000, 2000, 1, 1, 4000}, {2500, 9000, 3500, 2000, 0, 1, 0},
		{1000, 4000, 2000, 1000, 1, 1, 4000}, {3500, 4500, 1000, 1000, 0, 0, 0},
		{1000, 2000, 0, 0, 0, 0, 0},	      {5500, 9000, 500, 0, 0, 0, 0},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct trace_analysis_options options = {
			.size = sizeof(options), .verify = true, .from_ns = cases[i].from, .to_ns = cases[i].to};
		struct tb *tb = tb_new();
		struct trace_analysis *a;
		struct trace_figures *f;
		struct trace *trace;

		tb_window(tb, 1000, 9000);
		tb_string(tb, TRACE_STRING_SYSCALL, 0, "read");
		tb_thread(tb, 10, 10, 1, "one", 0, true);
		tb_sys_enter(tb, 0, 2000, 0, 3, 0x1000, 1);
		tb_switch(tb, 0, 3000, 10, 0, TRACE_TASK_INTERRUPTIBLE);
		tb_waking(tb, 0, 5000, 10, TRACE_CONTEXT_HARDIRQ);
		tb_switch(tb, 0, 5000, 0, 10, TRACE_TASK_RUNNING);
		tb_sys_exit(tb, 0, 6000, 1);
		trace = tb_open_trace(tb);
		tb_free(tb);
		a = trace_analysis_new(trace, &options, NULL);
		CU_ASSERT_EQUAL(trace_analysis_run(a, NULL), 0);
		CU_ASSERT_EQUAL(trace_analysis_verify(a, NULL), 0);
		f = trace_process_figures(a, trace_get_process(a, 0));
		CU_ASSERT_EQUAL(f->elapsed_ns, cases[i].to - cases[i].from);
		CU_ASSERT_EQUAL(f->blocked_ns, cases[i].wait);
		CU_ASSERT_EQUAL(f->nr_syscalls, cases[i].calls);
		CU_ASSERT_EQUAL(f->nr_syscalls_rows ? f->syscalls[0].elapsed_ns : 0, cases[i].elapsed);
		CU_ASSERT_EQUAL(f->nr_syscalls_rows ? f->syscalls[0].wait_ns : 0, cases[i].wait);
		CU_ASSERT_EQUAL(f->nr_syscalls_rows ? f->syscalls[0].max_ns : 0, cases[i].max);
		CU_ASSERT_EQUAL(f->nr_waits ? f->waits[0].count : 0, cases[i].waits);
		trace_figures_free(f);
		trace_analysis_free(a);
		trace_close(trace);
	}
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		CASE(a_call_and_its_wait_are_cut_at_the_edges),
		CASE(windows_of_plausible_traces_equal_their_intervals),
		CASE(windows_of_crowded_machines_equal_their_intervals),
		CASE(windows_of_noise_and_gaps_equal_their_intervals),
		CASE(rows_of_locks_interruptions_and_work_equal_their_intervals),
		CASE(hits_of_probes_are_counted_in_their_window),
		CASE(spans_of_programs_count_in_the_window_where_they_end),
		CASE(windows_of_a_recording_equal_their_intervals),
		{NULL, NULL},
	};

	return unit_main("window", cases, argc, argv);
}
