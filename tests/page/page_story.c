/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * page_story.c - page_story FILE [empty|many|late]: writes the trace that the tests of the page
 * show, one without events, one with many calls, or one that begins 7 ms earlier.
 *
 * It is 100 ms long, and its times are round, so that a test knows each pixel:
 *
 * 	load (10)     the command, on CPU 0: own code 0..10 ms, waits for HOSTILE via pipe until
 * 	              79.9 ms, for the CPU until 80 ms, own code until 100 ms
 * 	HOSTILE (20)  on CPU 1: own code 0..20 ms, waits for postgres via pipe until 69.9 ms, own
 * 	              code until 80 ms, then reads a pipe
 * 	postgres (30) three threads; the first one reads a file with a hostile path 20..50 ms and
 * 	              writes to HOSTILE at 69.9 ms; the others rest
 *
 * The names and the path are what a hostile program may choose. Events of CPU 1 are lost between 80
 * and 90 ms.
 */
#include <fcntl.h>
#include <linux/sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "builder.h"

#define START_NS  1000000000ull
#define AT(ms)	  (START_NS + (uint64_t)((ms)*1000000))
#define HOSTILE	  "<img src=x a=1>"	     /* 15 bytes, as many as the kernel keeps */
#define BACKWARDS "\xe2\x80\xae\x1b[31mlive" /* from right to left, and in red */
#define PIPE_MODE (S_IFIFO | 0600)

static const char *hostile_path(void)
{
	static char path[1900];
	const char *part = "/<script>alert(1)</script>\xd7\xa9\xd7\x9c\xd7\x95\xd7\x9d\x01";

	while (strlen(path) + strlen(part) < sizeof(path))
		strcat(path, part);
	return path;
}

static void describe(struct tb *tb)
{
	static const struct {
		uint32_t number;
		const char *name;
	} calls[] = {{SYS_read, "read"}, {SYS_write, "write"}, {SYS_futex, "futex"}};

	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		tb_string(tb, TRACE_STRING_SYSCALL, calls[i].number, calls[i].name);
	tb_string(tb, TRACE_STRING_INFO, TRACE_INFO_COMMAND, "/bin/load <b>quickly</b>");
	tb_window(tb, START_NS, AT(100));
	tb_thread(tb, 9, 9, 1, "tracedaemon", 1, false);
	tb_thread(tb, 10, 10, 9, "tracedaemon", 0, true);
	tb_thread(tb, 20, 20, 1, HOSTILE, 1, true);
	tb_thread(tb, 30, 30, 1, "postgres", 0, false);
	tb_thread_in(tb, 31, 30, 1, BACKWARDS, 0, false, SYS_futex);
	tb_thread_in(tb, 32, 30, 1, "worker", 0, false, SYS_futex);
	tb_fd(tb, 10, 0, 1, 200, PIPE_MODE, "pipe:[200]");
	tb_fd(tb, 20, 1, 1, 200, PIPE_MODE, "pipe:[200]");
	tb_fd(tb, 20, 0, 1, 201, PIPE_MODE, "pipe:[201]");
	tb_fd(tb, 30, 1, 1, 201, PIPE_MODE, "pipe:[201]");
	tb_fd(tb, 30, 3, 9, 80, S_IFREG | 0600, hostile_path());
}

static void waits_begin(struct tb *tb)
{
	tb_comm(tb, 0, AT(0), 10, "load");
	tb_exec(tb, 0, AT(0), 10, "/bin/load");
	tb_sys_enter(tb, 0, AT(10), SYS_read, 0, 0x10000, 100);
	tb_switch(tb, 0, AT(10), 10, 30, TRACE_TASK_INTERRUPTIBLE);
	tb_sys_enter(tb, 1, AT(20), SYS_read, 0, 0x10000, 100);
	tb_switch(tb, 1, AT(20), 20, 0, TRACE_TASK_INTERRUPTIBLE);
	tb_sys_enter(tb, 0, AT(20), SYS_read, 3, 0x10000, 100);
	tb_switch(tb, 0, AT(20), 30, 0, TRACE_TASK_UNINTERRUPTIBLE);
}

static void waits_end(struct tb *tb)
{
	struct trace_block_complete done = {.dev = 8, .bytes = 4096};

	tb_irq(tb, 0, AT(50), 7);
	tb_event(tb, 0, AT(50), TRACE_EV_block_complete, &done, sizeof(done), NULL);
	tb_waking(tb, 0, AT(50), 30, TRACE_CONTEXT_HARDIRQ);
	tb_irq_exit(tb, 0, AT(50), 7);
	tb_switch(tb, 0, AT(50), 0, 30, TRACE_TASK_RUNNING);
	tb_sys_exit(tb, 0, AT(50), 100);
	tb_sys_enter(tb, 0, AT(69.8), SYS_write, 1, 0x20000, 100);
	tb_waking(tb, 0, AT(69.9), 20, TRACE_CONTEXT_TASK);
	tb_sys_exit(tb, 0, AT(70.1), 100);
	tb_sys_enter(tb, 0, AT(70.2), SYS_read, 3, 0x10000, 100);
	tb_switch(tb, 1, AT(70), 0, 20, TRACE_TASK_RUNNING);
	tb_sys_exit(tb, 1, AT(70), 100);
	tb_sys_enter(tb, 1, AT(79.8), SYS_write, 1, 0x20000, 100);
	tb_waking(tb, 1, AT(79.9), 10, TRACE_CONTEXT_TASK);
	tb_sys_exit(tb, 1, AT(79.95), 100);
	tb_sys_enter(tb, 1, AT(80), SYS_read, 0, 0x10000, 100);
	tb_switch(tb, 0, AT(80), 30, 10, TRACE_TASK_UNINTERRUPTIBLE);
	tb_switch(tb, 1, AT(80), 20, 0, TRACE_TASK_INTERRUPTIBLE);
	tb_sys_exit(tb, 0, AT(80), 100);
	tb_lost(tb, 1, 17);
	tb_vector(tb, 1, AT(90), TRACE_VECTOR_LOCAL_TIMER);
	tb_vector_exit(tb, 1, AT(90.5), TRACE_VECTOR_LOCAL_TIMER);
}

static void many_calls(struct tb *tb)
{
	for (int i = 1; i < 30000; i++) {
		uint64_t at = AT(100) - (uint64_t)(30000 - i) * 3000;

		tb_sys_enter(tb, 0, at, SYS_write, 1, 0x20000, tb_random() >> 40);
		tb_sys_exit(tb, 0, at + 1000 + tb_random() % 1000, (int64_t)(tb_random() >> 40));
	}
}

int main(int argc, char **argv)
{
	struct tb *tb = tb_new();
	int fd = argc == 2 || argc == 3 ? open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0600) : -1;

	if (fd < 0) {
		fprintf(stderr, "usage: page_story FILE [empty|many|late]\n");
		return 2;
	}
	if (argc == 2 || strcmp(argv[2], "late") == 0) {
		describe(tb);
		if (argc == 3)
			tb_window(tb, START_NS - 7000000, AT(100));
		waits_begin(tb);
		waits_end(tb);
	}
	if (argc == 3 && strcmp(argv[2], "many") == 0) {
		describe(tb);
		many_calls(tb);
	}
	tb_write(tb, fd, true);
	tb_free(tb);
	return close(fd) ? 1 : 0;
}
