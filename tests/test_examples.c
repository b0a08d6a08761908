// SPDX-License-Identifier: LGPL-2.1-or-later
/* test_examples.c - the programs of docs/ANALYSES.md are in it unchanged, and their output for a
 * small trace is right. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "builder.h"
#include "unit.h"

#define US 1000ull
#define MS 1000000ull

/* Thread 10 waits 4 ms in a pipe for thread 20, and sleeps 2.5 ms; thread 20 makes three system
 * calls. */
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

/* @arguments: after the trace's name */
static void says(const char *example, const char *arguments, const char *expected)
{
	char path[] = "/tmp/trace-examples-XXXXXX", command[512], output[4096];
	int fd = mkstemp(path);
	FILE *pipe;

	CU_ASSERT_FATAL(fd >= 0);
	write_trace(fd);
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
	says("who_woke_me", "one",
	     "        1 times        4.000 ms  woken by two              pipe\n"
	     "        1 times        2.500 ms  woken by (no thread)      timeout\n");
}

static void a_wrong_trace_is_reported(void)
{
	CU_ASSERT_NOT_EQUAL(system(TRACE_EXAMPLES "/longest_waits /is/not/there 2>/dev/null"), 0);
	CU_ASSERT_NOT_EQUAL(system(TRACE_EXAMPLES "/syscall_latency 2>/dev/null"), 0);
	CU_ASSERT_NOT_EQUAL(system(TRACE_EXAMPLES "/who_woke_me /dev/null one 2>/dev/null"), 0);
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

/* Every example is in the guide unchanged, from its first line after the licence to its last. */
static void the_guide_shows_them_as_they_are(void)
{
	static const char *const examples[] = {"longest_waits", "syscall_latency", "who_woke_me"};
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

static const struct unit_case cases[] = {
	{"longest_waits_are_listed", longest_waits_are_listed},
	{"latencies_are_counted", latencies_are_counted},
	{"wakers_are_counted", wakers_are_counted},
	{"a_wrong_trace_is_reported", a_wrong_trace_is_reported},
	{"the_guide_shows_them_as_they_are", the_guide_shows_them_as_they_are},
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	return unit_main("examples", cases, argc, argv);
}
