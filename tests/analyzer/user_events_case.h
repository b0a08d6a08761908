/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TESTS_USER_EVENTS_CASE_H
#define TESTS_USER_EVENTS_CASE_H
/*
 * user_events_case.h - shared by the tests of program events: a built trace of a program that has
 * some.
 *
 * "shop" (10) runs on CPU 0 from the start. read_orders() is a read of a file from 2000 to 6200
 * that blocks from 3000 to 6000 and waits for a CPU until 6100.
 */
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <trace/user_events.h>
#include "builder.h"

/* tid, and one number */
struct payload {
	uint32_t tid;
	uint32_t pad;
	uint64_t value;
};

struct story {
	struct tb *tb;
	struct trace *trace;
	struct trace_analysis *analysis;
	struct trace_user_events *user;
};

static inline uint16_t event_type(struct tb *tb, const char *name, enum trace_event_role role)
{
	static const struct trace_field value = {
		.name = "value", .offset = 8, .bytes = 8, .is_signed = true, .kind = TRACE_KIND_DEC};
	struct trace_event_type type = {.name = name,
					.classic = "NONE",
					.text = "",
					.doc = "",
					.program = "NONE",
					.fields = &value,
					.nr_fields = 1,
					.fixed_bytes = 16,
					.category = TRACE_CATEGORY_USER,
					.flags = TRACE_EVENT_ON | TRACE_EVENT_TID,
					.role = role,
					.source = "shop.c:1 main"};

	return tb_user_type(tb, &type);
}

static inline void emit(struct tb *tb, uint32_t cpu, uint64_t ts_ns, uint16_t id, uint32_t tid, int64_t value)
{
	struct payload payload = {.tid = tid, .value = (uint64_t)value};

	tb_user_event(tb, cpu, ts_ns, id, &payload, sizeof(payload));
}

#define MANY_KINDS 260u /* 67,600 pairs; the analysis follows 65,536 kinds of spans */

/* @nr events of one provider, each after each */
static inline void emit_pairs(struct tb *tb, uint32_t nr)
{
	static char names[MANY_KINDS][32];
	uint16_t ids[MANY_KINDS];
	uint64_t ns = 2000;

	tb_window(tb, 1000, 1000000);
	for (uint32_t i = 0; i < nr; i++) {
		snprintf(names[i], sizeof(names[i]), "shop:step%u", i);
		ids[i] = event_type(tb, names[i], TRACE_ROLE_EVENT);
	}
	for (uint32_t i = 0; i < nr; i++)
		for (uint32_t k = 0; k < nr; k++) {
			emit(tb, 0, ns++, ids[i], 10, 0);
			emit(tb, 0, ns++, ids[k], 10, 0);
		}
}

/* Records at @ts_ns which program the events of @cpu come from. */
static inline void stream_at(struct tb *tb, uint32_t cpu, uint64_t ts_ns, uint32_t pid)
{
	struct trace_user_stream stream = {.stream = TB_USER_STREAM + cpu, .pid = pid, .uid = 0, .cpu = cpu};

	tb_event(tb, cpu, ts_ns, TRACE_EV_user_stream, &stream, sizeof(stream), "/bin/shop");
}

static inline void stream(struct tb *tb, uint32_t cpu, uint32_t pid)
{
	stream_at(tb, cpu, 1000, pid);
}

static inline struct story begin(void)
{
	struct story s = {.tb = tb_new()};

	tb_window(s.tb, 1000, 20000);
	tb_string(s.tb, TRACE_STRING_SYSCALL, SYS_read, "read");
	tb_thread(s.tb, 10, 10, 1, "shop", 0, true);
	tb_thread(s.tb, 11, 10, 1, "shop", 1, true);
	tb_fd(s.tb, 10, 3, 1, 100, S_IFREG | 0644, "/orders.db");
	stream(s.tb, 0, 10);
	stream(s.tb, 1, 10);
	return s;
}

static inline void read_orders(struct tb *tb)
{
	struct trace_block_complete done = {.dev = 0xfe00000, .bytes = 4096};

	tb_sys_enter(tb, 0, 2000, SYS_read, 3, 0, 4096);
	tb_switch(tb, 0, 3000, 10, 0, TRACE_TASK_UNINTERRUPTIBLE);
	tb_irq(tb, 0, 5900, 7);
	tb_event(tb, 0, 5950, TRACE_EV_block_complete, &done, sizeof(done), NULL);
	tb_waking(tb, 0, 6000, 10, TRACE_CONTEXT_HARDIRQ);
	tb_irq_exit(tb, 0, 6050, 7);
	tb_switch(tb, 0, 6100, 0, 10, TRACE_TASK_RUNNING);
	tb_sys_exit(tb, 0, 6200, 4096);
}
#endif
