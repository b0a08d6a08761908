/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_STATE_EVENT_COST_H
#define ANALYZER_STATE_EVENT_COST_H
/* state_event_cost.h - what recording their events cost the programs: state_event_cost.c. */
#include <stdint.h>
#include "hash_table.h"

struct trace_analysis;
struct trace_event;
struct trace_figures;
struct trace_thread;

/* The cost of an event as the recorder measured it: picoseconds; 0: not known. */
struct event_sums {
	uint32_t ps;
	uint32_t least_ps;
	uint32_t most_ps;
	struct hash_table uses; /* event_use_row */
};

/** event_cost_learn() - apply an event_cost record */
void event_cost_learn(struct trace_analysis *a, const struct trace_event *event);
/** event_cost_hit() - @thread recorded an event of type @id itself; the cost is known */
void event_cost_hit(struct trace_analysis *a, struct trace_thread *thread, uint32_t id);
/**
 * event_figures() - add the cost of the events of @thread, which has @user_ns of user time, to
 * @figures
 */
void event_figures(const struct trace_analysis *a, const struct trace_thread *thread, uint64_t user_ns,
		   struct trace_figures *figures);
/** event_uses_forget() - count the events from now on: the window begins */
void event_uses_forget(struct trace_analysis *a);
#endif
