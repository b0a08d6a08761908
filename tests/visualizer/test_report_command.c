/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test_report_command.c - the recorded command in a report: its begin, descendants and path */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "builder.h"
#include "report_case.h"
#include "unit.h"
#include "visualizer.h"

static void the_answer_is_about_the_command_and_its_descendants(void)
{
	struct tb *tb = tb_new();
	char *text;

	tb_window(tb, 1000000, 1100000);
	tb_string(tb, TRACE_STRING_INFO, TRACE_INFO_COMMAND, "/usr/bin/make -j2");
	tb_string(tb, TRACE_STRING_SYSCALL, SYS_wait4, "wait4");
	tb_thread(tb, 39, 39, 1, "tracedaemon", 0, false);
	tb_thread(tb, 40, 40, 39, "tracedaemon", 0, true);
	tb_comm(tb, 0, 1001000, 40, "make");
	tb_exec(tb, 0, 1001000, 40, "/usr/bin/make");
	tb_fork(tb, 0, 1005000, 40, 41, 41, "cc1");
	tb_sys_enter(tb, 0, 1010000, SYS_wait4, 41, 0, 0);
	tb_switch(tb, 0, 1020000, 40, 41, TRACE_TASK_INTERRUPTIBLE);
	tb_exit(tb, 0, 1090000, 41, 41, true);
	tb_waking(tb, 0, 1090000, 40, TRACE_CONTEXT_TASK);
	tb_switch(tb, 0, 1090000, 41, 40, TRACE_TASK_DEAD);
	tb_sys_exit(tb, 0, 1095000, 41);
	tb_exit(tb, 0, 1100000, 40, 40, true);
	text = report_of(tb, "-a");
	contains(text,
		 "The command ran for 100.00 us: make (40) waited 70 % of its 100.00 us for process 41 cc1 via\n"
		 "waitpid; it waited 0 % for a CPU, and used 30 % CPU (15.00 us in its own code, 15.00 us in the\n"
		 "kernel). It and the 1 process that it started used 100.00 us of CPU, 1.00 CPUs on average, most by\n"
		 "cc1 (41) with 70.00 us; they waited 15.00 us for a CPU.\n\nIn 100.00 us");
	free(text);
}

/* A build may run beside a longer one of the same name. */
static void a_name_of_several_is_that_of_the_command(void)
{
	struct tb *tb = tb_new();
	char *text;

	tb_window(tb, 1000000, 1100000);
	tb_string(tb, TRACE_STRING_INFO, TRACE_INFO_COMMAND, "/usr/bin/make -j2");
	tb_thread(tb, 39, 39, 1, "tracedaemon", 0, false);
	tb_thread(tb, 40, 40, 39, "tracedaemon", 0, true);
	tb_thread(tb, 50, 50, 1, "make", 1, true);
	tb_comm(tb, 0, 1001000, 40, "make");
	tb_exec(tb, 0, 1001000, 40, "/usr/bin/make");
	tb_exit(tb, 0, 1090000, 40, 40, true);
	tb_switch(tb, 0, 1090000, 40, 0, TRACE_TASK_DEAD);
	text = report_of(tb, "--critical-path=make");
	contains(text, "2 processes match make: ");
	contains(text, "; using 40, the recorded command; ");
	free(text);
}

/* Its path is that of the whole run, also if another thread had more work. */
static void the_name_of_the_command_is_its_first_thread(void)
{
	struct tb *tb = tb_new();
	char *text;

	tb_window(tb, 1000000, 1100000);
	tb_string(tb, TRACE_STRING_INFO, TRACE_INFO_COMMAND, "/usr/bin/make -j2");
	tb_thread(tb, 39, 39, 1, "tracedaemon", 0, false);
	tb_thread(tb, 40, 40, 39, "tracedaemon", 0, true);
	tb_comm(tb, 0, 1001000, 40, "make");
	tb_exec(tb, 0, 1001000, 40, "/usr/bin/make");
	tb_fork(tb, 0, 1005000, 40, 41, 40, "job");
	tb_switch(tb, 0, 1010000, 40, 41, TRACE_TASK_INTERRUPTIBLE);
	tb_exit(tb, 0, 1080000, 41, 40, false);
	tb_waking(tb, 0, 1080000, 40, TRACE_CONTEXT_TASK);
	tb_switch(tb, 0, 1080000, 41, 40, TRACE_TASK_DEAD);
	tb_exit(tb, 0, 1100000, 40, 40, true);
	text = report_of(tb, "--critical-path=make");
	contains(text, "make (40) has 2 threads: 41 job, 40 make; using 40, the first one, with which the command "
		       "ends; choose another with --critical-path=TID\n");
	CU_ASSERT_PTR_NULL(strstr(text, "Thread job (41)"));
	free(text);
}

static void check_order(const char *text, const char *first, const char *then)
{
	const char *at = strstr(text, first), *behind = strstr(text, then);

	CU_ASSERT_PTR_NOT_NULL_FATAL(at);
	CU_ASSERT_PTR_NOT_NULL_FATAL(behind);
	CU_ASSERT(at < behind);
}

/* A process that exists all the time has the longest elapsed time, although the user did not ask
 * about it. */
static void the_command_and_its_descendants_come_first(void)
{
	static const char *const options[] = {"-a", "-a --sort=elapsed"};

	for (int i = 0; i < 2; i++) {
		struct tb *tb = make_named(true);
		char *text;

		tb_thread(tb, 50, 50, 1, "daemon", 1, true);
		tb_fork(tb, 0, 1005000, 40, 41, 41, "cc1");
		tb_switch(tb, 0, 1010000, 40, 41, TRACE_TASK_RUNNING);
		tb_switch(tb, 0, 1098000, 41, 40, TRACE_TASK_INTERRUPTIBLE);
		tb_switch(tb, 1, 1099000, 50, 0, TRACE_TASK_INTERRUPTIBLE);
		text = report_of(tb, options[i]);
		contains(text, i ? "Processes (on a CPU" : "Processes, the command's first (on a CPU");
		check_order(text, i ? "  daemon" : "  make", i ? "  make" : "  cc1");
		check_order(text, i ? "  make" : "  cc1", i ? "  cc1" : "  daemon");
		check_order(text, i ? "Process (50," : "Process (41,", i ? "Process (41," : "Process (50,");
		free(text);
	}
}

/* The recorder releases the command when it has begun to record: the command waits 60 us for the
 * recorder only. @cold: its program is on the disk. */
static struct tb *make_held_of(bool cold)
{
	struct tb *tb = tb_new();

	tb_window(tb, 1000000, 1100000);
	tb_string(tb, TRACE_STRING_INFO, TRACE_INFO_COMMAND, "sleep 0");
	tb_string(tb, TRACE_STRING_SYSCALL, SYS_read, "read");
	tb_string(tb, TRACE_STRING_SYSCALL, SYS_nanosleep, "nanosleep");
	tb_string(tb, TRACE_STRING_SYSCALL, SYS_write, "write");
	tb_thread(tb, 39, 39, 1, "tracedaemon", 0, true);
	tb_thread_in(tb, 40, 40, 39, "tracedaemon", 0, false, SYS_read);
	tb_fd(tb, 39, 7, 13, 900, S_IFIFO | 0600, "pipe:[900]");
	tb_fd(tb, 40, 6, 13, 900, S_IFIFO | 0600, "pipe:[900]");
	tb_sys_enter(tb, 0, 1055000, SYS_write, 7, 0, 1);
	tb_waking(tb, 0, 1060000, 40, TRACE_CONTEXT_TASK);
	tb_sys_exit(tb, 0, 1060000, 1);
	tb_switch(tb, 0, 1060000, 39, 40, TRACE_TASK_INTERRUPTIBLE);
	tb_sys_exit(tb, 0, 1061000, 1);
	if (cold) {
		tb_sys_enter(tb, 0, 1061000, SYS_execve, 0, 0, 0);
		tb_switch(tb, 0, 1061000, 40, 0, TRACE_TASK_UNINTERRUPTIBLE);
		tb_waking(tb, 0, 1061500, 40, TRACE_CONTEXT_HARDIRQ);
		tb_switch(tb, 0, 1061500, 0, 40, TRACE_TASK_RUNNING);
	}
	tb_comm(tb, 0, 1062000, 40, "sleep");
	tb_exec(tb, 0, 1062000, 40, "/bin/sleep");
	tb_sys_enter(tb, 0, 1070000, SYS_nanosleep, 0, 0);
	tb_switch(tb, 0, 1070000, 40, 0, TRACE_TASK_INTERRUPTIBLE);
	tb_event(tb, 0, 1090000, TRACE_EV_hrtimer_expire, &(struct trace_hrtimer_expire){0},
		 sizeof(struct trace_hrtimer_expire), NULL);
	tb_waking(tb, 0, 1090000, 40, TRACE_CONTEXT_HARDIRQ);
	tb_switch(tb, 0, 1090000, 0, 40, TRACE_TASK_RUNNING);
	tb_sys_exit(tb, 0, 1090000, 0);
	return tb;
}

static struct tb *make_held(void)
{
	struct tb *tb = make_held_of(false);

	tb_exit(tb, 0, 1100000, 40, 40, true);
	return tb;
}

static struct tb *make_cold(void)
{
	struct tb *tb = make_held_of(true);

	tb_exit(tb, 0, 1100000, 40, 40, true);
	return tb;
}

/* The same in -a, where all of the command is shown, and in a comparison. */
static void a_command_itself_waits_for_the_disk_of_its_program(void)
{
	char path[] = "/tmp/test_report_words_cold_XXXXXX", options[64], *text = report_of(make_cold(), "-a --ns");
	struct tb *tb = make_cold();
	int fd = mkstemp(path);

	contains(text, "The command ran for 40000 ns: sleep (40) waited 51 % of its 40000 ns: ");
	free(text);
	text = report_of(make_held_of(false), "--json");
	contains(text, "\"command_has_ended\":false,\"command_ran_ns\":40000,");
	free(text);
	text = report_of(make_held(), "--json");
	contains(text, "\"command_has_ended\":true,\"command_ran_ns\":40000,");
	free(text);
	tb_write(tb, fd, true);
	close(fd);
	tb_free(tb);
	snprintf(options, sizeof(options), "--diff --ns %s", path);
	text = report_of(make_held(), options);
	contains(text, "The command sleep ran for 40000 in A, sleep for 40000 in B");
	contains(text, "  elapsed, of all threads    40000  40000");
	free(text);
	unlink(path);
}

/* The recording was shorter. Where events were lost, its end may be among them. */
static void a_command_that_had_not_ended_is_reported_as_such(void)
{
	char path[] = "/tmp/test_report_words_ended_XXXXXX", options[64],
	     *text = report_of(make_held_of(false), "-a --ns");
	struct tb *tb = make_held_of(false);
	int fd = mkstemp(path);

	join_lines(text);
	contains(text, "The command had run for 40000 ns when the recording ended, and had not ended: sleep (40) "
		       "waited 50 % of its 40000 ns for");
	free(text);
	tb_write(tb, fd, true);
	close(fd);
	tb_free(tb);
	snprintf(options, sizeof(options), "--diff --ns %s", path);
	text = report_of(make_held(), options);
	contains(text,
		 "\nThe command sleep had run for 40000 when A ended, and had not ended; sleep ran for 40000 in B.\n");
	free(text);
	unlink(path);
	tb = make_held_of(false);
	tb_add(tb, 1, 1091000, trace_heartbeat, NULL, 0);
	tb_lost(tb, 1, 5);
	tb_add(tb, 1, 1092000, trace_heartbeat, NULL, 0);
	text = report_of(tb, "-a");
	join_lines(text);
	contains(text, "The command had run for 40.00 us when the recording ended, and its end was not recorded: ");
	free(text);
}

/* The path is as long as the command ran: its program is on the disk, and the wait for that is on
 * the path. Even if the user names the process, the time before its release is not shown. */
static void the_path_of_a_command_begins_at_its_release(void)
{
	static const char *const options[] = {"--critical-path --ns --all", "--critical-path=sleep --ns --all",
					      "--critical-path=40 --ns --all"};

	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
		char *text = report_of(make_cold(), options[i]);

		contains(text, "sleep waited 50.0 % of its 40000 for timeouts");
		contains(text, "sleep: blocked: kernel");
		CU_ASSERT_PTR_NULL(strstr(text, "tracedaemon"));
		free(text);
	}
}

/* The thread then has the number of the first thread, which began the command and ended long
 * before. */
static void the_path_of_a_command_continues_with_the_thread_that_calls_exec(void)
{
	struct trace_sched_exec exec = {.tid = 40, .old_tid = 41};
	struct tb *tb = tb_new();
	char *text;

	tb_window(tb, 1000000, 1100000);
	tb_string(tb, TRACE_STRING_INFO, TRACE_INFO_COMMAND, "sleep 0");
	tb_thread(tb, 39, 39, 1, "tracedaemon", 0, false);
	tb_thread(tb, 40, 40, 39, "tracedaemon", 0, true);
	tb_comm(tb, 0, 1010000, 40, "sleep");
	tb_exec(tb, 0, 1010000, 40, "/usr/bin/sleep");
	tb_fork(tb, 0, 1011000, 40, 41, 40, "sleep");
	tb_switch(tb, 1, 1012000, 0, 41, TRACE_TASK_RUNNING);
	tb_sys_enter(tb, 1, 1013000, SYS_execve, 0, 0, 0);
	tb_exit(tb, 0, 1020000, 40, 40, false);
	tb_switch(tb, 0, 1021000, 40, 0, TRACE_TASK_DEAD);
	tb_comm(tb, 1, 1022000, 40, "sleep");
	tb_event(tb, 1, 1022000, TRACE_EV_sched_exec, &exec, sizeof(exec), "/usr/bin/sleep");
	tb_sys_exit(tb, 1, 1023000, 0);
	tb_exit(tb, 1, 1090000, 40, 40, true);
	tb_switch(tb, 1, 1091000, 40, 0, TRACE_TASK_DEAD);
	text = report_of(tb, "--critical-path --json");
	contains(text, "\"window\":{\"from_ns\":1011000,\"to_ns\":1091000,\"ns\":80000}");
	free(text);
}

/* Also if only its name identifies it. */
static void the_path_is_as_long_as_the_command_ran(void)
{
	char *text = report_of(make_named(false), "--critical-path --ns");

	contains(text, "make ran on a CPU for all of its 100000.");
	free(text);
	text = report_of(make_named(false), "-a --ns");
	contains(text, "ran for 100000 ns: make (40)");
	free(text);
}

/* As the verdict says; the page of the process has all of its time, and says so. */
static void the_table_has_the_time_from_the_release_on(void)
{
	char *text = report_of(make_held(), "-a");

	contains(text, "\n   40      39   40.00 us  50.00  19.00 us");
	contains(text, "\t\tHeld by the recorder for 60.00 us before it ran, for 40.00 us\n");
	free(text);
	text = report_of(make_named(true), "-a");
	CU_ASSERT_PTR_NULL(strstr(text, "Held by the recorder"));
	free(text);
}

/* Selecting the process gives the same. Its page has all of its time. */
static void a_selected_command_did_not_run_before_its_release(void)
{
	static const char *const options[] = {"-a --pid=40", "-a --comm=sleep"};
	char path[] = "/tmp/test_report_words_chosen_XXXXXX", arguments[64], *text;
	struct tb *tb = make_held();
	int fd = mkstemp(path);

	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
		text = report_of(make_held(), options[i]);
		CU_ASSERT_PTR_EQUAL(strstr(text, "sleep (40) waited 50 % of its 40.00 us for a timer; "),
				    answer_of(text));
		contains(text, "\t\t  100.00 us  100.00         elapsed, of all threads\n");
		free(text);
	}
	tb_thread(tb, 50, 50, 1, "sleep", 1, true); /* and it is no target that several processes waited for */
	tb_write(tb, fd, true);
	close(fd);
	tb_free(tb);
	snprintf(arguments, sizeof(arguments), "-a --comm=sleep %s", path);
	CU_ASSERT_EQUAL(visualizer_run(arguments, &text), 0);
	join_lines(text);
	contains(text, "The 2 processes used ");
	contains(text, ", and 20.00 us for ");
	free(text);
	snprintf(arguments, sizeof(arguments), "--diff --ns --all --pid=40 %s", path);
	text = report_of(make_held(), arguments);
	contains(text, "  elapsed, of all threads    40000  40000");
	free(text);
	unlink(path);
}

/* It had no CPU yet when the recording began: that time is not the command's either. */
static void a_command_did_not_run_before_it_got_a_cpu(void)
{
	struct tb *tb = tb_new();
	char *text;

	tb_window(tb, 1000000, 1100000);
	tb_string(tb, TRACE_STRING_INFO, TRACE_INFO_COMMAND, "sleep 0");
	tb_string(tb, TRACE_STRING_SYSCALL, SYS_read, "read");
	tb_string(tb, TRACE_STRING_SYSCALL, SYS_write, "write");
	tb_thread(tb, 39, 39, 1, "tracedaemon", 0, true);
	tb_thread(tb, 40, 40, 39, "tracedaemon", 1, true);
	tb_fd(tb, 39, 7, 13, 900, S_IFIFO | 0600, "pipe:[900]");
	tb_fd(tb, 40, 6, 13, 900, S_IFIFO | 0600, "pipe:[900]");
	tb_sys_enter(tb, 1, 1010000, SYS_read, 6, 0, 1);
	tb_switch(tb, 1, 1010000, 40, 0, TRACE_TASK_INTERRUPTIBLE);
	tb_sys_enter(tb, 0, 1055000, SYS_write, 7, 0, 1);
	tb_waking(tb, 0, 1060000, 40, TRACE_CONTEXT_TASK);
	tb_switch(tb, 1, 1060000, 0, 40, TRACE_TASK_RUNNING);
	tb_sys_exit(tb, 1, 1061000, 1);
	tb_comm(tb, 1, 1062000, 40, "sleep");
	tb_exec(tb, 1, 1062000, 40, "/bin/sleep");
	tb_exit(tb, 1, 1100000, 40, 40, true);
	text = report_of(tb, "-a --ns");
	join_lines(text);
	contains(text, "The command ran for 40000 ns: sleep (40) waited 0 % of its 40000 ns for a CPU, and");
	contains(text, "used 100 % CPU (39000 ns in its own code, 1000 ns in the kernel).");
	free(text);
}

/* Events of another CPU were lost meanwhile, so the cause of its wait is not known. */
static void a_command_did_not_run_before_an_unrecorded_release(void)
{
	struct tb *tb = make_held();
	char *text;

	tb_add(tb, 1, 1030000, trace_heartbeat, NULL, 0);
	tb_lost(tb, 1, 5);
	tb_add(tb, 1, 1035000, trace_heartbeat, NULL, 0);
	text = report_of(tb, "-a");
	contains(text, "The command ran for 40.00 us: sleep (40) waited 50 % of its 40.00 us for");
	free(text);
}

static void a_command_did_not_run_before_its_release(void)
{
	char path[] = "/tmp/test_report_words_held_XXXXXX", options[64], *text = report_of(make_held(), "-a");
	struct tb *tb = make_held();
	int fd = mkstemp(path);

	contains(text, "The command ran for 40.00 us: sleep (40) waited 50 % of its 40.00 us for");
	CU_ASSERT_PTR_NULL(strstr(text, "for process 39 tracedaemon via\npipe;"));
	free(text);
	tb_write(tb, fd, true);
	close(fd);
	tb_free(tb);
	snprintf(options, sizeof(options), "--diff --all %s", path);
	text = report_of(make_held(), options);
	contains(text, "The command sleep ran for 40.00 us in A, sleep for 40.00 us in B");
	free(text);
	snprintf(options, sizeof(options), "--diff --json %s", path);
	text = report_of(make_held(), options);
	contains(text, "\"elapsed_ns\":{\"a\":40000,\"b\":40000,");
	contains(text, "\"wait_process_ns\":{\"a\":0,\"b\":0,");
	free(text);
	unlink(path);
}

static void a_command_identified_by_name_only_is_reported_as_such(void)
{
	char *text = report_of(make_named(false), "-a");

	contains(text, "The first recorded process with the command's name ran for 100.00 us: make (40)");
	free(text);
	text = report_of(make_named(false), "--json");
	contains(text, "\"command_pid\":40,\"command_is_sure\":false");
	free(text);
	text = report_of(make_named(true), "--json");
	contains(text, "\"command_pid\":40,\"command_is_sure\":true");
	free(text);
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		CASE(the_answer_is_about_the_command_and_its_descendants),
		CASE(a_name_of_several_is_that_of_the_command),
		CASE(the_name_of_the_command_is_its_first_thread),
		CASE(the_command_and_its_descendants_come_first),
		CASE(a_command_itself_waits_for_the_disk_of_its_program),
		CASE(a_command_that_had_not_ended_is_reported_as_such),
		CASE(the_path_of_a_command_begins_at_its_release),
		CASE(the_path_of_a_command_continues_with_the_thread_that_calls_exec),
		CASE(the_path_is_as_long_as_the_command_ran),
		CASE(the_table_has_the_time_from_the_release_on),
		CASE(a_selected_command_did_not_run_before_its_release),
		CASE(a_command_did_not_run_before_it_got_a_cpu),
		CASE(a_command_did_not_run_before_an_unrecorded_release),
		CASE(a_command_did_not_run_before_its_release),
		CASE(a_command_identified_by_name_only_is_reported_as_such),
		{NULL, NULL},
	};

	return unit_main("the command in a report", cases, argc, argv);
}
