/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_state_locks.c - a wait for a lock is split among the threads that held the lock in turn.
 *
 * Threads 10 to 14 are of one process. Thread 10 waits from 2000 to 6000. Before it, 12 and 13
 * began to wait for the same lock. Thread 11 releases the lock at 3000, another thread at 5000,
 * and 13 at 6000.
 */
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include "state_waits_case.h"
#include "unit.h"

#define RESTART_SYS	    -512
#define LOCK		    0xabc0
#define OTHER		    0xabc4
#define CONDITION	    0x7700
#define FUTEX_LOCK_PI2_CALL 13 /* of Linux 5.14 */
#define SYS_FUTEX_WAKE	    454
#define SYS_FUTEX_WAIT	    455

/* the arguments of the three waits, and the thread that releases at 5000 */
struct lock_case {
	uint32_t call, wake_call;
	uint64_t wait[3], wake[3];
	uint32_t releaser; /* 12, which was woken at 3000, or 14 */
};

static struct analysis_case threads_begin(void)
{
	struct analysis_case c = case_new();

	tb_thread(c.tb, 10, 10, 1, "one", 0, false);
	tb_thread(c.tb, 11, 10, 1, "eleven", 1, true);
	tb_thread(c.tb, 12, 10, 1, "twelve", 0, true);
	tb_thread(c.tb, 13, 10, 1, "thirteen", 0, false);
	tb_thread(c.tb, 14, 10, 1, "fourteen", 1, false);
	tb_fd(c.tb, 10, 3, 8, 77, 0100644, "/lock");
	tb_string(c.tb, TRACE_STRING_SYSCALL, SYS_FUTEX_WAKE, "futex_wake");
	tb_string(c.tb, TRACE_STRING_SYSCALL, SYS_FUTEX_WAIT, "futex_wait");
	return c;
}

static void enter(struct analysis_case *c, uint32_t cpu, uint64_t ns, uint32_t call, const uint64_t *args)
{
	tb_sys_enter(c->tb, cpu, ns, call, args[0], args[1], args[2]);
}

static void three_wait(struct analysis_case *c, const struct lock_case *l)
{
	enter(c, 0, 1200, l->call, l->wait);
	tb_switch(c->tb, 0, 1300, 12, 13, TRACE_TASK_INTERRUPTIBLE);
	enter(c, 0, 1400, l->call, l->wait);
	tb_switch(c->tb, 0, 1500, 13, 10, TRACE_TASK_INTERRUPTIBLE);
	enter(c, 0, 1600, l->call, l->wait);
	tb_switch(c->tb, 0, 2000, 10, 0, TRACE_TASK_INTERRUPTIBLE);
}

/* Thread 12 gets the lock at 3000 and releases it, or it is too late and waits again. */
static void second_release(struct analysis_case *c, const struct lock_case *l)
{
	tb_switch(c->tb, 0, 3200, 0, 12, TRACE_TASK_RUNNING);
	tb_sys_exit(c->tb, 0, 3300, 0);
	if (l->releaser == 12) {
		enter(c, 0, 5000, l->wake_call, l->wake);
		tb_waking(c->tb, 0, 5000, 13, TRACE_CONTEXT_TASK);
		tb_sys_exit(c->tb, 0, 5050, 1);
		tb_switch(c->tb, 0, 5100, 12, 13, TRACE_TASK_RUNNING);
		return;
	}
	enter(c, 0, 3400, l->call, l->wait);
	tb_switch(c->tb, 0, 3500, 12, 0, TRACE_TASK_INTERRUPTIBLE);
	tb_switch(c->tb, 1, 3600, 11, 14, TRACE_TASK_RUNNING);
	enter(c, 1, 5000, l->wake_call, l->wake);
	tb_waking(c->tb, 1, 5000, 13, TRACE_CONTEXT_TASK);
	tb_sys_exit(c->tb, 1, 5050, 1);
	tb_switch(c->tb, 0, 5100, 0, 13, TRACE_TASK_RUNNING);
}

static void last_release(struct analysis_case *c, const struct lock_case *l)
{
	tb_sys_exit(c->tb, 0, 5200, 0);
	enter(c, 0, 6000, l->wake_call, l->wake);
	tb_waking(c->tb, 0, 6000, 10, TRACE_CONTEXT_TASK);
	tb_sys_exit(c->tb, 0, 6050, 1);
	tb_switch(c->tb, 0, 6100, 13, 10, TRACE_TASK_RUNNING);
	tb_sys_exit(c->tb, 0, 6200, 0);
}

static struct analysis_case lock_run(const struct lock_case *l)
{
	struct analysis_case c = threads_begin();

	three_wait(&c, l);
	enter(&c, 1, 3000, l->wake_call, l->wake);
	tb_waking(c.tb, 1, 3000, 12, TRACE_CONTEXT_TASK);
	tb_sys_exit(c.tb, 1, 3050, 1);
	second_release(&c, l);
	last_release(&c, l);
	case_run(&c);
	return c;
}

/* The time that thread 10 waited for @holder; 0: an unknown thread. */
static uint64_t waited_for(const struct analysis_case *c, uint32_t holder)
{
	struct trace_lock_wait *locks;
	uint64_t ns = 0;
	size_t nr = 0;

	locks = trace_lock_waits(c->analysis, &nr);
	for (size_t i = 0; i < nr; i++)
		if (trace_thread_tid(locks[i].waiter_thread) == 10 &&
		    (locks[i].holder_thread ? trace_thread_tid(locks[i].holder_thread) : 0) == holder)
			ns += locks[i].ns;
	free(locks);
	return ns;
}

static void expect_owners(struct analysis_case *c, uint64_t eleven, uint64_t twelve, uint64_t thirteen,
			  uint64_t fourteen)
{
	CU_ASSERT_EQUAL(waited_for(c, 11), eleven);
	CU_ASSERT_EQUAL(waited_for(c, 12), twelve);
	CU_ASSERT_EQUAL(waited_for(c, 13), thirteen);
	CU_ASSERT_EQUAL(waited_for(c, 14), fourteen);
	CU_ASSERT_EQUAL(waited_for(c, 0), 0);
	case_free(c);
}

static const struct lock_case mutex = {.call = SYS_futex,
				       .wake_call = SYS_futex,
				       .wait = {LOCK, FUTEX_WAIT_PRIVATE, 2},
				       .wake = {LOCK, FUTEX_WAKE_PRIVATE, 1},
				       .releaser = 12};

static void a_wait_for_a_mutex_is_split_among_its_owners(void)
{
	struct analysis_case c = lock_run(&mutex);

	expect_owners(&c, 1000, 2000, 1000, 0);
}

static void by_timer(struct analysis_case *c)
{
	tb_vector(c->tb, 1, 2480, TRACE_VECTOR_LOCAL_TIMER);
	tb_waking(c->tb, 1, 2500, 10, TRACE_CONTEXT_HARDIRQ);
	tb_add(c->tb, 1, 2501, signal_generate, NULL, .tid = 10, .signal = SIGALRM, .group = 1);
	tb_vector_exit(c->tb, 1, 2510, TRACE_VECTOR_LOCAL_TIMER);
}

/* A child with a copy of the memory exits on CPU 1, between two time slices of thread 11. */
static void by_child(struct analysis_case *c)
{
	tb_fork(c->tb, 1, 1250, 11, 40, 40, "child");
	tb_switch(c->tb, 1, 2400, 11, 40, TRACE_TASK_RUNNING);
	tb_exit(c->tb, 1, 2450, 40, 40, true);
	tb_waking(c->tb, 1, 2500, 10, TRACE_CONTEXT_TASK);
	tb_add(c->tb, 1, 2501, signal_generate, NULL, .tid = 11, .signal = SIGCHLD, .group = 1);
	tb_switch(c->tb, 1, 2510, 40, 11, TRACE_TASK_DEAD);
}

/* A signal interrupts the wait of thread 10 at 2500, and the call goes on at 2700. */
static void interrupt_and_go_on(struct analysis_case *c, const struct lock_case *l,
				void (*interrupt)(struct analysis_case *))
{
	tb_string(c->tb, TRACE_STRING_SYSCALL, SYS_rt_sigreturn, "rt_sigreturn");
	interrupt(c);
	tb_switch(c->tb, 0, 2505, 0, 10, TRACE_TASK_RUNNING);
	tb_sys_exit(c->tb, 0, 2520, RESTART_SYS);
	tb_add(c->tb, 0, 2530, signal_deliver, NULL, .signal = SIGALRM, .handler = 0x400000);
	tb_sys_enter(c->tb, 0, 2560, SYS_rt_sigreturn);
	tb_sys_exit(c->tb, 0, 2570, 0);
	enter(c, 0, 2700, l->call, l->wait);
	tb_switch(c->tb, 0, 2800, 10, 0, TRACE_TASK_INTERRUPTIBLE);
}

static void an_interrupted_wait_is_split_among_the_owners_too(void)
{
	void (*const interrupts[])(struct analysis_case *) = {by_timer, by_child};

	for (size_t i = 0; i < 2; i++) {
		struct trace_start_map map = {.tgid = 10, .start = 0x1000, .end = 0x2000, .dev = 5, .ino = 2};
		struct analysis_case c = threads_begin();

		tb_start(c.tb, 1000, TRACE_EV_start_map, &map, sizeof(map), "/bin/one");
		three_wait(&c, &mutex);
		interrupt_and_go_on(&c, &mutex, interrupts[i]);
		enter(&c, 1, 3000, mutex.wake_call, mutex.wake);
		tb_waking(c.tb, 1, 3000, 12, TRACE_CONTEXT_TASK);
		tb_sys_exit(c.tb, 1, 3050, 1);
		second_release(&c, &mutex);
		last_release(&c, &mutex);
		case_run(&c);
		CU_ASSERT_EQUAL(waited_for(&c, 40), 0);
		expect_owners(&c, 500 + 200, 2000, 1000, 0);
	}
}

/* Thread 10 waits for a reader-writer lock, or a mutex, and the last owner begins at 3500. */
static void a_thread_owned_no_lock_before_it_began(void)
{
	for (uint64_t value = 2; value < 4; value++) {
		const uint64_t wait[] = {LOCK, FUTEX_WAIT_PRIVATE, value}, wake[] = {LOCK, FUTEX_WAKE_PRIVATE, 1};
		struct analysis_case c = threads_begin();

		tb_switch(c.tb, 0, 1500, 12, 10, TRACE_TASK_RUNNING);
		enter(&c, 0, 1600, SYS_futex, wait);
		tb_switch(c.tb, 0, 2000, 10, 0, TRACE_TASK_INTERRUPTIBLE);
		tb_fork(c.tb, 1, 3500, 11, 15, 10, "fifteen");
		tb_switch(c.tb, 1, 3600, 11, 15, TRACE_TASK_RUNNING);
		enter(&c, 1, 6000, SYS_futex, wake);
		tb_waking(c.tb, 1, 6000, 10, TRACE_CONTEXT_TASK);
		tb_sys_exit(c.tb, 1, 6050, 1);
		tb_switch(c.tb, 0, 6100, 0, 10, TRACE_TASK_RUNNING);
		tb_sys_exit(c.tb, 0, 6200, 0);
		case_run(&c);
		CU_ASSERT_EQUAL(waited_for(&c, 15), 2500);
		CU_ASSERT_EQUAL(waited_for(&c, 0), 1500);
		case_free(&c);
	}
}

static void other_locks_are_split_where_their_owners_waited(void)
{
	static const struct lock_case cases[] = {
		{SYS_futex, SYS_futex, {LOCK, FUTEX_LOCK_PI_PRIVATE, 0}, {LOCK, FUTEX_UNLOCK_PI_PRIVATE, 0}, 12},
		{SYS_futex,
		 SYS_futex,
		 {LOCK, FUTEX_WAIT_BITSET_PRIVATE, 0x80000000u | 11},
		 {LOCK, FUTEX_WAKE_PRIVATE, 1},
		 12},
		{SYS_futex, SYS_futex, {LOCK, FUTEX_WAIT_BITSET_PRIVATE, 3}, {LOCK, FUTEX_WAKE_PRIVATE, 1}, 12},
		{SYS_flock, SYS_flock, {3, 2, 0}, {3, 8, 0}, 12},
		{SYS_fcntl, SYS_fcntl, {3, F_SETLKW, 0x7000}, {3, F_SETLK, 0x7000}, 12},
		{SYS_semop, SYS_semop, {5, 0x7000, 1}, {5, 0x7000, 1}, 12},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct analysis_case c = lock_run(&cases[i]);

		expect_owners(&c, 1000, 2000, 1000, 0);
	}
}

/*
 * Thread 14 took the lock between the release at 3000 and thread 12, which had been woken for it.
 */
static void a_thread_that_took_a_mutex_without_waiting_is_an_owner(void)
{
	struct lock_case barged = mutex;
	struct analysis_case c;

	barged.releaser = 14;
	c = lock_run(&barged);
	expect_owners(&c, 1000, 0, 1000, 2000);
}

/* Nothing shows that 11 had what 14 gave at 5000: a condition has no owner. */
static void a_condition_is_for_the_thread_that_signalled(void)
{
	struct lock_case condition = mutex;
	struct analysis_case c;

	condition.wait[1] = FUTEX_WAIT_BITSET_PRIVATE;
	condition.wait[2] = 0;
	condition.releaser = 14;
	c = lock_run(&condition);
	expect_owners(&c, 0, 0, 1000, 3000);
}

/*
 * 14 took it without waiting: a lock is for its owner, anything else for the thread that gave it.
 * The value of a mutex is 2, or the id of its owner with FUTEX_WAITERS.
 */
static void the_calls_at_a_futex_show_if_it_is_a_lock(void)
{
	static const struct {
		struct lock_case futex;
		bool is_lock;
	} cases[] = {
#define FUTEX(wait, value, wake, is_lock) {{SYS_futex, SYS_futex, {LOCK, wait, value}, {LOCK, wake, 1}, 14}, is_lock}
		FUTEX(FUTEX_WAIT, 2, FUTEX_WAKE, true),
		FUTEX(FUTEX_WAIT_BITSET, 2, FUTEX_WAKE_BITSET, true),
		FUTEX(FUTEX_LOCK_PI, 0, FUTEX_UNLOCK_PI, true),
		FUTEX(FUTEX_LOCK_PI2_CALL, 0, FUTEX_UNLOCK_PI, true),
		FUTEX(FUTEX_WAIT, FUTEX_WAITERS | 11, FUTEX_WAKE, true),
		FUTEX(FUTEX_WAIT, FUTEX_WAITERS, FUTEX_WAKE, false),
		FUTEX(FUTEX_WAIT, FUTEX_WAITERS | FUTEX_TID_MASK, FUTEX_WAKE, false),
		FUTEX(FUTEX_WAIT, 11, FUTEX_WAKE, false),
		FUTEX(FUTEX_WAIT, 1, FUTEX_WAKE, false),
#undef FUTEX
		{{SYS_FUTEX_WAIT, SYS_FUTEX_WAKE, {LOCK, 2, UINT32_MAX}, {LOCK, UINT32_MAX, 1}, 14}, true},
		{{SYS_FUTEX_WAIT, SYS_FUTEX_WAKE, {LOCK, 7, UINT32_MAX}, {LOCK, UINT32_MAX, 1}, 14}, false},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct analysis_case c = lock_run(&cases[i].futex);

		if (cases[i].is_lock)
			expect_owners(&c, 1000, 0, 1000, 2000);
		else
			expect_owners(&c, 0, 0, 1000, 3000);
	}
}

/* 12 was woken at 3000 from a wait for another one: that it owned this one before is not known. */
static void a_release_of_another_lock_splits_no_wait(void)
{
	static const struct {
		struct lock_case lock;
		uint64_t other[3];
	} cases[] = {
		{{SYS_futex, SYS_futex, {LOCK, FUTEX_WAIT, 3}, {LOCK, FUTEX_WAKE, 1}, 12}, {OTHER, FUTEX_WAIT, 3}},
		{{SYS_flock, SYS_flock, {3, 2, 0}, {3, 8, 0}, 12}, {4, 2, 0}},
		{{SYS_semop, SYS_semop, {5, 0x7000, 1}, {5, 0x7000, 1}, 12}, {6, 0x7000, 1}},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct lock_case *l = &cases[i].lock;
		struct lock_case first = *l;
		struct analysis_case c = threads_begin();

		tb_fd(c.tb, 10, 4, 8, 78, 0100644, "/other");
		memcpy(first.wait, cases[i].other, sizeof(first.wait));
		enter(&c, 0, 1200, first.call, first.wait);
		tb_switch(c.tb, 0, 1300, 12, 13, TRACE_TASK_INTERRUPTIBLE);
		enter(&c, 0, 1400, l->call, l->wait);
		tb_switch(c.tb, 0, 1500, 13, 10, TRACE_TASK_INTERRUPTIBLE);
		enter(&c, 0, 1600, l->call, l->wait);
		tb_switch(c.tb, 0, 2000, 10, 0, TRACE_TASK_INTERRUPTIBLE);
		enter(&c, 1, 3000, l->wake_call,
		      cases[i].other[0] == OTHER ? (uint64_t[]){OTHER, FUTEX_WAKE, 1} : first.wait);
		tb_waking(c.tb, 1, 3000, 12, TRACE_CONTEXT_TASK);
		tb_sys_exit(c.tb, 1, 3050, 1);
		second_release(&c, l);
		last_release(&c, l);
		case_run(&c);
		expect_owners(&c, 0, 3000, 1000, 0);
	}
}

/* The first thread to wait expects 2, the next ones expect 3 and 4. */
static void a_counter_that_passes_2_is_no_lock(void)
{
	struct lock_case counter = mutex, later = mutex;
	struct analysis_case c = threads_begin();

	counter.releaser = later.releaser = 14;
	later.wait[2] = 3;
	three_wait(&c, &counter);
	enter(&c, 1, 3000, SYS_futex, counter.wake);
	tb_waking(c.tb, 1, 3000, 12, TRACE_CONTEXT_TASK);
	tb_sys_exit(c.tb, 1, 3050, 1);
	second_release(&c, &later);
	tb_waking(c.tb, 1, 5500, 12, TRACE_CONTEXT_TASK); /* 14 is not in a futex call: no release */
	last_release(&c, &later);
	case_run(&c);
	CU_ASSERT_EQUAL(waited_for(&c, 11) + waited_for(&c, 13) + waited_for(&c, 14), 4000);
	case_free(&c);
}

/* Thread 11 signals the condition at 3000 and moves 10 to the mutex, which 14 releases at 6000. */
static void a_requeued_wait_is_for_the_mutex_from_then_on(void)
{
	for (int moves = 1; moves <= 2; moves++) {
		static const uint64_t wait[] = {CONDITION, FUTEX_WAIT_PRIVATE, 7},
				      wake[] = {LOCK, FUTEX_WAKE_PRIVATE, 1};
		struct analysis_case c = threads_begin();

		tb_switch(c.tb, 0, 1500, 12, 10, TRACE_TASK_RUNNING);
		enter(&c, 0, 1600, SYS_futex, wait);
		tb_switch(c.tb, 0, 2000, 10, 12, TRACE_TASK_INTERRUPTIBLE);
		for (int i = 0; i < moves; i++) {
			tb_sys_enter(c.tb, 1, 3000 + 500 * i, SYS_futex, CONDITION, FUTEX_CMP_REQUEUE_PRIVATE, 1, 1,
				     LOCK, 7);
			tb_sys_exit(c.tb, 1, 3100 + 500 * i, 1);
		}
		tb_switch(c.tb, 1, 4000, 11, 14, TRACE_TASK_RUNNING);
		enter(&c, 1, 6000, SYS_futex, wake);
		tb_waking(c.tb, 1, 6000, 10, TRACE_CONTEXT_TASK);
		tb_sys_exit(c.tb, 1, 6050, 1);
		tb_switch(c.tb, 0, 6100, 12, 10, TRACE_TASK_RUNNING);
		tb_sys_exit(c.tb, 0, 6200, 0);
		case_run(&c);
		CU_ASSERT_EQUAL(waited_for(&c, 11), 1000);
		CU_ASSERT_EQUAL(waited_for(&c, 0), moves == 2 ? 500 : 0);
		CU_ASSERT_EQUAL(waited_for(&c, 14), moves == 2 ? 2500 : 3000);
		CU_ASSERT_EQUAL(c.one->blocked_ns >= 4000, true);
		case_free(&c);
	}
}

/* More releases during the wait than the log keeps. */
static void owners_before_the_log_are_unknown(void)
{
	struct analysis_case c = threads_begin();
	uint64_t known, all = 5000;

	tb_window(c.tb, 1000, 100000000);
	enter(&c, 0, 1200, SYS_futex, mutex.wait);
	tb_switch(c.tb, 0, 1300, 12, 10, TRACE_TASK_INTERRUPTIBLE);
	enter(&c, 0, 1600, SYS_futex, mutex.wait);
	tb_switch(c.tb, 0, 2000, 10, 0, TRACE_TASK_INTERRUPTIBLE);
	for (uint64_t i = 1; i <= all; i++) {
		uint64_t at = 2000 + i * 1000;

		enter(&c, 1, at, SYS_futex, mutex.wake);
		tb_waking(c.tb, 1, at, 12, TRACE_CONTEXT_TASK);
		tb_sys_exit(c.tb, 1, at + 10, 1);
		tb_switch(c.tb, 0, at + 20, 0, 12, TRACE_TASK_RUNNING);
		tb_sys_exit(c.tb, 0, at + 30, 0);
		enter(&c, 0, at + 40, SYS_futex, mutex.wait);
		tb_switch(c.tb, 0, at + 50, 12, 0, TRACE_TASK_INTERRUPTIBLE);
	}
	enter(&c, 1, 5003000, SYS_futex, mutex.wake);
	tb_waking(c.tb, 1, 5003000, 10, TRACE_CONTEXT_TASK);
	tb_sys_exit(c.tb, 1, 5003010, 1);
	tb_switch(c.tb, 0, 5003100, 0, 10, TRACE_TASK_RUNNING);
	tb_sys_exit(c.tb, 0, 5003200, 0);
	case_run(&c);
	known = waited_for(&c, 11);
	CU_ASSERT_EQUAL(known + waited_for(&c, 0), 5001000);
	CU_ASSERT(known > 4000 * 1000 && waited_for(&c, 0) > 0);
	CU_ASSERT_EQUAL(case_wait(c.one, TRACE_WAIT_PROCESS, "unknown", 0, "futex"), waited_for(&c, 0));
	case_free(&c);
}

/* Thread 10 waits until the kernel clears the id of 12. */
static void a_join_is_no_lock(void)
{
	for (int ends = 0; ends < 2; ends++) {
		static const uint64_t join[] = {0x9900, FUTEX_WAIT_BITSET | FUTEX_CLOCK_REALTIME, 11};
		struct analysis_case c = threads_begin();
		size_t nr = 1;

		tb_string(c.tb, TRACE_STRING_SYSCALL, SYS_exit, "exit");
		tb_switch(c.tb, 0, 1500, 12, 10, TRACE_TASK_RUNNING);
		enter(&c, 0, 1600, SYS_futex, join);
		tb_switch(c.tb, 0, 2000, 10, 12, TRACE_TASK_INTERRUPTIBLE);
		if (ends) {
			tb_sys_enter(c.tb, 1, 5900, SYS_exit, 0, 0, 0);
			tb_waking(c.tb, 1, 6000, 10, TRACE_CONTEXT_TASK);
			tb_exit(c.tb, 1, 6010, 11, 10, false);
			tb_switch(c.tb, 1, 6020, 11, 0, TRACE_TASK_DEAD);
			tb_switch(c.tb, 0, 6100, 12, 10, TRACE_TASK_RUNNING);
			tb_sys_exit(c.tb, 0, 6200, 0);
		}
		case_run(&c);
		CU_ASSERT_EQUAL(case_wait(c.one, TRACE_WAIT_PROCESS, "one", 10, "join"), ends ? 4000 : 7000);
		free(trace_lock_waits(c.analysis, &nr));
		CU_ASSERT_EQUAL(nr, 0);
		case_free(&c);
	}
}

/* Thread 11 releases a reader-writer lock and has ended when 10, which expected 3, runs again. */
static void a_lock_of_a_thread_that_ended_is_no_join(void)
{
	static const uint64_t wait[] = {LOCK, FUTEX_WAIT_BITSET | FUTEX_CLOCK_REALTIME, 3},
			      wake[] = {LOCK, FUTEX_WAKE, 1};
	struct analysis_case c = threads_begin();

	tb_switch(c.tb, 0, 1500, 12, 10, TRACE_TASK_RUNNING);
	enter(&c, 0, 1600, SYS_futex, wait);
	tb_switch(c.tb, 0, 2000, 10, 12, TRACE_TASK_INTERRUPTIBLE);
	enter(&c, 1, 5900, SYS_futex, wake);
	tb_waking(c.tb, 1, 6000, 10, TRACE_CONTEXT_TASK);
	tb_sys_exit(c.tb, 1, 6005, 1);
	tb_exit(c.tb, 1, 6010, 11, 10, false);
	tb_switch(c.tb, 1, 6020, 11, 0, TRACE_TASK_DEAD);
	tb_switch(c.tb, 0, 6100, 12, 10, TRACE_TASK_RUNNING);
	tb_sys_exit(c.tb, 0, 6200, 0);
	case_run(&c);
	expect_owners(&c, 4000, 0, 0, 0);
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		CASE(a_wait_for_a_mutex_is_split_among_its_owners),
		CASE(an_interrupted_wait_is_split_among_the_owners_too),
		CASE(a_thread_owned_no_lock_before_it_began),
		CASE(other_locks_are_split_where_their_owners_waited),
		CASE(a_thread_that_took_a_mutex_without_waiting_is_an_owner),
		CASE(a_condition_is_for_the_thread_that_signalled),
		CASE(the_calls_at_a_futex_show_if_it_is_a_lock),
		CASE(a_release_of_another_lock_splits_no_wait),
		CASE(a_counter_that_passes_2_is_no_lock),
		CASE(a_requeued_wait_is_for_the_mutex_from_then_on),
		CASE(owners_before_the_log_are_unknown),
		CASE(a_join_is_no_lock),
		CASE(a_lock_of_a_thread_that_ended_is_no_join),
		{NULL, NULL},
	};

	return unit_main("locks", cases, argc, argv);
}
