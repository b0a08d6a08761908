/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test_report_words.c - the names in a report, and the sentences about them */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "builder.h"
#include "report_case.h"
#include "unit.h"
#include "visualizer.h"

/* ---- names ---- */

/* They existed before the recording, and are hidden from the recorder. */
static void processes_without_a_name_are_shown_with_their_numbers(void)
{
	char path[] = "/tmp/test_report_words_XXXXXX", arguments[64], *text;

	make_story_of(path, "", "");
	snprintf(arguments, sizeof(arguments), "-a --ns %s", path);
	CU_ASSERT_EQUAL(visualizer_run(arguments, &text), 0);
	contains(text, "The busiest process was process 30 with ");
	contains(text, "those of process 30 the longest");
	contains(text, "\tProcess (10, 1): (no name):\n");
	contains(text, "process 30\n");
	contains(text, "process 30 via pipe\n");
	contains(text, "  (no name)  ");
	CU_ASSERT_PTR_NULL(strstr(text, "  (30)"));
	CU_ASSERT_PTR_NULL(strstr(text, " (10)"));
	CU_ASSERT_PTR_NULL(strstr(text, "process 30 \n"));
	free(text);
	snprintf(arguments, sizeof(arguments), "--critical-path=10 --ns %s", path);
	CU_ASSERT_EQUAL(visualizer_run(arguments, &text), 0);
	contains(text, "process 10 waited 53.3 % of its 60000 for process 30 (CPU)");
	contains(text, "  process 30: CPU\n");
	contains(text, "  thread 31: system calls\n");
	contains(text, "  process 30 via pipe\n");
	CU_ASSERT_PTR_NULL(strstr(text, "(no name) 3"));
	CU_ASSERT_PTR_NULL(strstr(text, " : "));
	free(text);
	snprintf(arguments, sizeof(arguments), "-a --ns --pid=10 %s", path);
	CU_ASSERT_EQUAL(visualizer_run(arguments, &text), 0);
	contains(text, "process 10 waited ");
	contains(text, "for process 30 via pipe");
	free(text);
	unlink(path);
}

/* The traced programs choose the names, and files may be damaged or hostile. */
static void no_name_ends_with_half_a_character(void)
{
	struct tb *tb = tb_new();
	char *text;

	tb_string(tb, TRACE_STRING_NOT_TRACED, 0, "probe of /tmp/\x1b[2J\xf0");
	tb_string(tb, TRACE_STRING_SYSCALL, SYS_getpid, "getpid\xf0");
	tb_thread(tb, 10, 10, 1, "one", 0, true);
	tb_sys_enter(tb, 0, 2000, SYS_getpid);
	tb_sys_exit(tb, 0, 3000, 10);
	tb_switch(tb, 0, 9000, 10, 0, TRACE_TASK_INTERRUPTIBLE);
	text = report_of(tb, "-a");
	contains(text, "\nNot traced: probe of /tmp/\\x1b[2J\\xf0\n");
	contains(text, "  getpid\\xf0\n");
	free(text);
	CU_ASSERT_EQUAL(run_on_trace("-a --comm=n\xf0", &text), 1);
	contains(text, "no process of this trace is called n\\xf0; without ");
	free(text);
}

/* The kernel keeps 15 bytes of a program's name. The whole name on the command line means that
 * program. */
static void a_name_may_be_longer_than_the_kernel_keeps_it(void)
{
	static const struct {
		const char *comm, *options, *begins;
		bool refused;
	} cases[] = {
		{"fifteen-letters", "-a --comm=fifteen-letters-and-more", "fifteen-letters (10) waited ", false},
		{"fifteen-letters", "--critical-path=fifteen-letters-and-more", "fifteen-letters waited ", false},
		{"fifteen-letter", "-a --comm=fifteen-letters-and-more",
		 "tracevisualizer: no process of this trace is called fifteen-letters-and-more;", true},
		{"fifteen-letters", "-a --comm=fifteen-letter",
		 "tracevisualizer: no process of this trace is called fifteen-letter; did you mean fifteen-letters? "
		 "Without --pid, ",
		 true},
		{"postgres", "--critical-path=postrges",
		 "tracevisualizer: no thread postrges in this window; did you mean postgres? tracevisualizer -a ",
		 true},
		{"postgres", "--critical-path=absent",
		 "tracevisualizer: no thread absent in this window; tracevisualizer -a ", true},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct tb *tb = tb_new();
		char *text;

		tb_window(tb, 1000, 41000);
		tb_thread(tb, 10, 10, 1, cases[i].comm, 0, true);
		tb_switch(tb, 0, 3000, 10, 0, TRACE_TASK_INTERRUPTIBLE);
		text = (cases[i].refused ? refusal_of : report_of)(tb, cases[i].options);
		CU_ASSERT_PTR_EQUAL(strstr(text, cases[i].begins), answer_of(text));
		free(text);
	}
}

static void a_process_may_be_called_idle_cpu(void)
{
	struct tb *tb = tb_new();
	char *text;

	tb_window(tb, 1000, 41000);
	tb_thread(tb, 10, 10, 1, "ten", 0, true);
	tb_thread(tb, 50, 50, 1, "idle CPU", 0, false);
	tb_switch(tb, 0, 3000, 10, 50, TRACE_TASK_RUNNING);
	tb_switch(tb, 0, 33000, 50, 10, TRACE_TASK_RUNNING);
	text = report_of(tb, "--critical-path=10");
	join_lines(text);
	contains(text, " The CPU that it waited for was mostly taken by idle CPU 50: 30.00 us.");
	free(text);
}

/* The kernel's "TCP" is no path. A thread that waited for an idle CPU waited for it to wake up. The
 * cause of a wait without a recorded end is unknown. */
static void strange_rows_have_words(void)
{
	struct tb *tb = tb_new();
	char *text;

	tb_window(tb, 1000, 41000);
	tb_string(tb, TRACE_STRING_SYSCALL, SYS_read, "read");
	tb_string(tb, TRACE_STRING_SYSCALL, SYS_futex, "futex");
	tb_thread(tb, 40, 40, 1, "one", 0, true);
	tb_fd(tb, 40, 3, 8, 500, S_IFSOCK | 0777, "TCP");
	tb_sys_enter(tb, 0, 2000, SYS_read, 3, 0, 100);
	tb_sys_exit(tb, 0, 3000, 100);
	tb_sys_enter(tb, 0, 4000, SYS_futex, 0x1000, 0, 0);
	tb_switch(tb, 0, 5000, 40, 0, TRACE_TASK_INTERRUPTIBLE);
	tb_waking(tb, 0, 11000, 40, TRACE_CONTEXT_TASK);
	tb_switch(tb, 0, 31000, 0, 40, TRACE_TASK_RUNNING);
	tb_sys_exit(tb, 0, 32000, 0);
	text = report_of(tb, "-a --ns --pid=40");
	contains(text, "for the system call futex; it waited 50 % for a CPU, mostly\nwhile an idle CPU woke up, "
		       "and used");
	contains(text, "20000  50.00  (idle CPU waking up)\n");
	contains(text, "6000  15.00      1  system call futex\n");
	contains(text, "(sockets, TCP)\n");
	free(text);
}

/* The last kinds in the table, and the kinds after them. */
static void waits_of_each_kind_have_words(void)
{
	struct trace_start_thread hidden = {
		.tid = 50, .tgid = 50, .nr = -1, .flags = TRACE_THREAD_HIDDEN, .state = TRACE_TASK_INTERRUPTIBLE};
	struct tb *tb = tb_new();
	char *text;

	tb_thread(tb, 40, 40, 1, "limited", 0, true);
	tb_start(tb, 1000, TRACE_EV_start_thread, &hidden, sizeof(hidden), "hidden");
	tb_add(tb, 0, 1001000, sched_quota, NULL, .tid = 40);
	tb_switch(tb, 0, 1001000, 40, 0, TRACE_TASK_RUNNING);
	tb_add(tb, 0, 9001000, sched_quota, NULL, .tid = 40, .over = 1, .ns = 8000000);
	tb_switch(tb, 0, 9001000, 0, 40, TRACE_TASK_RUNNING);
	text = report_of(tb, "-a --all");
	contains(text, "1  the CPU quota of their control groups\n");
	contains(text, "unknown (threads hidden from the recorder)\n");
	contains(text, "  quota\n");
	free(text);
}

static void the_wait_cause_of_a_hidden_thread_is_unknown(void)
{
	struct trace_start_thread hidden = {
		.tid = 50, .tgid = 50, .nr = -1, .flags = TRACE_THREAD_HIDDEN, .state = TRACE_TASK_INTERRUPTIBLE};
	struct tb *tb = tb_new();
	char *text;

	tb_window(tb, 1000, 9001000);
	tb_thread(tb, 40, 40, 1, "other", 0, true);
	tb_start(tb, 1000, TRACE_EV_start_thread, &hidden, sizeof(hidden), "hidden");
	tb_switch(tb, 0, 1001000, 40, 0, TRACE_TASK_INTERRUPTIBLE);
	text = report_of(tb, "-a --pid=50");
	join_lines(text);
	contains(text, " for something unknown, hidden");
	free(text);
}

static void an_empty_trace_and_an_unused_name_are_reported(void)
{
	char arguments[256], *text;
	struct tb *tb = tb_new();

	tb_window(tb, 1000000, 1100000);
	text = report_of(tb, "-a");
	CU_ASSERT_PTR_EQUAL(strstr(text, "In 100.00 us no activity of the CPUs was recorded.\n"), answer_of(text));
	CU_ASSERT_PTR_NULL(strstr(text, "0 CPUs"));
	CU_ASSERT_PTR_NULL(strstr(text, "What threads waited for"));
	free(text);
	tb = tb_new();
	tb_window(tb, 1000000, 1000000);
	text = report_of(tb, "-a");
	CU_ASSERT_PTR_EQUAL(strstr(text, "No time passes in this trace.\n"), answer_of(text));
	free(text);
	CU_ASSERT_EQUAL(run_on_trace("-a --comm=absent", &text), 1);
	CU_ASSERT_STRING_EQUAL(text,
			       "tracevisualizer: no process of this trace is called absent; without --pid, --tid, "
			       "--comm and --cgroup all are listed\n");
	free(text);
	CU_ASSERT_EQUAL(run_on_trace("-a --pid=4711", &text), 1);
	CU_ASSERT_STRING_EQUAL(text,
			       "tracevisualizer: no process of this trace is number 4711; without --pid, --tid, --comm "
			       "and --cgroup all are listed\n");
	free(text);
	snprintf(arguments, sizeof(arguments), "-a --pid=31 %s", story_path);
	CU_ASSERT_EQUAL(visualizer_run(arguments, &text), 1);
	CU_ASSERT_STRING_EQUAL(text, "tracevisualizer: no process of this trace is number 31, which is a thread of "
				     "process 30; without --pid, --tid, --comm and --cgroup all are listed\n");
	free(text);
}

static void a_table_of_one_row_keeps_it_however_small(void)
{
	struct tb *tb = tb_new();
	char *text;

	tb_window(tb, 1000, 1000001000);
	tb_string(tb, TRACE_STRING_SYSCALL, SYS_read, "read");
	tb_thread(tb, 10, 10, 1, "one", 0, true);
	tb_fd(tb, 10, 3, 8, 500, S_IFREG | 0644, "/data");
	tb_sys_enter(tb, 0, 2000, SYS_read, 3, 0, 1);
	tb_switch(tb, 0, 3000, 10, 0, TRACE_TASK_UNINTERRUPTIBLE);
	tb_waking(tb, 0, 4000, 10, TRACE_CONTEXT_HARDIRQ);
	tb_switch(tb, 0, 4000, 0, 10, TRACE_TASK_RUNNING);
	tb_sys_exit(tb, 0, 5000, 0);
	tb_sys_enter(tb, 0, 6000, SYS_getpid);
	text = report_of(tb, "-a --ns --pid=10");
	contains(text, "  /data\n");
	free(text);
}

/* ---- the share of the time ---- */

static void a_process_without_cpu_time_is_said_to_have_used_none(void)
{
	struct tb *tb = tb_new();
	char *text;

	tb_thread(tb, 10, 10, 1, "one", 0, true);
	tb_thread(tb, 11, 11, 1, "two", 0, false);
	tb_sys_enter(tb, 0, 1000, SYS_getpid);
	tb_sys_exit(tb, 0, 5000, 10);
	text = report_of(tb, "-a");
	contains(text, "(1 more, 0 of them kernel threads, used no CPU; --all shows them)");
	free(text);
}

static void using_all_of_the_time_is_not_called_most(void)
{
	struct tb *tb = tb_new();
	char *text;

	tb_thread(tb, 10, 10, 1, "one", 0, true);
	tb_thread(tb, 11, 11, 1, "one", 0, false);
	tb_switch(tb, 0, 5000, 10, 11, TRACE_TASK_INTERRUPTIBLE);
	tb_switch(tb, 0, 9000, 11, 0, TRACE_TASK_INTERRUPTIBLE);
	text = report_of(tb, "-a --comm=one");
	join_lines(text);
	contains(text, " CPUs on average, all by one (2 processes); they waited ");
	free(text);
}

static void waiting_for_a_cpu_only_is_not_called_waiting_for_something(void)
{
	struct tb *tb = tb_new();
	char *text;

	tb_window(tb, 1000, 41000);
	tb_thread(tb, 10, 10, 1, "one", 0, true);
	tb_thread(tb, 20, 20, 1, "two", 0, false);
	tb_switch(tb, 0, 11000, 10, 20, TRACE_TASK_RUNNING);
	tb_switch(tb, 0, 21000, 20, 10, TRACE_TASK_RUNNING);
	text = report_of(tb, "-a --pid=10");
	join_lines(text);
	contains(text, "one (10) waited 25 % of its 40.00 us for a CPU, taken mostly by two (20), and used 75 % CPU (");
	free(text);
	text = report_of(make_named(true), "-a --pid=40");
	contains(text, "make (40) waited 0 % of its 100.00 us for a CPU, and used 100 % CPU (");
	free(text);
}

/* 10 sleeps for 30 us, waits 20 us in each of two calls, and then waits for its CPU, which three
 * others have for 10 us each. */
static struct tb *make_thirds(void)
{
	struct tb *tb = tb_new();

	tb_window(tb, 1000000, 1110000);
	tb_string(tb, TRACE_STRING_SYSCALL, SYS_nanosleep, "nanosleep");
	tb_string(tb, TRACE_STRING_SYSCALL, SYS_futex, "futex");
	tb_string(tb, TRACE_STRING_SYSCALL, SYS_msgrcv, "msgrcv");
	tb_thread(tb, 10, 10, 1, "one", 0, true);
	tb_thread(tb, 20, 20, 1, "twenty", 0, false);
	tb_thread(tb, 21, 21, 1, "another", 0, false);
	tb_thread(tb, 22, 22, 1, "third", 0, false);
	tb_sys_enter(tb, 0, 1010000, SYS_nanosleep, 0, 0);
	tb_switch(tb, 0, 1010000, 10, 0, TRACE_TASK_INTERRUPTIBLE);
	tb_event(tb, 0, 1040000, TRACE_EV_hrtimer_expire, &(struct trace_hrtimer_expire){0},
		 sizeof(struct trace_hrtimer_expire), NULL);
	tb_waking(tb, 0, 1040000, 10, TRACE_CONTEXT_HARDIRQ);
	tb_switch(tb, 0, 1040000, 0, 10, TRACE_TASK_RUNNING);
	tb_sys_exit(tb, 0, 1040000, 0);
	tb_sys_enter(tb, 0, 1040000, SYS_futex, 0x1000, 0, 0);
	tb_switch(tb, 0, 1040000, 10, 0, TRACE_TASK_INTERRUPTIBLE);
	tb_waking(tb, 0, 1060000, 10, TRACE_CONTEXT_TASK);
	tb_switch(tb, 0, 1060000, 0, 10, TRACE_TASK_RUNNING);
	tb_sys_exit(tb, 0, 1060000, 0);
	tb_sys_enter(tb, 0, 1060000, SYS_msgrcv, 1, 0, 0);
	tb_switch(tb, 0, 1060000, 10, 0, TRACE_TASK_INTERRUPTIBLE);
	tb_switch(tb, 0, 1080000, 0, 20, TRACE_TASK_RUNNING);
	tb_waking(tb, 0, 1080000, 10, TRACE_CONTEXT_TASK);
	tb_switch(tb, 0, 1090000, 20, 21, TRACE_TASK_RUNNING);
	tb_switch(tb, 0, 1100000, 21, 22, TRACE_TASK_RUNNING);
	tb_switch(tb, 0, 1110000, 22, 10, TRACE_TASK_RUNNING);
	return tb;
}

static void less_than_half_is_not_called_most(void)
{
	char *text = report_of(make_thirds(), "-a --pid=10");

	join_lines(text);
	contains(text, "one (10) waited 64 % of its 110.00 us: 27 % for a timer, 18 % for ");
	contains(text, "; it waited 27 % for a CPU, 33 % of that taken by ");
	free(text);
	text = report_of(make_thirds(), "--critical-path=10 --from=0.00008");
	join_lines(text);
	contains(text, "The CPU that it waited for was taken the longest by ");
	free(text);
}

static void other_call(struct tb *tb, uint64_t at_ns, uint64_t call)
{
	tb_sys_enter(tb, 0, at_ns, call, 0x1000, 0, 0);
	tb_switch(tb, 0, at_ns, 40, 0, TRACE_TASK_INTERRUPTIBLE);
	tb_waking(tb, 0, at_ns + 3000, 40, TRACE_CONTEXT_TASK);
	tb_switch(tb, 0, at_ns + 3000, 0, 40, TRACE_TASK_RUNNING);
	tb_sys_exit(tb, 0, at_ns + 3000, 0);
}

/* 4 us of quota, and 3 us for each of two calls: a reader must not think that most of it was quota.
 * None of three kinds may be called half. */
static void the_longest_wait_is_not_called_most_of_them(void)
{
	struct tb *tb = tb_new();
	char *text;

	tb_window(tb, 1000, 21000);
	tb_string(tb, TRACE_STRING_SYSCALL, SYS_msgrcv, "msgrcv");
	tb_string(tb, TRACE_STRING_SYSCALL, SYS_futex, "futex");
	tb_thread(tb, 40, 40, 1, "limited", 0, true);
	tb_add(tb, 0, 2000, sched_quota, NULL, .tid = 40);
	tb_switch(tb, 0, 2000, 40, 0, TRACE_TASK_RUNNING);
	tb_add(tb, 0, 6000, sched_quota, NULL, .tid = 40, .over = 1, .ns = 4000);
	tb_switch(tb, 0, 6000, 0, 40, TRACE_TASK_RUNNING);
	other_call(tb, 7000, SYS_futex);
	other_call(tb, 11000, SYS_msgrcv);
	text = report_of(tb, "-a");
	contains(text, "  limited  system calls\n");
	free(text);
	text = report_of(make_thirds(), "-a --pid=10");
	contains(text, "  one      43 %: timeout\n");
	free(text);
}

/* Its thread 10 waits for its thread 11, by a futex, and then 11 for a process of the same name. */
static void own_threads_are_no_processes_of_the_same_name(void)
{
	struct tb *tb = tb_new();
	char *text;

	tb_string(tb, TRACE_STRING_SYSCALL, SYS_futex, "futex");
	tb_thread(tb, 10, 10, 1, "one", 0, true);
	tb_thread(tb, 11, 10, 1, "one", 1, true);
	tb_thread(tb, 20, 20, 1, "one", 2, true);
	tb_sys_enter(tb, 0, 1000, SYS_futex, 0x7f00, 128, 2);
	tb_switch(tb, 0, 2000, 10, 0, TRACE_TASK_INTERRUPTIBLE);
	tb_sys_enter(tb, 1, 52000, SYS_futex, 0x7f00, 129, 1);
	tb_waking(tb, 1, 52100, 10, TRACE_CONTEXT_TASK);
	tb_sys_exit(tb, 1, 52200, 1);
	tb_switch(tb, 0, 52300, 0, 10, TRACE_TASK_RUNNING);
	tb_sys_exit(tb, 0, 52400, 0);
	tb_sys_enter(tb, 1, 53000, SYS_futex, 0x7e00, 0, 2);
	tb_switch(tb, 1, 54000, 11, 0, TRACE_TASK_INTERRUPTIBLE);
	tb_sys_enter(tb, 2, 64000, SYS_futex, 0x7e00, 1, 1);
	tb_waking(tb, 2, 64100, 11, TRACE_CONTEXT_TASK);
	tb_sys_exit(tb, 2, 64200, 1);
	tb_switch(tb, 1, 64300, 0, 11, TRACE_TASK_RUNNING);
	tb_sys_exit(tb, 1, 64400, 0);
	text = report_of(tb, "-a --pid=10");
	join_lines(text);
	contains(text, " for its thread one (11) via futex, ");
	contains(text, " for process 20 one via futex; ");
	CU_ASSERT_PTR_NULL(strstr(text, "processes named one"));
	free(text);
}

/* One process waits for a hundred files; another of the same name waits once, and longer than for
 * each of them. That wait is the longest, although a hundred others come first. */
static void the_answer_adds_up_all_waits(void)
{
	struct tb *tb = tb_new();
	uint64_t ns = 2000;
	char path[32], *text;

	tb_window(tb, 1000, 10000000);
	tb_string(tb, TRACE_STRING_SYSCALL, SYS_read, "read");
	tb_string(tb, TRACE_STRING_SYSCALL, SYS_nanosleep, "nanosleep");
	tb_thread(tb, 10, 10, 1, "many", 0, true);
	tb_thread(tb, 20, 20, 1, "many", 1, true);
	for (int fd = 3; fd < 103; fd++, ns += 1000) {
		snprintf(path, sizeof(path), "/data/%d", fd);
		tb_fd(tb, 10, fd, 8, 500 + (uint64_t)fd, S_IFREG | 0644, path);
		tb_sys_enter(tb, 0, ns, SYS_read, (uint64_t)fd, 0x1000, 10);
		tb_switch(tb, 0, ns + 100, 10, 0, TRACE_TASK_UNINTERRUPTIBLE);
		tb_waking(tb, 0, ns + 500, 10, TRACE_CONTEXT_HARDIRQ);
		tb_switch(tb, 0, ns + 600, 0, 10, TRACE_TASK_RUNNING);
		tb_sys_exit(tb, 0, ns + 700, 10);
	}
	tb_sys_enter(tb, 1, 2000, SYS_nanosleep, 0x1000, 0);
	tb_switch(tb, 1, 3000, 20, 0, TRACE_TASK_INTERRUPTIBLE);
	tb_waking(tb, 1, 9003000, 20, TRACE_CONTEXT_HARDIRQ);
	tb_switch(tb, 1, 9004000, 0, 20, TRACE_TASK_RUNNING);
	tb_sys_exit(tb, 1, 9005000, 0);
	text = report_of(tb, "-a --ns --comm=many");
	join_lines(text);
	contains(text, ", and 9040000 ns for a timer. ");
	free(text);
}

static void a_common_wait_target_is_reported_once(void)
{
	struct tb *tb = tb_new();
	char *text;

	tb_window(tb, 1000, 41000);
	tb_string(tb, TRACE_STRING_SYSCALL, SYS_nanosleep, "nanosleep");
	tb_thread(tb, 10, 10, 1, "one", 0, true);
	tb_thread(tb, 20, 20, 1, "one", 1, true);
	for (uint32_t i = 0; i < 2; i++) {
		tb_sys_enter(tb, i, 2000, SYS_nanosleep, 0x1000, 0);
		tb_switch(tb, i, 2000, 10 + 10 * i, 0, TRACE_TASK_INTERRUPTIBLE);
		tb_event(tb, i, 12000, TRACE_EV_hrtimer_expire, &(struct trace_hrtimer_expire){0},
			 sizeof(struct trace_hrtimer_expire), NULL);
		tb_waking(tb, i, 12000, 10 + 10 * i, TRACE_CONTEXT_HARDIRQ);
		tb_switch(tb, i, 12000, 0, 10 + 10 * i, TRACE_TASK_RUNNING);
		tb_sys_exit(tb, i, 12000, 0);
	}
	text = report_of(tb, "-a --ns --comm=one");
	join_lines(text);
	contains(text, "; they waited 0 ns for a CPU, and 20000 ns for a timer. ");
	free(text);
}

/* A file's name may contain any character: it makes no second line, and no control character
 * reaches the terminal. */
static void a_message_quotes_names_in_one_line(void)
{
	char *text;

	CU_ASSERT_EQUAL(visualizer_run("\"$(printf 'no\\nsuch\\033[2J')\"", &text), 1);
	contains(text, "tracevisualizer: no\\x0asuch\\x1b[2J: cannot open the trace: No such file or directory");
	free(text);
}

/* The way out: the trace that was meant, the newest ones, or a command. */
static void a_missing_trace_has_a_way_out(void)
{
	static const char missing[] = ": cannot open the trace: No such file or directory; ";
	char folder[] = "/tmp/nearby.XXXXXX", command[300], expected[600], *text;

	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(folder));
	snprintf(command, sizeof(command), "%s/shop", folder);
	CU_ASSERT_EQUAL(visualizer_run(command, &text), 1);
	snprintf(expected, sizeof(expected), "%s%s\"tracedaemon t.trace -- COMMAND\" records a trace\n", command,
		 missing);
	contains(text, expected);
	free(text);
	snprintf(command, sizeof(command),
		 "cd %s && printf '\\211TRACE\\r\\n' | tee shop.trace >old.trace && touch -d yesterday old.trace && "
		 "echo a text, not a trace >shqx.trac && mkdir shqx.trac3",
		 folder);
	CU_ASSERT_EQUAL(system(command), 0);
	snprintf(command, sizeof(command), "%s/shqx.trace", folder); /* beside a text and a folder of such names */
	CU_ASSERT_EQUAL(visualizer_run(command, &text), 1);
	snprintf(expected, sizeof(expected), "%s%sdid you mean %s/shop.trace?\n", command, missing, folder);
	contains(text, expected);
	free(text);
	snprintf(command, sizeof(command), "%s/old", folder);
	CU_ASSERT_EQUAL(visualizer_run(command, &text), 1);
	snprintf(expected, sizeof(expected), "%s%sdid you mean %s/old.trace?\n", command, missing, folder);
	contains(text, expected);
	free(text);
	snprintf(command, sizeof(command), "-a %s/nofile", folder);
	CU_ASSERT_EQUAL(visualizer_run(command, &text), 1);
	snprintf(expected, sizeof(expected), "%sthe folder has the traces %s/shop.trace, %s/old.trace\n", missing,
		 folder, folder);
	contains(text, expected);
	free(text);
	snprintf(command, sizeof(command), "%s/no/nofile", folder);
	CU_ASSERT_EQUAL(visualizer_run(command, &text), 1);
	snprintf(expected, sizeof(expected), "%sthere is no folder %s/no\n", missing, folder);
	contains(text, expected);
	free(text);
	snprintf(command, sizeof(command), "rm -r %s", folder);
	CU_ASSERT_EQUAL(system(command), 0);
}

/* "one" waits 40 us for the CPU. "twenty" has it for 2 us and "fifty" for 38 us, in either
 * order. */
static void the_thread_longest_on_the_cpu_is_named(void)
{
	static const uint32_t holders[] = {20, 50};
	char *text;

	for (size_t i = 0; i < 2; i++) {
		struct tb *tb = tb_new();

		tb_window(tb, 1000, 101000);
		tb_thread(tb, 10, 10, 1, "one", 0, true);
		tb_thread(tb, 20, 20, 1, "twenty", 0, false);
		tb_thread(tb, 50, 50, 1, "fifty", 0, false);
		tb_switch(tb, 0, 11000, 10, holders[i], TRACE_TASK_RUNNING);
		tb_switch(tb, 0, i ? 49000 : 13000, holders[i], holders[!i], TRACE_TASK_INTERRUPTIBLE);
		tb_switch(tb, 0, 51000, holders[!i], 10, TRACE_TASK_INTERRUPTIBLE);
		text = report_of(tb, "-a --pid=10");
		join_lines(text);
		contains(text, "waited 40 % of its 100.00 us for a CPU, taken mostly by fifty (50), ");
		free(text);
	}
}

static void a_thread_with_less_than_a_tenth_is_not_named(void)
{
	struct tb *tb = tb_new();
	char *text;

	tb_window(tb, 1000, 121000);
	tb_thread(tb, 10, 10, 1, "one", 0, true);
	for (uint32_t i = 0; i < 11; i++) {
		char name[16];

		snprintf(name, sizeof(name), "eleventh-%u", i); /* those of one name would be one sum */
		tb_thread(tb, 20 + i, 20 + i, 1, name, 0, false);
		tb_switch(tb, 0, 11000 + 1000 * i, i ? 19 + i : 10, 20 + i,
			  i ? TRACE_TASK_INTERRUPTIBLE : TRACE_TASK_RUNNING);
	}
	tb_switch(tb, 0, 22000, 30, 10, TRACE_TASK_INTERRUPTIBLE);
	text = report_of(tb, "-a --pid=10");
	join_lines(text);
	contains(text, "waited 9.2 % of its 120.00 us for a CPU, and used ");
	free(text);
}

/* Thread @tid, on a CPU of its own, waits from @ns + 1 us for @for_ns; thread @by, on another CPU,
 * wakes it. */
static void futex_wait(struct tb *tb, uint64_t ns, uint32_t cpu, uint32_t tid, uint64_t for_ns, uint32_t by)
{
	tb_sys_enter(tb, cpu, ns, SYS_futex, 0x7e00, 0, 2);
	tb_switch(tb, cpu, ns + 1000, tid, 0, TRACE_TASK_INTERRUPTIBLE);
	tb_sys_enter(tb, by, ns + 1000 + for_ns - 100, SYS_futex, 0x7e00, 1, 1);
	tb_waking(tb, by, ns + 1000 + for_ns, tid, TRACE_CONTEXT_TASK);
	tb_sys_exit(tb, by, ns + 1000 + for_ns + 100, 1);
	tb_switch(tb, cpu, ns + 1000 + for_ns + 100, 0, tid, TRACE_TASK_RUNNING);
	tb_sys_exit(tb, cpu, ns + 1000 + for_ns + 200, 0);
}

/* One of the two selected processes waits for the other, which is not worth a line. Each waits for
 * one of two other processes of one name. */
static void a_common_wait_target_is_none_of_the_waiters(void)
{
	static const char *const names[] = {"pair", "pair", "peer", "peer"};
	struct tb *tb = tb_new();
	char *text;

	tb_window(tb, 1000, 40000);
	tb_string(tb, TRACE_STRING_SYSCALL, SYS_futex, "futex");
	for (uint32_t i = 0; i < 4; i++)
		tb_thread(tb, 10 + i, 10 + i, 1, names[i], i, true);
	futex_wait(tb, 1000, 0, 10, 10000, 2);
	futex_wait(tb, 1000, 1, 11, 20000, 3);
	futex_wait(tb, 24000, 0, 10, 5000, 1);
	text = report_of(tb, "-a --comm=pair");
	join_lines(text);
	contains(text, ", and 30.00 us for processes named peer via futex.");
	free(text);
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		CASE(a_message_quotes_names_in_one_line),
		CASE(a_missing_trace_has_a_way_out),
		CASE(the_answer_adds_up_all_waits),
		CASE(a_common_wait_target_is_reported_once),
		CASE(processes_without_a_name_are_shown_with_their_numbers),
		CASE(a_process_without_cpu_time_is_said_to_have_used_none),
		CASE(strange_rows_have_words),
		CASE(less_than_half_is_not_called_most),
		CASE(the_longest_wait_is_not_called_most_of_them),
		CASE(own_threads_are_no_processes_of_the_same_name),
		CASE(waiting_for_a_cpu_only_is_not_called_waiting_for_something),
		CASE(using_all_of_the_time_is_not_called_most),
		CASE(no_name_ends_with_half_a_character),
		CASE(an_empty_trace_and_an_unused_name_are_reported),
		CASE(a_table_of_one_row_keeps_it_however_small),
		CASE(waits_of_each_kind_have_words),
		CASE(the_wait_cause_of_a_hidden_thread_is_unknown),
		CASE(a_name_may_be_longer_than_the_kernel_keeps_it),
		CASE(a_process_may_be_called_idle_cpu),
		CASE(a_common_wait_target_is_none_of_the_waiters),
		CASE(the_thread_longest_on_the_cpu_is_named),
		CASE(a_thread_with_less_than_a_tenth_is_not_named),
		{NULL, NULL},
	};

	return report_main("report_words", cases, argc, argv);
}
