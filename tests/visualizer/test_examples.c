/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_examples.c - the programs of docs/ANALYSES.md and docs/API.md print what is true of a
 * small trace. The first guide shows its programs as they are in examples/, the second one names
 * all programs.
 */
#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "builder.h"
#include "example_traces.h"
#include "unit.h"

#define US 1000ull
#define MS 1000000ull

/*
 * Thread 10 waits 4 ms in a pipe for thread 20, and sleeps 2.5 ms; thread 20 makes three system
 * calls.
 */
static void write_trace(int fd)
{
	static const struct {
		uint64_t at, for_ns;
	} calls[] = {{2 * MS, 1500}, {3 * MS, 1600}, {4 * MS, 5 * US}};
	struct tb *tb = tb_new();

	tb_window(tb, MS, 20 * MS);
	tb_string(tb, TRACE_STRING_SYSCALL, SYS_read, "read");
	tb_string(tb, TRACE_STRING_SYSCALL, SYS_getpid, "getpid");
	tb_string(tb, TRACE_STRING_SYSCALL, SYS_nanosleep, "nanosleep");
	tb_thread(tb, 10, 10, 1, "one", 0, true);
	tb_thread(tb, 20, 20, 1, "two", 1, true);
	tb_fd(tb, 10, 0, 0, 99, 0010600, "pipe:[99]");
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		tb_sys_enter(tb, 1, calls[i].at, SYS_getpid);
		tb_sys_exit(tb, 1, calls[i].at + calls[i].for_ns, 20);
	}
	tb_sys_enter(tb, 0, 4 * MS, SYS_read, 0, 0, 1);
	tb_switch(tb, 0, 5 * MS, 10, 0, TRACE_TASK_INTERRUPTIBLE);
	tb_waking(tb, 1, 9 * MS, 10, TRACE_CONTEXT_TASK);
	tb_switch(tb, 0, 9 * MS + US, 0, 10, TRACE_TASK_RUNNING);
	tb_sys_exit(tb, 0, 9 * MS + 2 * US, 1);
	tb_sys_enter(tb, 0, 10 * MS - US, SYS_nanosleep, 0, 0);
	tb_switch(tb, 0, 10 * MS, 10, 0, TRACE_TASK_INTERRUPTIBLE);
	tb_softirq(tb, 0, 12500 * US - 100, 1);
	tb_waking(tb, 0, 12500 * US, 10, TRACE_CONTEXT_SOFTIRQ);
	tb_softirq_exit(tb, 0, 12500 * US + 100, 1);
	tb_switch(tb, 0, 12500 * US + 200, 0, 10, TRACE_TASK_RUNNING);
	tb_sys_exit(tb, 0, 12501 * US, 0);
	tb_write(tb, fd, true);
	tb_free(tb);
}

/*
 * Runs an example on the trace of @write_to and compares its output. @arguments follow the name
 * of the trace.
 */
static void says_of(void (*write_to)(int fd), const char *example, const char *arguments, const char *expected)
{
	char path[] = "/tmp/trace-examples-XXXXXX", command[512], output[4096];
	int fd = mkstemp(path);
	FILE *pipe;

	CU_ASSERT_FATAL(fd >= 0);
	write_to(fd);
	snprintf(command, sizeof(command), "%s/%s %s %s", TRACE_EXAMPLES, example, path, arguments);
	pipe = popen(command, "r");
	output[fread(output, 1, sizeof(output) - 1, pipe)] = '\0';
	CU_ASSERT_EQUAL(pclose(pipe), 0);
	CU_ASSERT_STRING_EQUAL(output, expected);
	if (strcmp(output, expected) != 0)
		printf("\n--- expected\n%s--- got\n%s", expected, output);
	close(fd);
	unlink(path);
}

static void says(const char *example, const char *arguments, const char *expected)
{
	says_of(write_trace, example, arguments, expected);
}

static void longest_waits_are_listed(void)
{
	says("longest_waits", "",
	     "     4.000 ms  one                  10  in read         for process two\n"
	     "     2.500 ms  one                  10  in nanosleep    for timeout \n");
}

static void latencies_are_counted(void)
{
	says("syscall_latency", "getpid",
	     "       1.024 us or more         2\n"
	     "       4.096 us or more         1\n");
}

static void wakers_are_counted(void)
{
	says("wakers", "one",
	     "        1 times        4.000 ms  woken by two              pipe\n"
	     "        1 times        2.500 ms  woken by (no thread)      timeout\n");
}

/* ---- docs/API.md ---- */

static void write_losses(int fd)
{
	struct tb *tb = tb_new();

	tb_switch(tb, 0, MS, 0, 10, TRACE_TASK_RUNNING);
	tb_switch(tb, 0, 2 * MS, 10, 0, TRACE_TASK_RUNNING);
	tb_lost(tb, 0, 3);
	tb_waking(tb, 0, 3 * MS, 10, TRACE_CONTEXT_TASK);
	tb_write(tb, fd, true);
	tb_free(tb);
}

static void events_and_losses_are_counted(void)
{
	says_of(write_losses, "event_counts", "",
		"        2 sched_switch\n"
		"        1 sched_waking\n"
		"        3 events lost on CPU 0\n");
}

static void streams_have_their_losses(void)
{
	says_of(write_losses, "stream_losses", "", "stream 0, CPU 0: 3 events in 2 chunks, 3 lost\n");
}

int known_function(int number);

__attribute__((noinline)) int known_function(int number)
{
	return number * 3 + (int)(uintptr_t)&number % 2;
}

/*
 * The mapping of this program's code, as the start state of a trace has it. @ret_path has
 * PATH_MAX bytes.
 */
static struct trace_start_map map_of_known_function(uint32_t pid, char *ret_path)
{
	unsigned long long start, end, offset;
	struct trace_start_map map = {.tgid = pid};
	FILE *maps = fopen("/proc/self/maps", "r");
	uintptr_t address = (uintptr_t)known_function;
	char line[PATH_MAX + 256];
	struct stat status;

	CU_ASSERT_PTR_NOT_NULL_FATAL(maps);
	while (fgets(line, sizeof(line), maps)) {
		if (sscanf(line, "%llx-%llx %*s %llx %*s %*s %4095s", &start, &end, &offset, ret_path) == 4 &&
		    address >= start && address < end) {
			map.start = start;
			map.end = end;
			map.offset = offset;
			break;
		}
	}
	fclose(maps);
	CU_ASSERT_EQUAL_FATAL(stat(ret_path, &status), 0);
	map.ino = status.st_ino;
	return map;
}

static void write_faults(int fd)
{
	struct trace_fault_entry fault = {.ip = (uintptr_t)known_function + 2, .user = 1};
	char path[PATH_MAX] = "";
	struct trace_start_map map = map_of_known_function(10, path);
	struct tb *tb = tb_new();

	tb_window(tb, MS, 20 * MS);
	tb_thread(tb, 10, 10, 1, "one", 0, true);
	tb_start(tb, MS, TRACE_EV_start_map, &map, sizeof(map), path);
	tb_event(tb, 0, 2 * MS, TRACE_EV_fault_entry, &fault, sizeof(fault), NULL);
	tb_fault_end(tb, 0, 3 * MS, false);
	tb_event(tb, 0, 4 * MS, TRACE_EV_fault_entry, &fault, sizeof(fault), NULL);
	tb_fault_end(tb, 0, 5 * MS, false);
	fault.ip = 16; /* no file is mapped there */
	tb_event(tb, 0, 6 * MS, TRACE_EV_fault_entry, &fault, sizeof(fault), NULL);
	tb_fault_end(tb, 0, 7 * MS, false);
	tb_write(tb, fd, true);
	tb_free(tb);
}

static void faults_are_counted_by_function(void)
{
	says_of(write_faults, "fault_functions", "| sed 's/:[1-9][0-9]*$/:LINE/'",
		"        2 known_function test_examples.c:LINE\n"
		"        1 (unknown) \n");
}

static void write_samples(int fd)
{
	struct trace_sample sample = {.tid = 10, .in_user = 1, .ip = (uintptr_t)known_function + 2};
	char path[PATH_MAX] = "";
	struct trace_start_map map = map_of_known_function(10, path);
	struct tb *tb = tb_new();

	sample.kernel = sample.user = sizeof(sample); /* no callers, behind the fixed part */
	tb_window(tb, MS, 20 * MS);
	tb_thread(tb, 10, 10, 1, "one", 0, true);
	tb_start(tb, MS, TRACE_EV_start_map, &map, sizeof(map), path);
	tb_event(tb, 0, 2 * MS, TRACE_EV_sample, &sample, sizeof(sample), NULL);
	tb_event(tb, 0, 3 * MS, TRACE_EV_sample, &sample, sizeof(sample), NULL);
	sample.ip = 16; /* no file is mapped there */
	tb_event(tb, 0, 4 * MS, TRACE_EV_sample, &sample, sizeof(sample), NULL);
	tb_switch(tb, 0, 5 * MS, 10, 0, TRACE_TASK_RUNNING);
	tb_write(tb, fd, true);
	tb_free(tb);
}

static void samples_divide_the_time_of_a_thread(void)
{
	says_of(write_samples, "profile_of", "one",
		" 15000000 ns wait-cpu                  -\n"
		"  2666667 ns user                      known_function\n"
		"  1333333 ns user                      -\n");
}

static void a_log_becomes_a_trace(void)
{
	static const char command[] = "printf '1000 begin\\n5000000000 five seconds later\\n' | " TRACE_EXAMPLES
				      "/log_to_trace >%s";
	static const char *const texts[] = {"begin", "five seconds later"};
	static const uint64_t times[] = {1000, 5000000000};
	char path[] = "/tmp/trace-examples-XXXXXX", line[512];
	const struct trace_event *event;
	struct trace_error error = {0};
	struct trace_cursor *cursor;
	struct trace *trace;

	close(mkstemp(path));
	snprintf(line, sizeof(line), command, path);
	CU_ASSERT_EQUAL(system(line), 0);
	trace = trace_open(path, &error);
	CU_ASSERT_PTR_NOT_NULL_FATAL(trace);
	CU_ASSERT_EQUAL(trace_verify(trace, &error), 0);
	CU_ASSERT_TRUE(trace_get_info(trace)->clean_end);
	cursor = trace_cursor_new(trace, NULL, &error);
	for (size_t i = 0; i < 2; i++) {
		size_t bytes = 0;
		const char *text;

		event = trace_cursor_next(cursor);
		CU_ASSERT_PTR_NOT_NULL_FATAL(event);
		text = trace_event_bytes(event, trace_type_field(event->type, "text"), &bytes);
		CU_ASSERT_STRING_EQUAL(event->type->name, "log:line");
		CU_ASSERT_EQUAL(event->ts_ns, times[i]);
		CU_ASSERT_EQUAL(bytes, strlen(texts[i]));
		CU_ASSERT_EQUAL(strncmp(text, texts[i], bytes), 0);
	}
	CU_ASSERT_PTR_NULL(trace_cursor_next(cursor));
	trace_cursor_free(cursor);
	trace_close(trace);
	unlink(path);
}

static void the_threads_of_a_path_are_listed(void)
{
	says("path_of", "one",
	     "    11.496 ms  one                  10  user\n"
	     "     4.000 ms  two                  20  user\n"
	     "     2.500 ms  one                  10  timeout\n"
	     "     1.003 ms  one                  10  syscall\n"
	     "     0.001 ms  one                  10  wait-cpu\n"
	     "from 24 intervals of threads and CPUs\n");
}

static void a_thread_has_a_line_of_columns(void)
{
	says("picture_of", "one", "     10 uuuuuuuuussssppppppppppppuuuttttttttuuuuuuuuuuuuuuuuuuuuuuuu\n");
}

static void each_half_has_its_calls(void)
{
	says("calls_of_span", "one",
	     "first half:\n     10 read 5002000 ns\n     10 nanosleep 501000 ns\n"
	     "second half:\n     10 nanosleep 2001000 ns\n");
}

static void servers_have_their_clients(void)
{
	says_of(write_server_trace, "server_bills", "",
		"server 30: 8.000 us of CPU time, 6.700 us background\n"
		"       0.710 us exact        0.590 us shared  1 requests of client\n");
}

static void scopes_have_their_times(void)
{
	says_of(write_scope_trace, "scope_times", "",
		"scope shop:checkout: 1 times, 5.500 us; on a CPU 2.400 us, for a CPU 0.100 us, blocked 3.000 us, most "
		"of it for file\n");
}

static void a_wrong_trace_is_told(void)
{
	CU_ASSERT_NOT_EQUAL(system(TRACE_EXAMPLES "/longest_waits /is/not/there 2>/dev/null"), 0);
	CU_ASSERT_NOT_EQUAL(system(TRACE_EXAMPLES "/syscall_latency 2>/dev/null"), 0);
	CU_ASSERT_NOT_EQUAL(system(TRACE_EXAMPLES "/wakers /dev/null one 2>/dev/null"), 0);
	CU_ASSERT_NOT_EQUAL(system(TRACE_EXAMPLES "/event_counts /dev/null 2>/dev/null"), 0);
	CU_ASSERT_NOT_EQUAL(system(TRACE_EXAMPLES "/fault_functions /dev/null 2>/dev/null"), 0);
	CU_ASSERT_NOT_EQUAL(system(TRACE_EXAMPLES "/path_of /dev/null one 2>/dev/null"), 0);
	CU_ASSERT_NOT_EQUAL(system(TRACE_EXAMPLES "/picture_of /dev/null one 2>/dev/null"), 0);
	CU_ASSERT_NOT_EQUAL(system(TRACE_EXAMPLES "/calls_of_span /dev/null one 2>/dev/null"), 0);
	CU_ASSERT_NOT_EQUAL(system(TRACE_EXAMPLES "/profile_of /dev/null one 2>/dev/null"), 0);
	CU_ASSERT_NOT_EQUAL(system(TRACE_EXAMPLES "/server_bills /dev/null 2>/dev/null"), 0);
	CU_ASSERT_NOT_EQUAL(system(TRACE_EXAMPLES "/scope_times 2>/dev/null"), 0);
	CU_ASSERT_NOT_EQUAL(system(TRACE_EXAMPLES "/log_to_trace </dev/null >/dev/null 2>&1"), 0);
}

static char *read_file(const char *name)
{
	char path[512], *text = calloc(1, 1 << 16);
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", TRACE_SOURCE, name);
	file = fopen(path, "r");
	CU_ASSERT_PTR_NOT_NULL_FATAL(file);
	CU_ASSERT(fread(text, 1, (1 << 16) - 1, file) > 0);
	fclose(file);
	return text;
}

/* Every example as it is, from its first line after the licence to its last. */
static void the_guide_shows_them_as_they_are(void)
{
	static const char *const examples[] = {"longest_waits", "syscall_latency", "wakers"};
	char *guide = read_file("docs/ANALYSES.md");

	for (size_t i = 0; i < sizeof(examples) / sizeof(examples[0]); i++) {
		char name[64], *example, *code, *found;
		int lines = 0;

		snprintf(name, sizeof(name), "examples/%s.c", examples[i]);
		example = read_file(name);
		code = strchr(example, '\n') + 1;
		found = strstr(guide, code);
		CU_ASSERT_PTR_NOT_NULL(found);
		if (found) {
			CU_ASSERT_EQUAL(strncmp(found - 5, "```c\n", 5), 0);
			CU_ASSERT_EQUAL(strncmp(found + strlen(code), "```\n", 4), 0);
		} else {
			printf("\n    docs/ANALYSES.md does not show %s as it is\n", name);
		}
		for (const char *at = code; (at = strchr(at, '\n')); at++)
			lines++;
		CU_ASSERT(lines >= 20 && lines <= 50);
		free(example);
	}
	free(guide);
}

/* Each program in examples/ is named in docs/API.md, so that none is forgotten there. */
static void the_api_page_names_every_example(void)
{
	char *page = read_file("docs/API.md"), link[300];
	DIR *folder = opendir(TRACE_SOURCE "/examples");
	int nr = 0;

	CU_ASSERT_PTR_NOT_NULL_FATAL(folder);
	for (struct dirent *entry; (entry = readdir(folder));) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(link, sizeof(link), "(../examples/%s)", entry->d_name);
		CU_ASSERT_PTR_NOT_NULL(strstr(page, link));
		if (!strstr(page, link))
			printf("\n    docs/API.md does not name %s\n", entry->d_name);
		nr++;
	}
	CU_ASSERT(nr >= 11);
	closedir(folder);
	free(page);
}

static const struct unit_case cases[] = {
	{"longest_waits_are_listed", longest_waits_are_listed},
	{"latencies_are_counted", latencies_are_counted},
	{"wakers_are_counted", wakers_are_counted},
	{"events_and_losses_are_counted", events_and_losses_are_counted},
	{"streams_have_their_losses", streams_have_their_losses},
	{"faults_are_counted_by_function", faults_are_counted_by_function},
	{"samples_divide_the_time_of_a_thread", samples_divide_the_time_of_a_thread},
	{"a_log_becomes_a_trace", a_log_becomes_a_trace},
	{"the_threads_of_a_path_are_listed", the_threads_of_a_path_are_listed},
	{"a_thread_has_a_line_of_columns", a_thread_has_a_line_of_columns},
	{"each_half_has_its_calls", each_half_has_its_calls},
	{"servers_have_their_clients", servers_have_their_clients},
	{"scopes_have_their_times", scopes_have_their_times},
	{"a_wrong_trace_is_told", a_wrong_trace_is_told},
	{"the_guide_shows_them_as_they_are", the_guide_shows_them_as_they_are},
	{"the_api_page_names_every_example", the_api_page_names_every_example},
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	return unit_main("examples", cases, argc, argv);
}
