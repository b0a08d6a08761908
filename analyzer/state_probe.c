/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * state_probe.c - hits of probes, and what they cost the threads that made them
 *
 * A hit of a probe takes the thread into the kernel and back, microseconds around one event. The
 * recorder measures what a hit costs when the recording begins (probe_cost). Each hit moves that
 * time from the thread's own code to its time in the kernel, where it belongs: a breakpoint is a
 * trap. A hit never moves more than the thread has spent in its own code since the last move, so
 * that no sum changes and none becomes negative. The rest waits for the thread's next hit, because
 * a part of the cost comes after the event.
 *
 * Example: a hit costs 2.5 us. The first hit comes 1 us after the thread returned from a system
 * call: 1 us moves, 1.5 us are owed. The next hit comes 9 us later: 4 us move.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "result_order.h"
#include "sort.h"
#include "state.h"
#include "state_probe.h"

struct probe_thread_row {
	uint64_t key;	/* trace_thread_index() + 1 */
	uint64_t hits;	/* of probes with a known cost */
	uint64_t moved; /* from user to trap */
	uint64_t least; /* sum of the least that each hit may have cost */
	uint64_t most;
	uint64_t owed;
	uint64_t seen; /* user time after the last move */
};

/* Places of one event type may differ in their cost: then the least counts, in a wider range. */
void probe_cost_learn(struct trace_analysis *a, const struct trace_event *event)
{
	const struct trace_probe_cost *cost = event->payload;
	uint32_t idx = cost->event - TRACE_EV_MAX;
	struct hit_cost *bigger, *known;

	if (cost->event < TRACE_EV_MAX || cost->event > UINT16_MAX)
		return;
	if (idx >= a->probes.nr_costs) {
		bigger = reallocarray(a->probes.costs, idx + 1, sizeof(*bigger));
		if (!bigger) {
			a->failed = -ENOMEM;
			return;
		}
		memset(bigger + a->probes.nr_costs, 0, (idx + 1 - a->probes.nr_costs) * sizeof(*bigger));
		a->probes.costs = bigger;
		a->probes.nr_costs = idx + 1;
	}
	known = &a->probes.costs[idx];
	*known = (struct hit_cost){
		.ns = known->ns && known->ns < cost->ns ? known->ns : cost->ns,
		.least = known->ns && known->least < cost->least_ns ? known->least : cost->least_ns,
		.most = known->most > cost->most_ns ? known->most : cost->most_ns,
		.was_hit = known->was_hit,
	};
}

static struct hit_cost cost_of(const struct trace_analysis *a, uint32_t id)
{
	uint32_t idx = id - TRACE_EV_MAX;

	return idx < a->probes.nr_costs ? a->probes.costs[idx] : (struct hit_cost){0};
}

static uint64_t least_of(uint64_t left, uint64_t right)
{
	return left < right ? left : right;
}

/* Double entry: what the thread's own code gives, the CPU's column of programs gives, too. */
static void move(struct cpu *cpu, struct trace_thread *thread, struct probe_thread_row *row)
{
	uint64_t own = thread->acct.user - least_of(row->seen, thread->acct.user),
		 ns = least_of(least_of(row->owed, own), cpu->figures.user_ns);

	thread->acct.user -= ns;
	thread->acct.trap += ns;
	cpu->figures.user_ns -= ns;
	cpu->figures.system_ns += ns;
	row->owed -= ns;
	row->moved += ns;
	row->seen = thread->acct.user;
	/* a call or trap that the thread is in, or may be in, began after that time */
	for (unsigned int i = 0; i < MAX_FRAMES; i++)
		thread->frames[i].begin.cpu += ns;
}

void probe_hit(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event)
{
	struct hit_cost cost = cost_of(a, event->id);
	struct trace_thread *thread = cpu->current;
	struct probe_thread_row *row;

	if (!cost.ns)
		return;
	if (!a->is_past_window)
		a->probes.costs[event->id - TRACE_EV_MAX].was_hit = true;
	if (!is_thread(cpu, thread))
		return;
	acct_cpu(a, cpu, ns);
	if (!a->is_past_window)
		((struct probe_use_row *)acct_row(a, &a->probes.uses, sizeof(struct probe_use_row),
						  (uint64_t)thread->process->idx << 32 | event->id))
			->hits++;
	if (a->hooks.tables)
		a->hooks.tables->hit(a->hooks.tables_data, thread, event->id);
	row = acct_row(a, &a->probes.threads, sizeof(*row), thread->idx + 1ull);
	row->hits++;
	row->least += cost.least;
	row->most += cost.most;
	row->owed += cost.ns;
	if (!interrupted(cpu))
		move(cpu, thread, row);
}

void probe_figures(const struct trace_analysis *a, const struct trace_thread *thread, struct trace_figures *figures)
{
	const struct probe_thread_row *row = table_find(&a->probes.threads, sizeof(*row), thread->idx + 1ull);

	if (!row)
		return;
	figures->probe_hits += row->hits;
	figures->probe_ns += row->moved;
	figures->probe_least_ns += least_of(row->least, row->moved);
	/* what the thread has spent in its own code may be more of it */
	figures->probe_most_ns += row->most > row->moved ? least_of(row->most, row->moved + thread->acct.user)
							 : row->moved;
}

static int order(const void *left, const void *right)
{
	const struct trace_probe_use *l = left, *r = right;
	int difference = descending(l->hits * l->hit_ns, r->hits * r->hit_ns);

	difference = difference ?: by_process(l->process, r->process);
	difference = difference ?: strcmp(l->name, r->name);
	difference = difference ?: descending(l->hits, r->hits);
	return difference;
}

struct trace_probe_use *probe_use_list(const struct trace_analysis *a, const struct hash_table *uses, size_t *ret_nr)
{
	struct trace_probe_use *list = calloc(uses->used + 1, sizeof(*list)), *at = list;

	for (const struct probe_use_row *row = NULL; list && (row = table_next(uses, sizeof(*row), row));) {
		const struct trace_event_type *type = trace_type_by_id(a->trace, (uint32_t)row->key);
		struct hit_cost cost = cost_of(a, (uint32_t)row->key);

		*at++ = (struct trace_probe_use){.process = a->threads.processes[row->key >> 32],
						 .name = type ? type->name : "",
						 .hits = row->hits,
						 .hit_ns = cost.ns,
						 .hit_least_ns = cost.least,
						 .hit_most_ns = cost.most};
	}
	if (list && sort_rows(list, *ret_nr = (size_t)(at - list), sizeof(*list), order))
		return list;
	free(list);
	return NULL;
}

struct trace_probe_use *trace_probe_uses(const struct trace_analysis *a, size_t *ret_nr)
{
	return probe_use_list(a, &a->probes.uses, ret_nr);
}

const char **trace_probes_without_hits(const struct trace_analysis *a, size_t *ret_nr)
{
	const char **names = calloc(a->probes.nr_costs + 1, sizeof(*names));
	size_t nr = 0;

	for (uint32_t i = 0; names && i < a->probes.nr_costs; i++) {
		const struct trace_event_type *type = trace_type_by_id(a->trace, i + TRACE_EV_MAX);

		/* a scope is called by its begin */
		if (a->probes.costs[i].ns && !a->probes.costs[i].was_hit && type && type->role != TRACE_ROLE_END)
			names[nr++] = type->name;
	}
	if (names)
		*ret_nr = nr;
	return names;
}

void probe_uses_forget(struct trace_analysis *a)
{
	for (uint32_t i = 0; i < a->probes.nr_costs; i++)
		a->probes.costs[i].was_hit = false;
	acct_give_rows(a, &a->probes.uses, sizeof(struct probe_use_row));
	table_clear(&a->probes.uses);
}

void probe_sums_clear(struct probe_sums *sums)
{
	free(sums->costs);
	table_clear(&sums->uses);
	table_clear(&sums->threads);
	table_clear(&sums->events.uses);
}
