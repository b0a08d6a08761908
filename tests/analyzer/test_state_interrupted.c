/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_state_interrupted.c - waits in system calls that something interrupted, and stops.
 *
 * Thread 10 ("one") waits in a call on CPU 0. 20 ("two") runs on CPU 1 and may hold the other end
 * of what 10 waits for; 30 ("three") interrupts it from CPU 2.
 */
#include "state_waits_case.h"
#include "unit.h"

#define RESTART_SYS   -512
#define RESTART_BLOCK -516
#define NO_HAND	      -514
#define HANDLER	      0x400000

static struct analysis_case begin_with_three(void)
{
	struct trace_trace_heartbeat heartbeat = {0};
	struct analysis_case c = begin();

	tb_thread(c.tb, 30, 30, 1, "three", 2, true);
	tb_event(c.tb, 2, 1000, TRACE_EV_trace_heartbeat, &heartbeat, sizeof(heartbeat), NULL);
	tb_string(c.tb, TRACE_STRING_SYSCALL, SYS_restart_syscall, "restart_syscall");
	tb_string(c.tb, TRACE_STRING_SYSCALL, SYS_rt_sigreturn, "rt_sigreturn");
	tb_string(c.tb, TRACE_STRING_SYSCALL, SYS_ptrace, "ptrace");
	pipe_fd(&c, 10, 3, 70, O_RDONLY);
	pipe_fd(&c, 20, 4, 70, O_WRONLY);
	return c;
}

static void sleep_from(struct analysis_case *c, uint64_t ns, uint32_t state)
{
	tb_switch(c->tb, 0, ns, 10, 0, state);
}

static void run_from(struct analysis_case *c, uint64_t ns)
{
	tb_switch(c->tb, 0, ns, 0, 10, TRACE_TASK_RUNNING);
}

/* 30 wakes 10 by a signal at @ns, and 10 runs at once. */
static void signal_at(struct analysis_case *c, uint64_t ns, int number)
{
	tb_sys_enter(c->tb, 2, ns - 20, SYS_kill, 10, (uint64_t)number, 0);
	tb_waking(c->tb, 2, ns, 10, TRACE_CONTEXT_TASK);
	tb_add(c->tb, 2, ns + 1, signal_generate, NULL, .tid = 10, .signal = (uint16_t)number, .group = 1);
	tb_sys_exit(c->tb, 2, ns + 10, 0);
	run_from(c, ns + 5);
}

static void timer_at(struct analysis_case *c, uint64_t ns)
{
	tb_vector(c->tb, 2, ns - 20, TRACE_VECTOR_LOCAL_TIMER);
	tb_add(c->tb, 2, ns - 10, hrtimer_expire, NULL, .timer = 1);
	tb_waking(c->tb, 2, ns, 10, TRACE_CONTEXT_HARDIRQ);
	tb_add(c->tb, 2, ns + 1, signal_generate, NULL, .tid = 10, .signal = SIGALRM, .group = 1);
	tb_vector_exit(c->tb, 2, ns + 10, TRACE_VECTOR_LOCAL_TIMER);
	run_from(c, ns + 5);
}

/* A handler of 10 runs from @ns on. */
static void handle(struct analysis_case *c, uint64_t ns, int number)
{
	tb_add(c->tb, 0, ns, signal_deliver, NULL, .signal = (uint32_t)number, .handler = HANDLER);
	tb_sys_enter(c->tb, 0, ns + 50, SYS_getpid);
	tb_sys_exit(c->tb, 0, ns + 55, 10);
	tb_sys_enter(c->tb, 0, ns + 60, SYS_rt_sigreturn);
	tb_sys_exit(c->tb, 0, ns + 65, SYS_read);
}

/* 20 acts at @ns, in @call on descriptor @fd. */
static void two_acts(struct analysis_case *c, uint64_t ns, uint32_t call, int fd)
{
	tb_sys_enter(c->tb, 1, ns - 20, call, (uint64_t)fd, 0, 1);
	tb_waking(c->tb, 1, ns, 10, TRACE_CONTEXT_TASK);
	run_from(c, ns + 5);
}

static void expect_ns(struct analysis_case *c, enum trace_wait_kind kind, const char *target, uint32_t pid,
		      const char *via, uint64_t ns)
{
	CU_ASSERT_EQUAL(case_wait(c->one, kind, target, pid, via), ns);
}

static void expect_interruption(struct analysis_case *c, const char *call, int number, uint32_t by, const char *via,
				uint64_t ns, uint64_t count)
{
	size_t nr = 0;
	struct trace_interruption *list = trace_interruptions(c->analysis, &nr);

	CU_ASSERT_EQUAL_FATAL(nr, 1);
	CU_ASSERT_STRING_EQUAL(list->call, call);
	CU_ASSERT_EQUAL(trace_process_pid(list->process), 10);
	CU_ASSERT_EQUAL((int)list->signal, number);
	CU_ASSERT_EQUAL(list->by ? trace_process_pid(list->by) : 0, by);
	CU_ASSERT_STRING_EQUAL(list->via, via);
	CU_ASSERT_EQUAL(list->ns, ns);
	CU_ASSERT_EQUAL(list->count, count);
	free(list);
}

/* ---- calls that go on ---- */

/* SA_RESTART: twice a timer's signal, then the writer. */
static void a_read_that_a_timers_signal_interrupts_is_for_the_writer(void)
{
	struct analysis_case c = begin_with_three();

	tb_sys_enter(c.tb, 0, 2000, SYS_read, 3, 1, 1);
	for (uint64_t ns = 2000; ns < 4000; ns += 1000) {
		sleep_from(&c, ns + 100, TRACE_TASK_INTERRUPTIBLE);
		timer_at(&c, ns + 600);
		tb_sys_exit(c.tb, 0, ns + 610, RESTART_SYS);
		handle(&c, ns + 620, SIGALRM);
		tb_sys_enter(c.tb, 0, ns + 900, SYS_read, 3, 1, 1);
	}
	sleep_from(&c, 4100, TRACE_TASK_INTERRUPTIBLE);
	two_acts(&c, 5100, SYS_write, 4);
	tb_sys_exit(c.tb, 0, 5200, 1);
	case_run(&c);
	expect_ns(&c, TRACE_WAIT_PROCESS, "two", 20, "pipe", 2000);
	expect_interruption(&c, "read", SIGALRM, 0, "signal", 1000, 2);
	case_free(&c);
}

/*
 * A timer wakes the thread for a signal, whose event is missing, and the writer has written before
 * the thread runs.
 */
static void a_read_of_a_pipe_never_waits_for_a_timer(void)
{
	struct analysis_case c = begin_with_three();

	tb_sys_enter(c.tb, 0, 2000, SYS_read, 3, 1, 1);
	sleep_from(&c, 2100, TRACE_TASK_INTERRUPTIBLE);
	tb_vector(c.tb, 2, 3080, TRACE_VECTOR_LOCAL_TIMER);
	tb_add(c.tb, 2, 3090, hrtimer_expire, NULL, .timer = 1);
	tb_waking(c.tb, 2, 3100, 10, TRACE_CONTEXT_HARDIRQ);
	tb_vector_exit(c.tb, 2, 3110, TRACE_VECTOR_LOCAL_TIMER);
	run_from(&c, 3120);
	tb_sys_exit(c.tb, 0, 3200, 1);
	case_run(&c);
	expect_ns(&c, TRACE_WAIT_PROCESS, "two", 20, "pipe", 1000);
	case_free(&c);
}

/* The kernel hides the thread on the CPU when the timer expires: no wakeup, no switch to 10 */
static void a_signal_while_a_hidden_thread_runs_interrupts_as_well(void)
{
	struct analysis_case c = begin_with_three();

	tb_thread(c.tb, 70, 70, 1, "", 3, true);
	tb_sys_enter(c.tb, 0, 2000, SYS_read, 3, 1, 1);
	tb_switch(c.tb, 0, 2100, 10, 70, TRACE_TASK_INTERRUPTIBLE);
	tb_sys_exit(c.tb, 0, 2600, RESTART_SYS);
	handle(&c, 2620, SIGALRM);
	tb_sys_enter(c.tb, 0, 2900, SYS_read, 3, 1, 1);
	sleep_from(&c, 3100, TRACE_TASK_INTERRUPTIBLE);
	tb_sys_enter(c.tb, 2, 3200, SYS_getpid);
	tb_switch(c.tb, 0, 3500, 0, 70, TRACE_TASK_RUNNING);
	tb_sys_exit(c.tb, 0, 3700, RESTART_SYS);
	handle(&c, 3720, SIGALRM);
	tb_sys_enter(c.tb, 0, 3900, SYS_read, 3, 1, 1);
	sleep_from(&c, 4100, TRACE_TASK_INTERRUPTIBLE);
	two_acts(&c, 5100, SYS_write, 4);
	tb_sys_exit(c.tb, 0, 5200, 1);
	case_run(&c);
	/* the hidden thread may have woken 10 from 2100 to 2600, and from 3500 on */
	expect_ns(&c, TRACE_WAIT_PROCESS, "two", 20, "pipe", 400 + 1000);
	case_free(&c);
}

/* "two" has a child on CPU 1 at @ns, which has the end of the pipe from now on, and the CPU. */
static void two_ends_and_leaves_a_child(struct analysis_case *c, uint64_t ns)
{
	tb_fork(c->tb, 1, ns, 20, 40, 40, "child");
	tb_add(c->tb, 1, ns + 20, sched_adopt, NULL, .parent = 20, .reaper = 1);
	tb_exit(c->tb, 1, ns + 20, 20, 20, true);
	tb_switch(c->tb, 1, ns + 30, 20, 40, TRACE_TASK_DEAD);
}

/* A child closes the pipe at its exit, and sends SIGCHLD before its parent runs. */
static void a_read_that_the_exit_of_the_writer_ends_is_for_the_writer(void)
{
	for (int is_end = 0; is_end < 2; is_end++) {
		struct analysis_case c = begin_with_three();

		tb_sys_enter(c.tb, 0, 2000, SYS_read, 3, 1, 1);
		sleep_from(&c, 2100, TRACE_TASK_INTERRUPTIBLE);
		tb_exit(c.tb, 1, 3000, 20, 20, true);
		tb_waking(c.tb, 1, 3100, 10, TRACE_CONTEXT_TASK);
		tb_add(c.tb, 1, 3120, signal_generate, NULL, .tid = 10, .signal = SIGCHLD, .group = 1);
		tb_switch(c.tb, 1, 3130, 20, 0, TRACE_TASK_DEAD);
		run_from(&c, 3140);
		tb_sys_exit(c.tb, 0, 3150, is_end ? 0 : RESTART_SYS);
		handle(&c, 3160, SIGCHLD);
		tb_sys_enter(c.tb, 0, 3300, SYS_close, 3);
		tb_sys_exit(c.tb, 0, 3310, 0);
		case_run(&c);
		if (is_end)
			expect_ns(&c, TRACE_WAIT_PROCESS, "two", 20, "pipe", 1000);
		else
			expect_interruption(&c, "read", SIGCHLD, 20, "signal", 1000, 1);
		case_free(&c);
	}
}

/* The pieces of an interrupted wait are one wait: its process may have begun after some of them. */
static void a_process_that_began_after_an_interruption_ends_the_whole_wait(void)
{
	struct analysis_case c = begin_with_three();

	tb_sys_enter(c.tb, 0, 2000, SYS_read, 3, 1, 1);
	sleep_from(&c, 2100, TRACE_TASK_INTERRUPTIBLE);
	timer_at(&c, 3100);
	tb_sys_exit(c.tb, 0, 3110, RESTART_SYS);
	handle(&c, 3120, SIGALRM);
	tb_sys_enter(c.tb, 0, 3900, SYS_read, 3, 1, 1);
	sleep_from(&c, 4000, TRACE_TASK_INTERRUPTIBLE);
	two_ends_and_leaves_a_child(&c, 4500);
	tb_sys_enter(c.tb, 1, 4980, SYS_write, 4, 0, 1);
	tb_waking(c.tb, 1, 5000, 10, TRACE_CONTEXT_TASK);
	run_from(&c, 5005);
	tb_sys_exit(c.tb, 0, 5200, 1);
	case_run(&c);
	expect_ns(&c, TRACE_WAIT_PROCESS, "child", 40, "pipe", 2000);
	case_free(&c);
}

/* The call alone decides: by the processes that held the other end while it waited. */
static void a_process_that_began_after_the_wait_is_not_what_it_waited_for(void)
{
	for (int later = 0; later < 2; later++) {
		struct analysis_case c = begin_with_three();

		tb_sys_enter(c.tb, 0, 2000, SYS_read, 3, 1, 1);
		sleep_from(&c, 2100, TRACE_TASK_INTERRUPTIBLE);
		if (!later)
			two_ends_and_leaves_a_child(&c, 2500);
		tb_vector(c.tb, 2, 3080, TRACE_VECTOR_LOCAL_TIMER);
		tb_waking(c.tb, 2, 3100, 10, TRACE_CONTEXT_HARDIRQ);
		tb_add(c.tb, 2, 3101, signal_generate, NULL, .tid = 10, .signal = SIGALRM, .group = 1);
		tb_vector_exit(c.tb, 2, 3110, TRACE_VECTOR_LOCAL_TIMER);
		if (later)
			two_ends_and_leaves_a_child(&c, 3200);
		run_from(&c, 3300);
		tb_sys_exit(c.tb, 0, 3310, RESTART_SYS);
		handle(&c, 3320, SIGALRM);
		tb_sys_enter(c.tb, 0, 3900, SYS_close, 3);
		tb_sys_exit(c.tb, 0, 3910, 0);
		case_run(&c);
		if (later)
			expect_ns(&c, TRACE_WAIT_PROCESS, "unknown", 0, "pipe", 1000);
		else
			expect_ns(&c, TRACE_WAIT_PROCESS, "child", 40, "pipe", 1000);
		case_free(&c);
	}
}

static void a_poll_that_was_stopped_is_for_the_process_that_ended_it(void)
{
	struct analysis_case c = begin_with_three();

	tb_sys_enter(c.tb, 0, 2000, SYS_poll, 1, 1, 60000);
	sleep_from(&c, 2100, TRACE_TASK_INTERRUPTIBLE);
	signal_at(&c, 3100, SIGSTOP);
	tb_sys_exit(c.tb, 0, 3110, RESTART_BLOCK);
	sleep_from(&c, 3120, TRACE_TASK_STOPPED);
	signal_at(&c, 4120, SIGCONT);
	tb_sys_enter(c.tb, 0, 4130, SYS_restart_syscall);
	sleep_from(&c, 4140, TRACE_TASK_INTERRUPTIBLE);
	two_acts(&c, 6140, SYS_write, 4);
	tb_sys_exit(c.tb, 0, 6150, 1);
	case_run(&c);
	expect_ns(&c, TRACE_WAIT_PROCESS, "two", 20, "pipe", 3000);
	expect_ns(&c, TRACE_WAIT_STOPPED, "three", 30, "signal", 1000);
	CU_ASSERT_EQUAL(case_call(c.one, "poll")->calls, 2);
	CU_ASSERT_EQUAL(case_call(c.one, "restart_syscall")->calls, 0);
	expect_interruption(&c, "poll", SIGSTOP, 30, "signal", 1000, 1);
	case_free(&c);
}

/* The signal had come before the call. */
static void a_call_that_a_signal_ends_at_once_goes_on(void)
{
	struct analysis_case c = begin_with_three();

	tb_sys_enter(c.tb, 0, 2000, SYS_poll, 1, 1, 60000);
	tb_sys_exit(c.tb, 0, 2010, RESTART_BLOCK);
	sleep_from(&c, 2020, TRACE_TASK_STOPPED);
	signal_at(&c, 3020, SIGCONT);
	tb_sys_enter(c.tb, 0, 3030, SYS_restart_syscall);
	sleep_from(&c, 3040, TRACE_TASK_INTERRUPTIBLE);
	two_acts(&c, 5040, SYS_write, 4);
	tb_sys_exit(c.tb, 0, 5050, 1);
	case_run(&c);
	expect_ns(&c, TRACE_WAIT_PROCESS, "two", 20, "pipe", 2000);
	CU_ASSERT_EQUAL(case_call(c.one, "poll")->calls, 2);
	CU_ASSERT_EQUAL(case_call(c.one, "restart_syscall")->calls, 0);
	case_free(&c);
}

/* The second signal comes before the call that continues the first one waits. */
static void a_call_that_signals_end_twice_goes_on(void)
{
	struct analysis_case c = begin_with_three();

	tb_sys_enter(c.tb, 0, 2000, SYS_poll, 1, 1, 60000);
	sleep_from(&c, 2100, TRACE_TASK_INTERRUPTIBLE);
	signal_at(&c, 2600, SIGCONT);
	tb_sys_exit(c.tb, 0, 2610, RESTART_BLOCK);
	tb_sys_enter(c.tb, 0, 2620, SYS_restart_syscall);
	tb_sys_exit(c.tb, 0, 2630, RESTART_BLOCK);
	tb_sys_enter(c.tb, 0, 2720, SYS_restart_syscall);
	sleep_from(&c, 2730, TRACE_TASK_INTERRUPTIBLE);
	two_acts(&c, 4730, SYS_write, 4);
	tb_sys_exit(c.tb, 0, 4740, 1);
	case_run(&c);
	expect_ns(&c, TRACE_WAIT_PROCESS, "two", 20, "pipe", 2500);
	CU_ASSERT_EQUAL(case_call(c.one, "poll")->calls, 3);
	case_free(&c);
}

/*
 * 20 releases the lock at 3000 and has it again before 10 runs. A signal ends the next wait, and
 * then 10 gets the lock: the second wait is for a lock, too, but nothing tells its owner.
 */
static void a_wait_behind_the_release_of_its_lock_is_counted(void)
{
	struct analysis_case c = begin_with_three();

	tb_fd(c.tb, 10, 9, 1, 100, S_IFREG | 0600, "/tmp/lock");
	tb_fd(c.tb, 20, 9, 1, 100, S_IFREG | 0600, "/tmp/lock");
	tb_sys_enter(c.tb, 0, 2000, SYS_flock, 9, LOCK_EX, 0);
	sleep_from(&c, 2100, TRACE_TASK_INTERRUPTIBLE);
	tb_sys_enter(c.tb, 1, 2950, SYS_flock, 9, LOCK_UN, 0);
	tb_waking(c.tb, 1, 3000, 10, TRACE_CONTEXT_TASK);
	tb_sys_exit(c.tb, 1, 3010, 0);
	run_from(&c, 3050);
	sleep_from(&c, 3100, TRACE_TASK_INTERRUPTIBLE);
	timer_at(&c, 4100);
	tb_sys_exit(c.tb, 0, 4200, 0);
	handle(&c, 4210, SIGALRM);
	case_run(&c);
	expect_ns(&c, TRACE_WAIT_PROCESS, "two", 20, "lock", 900);
	expect_ns(&c, TRACE_WAIT_PROCESS, "unknown", 0, "lock", 1000);
	CU_ASSERT_EQUAL(trace_analysis_verify(c.analysis, NULL), 0);
	case_free(&c);
}

/* It goes on until the recording ends. */
static void a_sleep_that_was_stopped_is_a_timeout(void)
{
	for (int ended = 0; ended < 2; ended++) {
		struct analysis_case c = begin_with_three();

		tb_sys_enter(c.tb, 0, 2000, SYS_nanosleep, 1, 1, 0);
		sleep_from(&c, 2100, TRACE_TASK_INTERRUPTIBLE);
		signal_at(&c, 3100, SIGSTOP);
		tb_sys_exit(c.tb, 0, 3110, RESTART_BLOCK);
		sleep_from(&c, 3120, TRACE_TASK_STOPPED);
		signal_at(&c, 4120, SIGCONT);
		tb_sys_enter(c.tb, 0, 4130, SYS_restart_syscall);
		sleep_from(&c, 4140, TRACE_TASK_INTERRUPTIBLE);
		if (ended) {
			tb_vector(c.tb, 1, 6000, TRACE_VECTOR_LOCAL_TIMER);
			tb_add(c.tb, 1, 6100, hrtimer_expire, NULL, .timer = 1);
			tb_waking(c.tb, 1, 6140, 10, TRACE_CONTEXT_HARDIRQ);
			run_from(&c, 6150);
			tb_sys_exit(c.tb, 0, 6160, 0);
		}
		case_run(&c);
		expect_ns(&c, TRACE_WAIT_TIMEOUT, "", 0, "", ended ? 3000 : 1000 + 4860);
		expect_ns(&c, TRACE_WAIT_STOPPED, "three", 30, "signal", 1000);
		case_free(&c);
	}
}

/* The second generation of the freezer: it wakes the thread out of its call to freeze it. */
static void a_frozen_wait_goes_on_after_the_thaw(void)
{
	struct analysis_case c = begin_with_three();

	tb_fd(c.tb, 30, 5, 9, 77, S_IFREG | 0600, "/sys/fs/cgroup/box/cgroup.freeze");
	tb_sys_enter(c.tb, 0, 2000, SYS_futex, 0x1000, 128, 2, 1, 0, 0);
	sleep_from(&c, 2100, TRACE_TASK_INTERRUPTIBLE);
	for (int thaw = 0; thaw < 2; thaw++) {
		tb_sys_enter(c.tb, 2, 3000 + 1000 * thaw, SYS_write, 5, 1, 1);
		tb_waking(c.tb, 2, 3100 + 1000 * thaw, 10, TRACE_CONTEXT_TASK);
		tb_sys_exit(c.tb, 2, 3105 + 1000 * thaw, 1);
		run_from(&c, 3110 + 1000 * thaw);
		if (thaw)
			break;
		tb_sys_exit(c.tb, 0, 3115, RESTART_BLOCK);
		sleep_from(&c, 3120, TRACE_TASK_INTERRUPTIBLE);
	}
	tb_sys_enter(c.tb, 0, 4120, SYS_restart_syscall);
	sleep_from(&c, 4130, TRACE_TASK_INTERRUPTIBLE);
	case_run(&c);
	expect_ns(&c, TRACE_WAIT_PROCESS, "one", 10, "futex", 1000 + 4870);
	expect_ns(&c, TRACE_WAIT_STOPPED, "three", 30, "freezer", 980);
	expect_interruption(&c, "futex", 0, 30, "freezer", 1000, 1);
	case_free(&c);
}

static void a_program_that_calls_again_goes_on(void)
{
	struct analysis_case c = begin_with_three();

	tb_sys_enter(c.tb, 0, 2000, SYS_read, 3, 1, 1);
	sleep_from(&c, 2100, TRACE_TASK_INTERRUPTIBLE);
	signal_at(&c, 3100, SIGUSR1);
	tb_sys_exit(c.tb, 0, 3110, RESTART_SYS);
	handle(&c, 3120, SIGUSR1);
	tb_sys_enter(c.tb, 0, 3300, SYS_read, 3, 1, 1);
	sleep_from(&c, 3400, TRACE_TASK_INTERRUPTIBLE);
	two_acts(&c, 4400, SYS_write, 4);
	tb_sys_exit(c.tb, 0, 4500, 1);
	case_run(&c);
	expect_ns(&c, TRACE_WAIT_PROCESS, "two", 20, "pipe", 2000);
	expect_interruption(&c, "read", SIGUSR1, 30, "signal", 1000, 1);
	case_free(&c);
}

/* A profiling timer's handler, and the program polls the same again. The timeout may be another. */
static void poll_twice(struct analysis_case *c, uint64_t again_ns, bool handler_calls, int fds)
{
	tb_sys_enter(c->tb, 0, 2000, SYS_poll, 1, 1, 60000);
	sleep_from(c, 2100, TRACE_TASK_INTERRUPTIBLE);
	timer_at(c, 3100);
	tb_sys_exit(c->tb, 0, 3110, -EINTR);
	tb_add(c->tb, 0, 3120, signal_deliver, NULL, .signal = SIGALRM, .handler = HANDLER);
	if (handler_calls) {
		tb_sys_enter(c->tb, 0, 3130, SYS_getpid);
		tb_sys_exit(c->tb, 0, 3140, 10);
	}
	tb_sys_enter(c->tb, 0, 3150, SYS_rt_sigreturn);
	tb_sys_exit(c->tb, 0, 3155, -EINTR);
	tb_sys_enter(c->tb, 0, again_ns, SYS_poll, 1, fds, 59000);
	sleep_from(c, again_ns + 10, TRACE_TASK_INTERRUPTIBLE);
	two_acts(c, again_ns + 2010, SYS_write, 4);
	tb_sys_exit(c->tb, 0, again_ns + 2020, 1);
	case_run(c);
}

static void a_poll_that_a_handler_interrupts_goes_on(void)
{
	struct analysis_case c = begin_with_three();

	poll_twice(&c, 3300, false, 1);
	expect_ns(&c, TRACE_WAIT_PROCESS, "two", 20, "pipe", 3000);
	expect_interruption(&c, "poll", SIGALRM, 0, "signal", 1000, 1);
	case_free(&c);
}

/* The handler may have told the program something, or the program did something after it. */
static void a_poll_after_which_the_program_acts_is_for_the_signal(void)
{
	static const struct {
		uint64_t again_ns;
		bool handler_calls;
		int fds;
	} ways[] = {{3300, true, 1}, {300000, false, 1}, {3300, false, 2}};

	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		struct analysis_case c = begin_with_three();

		poll_twice(&c, ways[i].again_ns, ways[i].handler_calls, ways[i].fds);
		expect_ns(&c, TRACE_WAIT_PROCESS, "two", 20, "pipe", 2000);
		expect_ns(&c, TRACE_WAIT_TIMEOUT, "", 0, "", 1000);
		case_free(&c);
	}
}

/* The program polls again, and finds something at once: the signal ended the wait. */
static void a_second_poll_without_a_wait_does_not_go_on(void)
{
	struct analysis_case c = begin_with_three();

	tb_sys_enter(c.tb, 0, 2000, SYS_poll, 1, 1, 60000);
	sleep_from(&c, 2100, TRACE_TASK_INTERRUPTIBLE);
	timer_at(&c, 3100);
	tb_sys_exit(c.tb, 0, 3110, -EINTR);
	tb_add(c.tb, 0, 3120, signal_deliver, NULL, .signal = SIGALRM, .handler = HANDLER);
	tb_sys_enter(c.tb, 0, 3150, SYS_rt_sigreturn);
	tb_sys_exit(c.tb, 0, 3155, -EINTR);
	tb_sys_enter(c.tb, 0, 3300, SYS_poll, 1, 1, 0);
	tb_sys_exit(c.tb, 0, 3310, 1);
	case_run(&c);
	expect_ns(&c, TRACE_WAIT_TIMEOUT, "", 0, "", 1000);
	case_free(&c);
}

/*
 * io_uring_enter() returns how many requests it has submitted, and the program waits for them
 * again. The handler of a timer's signal may run in between, or nothing.
 */
static void an_interrupted_wait_for_a_ring_goes_on(void)
{
	for (int stops = 0; stops < 2; stops++) {
		struct analysis_case c = begin_with_three();

		tb_string(c.tb, TRACE_STRING_SYSCALL, SYS_io_uring_enter, "io_uring_enter");
		tb_sys_enter(c.tb, 0, 2000, SYS_io_uring_enter, 5, 1, 1, 1);
		sleep_from(&c, 2100, TRACE_TASK_INTERRUPTIBLE);
		if (stops)
			signal_at(&c, 3100, SIGSTOP);
		else
			timer_at(&c, 3100);
		tb_sys_exit(c.tb, 0, 3110, 1);
		if (!stops) {
			tb_add(c.tb, 0, 3120, signal_deliver, NULL, .signal = SIGALRM, .handler = HANDLER);
			tb_sys_enter(c.tb, 0, 3150, SYS_rt_sigreturn);
			tb_sys_exit(c.tb, 0, 3155, 1);
		}
		tb_sys_enter(c.tb, 0, 3300, SYS_io_uring_enter, 5, 0, 1, 1);
		sleep_from(&c, 3310, TRACE_TASK_INTERRUPTIBLE);
		two_acts(&c, 5310, SYS_write, 4);
		tb_sys_exit(c.tb, 0, 5320, 0);
		case_run(&c);
		expect_ns(&c, TRACE_WAIT_PROCESS, "two", 20, "io_uring", 3000);
		expect_interruption(&c, "io_uring_enter", stops ? SIGSTOP : SIGALRM, stops ? 30 : 0, "signal", 1000, 1);
		case_free(&c);
	}
}

static void completes(struct analysis_case *c, uint32_t cpu, uint64_t ns)
{
	struct trace_uring_complete complete = {.req = 0x100, .res = 1};

	tb_event(c->tb, cpu, ns, TRACE_EV_uring_complete, &complete, sizeof(complete), NULL);
}

/*
 * 10 has a request of its ring for the pipe of 20, and waits for the result: a poll() of the ring,
 * or a read of the ring's eventfd. The write interrupts the call, and 10 completes the request.
 */
static struct analysis_case waits_for_a_request(bool polls, bool by_timer)
{
	struct trace_uring_submit submit = {.req = 0x100, .opcode = 6, .fd = 3};
	struct analysis_case c = begin_with_three();

	tb_string(c.tb, TRACE_STRING_SYSCALL, SYS_io_uring_enter, "io_uring_enter");
	tb_string(c.tb, TRACE_STRING_SYSCALL, SYS_poll, "poll");
	tb_fd(c.tb, 10, 6, 10, 600, 0600, "anon_inode:[eventfd]");
	tb_sys_enter(c.tb, 0, 1500, SYS_io_uring_enter, 5, 1, 0, 0);
	tb_event(c.tb, 0, 1510, TRACE_EV_uring_submit, &submit, sizeof(submit), NULL);
	tb_sys_exit(c.tb, 0, 1520, 1);
	tb_sys_enter(c.tb, 0, 2000, polls ? SYS_poll : SYS_read, polls ? 0x7000 : 6, 1, 8);
	sleep_from(&c, 2100, TRACE_TASK_INTERRUPTIBLE);
	if (by_timer)
		timer_at(&c, 3100);
	else
		two_acts(&c, 3100, SYS_write, 4);
	tb_sys_exit(c.tb, 0, 3150, polls ? RESTART_BLOCK : RESTART_SYS);
	return c;
}

static void ends_at_once(struct analysis_case *c, bool polls)
{
	tb_sys_enter(c->tb, 0, 3200, polls ? SYS_restart_syscall : SYS_read, polls ? 0 : 6, 1, 8);
	tb_sys_exit(c->tb, 0, 3210, 1);
	case_run(c);
}

static void a_request_that_interrupts_its_submitter_ends_the_wait(void)
{
	for (int polls = 0; polls < 2; polls++) {
		struct analysis_case c = waits_for_a_request(polls, false);
		size_t nr;

		completes(&c, 0, 3160);
		ends_at_once(&c, polls);
		expect_ns(&c, TRACE_WAIT_PROCESS, "two", 20, "io_uring", 1000);
		free(trace_interruptions(c.analysis, &nr));
		CU_ASSERT_EQUAL(nr, 0);
		case_free(&c);
	}
}

/* Another thread completes it, it was complete before, or a signal interrupted the call. */
static void only_a_request_of_that_moment_ends_the_wait(void)
{
	for (int way = 0; way < 3; way++) {
		struct analysis_case c = waits_for_a_request(true, way == 2);

		completes(&c, way == 0 ? 1 : 0, way == 1 ? 1515 : 3160);
		ends_at_once(&c, true);
		expect_ns(&c, TRACE_WAIT_OTHER, "poll", 0, "poll", 1000);
		case_free(&c);
	}
}

/* A read of a signalfd waits for a signal: its sender did not interrupt the read. */
static void an_interrupted_read_of_a_signalfd_is_for_the_sender(void)
{
	struct analysis_case c = begin_with_three();

	tb_fd(c.tb, 10, 5, 14, 1, 0, "anon_inode:[signalfd]");
	tb_sys_enter(c.tb, 0, 2000, SYS_read, 5, 0, 128);
	sleep_from(&c, 2100, TRACE_TASK_INTERRUPTIBLE);
	timer_at(&c, 3100);
	tb_sys_exit(c.tb, 0, 3110, RESTART_SYS);
	handle(&c, 3120, SIGALRM);
	tb_sys_enter(c.tb, 0, 3300, SYS_read, 5, 0, 128);
	sleep_from(&c, 3400, TRACE_TASK_INTERRUPTIBLE);
	signal_at(&c, 4400, SIGUSR2);
	tb_sys_exit(c.tb, 0, 4410, 128);
	case_run(&c);
	expect_ns(&c, TRACE_WAIT_PROCESS, "three", 30, "signal", 2000);
	expect_interruption(&c, "read", SIGALRM, 0, "signal", 1000, 1);
	case_free(&c);
}

/* ---- calls that do not go on ---- */

static void a_read_that_ends_with_an_error_is_for_the_other_end(void)
{
	struct analysis_case c = begin_with_three();

	tb_sys_enter(c.tb, 0, 2000, SYS_read, 3, 1, 1);
	sleep_from(&c, 2100, TRACE_TASK_INTERRUPTIBLE);
	signal_at(&c, 3100, SIGUSR1);
	tb_sys_exit(c.tb, 0, 3110, RESTART_SYS);
	handle(&c, 3120, SIGUSR1);
	tb_sys_enter(c.tb, 0, 3300, SYS_close, 3);
	tb_sys_exit(c.tb, 0, 3310, 0);
	case_run(&c);
	expect_ns(&c, TRACE_WAIT_PROCESS, "two", 20, "pipe", 1000);
	case_free(&c);
}

/* The process that had the lock is not known; the one that sent the signal did not have it. */
static void an_interrupted_call_names_no_interrupter(void)
{
	static const struct {
		uint32_t call;
		uint64_t args[3];
		enum trace_wait_kind kind;
		const char *target, *via;
		uint32_t pid;
	} calls[] = {
		{SYS_flock, {9, 2, 0}, TRACE_WAIT_PROCESS, "unknown", "lock", 0},
		{SYS_fcntl, {9, F_SETLKW, 1}, TRACE_WAIT_PROCESS, "unknown", "lock", 0},
		{SYS_futex, {0x1000, 128, 0}, TRACE_WAIT_PROCESS, "one", "futex", 10},
		{SYS_semop, {9, 1, 1}, TRACE_WAIT_PROCESS, "unknown", "semaphore", 0},
		{SYS_wait4, {-1ull, 0, 0}, TRACE_WAIT_OTHER, "wait4", "waitpid", 0},
		{SYS_nanosleep, {1, 1, 0}, TRACE_WAIT_TIMEOUT, "", "", 0},
	};

	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		struct analysis_case c = begin_with_three();

		tb_sys_enter_args(c.tb, 0, 2000, calls[i].call, calls[i].args, 3);
		sleep_from(&c, 2100, TRACE_TASK_INTERRUPTIBLE);
		signal_at(&c, 3100, SIGUSR1);
		tb_sys_exit(c.tb, 0, 3110, i % 2 ? -EINTR : RESTART_SYS);
		handle(&c, 3120, SIGUSR1);
		tb_sys_enter(c.tb, 0, 3300, SYS_getpid);
		tb_sys_exit(c.tb, 0, 3310, 10);
		case_run(&c);
		expect_ns(&c, calls[i].kind, calls[i].target, calls[i].pid, calls[i].via, 1000);
		case_free(&c);
	}
}

/* A file's lock is of a process that has the file open. */
static void an_interrupted_wait_for_a_lock_is_for_the_only_other_opener(void)
{
	static const struct {
		uint32_t call;
		uint64_t command;
		uint32_t task_state;
		bool three_has_it, one_has_it_twice;
		const char *target;
		uint32_t pid;
	} waits[] = {
		{SYS_fcntl, F_SETLKW, TRACE_TASK_INTERRUPTIBLE, false, false, "two", 20},
		{SYS_fcntl, F_SETLKW, TRACE_TASK_INTERRUPTIBLE, false, true, "two", 20},
		{SYS_fcntl, F_SETLKW, TRACE_TASK_INTERRUPTIBLE, true, false, "several", 0},
		{SYS_fcntl, F_SETLKW, TRACE_TASK_UNINTERRUPTIBLE, false, false, "unknown", 0},
		{SYS_fcntl, 38 /* F_OFD_SETLKW */, TRACE_TASK_INTERRUPTIBLE, false, false, "two", 20},
		{SYS_fcntl, 38, TRACE_TASK_INTERRUPTIBLE, false, true, "unknown", 0},
		{SYS_flock, LOCK_EX, TRACE_TASK_INTERRUPTIBLE, false, false, "two", 20},
		{SYS_flock, LOCK_EX, TRACE_TASK_INTERRUPTIBLE, false, true, "unknown", 0},
	};

	for (size_t i = 0; i < sizeof(waits) / sizeof(waits[0]); i++) {
		struct analysis_case c = begin_with_three();

		tb_fd(c.tb, 10, 9, 1, 100, S_IFREG | 0600, "/tmp/lock");
		tb_fd(c.tb, 20, 5, 1, 100, S_IFREG | 0600, "/tmp/lock");
		if (waits[i].three_has_it)
			tb_fd(c.tb, 30, 6, 1, 100, S_IFREG | 0600, "/tmp/lock");
		if (waits[i].one_has_it_twice)
			tb_fd(c.tb, 10, 11, 1, 100, S_IFREG | 0600, "/tmp/lock");
		tb_sys_enter(c.tb, 0, 2000, waits[i].call, 9, waits[i].command, 1);
		sleep_from(&c, 2100, waits[i].task_state);
		signal_at(&c, 3100, SIGUSR1);
		tb_sys_exit(c.tb, 0, 3110, -EINTR);
		handle(&c, 3120, SIGUSR1);
		tb_sys_enter(c.tb, 0, 3300, SYS_getpid);
		tb_sys_exit(c.tb, 0, 3310, 10);
		case_run(&c);
		expect_ns(&c, TRACE_WAIT_PROCESS, waits[i].target, waits[i].pid, "lock", 1000);
		case_free(&c);
	}
}

/* The signal of a child that exits has no event of its own with the wakeup, but its delivery. */
static void the_delivery_tells_which_signal_interrupted(void)
{
	struct analysis_case c = begin_with_three();

	tb_sys_enter(c.tb, 0, 2000, SYS_read, 3, 1, 1);
	sleep_from(&c, 2100, TRACE_TASK_INTERRUPTIBLE);
	tb_waking(c.tb, 2, 3100, 10, TRACE_CONTEXT_TASK);
	run_from(&c, 3105);
	tb_sys_exit(c.tb, 0, 3110, RESTART_SYS);
	handle(&c, 3120, SIGCHLD);
	tb_sys_enter(c.tb, 0, 3300, SYS_read, 3, 1, 1);
	sleep_from(&c, 3400, TRACE_TASK_INTERRUPTIBLE);
	two_acts(&c, 4400, SYS_write, 4);
	tb_sys_exit(c.tb, 0, 4500, 1);
	case_run(&c);
	expect_ns(&c, TRACE_WAIT_PROCESS, "two", 20, "pipe", 2000);
	expect_interruption(&c, "read", SIGCHLD, 30, "signal", 1000, 1);
	case_free(&c);
}

/* The result names the futex of futex_waitv(2), so its arguments are others at the end. */
static void an_interrupted_wait_for_several_futexes_is_for_the_waker(void)
{
	struct trace_futex_woken woken = {.address = 0x5000, .index = 1};
	struct analysis_case c = begin_with_three();

	tb_string(c.tb, TRACE_STRING_SYSCALL, SYS_futex_waitv, "futex_waitv");
	tb_sys_enter(c.tb, 0, 2000, SYS_futex_waitv, TRACE_ARG_ADDRESS, 2, 0, 0, 0);
	sleep_from(&c, 2100, TRACE_TASK_INTERRUPTIBLE);
	timer_at(&c, 3100);
	tb_sys_exit(c.tb, 0, 3110, -EINTR);
	handle(&c, 3120, SIGALRM);
	tb_sys_enter(c.tb, 0, 3300, SYS_futex_waitv, TRACE_ARG_ADDRESS, 2, 0, 0, 0);
	sleep_from(&c, 3400, TRACE_TASK_INTERRUPTIBLE);
	two_acts(&c, 4400, SYS_futex, 0x5000);
	tb_event(c.tb, 0, 4450, TRACE_EV_futex_woken, &woken, sizeof(woken), NULL);
	tb_sys_exit(c.tb, 0, 4500, 1);
	case_run(&c);
	expect_ns(&c, TRACE_WAIT_PROCESS, "two", 20, "futex", 2000);
	case_free(&c);
}

/* sigtimedwait() of SIGUSR1: SIGALRM with a handler interrupts it, SIGUSR1 is what it waits for. */
static void a_sigtimedwait_is_for_the_sender_of_its_own_signals(void)
{
	struct analysis_case c = begin_with_three();

	tb_string(c.tb, TRACE_STRING_SYSCALL, SYS_rt_sigtimedwait, "rt_sigtimedwait");
	tb_sys_enter(c.tb, 0, 2000, SYS_rt_sigtimedwait, 1, 0, 1, 8);
	sleep_from(&c, 2100, TRACE_TASK_INTERRUPTIBLE);
	timer_at(&c, 3100);
	tb_sys_exit(c.tb, 0, 3110, -EINTR);
	handle(&c, 3120, SIGALRM);
	tb_sys_enter(c.tb, 0, 3300, SYS_rt_sigtimedwait, 1, 0, 1, 8);
	sleep_from(&c, 3400, TRACE_TASK_INTERRUPTIBLE);
	signal_at(&c, 4400, SIGUSR1);
	tb_sys_exit(c.tb, 0, 4500, SIGUSR1);
	case_run(&c);
	expect_ns(&c, TRACE_WAIT_PROCESS, "three", 30, "signal", 2000);
	expect_interruption(&c, "rt_sigtimedwait", SIGALRM, 0, "signal", 1000, 1);
	case_free(&c);
}

/* pause() in a loop: each signal with a handler ends one. A stop ends none. */
static void a_pause_is_for_the_sender_of_the_signal_that_is_handled(void)
{
	struct analysis_case c = begin_with_three();

	tb_sys_enter(c.tb, 0, 2000, SYS_pause);
	sleep_from(&c, 2100, TRACE_TASK_INTERRUPTIBLE);
	tb_sys_enter(c.tb, 1, 3000, SYS_kill, 10, SIGSTOP, 0);
	tb_waking(c.tb, 1, 3100, 10, TRACE_CONTEXT_TASK);
	tb_add(c.tb, 1, 3101, signal_generate, NULL, .tid = 10, .signal = SIGSTOP, .group = 1);
	run_from(&c, 3105);
	tb_sys_exit(c.tb, 0, 3110, NO_HAND);
	sleep_from(&c, 3120, TRACE_TASK_STOPPED);
	tb_waking(c.tb, 1, 4120, 10, TRACE_CONTEXT_TASK);
	run_from(&c, 4125);
	tb_sys_enter(c.tb, 0, 4130, SYS_pause);
	sleep_from(&c, 4140, TRACE_TASK_INTERRUPTIBLE);
	signal_at(&c, 5140, SIGUSR1);
	tb_sys_exit(c.tb, 0, 5150, NO_HAND);
	handle(&c, 5160, SIGUSR1);
	tb_sys_enter(c.tb, 0, 5300, SYS_pause);
	sleep_from(&c, 5400, TRACE_TASK_INTERRUPTIBLE);
	timer_at(&c, 6400);
	tb_sys_exit(c.tb, 0, 6410, NO_HAND);
	handle(&c, 6420, SIGALRM);
	case_run(&c);
	expect_ns(&c, TRACE_WAIT_PROCESS, "three", 30, "signal", 2000);
	expect_ns(&c, TRACE_WAIT_STOPPED, "two", 20, "signal", 1000);
	expect_ns(&c, TRACE_WAIT_TIMEOUT, "", 0, "", 1000);
	case_free(&c);
}

static void a_killed_reader_waited_for_the_writer(void)
{
	struct analysis_case c = begin_with_three();

	tb_sys_enter(c.tb, 0, 2000, SYS_read, 3, 1, 1);
	sleep_from(&c, 2100, TRACE_TASK_INTERRUPTIBLE);
	signal_at(&c, 3100, SIGKILL);
	tb_sys_exit(c.tb, 0, 3110, RESTART_SYS);
	tb_exit(c.tb, 0, 3120, 10, 10, true);
	sleep_from(&c, 3130, TRACE_TASK_DEAD);
	case_run(&c);
	expect_ns(&c, TRACE_WAIT_PROCESS, "two", 20, "pipe", 1000);
	case_free(&c);
}

/* 30 kills the process of 10 and 11 at @ns: the kernel wakes both, and reports the signal. */
static void two_are_killed(struct analysis_case *c, uint64_t ns)
{
	tb_sys_enter(c->tb, 2, ns - 20, SYS_kill, 10, SIGTERM, 0);
	tb_waking(c->tb, 2, ns, 10, TRACE_CONTEXT_TASK);
	tb_waking(c->tb, 2, ns + 10, 11, TRACE_CONTEXT_TASK);
	tb_add(c->tb, 2, ns + 11, signal_generate, NULL, .tid = 10, .signal = SIGTERM, .group = 1);
	tb_sys_exit(c->tb, 2, ns + 20, 0);
}

/* The signal woke 10. Its byte came before it ran, so read() returns it: 30 has not written it. */
static void what_comes_before_a_killed_thread_runs_is_not_the_senders(void)
{
	struct analysis_case c = begin_with_three();

	tb_thread(c.tb, 11, 10, 1, "second", 0, false);
	tb_sys_enter(c.tb, 0, 2000, SYS_read, 3, 1, 1);
	sleep_from(&c, 2100, TRACE_TASK_INTERRUPTIBLE);
	two_are_killed(&c, 3100);
	run_from(&c, 3200);
	tb_sys_exit(c.tb, 0, 3210, 1);
	tb_exit(c.tb, 0, 3220, 10, 10, true);
	sleep_from(&c, 3230, TRACE_TASK_DEAD);
	case_run(&c);
	expect_ns(&c, TRACE_WAIT_PROCESS, "two", 20, "pipe", 1000);
	expect_interruption(&c, "read", SIGTERM, 30, "signal", 1000, 1);
	case_free(&c);
}

/* More pieces than are kept: the oldest are decided by the call alone. */
static void any_number_of_interruptions_adds_up(void)
{
	struct analysis_case c = begin_with_three();

	tb_sys_enter(c.tb, 0, 1500, SYS_read, 3, 1, 1);
	for (uint64_t ns = 1500; ns < 201500; ns += 100) {
		sleep_from(&c, ns + 10, TRACE_TASK_INTERRUPTIBLE);
		timer_at(&c, ns + 60);
		tb_sys_exit(c.tb, 0, ns + 70, RESTART_SYS);
		tb_sys_enter(c.tb, 0, ns + 80, SYS_read, 3, 1, 1);
	}
	case_run(&c);
	expect_ns(&c, TRACE_WAIT_PROCESS, "two", 20, "pipe", 2000 * 50);
	expect_interruption(&c, "read", SIGALRM, 0, "signal", 2000 * 50, 2000);
	case_free(&c);
}

/* ---- stops ---- */

static void a_traced_thread_is_stopped_by_its_tracer(void)
{
	struct analysis_case c = begin_with_three();

	tb_sys_enter(c.tb, 0, 2000, SYS_getpid);
	tb_sys_exit(c.tb, 0, 2010, 10);
	sleep_from(&c, 2100, TRACE_TASK_TRACED);
	tb_sys_enter(c.tb, 2, 3000, SYS_ptrace, 24, 10, 0, 0);
	tb_waking(c.tb, 2, 3100, 10, TRACE_CONTEXT_TASK);
	run_from(&c, 3110);
	sleep_from(&c, 3200, TRACE_TASK_TRACED); /* until the end */
	case_run(&c);
	expect_ns(&c, TRACE_WAIT_STOPPED, "three", 30, "ptrace", 1000 + 5800);
	case_free(&c);
}

static void a_stop_that_lasts_is_by_the_process_that_stopped(void)
{
	struct analysis_case c = begin_with_three();

	tb_sys_enter(c.tb, 0, 2000, SYS_read, 3, 1, 1);
	sleep_from(&c, 2100, TRACE_TASK_INTERRUPTIBLE);
	signal_at(&c, 3100, SIGSTOP);
	tb_sys_exit(c.tb, 0, 3110, RESTART_SYS);
	sleep_from(&c, 3120, TRACE_TASK_STOPPED);
	case_run(&c);
	expect_ns(&c, TRACE_WAIT_STOPPED, "three", 30, "signal", 5880);
	expect_ns(&c, TRACE_WAIT_PROCESS, "two", 20, "pipe", 1000);
	case_free(&c);
}

/* Events are missing in its wait, so that the wait is told without the call. */
static void a_call_goes_on_after_a_wait_with_missing_events(void)
{
	struct trace_trace_heartbeat heartbeat = {0};
	struct analysis_case c = begin_with_three();

	tb_sys_enter(c.tb, 0, 2000, SYS_poll, 1, 1, 60000);
	sleep_from(&c, 2100, TRACE_TASK_INTERRUPTIBLE);
	tb_event(c.tb, 2, 2200, TRACE_EV_trace_heartbeat, &heartbeat, sizeof(heartbeat), NULL);
	tb_lost(c.tb, 2, 5);
	tb_event(c.tb, 2, 2300, TRACE_EV_trace_heartbeat, &heartbeat, sizeof(heartbeat), NULL);
	signal_at(&c, 2600, SIGCONT);
	tb_sys_exit(c.tb, 0, 2700, RESTART_BLOCK);
	tb_sys_enter(c.tb, 0, 2720, SYS_restart_syscall);
	sleep_from(&c, 2730, TRACE_TASK_INTERRUPTIBLE);
	two_acts(&c, 4730, SYS_write, 4);
	tb_sys_exit(c.tb, 0, 4740, 1);
	case_run(&c);
	CU_ASSERT_EQUAL(case_call(c.one, "poll")->calls, 2);
	CU_ASSERT_EQUAL(case_call(c.one, "restart_syscall")->calls, 0);
	case_free(&c);
}

/* restart_syscall() continues a call from before the trace. The recorder reads a later one. */
static void a_call_from_before_the_trace_may_go_on_in_restart_syscall(void)
{
	struct trace_start_thread start = {
		.tid = 10, .tgid = 10, .ppid = 1, .state = TRACE_TASK_INTERRUPTIBLE, .nr = SYS_poll};
	struct analysis_case c = case_new();

	tb_string(c.tb, TRACE_STRING_SYSCALL, SYS_restart_syscall, "restart_syscall");
	tb_start(c.tb, 8000, TRACE_EV_start_thread, &start, sizeof(start), "one");
	tb_thread(c.tb, 20, 20, 1, "two", 1, true);
	tb_waking(c.tb, 1, 1500, 10, TRACE_CONTEXT_TASK);
	run_from(&c, 1510);
	tb_sys_exit(c.tb, 0, 2000, RESTART_BLOCK);
	tb_sys_enter(c.tb, 0, 2100, SYS_restart_syscall);
	sleep_from(&c, 2200, TRACE_TASK_INTERRUPTIBLE);
	two_acts(&c, 3000, SYS_write, 4);
	tb_sys_exit(c.tb, 0, 3100, 0);
	tb_sys_enter(c.tb, 0, 5000, SYS_poll, 1, 1, 60000);
	sleep_from(&c, 5100, TRACE_TASK_INTERRUPTIBLE);
	tb_switch(c.tb, 1, 9000, 20, 0, TRACE_TASK_RUNNING);
	case_run(&c);
	CU_ASSERT_EQUAL(case_call(c.one, "restart_syscall")->calls, 1);
	case_free(&c);
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		CASE(a_read_of_a_pipe_never_waits_for_a_timer),
		CASE(a_read_that_a_timers_signal_interrupts_is_for_the_writer),
		CASE(a_signal_while_a_hidden_thread_runs_interrupts_as_well),
		CASE(a_process_that_began_after_an_interruption_ends_the_whole_wait),
		CASE(a_process_that_began_after_the_wait_is_not_what_it_waited_for),
		CASE(a_poll_that_was_stopped_is_for_the_process_that_ended_it),
		CASE(a_call_that_a_signal_ends_at_once_goes_on),
		CASE(a_call_that_signals_end_twice_goes_on),
		CASE(a_wait_behind_the_release_of_its_lock_is_counted),
		CASE(a_sleep_that_was_stopped_is_a_timeout),
		CASE(a_frozen_wait_goes_on_after_the_thaw),
		CASE(a_program_that_calls_again_goes_on),
		CASE(a_read_that_ends_with_an_error_is_for_the_other_end),
		CASE(an_interrupted_call_names_no_interrupter),
		CASE(a_pause_is_for_the_sender_of_the_signal_that_is_handled),
		CASE(a_read_that_the_exit_of_the_writer_ends_is_for_the_writer),
		CASE(an_interrupted_wait_for_a_lock_is_for_the_only_other_opener),
		CASE(the_delivery_tells_which_signal_interrupted),
		CASE(a_sigtimedwait_is_for_the_sender_of_its_own_signals),
		CASE(a_poll_that_a_handler_interrupts_goes_on),
		CASE(a_poll_after_which_the_program_acts_is_for_the_signal),
		CASE(a_second_poll_without_a_wait_does_not_go_on),
		CASE(an_interrupted_read_of_a_signalfd_is_for_the_sender),
		CASE(an_interrupted_wait_for_a_ring_goes_on),
		CASE(a_request_that_interrupts_its_submitter_ends_the_wait),
		CASE(only_a_request_of_that_moment_ends_the_wait),
		CASE(an_interrupted_wait_for_several_futexes_is_for_the_waker),
		CASE(a_killed_reader_waited_for_the_writer),
		CASE(what_comes_before_a_killed_thread_runs_is_not_the_senders),
		CASE(any_number_of_interruptions_adds_up),
		CASE(a_traced_thread_is_stopped_by_its_tracer),
		CASE(a_stop_that_lasts_is_by_the_process_that_stopped),
		CASE(a_call_goes_on_after_a_wait_with_missing_events),
		CASE(a_call_from_before_the_trace_may_go_on_in_restart_syscall),
		{NULL, NULL},
	};

	return unit_main("state_interrupted", cases, argc, argv);
}
