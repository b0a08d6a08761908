/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_STATE_PROBE_H
#define ANALYZER_STATE_PROBE_H
/* state_probe.h - hits of probes, and what they cost the threads that made them: state_probe.c. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "handler.h"
#include "hash_table.h"
#include "state_event_cost.h"

struct trace_figures;
struct trace_probe_use;
struct trace_thread;

/**
 * struct hit_cost - the cost of one hit of an event, as the recorder measured it
 * @ns: 0: not known, and not of a probe in a program
 * @was_hit: by any thread, in the window if there is one
 */
struct hit_cost {
	uint32_t ns;
	uint32_t least;
	uint32_t most;
	bool was_hit;
};

struct probe_use_row {
	uint64_t key; /* process_idx << 32 | event id */
	uint64_t hits;
};

struct probe_sums {
	struct hit_cost *costs; /* owned; by event id - TRACE_EV_MAX */
	uint32_t nr_costs;
	struct hash_table uses;	   /* probe_use_row */
	struct hash_table threads; /* probe_thread_row */
	struct event_sums events;
};

/** probe_cost_learn() - apply a probe_cost record */
void probe_cost_learn(struct trace_analysis *a, const struct trace_event *event);
/**
 * probe_hit() - @event, which the kernel recorded on @cpu in a program: the thread there was
 * interrupted by a probe
 */
void probe_hit(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event);
/** probe_figures() - add the hits of @thread to @figures */
void probe_figures(const struct trace_analysis *a, const struct trace_thread *thread, struct trace_figures *figures);
/** probe_use_list() - the rows of trace_probe_uses() from @uses, struct probe_use_row */
struct trace_probe_use *probe_use_list(const struct trace_analysis *a, const struct hash_table *uses, size_t *ret_nr);
/** probe_uses_forget() - count the hits from now on: the window begins */
void probe_uses_forget(struct trace_analysis *a);
void probe_sums_clear(struct probe_sums *sums);
#endif
