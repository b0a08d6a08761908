/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test_reader.c - what goes into a trace comes out of it: every event, in order, and every loss in its place. */
#include "builder.h"
#include "unit.h"

#include <trace/reader.h>

static void events_of_several_cpus_come_in_time_order(void)
{
	struct tb *tb = tb_new();
	struct trace_error error;
	struct trace_cursor *cursor;
	const struct trace_event *event;
	struct trace *trace;
	uint64_t before = 0;
	int nr = 0;

	tb_switch(tb, 0, 1000, 0, 42, 0);
	tb_switch(tb, 1, 1100, 0, 43, 0);
	tb_sys_enter(tb, 0, 1500, 0, 3, 4, 5);
	tb_sys_exit(tb, 0, 1700, -2);
	tb_exec(tb, 1, 1600, 43, "/bin/true");
	trace = tb_open_trace(tb);
	cursor = trace_cursor_new(trace, NULL, &error);
	while ((event = trace_cursor_next(cursor))) {
		CU_ASSERT(event->ts_ns >= before);
		before = event->ts_ns;
		nr++;
		if (event->id == TRACE_EV_sched_exec)
			CU_ASSERT_STRING_EQUAL(trace_event_string(event), "/bin/true");
		if (event->id == TRACE_EV_sys_enter3)
			CU_ASSERT_EQUAL(((const struct trace_sys_enter3 *)event->payload)->arg2, 5);
	}
	CU_ASSERT_EQUAL(nr, 5);
	CU_ASSERT_EQUAL(trace_nr_gaps(trace), 0);
	CU_ASSERT_EQUAL(trace_nr_damages(trace), 0);
	trace_cursor_free(cursor);
	trace_close(trace);
	tb_free(tb);
}

static void a_loss_is_an_event_at_its_end(void)
{
	struct tb *tb = tb_new();
	const struct trace_event *event;
	struct trace_cursor *cursor;
	struct trace *trace;

	tb_switch(tb, 0, 1000, 0, 42, 0);
	tb_lost(tb, 0, 7);
	tb_switch(tb, 0, 5000, 42, 0, 1);
	trace = tb_open_trace(tb);
	cursor = trace_cursor_new(trace, NULL, NULL);
	event = trace_cursor_next(cursor);
	CU_ASSERT_EQUAL(event->ts_ns, 1000);
	event = trace_cursor_next(cursor);
	CU_ASSERT_EQUAL(event->id, TRACE_EV_trace_lost);
	CU_ASSERT_EQUAL(event->ts_ns, 5000);
	CU_ASSERT_EQUAL(((const struct trace_trace_lost *)event->payload)->lost, 7);
	CU_ASSERT_EQUAL(((const struct trace_trace_lost *)event->payload)->from_ns, 1000);
	event = trace_cursor_next(cursor);
	CU_ASSERT_EQUAL(event->id, TRACE_EV_sched_switch);
	CU_ASSERT_PTR_NULL(trace_cursor_next(cursor));
	CU_ASSERT_EQUAL(trace_get_info(trace)->lost, 7);
	trace_cursor_free(cursor);
	trace_close(trace);
	tb_free(tb);
}

static const struct unit_case cases[] = {
	{ "events_of_several_cpus_come_in_time_order", events_of_several_cpus_come_in_time_order },
	{ "a_loss_is_an_event_at_its_end", a_loss_is_an_event_at_its_end },
	{ NULL, NULL },
};

int main(int argc, char **argv)
{
	return unit_main("reader", cases, argc, argv);
}
