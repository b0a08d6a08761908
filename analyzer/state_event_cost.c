/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * state_event_cost.c - what recording their events cost the programs
 *
 * A program with tracepoints records its events itself, in user mode, so that time is in what the
 * report calls its own code. The recorder measures what an event costs on this machine when the
 * recording begins (event_cost). The events of a thread multiplied by that cost are a part of its
 * user time, and never more than all of it.
 *
 * Example: an event costs 11 ns. A thread that records 10 million events in 300 ms of its own code
 * spent 110 ms recording and 190 ms in its own code.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "sort.h"
#include "state.h"
#include "state_event_cost.h"

struct event_use_row {
	uint64_t key; /* process_idx << 32 | event id */
	uint64_t events;
};

void event_cost_learn(struct trace_analysis *a, const struct trace_event *event)
{
	const struct trace_event_cost *cost = event->payload;

	a->probes.events.ps = cost->ps;
	a->probes.events.least_ps = cost->least_ps;
	a->probes.events.most_ps = cost->most_ps;
}

void event_cost_hit(struct trace_analysis *a, struct trace_thread *thread, uint32_t id)
{
	struct event_use_row *row;

	thread->nr_records++;
	if (a->is_past_window)
		return;
	row = acct_row(a, &a->probes.events.uses, sizeof(*row), (uint64_t)thread->process->idx << 32 | id);
	row->events++;
}

static uint64_t cost_of(uint64_t events, uint64_t ps)
{
	uint64_t product;

	return __builtin_mul_overflow(events, ps, &product) ? UINT64_MAX / 1000 : product / 1000;
}

static uint64_t least_of(uint64_t left, uint64_t right)
{
	return left < right ? left : right;
}

void event_figures(const struct trace_analysis *a, const struct trace_thread *thread, uint64_t user_ns,
		   struct trace_figures *figures)
{
	const struct event_sums *sums = &a->probes.events;

	figures->event_records += thread->nr_records;
	figures->event_ns += least_of(cost_of(thread->nr_records, sums->ps), user_ns);
	figures->event_least_ns += least_of(cost_of(thread->nr_records, sums->least_ps), user_ns);
	figures->event_most_ns += least_of(cost_of(thread->nr_records, sums->most_ps), user_ns);
}

/* Equal numbers are ordered by name, so that a report is the same every time. */
static int order(const void *left, const void *right)
{
	const struct trace_event_use *l = left, *r = right;

	if (l->events != r->events)
		return l->events > r->events ? -1 : 1;
	if (l->process != r->process)
		return l->process->idx < r->process->idx ? -1 : 1;
	return strcmp(l->name, r->name);
}

struct trace_event_use *trace_event_uses(const struct trace_analysis *a, size_t *ret_nr)
{
	const struct event_sums *sums = &a->probes.events;
	struct trace_event_use *list = calloc(sums->uses.used + 1, sizeof(*list)), *at = list;

	for (const struct event_use_row *row = NULL; list && (row = table_next(&sums->uses, sizeof(*row), row));) {
		const struct trace_event_type *type = trace_type_by_id(a->trace, (uint32_t)row->key);

		*at++ = (struct trace_event_use){.process = a->threads.processes[row->key >> 32],
						 .name = type ? type->name : "",
						 .events = row->events,
						 .cost_ns = cost_of(row->events, sums->ps)};
	}
	if (list && sort_rows(list, *ret_nr = (size_t)(at - list), sizeof(*list), order))
		return list;
	free(list);
	return NULL;
}

uint32_t trace_event_cost_ps(const struct trace_analysis *a, uint32_t *ret_least_ps, uint32_t *ret_most_ps)
{
	*ret_least_ps = a->probes.events.least_ps;
	*ret_most_ps = a->probes.events.most_ps;
	return a->probes.events.ps;
}

void event_uses_forget(struct trace_analysis *a)
{
	acct_give_rows(a, &a->probes.events.uses, sizeof(struct event_use_row));
	table_clear(&a->probes.events.uses);
}
