/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef BASE_RUNNING_NAME_H
#define BASE_RUNNING_NAME_H
/*
 * running_name.h - which events name the thread that runs on their CPU, and which ones it made.
 *
 * A thread that passes the filters of a recording leaves its CPU by a recorded switch. So if two
 * events of a CPU in succession name the same thread, it made all events in between. If they name
 * different threads, and no switch came between, a switch was not recorded: the events in between
 * are of either thread. The analysis and the list of events ask here.
 */
#include <stdbool.h>
#include <stdint.h>
#include <trace/reader.h>

/** running_name_mask() - the events that name a thread, in @mask */
static inline void running_name_mask(uint64_t mask[TRACE_MASK_WORDS])
{
	static const uint32_t ids[] = {TRACE_EV_sched_switch, TRACE_EV_sched_fork, TRACE_EV_sched_exec,
				       TRACE_EV_sched_exit, TRACE_EV_sched_ids};

	for (unsigned int i = 0; i < sizeof(ids) / sizeof(ids[0]); i++)
		mask[ids[i] / 64] |= 1ull << ids[i] % 64;
}

/**
 * running_name() - the thread that made @event, if @event names it; for an exec, by its old number
 * Returns false if it does not, or if its type in this trace is too short.
 */
static inline bool running_name(const struct trace_event *event, uint32_t *ret_tid)
{
#define NAMES(name, field)                                                       \
	case TRACE_EV_##name:                                                    \
		if (event->type->fixed_bytes < sizeof(struct trace_##name))      \
			return false;                                            \
		*ret_tid = ((const struct trace_##name *)event->payload)->field; \
		return true
	switch (event->id) {
		NAMES(sched_switch, prev_tid);
		NAMES(sched_fork, parent_tid);
		NAMES(sched_exec, old_tid);
		NAMES(sched_exit, tid);
		NAMES(sched_ids, tid);
	default:
		return false;
	}
#undef NAMES
}

/**
 * is_own_event() - did the thread on the CPU make @event, and does it pass the filters?
 * Scheduler events and signals may concern another thread that passes. A change of ids is recorded
 * of all threads.
 */
static inline bool is_own_event(const struct trace_event *event)
{
	if (!event->type || event->id < TRACE_EV_sys_enter || event->id == TRACE_EV_sched_ids)
		return false;
	if (event->id >= TRACE_EV_MAX)
		return !(event->type->flags & TRACE_EVENT_TID); /* the event of a probe */
	switch (event->type->category) {
	case TRACE_CATEGORY_SCHED:
		return event->id == TRACE_EV_sched_exec;
	case TRACE_CATEGORY_START:
	case TRACE_CATEGORY_IPC:
	case TRACE_CATEGORY_USER:
		return false;
	default:
		return true;
	}
}
#endif
