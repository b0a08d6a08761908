/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_rule_parents.c - trace_analysis_verify() finds waits for a process that was never a child,
 * and children without a parent; and accuses no family that Linux allows
 *
 * Thread 10 ("one") is on CPU 0. 20 ("two") is on CPU 1.
 */
#include "state_waits_case.h"
#include "unit.h"

/*
 * The last thread of process @pid, which runs on CPU @cpu, ends. @begins: its exit is in the trace
 */
static void ends(struct analysis_case *c, uint32_t cpu, uint64_t ns, uint32_t pid, uint32_t next, bool begins)
{
	if (begins)
		tb_exit(c->tb, cpu, ns, pid, pid, true);
	tb_add(c->tb, cpu, ns + 10, exit_times, NULL, .tid = pid);
	tb_switch(c->tb, cpu, ns + 10, pid, next, TRACE_TASK_DEAD);
}

static void a_child_needs_a_parent(void)
{
	for (int is_adopted = 0; is_adopted < 2; is_adopted++) {
		struct analysis_case c = begin_family(10);

		if (is_adopted)
			tb_add(c.tb, 0, 3000, sched_adopt, NULL, .parent = 10, .reaper = 1);
		ends(&c, 0, 3000, 10, 0, true);
		case_verify(&c, is_adopted ? NULL
					   : "process 10 ends (sched_exit), and no process has adopted its child 20");
	}
}

/*
 * 20 had begun to exit before the recording, so its exit is not in it. 10 waits for it, and ends.
 */
static void a_child_that_had_begun_to_exit_needs_no_other_parent(void)
{
	struct analysis_case c = begin_family(10);

	tb_sys_enter(c.tb, 0, 2000, SYS_wait4, -1, 0, 0);
	block(&c);
	wake(&c, TRACE_CONTEXT_TASK);
	ends(&c, 1, 6010, 20, 0, false);
	tb_switch(c.tb, 0, 6100, 0, 10, TRACE_TASK_RUNNING);
	tb_sys_exit(c.tb, 0, 6200, 20);
	ends(&c, 0, 7000, 10, 0, true);
	case_verify(&c, NULL);
}

/*
 * 20 had begun to exit before the recording. It is dead when 10 ends, and process 1 gets the other
 * children.
 */
static void a_dead_child_keeps_its_last_parent(void)
{
	struct analysis_case c = begin_family(10);

	tb_thread(c.tb, 1, 1, 0, "init", 0, false);
	ends(&c, 1, 2000, 20, 0, false);
	tb_add(c.tb, 0, 3000, sched_adopt, NULL, .parent = 10, .reaper = 1);
	ends(&c, 0, 3000, 10, 0, true);
	case_verify(&c, NULL);
}

/*
 * 20 had begun to exit before the recording, and ends between the begin of the exit of its parent
 * and the moment at which that passes its children on.
 */
static void a_child_that_ends_in_the_exit_of_its_parent_keeps_it(void)
{
	struct trace_signal_generate signal = {.tid = 10, .signal = SIGCHLD, .code = CLD_EXITED, .group = 1};
	struct analysis_case c = begin_family(10);

	tb_thread(c.tb, 1, 1, 0, "init", 0, false);
	tb_add(c.tb, 0, 3000, sched_adopt, NULL, .parent = 10, .reaper = 1);
	tb_exit(c.tb, 0, 3000, 10, 10, true);
	tb_switch(c.tb, 0, 3100, 10, 0, TRACE_TASK_UNINTERRUPTIBLE);
	tb_event(c.tb, 1, 3500, TRACE_EV_signal_generate, &signal, sizeof(signal), NULL);
	ends(&c, 1, 3500, 20, 0, false);
	tb_switch(c.tb, 0, 4000, 0, 10, TRACE_TASK_RUNNING);
	tb_add(c.tb, 0, 4010, exit_times, NULL, .tid = 10);
	tb_switch(c.tb, 0, 4010, 10, 0, TRACE_TASK_DEAD);
	case_verify(&c, NULL);
}

/* It waits in its exit for its child 20, which it has killed, when the recording ends. */
static void init_of_a_namespace_keeps_its_children_in_its_exit(void)
{
	for (uint32_t ns_tgid = 1; ns_tgid < 3; ns_tgid++) {
		struct trace_start_thread init = {
			.tid = 30, .tgid = 30, .ns_tid = ns_tgid, .ns_tgid = ns_tgid, .ppid = 1, .nr = -1, .cpu = 0};
		struct analysis_case c = begin_family(30);

		tb_start(c.tb, 1000, TRACE_EV_start_thread, &init, sizeof(init), "init");
		tb_switch(c.tb, 0, 2000, 10, 30, TRACE_TASK_INTERRUPTIBLE);
		tb_exit(c.tb, 0, 3000, 30, 30, true);
		tb_switch(c.tb, 0, 3100, 30, 0, TRACE_TASK_INTERRUPTIBLE);
		case_verify(&c, ns_tgid == 1 ? NULL
					     : "process 30 ends (sched_exit), and no process has adopted its child 20");
	}
}

/* Its first thread, or another one, ends, and the process goes on. */
static void the_end_of_one_thread_is_not_that_of_its_process(void)
{
	for (uint32_t first = 0; first < 2; first++) {
		uint32_t ended = first ? 20 : 21;
		struct analysis_case c = begin_family(10);

		tb_thread(c.tb, 21, 20, 10, "thread", 1, false);
		if (!first)
			tb_switch(c.tb, 1, 2000, 20, 21, TRACE_TASK_INTERRUPTIBLE);
		tb_exit(c.tb, 1, 2100, ended, 20, false);
		tb_add(c.tb, 1, 2200, exit_times, NULL, .tid = ended);
		tb_switch(c.tb, 1, 2200, ended, first ? 21 : 20, TRACE_TASK_DEAD);
		ends(&c, 0, 3000, 10, 0, true);
		case_verify(&c, "process 10 ends (sched_exit), and no process has adopted its child 20");
	}
}

/* 10 waits for any child, and 20 wakes it at its end. 20 is a child of 30, which is one of 10. */
static struct analysis_case grandchild_wakes(bool leaves_children)
{
	struct analysis_case c = begin_family(30);

	tb_thread(c.tb, 30, 30, 10, "three", 1, false);
	tb_sys_enter(c.tb, 0, 2000, SYS_wait4, -1, 0, 0);
	block(&c);
	tb_exit(c.tb, 1, 5990, 20, 20, true);
	if (leaves_children)
		tb_add(c.tb, 1, 5990, sched_adopt, NULL, .parent = 20, .reaper = 10);
	wake(&c, TRACE_CONTEXT_TASK);
	tb_add(c.tb, 1, 6020, exit_times, NULL, .tid = 20);
	tb_switch(c.tb, 1, 6020, 20, 0, TRACE_TASK_DEAD);
	tb_switch(c.tb, 0, 6100, 0, 10, TRACE_TASK_RUNNING);
	tb_sys_exit(c.tb, 0, 6200, 40);
	return c;
}

/*
 * A subreaper gets the children of a grandchild that ends. One of them has ended before: the end of
 * the grandchild, which never was a child, ends the wait.
 */
static void a_process_that_leaves_an_ended_child_may_be_waited_for(void)
{
	for (int leaves_children = 0; leaves_children < 2; leaves_children++) {
		struct analysis_case c = grandchild_wakes(leaves_children);

		case_verify(&c, leaves_children ? NULL
						: "waited for process 20 (two) via waitpid, which was never its child");
	}
}

/*
 * A tracer waits for processes that were never its children. It may have attached itself before the
 * recording, and say so by a call after the wait, or only by how it waits.
 */
static void a_tracer_may_wait_for_any_process(void)
{
	static const char *const later[] = {"ptrace", "wait4"};

	for (int i = 0; i < 2; i++) {
		struct analysis_case c = grandchild_wakes(false);

		tb_string(c.tb, TRACE_STRING_SYSCALL, SYS_ptrace, "ptrace");
		if (strcmp(later[i], "ptrace") == 0)
			tb_sys_enter(c.tb, 0, 6300, SYS_ptrace, 24, 20, 0, 0);
		else
			tb_sys_enter(c.tb, 0, 6300, SYS_wait4, -1, 0, 0x40000000 /* __WALL */, 0);
		tb_sys_exit(c.tb, 0, 6310, 0);
		case_verify(&c, NULL);
	}
}

/*
 * The start state knows that a thread of 20 is traced, or that 41 is, a child of 10: 20 traces it,
 * and wakes 10 when it knows of its end.
 */
static void a_process_that_is_traced_at_the_start_excuses_a_wait(void)
{
	static const struct {
		uint32_t tid, tgid, ppid;
		const char *comm;
	} threads[] = {{21, 20, 30, "two"}, {41, 41, 10, "four"}};

	for (int story = 0; story < 4; story++) {
		bool is_traced = story & 1;
		struct trace_start_thread start = {.tid = threads[story / 2].tid,
						   .tgid = threads[story / 2].tgid,
						   .ns_tid = threads[story / 2].tid,
						   .ns_tgid = threads[story / 2].tgid,
						   .ppid = threads[story / 2].ppid,
						   .flags = is_traced ? TRACE_THREAD_TRACED : 0,
						   .nr = -1,
						   .cpu = 3};
		struct analysis_case c = grandchild_wakes(false);

		tb_start(c.tb, 1000, TRACE_EV_start_thread, &start, sizeof(start), threads[story / 2].comm);
		case_verify(&c,
			    is_traced ? NULL : "waited for process 20 (two) via waitpid, which was never its child");
	}
}

/*
 * A tracer that had attached itself before the recording says so only by a call after the wait.
 * That call may be among events that any CPU lost until the end.
 */
static void a_loss_after_the_wait_may_hide_a_tracer(void)
{
	for (uint32_t cpu = 0; cpu < 4; cpu++) {
		struct analysis_case c = grandchild_wakes(false);

		if (cpu < 2)
			tb_lost(c.tb, cpu, 2);
		else if (cpu == 2)
			tb_structural_lost(c.tb, 1, 2);
		tb_switch(c.tb, 0, 8000, 10, 0, TRACE_TASK_INTERRUPTIBLE);
		tb_switch(c.tb, 1, 8000, 0, 0, TRACE_TASK_RUNNING);
		tb_fork(c.tb, 1, 8100, 30, 31, 31, "four");
		case_verify(&c, cpu < 3 ? NULL : "waited for process 20 (two) via waitpid, which was never its child");
	}
}

/*
 * 30 traces 20, the child of 10, and waits for it first: it ends at 4000, and 30 wakes 10 at 6000.
 * If 10 waits only from 5000 on, it waits for its tracer. 30 may be a child of 10, too.
 */
static void the_parent_of_a_traced_child_waits_for_the_child(void)
{
	for (int story = 0; story < 8; story++) {
		bool is_late = story & 1, is_waitid = story & 4;
		struct analysis_case c = begin_family(10);

		tb_thread(c.tb, 30, 30, story & 2 ? 10 : 1, "three", 2, true);
		tb_thread(c.tb, 40, 40, 10, "four", 3, false);
		tb_sys_enter(c.tb, 2, 1000, SYS_wait4, 20, 0, 0x40000000 /* __WALL */, 0);
		tb_switch(c.tb, 2, 1100, 30, 0, TRACE_TASK_INTERRUPTIBLE);
		tb_string(c.tb, TRACE_STRING_SYSCALL, SYS_waitid, "waitid");
		if (is_waitid)
			tb_sys_enter(c.tb, 0, 2000, SYS_waitid, 1 /* P_PID */, 20, 0, 4);
		else
			tb_sys_enter(c.tb, 0, 2000, SYS_wait4, -1, 0, 0, 0);
		if (!is_late)
			block(&c);
		tb_exit(c.tb, 1, 4000, 20, 20, true);
		tb_waking(c.tb, 1, 4010, 30, TRACE_CONTEXT_TASK);
		tb_switch(c.tb, 1, 4020, 20, 0, TRACE_TASK_DEAD);
		if (is_late)
			tb_switch(c.tb, 0, 5000, 10, 0, TRACE_TASK_INTERRUPTIBLE);
		tb_switch(c.tb, 2, 5900, 0, 30, TRACE_TASK_RUNNING);
		tb_waking(c.tb, 2, 6000, 10, TRACE_CONTEXT_TASK);
		tb_sys_exit(c.tb, 2, 6010, 20);
		tb_switch(c.tb, 0, 6100, 0, 10, TRACE_TASK_RUNNING);
		tb_sys_exit(c.tb, 0, 6200, is_waitid ? 0 : 20);
		case_run(&c);
		CU_ASSERT_EQUAL(trace_analysis_verify(c.analysis, NULL), 0);
		CU_ASSERT_EQUAL(case_wait(c.one, TRACE_WAIT_PROCESS, "two", 20, "waitpid"), is_late ? 0 : 3000);
		CU_ASSERT_EQUAL(case_wait(c.one, TRACE_WAIT_PROCESS, "three", 30, "waitpid"), is_late ? 1000 : 0);
		case_free(&c);
	}
}

/*
 * A signal of 30 wakes 10, and its child ends before 10 runs: the call returns the child. The
 * sender was never a child.
 */
static void a_signal_that_comes_before_the_child_is_no_child(void)
{
	for (int is_waitid = 0; is_waitid < 2; is_waitid++) {
		struct analysis_case c = begin_family(10);

		tb_thread(c.tb, 30, 30, 1, "three", 2, true);
		tb_thread(c.tb, 40, 40, 10, "four", 3, false);
		tb_string(c.tb, TRACE_STRING_SYSCALL, SYS_waitid, "waitid");
		tb_sys_enter(c.tb, 0, 2000, is_waitid ? SYS_waitid : SYS_wait4, is_waitid ? 0 : -1, 0, 0, 0);
		block(&c);
		tb_sys_enter(c.tb, 2, 5990, SYS_kill, 10, SIGUSR1, 0);
		tb_waking(c.tb, 2, 6000, 10, TRACE_CONTEXT_TASK);
		tb_add(c.tb, 2, 6001, signal_generate, NULL, .tid = 10, .signal = SIGUSR1, .group = 1);
		tb_sys_exit(c.tb, 2, 6010, 0);
		ends(&c, 1, 6040, 20, 0, true);
		tb_switch(c.tb, 0, 6100, 0, 10, TRACE_TASK_RUNNING);
		tb_sys_exit(c.tb, 0, 6200, is_waitid ? 0 : 20);
		case_run(&c);
		if (is_waitid)
			expect(&c, TRACE_WAIT_OTHER, "waitid", 0, "waitpid");
		else
			expect(&c, TRACE_WAIT_PROCESS, "two", 20, "waitpid");
	}
}

/*
 * 20 is init of a pid namespace and kills its process 30, whose child 40 then is its own: in its
 * exit, until its parent has its status. Another process that begins to exit adopts no children.
 */
static void init_of_a_namespace_adopts_children_in_its_exit(void)
{
	for (uint32_t ns_tid = 1; ns_tid < 3; ns_tid++) {
		for (int is_freed = 0; is_freed < 2; is_freed++) {
			struct analysis_case c = case_new();

			tb_thread(c.tb, 10, 10, 1, "one", 0, true);
			tb_add(c.tb, 0, 1100, sched_fork, "two", .parent_tid = 10, .tid = 20, .tgid = 20,
			       .ns_tid = ns_tid);
			tb_switch(c.tb, 1, 1200, 0, 20, TRACE_TASK_RUNNING);
			tb_add(c.tb, 1, 1300, sched_fork, "three", .parent_tid = 20, .tid = 30, .tgid = 30,
			       .ns_tid = 7);
			tb_exit(c.tb, 1, 2000, 20, 20, true);
			tb_switch(c.tb, 1, 2100, 20, 30, TRACE_TASK_INTERRUPTIBLE);
			if (is_freed) {
				tb_add(c.tb, 0, 2850, exit_times, NULL, .tid = 20);
				tb_add(c.tb, 0, 2900, sched_free, NULL, .tid = 20);
			}
			tb_add(c.tb, 1, 3000, sched_adopt, NULL, .parent = 30, .reaper = 20);
			ends(&c, 1, 3000, 30, 0, true);
			case_verify(&c, ns_tid == 1 && !is_freed
						? NULL
						: "process 20 adopts the children of process 30 (sched_adopt)");
		}
	}
}

/*
 * The begin of a process with a pid of before is lost: it may be init of a namespace, and adopt
 * children in its exit.
 */
static void an_adopter_may_have_begun_in_a_loss(void)
{
	for (int is_lost = 0; is_lost < 2; is_lost++) {
		struct analysis_case c = case_new();

		tb_thread(c.tb, 10, 10, 1, "one", 0, true);
		tb_thread(c.tb, 20, 20, 10, "two", 1, true);
		tb_switch(c.tb, 1, 1500, 20, 0, TRACE_TASK_RUNNING);
		if (is_lost)
			tb_lost(c.tb, 1, 9);
		tb_switch(c.tb, 1, 1700, 0, 20, TRACE_TASK_RUNNING);
		tb_fork(c.tb, 1, 1800, 20, 30, 30, "three");
		tb_exit(c.tb, 1, 2000, 20, 20, true);
		tb_switch(c.tb, 1, 2100, 20, 30, TRACE_TASK_INTERRUPTIBLE);
		tb_add(c.tb, 1, 3000, sched_adopt, NULL, .parent = 30, .reaper = 20);
		ends(&c, 1, 3000, 30, 0, true);
		case_verify(&c, is_lost ? NULL : "process 20 adopts the children of process 30 (sched_adopt)");
	}
}

/*
 * The kernel frees an older process 20 while the present one exits. That one has not passed its
 * child 30 on, which ends meanwhile. Its parent uses the pid again before its last switch.
 */
static void an_older_process_of_the_pid_may_be_freed_late(void)
{
	struct trace_signal_generate signal = {.tid = 20, .signal = SIGCHLD, .code = CLD_EXITED, .group = 1};
	struct analysis_case c = case_new();

	tb_thread(c.tb, 1, 1, 0, "init", 0, false);
	tb_thread(c.tb, 10, 10, 1, "one", 0, true);
	tb_add(c.tb, 0, 1100, sched_fork, "two", .parent_tid = 10, .tid = 20, .tgid = 20, .ns_tid = 20);
	tb_switch(c.tb, 1, 1200, 0, 20, TRACE_TASK_RUNNING);
	tb_add(c.tb, 1, 1300, sched_fork, "three", .parent_tid = 20, .tid = 30, .tgid = 30, .ns_tid = 30);
	tb_add(c.tb, 1, 2000, sched_adopt, NULL, .parent = 20, .reaper = 1);
	tb_exit(c.tb, 1, 2000, 20, 20, true);
	tb_switch(c.tb, 1, 2100, 20, 30, TRACE_TASK_UNINTERRUPTIBLE);
	tb_add(c.tb, 0, 2200, sched_free, NULL, .tid = 20);
	tb_exit(c.tb, 1, 2500, 30, 30, true);
	tb_event(c.tb, 1, 2505, TRACE_EV_signal_generate, &signal, sizeof(signal), NULL);
	tb_add(c.tb, 1, 2510, exit_times, NULL, .tid = 30);
	tb_switch(c.tb, 1, 2510, 30, 20, TRACE_TASK_DEAD);
	tb_add(c.tb, 0, 2990, sched_fork, "two", .parent_tid = 10, .tid = 20, .tgid = 20, .ns_tid = 20);
	tb_add(c.tb, 1, 3000, exit_times, NULL, .tid = 20);
	tb_switch(c.tb, 1, 3000, 20, 0, TRACE_TASK_DEAD);
	case_verify(&c, NULL);
}

/*
 * Thread 21 is the last of process 20 to exit, and passes its child 30 on after the first thread
 * has left its CPU. 30 ends before that, or both live when the recording ends.
 */
static void a_child_stays_until_the_last_thread_of_its_parent_has_left(void)
{
	struct trace_signal_generate signal = {.tid = 20, .signal = SIGCHLD, .code = CLD_EXITED, .group = 1};

	for (int ends_before = 0; ends_before < 2; ends_before++) {
		struct analysis_case c = case_new();

		tb_thread(c.tb, 1, 1, 0, "init", 0, false);
		tb_thread(c.tb, 10, 10, 1, "one", 3, true);
		tb_thread(c.tb, 20, 20, 10, "two", 0, true);
		tb_thread(c.tb, 21, 20, 10, "two", 1, true);
		tb_add(c.tb, 1, 1300, sched_fork, "three", .parent_tid = 21, .tid = 30, .tgid = 30, .ns_tid = 30);
		tb_switch(c.tb, 2, 1400, 0, 30, TRACE_TASK_RUNNING);
		tb_exit(c.tb, 0, 2900, 20, 20, false);
		tb_add(c.tb, 1, 3000, sched_adopt, NULL, .parent = 20, .reaper = 1);
		tb_exit(c.tb, 1, 3000, 21, 20, true);
		tb_add(c.tb, 0, 3100, exit_times, NULL, .tid = 20);
		tb_switch(c.tb, 0, 3100, 20, 0, TRACE_TASK_DEAD);
		if (ends_before) {
			tb_exit(c.tb, 2, 3200, 30, 30, true);
			tb_event(c.tb, 2, 3205, TRACE_EV_signal_generate, &signal, sizeof(signal), NULL);
			tb_add(c.tb, 2, 3210, exit_times, NULL, .tid = 30);
			tb_switch(c.tb, 2, 3210, 30, 0, TRACE_TASK_DEAD);
			tb_add(c.tb, 1, 3500, exit_times, NULL, .tid = 21);
			tb_switch(c.tb, 1, 3500, 21, 0, TRACE_TASK_DEAD);
		}
		case_verify(&c, NULL);
	}
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		CASE(a_tracer_may_wait_for_any_process),
		CASE(a_process_that_is_traced_at_the_start_excuses_a_wait),
		CASE(a_loss_after_the_wait_may_hide_a_tracer),
		CASE(the_parent_of_a_traced_child_waits_for_the_child),
		CASE(a_signal_that_comes_before_the_child_is_no_child),
		CASE(a_child_needs_a_parent),
		CASE(init_of_a_namespace_adopts_children_in_its_exit),
		CASE(an_adopter_may_have_begun_in_a_loss),
		CASE(a_child_that_had_begun_to_exit_needs_no_other_parent),
		CASE(a_dead_child_keeps_its_last_parent),
		CASE(a_child_that_ends_in_the_exit_of_its_parent_keeps_it),
		CASE(a_child_stays_until_the_last_thread_of_its_parent_has_left),
		CASE(an_older_process_of_the_pid_may_be_freed_late),
		CASE(init_of_a_namespace_keeps_its_children_in_its_exit),
		CASE(the_end_of_one_thread_is_not_that_of_its_process),
		CASE(a_process_that_leaves_an_ended_child_may_be_waited_for),
		{NULL, NULL},
	};

	return unit_main("rule_parents", cases, argc, argv);
}
