/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_state_threads.c - threads and processes start, call exec, exit, and their numbers are
 * reused.
 *
 * Traces begin at 1000 and end at 9000 unless a test says otherwise; thread 10 is "one", 20 is
 * "two". All times are ns.
 */
#include "analysis_case.h"
#include "unit.h"

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
	CU_ASSERT_EQUAL(c.two->syscall_ns, 100 + 1000); /* its return from fork, its exit */
	CU_ASSERT_STRING_EQUAL(trace_process_comm(case_process(&c, 20)), "two");
	CU_ASSERT_STRING_EQUAL(trace_process_exe(case_process(&c, 20)), "/bin/two");
	CU_ASSERT_EQUAL(trace_process_ppid(case_process(&c, 20)), 10);
	CU_ASSERT_EQUAL(trace_process_end_ns(case_process(&c, 20)), 6000);
	case_free(&c);
}

static void start_ended(struct tb *tb, uint64_t read_ns, uint32_t tid, const char *comm)
{
	struct trace_start_thread start = {.tid = tid,
					   .tgid = tid,
					   .ns_tid = tid,
					   .ns_tgid = tid,
					   .ppid = 1,
					   .state = TRACE_TASK_EXIT_ZOMBIE,
					   .prio = 120};

	/* in call 0, as older recorders write */
	tb_start(tb, read_ns, TRACE_EV_start_thread, &start, sizeof(start), comm);
}

/* Neither has been reaped yet: one was dead when the trace began, the other when the start state
 * was read. */
static void a_thread_dead_at_the_start_waits_for_nothing(void)
{
	struct analysis_case c = case_new();

	start_ended(c.tb, 3000, 20, "two");
	start_ended(c.tb, 3000, 30, "three");
	tb_exit(c.tb, 0, 1500, 30, 30, true);
	tb_switch(c.tb, 0, 2000, 30, 0, TRACE_TASK_DEAD);
	case_run(&c);
	CU_ASSERT_EQUAL(c.two->elapsed_ns, 0);
	CU_ASSERT_EQUAL(c.two->nr_waits, 0);
	CU_ASSERT_EQUAL(c.two->nr_syscalls_rows, 0);
	CU_ASSERT_EQUAL(trace_process_end_ns(case_process(&c, 20)), 1000);
	CU_ASSERT_EQUAL(trace_process_end_ns(case_process(&c, 30)), 2000);
	case_free(&c);
}

/* It began and died while the start state was read. */
static void a_thread_born_and_dead_during_the_state_reading_has_lived(void)
{
	struct analysis_case c = case_new();

	tb_thread(c.tb, 10, 10, 1, "one", 0, true);
	start_ended(c.tb, 4000, 20, "two");
	tb_fork(c.tb, 0, 1500, 10, 20, 20, "two");
	tb_switch(c.tb, 1, 2000, 0, 20, TRACE_TASK_RUNNING);
	tb_exit(c.tb, 1, 2500, 20, 20, true);
	tb_switch(c.tb, 1, 3000, 20, 0, TRACE_TASK_DEAD);
	case_run(&c);
	CU_ASSERT_EQUAL(trace_process_start_ns(case_process(&c, 20)), 1500);
	CU_ASSERT_EQUAL(c.two->elapsed_ns, 1500);
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

/* The kernel frees a thread some time after it was reaped. Another thread may have its number by
 * then. */
static void a_freed_number_may_already_belong_to_another_thread(void)
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
	tb_free_thread(c.tb, 0, 4100, 20); /* the first thread */
	tb_free_thread(c.tb, 0, 4200, 20); /* the second thread */
	tb_exit(c.tb, 1, 5900, 20, 20, true);
	tb_switch(c.tb, 1, 6000, 20, 0, TRACE_TASK_DEAD);
	tb_free_thread(c.tb, 0, 6100, 20);
	tb_fork(c.tb, 0, 7000, 10, 20, 20, "fourth");
	tb_switch(c.tb, 1, 7100, 0, 20, TRACE_TASK_RUNNING);
	tb_free_thread(c.tb, 0, 7500, 20); /* an earlier one: nothing is lost, and it has not exited */
	tb_comm(c.tb, 0, 7600, 10, "one");
	tb_lost(c.tb, 0, 3);
	tb_free_thread(c.tb, 0, 8000, 20); /* itself: its end was not recorded */
	case_run(&c);
	CU_ASSERT_EQUAL_FATAL(trace_nr_processes(c.analysis), 5);
	process = trace_get_process(c.analysis, 3);
	CU_ASSERT_STRING_EQUAL(trace_process_comm(process), "third");
	CU_ASSERT_EQUAL(trace_process_start_ns(process), 3400);
	CU_ASSERT_EQUAL(trace_process_end_ns(process), 6000);
	process = trace_get_process(c.analysis, 4);
	CU_ASSERT_STRING_EQUAL(trace_process_comm(process), "fourth");
	CU_ASSERT_EQUAL(trace_process_end_ns(process), 8000);
	CU_ASSERT_EQUAL(trace_analysis_inconsistencies(c.analysis), 0); /* the loss explains it */
	case_free(&c);
}

/* Its parent is notified before it leaves its CPU. */
static void an_exiting_thread_may_leave_its_cpu_after_its_number_is_reused(void)
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
	CU_ASSERT_EQUAL(trace_analysis_inconsistencies(c.analysis), 0);
	case_free(&c);
}

/* After a gap it is unknown which threads were freed in it. */
static void a_number_freed_in_a_gap_may_be_reused_at_once(void)
{
	struct analysis_case c = case_new();

	tb_thread(c.tb, 10, 10, 1, "one", 0, true);
	tb_fork(c.tb, 0, 2000, 10, 20, 20, "first");
	tb_switch(c.tb, 1, 2500, 0, 20, TRACE_TASK_RUNNING);
	tb_switch(c.tb, 1, 3000, 20, 0, TRACE_TASK_DEAD);
	tb_switch(c.tb, 0, 3100, 10, 0, TRACE_TASK_RUNNING);
	tb_lost(c.tb, 0, 3);
	tb_fork(c.tb, 0, 4000, 10, 20, 20, "second");
	tb_exit(c.tb, 0, 4500, 20, 20, true);
	tb_free_thread(c.tb, 0, 5000, 20);
	case_run(&c);
	CU_ASSERT_EQUAL_FATAL(trace_nr_processes(c.analysis), 3);
	CU_ASSERT_EQUAL(trace_process_end_ns(trace_get_process(c.analysis, 2)), 5000);
	case_free(&c);
}

/* The next thread reuses the memory of a dead thread's rows. */
static void figures_of_dead_threads_stay_when_new_threads_start(void)
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

		CU_ASSERT_EQUAL(f->nr_syscalls, i + 1 + 1); /* and the fork that it returned from */
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

/* If the start state is complete, a thread that is not in it began later, without a recorded
 * event. */
static void a_thread_missing_in_the_start_state_began_later(void)
{
	struct analysis_case c = case_new();

	tb_thread(c.tb, 10, 10, 1, "one", 0, true);
	tb_switch(c.tb, 0, 5000, 10, 20, TRACE_TASK_RUNNING);
	case_run(&c);
	CU_ASSERT_PTR_NOT_NULL_FATAL(c.two);
	CU_ASSERT_EQUAL(c.two->elapsed_ns, 4000);
	CU_ASSERT_EQUAL(c.two->wait_cpu_ns, 0);
	case_free(&c);
}

/* Only a new thread is woken for the first time. */
static void a_first_wakeup_of_a_thread_that_runs_changes_nothing(void)
{
	struct trace_sched_wakeup_new again = {.tid = 10, .target_cpu = 1}, nobody = {.tid = 0};
	struct analysis_case c = case_new();

	tb_thread(c.tb, 10, 10, 1, "one", 0, true);
	tb_sys_enter(c.tb, 0, 2000, SYS_getpid);
	tb_event(c.tb, 1, 3000, TRACE_EV_sched_wakeup_new, &again, sizeof(again), NULL);
	tb_event(c.tb, 1, 3000, TRACE_EV_sched_wakeup_new, &nobody, sizeof(nobody), NULL);
	tb_sys_exit(c.tb, 0, 4000, 0);
	case_run(&c);
	CU_ASSERT_EQUAL(c.one->user_ns, 1000 + 5000);
	CU_ASSERT_EQUAL(c.one->syscall_ns, 2000);
	CU_ASSERT_EQUAL(trace_analysis_inconsistencies(c.analysis), 0);
	case_free(&c);
}

/* It never leaves the kernel, whether it does slow work or looks for requests all the time. */
static void a_thread_created_by_io_uring_is_in_the_kernel(void)
{
	static const struct {
		const char *name;
		bool is_made;
	} threads[] = {{"iou-wrk-10", true}, {"iou-sqp-10", true}, {"renamed", true}, {"iou-wrk-10", false}};

	for (size_t i = 0; i < sizeof(threads) / sizeof(threads[0]); i++) {
		struct trace_start_thread start = {.tid = 11,
						   .tgid = 10,
						   .ppid = 1,
						   .nr = -1,
						   .running = 1,
						   .flags = threads[i].is_made ? TRACE_THREAD_IO_WORKER : 0};
		struct analysis_case c = case_new();

		tb_start(c.tb, 1000, TRACE_EV_start_thread, &start, sizeof(start), threads[i].name);
		case_run(&c);
		CU_ASSERT_EQUAL(c.one->syscall_ns, threads[i].is_made ? 8000 : 0);
		CU_ASSERT_EQUAL(c.one->user_ns, threads[i].is_made ? 0 : 8000);
		case_free(&c);
	}
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
	tb_switch(c.tb, 0, 5000, 10, 0, TRACE_TASK_RUNNING); /* it has number 10 now */
	case_run(&c);
	CU_ASSERT_EQUAL(trace_nr_processes(c.analysis), 1);
	CU_ASSERT_EQUAL(c.one->elapsed_ns, 2000 + 8000);
	CU_ASSERT_EQUAL(c.one->user_ns, 1000 + 1900);
	CU_ASSERT_EQUAL(c.one->syscall_ns, 1100);
	CU_ASSERT_EQUAL(trace_analysis_inconsistencies(c.analysis), 0);
	case_free(&c);
}

/* Thread 11 calls exec, so the leader 10 has to die. From then on 11 has the number 10, and the old
 * leader 11. */
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
	CU_ASSERT_EQUAL(trace_analysis_inconsistencies(c->analysis), 0);
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

static void a_thread_may_leave_its_cpu_under_its_new_number_before_the_exec_event(void)
{
	struct analysis_case c = case_new();

	exec_from_worker(&c);
	tb_switch(c.tb, 1, 2400, 10, 0, TRACE_TASK_DEAD);
	tb_switch(c.tb, 0, 2500, 0, 11, TRACE_TASK_RUNNING);
	tb_switch(c.tb, 0, 2600, 10, 0, TRACE_TASK_RUNNING); /* before it has its new name */
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

static void the_old_leader_may_leave_its_cpu_after_the_exec_event(void)
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

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		CASE(a_child_begins_at_its_fork),
		CASE(a_thread_dead_at_the_start_waits_for_nothing),
		CASE(a_thread_born_and_dead_during_the_state_reading_has_lived),
		CASE(a_reused_number_is_another_process),
		CASE(a_freed_number_may_already_belong_to_another_thread),
		CASE(an_exiting_thread_may_leave_its_cpu_after_its_number_is_reused),
		CASE(a_number_freed_in_a_gap_may_be_reused_at_once),
		CASE(figures_of_dead_threads_stay_when_new_threads_start),
		CASE(a_thread_that_the_start_state_knew_too_early_begins_at_its_fork),
		CASE(a_threads_time_is_its_processes),
		CASE(exec_from_a_thread_takes_the_leaders_number),
		CASE(the_name_that_exec_gives_is_its_processes_also_from_a_thread),
		CASE(a_thread_may_leave_its_cpu_under_its_new_number_before_the_exec_event),
		CASE(the_old_leader_may_leave_its_cpu_for_the_last_time_under_the_threads_number),
		CASE(the_old_leader_may_leave_its_cpu_after_the_exec_event),
		CASE(a_thread_missing_in_the_start_state_began_later),
		CASE(a_first_wakeup_of_a_thread_that_runs_changes_nothing),
		CASE(a_thread_created_by_io_uring_is_in_the_kernel),
		{NULL, NULL},
	};

	return unit_main("threads", cases, argc, argv);
}
