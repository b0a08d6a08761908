/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test_report_timeline.c - the output of tracevisualizer for viewers of time lines */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "report_case.h"
#include "unit.h"
#include "visualizer.h"

static json_t *timeline_of(const char *options, const char *path)
{
	char arguments[256], *text;
	json_t *timeline;

	snprintf(arguments, sizeof(arguments), "--timeline %s %s", options, path);
	CU_ASSERT_EQUAL(visualizer_run(arguments, &text), 0);
	timeline = json_loads(text, 0, NULL); /* refuses invalid UTF-8 */
	CU_ASSERT_PTR_NOT_NULL_FATAL(timeline);
	free(text);
	return timeline;
}

static const char *text_of(const json_t *event, const char *key)
{
	const char *text = json_string_value(json_object_get(event, key));

	return text ? text : "";
}

static long long number_of(const json_t *event, const char *key)
{
	return json_integer_value(json_object_get(event, key));
}

/* The microseconds have three decimals. */
static long long ns_of(const json_t *event, const char *key)
{
	return (long long)(json_real_value(json_object_get(event, key)) * 1000 + 0.5);
}

static bool is(const json_t *event, const char *phase, long long pid, long long tid)
{
	return strcmp(text_of(event, "ph"), phase) == 0 && number_of(event, "pid") == pid &&
	       number_of(event, "tid") == tid;
}

/* The slice that begins at this time. */
static const json_t *slice_at(const json_t *timeline, long long pid, long long tid, long long ns)
{
	json_t *event;
	size_t i;

	json_array_foreach(json_object_get(timeline, "traceEvents"), i, event)
		if (is(event, "X", pid, tid) && ns_of(event, "ts") == ns)
			return event;
	return NULL;
}

static long long sum_of(const json_t *timeline, long long pid, long long tid)
{
	json_t *event;
	long long sum = 0;
	size_t i;

	json_array_foreach(json_object_get(timeline, "traceEvents"), i, event)
		sum += is(event, "X", pid, tid) ? ns_of(event, "dur") : 0;
	return sum;
}

static void check_slice(const json_t *timeline, long long tid, long long from_ns, long long to_ns, const char *category,
			const char *name)
{
	const json_t *slice = slice_at(timeline, tid, tid, from_ns);

	CU_ASSERT_PTR_NOT_NULL_FATAL(slice);
	CU_ASSERT_EQUAL(ns_of(slice, "dur"), to_ns - from_ns);
	CU_ASSERT_STRING_EQUAL(text_of(slice, "cat"), category);
	CU_ASSERT_STRING_EQUAL(text_of(slice, "name"), name);
}

static void a_thread_has_a_state_at_all_times(void)
{
	json_t *timeline = timeline_of("", trace_path);

	check_slice(timeline, 10, 0, 2000, "running", "running"); /* the mode is not known yet */
	check_slice(timeline, 10, 2000, 3000, "syscall", "read");
	check_slice(timeline, 10, 3000, 13200, "blocked", "file /da\nta");
	check_slice(timeline, 10, 13200, 23000, "wait-cpu", "wait-cpu");
	check_slice(timeline, 10, 26000, 26500, "trap", "page fault");
	check_slice(timeline, 20, 13000, 13500, "interrupted", "disk");
	CU_ASSERT_EQUAL(sum_of(timeline, 10, 10), 40000);
	CU_ASSERT_EQUAL(sum_of(timeline, 20, 20), 40000);
	CU_ASSERT_STRING_EQUAL(text_of(json_object_get(slice_at(timeline, 10, 10, 3000), "args"), "in"), "read");
	json_decref(timeline);
}

/* The interruption belongs to the time slice of the interrupted thread. After 30000 the CPU is
 * idle. */
static void a_cpu_has_a_track_of_its_threads(void)
{
	json_t *timeline = timeline_of("", trace_path);
	const json_t *turn = slice_at(timeline, 0, 0, 3000);

	CU_ASSERT_PTR_NOT_NULL_FATAL(turn);
	CU_ASSERT_EQUAL(ns_of(turn, "dur"), 20000);
	CU_ASSERT_STRING_EQUAL(text_of(turn, "name"), "t\"wo\x01\xef\xbf\xbd");
	CU_ASSERT_EQUAL(number_of(json_object_get(turn, "args"), "tid"), 20);
	CU_ASSERT_EQUAL(sum_of(timeline, 0, 0), 30000);
	json_decref(timeline);
}

static void tracks_have_names(void)
{
	json_t *timeline = timeline_of("", story_path), *event;
	bool one = false, thread = false, cpu = false;
	size_t i;

	json_array_foreach(json_object_get(timeline, "traceEvents"), i, event) {
		const char *name = text_of(json_object_get(event, "args"), "name");

		one |= is(event, "M", 10, 10) && strcmp(text_of(event, "name"), "process_name") == 0 &&
		       strcmp(name, "one") == 0;
		thread |= is(event, "M", 30, 31) && strcmp(text_of(event, "name"), "thread_name") == 0 &&
			  strcmp(name, "esc\x1b[31m\nlock") == 0;
		cpu |= is(event, "M", 0, 0) && strcmp(name, "CPU 0") == 0;
	}
	CU_ASSERT(one && thread && cpu);
	json_decref(timeline);
}

/* 30 writes into the pipe that 10 reads. */
static void an_arrow_leads_from_the_waker(void)
{
	json_t *timeline = timeline_of("", story_path), *event;
	const json_t *from = NULL, *to = NULL;
	size_t i;

	json_array_foreach(json_object_get(timeline, "traceEvents"), i, event) {
		if (is(event, "s", 30, 30))
			from = event;
		if (is(event, "f", 10, 10))
			to = event;
	}
	CU_ASSERT_FATAL(from && to);
	CU_ASSERT_EQUAL(ns_of(from, "ts"), 40000);
	CU_ASSERT_EQUAL(ns_of(to, "ts"), 40000);
	CU_ASSERT_EQUAL(number_of(from, "id"), number_of(to, "id"));
	CU_ASSERT_STRING_EQUAL(text_of(slice_at(timeline, 10, 10, 2000), "name"),
			       "process esc\x1b[31m\nlock (30) via pipe");
	json_decref(timeline);
}

static void a_window_and_a_process_can_be_chosen(void)
{
	json_t *timeline = timeline_of("--from=0.000010 --to=0.000020 --pid=10", trace_path);
	char *text;

	check_slice(timeline, 10, 10000, 13200, "blocked", "file /da\nta");
	CU_ASSERT_EQUAL(sum_of(timeline, 10, 10), 10000);
	CU_ASSERT_EQUAL(sum_of(timeline, 20, 20), 0);
	CU_ASSERT_EQUAL(sum_of(timeline, 0, 0), 0); /* 20 was on the CPU */
	json_decref(timeline);
	CU_ASSERT_EQUAL(run_on_trace("--timeline --comm=absent", &text), 1);
	contains(text, "tracevisualizer: no process of this trace is called absent; ");
	free(text);
}

/* It was renamed in the middle of its time, and the arguments of the other one have the name. */
static void a_name_chooses_by_all_that_is_known_at_the_end(void)
{
	static const char args[] = "python3\x1f/srv/app.py\x1f--quiet";
	const struct trace_start_args start = {.tgid = 20, .bytes = sizeof(args) - 1};
	char path[] = "/tmp/report_timeline_XXXXXX", arguments[256], *text;
	struct tb *tb = tb_new();
	int fd = mkstemp(path);
	json_t *timeline;

	tb_window(tb, 1000, 9000);
	tb_thread(tb, 10, 10, 1, "sh", 0, true);
	tb_thread(tb, 20, 20, 1, "python3", 1, true);
	tb_start(tb, 0, TRACE_EV_start_args, &start, sizeof(start), args);
	tb_comm(tb, 0, 5000, 10, "make");
	tb_exec(tb, 0, 5000, 10, "/usr/bin/make");
	tb_switch(tb, 0, 7000, 10, 0, TRACE_TASK_INTERRUPTIBLE);
	tb_switch(tb, 1, 7000, 20, 0, TRACE_TASK_INTERRUPTIBLE);
	tb_write(tb, fd, true);
	close(fd);
	tb_free(tb);
	timeline = timeline_of("--comm=make", path);
	CU_ASSERT_EQUAL(sum_of(timeline, 10, 10), 8000);
	CU_ASSERT_EQUAL(sum_of(timeline, 20, 20), 0);
	json_decref(timeline);
	timeline = timeline_of("--comm=app.py", path);
	CU_ASSERT_EQUAL(sum_of(timeline, 20, 20), 8000);
	CU_ASSERT_EQUAL(sum_of(timeline, 10, 10), 0);
	json_decref(timeline);
	snprintf(arguments, sizeof(arguments), "--timeline --comm=--quiet %s", path);
	CU_ASSERT_EQUAL(visualizer_run(arguments, &text), 0);
	contains(text, "no process or thread is called --quiet; 1 process has it in the arguments: 20 ");
	contains(text, "\"ph\":\"X\",\"pid\":20,\"tid\":20,");
	CU_ASSERT_PTR_NULL(strstr(text, "\"tid\":10"));
	free(text);
	unlink(path);
}

/* Nothing that it shows is known, and no file is created that looks like an idle machine. */
static void without_kernel_events_there_is_no_timeline(void)
{
	struct tb *tb = tb_new();
	char path[] = "/tmp/report_timeline_XXXXXX", arguments[256], *text;
	int fd = mkstemp(path);

	tb_string(tb, TRACE_STRING_INFO, TRACE_INFO_LEFT_OUT, TRACE_LEFT_OUT_KERNEL);
	tb_window(tb, 1000, 9000);
	tb_write(tb, fd, true);
	close(fd);
	tb_free(tb);
	snprintf(arguments, sizeof(arguments), "--timeline --output=%s.json %s", path, path);
	CU_ASSERT_EQUAL(visualizer_run(arguments, &text), 1);
	CU_ASSERT_STRING_EQUAL(text, "tracevisualizer: the kernel was not recorded, only events of programs: what "
				     "threads did is unknown; record as root\n");
	free(text);
	unlink(path);
	snprintf(arguments, sizeof(arguments), "%s.json", path);
	CU_ASSERT_NOT_EQUAL(unlink(arguments), 0);
}

static void the_timeline_excludes_other_reports(void)
{
	static const char *const others[] = {"-a", "-d", "-s", "--json", "--critical-path", "--diff"};
	char *text;

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		char options[64];

		snprintf(options, sizeof(options), "--timeline %s %s", others[i], i == 5 ? trace_path : "");
		CU_ASSERT_EQUAL(run_on_trace(options, &text), 2);
		contains(text, "--timeline writes its own file and cannot be combined with another report");
		free(text);
	}
	/* JSON goes to the output file, the success message to stderr */
	CU_ASSERT_EQUAL(run_on_trace("--timeline --verify --output=/dev/null", &text), 0);
	contains(text, "add up to the nanosecond");
	free(text);
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		CASE(a_thread_has_a_state_at_all_times),
		CASE(a_cpu_has_a_track_of_its_threads),
		CASE(tracks_have_names),
		CASE(an_arrow_leads_from_the_waker),
		CASE(a_window_and_a_process_can_be_chosen),
		CASE(a_name_chooses_by_all_that_is_known_at_the_end),
		CASE(without_kernel_events_there_is_no_timeline),
		CASE(the_timeline_excludes_other_reports),
		{NULL, NULL},
	};

	return report_main("report_timeline", cases, argc, argv);
}
