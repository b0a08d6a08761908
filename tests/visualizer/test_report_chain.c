/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test_report_chain.c - which of several processes of one name a link of the verdict names */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "builder.h"
#include "report_case.h"
#include "unit.h"
#include "view_says.h"
#include "visualizer.h"

#define BEGIN_NS 1000000
#define STEP_NS	 100

/*
 * load reads an answer of each sh in turn, each from its own pipe, and each sh sleeps first. The
 * path is in sh number i from its wake-up, or its begin, until it has answered: @sleeps[i] ns and
 * 4 steps.
 */
static struct tb *turns(const uint64_t *sleeps, uint32_t nr, const char *comm)
{
	struct tb *tb = tb_new();
	uint64_t ns = BEGIN_NS;

	tb_string(tb, TRACE_STRING_SYSCALL, SYS_read, "read");
	tb_string(tb, TRACE_STRING_SYSCALL, SYS_write, "write");
	tb_string(tb, TRACE_STRING_SYSCALL, SYS_nanosleep, "nanosleep");
	tb_thread(tb, 10, 10, 1, "load", 0, true);
	for (uint32_t i = 0; i < nr; i++) {
		tb_thread(tb, 30 + i, 30 + i, 1, comm, 0, false);
		tb_fd(tb, 10, 3 + (int)i, 1, 200 + i, S_IFIFO | 0600, "pipe");
		tb_fd(tb, 30 + i, 1, 1, 200 + i, S_IFIFO | 0600, "pipe");
	}
	for (uint32_t i = 0; i < nr; i++) {
		tb_sys_enter(tb, 0, ns += STEP_NS, SYS_read, 3 + i, 0x10000, 100);
		tb_switch(tb, 0, ns += STEP_NS, 10, 30 + i, TRACE_TASK_INTERRUPTIBLE);
		tb_sys_enter(tb, 0, ns += STEP_NS, SYS_nanosleep, 0, 0);
		tb_switch(tb, 0, ns += STEP_NS, 30 + i, 0, TRACE_TASK_INTERRUPTIBLE);
		ns += sleeps[i];
		tb_waking(tb, 0, ns, 30 + i, TRACE_CONTEXT_HARDIRQ);
		tb_switch(tb, 0, ns, 0, 30 + i, TRACE_TASK_RUNNING);
		tb_sys_exit(tb, 0, ns += STEP_NS, 0);
		tb_sys_enter(tb, 0, ns += STEP_NS, SYS_write, 1, 0x20000, 100);
		tb_waking(tb, 0, ns, 10, TRACE_CONTEXT_TASK);
		tb_sys_exit(tb, 0, ns, 100);
		tb_switch(tb, 0, ns, 30 + i, 10, TRACE_TASK_INTERRUPTIBLE);
		tb_sys_exit(tb, 0, ns += STEP_NS, 100);
	}
	tb_window(tb, BEGIN_NS, ns + STEP_NS);
	return tb;
}

static char *verdict_of(const uint64_t *sleeps, uint32_t nr, const char *comm)
{
	char *text = report_of(turns(sleeps, nr, comm), "");

	join_lines(text);
	return text;
}

static void verdict_has(const uint64_t *sleeps, uint32_t nr, const char *words)
{
	char *text = verdict_of(sleeps, nr, "sh");

	contains(text, words);
	free(text);
}

static void a_process_with_nearly_all_of_the_time_is_named(void)
{
	const uint64_t big_first[] = {90000, 500, 400}, big_last[] = {500, 400, 90000};

	verdict_has(big_first, 3, " for sh 30, which waited ");
	verdict_has(big_last, 3, " for sh 32, which waited ");
}

static void a_process_with_most_of_the_time_is_named_before_the_others(void)
{
	const uint64_t three[] = {9000, 60000, 9000}, two[] = {60000, 15000};

	verdict_has(three, 3, " for sh 31 and 2 others, which waited ");
	verdict_has(two, 2, " for sh 30 and 1 other, which waited ");
}

static void processes_of_which_none_has_most_have_their_name(void)
{
	const uint64_t equal[] = {20000, 20000, 20000}, halves[] = {30000, 30000}, larger[] = {30000, 24000, 20000};

	verdict_has(equal, 3, " for sh processes, which waited ");
	verdict_has(halves, 2, " for sh processes, which waited ");
	verdict_has(larger, 3, " for sh processes, which waited ");
}

/* 89600 and 4 steps are 90 % of 100000 ns, which the other one completes. */
static void the_limit_is_ninety_percent(void)
{
	const uint64_t at[] = {89600, 9600}, below[] = {89500, 9700};

	verdict_has(at, 2, " for sh 30, which waited ");
	verdict_has(below, 2, " for sh 30 and 1 other, which waited ");
}

/* The rows of the waits, too: sh 30 sleeps for 90 % of what all of them sleep, and for less. */
static void the_waits_name_the_process_that_waited_most(void)
{
	const uint64_t big[] = {90000, 4000, 4000}, less[] = {60000, 20000, 20000};
	char *text = verdict_of(big, 3, "sh");

	contains(text, "  sh 30  ");
	CU_ASSERT_PTR_NULL(strstr(text, "  sh processes  timeout"));
	free(text);
	verdict_has(less, 3, "  sh processes  timeout in nanosleep");
}

/* one waits for its CPU, which the process @name @i has for @times[i] ns. */
static char *taken(const char *name, const uint64_t *times, uint32_t nr)
{
	struct tb *tb = tb_new();
	uint64_t ns = BEGIN_NS + STEP_NS;
	char *text;

	tb_thread(tb, 10, 10, 1, "one", 0, true);
	for (uint32_t i = 0; i < nr; i++)
		tb_thread(tb, 30 + i, 30 + i, 1, name, 0, false);
	for (uint32_t i = 0; i < nr; i++) {
		tb_switch(tb, 0, ns, i ? 29 + i : 10, 30 + i, TRACE_TASK_RUNNING);
		ns += times[i];
	}
	tb_switch(tb, 0, ns, 29 + nr, 10, TRACE_TASK_RUNNING);
	tb_window(tb, BEGIN_NS, ns + STEP_NS);
	text = report_of(tb, "--comm=one");
	join_lines(text);
	return text;
}

static void a_cpu_was_taken_by_the_process_that_had_it_most(void)
{
	const uint64_t big[] = {1000, 90000, 2000}, less[] = {30000, 50000, 10000};
	char *text = taken("hog", big, 3);

	contains(text, " for a CPU, taken mostly by hog 31.");
	contains(text, "  a CPU, taken by hog 31 ");
	free(text);
	text = taken("hog", less, 3);
	contains(text, " for a CPU, taken mostly by hog processes.");
	contains(text, "  a CPU, taken by hog processes ");
	free(text);
	text = taken("", less, 3);
	contains(text, " for a CPU, taken mostly by processes without a name.");
	contains(text, "  a CPU, taken by processes without a name ");
	free(text);
}

/* A step of a program below another one: it reads from @fd, and CPU 0 goes on with @next. */
static void ask(struct tb *tb, uint64_t *ns, uint32_t pid, uint64_t fd, uint32_t next)
{
	tb_sys_enter(tb, 0, *ns += STEP_NS, SYS_read, fd, 0x10000, 100);
	tb_switch(tb, 0, *ns += STEP_NS, pid, next, TRACE_TASK_INTERRUPTIBLE);
}

static void answer(struct tb *tb, uint64_t *ns, uint32_t pid, uint32_t waiter)
{
	tb_sys_enter(tb, 0, *ns += STEP_NS, SYS_write, 1, 0x20000, 100);
	tb_waking(tb, 0, *ns, waiter, TRACE_CONTEXT_TASK);
	tb_sys_exit(tb, 0, *ns, 100);
	tb_switch(tb, 0, *ns, pid, waiter, TRACE_TASK_INTERRUPTIBLE);
	tb_sys_exit(tb, 0, *ns += STEP_NS, 100);
}

/* load waits for sh 30 and sh 31, each of them for sort 50, which computes longer for sh 31. */
static void the_time_of_a_process_has_that_of_the_links_below_it(void)
{
	struct tb *tb = tb_new();
	uint64_t ns = BEGIN_NS;
	char *text;

	tb_string(tb, TRACE_STRING_SYSCALL, SYS_read, "read");
	tb_string(tb, TRACE_STRING_SYSCALL, SYS_write, "write");
	tb_thread(tb, 10, 10, 1, "load", 0, true);
	tb_thread(tb, 50, 50, 1, "sort", 0, false);
	for (uint32_t i = 0; i < 2; i++) {
		tb_thread(tb, 30 + i, 30 + i, 1, "sh", 0, false);
		tb_fd(tb, 10, 3 + (int)i, 1, 200 + i, S_IFIFO | 0600, "pipe");
		tb_fd(tb, 30 + i, 1, 1, 200 + i, S_IFIFO | 0600, "pipe");
		tb_fd(tb, 30 + i, 0, 1, 210, S_IFIFO | 0600, "pipe");
	}
	tb_fd(tb, 50, 1, 1, 210, S_IFIFO | 0600, "pipe");
	for (uint32_t i = 0; i < 2; i++) {
		ask(tb, &ns, 10, 3 + i, 30 + i);
		ask(tb, &ns, 30 + i, 0, 50);
		ns += i ? 90000 : 1000;
		answer(tb, &ns, 50, 30 + i);
		answer(tb, &ns, 30 + i, 10);
	}
	tb_window(tb, BEGIN_NS, ns + STEP_NS);
	text = report_of(tb, "");
	join_lines(text);
	contains(text, " for sh 31, which waited for sort 50, which ran on a CPU");
	free(text);
}

/* Each program waits for the next one by a pipe, and the last one sleeps. */
static struct tb *long_chain(uint32_t nr)
{
	struct tb *tb = tb_new();
	uint64_t ns = BEGIN_NS;
	char comm[16];

	tb_string(tb, TRACE_STRING_SYSCALL, SYS_read, "read");
	tb_string(tb, TRACE_STRING_SYSCALL, SYS_write, "write");
	tb_string(tb, TRACE_STRING_SYSCALL, SYS_nanosleep, "nanosleep");
	for (uint32_t i = 0; i < nr; i++) {
		snprintf(comm, sizeof(comm), "link%u", i);
		tb_thread(tb, 10 + i, 10 + i, 1, comm, 0, i == 0);
		tb_fd(tb, 10 + i, 0, 1, 200 + i, S_IFIFO | 0600, "pipe");
		tb_fd(tb, 10 + i, 1, 1, 199 + i, S_IFIFO | 0600, "pipe");
	}
	for (uint32_t i = 0; i < nr; i++) {
		tb_sys_enter(tb, 0, ns += STEP_NS, i + 1 < nr ? SYS_read : SYS_nanosleep, 0, 0x10000, 100);
		tb_switch(tb, 0, ns += STEP_NS, 10 + i, i + 1 < nr ? 11 + i : 0, TRACE_TASK_INTERRUPTIBLE);
	}
	tb_waking(tb, 0, ns += 90000, 9 + nr, TRACE_CONTEXT_HARDIRQ);
	tb_switch(tb, 0, ns, 0, 9 + nr, TRACE_TASK_RUNNING);
	for (uint32_t i = nr - 1; i > 0; i--) {
		tb_sys_exit(tb, 0, ns += STEP_NS, 0);
		tb_sys_enter(tb, 0, ns += STEP_NS, SYS_write, 1, 0x20000, 100);
		tb_waking(tb, 0, ns, 9 + i, TRACE_CONTEXT_TASK);
		tb_sys_exit(tb, 0, ns, 100);
		tb_switch(tb, 0, ns, 10 + i, 9 + i, TRACE_TASK_INTERRUPTIBLE);
	}
	tb_window(tb, BEGIN_NS, ns + STEP_NS);
	return tb;
}

static void a_long_chain_is_cut_in_a_sentence_that_is_whole(void)
{
	char *text = report_of(long_chain(9), "");

	join_lines(text);
	contains(text, "for link5 15, which waited for link6 16, which waited for others, and so on.");
	free(text);
	text = report_of(long_chain(7), "");
	join_lines(text);
	contains(text, "for link5 15, which waited for link6 16, which waited for a timer (it slept).");
	free(text);
}

#define SCRIPT "a_script_with_a_name_that_is_as_long_as_titles_are.py"

/* The same with programs that are called "python3 " SCRIPT */
static struct tb *chain_of_scripts(void)
{
	static const char args[] = "python3\x1f/srv/" SCRIPT;
	struct tb *tb = long_chain(7);

	for (uint32_t pid = 10; pid < 17; pid++) {
		struct trace_start_args start = {.tgid = pid, .bytes = sizeof(args) - 1};

		tb_start(tb, 0, TRACE_EV_start_args, &start, sizeof(start), args);
	}
	return tb;
}

/* A terminal has the end of the chain, with shorter names; a file has all. */
static void names_are_shorter_if_all_have_no_room(void)
{
	char *text = report_of(chain_of_scripts(), "");

	join_lines(text);
	contains(text, "for python3 " SCRIPT " 16, which waited for a timer (it slept).");
	free(text);
	setenv("COLUMNS", "100", 1);
	report_also = NULL; /* the tables of the view have whole names */
	text = report_of(chain_of_scripts(), "");
	report_also = view_says_the_same;
	unsetenv("COLUMNS");
	join_lines(text);
	CU_ASSERT_PTR_NULL(strstr(text, "for python3 " SCRIPT " 16,"));
	contains(text, " 16, which waited for a timer (it slept).");
	free(text);
}

/* On a narrow terminal the chain has lines of the shortest waits. */
static void a_narrow_screen_has_the_end_of_the_chain(void)
{
	char *text;

	setenv("COLUMNS", "56", 1);
	text = report_of(long_chain(7), "");
	unsetenv("COLUMNS");
	join_lines(text);
	contains(text, "for link5 15, which waited for link6 16, which waited for a timer (it slept).");
	free(text);
}

/*
 * A recording of process 10. Its threads 11 to 13 wait for postgres 20 for 60 us each, or each for
 * a process of its own that is newer than the start state, and then sleep for 10 us. The first
 * thread waits for work all the time.
 */
static struct tb *threads_for_requests(bool of_one)
{
	struct trace_sched_waker waker = {.tid = 20, .tgid = 20};
	struct tb *tb = tb_new();

	tb_string(tb, TRACE_STRING_SYSCALL, SYS_semop, "semop");
	tb_string(tb, TRACE_STRING_SYSCALL, SYS_nanosleep, "nanosleep");
	tb_string(tb, TRACE_STRING_SYSCALL, SYS_accept, "accept");
	tb_string(tb, TRACE_STRING_INFO, TRACE_INFO_LEFT_OUT, TRACE_LEFT_OUT_PROCESSES);
	tb_string(tb, TRACE_STRING_INFO, TRACE_INFO_CHOSEN, "10");
	tb_window(tb, BEGIN_NS, BEGIN_NS + 72000);
	tb_thread_in(tb, 10, 10, 1, "app.py", 0, false, SYS_accept);
	tb_thread(tb, 20, 20, 1, "postgres", 1, false);
	for (uint32_t tid = 11; tid <= 13; tid++)
		tb_thread_in(tb, tid, 10, 1, "app.py", 0, false, SYS_semop);
	for (uint32_t tid = 11; tid <= 13; tid++) {
		uint64_t ns = BEGIN_NS + 60000 + 300 * (tid - 11);

		waker.tgid = of_one ? 20 : 10 + tid;
		tb_event(tb, 0, ns, TRACE_EV_sched_waker, &waker, sizeof(waker), "postgres");
		tb_waking(tb, 0, ns, tid, TRACE_CONTEXT_TASK);
		tb_switch(tb, 0, ns, 0, tid, TRACE_TASK_RUNNING);
		tb_sys_exit(tb, 0, ns + 100, 0);
		tb_sys_enter(tb, 0, ns + 200, SYS_nanosleep, 0, 0);
		tb_switch(tb, 0, ns + 300, tid, 0, TRACE_TASK_INTERRUPTIBLE);
	}
	for (uint32_t tid = 11; tid <= 13; tid++) {
		uint64_t ns = BEGIN_NS + 71000 + 300 * (tid - 11);

		tb_waking(tb, 0, ns, tid, TRACE_CONTEXT_HARDIRQ);
		tb_switch(tb, 0, ns, 0, tid, TRACE_TASK_RUNNING);
		tb_sys_exit(tb, 0, ns + 100, 0);
		tb_switch(tb, 0, ns + 300, tid, 0, TRACE_TASK_INTERRUPTIBLE);
	}
	return tb;
}

/*
 * A recording of process 10, which waits for postgres 20 for 60 us. Nothing tells for which process
 * it waits from then on, until the end.
 */
static void a_wait_that_nothing_ended_is_told_apart(void)
{
	struct trace_sched_waker waker = {.tid = 20, .tgid = 20};
	struct tb *tb = tb_new();
	char *text;

	setenv("COLUMNS", "120", 1);
	tb_string(tb, TRACE_STRING_SYSCALL, SYS_semop, "semop");
	tb_string(tb, TRACE_STRING_INFO, TRACE_INFO_LEFT_OUT, TRACE_LEFT_OUT_PROCESSES);
	tb_string(tb, TRACE_STRING_INFO, TRACE_INFO_CHOSEN, "10");
	tb_window(tb, BEGIN_NS, BEGIN_NS + 100000);
	tb_thread_in(tb, 10, 10, 1, "app.py", 0, false, SYS_semop);
	tb_thread(tb, 20, 20, 1, "postgres", 1, false);
	tb_event(tb, 0, BEGIN_NS + 60000, TRACE_EV_sched_waker, &waker, sizeof(waker), "postgres");
	tb_waking(tb, 0, BEGIN_NS + 60000, 10, TRACE_CONTEXT_TASK);
	tb_switch(tb, 0, BEGIN_NS + 60000, 0, 10, TRACE_TASK_RUNNING);
	tb_sys_exit(tb, 0, BEGIN_NS + 61000, 0);
	tb_sys_enter(tb, 0, BEGIN_NS + 79000, SYS_semop, 1, 0);
	tb_switch(tb, 0, BEGIN_NS + 80000, 10, 0, TRACE_TASK_INTERRUPTIBLE);
	text = report_of(tb, "");
	join_lines(text);
	contains(text, "app.py 10 waited 80 % of its 100.00 us mostly for postgres 20 via semaphore "
		       "(60 %; 20 % for unknown processes);");
	free(text);
}

static void a_server_with_a_thread_for_each_request_is_one_answer(void)
{
	char *text;

	setenv("COLUMNS", "120", 1);
	text = report_of(threads_for_requests(true), "");
	join_lines(text);
	contains(text,
		 "3 threads of app.py 10 waited 84 % of their 216.00 us for postgres 20 via semaphore; they waited ");
	contains(text, "of 3 threads of app.py 10 went, themselves or what they waited for:");
	contains(text, "these threads  process 20 postgres via semaphore in semop");
	free(text);
	text = report_of(threads_for_requests(true), "--tid=12");
	join_lines(text);
	contains(text, "app.py 10 thread 12 waited 84 % of its 72.00 us for postgres 20 via semaphore");
	free(text);
	text = report_of(threads_for_requests(false), "");
	join_lines(text);
	contains(text, "waited 84 % of their 216.00 us for postgres processes via semaphore; they waited ");
	contains(text, "these threads  processes postgres via semaphore in semop");
	free(text);
	unsetenv("COLUMNS");
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		CASE(a_process_with_nearly_all_of_the_time_is_named),
		CASE(a_process_with_most_of_the_time_is_named_before_the_others),
		CASE(processes_of_which_none_has_most_have_their_name),
		CASE(the_limit_is_ninety_percent),
		CASE(the_time_of_a_process_has_that_of_the_links_below_it),
		CASE(the_waits_name_the_process_that_waited_most),
		CASE(a_cpu_was_taken_by_the_process_that_had_it_most),
		CASE(a_wait_that_nothing_ended_is_told_apart),
		CASE(a_server_with_a_thread_for_each_request_is_one_answer),
		CASE(a_long_chain_is_cut_in_a_sentence_that_is_whole),
		CASE(names_are_shorter_if_all_have_no_room),
		CASE(a_narrow_screen_has_the_end_of_the_chain),
		{NULL, NULL},
	};

	report_also = view_says_the_same;
	return report_main("report_chain", cases, argc, argv);
}
