/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * timeline.c - the chunks of a kind by their first time.
 *
 * They are nearly in that order in the file, because they were written as time went by: each is inserted where it belongs, not far from the end.
 * Where that turns out to be wrong, or some of them cannot be used after all, they are sorted.
 */
#include "trace.h"

#include <errno.h>
#include <stdlib.h>

/** struct time_order - a chunk on its way into the timeline, with what is asked of it there */
struct time_order {
	uint64_t first_ns;
	uint64_t last_ns;
	uint32_t cpu;
	uint32_t idx;
};

enum { MOVES_PER_CHUNK = 64 }; /* more, and sorting is cheaper */

static int compare_order(const void *a, const void *b)
{
	const struct time_order *x = a, *y = b;

	if (x->first_ns != y->first_ns)
		return x->first_ns < y->first_ns ? -1 : 1;
	if (x->cpu != y->cpu)
		return x->cpu < y->cpu ? -1 : 1;
	return x->idx < y->idx ? -1 : x->idx > y->idx;
}

static bool is_after(const struct trace_chunk *x, const struct trace_chunk *y)
{
	return x->first_ns != y->first_ns ? x->first_ns > y->first_ns : x->cpu > y->cpu;
}

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static bool timeline_reserve(struct timeline *timeline, size_t room)
{
	uint32_t *chunks = reallocarray(timeline->chunks, room, sizeof(*chunks));
	uint64_t *latest_ns;

	if (!chunks)
		return false;
	timeline->chunks = chunks;
	latest_ns = reallocarray(timeline->latest_ns, room, sizeof(*latest_ns));
	if (!latest_ns)
		return false;
	timeline->latest_ns = latest_ns;
	timeline->room = room;
	return true;
}

/* Those behind its place move on by one, and know of its last time. */
static void timeline_insert(const struct trace *trace, struct timeline *timeline, uint32_t idx)
{
	const struct trace_chunk *chunk = &trace->chunks[idx].public;
	size_t at = timeline->nr++;

	for (; at > 0 && is_after(&trace->chunks[timeline->chunks[at - 1]].public, chunk); at--) {
		timeline->chunks[at] = timeline->chunks[at - 1];
		timeline->latest_ns[at] = later(timeline->latest_ns[at - 1], chunk->last_ns);
		timeline->moves++;
	}
	timeline->chunks[at] = idx;
	timeline->latest_ns[at] = later(at ? timeline->latest_ns[at - 1] : 0, chunk->last_ns);
}

int timeline_follow(const struct trace *trace, uint16_t kind, struct timeline *timeline, size_t from)
{
	if (timeline->nr + (trace->nr_chunks - from) > timeline->room && !timeline_reserve(timeline, trace->chunks_room))
		return -ENOMEM;
	for (size_t i = from; i < trace->nr_chunks && timeline->moves <= MOVES_PER_CHUNK * i; i++)
		if (trace->chunks[i].public.kind == kind)
			timeline_insert(trace, timeline, (uint32_t)i);
	return 0;
}

static bool is_complete(const struct trace *trace, uint16_t kind, const struct timeline *timeline)
{
	bool complete = timeline->nr == trace->nr_of_kind[kind] && timeline->moves <= MOVES_PER_CHUNK * trace->nr_chunks;

	for (size_t i = 0; complete && trace->nr_spoiled && i < timeline->nr; i++)
		complete = !trace->chunks[timeline->chunks[i]].public.damaged;
	return complete;
}

int timeline_load(const struct trace *trace, uint16_t kind, struct timeline *timeline)
{
	struct time_order *orders;
	uint64_t latest = 0;
	size_t nr = 0;

	if (is_complete(trace, kind, timeline))
		return 0;
	orders = malloc((trace->nr_of_kind[kind] + 1) * sizeof(*orders));
	if (!orders || !timeline_reserve(timeline, trace->nr_of_kind[kind] + 1)) {
		free(orders);
		return -ENOMEM;
	}
	for (size_t i = 0; i < trace->nr_chunks; i++) {
		const struct trace_chunk *chunk = &trace->chunks[i].public;

		if (chunk->kind == kind && !chunk->damaged)
			orders[nr++] = (struct time_order){ chunk->first_ns, chunk->last_ns, chunk->cpu, (uint32_t)i };
	}
	qsort(orders, nr, sizeof(*orders), compare_order);
	for (size_t i = 0; i < nr; i++) {
		timeline->chunks[i] = orders[i].idx;
		timeline->latest_ns[i] = latest = later(latest, orders[i].last_ns);
	}
	timeline->nr = nr;
	free(orders);
	return 0;
}
