/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test_report_names.c - the processes and threads that a name on the command line chooses */
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include "builder.h"
#include "report_case.h"
#include "unit.h"
#include "visualizer.h"

/* A process with these arguments, which runs for 5 us from @ns on. */
static void program(struct tb *tb, uint64_t ns, uint32_t pid, const char *comm, const char *args)
{
	struct trace_start_args start = {.tgid = pid, .bytes = (uint32_t)strlen(args)};

	tb_thread(tb, pid, pid, 1, comm, 0, false);
	tb_start(tb, 0, TRACE_EV_start_args, &start, sizeof(start), args);
	tb_switch(tb, 0, ns, 0, pid, TRACE_TASK_RUNNING);
	tb_sys_enter(tb, 0, ns + 1000, SYS_getpid);
	tb_sys_exit(tb, 0, ns + 2000, pid);
	tb_switch(tb, 0, ns + 5000, pid, 0, TRACE_TASK_INTERRUPTIBLE);
}

/* Two scripts of python3, and a thread of another program. */
static struct tb *programs(void)
{
	struct tb *tb = tb_new();

	tb_window(tb, 1000, 41000);
	tb_string(tb, TRACE_STRING_SYSCALL, SYS_getpid, "getpid");
	program(tb, 2000, 10, "python3", "python3\x1f/srv/app.py\x1f--port=80");
	program(tb, 12000, 20, "python3", "python3\x1f/srv/report.py\x1f--quiet");
	program(tb, 22000, 30, "server", "server");
	tb_thread(tb, 31, 30, 1, "worker", 0, false);
	tb_switch(tb, 0, 32000, 0, 31, TRACE_TASK_RUNNING);
	tb_switch(tb, 0, 33000, 31, 0, TRACE_TASK_INTERRUPTIBLE);
	return tb;
}

static void options_say(const char *options, const char *found, const char *absent)
{
	char *text = report_of(programs(), options);

	contains(text, found);
	if (absent)
		CU_ASSERT_PTR_NULL(strstr(text, absent));
	free(text);
}

static void a_name_is_as_good_as_a_number(void)
{
	options_say("-p app.py", "python3 app.py 10 ", "report.py 20 waited");
	options_say("-a --pid=report.py", "python3 report.py (20) ", "app.py (10) waited");
	options_say("--tid=worker", "server 30 thread worker 31 ", NULL);
	options_say("-a --tid=31", "server (30)", NULL);
}

static void completions_say(const char *options, const char *lines)
{
	char *text = report_of(programs(), options);

	CU_ASSERT_STRING_EQUAL(text, lines);
	free(text);
}

/* The title of a process and the name of its script choose it, so shells offer them. */
static void completions_have_scripts_and_titles(void)
{
	completions_say("--complete=comm", "app.py\npython3\npython3 app.py\npython3 report.py\nreport.py\nserver\n");
	completions_say("--complete=task", "10\tpython3 app.py\n20\tpython3 report.py\n30\tserver\n31\tworker\n"
					   "app.py\npython3\npython3 app.py\npython3 report.py\nreport.py\nserver\n"
					   "worker\n");
	completions_say("--complete=pid", "10\tpython3 app.py\n20\tpython3 report.py\n30\tserver\n");
	completions_say("--complete=instance",
			"app.py\ngetpid\npython3\npython3 app.py\npython3 report.py\nreport.py\nserver\n");
}

static void a_name_of_several_lists_them(void)
{
	options_say("-p python3", "-p python3 chooses more: ", NULL);
	options_say("-p python3", "; -p PID chooses one.", NULL);
	options_say("--critical-path=python3", "2 processes match python3: 10 python3 app.py, 20 python3 report.py;",
		    NULL);
}

static void run(struct tb *tb, uint64_t from_ns, uint64_t ns, uint32_t tid)
{
	tb_waking(tb, 0, from_ns - 100, tid, TRACE_CONTEXT_TASK);
	tb_switch(tb, 0, from_ns, 0, tid, TRACE_TASK_RUNNING);
	tb_switch(tb, 0, from_ns + ns, tid, 0, TRACE_TASK_INTERRUPTIBLE);
}

/*
 * The script app.py (10) with its threads worker (11 and 12) and log (13): the second worker has
 * the most work, and the first thread has little.
 */
static struct tb *threaded(void)
{
	struct trace_start_args start = {.tgid = 10, .bytes = sizeof("python3|app.py") - 1};
	struct tb *tb = tb_new();

	tb_window(tb, 1000, 41000);
	tb_thread(tb, 10, 10, 1, "python3", 0, false);
	tb_thread(tb, 11, 10, 1, "worker", 0, false);
	tb_thread(tb, 12, 10, 1, "worker", 0, false);
	tb_thread(tb, 13, 10, 1, "log", 0, false);
	tb_start(tb, 0, TRACE_EV_start_args, &start, sizeof(start),
		 "python3\x1f"
		 "app.py");
	run(tb, 2000, 1000, 10);
	run(tb, 4000, 5000, 11);
	run(tb, 10000, 20000, 12);
	run(tb, 31000, 3000, 13);
	return tb;
}

static void path_says(const char *options, const char *note, const char *sentence)
{
	char *text = report_of(threaded(), options);

	join_lines(text);
	if (note)
		contains(text, note);
	else
		CU_ASSERT_PTR_NULL(strstr(text, "choose another"));
	contains(text, sentence);
	free(text);
}

/* The first thread of a server often only waits for the others. */
static void the_path_of_a_server_is_that_of_its_busiest_thread(void)
{
	path_says("--critical-path=app.py",
		  "python3 app.py (10) has 4 threads: 12 worker, 11 worker, 13 log, 10 python3; using 12, which has "
		  "the most work; choose another with --critical-path=TID",
		  "Thread worker (12) of python3 app.py ");
	path_says("--critical-path=app.py --json", "using 12, which has the most work", "{\"tid\":12,");
}

static void a_number_chooses_one_thread(void)
{
	path_says("--critical-path=13", NULL, "Thread log (13) of python3 app.py ");
	path_says("--critical-path=12", NULL, "Thread worker (12) of python3 app.py ");
	path_says("--critical-path=10",
		  "has 4 threads: 12 worker, 11 worker, 13 log, 10 python3; using 10, the first one; choose another "
		  "with ",
		  "python3 app.py waited ");
}

static void threads_of_one_name_are_listed(void)
{
	path_says("--critical-path=log", NULL, "Thread log (13) of python3 app.py ");
	path_says("--critical-path=worker",
		  "2 threads match worker: 12 worker of python3 app.py (10), 11 worker of python3 app.py (10); using "
		  "12, which has the most work; choose another with --critical-path=TID",
		  "Thread worker (12) of python3 app.py ");
}

static void a_name_of_none_chooses_by_the_arguments(void)
{
	options_say("-p quiet",
		    "no process or thread is called quiet; 1 process has it in the arguments: 20 python3 report.py\n",
		    NULL);
	options_say("-p quiet", "python3 report.py 20 ", NULL);
	options_say("--critical-path=/srv/", "2 processes match /srv/: 10 python3 app.py, 20 python3 report.py;", NULL);
	options_say("-p 'app.py --port'", "python3 app.py 10 ", "report.py 20 waited");
}

static void a_name_chooses_lines_of_a_list(void)
{
	options_say("-d -p app.py", "Tracing 1 thread only\n", "\t20 \t");
	options_say("-d -p app.py -t sys_enter", "\t10 \t", "\t20 \t");
	options_say("-d -p server", "Tracing 2 threads only\n", "\t10 \t");
	options_say("-d --tid=worker", "Tracing 1 thread only\n", "\t20 \t");
}

static void a_wrong_name_has_a_proposal(void)
{
	char *text = refusal_of(programs(), "-a -p reprot.py");

	contains(text, "no process of this trace is called reprot.py; did you mean python3 report.py? ");
	free(text);
	text = refusal_of(programs(), "-a --tid=wroker");
	contains(text, "no process of this trace is one with a thread called wroker; did you mean worker? ");
	free(text);
}

static void a_list_of_an_absent_name_fails(void)
{
	char *text = refusal_of(programs(), "-d -p absent");

	contains(text, "no process of this trace is called absent; ");
	free(text);
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		CASE(a_name_is_as_good_as_a_number),
		CASE(completions_have_scripts_and_titles),
		CASE(the_path_of_a_server_is_that_of_its_busiest_thread),
		CASE(a_number_chooses_one_thread),
		CASE(threads_of_one_name_are_listed),
		CASE(a_name_of_several_lists_them),
		CASE(a_name_of_none_chooses_by_the_arguments),
		CASE(a_name_chooses_lines_of_a_list),
		CASE(a_wrong_name_has_a_proposal),
		CASE(a_list_of_an_absent_name_fails),
		{NULL, NULL},
	};

	return report_main("names on the command line", cases, argc, argv);
}
