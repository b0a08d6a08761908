/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_STATE_EVENT_COST_H
#define ANALYZER_STATE_EVENT_COST_H
/* state_event_cost.h - what recording their events cost the programs: state_event_cost.c. */
#include <stdint.h>
#include "hash_table.h"

struct trace_analysis;
struct trace_event;
struct trace_event_use;
struct trace_figures;
struct trace_thread;

/* The cost of an event, as the recorder measured it. */
struct recording_cost {
	uint32_t ps; /* picoseconds; 0: not known */
	uint32_t least_ps;
	uint32_t most_ps;
};

/* Events with texts or more than 20 bytes of fields are long. */
struct event_counts {
	uint64_t events; /* all */
	uint64_t longs;
	uint64_t more_bytes; /* of the long ones, beyond LONG_BYTES each */
};

struct event_use_row {
	uint64_t key; /* process_idx << 32 | event id */
	struct event_counts counts;
};

struct event_sums {
	struct recording_cost cost, long_cost; /* long_cost: of LONG_BYTES; not known in older traces */
	uint32_t ps_per_64_bytes;	       /* for the rest of a long event */
	struct hash_table uses;		       /* event_use_row */
};

/** event_cost_learn() - apply an event_cost record */
void event_cost_learn(struct trace_analysis *a, const struct trace_event *event);
/** long_cost_learn() - apply a long_cost record */
void long_cost_learn(struct trace_analysis *a, const struct trace_event *event);
/** event_cost_hit() - @thread recorded @event itself; the cost is known */
void event_cost_hit(struct trace_analysis *a, struct trace_thread *thread, const struct trace_event *event);
/** event_use_list() - the rows of trace_event_uses() from @uses, struct event_use_row */
struct trace_event_use *event_use_list(const struct trace_analysis *a, const struct hash_table *uses, size_t *ret_nr);
/**
 * event_figures() - add the cost of the events of @thread, which has @user_ns of user time, to
 * @figures
 */
void event_figures(const struct trace_analysis *a, const struct trace_thread *thread, uint64_t user_ns,
		   struct trace_figures *figures);
#endif
