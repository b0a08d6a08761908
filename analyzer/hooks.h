/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_HOOKS_H
#define ANALYZER_HOOKS_H
/* hooks.h - the functions that callers have registered for the pass */
#include <stddef.h>
#include <stdint.h>
#include <trace/analysis.h>
#include <trace/events.h>

struct hook {
	uint64_t mask[TRACE_MASK_WORDS];
	trace_event_fn event;
	trace_interval_fn interval;
	trace_release_fn release;
	trace_late_gap_fn damage;
	uint32_t states; /* states of the intervals that the hook wants, as bits */
	void *data;
};

/* a struct hook's event function, sorted by event */
struct event_hook {
	trace_event_fn event;
	void *data;
};

struct hook_list {
	struct hook *list; /* owned */
	size_t nr;
	/*
	 * owned; the hooks of event id n (or bit TRACE_EV_USER) begin at first[n] and end before
	 * first[n + 1]
	 */
	struct event_hook *by_event;
	uint32_t first[TRACE_EV_MAX + 1];
	/*
	 * wait_key() of the blocked interval that hooks are called for; 0: unknown time, or not
	 * blocked
	 */
	uint64_t wait_key;
	uint32_t states; /* states that any interval hook wants: bit 1 << enum trace_state */
};

/* Does a hook want intervals of @state? */
#define WATCHED(a, state) ((a)->hooks.states >> (state)&1)

void hook_list_clear(struct hook_list *hooks);
/** hooks_prepare() - index the hooks by event; no hook can be added from now on */
int hooks_prepare(struct trace_analysis *a);

/** interval_emit() - call the interval hooks */
void interval_emit(struct trace_analysis *a, const struct trace_interval *interval);
/** emit_pieces() - the same for an interval off the CPUs, which gaps divide into pieces */
void emit_pieces(struct trace_analysis *a, const struct trace_interval *whole);
#endif
