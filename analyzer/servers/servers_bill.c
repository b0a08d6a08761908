/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * servers_bill.c - bills: the CPU time of a process, charged to the origins of the requests that it
 * worked on
 *
 * A thread with requests of several origins works for each of them an equal part of the time.
 * Example: 1000 ns with requests of A, B and C are 333 ns for each, and 1 ns remains. The first
 * bill of the process gives the remaining ns to A, the next one gives it to C, the third to B.
 */
#include <errno.h>
#include <stdlib.h>
#include "servers_state.h"

static uint32_t distinct_origins(struct trace_servers *s, const struct set *set, uint32_t *origins)
{
	uint64_t stamp = ++s->sets.stamp;
	uint32_t nr = 0;

	for (uint32_t i = 0; i < set->nr; i++) {
		uint32_t origin = set->items[i]->origin;

		if (s->origins.stamps[origin] != stamp)
			origins[nr++] = origin;
		s->origins.stamps[origin] = stamp;
	}
	return nr;
}

struct bill *bill_of(struct trace_servers *s, struct servers_process *process, uint32_t origin)
{
	struct bill *bill = table_add(&process->bills, sizeof(*bill), origin + 1ull);

	if (!bill)
		s->failed = -ENOMEM;
	return bill;
}

static void bill_share(struct trace_servers *s, struct servers_process *process, uint32_t origin,
		       const struct cpu_time *part, bool shared)
{
	struct bill *bill = bill_of(s, process, origin);

	if (!bill)
		return;
	*(shared ? &bill->shared : &bill->exact) += part->cpu;
	bill->interrupted += part->interrupted;
	process->billed += part->cpu;
}

void bill_receiving(struct trace_servers *s, struct servers_process *process, uint32_t origin, uint64_t ns)
{
	struct bill *bill = bill_of(s, process, origin);

	if (bill)
		bill->receiving += ns;
}

static void bill_set(struct trace_servers *s, struct servers_process *process, const struct set *set,
		     const struct cpu_time *time)
{
	uint32_t small_array[16], *origins = set->nr <= 16 ? small_array : malloc(set->nr * sizeof(*origins)), nr, at;
	struct cpu_time each, remainder;
	uint64_t nr_parts;

	if (!origins) {
		s->failed = -ENOMEM;
		return;
	}
	nr = distinct_origins(s, set, origins);
	each = (struct cpu_time){.cpu = time->cpu / nr, .interrupted = time->interrupted / nr};
	remainder = (struct cpu_time){.cpu = time->cpu % nr, .interrupted = time->interrupted % nr};
	nr_parts = each.cpu || each.interrupted		   ? nr
		   : remainder.cpu > remainder.interrupted ? remainder.cpu
							   : remainder.interrupted;
	/*
	 * The remaining ns go to each origin in turn. If there are more origins than ns, the other
	 * origins get nothing.
	 */
	at = (uint32_t)((nr - process->next_remainder % nr) % nr);
	for (uint64_t i = 0; i < nr_parts; i++, at = at + 1 < nr ? at + 1 : 0) {
		struct cpu_time part = {.cpu = each.cpu + (i < remainder.cpu),
					.interrupted = each.interrupted + (i < remainder.interrupted)};

		bill_share(s, process, origins[at], &part, nr > 1);
	}
	process->next_remainder++;
	if (origins != small_array)
		free(origins);
}

void bill_until(struct trace_servers *s, struct servers_thread *thread, const struct cpu_time *until)
{
	struct cpu_time part = {.cpu = until->cpu - thread->charged.cpu};

	if (until->cpu <= thread->charged.cpu)
		return;
	if (until->interrupted > thread->charged.interrupted)
		part.interrupted = until->interrupted - thread->charged.interrupted;
	if (thread->set)
		bill_set(s, thread->process, thread->set, &part);
	thread->charged = *until;
}

void bill_now(struct trace_servers *s, struct servers_thread *thread)
{
	struct cpu_time now = servers_cpu_time(s, thread);

	bill_until(s, thread, &now);
}

void bill_replace_set(struct trace_servers *s, struct servers_thread *thread, struct set *set,
		      const struct cpu_time *until)
{
	bool changes = thread->set != set;

	bill_until(s, thread, until);
	set_assign(&thread->set, set);
	set_assign(&thread->passed, NULL);
	thread->tentative = false;
	if (changes)
		log_set(s, thread);
}

void bill_drop_replied(struct trace_servers *s, struct servers_thread *thread)
{
	bill_now(s, thread);
	set_drop_replied(&s->sets, &thread->set);
	if (thread->log)
		log_set(s, thread);
}

void bill_take_back(struct servers_process *process, uint64_t ns)
{
	while (ns) {
		struct bill *greatest = NULL;
		uint64_t *column, part;

		for (struct bill *bill = NULL; (bill = table_next(&process->bills, sizeof(*bill), bill));)
			if (!greatest || bill->exact + bill->shared > greatest->exact + greatest->shared)
				greatest = bill;
		if (!greatest || !(greatest->exact + greatest->shared))
			return;
		column = greatest->exact ? &greatest->exact : &greatest->shared;
		part = *column < ns ? *column : ns;
		*column -= part;
		process->billed -= part;
		ns -= part;
	}
}
