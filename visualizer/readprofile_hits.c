/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* readprofile_hits.c - how many samples were at each address of the kernel */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <trace/events.h>
#include "checked_memory.h"
#include "readprofile.h"

#define SOURCE_TIMER	0
#define IN_KERNEL_SHIFT 63 /* the kernel's half of the addresses has the highest bit */
#define ROOM_AT_FIRST	4096

static int by_address(const void *left, const void *right)
{
	const struct hit *l = left, *r = right;

	return (l->address > r->address) - (l->address < r->address);
}

/* Sorts, and makes one of all that have the same address. */
static void merge(struct hits *hits)
{
	size_t kept = 0;

	if (hits->nr)
		qsort(hits->hits, hits->nr, sizeof(*hits->hits), by_address);
	for (size_t i = 0; i < hits->nr; i++) {
		if (kept && hits->hits[kept - 1].address == hits->hits[i].address)
			hits->hits[kept - 1].count += hits->hits[i].count;
		else
			hits->hits[kept++] = hits->hits[i];
	}
	hits->nr = kept;
}

/* A full array is merged first: it only grows with the number of addresses. */
static void make_room(struct hits *hits)
{
	size_t more;

	if (hits->nr < hits->room)
		return;
	merge(hits);
	if (hits->room && hits->nr < hits->room / 2)
		return;
	more = hits->room ? 2 * hits->room : ROOM_AT_FIRST;
	hits->hits = memory_resize(hits->hits, hits->room, more, sizeof(*hits->hits));
	hits->room = more;
}

void hits_add(struct hits *hits, uint64_t address, uint64_t count)
{
	make_room(hits);
	hits->hits[hits->nr++] = (struct hit){.address = address, .count = count};
}

void hits_end(struct hits *hits)
{
	merge(hits);
}

void hits_free(struct hits *hits)
{
	free(hits->hits);
	*hits = (struct hits){0};
}

static void add_sample(struct hits *hits, const struct trace_event *event)
{
	const struct trace_sample *sample = event->payload;

	if (event->type->fixed_bytes < sizeof(*sample) || sample->source != SOURCE_TIMER)
		return;
	hits->nr_samples++;
	if (!sample->in_user && sample->ip >> IN_KERNEL_SHIFT)
		hits_add(hits, sample->ip, 1);
}

static void take_mark(struct hits *hits, const struct trace_event *event)
{
	if (strcmp(trace_event_string(event), READPROFILE_RESET) != 0)
		return;
	hits->nr = 0;
	hits->nr_samples = 0;
	hits->reset_ns = event->ts_ns;
}

static void select_event(uint64_t mask[TRACE_MASK_WORDS], uint32_t event)
{
	mask[event / 64] |= 1ull << event % 64;
}

int hits_of_trace(struct hits *hits, const struct trace *trace, uint64_t from_ns, uint64_t to_ns,
		  struct trace_error *ret_error)
{
	uint64_t mask[TRACE_MASK_WORDS] = {0};
	struct trace_cursor_options options = {
		.size = sizeof(options), .mask = mask, .from_ns = from_ns, .to_ns = to_ns, .decode_ahead = 4};
	struct trace_cursor *cursor;
	const struct trace_event *event;

	select_event(mask, TRACE_EV_sample);
	select_event(mask, TRACE_EV_trace_mark);
	cursor = trace_cursor_new(trace, &options, ret_error);
	if (!cursor)
		return -ENOMEM;
	hits->step = 1;
	while ((event = trace_cursor_next(cursor)))
		if (event->id == TRACE_EV_sample)
			add_sample(hits, event);
		else if (event->id == TRACE_EV_trace_mark)
			take_mark(hits, event);
	hits_end(hits);
	return trace_cursor_end(cursor, ret_error) < 0 ? -EIO : 0;
}
