/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_state_filtered.c - recordings of some processes: which threads they have, and which thread
 * made an event where a switch was not recorded. Times and threads as in test_state.c.
 */
#include <stdlib.h>
#include "state_waits_case.h"
#include "unit.h"

/* A filter selects process 10. For thread 20 and the idle thread only the switches to 10 and away
 * from it are recorded. */
static void threads_excluded_by_a_filter_are_unknown(void)
{
	struct trace_signal_generate to_one = {.tid = 10};
	struct analysis_case c = case_new();

	tb_string(c.tb, TRACE_STRING_INFO, TRACE_INFO_LEFT_OUT, TRACE_LEFT_OUT_PROCESSES);
	tb_thread(c.tb, 10, 10, 1, "one", 0, true);
	/* asleep all the time: its wakeup would have been recorded */
	tb_thread_in(c.tb, 11, 10, 1, "one", 1, false, SYS_pause);
	tb_thread(c.tb, 20, 20, 1, "two", 0, false);
	tb_sys_enter(c.tb, 0, 1500, SYS_futex, 0x5000, 128, 0);
	tb_switch(c.tb, 0, 2000, 10, 20, TRACE_TASK_INTERRUPTIBLE);
	tb_waking(c.tb, 0, 3000, 10, TRACE_CONTEXT_TASK);
	tb_switch(c.tb, 0, 4000, 20, 10, TRACE_TASK_RUNNING); /* 20 may have left the CPU and returned */
	tb_sys_exit(c.tb, 0, 4100, 0);
	tb_switch(c.tb, 0, 5000, 10, 20, TRACE_TASK_RUNNING);
	/* a signal to 10, not to itself */
	tb_event(c.tb, 0, 5500, TRACE_EV_signal_generate, &to_one, sizeof(to_one), NULL);
	tb_switch(c.tb, 1, 6000, 0, 10, TRACE_TASK_RUNNING);
	case_run(&c);
	CU_ASSERT_EQUAL(c.two->user_ns + c.two->syscall_ns + c.two->wait_cpu_ns, 0);
	CU_ASSERT_EQUAL(case_wait(c.two, TRACE_WAIT_UNKNOWN, "", 0, ""), 8000);
	CU_ASSERT_EQUAL(c.one->user_ns, 500 + 900 + 3000);
	CU_ASSERT_EQUAL(c.one->syscall_ns, 500 + 100);
	CU_ASSERT_EQUAL(c.one->wait_cpu_ns, 1000 + 1000);
	CU_ASSERT_EQUAL(case_taken_by(c.one, 0, "unknown"), 2000);
	CU_ASSERT_EQUAL(case_wait(c.one, TRACE_WAIT_UNKNOWN, "", 0, ""), 0);
	CU_ASSERT_EQUAL(case_cpu(&c, 0).unknown_ns, 2000 + 4000);
	CU_ASSERT_EQUAL(case_cpu(&c, 1).unknown_ns, 5000);
	CU_ASSERT_EQUAL(case_cpu(&c, 0).idle_ns + case_cpu(&c, 1).idle_ns, 0);
	CU_ASSERT_EQUAL(trace_analysis_inconsistencies(c.analysis), 0);
	case_free(&c);
}

/*
 * The switch to 10 is missing, because it came from a thread that the kernel hides. The first event
 * that names 10 on the CPU is its switch away; but it was woken before.
 */
static void a_thread_that_is_woken_first_did_not_run_when_the_trace_began(void)
{
	struct analysis_case c = case_new();

	tb_string(c.tb, TRACE_STRING_INFO, TRACE_INFO_LEFT_OUT, TRACE_LEFT_OUT_PROCESSES);
	tb_string(c.tb, TRACE_STRING_INFO, TRACE_INFO_CHOSEN, "10");
	tb_thread_in(c.tb, 10, 10, 1, "one", 0, false, SYS_pause);
	tb_waking(c.tb, 1, 5000, 10, TRACE_CONTEXT_TASK);
	tb_sys_exit(c.tb, 0, 6000, 0);
	tb_sys_enter(c.tb, 0, 6500, SYS_pause);
	tb_switch(c.tb, 0, 7000, 10, 20, TRACE_TASK_INTERRUPTIBLE);
	case_run(&c);
	CU_ASSERT_TRUE(c.one->user_ns + c.one->syscall_ns <= 1000);
	CU_ASSERT_EQUAL(case_cpu(&c, 0).unknown_ns, 8000 - c.one->user_ns - c.one->syscall_ns);
	case_free(&c);
}

/* The wakeup is recorded, and no event of the interrupt or task that made it. */
static void the_call_tells_what_a_thread_with_a_filtered_waker_waited_for(void)
{
	struct analysis_case c = case_new();

	tb_string(c.tb, TRACE_STRING_INFO, TRACE_INFO_LEFT_OUT, TRACE_LEFT_OUT_PROCESSES);
	tb_string(c.tb, TRACE_STRING_INFO, TRACE_INFO_CHOSEN, "10");
	tb_thread(c.tb, 10, 10, 1, "one", 0, true);
	tb_sys_enter(c.tb, 0, 1500, SYS_poll, 0x5000, 1, -1);
	tb_switch(c.tb, 0, 2000, 10, 0, TRACE_TASK_INTERRUPTIBLE);
	tb_waking(c.tb, 0, 3000, 10, TRACE_CONTEXT_SOFTIRQ);
	tb_switch(c.tb, 0, 3500, 0, 10, TRACE_TASK_RUNNING);
	tb_sys_exit(c.tb, 0, 3600, 1);
	tb_sys_enter(c.tb, 0, 4000, SYS_semop, 1, 0, 0);
	tb_switch(c.tb, 0, 4100, 10, 0, TRACE_TASK_INTERRUPTIBLE);
	tb_waking(c.tb, 0, 4900, 10, TRACE_CONTEXT_TASK);
	tb_switch(c.tb, 0, 5000, 0, 10, TRACE_TASK_RUNNING);
	tb_sys_exit(c.tb, 0, 5100, 0);
	tb_sys_enter(c.tb, 0, 5200, SYS_poll, 0x5000, 1, 100);
	tb_switch(c.tb, 0, 5300, 10, 0, TRACE_TASK_INTERRUPTIBLE);
	tb_waking(c.tb, 0, 6000, 10, TRACE_CONTEXT_HARDIRQ);
	tb_switch(c.tb, 0, 6100, 0, 10, TRACE_TASK_RUNNING);
	tb_sys_exit(c.tb, 0, 6200, 0); /* no descriptor was ready: it timed out */
	case_run(&c);
	CU_ASSERT_EQUAL(case_wait(c.one, TRACE_WAIT_OTHER, "poll (woken by: not recorded)", 0, "poll"), 1000);
	CU_ASSERT_EQUAL(case_wait(c.one, TRACE_WAIT_TIMEOUT, "", 0, ""), 700);
	CU_ASSERT_EQUAL(case_wait(c.one, TRACE_WAIT_PROCESS, "unknown", 0, "semaphore"), 800);
	CU_ASSERT_EQUAL(case_wait(c.one, TRACE_WAIT_KERNEL, "interrupt", 0, "poll"), 0);
	case_free(&c);
}

/* fs_ready has the descriptors for which a poll returned. */
static void a_poll_with_a_filtered_waker_waited_for_the_descriptors_that_were_ready(void)
{
	struct analysis_case c = case_new();
	struct trace_fs_ready ready = {.fd0 = 7, .fd1 = -1, .fd2 = -1, .fd3 = -1};

	tb_string(c.tb, TRACE_STRING_INFO, TRACE_INFO_LEFT_OUT, TRACE_LEFT_OUT_PROCESSES);
	tb_string(c.tb, TRACE_STRING_INFO, TRACE_INFO_CHOSEN, "10");
	tb_thread(c.tb, 10, 10, 1, "one", 0, true);
	tb_thread(c.tb, 20, 20, 1, "two", 0, false);
	pipe_fd(&c, 10, 7, 500, O_RDONLY);
	pipe_fd(&c, 20, 1, 500, O_WRONLY);
	tb_fd(c.tb, 10, 8, 1, 600, 0020600, "/dev/pts/0");
	for (uint64_t ns = 1000; ns < 4000; ns += 1000) {
		tb_sys_enter(c.tb, 0, ns, SYS_poll, 0x5000, 2, -1);
		tb_switch(c.tb, 0, ns + 100, 10, 0, TRACE_TASK_INTERRUPTIBLE);
		tb_waking(c.tb, 0, ns + 400, 10, TRACE_CONTEXT_TASK);
		tb_switch(c.tb, 0, ns + 450, 0, 10, TRACE_TASK_RUNNING);
		if (ns < 3000) /* the third was lost: what was ready for the second is not its cause */
			tb_event(c.tb, 0, ns + 480, TRACE_EV_fs_ready, &ready, sizeof(ready), NULL);
		tb_sys_exit(c.tb, 0, ns + 500, 1);
		ready.fd0 = 8;
	}
	case_run(&c);
	CU_ASSERT_EQUAL(case_wait(c.one, TRACE_WAIT_PROCESS, "two", 20, "pipe"), 300);
	CU_ASSERT_EQUAL(case_wait(c.one, TRACE_WAIT_DEVICE, "/dev/pts/0", 0, ""), 300);
	CU_ASSERT_EQUAL(case_wait(c.one, TRACE_WAIT_OTHER, "poll (woken by: not recorded)", 0, "poll"), 300);
	case_free(&c);
}

static void wakes(struct analysis_case *c, uint64_t ns, uint32_t tid, uint32_t tgid, const char *comm, uint32_t woken)
{
	struct trace_sched_waker waker = {.tid = tid, .tgid = tgid, .ppid = 20, .copy = 1};

	tb_event(c->tb, 0, ns, TRACE_EV_sched_waker, &waker, sizeof(waker), comm);
	tb_waking(c->tb, 0, ns, woken, TRACE_CONTEXT_TASK);
}

/*
 * The start state saw the other end of the unix connection in process 20, the parent of the server
 * 41, which is newer. No event tells which process has the semaphore. A file is a file,
 * whichever process wakes.
 */
static void a_waker_that_a_filter_excludes_is_known_by_its_name(void)
{
	struct trace_start_args args = {.tgid = 20, .bytes = strlen("python3?server.py")};
	struct trace_start_socket ends[2] = {
		{.tgid = 10, .fd = 7, .ino = 500, .peer_ino = 501, .family = AF_UNIX, .type = SOCK_STREAM},
		{.tgid = 20, .fd = 5, .ino = 501, .peer_ino = 500, .family = AF_UNIX, .type = SOCK_STREAM}};
	struct analysis_case c = case_new();
	static const struct {
		uint64_t call, arg;
		uint32_t tid, tgid;
	} waits[] = {{SYS_read, 7, 42, 41}, {SYS_semop, 1, 20, 20}, {SYS_read, 9, 20, 20}};

	tb_string(c.tb, TRACE_STRING_INFO, TRACE_INFO_LEFT_OUT, TRACE_LEFT_OUT_PROCESSES);
	tb_string(c.tb, TRACE_STRING_INFO, TRACE_INFO_CHOSEN, "10");
	tb_thread(c.tb, 10, 10, 1, "one", 0, true);
	tb_thread(c.tb, 20, 20, 1, "two", 0, false);
	tb_start(c.tb, 1000, TRACE_EV_start_args, &args, sizeof(args), "python3\x1fserver.py");
	for (size_t i = 0; i < 2; i++) {
		tb_fd(c.tb, ends[i].tgid, ends[i].fd, 9, ends[i].ino, S_IFSOCK | 0777, "socket:");
		tb_start(c.tb, 1000, TRACE_EV_start_socket, &ends[i], sizeof(ends[i]), NULL);
	}
	tb_fd(c.tb, 10, 9, 1, 600, 0100644, "/data");
	for (size_t i = 0; i < sizeof(waits) / sizeof(waits[0]); i++) {
		uint64_t ns = 2000 + 1000 * i;

		tb_sys_enter(c.tb, 0, ns, waits[i].call, waits[i].arg, 0, 0);
		tb_switch(c.tb, 0, ns + 100, 10, 0, TRACE_TASK_INTERRUPTIBLE);
		wakes(&c, ns + 400 + 10 * i, waits[i].tid, waits[i].tgid, "server", 10);
		tb_switch(c.tb, 0, ns + 450, 0, 10, TRACE_TASK_RUNNING);
		tb_sys_exit(c.tb, 0, ns + 500, 1);
	}
	/* the name is that of the next wakeup only */
	tb_sys_enter(c.tb, 0, 6000, SYS_semop, 1, 0, 0);
	tb_switch(c.tb, 0, 6100, 10, 0, TRACE_TASK_INTERRUPTIBLE);
	tb_waking(c.tb, 0, 6500, 10, TRACE_CONTEXT_TASK);
	tb_switch(c.tb, 0, 6600, 0, 10, TRACE_TASK_RUNNING);
	tb_sys_exit(c.tb, 0, 6700, 0);
	case_run(&c);
	CU_ASSERT_EQUAL(case_wait(c.one, TRACE_WAIT_PROCESS, "python3 server.py", 41, "unix"), 300);
	CU_ASSERT_STRING_EQUAL(trace_process_title(trace_thread_process(trace_find_thread(c.analysis, 41))),
			       "python3 server.py");
	CU_ASSERT_EQUAL(trace_process_ppid(trace_thread_process(trace_find_thread(c.analysis, 41))), 20);
	CU_ASSERT_EQUAL(case_wait(c.one, TRACE_WAIT_PROCESS, "python3 server.py", 20, "semaphore"), 310);
	CU_ASSERT_EQUAL(case_wait(c.one, TRACE_WAIT_FILE, "/data", 0, ""), 320);
	CU_ASSERT_EQUAL(case_wait(c.one, TRACE_WAIT_PROCESS, "unknown", 0, "semaphore"), 400);
	CU_ASSERT_EQUAL(trace_analysis_inconsistencies(c.analysis), 0);
	case_free(&c);
}

/* A filter has chosen process 10. It waits for one of its children from 2,000 to 3,000 ns. */
static struct analysis_case parent_that_waits(void)
{
	struct analysis_case c = case_new();

	tb_string(c.tb, TRACE_STRING_INFO, TRACE_INFO_LEFT_OUT, TRACE_LEFT_OUT_PROCESSES);
	tb_string(c.tb, TRACE_STRING_INFO, TRACE_INFO_CHOSEN, "10");
	tb_thread(c.tb, 10, 10, 1, "one", 0, true);
	tb_thread(c.tb, 20, 20, 10, "two", 1, false);
	tb_thread(c.tb, 30, 30, 10, "three", 1, false);
	tb_sys_enter(c.tb, 0, 1500, SYS_wait4, -1ull, 0, 0);
	tb_switch(c.tb, 0, 2000, 10, 0, TRACE_TASK_INTERRUPTIBLE);
	tb_waking(c.tb, 0, 3000, 10, TRACE_CONTEXT_TASK);
	return c;
}

/* The child's exit was not recorded, or its last switch was, to the parent that it woke. */
static void the_result_of_a_wait_names_the_child_that_a_filter_excludes(void)
{
	for (int is_dead = 0; is_dead < 2; is_dead++) {
		struct analysis_case c = parent_that_waits();

		tb_switch(c.tb, 0, 3100, is_dead ? 20 : 0, 10, is_dead ? TRACE_TASK_DEAD : TRACE_TASK_RUNNING);
		tb_sys_exit(c.tb, 0, 3200, 20);
		case_run(&c);
		CU_ASSERT_EQUAL(case_wait(c.one, TRACE_WAIT_PROCESS, "two", 20, "waitpid"), 1000);
		case_free(&c);
	}
}

/* The call that lasts until the end is for the child that no earlier call returned. */
static void a_child_that_was_returned_is_not_waited_for_again(void)
{
	struct analysis_case c = parent_that_waits();

	tb_switch(c.tb, 0, 3100, 0, 10, TRACE_TASK_RUNNING);
	tb_sys_exit(c.tb, 0, 3200, 20);
	tb_sys_enter(c.tb, 0, 3300, SYS_wait4, -1ull, 0, 0);
	tb_switch(c.tb, 0, 4000, 10, 0, TRACE_TASK_INTERRUPTIBLE);
	tb_window(c.tb, 1000, 9000);
	case_run(&c);
	CU_ASSERT_EQUAL(case_wait(c.one, TRACE_WAIT_PROCESS, "two", 20, "waitpid"), 1000);
	CU_ASSERT_EQUAL(case_wait(c.one, TRACE_WAIT_PROCESS, "three", 30, "waitpid"), 5000);
	case_free(&c);
}

/* It is on its CPU from the beginning to the end, so no switch names it. */
static void a_thread_included_by_a_filter_may_never_leave_its_cpu(void)
{
	struct analysis_case c = case_new();

	tb_string(c.tb, TRACE_STRING_INFO, TRACE_INFO_LEFT_OUT, TRACE_LEFT_OUT_PROCESSES);
	tb_thread(c.tb, 10, 10, 1, "one", 0, true);
	tb_thread(c.tb, 20, 20, 1, "two", 1, true);
	tb_vector(c.tb, 0, 5000, 0xec);
	tb_vector_exit(c.tb, 0, 5100, 0xec);
	case_run(&c);
	CU_ASSERT_EQUAL(c.one->user_ns, 7900);
	CU_ASSERT_EQUAL(c.one->interrupted_ns, 100);
	CU_ASSERT_EQUAL(case_wait(c.two, TRACE_WAIT_UNKNOWN, "", 0, ""), 8000);
	CU_ASSERT_EQUAL(case_cpu(&c, 1).unknown_ns, 8000);
	case_free(&c);
}

/* Both sleep all the time and leave no event. */
static void a_thread_filtered_by_number_may_do_nothing(void)
{
	struct analysis_case c = case_new();

	tb_string(c.tb, TRACE_STRING_INFO, TRACE_INFO_LEFT_OUT, TRACE_LEFT_OUT_PROCESSES);
	tb_string(c.tb, TRACE_STRING_INFO, TRACE_INFO_CHOSEN, "10");
	tb_thread_in(c.tb, 10, 10, 1, "one", 0, false, SYS_clock_nanosleep);
	tb_thread_in(c.tb, 20, 20, 1, "two", 1, false, SYS_clock_nanosleep);
	case_run(&c);
	CU_ASSERT_EQUAL(case_wait(c.one, TRACE_WAIT_UNKNOWN, "", 0, ""), 0);
	CU_ASSERT_EQUAL(c.one->blocked_ns, 8000);
	CU_ASSERT_EQUAL(case_wait(c.two, TRACE_WAIT_UNKNOWN, "", 0, ""), 8000);
	case_free(&c);
}

/* ---- which thread made an event ---- */

static struct analysis_case filtered_case(void)
{
	struct analysis_case c = case_new();

	tb_string(c.tb, TRACE_STRING_INFO, TRACE_INFO_LEFT_OUT, TRACE_LEFT_OUT_PROCESSES);
	return c;
}

static uint16_t probe(struct analysis_case *c)
{
	const struct trace_event_type type = {.name = "hot:f",
					      .classic = "NONE",
					      .text = "",
					      .doc = "",
					      .program = "NONE",
					      .category = TRACE_CATEGORY_USER,
					      .flags = TRACE_EVENT_ON,
					      .source = "hot:f"};
	struct trace_probe_cost cost = {.ns = 10, .least_ns = 10, .most_ns = 10};
	uint16_t id = tb_user_type(c->tb, &type);

	cost.event = id;
	tb_start(c->tb, 1100, TRACE_EV_probe_cost, &cost, sizeof(cost), NULL);
	return id;
}

static void hit(struct analysis_case *c, uint64_t ns, uint16_t id)
{
	tb_user_event(c->tb, 0, ns, id, NULL, 0);
}

static void ids(struct analysis_case *c, uint64_t ns, uint32_t tid, uint32_t tgid, bool passes)
{
	struct trace_sched_ids event = {.tid = tid, .tgid = tgid, .ppid = 1, .uid = 33, .passes = passes};

	tb_structural_event(c->tb, 0, ns, TRACE_EV_sched_ids, &event, sizeof(event), NULL);
}

/* The hits that the analysis charges to @pid; 0: to any process. */
static uint64_t hits_of(const struct analysis_case *c, uint32_t pid)
{
	struct trace_probe_use *uses;
	uint64_t hits = 0;
	size_t nr;

	uses = trace_probe_uses(c->analysis, &nr);
	for (size_t i = 0; i < nr; i++)
		hits += !pid || trace_process_pid(uses[i].process) == pid ? uses[i].hits : 0;
	free(uses);
	return hits;
}

/*
 * The switch from a thread that the kernel hides to 10 is missing. 20 does not pass: it would have
 * left the CPU by a recorded switch.
 */
static void events_behind_a_thread_that_does_not_pass_are_of_the_one_that_leaves(void)
{
	struct analysis_case c = filtered_case();
	uint16_t id = probe(&c);

	tb_thread(c.tb, 10, 10, 1, "one", 0, true);
	tb_thread(c.tb, 20, 20, 1, "two", 0, false);
	tb_sys_enter(c.tb, 0, 1500, SYS_getpid);
	tb_sys_exit(c.tb, 0, 1600, 10);
	tb_switch(c.tb, 0, 2000, 10, 20, TRACE_TASK_RUNNING);
	tb_waking(c.tb, 0, 2500, 10, TRACE_CONTEXT_TASK); /* by any thread */
	hit(&c, 3000, id);
	tb_vector(c.tb, 0, 3100, 0xec);
	tb_vector_exit(c.tb, 0, 3200, 0xec);
	hit(&c, 3500, id);
	tb_switch(c.tb, 0, 4000, 10, 0, TRACE_TASK_RUNNING);
	case_run(&c);
	CU_ASSERT_EQUAL(hits_of(&c, 10), 2);
	CU_ASSERT_EQUAL(hits_of(&c, 0), 2);
	CU_ASSERT_EQUAL(case_wait(c.two, TRACE_WAIT_UNKNOWN, "", 0, ""), 8000);
	CU_ASSERT_EQUAL(c.two->user_ns + c.two->interrupted_ns, 0);
	CU_ASSERT_EQUAL(c.one->interrupted_ns, 100);
	CU_ASSERT_EQUAL(case_wait(c.one, TRACE_WAIT_UNKNOWN, "", 0, ""),
			1000); /* it came at some time in 2000 to 3000 */
	CU_ASSERT_EQUAL(case_cpu(&c, 0).unknown_ns, 1000 + 5000);
	CU_ASSERT_EQUAL(trace_analysis_inconsistencies(c.analysis), 0);
	case_free(&c);
}

/*
 * The same for a child of 10 that runs but once. If a number selects the processes, its call proves
 * that it passes; by another filter 20 may have made the call, and passed no longer.
 */
static void a_call_behind_a_hidden_thread_proves_that_a_descendant_passes(void)
{
	for (int is_chosen = 0; is_chosen < 2; is_chosen++) {
		struct analysis_case c = filtered_case();
		struct trace_figures *child;

		if (is_chosen)
			tb_string(c.tb, TRACE_STRING_INFO, TRACE_INFO_CHOSEN, "10");
		tb_thread(c.tb, 10, 10, 1, "one", 0, true);
		tb_thread(c.tb, 20, 20, 1, "two", 0, false);
		tb_sys_enter(c.tb, 0, 1500, SYS_getpid);
		tb_sys_exit(c.tb, 0, 1600, 10);
		tb_fork(c.tb, 0, 1700, 10, 11, 11, "child");
		tb_switch(c.tb, 0, 2000, 10, 20, TRACE_TASK_INTERRUPTIBLE);
		tb_sys_enter(c.tb, 0, 3000, SYS_getppid);
		tb_sys_exit(c.tb, 0, 3200, 10);
		tb_switch(c.tb, 0, 4000, 11, 20, TRACE_TASK_INTERRUPTIBLE);
		case_run(&c);
		child = trace_process_figures(c.analysis, case_process(&c, 11));
		CU_ASSERT_EQUAL(child->syscall_ns, is_chosen ? 200 : 0);
		CU_ASSERT_EQUAL(child->user_ns, is_chosen ? 800 : 0);
		CU_ASSERT_EQUAL(c.two->user_ns + c.two->syscall_ns, 0);
		trace_figures_free(child);
		case_free(&c);
	}
}

/* The same behind the idle thread, and 10 runs on until the end of the recording. */
static void no_event_behind_an_idle_thread_is_of_an_unnamed_one(void)
{
	struct analysis_case c = filtered_case();
	uint16_t id = probe(&c);

	tb_thread(c.tb, 10, 10, 1, "one", 0, true);
	tb_sys_enter(c.tb, 0, 1500, SYS_getpid);
	tb_sys_exit(c.tb, 0, 1600, 10);
	tb_switch(c.tb, 0, 2000, 10, 0, TRACE_TASK_INTERRUPTIBLE);
	hit(&c, 3000, id);
	case_run(&c);
	CU_ASSERT_EQUAL(hits_of(&c, 0), 0);
	CU_ASSERT_EQUAL(c.one->user_ns, 500 + 400);
	CU_ASSERT_EQUAL(case_cpu(&c, 0).unknown_ns, 7000);
	case_free(&c);
}

/* The next event that names the thread may be the one by which it ceases to pass. */
static void a_process_that_ceases_to_pass_keeps_its_events(void)
{
	struct analysis_case c = filtered_case();
	uint16_t id = probe(&c);

	tb_thread(c.tb, 10, 10, 1, "one", 1, false);
	tb_thread(c.tb, 20, 20, 1, "two", 1, false);
	tb_switch(c.tb, 0, 2000, 0, 10, TRACE_TASK_RUNNING);
	tb_sys_enter(c.tb, 0, 2500, SYS_getpid);
	tb_sys_exit(c.tb, 0, 2600, 10);
	hit(&c, 3000, id);
	ids(&c, 4000, 10, 10, false);
	tb_switch(c.tb, 0, 6000, 20, 30, TRACE_TASK_RUNNING); /* 30 passes, 20 does not */
	hit(&c, 7000, id);
	tb_switch(c.tb, 0, 8000, 30, 20, TRACE_TASK_RUNNING);
	case_run(&c);
	CU_ASSERT_EQUAL(hits_of(&c, 10), 1);
	CU_ASSERT_EQUAL(hits_of(&c, 30), 1);
	CU_ASSERT_EQUAL(c.one->user_ns + c.one->syscall_ns + c.one->trap_ns, 2000);
	CU_ASSERT_EQUAL(case_wait(c.two, TRACE_WAIT_UNKNOWN, "", 0, ""), 8000);
	CU_ASSERT_EQUAL(c.two->user_ns + c.two->syscall_ns, 0);
	CU_ASSERT_EQUAL(case_cpu(&c, 0).unknown_ns, 1000 + 2000 + 1000);
	case_free(&c);
}

/* It is on the CPU when the recording begins: no switch to it or from it is recorded. */
static void a_process_may_cease_to_pass_before_any_switch(void)
{
	struct analysis_case c = filtered_case();
	uint16_t id = probe(&c);

	tb_thread(c.tb, 10, 10, 1, "one", 0, true);
	tb_thread(c.tb, 20, 20, 1, "two", 1, false);
	hit(&c, 3000, id);
	ids(&c, 4000, 10, 10, false);
	tb_switch(c.tb, 0, 6000, 20, 30, TRACE_TASK_RUNNING);
	hit(&c, 7000, id);
	tb_switch(c.tb, 0, 8000, 30, 20, TRACE_TASK_RUNNING);
	case_run(&c);
	CU_ASSERT_EQUAL(hits_of(&c, 10), 1);
	CU_ASSERT_EQUAL(hits_of(&c, 30), 1);
	CU_ASSERT_EQUAL(c.one->user_ns + c.one->trap_ns, 3000);
	CU_ASSERT_EQUAL(case_wait(c.two, TRACE_WAIT_UNKNOWN, "", 0, ""), 8000);
	case_free(&c);
}

/* Another process moved 10 to another process group, which leaves no event of 10. */
static void events_of_either_of_two_threads_are_of_neither(void)
{
	struct analysis_case c = filtered_case();
	uint16_t id = probe(&c);

	tb_thread(c.tb, 10, 10, 1, "one", 0, true);
	tb_thread(c.tb, 20, 20, 1, "two", 1, false);
	hit(&c, 1500, id);
	tb_switch(c.tb, 0, 2000, 10, 20, TRACE_TASK_RUNNING);
	tb_switch(c.tb, 0, 3000, 20, 10, TRACE_TASK_RUNNING);
	hit(&c, 4000, id);
	tb_switch(c.tb, 0, 6000, 20, 30, TRACE_TASK_RUNNING);
	hit(&c, 7000, id);
	tb_switch(c.tb, 0, 8000, 30, 20, TRACE_TASK_RUNNING);
	case_run(&c);
	CU_ASSERT_EQUAL(hits_of(&c, 10), 1);
	CU_ASSERT_EQUAL(hits_of(&c, 20), 0);
	CU_ASSERT_EQUAL(hits_of(&c, 30), 1);
	CU_ASSERT_EQUAL(c.one->user_ns + c.one->trap_ns, 1000);
	CU_ASSERT_EQUAL(case_wait(c.two, TRACE_WAIT_UNKNOWN, "", 0, ""), 8000);
	case_free(&c);
}

/* The gap has the switch from 20. */
static void events_behind_a_gap_are_not_of_the_thread_before_it(void)
{
	struct analysis_case c = filtered_case();
	uint16_t id = probe(&c);

	tb_thread(c.tb, 10, 10, 1, "one", 1, false);
	tb_thread(c.tb, 20, 20, 1, "two", 1, false);
	tb_switch(c.tb, 0, 2000, 10, 20, TRACE_TASK_RUNNING);
	tb_lost(c.tb, 0, 5);
	hit(&c, 4000, id);
	tb_vector(c.tb, 0, 4100, 0xec);
	tb_vector_exit(c.tb, 0, 4200, 0xec);
	tb_switch(c.tb, 0, 5000, 10, 20, TRACE_TASK_RUNNING);
	case_run(&c);
	CU_ASSERT_EQUAL(hits_of(&c, 20), 0);
	CU_ASSERT_EQUAL(case_wait(c.two, TRACE_WAIT_UNKNOWN, "", 0, ""), 8000);
	case_free(&c);
}

/* No event behind the last switch names the thread. If switches are missing, it may be another. */
static void the_last_thread_of_a_cpu_needs_a_trace_without_hidden_threads(void)
{
	struct trace_start_thread hidden = {
		.tid = 70, .tgid = 70, .nr = -1, .flags = TRACE_THREAD_HIDDEN, .state = TRACE_TASK_INTERRUPTIBLE};

	for (int is_hidden = 0; is_hidden < 2; is_hidden++) {
		struct analysis_case c = filtered_case();
		uint16_t id = probe(&c);

		if (is_hidden)
			tb_start(c.tb, 1050, TRACE_EV_start_thread, &hidden, sizeof(hidden), "hidden");
		tb_thread(c.tb, 10, 10, 1, "one", 0, true);
		tb_thread(c.tb, 20, 20, 1, "two", 1, false);
		tb_vector(c.tb, 0, 1500, 0xec);
		tb_vector_exit(c.tb, 0, 1600, 0xec);
		tb_switch(c.tb, 0, 2000, 10, 20, TRACE_TASK_RUNNING);
		hit(&c, 4000, id);
		tb_vector(c.tb, 0, 4100, 0xec);
		tb_vector_exit(c.tb, 0, 4200, 0xec);
		case_run(&c);
		CU_ASSERT_EQUAL(hits_of(&c, 0), is_hidden ? 0 : 1);
		CU_ASSERT_EQUAL(hits_of(&c, 20), is_hidden ? 0 : 1);
		CU_ASSERT_EQUAL(case_wait(c.two, TRACE_WAIT_UNKNOWN, "", 0, ""), is_hidden ? 8000 : 0);
		case_free(&c);
	}
}

/* The exec of thread 11 gives it the number of its process. */
static void a_thread_that_changes_its_number_makes_its_events(void)
{
	struct trace_sched_exec exec = {.tid = 10, .old_tid = 11, .uid = 33};
	struct analysis_case c = filtered_case();
	uint16_t id = probe(&c);

	tb_thread(c.tb, 10, 10, 1, "one", 1, false);
	tb_thread(c.tb, 11, 10, 1, "one", 1, false);
	tb_switch(c.tb, 0, 2000, 0, 11, TRACE_TASK_RUNNING);
	hit(&c, 2500, id);
	tb_sys_enter(c.tb, 0, 3000, SYS_execve);
	ids(&c, 4000, 10, 10, true);
	tb_structural_event(c.tb, 0, 4100, TRACE_EV_sched_exec, &exec, sizeof(exec), "/bin/program");
	tb_sys_exit(c.tb, 0, 4200, 0);
	hit(&c, 5000, id);
	tb_switch(c.tb, 0, 6000, 10, 0, TRACE_TASK_RUNNING);
	case_run(&c);
	CU_ASSERT_EQUAL(hits_of(&c, 10), 2);
	case_free(&c);
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		CASE(threads_excluded_by_a_filter_are_unknown),
		CASE(a_thread_that_is_woken_first_did_not_run_when_the_trace_began),
		CASE(the_call_tells_what_a_thread_with_a_filtered_waker_waited_for),
		CASE(a_poll_with_a_filtered_waker_waited_for_the_descriptors_that_were_ready),
		CASE(a_waker_that_a_filter_excludes_is_known_by_its_name),
		CASE(the_result_of_a_wait_names_the_child_that_a_filter_excludes),
		CASE(a_child_that_was_returned_is_not_waited_for_again),
		CASE(a_thread_included_by_a_filter_may_never_leave_its_cpu),
		CASE(a_thread_filtered_by_number_may_do_nothing),
		CASE(events_behind_a_thread_that_does_not_pass_are_of_the_one_that_leaves),
		CASE(a_call_behind_a_hidden_thread_proves_that_a_descendant_passes),
		CASE(no_event_behind_an_idle_thread_is_of_an_unnamed_one),
		CASE(a_process_that_ceases_to_pass_keeps_its_events),
		CASE(a_process_may_cease_to_pass_before_any_switch),
		CASE(events_of_either_of_two_threads_are_of_neither),
		CASE(events_behind_a_gap_are_not_of_the_thread_before_it),
		CASE(the_last_thread_of_a_cpu_needs_a_trace_without_hidden_threads),
		CASE(a_thread_that_changes_its_number_makes_its_events),
		{NULL, NULL},
	};

	return unit_main("state_filtered", cases, argc, argv);
}
