/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test_reader_text.c - text that the reader makes: strings, events as text, fields by their
 * name. */
#include <arpa/inet.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "image.h"
#include "unit.h"

static void the_later_of_two_strings_counts(void)
{
	struct tb *tb = tb_new();
	struct trace *trace;

	tb_string(tb, TRACE_STRING_IRQ, 5, "new");
	tb_string(tb, TRACE_STRING_IRQ, 5, "old"); /* the builder writes the last one first */
	tb_string(tb, TRACE_STRING_SYMBOL, 0xffffffff81000000, "startup_64");
	tb_string(tb, TRACE_STRING_NOT_TRACED, 0, "fault_exit: perf events are not permitted");
	tb_string(tb, TRACE_STRING_INFO, TRACE_INFO_KERNEL, "6.18");
	trace = tb_open_trace(tb);
	CU_ASSERT_STRING_EQUAL(trace_string(trace, TRACE_STRING_IRQ, 5), "new");
	CU_ASSERT_PTR_NULL(trace_string(trace, TRACE_STRING_IRQ, 6));
	CU_ASSERT_PTR_NULL(trace_string(trace, TRACE_STRING_SOFTIRQ, 5));
	CU_ASSERT_STRING_EQUAL(trace_string(trace, TRACE_STRING_SYMBOL, 0xffffffff81000000), "startup_64");
	CU_ASSERT_PTR_NULL(trace_string(trace, TRACE_STRING_SYMBOL, 0xffffffff81000001));
	CU_ASSERT_STRING_EQUAL(trace_not_traced(trace, 0), "fault_exit: perf events are not permitted");
	CU_ASSERT_PTR_NULL(trace_not_traced(trace, 1));
	CU_ASSERT_STRING_EQUAL(trace_get_info(trace)->kernel, "6.18");
	CU_ASSERT_STRING_EQUAL(trace_get_info(trace)->host, "");
	trace_close(trace);
	tb_free(tb);
}

static void add_address(struct tb *tb, uint64_t ts_ns, const char *local, const char *remote)
{
	struct trace_sock_endpoints endpoints = {.fd = 3, .family = 10, .local_port = 80, .remote_port = 4000};
	struct in6_addr address;

	inet_pton(AF_INET6, local, &address);
	memcpy(&endpoints.local_hi, address.s6_addr, 8);
	memcpy(&endpoints.local_lo, address.s6_addr + 8, 8);
	inet_pton(AF_INET6, remote, &address);
	memcpy(&endpoints.remote_hi, address.s6_addr, 8);
	memcpy(&endpoints.remote_lo, address.s6_addr + 8, 8);
	tb_event(tb, 0, ts_ns, TRACE_EV_sock_endpoints, &endpoints, sizeof(endpoints), NULL);
}

static const char *const expected_texts[] = {
	"SYSCALL : read(0x3, 0x1, 0x1000)",
	"SYSCALL : exit_32",
	"SYSCALL : 999",
	"RETURN : -ENOENT",
	"RETURN : -ERESTARTSYS",
	"RETURN : 17",
	"RETURN : -9999",
	"IN : 42; OUT : 41; STATE : R",
	"IN : 42; OUT : 41; STATE : S",
	"IN : 42; OUT : 41; STATE : D",
	"IN : 42; OUT : 41; STATE : I",
	"IN : 42; OUT : 41; STATE : X",
	"WAKEUP PID : 7; FROM : softirq",
	"SOFT IRQ : NET_RX",
	"SOFT IRQ : 9",
	"IRQ : virtio0",
	"VECTOR : local timer",
	"BLOCK ISSUE : vda 100 + 4096",
	"BLOCK ISSUE : 8:3 100 + 4096",
	"DELIVER SIGNAL : SIGKILL",
	"DELIVER SIGNAL : SIG40",
	"SO CREATE; FD : 3; inet6; LOCAL : [2001:db8::1]:80; REMOTE : 10.1.2.3:4000",
	"SO CREATE; FD : 3; inet6; LOCAL : *:80; REMOTE : [::1]:4000",
	"MISSED : 3 of sched_switch",
	"EXEC : /bin/caf\xc3\xa9 \\x1b[31m\\xff\\xc3(\\xed\\xa0\\x80\\xc2\\x85|",
	"MARK : ",
};

static struct tb *text_trace(void)
{
	struct tb *tb = tb_new();
	uint64_t ts = 1000;

	tb_string(tb, TRACE_STRING_SYSCALL, 0, "read");
	tb_string(tb, TRACE_STRING_SYSCALL_32, 1, "exit_32");
	tb_string(tb, TRACE_STRING_SOFTIRQ, 3, "NET_RX");
	tb_string(tb, TRACE_STRING_IRQ, 24, "virtio0");
	tb_string(tb, TRACE_STRING_VECTOR, TRACE_VECTOR_LOCAL_TIMER, "local timer");
	tb_string(tb, TRACE_STRING_DEVICE, 254 << 20, "vda");
	tb_sys_enter(tb, 0, ts++, 0, 3, 0x7ffe, 4096);
	tb_add(tb, 0, ts++, sys_enter, NULL, .nr = 1, .abi = TRACE_ABI_32);
	tb_add(tb, 0, ts++, sys_enter, NULL, .nr = 999);
	tb_sys_exit(tb, 0, ts++, -ENOENT);
	tb_sys_exit(tb, 0, ts++, -512);
	tb_sys_exit(tb, 0, ts++, 17);
	tb_sys_exit(tb, 0, ts++, -9999);
	tb_switch(tb, 0, ts++, 41, 42, TRACE_TASK_RUNNING);
	tb_switch(tb, 0, ts++, 41, 42, TRACE_TASK_INTERRUPTIBLE);
	tb_switch(tb, 0, ts++, 41, 42, TRACE_TASK_UNINTERRUPTIBLE);
	tb_switch(tb, 0, ts++, 41, 42, TRACE_TASK_UNINTERRUPTIBLE | TRACE_TASK_NOLOAD);
	tb_switch(tb, 0, ts++, 41, 42, TRACE_TASK_DEAD);
	tb_waking(tb, 0, ts++, 7, TRACE_CONTEXT_SOFTIRQ);
	tb_softirq(tb, 0, ts++, 3);
	tb_softirq(tb, 0, ts++, 9);
	tb_irq(tb, 0, ts++, 24);
	tb_vector(tb, 0, ts++, TRACE_VECTOR_LOCAL_TIMER);
	tb_add(tb, 0, ts++, block_issue, NULL, .sector = 100, .dev = 254 << 20, .bytes = 4096);
	tb_add(tb, 0, ts++, block_issue, NULL, .sector = 100, .dev = 8 << 20 | 3, .bytes = 4096);
	tb_add(tb, 0, ts++, signal_deliver, NULL, .signal = SIGKILL);
	tb_add(tb, 0, ts++, signal_deliver, NULL, .signal = 40);
	add_address(tb, ts++, "2001:db8::1", "::ffff:10.1.2.3");
	add_address(tb, ts++, "::", "::1");
	tb_add(tb, 0, ts++, trace_missed, NULL, .count = 3, .event = TRACE_EV_sched_switch);
	tb_exec(tb, 0, ts++, 42, "/bin/caf\xc3\xa9 \x1b[31m\xff\xc3(\xed\xa0\x80\xc2\x85|");
	tb_add(tb, 0, ts++, trace_mark, "", );
	return tb;
}

static void numbers_of_any_length_read_as_text(void)
{
	struct tb *tb = tb_new();
	struct trace_cursor *cursor;
	const struct trace_event *event;
	uint64_t numbers[200], nr = 0;
	struct trace *trace;

	for (uint64_t ten = 1, two = 1; nr < 180; ten *= 10, two *= 2) {
		for (uint64_t number = ten - 1; number <= ten + 1; number++)
			numbers[nr++] = number;
		for (uint64_t number = two - 1; number <= two + 1; number++)
			numbers[nr++] = number;
	}
	for (uint64_t i = 0; i < nr; i++) {
		tb_add(tb, 0, 1000 + 3 * i, fs_throttle, NULL, .pause_ms = (int64_t)numbers[i]);
		tb_add(tb, 0, 1001 + 3 * i, fs_throttle, NULL, .pause_ms = -(int64_t)numbers[i]);
		tb_add(tb, 0, 1002 + 3 * i, tasklet_entry, NULL, .func = numbers[i]);
	}
	trace = tb_open_trace(tb);
	cursor = trace_cursor_new(trace, NULL, NULL);
	for (uint64_t i = 0; (event = trace_cursor_next(cursor)); i++) {
		char text[100], expected[100];

		if (i % 3 == 2)
			snprintf(expected, sizeof(expected), "TASKLET ACTION : 0x%llx",
				 (unsigned long long)numbers[i / 3]);
		else
			snprintf(expected, sizeof(expected), "THROTTLE : %lld ms",
				 (long long)(i % 3 ? -numbers[i / 3] : numbers[i / 3]));
		CU_ASSERT_EQUAL(trace_event_format(trace, event, text, sizeof(text)), (int)strlen(expected));
		CU_ASSERT_STRING_EQUAL(text, expected);
		for (size_t room = 1; room < strlen(expected); room++) {
			memset(text, '#', sizeof(text));
			CU_ASSERT_EQUAL(trace_event_format(trace, event, text, room), (int)strlen(expected));
			CU_ASSERT_TRUE(strlen(text) == room - 1 && !memcmp(text, expected, room - 1) &&
				       text[room] == '#');
		}
	}
	CU_ASSERT_EQUAL(trace_cursor_end(cursor, NULL), 0);
	trace_close(trace);
	tb_free(tb);
}

static void events_read_as_text(void)
{
	struct tb *tb = text_trace();
	struct trace *trace = tb_open_trace(tb);
	struct trace_cursor *cursor = trace_cursor_new(trace, NULL, NULL);
	const struct trace_event *event;
	char text[256], cut[8];
	size_t nr = 0;

	while ((event = trace_cursor_next(cursor)) && nr < sizeof(expected_texts) / sizeof(expected_texts[0])) {
		int length = trace_event_format(trace, event, text, sizeof(text));

		CU_ASSERT_STRING_EQUAL(text, expected_texts[nr]);
		CU_ASSERT_EQUAL((size_t)length, strlen(text));
		CU_ASSERT_EQUAL(trace_event_format(trace, event, cut, sizeof(cut)), length);
		CU_ASSERT_NSTRING_EQUAL(cut, text, strlen(cut));
		CU_ASSERT_EQUAL(strlen(cut), (size_t)length < 7 ? (size_t)length : 7);
		CU_ASSERT_EQUAL(trace_event_format(trace, event, NULL, 0), length);
		nr++;
	}
	CU_ASSERT_EQUAL(nr, sizeof(expected_texts) / sizeof(expected_texts[0]));
	CU_ASSERT_EQUAL(trace_cursor_end(cursor, NULL), 0);
	trace_close(trace);
	tb_free(tb);
}

static void fields_read_by_name(void)
{
	struct tb *tb = tb_new();
	const struct trace_event *event;
	struct trace_cursor *cursor;
	struct trace *trace;

	tb_add(tb, 0, 1000, fs_open, "/x", .fd = -1, .mode = 0100644, .ino = 1ull << 40);
	trace = tb_open_trace(tb);
	cursor = trace_cursor_new(trace, NULL, NULL);
	event = trace_cursor_next(cursor);
	CU_ASSERT_EQUAL((int64_t)trace_event_u64(event, trace_type_field(event->type, "fd")), -1);
	CU_ASSERT_EQUAL(trace_event_u64(event, trace_type_field(event->type, "mode")), 0100644);
	CU_ASSERT_EQUAL(trace_event_u64(event, trace_type_field(event->type, "ino")), 1ull << 40);
	CU_ASSERT_EQUAL(trace_event_u64(event, trace_type_field(event->type, "nothing")), 0);
	CU_ASSERT_STRING_EQUAL(trace_event_string(event), "/x");
	trace_cursor_free(cursor);
	trace_close(trace);
	tb_free(tb);
}

static const struct unit_case cases[] = {
	{"the_later_of_two_strings_counts", the_later_of_two_strings_counts},
	{"numbers_of_any_length_read_as_text", numbers_of_any_length_read_as_text},
	{"events_read_as_text", events_read_as_text},
	{"fields_read_by_name", fields_read_by_name},
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	return unit_main("reader_text", cases, argc, argv);
}
