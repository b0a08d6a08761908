/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test_report_answer.c - tracevisualizer without options: the answer on one screen */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "builder.h"
#include "report_case.h"
#include "unit.h"
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
	contains(text, "\n  sleeping ");
	contains(text, "postgres 30  timeout in nanosleep\n");
	contains(text, "\nMore: tracevisualizer -a /tmp/report_case_own_");
	join_lines(text);
	contains(text, "load 10 waited 83 % of its 100.00 us for app.py 20, which waited 90 % of that for postgres 30, "
		       "which waited 93 % of that for a timer (it slept)");
	free(text);
	unsetenv("COLUMNS");
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

/* Without a command, the answer is about the thread with the most work, and the chosen one. */
static void without_a_command_the_busiest_thread_is_explained(void)
{
	char *text = report_of(chain(false), "");

	contains(text, "load 10 waited ");
	contains(text, "CPU time of the busiest processes (% of the ");
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

static void losses_and_hidden_events_are_told(void)
{
	struct tb *tb = chain(true);
	char *text;

	tb_lost(tb, 0, 17);
	text = report_of(tb, "");
	contains(text, "17 events");
	CU_ASSERT(lines_of(text) <= LINES + 2); /* and the warnings on stderr */
	free(text);
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		CASE(the_verdict_follows_the_chain_to_its_end),
		CASE(the_bars_add_up_to_the_window),
		CASE(without_a_command_the_busiest_thread_is_explained),
		CASE(bars_are_ascii_in_the_c_locale),
		CASE(long_names_do_not_make_the_screen_longer),
		CASE(losses_and_hidden_events_are_told),
		{NULL, NULL},
	};

	return report_main("report_answer", cases, argc, argv);
}
