/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test_profile.c - samples divide the times of the analysis; a sample belongs to what its timer
 * interrupted. */
#include <errno.h>
#include <stdlib.h>
#include <trace/profile.h>
#include "analysis_case.h"
#include "random_story.h"
#include "sample_case.h"
#include "unit.h"

#define F1	 0x401000ull
#define F2	 0x402000ull
#define CALLER	 0x403000ull
#define IN_READ	 0xffffffff81000100ull
#define IN_ENTRY 0xffffffff81000200ull
#define TIMER	 TRACE_VECTOR_LOCAL_TIMER

/* A sample with the interrupt of its timer around it, of 10 ns */
static void add_timer(struct tb *tb, uint32_t cpu, uint64_t ts_ns, uint32_t tid, uint64_t ip)
{
	tb_vector(tb, cpu, ts_ns, TIMER);
	add_sample(tb, cpu, ts_ns + 5, tid, ip, NULL);
	tb_vector_exit(tb, cpu, ts_ns + 10, TIMER);
}

/* ---- the profile of a built trace ---- */

struct profile_case {
	struct analysis_case c;
	struct trace_profile *profile;
};

static struct profile_case profile_case_new(void)
{
	struct profile_case p = {.c = case_new()};

	tb_string(p.c.tb, TRACE_STRING_VECTOR, TIMER, "local_timer");
	tb_string(p.c.tb, TRACE_STRING_SOFTIRQ, 1, "TIMER");
	tb_thread(p.c.tb, 10, 10, 1, "one", 0, false);
	return p;
}

static void profile_case_run(struct profile_case *p)
{
	struct trace_error error = {0};

	if (!p->c.analysis)
		case_open(&p->c);
	p->profile = trace_profile_new(p->c.analysis, &error);
	CU_ASSERT_PTR_NOT_NULL_FATAL(p->profile);
	case_run(&p->c);
	CU_ASSERT_EQUAL(trace_profile_error(p->profile), 0);
	CU_ASSERT_EQUAL(trace_profile_verify(p->profile, &error), 0);
	if (error.code)
		printf("%s\n", error.message);
}

static void profile_case_free(struct profile_case *p)
{
	trace_profile_free(p->profile);
	case_free(&p->c);
}

/* The share of thread @tid in @state and @name with the innermost @address; 0: without a sample */
static struct trace_profile_share share_of(const struct profile_case *p, uint32_t tid, enum trace_state state,
					   const char *name, uint64_t address)
{
	struct trace_profile_share share, none = {.frame = TRACE_PROFILE_NO_FRAME};

	for (size_t i = 0; trace_profile_get_share(p->profile, i, &share); i++) {
		struct trace_profile_frame frame = {0};

		trace_profile_get_frame(p->profile, share.frame, &frame);
		if (trace_thread_tid(share.thread) == tid && share.state == state && strcmp(share.name, name) == 0 &&
		    frame.address == address)
			return share;
	}
	return none;
}

/* ---- tests ---- */

static void samples_divide_the_exact_time_of_their_state(void)
{
	struct profile_case p = profile_case_new();

	tb_switch(p.c.tb, 0, 2000, 0, 10, 0);
	tb_sys_enter(p.c.tb, 0, 2100, SYS_getpid);
	tb_sys_exit(p.c.tb, 0, 2200, 10);
	add_timer(p.c.tb, 0, 3000, 10, F1);
	add_timer(p.c.tb, 0, 4000, 10, F1);
	add_timer(p.c.tb, 0, 5000, 10, F2);
	tb_sys_enter(p.c.tb, 0, 6000, SYS_read, 0, 0, 0);
	add_timer(p.c.tb, 0, 6500, 10, IN_READ);
	tb_sys_exit(p.c.tb, 0, 7001, 0);
	tb_switch(p.c.tb, 0, 8000, 10, 0, TRACE_TASK_RUNNING);
	profile_case_run(&p);
	/* user: 2000 to 2100, 2200 to 6000 and 7001 to 8000, less three interrupts: 4869 ns */
	CU_ASSERT_EQUAL(share_of(&p, 10, TRACE_STATE_USER, "", F1).ns, 3246);
	CU_ASSERT_EQUAL(share_of(&p, 10, TRACE_STATE_USER, "", F2).ns, 1623);
	CU_ASSERT_EQUAL(share_of(&p, 10, TRACE_STATE_USER, "", F2).samples, 1);
	CU_ASSERT_EQUAL(share_of(&p, 10, TRACE_STATE_USER, "", F2).of, 3);
	CU_ASSERT_EQUAL(share_of(&p, 10, TRACE_STATE_SYSCALL, "read", IN_READ).ns, 991);
	CU_ASSERT_EQUAL(share_of(&p, 10, TRACE_STATE_SYSCALL, "getpid", 0).ns, 100);
	CU_ASSERT_EQUAL(share_of(&p, 10, TRACE_STATE_SYSCALL, "getpid", 0).of, 0);
	CU_ASSERT_EQUAL(share_of(&p, 10, TRACE_STATE_INTERRUPTED, "local_timer", 0).ns, 40);
	profile_case_free(&p);
}

static void a_sample_in_a_softirq_is_not_of_the_thread(void)
{
	struct profile_case p = profile_case_new();

	tb_switch(p.c.tb, 0, 2000, 0, 10, 0);
	add_timer(p.c.tb, 0, 2500, 10, F1);
	tb_softirq(p.c.tb, 0, 3000, 1);
	add_timer(p.c.tb, 0, 3100, 10, IN_ENTRY);
	tb_softirq_exit(p.c.tb, 0, 3500, 1);
	tb_switch(p.c.tb, 0, 4000, 10, 0, TRACE_TASK_RUNNING);
	profile_case_run(&p);
	CU_ASSERT_EQUAL(share_of(&p, 10, TRACE_STATE_USER, "", F1).ns, 1490);
	CU_ASSERT_EQUAL(share_of(&p, 10, TRACE_STATE_INTERRUPTED, "TIMER", IN_ENTRY).ns, 490);
	profile_case_free(&p);
}

/* The event of a processor may be in an interrupt, which is not its own. */
static void a_sample_by_an_event_is_of_what_it_interrupted(void)
{
	static const struct lists by_event = {.cut = 128};
	struct profile_case p = profile_case_new();

	tb_switch(p.c.tb, 0, 2000, 0, 10, 0);
	add_sample(p.c.tb, 0, 2500, 10, F1, &by_event);
	tb_vector(p.c.tb, 0, 3000, TIMER);
	add_sample(p.c.tb, 0, 3100, 10, IN_ENTRY, &by_event);
	tb_vector_exit(p.c.tb, 0, 3500, TIMER);
	tb_switch(p.c.tb, 0, 4000, 10, 0, TRACE_TASK_RUNNING);
	profile_case_run(&p);
	CU_ASSERT_EQUAL(share_of(&p, 10, TRACE_STATE_USER, "", F1).ns, 1500);
	CU_ASSERT_EQUAL(share_of(&p, 10, TRACE_STATE_INTERRUPTED, "local_timer", IN_ENTRY).ns, 500);
	profile_case_free(&p);
}

static void without_interrupts_in_the_trace_a_sample_is_of_the_thread(void)
{
	struct profile_case p = profile_case_new();

	tb_switch(p.c.tb, 0, 2000, 0, 10, 0);
	add_sample(p.c.tb, 0, 2500, 10, F1, NULL);
	tb_switch(p.c.tb, 0, 4000, 10, 0, TRACE_TASK_RUNNING);
	profile_case_run(&p);
	CU_ASSERT_EQUAL(share_of(&p, 10, TRACE_STATE_USER, "", F1).ns, 2000);
	profile_case_free(&p);
}

static void a_sample_of_another_thread_than_the_events_show_is_counted_and_not_used(void)
{
	struct trace_profile_numbers numbers;
	struct profile_case p = profile_case_new();

	tb_switch(p.c.tb, 0, 2000, 0, 10, 0);
	add_timer(p.c.tb, 0, 2500, 10, F1);
	add_timer(p.c.tb, 0, 2600, 11, F2);
	tb_switch(p.c.tb, 0, 4000, 10, 0, TRACE_TASK_RUNNING);
	profile_case_run(&p);
	trace_profile_get_numbers(p.profile, &numbers);
	CU_ASSERT_EQUAL(numbers.samples, 2);
	CU_ASSERT_EQUAL(numbers.unplaced, 1);
	CU_ASSERT_EQUAL(share_of(&p, 10, TRACE_STATE_USER, "", F1).ns, 1980);
	profile_case_free(&p);
}

static void waits_have_what_they_were_for(void)
{
	struct trace_profile_share share;
	struct profile_case p = profile_case_new();
	uint64_t blocked = 0;

	tb_switch(p.c.tb, 0, 2000, 0, 10, 0);
	tb_sys_enter(p.c.tb, 0, 2100, SYS_nanosleep, 1, 0);
	tb_switch(p.c.tb, 0, 2200, 10, 0, 1);
	tb_vector(p.c.tb, 0, 5000, TIMER);
	tb_waking(p.c.tb, 0, 5005, 10, TRACE_CONTEXT_HARDIRQ);
	tb_vector_exit(p.c.tb, 0, 5010, TIMER);
	tb_switch(p.c.tb, 0, 5100, 0, 10, 0);
	tb_sys_exit(p.c.tb, 0, 5200, 0);
	tb_switch(p.c.tb, 0, 6000, 10, 0, TRACE_TASK_RUNNING);
	profile_case_run(&p);
	for (size_t i = 0; trace_profile_get_share(p.profile, i, &share); i++)
		if (share.state == TRACE_STATE_BLOCKED && share.kind == TRACE_WAIT_TIMEOUT &&
		    trace_thread_tid(share.thread) == 10)
			blocked += share.ns;
	CU_ASSERT_EQUAL(blocked, 2805);
	CU_ASSERT_EQUAL(share_of(&p, 10, TRACE_STATE_WAIT_CPU, "", 0).ns, p.c.one->wait_cpu_ns);
	CU_ASSERT(p.c.one->wait_cpu_ns >= 95);
	profile_case_free(&p);
}

/* ---- stacks of waits ---- */

#define MS 1000000ull

/* Thread 10 calls nanosleep() at @function, and is blocked for @ns; with a stack if @has_stack. */
static void sleep_at(struct tb *tb, uint64_t at_ns, uint64_t ns, uint64_t function, bool has_stack)
{
	const struct lists wait = {.source = 1, .kernel = {IN_ENTRY}, .nr_kernel = 1, .user = {function}, .nr_user = 1},
			   left = {.source = 2, .user = {CALLER}, .nr_user = 1};
	uint64_t end_ns = at_ns + 100 + ns;

	tb_sys_enter(tb, 0, at_ns, SYS_nanosleep, 1, 0);
	tb_switch(tb, 0, at_ns + 100, 10, 0, TRACE_TASK_INTERRUPTIBLE);
	tb_vector(tb, 0, end_ns - 5, TIMER);
	tb_waking(tb, 0, end_ns, 10, TRACE_CONTEXT_HARDIRQ);
	tb_vector_exit(tb, 0, end_ns + 5, TIMER);
	tb_switch(tb, 0, end_ns + 50, 0, 10, 0);
	if (has_stack) {
		add_sample(tb, 0, end_ns + 51, 10, IN_READ, &wait);
		add_sample(tb, 0, end_ns + 90, 10, function, &left);
	}
	tb_sys_exit(tb, 0, end_ns + 100, 0);
}

static struct trace_profile_share wait_of(const struct profile_case *p, uint64_t function)
{
	struct trace_profile_share share, none = {.frame = TRACE_PROFILE_NO_FRAME};

	for (size_t i = 0; trace_profile_get_share(p->profile, i, &share); i++) {
		struct trace_profile_frame frame = {0};
		uint64_t found = 0;

		if (share.state != TRACE_STATE_BLOCKED || trace_thread_tid(share.thread) != 10)
			continue;
		for (uint32_t at = share.frame; trace_profile_get_frame(p->profile, at, &frame); at = frame.caller)
			found = frame.in_kernel || frame.is_claimed ? found : frame.address;
		if (found == function)
			return share;
	}
	return none;
}

/* 2 ms at F1 and 3 ms at F2 have stacks, 4 ms have none; one of three waits of 0.1 ms has one. */
static void long_waits_have_their_times_and_short_ones_divide_the_rest(void)
{
	struct profile_case p = profile_case_new();
	struct trace_profile_numbers numbers;

	tb_switch(p.c.tb, 0, 2000, 0, 10, 0);
	sleep_at(p.c.tb, 1 * MS, 2 * MS, F1, true);
	sleep_at(p.c.tb, 4 * MS, 3 * MS, F2, true);
	sleep_at(p.c.tb, 8 * MS, 4 * MS, F2, false);
	for (uint64_t i = 0; i < 3; i++)
		sleep_at(p.c.tb, 13 * MS + i * MS, MS / 10, F1, i == 1);
	tb_switch(p.c.tb, 0, 17 * MS, 10, 0, TRACE_TASK_RUNNING);
	profile_case_run(&p);
	CU_ASSERT_EQUAL(wait_of(&p, F1).ns, 2 * MS + 3 * MS / 10);
	CU_ASSERT_EQUAL(wait_of(&p, F1).stacks, 2);
	CU_ASSERT_EQUAL(wait_of(&p, F1).samples, 0);
	CU_ASSERT_EQUAL(wait_of(&p, F2).ns, 3 * MS);
	CU_ASSERT_EQUAL(wait_of(&p, 0).ns, 4 * MS);
	CU_ASSERT_EQUAL(wait_of(&p, 0).frame, TRACE_PROFILE_NO_FRAME);
	trace_profile_get_numbers(p.profile, &numbers);
	CU_ASSERT_EQUAL(numbers.wait_stacks, 3);
	CU_ASSERT_EQUAL(numbers.samples, 0);
	profile_case_free(&p);
}

/* A stack of 0.5 ms stands for two waits like it, one of 0.1 ms for ten. */
static void a_short_wait_stands_for_as_many_as_had_no_stack(void)
{
	struct profile_case p = profile_case_new();

	tb_switch(p.c.tb, 0, 2000, 0, 10, 0);
	for (uint64_t i = 0; i < 2; i++)
		sleep_at(p.c.tb, (1 + i) * MS, MS / 2, F2, i == 1);
	for (uint64_t i = 0; i < 10; i++)
		sleep_at(p.c.tb, (4 + i) * MS, MS / 10, F1, i == 7);
	tb_switch(p.c.tb, 0, 17 * MS, 10, 0, TRACE_TASK_RUNNING);
	profile_case_run(&p);
	/* 1 ms each, but for the 51 ns until the stack is taken */
	CU_ASSERT(wait_of(&p, F1).ns > MS - MS / 1000 && wait_of(&p, F1).ns < MS + MS / 1000);
	CU_ASSERT_EQUAL(wait_of(&p, F1).ns + wait_of(&p, F2).ns, 2 * MS);
	CU_ASSERT_EQUAL(wait_of(&p, 0).ns, 0);
	profile_case_free(&p);
}

/* The wakeup chose the wait of 0.5 ms, long before the thread had a CPU; thread 20 did it at F2. */
static void a_wait_has_the_stack_of_its_waker(void)
{
	static const enum trace_profile_waker kinds[] = {TRACE_PROFILE_WAKER_THREAD, TRACE_PROFILE_WAKER_SOFTIRQ,
							 TRACE_PROFILE_WAKER_INTERRUPT, TRACE_PROFILE_WAKER_TIMER,
							 TRACE_PROFILE_WAKER_TIMER};

	for (uint8_t i = 0; i < 5; i++) { /* a vector of the timer, and its softirq */
		const struct lists wait = {.source = 1, .certain = 1, .user = {F1}, .nr_user = 1}, exit = {.source = 2},
				   waker = {.source = (uint8_t)(i == 3	 ? 5
								: i == 4 ? 4
									 : 3 + i),
					    .kernel = {IN_ENTRY, 10},
					    .nr_kernel = 2,
					    .user = {F2},
					    .nr_user = !i};
		struct profile_case p = profile_case_new();
		struct trace_profile_numbers numbers;
		struct trace_profile_share share;
		struct trace_profile_frame frame;

		tb_thread(p.c.tb, 20, 20, 1, "two", 0, false);
		tb_switch(p.c.tb, 0, MS, 0, 10, 0);
		tb_sys_enter(p.c.tb, 0, 2 * MS, SYS_nanosleep, 1, 0);
		tb_switch(p.c.tb, 0, 2 * MS + 1000, 10, 20, TRACE_TASK_INTERRUPTIBLE);
		if (i == 3)
			tb_vector(p.c.tb, 0, 2 * MS + 500000, TRACE_VECTOR_LOCAL_TIMER);
		if (i == 4)
			tb_softirq(p.c.tb, 0, 2 * MS + 500000, 8);
		tb_waking(p.c.tb, 0, 2 * MS + 501000, 10, i ? TRACE_CONTEXT_SOFTIRQ : TRACE_CONTEXT_TASK);
		add_sample(p.c.tb, 0, 2 * MS + 501001, i ? 0 : 20, IN_READ, &waker);
		if (i == 3)
			tb_vector_exit(p.c.tb, 0, 2 * MS + 502000, TRACE_VECTOR_LOCAL_TIMER);
		if (i == 4)
			tb_softirq_exit(p.c.tb, 0, 2 * MS + 502000, 8);
		tb_switch(p.c.tb, 0, 5 * MS, 20, 10, 0);
		add_sample(p.c.tb, 0, 5 * MS + 1, 10, IN_READ, &wait);
		add_sample(p.c.tb, 0, 5 * MS + 2, 10, F1, &exit);
		tb_sys_exit(p.c.tb, 0, 5 * MS + 3, 0);
		profile_case_run(&p);
		share = wait_of(&p, F1);
		CU_ASSERT_EQUAL(share.ns, MS / 2);
		CU_ASSERT_EQUAL(share.waker_kind, kinds[i]);
		CU_ASSERT_EQUAL(*trace_profile_waker_word(share.waker_kind) == '(', i > 0);
		CU_ASSERT_EQUAL(share.waker && trace_thread_tid(share.waker) == 20, !i);
		CU_ASSERT_FATAL(trace_profile_get_frame(p.profile, share.waker_frame, &frame));
		CU_ASSERT_EQUAL(frame.address, IN_READ);
		CU_ASSERT_FATAL(trace_profile_get_frame(p.profile, frame.caller, &frame));
		CU_ASSERT_EQUAL(frame.address, IN_ENTRY); /* and not the tid behind it */
		CU_ASSERT_EQUAL(trace_profile_get_frame(p.profile, frame.caller, &frame), !i);
		trace_profile_get_numbers(p.profile, &numbers);
		CU_ASSERT_EQUAL(numbers.waker_stacks, 1);
		CU_ASSERT_EQUAL(numbers.wait_stacks, 1);
		profile_case_free(&p);
	}
}

/* One event is enough. The list of the kernel ends with the number of the woken thread. */
static void the_stack_of_a_waker_is_known_without_an_analysis(void)
{
	for (uint8_t source = 0; source < 6; source++) {
		const struct lists lists = {
			.source = source, .kernel = {IN_ENTRY, 10}, .nr_kernel = 2, .user = {F2}, .nr_user = 1};
		struct trace_profile_frame frames[TRACE_PROFILE_MAX_FRAMES];
		enum trace_profile_waker kind = TRACE_PROFILE_WAKER_NONE;
		struct profile_case p = profile_case_new();
		const struct trace_event *event;
		struct trace_cursor *cursor;
		uint32_t woken = 0;
		size_t nr = 0;

		add_sample(p.c.tb, 0, 2 * MS, 20, IN_READ, &lists);
		profile_case_run(&p);
		cursor = trace_cursor_new(p.c.trace, NULL, NULL);
		CU_ASSERT_PTR_NOT_NULL_FATAL(cursor);
		while (!nr && (event = trace_cursor_next(cursor)))
			nr = trace_profile_waker_stack_of(event, &woken, &kind, frames);
		CU_ASSERT_EQUAL(trace_cursor_end(cursor, NULL), 0);
		CU_ASSERT_EQUAL(nr, source < 3 ? 0 : 3);
		CU_ASSERT_EQUAL(woken, source < 3 ? 0 : 10);
		CU_ASSERT_EQUAL(kind, source < 3    ? TRACE_PROFILE_WAKER_NONE
				      : source == 3 ? TRACE_PROFILE_WAKER_THREAD
				      : source == 4 ? TRACE_PROFILE_WAKER_SOFTIRQ
						    : TRACE_PROFILE_WAKER_INTERRUPT);
		if (nr == 3)
			CU_ASSERT(frames[0].address == F2 && frames[1].address == IN_ENTRY &&
				  frames[2].address == IN_READ && frames[2].in_kernel);
		profile_case_free(&p);
	}
}

/* The thread leaves another call: those callers are not the ones of the wait. */
static void callers_of_another_call_are_not_those_of_a_wait(void)
{
	const struct lists wait = {.source = 1, .user = {F1}, .nr_user = 1},
			   left = {.source = 2, .user = {CALLER}, .nr_user = 1};
	struct profile_case p = profile_case_new();
	struct trace_profile_frame frame;

	tb_switch(p.c.tb, 0, 2000, 0, 10, 0);
	tb_sys_enter(p.c.tb, 0, 1 * MS, SYS_nanosleep, 1, 0);
	tb_switch(p.c.tb, 0, 1 * MS + 100, 10, 0, TRACE_TASK_INTERRUPTIBLE);
	tb_waking(p.c.tb, 0, 3 * MS, 10, TRACE_CONTEXT_HARDIRQ);
	tb_switch(p.c.tb, 0, 3 * MS + 50, 0, 10, 0);
	add_sample(p.c.tb, 0, 3 * MS + 60, 10, IN_READ, &wait);
	add_sample(p.c.tb, 0, 3 * MS + 90, 10, F2, &left);
	tb_sys_exit(p.c.tb, 0, 3 * MS + 100, 0);
	tb_switch(p.c.tb, 0, 4 * MS, 10, 0, TRACE_TASK_RUNNING);
	profile_case_run(&p);
	CU_ASSERT_FATAL(trace_profile_get_frame(p.profile, wait_of(&p, F1).frame, &frame));
	CU_ASSERT_FATAL(trace_profile_get_frame(p.profile, frame.caller, &frame));
	CU_ASSERT_EQUAL(frame.address, F1);
	CU_ASSERT_EQUAL(frame.caller, TRACE_PROFILE_NO_FRAME);
	profile_case_free(&p);
}

static void time_before_the_first_event_of_a_thread_gets_its_mode_later(void)
{
	struct profile_case p = {.c = case_new()};

	tb_thread(p.c.tb, 10, 10, 1, "one", 0, true);
	add_sample(p.c.tb, 0, 2000, 10, F1, NULL);
	tb_sys_enter(p.c.tb, 0, 3000, SYS_getpid);
	tb_sys_exit(p.c.tb, 0, 3100, 10);
	add_sample(p.c.tb, 0, 3500, 10, F2, NULL);
	tb_switch(p.c.tb, 0, 4000, 10, 0, TRACE_TASK_RUNNING);
	profile_case_run(&p);
	/* 1000 to 3000, and 3100 to 4000 */
	CU_ASSERT_EQUAL(share_of(&p, 10, TRACE_STATE_USER, "", F1).ns, 1450);
	CU_ASSERT_EQUAL(share_of(&p, 10, TRACE_STATE_USER, "", F2).ns, 1450);
	CU_ASSERT_EQUAL(share_of(&p, 10, TRACE_STATE_RUNNING, "", F1).samples, 0);
	profile_case_free(&p);
}

static void a_stack_is_a_way_through_the_frames(void)
{
	static const struct lists lists = {.kernel = {IN_ENTRY}, .nr_kernel = 1, .user = {F1, CALLER}, .nr_user = 2};
	static const struct {
		uint64_t address;
		bool in_kernel, is_claimed;
	} expected[] = {{IN_READ, true, false}, {IN_ENTRY, true, false}, {F1, false, false}, {CALLER, false, true}};
	struct profile_case p = profile_case_new();
	struct trace_profile_frame frame;
	uint32_t number;

	tb_switch(p.c.tb, 0, 2000, 0, 10, 0);
	tb_sys_enter(p.c.tb, 0, 2100, SYS_read, 0, 0, 0);
	add_sample(p.c.tb, 0, 2500, 10, IN_READ, &lists);
	tb_sys_exit(p.c.tb, 0, 3000, 0);
	tb_switch(p.c.tb, 0, 4000, 10, 0, TRACE_TASK_RUNNING);
	profile_case_run(&p);
	number = share_of(&p, 10, TRACE_STATE_SYSCALL, "read", IN_READ).frame;
	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
		CU_ASSERT_FATAL(trace_profile_get_frame(p.profile, number, &frame));
		CU_ASSERT_EQUAL(frame.address, expected[i].address);
		CU_ASSERT_EQUAL(frame.in_kernel, expected[i].in_kernel);
		CU_ASSERT_EQUAL(frame.is_claimed, expected[i].is_claimed);
		CU_ASSERT_EQUAL(frame.tid, 10);
		CU_ASSERT_FALSE(frame.is_cut);
		number = frame.caller;
	}
	CU_ASSERT_EQUAL(number, TRACE_PROFILE_NO_FRAME);
	profile_case_free(&p);
}

/* Tables led to the first caller, and a frame pointer to the second. */
static void callers_by_tables_are_certain_up_to_the_first_frame_pointer(void)
{
	static const struct lists lists = {
		.user = {F2, CALLER, F1}, .nr_user = 3, .certain = 1, .cut = TRACE_PROFILE_END_NO_CALLER << 3};
	static const struct {
		uint64_t address;
		bool is_caller, is_claimed;
		enum trace_profile_end end;
	} expected[] = {{IN_READ, false, false, 0},
			{F2, false, false, 0},
			{CALLER, true, false, 0},
			{F1, true, true, TRACE_PROFILE_END_NO_CALLER}};
	struct profile_case p = profile_case_new();
	struct trace_profile_frame frame;
	uint32_t number;

	tb_switch(p.c.tb, 0, 2000, 0, 10, 0);
	tb_sys_enter(p.c.tb, 0, 2100, SYS_read, 0, 0, 0);
	add_sample(p.c.tb, 0, 2500, 10, IN_READ, &lists);
	tb_sys_exit(p.c.tb, 0, 3000, 0);
	tb_switch(p.c.tb, 0, 4000, 10, 0, TRACE_TASK_RUNNING);
	profile_case_run(&p);
	number = share_of(&p, 10, TRACE_STATE_SYSCALL, "read", IN_READ).frame;
	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
		CU_ASSERT_FATAL(trace_profile_get_frame(p.profile, number, &frame));
		CU_ASSERT_EQUAL(frame.address, expected[i].address);
		CU_ASSERT_EQUAL(frame.is_caller, expected[i].is_caller);
		CU_ASSERT_EQUAL(frame.is_claimed, expected[i].is_claimed);
		CU_ASSERT_EQUAL(frame.end, expected[i].end);
		number = frame.caller;
	}
	CU_ASSERT_EQUAL(number, TRACE_PROFILE_NO_FRAME);
	profile_case_free(&p);
}

/* The outermost address of the list that was too long */
static void a_cut_stack_says_where_frames_are_missing(void)
{
	static const struct lists lists = {.kernel = {IN_ENTRY}, .nr_kernel = 1, .user = {F1, CALLER}, .nr_user = 2};
	struct profile_case p = profile_case_new();
	struct trace_profile_frame frame;

	tb_switch(p.c.tb, 0, 2000, 0, 10, 0);
	tb_sys_enter(p.c.tb, 0, 2100, SYS_read, 0, 0, 0);
	for (uint8_t cut = 1; cut <= 2; cut++) {
		struct lists cut_lists = lists;

		cut_lists.cut = cut;
		add_sample(p.c.tb, 0, 2500 + cut, 10, IN_READ + cut, &cut_lists);
	}
	tb_sys_exit(p.c.tb, 0, 3000, 0);
	tb_switch(p.c.tb, 0, 4000, 10, 0, TRACE_TASK_RUNNING);
	profile_case_run(&p);
	for (uint8_t cut = 1; cut <= 2; cut++) {
		uint32_t number = share_of(&p, 10, TRACE_STATE_SYSCALL, "read", IN_READ + cut).frame;

		for (; trace_profile_get_frame(p.profile, number, &frame); number = frame.caller)
			CU_ASSERT_EQUAL(frame.is_cut, frame.address == (cut == 1 ? IN_ENTRY : CALLER));
	}
	profile_case_free(&p);
}

/* The same address in two programs of a process is two frames. */
#define TOO_LONG  (2 | TRACE_PROFILE_END_TOO_LONG << 3 | 64) /* and the parts are in the trace */
#define PART(n)	  (16 + (n))
#define EXIT_PART 128

/* A stack of four callers in three records; @lost: the record that is not in the trace, or -1 */
static void add_long_stack(struct tb *tb, uint64_t ts_ns, int lost)
{
	static const struct lists records[] = {{.source = PART(0),
						.user = {CALLER},
						.nr_user = 1,
						.certain = 1,
						.cut = TRACE_PROFILE_END_TOO_LONG << 3},
					       {.source = PART(1),
						.user = {CALLER + 1, CALLER + 2},
						.nr_user = 2,
						.certain = 1,
						.cut = TRACE_PROFILE_END_WHOLE << 3},
					       {.user = {F2}, .nr_user = 1, .certain = 1, .cut = TOO_LONG}};
	static const struct lists exit = {.source = EXIT_PART, .user = {F2}, .nr_user = 1};

	for (int i = 0; i < 3; i++) {
		if (i == 2) /* of another stack, which has no sample */
			add_sample(tb, 0, ts_ns + 2, 10, F1, &exit);
		if (i != lost)
			add_sample(tb, 0, ts_ns + (uint64_t)i + (i == 2), 10, F1, &records[i]);
	}
}

/* The callers of the only sample of thread 10, innermost first */
static size_t callers_of(struct profile_case *p, struct trace_profile_frame callers[8])
{
	uint32_t number = share_of(p, 10, TRACE_STATE_USER, "", F1).frame;
	struct trace_profile_frame frame;
	size_t nr = 0;

	for (; nr < 8 && trace_profile_get_frame(p->profile, number, &frame); number = frame.caller)
		callers[nr++] = frame;
	return nr;
}

static struct profile_case long_stack_case(int lost)
{
	struct profile_case p = profile_case_new();

	tb_switch(p.c.tb, 0, 2000, 0, 10, 0);
	add_long_stack(p.c.tb, 2500, lost);
	tb_switch(p.c.tb, 0, 4000, 10, 0, TRACE_TASK_RUNNING);
	profile_case_run(&p);
	return p;
}

static void a_stack_in_several_records_is_one_stack(void)
{
	static const uint64_t expected[] = {F1, F2, CALLER, CALLER + 1, CALLER + 2};
	struct profile_case p = long_stack_case(-1);
	struct trace_profile_frame callers[8];
	struct trace_profile_numbers numbers;

	CU_ASSERT_EQUAL_FATAL(callers_of(&p, callers), 5);
	for (size_t i = 0; i < 5; i++) {
		CU_ASSERT_EQUAL(callers[i].address, expected[i]);
		CU_ASSERT_EQUAL(callers[i].is_claimed, i == 4);
		CU_ASSERT_FALSE(callers[i].is_cut);
	}
	CU_ASSERT_EQUAL(callers[4].end, TRACE_PROFILE_END_WHOLE);
	trace_profile_get_numbers(p.profile, &numbers);
	CU_ASSERT_EQUAL(numbers.samples, 1);
	CU_ASSERT_EQUAL(numbers.cut, 0);
	profile_case_free(&p);
}

/* Never the callers of another part in its place. */
static void a_stack_whose_part_was_lost_is_cut_there(void)
{
	for (int lost = 0; lost < 2; lost++) {
		struct profile_case p = long_stack_case(lost);
		struct trace_profile_frame callers[8];
		struct trace_profile_numbers numbers;
		size_t nr = callers_of(&p, callers);

		/* a writer that loses the last part writes no mark of parts */
		CU_ASSERT_EQUAL(nr, lost ? 3 : 2);
		CU_ASSERT(callers[nr - 1].is_cut);
		trace_profile_get_numbers(p.profile, &numbers);
		CU_ASSERT_EQUAL(numbers.cut, 1);
		profile_case_free(&p);
	}
}

/* By exec (@path is NULL), or the mapping of @path, which may be where another file was. */
static void check_another_meaning(const char *path)
{
	struct profile_case p = profile_case_new();
	struct trace_profile_share share;
	size_t nr = 0;

	tb_switch(p.c.tb, 0, 2000, 0, 10, 0);
	add_timer(p.c.tb, 0, 2500, 10, F1);
	tb_sys_enter(p.c.tb, 0, 3000, path ? SYS_mmap : SYS_execve, 1, 1, 1);
	if (path)
		tb_add(p.c.tb, 0, 3100, fs_map, path, .pid = 10, .start = F1, .end = F1 + 1);
	else
		tb_exec(p.c.tb, 0, 3100, 10, "/bin/two");
	tb_sys_exit(p.c.tb, 0, 3200, 0);
	add_timer(p.c.tb, 0, 3500, 10, F1);
	tb_switch(p.c.tb, 0, 4000, 10, 0, TRACE_TASK_RUNNING);
	profile_case_run(&p);
	for (size_t i = 0; trace_profile_get_share(p.profile, i, &share); i++)
		nr += share.samples != 0;
	CU_ASSERT_EQUAL(nr, 2);
	profile_case_free(&p);
}

static void an_exec_gives_addresses_another_meaning(void)
{
	check_another_meaning(NULL);
}

static void a_mapping_gives_addresses_another_meaning(void)
{
	check_another_meaning("/lib/other.so");
}

static void a_window_has_its_own_samples_and_times(void)
{
	struct trace_analysis_options window = {.size = sizeof(window), .from_ns = 3000, .to_ns = 5000};
	struct trace_profile_numbers numbers;
	struct profile_case p = profile_case_new();

	tb_switch(p.c.tb, 0, 2000, 0, 10, 0);
	tb_sys_enter(p.c.tb, 0, 2100, SYS_getpid);
	tb_sys_exit(p.c.tb, 0, 2200, 10);
	add_sample(p.c.tb, 0, 2500, 10, F1, NULL);
	add_sample(p.c.tb, 0, 4000, 10, F2, NULL);
	add_sample(p.c.tb, 0, 6000, 10, F1, NULL);
	tb_switch(p.c.tb, 0, 7000, 10, 0, TRACE_TASK_RUNNING);
	p.c.trace = tb_open_trace(p.c.tb);
	p.c.analysis = trace_analysis_new(p.c.trace, &window, NULL);
	profile_case_run(&p);
	trace_profile_get_numbers(p.profile, &numbers);
	CU_ASSERT_EQUAL(numbers.samples, 1);
	CU_ASSERT_EQUAL(share_of(&p, 10, TRACE_STATE_USER, "", F2).ns, 2000);
	CU_ASSERT_EQUAL(share_of(&p, 10, TRACE_STATE_USER, "", F1).ns, 0);
	profile_case_free(&p);
}

static struct profile_case three_timers(void)
{
	struct profile_case p = profile_case_new();

	tb_switch(p.c.tb, 0, 2000, 0, 10, 0);
	add_timer(p.c.tb, 0, 2500, 10, F2);
	add_timer(p.c.tb, 0, 3000, 10, F1);
	add_timer(p.c.tb, 0, 3500, 10, F2);
	tb_switch(p.c.tb, 0, 4000, 10, 0, TRACE_TASK_RUNNING);
	return p;
}

/* The spans of a client are what servers did for it: the interrupt of a timer is not in them. */
static void a_sample_is_in_the_span_that_its_timer_interrupted(void)
{
	struct profile_case first = three_timers(), p = three_timers();
	struct trace_profile_span spans[] = {{.from_ns = 2510, .to_ns = 3000, .ns = 490},
					     {.from_ns = 3010, .to_ns = 3200, .ns = 190}};

	profile_case_run(&first);
	spans[0].thread = spans[1].thread = trace_thread_index(trace_find_thread(first.c.analysis, 10));
	case_open(&p.c);
	p.profile = trace_profile_new_within(p.c.analysis, spans, 2, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(p.profile);
	case_run(&p.c);
	CU_ASSERT_EQUAL(share_of(&p, 10, TRACE_STATE_USER, "", F1).ns, 680);
	CU_ASSERT_EQUAL(share_of(&p, 10, TRACE_STATE_USER, "", F1).of, 1);
	profile_case_free(&first);
	profile_case_free(&p);
}

/* The sum of the shares of thread 10 in its own code with this @cpu and @label */
static struct trace_profile_share part_of(const struct profile_case *p, int32_t cpu, uint32_t label)
{
	struct trace_profile_share share, sum = {0};

	for (size_t i = 0; trace_profile_get_share(p->profile, i, &share); i++)
		if (trace_thread_tid(share.thread) == 10 && share.state == TRACE_STATE_USER && share.cpu == cpu &&
		    share.label == label) {
			sum.ns += share.ns;
			sum.samples += share.samples;
		}
	return sum;
}

static void run_again(struct profile_case *p)
{
	struct trace_error error = {0};

	case_run(&p->c);
	CU_ASSERT_EQUAL(trace_profile_error(p->profile), 0);
	CU_ASSERT_EQUAL(trace_profile_verify(p->profile, &error), 0);
}

static void begin_profile(struct profile_case *p)
{
	case_open(&p->c);
	p->profile = trace_profile_new(p->c.analysis, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(p->profile);
}

/* From 4000 to 6000 ns thread 10 is on CPU 1. */
static void a_profile_is_split_by_cpu(void)
{
	struct profile_case p = three_timers();

	tb_switch(p.c.tb, 1, 4000, 0, 10, TRACE_TASK_RUNNING);
	add_timer(p.c.tb, 1, 5000, 10, F1);
	tb_switch(p.c.tb, 1, 6000, 10, 0, TRACE_TASK_DEAD);
	begin_profile(&p);
	trace_profile_split_by_cpu(p.profile);
	run_again(&p);
	CU_ASSERT_EQUAL(part_of(&p, 0, 0).ns, 1970);
	CU_ASSERT_EQUAL(part_of(&p, 0, 0).samples, 3);
	CU_ASSERT_EQUAL(part_of(&p, 1, 0).ns, 1990);
	CU_ASSERT_EQUAL(part_of(&p, 1, 0).samples, 1);
	CU_ASSERT_EQUAL(part_of(&p, -1, 0).ns, 0);
	profile_case_free(&p);
}

/* The mode of what ran before the first event is known later, on each CPU. */
static void time_before_the_first_event_is_split_by_cpu(void)
{
	struct profile_case p = profile_case_new();

	tb_switch(p.c.tb, 0, 2000, 0, 10, TRACE_TASK_RUNNING);
	tb_switch(p.c.tb, 0, 3000, 10, 0, TRACE_TASK_RUNNING);
	tb_switch(p.c.tb, 1, 3500, 0, 10, TRACE_TASK_RUNNING);
	tb_sys_enter(p.c.tb, 1, 5000, SYS_getpid);
	begin_profile(&p);
	trace_profile_split_by_cpu(p.profile);
	run_again(&p);
	CU_ASSERT_EQUAL(part_of(&p, 0, 0).ns, 1000);
	CU_ASSERT_EQUAL(part_of(&p, 1, 0).ns, 1500);
	profile_case_free(&p);
}

/* The timer at 3000 ns interrupts label 7: it has a sample of it. */
static void labels_divide_the_time_on_a_cpu(void)
{
	struct profile_case first = three_timers(), p = three_timers();
	struct trace_profile_span labels[] = {{.label = 8, .from_ns = 3200, .to_ns = 3300},
					      {.label = 7, .from_ns = 2600, .to_ns = 3000}};

	profile_case_run(&first);
	labels[0].thread = labels[1].thread = trace_thread_index(trace_find_thread(first.c.analysis, 10));
	begin_profile(&p);
	CU_ASSERT_EQUAL(trace_profile_set_labels(p.profile, labels, 2), 0);
	run_again(&p);
	CU_ASSERT_EQUAL(part_of(&p, -1, 7).ns, 400);
	CU_ASSERT_EQUAL(part_of(&p, -1, 7).samples, 1);
	CU_ASSERT_EQUAL(part_of(&p, -1, 8).ns, 100);
	CU_ASSERT_EQUAL(part_of(&p, -1, 0).ns, 1970 - 500);
	CU_ASSERT_EQUAL(part_of(&p, -1, 0).samples, 2);
	profile_case_free(&first);
	profile_case_free(&p);
}

static void labels_do_not_overlap(void)
{
	struct profile_case p = three_timers();
	struct trace_profile_span labels[] = {{.label = 8, .from_ns = 2900, .to_ns = 3300},
					      {.label = 7, .from_ns = 2600, .to_ns = 3000}};

	begin_profile(&p);
	CU_ASSERT_EQUAL(trace_profile_set_labels(p.profile, labels, 2), -EINVAL);
	labels[1].to_ns = 2600;
	CU_ASSERT_EQUAL(trace_profile_set_labels(p.profile, &labels[1], 1), -EINVAL);
	run_again(&p);
	CU_ASSERT_EQUAL(part_of(&p, -1, 0).ns, 1970);
	profile_case_free(&p);
}

static void a_profile_comes_before_the_pass(void)
{
	struct profile_case p = profile_case_new();
	struct trace_error error = {0};

	profile_case_run(&p);
	CU_ASSERT_PTR_NULL(trace_profile_new(p.c.analysis, &error));
	CU_ASSERT_EQUAL(error.code, -EBUSY);
	profile_case_free(&p);
}

/* Samples of any thread at any time in traces of any kind: the sums are those of the accounting. */
static void check_story(uint64_t seed, const struct mood *mood)
{
	struct tb *tb = random_story(seed, mood);
	struct dice dice = {.state = seed, .mood = mood};
	struct trace_error error = {0};
	struct trace_analysis *analysis;
	struct trace_profile *profile;
	struct trace *trace;

	static const uint8_t sources[] = {0, 0, 0, 1, 2, PART(0), PART(1), EXIT_PART};

	for (int i = 0; i < 300; i++) {
		struct lists lists = {.nr_kernel = below(&dice, 3),
				      .nr_user = below(&dice, 4),
				      .source = sources[below(&dice, sizeof(sources))],
				      .cut = (uint8_t)(64 * below(&dice, 2)),
				      .user = {F1}};

		add_sample(tb, (uint32_t)below(&dice, 2), 1000 + below(&dice, 100000), 1 + (uint32_t)below(&dice, 40),
			   below(&dice, 2) ? F1 + below(&dice, 4) : IN_READ, &lists);
	}
	trace = tb_open_trace(tb);
	analysis = trace_analysis_new(trace, NULL, NULL);
	profile = trace_profile_new(analysis, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(profile);
	CU_ASSERT_EQUAL(trace_analysis_run(analysis, NULL), 0);
	CU_ASSERT_EQUAL(trace_profile_verify(profile, &error), 0);
	if (error.code)
		printf("seed %llu: %s\n", (unsigned long long)seed, error.message);
	trace_profile_free(profile);
	trace_analysis_free(analysis);
	trace_close(trace);
	tb_free(tb);
}

static void profiles_of_any_trace_add_up(void)
{
	static const struct mood plausible = {.nr_tids = 12, .switches = 30, .sleeps = 60, .moves = true},
				 noise = {.noise = 40,
					  .nr_tids = 30,
					  .switches = 40,
					  .sleeps = 50,
					  .cuts = 1,
					  .losses = true,
					  .streams = true,
					  .masks = true,
					  .programs = true,
					  .moves = true};

	for (uint64_t seed = 1; seed <= 20; seed += (uint64_t)unit_step(7)) {
		check_story(seed, &plausible);
		check_story(seed, &noise);
	}
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		CASE(samples_divide_the_exact_time_of_their_state),
		CASE(a_sample_in_a_softirq_is_not_of_the_thread),
		CASE(a_sample_by_an_event_is_of_what_it_interrupted),
		CASE(without_interrupts_in_the_trace_a_sample_is_of_the_thread),
		CASE(a_sample_of_another_thread_than_the_events_show_is_counted_and_not_used),
		CASE(waits_have_what_they_were_for),
		CASE(long_waits_have_their_times_and_short_ones_divide_the_rest),
		CASE(a_short_wait_stands_for_as_many_as_had_no_stack),
		CASE(a_wait_has_the_stack_of_its_waker),
		CASE(the_stack_of_a_waker_is_known_without_an_analysis),
		CASE(callers_of_another_call_are_not_those_of_a_wait),
		CASE(time_before_the_first_event_of_a_thread_gets_its_mode_later),
		CASE(a_stack_is_a_way_through_the_frames),
		CASE(callers_by_tables_are_certain_up_to_the_first_frame_pointer),
		CASE(a_cut_stack_says_where_frames_are_missing),
		CASE(a_stack_in_several_records_is_one_stack),
		CASE(a_stack_whose_part_was_lost_is_cut_there),
		CASE(an_exec_gives_addresses_another_meaning),
		CASE(a_mapping_gives_addresses_another_meaning),
		CASE(a_window_has_its_own_samples_and_times),
		CASE(a_sample_is_in_the_span_that_its_timer_interrupted),
		CASE(a_profile_is_split_by_cpu),
		CASE(time_before_the_first_event_is_split_by_cpu),
		CASE(labels_divide_the_time_on_a_cpu),
		CASE(labels_do_not_overlap),
		CASE(a_profile_comes_before_the_pass),
		CASE(profiles_of_any_trace_add_up),
		{NULL, NULL},
	};

	return unit_main("profile", cases, argc, argv);
}
