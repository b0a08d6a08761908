/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_rule_run_time.c - trace_analysis_verify() compares the sums of a thread with the kernel's
 * account of its life, and allows for what a tick and the host of a virtual machine may hide
 *
 * Thread 10 ("one") of process 10 runs on CPU 0.
 */
#include <signal.h>
#include "analysis_case.h"
#include "unit.h"

#define HANDLER 0x401000

static struct analysis_case begin(void)
{
	struct analysis_case c = case_new();

	tb_thread(c.tb, 10, 10, 1, "one", 0, true);
	return c;
}

/*
 * A child lives from 2,000 ns to 30,002,000 ns, and runs after @silence_ns without events.
 * @stolen_ns: what the host took of the CPU, told at the switch after that of the child
 */
static struct analysis_case lived_behind(uint64_t silence_ns, uint64_t run_ns, uint64_t stolen_ns)
{
	struct analysis_case c = begin();

	tb_window(c.tb, 1000, 40000000);
	tb_fork(c.tb, 0, 2000, 10, 30, 30, "child");
	tb_add(c.tb, 0, 2000, sched_wakeup_new, NULL, .tid = 30);
	tb_switch(c.tb, 0, 2000 + silence_ns, 10, 30, TRACE_TASK_RUNNING);
	tb_sys_exit(c.tb, 0, 3000 + silence_ns, 0);
	tb_sys_enter(c.tb, 0, 30001000, SYS_exit_group, 0);
	tb_add(c.tb, 0, 30002000, exit_times, NULL, .tid = 30, .run_ns = run_ns, .switches = 1);
	tb_switch(c.tb, 0, 30002000, 30, 10, TRACE_TASK_DEAD);
	if (stolen_ns)
		tb_add(c.tb, 0, 30003000, cpu_stolen, NULL, .ns = stolen_ns);
	tb_switch(c.tb, 0, 30003000, 10, 0, TRACE_TASK_RUNNING);
	return c;
}

static struct analysis_case lived(uint64_t run_ns)
{
	return lived_behind(0, run_ns, 0);
}

static void the_kernels_run_time_and_ours_agree(void)
{
	struct analysis_case c = lived(30000000);

	case_verify(&c, NULL);
	c = lived(25000000);
	case_verify(&c, "at 0.030001000 s thread 30 (child) has 30000000 ns of CPU time and was interrupted for 0 ns, "
			"the kernel counted 25000000 ns (exit_times)");
	c = lived(35000000);
	case_verify(&c, "the kernel counted 35000000 ns (exit_times)");
}

static void what_the_host_took_may_be_told_by_the_next_thread(void)
{
	struct analysis_case c = lived_behind(0, 22000000, 8000000);

	case_verify(&c, NULL);
	c = lived_behind(0, 22000000, 3000000);
	case_verify(&c, "the kernel counted 22000000 ns (exit_times)");
}

/* Between the kernel's look at its clock and our event. A tick without events shows no stop. */
static void a_machine_that_stood_still_at_a_switch_is_excused(void)
{
	struct analysis_case c = lived_behind(20000000, 30000000, 0);

	case_verify(&c, NULL);
	c = lived_behind(3000000, 38000000, 0);
	case_verify(&c, "the kernel counted 38000000 ns (exit_times)");
}

/* A timer interrupts the own code of a child 20 times, and the kernel counts these times for it. */
static struct analysis_case ticked(uint64_t user_ms, uint64_t system_ms, uint64_t nr_stops)
{
	struct analysis_case c = begin();

	tb_window(c.tb, 1000, 100000000);
	tb_fork(c.tb, 0, 2000, 10, 30, 30, "child");
	tb_add(c.tb, 0, 2000, sched_wakeup_new, NULL, .tid = 30);
	tb_switch(c.tb, 0, 2000, 10, 30, TRACE_TASK_RUNNING);
	tb_sys_exit(c.tb, 0, 3000, 0);
	for (uint64_t i = 1; i <= 20; i++) {
		tb_vector(c.tb, 0, i * 4000000, TRACE_VECTOR_LOCAL_TIMER);
		tb_add(c.tb, 0, i * 4000000, hrtimer_expire, NULL, .func = 0x1234);
		tb_vector_exit(c.tb, 0, i * 4000000 + 1000, TRACE_VECTOR_LOCAL_TIMER);
		if (i > nr_stops)
			continue;
		tb_switch(c.tb, 0, i * 4000000 + 2000, 30, 0, TRACE_TASK_TRACED);
		tb_waking(c.tb, 1, i * 4000000 + 2500, 30, TRACE_CONTEXT_TASK);
		tb_switch(c.tb, 0, i * 4000000 + 3000, 0, 30, TRACE_TASK_RUNNING);
		tb_add(c.tb, 0, i * 4000000 + 3500, task_work_end, NULL, .tid = 30, .exact = true);
	}
	tb_sys_enter(c.tb, 0, 82000000, SYS_exit_group, 0);
	tb_add(c.tb, 0, 82002000, exit_times, NULL, .tid = 30, .run_ns = 82000000, .switches = 1,
	       .utime_ns = user_ms * 1000000, .stime_ns = system_ms * 1000000);
	tb_switch(c.tb, 0, 82002000, 30, 10, TRACE_TASK_DEAD);
	tb_switch(c.tb, 0, 82003000, 10, 0, TRACE_TASK_RUNNING);
	return c;
}

static void the_kernels_ticks_and_ours_agree(void)
{
	struct analysis_case c = ticked(76, 4, 0);

	case_verify(&c, NULL);
	c = ticked(44, 36, 0); /* one tick of four may be late */
	case_verify(&c, NULL);
	c = ticked(28, 52, 0);
	case_verify(&c, "thread 30 (child) was in its own code at 20 timer ticks, 0 of them doubtful, the kernel "
			"counted 7 (exit_times)");
}

/* The exceptions by which a debugger steps through a program have no events. */
static void the_ticks_of_steps_may_be_the_kernels(void)
{
	struct analysis_case c = ticked(4, 76, 16);

	case_verify(&c, NULL);
	c = ticked(4, 76, 2);
	case_verify(&c, "was in its own code at 20 timer ticks, 2 of them doubtful, the kernel counted 1 (exit_times)");
}

/*
 * A child that lives from @from_ns on. The tick expires @ticks times in its calls, and the end of
 * another program's sleep interrupts its own code @sleeps times. The kernel counts @counted ticks.
 */
static void child_of_two_timers(struct analysis_case *c, uint32_t tid, uint64_t from_ns, uint64_t ticks,
				uint64_t sleeps, uint64_t counted)
{
	tb_sys_enter(c->tb, 0, from_ns, SYS_clone, 0);
	tb_fork(c->tb, 0, from_ns + 1000, 10, tid, tid, "child");
	tb_add(c->tb, 0, from_ns + 1000, sched_wakeup_new, NULL, .tid = tid);
	tb_switch(c->tb, 0, from_ns + 1000, 10, tid, TRACE_TASK_RUNNING);
	tb_sys_exit(c->tb, 0, from_ns + 2000, 0);
	for (uint64_t i = 1; i <= 22; i++) {
		uint64_t ns = from_ns + i * 4000000;

		tb_sys_enter(c->tb, 0, ns - 1000000, SYS_getppid, 0);
		tb_vector(c->tb, 0, ns, TRACE_VECTOR_LOCAL_TIMER);
		if (i <= ticks)
			tb_add(c->tb, 0, ns, hrtimer_expire, NULL, .func = 0x1234);
		tb_vector_exit(c->tb, 0, ns + 1000, TRACE_VECTOR_LOCAL_TIMER);
		tb_sys_exit(c->tb, 0, ns + 2000, 1);
		if (i > sleeps)
			continue;
		tb_vector(c->tb, 0, ns + 500000, TRACE_VECTOR_LOCAL_TIMER);
		tb_add(c->tb, 0, ns + 500000, hrtimer_expire, NULL, .func = 0x5678);
		tb_vector_exit(c->tb, 0, ns + 501000, TRACE_VECTOR_LOCAL_TIMER);
	}
	tb_sys_enter(c->tb, 0, from_ns + 90000000, SYS_exit_group, 0);
	tb_add(c->tb, 0, from_ns + 90002000, exit_times, NULL, .tid = tid, .run_ns = 90000000, .switches = 1,
	       .utime_ns = 4000000, .stime_ns = (counted - 1) * 4000000);
	tb_switch(c->tb, 0, from_ns + 90002000, tid, 10, TRACE_TASK_DEAD);
	tb_sys_exit(c->tb, 0, from_ns + 90003000, tid);
}

/*
 * The sleeps end as often as ticks are counted: 2 of 22 ticks are not, because the host took the
 * CPU.
 */
static void a_timer_that_expires_as_often_is_not_the_tick(void)
{
	struct analysis_case c = begin();

	tb_window(c.tb, 1000, 100000000);
	tb_add(c.tb, 1, 12000000, cpu_stolen, NULL, .ns = 8000000);
	child_of_two_timers(&c, 30, 2000, 22, 20, 20);
	case_verify(&c, NULL);
}

/*
 * The kernel counts 20 ticks of the second child, and sleeps end as often. Sleeps during the first
 * child were fewer than its ticks.
 */
static void a_timer_that_is_not_the_tick_of_one_thread_is_not_that_of_another(void)
{
	struct analysis_case c = begin();

	tb_window(c.tb, 1000, 200000000);
	child_of_two_timers(&c, 30, 2000, 22, 12, 22);
	child_of_two_timers(&c, 31, 100000000, 22, 20, 20);
	case_verify(&c, NULL);
}

/* The tick has too few expiries for a comparison, but as many as were counted. */
static void a_timer_beside_a_rarer_one_that_fits_is_not_the_tick(void)
{
	struct analysis_case c = begin();

	tb_window(c.tb, 1000, 100000000);
	child_of_two_timers(&c, 30, 2000, 9, 10, 9);
	case_verify(&c, NULL);
}

/* 20 ticks of 1 ms would be the same time, but 8 ms and 12 ms are 5 ticks of 4 ms. */
static void another_timer_is_not_the_tick(void)
{
	struct analysis_case c = ticked(8, 12, 0);

	case_verify(&c, NULL);
}

/*
 * The tick comes 20 times where our accounting has own code. In these places the kernel may be in
 * system mode, or is surely not:
 */
static const struct {
	uint64_t behind_call, behind_switch, before_call, before_switch; /* ns; 0: none */
	uint64_t before_exception;					 /* its signal */
	bool is_doubtful;
} places[] = {
	{.behind_call = 3000, .is_doubtful = true},
	{.behind_switch = 3000, .is_doubtful = true},
	{.before_call = 3000, .is_doubtful = true},
	{.before_exception = 3000, .is_doubtful = true},
	{.behind_call = 30000, .before_call = 3000, .is_doubtful = true},
	{.before_switch = 3000},
	{.behind_call = 30000},
	{.behind_switch = 30000},
	{.before_call = 30000},
	{.before_exception = 30000},
	{0},
};

static struct analysis_case ticked_at(size_t place, uint64_t user_ms)
{
	struct analysis_case c = begin();

	tb_window(c.tb, 1000, 100000000);
	tb_fork(c.tb, 0, 2000, 10, 30, 30, "child");
	tb_add(c.tb, 0, 2000, sched_wakeup_new, NULL, .tid = 30);
	tb_switch(c.tb, 0, 2000, 10, 30, TRACE_TASK_RUNNING);
	tb_sys_exit(c.tb, 0, 3000, 0);
	for (uint64_t i = 1; i <= 20; i++) {
		uint64_t ns = i * 4000000, end_ns = ns + 1000;

		if (places[place].behind_call) {
			tb_sys_enter(c.tb, 0, ns - places[place].behind_call - 500, SYS_getppid);
			tb_sys_exit(c.tb, 0, ns - places[place].behind_call, 1);
		}
		if (places[place].behind_switch) {
			tb_switch(c.tb, 0, ns - places[place].behind_switch - 500, 30, 10, TRACE_TASK_RUNNING);
			tb_switch(c.tb, 0, ns - places[place].behind_switch, 10, 30, TRACE_TASK_RUNNING);
		}
		tb_vector(c.tb, 0, ns, TRACE_VECTOR_LOCAL_TIMER);
		tb_add(c.tb, 0, ns + 100, hrtimer_expire, NULL, .func = 0x1234);
		tb_vector_exit(c.tb, 0, end_ns, TRACE_VECTOR_LOCAL_TIMER);
		if (places[place].before_call) {
			tb_sys_enter(c.tb, 0, end_ns + places[place].before_call, SYS_getppid);
			tb_sys_exit(c.tb, 0, end_ns + places[place].before_call + 500, 1);
		}
		if (places[place].before_exception) {
			uint64_t signal_ns = end_ns + places[place].before_exception;

			tb_add(c.tb, 0, signal_ns, signal_generate, NULL, .signal = SIGTRAP, .code = TRAP_BRKPT,
			       .tid = 30);
			tb_add(c.tb, 0, signal_ns + 30000, signal_deliver, NULL, .signal = SIGTRAP, .code = TRAP_BRKPT,
			       .handler = HANDLER);
		}
		if (places[place].before_switch) {
			tb_switch(c.tb, 0, end_ns + places[place].before_switch, 30, 10, TRACE_TASK_RUNNING);
			tb_switch(c.tb, 0, end_ns + places[place].before_switch + 500, 10, 30, TRACE_TASK_RUNNING);
		}
	}
	tb_sys_enter(c.tb, 0, 82000000, SYS_exit_group, 0);
	tb_add(c.tb, 0, 82002000, exit_times, NULL, .tid = 30, .run_ns = 82000000, .switches = 1,
	       .utime_ns = user_ms * 1000000, .stime_ns = (80 - user_ms) * 1000000);
	tb_switch(c.tb, 0, 82002000, 30, 10, TRACE_TASK_DEAD);
	tb_switch(c.tb, 0, 82003000, 10, 0, TRACE_TASK_RUNNING);
	return c;
}

static void a_tick_at_the_edge_of_user_mode_is_doubtful(void)
{
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		struct analysis_case c = ticked_at(i, 4);

		case_verify(&c, places[i].is_doubtful ? NULL
						      : "was in its own code at 20 timer ticks, 0 of them "
							"doubtful, the kernel counted 1 (exit_times)");
		c = ticked_at(i, 76);
		case_verify(&c, NULL);
	}
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		CASE(the_kernels_run_time_and_ours_agree),
		CASE(what_the_host_took_may_be_told_by_the_next_thread),
		CASE(a_machine_that_stood_still_at_a_switch_is_excused),
		CASE(the_kernels_ticks_and_ours_agree),
		CASE(the_ticks_of_steps_may_be_the_kernels),
		CASE(a_tick_at_the_edge_of_user_mode_is_doubtful),
		CASE(another_timer_is_not_the_tick),
		CASE(a_timer_that_expires_as_often_is_not_the_tick),
		CASE(a_timer_beside_a_rarer_one_that_fits_is_not_the_tick),
		CASE(a_timer_that_is_not_the_tick_of_one_thread_is_not_that_of_another),
		{NULL, NULL},
	};

	return unit_main("rule run time", cases, argc, argv);
}
