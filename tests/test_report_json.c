/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test_report_json.c - what a report of tracevisualizer says as JSON */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "builder.h"
#include "report_case.h"
#include "unit.h"
#include "visualizer.h"

static void the_json_is_valid_and_has_the_schema(void)
{
	json_error_t error;
	json_t *report, *process, *wait;
	char *text;

	CU_ASSERT_EQUAL(run_on_trace("--json --pid=10", &text), 0);
	report = json_loads(text, 0, &error);
	CU_ASSERT_PTR_NOT_NULL_FATAL(report);
	CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(report, "schema")), "trace-summary/1");
	CU_ASSERT_EQUAL(json_integer_value(json_object_get(json_object_get(report, "trace"), "elapsed_ns")), 40000);
	process = json_array_get(json_object_get(report, "processes"), 0);
	CU_ASSERT_EQUAL(json_integer_value(json_object_get(process, "system_ns")), 3500);
	wait = json_array_get(json_object_get(process, "waits"), 0);
	CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(wait, "kind")), "file");
	CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(wait, "target")), "/da\nta");
	CU_ASSERT_EQUAL(json_array_size(json_object_get(process, "threads")), 1);
	CU_ASSERT_TRUE(json_is_array(json_object_get(report, "servers")));
	json_decref(report);
	free(text);
}

static void names_that_are_not_utf8_become_valid(void)
{
	json_error_t error;
	json_t *report;
	char *text;

	CU_ASSERT_EQUAL(run_on_trace("--json --pid=20", &text), 0);
	report = json_loads(text, 0, &error); /* refuses invalid UTF-8 */
	CU_ASSERT_PTR_NOT_NULL_FATAL(report);
	CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(json_array_get(json_object_get(report, "processes"), 0), "comm")),
			       "t\"wo\x01\xef\xbf\xbd");
	json_decref(report);
	free(text);
}

static void the_json_of_locks_and_strange_names_is_valid(void)
{
	char arguments[128], *text;
	json_error_t error;
	json_t *report, *lock, *interrupt;

	snprintf(arguments, sizeof(arguments), "--json %s", story_path);
	CU_ASSERT_EQUAL(visualizer_run(arguments, &text), 0);
	report = json_loads(text, 0, &error);
	CU_ASSERT_PTR_NOT_NULL_FATAL(report);
	CU_ASSERT_EQUAL(json_array_size(json_object_get(report, "locks")), 1);
	lock = json_array_get(json_object_get(report, "locks"), 0);
	CU_ASSERT_EQUAL(json_integer_value(json_object_get(lock, "pid")), 30);
	CU_ASSERT_EQUAL(json_integer_value(json_object_get(lock, "holder_pid")), 30);
	CU_ASSERT_EQUAL(json_integer_value(json_object_get(lock, "address")), 0x7f00);
	CU_ASSERT_EQUAL(json_integer_value(json_object_get(lock, "ns")), 20000);
	CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(lock, "comm")), "esc\x1b[31m\nlock");
	interrupt = json_array_get(json_object_get(report, "interrupts"), 0);
	CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(interrupt, "name")), "local_timer");
	CU_ASSERT_EQUAL(json_integer_value(json_object_get(interrupt, "ns")), 1000);
	json_decref(report);
	free(text);
}

static void the_json_tells_who_waited_for_whom(void)
{
	char arguments[128], *text;
	json_t *report, *pair;

	snprintf(arguments, sizeof(arguments), "--json %s", story_path);
	CU_ASSERT_EQUAL(visualizer_run(arguments, &text), 0);
	report = json_loads(text, 0, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(report);
	CU_ASSERT_EQUAL(json_array_size(json_object_get(report, "pairs")), 2);
	pair = json_array_get(json_object_get(report, "pairs"), 0);
	CU_ASSERT_EQUAL(json_integer_value(json_object_get(pair, "pid")), 10);
	CU_ASSERT_EQUAL(json_integer_value(json_object_get(pair, "for_pid")), 30);
	CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(pair, "via")), "pipe");
	CU_ASSERT_EQUAL(json_integer_value(json_object_get(pair, "ns")), 38000);
	json_decref(report);
	free(text);
}

static const json_t *row_with(const json_t *rows, const char *key, const char *value)
{
	const json_t *row;
	size_t i;

	json_array_foreach(rows, i, row)
		if (strcmp(json_string_value(json_object_get(row, key)), value) == 0)
			return row;
	return NULL;
}

static void the_json_tells_of_disks_and_which_had_a_file(void)
{
	char *text = report_of(disk_story(), "--json");
	json_t *report = json_loads(text, 0, NULL);
	const json_t *one, *disk, *files;

	CU_ASSERT_PTR_NOT_NULL_FATAL(report);
	one = row_with(json_object_get(report, "processes"), "comm", "one");
	files = json_object_get(one, "files");
	CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(row_with(files, "path", "/overlay/file"), "device")), "vda");
	CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(row_with(files, "path", "/plain"), "device")), "vda");
	CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(row_with(json_object_get(one, "waits"), "kind", "file"), "device")), "vda");
	disk = json_array_get(json_object_get(report, "disks"), 0);
	CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(disk, "device")), "vda");
	CU_ASSERT_EQUAL(json_integer_value(json_object_get(disk, "reads")), 1);
	CU_ASSERT_EQUAL(json_integer_value(json_object_get(disk, "read_bytes")), 4096);
	CU_ASSERT_EQUAL(json_integer_value(json_object_get(disk, "requests_ns")), 4000);
	json_decref(report);
	free(text);
}

static void within_3_percent(json_t *call, const char *key, int64_t truth)
{
	int64_t value = json_integer_value(json_object_get(call, key));

	CU_ASSERT(value * 100 >= truth * 97 && value * 100 <= truth * 103);
}

/* 1000 calls of 1, 2, ... 1000 microseconds */
static void quantiles_are_within_3_percent_and_extremes_exact(void)
{
	struct tb *tb = tb_new();
	uint64_t ns = 1000000;
	json_error_t error;
	json_t *report, *call;
	char *text;

	tb_string(tb, TRACE_STRING_SYSCALL, SYS_getpid, "getpid");
	tb_thread(tb, 10, 10, 1, "one", 0, true);
	for (uint64_t i = 1; i <= 1000; i++) {
		tb_sys_enter(tb, 0, ns + 100, SYS_getpid);
		tb_sys_exit(tb, 0, ns + 100 + i * 1000, 10);
		ns += 200 + i * 1000;
	}
	text = report_of(tb, "--json --pid=10");
	report = json_loads(text, 0, &error);
	CU_ASSERT_PTR_NOT_NULL_FATAL(report);
	call = json_array_get(json_object_get(json_array_get(json_object_get(report, "processes"), 0), "syscalls"), 0);
	CU_ASSERT_EQUAL(json_integer_value(json_object_get(call, "calls")), 1000);
	CU_ASSERT_EQUAL(json_integer_value(json_object_get(call, "min_ns")), 1000);
	CU_ASSERT_EQUAL(json_integer_value(json_object_get(call, "max_ns")), 1000000);
	within_3_percent(call, "p50_ns", 500000);
	within_3_percent(call, "p99_ns", 990000);
	json_decref(report);
	free(text);
}

static void verified_json_is_json(void)
{
	char arguments[256], *text;
	json_t *json;

	snprintf(arguments, sizeof(arguments), "--json --verify --output %s.json %s", trace_path, trace_path);
	CU_ASSERT_EQUAL(visualizer_run(arguments, &text), 0);
	contains(text, "balance to the nanosecond\n");
	free(text);
	snprintf(arguments, sizeof(arguments), "%s.json", trace_path);
	json = json_load_file(arguments, 0, NULL);
	CU_ASSERT_PTR_NOT_NULL(json);
	json_decref(json);
	unlink(arguments);
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		CASE(the_json_tells_of_disks_and_which_had_a_file),
		CASE(the_json_tells_who_waited_for_whom),
		CASE(quantiles_are_within_3_percent_and_extremes_exact),
		CASE(the_json_is_valid_and_has_the_schema),
		CASE(names_that_are_not_utf8_become_valid),
		CASE(the_json_of_locks_and_strange_names_is_valid),
		CASE(verified_json_is_json),
		{NULL, NULL},
	};

	return report_main("report_json", cases, argc, argv);
}
