/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test_report_json.c - the JSON reports of tracevisualizer */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
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

/* "one" reads, fails to write, writes, has a page fault, waits for "two", and waits for its CPU.
 * The name of its process differs from that of its thread. */
static struct tb *eventful_story(void)
{
	struct trace_start_thread one = {.tid = 10,
					 .tgid = 10,
					 .ppid = 1,
					 .nr = -1,
					 .running = 1,
					 .ns_tid = 3,
					 .ns_tgid = 3,
					 .cgroup = 77,
					 .uid = 1000};
	struct trace_start_fd pipe = {.tgid = 10, .fd = 4, .dev = 12, .mode = S_IFIFO | 0600, .ino = 90};
	struct trace_start_cgroup cgroup = {.cgroup = 77};
	struct trace_start_exe exe = {.tgid = 10};
	struct trace_start_args args = {.tgid = 10, .bytes = 300};
	struct trace_block_complete done = {.dev = 9};
	struct tb *tb = tb_new();

	tb_window(tb, 1000, 9000);
	tb_string(tb, TRACE_STRING_INFO, TRACE_INFO_HOST, "here");
	tb_string(tb, TRACE_STRING_SYSCALL, SYS_read, "read");
	tb_string(tb, TRACE_STRING_SYSCALL, SYS_write, "write");
	tb_string(tb, TRACE_STRING_IRQ, 7, "disk");
	tb_string(tb, TRACE_STRING_DEVICE, 9, "vda");
	tb_start(tb, 0, TRACE_EV_start_thread, &one, sizeof(one), "one");
	tb_start(tb, 0, TRACE_EV_start_exe, &exe, sizeof(exe), "/bin/one");
	tb_start(tb, 0, TRACE_EV_start_args, &args, sizeof(args),
		 "/bin/one\x1f"
		 "a b");
	tb_start(tb, 0, TRACE_EV_start_cgroup, &cgroup, sizeof(cgroup), "/box");
	tb_thread(tb, 20, 20, 1, "two", 1, true);
	tb_thread(tb, 30, 30, 1, "three", 0, false);
	tb_fd(tb, 10, 3, 9, 80, S_IFREG | 0600, "/data");
	tb_start(tb, 0, TRACE_EV_start_fd, &pipe, sizeof(pipe), "pipe:");
	tb_sys_enter(tb, 0, 2000, SYS_read, 3, 0, 200);
	tb_irq(tb, 0, 2100, 7);
	tb_irq_exit(tb, 0, 2130, 7);
	tb_sys_exit(tb, 0, 2200, 100);
	tb_sys_enter(tb, 0, 2300, SYS_write, 3, 0, 50);
	tb_sys_exit(tb, 0, 2350, -28);
	tb_sys_enter(tb, 0, 2400, SYS_write, 3, 0, 50);
	tb_sys_exit(tb, 0, 2500, 50);
	tb_fault(tb, 0, 2600, 0x1000, true);
	tb_switch(tb, 0, 2650, 10, 0, TRACE_TASK_UNINTERRUPTIBLE);
	tb_irq(tb, 1, 2900, 7);
	tb_event(tb, 1, 2950, TRACE_EV_block_complete, &done, sizeof(done), NULL);
	tb_waking(tb, 1, 3000, 10, TRACE_CONTEXT_HARDIRQ);
	tb_irq_exit(tb, 1, 3010, 7);
	tb_switch(tb, 0, 3100, 0, 10, TRACE_TASK_RUNNING);
	tb_fault_end(tb, 0, 3200, true);
	tb_sys_enter(tb, 0, 3300, SYS_read, 4, 0, 1);
	tb_switch(tb, 0, 3400, 10, 0, TRACE_TASK_INTERRUPTIBLE);
	tb_waking(tb, 1, 4000, 10, TRACE_CONTEXT_TASK);
	tb_switch(tb, 0, 4200, 0, 10, TRACE_TASK_RUNNING);
	tb_sys_exit(tb, 0, 4300, 1);
	tb_comm(tb, 0, 4400, 10, "uno");
	tb_switch(tb, 0, 5000, 10, 30, TRACE_TASK_RUNNING);
	tb_switch(tb, 0, 5500, 30, 10, TRACE_TASK_INTERRUPTIBLE);
	tb_switch(tb, 1, 9000, 20, 0, TRACE_TASK_RUNNING);
	return tb;
}

/* Figures of the process, and of its only thread. */
/* clang-format off */
#define ITS_FIGURES \
	"'elapsed_ns': 8000, 'cpu_ns': 6220, 'user_ns': 5550, 'system_ns': 670, 'syscall_ns': 520, 'trap_ns': 150," \
		"'interrupted_ns': 30," \
	"'stolen_ns': 0, 'wait_cpu_ns': 800," \
	"'wait_cpu_for': [{'pid': 30, 'comm': 'three', 'tid': 0, 'thread': '', 'ns': 500}," \
	"                 {'pid': 20, 'comm': 'two', 'tid': 0, 'thread': '', 'ns': 290}," \
	"                 {'pid': 0, 'comm': 'interrupts', 'tid': 0, 'thread': '', 'ns': 10}]," \
	"'waits': [{'kind': 'process', 'target': 'two', 'pid': 20, 'comm': 'two', 'via': 'pipe', 'idle': false," \
		"'ns': 600, 'count': 1," \
	"           'path': '', 'tid': 0, 'thread': '', 'device': ''}," \
	"          {'kind': 'memory', 'target': '', 'pid': 0, 'comm': '', 'via': '', 'idle': false, 'ns': 350," \
		"'count': 1, 'path': '', 'tid': 0, 'thread': '', 'device': ''}]," \
	"'syscalls': [{'name': 'read', 'calls': 2, 'errors': 0, 'elapsed_ns': 1200, 'cpu_ns': 370," \
		"'interrupted_ns': 30," \
	"              'wait_cpu_ns': 200, 'wait_ns': 600, 'min_ns': 200, 'p50_ns': 202, 'p99_ns': 1000," \
		"'max_ns': 1000, 'times': [[128, 1], [512, 1]]}," \
	"             {'name': 'write', 'calls': 2, 'errors': 1, 'elapsed_ns': 150, 'cpu_ns': 150," \
		"'interrupted_ns': 0," \
	"              'wait_cpu_ns': 0, 'wait_ns': 0, 'min_ns': 50, 'p50_ns': 50, 'p99_ns': 100, 'max_ns': 100," \
		"'times': [[32, 1], [64, 1]]}]," \
	"'kernel_work': []," \
	"'traps': [{'name': 'page fault', 'count': 1, 'major': 1, 'elapsed_ns': 600, 'cpu_ns': 150," \
		"'interrupted_ns': 0," \
	"           'wait_cpu_ns': 100, 'wait_ns': 350, 'min_ns': 600, 'p50_ns': 600, 'p99_ns': 600, 'max_ns': 600," \
		"'times': [[512, 1]]}]," \
	"'interrupts': [{'type': 'irq', 'name': 'disk', 'ns': 30, 'count': 1}]," \
	"'kernel_work': []," \
	"'files': [{'path': '/data', 'read_bytes': 100, 'written_bytes': 50, 'reads': 1, 'writes': 1, 'wait_ns': 0," \
		"'device': 'vda'}," \
	"          {'path': 'pipe:', 'read_bytes': 1, 'written_bytes': 0, 'reads': 1, 'writes': 0, 'wait_ns': 0," \
		"'device': ''}]"
/* clang-format on */

static void the_json_of_a_process_is_complete(void)
{
	char *text = report_of(eventful_story(), "--json --pid=10");

	json_has(text, "processes",
		 "[{'pid': 10, 'ppid': 1, 'ns_pid': 3, 'cgroup': '/box', 'comm': 'uno', 'title': 'uno', "
		 "'args': ['/bin/one', 'a b'], 'args_are_cut': true, 'exe': '/bin/one', 'uid': "
		 "1000, 'gid': 0, 'kernel': false,"
		 "  'start_ns': 1000, 'end_ns': 9000," ITS_FIGURES ","
		 "  'identities': [],"
		 "  'threads': [{'tid': 10, 'comm': 'uno', 'uid': 1000, 'start_ns': 1000, 'end_ns': 9000," ITS_FIGURES
		 "}]}]");
	json_has(text, "cpus",
		 "[{'cpu': 0, 'cpu_ns': 6720, 'user_ns': 5550, 'system_ns': 1170, 'irq_ns': 30, 'softirq_ns': 0, "
		 "'idle_ns': 1250, 'unknown_ns': 0},"
		 " {'cpu': 1, 'cpu_ns': 7890, 'user_ns': 7890, 'system_ns': 0, 'irq_ns': 110, 'softirq_ns': 0, "
		 "'idle_ns': 0, 'unknown_ns': 0}]");
	json_has(text, "pairs",
		 "[{'pid': 10, 'comm': 'uno', 'for_pid': 20, 'for_comm': 'two', 'via': 'pipe', 'idle': false, 'ns': "
		 "600, 'count': 1}]");
	json_has(text, "interrupts", "[{'type': 'irq', 'name': 'disk', 'ns': 140, 'count': 2}]");
	json_has(text, "trace",
		 "{'host': 'here', 'kernel': '', 'recorder': '', 'clock': '', 'start_ns': 1000, 'end_ns': 9000, "
		 "'elapsed_ns': 8000, "
		 "'events': 25, 'lost': 0, 'claimed': 0, 'overwritten': 0, 'older': 0,"
		 " 'contradictions': 0, 'halted_ns': 0, 'sees_wakeups': true, 'sees_calls': true, 'sees_traps': true,"
		 " 'sees_interrupts': true, 'filtered': false, 'gaps': [], 'not_recorded': [], 'not_traced': []}");
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
	CU_ASSERT_STRING_EQUAL(
		json_string_value(json_object_get(json_array_get(json_object_get(report, "processes"), 0), "comm")),
		"t\"wo\x01\xef\xbf\xbd");
	json_decref(report);
	free(text);
}

static void the_json_of_locks_and_strange_names_is_valid(void)
{
	char arguments[128], *text;
	json_error_t error;
	json_t *report, *interrupt;

	snprintf(arguments, sizeof(arguments), "--json %s", story_path);
	CU_ASSERT_EQUAL(visualizer_run(arguments, &text), 0);
	report = json_loads(text, 0, &error);
	CU_ASSERT_PTR_NOT_NULL_FATAL(report);
	json_has(text, "locks",
		 "[{'pid': 30, 'comm': 'esc\\u001b[31m\\nlock', 'tid': 30, 'thread': 'esc\\u001b[31m\\nlock',"
		 "  'holder_pid': 30, 'holder_comm': 'esc\\u001b[31m\\nlock', 'holder_tid': 31,"
		 "  'holder_thread': 'esc\\u001b[31m\\nlock', 'via': 'futex',"
		 "  'path': '', 'address': 32512, 'ns': 20000, 'count': 1}]");
	interrupt = json_array_get(json_object_get(report, "interrupts"), 0);
	CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(interrupt, "name")), "local_timer");
	CU_ASSERT_EQUAL(json_integer_value(json_object_get(interrupt, "ns")), 1000);
	json_decref(report);
	free(text);
}

static void the_json_has_the_pairs_of_waiting_processes(void)
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

static void the_json_has_disks_and_the_disk_of_each_file(void)
{
	char *text = report_of(disk_story(), "--json");
	json_t *report = json_loads(text, 0, NULL);
	const json_t *one, *disk, *files;

	CU_ASSERT_PTR_NOT_NULL_FATAL(report);
	one = row_with(json_object_get(report, "processes"), "comm", "one");
	files = json_object_get(one, "files");
	CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(row_with(files, "path", "/overlay/file"), "device")),
			       "vda");
	CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(row_with(files, "path", "/plain"), "device")), "vda");
	CU_ASSERT_STRING_EQUAL(
		json_string_value(json_object_get(row_with(json_object_get(one, "waits"), "kind", "file"), "device")),
		"vda");
	disk = json_array_get(json_object_get(report, "disks"), 0);
	CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(disk, "device")), "vda");
	CU_ASSERT_EQUAL(json_integer_value(json_object_get(disk, "reads")), 1);
	CU_ASSERT_EQUAL(json_integer_value(json_object_get(disk, "read_bytes")), 4096);
	CU_ASSERT_EQUAL(json_integer_value(json_object_get(disk, "requests_ns")), 4000);
	json_decref(report);
	free(text);
}

static void the_json_has_the_command_and_whether_it_is_certain(void)
{
	for (int sure = 0; sure < 2; sure++) {
		char *text = report_of(make_named(sure), "--json");
		json_t *report = json_loads(text, 0, NULL);
		const json_t *trace = json_object_get(report, "trace");

		CU_ASSERT_EQUAL(json_integer_value(json_object_get(trace, "command_pid")), 40);
		CU_ASSERT_EQUAL(json_is_true(json_object_get(trace, "command_is_sure")), sure);
		json_decref(report);
		free(text);
	}
}

static void the_json_has_the_gaps(void)
{
	struct tb *tb = tb_new();
	char *text;

	tb_window(tb, 1000, 9000);
	tb_thread(tb, 10, 10, 1, "one", 0, true);
	tb_switch(tb, 0, 3000, 10, 0, TRACE_TASK_RUNNING);
	tb_lost(tb, 0, 7);
	tb_switch(tb, 0, 5000, 0, 10, TRACE_TASK_RUNNING);
	tb_switch(tb, 0, 9000, 10, 0, TRACE_TASK_RUNNING);
	text = report_of(tb, "--json");
	contains(text, "\"gaps\":[{\"cpu\":0,\"start_ns\":3000,\"end_ns\":5000,\"lost\":7}]");
	free(text);
}

static struct tb *flight_recorder(void)
{
	struct tb *tb = tb_new();

	tb_window(tb, 1000, 9000);
	tb_thread(tb, 10, 10, 1, "one", 0, true);
	tb_overwritten(tb, 0, 7);
	tb_switch(tb, 0, 5000, 0, 10, TRACE_TASK_RUNNING);
	tb_switch(tb, 0, 9000, 10, 0, TRACE_TASK_RUNNING);
	return tb;
}

static void events_overwritten_by_a_flight_recorder_are_no_gap(void)
{
	char *text = report_of(flight_recorder(), "--json");

	contains(text, "\"start_ns\":5000,\"end_ns\":9000,\"elapsed_ns\":4000,\"events\":2,\"lost\":0,\"claimed\":0,"
		       "\"overwritten\":"
		       "7,\"older\":0,");
	contains(text, "\"gaps\":[]");
	free(text);
	text = report_of(flight_recorder(), "-a");
	contains(text, "7 older events were overwritten: the report covers the time for which the flight recorder had "
		       "the events of all CPUs.");
	CU_ASSERT_PTR_NULL(strstr(text, "Only -d shows"));
	free(text);
}

/* Its older events of another CPU are in no sum, but in lists. Their times count from where those
 * of the sums do. */
static void events_before_the_accounting_are_in_lists(void)
{
	static const char older[] = "WAKEUP PID : 7;";
	static const struct {
		const char *arguments;
		bool has_older;
		bool has_newer;
	} lists[] = {{"-d", true, true},
		     {"-d --from=0.000000001", false, true},
		     {"-d --to=0.000000001", true, false},
		     {"-d -y --from=0.000000001", false, true}};
	struct tb *tb = flight_recorder();
	char *text;

	tb_waking(tb, 1, 4000, 7, TRACE_CONTEXT_TASK);
	tb_waking(tb, 1, 6000, 8, TRACE_CONTEXT_TASK);
	text = report_of(tb, "--json");
	contains(text, "\"start_ns\":5000,\"end_ns\":9000,\"elapsed_ns\":4000,\"events\":4,\"lost\":0,\"claimed\":0,"
		       "\"overwritten\":"
		       "7,\"older\":1,");
	free(text);
	tb = flight_recorder();
	tb_waking(tb, 1, 4000, 7, TRACE_CONTEXT_TASK);
	text = report_of(tb, "-a");
	contains(text, "Only -d shows the 1 older event of some CPUs and of programs.");
	free(text);
	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
		tb = flight_recorder();
		tb_waking(tb, 1, 4000, 7, TRACE_CONTEXT_TASK);
		tb_waking(tb, 1, 6000, 8, TRACE_CONTEXT_TASK);
		text = report_of(tb, lists[i].arguments);
		CU_ASSERT_EQUAL(strstr(text, older) != NULL, lists[i].has_older);
		CU_ASSERT_EQUAL(strstr(text, "WAKEUP PID : 8;") != NULL, lists[i].has_newer);
		free(text);
	}
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
	contains(text, "add up to the nanosecond\n");
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
		CASE(the_json_has_disks_and_the_disk_of_each_file),
		CASE(the_json_has_the_pairs_of_waiting_processes),
		CASE(the_json_has_the_command_and_whether_it_is_certain),
		CASE(the_json_has_the_gaps),
		CASE(events_overwritten_by_a_flight_recorder_are_no_gap),
		CASE(events_before_the_accounting_are_in_lists),
		CASE(quantiles_are_within_3_percent_and_extremes_exact),
		CASE(the_json_is_valid_and_has_the_schema),
		CASE(the_json_of_a_process_is_complete),
		CASE(names_that_are_not_utf8_become_valid),
		CASE(the_json_of_locks_and_strange_names_is_valid),
		CASE(verified_json_is_json),
		{NULL, NULL},
	};

	return report_main("report_json", cases, argc, argv);
}
