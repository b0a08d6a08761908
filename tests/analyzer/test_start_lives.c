/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_start_lives.c - each thread of the start has its own life: threads that ended before the
 * recorder read them were there, and threads that began in the trace were not.
 *
 * Traces begin at 1000 and end at 9000. Thread 10 ("one") runs on CPU 0, thread 20 ("two") on CPU
 * 1. All times are ns.
 */
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <trace/view.h>
#include "analysis_case.h"
#include "unit.h"

static void thread_born_at(struct analysis_case *c, uint64_t born_ns, uint64_t read_ns, uint32_t tid, uint32_t tgid,
			   uint32_t ppid)
{
	struct trace_start_thread start = {.tid = tid,
					   .tgid = tgid,
					   .ppid = ppid,
					   .state = TRACE_TASK_INTERRUPTIBLE,
					   .nr = -1,
					   .cpu = 1,
					   .start_ns = born_ns};

	tb_start(c->tb, read_ns, TRACE_EV_start_thread, &start, sizeof(start), "other");
}

static void thread_read_at(struct analysis_case *c, uint64_t read_ns, uint32_t tid, uint32_t tgid, uint32_t ppid)
{
	thread_born_at(c, 0, read_ns, tid, tgid, ppid);
}

static struct analysis_case begin(void)
{
	struct analysis_case c = case_new();

	tb_thread(c.tb, 10, 10, 1, "one", 0, true);
	tb_thread(c.tb, 20, 20, 1, "two", 1, true);
	return c;
}

/* CPU 0 changes from 10 to @tid at @ns. @tid exits 1000 later, as the last one of its process. */
static void runs_and_ends(struct analysis_case *c, uint64_t ns, uint32_t tid)
{
	tb_switch(c->tb, 0, ns, 10, tid, TRACE_TASK_RUNNING);
	tb_exit(c->tb, 0, ns + 1000, tid, tid, true);
	tb_switch(c->tb, 0, ns + 1010, tid, 10, TRACE_TASK_DEAD);
	tb_free_thread(c->tb, 0, ns + 1020, tid);
}

/* Processes of number @pid in the order of their lives. */
static size_t processes_of(const struct analysis_case *c, uint32_t pid, const struct trace_process **ret_list,
			   size_t room)
{
	size_t nr = 0;

	for (size_t i = 0; i < trace_nr_processes(c->analysis); i++)
		if (trace_process_pid(trace_get_process(c->analysis, i)) == pid && nr++ < room)
			ret_list[nr - 1] = trace_get_process(c->analysis, i);
	return nr;
}

/* A flight recorder of an older version reads the start state behind the end of the trace. */
static void a_thread_that_was_born_behind_the_end_is_not_in_the_trace(void)
{
	struct analysis_case c = begin();

	thread_born_at(&c, 500, 9500, 30, 30, 10);
	thread_born_at(&c, 9400, 9500, 40, 40, 30);
	thread_born_at(&c, 9400, 9500, 31, 30, 10);
	case_run(&c);
	CU_ASSERT_PTR_NOT_NULL(case_process(&c, 30));
	CU_ASSERT_PTR_NULL(case_process(&c, 40));
	CU_ASSERT_PTR_NULL(trace_find_thread(c.analysis, 31));
	case_free(&c);
}

/* 30 ends at 4000. The recorder reads its child 40 before that. */
static void a_process_that_ends_before_it_is_read_lives_from_the_start_on(void)
{
	struct analysis_case c = begin();

	thread_read_at(&c, 2000, 40, 40, 30);
	runs_and_ends(&c, 3000, 30);
	tb_add(c.tb, 0, 4000, sched_adopt, NULL, .parent = 30, .reaper = 1);
	thread_read_at(&c, 8999, 60, 60, 1); /* the last one */
	case_run(&c);
	CU_ASSERT_PTR_NOT_NULL_FATAL(case_process(&c, 30));
	CU_ASSERT_EQUAL(trace_process_start_ns(case_process(&c, 30)), 1000);
	CU_ASSERT_EQUAL(trace_process_end_ns(case_process(&c, 30)), 4010);
	CU_ASSERT_PTR_EQUAL(trace_process_starter(case_process(&c, 40)), case_process(&c, 30));
	case_free(&c);
}

/* Thread 31 of process 30 calls exec at 4000, so that its own number is gone. */
static void a_thread_that_takes_the_number_of_its_leader_lives_from_the_start_on(void)
{
	struct analysis_case c = begin();

	tb_switch(c.tb, 0, 3000, 10, 31, TRACE_TASK_RUNNING);
	tb_exit(c.tb, 1, 3500, 30, 30, false);
	tb_add(c.tb, 0, 4000, sched_exec, "/bin/program", .tid = 30, .old_tid = 31);
	tb_switch(c.tb, 0, 4100, 30, 10, TRACE_TASK_INTERRUPTIBLE);
	thread_read_at(&c, 5000, 30, 30, 1);
	thread_read_at(&c, 8999, 60, 60, 1); /* the last one */
	case_run(&c);
	CU_ASSERT_PTR_NOT_NULL_FATAL(case_process(&c, 30));
	CU_ASSERT_EQUAL(trace_process_start_ns(case_process(&c, 30)), 1000);
	CU_ASSERT_EQUAL(trace_nr_threads(case_process(&c, 30)), 2);
	case_free(&c);
}

/*
 * 31 had the number 30 before the first event that names it. The recorder read 31 before that, or
 * not at all: only the exec tells its old number. The process ends with its one thread.
 */
static void a_number_that_was_gone_before_the_exec_is_of_no_living_thread(void)
{
	for (int is_read = 0; is_read < 2; is_read++) {
		struct analysis_case c = begin();
		const struct trace_thread *old = NULL;

		if (is_read)
			thread_read_at(&c, 1000, 31, 30, 1);
		tb_switch(c.tb, 0, 3000, 10, 30, TRACE_TASK_RUNNING);
		tb_add(c.tb, 0, 4000, sched_exec, "/bin/program", .tid = 30, .old_tid = 31);
		tb_add(c.tb, 0, 4500, sched_adopt, NULL, .parent = 30, .reaper = 1);
		tb_exit(c.tb, 0, 4500, 30, 30, true);
		tb_switch(c.tb, 0, 4600, 30, 10, TRACE_TASK_DEAD);
		thread_read_at(&c, 5000, 40, 40, 30);
		thread_read_at(&c, 8999, 60, 60, 1); /* the last one */
		case_run(&c);
		CU_ASSERT_EQUAL(trace_nr_threads(case_process(&c, 30)), 2);
		while ((old = trace_next_thread(case_process(&c, 30), old)) && trace_thread_tid(old) != 31)
			;
		CU_ASSERT_PTR_NOT_NULL_FATAL(old);
		CU_ASSERT_EQUAL(trace_thread_end_ns(old), is_read ? 4000 : 1000);
		CU_ASSERT_EQUAL(trace_process_end_ns(case_process(&c, 30)), 4600);
		case_free(&c);
	}
}

/* 70 is forked at 1500 and at 3000. The second one forks its thread 71; both are read at 5000. */
static struct analysis_case number_is_used_twice(void)
{
	struct analysis_case c = begin();

	tb_fork(c.tb, 1, 1500, 20, 70, 70, "two");
	runs_and_ends(&c, 1600, 70);
	tb_fork(c.tb, 1, 3000, 20, 70, 70, "two");
	tb_switch(c.tb, 0, 3100, 10, 70, TRACE_TASK_RUNNING);
	tb_fork(c.tb, 0, 3500, 70, 71, 70, "two");
	tb_switch(c.tb, 0, 3600, 70, 10, TRACE_TASK_INTERRUPTIBLE);
	thread_read_at(&c, 5000, 70, 70, 20);
	thread_read_at(&c, 5000, 71, 70, 20);
	return c;
}

static void a_number_that_is_used_twice_before_it_is_read_is_two_processes(void)
{
	struct analysis_case c = number_is_used_twice();
	const struct trace_process *lives[2] = {NULL};

	case_run(&c);
	CU_ASSERT_EQUAL_FATAL(processes_of(&c, 70, lives, 2), 2);
	CU_ASSERT_EQUAL(trace_process_start_ns(lives[0]), 1500);
	CU_ASSERT_EQUAL(trace_process_end_ns(lives[0]), 2610);
	CU_ASSERT_EQUAL(trace_nr_threads(lives[0]), 1);
	CU_ASSERT_EQUAL(trace_process_start_ns(lives[1]), 3000);
	CU_ASSERT_EQUAL(trace_nr_threads(lives[1]), 2);
	case_free(&c);
}

static void a_view_has_rows_only_of_threads_that_stay(void)
{
	struct trace_start_thread dead = {.tid = 80, .tgid = 80, .ppid = 1, .state = TRACE_TASK_EXIT_ZOMBIE, .nr = -1};
	struct trace_view_options options = {.size = sizeof(options)};
	struct analysis_case c = number_is_used_twice();
	struct trace_view *view;
	size_t nr_threads = 0, nr_dead = 0;

	tb_start(c.tb, 5000, TRACE_EV_start_thread, &dead, sizeof(dead), "dead");
	case_open(&c);
	view = trace_view_new(c.analysis, &options, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(view);
	case_run(&c);
	for (size_t i = 0; i < trace_view_nr_rows(view, TRACE_ROW_THREAD); i++) {
		struct trace_row row;

		CU_ASSERT(trace_view_get_row(view, (struct trace_row_id){TRACE_ROW_THREAD, i}, &row));
		nr_threads += trace_process_pid(trace_thread_process(row.thread)) == 70;
		nr_dead += trace_thread_tid(row.thread) == 80;
	}
	CU_ASSERT_EQUAL(nr_threads, 3);
	CU_ASSERT_EQUAL(nr_dead, 1);
	trace_view_free(view);
	case_free(&c);
}

/* The number 30 was used again when the recorder read thread 31. */
static void the_parent_of_a_process_is_that_of_its_leader(void)
{
	struct analysis_case c = begin();

	thread_read_at(&c, 2000, 30, 30, 20);
	thread_read_at(&c, 4000, 31, 30, 10);
	case_run(&c);
	CU_ASSERT_EQUAL(trace_process_ppid(case_process(&c, 30)), 20);
	case_free(&c);
}

/* The kernel hides 70. Thread 21 follows it at some time, and has its leader's number at 4000. */
static void an_exec_behind_a_hidden_thread_tells_the_old_number(void)
{
	struct analysis_case c = begin();

	tb_thread(c.tb, 30, 30, 1, "three", 2, true);
	tb_exec(c.tb, 2, 3300, 30, "/bin/other");
	tb_thread(c.tb, 21, 20, 1, "two", 0, false);
	tb_switch(c.tb, 0, 3000, 10, 70, TRACE_TASK_RUNNING);
	tb_sys_enter(c.tb, 0, 3500, SYS_execve, 1, 1, 1);
	tb_exit(c.tb, 1, 3600, 20, 20, false);
	tb_switch(c.tb, 1, 3700, 20, 0, TRACE_TASK_DEAD);
	tb_add(c.tb, 0, 4000, sched_exec, "/bin/program", .tid = 20, .old_tid = 21);
	tb_sys_exit(c.tb, 0, 4100, 0);
	tb_switch(c.tb, 0, 5000, 20, 10, TRACE_TASK_INTERRUPTIBLE);
	case_run(&c);
	CU_ASSERT_EQUAL(trace_analysis_inconsistencies(c.analysis), 0);
	CU_ASSERT_STRING_EQUAL(trace_process_comm(case_process(&c, 70)), "(hidden)");
	CU_ASSERT_EQUAL(case_call(c.two, "execve")->calls, 1);
	case_free(&c);
}

/* ---- threads that end before they are read ---- */

/* Without events a thread that sleeps has slept since the start, in an unknown call. */
static void a_process_that_ends_before_it_is_read_slept_in_a_call(void)
{
	struct analysis_case c = begin();
	struct trace_figures *f;

	tb_waking(c.tb, 1, 2500, 30, TRACE_CONTEXT_TASK);
	tb_switch(c.tb, 0, 3000, 10, 30, TRACE_TASK_RUNNING);
	tb_sys_exit(c.tb, 0, 3200, 0);
	tb_exit(c.tb, 0, 4000, 30, 30, true);
	tb_switch(c.tb, 0, 4010, 30, 10, TRACE_TASK_DEAD);
	thread_read_at(&c, 8999, 60, 60, 1); /* the last one */
	case_run(&c);
	CU_ASSERT_PTR_NOT_NULL_FATAL(case_process(&c, 30));
	f = trace_process_figures(c.analysis, case_process(&c, 30));
	CU_ASSERT_EQUAL(f->blocked_ns, 1500);
	CU_ASSERT_EQUAL(f->wait_cpu_ns, 500);
	CU_ASSERT_EQUAL(f->user_ns, 800);
	CU_ASSERT_EQUAL(f->syscall_ns, 210);
	trace_figures_free(f);
	case_free(&c);
}

/* The recorder reads 30 after its end, which its parent has not seen yet. */
static void a_process_that_is_read_after_its_end_lives_from_the_start_on(void)
{
	struct trace_start_thread ended = {
		.tid = 30, .tgid = 30, .ppid = 1, .state = TRACE_TASK_EXIT_ZOMBIE, .nr = -1, .cpu = 1};
	struct analysis_case c = begin();

	runs_and_ends(&c, 3000, 30);
	tb_start(c.tb, 5000, TRACE_EV_start_thread, &ended, sizeof(ended), "other");
	case_run(&c);
	CU_ASSERT_EQUAL(trace_process_start_ns(case_process(&c, 30)), 1000);
	CU_ASSERT_EQUAL(trace_process_end_ns(case_process(&c, 30)), 4010);
	CU_ASSERT_EQUAL(trace_nr_threads(case_process(&c, 30)), 1);
	case_free(&c);
}

/* A disk ends a wait of thread 21 from @ns on. */
static void waits_for_disk(struct analysis_case *c, uint64_t ns)
{
	tb_switch(c->tb, 0, ns, 21, 10, TRACE_TASK_UNINTERRUPTIBLE);
	tb_irq(c->tb, 1, ns + 10, 7);
	tb_add(c->tb, 1, ns + 20, block_complete, NULL, .dev = 8, .bytes = 4096);
	tb_waking(c->tb, 1, ns + 100, 21, TRACE_CONTEXT_HARDIRQ);
	tb_irq_exit(c->tb, 1, ns + 110, 7);
	tb_switch(c->tb, 0, ns + 120, 10, 21, TRACE_TASK_RUNNING);
}

/* Thread 21 of "two" reads a file, removes one of the working directory, and has a page fault. */
static void a_thread_that_ends_before_it_is_read_has_what_its_process_has(void)
{
	struct trace_fs_dir dir = {
		.ino = 70, .dev = 9, .mode = S_IFDIR | 0700, .tid = 20, .fd = TRACE_FD_WORKING_DIRECTORY};
	struct trace_start_map map = {.tgid = 20, .start = 0x7000, .end = 0x9000, .dev = 1, .ino = 101};
	struct analysis_case c = begin();

	tb_string(c.tb, TRACE_STRING_SYSCALL, SYS_unlink, "unlink");
	tb_fd(c.tb, 20, 3, 1, 100, S_IFREG | 0600, "/data");
	tb_start(c.tb, 1000, TRACE_EV_fs_dir, &dir, sizeof(dir), "/home");
	tb_start(c.tb, 1000, TRACE_EV_start_map, &map, sizeof(map), "/mapped");
	tb_switch(c.tb, 0, 3000, 10, 21, TRACE_TASK_RUNNING);
	tb_sys_exit(c.tb, 0, 3010, 0);
	tb_sys_enter(c.tb, 0, 3100, SYS_read, 3, 0, 100);
	waits_for_disk(&c, 3110);
	tb_sys_exit(c.tb, 0, 3290, 7);
	tb_sys_enter(c.tb, 0, 3300, SYS_unlink, TRACE_ARG_ADDRESS);
	tb_sys_path(c.tb, 0, 3301, SYS_unlink, "name");
	waits_for_disk(&c, 3310);
	tb_sys_exit(c.tb, 0, 3490, 0);
	tb_fault(c.tb, 0, 3500, 0x7100, true);
	waits_for_disk(&c, 3510);
	tb_fault_end(c.tb, 0, 3690, true);
	tb_exit(c.tb, 0, 4000, 21, 20, false);
	tb_switch(c.tb, 0, 4010, 21, 10, TRACE_TASK_DEAD);
	thread_read_at(&c, 8999, 60, 60, 1); /* the last one */
	case_run(&c);
	CU_ASSERT_EQUAL(trace_nr_threads(case_process(&c, 20)), 2);
	CU_ASSERT_EQUAL(case_wait(c.two, TRACE_WAIT_FILE, "/data", 0, ""), 100);
	CU_ASSERT_EQUAL(case_wait(c.two, TRACE_WAIT_FILE, "/home/name", 0, ""), 100);
	CU_ASSERT_EQUAL(case_wait(c.two, TRACE_WAIT_FILE, "/mapped", 0, ""), 100);
	case_free(&c);
}

/* A loss may have had the fork of 30. */
static void a_process_that_ends_after_a_loss_may_have_begun_in_it(void)
{
	struct analysis_case c = begin();
	const struct trace_process *lives[2];

	tb_add(c.tb, 1, 2000, trace_heartbeat, NULL, .realtime_ns = 0);
	tb_lost(c.tb, 1, 5);
	tb_add(c.tb, 1, 2500, trace_heartbeat, NULL, .realtime_ns = 0);
	runs_and_ends(&c, 3000, 30);
	thread_read_at(&c, 8999, 60, 60, 1); /* the last one */
	case_run(&c);
	CU_ASSERT_EQUAL_FATAL(processes_of(&c, 30, lives, 2), 1);
	CU_ASSERT(trace_process_start_ns(lives[0]) >= 2000);
	case_free(&c);
}

/* ---- threads that are read after their fork ---- */

/* Thread 31 is forked at 2000 and read at 3000. Its process ends before the parent 20 does. */
static void a_thread_that_is_read_after_its_fork_is_counted_once(void)
{
	struct analysis_case c = begin();

	thread_read_at(&c, 1500, 30, 30, 20);
	tb_switch(c.tb, 0, 1800, 10, 30, TRACE_TASK_RUNNING);
	tb_fork(c.tb, 0, 2000, 30, 31, 30, "other");
	thread_read_at(&c, 3000, 31, 30, 20);
	tb_exit(c.tb, 0, 4000, 30, 30, false);
	tb_switch(c.tb, 0, 4010, 30, 31, TRACE_TASK_DEAD);
	tb_exit(c.tb, 0, 5000, 31, 30, true);
	tb_switch(c.tb, 0, 5010, 31, 10, TRACE_TASK_DEAD);
	tb_exit(c.tb, 1, 6000, 20, 20, true);
	tb_switch(c.tb, 1, 6010, 20, 0, TRACE_TASK_DEAD);
	case_run(&c);
	CU_ASSERT_EQUAL(trace_nr_threads(case_process(&c, 30)), 2);
	CU_ASSERT_EQUAL(trace_process_end_ns(case_process(&c, 30)), 5010);
	CU_ASSERT_EQUAL(trace_process_ppid(case_process(&c, 30)), 20);
	case_free(&c);
}

/* ---- exec ---- */

/* Thread 21 has its leader's number when it gets CPU 0. The exec comes in the next chunk. */
static void a_thread_with_a_new_number_is_not_hidden(void)
{
	struct analysis_case c = begin();

	tb_thread(c.tb, 21, 20, 1, "two", 0, false);
	tb_exit(c.tb, 1, 2600, 20, 20, false);
	tb_switch(c.tb, 1, 2700, 20, 0, TRACE_TASK_DEAD);
	tb_switch(c.tb, 0, 3000, 10, 20, TRACE_TASK_RUNNING);
	tb_cut(c.tb, 0);
	tb_add(c.tb, 0, 4000, sched_exec, "/bin/program", .tid = 20, .old_tid = 21);
	tb_sys_exit(c.tb, 0, 4100, 0);
	tb_switch(c.tb, 0, 5000, 20, 10, TRACE_TASK_INTERRUPTIBLE);
	case_run(&c);
	CU_ASSERT_EQUAL(trace_analysis_inconsistencies(c.analysis), 0);
	CU_ASSERT_STRING_NOT_EQUAL(trace_process_comm(case_process(&c, 20)), "(hidden)");
	CU_ASSERT_EQUAL(case_cpu(&c, 0).unknown_ns, 0);
	case_free(&c);
}

/* Thread 21 leaves CPU 0 with its leader's number. The kernel hides 70, and the exec follows. */
static void the_old_number_behind_a_hidden_thread_may_be_the_leaders(void)
{
	struct analysis_case c = begin();

	tb_thread(c.tb, 21, 20, 1, "two", 0, false);
	tb_switch(c.tb, 0, 1500, 10, 21, TRACE_TASK_RUNNING);
	tb_sys_enter(c.tb, 0, 2000, SYS_execve, 1, 1, 1);
	tb_exit(c.tb, 1, 2600, 20, 20, false);
	tb_switch(c.tb, 1, 2700, 20, 0, TRACE_TASK_DEAD);
	tb_switch(c.tb, 0, 3000, 20, 70, TRACE_TASK_RUNNING);
	tb_add(c.tb, 0, 4000, sched_exec, "/bin/program", .tid = 20, .old_tid = 21);
	tb_sys_exit(c.tb, 0, 4100, 0);
	tb_switch(c.tb, 0, 5000, 20, 10, TRACE_TASK_INTERRUPTIBLE);
	case_run(&c);
	CU_ASSERT_EQUAL(trace_analysis_inconsistencies(c.analysis), 0);
	CU_ASSERT_EQUAL(trace_nr_threads(case_process(&c, 20)), 2);
	CU_ASSERT_EQUAL(case_call(c.two, "execve")->calls, 1);
	CU_ASSERT_STRING_EQUAL(trace_process_exe(case_process(&c, 20)), "/bin/program");
	CU_ASSERT_PTR_NULL(case_process(&c, 21));
	case_free(&c);
}

/*
 * 10 is in fork() when the trace begins. The recorder reads its call later: fcntl(0, F_DUPFD, 0).
 * The child returns 0 from fork(). Or 10 is read in fork() still.
 */
static void a_child_does_not_begin_in_a_call_that_its_parent_made_later(void)
{
	for (uint32_t forks = 0; forks < 2; forks++) {
		struct trace_start_thread start = {.tid = 10,
						   .tgid = 10,
						   .ppid = 1,
						   .nr = forks ? SYS_fork : SYS_fcntl,
						   .state = TRACE_TASK_INTERRUPTIBLE};
		struct trace_start_fd fd = {.tgid = 10, .dev = 8, .ino = 70, .mode = S_IFREG | 0600};
		struct analysis_case c = case_new();
		struct trace_figures *child;

		tb_string(c.tb, TRACE_STRING_SYSCALL, SYS_fcntl, "fcntl");
		tb_string(c.tb, TRACE_STRING_SYSCALL, SYS_fork, "fork");
		tb_start(c.tb, 4000, TRACE_EV_start_thread, &start, sizeof(start), "one");
		tb_start(c.tb, 4000, TRACE_EV_start_fd, &fd, sizeof(fd), "/in");
		tb_thread(c.tb, 20, 20, 1, "two", 1, true);
		tb_waking(c.tb, 1, 1400, 10, TRACE_CONTEXT_TASK);
		tb_switch(c.tb, 0, 1500, 0, 10, TRACE_TASK_RUNNING);
		tb_fault(c.tb, 0, 1600, 0x1000, false); /* in the kernel: it is in a call */
		tb_fault_end(c.tb, 0, 1700, false);
		tb_fork(c.tb, 0, 2000, 10, 30, 30, "child");
		tb_sys_exit(c.tb, 0, 2100, 30);
		tb_switch(c.tb, 0, 2200, 10, 30, TRACE_TASK_RUNNING);
		tb_sys_exit(c.tb, 0, 2300, 0);
		tb_sys_enter(c.tb, 0, 2400, SYS_getpid);
		case_run(&c);
		child = trace_process_figures(c.analysis, case_process(&c, 30));
		CU_ASSERT_PTR_NOT_NULL(trace_thread_file(c.analysis, trace_find_thread(c.analysis, 30), 0));
		CU_ASSERT_EQUAL(case_call(child, "fcntl")->calls, 0);
		CU_ASSERT_EQUAL(case_call(child, "fork")->calls, forks);
		trace_figures_free(child);
		case_free(&c);
	}
}

/* Descriptor @fd of @tgid: 127.0.0.1:@local -> 127.0.0.1:@remote; @remote 0: it listens */
static void put_socket(struct analysis_case *c, uint64_t ns, uint32_t tgid, int fd, uint64_t ino, uint16_t local,
		       uint16_t remote)
{
	static const unsigned char localhost[16] = {[10] = 0xff, [11] = 0xff, [12] = 127, [15] = 1};
	struct trace_start_socket sock = {.tgid = tgid,
					  .fd = fd,
					  .ino = ino,
					  .family = AF_INET,
					  .type = SOCK_STREAM,
					  .local_port = local,
					  .remote_port = remote,
					  .protocol = IPPROTO_TCP,
					  .state = remote ? TCP_ESTABLISHED : TCP_LISTEN};

	memcpy(&sock.local_hi, localhost, 16);
	memcpy(&sock.remote_hi, localhost, 16);
	tb_fd(c->tb, tgid, fd, 8, ino, S_IFSOCK | 0777, "socket:[1]");
	tb_start(c->tb, ns, TRACE_EV_start_socket, &sock, sizeof(sock), NULL);
}

/*
 * The recorder reads process 30 before 40 and 50, but 30 begins in the trace. Process 10 has two
 * connections: 40 has the other end of one; 40, or 30, listens at the port of the second.
 */
static void the_ends_of_sockets_belong_to_processes_of_the_start(void)
{
	for (int is_unborn = 0; is_unborn < 2; is_unborn++)
		for (int has_end = 0; has_end < 2; has_end++) {
			struct trace_sock_ready ready = {.ino = 500};
			struct analysis_case c = begin();
			const struct trace_process *listener;

			thread_read_at(&c, 3000, 30, 30, 10);
			thread_read_at(&c, 3100, 40, 40, 1);
			thread_read_at(&c, 3200, 50, 50, 1);
			put_socket(&c, 1000, 10, 3, 500, 40000, 80);
			if (has_end)
				put_socket(&c, 3100, 40, 3, 501, 80, 40000);
			put_socket(&c, 3150, is_unborn ? 30 : 40, 4, 502, 80, 0);
			tb_fork(c.tb, 1, 2000, 20, 30, 30, "late");
			tb_sys_enter(c.tb, 0, 4000, SYS_recvfrom, 3, 0, 1, 0, 0, 0);
			tb_switch(c.tb, 0, 4100, 10, 0, TRACE_TASK_INTERRUPTIBLE);
			tb_softirq(c.tb, 0, 5000, 3);
			tb_event(c.tb, 0, 5010, TRACE_EV_sock_ready, &ready, sizeof(ready), NULL);
			tb_waking(c.tb, 0, 5020, 10, TRACE_CONTEXT_SOFTIRQ);
			tb_softirq_exit(c.tb, 0, 5030, 3);
			tb_switch(c.tb, 0, 5100, 0, 10, TRACE_TASK_RUNNING);
			tb_sys_exit(c.tb, 0, 5200, 1);
			case_run(&c);
			if (has_end)
				CU_ASSERT_EQUAL(case_wait(c.one, TRACE_WAIT_PROCESS, "other", 40, "tcp"), 920);
			listener = trace_target_listener(c.analysis, c.one->waits[0].target);
			CU_ASSERT_PTR_EQUAL(listener, has_end || is_unborn ? NULL : case_process(&c, 40));
			case_free(&c);
		}
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		CASE(a_thread_that_was_born_behind_the_end_is_not_in_the_trace),
		CASE(a_process_that_ends_before_it_is_read_lives_from_the_start_on),
		CASE(a_thread_that_takes_the_number_of_its_leader_lives_from_the_start_on),
		CASE(a_number_that_was_gone_before_the_exec_is_of_no_living_thread),
		CASE(a_number_that_is_used_twice_before_it_is_read_is_two_processes),
		CASE(a_view_has_rows_only_of_threads_that_stay),
		CASE(the_parent_of_a_process_is_that_of_its_leader),
		CASE(an_exec_behind_a_hidden_thread_tells_the_old_number),
		CASE(a_process_that_ends_before_it_is_read_slept_in_a_call),
		CASE(a_process_that_is_read_after_its_end_lives_from_the_start_on),
		CASE(a_thread_that_ends_before_it_is_read_has_what_its_process_has),
		CASE(a_process_that_ends_after_a_loss_may_have_begun_in_it),
		CASE(a_thread_that_is_read_after_its_fork_is_counted_once),
		CASE(a_thread_with_a_new_number_is_not_hidden),
		CASE(the_old_number_behind_a_hidden_thread_may_be_the_leaders),
		CASE(a_child_does_not_begin_in_a_call_that_its_parent_made_later),
		CASE(the_ends_of_sockets_belong_to_processes_of_the_start),
		{NULL, NULL},
	};

	return unit_main("the lives of threads of the start", cases, argc, argv);
}
