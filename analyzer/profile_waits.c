/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * profile_waits.c - matches stacks with waits.
 *
 * A thread blocks from `since` until it is woken, and gets a CPU again at the time of the record.
 * The wakeup chose the wait by its length until then, or else the switch to the thread did.
 * The blocked intervals between are those of the stack. The analysis tells an interval when it
 * knows the cause, which can be later than the record. So each thread keeps its last intervals and
 * its last stacks, and either one meets the other.
 *
 * A wait of 1 ms or more has a stack for certain. Its time belongs to the stack exactly. A shorter
 * one of length d has a stack with the probability d / 1 ms, so it stands for 1 ms / d waits like
 * it: that is its weight, times its blocked time. The times of all short waits of a stratum are
 * divided in proportion to these weights.
 */
#include "profile_waits.h"

#include <errno.h>
#include <stdlib.h>
#include "profile_frames.h"

#define NR_KEPT	     8
#define WEIGHT_SHIFT 20 /* weights are integers with that many binary places */

struct kept_wait {
	uint64_t from_ns, to_ns, ns;
	uint32_t stratum;
	bool is_used;
};
struct kept_stack {
	uint64_t since_ns;
	struct wait_record record;
};

/** struct thread_waits - @left_ns: when the thread was last on a CPU */
struct thread_waits {
	uint64_t left_ns;
	struct kept_wait waits[NR_KEPT];
	struct kept_stack stacks[NR_KEPT];
	uint32_t nr_waits, nr_stacks; /* of all so far; each takes the place of the oldest one */
};

struct wait_thread_row {
	uint64_t key;		    /* address of the thread */
	struct thread_waits *waits; /* owned */
};

static struct thread_waits *waits_of(struct waits *waits, const struct trace_thread *thread)
{
	struct wait_thread_row *row = table_add(&waits->threads, sizeof(*row), (uintptr_t)thread);

	if (row && !row->waits)
		row->waits = calloc(1, sizeof(*row->waits));
	if (row && row->waits)
		return row->waits;
	waits->failed = -ENOMEM;
	return NULL;
}

/* ---- matches ---- */

static bool is_of(const struct kept_stack *stack, const struct kept_wait *wait)
{
	uint64_t middle = wait->from_ns + (wait->to_ns - wait->from_ns) / 2;

	return middle >= stack->since_ns && middle <= stack->record.ts_ns;
}

/* The end of the time that was the length of the wait when it was chosen. */
static uint64_t end_of(const struct kept_stack *stack, const struct kept_wait *wait)
{
	const struct wait_record *record = &stack->record;

	return !record->is_woken ? record->ts_ns : record->woken_ns ? record->woken_ns : wait->to_ns;
}

static void match(struct strata *strata, const struct kept_stack *stack, struct kept_wait *wait)
{
	uint64_t since_ns = stack->since_ns ? stack->since_ns : wait->from_ns, length_ns, end_ns;
	struct stratum *stratum = &strata->list[wait->stratum];
	const struct group_place place = {.frame = stack->record.frame, .waker = stack->record.waker};

	if (wait->is_used || !is_of(stack, wait))
		return;
	wait->is_used = true;
	end_ns = end_of(stack, wait);
	length_ns = end_ns > since_ns ? end_ns - since_ns : 1;
	if (length_ns >= WAIT_ALWAYS_NS)
		stratum_add_wait(strata, stratum, &place, wait->ns, 0);
	else
		stratum_add_wait(strata, stratum, &place, 0, (wait->ns << WEIGHT_SHIFT) / length_ns);
}

/* The stack of a long wait is missing: its time is not that of other waits. */
static void close_wait(struct strata *strata, const struct kept_wait *wait)
{
	if (!wait->is_used && wait->to_ns - wait->from_ns >= WAIT_ALWAYS_NS)
		strata->list[wait->stratum].unsampled_ns += wait->ns;
}

/* ---- events ---- */

void waits_ran(struct waits *waits, const struct trace_thread *thread, uint64_t to_ns)
{
	struct thread_waits *own = waits_of(waits, thread);

	if (own && to_ns > own->left_ns)
		own->left_ns = to_ns;
}

uint64_t waits_since(struct waits *waits, const struct trace_thread *thread)
{
	struct thread_waits *own = waits_of(waits, thread);

	return own ? own->left_ns : 0;
}

void waits_add(struct waits *waits, struct strata *strata, const struct waited *waited)
{
	struct thread_waits *own = waits_of(waits, waited->thread);
	struct kept_wait *wait;

	if (!own)
		return;
	wait = &own->waits[own->nr_waits % NR_KEPT];
	if (own->nr_waits++ >= NR_KEPT)
		close_wait(strata, wait);
	*wait = (struct kept_wait){
		.from_ns = waited->from_ns, .to_ns = waited->to_ns, .ns = waited->ns, .stratum = waited->stratum};
	for (uint32_t i = 0; i < NR_KEPT && i < own->nr_stacks; i++)
		match(strata, &own->stacks[i], wait);
}

void waits_add_stack(struct waits *waits, struct strata *strata, const struct trace_thread *thread, uint64_t since_ns,
		     const struct wait_record *record)
{
	struct thread_waits *own = waits_of(waits, thread);
	struct kept_stack *stack;

	if (!own)
		return;
	stack = &own->stacks[own->nr_stacks++ % NR_KEPT];
	*stack = (struct kept_stack){.since_ns = since_ns, .record = *record};
	for (uint32_t i = 0; i < NR_KEPT && i < own->nr_waits; i++)
		match(strata, stack, &own->waits[i]);
}

void waits_end(struct waits *waits, struct strata *strata)
{
	const struct wait_thread_row *row = NULL;

	while ((row = table_next(&waits->threads, sizeof(*row), row))) {
		struct thread_waits *own = row->waits;

		for (uint32_t i = 0; own && i < NR_KEPT && i < own->nr_waits; i++) {
			close_wait(strata, &own->waits[i]);
			own->waits[i].is_used = true;
		}
	}
}

void waits_clear(struct waits *waits)
{
	const struct wait_thread_row *row = NULL;

	while ((row = table_next(&waits->threads, sizeof(*row), row)))
		free(row->waits);
	table_clear(&waits->threads);
}
