/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_state.c - the state machine: every state a thread can be in, and what is resolved afterwards.
 *
 * Traces begin at 1000 and end at 9000 unless a test says otherwise; thread 10 is "one", 20 is "two". All times are ns.
 */
#include <fcntl.h>
#include <linux/sched.h>
#include <sys/syscall.h>
#include "analysis_case.h"
#include "unit.h"

/* ---- on the CPU ---- */

static void user_syscall_and_trap_are_told_apart(void)
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

/* one 1000..3000, two 3000..3500, one 3500..6000, idle ..7000, one ..7500 */
static void what_the_host_took_is_of_the_turn_and_else_of_the_turn_before(void)
{
	struct analysis_case c = case_new();

	tb_thread(c.tb, 10, 10, 1, "one", 0, true);
	tb_thread(c.tb, 20, 20, 1, "two", 1, false);
	stolen(c.tb, 3000, 300);
	tb_switch(c.tb, 0, 3000, 10, 20, TRACE_TASK_RUNNING);
	stolen(c.tb, 3500, 600); /* 100 before it had the CPU */
	tb_switch(c.tb, 0, 3500, 20, 10, TRACE_TASK_RUNNING);
	stolen(c.tb, 6000, 7);
	tb_switch(c.tb, 0, 6000, 10, 0, TRACE_TASK_INTERRUPTIBLE);
	tb_waking(c.tb, 1, 6900, 10, TRACE_CONTEXT_TASK);
	tb_switch(c.tb, 0, 7000, 0, 10, TRACE_TASK_RUNNING);
	stolen(c.tb, 7500, 130); /* 100 until the CPU was awake */
	tb_switch(c.tb, 0, 7500, 10, 0, TRACE_TASK_INTERRUPTIBLE);
	tb_switch(c.tb, 0, 9000, 0, 20, TRACE_TASK_RUNNING);
	case_run(&c);
	CU_ASSERT_EQUAL(c.one->stolen_ns, 300 + 100 + 7 + 30);
	CU_ASSERT_EQUAL(c.two->stolen_ns, 500);
	CU_ASSERT_EQUAL(c.two->user_ns, 500); /* a part of it, not beside it */
	case_free(&c);
}

static void no_more_was_taken_than_there_was(void)
{
	struct analysis_case c = case_new();

	tb_thread(c.tb, 10, 10, 1, "one", 0, true);
	tb_thread(c.tb, 20, 20, 1, "two", 1, false);
	stolen(c.tb, 3000, 1500);
	tb_switch(c.tb, 0, 3000, 10, 20, TRACE_TASK_RUNNING);
	stolen(c.tb, 4000, 5000); /* what is more is of the turn before: 500 of it are left */
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

/* one may not run 3000..6000, waits for two ..7000, and may not run from 8000 on; how long it may not run is known only of the first time, or of none */
static void who_has_no_quota_waits_for_that_and_then_for_a_cpu(void)
{
	for (int is_known = 0; is_known < 2; is_known++) {
		struct analysis_case c = case_new();

		tb_thread(c.tb, 10, 10, 1, "one", 0, true);
		tb_thread(c.tb, 20, 20, 1, "two", 1, false);
		quota(c.tb, 3000, 10, false, 0);
		tb_switch(c.tb, 0, 3000, 10, 20, TRACE_TASK_RUNNING);
		quota(c.tb, 7000, 10, true, is_known ? 3000 : UINT64_MAX);
		tb_switch(c.tb, 0, 7000, 20, 10, TRACE_TASK_RUNNING);
		quota(c.tb, 8000, 10, false, 0);
		tb_switch(c.tb, 0, 8000, 10, 0, TRACE_TASK_RUNNING);
		case_run(&c);
		CU_ASSERT_EQUAL(case_wait(c.one, TRACE_WAIT_QUOTA, "", 0, ""), (is_known ? 3000 : 4000) + 1000);
		CU_ASSERT_EQUAL(c.one->wait_cpu_ns, is_known ? 1000 : 0);
		CU_ASSERT_EQUAL(c.one->user_ns + c.one->syscall_ns, 2000 + 1000);
		CU_ASSERT_EQUAL(c.two->wait_cpu_ns, 2000 + 2000); /* as ever */
		case_free(&c);
	}
}

static void hotplug(struct tb *tb, uint64_t ts_ns, uint32_t gone, bool online)
{
	struct trace_cpu_hotplug event = {.cpu = gone, .online = online};

	tb_event(tb, 1, ts_ns, TRACE_EV_cpu_hotplug, &event, sizeof(event), NULL);
}

/* one until 3000, the thread that stops the CPU, last seen at 3000; offline 3400..8000; that thread again 8500..8600, one until the end */
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

struct asked {
	uint64_t calls, p50_ns, p99_ns;
};

/* At the mark: what is known by then. */
static void ask(void *data, struct trace_analysis *analysis, const struct trace_event *event)
{
	const struct trace_thread *thread = trace_thread_on_cpu(analysis, 0);
	struct trace_figures *f = thread && event->id == TRACE_EV_sched_comm ? trace_thread_figures(analysis, thread) : NULL;
	struct asked *asked = data;

	if (f)
		*asked = (struct asked){case_call(f, "getpid")->calls, case_call(f, "getpid")->p50_ns, case_call(f, "getpid")->p99_ns};
	trace_figures_free(f);
}

/* Latencies are noted, and counted by 64: 40 calls of 30 ns and 60 of 10 ns, whose median is wrong without the last 36; figures are read; 30 of 45 ns. */
static void how_long_calls_took_is_known_at_any_time(void)
{
	struct analysis_case c = case_new();
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
	trace_analysis_on_event(c.analysis, NULL, ask, &asked);
	CU_ASSERT_EQUAL(trace_analysis_run(c.analysis, NULL), 0);
	CU_ASSERT_EQUAL(trace_analysis_verify(c.analysis, NULL), 0);
	c.one = trace_process_figures(c.analysis, case_process(&c, 10));
	CU_ASSERT_EQUAL(asked.calls, 100);
	CU_ASSERT_EQUAL(asked.p50_ns, 10);
	CU_ASSERT_EQUAL(asked.p99_ns, 30);
	CU_ASSERT_EQUAL(case_call(c.one, "getpid")->calls, 130);
	CU_ASSERT_EQUAL(case_call(c.one, "getpid")->p50_ns, 30);
	CU_ASSERT_EQUAL(case_call(c.one, "getpid")->p99_ns, 45);
	case_free(&c);
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

static void that_a_fault_was_major_may_be_told_behind_its_end(void)
{
	struct analysis_case c = case_new();

	tb_thread(c.tb, 10, 10, 1, "one", 0, true);
	tb_fault_end(c.tb, 0, 1900, true); /* of one that nobody saw */
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

static void an_interrupt_in_idle_is_the_cpus_alone(void)
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
	struct trace_start_thread kernel = {.tid = 10, .tgid = 10, .ppid = 2, .nr = -1, .flags = TRACE_THREAD_KERNEL, .running = 1};

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

/* ---- waiting for the CPU ---- */

static void a_wait_for_the_cpu_names_who_had_it(void)
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

static void a_thread_that_nobody_saw_waited_for_the_cpu_that_it_got(void)
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

/* ---- what is resolved afterwards ---- */

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

static void who_leaves_first_was_there_since_the_start(void)
{
	struct analysis_case c = case_new();

	tb_switch(c.tb, 0, 5000, 10, 0, TRACE_TASK_INTERRUPTIBLE); /* no start state at all */
	case_run(&c);
	CU_ASSERT_EQUAL(c.one->elapsed_ns, 8000);
	CU_ASSERT_EQUAL(c.one->syscall_ns, 4000); /* it blocked: it was in the kernel */
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
	tb_switch(c.tb, 0, 4000, 10, 20, TRACE_TASK_RUNNING); /* two was never woken: it was waiting for the CPU */
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
	tb_waking(c.tb, 1, 2900, 10, TRACE_CONTEXT_TASK); /* the waker was faster than the switch */
	tb_switch(c.tb, 0, 3000, 10, 0, TRACE_TASK_INTERRUPTIBLE);
	tb_switch(c.tb, 0, 3100, 0, 10, TRACE_TASK_RUNNING);
	tb_sys_exit(c.tb, 0, 3200, -4);
	case_run(&c);
	CU_ASSERT_EQUAL(c.one->blocked_ns, 0);
	CU_ASSERT_EQUAL(c.one->wait_cpu_ns, 100);
	case_free(&c);
}

/* ---- birth, exec, death ---- */

static void a_child_begins_at_its_fork(void)
{
	struct analysis_case c = case_new();
	struct trace_sched_wakeup_new wakeup = {.tid = 20, .target_cpu = 1};

	tb_thread(c.tb, 10, 10, 1, "one", 0, true);
	tb_sys_enter(c.tb, 0, 2000, SYS_fork);
	tb_fork(c.tb, 0, 2500, 10, 20, 20, "one");
	tb_event(c.tb, 0, 2600, TRACE_EV_sched_wakeup_new, &wakeup, sizeof(wakeup), NULL);
	tb_sys_exit(c.tb, 0, 2700, 20);
	tb_switch(c.tb, 1, 3000, 0, 20, TRACE_TASK_RUNNING);
	tb_sys_exit(c.tb, 1, 3100, 0);
	tb_exec(c.tb, 1, 3500, 20, "/bin/two");
	tb_comm(c.tb, 1, 3500, 20, "two");
	tb_exit(c.tb, 1, 5000, 20, 20, true);
	tb_switch(c.tb, 1, 6000, 20, 0, TRACE_TASK_DEAD);
	tb_switch(c.tb, 0, 9000, 10, 0, TRACE_TASK_RUNNING);
	case_run(&c);
	CU_ASSERT_EQUAL(c.two->elapsed_ns, 3500);
	CU_ASSERT_EQUAL(case_wait(c.two, TRACE_WAIT_PROCESS, "one", 10, "fork"), 100);
	CU_ASSERT_EQUAL(c.two->wait_cpu_ns, 400);
	CU_ASSERT_EQUAL(c.two->syscall_ns, 100);
	CU_ASSERT_STRING_EQUAL(trace_process_comm(case_process(&c, 20)), "two");
	CU_ASSERT_STRING_EQUAL(trace_process_exe(case_process(&c, 20)), "/bin/two");
	CU_ASSERT_EQUAL(trace_process_ppid(case_process(&c, 20)), 10);
	CU_ASSERT_EQUAL(trace_process_end_ns(case_process(&c, 20)), 6000);
	case_free(&c);
}

static void a_reused_number_is_another_process(void)
{
	struct analysis_case c = case_new();

	tb_thread(c.tb, 10, 10, 1, "one", 0, true);
	tb_fork(c.tb, 0, 2000, 10, 20, 20, "first");
	tb_switch(c.tb, 1, 2500, 0, 20, TRACE_TASK_RUNNING);
	tb_switch(c.tb, 1, 3000, 20, 0, TRACE_TASK_DEAD);
	tb_free_thread(c.tb, 1, 3100, 20);
	tb_fork(c.tb, 0, 4000, 10, 20, 20, "second");
	tb_switch(c.tb, 1, 4500, 0, 20, TRACE_TASK_RUNNING);
	case_run(&c);
	CU_ASSERT_EQUAL(trace_nr_processes(c.analysis), 3);
	CU_ASSERT_STRING_EQUAL(trace_process_comm(trace_get_process(c.analysis, 1)), "first");
	CU_ASSERT_EQUAL(trace_process_end_ns(trace_get_process(c.analysis, 1)), 3000);
	CU_ASSERT_STRING_EQUAL(trace_process_comm(trace_get_process(c.analysis, 2)), "second");
	CU_ASSERT_EQUAL(trace_process_start_ns(trace_get_process(c.analysis, 2)), 4000);
	for (uint32_t i = 0; i < 3; i++)
		CU_ASSERT_EQUAL(trace_thread_index(trace_next_thread(trace_get_process(c.analysis, i), NULL)), i);
	case_free(&c);
}

/* The kernel frees a thread some time after it was waited for; its number may be another's by then. */
static void a_number_that_is_freed_may_be_anothers_already(void)
{
	struct analysis_case c = case_new();
	const struct trace_process *process;

	tb_thread(c.tb, 10, 10, 1, "one", 0, true);
	tb_fork(c.tb, 0, 2000, 10, 20, 20, "first");
	tb_switch(c.tb, 1, 2500, 0, 20, TRACE_TASK_RUNNING);
	tb_switch(c.tb, 1, 3000, 20, 0, TRACE_TASK_DEAD);
	tb_fork(c.tb, 0, 3100, 10, 20, 20, "second");
	tb_switch(c.tb, 1, 3200, 0, 20, TRACE_TASK_RUNNING);
	tb_switch(c.tb, 1, 3300, 20, 0, TRACE_TASK_DEAD);
	tb_fork(c.tb, 0, 3400, 10, 20, 20, "third");
	tb_switch(c.tb, 1, 4000, 0, 20, TRACE_TASK_RUNNING);
	tb_free_thread(c.tb, 0, 4100, 20); /* the first */
	tb_free_thread(c.tb, 0, 4200, 20); /* the second */
	tb_exit(c.tb, 1, 5900, 20, 20, true);
	tb_switch(c.tb, 1, 6000, 20, 0, TRACE_TASK_DEAD);
	tb_free_thread(c.tb, 0, 6100, 20);
	tb_fork(c.tb, 0, 7000, 10, 20, 20, "fourth");
	tb_switch(c.tb, 1, 7100, 0, 20, TRACE_TASK_RUNNING);
	tb_free_thread(c.tb, 0, 8000, 20); /* itself: how it ended was not seen */
	case_run(&c);
	CU_ASSERT_EQUAL_FATAL(trace_nr_processes(c.analysis), 5);
	process = trace_get_process(c.analysis, 3);
	CU_ASSERT_STRING_EQUAL(trace_process_comm(process), "third");
	CU_ASSERT_EQUAL(trace_process_start_ns(process), 3400);
	CU_ASSERT_EQUAL(trace_process_end_ns(process), 6000);
	process = trace_get_process(c.analysis, 4);
	CU_ASSERT_STRING_EQUAL(trace_process_comm(process), "fourth");
	CU_ASSERT_EQUAL(trace_process_end_ns(process), 8000);
	CU_ASSERT_EQUAL(trace_analysis_contradictions(c.analysis), 1); /* as it was on its CPU */
	case_free(&c);
}

/* Whoever waits for it is told before it leaves its CPU. */
static void who_exits_may_leave_its_cpu_when_its_number_is_anothers(void)
{
	struct analysis_case c = case_new();
	const struct trace_process *process;

	tb_thread(c.tb, 10, 10, 1, "one", 0, true);
	tb_fork(c.tb, 0, 2000, 10, 20, 20, "first");
	tb_switch(c.tb, 1, 2500, 0, 20, TRACE_TASK_RUNNING);
	tb_exit(c.tb, 1, 2900, 20, 20, true);
	tb_fork(c.tb, 0, 3000, 10, 20, 20, "second");
	tb_switch(c.tb, 1, 3100, 20, 0, TRACE_TASK_DEAD);
	tb_free_thread(c.tb, 0, 3200, 20);
	tb_switch(c.tb, 1, 4000, 0, 20, TRACE_TASK_RUNNING);
	tb_switch(c.tb, 1, 6000, 20, 0, TRACE_TASK_DEAD);
	case_run(&c);
	CU_ASSERT_EQUAL_FATAL(trace_nr_processes(c.analysis), 3);
	CU_ASSERT_EQUAL(trace_process_end_ns(trace_get_process(c.analysis, 1)), 3100);
	process = trace_get_process(c.analysis, 2);
	CU_ASSERT_STRING_EQUAL(trace_process_comm(process), "second");
	CU_ASSERT_EQUAL(trace_process_start_ns(process), 3000);
	CU_ASSERT_EQUAL(trace_process_end_ns(process), 6000);
	CU_ASSERT_EQUAL(trace_analysis_contradictions(c.analysis), 0);
	case_free(&c);
}

/* Behind a gap nobody knows who was freed in it. */
static void a_number_that_was_freed_in_a_gap_is_not_waited_for(void)
{
	struct analysis_case c = case_new();

	tb_thread(c.tb, 10, 10, 1, "one", 0, true);
	tb_fork(c.tb, 0, 2000, 10, 20, 20, "first");
	tb_switch(c.tb, 1, 2500, 0, 20, TRACE_TASK_RUNNING);
	tb_switch(c.tb, 1, 3000, 20, 0, TRACE_TASK_DEAD);
	tb_switch(c.tb, 0, 3100, 10, 0, TRACE_TASK_RUNNING);
	tb_lost(c.tb, 0, 3);
	tb_fork(c.tb, 0, 4000, 10, 20, 20, "second");
	tb_free_thread(c.tb, 0, 5000, 20);
	case_run(&c);
	CU_ASSERT_EQUAL_FATAL(trace_nr_processes(c.analysis), 3);
	CU_ASSERT_EQUAL(trace_process_end_ns(trace_get_process(c.analysis, 2)), 5000);
	case_free(&c);
}

/* The memory of a dead thread's rows is the next one's. */
static void what_is_known_of_the_dead_stays_when_others_come(void)
{
	struct analysis_case c = case_new();

	tb_thread(c.tb, 10, 10, 1, "one", 0, true);
	for (uint32_t i = 0; i < 3; i++) {
		uint64_t at = 2000 + 1000 * i;

		tb_fork(c.tb, 0, at, 10, 20 + i, 20 + i, "short");
		tb_switch(c.tb, 1, at + 100, 0, 20 + i, TRACE_TASK_RUNNING);
		tb_sys_exit(c.tb, 1, at + 110, 0);
		for (uint32_t n = 0; n <= i; n++) {
			tb_sys_enter(c.tb, 1, at + 200 + 20 * n, i == 1 ? SYS_pause : SYS_getpid);
			tb_sys_exit(c.tb, 1, at + 210 + 20 * n + i, 0);
		}
		tb_switch(c.tb, 1, at + 500, 20 + i, 0, TRACE_TASK_DEAD);
	}
	case_run(&c);
	for (uint32_t i = 0; i < 3; i++) {
		struct trace_figures *f = trace_process_figures(c.analysis, case_process(&c, 20 + i));
		const struct trace_call *call = case_call(f, i == 1 ? "pause" : "getpid");

		CU_ASSERT_EQUAL(f->nr_syscalls, i + 1 + 1); /* and the fork that it came out of */
		CU_ASSERT_EQUAL(call->calls, i + 1);
		CU_ASSERT_EQUAL(call->p50_ns, 10 + i);
		trace_figures_free(f);
	}
	case_free(&c);
}

static void a_thread_that_the_start_state_knew_too_early_begins_at_its_fork(void)
{
	struct analysis_case c = case_new();
	struct trace_start_thread late = {.tid = 20, .tgid = 20, .ppid = 10, .nr = -1, .state = 1};

	tb_thread(c.tb, 10, 10, 1, "one", 0, true);
	tb_start(c.tb, 4000, TRACE_EV_start_thread, &late, sizeof(late), "two");
	tb_fork(c.tb, 0, 2000, 10, 20, 20, "two");
	tb_switch(c.tb, 0, 9000, 10, 0, TRACE_TASK_RUNNING);
	case_run(&c);
	CU_ASSERT_EQUAL(trace_nr_processes(c.analysis), 2);
	CU_ASSERT_EQUAL(c.two->elapsed_ns, 7000);
	case_free(&c);
}

static void a_threads_time_is_its_processes(void)
{
	struct analysis_case c = case_new();

	tb_thread(c.tb, 10, 10, 1, "one", 0, true);
	tb_thread(c.tb, 11, 10, 1, "worker", 1, true);
	tb_switch(c.tb, 0, 2000, 10, 0, TRACE_TASK_INTERRUPTIBLE);
	tb_switch(c.tb, 1, 5000, 11, 0, TRACE_TASK_INTERRUPTIBLE);
	case_run(&c);
	CU_ASSERT_EQUAL(c.one->elapsed_ns, 16000);
	CU_ASSERT_EQUAL(c.one->syscall_ns, 5000);
	CU_ASSERT_EQUAL(trace_nr_threads(case_process(&c, 10)), 2);
	case_free(&c);
}

static void exec_from_a_thread_takes_the_leaders_number(void)
{
	struct analysis_case c = case_new();
	struct trace_sched_exec exec = {.tid = 10, .old_tid = 11};

	tb_thread(c.tb, 10, 10, 1, "one", 1, false);
	tb_thread(c.tb, 11, 10, 1, "worker", 0, true);
	tb_sys_enter(c.tb, 0, 2000, SYS_execve, 0, 0, 0);
	tb_event(c.tb, 0, 3000, TRACE_EV_sched_exec, &exec, sizeof(exec), "/bin/two");
	tb_sys_exit(c.tb, 0, 3100, 0);
	tb_switch(c.tb, 0, 5000, 10, 0, TRACE_TASK_RUNNING); /* it is 10 now */
	case_run(&c);
	CU_ASSERT_EQUAL(trace_nr_processes(c.analysis), 1);
	CU_ASSERT_EQUAL(c.one->elapsed_ns, 2000 + 8000);
	CU_ASSERT_EQUAL(c.one->user_ns, 1000 + 1900);
	CU_ASSERT_EQUAL(c.one->syscall_ns, 1100);
	CU_ASSERT_EQUAL(trace_analysis_contradictions(c.analysis), 0);
	case_free(&c);
}

/* Thread 11 calls exec, and so 10, the leader, has to die; from then on 11 is 10, and 10 is 11. */
static void exec_from_worker(struct analysis_case *c)
{
	tb_thread(c->tb, 10, 10, 1, "one", 1, true);
	tb_thread(c->tb, 11, 10, 1, "worker", 0, true);
	tb_sys_enter(c->tb, 0, 2000, SYS_execve, 0, 0, 0);
	tb_switch(c->tb, 0, 2100, 11, 0, TRACE_TASK_UNINTERRUPTIBLE);
	tb_exit(c->tb, 1, 2200, 10, 10, false);
	tb_waking(c->tb, 1, 2300, 11, TRACE_CONTEXT_TASK);
}

static void exec_ends(struct analysis_case *c)
{
	struct trace_sched_exec exec = {.tid = 10, .old_tid = 11};

	tb_event(c->tb, 0, 4000, TRACE_EV_sched_exec, &exec, sizeof(exec), "/bin/two");
	tb_sys_exit(c->tb, 0, 4100, 0);
	tb_free_thread(c->tb, 1, 4200, 11); /* the old leader */
	tb_switch(c->tb, 0, 5000, 10, 0, TRACE_TASK_DEAD);
	case_run(c);
	CU_ASSERT_EQUAL(trace_nr_processes(c->analysis), 1);
	CU_ASSERT_EQUAL(trace_analysis_contradictions(c->analysis), 0);
	CU_ASSERT_STRING_EQUAL(trace_process_comm(case_process(c, 10)), "two");
	CU_ASSERT_STRING_EQUAL(trace_process_exe(case_process(c, 10)), "/bin/two");
	CU_ASSERT_EQUAL(case_wait(c->one, TRACE_WAIT_UNKNOWN, "", 0, ""), 0);
}

static void the_name_that_exec_gives_is_its_processes_also_from_a_thread(void)
{
	struct analysis_case c = case_new();

	exec_from_worker(&c);
	tb_switch(c.tb, 1, 2400, 10, 0, TRACE_TASK_DEAD);
	tb_switch(c.tb, 0, 2500, 0, 11, TRACE_TASK_RUNNING);
	tb_comm(c.tb, 0, 3000, 10, "two");
	exec_ends(&c);
	CU_ASSERT_EQUAL(c.one->elapsed_ns, 1400 + 4000);
	case_free(&c);
}

static void a_thread_may_leave_its_cpu_under_its_new_number_before_exec_is_told(void)
{
	struct analysis_case c = case_new();

	exec_from_worker(&c);
	tb_switch(c.tb, 1, 2400, 10, 0, TRACE_TASK_DEAD);
	tb_switch(c.tb, 0, 2500, 0, 11, TRACE_TASK_RUNNING);
	tb_switch(c.tb, 0, 2600, 10, 0, TRACE_TASK_RUNNING); /* before it has its name */
	tb_switch(c.tb, 0, 2700, 0, 10, TRACE_TASK_RUNNING);
	tb_comm(c.tb, 0, 3000, 10, "two");
	tb_switch(c.tb, 0, 3200, 10, 0, TRACE_TASK_UNINTERRUPTIBLE); /* and while the program is loaded */
	tb_waking(c.tb, 1, 3300, 10, TRACE_CONTEXT_HARDIRQ);
	tb_switch(c.tb, 0, 3400, 0, 10, TRACE_TASK_RUNNING);
	exec_ends(&c);
	CU_ASSERT_EQUAL(c.one->elapsed_ns, 1400 + 4000);
	CU_ASSERT_EQUAL(case_call(c.one, "execve")->elapsed_ns, 2100);
	case_free(&c);
}

static void the_old_leader_may_leave_its_cpu_for_the_last_time_under_the_threads_number(void)
{
	struct analysis_case c = case_new();

	exec_from_worker(&c);
	tb_switch(c.tb, 0, 2400, 0, 11, TRACE_TASK_RUNNING);
	tb_switch(c.tb, 1, 2500, 11, 0, TRACE_TASK_DEAD); /* it was 10 */
	tb_comm(c.tb, 0, 3000, 10, "two");
	exec_ends(&c);
	CU_ASSERT_EQUAL(c.one->elapsed_ns, 1500 + 4000);
	case_free(&c);
}

static void the_old_leader_may_leave_its_cpu_after_exec_is_told(void)
{
	struct analysis_case c = case_new();

	exec_from_worker(&c);
	tb_switch(c.tb, 0, 2400, 0, 11, TRACE_TASK_RUNNING);
	tb_comm(c.tb, 0, 3000, 10, "two");
	tb_switch(c.tb, 1, 4050, 11, 0, TRACE_TASK_DEAD); /* it was 10 */
	exec_ends(&c);
	CU_ASSERT_EQUAL(c.one->elapsed_ns, 3050 + 4000);
	case_free(&c);
}

/* ---- descriptors ---- */

static uint64_t bytes_read_from(const struct trace_figures *f, const char *path)
{
	for (size_t i = 0; i < f->nr_files; i++)
		if (strcmp(f->files[i].path, path) == 0)
			return f->files[i].read_bytes;
	return 0;
}

static void read_on(struct tb *tb, uint32_t cpu, uint64_t ts_ns, int fd, int64_t bytes)
{
	tb_sys_enter(tb, cpu, ts_ns, SYS_read, (uint64_t)fd, 0, 4096);
	tb_sys_exit(tb, cpu, ts_ns + 10, bytes);
}

/* A read that waits for the disk for 100 ns of 200. */
static void slow_read_on(struct tb *tb, uint64_t ts_ns, int fd, int64_t bytes)
{
	struct trace_block_complete done = {.dev = 0xfe00000, .bytes = 4096};

	tb_sys_enter(tb, 0, ts_ns, SYS_read, (uint64_t)fd, 0, 4096);
	tb_switch(tb, 0, ts_ns + 50, 10, 0, TRACE_TASK_UNINTERRUPTIBLE);
	tb_irq(tb, 0, ts_ns + 148, 7);
	tb_event(tb, 0, ts_ns + 149, TRACE_EV_block_complete, &done, sizeof(done), NULL);
	tb_waking(tb, 0, ts_ns + 150, 10, TRACE_CONTEXT_HARDIRQ);
	tb_irq_exit(tb, 0, ts_ns + 151, 7);
	tb_switch(tb, 0, ts_ns + 160, 0, 10, TRACE_TASK_RUNNING);
	tb_sys_exit(tb, 0, ts_ns + 200, bytes);
}

#define NR_USED 1100 /* files: rows of so many are added to later */
#define ALL_USED_NS (2000 + 300 * NR_USED)

/* How process 10 used /3 and /4 by now, whoever is asked. */
struct uses_asked {
	int nr; /* marks that came */
	struct {
		uint64_t reads, read_bytes, writes, written_bytes, wait_ns;
	} of[2];
};

static void uses_check(struct trace_figures *f, const struct uses_asked *want)
{
	CU_ASSERT_EQUAL(f->nr_files, NR_USED);
	for (size_t i = 0; i < f->nr_files; i++) {
		const struct trace_file_use *use = &f->files[i];
		int of = strcmp(use->path, "/3") == 0 ? 0 : strcmp(use->path, "/4") == 0 ? 1 : -1;

		if (of < 0)
			continue;
		CU_ASSERT_EQUAL(use->reads, want->of[of].reads);
		CU_ASSERT_EQUAL(use->read_bytes, want->of[of].read_bytes);
		CU_ASSERT_EQUAL(use->writes, want->of[of].writes);
		CU_ASSERT_EQUAL(use->written_bytes, want->of[of].written_bytes);
		CU_ASSERT_EQUAL(use->wait_ns, want->of[of].wait_ns);
		CU_ASSERT_EQUAL(case_wait(f, TRACE_WAIT_FILE, use->path, 0, ""), want->of[of].wait_ns);
	}
	trace_figures_free(f);
}

/* Each mark is of another reader: it must not live on what the one before it has settled. */
static void ask_uses(void *data, struct trace_analysis *analysis, const struct trace_event *event)
{
	const struct trace_thread *thread = trace_thread_on_cpu(analysis, 0);
	const struct trace_process *process = thread ? trace_thread_process(thread) : NULL;
	struct uses_asked *want = data;

	if (event->id != TRACE_EV_sched_comm || !process)
		return;
	want->of[0].reads++;
	want->of[0].read_bytes += 100;
	want->of[0].wait_ns += 100;
	want->of[1].writes++;
	want->of[1].written_bytes += 7;
	switch (want->nr++) {
	case 0:
		uses_check(trace_thread_figures(analysis, thread), want);
		break;
	case 1:
		uses_check(trace_process_figures(analysis, process), want);
		break;
	default:
		uses_check(trace_system_figures(analysis), want);
	}
}

/* Two processes read one file by turns, and one of them another of the same path; it dies, and what it used its rows for is another's rows. */
static void a_file_of_many_is_used_by_each_for_himself(void)
{
	struct analysis_case c = case_new();
	struct trace_figures *three;
	uint64_t at = 2000;
	char path[16];

	tb_window(c.tb, 1000, 30000);
	tb_thread(c.tb, 10, 10, 1, "one", 0, true);
	tb_thread(c.tb, 20, 20, 1, "two", 1, true);
	for (int i = 0; i < NR_USED; i++) {
		snprintf(path, sizeof(path), "/%d", 3 + i);
		tb_fd(c.tb, 10, 3 + i, 1, 100 + (uint64_t)i, 0100644, path);
	}
	tb_fd(c.tb, 20, 3, 1, 100, 0100644, "/3");
	tb_fd(c.tb, 20, 4, 1, 99, 0100644, "/3");
	tb_fd(c.tb, 20, 5, 1, 101, 0100644, "/4");
	for (int i = 0; i < 100; i++, at += 100) {
		read_on(c.tb, 0, at, 3, 100);
		read_on(c.tb, 1, at + 20, 3, 1);
		read_on(c.tb, 1, at + 40, 4, 10);
		read_on(c.tb, 1, at + 60, 5, 2);
	}
	tb_exit(c.tb, 1, at, 20, 20, true);
	tb_switch(c.tb, 1, at + 10, 20, 0, TRACE_TASK_DEAD);
	tb_fork(c.tb, 0, at + 20, 10, 30, 30, "three");
	tb_switch(c.tb, 1, at + 30, 0, 30, TRACE_TASK_RUNNING);
	tb_sys_exit(c.tb, 1, at + 40, 0);
	for (int i = 0; i < 100; i++, at += 100) {
		read_on(c.tb, 1, at + 120, 6 - i % 4, 7);
	}
	for (int i = 0; i < 100; i++, at += 20)
		read_on(c.tb, 0, at + 100, 4, 5);
	tb_switch(c.tb, 0, 30000, 10, 0, TRACE_TASK_RUNNING);
	case_run(&c);
	CU_ASSERT_EQUAL(bytes_read_from(c.one, "/3"), 10000);
	CU_ASSERT_EQUAL(bytes_read_from(c.one, "/4"), 500);
	CU_ASSERT_EQUAL(c.one->nr_files, 2);
	CU_ASSERT_EQUAL(bytes_read_from(c.two, "/3"), 100 + 1000);
	CU_ASSERT_EQUAL(bytes_read_from(c.two, "/4"), 200);
	CU_ASSERT_EQUAL(c.two->nr_files, 2);
	three = trace_process_figures(c.analysis, case_process(&c, 30));
	CU_ASSERT_EQUAL(three->nr_files, 4);
	for (size_t i = 0; i < three->nr_files; i++) {
		CU_ASSERT_EQUAL(three->files[i].reads, 25);
		CU_ASSERT_EQUAL(three->files[i].read_bytes, 175);
	}
	trace_figures_free(three);
	case_free(&c);
}

/* What is read, written and waited for is noted, and added to the rows of the files when some more was: whoever asks must not see that. */
static void how_files_were_used_is_known_at_any_time(void)
{
	struct analysis_case c = case_new();
	struct trace_sched_comm comm = {.tid = 10};
	struct uses_asked want = {.of = {{1, 100, 0, 0, 100}, {1, 100, 0, 0, 100}}};
	char path[16];

	tb_window(c.tb, 1000, ALL_USED_NS + 10000);
	tb_thread(c.tb, 10, 10, 1, "one", 0, true);
	tb_thread(c.tb, 11, 10, 1, "other", 1, false);
	for (int i = 0; i < NR_USED; i++) {
		snprintf(path, sizeof(path), "/%d", 3 + i);
		tb_fd(c.tb, 10, 3 + i, 1, 100 + (uint64_t)i, 0100644, path);
		slow_read_on(c.tb, 2000 + 300 * (uint64_t)i, 3 + i, 100);
	}
	for (uint64_t at = ALL_USED_NS + 1000; at < ALL_USED_NS + 4000; at += 1000) {
		slow_read_on(c.tb, at, 3, 100);
		tb_sys_enter(c.tb, 0, at + 300, SYS_write, 4, 0, 7);
		tb_sys_exit(c.tb, 0, at + 310, 7);
		tb_event(c.tb, 0, at + 400, TRACE_EV_sched_comm, &comm, sizeof(comm), "one");
	}
	for (uint64_t at = ALL_USED_NS + 4000; at < ALL_USED_NS + 6000; at += 20)
		read_on(c.tb, 0, at, 4, 3);
	slow_read_on(c.tb, ALL_USED_NS + 6000, 3, 100);
	tb_switch(c.tb, 0, ALL_USED_NS + 10000, 10, 0, TRACE_TASK_RUNNING);
	c.trace = tb_open_trace(c.tb);
	c.analysis = trace_analysis_new(c.trace, NULL, NULL);
	trace_analysis_on_event(c.analysis, NULL, ask_uses, &want);
	CU_ASSERT_EQUAL(trace_analysis_run(c.analysis, NULL), 0);
	CU_ASSERT_EQUAL(trace_analysis_verify(c.analysis, NULL), 0); /* before anybody asks again */
	CU_ASSERT_EQUAL(want.nr, 3);
	want.of[0].reads++;
	want.of[0].read_bytes += 100;
	want.of[0].wait_ns += 100;
	want.of[1].reads += 100;
	want.of[1].read_bytes += 300;
	uses_check(trace_process_figures(c.analysis, case_process(&c, 10)), &want);
	case_free(&c);
}

/* Of more files than stay in a cache the next ones are asked for early: as if the calls to come were of the same thread, and their descriptors open. */
static void calls_to_come_may_be_of_others_and_about_nothing(void)
{
	struct analysis_case c = case_new();
	char path[16];

	tb_thread(c.tb, 10, 10, 1, "one", 0, true);
	tb_thread(c.tb, 20, 20, 1, "two", 0, false);
	for (int fd = 3; fd < 2000; fd++) {
		snprintf(path, sizeof(path), "/%d", fd);
		tb_fd(c.tb, 10, fd, 1, 100 + (uint64_t)fd, 0100644, path);
	}
	read_on(c.tb, 0, 2000, 1999, 1);
	read_on(c.tb, 0, 2020, 2048, 10); /* the table ends there */
	read_on(c.tb, 0, 2040, -1, 100);
	read_on(c.tb, 0, 2060, INT32_MAX, 1000);
	read_on(c.tb, 0, 2080, 2000, 10000); /* not open */
	tb_sys_enter(c.tb, 0, 2100, 100000, 3, 0, 0); /* no call of this number */
	tb_sys_exit(c.tb, 0, 2110, 0);
	read_on(c.tb, 0, 2120, 1999, 2);
	tb_switch(c.tb, 0, 3000, 10, 20, TRACE_TASK_RUNNING);
	read_on(c.tb, 0, 3020, 1999, 100000); /* of two, which has none */
	read_on(c.tb, 0, 3040, 3, 1000000);
	tb_switch(c.tb, 0, 4000, 20, 10, TRACE_TASK_RUNNING);
	read_on(c.tb, 0, 4020, 3, 4);
	tb_switch(c.tb, 0, 9000, 10, 0, TRACE_TASK_RUNNING);
	case_run(&c);
	CU_ASSERT_EQUAL(c.one->read_bytes, 7);
	CU_ASSERT_EQUAL(bytes_read_from(c.one, "/1999"), 3);
	CU_ASSERT_EQUAL(bytes_read_from(c.one, "/3"), 4);
	CU_ASSERT_EQUAL(c.two->read_bytes, 0);
	case_free(&c);
}

static void descriptors_follow_dup_close_and_fcntl(void)
{
	struct analysis_case c = case_new();

	tb_thread(c.tb, 10, 10, 1, "one", 0, true);
	tb_fd(c.tb, 10, 3, 1, 100, 0100644, "/a");
	read_on(c.tb, 0, 2000, 3, 1);
	tb_sys_enter(c.tb, 0, 2100, SYS_dup2, 3, 7);
	tb_sys_exit(c.tb, 0, 2110, 7);
	tb_sys_enter(c.tb, 0, 2200, SYS_close, 3);
	tb_sys_exit(c.tb, 0, 2210, 0);
	read_on(c.tb, 0, 2300, 3, 10); /* closed: nobody's */
	read_on(c.tb, 0, 2400, 7, 100);
	tb_sys_enter(c.tb, 0, 2500, SYS_fcntl, 7, F_DUPFD, 9);
	tb_sys_exit(c.tb, 0, 2510, 9);
	read_on(c.tb, 0, 2600, 9, 1000);
	tb_sys_enter(c.tb, 0, 2700, SYS_close_range, 7, 9, 0);
	tb_sys_exit(c.tb, 0, 2710, 0);
	read_on(c.tb, 0, 2800, 9, 10000);
	tb_switch(c.tb, 0, 9000, 10, 0, TRACE_TASK_RUNNING);
	case_run(&c);
	CU_ASSERT_EQUAL(bytes_read_from(c.one, "/a"), 1101);
	case_free(&c);
}

static void a_thread_may_have_had_its_own_descriptors_before(void)
{
	struct trace_start_fd own = {.tgid = 10, .tid = 12, .fd = 3, .dev = 1, .ino = 200, .mode = 0100644};
	struct analysis_case c = case_new();

	tb_thread(c.tb, 10, 10, 1, "one", 0, true);
	tb_thread(c.tb, 11, 10, 1, "one", 1, true);
	tb_thread(c.tb, 12, 10, 1, "one", 2, true);
	tb_fd(c.tb, 10, 3, 1, 100, 0100644, "/a");
	tb_start(c.tb, 1000, TRACE_EV_start_fd, &own, sizeof(own), "/own");
	read_on(c.tb, 0, 2000, 3, 1);
	read_on(c.tb, 1, 2000, 3, 10);
	read_on(c.tb, 2, 2000, 3, 100);
	tb_sys_enter(c.tb, 2, 2100, SYS_close, 3);
	tb_sys_exit(c.tb, 2, 2110, 0);
	read_on(c.tb, 0, 2200, 3, 1000);
	for (uint32_t cpu = 0; cpu < 3; cpu++)
		tb_switch(c.tb, cpu, 9000, 10 + cpu, 0, TRACE_TASK_RUNNING);
	case_run(&c);
	CU_ASSERT_EQUAL(bytes_read_from(c.one, "/a"), 1011);
	CU_ASSERT_EQUAL(bytes_read_from(c.one, "/own"), 100);
	case_free(&c);
}

static void fork_copies_exec_closes_and_threads_share(void)
{
	struct analysis_case c = case_new();
	struct trace_sched_fork thread = {.parent_tid = 10, .tid = 11, .tgid = 10, .clone_flags = CLONE_THREAD | CLONE_FILES | CLONE_VM};

	tb_thread(c.tb, 10, 10, 1, "one", 0, true);
	tb_sys_enter(c.tb, 0, 2000, SYS_open, 0, O_CLOEXEC, 0);
	tb_open(c.tb, 0, 2010, 3, 1, 100, 0100644, "/shared");
	tb_sys_exit(c.tb, 0, 2020, 3);
	tb_sys_enter(c.tb, 0, 2030, SYS_dup, 3);
	tb_sys_exit(c.tb, 0, 2040, 4);
	tb_sys_enter(c.tb, 0, 2050, SYS_fcntl, 4, F_SETFD, FD_CLOEXEC);
	tb_sys_exit(c.tb, 0, 2060, 0);
	tb_fork(c.tb, 0, 2100, 10, 20, 20, "two");
	tb_event(c.tb, 0, 2200, TRACE_EV_sched_fork, &thread, sizeof(thread), "one");
	tb_switch(c.tb, 1, 2300, 0, 11, TRACE_TASK_RUNNING);
	tb_sys_exit(c.tb, 1, 2310, 0);
	tb_sys_enter(c.tb, 1, 2320, SYS_open, 0, 0, 0);
	tb_open(c.tb, 1, 2330, 5, 1, 101, 0100644, "/by the thread");
	tb_sys_exit(c.tb, 1, 2340, 5);
	read_on(c.tb, 0, 2400, 5, 5); /* the leader sees it */
	tb_switch(c.tb, 1, 3000, 11, 20, TRACE_TASK_RUNNING);
	tb_sys_exit(c.tb, 1, 3010, 0);
	read_on(c.tb, 1, 3100, 3, 7); /* the child's copy */
	read_on(c.tb, 1, 3200, 5, 7); /* opened after the fork: not in the child */
	tb_exec(c.tb, 1, 3300, 20, "/bin/two");
	read_on(c.tb, 1, 3400, 4, 7); /* closed by exec */
	read_on(c.tb, 1, 3500, 3, 9); /* dup() of nothing closes on exec; open with O_CLOEXEC was not told by the event */
	tb_switch(c.tb, 0, 9000, 10, 0, TRACE_TASK_RUNNING);
	case_run(&c);
	CU_ASSERT_EQUAL(bytes_read_from(c.one, "/by the thread"), 5);
	CU_ASSERT_EQUAL(bytes_read_from(c.two, "/shared"), 7 + 9);
	CU_ASSERT_EQUAL(bytes_read_from(c.two, "/by the thread"), 0);
	case_free(&c);
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		CASE(user_syscall_and_trap_are_told_apart),
		CASE(what_the_host_took_is_of_the_turn_and_else_of_the_turn_before),
		CASE(no_more_was_taken_than_there_was),
		CASE(a_cpu_that_is_offline_is_idle),
		CASE(who_has_no_quota_waits_for_that_and_then_for_a_cpu),
		CASE(how_long_calls_took_is_known_at_any_time),
		CASE(a_fault_inside_a_call_is_trap_time_of_that_call),
		CASE(a_fault_without_end_is_over_at_the_next_call),
		CASE(that_a_fault_was_major_may_be_told_behind_its_end),
		CASE(interrupts_nest_and_go_to_the_innermost),
		CASE(an_interrupt_in_idle_is_the_cpus_alone),
		CASE(an_interrupt_in_progress_at_the_start_began_with_the_trace),
		CASE(softirqs_are_ksoftirqds_own_work),
		CASE(a_wait_for_the_cpu_names_who_had_it),
		CASE(a_migrated_waiter_is_charged_on_both_cpus),
		CASE(a_thread_that_nobody_saw_waited_for_the_cpu_that_it_got),
		CASE(a_long_queue_names_the_latest_and_keeps_the_sum),
		CASE(a_first_exit_means_a_call_since_the_start),
		CASE(a_first_entry_means_user_mode_since_the_start),
		CASE(who_leaves_first_was_there_since_the_start),
		CASE(off_the_cpu_at_the_start_the_first_event_decides),
		CASE(a_wakeup_before_the_sleep_ends_it),
		CASE(a_child_begins_at_its_fork),
		CASE(a_reused_number_is_another_process),
		CASE(a_number_that_is_freed_may_be_anothers_already),
		CASE(who_exits_may_leave_its_cpu_when_its_number_is_anothers),
		CASE(a_number_that_was_freed_in_a_gap_is_not_waited_for),
		CASE(what_is_known_of_the_dead_stays_when_others_come),
		CASE(a_thread_that_the_start_state_knew_too_early_begins_at_its_fork),
		CASE(a_threads_time_is_its_processes),
		CASE(exec_from_a_thread_takes_the_leaders_number),
		CASE(the_name_that_exec_gives_is_its_processes_also_from_a_thread),
		CASE(a_thread_may_leave_its_cpu_under_its_new_number_before_exec_is_told),
		CASE(the_old_leader_may_leave_its_cpu_for_the_last_time_under_the_threads_number),
		CASE(the_old_leader_may_leave_its_cpu_after_exec_is_told),
		CASE(how_files_were_used_is_known_at_any_time),
		CASE(a_file_of_many_is_used_by_each_for_himself),
		CASE(calls_to_come_may_be_of_others_and_about_nothing),
		CASE(descriptors_follow_dup_close_and_fcntl),
		CASE(a_thread_may_have_had_its_own_descriptors_before),
		CASE(fork_copies_exec_closes_and_threads_share),
		{NULL, NULL},
	};

	return unit_main("state", cases, argc, argv);
}
