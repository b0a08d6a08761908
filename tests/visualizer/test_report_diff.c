/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test_report_diff.c - the output of tracevisualizer --diff for two traces */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "builder.h"
#include "report_case.h"
#include "unit.h"
#include "visualizer.h"

static const char golden_diff[] = "Processes of one name are added up; the greatest differences come first.\n"
				  "\n"
				  "esc\\x1b[31m\\x0alock: 0 processes in A, 1 in B\n"
				  "                             A       B    B - A   B / A\n"
				  "  elapsed, of all threads    0  120000  +120000  only B\n"
				  "  on a CPU, in its own code  0   26000   +26000  only B\n"
				  "  on a CPU, in the kernel    0   13000   +13000  only B\n"
				  "  interrupted                0    1000    +1000  only B\n"
				  "  waiting for a CPU          0   60000   +60000  only B\n"
				  "  waiting for processes      0   20000   +20000  only B\n"
				  "\n"
				  "one: 1 process in A, 1 in B\n"
				  "                                 A      B   B - A   B / A\n"
				  "  elapsed, of all threads    40000  60000  +20000    1.50\n"
				  "  on a CPU, in its own code   6500  11000   +4500    1.69\n"
				  "  on a CPU, in the kernel     3500   9000   +5500    2.57\n"
				  "  waiting for a CPU          19800   2000  -17800    0.10\n"
				  "  waiting for files          10200      0  -10200  only A\n"
				  "  waiting for processes          0  38000  +38000  only B\n"
				  "\n"
				  "t\"wo\\x01\\xff: 1 process in A, 0 in B\n"
				  "                                 A  B   B - A   B / A\n"
				  "  elapsed, of all threads    40000  0  -40000  only A\n"
				  "  on a CPU, in its own code  19500  0  -19500  only A\n"
				  "  interrupted                  500  0    -500  only A\n"
				  "  waiting for a CPU          20000  0  -20000  only A\n"
				  "\n";

static void two_traces_are_compared_by_name(void)
{
	char arguments[256], *text;

	snprintf(arguments, sizeof(arguments), "--diff --ns %s %s", trace_path, story_path);
	CU_ASSERT_EQUAL(visualizer_run(arguments, &text), 0);
	contains(text, golden_diff);
	free(text);
	snprintf(arguments, sizeof(arguments), "--diff %s", trace_path);
	CU_ASSERT_EQUAL(visualizer_run(arguments, &text), 2);
	contains(text, "needs two traces");
	free(text);
}

static void a_trace_does_not_differ_from_itself(void)
{
	char arguments[256], *text;

	snprintf(arguments, sizeof(arguments), "--diff %s %s", story_path, story_path);
	CU_ASSERT_EQUAL(visualizer_run(arguments, &text), 0);
	contains(text, "\nNo differences: 2 names, with the same times in both to the nanosecond.\n");
	CU_ASSERT_PTR_NULL(strstr(text, "less"));
	free(text);
	snprintf(arguments, sizeof(arguments), "--diff --all %s %s", story_path, story_path);
	CU_ASSERT_EQUAL(visualizer_run(arguments, &text), 0);
	contains(text, "\nNo differences: ");
	contains(text, "\none: 1 process in A, 1 in B\n");
	free(text);
	/* no process was compared */
	snprintf(arguments, sizeof(arguments), "--diff --pid=4711 %s %s", story_path, story_path);
	CU_ASSERT_EQUAL(visualizer_run(arguments, &text), 1);
	CU_ASSERT_PTR_NULL(strstr(text, "Nothing differs"));
	free(text);
}

static int64_t member(json_t *object, const char *key, const char *side)
{
	return json_integer_value(json_object_get(json_object_get(object, key), side));
}

static void a_comparison_as_json_has_its_schema(void)
{
	char arguments[256], *text;
	json_error_t error;
	json_t *report, *name;
	size_t i, found = 0;

	snprintf(arguments, sizeof(arguments), "--diff --json %s %s", trace_path, story_path);
	CU_ASSERT_EQUAL(visualizer_run(arguments, &text), 0);
	report = json_loads(text, 0, &error);
	CU_ASSERT_PTR_NOT_NULL_FATAL(report);
	CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(report, "schema")), "trace-diff/1");
	json_array_foreach(json_object_get(report, "names"), i, name) {
		CU_ASSERT_EQUAL(member(name, "elapsed_ns", "difference"),
				member(name, "elapsed_ns", "b") - member(name, "elapsed_ns", "a"));
		if (strcmp(json_string_value(json_object_get(name, "comm")), "one") != 0)
			continue;
		found++;
		CU_ASSERT_EQUAL(member(name, "elapsed_ns", "a"), 40000);
		CU_ASSERT_EQUAL(member(name, "elapsed_ns", "b"), 60000);
		CU_ASSERT_EQUAL(member(name, "wait_file_ns", "difference"), -10200);
		CU_ASSERT_EQUAL(member(name, "wait_process_ns", "b"), 38000);
	}
	CU_ASSERT_EQUAL(found, 1);
	json_decref(report);
	free(text);
}

/* A trace of scheduling events only, compared with story_path, in which one name is the same. */
static void a_comparison_divides_only_what_both_recorded(void)
{
	char path[] = "/tmp/test_report_diff_own_XXXXXX", arguments[256], *text;
	uint64_t mask[TRACE_MASK_WORDS] = {0xfffe | 1ull << TRACE_EV_sched_switch | 1ull << TRACE_EV_sched_waking};
	struct tb *tb = make_masked(mask);
	int fd = mkstemp(path);

	tb_write(tb, fd, true);
	close(fd);
	tb_free(tb);
	snprintf(arguments, sizeof(arguments), "--diff --comm=one %s %s", path, story_path);
	CU_ASSERT_EQUAL(visualizer_run(arguments, &text), 0);
	contains(text, "\nNot all system calls were recorded in A: the time in the kernel is unknown.\n"
		       "Interrupts were not recorded in A: they count there as time on a CPU.\n");
	contains(text, "\n  on a CPU                 6.00 us ");
	CU_ASSERT_PTR_NULL(strstr(text, "in its own code"));
	free(text);
	snprintf(arguments, sizeof(arguments), "--diff --json --comm=one %s %s", story_path, path);
	CU_ASSERT_EQUAL(visualizer_run(arguments, &text), 0);
	contains(text, "\"b\":6000,");
	contains(text, "\"interrupted_ns\":{\"a\":0,\"b\":null,\"difference\":null,\"ratio\":null}");
	free(text);
	unlink(path);
}

static void a_comparison_marks_commands_identified_by_name_only(void)
{
	static const struct {
		bool sure[2];
		const char *wanted;
	} cases[] = {
		{{true, true},
		 "The command make ran for 100.00 us in A, make for 100.00 us in B: 1.00 times as long.\nOnly the "
		 "commands and"},
		{{false, true},
		 "The first recorded process with the command's name make ran for 100.00 us in A, the command make for "
		 "100.00 us in B: 1.00 times as long.\nOnly these processes and the processes that they started;"},
		{{true, false},
		 "The command make ran for 100.00 us in A, the first recorded process with the command's name make for "
		 "100.00 us in B: "},
		{{false, false},
		 "The first recorded process with the command's name make ran for 100.00 us in A, the first recorded "
		 "process with the command's name make for 100.00 us in B: "},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char path[] = "/tmp/test_report_diff_XXXXXX", options[64], *text;
		struct tb *tb = make_named(cases[i].sure[0]);
		int fd = mkstemp(path);

		tb_write(tb, fd, true);
		close(fd);
		tb_free(tb);
		snprintf(options, sizeof(options), "--diff %s", path);
		text = report_of(make_named(cases[i].sure[1]), options);
		contains(text, cases[i].wanted);
		free(text);
		unlink(path);
	}
}

/* A process selected by its number is compared, even if both traces are of commands. */
static void a_selected_process_is_compared_whatever_was_recorded(void)
{
	char path[] = "/tmp/test_report_diff_XXXXXX", options[64], *text;
	struct tb *tbs[] = {make_named(true), make_named(true)};
	int fd = mkstemp(path);

	for (int i = 0; i < 2; i++) {
		tb_thread(tbs[i], 50, 50, 1, "cron", 1, true);
		tb_switch(tbs[i], 1, 1050000, 50, 0, TRACE_TASK_INTERRUPTIBLE);
	}
	tb_write(tbs[0], fd, true);
	close(fd);
	tb_free(tbs[0]);
	snprintf(options, sizeof(options), "--diff --pid=50 --top=1 %s", path);
	text = report_of(tbs[1], options);
	contains(text, "\ncron: 1 process in A, 1 in B\n");
	CU_ASSERT_PTR_NULL(strstr(text, "Only the commands"));
	free(text);
	unlink(path);
}

/* The program @name runs for 100 us; in the second trace, it sleeps for @sleep_us meanwhile. */
static struct tb *called_that_sleeps(const char *name, unsigned int sleep_us)
{
	char path[64];
	uint64_t to = 1000000 + 100000 + sleep_us * 1000ull;
	struct tb *tb = tb_new();

	tb_window(tb, 1000000, to);
	snprintf(path, sizeof(path), "/usr/bin/%s", name);
	tb_string(tb, TRACE_STRING_INFO, TRACE_INFO_COMMAND, path);
	tb_thread(tb, 39, 39, 1, "tracedaemon", 0, false);
	tb_thread(tb, 40, 40, 39, "sh", 0, true);
	tb_comm(tb, 0, 1001000, 40, name);
	tb_exec(tb, 0, 1001000, 40, path);
	if (sleep_us) {
		tb_sys_enter(tb, 0, 1050000, SYS_nanosleep, 0, 0, 0);
		tb_switch(tb, 0, 1050000, 40, 0, TRACE_TASK_INTERRUPTIBLE);
		tb_waking(tb, 0, 1050000 + sleep_us * 1000ull, 40, TRACE_CONTEXT_HARDIRQ);
		tb_switch(tb, 0, 1050000 + sleep_us * 1000ull, 0, 40, TRACE_TASK_RUNNING);
		tb_sys_exit(tb, 0, 1050000 + sleep_us * 1000ull, 0);
	}
	tb_exit(tb, 0, to, 40, 40, true);
	return tb;
}

static struct tb *make_that_sleeps(unsigned int sleep_us)
{
	return called_that_sleeps("make", sleep_us);
}

/* Writes the traces, and returns what --diff and @options print for both, and their status. */
static int compare_traces(struct tb *tbs[2], const char *options, char **ret_text)
{
	char a[] = "/tmp/test_report_diff_XXXXXX", b[] = "/tmp/test_report_diff_XXXXXX", arguments[256];
	int fds[] = {mkstemp(a), mkstemp(b)}, status;

	for (int i = 0; i < 2; i++) {
		tb_string(tbs[i], TRACE_STRING_SYSCALL, SYS_nanosleep, "nanosleep");
		tb_write(tbs[i], fds[i], true);
		close(fds[i]);
		tb_free(tbs[i]);
	}
	snprintf(arguments, sizeof(arguments), "--diff --ns %s %s %s", options, a, b);
	status = visualizer_run(arguments, ret_text);
	unlink(a);
	unlink(b);
	return status;
}

static int compare_runs(unsigned int a_us, unsigned int b_us, const char *options, char **ret_text)
{
	struct tb *tbs[] = {make_that_sleeps(a_us), make_that_sleeps(b_us)};

	return compare_traces(tbs, options, ret_text);
}

static void the_first_row_is_the_cause_of_a_longer_run(void)
{
	char *text;

	CU_ASSERT_EQUAL(compare_runs(0, 30, "", &text), 0);
	contains(text, "critical path; adds up to the run)\n"
		       "                      A       B   B - A\n"
		       "  make: timeout       0   30000  +30000\n");
	contains(text, "\n  the run        100000  130000  +30000\n");
	free(text);
}

static void two_commands_of_two_names_are_one_row(void)
{
	struct tb *tbs[] = {called_that_sleeps("old", 10), called_that_sleeps("new", 30)};
	char *text;

	CU_ASSERT_EQUAL(compare_traces(tbs, "", &text), 0);
	contains(text, "The command old ran for 110000 in A, new for 130000 in B");
	contains(text, "\n  the command: timeout   10000   30000  +20000\n");
	contains(text, "\n(1 more name differs less; --all shows them)\n");
	CU_ASSERT_PTR_NULL(strstr(text, "only B"));
	free(text);
}

static void a_limit_fails_for_a_longer_run_only(void)
{
	static const struct {
		unsigned int a_us, b_us;
		const char *options;
		int status;
	} cases[] = {{0, 30, "--fail-above=29%", 1},  {0, 30, "--fail-above=30%", 0},	 {30, 0, "--fail-above=0%", 0},
		     {0, 30, "--fail-above=29us", 1}, {0, 30, "--fail-above=0.03ms", 0}, {0, 0, "--fail-above=0ns", 0},
		     {0, 30, "--fail-above=30", 2},   {0, 30, "--fail-above=-1%", 2},	 {0, 30, "--fail-above=", 2}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *text;

		CU_ASSERT_EQUAL(compare_runs(cases[i].a_us, cases[i].b_us, cases[i].options, &text), cases[i].status);
		contains(text, cases[i].status == 1   ? "B took 30.0 % longer than A, and --fail-above="
			       : cases[i].status == 2 ? "is neither a share, 10%, nor a time, 50ms"
						      : "the run");
		free(text);
	}
}

static json_int_t value_of(const json_t *object, const char *key, const char *side)
{
	return json_integer_value(json_object_get(json_object_get(object, key), side));
}

/* The rows add up to the runs, and their differences to that of the runs. */
static void the_json_has_the_causes_and_the_verdict(void)
{
	static const struct {
		const char *options;
		int status;
	} cases[] = {{"--json --fail-above=29%", 1}, {"--json --fail-above=30%", 0}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		json_int_t sum[2] = {0}, difference = 0;
		json_t *report, *row, *limit;
		char *text;
		size_t n;

		CU_ASSERT_EQUAL(compare_runs(0, 30, cases[i].options, &text), cases[i].status);
		*strrchr(text, '}') = '\0'; /* what stderr has behind it */
		strcat(text, "}");
		report = json_loads(text, JSON_DISABLE_EOF_CHECK, NULL);
		CU_ASSERT_PTR_NOT_NULL_FATAL(report);
		json_array_foreach(json_object_get(report, "causes"), n, row) {
			sum[0] += value_of(row, "ns", "a");
			sum[1] += value_of(row, "ns", "b");
			difference += value_of(row, "ns", "difference");
			CU_ASSERT(*json_string_value(json_object_get(row, "text")));
		}
		CU_ASSERT(n > 0);
		CU_ASSERT_EQUAL(value_of(report, "run_ns", "difference"), 30000);
		CU_ASSERT_EQUAL(difference, 30000);
		CU_ASSERT_EQUAL(sum[0], value_of(report, "run_ns", "a"));
		CU_ASSERT_EQUAL(sum[1], value_of(report, "run_ns", "b"));
		CU_ASSERT_EQUAL(sum[1], value_of(report, "causes_ns", "b"));
		limit = json_object_get(report, "fail_above");
		CU_ASSERT_EQUAL(json_is_true(json_object_get(limit, "is_above")), cases[i].status);
		CU_ASSERT_EQUAL(json_integer_value(json_object_get(limit, "allowed_ns")), i ? 30000 : 29000);
		json_decref(report);
		free(text);
	}
}

/* Traces of the machine have no runs to compare. */
static void a_limit_needs_two_commands(void)
{
	char arguments[256], *text;

	snprintf(arguments, sizeof(arguments), "--diff --fail-above=1%% %s %s", trace_path, story_path);
	CU_ASSERT_EQUAL(visualizer_run(arguments, &text), 1);
	contains(text, "--fail-above: the run of a command is not known in A");
	free(text);
}

static void script(struct tb *tb, uint32_t pid, const char *args)
{
	struct trace_start_args start = {.tgid = pid, .bytes = (uint32_t)strlen(args)};

	tb_thread(tb, pid, pid, 1, "python3", pid == 10 ? 0 : 1, true);
	tb_start(tb, 0, TRACE_EV_start_args, &start, sizeof(start), args);
}

/* Two scripts, and a program that wrote its title with the port of a client over its arguments */
static void two_scripts_of_one_interpreter_are_two_names(void)
{
	char path[] = "/tmp/test_report_diff_script_XXXXXX", arguments[256], *text;
	struct tb *tb = tb_new();
	int fd = mkstemp(path);

	tb_window(tb, 0, 80000);
	script(tb, 10, "python3\x1f/srv/load.py");
	script(tb, 20, "python3\x1f/srv/app.py");
	script(tb, 30, "postgres: shop 127.0.0.1(32926) idle");
	tb_sys_enter(tb, 0, 1000, 39 /* getpid */);
	tb_sys_exit(tb, 0, 2000, 10);
	tb_switch(tb, 0, 30000, 10, 30, TRACE_TASK_RUNNING);
	tb_switch(tb, 1, 40000, 20, 0, TRACE_TASK_INTERRUPTIBLE);
	tb_write(tb, fd, true);
	close(fd);
	tb_free(tb);
	snprintf(arguments, sizeof(arguments), "--diff --json %s %s", path, path);
	CU_ASSERT_EQUAL(visualizer_run(arguments, &text), 0);
	contains(text, "\"title\":\"python3 load.py\"");
	contains(text, "\"title\":\"python3 app.py\"");
	CU_ASSERT_PTR_NULL(strstr(text, "32926"));
	free(text);
	unlink(path);
}

/* make waits for two scripts, the second of which runs for @app_us. */
static struct tb *make_with_scripts(unsigned int app_us)
{
	static const char *const args[] = {"python3\x1f/srv/load.py", "python3\x1f/srv/app.py"};
	uint64_t ns = 1000000, to = ns + 30000 + app_us * 1000ull;
	struct tb *tb = tb_new();

	tb_window(tb, ns, to);
	tb_string(tb, TRACE_STRING_INFO, TRACE_INFO_COMMAND, "/usr/bin/make -j2");
	tb_thread(tb, 39, 39, 1, "tracedaemon", 0, false);
	tb_thread(tb, 40, 40, 39, "sh", 0, true);
	tb_comm(tb, 0, ns + 1, 40, "make");
	tb_exec(tb, 0, ns + 1, 40, "/usr/bin/make");
	for (uint32_t i = 0; i < 2; i++) {
		struct trace_start_args start = {.tgid = 41 + i, .bytes = (uint32_t)strlen(args[i])};

		tb_thread(tb, 41 + i, 41 + i, 40, "python3", 0, false);
		tb_start(tb, 0, TRACE_EV_start_args, &start, sizeof(start), args[i]);
		tb_sys_enter(tb, 0, ns + 10, SYS_wait4, 41 + i, 0, 0);
		tb_switch(tb, 0, ns + 20, 40, 41 + i, TRACE_TASK_INTERRUPTIBLE);
		ns += i ? app_us * 1000ull - 1000 : 30000;
		tb_exit(tb, 0, ns, 41 + i, 41 + i, true);
		tb_waking(tb, 0, ns, 40, TRACE_CONTEXT_TASK);
		tb_switch(tb, 0, ns, 41 + i, 40, TRACE_TASK_DEAD);
		tb_sys_exit(tb, 0, ns, 41 + i);
	}
	tb_exit(tb, 0, to, 40, 40, true);
	return tb;
}

static void the_cause_is_one_of_two_scripts(void)
{
	struct tb *tbs[] = {make_with_scripts(40), make_with_scripts(90)};
	char *text;

	CU_ASSERT_EQUAL(compare_traces(tbs, "", &text), 0);
	contains(text, "\n  python3 app.py: ");
	contains(text, " +50000\n");
	CU_ASSERT_PTR_NULL(strstr(text, "python3: "));
	free(text);
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		CASE(a_comparison_marks_commands_identified_by_name_only),
		CASE(a_selected_process_is_compared_whatever_was_recorded),
		CASE(the_first_row_is_the_cause_of_a_longer_run),
		CASE(two_commands_of_two_names_are_one_row),
		CASE(a_limit_fails_for_a_longer_run_only),
		CASE(the_json_has_the_causes_and_the_verdict),
		CASE(a_limit_needs_two_commands),
		CASE(two_traces_are_compared_by_name),
		CASE(a_trace_does_not_differ_from_itself),
		CASE(a_comparison_as_json_has_its_schema),
		CASE(two_scripts_of_one_interpreter_are_two_names),
		CASE(the_cause_is_one_of_two_scripts),
		CASE(a_comparison_divides_only_what_both_recorded),
		{NULL, NULL},
	};

	return report_main("report_diff", cases, argc, argv);
}
