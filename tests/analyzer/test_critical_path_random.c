/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_critical_path_random.c - properties of every path, on random traces: its segments add up to
 * the window, and less memory makes it coarser, but not different.
 */
#include <errno.h>
#include "critical_path_case.h"
#include "unit.h"

#define NR_TIDS	  10
#define NR_CPUS	  3
#define NR_EVENTS 3000

static uint64_t dice;

static uint32_t below(uint32_t n)
{
	uint64_t x = dice += 0x9e3779b97f4a7c15ULL; /* splitmix64 */

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ x >> 27) * 0x94d049bb133111ebULL;
	return (uint32_t)((x ^ x >> 31) % n);
}

/* A machine that may be impossible now and then: @noise percent of the switches and wakeups are not
 * checked. */
static void random_trace(struct tb *tb, uint32_t noise, bool losses)
{
	static const uint32_t calls[] = {SYS_read, SYS_write, SYS_wait4, SYS_futex, SYS_nanosleep, SYS_poll, SYS_fork};
	uint32_t running[NR_CPUS] = {0}, parent, tid, cpu;
	uint64_t ns = 1000;

	for (int i = 0; i < NR_EVENTS; i++) {
		cpu = below(NR_CPUS);
		tid = 1 + below(NR_TIDS);
		ns += below(4) ? below(40) : 0;
		for (uint32_t other = 0; other < NR_CPUS && below(100) >= noise; other++)
			if (running[other] == tid)
				tid = 0;
		if (losses && below(400) == 0)
			tb_lost(tb, cpu, 1 + below(5));
		switch (below(9)) {
		case 0:
		case 1:
			tb_switch(tb, cpu, ns, running[cpu], tid,
				  below(3) ? TRACE_TASK_INTERRUPTIBLE : TRACE_TASK_RUNNING);
			running[cpu] = tid;
			break;
		case 2:
		case 3:
			tb_waking(tb, cpu, ns, tid, below(4) ? TRACE_CONTEXT_TASK : TRACE_CONTEXT_SOFTIRQ);
			break;
		case 4:
			tb_sys_enter(tb, cpu, ns, calls[below(7)], 0, 0, 0);
			break;
		case 5:
			tb_sys_exit(tb, cpu, ns, 0);
			break;
		case 6:
			tb_softirq(tb, cpu, ns, below(10));
			break;
		case 7:
			tb_softirq_exit(tb, cpu, ns, below(10));
			break;
		default:
			parent = running[cpu];
			if (below(10) || !parent || !tid || parent == tid)
				break;
			tb_fork(tb, cpu, ns, parent, tid, tid, "child");
			wakeup_new(tb, cpu, ns, tid);
		}
	}
}

static void check_all_paths(struct path_case *p)
{
	uint64_t start, end;

	trace_analysis_window(p->c.analysis, &start, &end);
	for (size_t i = 0; i < trace_nr_processes(p->c.analysis); i++)
		for (const struct trace_thread *t = NULL;
		     (t = trace_next_thread(trace_get_process(p->c.analysis, i), t));)
			for (int window = 0; window < 3; window++) {
				uint64_t from = window ? start + below((uint32_t)(end - start)) : 0,
					 to = window ? from + below(20000) : UINT64_MAX;
				struct trace_error error = {0};
				struct trace_critical_path *path = trace_critical_path_new(p->history, t, from, to,
											   &error);

				CU_ASSERT(path || error.code == -EINVAL);
				CU_ASSERT_NOT_EQUAL(error.code, -E2BIG);
				if (path)
					CU_ASSERT_EQUAL(trace_critical_path_verify(path, &error), 0);
				if (path && error.code)
					printf("%s\n", error.message);
				trace_critical_path_free(path);
			}
}

static void random_traces(uint32_t noise, bool losses)
{
	struct trace_history_options options = {.size = sizeof(options)};

	for (uint64_t seed = 1; seed <= 12; seed++) {
		struct path_case p = {.c = {.tb = tb_new()}};

		dice = seed * 1000 + noise;
		options.max_intervals = seed % 3 ? 0 : 2500; /* every third one becomes coarse during the pass */
		random_trace(p.c.tb, noise, losses);
		path_analyze_with(&p, &options);
		check_all_paths(&p);
		path_free(&p);
	}
}

static void random_paths_add_up_to_the_window(void)
{
	random_traces(0, false);
}

static void impossible_paths_add_up_to_the_window(void)
{
	random_traces(50, false);
}

static void paths_through_gaps_add_up_to_the_window(void)
{
	random_traces(5, true);
}

/* The step of a segment, and what it has in common with others, make up the segment. */
static void compare_patterns(const struct trace_critical_path *path)
{
	struct trace_path_segment whole, pattern;
	struct trace_path_step step;

	CU_ASSERT(trace_critical_path_nr_patterns(path) <= trace_critical_path_nr_segments(path));
	for (size_t i = 0; i < trace_critical_path_nr_segments(path); i++) {
		trace_critical_path_segment(path, i, &whole);
		trace_critical_path_step(path, i, &step);
		CU_ASSERT_FATAL(step.pattern < trace_critical_path_nr_patterns(path));
		trace_critical_path_pattern(path, step.pattern, &pattern);
		pattern.from_ns = step.from_ns;
		pattern.to_ns = step.to_ns;
		pattern.depth = step.depth;
		CU_ASSERT(whole.thread == pattern.thread && whole.waiter == pattern.waiter &&
			  whole.holder == pattern.holder);
		CU_ASSERT(whole.from_ns == pattern.from_ns && whole.to_ns == pattern.to_ns &&
			  whole.depth == pattern.depth);
		CU_ASSERT(whole.state == pattern.state && whole.kind == pattern.kind && whole.idle == pattern.idle);
		CU_ASSERT(whole.target == pattern.target && whole.via == pattern.via && whole.name == pattern.name);
		CU_ASSERT(whole.waited_via == pattern.waited_via && whole.waited_path == pattern.waited_path);
	}
}

/* The next time of one thread in one state, from segment *@at on. All states on a CPU count as one,
 * and so do all waits for a CPU. */
static bool next_stretch(const struct trace_critical_path *path, size_t *at, struct trace_path_segment *ret_stretch)
{
	struct trace_path_segment s;

	if (*at >= trace_critical_path_nr_segments(path))
		return false;
	trace_critical_path_segment(path, (*at)++, ret_stretch);
	if (ret_stretch->state != TRACE_STATE_WAIT_CPU && ret_stretch->state != TRACE_STATE_BLOCKED)
		ret_stretch->state = TRACE_STATE_RUNNING;
	for (; *at < trace_critical_path_nr_segments(path); (*at)++) {
		trace_critical_path_segment(path, *at, &s);
		if (s.state != TRACE_STATE_WAIT_CPU && s.state != TRACE_STATE_BLOCKED)
			s.state = TRACE_STATE_RUNNING;
		if (s.thread != ret_stretch->thread || s.state != ret_stretch->state ||
		    s.waiter != ret_stretch->waiter || s.state == TRACE_STATE_BLOCKED)
			break;
		ret_stretch->to_ns = s.to_ns;
	}
	return true;
}

static void compare_paths(const struct trace_critical_path *fine, const struct trace_critical_path *coarse)
{
	struct trace_path_segment one, two;
	size_t at[2] = {0};

	compare_patterns(fine);
	compare_patterns(coarse);
	while (next_stretch(fine, &at[0], &one)) {
		CU_ASSERT_FATAL(next_stretch(coarse, &at[1], &two));
		CU_ASSERT_PTR_EQUAL(one.thread, two.thread);
		CU_ASSERT_PTR_EQUAL(one.waiter, two.waiter);
		CU_ASSERT_EQUAL(one.state, two.state);
		CU_ASSERT_EQUAL(one.from_ns, two.from_ns);
		CU_ASSERT_EQUAL(one.to_ns, two.to_ns);
	}
	CU_ASSERT_FALSE(next_stretch(coarse, &at[1], &two));
}

static void a_coarse_path_is_the_same_path(void)
{
	struct trace_history_options options = {.size = sizeof(options)};

	for (uint64_t seed = 1; seed <= 6; seed++) {
		struct path_case p = {.c = {.tb = tb_new()}};
		struct trace_history *coarse;

		dice = seed;
		random_trace(p.c.tb, 0, false);
		p.c.trace = tb_open_trace(p.c.tb);
		p.c.analysis = trace_analysis_new(p.c.trace, NULL, NULL);
		p.history = trace_history_new(p.c.analysis, NULL, NULL);
		options.max_intervals = 1900 + 50 * seed;
		coarse = trace_history_new(p.c.analysis, &options, NULL);
		CU_ASSERT_EQUAL(trace_analysis_run(p.c.analysis, NULL), 0);
		CU_ASSERT_FALSE(trace_history_is_coarse(p.history));
		CU_ASSERT(trace_history_is_coarse(coarse));
		for (size_t i = 0; i < trace_nr_processes(p.c.analysis); i++)
			for (const struct trace_thread *t = NULL;
			     (t = trace_next_thread(trace_get_process(p.c.analysis, i), t));) {
				struct trace_critical_path *one = trace_critical_path_new(p.history, t, 0, UINT64_MAX,
											  NULL);
				struct trace_critical_path *two = trace_critical_path_new(coarse, t, 0, UINT64_MAX,
											  NULL);

				CU_ASSERT_EQUAL(one != NULL, two != NULL);
				if (one && two)
					compare_paths(one, two);
				trace_critical_path_free(one);
				trace_critical_path_free(two);
			}
		trace_history_free(coarse);
		path_free(&p);
	}
}

/* The window may end within waits. */
static void a_window_of_the_trace_has_the_path_of_a_history_of_the_window(void)
{
	for (uint64_t seed = 1; seed <= 12; seed++) {
		struct trace_history_options window = {.size = sizeof(window),
						       .from_ns = 1000 * seed,
						       .to_ns = 20000 + 2001 * seed};
		struct path_case p = {.c = {.tb = tb_new()}};
		struct trace_history *of_window;

		dice = seed;
		random_trace(p.c.tb, 0, false);
		p.c.trace = tb_open_trace(p.c.tb);
		p.c.analysis = trace_analysis_new(p.c.trace, NULL, NULL);
		p.history = trace_history_new(p.c.analysis, NULL, NULL);
		of_window = trace_history_new(p.c.analysis, &window, NULL);
		CU_ASSERT_EQUAL(trace_analysis_run(p.c.analysis, NULL), 0);
		for (size_t i = 0; i < trace_nr_processes(p.c.analysis); i++)
			for (const struct trace_thread *t = NULL;
			     (t = trace_next_thread(trace_get_process(p.c.analysis, i), t));) {
				struct trace_critical_path *one = trace_critical_path_new(p.history, t, window.from_ns,
											  window.to_ns, NULL);
				struct trace_critical_path *two = trace_critical_path_new(of_window, t, 0, UINT64_MAX,
											  NULL);

				CU_ASSERT_EQUAL(one != NULL, two != NULL);
				if (one && two)
					compare_paths(one, two);
				trace_critical_path_free(one);
				trace_critical_path_free(two);
			}
		trace_history_free(of_window);
		path_free(&p);
	}
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		CASE(random_paths_add_up_to_the_window),
		CASE(impossible_paths_add_up_to_the_window),
		CASE(paths_through_gaps_add_up_to_the_window),
		CASE(a_coarse_path_is_the_same_path),
		CASE(a_window_of_the_trace_has_the_path_of_a_history_of_the_window),
		{NULL, NULL},
	};

	return unit_main("random critical paths", cases, argc, argv);
}
