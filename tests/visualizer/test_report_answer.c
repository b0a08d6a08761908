/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test_report_answer.c - tracevisualizer without options: the answer on one screen */
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "builder.h"
#include "only_client.h"
#include "report_case.h"
#include "unit.h"
#include "view_says.h"
#include "view_session.h"
#include "visualizer.h"

#define LINES 23 /* of a terminal of 24, with the prompt */

/*
 * load waits for app, app for postgres, postgres sleeps for 70 of the 100 us. The pipes are load <-
 * app <- postgres.
 */
static struct tb *chain(bool with_command)
{
	struct tb *tb = tb_new();

	tb_window(tb, 1000000, 1100000);
	tb_string(tb, TRACE_STRING_SYSCALL, SYS_read, "read");
	tb_string(tb, TRACE_STRING_SYSCALL, SYS_write, "write");
	tb_string(tb, TRACE_STRING_SYSCALL, SYS_nanosleep, "nanosleep");
	if (with_command)
		tb_string(tb, TRACE_STRING_INFO, TRACE_INFO_COMMAND, "/bin/load");
	tb_thread(tb, 9, 9, 1, "tracedaemon", 1, false);
	tb_thread(tb, 10, 10, 9, with_command ? "tracedaemon" : "load", 0, true);
	tb_thread(tb, 20, 20, 1, "app.py", 0, false);
	tb_thread(tb, 30, 30, 1, "postgres", 0, false);
	tb_fd(tb, 10, 0, 1, 200, S_IFIFO | 0600, "pipe:[200]");
	tb_fd(tb, 20, 1, 1, 200, S_IFIFO | 0600, "pipe:[200]");
	tb_fd(tb, 20, 0, 1, 201, S_IFIFO | 0600, "pipe:[201]");
	tb_fd(tb, 30, 1, 1, 201, S_IFIFO | 0600, "pipe:[201]");
	if (with_command) {
		tb_comm(tb, 0, 1000000, 10, "load");
		tb_exec(tb, 0, 1000000, 10, "/bin/load");
	}
	tb_sys_enter(tb, 0, 1001000, SYS_read, 0, 0x10000, 100);
	tb_switch(tb, 0, 1002000, 10, 20, TRACE_TASK_INTERRUPTIBLE);
	tb_sys_enter(tb, 0, 1004000, SYS_read, 0, 0x10000, 100);
	tb_switch(tb, 0, 1005000, 20, 30, TRACE_TASK_INTERRUPTIBLE);
	tb_sys_enter(tb, 0, 1006000, SYS_nanosleep, 0, 0);
	tb_switch(tb, 0, 1007000, 30, 0, TRACE_TASK_INTERRUPTIBLE);
	tb_waking(tb, 0, 1077000, 30, TRACE_CONTEXT_HARDIRQ);
	tb_switch(tb, 0, 1077100, 0, 30, TRACE_TASK_RUNNING);
	tb_sys_exit(tb, 0, 1078000, 0);
	tb_sys_enter(tb, 0, 1079000, SYS_write, 1, 0x20000, 100);
	tb_waking(tb, 0, 1080000, 20, TRACE_CONTEXT_TASK);
	tb_sys_exit(tb, 0, 1081000, 100);
	tb_switch(tb, 0, 1082000, 30, 20, TRACE_TASK_INTERRUPTIBLE);
	tb_sys_exit(tb, 0, 1083000, 100);
	tb_sys_enter(tb, 0, 1084000, SYS_write, 1, 0x20000, 100);
	tb_waking(tb, 0, 1085000, 10, TRACE_CONTEXT_TASK);
	tb_sys_exit(tb, 0, 1086000, 100);
	tb_switch(tb, 0, 1087000, 20, 10, TRACE_TASK_INTERRUPTIBLE);
	tb_sys_exit(tb, 0, 1088000, 100);
	if (with_command)
		tb_exit(tb, 0, 1099000, 10, 10, true);
	return tb;
}

static size_t lines_of(const char *text)
{
	size_t nr = 0;

	for (; (text = strchr(text, '\n')); text++)
		nr++;
	return nr;
}

static void the_verdict_follows_the_chain_to_its_end(void)
{
	char *text;

	setenv("COLUMNS", "80", 1);
	text = report_of(chain(true), "");
	CU_ASSERT(lines_of(text) <= LINES);
	CU_ASSERT(widest_line(text) <= 80);
	contains(text, "\n  sleeping, timeouts ");
	contains(text, "postgres 30  timeout in nanosleep\n");
	contains(text, "\nMore: tracevisualizer -a /tmp/report_case_own_");
	join_lines(text);
	contains(text, "load 10 waited 83 % of its 100.00 us for app.py 20, which waited 90 % of that for postgres 30, "
		       "which waited 93 % of that for a timer (it slept)");
	free(text);
	unsetenv("COLUMNS");
}

static const struct trace_process *process_of(const struct view_session *session, uint32_t pid)
{
	for (size_t i = 0; i < trace_nr_processes(session->report.analysis); i++)
		if (trace_process_pid(trace_get_process(session->report.analysis, i)) == pid)
			return trace_get_process(session->report.analysis, i);
	return NULL;
}

/* app has one client: postgres, for which it waits; or sh. */
static void a_client_that_a_server_waits_for_is_named_once(void)
{
	static const struct visualizer_options options = {
		.reports.view = true, .events.cpu = -1, .processes.pid = -1, .processes.tid = -1};
	static const struct {
		uint32_t pid;
		const char *name, *says;
	} clients[] = {
		{30, "postgres", "20, which waited 90 % of that for postgres 30 (its only client), which waited 93 %"},
		{1, "sh", "20 (its only client: sh 1), which waited 90 % of that for postgres 30, which waited 93 %"},
	};
	static struct view_session session;
	struct tb *tb = chain(true);
	struct trace *trace = tb_open_trace(tb);

	CU_ASSERT_EQUAL_FATAL(view_session_begin(&session, trace, &options), 0);
	while (view_session_step(&session, 1, 1) == 0)
		;
	for (size_t i = 0; i < sizeof(clients) / sizeof(clients[0]); i++) {
		const struct only_client client = {.server = process_of(&session, 20),
						   .process = process_of(&session, clients[i].pid),
						   .pid = clients[i].pid,
						   .name = clients[i].name};
		struct string sentence = {0};
		struct view_answer answer;
		json_t *json, *part;
		size_t at;

		session.report.only_clients = &client;
		session.report.nr_only_clients = 1;
		answer = view_answer(&session, "verdict");
		json = json_loadb(answer.bytes, answer.size, 0, NULL);
		json_array_foreach(json_object_get(json, "sentence"), at, part)
			string_add(&sentence, json_string_value(json_object_get(part, "text")));
		contains(string_text(&sentence), clients[i].says);
		string_free(&sentence);
		json_decref(json);
		free(answer.bytes);
	}
	session.report.nr_only_clients = 0;
	view_session_end(&session);
	trace_close(trace);
	tb_free(tb);
}

/* The times of the path are parts of one whole. */
static void the_bars_add_up_to_the_window(void)
{
	char *text = report_of(chain(true), "--ns"), *line = strstr(text, " went, itself or");
	unsigned long sum = 0, ns;

	CU_ASSERT_PTR_NOT_NULL_FATAL(line);
	contains(text, "Where the 100000 of load 10 went");
	for (line = strchr(line, '\n') + 1; *line != '\n'; line = strchr(line, '\n') + 1) {
		char *digits = line + strcspn(line, "0123456789\n");

		ns = strtoul(digits, NULL, 10);
		CU_ASSERT(ns > 0);
		sum += ns;
	}
	CU_ASSERT_EQUAL(sum, 100000);
	free(text);
}

/* As where the chunk with the exec is damaged. */
static void an_answer_about_another_process_than_the_command_says_so(void)
{
	struct tb *tb = chain(false);
	char *text;

	tb_string(tb, TRACE_STRING_INFO, TRACE_INFO_COMMAND, "sh nightly.sh");
	text = report_of(tb, "");
	join_lines(text);
	contains(text,
		 "The command, sh nightly.sh, is not known here: no event of its begin could be read. This is about "
		 "the process with the most work.");
	contains(text, "load 10 waited ");
	free(text);
	text = report_of(chain(true), "");
	CU_ASSERT_PTR_NULL(strstr(text, "is not known here"));
	free(text);
}

/* Without a command, the answer is about the thread with the most work, and the chosen one. */
static void without_a_command_the_busiest_thread_is_explained(void)
{
	char *text = report_of(chain(false), "");

	contains(text, "load 10 waited ");
	contains(text, "CPU time of the busiest programs (% of the ");
	CU_ASSERT(lines_of(text) <= LINES);
	free(text);
	text = report_of(chain(false), "--comm=postgres");
	contains(text, "postgres 30 waited ");
	contains(text, " of postgres 30 went, itself or what it waited for:\n");
	free(text);
	text = refusal_of(chain(false), "--comm=nothing");
	contains(text, "no process of this trace is called nothing");
	free(text);
}

/* The kernel counted from 2 to 80 us, in which app.py waited for a disk. */
static void a_trace_saved_by_pressure_is_about_the_thread_that_waited(void)
{
	struct tb *tb = chain(false);
	char *text;

	tb_string(tb, TRACE_STRING_SYSCALL, SYS_fsync, "fsync");
	tb_thread(tb, 40, 40, 1, "log.py", 1, true);
	tb_fd(tb, 40, 3, 8 << 20, 300, S_IFREG | 0600, "/var/log/app");
	tb_sys_enter(tb, 1, 1001000, SYS_fsync, 3, 0, 0);
	tb_switch(tb, 1, 1002000, 40, 0, TRACE_TASK_UNINTERRUPTIBLE);
	tb_waking(tb, 1, 1062000, 40, TRACE_CONTEXT_HARDIRQ);
	tb_switch(tb, 1, 1062000, 0, 40, TRACE_TASK_RUNNING);
	tb_sys_exit(tb, 1, 1063000, 0);
	tb_string(tb, TRACE_STRING_INFO, TRACE_INFO_SAVED_FOR,
		  "0 1002000 1080000 some tasks waited for io for more than 0.000 s of 0.000 s (psi:io>10us)");
	text = report_of(tb, "");
	contains(text, "Saved by a trigger: some tasks waited for io for more than 0.000 s of 0.000 s (psi:io>10us)");
	contains(text, "log.py 40 waited longest for files then: 60.00 us.");
	contains(text, "log.py 40 waited 77 % of its 78.00 us for the file /var/log/app");
	contains(text, "Where the 78.00 us of log.py 40 went");
	CU_ASSERT(lines_of(text) <= LINES);
	free(text);
}

/* The trigger was for the sleep of postgres, from 7 to 77 us, and counted at 60 us. */
static void a_saved_trace_is_about_what_the_trigger_was_for(void)
{
	struct tb *tb = chain(false);
	char *text;

	tb_string(tb, TRACE_STRING_INFO, TRACE_INFO_SAVED_FOR,
		  "30 1007000 1060000 postgres (30) has been waiting for 0.000 s (wait:postgres>50us)");
	text = report_of(tb, "");
	contains(text, "Saved by a trigger: postgres (30) has been waiting for 0.000 s (wait:postgres>50us)");
	contains(text, "postgres 30 waited 100 % of its 70.00 us for a timer (it slept).");
	contains(text, "Where the 70.00 us of postgres 30 went");
	contains(text, "\nThis time alone: tracevisualizer -a --from=0.000007000s --to=0.000077000s --pid=30 /tmp/");
	CU_ASSERT(lines_of(text) <= LINES);
	free(text);
	tb = chain(false);
	tb_string(tb, TRACE_STRING_INFO, TRACE_INFO_SAVED_FOR, "0 1077000 1077000 10 events lost (loss)");
	text = report_of(tb, "");
	contains(text, "Saved by a trigger: 10 events lost (loss)");
	contains(text, "load 10 waited ");
	free(text);
}

/*
 * A wrapper waits for the signal that its child has ended, until its time is over.
 */
static void a_wrapper_whose_time_is_over_gives_way_to_its_command(void)
{
	struct tb *tb = tb_new();
	char *text;

	tb_window(tb, 1000000, 1100000);
	tb_string(tb, TRACE_STRING_SYSCALL, SYS_rt_sigsuspend, "rt_sigsuspend");
	tb_string(tb, TRACE_STRING_SYSCALL, SYS_nanosleep, "nanosleep");
	tb_string(tb, TRACE_STRING_INFO, TRACE_INFO_COMMAND, "/bin/timeout 3 load");
	tb_thread(tb, 9, 9, 1, "tracedaemon", 1, false);
	tb_thread(tb, 10, 10, 9, "tracedaemon", 0, true);
	tb_comm(tb, 0, 1000000, 10, "timeout");
	tb_exec(tb, 0, 1000000, 10, "/bin/timeout");
	tb_fork(tb, 0, 1001000, 10, 20, 20, "timeout");
	tb_sys_enter(tb, 0, 1002000, SYS_rt_sigsuspend, 0, 0);
	tb_switch(tb, 0, 1003000, 10, 20, TRACE_TASK_INTERRUPTIBLE);
	tb_comm(tb, 0, 1003500, 20, "load");
	tb_exec(tb, 0, 1004000, 20, "/bin/load");
	tb_sys_enter(tb, 0, 1060000, SYS_nanosleep, 0, 0);
	tb_switch(tb, 0, 1061000, 20, 0, TRACE_TASK_INTERRUPTIBLE);
	tb_vector(tb, 0, 1097900, TRACE_VECTOR_LOCAL_TIMER);
	tb_add(tb, 0, 1097950, hrtimer_expire, NULL, .timer = 1);
	tb_waking(tb, 0, 1098000, 10, TRACE_CONTEXT_HARDIRQ);
	tb_add(tb, 0, 1098001, signal_generate, NULL, .tid = 10, .signal = SIGALRM, .group = 1);
	tb_vector_exit(tb, 0, 1098050, TRACE_VECTOR_LOCAL_TIMER);
	tb_switch(tb, 0, 1098100, 0, 10, TRACE_TASK_RUNNING);
	tb_sys_exit(tb, 0, 1098200, -514);
	tb_exit(tb, 0, 1099000, 10, 10, true);
	text = report_of(tb, "");
	contains(text, "timeout 10 waited for load 20 until its time was over.");
	contains(text, "\nload 20 ran on a CPU for ");
	contains(text, " of load 20 went, itself or what it waited for:");
	free(text);
}

/*
 * make reads the output of its child sh in nearly all of the recording, and server waits for client
 * until its end; sh computes for a while. Process @of has the other end of the pipe of make.
 */
static struct tb *supervisor(uint32_t of, bool server_runs)
{
	struct tb *tb = tb_new();

	tb_window(tb, 1000000, 1100000);
	tb_string(tb, TRACE_STRING_SYSCALL, SYS_read, "read");
	tb_string(tb, TRACE_STRING_SYSCALL, SYS_write, "write");
	tb_thread_in(tb, 10, 10, 1, "make", 1, false, SYS_read);
	tb_thread_in(tb, 20, 20, 1, "server", 1, false, SYS_read);
	tb_thread(tb, 30, 30, 10, "sh", 0, true);
	tb_thread(tb, 40, 40, 1, "client", 1, false);
	tb_fd(tb, 10, 0, 1, 200, S_IFIFO | 0600, "pipe:[200]");
	tb_fd(tb, of, 1, 1, 200, S_IFIFO | 0600, "pipe:[200]");
	tb_fd(tb, 20, 0, 1, 201, S_IFIFO | 0600, "pipe:[201]");
	tb_fd(tb, 40, 1, 1, 201, S_IFIFO | 0600, "pipe:[201]");
	tb_waking(tb, 0, 1001000, 10, TRACE_CONTEXT_TASK);
	tb_switch(tb, 1, 1002000, 0, 10, TRACE_TASK_RUNNING);
	tb_sys_exit(tb, 1, 1002100, 1);
	tb_sys_enter(tb, 1, 1002200, SYS_read, 0, 0x10000, 100);
	tb_switch(tb, 1, 1003000, 10, 0, TRACE_TASK_INTERRUPTIBLE);
	if (server_runs) {
		tb_waking(tb, 0, 1004000, 20, TRACE_CONTEXT_TASK);
		tb_switch(tb, 1, 1005000, 0, 20, TRACE_TASK_RUNNING);
		tb_sys_exit(tb, 1, 1005100, 1);
		tb_sys_enter(tb, 1, 1005200, SYS_read, 0, 0x10000, 100);
		tb_switch(tb, 1, 1006000, 20, 0, TRACE_TASK_INTERRUPTIBLE);
	}
	tb_switch(tb, 0, 1050000, 30, 0, TRACE_TASK_INTERRUPTIBLE);
	tb_waking(tb, 0, 1090000, of, TRACE_CONTEXT_HARDIRQ);
	tb_switch(tb, 0, 1091000, 0, of, TRACE_TASK_RUNNING);
	tb_sys_enter(tb, 0, 1092000, SYS_write, 1, 0x20000, 100);
	tb_waking(tb, 0, 1093000, 10, TRACE_CONTEXT_TASK);
	tb_sys_exit(tb, 0, 1094000, 100);
	return tb;
}

/*
 * load <- app <- proxy <- postgres, as in chain(); but all except load wait already when the
 * recording begins, so that nothing of them is on the path before postgres sleeps.
 */
static void a_chain_that_begins_with_its_end_has_all_its_links(void)
{
	static const uint32_t pids[] = {40, 30, 20, 10};
	struct tb *tb = tb_new();
	char *text;

	tb_window(tb, 1000000, 1100000);
	tb_string(tb, TRACE_STRING_SYSCALL, SYS_read, "read");
	tb_string(tb, TRACE_STRING_SYSCALL, SYS_write, "write");
	tb_string(tb, TRACE_STRING_SYSCALL, SYS_nanosleep, "nanosleep");
	tb_thread(tb, 10, 10, 1, "load", 0, true);
	tb_thread_in(tb, 20, 20, 1, "app", 0, false, SYS_read);
	tb_thread_in(tb, 30, 30, 1, "proxy", 0, false, SYS_read);
	tb_thread_in(tb, 40, 40, 1, "postgres", 0, false, SYS_nanosleep);
	for (uint32_t i = 0; i < 3; i++) {
		tb_fd(tb, pids[i], 1, 1, 200 + i, S_IFIFO | 0600, "pipe");
		tb_fd(tb, pids[i + 1], 0, 1, 200 + i, S_IFIFO | 0600, "pipe");
	}
	tb_sys_enter(tb, 0, 1001000, SYS_read, 0, 0x10000, 100);
	tb_switch(tb, 0, 1002000, 10, 0, TRACE_TASK_INTERRUPTIBLE);
	tb_waking(tb, 0, 1080000, 40, TRACE_CONTEXT_HARDIRQ);
	tb_switch(tb, 0, 1080100, 0, 40, TRACE_TASK_RUNNING);
	tb_sys_exit(tb, 0, 1080200, 0);
	for (uint32_t i = 0; i < 3; i++) {
		uint64_t ns = 1081000 + i * 3000;

		tb_sys_enter(tb, 0, ns, SYS_write, 1, 0x20000, 100);
		tb_waking(tb, 0, ns + 100, pids[i + 1], TRACE_CONTEXT_TASK);
		tb_sys_exit(tb, 0, ns + 200, 100);
		tb_switch(tb, 0, ns + 300, pids[i], pids[i + 1], TRACE_TASK_INTERRUPTIBLE);
		tb_sys_exit(tb, 0, ns + 400, 100);
	}
	text = report_of(tb, "--comm=load");
	join_lines(text);
	contains(text, "for app 20, which waited for proxy 30, which waited for postgres 40, "
		       "which waited for a timer (it slept)");
	free(text);
}

/*
 * hog has CPU 0 all the time, and reader waits for its file from 1,010 to 1,000 + @waited us. The
 * first sentence is about the reader if it waited for half of the time.
 */
static void of_a_machine_a_long_wait_comes_before_the_cpus(void)
{
	for (uint64_t waited = 40; waited <= 80; waited += 40) {
		struct trace_block_complete complete = {.dev = 8};
		uint64_t end = 1000000 + waited * 1000;
		struct tb *tb = tb_new();
		char *text;

		tb_window(tb, 1000000, 1100000);
		tb_string(tb, TRACE_STRING_SYSCALL, SYS_read, "read");
		tb_thread(tb, 10, 10, 1, "hog", 0, true);
		tb_thread(tb, 20, 20, 1, "reader", 1, true);
		tb_fd(tb, 20, 3, 8, 77, S_IFREG | 0644, "/data");
		tb_sys_enter(tb, 1, 1009000, SYS_read, 3, 0, 100);
		tb_switch(tb, 1, 1010000, 20, 0, TRACE_TASK_UNINTERRUPTIBLE);
		tb_irq(tb, 1, end - 20, 7);
		tb_event(tb, 1, end - 10, TRACE_EV_block_complete, &complete, sizeof(complete), NULL);
		tb_waking(tb, 1, end, 20, TRACE_CONTEXT_HARDIRQ);
		tb_irq_exit(tb, 1, end + 10, 7);
		tb_switch(tb, 1, end + 20, 0, 20, TRACE_TASK_RUNNING);
		tb_sys_exit(tb, 1, end + 100, 100);
		tb_switch(tb, 1, end + 200, 20, 0, TRACE_TASK_INTERRUPTIBLE);
		tb_sys_enter(tb, 0, 1099000, SYS_read, 0, 0, 1);
		text = report_of(tb, "");
		contains(text, waited < 50 ? "hog 10 ran on a CPU for " : "reader 20 waited ");
		contains(text, "  hog (10)");
		free(text);
	}
}

/*
 * tracedaemon waits for CPU 0 nearly all the time, which four short programs of one script and two
 * of each of two others have in turn. A pair is no sum of its own.
 */
static void a_recorder_is_no_answer_and_short_programs_are_a_sum(void)
{
	struct tb *tb = tb_new();
	uint64_t ns = 1000000;
	char *text;

	tb_window(tb, ns, ns + 100000);
	tb_thread(tb, 9, 9, 1, "tracedaemon", 0, true);
	tb_thread(tb, 10, 10, 1, "hog", 1, false);
	tb_thread(tb, 11, 11, 1, "one", 1, false);
	tb_thread(tb, 12, 12, 1, "other", 1, false);
	for (uint32_t pid = 20; pid < 28; pid++)
		tb_thread(tb, pid, pid, pid < 24 ? 10 : 11 + (pid >= 26), pid < 24 ? "gzip" : "cat", 0, false);
	for (uint32_t pid = 20; pid < 28; pid++) {
		tb_waking(tb, 1, ns + 10, pid, TRACE_CONTEXT_TASK);
		tb_switch(tb, 0, ns + 1000, pid == 20 ? 9 : pid - 1, pid,
			  pid == 20 ? TRACE_TASK_RUNNING : TRACE_TASK_INTERRUPTIBLE);
		ns += 10000;
	}
	tb_switch(tb, 0, ns + 1000, 27, 9, TRACE_TASK_INTERRUPTIBLE);
	text = report_of(tb, "");
	CU_ASSERT_PTR_NULL(strstr(text, "tracedaemon 9 "));
	contains(text, "gzip 2");
	contains(text, "  4 gzip started by hog (10)  ");
	contains(text, "  4 cat processes  ");
	free(text);
}

/* A database makes a new journal for each change: three files of one path, the last one is read. */
static void files_of_one_path_are_one_row_of_a_call(void)
{
	struct tb *tb = tb_new();
	uint64_t ns = 1000000;
	char *text;

	tb_window(tb, ns, ns + 100000);
	tb_string(tb, TRACE_STRING_SYSCALL, SYS_read, "read");
	tb_string(tb, TRACE_STRING_SYSCALL, SYS_fsync, "fsync");
	tb_thread(tb, 10, 10, 1, "db", 0, true);
	for (int fd = 3; fd < 6; fd++)
		tb_fd(tb, 10, fd, 8, 300 + (uint64_t)fd, S_IFREG | 0600, "/journal");
	for (int fd = 3; fd < 6; fd++) {
		if (fd < 5)
			tb_sys_enter(tb, 0, ns + 100, SYS_fsync, (uint64_t)fd);
		else
			tb_sys_enter(tb, 0, ns + 100, SYS_read, (uint64_t)fd, 0, 100);
		tb_switch(tb, 0, ns + 1000, 10, 0, TRACE_TASK_UNINTERRUPTIBLE);
		tb_waking(tb, 0, ns + 21000, 10, TRACE_CONTEXT_HARDIRQ);
		tb_switch(tb, 0, ns + 21000, 0, 10, TRACE_TASK_RUNNING);
		tb_sys_exit(tb, 0, ns + 22000, 0);
		ns += 30000;
	}
	text = report_of(tb, "--comm=db");
	contains(text, "40.00 us  40.00  db 10   file /journal in fsync\n");
	contains(text, "20.00 us  20.00  db 10   file /journal in read\n");
	CU_ASSERT_PTR_NULL(strstr(text, "inode"));
	join_lines(text);
	contains(text, "db 10 waited 60 % of its 100.00 us for the file /journal;");
	free(text);
}

/* 60 % are waits for files, 20 us each: @names are the files. */
static char *answer_of_files(const char *const names[3])
{
	struct tb *tb = tb_new();
	uint64_t ns = 1001000;
	char *text;

	tb_window(tb, 1000000, 1100000);
	tb_string(tb, TRACE_STRING_SYSCALL, SYS_read, "read");
	tb_thread(tb, 10, 10, 1, "db", 0, true);
	for (int i = 0; i < 3; i++)
		tb_fd(tb, 10, 3 + i, 8, (uint64_t)names[i][1], S_IFREG | 0600, names[i]);
	for (int i = 0; i < 3; i++, ns += 30000) {
		tb_sys_enter(tb, 0, ns + 100, SYS_read, (uint64_t)(3 + i), 0, 100);
		tb_switch(tb, 0, ns + 1000, 10, 0, TRACE_TASK_UNINTERRUPTIBLE);
		tb_waking(tb, 0, ns + 21000, 10, TRACE_CONTEXT_HARDIRQ);
		tb_switch(tb, 0, ns + 21000, 0, 10, TRACE_TASK_RUNNING);
		tb_sys_exit(tb, 0, ns + 22000, 0);
	}
	text = report_of(tb, "--comm=db");
	join_lines(text);
	return text;
}

/* The share is of all its files. It is not told of one that has a part of it. */
static void a_share_is_not_that_of_one_of_several(void)
{
	static const struct {
		const char *names[3], *answer;
	} stories[] = {
		{{"/a", "/a", "/a"}, "db 10 waited 60 % of its 100.00 us for the file /a;"},
		{{"/a", "/b", "/b"}, "db 10 waited 60 % of its 100.00 us mostly for the file /b;"},
		{{"/a", "/b", "/c"}, "db 10 waited 60 % of its 100.00 us for files such as /"},
	};

	for (size_t i = 0; i < sizeof(stories) / sizeof(stories[0]); i++) {
		char *text = answer_of_files(stories[i].names);

		contains(text, stories[i].answer);
		free(text);
	}
}

/* The first thread of app waits for load, and load for the second one, which computes. */
static void a_server_that_waits_for_its_client_comes_to_itself(void)
{
	struct tb *tb = tb_new();
	char *text;

	tb_window(tb, 1000000, 1100000);
	tb_string(tb, TRACE_STRING_SYSCALL, SYS_read, "read");
	tb_string(tb, TRACE_STRING_SYSCALL, SYS_write, "write");
	tb_thread(tb, 10, 10, 1, "load", 0, false);
	tb_thread(tb, 20, 20, 1, "app", 0, true);
	tb_thread(tb, 21, 20, 1, "app", 0, false);
	tb_fd(tb, 10, 0, 1, 200, S_IFIFO | 0600, "pipe:[200]");
	tb_fd(tb, 20, 1, 1, 200, S_IFIFO | 0600, "pipe:[200]");
	tb_fd(tb, 20, 0, 1, 201, S_IFIFO | 0600, "pipe:[201]");
	tb_fd(tb, 10, 1, 1, 201, S_IFIFO | 0600, "pipe:[201]");
	tb_sys_enter(tb, 0, 1001000, SYS_read, 0, 0x10000, 100);
	tb_switch(tb, 0, 1002000, 20, 10, TRACE_TASK_INTERRUPTIBLE);
	tb_sys_enter(tb, 0, 1003000, SYS_read, 0, 0x10000, 100);
	tb_switch(tb, 0, 1004000, 10, 21, TRACE_TASK_INTERRUPTIBLE);
	tb_sys_enter(tb, 0, 1079000, SYS_write, 1, 0x20000, 100);
	tb_waking(tb, 0, 1080000, 10, TRACE_CONTEXT_TASK);
	tb_sys_exit(tb, 0, 1081000, 100);
	tb_switch(tb, 0, 1082000, 21, 10, TRACE_TASK_INTERRUPTIBLE);
	tb_sys_exit(tb, 0, 1083000, 100);
	tb_sys_enter(tb, 0, 1084000, SYS_write, 1, 0x20000, 100);
	tb_waking(tb, 0, 1085000, 20, TRACE_CONTEXT_TASK);
	tb_sys_exit(tb, 0, 1086000, 100);
	tb_switch(tb, 0, 1087000, 10, 20, TRACE_TASK_INTERRUPTIBLE);
	tb_sys_exit(tb, 0, 1088000, 100);
	text = report_of(tb, "--tid=20");
	join_lines(text);
	contains(text, "app 20 waited 83 % of its 100.00 us for load 10, which waited 92 % of that for app 20 itself, "
		       "which ran on a CPU");
	free(text);
}

static void a_quota_has_its_limit(void)
{
	struct trace_sched_quota begin = {.ns = 500000000, .tid = 10}, end = {.ns = 70000, .tid = 10, .over = true};
	struct tb *tb = tb_new();
	char *text;

	tb_window(tb, 1000000, 1100000);
	tb_thread(tb, 10, 10, 1, "one", 0, true);
	tb_event(tb, 0, 1010000, TRACE_EV_sched_quota, &begin, sizeof(begin), NULL);
	tb_switch(tb, 0, 1010000, 10, 0, TRACE_TASK_RUNNING);
	tb_event(tb, 0, 1080000, TRACE_EV_sched_quota, &end, sizeof(end), NULL);
	tb_switch(tb, 0, 1080000, 0, 10, TRACE_TASK_RUNNING);
	text = report_of(tb, "");
	contains(text, "one 10 waited 70 % of its 100.00 us for its CPU quota of 0.5 CPUs;");
	contains(text, "  quota of 0.5 CPUs\n");
	free(text);
}

/* No work: the wait of a supervisor, and that of a process that never ran. */
static void the_busiest_thread_is_no_supervisor(void)
{
	char *text = report_of(supervisor(30, false), "");

	contains(text, "sh 30 ran on a CPU for ");
	free(text);
	text = report_of(supervisor(40, false), ""); /* the other end is no child */
	contains(text, "make 10 waited ");
	free(text);
	text = report_of(supervisor(30, true), ""); /* the server waits for a process that is not known */
	contains(text, "sh 30 ran on a CPU for ");
	free(text);
	text = report_of(supervisor(30, true), "--comm=server");
	contains(text, "server 20 waited ");
	contains(text, "for an unknown process via pipe");
	contains(text, "  an unknown process via pipe in read\n");
	free(text);
}

/* load waits for app. Its threads wait for one file, and for a condition in vain. */
static void waits_of_threads_of_one_name_are_one_row(void)
{
	struct tb *tb = tb_new();
	uint64_t ns = 1000000;
	char *text;

	tb_window(tb, ns, ns + 100000);
	tb_string(tb, TRACE_STRING_SYSCALL, SYS_read, "read");
	tb_string(tb, TRACE_STRING_SYSCALL, SYS_write, "write");
	tb_string(tb, TRACE_STRING_SYSCALL, SYS_futex, "futex");
	tb_string(tb, TRACE_STRING_SYSCALL, SYS_fsync, "fsync");
	tb_thread(tb, 10, 10, 1, "load", 0, true);
	tb_thread(tb, 20, 20, 1, "app", 1, false);
	tb_fd(tb, 10, 0, 1, 200, S_IFIFO | 0600, "pipe:[200]");
	tb_fd(tb, 20, 1, 1, 200, S_IFIFO | 0600, "pipe:[200]");
	tb_fd(tb, 20, 3, 1, 300, S_IFREG | 0600, "/cart.db");
	for (uint32_t tid = 21; tid <= 23; tid++) {
		uint64_t wait_ns = tid == 23 ? 20000 : 10000;

		tb_thread(tb, tid, 20, 1, "app", 1, false);
		tb_sys_enter(tb, 0, ns + 100, SYS_read, 0, 0x10000, 100);
		tb_switch(tb, 0, ns + 200, 10, 0, TRACE_TASK_INTERRUPTIBLE);
		tb_waking(tb, 1, ns + 210, tid, TRACE_CONTEXT_HARDIRQ);
		tb_switch(tb, 1, ns + 220, 0, tid, TRACE_TASK_RUNNING);
		if (tid == 23)
			tb_sys_enter(tb, 1, ns + 300, SYS_futex, 0x5000, 0x189, 0, 0x6000, 0, ~0u);
		else
			tb_sys_enter(tb, 1, ns + 300, SYS_fsync, 3);
		tb_switch(tb, 1, ns + 400, tid, 0, tid == 23 ? TRACE_TASK_INTERRUPTIBLE : TRACE_TASK_UNINTERRUPTIBLE);
		tb_vector(tb, 1, ns + 390 + wait_ns, TRACE_VECTOR_LOCAL_TIMER);
		tb_waking(tb, 1, ns + 400 + wait_ns, tid, TRACE_CONTEXT_HARDIRQ);
		tb_vector_exit(tb, 1, ns + 410 + wait_ns, TRACE_VECTOR_LOCAL_TIMER);
		tb_switch(tb, 1, ns + 500 + wait_ns, 0, tid, TRACE_TASK_RUNNING);
		tb_sys_exit(tb, 1, ns + 600 + wait_ns, tid == 23 ? -110 : 0);
		tb_sys_enter(tb, 1, ns + 700 + wait_ns, SYS_write, 1, 0x20000, 100);
		tb_waking(tb, 1, ns + 800 + wait_ns, 10, TRACE_CONTEXT_TASK);
		tb_sys_exit(tb, 1, ns + 900 + wait_ns, 100);
		tb_switch(tb, 1, ns + 1000 + wait_ns, tid, 0, TRACE_TASK_INTERRUPTIBLE);
		tb_switch(tb, 0, ns + 1100 + wait_ns, 0, 10, TRACE_TASK_RUNNING);
		tb_sys_exit(tb, 0, ns + 1200 + wait_ns, 100);
		ns += wait_ns + 1200;
	}
	text = report_of(tb, "--comm=load --ns");
	contains(text, "\n   20000  ");
	contains(text, "  app 20 threads    file /cart.db in fsync\n");
	contains(text, "  app 20 thread 23  timeout in futex\n");
	free(text);
}

/* A sleep is one; the timeout of another call is not called a sleep. */
static void only_a_sleep_is_called_a_sleep(void)
{
	static const struct {
		int nr;
		const char *name, *words;
	} calls[] = {{SYS_nanosleep, "nanosleep", "for a timer (it slept);"},
		     {SYS_clock_nanosleep, "clock_nanosleep", "for a timer (it slept);"},
		     {SYS_futex, "futex", "for a timer (futex timed out);"},
		     {SYS_epoll_wait, "epoll_wait", "for a timer (epoll_wait timed out);"}};

	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		struct tb *tb = tb_new();
		char *text;

		tb_window(tb, 1000000, 1100000);
		tb_string(tb, TRACE_STRING_SYSCALL, calls[i].nr, calls[i].name);
		tb_thread(tb, 10, 10, 1, "app", 0, true);
		if (calls[i].nr == SYS_futex)
			tb_sys_enter(tb, 0, 1001000, SYS_futex, 0x5000, 0x189, 0, 0x6000, 0, ~0u);
		else if (calls[i].nr == SYS_clock_nanosleep)
			tb_sys_enter(tb, 0, 1001000, SYS_clock_nanosleep, 0, 0, 0x5000, 0);
		else
			tb_sys_enter(tb, 0, 1001000, calls[i].nr, 5, 0x5000, 1, 1);
		tb_switch(tb, 0, 1002000, 10, 0, TRACE_TASK_INTERRUPTIBLE);
		tb_vector(tb, 0, 1089000, TRACE_VECTOR_LOCAL_TIMER);
		tb_waking(tb, 0, 1090000, 10, TRACE_CONTEXT_HARDIRQ);
		tb_vector_exit(tb, 0, 1090500, TRACE_VECTOR_LOCAL_TIMER);
		tb_switch(tb, 0, 1091000, 0, 10, TRACE_TASK_RUNNING);
		tb_sys_exit(tb, 0, 1092000, calls[i].nr == SYS_futex ? -110 : 0);
		text = report_of(tb, "--comm=app");
		join_lines(text);
		contains(text, calls[i].words);
		free(text);
	}
}

static void bars_are_ascii_in_the_c_locale(void)
{
	char *text;

	setenv("LC_ALL", "C", 1);
	text = report_of(chain(true), "");
	contains(text, "%  ####");
	for (const char *c = text; *c; c++)
		CU_ASSERT((unsigned char)*c < 128);
	free(text);
	setenv("LC_ALL", "C.UTF-8", 1);
	text = report_of(chain(true), "");
	contains(text, "%  \xe2\x96\x88\xe2\x96\x88");
	free(text);
	unsetenv("LC_ALL");
}

/* Names and paths may be as long as they like. */
static void long_names_do_not_make_the_screen_longer(void)
{
	char path[] = "/tmp/test_report_answer_XXXXXX", arguments[64], *text;

	setenv("COLUMNS", "80", 1);
	make_story_of(path, "a name of 15 by", "wait for a lock");
	CU_ASSERT_EQUAL(visualizer_run((snprintf(arguments, sizeof(arguments), "%s", path), arguments), &text), 0);
	CU_ASSERT(lines_of(text) <= LINES);
	CU_ASSERT(widest_line(text) <= 80);
	contains(text, "taken mostly\nby a name of 15 by 10;");
	free(text);
	unlink(path);
	unsetenv("COLUMNS");
}

/* load waits in fsync of a file with a long path. */
static struct tb *long_path(void)
{
	struct tb *tb = tb_new();

	tb_window(tb, 1000000, 1100000);
	tb_string(tb, TRACE_STRING_SYSCALL, SYS_fsync, "fsync");
	tb_thread(tb, 10, 10, 1, "load", 0, true);
	tb_fd(tb, 10, 3, 1, 300, S_IFREG | 0600, "/a/long/way/to/a/file/that/users/know/by/its/name/orders.journal");
	tb_sys_enter(tb, 0, 1001000, SYS_fsync, 3);
	tb_switch(tb, 0, 1002000, 10, 0, TRACE_TASK_UNINTERRUPTIBLE);
	tb_waking(tb, 0, 1090000, 10, TRACE_CONTEXT_HARDIRQ);
	tb_switch(tb, 0, 1091000, 0, 10, TRACE_TASK_RUNNING);
	tb_sys_exit(tb, 0, 1092000, 0);
	return tb;
}

static void a_cut_cell_keeps_the_name_of_a_file(void)
{
	char *text;

	setenv("COLUMNS", "60", 1);
	text = report_of(long_path(), "");
	CU_ASSERT(widest_line(text) <= 60);
	contains(text, "/orders.journal in fsync\n");
	free(text);
	unsetenv("COLUMNS");
}

#define LONG_PATH "/a/long/way/to/a/file/that/users/know/by/its/name/orders.journal"

/* A terminal has so many columns for a name as it has; a file has no end of a line. */
static void a_name_has_the_width_that_there_is(void)
{
	static const char *const widths[] = {NULL, "80", "200"};
	char *text;

	for (size_t i = 0; i < sizeof(widths) / sizeof(widths[0]); i++) {
		if (widths[i])
			setenv("COLUMNS", widths[i], 1);
		text = report_of(long_path(), "");
		contains(text, " for the file\n" LONG_PATH "; it ran");
		free(text);
		unsetenv("COLUMNS");
	}
	setenv("COLUMNS", "50", 1);
	text = report_of(long_path(), "");
	CU_ASSERT(widest_line(text) <= 50);
	contains(text, "/file/that/users/know/by/its/name/orders.journal;\n");
	free(text);
	unsetenv("COLUMNS");
}

/* A process with one thread needs no such table. */
static void the_page_of_a_process_has_its_threads_by_name(void)
{
	struct tb *tb = tb_new();
	char *text;

	tb_window(tb, 1000000, 1050000);
	tb_string(tb, TRACE_STRING_SYSCALL, SYS_nanosleep, "nanosleep");
	tb_thread(tb, 10, 10, 1, "java", 0, true);
	tb_thread(tb, 11, 10, 1, "cache-refresher", 1, true);
	tb_thread(tb, 20, 20, 1, "alone", 2, true);
	tb_sys_enter(tb, 0, 1010000, SYS_nanosleep, 0, 0);
	tb_switch(tb, 0, 1012000, 10, 0, TRACE_TASK_INTERRUPTIBLE);
	tb_waking(tb, 0, 1032000, 10, TRACE_CONTEXT_HARDIRQ);
	tb_switch(tb, 0, 1033000, 0, 10, TRACE_TASK_RUNNING);
	tb_sys_exit(tb, 0, 1034000, 0);
	tb_switch(tb, 1, 1050000, 11, 0, TRACE_TASK_RUNNING);
	tb_switch(tb, 2, 1050000, 20, 0, TRACE_TASK_RUNNING);
	text = report_of(tb, "-a --ns");
	CU_ASSERT_PTR_NOT_NULL_FATAL(strstr(text, "\t\tThreads:\n"));
	contains(strstr(text, "\t\tThreads:\n"), "  cache-refresher");
	contains(strstr(text, "\t\tThreads:\n"), "  java             timeout\n");
	CU_ASSERT_PTR_NULL(strstr(strstr(text, "\t\tThreads:\n") + 1, "\t\tThreads:\n"));
	free(text);
}

static void sections_are_chosen_by_name(void)
{
	static const struct {
		const char *options, *has, *lacks;
	} cases[] = {
		{"--section=cpus", "CPUs (% of the trace):", "Processes"},
		{"-a --section=processes,pairs", "Waits between processes:", "CPUs (%"},
		{"-a --section=processes,pairs", "\nProcesses", "Analysis details:"},
		{"--classic", "Analysis details:", "Number of occurences"},
		{"--section=events", "Number of occurences", "Analysis details:"},
		{"-a", "Analysis details:", "Sections (--section="}, /* on a pipe */
	};
	struct tb *tb;
	char *text;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *whole;

		text = report_of(chain(false), cases[i].options);
		whole = malloc(strlen(text) + 2);
		sprintf(whole, "\n%s", text);
		contains(whole, cases[i].has);
		CU_ASSERT_PTR_NULL(strstr(whole, cases[i].lacks));
		free(whole);
		free(text);
	}
	tb = chain(false);
	tb_lost(tb, 0, 17);
	text = report_of(tb, "--section=cpus");
	contains(text, "17 events were lost: the affected times are unknown.");
	free(text);
	setenv("COLUMNS", "80", 1);
	text = report_of(chain(false), "-a");
	contains(text, "\nSections (--section=NAME,...): cpus processes ");
	free(text);
	unsetenv("COLUMNS");
}

/* The begin of a program: the note has the name that Go's linker gives it, or another one. */
static void goroutines_are_told_of_go_programs_only(void)
{
	static const char note[] = "\x04\0\0\0\x53\0\0\0\x04\0\0\0Go\0", other[] = "\x04\0\0\0\x14\0\0\0\x03\0\0\0GNU";

	for (int is_go = 0; is_go < 2; is_go++) {
		char path[] = "/tmp/report_answer_XXXXXX", *text;
		const struct trace_start_exe exe = {.tgid = 10};
		struct tb *tb = chain(false);
		int fd = mkstemp(path);

		CU_ASSERT_FATAL(fd >= 0);
		dprintf(fd, "\x7f"
			    "ELF and some headers");
		CU_ASSERT_EQUAL(write(fd, is_go ? note : other, sizeof(note)), (ssize_t)sizeof(note));
		close(fd);
		tb_start(tb, 0, TRACE_EV_start_exe, &exe, sizeof(exe), path);
		text = report_of(tb, "-p load");
		CU_ASSERT_EQUAL(strstr(text, "load is a Go program: goroutines wait ") != NULL, is_go);
		contains(text, "More: ");
		free(text);
		unlink(path);
	}
}

/* Two threads of app: one waits for 70 of 100 us in futex for the other, which computes. */
static struct tb *two_threads(const char *exe)
{
	const struct trace_start_exe start = {.tgid = 20};
	struct tb *tb = tb_new();

	tb_window(tb, 1000000, 1100000);
	tb_string(tb, TRACE_STRING_SYSCALL, SYS_futex, "futex");
	tb_thread(tb, 20, 20, 1, "app", 0, true);
	tb_thread(tb, 21, 20, 1, "app", 0, false);
	tb_start(tb, 0, TRACE_EV_start_exe, &start, sizeof(start), exe);
	tb_sys_enter(tb, 0, 1009000, SYS_futex, 0x5000, 128);
	tb_switch(tb, 0, 1010000, 20, 21, TRACE_TASK_INTERRUPTIBLE);
	tb_sys_enter(tb, 0, 1079000, SYS_futex, 0x5000, 129);
	tb_waking(tb, 0, 1080000, 20, TRACE_CONTEXT_TASK);
	tb_sys_exit(tb, 0, 1081000, 1);
	tb_switch(tb, 0, 1082000, 21, 20, TRACE_TASK_INTERRUPTIBLE);
	tb_sys_exit(tb, 0, 1083000, 0);
	tb_switch(tb, 0, 1099000, 20, 0, TRACE_TASK_INTERRUPTIBLE);
	return tb;
}

/* "waiting for a CPU" and the figures behind it would need 38 columns. */
static void a_narrow_terminal_cuts_the_labels_of_the_bars(void)
{
	char *text;

	setenv("COLUMNS", "36", 1);
	text = report_of(two_threads("/usr/bin/ruby"), "--tid=20");
	unsetenv("COLUMNS");
	contains(text, "\n  waiting for a ");
	CU_ASSERT(widest_line(text) <= 36);
	free(text);
}

static void the_lock_of_an_interpreter_is_told_of_python_only(void)
{
	static const char *const exes[] = {"/usr/bin/python3.11", "/usr/bin/ruby"};

	for (int i = 0; i < 2; i++) {
		char *text = report_of(two_threads(exes[i]), "--tid=20");

		join_lines(text);
		contains(text, "app 20 waited 70 % of its 100.00 us for its thread 21");
		CU_ASSERT_EQUAL(!strstr(text, "app (20) runs one thread at a time: it is Python, with the GIL. Their "
					      "waits: -a --section=locks."),
				i);
		free(text);
	}
}

static void losses_and_hidden_events_are_told(void)
{
	struct tb *tb = chain(true);
	char *text;

	tb_lost(tb, 0, 17);
	text = report_of(tb, "");
	contains(text, "17 events were lost: the affected times are unknown.");
	CU_ASSERT(lines_of(text) <= LINES + 2); /* and the warnings on stderr */
	free(text);
}

/* The events of the CPU for which one waits were lost. */
static void a_verdict_about_unknown_time_says_that_events_were_lost(void)
{
	struct tb *tb = tb_new();
	char *text;

	tb_window(tb, 1000000, 1100000);
	tb_thread(tb, 10, 10, 1, "one", 0, true);
	tb_switch(tb, 0, 1010000, 10, 0, TRACE_TASK_INTERRUPTIBLE);
	tb_lost(tb, 0, 17);
	tb_switch(tb, 0, 1090000, 0, 10, TRACE_TASK_RUNNING);
	tb_switch(tb, 0, 1099000, 10, 0, TRACE_TASK_INTERRUPTIBLE);
	text = report_of(tb, "--comm=one");
	join_lines(text);
	contains(text, " for something unknown, because 17 events were lost");
	free(text);
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		CASE(the_verdict_follows_the_chain_to_its_end),
		CASE(a_client_that_a_server_waits_for_is_named_once),
		CASE(the_bars_add_up_to_the_window),
		CASE(an_answer_about_another_process_than_the_command_says_so),
		CASE(without_a_command_the_busiest_thread_is_explained),
		CASE(a_trace_saved_by_pressure_is_about_the_thread_that_waited),
		CASE(a_saved_trace_is_about_what_the_trigger_was_for),
		CASE(a_wrapper_whose_time_is_over_gives_way_to_its_command),
		CASE(a_chain_that_begins_with_its_end_has_all_its_links),
		CASE(of_a_machine_a_long_wait_comes_before_the_cpus),
		CASE(a_recorder_is_no_answer_and_short_programs_are_a_sum),
		CASE(files_of_one_path_are_one_row_of_a_call),
		CASE(a_share_is_not_that_of_one_of_several),
		CASE(a_server_that_waits_for_its_client_comes_to_itself),
		CASE(a_quota_has_its_limit),
		CASE(the_busiest_thread_is_no_supervisor),
		CASE(waits_of_threads_of_one_name_are_one_row),
		CASE(only_a_sleep_is_called_a_sleep),
		CASE(bars_are_ascii_in_the_c_locale),
		CASE(long_names_do_not_make_the_screen_longer),
		CASE(a_cut_cell_keeps_the_name_of_a_file),
		CASE(a_name_has_the_width_that_there_is),
		CASE(the_page_of_a_process_has_its_threads_by_name),
		CASE(sections_are_chosen_by_name),
		CASE(goroutines_are_told_of_go_programs_only),
		CASE(a_narrow_terminal_cuts_the_labels_of_the_bars),
		CASE(the_lock_of_an_interpreter_is_told_of_python_only),
		CASE(losses_and_hidden_events_are_told),
		CASE(a_verdict_about_unknown_time_says_that_events_were_lost),
		{NULL, NULL},
	};

	report_also = view_says_the_same;
	return report_main("report_answer", cases, argc, argv);
}
