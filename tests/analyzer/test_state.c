/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_state.c - the state machine: every state of a thread on a CPU and off it, and the states
 * that later events resolve.
 *
 * Traces begin at 1000 and end at 9000 unless a test says otherwise; thread 10 is "one", 20 is
 * "two". All times are ns.
 */
#include "analysis_case.h"
#include "unit.h"

/* ---- on the CPU ---- */

static void user_syscall_and_trap_are_distinguished(void)
{
	struct analysis_case c = case_new();

	tb_thread(c.tb, 10, 10, 1, "one", 0, true);
	tb_sys_enter(c.tb, 0, 2000, SYS_getpid);
	tb_sys_exit(c.tb, 0, 2500, 10);
	tb_fault(c.tb, 0, 3000, 0x1000, true);
	tb_fault_end(c.tb, 0, 3100, false);
	tb_switch(c.tb, 0, 9000, 10, 0, TRACE_TASK_RUNNING);
	case_run(&c);
	CU_ASSERT_EQUAL(c.one->user_ns, 8000 - 500 - 100);
	CU_ASSERT_EQUAL(c.one->syscall_ns, 500);
	CU_ASSERT_EQUAL(c.one->trap_ns, 100);
	CU_ASSERT_EQUAL(case_call(c.one, "getpid")->elapsed_ns, 500);
	CU_ASSERT_EQUAL(c.one->traps[0].calls, 1);
	case_free(&c);
}

static void stolen(struct tb *tb, uint64_t ts_ns, uint64_t ns)
{
	struct trace_cpu_stolen event = {.ns = ns};

	tb_event(tb, 0, ts_ns, TRACE_EV_cpu_stolen, &event, sizeof(event), NULL);
}

/* "one" runs 1000..3000, "two" 3000..3500, "one" 3500..6000, idle until 7000, "one" until 7500. */
static void steal_time_is_charged_to_the_slice_then_to_the_one_before(void)
{
	struct analysis_case c = case_new();

	tb_thread(c.tb, 10, 10, 1, "one", 0, true);
	tb_thread(c.tb, 20, 20, 1, "two", 1, false);
	stolen(c.tb, 3000, 300);
	tb_switch(c.tb, 0, 3000, 10, 20, TRACE_TASK_RUNNING);
	stolen(c.tb, 3500, 600); /* 100 of it before it had the CPU */
	tb_switch(c.tb, 0, 3500, 20, 10, TRACE_TASK_RUNNING);
	stolen(c.tb, 6000, 7);
	tb_switch(c.tb, 0, 6000, 10, 0, TRACE_TASK_INTERRUPTIBLE);
	tb_waking(c.tb, 1, 6900, 10, TRACE_CONTEXT_TASK);
	tb_switch(c.tb, 0, 7000, 0, 10, TRACE_TASK_RUNNING);
	stolen(c.tb, 7500, 130); /* 100 of it until the CPU was awake */
	tb_switch(c.tb, 0, 7500, 10, 0, TRACE_TASK_INTERRUPTIBLE);
	tb_switch(c.tb, 0, 9000, 0, 20, TRACE_TASK_RUNNING);
	case_run(&c);
	CU_ASSERT_EQUAL(c.one->stolen_ns, 300 + 100 + 7 + 30);
	CU_ASSERT_EQUAL(c.two->stolen_ns, 500);
	CU_ASSERT_EQUAL(c.two->user_ns, 500); /* a part of it, not in addition */
	case_free(&c);
}

static void steal_time_is_at_most_the_running_time(void)
{
	struct analysis_case c = case_new();

	tb_thread(c.tb, 10, 10, 1, "one", 0, true);
	tb_thread(c.tb, 20, 20, 1, "two", 1, false);
	stolen(c.tb, 3000, 1500);
	tb_switch(c.tb, 0, 3000, 10, 20, TRACE_TASK_RUNNING);
	stolen(c.tb, 4000, 5000); /* the excess belongs to the slice before, of which 500 are left */
	tb_switch(c.tb, 0, 4000, 20, 0, TRACE_TASK_INTERRUPTIBLE);
	tb_switch(c.tb, 0, 9000, 0, 10, TRACE_TASK_RUNNING);
	case_run(&c);
	CU_ASSERT_EQUAL(c.one->stolen_ns, 2000);
	CU_ASSERT_EQUAL(c.two->stolen_ns, 1000);
	case_free(&c);
}

static void quota(struct tb *tb, uint64_t ts_ns, uint32_t tid, bool over, uint64_t ns)
{
	struct trace_sched_quota event = {.tid = tid, .over = over, .ns = ns};

	tb_event(tb, 0, ts_ns, TRACE_EV_sched_quota, &event, sizeof(event), NULL);
}

static uint64_t quota_count(const struct trace_figures *f)
{
	uint64_t count = 0;

	for (size_t i = 0; i < f->nr_waits; i++)
		count += f->waits[i].kind == TRACE_WAIT_QUOTA ? f->waits[i].count : 0;
	return count;
}

/* "one" has no quota 3000..6000, waits until 7050 for the CPU that "two" has, and has no quota
 * again from 8000 on. The end without quota is recorded only for the first time, or for neither. */
static void a_thread_without_quota_waits_for_quota_then_for_a_cpu(void)
{
	for (int is_known = 0; is_known < 2; is_known++) {
		struct analysis_case c = case_new();

		tb_thread(c.tb, 10, 10, 1, "one", 0, true);
		tb_thread(c.tb, 20, 20, 1, "two", 1, false);
		quota(c.tb, 3000, 10, false, 0);
		tb_switch(c.tb, 0, 3000, 10, 20, TRACE_TASK_RUNNING);
		quota(c.tb, 7000, 10, true, is_known ? 3000 : UINT64_MAX);
		tb_switch(c.tb, 0, 7050, 20, 10, TRACE_TASK_RUNNING);
		quota(c.tb, 8000, 10, false, 500000000); /* 50 ms each 100 ms */
		tb_switch(c.tb, 0, 8000, 10, 0, TRACE_TASK_RUNNING);
		case_run(&c);
		CU_ASSERT_EQUAL(case_wait(c.one, TRACE_WAIT_QUOTA, "", 0, ""), (is_known ? 3000 : 4000) + 1000);
		CU_ASSERT_EQUAL(quota_count(c.one), 2);
		CU_ASSERT_EQUAL(trace_process_cpu_limit(case_process(&c, 10)), 500000000);
		CU_ASSERT_EQUAL(trace_process_cpu_limit(case_process(&c, 20)), 0);
		CU_ASSERT_EQUAL(c.one->wait_cpu_ns, (is_known ? 1000 : 0) + 50);
		CU_ASSERT_EQUAL(c.one->user_ns + c.one->syscall_ns, 2000 + 950);
		CU_ASSERT_EQUAL(c.two->wait_cpu_ns, 2000 + 1950); /* as without a quota */
		case_free(&c);
	}
}

/* The kernel reports the quota when it checks it, and the thread then sleeps on its own. */
static void a_sleeping_thread_does_not_wait_for_quota(void)
{
	struct analysis_case c = case_new();

	tb_thread(c.tb, 10, 10, 1, "one", 0, true);
	tb_sys_enter(c.tb, 0, 2000, SYS_nanosleep, 0, 0);
	quota(c.tb, 3000, 10, false, 0);
	tb_switch(c.tb, 0, 3000, 10, 0, TRACE_TASK_INTERRUPTIBLE);
	tb_switch(c.tb, 1, 9000, 20, 0, TRACE_TASK_RUNNING);
	case_run(&c);
	CU_ASSERT_EQUAL(case_wait(c.one, TRACE_WAIT_TIMEOUT, "", 0, ""), 6000);
	case_free(&c);
}

/* A second report, when the thread already runs, is no wait. */
static void the_end_of_a_quota_wait_counts_once(void)
{
	struct analysis_case c = case_new();

	tb_thread(c.tb, 10, 10, 1, "one", 0, true);
	tb_thread(c.tb, 20, 20, 1, "two", 1, false);
	quota(c.tb, 3000, 10, false, 0);
	tb_switch(c.tb, 0, 3000, 10, 20, TRACE_TASK_RUNNING);
	quota(c.tb, 7000, 10, true, 3000);
	tb_switch(c.tb, 0, 7050, 20, 10, TRACE_TASK_RUNNING);
	quota(c.tb, 8000, 10, true, 500);
	quota(c.tb, 8000, 99, true, 500); /* a thread that is unknown */
	tb_switch(c.tb, 0, 9000, 10, 0, TRACE_TASK_RUNNING);
	case_run(&c);
	CU_ASSERT_EQUAL(case_wait(c.one, TRACE_WAIT_QUOTA, "", 0, ""), 3000);
	CU_ASSERT_EQUAL(c.one->wait_cpu_ns, 1050);
	CU_ASSERT_EQUAL(c.one->user_ns, 2000 + 1950);
	case_free(&c);
}

/*
 * "one", of the deadline class, had its runtime by 3000, and then, as a real-time thread, what that
 * class may have by 8000. A thread of the normal class that has the CPU meanwhile took nothing.
 */
static void a_limit_of_a_class_is_the_kernels(void)
{
	struct trace_sched_limit limit = {.tid = 10, .prio = -1};
	struct analysis_case c = case_new();

	tb_thread(c.tb, 10, 10, 1, "one", 0, true);
	tb_thread(c.tb, 20, 20, 1, "two", 1, false);
	tb_event(c.tb, 0, 3000, TRACE_EV_sched_limit, &limit, sizeof(limit), NULL);
	tb_switch(c.tb, 0, 3000, 10, 20, TRACE_TASK_RUNNING);
	quota(c.tb, 7000, 10, true, UINT64_MAX);
	tb_switch(c.tb, 0, 7000, 20, 10, TRACE_TASK_RUNNING);
	limit.prio = 49;
	tb_event(c.tb, 0, 8000, TRACE_EV_sched_limit, &limit, sizeof(limit), NULL);
	tb_switch(c.tb, 0, 8000, 10, 0, TRACE_TASK_RUNNING);
	quota(c.tb, 8500, 10, true, UINT64_MAX);
	tb_switch(c.tb, 0, 8500, 0, 10, TRACE_TASK_RUNNING);
	quota(c.tb, 8600, 10, false, 0);
	tb_switch(c.tb, 0, 8600, 10, 0, TRACE_TASK_RUNNING);
	case_run(&c);
	CU_ASSERT_EQUAL(case_wait(c.one, TRACE_WAIT_KERNEL, "runtime of SCHED_DEADLINE", 0, ""), 4000);
	CU_ASSERT_EQUAL(case_wait(c.one, TRACE_WAIT_KERNEL, "limit of real-time threads", 0, ""), 500);
	CU_ASSERT_EQUAL(case_wait(c.one, TRACE_WAIT_QUOTA, "", 0, ""), 400);
	CU_ASSERT_EQUAL(c.one->wait_cpu_ns, 0);
	case_free(&c);
}

static void hotplug(struct tb *tb, uint64_t ts_ns, uint32_t gone, bool online)
{
	struct trace_cpu_hotplug event = {.cpu = gone, .online = online};

	tb_event(tb, 1, ts_ns, TRACE_EV_cpu_hotplug, &event, sizeof(event), NULL);
}

/* "one" runs until 3000, then the thread that stops the CPU, last recorded at 3000; offline
 * 3400..8000; that thread again 8500..8600, "one" until the end. */
static void a_cpu_that_is_offline_is_idle(void)
{
	struct analysis_case c = case_new();
	struct trace_cpu_figures cpu;

	tb_thread(c.tb, 10, 10, 1, "one", 0, true);
	tb_thread(c.tb, 20, 20, 1, "two", 1, false);
	tb_switch(c.tb, 0, 3000, 10, 20, TRACE_TASK_INTERRUPTIBLE);
	hotplug(c.tb, 3400, 0, false);
	hotplug(c.tb, 8000, 0, true);
	tb_irq(c.tb, 0, 8100, 24);
	tb_irq_exit(c.tb, 0, 8150, 24);
	tb_switch(c.tb, 0, 8500, 0, 20, TRACE_TASK_RUNNING);
	tb_switch(c.tb, 0, 8600, 20, 10, TRACE_TASK_INTERRUPTIBLE);
	case_run(&c);
	trace_cpu_figures(c.analysis, 0, &cpu);
	CU_ASSERT_EQUAL(c.one->user_ns + c.one->syscall_ns, 2000 + 400);
	CU_ASSERT_EQUAL(c.two->user_ns + c.two->syscall_ns, 100);
	CU_ASSERT_EQUAL(cpu.unknown_ns, 400);
	CU_ASSERT_EQUAL(cpu.idle_ns, 4700 + 350);
	CU_ASSERT_EQUAL(cpu.irq_ns, 50);
	case_free(&c);
}

/* "one" goes to sleep at 3000 and runs again at 6000. Its CPU was never idle, and no wakeup was
 * recorded. CPU 1 may have woken it before its return online was recorded. */
static void a_wakeup_by_a_cpu_coming_online_has_no_waker(void)
{
	for (uint64_t back_ns = 5000; back_ns <= 7000; back_ns += 2000) {
		struct analysis_case c = case_new();

		tb_thread(c.tb, 10, 10, 1, "one", 0, true);
		tb_thread(c.tb, 20, 20, 1, "two", 1, false);
		hotplug(c.tb, 2000, 1, false);
		tb_switch(c.tb, 0, 3000, 10, 20, TRACE_TASK_INTERRUPTIBLE);
		hotplug(c.tb, back_ns, 1, true);
		tb_switch(c.tb, 0, 6000, 20, 10, TRACE_TASK_INTERRUPTIBLE);
		case_run(&c);
		CU_ASSERT_EQUAL(case_wait(c.one, TRACE_WAIT_UNKNOWN, "", 0, ""), back_ns > 6000 ? 3000 : 0);
		CU_ASSERT_EQUAL(c.one->wait_cpu_ns, back_ns > 6000 ? 0 : 3000);
		case_free(&c);
	}
}

struct asked {
	uint64_t calls, p50_ns, p99_ns;
};

/* At the mark: the sums known by then. */
static void ask(void *data, struct trace_analysis *analysis, const struct trace_event *event)
{
	const struct trace_thread *thread = trace_thread_on_cpu(analysis, 0);
	struct trace_figures *f = thread && event->id == TRACE_EV_sched_comm ? trace_thread_figures(analysis, thread)
									     : NULL;
	struct asked *asked = data;

	if (f)
		*asked = (struct asked){case_call(f, "getpid")->calls, case_call(f, "getpid")->p50_ns,
					case_call(f, "getpid")->p99_ns};
	trace_figures_free(f);
}

/* Latencies are buffered and counted by 64. The trace has 40 calls of 30 ns and 60 of 10 ns; their
 * median is wrong without the last 36; then the test reads the figures; then 30 calls of 45 ns
 * follow. */
static void latencies_of_calls_are_known_at_any_time(void)
{
	struct analysis_case c = case_new();
	struct trace_time_range ranges[TRACE_TIME_RANGES];
	struct trace_sched_comm comm = {.tid = 10};
	struct asked asked = {0};

	tb_thread(c.tb, 10, 10, 1, "one", 0, true);
	for (uint64_t i = 0; i < 130; i++) {
		uint64_t at = 2000 + 50 * i;

		if (i == 100)
			tb_event(c.tb, 0, at, TRACE_EV_sched_comm, &comm, sizeof(comm), "one");
		tb_sys_enter(c.tb, 0, at + 1, SYS_getpid);
		tb_sys_exit(c.tb, 0, at + 1 + (i < 40 ? 30 : i < 100 ? 10 : 45), 10);
	}
	tb_switch(c.tb, 0, 9000, 10, 0, TRACE_TASK_RUNNING);
	c.trace = tb_open_trace(c.tb);
	c.analysis = trace_analysis_new(c.trace, NULL, NULL);
	CU_ASSERT_EQUAL(trace_analysis_on_event(c.analysis, NULL, ask, &asked), 0);
	CU_ASSERT_EQUAL(trace_analysis_run(c.analysis, NULL), 0);
	CU_ASSERT_EQUAL(trace_analysis_verify(c.analysis, NULL), 0);
	c.one = trace_process_figures(c.analysis, case_process(&c, 10));
	CU_ASSERT_EQUAL(asked.calls, 100);
	CU_ASSERT_EQUAL(asked.p50_ns, 10);
	CU_ASSERT_EQUAL(asked.p99_ns, 30);
	CU_ASSERT_EQUAL(case_call(c.one, "getpid")->calls, 130);
	CU_ASSERT_EQUAL(case_call(c.one, "getpid")->p50_ns, 30);
	CU_ASSERT_EQUAL(case_call(c.one, "getpid")->p99_ns, 45);
	CU_ASSERT_EQUAL(trace_call_times(c.one, case_call(c.one, "getpid"), ranges), 3);
	for (size_t i = 0; i < 3; i++) /* 60 of 10 ns, 40 of 30 ns, 30 of 45 ns */
		CU_ASSERT_TRUE(ranges[i].from_ns == 8u << i && ranges[i].to_ns == 16u << i &&
			       ranges[i].count == (i == 0   ? 60
						   : i == 1 ? 40
							    : 30));
	case_free(&c);
}

/* As above: calls of 30 ns and of 10 ns. All other figures are the same, and close. */
static void times_of_calls_can_be_left_out(void)
{
	for (uint64_t from_ns = 0; from_ns <= 1000; from_ns += 1000) {
		struct trace_analysis_options options = {
			.size = sizeof(options), .verify = true, .from_ns = from_ns, .no_call_times = true};
		struct trace_time_range ranges[TRACE_TIME_RANGES];
		struct analysis_case c = case_new();
		const struct trace_call *call;

		tb_thread(c.tb, 10, 10, 1, "one", 0, true);
		for (uint64_t i = 0; i < 130; i++) {
			tb_sys_enter(c.tb, 0, 2001 + 50 * i, SYS_getpid);
			tb_sys_exit(c.tb, 0, 2001 + 50 * i + (i < 40 ? 30 : 10), 10);
		}
		tb_switch(c.tb, 0, 9000, 10, 0, TRACE_TASK_RUNNING);
		c.trace = tb_open_trace(c.tb);
		c.analysis = trace_analysis_new(c.trace, &options, NULL);
		CU_ASSERT_EQUAL(trace_analysis_run(c.analysis, NULL), 0);
		CU_ASSERT_EQUAL(trace_analysis_verify(c.analysis, NULL), 0);
		c.one = trace_process_figures(c.analysis, case_process(&c, 10));
		call = case_call(c.one, "getpid");
		CU_ASSERT_TRUE(call->calls == 130 && call->elapsed_ns == 2100 && call->min_ns == 10 &&
			       call->max_ns == 30);
		CU_ASSERT_TRUE(call->p50_ns == 0 && call->p99_ns == 0 && trace_call_times(c.one, call, ranges) == 0);
		case_free(&c);
	}
}

static void a_call_without_a_name_has_its_number(void)
{
	struct analysis_case c = case_new();

	tb_thread(c.tb, 10, 10, 1, "one", 0, true);
	tb_sys_enter(c.tb, 0, 2000, 499);
	tb_sys_exit(c.tb, 0, 2100, 0);
	tb_sys_enter(c.tb, 0, 3000, 498);
	tb_sys_exit(c.tb, 0, 3300, -38);
	tb_sys_enter(c.tb, 0, 4000, 100000); /* no call has this number */
	tb_sys_exit(c.tb, 0, 4500, -38);
	case_run(&c);
	CU_ASSERT_EQUAL(case_call(c.one, "syscall_499")->elapsed_ns, 100);
	CU_ASSERT_EQUAL(case_call(c.one, "syscall_499")->errors, 0);
	CU_ASSERT_EQUAL(case_call(c.one, "syscall_498")->elapsed_ns, 300);
	CU_ASSERT_EQUAL(case_call(c.one, "syscall_498")->errors, 1);
	CU_ASSERT_EQUAL(case_call(c.one, "syscall_100000")->elapsed_ns, 500);
	case_free(&c);
}

/* Sandboxes and emulators make calls with any number. */
static void each_strange_number_is_a_call_of_its_own(void)
{
	struct analysis_case c = case_new();

	tb_thread(c.tb, 10, 10, 1, "one", 0, true);
	for (uint32_t i = 0; i < 100; i++) {
		tb_sys_enter(c.tb, 0, 2000 + i * 10, i == 1 ? (uint32_t)-1 : 2000 + i);
		tb_sys_exit(c.tb, 0, 2004 + i * 10, -38);
	}
	case_run(&c);
	CU_ASSERT_EQUAL(case_call(c.one, "syscall_2000")->calls, 1);
	CU_ASSERT_EQUAL(case_call(c.one, "syscall_-1")->calls, 1);
	CU_ASSERT_EQUAL(case_call(c.one, "syscall_2030")->calls, 1);
	CU_ASSERT_EQUAL(case_call(c.one, "syscall_(others)")->calls, 69);
	case_free(&c);
}

/* A negative result that is no error: the kernel restarts the call. An address may also look
 * negative. */
static void only_some_results_are_errors(void)
{
	static const struct {
		int64_t ret;
		unsigned int errors;
	} results[] = {{7, 0}, {-1, 1}, {-4095, 1}, {-4096, 0}, {-511, 1}, {-512, 0}, {-516, 0}, {-517, 1}};

	for (size_t i = 0; i < sizeof(results) / sizeof(results[0]); i++) {
		struct analysis_case c = case_new();

		tb_thread(c.tb, 10, 10, 1, "one", 0, true);
		tb_sys_enter(c.tb, 0, 2000, SYS_read, 0, 0, 7);
		tb_sys_exit(c.tb, 0, 2100, results[i].ret);
		case_run(&c);
		CU_ASSERT_EQUAL(case_call(c.one, "read")->errors, results[i].errors);
		case_free(&c);
	}
}

static void a_fault_inside_a_call_is_trap_time_of_that_call(void)
{
	struct analysis_case c = case_new();

	tb_thread(c.tb, 10, 10, 1, "one", 0, true);
	tb_sys_enter(c.tb, 0, 2000, SYS_read, 3, 0, 100);
	tb_fault(c.tb, 0, 2100, 0x1000, false);
	tb_fault_end(c.tb, 0, 2300, false);
	tb_sys_exit(c.tb, 0, 2500, 100);
	tb_switch(c.tb, 0, 9000, 10, 0, TRACE_TASK_RUNNING);
	case_run(&c);
	CU_ASSERT_EQUAL(c.one->syscall_ns, 300);
	CU_ASSERT_EQUAL(c.one->trap_ns, 200);
	CU_ASSERT_EQUAL(case_call(c.one, "read")->cpu_ns, 500);
	case_free(&c);
}

static void a_fault_without_end_is_over_at_the_next_call(void)
{
	struct analysis_case c = case_new();

	tb_thread(c.tb, 10, 10, 1, "one", 0, true);
	tb_fault(c.tb, 0, 2000, 0x1000, true);
	tb_fault(c.tb, 0, 2100, 0x2000, true);
	tb_fault_end(c.tb, 0, 2200, true);
	tb_fault(c.tb, 0, 2500, 0x3000, true);
	tb_sys_enter(c.tb, 0, 2600, SYS_getpid);
	tb_sys_exit(c.tb, 0, 2700, 10);
	tb_switch(c.tb, 0, 9000, 10, 0, TRACE_TASK_RUNNING);
	case_run(&c);
	CU_ASSERT_EQUAL(c.one->trap_ns, 300);
	CU_ASSERT_EQUAL(c.one->traps[0].calls, 3);
	CU_ASSERT_EQUAL(c.one->traps[0].errors, 1); /* major */
	case_free(&c);
}

static void fault_from_to(struct analysis_case *c, uint64_t from, uint64_t to)
{
	tb_fault(c->tb, 0, from, 0x1000, true);
	tb_fault_end(c->tb, 0, to, false);
}

/* The recorder has measured 430 ns for the way back to user mode and into the kernel again. */
static void a_fault_right_behind_another_one_begins_before_its_event(void)
{
	struct trace_fault_cost cost = {.ns = 430};

	for (int known = 0; known < 2; known++) {
		struct analysis_case c = case_new();

		tb_thread(c.tb, 10, 10, 1, "one", 0, true);
		if (known)
			tb_start(c.tb, 1100, TRACE_EV_fault_cost, &cost, sizeof(cost), NULL);
		fault_from_to(&c, 2000, 2100);
		fault_from_to(&c, 2570, 2700); /* 430 of 470 */
		fault_from_to(&c, 2900, 3000); /* all of 200 */
		tb_sys_enter(c.tb, 0, 3100, SYS_getpid);
		tb_sys_exit(c.tb, 0, 3200, 10);
		fault_from_to(&c, 3700, 3800); /* behind a call */
		tb_irq(c.tb, 0, 3900, 7);
		tb_irq_exit(c.tb, 0, 3950, 7);
		fault_from_to(&c, 4500, 4600); /* behind an interrupt */
		tb_switch(c.tb, 0, 9000, 10, 0, TRACE_TASK_RUNNING);
		case_run(&c);
		CU_ASSERT_EQUAL(c.one->trap_ns, 530 + (known ? 430 + 200 : 0));
		CU_ASSERT_EQUAL(c.one->user_ns, 8000 - 100 - 50 - c.one->trap_ns);
		CU_ASSERT_EQUAL(c.one->traps[0].calls, 5);
		CU_ASSERT_EQUAL(c.one->traps[0].cpu_ns, c.one->trap_ns);
		case_free(&c);
	}
}

static void a_major_fault_may_be_reported_after_its_end(void)
{
	struct analysis_case c = case_new();

	tb_thread(c.tb, 10, 10, 1, "one", 0, true);
	tb_fault_end(c.tb, 0, 1900, true); /* of a fault without a recorded begin */
	tb_fault(c.tb, 0, 2000, 0x1000, true);
	tb_fault_end(c.tb, 0, 2100, false);
	tb_fault_end(c.tb, 0, 2101, true);
	tb_fault_end(c.tb, 0, 2102, true);
	tb_fault(c.tb, 0, 2500, 0x3000, true);
	tb_fault_end(c.tb, 0, 2700, false);
	tb_switch(c.tb, 0, 9000, 10, 0, TRACE_TASK_RUNNING);
	case_run(&c);
	CU_ASSERT_EQUAL(c.one->trap_ns, 300);
	CU_ASSERT_EQUAL(c.one->traps[0].calls, 2);
	CU_ASSERT_EQUAL(c.one->traps[0].errors, 1);
	case_free(&c);
}

static void interrupts_nest_and_go_to_the_innermost(void)
{
	struct analysis_case c = case_new();

	tb_thread(c.tb, 10, 10, 1, "one", 0, true);
	tb_string(c.tb, TRACE_STRING_IRQ, 7, "disk");
	tb_string(c.tb, TRACE_STRING_SOFTIRQ, 3, "NET_RX");
	tb_softirq(c.tb, 0, 2000, 3);
	tb_irq(c.tb, 0, 2100, 7);
	tb_irq_exit(c.tb, 0, 2150, 7);
	tb_softirq_exit(c.tb, 0, 2400, 3);
	tb_sys_enter(c.tb, 0, 3000, SYS_getpid);
	tb_vector(c.tb, 0, 3100, TRACE_VECTOR_LOCAL_TIMER);
	tb_vector_exit(c.tb, 0, 3200, TRACE_VECTOR_LOCAL_TIMER);
	tb_sys_exit(c.tb, 0, 3500, 10);
	tb_switch(c.tb, 0, 9000, 10, 0, TRACE_TASK_RUNNING);
	case_run(&c);
	CU_ASSERT_EQUAL(c.one->interrupted_ns, 400 + 100);
	CU_ASSERT_EQUAL(case_interrupt(c.one, "NET_RX")->ns, 350);
	CU_ASSERT_EQUAL(case_interrupt(c.one, "disk")->ns, 50);
	CU_ASSERT_EQUAL(case_call(c.one, "getpid")->interrupted_ns, 100);
	CU_ASSERT_EQUAL(case_call(c.one, "getpid")->cpu_ns, 400);
	CU_ASSERT_EQUAL(case_cpu(&c, 0).irq_ns, 150);
	CU_ASSERT_EQUAL(case_cpu(&c, 0).softirq_ns, 350);
	case_free(&c);
}

static void an_interrupt_of_an_idle_cpu_counts_for_the_cpu_only(void)
{
	struct analysis_case c = case_new();

	tb_thread(c.tb, 10, 10, 1, "one", 0, false);
	tb_softirq(c.tb, 0, 2000, 1);
	tb_softirq_exit(c.tb, 0, 2300, 1);
	tb_switch(c.tb, 0, 5000, 0, 10, TRACE_TASK_RUNNING);
	case_run(&c);
	CU_ASSERT_EQUAL(case_cpu(&c, 0).softirq_ns, 300);
	CU_ASSERT_EQUAL(case_cpu(&c, 0).idle_ns, 4000 - 300);
	CU_ASSERT_EQUAL(c.one->interrupted_ns, 0);
	case_free(&c);
}

static void an_interrupt_in_progress_at_the_start_began_with_the_trace(void)
{
	struct analysis_case c = case_new();

	tb_thread(c.tb, 10, 10, 1, "one", 0, true);
	tb_irq_exit(c.tb, 0, 1700, 7);
	tb_switch(c.tb, 0, 9000, 10, 0, TRACE_TASK_RUNNING);
	case_run(&c);
	CU_ASSERT_EQUAL(c.one->interrupted_ns, 700);
	case_free(&c);
}

static void softirqs_are_ksoftirqds_own_work(void)
{
	struct analysis_case c = case_new();
	struct trace_start_thread kernel = {
		.tid = 10, .tgid = 10, .ppid = 2, .nr = -1, .flags = TRACE_THREAD_KERNEL, .running = 1};

	tb_start(c.tb, 1000, TRACE_EV_start_thread, &kernel, sizeof(kernel), "ksoftirqd/0");
	tb_softirq(c.tb, 0, 2000, 3);
	tb_softirq_exit(c.tb, 0, 3000, 3);
	tb_switch(c.tb, 0, 4000, 10, 0, TRACE_TASK_INTERRUPTIBLE);
	case_run(&c);
	CU_ASSERT_EQUAL(c.one->syscall_ns, 3000);
	CU_ASSERT_EQUAL(c.one->interrupted_ns, 0);
	CU_ASSERT_EQUAL(case_cpu(&c, 0).system_ns, 3000);
	case_free(&c);
}

/* Softirqs interrupt any other kernel thread, even if its name changes. */
static void softirqs_interrupt_other_kernel_threads(void)
{
	struct analysis_case c = case_new();
	struct trace_start_thread kernel = {
		.tid = 10, .tgid = 10, .ppid = 2, .nr = -1, .flags = TRACE_THREAD_KERNEL, .running = 1};

	tb_start(c.tb, 1000, TRACE_EV_start_thread, &kernel, sizeof(kernel), "kworker/0:0");
	tb_comm(c.tb, 0, 1500, 10, "kworker/0:0-events");
	tb_softirq(c.tb, 0, 2000, 3);
	tb_softirq_exit(c.tb, 0, 3000, 3);
	tb_switch(c.tb, 0, 4000, 10, 0, TRACE_TASK_INTERRUPTIBLE);
	case_run(&c);
	CU_ASSERT_EQUAL(c.one->syscall_ns, 2000);
	CU_ASSERT_EQUAL(c.one->interrupted_ns, 1000);
	CU_ASSERT_EQUAL(case_cpu(&c, 0).softirq_ns, 1000);
	case_free(&c);
}

/* ---- waiting for the CPU ---- */

static void a_wait_for_the_cpu_names_the_thread_on_it(void)
{
	struct analysis_case c = case_new();

	tb_thread(c.tb, 10, 10, 1, "one", 0, true);
	tb_thread(c.tb, 20, 20, 1, "two", 0, false);
	tb_switch(c.tb, 0, 2000, 10, 20, TRACE_TASK_RUNNING);
	tb_irq(c.tb, 0, 3000, 7);
	tb_irq_exit(c.tb, 0, 3300, 7);
	tb_switch(c.tb, 0, 6000, 20, 0, TRACE_TASK_RUNNING);
	tb_switch(c.tb, 0, 6500, 0, 10, TRACE_TASK_RUNNING);
	tb_switch(c.tb, 0, 9000, 10, 0, TRACE_TASK_RUNNING);
	case_run(&c);
	CU_ASSERT_EQUAL(c.one->wait_cpu_ns, 4500);
	CU_ASSERT_EQUAL(case_taken_by(c.one, 20, "two"), 3700);
	CU_ASSERT_EQUAL(case_taken_by(c.one, 0, "interrupts"), 300);
	CU_ASSERT_EQUAL(case_taken_by(c.one, 0, "idle"), 500);
	case_free(&c);
}

static void a_migrated_waiter_is_charged_on_both_cpus(void)
{
	struct analysis_case c = case_new();
	struct trace_sched_migrate migrate = {.tid = 10, .from_cpu = 0, .to_cpu = 1};

	tb_thread(c.tb, 10, 10, 1, "one", 0, true);
	tb_thread(c.tb, 20, 20, 1, "two", 0, false);
	tb_thread(c.tb, 30, 30, 1, "three", 1, true);
	tb_switch(c.tb, 0, 2000, 10, 20, TRACE_TASK_RUNNING);
	tb_event(c.tb, 1, 3000, TRACE_EV_sched_migrate, &migrate, sizeof(migrate), NULL);
	tb_switch(c.tb, 1, 3500, 30, 10, TRACE_TASK_RUNNING);
	tb_switch(c.tb, 0, 9000, 20, 0, TRACE_TASK_RUNNING);
	case_run(&c);
	CU_ASSERT_EQUAL(case_taken_by(c.one, 20, "two"), 1000);
	CU_ASSERT_EQUAL(case_taken_by(c.one, 30, "three"), 500);
	case_free(&c);
}

static void an_unrecorded_thread_waited_for_the_cpu_that_it_got(void)
{
	struct analysis_case c = case_new();

	tb_switch(c.tb, 0, 2000, 30, 0, TRACE_TASK_RUNNING);
	tb_switch(c.tb, 1, 4000, 20, 10, TRACE_TASK_RUNNING);
	case_run(&c);
	CU_ASSERT_EQUAL(c.one->wait_cpu_ns, 3000);
	CU_ASSERT_EQUAL(case_taken_by(c.one, 20, ""), 3000);
	case_free(&c);
}

static void a_long_queue_names_the_latest_and_keeps_the_sum(void)
{
	struct analysis_case c = case_new();

	tb_window(c.tb, 1000, 1000 + 400 * 10 + 1000);
	tb_thread(c.tb, 10, 10, 1, "one", 0, true);
	tb_switch(c.tb, 0, 1000, 10, 100, TRACE_TASK_RUNNING);
	for (uint32_t i = 0; i < 399; i++)
		tb_switch(c.tb, 0, 1010 + i * 10, 100 + i, 101 + i, TRACE_TASK_RUNNING);
	tb_switch(c.tb, 0, 5000, 499, 10, TRACE_TASK_RUNNING);
	case_run(&c);
	CU_ASSERT_EQUAL(c.one->wait_cpu_ns, 4000);
	CU_ASSERT_EQUAL(case_taken_by(c.one, 499, ""), 10);
	CU_ASSERT(case_taken_by(c.one, 0, "several") > 2000);
	case_free(&c);
}

/* ---- states that later events resolve ---- */

static void a_first_exit_means_a_call_since_the_start(void)
{
	struct analysis_case c = case_new();

	tb_thread(c.tb, 10, 10, 1, "one", 0, true);
	tb_sys_exit(c.tb, 0, 3000, 0);
	tb_switch(c.tb, 0, 9000, 10, 0, TRACE_TASK_RUNNING);
	case_run(&c);
	CU_ASSERT_EQUAL(c.one->syscall_ns, 2000);
	CU_ASSERT_EQUAL(case_call(c.one, "(not seen)")->elapsed_ns, 2000);
	CU_ASSERT_EQUAL(case_cpu(&c, 0).system_ns, 2000);
	case_free(&c);
}

static void a_first_entry_means_user_mode_since_the_start(void)
{
	struct analysis_case c = case_new();

	tb_thread(c.tb, 10, 10, 1, "one", 0, true);
	tb_switch(c.tb, 0, 2000, 10, 20, TRACE_TASK_RUNNING);
	tb_switch(c.tb, 0, 3000, 20, 10, TRACE_TASK_INTERRUPTIBLE);
	tb_sys_enter(c.tb, 0, 4000, SYS_getpid);
	tb_sys_exit(c.tb, 0, 4100, 0);
	tb_switch(c.tb, 0, 9000, 10, 0, TRACE_TASK_RUNNING);
	case_run(&c);
	CU_ASSERT_EQUAL(c.one->user_ns, 1000 + 1000 + 4900);
	CU_ASSERT_EQUAL(c.one->syscall_ns, 100);
	case_free(&c);
}

static void a_thread_that_leaves_first_ran_since_the_start(void)
{
	struct analysis_case c = case_new();

	tb_switch(c.tb, 0, 5000, 10, 0, TRACE_TASK_INTERRUPTIBLE); /* without any start state */
	case_run(&c);
	CU_ASSERT_EQUAL(c.one->elapsed_ns, 8000);
	CU_ASSERT_EQUAL(c.one->syscall_ns, 4000); /* the thread blocked, so it was in the kernel */
	CU_ASSERT_EQUAL(c.one->blocked_ns, 4000);
	case_free(&c);
}

static void off_the_cpu_at_the_start_the_first_event_decides(void)
{
	struct analysis_case c = case_new();

	tb_thread_in(c.tb, 10, 10, 1, "one", 0, false, SYS_nanosleep);
	tb_thread(c.tb, 20, 20, 1, "two", 0, false);
	tb_waking(c.tb, 0, 3000, 10, TRACE_CONTEXT_HARDIRQ);
	tb_switch(c.tb, 0, 3100, 0, 10, TRACE_TASK_RUNNING);
	tb_sys_exit(c.tb, 0, 3200, 0);
	tb_switch(c.tb, 0, 4000, 10, 20, TRACE_TASK_RUNNING); /* "two" was never woken, so it was waiting for the CPU */
	case_run(&c);
	CU_ASSERT_EQUAL(case_wait(c.one, TRACE_WAIT_TIMEOUT, "", 0, ""), 2000);
	CU_ASSERT_EQUAL(case_call(c.one, "nanosleep")->elapsed_ns, 2200);
	CU_ASSERT_EQUAL(c.two->wait_cpu_ns, 3000);
	case_free(&c);
}

static void a_wakeup_before_the_sleep_ends_it(void)
{
	struct analysis_case c = case_new();

	tb_thread(c.tb, 10, 10, 1, "one", 0, true);
	tb_sys_enter(c.tb, 0, 2000, SYS_pause);
	tb_waking(c.tb, 1, 2900, 10, TRACE_CONTEXT_TASK); /* the wakeup preceded the switch */
	tb_switch(c.tb, 0, 3000, 10, 0, TRACE_TASK_INTERRUPTIBLE);
	tb_switch(c.tb, 0, 3100, 0, 10, TRACE_TASK_RUNNING);
	tb_sys_exit(c.tb, 0, 3200, -4);
	case_run(&c);
	CU_ASSERT_EQUAL(c.one->blocked_ns, 0);
	CU_ASSERT_EQUAL(c.one->wait_cpu_ns, 100);
	case_free(&c);
}

/* The CPU had nothing else to run for longer than the kernel would keep the thread waiting, but the
 * wakeup was recorded. */
static void a_wakeup_before_a_long_sleep_ends_it(void)
{
	struct analysis_case c = case_new();

	tb_window(c.tb, 1000, 9000000);
	tb_thread(c.tb, 10, 10, 1, "one", 0, true);
	tb_sys_enter(c.tb, 0, 2000, SYS_pause);
	tb_waking(c.tb, 1, 2900, 10, TRACE_CONTEXT_TASK);
	tb_switch(c.tb, 0, 3000, 10, 0, TRACE_TASK_INTERRUPTIBLE);
	tb_switch(c.tb, 0, 5003000, 0, 10, TRACE_TASK_RUNNING);
	tb_sys_exit(c.tb, 0, 5004000, -4);
	case_run(&c);
	CU_ASSERT_EQUAL(c.one->blocked_ns, 0);
	CU_ASSERT_EQUAL(c.one->wait_cpu_ns, 5000000);
	case_free(&c);
}

/* ---- at any time ---- */

struct times_asked {
	const struct trace_times *want; /* at each heartbeat */
	const struct trace_thread *thread;
	int nr;
};

static void ask_times(void *data, struct trace_analysis *analysis, const struct trace_event *event)
{
	struct times_asked *asked = data;
	struct trace_times now;

	if (event->id != TRACE_EV_trace_heartbeat || event->ts_ns == 1000)
		return;
	if (!asked->thread)
		asked->thread = trace_find_thread(analysis, 10);
	CU_ASSERT_PTR_NOT_NULL_FATAL(asked->thread);
	trace_thread_times(analysis, asked->thread, &now);
	CU_ASSERT_EQUAL(memcmp(&now, &asked->want[asked->nr], sizeof(now)), 0);
	asked->nr++;
}

/* In its own code, in a call, in a fault, interrupted, waiting for a CPU, asleep, and dead. */
static void the_times_of_a_thread_are_known_at_any_time(void)
{
	static const struct trace_times want[] = {
		{.user_ns = 900, .syscall_ns = 100},
		{.user_ns = 900, .syscall_ns = 500, .trap_ns = 100},
		{.user_ns = 900, .syscall_ns = 600, .trap_ns = 400, .interrupted_ns = 200},
		{.user_ns = 900, .syscall_ns = 700, .trap_ns = 400, .interrupted_ns = 400, .wait_cpu_ns = 200},
		{.user_ns = 900,
		 .syscall_ns = 900,
		 .trap_ns = 400,
		 .interrupted_ns = 400,
		 .wait_cpu_ns = 400,
		 .blocked_ns = 300},
		{.user_ns = 1000,
		 .syscall_ns = 1000,
		 .trap_ns = 400,
		 .interrupted_ns = 400,
		 .wait_cpu_ns = 500,
		 .blocked_ns = 900},
		{.user_ns = 1000,
		 .syscall_ns = 1000,
		 .trap_ns = 400,
		 .interrupted_ns = 400,
		 .wait_cpu_ns = 500,
		 .blocked_ns = 900},
	};
	static const uint64_t asked_ns[] = {2000, 2500, 3100, 3600, 4300, 5300, 8000};
	struct times_asked asked = {.want = want};
	struct trace_trace_heartbeat heartbeat = {0};
	struct analysis_case c = case_new();
	struct trace_error error;

	tb_thread(c.tb, 10, 10, 1, "one", 0, true);
	tb_sys_enter(c.tb, 0, 1900, SYS_read, 0, 0, 1);
	tb_fault(c.tb, 0, 2400, 0x1000, false);
	tb_fault_end(c.tb, 0, 2800, false);
	tb_irq(c.tb, 0, 2900, 7);
	tb_irq_exit(c.tb, 0, 3300, 7);
	tb_switch(c.tb, 0, 3400, 10, 20, TRACE_TASK_RUNNING);
	tb_switch(c.tb, 0, 3800, 20, 10, TRACE_TASK_RUNNING);
	tb_switch(c.tb, 0, 4000, 10, 20, TRACE_TASK_INTERRUPTIBLE);
	tb_waking(c.tb, 1, 4900, 10, TRACE_CONTEXT_TASK);
	tb_switch(c.tb, 0, 5000, 20, 10, TRACE_TASK_RUNNING);
	tb_sys_exit(c.tb, 0, 5100, 0);
	tb_exit(c.tb, 0, 5200, 10, 10, true);
	tb_switch(c.tb, 0, 5200, 10, 20, TRACE_TASK_DEAD);
	for (size_t i = 0; i < sizeof(asked_ns) / sizeof(asked_ns[0]); i++)
		tb_event(c.tb, 1, asked_ns[i], TRACE_EV_trace_heartbeat, &heartbeat, sizeof(heartbeat), NULL);
	c.trace = tb_open_trace(c.tb);
	c.analysis = trace_analysis_new(c.trace, NULL, &error);
	CU_ASSERT_EQUAL(trace_analysis_on_event(c.analysis, NULL, ask_times, &asked), 0);
	CU_ASSERT_EQUAL(trace_analysis_run(c.analysis, &error), 0);
	CU_ASSERT_EQUAL(asked.nr, 7);
	case_free(&c);
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		CASE(user_syscall_and_trap_are_distinguished),
		CASE(steal_time_is_charged_to_the_slice_then_to_the_one_before),
		CASE(steal_time_is_at_most_the_running_time),
		CASE(a_cpu_that_is_offline_is_idle),
		CASE(a_wakeup_by_a_cpu_coming_online_has_no_waker),
		CASE(a_thread_without_quota_waits_for_quota_then_for_a_cpu),
		CASE(latencies_of_calls_are_known_at_any_time),
		CASE(times_of_calls_can_be_left_out),
		CASE(a_fault_inside_a_call_is_trap_time_of_that_call),
		CASE(a_fault_without_end_is_over_at_the_next_call),
		CASE(a_fault_right_behind_another_one_begins_before_its_event),
		CASE(a_major_fault_may_be_reported_after_its_end),
		CASE(interrupts_nest_and_go_to_the_innermost),
		CASE(an_interrupt_of_an_idle_cpu_counts_for_the_cpu_only),
		CASE(an_interrupt_in_progress_at_the_start_began_with_the_trace),
		CASE(softirqs_are_ksoftirqds_own_work),
		CASE(a_wait_for_the_cpu_names_the_thread_on_it),
		CASE(a_migrated_waiter_is_charged_on_both_cpus),
		CASE(an_unrecorded_thread_waited_for_the_cpu_that_it_got),
		CASE(a_long_queue_names_the_latest_and_keeps_the_sum),
		CASE(a_first_exit_means_a_call_since_the_start),
		CASE(a_first_entry_means_user_mode_since_the_start),
		CASE(a_thread_that_leaves_first_ran_since_the_start),
		CASE(off_the_cpu_at_the_start_the_first_event_decides),
		CASE(a_wakeup_before_the_sleep_ends_it),
		CASE(a_sleeping_thread_does_not_wait_for_quota),
		CASE(the_end_of_a_quota_wait_counts_once),
		CASE(a_limit_of_a_class_is_the_kernels),
		CASE(softirqs_interrupt_other_kernel_threads),
		CASE(a_wakeup_before_a_long_sleep_ends_it),
		CASE(the_times_of_a_thread_are_known_at_any_time),
		CASE(a_call_without_a_name_has_its_number),
		CASE(each_strange_number_is_a_call_of_its_own),
		CASE(only_some_results_are_errors),
		{NULL, NULL},
	};

	return unit_main("state", cases, argc, argv);
}
