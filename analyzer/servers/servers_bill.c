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
	struct bill *bill = process->last_bill;

	if (bill && bill->key == origin + 1ull)
		return bill;
	bill = table_add(&process->bills, sizeof(*bill), origin + 1ull); /* may move the others */
	if (bill)
		process->last_bill = bill;
	else
		s->failed = -ENOMEM;
	return bill;
}

/* @whole: the time of which @part is the part of @origin. */
static void bill_share(struct trace_servers *s, struct servers_process *process, uint32_t origin,
		       const struct cpu_time *part, const struct cpu_time *whole)
{
	struct bill *bill = bill_of(s, process, origin);

	if (!bill)
		return;
	bill->ns += part->cpu;
	if (!bill->nr_open)
		bill->outside += whole->cpu;
	bill->interrupted += part->interrupted;
	process->billed += part->cpu;
}

void bill_receiving(struct trace_servers *s, struct servers_process *process, uint32_t origin, uint64_t ns)
{
	struct bill *bill = bill_of(s, process, origin);

	if (bill)
		bill->receiving += ns;
}

static uint32_t bill_one(struct trace_servers *s, struct servers_process *process, uint32_t origin,
			 const struct cpu_time *time)
{
	bill_share(s, process, origin, time, time);
	process->next_remainder++;
	return origin;
}

/* Which of @nr origins gets the first of the remaining ns of a bill. */
static uint32_t first_of_several(uint64_t next_remainder, uint32_t nr)
{
	return (uint32_t)((nr - next_remainder % nr) % nr);
}

/* Returns the only origin, or UINT32_MAX if there are several. */
static uint32_t bill_several(struct trace_servers *s, struct servers_process *process, const struct set *set,
			     const struct cpu_time *time)
{
	uint32_t small_array[16], *origins = set->nr <= 16 ? small_array : malloc(set->nr * sizeof(*origins)), nr, at,
				  at_first;
	struct cpu_time each, remainder;
	uint64_t nr_parts;
	uint32_t only;

	if (!origins) {
		s->failed = -ENOMEM;
		return UINT32_MAX;
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
	at = at_first = first_of_several(process->next_remainder, nr);
	for (uint64_t i = 0; i < nr_parts; i++, at = at + 1 < nr ? at + 1 : 0) {
		struct cpu_time part = {.cpu = each.cpu + (i < remainder.cpu),
					.interrupted = each.interrupted + (i < remainder.interrupted)};

		bill_share(s, process, origins[at], &part, time);
	}
	process->next_remainder++;
	if (__builtin_expect(s->kept != NULL, 0))
		kept_bill_several(s, process, set, origins, nr, at_first, time->cpu);
	only = nr == 1 ? origins[0] : UINT32_MAX;
	if (origins != small_array)
		free(origins);
	return only;
}

static inline __attribute__((always_inline)) uint32_t bill_set(struct trace_servers *s, struct servers_process *process,
							       const struct set *set, const struct cpu_time *time)
{
	if (set->nr > 1)
		return bill_several(s, process, set, time);
	if (__builtin_expect(s->kept != NULL, 0))
		kept_bill_one(s, process, set->items[0], time->cpu);
	return bill_one(s, process, set->items[0]->origin, time);
}

/* Returns the time from the last bill of @thread until @until, which is billed by the caller. */
static struct cpu_time take_slice(struct servers_thread *thread, const struct cpu_time *until)
{
	struct cpu_time slice = {.cpu = until->cpu - thread->charged.cpu};

	if (until->interrupted > thread->charged.interrupted)
		slice.interrupted = until->interrupted - thread->charged.interrupted;
	thread->charged = *until;
	return slice;
}

/* Keep where the slice until @until is, which was billed to @set. */
static __attribute__((noinline)) void bill_share_kept(struct trace_servers *s, const struct servers_thread *thread,
						      const struct set *set, uint32_t proof)
{
	uint32_t *origins = set ? malloc(set->nr * sizeof(*origins)) : NULL, nr = 0, at = 0;

	if (set && !origins) {
		s->failed = -ENOMEM;
		return;
	}
	if (set) {
		nr = distinct_origins(s, set, origins);
		at = first_of_several(thread->process->next_remainder - 1, nr);
	}
	shares_bill(s->shares, thread, thread->charged.cpu, origins, nr, at, proof);
	free(origins);
}

void bill_turn(struct trace_servers *s, struct servers_thread *thread)
{
	struct set *turn = thread->turn;
	struct cpu_time slice;

	thread->turn = NULL;
	if (turn && thread->turn_end.cpu > thread->charged.cpu) {
		slice = take_slice(thread, &thread->turn_end);
		bill_set(s, thread->process, turn, &slice);
		if (s->shares)
			bill_share_kept(s, thread, turn, SHARE_UNPROVEN);
	}
	set_unref(turn);
	waits_decided(s, thread);
}

static void bill_named(struct trace_servers *s, struct servers_process *process, uint32_t origin, uint64_t ns)
{
	struct bill *bill = bill_of(s, process, origin);

	if (bill)
		bill->named += ns;
}

/*
 * Bill the CPU time since the last bill until @until, which is later. Not inline: every other call
 * of bill_until() has nothing to bill.
 */
static __attribute__((noinline)) void bill_slice(struct trace_servers *s, struct servers_thread *thread,
						 const struct cpu_time *until)
{
	struct cpu_time slice = take_slice(thread, until);
	uint32_t origin = thread->set ? bill_set(s, thread->process, thread->set, &slice) : UINT32_MAX;
	uint32_t proof = SHARE_UNPROVEN;

	if (origin != UINT32_MAX && thread->named == thread->set) {
		bill_named(s, thread->process, origin, slice.cpu);
		if (__builtin_expect(s->kept != NULL, 0) && thread->set->nr == 1)
			kept_named(s, thread->set->items[0], slice.cpu);
		proof = SHARE_NAMED;
	} else if (origin != UINT32_MAX) {
		proof = proof_add(s, thread, thread->set, origin, slice.cpu);
	}
	if (s->shares)
		bill_share_kept(s, thread, thread->set, proof);
}

void bill_until(struct trace_servers *s, struct servers_thread *thread, const struct cpu_time *until)
{
	if (thread->turn)
		bill_turn(s, thread);
	if (until->cpu > thread->charged.cpu)
		bill_slice(s, thread, until);
	proof_seen(thread);
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

void bill_drop_replied(struct trace_servers *s, struct servers_thread *thread, const struct cpu_time *now)
{
	bill_until(s, thread, now);
	set_drop_replied(&s->sets, &thread->set);
	if (thread->log)
		log_set(s, thread);
}

void bill_take_back(struct servers_process *process, uint64_t ns)
{
	while (ns) {
		struct bill *greatest = NULL;
		uint64_t part;

		for (struct bill *bill = NULL; (bill = table_next(&process->bills, sizeof(*bill), bill));)
			if (!greatest || bill->ns > greatest->ns)
				greatest = bill;
		if (!greatest || !greatest->ns)
			return;
		part = greatest->ns < ns ? greatest->ns : ns;
		greatest->ns -= part;
		ns -= part;
	}
}
