/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test_state_hidden.c - threads that the kernel hides from every tracer. Times and threads as in
 * test_state.c. */
#include <sys/stat.h>
#include "analysis_case.h"
#include "unit.h"

/* The times of the thread in /proc at the start and at the end. */
static void hidden_thread(struct analysis_case *c, uint64_t before, uint64_t after, uint32_t state)
{
	struct trace_start_thread start = {.tid = 10,
					   .tgid = 10,
					   .ppid = 0,
					   .nr = -1,
					   .flags = TRACE_THREAD_HIDDEN,
					   .state = TRACE_TASK_INTERRUPTIBLE};
	struct trace_thread_runs runs = {.tid = 10, .state = state, .switches = before};

	tb_thread(c->tb, 20, 20, 1, "two", 1, true);
	tb_start(c->tb, 1100, TRACE_EV_start_thread, &start, sizeof(start), "one");
	tb_start(c->tb, 1200, TRACE_EV_thread_runs, &runs, sizeof(runs), NULL);
	runs.switches = after;
	tb_start(c->tb, 9000, TRACE_EV_thread_runs, &runs, sizeof(runs), NULL);
}

static void a_hidden_thread_that_never_left_a_cpu_was_asleep(void)
{
	struct analysis_case c = case_new();

	hidden_thread(&c, 7, 7, TRACE_TASK_INTERRUPTIBLE);
	case_run(&c);
	/* from the first reading on */
	CU_ASSERT_EQUAL(case_wait(c.one, TRACE_WAIT_UNKNOWN, "asleep, hidden", 0, ""), 7800);
	CU_ASSERT_EQUAL(case_wait(c.one, TRACE_WAIT_UNKNOWN, "hidden", 0, ""), 200);
	case_free(&c);
}

/* /proc is first read after the first events. */
static void a_hidden_thread_may_have_run_before_it_was_read(void)
{
	struct analysis_case c = case_new();

	hidden_thread(&c, 7, 7, TRACE_TASK_INTERRUPTIBLE);
	tb_switch(c.tb, 1, 1050, 20, 10, TRACE_TASK_INTERRUPTIBLE);
	tb_sys_enter(c.tb, 1, 1060, SYS_getpid);
	tb_switch(c.tb, 1, 1300, 30, 20, TRACE_TASK_INTERRUPTIBLE);
	case_run(&c);
	CU_ASSERT_EQUAL(case_wait(c.one, TRACE_WAIT_UNKNOWN, "asleep, hidden", 0, ""), 7800);
	CU_ASSERT_EQUAL(case_wait(c.one, TRACE_WAIT_UNKNOWN, "hidden", 0, ""), 200);
	case_free(&c);
}

static void a_hidden_thread_that_left_a_cpu_is_unknown(void)
{
	struct analysis_case c = case_new();

	hidden_thread(&c, 7, 8, TRACE_TASK_INTERRUPTIBLE);
	case_run(&c);
	CU_ASSERT_EQUAL(case_wait(c.one, TRACE_WAIT_UNKNOWN, "hidden", 0, ""), 8000);
	case_free(&c);
}

static void a_hidden_thread_that_was_running_is_unknown(void)
{
	struct analysis_case c = case_new();

	hidden_thread(&c, 7, 7, TRACE_TASK_RUNNING);
	case_run(&c);
	CU_ASSERT_EQUAL(case_wait(c.one, TRACE_WAIT_UNKNOWN, "hidden", 0, ""), 8000);
	case_free(&c);
}

/* Both CPUs are busy: the thread waited for the hidden thread, and then perhaps for a CPU. */
static void hidden_threads_may_wake_others_without_an_event(void)
{
	struct analysis_case c = case_new();

	hidden_thread(&c, 7, 8, TRACE_TASK_INTERRUPTIBLE);
	tb_switch(c.tb, 1, 2000, 20, 30, TRACE_TASK_INTERRUPTIBLE);
	tb_switch(c.tb, 1, 7000, 30, 20, TRACE_TASK_RUNNING);
	case_run(&c);
	CU_ASSERT_EQUAL(c.two->wait_cpu_ns, 0);
	CU_ASSERT_EQUAL(case_wait(c.two, TRACE_WAIT_UNKNOWN, "", 0, ""), 5000);
	case_free(&c);
}

/* Thread 70 runs on CPU 0 from 4000 to 4600. "two" goes to sleep at 2000, has no recorded wakeup,
 * and runs at 7000. */
static struct analysis_case woken_in_a_hidden_turn(uint64_t first_switch_of_cpu_0)
{
	struct analysis_case c = case_new();

	tb_thread(c.tb, 10, 10, 1, "one", 0, true);
	tb_thread(c.tb, 20, 20, 1, "two", 1, true);
	tb_thread(c.tb, 30, 30, 1, "three", 1, false);
	tb_fd(c.tb, 20, 3, 9, 70, 0100600, "/file");
	tb_switch(c.tb, 0, first_switch_of_cpu_0, 10, 0, TRACE_TASK_RUNNING);
	tb_switch(c.tb, 0, first_switch_of_cpu_0 + 100, 0, 10, TRACE_TASK_RUNNING);
	tb_switch(c.tb, 1, 1100, 20, 20, TRACE_TASK_RUNNING);
	tb_sys_enter(c.tb, 1, 1500, SYS_read, 3, 0, 10);
	tb_switch(c.tb, 1, 2000, 20, 30, TRACE_TASK_UNINTERRUPTIBLE);
	tb_switch(c.tb, 0, 4000, 10, 70, TRACE_TASK_RUNNING);
	tb_sys_enter(c.tb, 0, 4600, SYS_getpid);
	tb_switch(c.tb, 1, 7000, 30, 20, TRACE_TASK_RUNNING);
	tb_sys_exit(c.tb, 1, 7100, 10);
	tb_switch(c.tb, 0, 8000, 10, 0, TRACE_TASK_RUNNING);
	case_run(&c);
	return c;
}

static void an_unrecorded_wakeup_was_in_a_hidden_slice(void)
{
	struct analysis_case c = woken_in_a_hidden_turn(1200);

	CU_ASSERT_EQUAL(case_wait(c.two, TRACE_WAIT_FILE, "/file", 0, ""), 2000);
	CU_ASSERT_EQUAL(case_wait(c.two, TRACE_WAIT_UNKNOWN, "", 0, ""), 600);
	CU_ASSERT_EQUAL(c.two->wait_cpu_ns, 2400);
	CU_ASSERT_EQUAL(case_taken_by(c.two, 30, "three"), 2400);
	case_free(&c);
}

/* Only the start state shows which thread ran on CPU 0 until 3000. */
static void before_its_first_switch_a_cpu_may_have_had_a_hidden_thread(void)
{
	struct analysis_case c = woken_in_a_hidden_turn(3000);

	CU_ASSERT_EQUAL(case_wait(c.two, TRACE_WAIT_UNKNOWN, "", 0, ""), 5000);
	CU_ASSERT_EQUAL(c.two->wait_cpu_ns, 0);
	case_free(&c);
}

/* The start state shows it asleep in a call that then failed, without a recorded wakeup. */
static void a_thread_asleep_at_the_start_did_not_wait_for_a_cpu(void)
{
	struct trace_start_thread start = {
		.tid = 10, .tgid = 10, .ppid = 1, .nr = SYS_futex, .state = TRACE_TASK_INTERRUPTIBLE};
	struct analysis_case c = case_new();

	tb_start(c.tb, 1100, TRACE_EV_start_thread, &start, sizeof(start), "one");
	tb_thread(c.tb, 20, 20, 1, "two", 1, true);
	tb_switch(c.tb, 1, 7000, 20, 10, TRACE_TASK_RUNNING);
	tb_sys_exit(c.tb, 1, 7100, -110);
	case_run(&c);
	CU_ASSERT_EQUAL(c.one->wait_cpu_ns, 0);
	CU_ASSERT_EQUAL(case_wait(c.one, TRACE_WAIT_TIMEOUT, "", 0, ""), 6000);
	case_free(&c);
}

/* No event shows it leave. Neither the thread nor its CPU counts as busy until the end for that
 * reason. */
static void a_hidden_thread_that_comes_last_does_not_run_until_the_end(void)
{
	struct analysis_case c = case_new();
	struct trace_cpu_figures cpu;

	hidden_thread(&c, 7, 8, TRACE_TASK_INTERRUPTIBLE);
	tb_waking(c.tb, 1, 2000, 10, TRACE_CONTEXT_TASK);
	tb_switch(c.tb, 1, 3000, 20, 10, TRACE_TASK_INTERRUPTIBLE);
	case_run(&c);
	trace_cpu_figures(c.analysis, 1, &cpu);
	CU_ASSERT_EQUAL(case_wait(c.one, TRACE_WAIT_UNKNOWN, "hidden", 0, ""), 8000);
	CU_ASSERT_EQUAL(c.one->user_ns + c.one->wait_cpu_ns, 0);
	CU_ASSERT_EQUAL(cpu.unknown_ns, 6000);
	case_free(&c);
}

static void after_a_hidden_thread_events_are_its_successors(void)
{
	struct analysis_case c = case_new();

	tb_thread(c.tb, 10, 10, 1, "one", 0, true);
	tb_sys_enter(c.tb, 0, 2000, SYS_getpid);
	tb_switch(c.tb, 0, 3000, 10, 70, TRACE_TASK_RUNNING); /* no event shows 70 leave */
	tb_sys_exit(c.tb, 0, 3600, 10);
	tb_sys_enter(c.tb, 0, 4000, SYS_getpid);
	tb_sys_exit(c.tb, 0, 5000, 10);
	tb_switch(c.tb, 0, 9000, 10, 0, TRACE_TASK_RUNNING);
	case_run(&c);
	CU_ASSERT_EQUAL(trace_analysis_inconsistencies(c.analysis), 0);
	CU_ASSERT_EQUAL(c.one->user_ns, 1000 + 400 + 4000);
	CU_ASSERT_EQUAL(c.one->syscall_ns, 1000 + 1000);
	CU_ASSERT_EQUAL(case_call(c.one, "getpid")->calls, 2);
	CU_ASSERT_EQUAL(case_wait(c.one, TRACE_WAIT_UNKNOWN, "", 0, ""), 600); /* 70 left at some time within this */
	CU_ASSERT_EQUAL(case_cpu(&c, 0).unknown_ns, 600);
	CU_ASSERT_STRING_EQUAL(trace_process_comm(case_process(&c, 70)), "(hidden)");
	case_free(&c);
}

/*
 * The start state shows "one" in futex(), with @flags. "two" wakes it at 3000, and again at 6000.
 */
static struct analysis_case asleep_twice(uint32_t flags)
{
	struct trace_start_thread start = {.tid = 10,
					   .tgid = 10,
					   .ppid = 1,
					   .flags = flags,
					   .nr = SYS_futex,
					   .arg0 = 0x5000,
					   .state = TRACE_TASK_INTERRUPTIBLE};
	struct analysis_case c = case_new();

	tb_start(c.tb, 1100, TRACE_EV_start_thread, &start, sizeof(start), "one");
	tb_thread(c.tb, 20, 20, 1, "two", 1, true);
	for (uint64_t ns = 3000; ns <= 6000; ns += 3000) {
		tb_waking(c.tb, 1, ns, 10, TRACE_CONTEXT_TASK);
		tb_switch(c.tb, 0, ns + 100, 0, 10, TRACE_TASK_RUNNING);
		tb_switch(c.tb, 0, ns + 500, 10, 0, TRACE_TASK_INTERRUPTIBLE);
	}
	case_run(&c);
	return c;
}

/* Its calls are not recorded: after the first wakeup the start state's call tells nothing. */
static void a_thread_of_the_daemon_is_in_no_known_call(void)
{
	struct analysis_case c = asleep_twice(TRACE_THREAD_RECORDER);

	CU_ASSERT_EQUAL(case_wait(c.one, TRACE_WAIT_PROCESS, "two", 20, "futex"), 0);
	CU_ASSERT_EQUAL(case_wait(c.one, TRACE_WAIT_PROCESS, "two", 20, ""), 2000 + 2500);
	CU_ASSERT_EQUAL(case_call(c.one, "futex")->calls, 0);
	CU_ASSERT_EQUAL(trace_analysis_inconsistencies(c.analysis), 0);
	case_free(&c);
	c = asleep_twice(0);
	CU_ASSERT_EQUAL(case_wait(c.one, TRACE_WAIT_PROCESS, "two", 20, "futex"), 2000 + 2500);
	case_free(&c);
}

/* Descriptor 3 of a process is a file. A child of its second thread reads from descriptor 3. */
static size_t files_of_a_child(uint32_t flags)
{
	struct trace_start_thread start = {.tid = 10,
					   .tgid = 10,
					   .ppid = 1,
					   .pgrp = 10,
					   .ns_tid = 10,
					   .ns_tgid = 10,
					   .flags = flags,
					   .nr = -1,
					   .prio = 120,
					   .running = 1};
	struct analysis_case c = case_new();
	struct trace_figures *figures;
	size_t nr;

	tb_start(c.tb, 0, TRACE_EV_start_thread, &start, sizeof(start), "one");
	tb_fd(c.tb, 10, 3, 8, 77, S_IFREG | 0600, "/old");
	tb_fork(c.tb, 0, 2000, 10, 11, 10, "one");
	tb_switch(c.tb, 0, 2100, 10, 11, TRACE_TASK_INTERRUPTIBLE);
	tb_sys_exit(c.tb, 0, 2110, 0);
	tb_fork(c.tb, 0, 2200, 11, 30, 30, "one");
	tb_switch(c.tb, 0, 2300, 11, 30, TRACE_TASK_INTERRUPTIBLE);
	tb_sys_exit(c.tb, 0, 2310, 0);
	tb_sys_enter(c.tb, 0, 2400, SYS_read, 3, 0, 16);
	tb_sys_exit(c.tb, 0, 2500, 16);
	case_run(&c);
	figures = trace_process_figures(c.analysis, case_process(&c, 30));
	nr = figures->nr_files;
	trace_figures_free(figures);
	case_free(&c);
	return nr;
}

/* Its calls are not recorded: a child may have another file at that number. */
static void a_child_of_the_daemon_has_no_known_descriptors(void)
{
	CU_ASSERT_EQUAL(files_of_a_child(0), 1);
	CU_ASSERT_EQUAL(files_of_a_child(TRACE_THREAD_RECORDER), 0);
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		CASE(after_a_hidden_thread_events_are_its_successors),
		CASE(a_child_of_the_daemon_has_no_known_descriptors),
		CASE(a_hidden_thread_that_never_left_a_cpu_was_asleep),
		CASE(a_hidden_thread_may_have_run_before_it_was_read),
		CASE(a_hidden_thread_that_left_a_cpu_is_unknown),
		CASE(a_hidden_thread_that_was_running_is_unknown),
		CASE(hidden_threads_may_wake_others_without_an_event),
		CASE(an_unrecorded_wakeup_was_in_a_hidden_slice),
		CASE(before_its_first_switch_a_cpu_may_have_had_a_hidden_thread),
		CASE(a_thread_asleep_at_the_start_did_not_wait_for_a_cpu),
		CASE(a_hidden_thread_that_comes_last_does_not_run_until_the_end),
		CASE(a_thread_of_the_daemon_is_in_no_known_call),
		{NULL, NULL},
	};

	return unit_main("state_hidden", cases, argc, argv);
}
