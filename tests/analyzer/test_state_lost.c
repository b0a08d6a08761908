/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test_state_lost.c - the state machine where events are missing: it drops every part of the state
 * that an unrecorded event may have changed. Times and threads as in test_state.c. */
#include <fcntl.h>
#include <linux/sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include "analysis_case.h"
#include "unit.h"

/* ---- losses ---- */

static void a_gap_makes_the_running_thread_unknown(void)
{
	struct analysis_case c = case_new();

	tb_thread(c.tb, 10, 10, 1, "one", 0, true);
	tb_sys_enter(c.tb, 0, 2000, SYS_getpid);
	tb_sys_exit(c.tb, 0, 3000, 0);
	tb_lost(c.tb, 0, 5);
	tb_sys_enter(c.tb, 0, 5000, SYS_getpid);
	tb_switch(c.tb, 0, 6000, 10, 0, TRACE_TASK_RUNNING);
	case_run(&c);
	CU_ASSERT_EQUAL(c.one->user_ns, 1000);
	CU_ASSERT_EQUAL(c.one->syscall_ns, 1000);
	CU_ASSERT_EQUAL(case_wait(c.one, TRACE_WAIT_UNKNOWN, "", 0, ""), 3000); /* until the switch names it again */
	CU_ASSERT_EQUAL(case_cpu(&c, 0).unknown_ns, 3000);
	CU_ASSERT_EQUAL(c.one->wait_cpu_ns, 3000);
	case_free(&c);
}

/* Thread 10 reads descriptor 3 within 200 ns, from @ns on. Nothing else runs there. */
static void reads_3(struct analysis_case *c, uint64_t ns)
{
	tb_sys_enter(c->tb, 0, ns, SYS_read, 3, 0, 100);
	tb_switch(c->tb, 0, ns, 10, 0, TRACE_TASK_UNINTERRUPTIBLE);
	tb_waking(c->tb, 0, ns + 200, 10, TRACE_CONTEXT_SOFTIRQ);
	tb_switch(c->tb, 0, ns + 200, 0, 10, TRACE_TASK_RUNNING);
	tb_sys_exit(c->tb, 0, ns + 200, 100);
}

/* From @ts_ns on all events except @without are recorded. 0: all except those of the scheduler. */
static void mask_at(struct analysis_case *c, uint64_t ts_ns, uint32_t without)
{
	uint64_t mask[TRACE_MASK_WORDS] = {~0ull, ~0ull, ~0ull, ~0ull};

	for (uint32_t id = TRACE_EV_sched_switch; id <= TRACE_EV_sched_comm; id++)
		if (!without || id == without)
			mask[id / 64] &= ~(1ull << id % 64);
	tb_event(c->tb, 0, ts_ns, TRACE_EV_trace_mask, mask, sizeof(mask), NULL);
}

static void while_the_recording_is_halted_nothing_is_known(void)
{
	struct analysis_case c = case_new();

	tb_thread(c.tb, 10, 10, 1, "one", 0, true);
	tb_thread(c.tb, 20, 20, 1, "two", 1, true);
	tb_sys_enter(c.tb, 1, 1500, SYS_pause);
	tb_switch(c.tb, 1, 2000, 20, 0, TRACE_TASK_INTERRUPTIBLE);
	mask_at(&c, 1000, UINT32_MAX);
	mask_at(&c, 3000, 0);
	mask_at(&c, 6000, UINT32_MAX);
	tb_switch(c.tb, 0, 6500, 10, 0, TRACE_TASK_RUNNING);
	tb_waking(c.tb, 0, 7000, 20, TRACE_CONTEXT_TASK);
	tb_switch(c.tb, 1, 7500, 0, 20, TRACE_TASK_RUNNING);
	case_run(&c);
	CU_ASSERT_EQUAL(trace_analysis_halted_ns(c.analysis), 3000);
	CU_ASSERT_EQUAL(c.one->user_ns, 2000);
	CU_ASSERT_EQUAL(case_wait(c.one, TRACE_WAIT_UNKNOWN, "", 0, ""), 3500); /* until the switch names it again */
	CU_ASSERT_EQUAL(case_cpu(&c, 0).unknown_ns, 3500);
	CU_ASSERT_EQUAL(case_cpu(&c, 1).unknown_ns, 4500);
	/* the waker recorded after the pause is not used either */
	CU_ASSERT_EQUAL(case_wait(c.two, TRACE_WAIT_UNKNOWN, "", 0, ""), 5000);
	CU_ASSERT_EQUAL(c.two->wait_cpu_ns, 500);
	CU_ASSERT_EQUAL(trace_analysis_inconsistencies(c.analysis), 0);
	case_free(&c);
}

/*
 * A flight recorder holds an older past of CPU 1, which had little to do, than of CPU 0. So the
 * accounting begins with the events of CPU 0. Threads that died since are named by their older
 * events. All others are named by the state read at the end, even if another thread had the number
 * before.
 */
static void accounting_of_a_flight_recorder_begins_when_all_cpus_are_known(void)
{
	struct trace_sched_fork fork = {.parent_tid = 10, .tid = 20, .tgid = 20};
	struct trace_sched_free gone = {.tid = 30};
	struct trace_sched_exit exit = {.tid = 40, .tgid = 40, .group_dead = 1};
	struct analysis_case c = case_new();
	uint64_t start, end;

	tb_window(c.tb, 4000, 9000);
	tb_thread(c.tb, 10, 10, 1, "one", 0, false);
	tb_structural_event(c.tb, 0, 2000, TRACE_EV_sched_fork, &fork, sizeof(fork), "two");
	fork.tid = fork.tgid = 30;
	tb_structural_event(c.tb, 0, 2000, TRACE_EV_sched_fork, &fork, sizeof(fork), "three");
	fork.tid = fork.tgid = 40;
	tb_structural_event(c.tb, 0, 2100, TRACE_EV_sched_fork, &fork, sizeof(fork), "four");
	tb_structural_event(c.tb, 0, 2200, TRACE_EV_sched_exit, &exit, sizeof(exit), NULL);
	exit.tid = exit.tgid = 30;
	tb_structural_event(c.tb, 0, 2300, TRACE_EV_sched_exit, &exit, sizeof(exit), NULL);
	tb_structural_event(c.tb, 0, 2500, TRACE_EV_sched_free, &gone, sizeof(gone), NULL);
	gone.tid = fork.tid = fork.tgid = 10;
	fork.parent_tid = 1;
	tb_structural_event(c.tb, 0, 2600, TRACE_EV_sched_fork, &fork, sizeof(fork), "another");
	tb_structural_event(c.tb, 0, 2700, TRACE_EV_sched_free, &gone, sizeof(gone), NULL);
	tb_overwritten(c.tb, 0, 100);
	tb_switch(c.tb, 0, 5000, 0, 20, TRACE_TASK_RUNNING);
	tb_switch(c.tb, 0, 6000, 20, 0, TRACE_TASK_RUNNING);
	tb_switch(c.tb, 1, 4500, 0, 10, TRACE_TASK_RUNNING);
	tb_switch(c.tb, 1, 4700, 10, 0, TRACE_TASK_INTERRUPTIBLE);
	tb_switch(c.tb, 1, 7000, 0, 10, TRACE_TASK_RUNNING);
	exit.tid = exit.tgid = gone.tid = 20;
	tb_structural_event(c.tb, 1, 8000, TRACE_EV_sched_exit, &exit, sizeof(exit), NULL);
	tb_structural_event(c.tb, 1, 8000, TRACE_EV_sched_free, &gone, sizeof(gone), NULL);
	gone.tid = 40;
	tb_structural_event(c.tb, 1, 8500, TRACE_EV_sched_free, &gone, sizeof(gone), NULL);
	case_run(&c);
	trace_analysis_window(c.analysis, &start, &end);
	CU_ASSERT_EQUAL(start, 5000);
	CU_ASSERT_EQUAL(trace_get_info(c.trace)->complete_from_ns, 5000);
	CU_ASSERT_EQUAL(trace_get_info(c.trace)->start_ns, 4000);
	CU_ASSERT(trace_gap_is_older(c.trace, trace_get_gap(c.trace, 0)));
	CU_ASSERT_EQUAL(case_cpu(&c, 0).unknown_ns, 0);
	CU_ASSERT_EQUAL(case_cpu(&c, 0).idle_ns, 3000);
	CU_ASSERT_EQUAL(case_cpu(&c, 1).unknown_ns, 0);
	CU_ASSERT_EQUAL(case_cpu(&c, 1).idle_ns, 2000);
	CU_ASSERT_EQUAL(c.one->elapsed_ns, 4000);
	CU_ASSERT_EQUAL(c.one->user_ns + c.one->syscall_ns, 2000);
	CU_ASSERT_STRING_EQUAL(trace_process_comm(case_process(&c, 10)), "one");
	CU_ASSERT_EQUAL(c.two->elapsed_ns, 3000);
	CU_ASSERT_EQUAL(c.two->user_ns + c.two->syscall_ns, 1000);
	CU_ASSERT_EQUAL(c.two->wait_cpu_ns, 2000);
	CU_ASSERT_STRING_EQUAL(trace_process_comm(case_process(&c, 20)), "two");
	CU_ASSERT_EQUAL(trace_nr_processes(c.analysis), 2); /* 30 was gone before that, 40 dead */
	CU_ASSERT_PTR_EQUAL(trace_get_process(c.analysis, 1), case_process(&c, 20));
	CU_ASSERT_EQUAL(trace_analysis_count(c.analysis, TRACE_EV_sched_switch), 3);
	case_free(&c);
}

/* Events before the start of the accounting do not count, and neither do files opened unrecorded
 * then: the state was read at the end. */
static void events_before_the_accounting_begins_do_not_count(void)
{
	static const struct trace_gap missed = {
		.stream = 0, .cpu = 0, .start_ns = 4100, .end_ns = 4200, .lost = 9, .cause = TRACE_GAP_MISSED};
	uint64_t all[TRACE_MASK_WORDS] = {~0ull, ~0ull, ~0ull, ~0ull},
		 less[TRACE_MASK_WORDS] = {~0ull, ~0ull, ~0ull, ~0ull}, none[TRACE_MASK_WORDS] = {0};
	struct analysis_case c = case_new();

	less[TRACE_EV_irq_entry / 64] &= ~(1ull << TRACE_EV_irq_entry % 64);
	tb_window(c.tb, 4000, 9000);
	tb_thread(c.tb, 10, 10, 1, "one", 0, false);
	tb_fd(c.tb, 10, 3, 1, 100, 0100644, "/file");
	tb_overwritten(c.tb, 0, 100);
	tb_event(c.tb, 1, 4300, TRACE_EV_trace_mask, less, sizeof(less), NULL);
	tb_event(c.tb, 1, 4400, TRACE_EV_trace_mask, none, sizeof(none), NULL);
	tb_event(c.tb, 1, 4500, TRACE_EV_trace_mask, all, sizeof(all), NULL);
	tb_switch(c.tb, 0, 5000, 0, 10, TRACE_TASK_RUNNING);
	reads_3(&c, 5100);
	case_run(&c);
	CU_ASSERT_EQUAL(trace_analysis_halted_ns(c.analysis), 0);
	CU_ASSERT_EQUAL(trace_analysis_recorded(c.analysis, TRACE_EV_irq_entry), TRACE_RECORDED_ALWAYS);
	CU_ASSERT(trace_analysis_sees_calls(c.analysis));
	CU_ASSERT_EQUAL(case_wait(c.one, TRACE_WAIT_FILE, "/file", 0, ""), 200);
	CU_ASSERT(trace_gap_is_older(c.trace, &missed));
	case_free(&c);
}

/* The same for a CPU without any events left: the time of that CPU is lost, and the time of the
 * others is not. */
static void a_cpu_without_events_in_a_flight_recorder_is_unknown(void)
{
	struct trace_sched_fork fork = {.parent_tid = 10, .tid = 20, .tgid = 20};
	struct analysis_case c = case_new();
	uint64_t start, end;

	tb_window(c.tb, 4000, 9000);
	tb_thread(c.tb, 10, 10, 1, "one", 0, false);
	tb_structural_event(c.tb, 0, 8000, TRACE_EV_sched_fork, &fork, sizeof(fork), "two");
	tb_overwritten(c.tb, 0, 100);
	tb_switch(c.tb, 1, 7000, 0, 10, TRACE_TASK_RUNNING);
	case_run(&c);
	trace_analysis_window(c.analysis, &start, &end);
	CU_ASSERT_EQUAL(start, 1000); /* the time of the heartbeat: it exists */
	CU_ASSERT_FALSE(trace_gap_is_older(c.trace, trace_get_gap(c.trace, 0)));
	CU_ASSERT_EQUAL(case_cpu(&c, 0).unknown_ns, 5000);
	case_free(&c);
}

static void a_recording_without_scheduling_changes_knows_nothing(void)
{
	struct analysis_case c = case_new();

	tb_thread(c.tb, 10, 10, 1, "one", 0, true);
	mask_at(&c, 1500, 0); /* a moment after the start: this mask was valid from the beginning */
	tb_sys_enter(c.tb, 0, 2000, SYS_getpid);
	tb_sys_exit(c.tb, 0, 3000, 0);
	case_run(&c);
	CU_ASSERT_EQUAL(trace_analysis_halted_ns(c.analysis), 8000);
	CU_ASSERT_EQUAL(case_wait(c.one, TRACE_WAIT_UNKNOWN, "", 0, ""), 8000);
	CU_ASSERT_EQUAL(case_cpu(&c, 0).unknown_ns, 8000);
	case_free(&c);
}

static void nothing_is_known_about_an_unrecorded_kernel(void)
{
	struct trace_event_type type = {.name = "shop:paid",
					.classic = "NONE",
					.text = "",
					.doc = "",
					.program = "NONE",
					.source = "",
					.fixed_bytes = 8,
					.category = TRACE_CATEGORY_USER,
					.flags = TRACE_EVENT_ON | TRACE_EVENT_TID};
	struct trace_error error = {0};
	uint32_t payload[2] = {10, 0};
	struct tb *tb = tb_new();
	struct analysis_case c = {.tb = tb};

	tb_window(tb, 1000, 9000);
	tb_string(tb, TRACE_STRING_INFO, TRACE_INFO_LEFT_OUT, TRACE_LEFT_OUT_KERNEL);
	tb_user_event(tb, 0, 2000, tb_user_type(tb, &type), payload, sizeof(payload));
	case_run(&c);
	CU_ASSERT_EQUAL(trace_analysis_verify(c.analysis, &error), 0);
	CU_ASSERT_EQUAL(trace_analysis_halted_ns(c.analysis), 8000);
	CU_ASSERT_EQUAL(case_cpu(&c, 0).unknown_ns, 8000);
	CU_ASSERT_EQUAL(case_cpu(&c, 0).idle_ns, 0);
	case_free(&c);
}

static void without_wakeups_a_sleeper_did_not_wait_for_a_cpu(void)
{
	struct analysis_case c = case_new();

	mask_at(&c, 1500, TRACE_EV_sched_waking);
	tb_thread(c.tb, 10, 10, 1, "one", 0, true);
	tb_sys_enter(c.tb, 0, 1600, SYS_futex, 0x5000, 128, 0);
	tb_switch(c.tb, 0, 2000, 10, 20, TRACE_TASK_INTERRUPTIBLE);
	tb_switch(c.tb, 0, 5000, 20, 10, TRACE_TASK_RUNNING);
	tb_sys_exit(c.tb, 0, 5100, 0);
	tb_switch(c.tb, 0, 7000, 10, 20, TRACE_TASK_RUNNING); /* preempted: that is recorded */
	tb_switch(c.tb, 0, 8000, 20, 10, TRACE_TASK_RUNNING);
	case_run(&c);
	CU_ASSERT_FALSE(trace_analysis_sees_wakeups(c.analysis));
	CU_ASSERT_EQUAL(trace_analysis_halted_ns(c.analysis), 0);
	CU_ASSERT_EQUAL(case_wait(c.one, TRACE_WAIT_UNKNOWN, "", 0, ""), 3000);
	CU_ASSERT_EQUAL(c.one->wait_cpu_ns, 1000);
	CU_ASSERT_EQUAL(c.two->wait_cpu_ns, 3000); /* preempted, too */
	CU_ASSERT_EQUAL(trace_analysis_inconsistencies(c.analysis), 0);
	case_free(&c);
}

/* The wakeup says that an interrupt made it: a timer's or a disk's. Only the events of interrupts
 * say which. */
static void without_interrupt_events_the_waker_is_not_known(void)
{
	for (int recorded = 0; recorded < 2; recorded++) {
		struct analysis_case c = case_new();
		uint64_t mask[TRACE_MASK_WORDS] = {~0ull, ~0ull, ~0ull, ~0ull};

		if (!recorded)
			mask[TRACE_EV_irq_entry / 64] &= ~(1ull << TRACE_EV_irq_entry % 64);
		tb_thread(c.tb, 10, 10, 1, "one", 0, true);
		tb_event(c.tb, 0, 1500, TRACE_EV_trace_mask, mask, sizeof(mask), NULL);
		tb_switch(c.tb, 0, 2000, 10, 0, TRACE_TASK_INTERRUPTIBLE);
		tb_waking(c.tb, 0, 5000, 10, TRACE_CONTEXT_HARDIRQ);
		tb_switch(c.tb, 0, 5000, 0, 10, TRACE_TASK_RUNNING);
		case_run(&c);
		CU_ASSERT_EQUAL(case_wait(c.one, TRACE_WAIT_UNKNOWN, "", 0, ""), recorded ? 0 : 3000);
		CU_ASSERT_EQUAL(case_wait(c.one, TRACE_WAIT_KERNEL, "interrupt", 0, ""), recorded ? 3000 : 0);
		case_free(&c);
	}
}

static void without_system_calls_user_mode_is_not_known(void)
{
	static const uint32_t ids[] = {TRACE_EV_sys_enter, TRACE_EV_sys_enter3, TRACE_EV_sys_enter6, TRACE_EV_sys_exit,
				       TRACE_EV_fs_open};

	for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
		struct analysis_case c = case_new();
		uint64_t mask[TRACE_MASK_WORDS] = {~0ull, ~0ull, ~0ull, ~0ull};

		mask[ids[i] / 64] &= ~(1ull << ids[i] % 64);
		tb_thread(c.tb, 10, 10, 1, "one", 0, true);
		tb_event(c.tb, 0, 1500, TRACE_EV_trace_mask, mask, sizeof(mask), NULL);
		tb_switch(c.tb, 0, 2000, 10, 0, TRACE_TASK_INTERRUPTIBLE);
		case_run(&c);
		CU_ASSERT_EQUAL(trace_analysis_sees_calls(c.analysis), ids[i] == TRACE_EV_fs_open);
		case_free(&c);
	}
}

static void events_recorded_for_a_while_do_not_count_as_never_recorded(void)
{
	struct analysis_case c = case_new();
	uint64_t all[TRACE_MASK_WORDS] = {~0ull, ~0ull, ~0ull, ~0ull},
		 less[TRACE_MASK_WORDS] = {~0ull, ~0ull, ~0ull, ~0ull};

	all[1] &= ~(1ull << (TRACE_EV_page_alloc - 64));
	less[1] &= ~(1ull << (TRACE_EV_page_alloc - 64));
	less[0] &= ~(1ull << TRACE_EV_irq_entry | 1ull << TRACE_EV_fault_exit);
	tb_thread(c.tb, 10, 10, 1, "one", 0, true);
	tb_event(c.tb, 0, 1500, TRACE_EV_trace_mask, all, sizeof(all), NULL);
	tb_event(c.tb, 0, 1600, TRACE_EV_trace_mask, less, sizeof(less), NULL);
	tb_switch(c.tb, 0, 2000, 10, 0, TRACE_TASK_INTERRUPTIBLE);
	case_run(&c);
	CU_ASSERT_EQUAL(trace_analysis_recorded(c.analysis, TRACE_EV_sched_switch), TRACE_RECORDED_ALWAYS);
	CU_ASSERT_EQUAL(trace_analysis_recorded(c.analysis, TRACE_EV_irq_entry), TRACE_RECORDED_PARTLY);
	CU_ASSERT_EQUAL(trace_analysis_recorded(c.analysis, TRACE_EV_page_alloc), TRACE_RECORDED_NEVER);
	CU_ASSERT_TRUE(trace_analysis_sees_calls(c.analysis));
	CU_ASSERT_FALSE(trace_analysis_sees_interrupts(c.analysis));
	CU_ASSERT_FALSE(trace_analysis_sees_traps(c.analysis));
	case_free(&c);
}

static void events_outside_the_mask_count_as_partly_recorded(void)
{
	struct analysis_case c = case_new();
	uint64_t mask[TRACE_MASK_WORDS] = {~0ull & ~(1ull << TRACE_EV_irq_entry | 1ull << TRACE_EV_softirq_entry),
					   ~0ull, ~0ull, ~0ull};

	tb_thread(c.tb, 10, 10, 1, "one", 0, true);
	tb_event(c.tb, 0, 1500, TRACE_EV_trace_mask, mask, sizeof(mask), NULL);
	tb_irq(c.tb, 0, 1600, 7);
	tb_irq_exit(c.tb, 0, 1700, 7);
	tb_switch(c.tb, 0, 2000, 10, 0, TRACE_TASK_INTERRUPTIBLE);
	case_run(&c);
	CU_ASSERT_EQUAL(trace_analysis_recorded(c.analysis, TRACE_EV_irq_entry), TRACE_RECORDED_PARTLY);
	CU_ASSERT_EQUAL(trace_analysis_recorded(c.analysis, TRACE_EV_softirq_entry), TRACE_RECORDED_NEVER);
	case_free(&c);
}

static void a_halt_says_nothing_about_system_calls(void)
{
	struct analysis_case c = case_new();
	uint64_t all[TRACE_MASK_WORDS] = {~0ull, ~0ull, ~0ull, ~0ull}, none[TRACE_MASK_WORDS] = {0xfffe};

	tb_thread(c.tb, 10, 10, 1, "one", 0, true);
	tb_event(c.tb, 0, 1500, TRACE_EV_trace_mask, all, sizeof(all), NULL);
	tb_event(c.tb, 0, 1600, TRACE_EV_trace_mask, none, sizeof(none), NULL);
	tb_event(c.tb, 0, 1700, TRACE_EV_trace_mask, all, sizeof(all), NULL);
	tb_switch(c.tb, 0, 2000, 10, 0, TRACE_TASK_INTERRUPTIBLE);
	case_run(&c);
	CU_ASSERT_TRUE(trace_analysis_sees_calls(c.analysis));
	case_free(&c);
}

static void a_file_possibly_opened_while_not_recording_is_unknown(void)
{
	static const uint32_t ids[] = {TRACE_EV_sys_enter, TRACE_EV_sys_enter3, TRACE_EV_sys_enter6, TRACE_EV_sys_exit};
	uint64_t all[TRACE_MASK_WORDS] = {~0ull, ~0ull, ~0ull, ~0ull},
		 no_calls[TRACE_MASK_WORDS] = {~0ull, ~0ull, ~0ull, ~0ull};
	struct analysis_case c = case_new();

	for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++)
		no_calls[ids[i] / 64] &= ~(1ull << ids[i] % 64);
	tb_thread(c.tb, 10, 10, 1, "one", 0, true);
	tb_fd(c.tb, 10, 3, 1, 100, 0100644, "/old");
	tb_event(c.tb, 0, 1500, TRACE_EV_trace_mask, all, sizeof(all), NULL);
	reads_3(&c, 2000);
	tb_event(c.tb, 0, 3000, TRACE_EV_trace_mask, all, sizeof(all), NULL); /* nothing changes */
	reads_3(&c, 4000);
	tb_event(c.tb, 0, 5000, TRACE_EV_trace_mask, no_calls, sizeof(no_calls), NULL);
	tb_event(c.tb, 0, 6000, TRACE_EV_trace_mask, all, sizeof(all), NULL);
	reads_3(&c, 7000); /* another file, of unknown name */
	tb_open(c.tb, 0, 8000, 3, 1, 101, 0100644, "/new");
	reads_3(&c, 9000);
	case_run(&c);
	CU_ASSERT_EQUAL(case_wait(c.one, TRACE_WAIT_FILE, "/old", 0, ""), 400);
	CU_ASSERT_EQUAL(case_wait(c.one, TRACE_WAIT_FILE, "/new", 0, ""), 200);
	case_free(&c);
}

/* The call in which the thread was at the start is known until it runs again. */
static void without_system_calls_only_the_first_wait_is_in_a_known_one(void)
{
	static const uint32_t ids[] = {TRACE_EV_sys_enter, TRACE_EV_sys_enter3, TRACE_EV_sys_enter6, TRACE_EV_sys_exit};
	struct trace_start_thread one = {.tid = 10,
					 .tgid = 10,
					 .ppid = 1,
					 .nr = SYS_futex,
					 .arg0 = 0x7f00,
					 .arg1 = 128,
					 .state = TRACE_TASK_INTERRUPTIBLE};
	uint64_t mask[TRACE_MASK_WORDS] = {~0ull, ~0ull, ~0ull, ~0ull};
	struct analysis_case c = case_new();

	for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++)
		mask[ids[i] / 64] &= ~(1ull << ids[i] % 64);
	tb_start(c.tb, 1000, TRACE_EV_start_thread, &one, sizeof(one), "one");
	tb_thread(c.tb, 20, 20, 1, "two", 1, true);
	tb_event(c.tb, 1, 1000, TRACE_EV_trace_mask, mask, sizeof(mask), NULL);
	tb_waking(c.tb, 1, 2000, 10, TRACE_CONTEXT_TASK);
	tb_switch(c.tb, 0, 2100, 0, 10, TRACE_TASK_RUNNING);
	tb_switch(c.tb, 0, 2500, 10, 0, TRACE_TASK_RUNNING);
	tb_switch(c.tb, 0, 2600, 0, 10, TRACE_TASK_RUNNING);
	tb_switch(c.tb, 0, 3000, 10, 0, TRACE_TASK_INTERRUPTIBLE);
	tb_waking(c.tb, 1, 5000, 10, TRACE_CONTEXT_TASK);
	tb_switch(c.tb, 0, 5100, 0, 10, TRACE_TASK_RUNNING);
	tb_switch(c.tb, 0, 6000, 10, 0, TRACE_TASK_INTERRUPTIBLE);
	case_run(&c);
	CU_ASSERT_EQUAL(case_wait(c.one, TRACE_WAIT_PROCESS, "two", 20, "futex"), 1000);
	CU_ASSERT_EQUAL(case_wait(c.one, TRACE_WAIT_PROCESS, "two", 20, ""), 2000);
	CU_ASSERT_EQUAL(trace_analysis_inconsistencies(c.analysis), 0);
	case_free(&c);
}

/* Wakeups count as recorded if they were recorded whenever scheduling changes were. A mask at the
 * end without them says nothing about the time before. */
static void wakeups_count_as_recorded_if_recorded_with_all_slices(void)
{
	static const struct {
		bool wakings, turns, seen;
	} cases[] = {{true, true, true}, {true, false, true}, {false, true, false}, {false, false, false}};
	uint64_t all[TRACE_MASK_WORDS] = {~0ull, ~0ull, ~0ull, ~0ull}, none[TRACE_MASK_WORDS] = {0xfffe};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct analysis_case c = case_new();

		tb_thread(c.tb, 10, 10, 1, "one", 0, true);
		mask_at(&c, 1500, cases[i].wakings ? UINT32_MAX : TRACE_EV_sched_waking);
		tb_switch(c.tb, 0, 2000, 10, 0, TRACE_TASK_INTERRUPTIBLE);
		tb_event(c.tb, 0, 7000, TRACE_EV_trace_mask, cases[i].turns ? all : none, sizeof(all), NULL);
		case_run(&c);
		CU_ASSERT_EQUAL(trace_analysis_sees_wakeups(c.analysis), cases[i].seen);
		case_free(&c);
	}
}

static void a_thread_that_migrates_in_a_gap_is_no_inconsistency(void)
{
	struct trace_hrtimer_expire expire = {0};
	struct analysis_case c = case_new();

	tb_thread(c.tb, 10, 10, 1, "one", 0, true);
	tb_sys_enter(c.tb, 0, 2000, SYS_getpid);
	tb_sys_exit(c.tb, 0, 3000, 0);
	tb_event(c.tb, 0, 3400, TRACE_EV_hrtimer_expire, &expire, sizeof(expire), NULL); /* known until here */
	tb_switch(c.tb, 1, 4000, 0, 10, TRACE_TASK_RUNNING); /* how it left was lost on CPU 0 */
	tb_sys_enter(c.tb, 1, 4500, SYS_getpid);
	tb_lost(c.tb, 0, 5);
	tb_switch(c.tb, 0, 5000, 0, 0, TRACE_TASK_RUNNING);
	case_run(&c);
	CU_ASSERT_EQUAL(trace_analysis_inconsistencies(c.analysis), 0);
	CU_ASSERT_EQUAL(case_wait(c.one, TRACE_WAIT_UNKNOWN, "", 0, ""), 600);
	CU_ASSERT_EQUAL(c.one->user_ns, 1000 + 400 + 500);
	CU_ASSERT_EQUAL(c.one->syscall_ns, 1000 + 4500);
	case_free(&c);
}

/* The switch away from its CPU was lost. The exit then shows the call that it was in. */
static void a_first_exit_after_a_gap_means_a_call(void)
{
	for (int in_call = 0; in_call < 2; in_call++) {
		struct analysis_case c = case_new();

		tb_thread(c.tb, 10, 10, 1, "one", 0, true);
		tb_sys_enter(c.tb, 0, 1500, SYS_getpid);
		tb_sys_exit(c.tb, 0, 2000, 0);
		tb_lost(c.tb, 0, 5);
		tb_switch(c.tb, 0, 4000, 20, 10, TRACE_TASK_RUNNING);
		if (in_call)
			tb_sys_exit(c.tb, 0, 5000, 0);
		else
			tb_sys_enter(c.tb, 0, 5000, SYS_getpid);
		tb_switch(c.tb, 0, 6000, 10, 0, TRACE_TASK_RUNNING);
		case_run(&c);
		CU_ASSERT_EQUAL(c.one->user_ns, 500 + 1000);
		CU_ASSERT_EQUAL(c.one->syscall_ns, 500 + 1000);
		CU_ASSERT_EQUAL(case_call(c.one, "(not seen)")->calls, (uint64_t)in_call);
		case_free(&c);
	}
}

/* CPU 1 misses the events from 2000 to 6000. A change by "one" in the middle of that may have been
 * undone there. */
static void a_sleep_that_begins_in_a_gap_may_have_ended_there(void)
{
	struct analysis_case c = case_new();

	tb_thread(c.tb, 10, 10, 1, "one", 0, true);
	tb_thread(c.tb, 20, 20, 1, "two", 1, true);
	tb_sys_enter(c.tb, 1, 2000, SYS_getpid);
	tb_lost(c.tb, 1, 1);
	tb_sys_exit(c.tb, 1, 6000, 0);
	tb_sys_enter(c.tb, 0, 2500, SYS_pause);
	tb_switch(c.tb, 0, 3000, 10, 30, TRACE_TASK_INTERRUPTIBLE);
	tb_switch(c.tb, 0, 8000, 30, 10, TRACE_TASK_RUNNING); /* no wakeup was recorded */
	case_run(&c);
	CU_ASSERT_EQUAL(case_wait(c.one, TRACE_WAIT_UNKNOWN, "", 0, ""), 5000);
	CU_ASSERT_EQUAL(c.one->wait_cpu_ns, 0);
	CU_ASSERT_EQUAL(trace_analysis_inconsistencies(c.analysis), 0);
	case_free(&c);
}

/* It slept at least until the gap on CPU 1. */
static void a_sleep_counts_until_the_gap_in_which_it_may_have_ended(void)
{
	struct analysis_case c = case_new();

	tb_thread(c.tb, 10, 10, 1, "one", 0, true);
	tb_thread(c.tb, 20, 20, 1, "two", 1, true);
	tb_sys_enter(c.tb, 1, 4000, SYS_getpid);
	tb_lost(c.tb, 1, 1);
	tb_sys_exit(c.tb, 1, 6000, 0);
	tb_sys_enter(c.tb, 0, 2500, SYS_nanosleep, 0, 0);
	tb_switch(c.tb, 0, 3000, 10, 30, TRACE_TASK_INTERRUPTIBLE);
	tb_switch(c.tb, 0, 8000, 30, 10, TRACE_TASK_RUNNING);
	case_run(&c);
	CU_ASSERT_EQUAL(case_wait(c.one, TRACE_WAIT_TIMEOUT, "", 0, ""), 1000);
	CU_ASSERT_EQUAL(case_wait(c.one, TRACE_WAIT_UNKNOWN, "", 0, ""), 4000);
	CU_ASSERT_EQUAL(c.one->wait_cpu_ns, 0);
	case_free(&c);
}

/* A CPU reported the quota of its thread before a gap. The thread that leaves it after the gap,
 * under the same number, has another one. */
static void quota_reported_before_a_gap_is_over(void)
{
	struct trace_sched_quota quota = {.tid = 20};
	struct analysis_case c = case_new();

	tb_thread(c.tb, 10, 10, 1, "one", 0, true);
	tb_thread(c.tb, 20, 20, 1, "two", 1, true);
	tb_event(c.tb, 1, 1900, TRACE_EV_sched_quota, &quota, sizeof(quota), NULL);
	tb_sys_enter(c.tb, 1, 2000, SYS_getpid);
	tb_lost(c.tb, 1, 1);
	tb_switch(c.tb, 1, 6000, 20, 0, TRACE_TASK_RUNNING);
	case_run(&c);
	CU_ASSERT_EQUAL(case_wait(c.two, TRACE_WAIT_UNKNOWN, "", 0, ""), 4000);
	CU_ASSERT_EQUAL(c.two->wait_cpu_ns, 3000);
	case_free(&c);
}

static void two_gaps_are_two(void)
{
	struct trace_trace_heartbeat heartbeat = {0};
	struct analysis_case c = case_new();

	tb_thread(c.tb, 10, 10, 1, "one", 0, true);
	tb_sys_enter(c.tb, 0, 1500, SYS_nanosleep, 0, 0);
	tb_switch(c.tb, 0, 2000, 10, 0, TRACE_TASK_INTERRUPTIBLE);
	for (uint64_t ns = 3000; ns <= 6000; ns += 1000) {
		tb_event(c.tb, 1, ns, TRACE_EV_trace_heartbeat, &heartbeat, sizeof(heartbeat), NULL);
		if (ns == 3000 || ns == 5000)
			tb_lost(c.tb, 1, 1);
	}
	tb_waking(c.tb, 0, 8000, 10, TRACE_CONTEXT_HARDIRQ);
	tb_switch(c.tb, 0, 8100, 0, 10, TRACE_TASK_RUNNING);
	tb_sys_exit(c.tb, 0, 8200, 0);
	case_run(&c);
	CU_ASSERT_EQUAL(case_wait(c.one, TRACE_WAIT_UNKNOWN, "", 0, ""), 2000);
	CU_ASSERT_EQUAL(case_wait(c.one, TRACE_WAIT_TIMEOUT, "", 0, ""), 4000);
	case_free(&c);
}

/* Events of other CPUs about a CPU in its gap do not make its state known. */
static void a_cpu_that_goes_offline_in_a_gap_is_unknown(void)
{
	struct trace_cpu_hotplug gone = {.cpu = 1};
	struct trace_cpu_stolen stolen = {.ns = 100};
	struct analysis_case c = case_new();

	tb_thread(c.tb, 10, 10, 1, "one", 0, true);
	tb_thread(c.tb, 20, 20, 1, "two", 1, true);
	tb_sys_enter(c.tb, 1, 2000, SYS_getpid);
	tb_lost(c.tb, 1, 1);
	tb_event(c.tb, 0, 4000, TRACE_EV_cpu_hotplug, &gone, sizeof(gone), NULL);
	tb_event(c.tb, 1, 6000, TRACE_EV_cpu_stolen, &stolen, sizeof(stolen), NULL); /* the thread is not known */
	tb_irq(c.tb, 1, 6400, 7);
	tb_irq_exit(c.tb, 1, 6500, 7);
	tb_switch(c.tb, 1, 7000, 20, 0, TRACE_TASK_INTERRUPTIBLE);
	case_run(&c);
	CU_ASSERT_EQUAL(case_cpu(&c, 1).unknown_ns, 5000);
	CU_ASSERT_EQUAL(case_cpu(&c, 1).idle_ns, 2000);
	CU_ASSERT_EQUAL(c.two->stolen_ns, 0);
	case_free(&c);
}

static void a_gap_elsewhere_cuts_its_part_out_of_a_sleep(void)
{
	struct analysis_case c = case_new();

	tb_thread(c.tb, 10, 10, 1, "one", 0, true);
	tb_thread(c.tb, 20, 20, 1, "two", 1, true);
	tb_sys_enter(c.tb, 0, 1500, SYS_nanosleep, 0, 0);
	tb_switch(c.tb, 0, 2000, 10, 0, TRACE_TASK_INTERRUPTIBLE);
	tb_sys_enter(c.tb, 1, 3000, SYS_getpid);
	tb_lost(c.tb, 1, 1);
	tb_sys_exit(c.tb, 1, 4500, 0);
	tb_waking(c.tb, 0, 6000, 10, TRACE_CONTEXT_HARDIRQ);
	tb_switch(c.tb, 0, 6100, 0, 10, TRACE_TASK_RUNNING);
	tb_sys_exit(c.tb, 0, 6200, 0);
	tb_switch(c.tb, 0, 9000, 10, 0, TRACE_TASK_RUNNING);
	case_run(&c);
	CU_ASSERT_EQUAL(case_wait(c.one, TRACE_WAIT_UNKNOWN, "", 0, ""), 1500);
	CU_ASSERT_EQUAL(case_wait(c.one, TRACE_WAIT_TIMEOUT, "", 0, ""), 2500);
	case_free(&c);
}

static void the_waker_of_a_wait_across_a_gap_is_not_used(void)
{
	struct analysis_case c = case_new();

	tb_thread(c.tb, 10, 10, 1, "one", 0, true);
	tb_thread(c.tb, 20, 20, 1, "two", 1, true);
	tb_sys_enter(c.tb, 0, 1500, SYS_futex, 0, 0, 0, 0, 0, 0);
	tb_switch(c.tb, 0, 2000, 10, 0, TRACE_TASK_INTERRUPTIBLE);
	tb_sys_enter(c.tb, 1, 3000, SYS_getpid);
	tb_lost(c.tb, 1, 1);
	tb_switch(c.tb, 1, 4500, 20, 30, 0);
	tb_waking(c.tb, 1, 6000, 10, TRACE_CONTEXT_TASK);
	tb_switch(c.tb, 0, 6100, 0, 10, TRACE_TASK_RUNNING);
	tb_sys_exit(c.tb, 0, 6200, 0);
	case_run(&c);
	CU_ASSERT_EQUAL(case_wait(c.one, TRACE_WAIT_UNKNOWN, "", 0, ""), 4000);
	case_free(&c);
}

static void an_impossible_switch_without_a_gap_is_unknown_and_counted(void)
{
	struct analysis_case c = case_new();

	tb_thread(c.tb, 10, 10, 1, "one", 0, true);
	tb_thread(c.tb, 20, 20, 1, "two", 0, false);
	tb_fork(c.tb, 0, 1500, 10, 30, 30, "three");
	tb_switch(c.tb, 0, 2000, 10, 30, TRACE_TASK_RUNNING);
	tb_switch(c.tb, 0, 4000, 20, 10, TRACE_TASK_RUNNING); /* thread 30 had it */
	tb_switch(c.tb, 0, 9000, 10, 0, TRACE_TASK_RUNNING);
	case_run(&c);
	CU_ASSERT_EQUAL(case_wait(c.two, TRACE_WAIT_UNKNOWN, "", 0, ""), 3000);
	CU_ASSERT_EQUAL(case_cpu(&c, 0).unknown_ns, 2000);
	CU_ASSERT_EQUAL(c.one->wait_cpu_ns, 2000);
	CU_ASSERT(trace_analysis_inconsistencies(c.analysis) > 0);
	case_free(&c);
}

/*
 * A signal of its own process wakes thread 10 in wait4(). Its return is lost, and a fork(), too:
 * the next event is the return from that, with a child that did not exist in the wait.
 */
static void a_return_after_a_loss_may_be_of_another_call(void)
{
	for (int lost = 0; lost < 2; lost++) {
		struct trace_signal_generate signal = {.tid = 10, .signal = SIGUSR1, .group = 1};
		struct analysis_case c = case_new();

		tb_thread(c.tb, 10, 10, 1, "one", 0, true);
		tb_thread(c.tb, 11, 10, 1, "one", 1, true);
		tb_thread(c.tb, 40, 40, 10, "child", 1, false);
		tb_sys_enter(c.tb, 0, 2000, SYS_wait4, (uint64_t)-1, 0, 0);
		tb_switch(c.tb, 0, 3000, 10, 0, TRACE_TASK_INTERRUPTIBLE);
		tb_sys_enter(c.tb, 1, 5000, SYS_kill, 10, SIGUSR1);
		tb_waking(c.tb, 1, 6000, 10, TRACE_CONTEXT_TASK);
		tb_event(c.tb, 1, 6010, TRACE_EV_signal_generate, &signal, sizeof(signal), NULL);
		tb_fork(c.tb, 0, 6500, 10, 50, 50, "late");
		if (lost)
			tb_lost(c.tb, 0, 5);
		tb_switch(c.tb, 0, 6700, 0, 30, TRACE_TASK_RUNNING);
		tb_switch(c.tb, 1, 6800, 11, 10, TRACE_TASK_RUNNING);
		tb_sys_exit(c.tb, 1, 6900, lost ? 50 : 40);
		case_run(&c);
		CU_ASSERT_EQUAL(case_wait(c.one, TRACE_WAIT_PROCESS, "child", 40, "waitpid"), lost ? 0 : 3000);
		CU_ASSERT_EQUAL(case_wait(c.one, TRACE_WAIT_OTHER, "wait4", 0, "waitpid"), lost ? 3000 : 0);
		case_free(&c);
	}
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		CASE(a_gap_makes_the_running_thread_unknown),
		CASE(while_the_recording_is_halted_nothing_is_known),
		CASE(accounting_of_a_flight_recorder_begins_when_all_cpus_are_known),
		CASE(events_before_the_accounting_begins_do_not_count),
		CASE(a_cpu_without_events_in_a_flight_recorder_is_unknown),
		CASE(a_recording_without_scheduling_changes_knows_nothing),
		CASE(nothing_is_known_about_an_unrecorded_kernel),
		CASE(without_wakeups_a_sleeper_did_not_wait_for_a_cpu),
		CASE(without_interrupt_events_the_waker_is_not_known),
		CASE(without_system_calls_user_mode_is_not_known),
		CASE(events_recorded_for_a_while_do_not_count_as_never_recorded),
		CASE(events_outside_the_mask_count_as_partly_recorded),
		CASE(a_halt_says_nothing_about_system_calls),
		CASE(a_file_possibly_opened_while_not_recording_is_unknown),
		CASE(without_system_calls_only_the_first_wait_is_in_a_known_one),
		CASE(wakeups_count_as_recorded_if_recorded_with_all_slices),
		CASE(a_thread_that_migrates_in_a_gap_is_no_inconsistency),
		CASE(a_gap_elsewhere_cuts_its_part_out_of_a_sleep),
		CASE(the_waker_of_a_wait_across_a_gap_is_not_used),
		CASE(an_impossible_switch_without_a_gap_is_unknown_and_counted),
		CASE(a_first_exit_after_a_gap_means_a_call),
		CASE(a_sleep_that_begins_in_a_gap_may_have_ended_there),
		CASE(a_cpu_that_goes_offline_in_a_gap_is_unknown),
		CASE(a_sleep_counts_until_the_gap_in_which_it_may_have_ended),
		CASE(quota_reported_before_a_gap_is_over),
		CASE(two_gaps_are_two),
		CASE(a_return_after_a_loss_may_be_of_another_call),
		{NULL, NULL},
	};

	return unit_main("state_lost", cases, argc, argv);
}
