/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef BASE_SWITCH_EVENT_H
#define BASE_SWITCH_EVENT_H
/*
 * switch_event.h - events of `-e sched:sched_switch`
 *
 * The kernel passes this tracepoint in the context of the thread that goes. The recorder's own
 * program is attached before the one of -e, so that its event, TRACE_EV_sched_switch, is earlier:
 * for a reader that thread is off the CPU already, and may be dead.
 */
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <trace/reader.h>

/**
 * switch_event_thread() - is @event one of them?
 * @ret_tid: gets the thread that goes, if the event has the field prev_pid
 */
static inline bool switch_event_thread(const struct trace_event *event, uint32_t *ret_tid)
{
	const struct trace_field *prev_pid;

	if (event->id < TRACE_EV_MAX || !event->type || strcmp(event->type->name, "sched:sched_switch") != 0)
		return false;
	prev_pid = trace_type_field(event->type, "prev_pid");
	if (prev_pid)
		*ret_tid = (uint32_t)trace_event_u64(event, prev_pid);
	return true;
}

#endif
