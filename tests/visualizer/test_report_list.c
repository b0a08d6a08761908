/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test_report_list.c - lists of events: tracevisualizer -d */
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "builder.h"
#include "report_case.h"
#include "unit.h"
#include "visualizer.h"

/* ---- columns ---- */

static void the_list_has_the_columns_of_the_original(void)
{
	char *text;

	CU_ASSERT_EQUAL(run_on_trace("-d -tSCHED", &text), 0);
	contains(text, "####################################################################\n"
		       "CPU-ID\tEvent                  \tTime\tPID\tLength\tDescription\n"
		       "####################################################################\n");
	contains(text, "0 \tSched change           \t");
	contains(text, " \t10 \t16 \tIN : 20; OUT : 10; STATE : ");
	contains(text, " \t20 \t16 \tIN : 10; OUT : 20; STATE : ");
	CU_ASSERT_PTR_NULL(strstr(text, "Syscall"));
	free(text);
}

/* As with tracedaemon -e. */
static void a_class_is_not_the_category_of_its_name(void)
{
	char *text;

	CU_ASSERT_EQUAL(run_on_trace("-d -fctpl -tSCHED", &text), 0);
	CU_ASSERT_PTR_NULL(strstr(text, "\nProcess"));
	free(text);
	CU_ASSERT_EQUAL(run_on_trace("-d -fctpl -oSCHED", &text), 0);
	CU_ASSERT_PTR_NULL(strstr(text, "\nSched change"));
	contains(text, "\nProcess");
	free(text);
	CU_ASSERT_EQUAL(run_on_trace("-d -fctpl -tsched", &text), 0);
	contains(text, "\nSched change");
	contains(text, "\nProcess");
	free(text);
}

static void columns_can_be_left_out(void)
{
	char *text;

	CU_ASSERT_EQUAL(run_on_trace("-d -fct -fl -tsys_exit", &text), 0);
	contains(text, "\nSyscall exit           \t10 \tRETURN : 4096\n");
	free(text);
}

static void calls_show_the_arguments_that_they_have(void)
{
	char *text;

	CU_ASSERT_EQUAL(run_on_trace("-d -fctpl -tSYS_ENTRY", &text), 0);
	contains(text, "\nSyscall entry          \tSYSCALL : read(3, *, 4096)\n");
	free(text);
	CU_ASSERT_EQUAL(run_on_trace("-d -y -fctpl -tSYS_ENTRY", &text), 0);
	contains(text, "\nSyscall entry          \tSYSCALL : read(3</da\\x0ata>, *, 4096)\n");
	free(text);
}

/* Any process that writes to a program's shared memory, or creates a file, chooses these names. A
 * terminal would obey control characters in them. */
static void control_characters_of_names_and_texts_are_escaped(void)
{
	static const struct trace_field id = {"i\x1b"
					      "d",
					      0, 8, true, TRACE_KIND_DEC};
	struct trace_event_type type = {.name = "shop:\x1b[2J\xff",
					.classic = "NONE",
					.text = "",
					.doc = "",
					.program = "NONE",
					.fields = &id,
					.nr_fields = 1,
					.fixed_bytes = 8,
					.category = TRACE_CATEGORY_USER,
					.flags = TRACE_EVENT_ON,
					.source = ""};
	struct tb *tb = tb_new();
	uint16_t plain = tb_user_type(tb, &type), templated;
	uint64_t value = 5;
	char *text;

	type.name = "shop:t";
	type.text = "\x1b]0;t\x07 \xc3\xa9 {i\x1b"
		    "d}\n";
	templated = tb_user_type(tb, &type);
	tb_user_event(tb, 0, 1001000, plain, &value, sizeof(value));
	tb_user_event(tb, 0, 1002000, templated, &value, sizeof(value));
	text = report_of(tb, "-d -fctpl");
	contains(text, "\nshop:\\x1b[2J\\xff       \ti\\x1bd=5\n");
	contains(text, "\nshop:t                 \t\\x1b]0;t\\x07 \xc3\xa9 5\\x0a\n");
	free(text);
}

/* The kernel gives them priority -1. */
static void deadline_threads_have_their_priority(void)
{
	struct tb *tb = tb_new();
	char *text;

	tb_thread(tb, 40, 40, 1, "camera", 0, true);
	tb_add(tb, 0, 1001000, sched_prio, NULL, .tid = 40, .old_prio = 120, .new_prio = -1);
	tb_add(tb, 0, 1002000, sched_switch, NULL, .prev_tid = 0, .next_tid = 40, .next_prio = -1);
	text = report_of(tb, "-d -fl");
	contains(text, "PRIORITY PID : 40; 120 -> -1");
	free(text);
}

/* ---- which events ---- */

static void a_list_of_one_process_includes_the_switches_to_it(void)
{
	char *text;

	CU_ASSERT_EQUAL(run_on_trace("-d -p20 -tsched", &text), 0);
	contains(text, "Tracing process 20 only\n");
	contains(text, "IN : 20; OUT : 10");
	contains(text, "IN : 10; OUT : 20");
	CU_ASSERT_PTR_NULL(strstr(text, "IN : 0; OUT : 10"));
	free(text);
}

/* Thread 10 passed the filter; 98 and 99 did not. That 99 followed when 10 left the CPU does not
 * show which thread woke 10 later. */
static void a_list_of_some_processes_names_no_thread_that_may_have_left(void)
{
	struct tb *tb = tb_new();
	char *text;

	tb_string(tb, TRACE_STRING_INFO, TRACE_INFO_LEFT_OUT, TRACE_LEFT_OUT_PROCESSES);
	tb_thread(tb, 10, 10, 1, "ten", 0, true);
	tb_sys_enter(tb, 0, 1000, SYS_getpid);
	tb_waking(tb, 0, 1500, 11, TRACE_CONTEXT_TASK);
	tb_switch(tb, 0, 2000, 10, 99, TRACE_TASK_INTERRUPTIBLE);
	tb_waking(tb, 0, 3000, 10, TRACE_CONTEXT_TASK);
	tb_switch(tb, 0, 4000, 98, 10, TRACE_TASK_RUNNING);
	tb_sys_exit(tb, 0, 5000, 10);
	text = report_of(tb, "-d -ft");
	contains(text, "0 \tProcess                \t10 \t8 \tWAKEUP PID : 11;");
	contains(text, "0 \tSched change           \t10 \t16 \tIN : 99; OUT : 10;");
	contains(text, "0 \tProcess                \tN/A \t8 \tWAKEUP PID : 10;");
	contains(text, "0 \tSched change           \t98 \t16 \tIN : 10; OUT : 98;");
	contains(text, "0 \tSyscall exit           \t10 \t");
	free(text);
}

/* Scheduling changes are missing from 2000 to 9000, and events of a program after that. */
static struct tb *gap_story(void)
{
	static const struct trace_event_type type = {.name = "shop:sold",
						     .classic = "NONE",
						     .program = "NONE",
						     .text = "",
						     .doc = "",
						     .source = "",
						     .fixed_bytes = 8,
						     .category = TRACE_CATEGORY_USER,
						     .flags = TRACE_EVENT_ON | TRACE_EVENT_TID};
	struct trace_sched_exit exit = {.tid = 20, .tgid = 20};
	struct tb *tb = tb_new();
	uint16_t sold = tb_user_type(tb, &type);
	uint64_t seller = 10;

	tb_switch(tb, 0, 1000, 1, 10, TRACE_TASK_RUNNING);
	tb_structural_event(tb, 0, 1500, TRACE_EV_sched_exit, &exit, sizeof(exit), NULL);
	tb_sys_enter(tb, 0, 2000, SYS_getpid);
	tb_lost(tb, 0, 5);
	tb_structural_event(tb, 0, 5000, TRACE_EV_sched_exit, &exit, sizeof(exit), NULL);
	tb_sys_exit(tb, 0, 9000, 0);
	tb_switch(tb, 0, 10000, 20, 10, TRACE_TASK_RUNNING);
	tb_user_event(tb, 0, 10500, sold, &seller, sizeof(seller));
	tb_user_lost(tb, 0, 7);
	tb_user_event(tb, 0, 11000, sold, &seller, sizeof(seller));
	tb_sys_enter(tb, 0, 12000, SYS_getppid);
	return tb;
}

/* Events in that time are not of 10, which ran before. Losses of a program take no thread off the
 * CPU. */
static void a_list_names_no_thread_where_scheduling_changes_are_missing(void)
{
	for (int with_paths = 0; with_paths < 2; with_paths++) {
		char *text = report_of(gap_story(), with_paths ? "-d -y -fctls" : "-d -fctls");

		contains(text, "Sched change           \t1 \t\n"
			       "Process                \t10 \t\n"
			       "Syscall entry          \t10 \t\n"
			       "Process                \tN/A \t\n"
			       "trace_lost             \tN/A \t\n"
			       "Syscall exit           \tN/A \t\n"
			       "Sched change           \tN/A \t\n"
			       "shop:sold              \t10 \t\n"
			       "trace_lost             \t10 \t\n"
			       "shop:sold              \t10 \t\n"
			       "Syscall entry          \t10 \t\n");
		free(text);
	}
}

/* @wanted: kind and PID of some events, in order, with and without -y. */
static void lists_pids(struct tb *tb, const char *wanted)
{
	char path[] = "/tmp/report_list_XXXXXX", arguments[64], *text;
	int fd = mkstemp(path);

	tb_write(tb, fd, true);
	close(fd);
	tb_free(tb);
	for (int with_paths = 0; with_paths < 2; with_paths++) {
		snprintf(arguments, sizeof(arguments), "-d %s -fctls %s", with_paths ? "-y" : "", path);
		CU_ASSERT_EQUAL(visualizer_run(arguments, &text), 0);
		contains(text, wanted);
		free(text);
	}
	unlink(path);
}

static struct tb *hidden_story(void)
{
	struct trace_start_thread hidden = {
		.tid = 75, .tgid = 75, .nr = -1, .flags = TRACE_THREAD_HIDDEN, .state = TRACE_TASK_INTERRUPTIBLE};
	struct tb *tb = tb_new();

	tb_thread(tb, 10, 10, 1, "one", 0, true);
	tb_start(tb, 1000, TRACE_EV_start_thread, &hidden, sizeof(hidden), "seventy-five");
	tb_sys_enter(tb, 0, 2000, SYS_getpid);
	tb_switch(tb, 0, 3000, 10, 75, TRACE_TASK_RUNNING);
	return tb;
}

/* No event shows 75 leave, and 80 is not known at all. The events after them are of the thread that
 * leaves next. */
static void after_a_hidden_thread_events_are_of_the_thread_that_leaves_next(void)
{
	for (int cut = 0; cut < 2; cut++) {
		struct tb *tb = hidden_story();

		tb_sys_exit(tb, 0, 4000, 20);
		tb_sys_enter(tb, 0, 5000, SYS_getppid);
		if (cut) /* the reader looks further ahead */
			tb_cut(tb, 0);
		tb_switch(tb, 0, 6000, 20, 80, TRACE_TASK_RUNNING);
		tb_sys_exit(tb, 0, 7000, 10);
		tb_switch(tb, 0, 8000, 10, 75, TRACE_TASK_RUNNING);
		tb_switch(tb, 0, 8000, 30, 10, TRACE_TASK_RUNNING);
		tb_sys_enter(tb, 0, 8500, SYS_getpid);
		tb_switch(tb, 0, 9000, 10, 40, TRACE_TASK_RUNNING);
		tb_sys_exit(tb, 0, 9500, 0);
		lists_pids(tb, "Syscall entry          \t10 \t\n"
			       "Sched change           \t10 \t\n"
			       "Syscall exit           \t20 \t\n"
			       "Syscall entry          \t20 \t\n"
			       "Sched change           \t20 \t\n"
			       "Syscall exit           \t10 \t\n"
			       "Sched change           \t10 \t\n"
			       "Sched change           \t30 \t\n"
			       "Syscall entry          \t10 \t\n"
			       "Sched change           \t10 \t\n"
			       "Syscall exit           \t40 \t\n");
	}
}

/* Switches are lost, or not recorded for some time, or none follows. Then it is only certain that a
 * thread known to be hidden made none of the events. */
static void without_the_next_switch_no_thread_is_known_after_a_hidden_one(void)
{
	static const uint64_t halted[TRACE_MASK_WORDS] = {1ull << TRACE_EV_trace_mask};
	enum { LOST, HALTED, END, NR };

	for (int why = 0; why < NR; why++) {
		struct tb *tb = hidden_story();

		tb_sys_exit(tb, 0, 4000, 20);
		if (why == LOST)
			tb_lost(tb, 0, 5);
		else if (why == HALTED)
			tb_event(tb, 0, 5000, TRACE_EV_trace_mask, halted, sizeof(halted), NULL);
		if (why != END)
			tb_switch(tb, 0, 6000, 20, 80, TRACE_TASK_RUNNING);
		else
			tb_switch(tb, 1, 6000, 20, 80, TRACE_TASK_RUNNING);
		tb_sys_enter(tb, why == END, 7000, SYS_getpid);
		lists_pids(tb, "Sched change           \t10 \t\n"
			       "Syscall exit           \tN/A \t\n");
	}
}

/* A hidden thread came and went, and 10 is on the CPU again. Its own events belong to it; the
 * thread that made a wakeup is unknown. */
static void in_a_list_of_some_processes_hidden_threads_have_no_events(void)
{
	struct tb *tb = hidden_story();

	tb_string(tb, TRACE_STRING_INFO, TRACE_INFO_LEFT_OUT, TRACE_LEFT_OUT_PROCESSES);
	tb_waking(tb, 0, 3500, 11, TRACE_CONTEXT_TASK);
	tb_sys_exit(tb, 0, 4000, 10);
	tb_switch(tb, 0, 6000, 10, 75, TRACE_TASK_RUNNING);
	lists_pids(tb, "Sched change           \t10 \t\n"
		       "Process                \tN/A \t\n"
		       "Syscall exit           \t10 \t\n"
		       "Sched change           \t10 \t\n");
}

/*
 * The switch from a hidden thread to 10 is missing behind 60; 20 gives up the user that the filter
 * selects; and 10 ceases to pass without an event.
 */
static void in_a_list_of_some_processes_events_are_of_the_thread_that_is_named_around_them(void)
{
	struct trace_sched_ids ids = {.tid = 20, .tgid = 20, .ppid = 1, .uid = 33};
	struct tb *tb = tb_new();

	tb_string(tb, TRACE_STRING_INFO, TRACE_INFO_LEFT_OUT, TRACE_LEFT_OUT_PROCESSES);
	tb_thread(tb, 10, 10, 1, "one", 0, true);
	tb_sys_enter(tb, 0, 2000, SYS_getpid);
	tb_switch(tb, 0, 3000, 10, 60, TRACE_TASK_RUNNING);
	tb_sys_exit(tb, 0, 3500, 10);
	tb_switch(tb, 0, 4000, 10, 60, TRACE_TASK_RUNNING);
	tb_switch(tb, 0, 5000, 61, 20, TRACE_TASK_RUNNING);
	tb_sys_enter(tb, 0, 5500, SYS_getpid);
	tb_structural_event(tb, 0, 5600, TRACE_EV_sched_ids, &ids, sizeof(ids), NULL);
	tb_switch(tb, 0, 6000, 61, 10, TRACE_TASK_RUNNING);
	tb_sys_enter(tb, 0, 6500, SYS_getpid);
	tb_switch(tb, 0, 7000, 61, 30, TRACE_TASK_RUNNING);
	tb_sys_enter(tb, 0, 7500, SYS_getpid);
	tb_switch(tb, 0, 8000, 30, 61, TRACE_TASK_RUNNING);
	lists_pids(tb, "Syscall entry          \t10 \t\n"
		       "Sched change           \t10 \t\n"
		       "Syscall exit           \t10 \t\n"
		       "Sched change           \t10 \t\n"
		       "Sched change           \t61 \t\n"
		       "Syscall entry          \t20 \t\n"
		       "sched_ids              \t20 \t\n"
		       "Sched change           \t61 \t\n"
		       "Syscall entry          \tN/A \t\n"
		       "Sched change           \t61 \t\n"
		       "Syscall entry          \t30 \t\n"
		       "Sched change           \t30 \t\n");
}

static struct tb *seller_story(uint64_t first, uint64_t second)
{
	static const struct trace_event_type type = {.name = "shop:sold",
						     .classic = "NONE",
						     .program = "NONE",
						     .text = "",
						     .doc = "",
						     .source = "",
						     .fixed_bytes = 8,
						     .category = TRACE_CATEGORY_USER,
						     .flags = TRACE_EVENT_ON | TRACE_EVENT_TID};
	struct tb *tb = tb_new();
	uint16_t sold = tb_user_type(tb, &type);

	tb_user_event(tb, 0, 2000, sold, &first, sizeof(first));
	tb_user_event(tb, 0, 3000, sold, &second, sizeof(second));
	return tb;
}

/* Even if the thread on the CPU was not recorded, or if the thread has migrated since it read its
 * CPU. */
static void events_of_programs_are_of_the_thread_that_they_name(void)
{
	struct tb *tb = seller_story(10, 20);
	char *text;

	tb_switch(tb, 0, 1000, 1, 10, TRACE_TASK_RUNNING);
	tb_switch(tb, 0, 4000, 10, 1, TRACE_TASK_RUNNING);
	lists_pids(tb, "shop:sold              \t10 \t\n"
		       "shop:sold              \t20 \t\n"
		       "Sched change           \t10 \t\n");
	for (int one = 0; one < 2; one++) {
		tb = seller_story(10, 20);
		tb_string(tb, TRACE_STRING_INFO, TRACE_INFO_LEFT_OUT, TRACE_LEFT_OUT_KERNEL);
		text = report_of(tb, one ? "-d -p20 -fctls" : "-d -fctls");
		CU_ASSERT_EQUAL(strstr(text, "shop:sold              \t10 \t\n") != NULL, !one);
		contains(text, "shop:sold              \t20 \t\n");
		free(text);
	}
}

/* The events of `-e sched:sched_switch` come after ours: the thread that goes is off the CPU. */
static void a_switch_is_listed_with_the_thread_that_goes(void)
{
	static const struct trace_field prev_pid = {.name = "prev_pid", .bytes = 4, .kind = TRACE_KIND_TID};

	for (unsigned int has_prev_pid = 0; has_prev_pid < 2; has_prev_pid++) {
		struct trace_event_type type = {.name = "sched:sched_switch",
						.classic = "NONE",
						.program = "NONE",
						.text = "",
						.doc = "",
						.source = "",
						.fields = &prev_pid,
						.nr_fields = has_prev_pid,
						.fixed_bytes = has_prev_pid * 8,
						.category = TRACE_CATEGORY_USER,
						.flags = TRACE_EVENT_ON};
		struct tb *tb = tb_new();
		uint16_t id = tb_user_type(tb, &type);
		uint64_t pid = 10;

		tb_user_event(tb, 0, 500, id, has_prev_pid ? &pid : NULL, type.fixed_bytes);
		tb_switch(tb, 0, 1000, 10, 20, TRACE_TASK_RUNNING);
		tb_user_event(tb, 0, 1001, id, has_prev_pid ? &pid : NULL, type.fixed_bytes);
		tb_sys_enter(tb, 0, 2000, SYS_getpid);
		tb_lost(tb, 0, 5);
		tb_user_event(tb, 0, 3000, id, has_prev_pid ? &pid : NULL, type.fixed_bytes);
		lists_pids(tb, has_prev_pid ? "sched:sched_switch     \t10 \t\n"
					      "Sched change           \t10 \t\n"
					      "sched:sched_switch     \t10 \t\n"
					      "Syscall entry          \t20 \t\n"
					      "trace_lost             \tN/A \t\n"
					      "sched:sched_switch     \t10 \t\n"
					    : "sched:sched_switch     \tN/A \t\n"
					      "Sched change           \t10 \t\n"
					      "sched:sched_switch     \t10 \t\n"
					      "Syscall entry          \t20 \t\n"
					      "trace_lost             \tN/A \t\n"
					      "sched:sched_switch     \tN/A \t\n");
	}
}

/* The list of @tb, left by a killed recorder. */
static char *list_of_cut(struct tb *tb)
{
	char path[] = "/tmp/report_list_XXXXXX", arguments[64], *text;
	int fd = mkstemp(path);

	tb_write(tb, fd, false);
	close(fd);
	tb_free(tb);
	snprintf(arguments, sizeof(arguments), "-d -fl %s", path);
	CU_ASSERT_EQUAL(visualizer_run(arguments, &text), 0);
	unlink(path);
	return text;
}

static void unknown_figures_of_a_loss_are_shown_in_words(void)
{
	struct tb *tb = tb_new();
	char *text;

	tb_switch(tb, 0, 1000, 1, 10, TRACE_TASK_RUNNING);
	tb_lost(tb, 0, 5);
	tb_switch(tb, 0, 3000, 10, 1, TRACE_TASK_RUNNING);
	text = list_of_cut(tb);
	contains(text, "\n0 \ttrace_lost             \t");
	contains(text, "\tN/A \tLOST : 5 events since 1000\n");
	contains(text, "\tN/A \tLOST : an unknown number of events since 3000\n");
	free(text);
	text = list_of_cut(tb_new()); /* nothing was written yet: not even the CPUs are known */
	contains(text, "\nN/A \ttrace_lost             \t");
	contains(text, "\tN/A \tLOST : an unknown number of events since ");
	free(text);
}

static void a_window_and_omitted_events(void)
{
	char *text;

	CU_ASSERT_EQUAL(run_on_trace("-d --from=0.000020 --to=0.0000255 -osched_switch", &text), 0);
	contains(text, "RETURN : 4096");
	CU_ASSERT_PTR_NULL(strstr(text, "Trap"));
	CU_ASSERT_PTR_NULL(strstr(text, "Sched"));
	free(text);
}

static void a_list_that_would_be_empty_says_why(void)
{
	char *text;

	CU_ASSERT_EQUAL(run_on_trace("-d -c9", &text), 2);
	contains(text, "the trace has no CPU 9: it has 1, counted from 0\n");
	CU_ASSERT_PTR_NULL(strstr(text, "Event"));
	free(text);
	CU_ASSERT_EQUAL(run_on_trace("-d -tpage_alloc", &text), 0);
	contains(text, "the trace has no events of the requested kinds; tracevisualizer -s shows ");
	free(text);
	CU_ASSERT_EQUAL(run_on_trace("-d -tstart_thread", &text), 0);
	contains(text, "start_thread and the other types of the start state are not events");
	free(text);
	CU_ASSERT_EQUAL(run_on_trace("-d -tsys_enter", &text), 0); /* with any number of arguments */
	contains(text, "SYSCALL : read(");
	CU_ASSERT_PTR_NULL(strstr(text, "no events of the requested"));
	free(text);
}

static void a_window_after_the_end_is_reported(void)
{
	static const char *const options[] = {"-d --from=5", "-d -y --from=5", "--critical-path --from=5",
					      "--critical-path=one --from=5 --json", "--timeline --from=5"};

	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
		char *text;

		CU_ASSERT_EQUAL(run_on_trace(options[i], &text), 2);
		contains(text, "tracevisualizer: --from is after the end of the trace, which is 0.");
		CU_ASSERT_PTR_EQUAL(strchr(text, '\n'), text + strlen(text) - 1);
		free(text);
	}
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		CASE(deadline_threads_have_their_priority),
		CASE(control_characters_of_names_and_texts_are_escaped),
		CASE(the_list_has_the_columns_of_the_original),
		CASE(a_class_is_not_the_category_of_its_name),
		CASE(columns_can_be_left_out),
		CASE(calls_show_the_arguments_that_they_have),
		CASE(a_list_of_one_process_includes_the_switches_to_it),
		CASE(a_list_of_some_processes_names_no_thread_that_may_have_left),
		CASE(a_list_names_no_thread_where_scheduling_changes_are_missing),
		CASE(after_a_hidden_thread_events_are_of_the_thread_that_leaves_next),
		CASE(without_the_next_switch_no_thread_is_known_after_a_hidden_one),
		CASE(in_a_list_of_some_processes_hidden_threads_have_no_events),
		CASE(in_a_list_of_some_processes_events_are_of_the_thread_that_is_named_around_them),
		CASE(events_of_programs_are_of_the_thread_that_they_name),
		CASE(a_switch_is_listed_with_the_thread_that_goes),
		CASE(unknown_figures_of_a_loss_are_shown_in_words),
		CASE(a_window_and_omitted_events),
		CASE(a_list_that_would_be_empty_says_why),
		CASE(a_window_after_the_end_is_reported),
		{NULL, NULL},
	};

	return report_main("report_list", cases, argc, argv);
}
