/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_critical_path_history.c - the history that critical paths are found in: its window, its
 * size, and the command of the recording.
 */
#include <errno.h>
#include <stdlib.h>
#include "critical_path_case.h"
#include "critical_path_text.h"
#include "unit.h"

static void a_window_keeps_only_its_intervals(void)
{
	struct trace_history_options options = {.size = sizeof(options), .from_ns = 2500, .to_ns = 3500};
	struct path_case p = path_new();

	tb_thread(p.c.tb, 10, 10, 1, "one", 0, true);
	for (uint64_t at = 1100; at < 9000; at += 200) {
		tb_sys_enter(p.c.tb, 0, at, SYS_getpid);
		tb_sys_exit(p.c.tb, 0, at + 100, 0);
	}
	path_analyze_with(&p, &options);
	CU_ASSERT(trace_history_nr_intervals(p.history) <= 14);
	path_find(&p, thread_of(&p, 10, 0), 0, UINT64_MAX);
	CU_ASSERT_EQUAL(strncmp(path_text(&p), "2500 10 syscall getpid\n2600 10 user\n", 36), 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(p.text, "\n3500\n"));
	path_free(&p);
}

/* The states of 20 on the CPU are merged, also in the intervals kept before. The path stays the
 * same. */
static void too_many_intervals_make_the_history_coarse(void)
{
	struct trace_history_options options = {.size = sizeof(options), .max_intervals = 20};
	struct path_case p = path_new();

	tb_thread(p.c.tb, 10, 10, 1, "one", 0, true);
	tb_thread(p.c.tb, 20, 20, 10, "two", 1, true);
	tb_sys_enter(p.c.tb, 0, 1500, SYS_wait4, 20, 0, 0, 0);
	tb_switch(p.c.tb, 0, 2000, 10, 0, TRACE_TASK_INTERRUPTIBLE);
	for (uint64_t at = 1100; at < 6000; at += 200) {
		tb_sys_enter(p.c.tb, 1, at, SYS_getpid);
		tb_sys_exit(p.c.tb, 1, at + 100, 0);
	}
	tb_irq(p.c.tb, 1, 3210, 7);
	tb_irq_exit(p.c.tb, 1, 3220, 7);
	tb_waking(p.c.tb, 1, 6200, 10, TRACE_CONTEXT_TASK);
	tb_switch(p.c.tb, 1, 6300, 20, 10, TRACE_TASK_DEAD);
	tb_sys_exit(p.c.tb, 1, 6500, 20);
	path_analyze_with(&p, &options);
	CU_ASSERT(trace_history_is_coarse(p.history));
	path_is(&p, 10,
		"1000 10 running\n"
		"2000 20 running <waitpid\n"
		"6200 10 wait-cpu 20\n"
		"6300 10 running\n"
		"9000\n");
	path_free(&p);
}

static void too_many_switches_are_refused(void)
{
	struct trace_history_options options = {.size = sizeof(options), .max_intervals = 10};
	struct trace_error error = {0};
	struct path_case p = path_new();

	tb_thread(p.c.tb, 10, 10, 1, "one", 0, true);
	for (uint64_t at = 1100; at < 9000; at += 200) {
		tb_switch(p.c.tb, 0, at, 10, 0, TRACE_TASK_INTERRUPTIBLE);
		timer_wakes(p.c.tb, 0, at + 100, 10);
	}
	path_analyze_with(&p, &options);
	CU_ASSERT_PTR_NULL(trace_critical_path_new(p.history, thread_of(&p, 10, 0), 0, UINT64_MAX, &error));
	CU_ASSERT_EQUAL(error.code, -E2BIG);
	path_free(&p);
}

static void misuse_is_reported(void)
{
	struct trace_history_options options = {.size = sizeof(options), .from_ns = 5, .to_ns = 5};
	struct trace_error error = {0};
	struct path_case p = path_new();

	tb_thread(p.c.tb, 10, 10, 1, "one", 0, true);
	tb_sys_enter(p.c.tb, 0, 2000, SYS_getpid);
	path_analyze(&p);
	CU_ASSERT_PTR_NULL(trace_history_new(p.c.analysis, &options, &error));
	CU_ASSERT_EQUAL(error.code, -EINVAL);
	CU_ASSERT_PTR_NULL(trace_history_new(p.c.analysis, NULL, &error));
	CU_ASSERT_EQUAL(error.code, -EBUSY);
	CU_ASSERT_PTR_NULL(trace_critical_path_new(p.history, thread_of(&p, 10, 0), 9500, UINT64_MAX, &error));
	CU_ASSERT_EQUAL(error.code, -EINVAL);
	CU_ASSERT_PTR_NULL(trace_history_command(p.history, NULL));
	path_free(&p);
}

/* By then it has the number of its process's first thread, which has ended. */
static void the_command_may_be_a_threads_exec(void)
{
	struct trace_history_options options = {.size = sizeof(options), .command = "make -j2"};
	struct trace_sched_exec exec = {.tid = 10, .old_tid = 11};
	struct path_case p = path_new();

	tb_thread(p.c.tb, 10, 10, 5, "sh", 1, true);
	tb_thread(p.c.tb, 11, 10, 5, "sh", 0, true);
	tb_sys_enter(p.c.tb, 0, 1100, SYS_execve, 0, 0, 0);
	tb_exit(p.c.tb, 1, 1200, 10, 10, false);
	tb_switch(p.c.tb, 1, 1300, 10, 0, TRACE_TASK_DEAD);
	tb_comm(p.c.tb, 0, 1400, 10, "make");
	tb_event(p.c.tb, 0, 1500, TRACE_EV_sched_exec, &exec, sizeof(exec), "/usr/bin/make");
	path_analyze_with(&p, &options);
	CU_ASSERT_PTR_NOT_NULL(trace_history_command(p.history, NULL));
	path_free(&p);
}

/* Other processes of that name run first. The recorder's child is the command. */
static void the_command_is_the_recorders_child(void)
{
	struct trace_history_options options = {.size = sizeof(options), .command = "bin/make -j2"};
	uint64_t begun = 0;
	struct path_case p = path_new();

	tb_thread(p.c.tb, 5, 5, 1, "tracedaemon", 0, false);
	tb_thread(p.c.tb, 10, 10, 5, "tracedaemon", 0, true);
	tb_thread(p.c.tb, 20, 20, 1, "bash", 1, true);
	tb_comm(p.c.tb, 1, 1500, 20, "make");
	tb_exec(p.c.tb, 1, 1500, 20, "/usr/bin/make");
	tb_comm(p.c.tb, 0, 2000, 10, "make");
	tb_exec(p.c.tb, 0, 2000, 10, "/usr/bin/gmake");
	tb_exec(p.c.tb, 0, 3000, 10, "/usr/bin/make");
	path_analyze_with(&p, &options);
	CU_ASSERT_PTR_EQUAL(trace_history_command(p.history, &begun), thread_of(&p, 10, 0));
	CU_ASSERT_EQUAL(begun, 2000);
	path_free(&p);
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		CASE(a_window_keeps_only_its_intervals),
		CASE(too_many_intervals_make_the_history_coarse),
		CASE(too_many_switches_are_refused),
		CASE(misuse_is_reported),
		CASE(the_command_may_be_a_threads_exec),
		CASE(the_command_is_the_recorders_child),
		{NULL, NULL},
	};

	return unit_main("history of critical paths", cases, argc, argv);
}
