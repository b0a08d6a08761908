/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_rule_file_bytes.c - a call's length is that of its own entry, whatever happens between its
 * entry and its exit, and trace_analysis_verify() finds a call that moved more
 *
 * Process 10 ("one") is on CPU 0, 20 ("two") on CPU 1. They read 4 bytes, or 64, of descriptor 3.
 */
#include "state_waits_case.h"
#include "unit.h"

#define RESTARTS (-512) /* -ERESTARTSYS */

static struct analysis_case begin_with_files(void)
{
	struct analysis_case c = begin();

	tb_window(c.tb, 1000, 20000);
	tb_string(c.tb, TRACE_STRING_SYSCALL, SYS_rt_sigreturn, "rt_sigreturn");
	tb_string(c.tb, TRACE_STRING_SYSCALL_32, 3, "read");
	tb_fd(c.tb, 10, 3, 9, 70, S_IFIFO | 0600, "pipe:[70]");
	tb_fd(c.tb, 20, 3, 9, 70, S_IFIFO | 0600, "pipe:[70]");
	return c;
}

static void enter(struct analysis_case *c, uint32_t cpu, uint64_t ns, uint64_t bytes)
{
	tb_sys_enter(c->tb, cpu, ns, SYS_read, 3, 0, bytes);
}

static void leave(struct analysis_case *c, uint32_t cpu, uint64_t ns, int64_t ret)
{
	tb_sys_exit(c->tb, cpu, ns, ret);
}

/* A whole read on CPU 0 that shows which length the thread has now: 41 of 64 bytes. */
static void read_41(struct analysis_case *c, uint32_t cpu, uint64_t ns)
{
	enter(c, cpu, ns, 64);
	leave(c, cpu, ns + 10, 41);
}

static void a_call_that_moved_more_than_it_asked_for_is_a_violation(void)
{
	for (int sleeps = 0; sleeps < 2; sleeps++) {
		struct analysis_case c = begin_with_files();

		enter(&c, 0, 2000, 4);
		if (sleeps) {
			block(&c);
			wake(&c, TRACE_CONTEXT_TASK);
			tb_switch(c.tb, 0, 6100, 0, 10, TRACE_TASK_RUNNING);
		}
		leave(&c, 0, 7000, 41);
		case_verify(&c, "moved 41 bytes by read(), which asked for 4 (sys_enter 5000 ns before)");
	}
}

/* The call of 4 bytes is interrupted, a handler reads 64, and the call begins again. */
static void a_handler_has_calls_of_its_own(void)
{
	for (int restarts = 0; restarts < 2; restarts++) {
		struct analysis_case c = begin_with_files();

		enter(&c, 0, 2000, 4);
		block(&c);
		wake(&c, TRACE_CONTEXT_TASK);
		tb_switch(c.tb, 0, 6100, 0, 10, TRACE_TASK_RUNNING);
		leave(&c, 0, 6200, RESTARTS);
		tb_add(c.tb, 0, 6250, signal_deliver, NULL, .signal = SIGALRM, .handler = 0x4000);
		read_41(&c, 0, 6300);
		tb_sys_enter(c.tb, 0, 6400, SYS_rt_sigreturn);
		leave(&c, 0, 6410, restarts ? 0 : -EINTR);
		if (restarts) {
			enter(&c, 0, 6500, 4);
			leave(&c, 0, 6510, 4);
		}
		read_41(&c, 0, 6600);
		case_verify(&c, NULL);
	}
}

/* The same without a handler: the kernel enters the call again at once. */
static void a_call_may_be_entered_again(void)
{
	struct analysis_case c = begin_with_files();

	for (uint64_t ns = 2000; ns < 2400; ns += 100) {
		enter(&c, 0, ns, 4);
		leave(&c, 0, ns + 10, RESTARTS);
	}
	enter(&c, 0, 2400, 4);
	leave(&c, 0, 2410, 4);
	read_41(&c, 0, 2500);
	case_verify(&c, NULL);
}

static void a_page_fault_in_a_call_does_not_end_it(void)
{
	for (int user = 0; user < 2; user++) {
		struct analysis_case c = begin_with_files();

		enter(&c, 0, 2000, user ? 4 : 64);
		if (user)
			leave(&c, 0, 2010, 4);
		tb_add(c.tb, 0, 2020, fault_entry, NULL, .address = 0x7000, .user = user);
		tb_add(c.tb, 0, 2030, fault_exit, NULL, .major = false);
		if (user)
			read_41(&c, 0, 2040);
		else
			leave(&c, 0, 2050, 41);
		case_verify(&c, NULL);
	}
}

/* 20 is killed in its call, and its number is that of another process. */
static void a_number_that_is_used_again_has_no_call(void)
{
	for (int forks = 0; forks < 2; forks++) {
		struct analysis_case c = begin_with_files();

		enter(&c, 1, 2000, 4);
		tb_exit(c.tb, 1, 3000, 20, 20, true);
		tb_add(c.tb, 1, 3010, exit_times, NULL, .tid = 20);
		tb_switch(c.tb, 1, 3010, 20, 0, TRACE_TASK_DEAD);
		tb_sys_enter(c.tb, 0, 3200, SYS_fork);
		tb_add(c.tb, 0, 3300, sched_fork, "new", .parent_tid = 10, .tid = 20, .tgid = 20);
		leave(&c, 0, 3400, 20);
		tb_switch(c.tb, 1, 3500, 0, 20, TRACE_TASK_RUNNING);
		if (forks)
			leave(&c, 1, 3510, 0);
		read_41(&c, 1, 3600);
		read_41(&c, 0, 3700);
		case_verify(&c, NULL);
	}
}

/*
 * Thread 11 of process 10 calls exec while the first thread is in a call: it has that one's number
 * then.
 */
static void exec_by_another_thread_ends_the_first_threads_call(void)
{
	struct analysis_case c = begin_with_files();

	tb_fork(c.tb, 0, 1500, 10, 11, 10, "one");
	enter(&c, 0, 2000, 4);
	tb_switch(c.tb, 0, 2100, 10, 0, TRACE_TASK_INTERRUPTIBLE);
	tb_switch(c.tb, 0, 2200, 0, 11, TRACE_TASK_RUNNING);
	tb_sys_enter(c.tb, 0, 2300, SYS_execve, 0, 0, 0);
	tb_switch(c.tb, 0, 2400, 11, 10, TRACE_TASK_UNINTERRUPTIBLE);
	tb_exit(c.tb, 0, 2500, 10, 10, false);
	tb_switch(c.tb, 0, 2600, 10, 0, TRACE_TASK_DEAD);
	tb_switch(c.tb, 0, 2700, 0, 10, TRACE_TASK_RUNNING); /* 11 has the number of the first thread */
	tb_add(c.tb, 0, 2800, sched_exec, "/bin/new", .tid = 10, .old_tid = 11);
	leave(&c, 0, 2900, 0);
	read_41(&c, 0, 3000);
	case_verify(&c, NULL);
}

/* Two threads are in calls of other lengths, and change places on the CPU. */
static void threads_have_calls_of_their_own(void)
{
	struct analysis_case c = begin_with_files();

	enter(&c, 0, 2000, 4);
	tb_switch(c.tb, 0, 2100, 10, 0, TRACE_TASK_INTERRUPTIBLE);
	tb_switch(c.tb, 1, 2200, 20, 0, TRACE_TASK_INTERRUPTIBLE);
	tb_switch(c.tb, 0, 2300, 0, 20, TRACE_TASK_RUNNING);
	read_41(&c, 0, 2400);
	tb_switch(c.tb, 0, 2500, 20, 10, TRACE_TASK_RUNNING);
	leave(&c, 0, 2600, 4);
	tb_switch(c.tb, 0, 2700, 10, 20, TRACE_TASK_RUNNING);
	read_41(&c, 0, 2800);
	case_verify(&c, NULL);
}

/* An interrupt in the call, and a request of io_uring that completes in it, have no call. */
static void interrupts_and_rings_have_no_calls(void)
{
	struct trace_uring_complete complete = {.req = 1, .res = 41};
	struct analysis_case c = begin_with_files();

	enter(&c, 0, 2000, 4);
	tb_softirq(c.tb, 0, 2100, 3);
	tb_event(c.tb, 0, 2200, TRACE_EV_uring_complete, &complete, sizeof(complete), NULL);
	tb_softirq_exit(c.tb, 0, 2300, 3);
	leave(&c, 0, 2400, 4);
	read_41(&c, 0, 2500);
	case_verify(&c, NULL);
}

static void calls_of_32_bit_have_their_own_numbers(void)
{
	struct trace_sys_enter3 short_read = {.nr = 3, .abi = TRACE_ABI_32, .arg0 = 3, .arg2 = 64};
	struct analysis_case c = begin_with_files();

	enter(&c, 0, 2000, 4);
	leave(&c, 0, 2010, 4);
	tb_event(c.tb, 0, 2100, TRACE_EV_sys_enter3, &short_read, sizeof(short_read), NULL);
	leave(&c, 0, 2110, 41);
	case_verify(&c, NULL);
}

/* The exit of the first call and the entry of the second one are missing. */
static void a_loss_between_entry_and_exit_excuses(void)
{
	for (int before = 0; before < 2; before++) {
		struct analysis_case c = begin_with_files();

		if (before)
			tb_lost(c.tb, 0, 2);
		enter(&c, 0, 2000, 4);
		if (!before)
			tb_lost(c.tb, 0, 2);
		leave(&c, 0, 7000, 41);
		case_verify(&c, NULL);
	}
}

/*
 * 10 is in a call when the recording begins. Its start state was read in that call, or in a later
 * one.
 */
static void the_call_of_the_start_state_ends_with_its_exit(void)
{
	for (int later = 0; later < 2; later++) {
		struct trace_start_thread start = {
			.tid = 30, .tgid = 30, .ppid = 1, .nr = SYS_read, .arg0 = 3, .arg2 = 4};
		struct analysis_case c = begin_with_files();

		tb_start(c.tb, later ? 5000 : 1000, TRACE_EV_start_thread, &start, sizeof(start), "three");
		tb_switch(c.tb, 0, 2000, 10, 0, TRACE_TASK_INTERRUPTIBLE);
		tb_switch(c.tb, 0, 2100, 0, 30, TRACE_TASK_RUNNING);
		leave(&c, 0, 2200, later ? 41 : 4);
		read_41(&c, 0, 2300);
		enter(&c, 0, 4900, 64);
		leave(&c, 0, 6000, 41);
		read_41(&c, 0, 6100);
		case_verify(&c, NULL);
	}
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		CASE(a_call_that_moved_more_than_it_asked_for_is_a_violation),
		CASE(a_handler_has_calls_of_its_own),
		CASE(a_call_may_be_entered_again),
		CASE(a_page_fault_in_a_call_does_not_end_it),
		CASE(a_number_that_is_used_again_has_no_call),
		CASE(exec_by_another_thread_ends_the_first_threads_call),
		CASE(threads_have_calls_of_their_own),
		CASE(interrupts_and_rings_have_no_calls),
		CASE(calls_of_32_bit_have_their_own_numbers),
		CASE(a_loss_between_entry_and_exit_excuses),
		CASE(the_call_of_the_start_state_ends_with_its_exit),
		{NULL, NULL},
	};

	return unit_main("rule_file_bytes", cases, argc, argv);
}
