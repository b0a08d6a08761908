/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_state_families.c - parents and children: which process has the children of one that exits,
 * and from when on.
 *
 * Traces begin at 1000 and end at 9000; thread 10 is "one", 20 is "two". All times are ns.
 */
#include <signal.h>
#include "identity_case.h"
#include "unit.h"

/* 5 is a subreaper. Its child 10 forks 20 and ends. */
static void family(struct tb *tb)
{
	start_as(tb, 1000, 5, 1, 0, 0);
	tb_thread(tb, 10, 10, 5, "one", 1, true);
	tb_fork(tb, 1, 2000, 10, 20, 20, "two");
	tb_exit(tb, 1, 3000, 10, 10, true);
}

static void the_reaper_is_the_parent_of_an_orphan_and_waits_for_it(void)
{
	struct analysis_case c = case_new();
	struct trace_figures *reaper;
	struct trace_identity *list;
	size_t nr;

	family(c.tb);
	adopt(c.tb, 3000, 10, 5);
	tb_switch(c.tb, 1, 3100, 10, 0, TRACE_TASK_DEAD);
	tb_sys_enter(c.tb, 0, 4000, SYS_wait4, (uint64_t)-1);
	tb_switch(c.tb, 0, 4100, 5, 0, TRACE_TASK_INTERRUPTIBLE);
	case_run(&c);
	CU_ASSERT_EQUAL(trace_process_ppid(case_process(&c, 20)), 5);
	reaper = trace_process_figures(c.analysis, case_process(&c, 5));
	CU_ASSERT_EQUAL(case_wait(reaper, TRACE_WAIT_PROCESS, "two", 20, "waitpid"), 4900);
	trace_figures_free(reaper);
	list = identities(&c, 20, &nr);
	CU_ASSERT_EQUAL_FATAL(nr, 1); /* it had not run yet */
	free(list);
	case_free(&c);
}

static void fork_and_leave(struct analysis_case *c)
{
	start_as(c->tb, 1000, 5, 1, 0, 0);
	tb_thread(c->tb, 10, 10, 5, "one", 1, true);
	tb_fork(c->tb, 1, 2000, 10, 20, 20, "two");
	tb_lost(c->tb, 1, 1); /* the adoption */
	tb_exit(c->tb, 1, 3000, 10, 10, true);
	tb_switch(c->tb, 1, 3100, 10, 20, TRACE_TASK_DEAD);
}

/* The event of the adoption was lost with others. The dead process is not the parent. */
static void without_the_event_the_parent_of_an_orphan_is_unknown(void)
{
	struct analysis_case c = case_new();
	struct trace_identity *list;
	size_t nr;

	fork_and_leave(&c);
	tb_switch(c.tb, 1, 8100, 20, 0, TRACE_TASK_RUNNING);
	case_run(&c);
	CU_ASSERT_EQUAL(trace_process_ppid(case_process(&c, 20)), 0);
	CU_ASSERT_EQUAL(trace_process_pid(trace_process_starter(case_process(&c, 20))), 10);
	list = identities(&c, 20, &nr);
	CU_ASSERT_EQUAL(list[nr - 1].ppid, 0);
	CU_ASSERT_EQUAL(list[nr - 1].first_ns, nr > 1 ? 3100 : 2000);
	free(list);
	case_free(&c);
}

/* The exit of the parent was lost, too: its end shows by the next process of its number. */
static void a_parent_whose_number_is_used_again_has_no_children(void)
{
	struct analysis_case c = case_new();

	start_as(c.tb, 1000, 5, 1, 0, 0);
	tb_thread(c.tb, 10, 10, 5, "one", 1, true);
	tb_fork(c.tb, 1, 2000, 10, 20, 20, "two");
	tb_fork(c.tb, 0, 6000, 5, 10, 10, "three");
	case_run(&c);
	CU_ASSERT_EQUAL(trace_process_ppid(case_process(&c, 20)), 0);
	case_free(&c);
}

/* The ids of each exec, exit and change of the user have the parent of that time. */
static void an_orphan_tells_its_parent_later(void)
{
	struct analysis_case c = case_new();
	struct trace_identity *list;
	size_t nr;

	fork_and_leave(&c);
	tb_add(c.tb, 1, 5000, sched_ids, NULL, .tid = 20, .tgid = 20, .ppid = 5, .passes = true);
	tb_switch(c.tb, 1, 8100, 20, 0, TRACE_TASK_RUNNING);
	case_run(&c);
	CU_ASSERT_EQUAL(trace_process_ppid(case_process(&c, 20)), 5);
	CU_ASSERT_EQUAL(trace_process_pid(trace_process_starter(case_process(&c, 20))), 10);
	list = identities(&c, 20, &nr);
	CU_ASSERT_TRUE_FATAL(nr >= 2);
	CU_ASSERT_EQUAL(list[nr - 2].ppid, 0);
	CU_ASSERT_EQUAL(list[nr - 1].ppid, 5);
	CU_ASSERT_EQUAL(list[nr - 1].first_ns, 5000);
	free(list);
	case_free(&c);
}

/* Adoptions are not recorded: each process keeps the parent of its birth. 10 tells 5 of its end. */
static void without_any_adoption_a_process_keeps_its_parent(void)
{
	struct analysis_case c = case_new();
	uint64_t mask[TRACE_MASK_WORDS] = {~0ull, ~0ull, ~0ull, ~0ull};

	mask[TRACE_EV_sched_adopt / 64] &= ~(1ull << TRACE_EV_sched_adopt % 64);
	tb_event(c.tb, 0, 1001, TRACE_EV_trace_mask, mask, sizeof(mask), NULL);
	family(c.tb);
	tb_add(c.tb, 1, 3050, signal_generate, NULL, .tid = 5, .signal = SIGCHLD, .code = CLD_EXITED);
	tb_switch(c.tb, 1, 3100, 10, 20, TRACE_TASK_DEAD);
	tb_switch(c.tb, 1, 8100, 20, 0, TRACE_TASK_RUNNING);
	case_run(&c);
	CU_ASSERT_EQUAL(trace_process_ppid(case_process(&c, 20)), 10);
	case_free(&c);
}

/* A process that the exit of its parent does not concern keeps its parent. */
static void the_exit_of_a_thread_that_is_not_the_last_adopts_nothing(void)
{
	struct analysis_case c = case_new();

	tb_thread(c.tb, 10, 10, 5, "one", 0, true);
	tb_fork(c.tb, 0, 2000, 10, 11, 10, "one");
	tb_fork(c.tb, 0, 2100, 10, 20, 20, "two");
	tb_exit(c.tb, 0, 3000, 10, 10, false);
	tb_switch(c.tb, 0, 3100, 10, 0, TRACE_TASK_DEAD);
	case_run(&c);
	CU_ASSERT_EQUAL(trace_process_ppid(case_process(&c, 20)), 10);
	case_free(&c);
}

/* The last thread of process @pid, which runs on CPU @cpu, exits from @ns to @end_ns. */
static void last_exits(struct tb *tb, uint32_t cpu, uint64_t ns, uint32_t pid, uint64_t end_ns)
{
	tb_exit(tb, cpu, ns, pid, pid, true);
	tb_switch(tb, cpu, end_ns, pid, 0, TRACE_TASK_DEAD);
}

static void expect_parent_until(const struct analysis_case *c, uint32_t pid, uint64_t ns)
{
	size_t nr = 0;
	struct trace_identity *list = identities(c, pid, &nr);

	CU_ASSERT_EQUAL_FATAL(nr, 2);
	CU_ASSERT_EQUAL(list[0].ppid, 10);
	CU_ASSERT_EQUAL(list[0].last_ns, ns);
	CU_ASSERT_EQUAL(list[1].ppid, 5);
	free(list);
}

/*
 * 10 exits from 3000 to 7000. It tells its parent at 6000; without that event its last switch
 * counts. Its child 20 ends at 5000, and 30 lives.
 */
static void a_process_that_exits_has_its_children_until_the_end_of_the_exit(void)
{
	for (int tells = 0; tells < 2; tells++) {
		struct analysis_case c = case_new();

		tb_thread(c.tb, 4, 4, 1, "four", 1, false);
		tb_thread(c.tb, 5, 5, 1, "five", 1, false);
		tb_thread(c.tb, 10, 10, 4, "one", 0, true);
		tb_thread(c.tb, 20, 20, 10, "two", 1, true);
		tb_thread(c.tb, 30, 30, 10, "three", 1, false);
		adopt(c.tb, 3000, 10, 5);
		tb_exit(c.tb, 0, 3000, 10, 10, true);
		last_exits(c.tb, 1, 4900, 20, 5000);
		tb_switch(c.tb, 1, 5100, 0, 30, TRACE_TASK_RUNNING);
		if (tells)
			tb_add(c.tb, 0, 6000, signal_generate, NULL, .tid = 4, .signal = SIGCHLD, .code = CLD_EXITED);
		tb_switch(c.tb, 0, 7000, 10, 0, TRACE_TASK_DEAD);
		case_run(&c);
		CU_ASSERT_EQUAL(trace_process_ppid(case_process(&c, 20)), 10);
		expect_parent_until(&c, 30, tells ? 6000 : 7000);
		case_free(&c);
	}
}

/* Threads 10 and 11 exit together, from 3000 and 3100 on. 10 has forked 20, and 11 30. */
static struct analysis_case two_threads_exit(void)
{
	struct analysis_case c = case_new();

	tb_thread(c.tb, 4, 4, 1, "four", 1, false);
	tb_thread(c.tb, 5, 5, 1, "five", 1, false);
	tb_thread(c.tb, 10, 10, 4, "one", 0, true);
	tb_thread(c.tb, 11, 10, 4, "one", 1, true);
	tb_fork(c.tb, 0, 2000, 10, 20, 20, "two");
	tb_fork(c.tb, 1, 2000, 11, 30, 30, "three");
	tb_switch(c.tb, 0, 2100, 10, 20, TRACE_TASK_RUNNING);
	tb_switch(c.tb, 1, 2100, 11, 30, TRACE_TASK_RUNNING);
	tb_switch(c.tb, 0, 2200, 20, 10, TRACE_TASK_RUNNING);
	tb_switch(c.tb, 1, 2200, 30, 11, TRACE_TASK_RUNNING);
	tb_exit(c.tb, 0, 3000, 10, 10, false);
	adopt(c.tb, 3100, 10, 5);
	tb_exit(c.tb, 1, 3100, 11, 10, true);
	return c;
}

/* Thread 10 is preempted in its exit. The signal of 11 shows that it had passed its child on. */
static void the_signal_to_the_parent_comes_when_all_threads_have_passed_their_children_on(void)
{
	struct analysis_case c = two_threads_exit();

	tb_switch(c.tb, 0, 3200, 10, 20, TRACE_TASK_RUNNING);
	tb_add(c.tb, 1, 4000, signal_generate, NULL, .tid = 4, .signal = SIGCHLD, .code = CLD_EXITED);
	tb_switch(c.tb, 1, 6000, 11, 30, TRACE_TASK_DEAD);
	tb_switch(c.tb, 0, 8000, 20, 0, TRACE_TASK_RUNNING);
	tb_switch(c.tb, 1, 8000, 30, 0, TRACE_TASK_RUNNING);
	case_run(&c);
	expect_parent_until(&c, 20, 4000);
	expect_parent_until(&c, 30, 4000);
	case_free(&c);
}

/* 20 exits before the trace shows that it has another parent. */
static void a_child_that_exits_signals_its_parent(void)
{
	struct analysis_case c = two_threads_exit();

	tb_switch(c.tb, 0, 3200, 10, 20, TRACE_TASK_RUNNING);
	tb_exit(c.tb, 0, 3300, 20, 20, true);
	tb_add(c.tb, 0, 3400, signal_generate, NULL, .tid = 5, .signal = SIGCHLD, .code = CLD_EXITED);
	tb_switch(c.tb, 0, 3500, 20, 10, TRACE_TASK_DEAD);
	case_run(&c);
	expect_parent_until(&c, 20, 3400);
	CU_ASSERT_EQUAL(trace_process_ppid(case_process(&c, 30)), 10);
	case_free(&c);
}

/* Each passes the children on that it has forked. */
static void a_thread_that_exits_passes_on_its_own_children(void)
{
	struct analysis_case c = two_threads_exit();

	tb_switch(c.tb, 0, 4000, 10, 20, TRACE_TASK_DEAD);
	tb_switch(c.tb, 1, 6000, 11, 30, TRACE_TASK_DEAD);
	tb_switch(c.tb, 0, 8000, 20, 0, TRACE_TASK_RUNNING);
	tb_switch(c.tb, 1, 8000, 30, 0, TRACE_TASK_RUNNING);
	case_run(&c);
	expect_parent_until(&c, 20, 4000);
	expect_parent_until(&c, 30, 6000);
	case_free(&c);
}

/* 10 had ended when the reaper of its children, 5, was chosen: then 5 ends before 10 does. */
static void a_reaper_that_has_ended_adopts_no_children(void)
{
	for (int leaves = 0; leaves < 2; leaves++) {
		struct analysis_case c = case_new();

		tb_thread(c.tb, 4, 4, 1, "four", 0, false);
		tb_thread(c.tb, 5, 5, 4, "five", 1, true);
		tb_thread(c.tb, 10, 10, 5, "one", 0, true);
		tb_thread(c.tb, 20, 20, 10, "two", 0, false);
		adopt(c.tb, 3000, 10, 5);
		tb_exit(c.tb, 0, 3000, 10, 10, true);
		if (leaves)
			adopt(c.tb, 4000, 5, 4);
		last_exits(c.tb, 1, 4000, 5, 4100);
		tb_switch(c.tb, 0, 7000, 10, 0, TRACE_TASK_DEAD);
		case_run(&c);
		CU_ASSERT_EQUAL(trace_process_ppid(case_process(&c, 20)), leaves ? 4 : 0);
		case_free(&c);
	}
}

static void an_adopted_process_is_adopted_again(void)
{
	struct analysis_case c = case_new();

	tb_thread(c.tb, 10, 10, 5, "one", 0, true);
	tb_thread(c.tb, 5, 5, 1, "five", 1, true);
	tb_thread(c.tb, 4, 4, 1, "four", 0, false);
	tb_thread(c.tb, 20, 20, 10, "two", 0, false);
	tb_thread(c.tb, 30, 30, 10, "three", 0, false);
	adopt(c.tb, 3000, 10, 5);
	last_exits(c.tb, 0, 3000, 10, 3100);
	adopt(c.tb, 4000, 5, 4);
	last_exits(c.tb, 1, 4000, 5, 4100);
	case_run(&c);
	CU_ASSERT_EQUAL(trace_process_ppid(case_process(&c, 10)), 5); /* it had ended before */
	CU_ASSERT_EQUAL(trace_process_ppid(case_process(&c, 20)), 4);
	CU_ASSERT_EQUAL(trace_process_ppid(case_process(&c, 30)), 4);
	CU_ASSERT_EQUAL(trace_process_ppid(case_process(&c, 5)), 1);
	case_free(&c);
}

/* 5 and 6 have each other for a reaper: a damaged trace, or events that are lost. */
static void reapers_in_a_circle_adopt_no_children(void)
{
	struct analysis_case c = case_new();

	tb_thread(c.tb, 5, 5, 1, "five", 1, true);
	tb_thread(c.tb, 6, 6, 1, "six", 2, true);
	tb_thread(c.tb, 10, 10, 5, "one", 0, true);
	tb_thread(c.tb, 20, 20, 10, "two", 0, false);
	adopt(c.tb, 3000, 10, 5);
	adopt(c.tb, 3000, 5, 6);
	adopt(c.tb, 3000, 6, 5);
	last_exits(c.tb, 1, 4000, 5, 4100);
	last_exits(c.tb, 2, 4000, 6, 4100);
	last_exits(c.tb, 0, 5000, 10, 5100);
	case_run(&c);
	CU_ASSERT_EQUAL(trace_process_ppid(case_process(&c, 20)), 0);
	case_free(&c);
}

/*
 * Thread 10 forks 30 and ends before the others of its process. 12, which has forked 20, and 11
 * exit together: 12 until 4000, 11 until 5000. The start state does not tell which one has forked
 * 40.
 */
static void the_first_thread_that_lives_has_the_children_of_those_that_have_ended(void)
{
	struct analysis_case c = case_new();

	tb_thread(c.tb, 5, 5, 1, "five", 1, false);
	tb_thread(c.tb, 10, 10, 5, "one", 0, true);
	tb_thread(c.tb, 11, 10, 5, "one", 1, true);
	tb_thread(c.tb, 12, 10, 5, "one", 2, true);
	tb_thread(c.tb, 40, 40, 10, "four", 3, true);
	tb_fork(c.tb, 2, 1500, 12, 20, 20, "two");
	tb_fork(c.tb, 0, 1500, 10, 30, 30, "three");
	tb_exit(c.tb, 0, 2000, 10, 10, false);
	tb_switch(c.tb, 0, 2100, 10, 20, TRACE_TASK_DEAD);
	tb_switch(c.tb, 0, 2200, 20, 30, TRACE_TASK_RUNNING);
	tb_exit(c.tb, 1, 3100, 11, 10, false);
	adopt(c.tb, 3200, 10, 5);
	tb_exit(c.tb, 2, 3200, 12, 10, true);
	tb_switch(c.tb, 2, 4000, 12, 0, TRACE_TASK_DEAD);
	tb_switch(c.tb, 1, 5000, 11, 0, TRACE_TASK_DEAD);
	tb_switch(c.tb, 0, 8000, 30, 20, TRACE_TASK_RUNNING);
	tb_switch(c.tb, 0, 8200, 20, 0, TRACE_TASK_RUNNING);
	tb_switch(c.tb, 3, 8200, 40, 0, TRACE_TASK_RUNNING);
	case_run(&c);
	expect_parent_until(&c, 20, 4000);
	expect_parent_until(&c, 30, 5000);
	expect_parent_until(&c, 40, 5000);
	case_free(&c);
}

/* 11 forked 30 and ended. A process has its number then, and 12 lives longer than 10. */
static void a_number_of_a_thread_that_is_used_again_has_no_children(void)
{
	struct analysis_case c = case_new();

	tb_thread(c.tb, 5, 5, 1, "five", 2, true);
	tb_thread(c.tb, 10, 10, 5, "one", 0, true);
	tb_thread(c.tb, 11, 10, 5, "one", 1, true);
	tb_fork(c.tb, 1, 1500, 11, 30, 30, "three");
	tb_fork(c.tb, 0, 1600, 10, 12, 10, "one");
	tb_exit(c.tb, 1, 2000, 11, 10, false);
	tb_switch(c.tb, 1, 2100, 11, 12, TRACE_TASK_DEAD);
	tb_free_thread(c.tb, 1, 2200, 11);
	tb_fork(c.tb, 2, 2500, 5, 11, 11, "other");
	tb_switch(c.tb, 2, 2600, 5, 30, TRACE_TASK_RUNNING);
	tb_exit(c.tb, 0, 3000, 10, 10, false);
	adopt(c.tb, 3200, 10, 5);
	tb_exit(c.tb, 1, 3200, 12, 10, true);
	tb_switch(c.tb, 0, 4000, 10, 0, TRACE_TASK_DEAD);
	tb_switch(c.tb, 1, 6000, 12, 0, TRACE_TASK_DEAD);
	tb_switch(c.tb, 2, 8000, 30, 0, TRACE_TASK_RUNNING);
	case_run(&c);
	expect_parent_until(&c, 30, 4000);
	case_free(&c);
}

/* The exit of thread 11 is lost. That 10 has an heir shows that 11 exits, too. */
static void a_process_with_an_heir_exits_though_the_exit_of_a_thread_was_lost(void)
{
	struct analysis_case c = case_new();

	tb_thread(c.tb, 5, 5, 1, "five", 1, false);
	tb_thread(c.tb, 10, 10, 5, "one", 0, true);
	tb_thread(c.tb, 11, 10, 5, "one", 1, true);
	tb_fork(c.tb, 0, 2000, 10, 20, 20, "two");
	tb_switch(c.tb, 1, 2100, 11, 20, TRACE_TASK_RUNNING);
	tb_lost(c.tb, 1, 1);
	adopt(c.tb, 3000, 10, 5);
	tb_exit(c.tb, 0, 3000, 10, 10, true);
	tb_switch(c.tb, 0, 4000, 10, 0, TRACE_TASK_DEAD);
	tb_switch(c.tb, 1, 8000, 20, 0, TRACE_TASK_RUNNING);
	case_run(&c);
	CU_ASSERT_EQUAL(trace_process_ppid(case_process(&c, 20)), 5);
	case_free(&c);
}

/*
 * Thread 10 has passed its own children on when it tells @told of an end by SIGCHLD: its tracer 6
 * of its own, or its reaper 5 of that of a child. Its thread 11 has 30 still.
 */
static void a_signal_to_another_process_than_the_parent_passes_no_children_of_other_threads_on(void)
{
	static const uint32_t told[] = {5, 6};

	for (size_t i = 0; i < 2; i++) {
		struct analysis_case c = two_threads_exit();

		tb_thread(c.tb, 6, 6, 1, "six", 1, false);
		tb_add(c.tb, 0, 4000, signal_generate, NULL, .tid = told[i], .signal = SIGCHLD, .code = CLD_EXITED);
		tb_switch(c.tb, 0, 5000, 10, 20, TRACE_TASK_DEAD);
		tb_switch(c.tb, 1, 6000, 11, 30, TRACE_TASK_DEAD);
		tb_switch(c.tb, 0, 8000, 20, 0, TRACE_TASK_RUNNING);
		tb_switch(c.tb, 1, 8000, 30, 0, TRACE_TASK_RUNNING);
		case_run(&c);
		expect_parent_until(&c, 20, 4000);
		expect_parent_until(&c, 30, 6000);
		CU_ASSERT_EQUAL(trace_process_ppid(case_process(&c, 10)), 4);
		case_free(&c);
	}
}

/* The parent 5 is also the reaper: thread 10 may tell it of an ended child. 11 has 30 still. */
static void a_signal_to_a_parent_that_is_the_reaper_may_be_for_a_child(void)
{
	struct analysis_case c = case_new();

	tb_thread(c.tb, 5, 5, 1, "five", 1, false);
	tb_thread(c.tb, 10, 10, 5, "one", 0, true);
	tb_thread(c.tb, 11, 10, 5, "one", 1, true);
	tb_fork(c.tb, 1, 2000, 11, 30, 30, "three");
	tb_switch(c.tb, 1, 2100, 11, 30, TRACE_TASK_RUNNING);
	tb_switch(c.tb, 1, 2200, 30, 11, TRACE_TASK_RUNNING);
	tb_exit(c.tb, 0, 3000, 10, 10, false);
	adopt(c.tb, 3100, 10, 5);
	tb_exit(c.tb, 1, 3100, 11, 10, true);
	tb_add(c.tb, 0, 4000, signal_generate, NULL, .tid = 5, .signal = SIGCHLD, .code = CLD_EXITED);
	tb_switch(c.tb, 0, 5000, 10, 0, TRACE_TASK_DEAD);
	tb_switch(c.tb, 1, 6000, 11, 30, TRACE_TASK_DEAD);
	tb_switch(c.tb, 1, 8000, 30, 0, TRACE_TASK_RUNNING);
	case_run(&c);
	expect_parent_until(&c, 30, 6000);
	case_free(&c);
}

static int verify(struct analysis_case *c, struct trace_error *ret_error)
{
	struct trace_analysis_options options = {.size = sizeof(options), .verify = true};

	c->trace = tb_open_trace(c->tb);
	c->analysis = trace_analysis_new(c->trace, &options, ret_error);
	CU_ASSERT_EQUAL(trace_analysis_run(c->analysis, ret_error), 0);
	return trace_analysis_verify(c->analysis, ret_error);
}

static void verify_reports_a_child_of_a_dead_parent(void)
{
	struct analysis_case c = case_new();
	struct trace_error error = {0};

	family(c.tb);
	tb_switch(c.tb, 1, 3100, 10, 0, TRACE_TASK_DEAD);
	CU_ASSERT_EQUAL(verify(&c, &error), -EBADMSG);
	CU_ASSERT_PTR_NOT_NULL(
		strstr(error.message, "process 10 ends (sched_exit), and no process has adopted its child 20"));
	case_free(&c);
	c = case_new();
	family(c.tb);
	tb_switch(c.tb, 1, 3100, 10, 0, TRACE_TASK_DEAD);
	adopt(c.tb, 4000, 5, 10); /* by a dead process */
	tb_thread(c.tb, 30, 30, 5, "three", 0, false);
	CU_ASSERT_EQUAL(verify(&c, &error), -EBADMSG);
	case_free(&c);
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		CASE(the_reaper_is_the_parent_of_an_orphan_and_waits_for_it),
		CASE(without_the_event_the_parent_of_an_orphan_is_unknown),
		CASE(a_parent_whose_number_is_used_again_has_no_children),
		CASE(an_orphan_tells_its_parent_later),
		CASE(without_any_adoption_a_process_keeps_its_parent),
		CASE(the_exit_of_a_thread_that_is_not_the_last_adopts_nothing),
		CASE(a_process_that_exits_has_its_children_until_the_end_of_the_exit),
		CASE(the_signal_to_the_parent_comes_when_all_threads_have_passed_their_children_on),
		CASE(a_child_that_exits_signals_its_parent),
		CASE(a_thread_that_exits_passes_on_its_own_children),
		CASE(a_reaper_that_has_ended_adopts_no_children),
		CASE(an_adopted_process_is_adopted_again),
		CASE(reapers_in_a_circle_adopt_no_children),
		CASE(the_first_thread_that_lives_has_the_children_of_those_that_have_ended),
		CASE(a_number_of_a_thread_that_is_used_again_has_no_children),
		CASE(a_process_with_an_heir_exits_though_the_exit_of_a_thread_was_lost),
		CASE(a_signal_to_another_process_than_the_parent_passes_no_children_of_other_threads_on),
		CASE(a_signal_to_a_parent_that_is_the_reaper_may_be_for_a_child),
		CASE(verify_reports_a_child_of_a_dead_parent),
		{NULL, NULL},
	};

	return unit_main("state_families", cases, argc, argv);
}
