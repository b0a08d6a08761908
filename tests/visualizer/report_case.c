/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "report_case.h"
#include <jansson.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "visualizer.h"

char trace_path[] = "/tmp/report_case_XXXXXX";
char story_path[] = "/tmp/report_case_story_XXXXXX";

static void make_trace(void)
{
	struct trace_block_complete done = {.dev = 0xfe00000, .bytes = 4096};
	struct tb *tb = tb_new();
	int fd = mkstemp(trace_path);

	tb_window(tb, 1000000, 1040000);
	tb_string(tb, TRACE_STRING_SYSCALL, SYS_read, "read");
	tb_string(tb, TRACE_STRING_SYSCALL, SYS_getpid, "getpid");
	tb_string(tb, TRACE_STRING_IRQ, 7, "disk");
	tb_thread(tb, 10, 10, 1, "one", 0, true);
	tb_thread(tb, 20, 20, 1, "t\"wo\x01\xff", 0, false);
	tb_fd(tb, 10, 3, 1, 100, S_IFREG | 0644, "/da\nta");
	tb_sys_enter(tb, 0, 1002000, SYS_read, 3, 0x7f0000001000, 4096);
	tb_switch(tb, 0, 1003000, 10, 20, TRACE_TASK_UNINTERRUPTIBLE);
	tb_irq(tb, 0, 1013000, 7);
	tb_event(tb, 0, 1013100, TRACE_EV_block_complete, &done, sizeof(done), NULL);
	tb_waking(tb, 0, 1013200, 10, TRACE_CONTEXT_HARDIRQ);
	tb_irq_exit(tb, 0, 1013500, 7);
	tb_switch(tb, 0, 1023000, 20, 10, TRACE_TASK_RUNNING);
	tb_sys_exit(tb, 0, 1025000, 4096);
	tb_fault(tb, 0, 1026000, 0x1000, true);
	tb_fault_end(tb, 0, 1026500, false);
	tb_switch(tb, 0, 1030000, 10, 0, TRACE_TASK_RUNNING);
	tb_write(tb, fd, true);
	close(fd);
	tb_free(tb);
}

void make_story_of(char *path, const char *one, const char *lock)
{
	struct tb *tb = tb_new();
	int fd = mkstemp(path);

	tb_window(tb, 1000000, 1060000);
	tb_string(tb, TRACE_STRING_SYSCALL, SYS_read, "read");
	tb_string(tb, TRACE_STRING_SYSCALL, SYS_write, "write");
	tb_string(tb, TRACE_STRING_SYSCALL, SYS_futex, "futex");
	tb_string(tb, TRACE_STRING_VECTOR, TRACE_VECTOR_LOCAL_TIMER, "local_timer");
	tb_thread(tb, 10, 10, 1, one, 0, true);
	tb_thread(tb, 30, 30, 1, lock, 0, false);
	tb_thread(tb, 31, 30, 1, lock, 0, false);
	tb_fd(tb, 10, 0, 1, 200, S_IFIFO | 0600, "pipe\xff\x1b");
	tb_fd(tb, 30, 1, 1, 200, S_IFIFO | 0600, "pipe\xff\x1b");
	tb_sys_enter(tb, 0, 1001000, SYS_read, 0, 0x10000, 100);
	tb_switch(tb, 0, 1002000, 10, 30, TRACE_TASK_INTERRUPTIBLE);
	tb_sys_enter(tb, 0, 1004000, SYS_futex, 0x7f00, 0, 2);
	tb_switch(tb, 0, 1005000, 30, 31, TRACE_TASK_INTERRUPTIBLE);
	tb_vector(tb, 0, 1010000, TRACE_VECTOR_LOCAL_TIMER);
	tb_vector_exit(tb, 0, 1011000, TRACE_VECTOR_LOCAL_TIMER);
	tb_sys_enter(tb, 0, 1024000, SYS_futex, 0x7f00, 1, 1);
	tb_waking(tb, 0, 1025000, 30, TRACE_CONTEXT_TASK);
	tb_sys_exit(tb, 0, 1026000, 1);
	tb_switch(tb, 0, 1030000, 31, 30, TRACE_TASK_RUNNING);
	tb_sys_exit(tb, 0, 1031000, 0);
	tb_sys_enter(tb, 0, 1032000, SYS_write, 1, 0x20000, 100);
	tb_waking(tb, 0, 1040000, 10, TRACE_CONTEXT_TASK);
	tb_sys_exit(tb, 0, 1041000, 100);
	tb_switch(tb, 0, 1042000, 30, 10, TRACE_TASK_RUNNING);
	tb_sys_exit(tb, 0, 1050000, 100);
	tb_write(tb, fd, true);
	close(fd);
	tb_free(tb);
}

int report_main(const char *suite, const struct unit_case *cases, int argc, char **argv)
{
	int result;

	setenv("TZ", "UTC", 1);
	make_trace();
	make_story_of(story_path, "one", "esc\x1b[31m\nlock");
	result = unit_main(suite, cases, argc, argv);
	unlink(trace_path);
	unlink(story_path);
	return result;
}

int run_on_trace(const char *options, char **ret_text)
{
	char arguments[256];

	snprintf(arguments, sizeof(arguments), "%s %s", options, trace_path);
	return visualizer_run(arguments, ret_text);
}

void (*report_also)(const char *path, const char *screen);

static char *end_of(struct tb *tb, const char *options, int status)
{
	char path[] = "/tmp/report_case_own_XXXXXX", arguments[256], *text;
	int fd = mkstemp(path);

	tb_write(tb, fd, true);
	close(fd);
	tb_free(tb);
	snprintf(arguments, sizeof(arguments), "%s %s", options, path);
	CU_ASSERT_EQUAL(visualizer_run(arguments, &text), status);
	if (report_also && !*options && status == 0)
		report_also(path, text);
	unlink(path);
	return text;
}

char *report_of(struct tb *tb, const char *options)
{
	return end_of(tb, options, 0);
}

char *refusal_of(struct tb *tb, const char *options)
{
	return end_of(tb, options, 1);
}

void json_has(const char *report, const char *key, const char *wanted)
{
	char *quoted = strdup(wanted), *found;
	json_t *json, *is, *expected;

	for (char *c = quoted; *c; c++)
		if (*c == '\'')
			*c = '"';
	json = json_loads(report, 0, NULL);
	expected = json_loads(quoted, 0, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(json);
	CU_ASSERT_PTR_NOT_NULL_FATAL(expected);
	is = json_object_get(json, key);
	json_object_del(is, "file");
	CU_ASSERT(json_equal(is, expected));
	if (!json_equal(is, expected)) {
		found = json_dumps(is, JSON_PRESERVE_ORDER);
		printf("\n--- wanted:\n%s\n--- in:\n%s\n", quoted, found);
		free(found);
	}
	json_decref(json);
	json_decref(expected);
	free(quoted);
}

void join_lines(char *text)
{
	while ((text = strchr(text, '\n')))
		*text = ' ';
}

struct tb *make_named(bool sure)
{
	struct tb *tb = tb_new();

	tb_window(tb, 1000000, 1100000);
	tb_string(tb, TRACE_STRING_INFO, TRACE_INFO_COMMAND, "/usr/bin/make -j2");
	tb_thread(tb, 39, 39, 1, sure ? "tracedaemon" : "sh", 0, false);
	tb_thread(tb, 40, 40, 39, "sh", 0, true);
	tb_comm(tb, 0, 1001000, 40, "make");
	tb_exec(tb, 0, 1001000, 40, "/usr/bin/make");
	tb_exit(tb, 0, 1100000, 40, 40, true);
	return tb;
}

struct tb *make_masked(const uint64_t mask[TRACE_MASK_WORDS])
{
	struct tb *tb = tb_new();

	tb_thread(tb, 10, 10, 1, "one", 0, true);
	tb_event(tb, 0, 1000, TRACE_EV_trace_mask, mask, TRACE_MASK_WORDS * sizeof(*mask), NULL);
	tb_switch(tb, 0, 5000, 10, 0, TRACE_TASK_INTERRUPTIBLE);
	tb_switch(tb, 0, 7000, 0, 10, TRACE_TASK_RUNNING);
	tb_switch(tb, 0, 9000, 10, 0, TRACE_TASK_INTERRUPTIBLE);
	return tb;
}

struct tb *disk_story(void)
{
	struct trace_block_issue issue = {.dev = VDA, .bytes = 4096, .request = 0xb10c};
	struct trace_block_complete complete = {.dev = VDA, .bytes = 4096, .request = 0xb10c};
	struct tb *tb = tb_new();

	tb_window(tb, 1000, 20000);
	tb_string(tb, TRACE_STRING_DEVICE, VDA, "vda");
	tb_string(tb, TRACE_STRING_SYSCALL, SYS_read, "read");
	tb_thread(tb, 10, 10, 1, "one", 0, true);
	tb_fd(tb, 10, 3, 40, 7, 0100644, "/overlay/file");
	tb_fd(tb, 10, 4, VDA, 8, 0100644, "/plain");
	tb_sys_enter(tb, 0, 2000, SYS_read, 3, 0, 4096);
	tb_event(tb, 0, 2500, TRACE_EV_block_issue, &issue, sizeof(issue), NULL);
	tb_switch(tb, 0, 3000, 10, 0, TRACE_TASK_UNINTERRUPTIBLE);
	tb_irq(tb, 0, 6000, 24);
	tb_event(tb, 0, 6500, TRACE_EV_block_complete, &complete, sizeof(complete), NULL);
	tb_waking(tb, 0, 7000, 10, TRACE_CONTEXT_HARDIRQ);
	tb_irq_exit(tb, 0, 7500, 24);
	tb_switch(tb, 0, 8000, 0, 10, TRACE_TASK_RUNNING);
	tb_sys_exit(tb, 0, 9000, 4096);
	tb_sys_enter(tb, 0, 10000, SYS_read, 4, 0, 100);
	tb_sys_exit(tb, 0, 11000, 100);
	tb_switch(tb, 0, 20000, 10, 0, TRACE_TASK_RUNNING);
	return tb;
}

size_t widest_line(const char *text)
{
	size_t widest = 0, width = 0;

	for (; *text; text++) {
		if (*text == '\n')
			width = 0;
		else if (*text == '\t')
			width += 8 - width % 8;
		else
			width += (*text & 0xc0) != 0x80;
		widest = width > widest ? width : widest;
	}
	return widest;
}
