/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test_state_args.c - arguments and titles of processes: analyzer/state_args.c */
#include "analysis_case.h"
#include "unit.h"

#define THEN "\x1f"

static void start_args(struct analysis_case *c, uint64_t ns, uint32_t tgid, const char *args, uint32_t bytes)
{
	struct trace_start_args start = {.tgid = tgid, .bytes = bytes ? bytes : (uint32_t)strlen(args)};

	tb_start(c->tb, ns, TRACE_EV_start_args, &start, sizeof(start), args);
}

static void exec_args(struct analysis_case *c, uint64_t ns, uint32_t tid, const char *args, uint32_t bytes)
{
	tb_add(c->tb, 0, ns, sched_args, args, .tid = tid, .bytes = bytes ? bytes : (uint32_t)strlen(args));
}

static const char *title_of(const struct analysis_case *c, uint32_t pid)
{
	return case_process(c, pid) ? trace_process_title(case_process(c, pid)) : "(none)";
}

static void arguments_are_those_of_the_start(void)
{
	struct analysis_case c = case_new();

	tb_thread(c.tb, 10, 10, 1, "python3", 0, true);
	tb_thread(c.tb, 20, 20, 1, "two", 1, true);
	start_args(&c, 1000, 10, "python3" THEN "/srv/app.py" THEN "-v", 0);
	case_run(&c);
	CU_ASSERT_STRING_EQUAL(title_of(&c, 10), "python3 app.py");
	CU_ASSERT_STRING_EQUAL(trace_process_args(case_process(&c, 10)), "python3" THEN "/srv/app.py" THEN "-v");
	CU_ASSERT_FALSE(trace_process_args_are_cut(case_process(&c, 10)));
	CU_ASSERT_TRUE(trace_process_is_called(case_process(&c, 10), "app.py"));
	CU_ASSERT_TRUE(trace_process_is_called(case_process(&c, 10), "python3"));
	CU_ASSERT_FALSE(trace_process_is_called(case_process(&c, 20), "app.py"));
	CU_ASSERT_STRING_EQUAL(title_of(&c, 20), "two"); /* no arguments are known */
	CU_ASSERT_STRING_EQUAL(trace_process_args(case_process(&c, 20)), "");
	case_free(&c);
}

static void a_fork_copies_and_an_exec_replaces_them(void)
{
	struct analysis_case c = case_new();

	tb_thread(c.tb, 10, 10, 1, "python3", 0, true);
	start_args(&c, 1000, 10, "python3" THEN "app.py", 0);
	tb_fork(c.tb, 0, 2000, 10, 20, 20, "python3");
	tb_fork(c.tb, 0, 2100, 10, 30, 30, "python3");
	tb_fork(c.tb, 0, 2200, 10, 40, 40, "python3");
	tb_switch(c.tb, 0, 2300, 10, 30, TRACE_TASK_RUNNING);
	tb_comm(c.tb, 0, 2400, 30, "sh");
	tb_exec(c.tb, 0, 2500, 30, "/bin/dash");
	exec_args(&c, 2501, 30, "sh" THEN "hog.sh", 0);
	tb_switch(c.tb, 0, 2600, 30, 40, TRACE_TASK_RUNNING);
	tb_comm(c.tb, 0, 2700, 40, "sh");
	tb_exec(c.tb, 0, 2800, 40, "/bin/dash"); /* its arguments are lost */
	tb_switch(c.tb, 0, 2900, 40, 10, TRACE_TASK_RUNNING);
	case_run(&c);
	CU_ASSERT_STRING_EQUAL(title_of(&c, 20), "python3 app.py");
	CU_ASSERT_STRING_EQUAL(title_of(&c, 30), "sh hog.sh");
	CU_ASSERT_STRING_EQUAL(title_of(&c, 40), "sh");
	CU_ASSERT_STRING_EQUAL(trace_process_args(case_process(&c, 40)), "");
	case_free(&c);
}

static void a_title_read_at_the_end_belongs_to_the_process_of_that_time(void)
{
	struct analysis_case c = case_new();

	tb_thread(c.tb, 10, 10, 1, "postgres", 0, true);
	start_args(&c, 1000, 10, "/usr/bin/postgres" THEN "-D" THEN "/data", 0);
	tb_fork(c.tb, 0, 2000, 10, 20, 20, "postgres");
	tb_fork(c.tb, 0, 2100, 10, 30, 30, "postgres");
	start_args(&c, 9000, 10, "postgres: main", 0);
	start_args(&c, 9000, 20, "postgres: shop 127.0.0.1 idle", 0);
	start_args(&c, 9000, 50, "postgres: unseen", 0);
	case_run(&c);
	CU_ASSERT_STRING_EQUAL(title_of(&c, 10), "postgres: main");
	CU_ASSERT_STRING_EQUAL(title_of(&c, 20), "postgres: shop 127.0.0.1 idle");
	CU_ASSERT_STRING_EQUAL(title_of(&c, 30), "postgres");
	CU_ASSERT_TRUE(trace_process_is_called(case_process(&c, 20), "postgres"));
	case_free(&c);
}

/* A script behind the end of what was kept is not known. */
static void cut_arguments_say_so(void)
{
	struct analysis_case c = case_new();

	tb_thread(c.tb, 10, 10, 1, "java", 0, true);
	start_args(&c, 1000, 10, "java" THEN "-cp" THEN "a.jar:b", 900);
	case_run(&c);
	CU_ASSERT_TRUE(trace_process_args_are_cut(case_process(&c, 10)));
	CU_ASSERT_STRING_EQUAL(title_of(&c, 10), "java");
	case_free(&c);
}

static void a_wait_names_the_title(void)
{
	struct analysis_case c = case_new();

	tb_thread(c.tb, 10, 10, 1, "one", 0, true);
	tb_thread(c.tb, 20, 20, 10, "python3", 1, true);
	start_args(&c, 1000, 20, "python3" THEN "app.py", 0);
	tb_sys_enter(c.tb, 0, 2000, SYS_wait4, 20, 0, 0);
	tb_switch(c.tb, 0, 2500, 10, 0, TRACE_TASK_INTERRUPTIBLE);
	tb_exit(c.tb, 1, 5000, 20, 20, true);
	tb_waking(c.tb, 1, 5500, 10, TRACE_CONTEXT_TASK);
	tb_switch(c.tb, 1, 5600, 20, 0, 0x80);
	tb_switch(c.tb, 0, 6000, 0, 10, 0);
	tb_sys_exit(c.tb, 0, 6500, 20);
	case_run(&c);
	CU_ASSERT_EQUAL(case_wait(c.one, TRACE_WAIT_PROCESS, "python3 app.py", 20, "waitpid"), 3000);
	case_free(&c);
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		CASE(arguments_are_those_of_the_start),
		CASE(a_fork_copies_and_an_exec_replaces_them),
		CASE(a_title_read_at_the_end_belongs_to_the_process_of_that_time),
		CASE(cut_arguments_say_so),
		CASE(a_wait_names_the_title),
		{NULL, NULL},
	};

	return unit_main("state_args", cases, argc, argv);
}
