/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * state_event_cost.c - what recording their events cost the programs
 *
 * A program with tracepoints records its events itself, in user mode, so that time is in what the
 * report calls its own code. The recorder measures what an event costs on this machine when the
 * recording begins (event_cost). The events of a thread multiplied by that cost are a part of its
 * user time, and never more than all of it.
 *
 * A text, or more than 20 bytes of fields, makes an event a long one: libtracer copies it, which
 * takes longer, the more bytes it has. In the traces of recorders that did not measure that, long
 * events cost what the others do, which is less than the truth.
 *
 * In a window the events in it count.
 *
 * Example: an event costs 11 ns. A thread that records 10 million events in 300 ms of its own code
 * spent 110 ms recording and 190 ms in its own code.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "result_order.h"
#include "sort.h"
#include "state.h"
#include "state_event_cost.h"
#include "thread_rare.h"

#define LONG_BYTES 24 /* of the payload that the recorder measured: a number of a thread and 20 bytes */

void event_cost_learn(struct trace_analysis *a, const struct trace_event *event)
{
	const struct trace_event_cost *cost = event->payload;

	a->probes.events.cost =
		(struct recording_cost){.ps = cost->ps, .least_ps = cost->least_ps, .most_ps = cost->most_ps};
}

void long_cost_learn(struct trace_analysis *a, const struct trace_event *event)
{
	const struct trace_long_cost *cost = event->payload;

	a->probes.events.long_cost =
		(struct recording_cost){.ps = cost->ps, .least_ps = cost->least_ps, .most_ps = cost->most_ps};
	a->probes.events.ps_per_64_bytes = cost->ps_per_64_bytes;
}

static void count(struct event_counts *counts, const struct trace_event *event)
{
	uint32_t bytes = event->payload_bytes - event->type->has_string; /* without the NUL */

	counts->events++;
	if (!event->type->has_string && bytes <= LONG_BYTES)
		return;
	counts->longs++;
	counts->more_bytes += bytes > LONG_BYTES ? bytes - LONG_BYTES : 0;
}

void event_cost_hit(struct trace_analysis *a, struct trace_thread *thread, const struct trace_event *event)
{
	struct event_use_row *row;
	struct thread_rare *rare;

	if (a->hooks.tables) {
		struct event_counts one = {0};

		count(&one, event);
		a->hooks.tables->event(a->hooks.tables_data, thread, event->id, &one);
	}
	if (a->is_before_window || a->is_past_window)
		return;
	rare = thread_rare(a, thread);
	if (!rare)
		return;
	count(&rare->own_events, event);
	row = acct_row(a, &a->probes.events.uses, sizeof(*row), (uint64_t)thread->process->idx << 32 | event->id);
	count(&row->counts, event);
}

static uint64_t product(uint64_t left, uint64_t right)
{
	uint64_t value;

	return __builtin_mul_overflow(left, right, &value) ? UINT64_MAX / 4 : value;
}

static uint64_t least_of(uint64_t left, uint64_t right)
{
	return left < right ? left : right;
}

/* @short_ps, @long_ps: the same of the two costs, such as the least; @long_ps 0: not measured. */
static uint64_t cost_of(const struct event_sums *sums, const struct event_counts *counts, uint32_t short_ps,
			uint32_t long_ps)
{
	uint64_t ps = product(counts->events - counts->longs, short_ps),
		 long_sum = product(counts->longs, long_ps ? long_ps : short_ps),
		 more = product(counts->more_bytes, sums->ps_per_64_bytes) / 64, max = UINT64_MAX / 4;

	return (least_of(ps, max) + least_of(long_sum, max) + least_of(more, max)) / 1000;
}

static uint64_t cost_ns(const struct event_sums *sums, const struct event_counts *counts)
{
	return cost_of(sums, counts, sums->cost.ps, sums->long_cost.ps);
}

void event_figures(const struct trace_analysis *a, const struct trace_thread *thread, uint64_t user_ns,
		   struct trace_figures *figures)
{
	const struct event_sums *sums = &a->probes.events;
	const struct event_counts *counts = &thread->rare->own_events;

	figures->event_records += counts->events;
	figures->event_ns += least_of(cost_ns(sums, counts), user_ns);
	figures->event_least_ns += least_of(cost_of(sums, counts, sums->cost.least_ps, sums->long_cost.least_ps),
					    user_ns);
	figures->event_most_ns += least_of(cost_of(sums, counts, sums->cost.most_ps, sums->long_cost.most_ps), user_ns);
}

static int order(const void *left, const void *right)
{
	const struct trace_event_use *l = left, *r = right;

	return descending(l->events, r->events) ?: by_process(l->process, r->process) ?: strcmp(l->name, r->name);
}

struct trace_event_use *event_use_list(const struct trace_analysis *a, const struct hash_table *uses, size_t *ret_nr)
{
	struct trace_event_use *list = calloc(uses->used + 1, sizeof(*list)), *at = list;

	for (const struct event_use_row *row = NULL; list && (row = table_next(uses, sizeof(*row), row));) {
		const struct trace_event_type *type = trace_type_by_id(a->trace, (uint32_t)row->key);

		*at++ = (struct trace_event_use){.process = a->threads.processes[row->key >> 32],
						 .name = type ? type->name : "",
						 .events = row->counts.events,
						 .cost_ns = cost_ns(&a->probes.events, &row->counts)};
	}
	if (list && sort_rows(list, *ret_nr = (size_t)(at - list), sizeof(*list), order))
		return list;
	free(list);
	return NULL;
}

struct trace_event_use *trace_event_uses(const struct trace_analysis *a, size_t *ret_nr)
{
	return event_use_list(a, &a->probes.events.uses, ret_nr);
}

uint32_t trace_event_cost_ps(const struct trace_analysis *a, uint32_t *ret_least_ps, uint32_t *ret_most_ps)
{
	*ret_least_ps = a->probes.events.cost.least_ps;
	*ret_most_ps = a->probes.events.cost.most_ps;
	return a->probes.events.cost.ps;
}

uint32_t trace_event_long_cost_ps(const struct trace_analysis *a, uint32_t *ret_ps_per_64_bytes)
{
	*ret_ps_per_64_bytes = a->probes.events.ps_per_64_bytes;
	return a->probes.events.long_cost.ps;
}
