/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_history_again.c - the critical path of waits that timed out and began again.
 *
 * Thread 10 waits for a condition until a timer, and asks again. Thread 11 of its process runs.
 */
#include "critical_path_case.h"
#include "critical_path_text.h"
#include "unit.h"

#define CONDITION 0xabc0
#define MUTEX	  0xabd0
#define WAIT	  137 /* FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG */
#define WAKE	  129
#define LONGER	  300000 /* than a thread may run before it asks again, in ns */

static struct path_case two_threads(uint64_t end_ns)
{
	struct path_case p = path_new();

	tb_thread(p.c.tb, 10, 10, 1, "one", 0, true);
	tb_thread(p.c.tb, 11, 10, 1, "hog", 1, true);
	tb_window(p.c.tb, 1000, end_ns);
	return p;
}

static void waits(struct path_case *p, uint64_t ns, uint64_t futex)
{
	uint32_t value = futex == MUTEX ? 2 : 0; /* locked, with waiters */

	tb_sys_enter(p->c.tb, 0, ns, SYS_futex, futex, WAIT, value, 1, 0, ~0u);
	tb_switch(p->c.tb, 0, ns + 10, 10, 0, TRACE_TASK_INTERRUPTIBLE);
}

/* A wait from @ns to @ns + 1000 that times out; the thread returns 100 ns later. */
static void times_out(struct path_case *p, uint64_t ns, uint64_t futex)
{
	waits(p, ns, futex);
	timer_wakes(p->c.tb, 0, ns + 1000, 10);
	tb_sys_exit(p->c.tb, 0, ns + 1100, -110);
}

/* Thread 11 calls FUTEX_WAKE from @ns to @ns + 200. */
static void signals(struct path_case *p, uint64_t ns, uint64_t futex, bool wakes)
{
	tb_sys_enter(p->c.tb, 1, ns, SYS_futex, futex, WAKE, 1, 0, 0, 0);
	if (wakes)
		tb_waking(p->c.tb, 1, ns + 100, 10, TRACE_CONTEXT_TASK);
	tb_sys_exit(p->c.tb, 1, ns + 200, wakes);
}

static void returns(struct path_case *p, uint64_t ns)
{
	tb_switch(p->c.tb, 0, ns, 0, 10, TRACE_TASK_RUNNING);
	tb_sys_exit(p->c.tb, 0, ns + 100, 0);
}

static void a_wait_that_begins_again_is_for_the_thread_that_ended_it(void)
{
	struct path_case p = two_threads(9000);

	times_out(&p, 2000, CONDITION);
	times_out(&p, 3200, CONDITION + 4); /* a condition of glibc has two futexes */
	waits(&p, 4400, CONDITION);
	signals(&p, 6000, CONDITION, true);
	returns(&p, 6300);
	path_analyze(&p);
	path_is(&p, 10,
		"1000 10 user\n"
		"2000 10 syscall futex\n"
		"2010 11 user <futex\n"
		"3000 10 wait-cpu idle CPU\n"
		"3020 10 syscall futex\n"
		"3100 10 user\n"
		"3200 10 syscall futex\n"
		"3210 11 user <futex\n"
		"4200 10 wait-cpu idle CPU\n"
		"4220 10 syscall futex\n"
		"4300 10 user\n"
		"4400 10 syscall futex\n"
		"4410 11 user <futex\n"
		"6000 11 syscall futex <futex\n"
		"6100 10 wait-cpu 11\n"
		"6300 10 syscall futex\n"
		"6400 10 user\n"
		"9000\n");
	path_free(&p);
}

/* The first wait of @p, 1000 ns, is for a timer or for thread 11. */
static bool follows_first(struct path_case *p)
{
	path_analyze(p);
	path_find(p, thread_of(p, 10, 0), 0, UINT64_MAX);
	return strstr(path_text(p), "2010 11 user <futex\n") != NULL;
}

static void another_futex_is_another_wait(void)
{
	struct path_case p = two_threads(9000);

	times_out(&p, 2000, CONDITION);
	waits(&p, 4400, MUTEX);
	signals(&p, 6000, MUTEX, true);
	returns(&p, 6300);
	CU_ASSERT_FALSE(follows_first(&p));
	path_free(&p);
}

static void a_thread_that_worked_meanwhile_did_not_ask_again(void)
{
	struct path_case p = two_threads(900000);

	times_out(&p, 2000, CONDITION);
	waits(&p, 3200 + LONGER, CONDITION);
	signals(&p, 6000 + LONGER, CONDITION, true);
	returns(&p, 6300 + LONGER);
	CU_ASSERT_FALSE(follows_first(&p));
	path_free(&p);
}

static void a_short_wait_for_the_mutex_is_between(void)
{
	struct path_case p = two_threads(9000);

	times_out(&p, 2000, CONDITION);
	waits(&p, 3200, MUTEX);
	signals(&p, 3300, MUTEX, true);
	returns(&p, 3600);
	waits(&p, 4400, CONDITION);
	signals(&p, 6000, CONDITION, true);
	returns(&p, 6300);
	CU_ASSERT_TRUE(follows_first(&p));
	path_free(&p);
}

/* The signal came when the time of the waiter was over, so it woke no thread. */
static void a_signal_to_a_late_waiter_is_seen(void)
{
	for (int signalled = 0; signalled < 2; signalled++) {
		struct path_case p = two_threads(900000);

		times_out(&p, 2000, CONDITION);
		signals(&p, 3120, signalled ? CONDITION : MUTEX, false);
		waits(&p, 3400 + LONGER, MUTEX);
		signals(&p, 6000 + LONGER, MUTEX, true);
		returns(&p, 6300 + LONGER);
		CU_ASSERT_EQUAL(follows_first(&p), signalled);
		path_free(&p);
	}
}

/* The signaller releases the condition's mutex, and has others, before the waiter waits again. */
static void a_signal_is_seen_behind_those_of_other_futexes(void)
{
	struct path_case p = two_threads(900000);

	times_out(&p, 2000, CONDITION);
	signals(&p, 3120, CONDITION, false);
	for (uint64_t i = 1; i < 7; i++)
		signals(&p, 3120 + i * 300, CONDITION + 0x100 * i, false);
	waits(&p, 6000 + LONGER, MUTEX);
	signals(&p, 8000 + LONGER, MUTEX, true);
	returns(&p, 8300 + LONGER);
	CU_ASSERT_TRUE(follows_first(&p));
	path_free(&p);
}

/* A signal in time is an answer: the next wait, for the same condition, asks for something else. */
static void a_signal_in_time_ends_the_series(void)
{
	for (int signalled = 0; signalled < 2; signalled++) {
		struct path_case p = two_threads(900000);

		times_out(&p, 2000, CONDITION);
		signals(&p, 3120, signalled ? CONDITION : MUTEX, false);
		times_out(&p, 4000, CONDITION);
		waits(&p, 5400 + LONGER, MUTEX);
		signals(&p, 8000 + LONGER, MUTEX, true);
		returns(&p, 8300 + LONGER);
		CU_ASSERT_EQUAL(follows_first(&p), signalled);
		path_free(&p);
	}
}

/* The waiter's time is over, and it finds that out when it has a CPU: the signal came before, or
 * long after that. */
static void a_signal_is_seen_while_the_waiter_waits_for_a_cpu(void)
{
	for (int is_late = 0; is_late < 2; is_late++) {
		struct path_case p = two_threads(1900000);

		waits(&p, 2000, CONDITION);
		tb_softirq(p.c.tb, 0, 2980, 1);
		tb_waking(p.c.tb, 0, 3000, 10, TRACE_CONTEXT_SOFTIRQ);
		tb_softirq_exit(p.c.tb, 0, 3010, 1);
		signals(&p, 5000 + (is_late ? 3 : 1) * LONGER, CONDITION, false);
		returns(&p, 6000 + LONGER);
		waits(&p, 7000 + 4 * LONGER, MUTEX);
		signals(&p, 9000 + 4 * LONGER, MUTEX, true);
		returns(&p, 9300 + 4 * LONGER);
		CU_ASSERT_EQUAL(follows_first(&p), !is_late);
		path_free(&p);
	}
}

/* The accounts say what ended each wait. */
static void each_wait_remains_a_timeout_in_the_accounts(void)
{
	struct path_case p = two_threads(9000);
	struct trace_figures *f;
	uint64_t ns = 0;

	times_out(&p, 2000, CONDITION);
	times_out(&p, 3200, CONDITION);
	waits(&p, 4400, CONDITION);
	signals(&p, 6000, CONDITION, true);
	returns(&p, 6300);
	path_analyze(&p);
	f = trace_thread_figures(p.c.analysis, thread_of(&p, 10, 0));
	CU_ASSERT_PTR_NOT_NULL_FATAL(f);
	for (size_t i = 0; i < f->nr_waits; i++)
		ns += f->waits[i].kind == TRACE_WAIT_TIMEOUT ? f->waits[i].ns : 0;
	CU_ASSERT_EQUAL(ns, 2 * 990);
	trace_figures_free(f);
	path_free(&p);
}

static const struct unit_case cases[] = {
	{"a_wait_that_begins_again_is_for_the_thread_that_ended_it",
	 a_wait_that_begins_again_is_for_the_thread_that_ended_it},
	{"another_futex_is_another_wait", another_futex_is_another_wait},
	{"a_thread_that_worked_meanwhile_did_not_ask_again", a_thread_that_worked_meanwhile_did_not_ask_again},
	{"a_short_wait_for_the_mutex_is_between", a_short_wait_for_the_mutex_is_between},
	{"a_signal_to_a_late_waiter_is_seen", a_signal_to_a_late_waiter_is_seen},
	{"a_signal_is_seen_behind_those_of_other_futexes", a_signal_is_seen_behind_those_of_other_futexes},
	{"a_signal_is_seen_while_the_waiter_waits_for_a_cpu", a_signal_is_seen_while_the_waiter_waits_for_a_cpu},
	{"a_signal_in_time_ends_the_series", a_signal_in_time_ends_the_series},
	{"each_wait_remains_a_timeout_in_the_accounts", each_wait_remains_a_timeout_in_the_accounts},
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	return unit_main("waits that begin again", cases, argc, argv);
}
