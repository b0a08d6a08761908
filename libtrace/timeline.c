/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * timeline.c - the chunks of one kind, sorted by first_ns.
 *
 * A timeline is made for the first cursor and not by trace_open(), because it takes longer than the
 * rest of opening. Chunks are nearly sorted in the file, because they were written as time went by.
 * So each chunk is inserted near the end of the list. If that needs too many moves, the list is
 * sorted instead.
 */
#include "timeline.h"

#include "chunk.h"
#include "error_set.h"
#include "pages.h"
#include "trace.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
	TIMELINE_GROUP = 64,  /* chunks */
	MOVES_PER_CHUNK = 64, /* above this sorting is cheaper */
};

static inline bool is_after(const struct span *x, const struct span *y)
{
	return x->first_ns != y->first_ns ? x->first_ns > y->first_ns : x->cpu > y->cpu;
}

static int compare_spans(const void *a, const void *b)
{
	const struct span *x = a, *y = b;

	if (x->first_ns != y->first_ns)
		return x->first_ns < y->first_ns ? -1 : 1;
	if (x->cpu != y->cpu)
		return x->cpu < y->cpu ? -1 : 1;
	return x->idx < y->idx ? -1 : x->idx > y->idx;
}

/* ---- all chunks of a kind ---- */

/**
 * struct making - a timeline that is being made
 * @moves: moves so far
 * @room: number of chunks of the kind when the trace was opened
 */
struct making {
	struct timeline *timeline;
	size_t room;
	size_t moves;
	uint64_t events;
	bool is_sorted;
};

static inline void making_add(struct making *making, const struct table_entry *entry, uint32_t idx)
{
	struct span *spans = making->timeline->spans;
	struct span span = {entry->of.first_ns, entry->of.last_ns, idx,
			    entry->of.events,	entry->of.stream,  entry->of.cpu};
	size_t nr = making->timeline->nr++, at = nr;

	making->events += span.events;
	if (making->is_sorted && at > 0 && is_after(&spans[at - 1], &span)) {
		while (at > 0 && is_after(&spans[at - 1], &span))
			at--;
		memmove(&spans[at + 1], &spans[at], (nr - at) * sizeof(*spans));
		making->moves += nr - at;
		making->is_sorted = making->moves <= MOVES_PER_CHUNK * (nr + 1);
	}
	spans[at] = span;
}

/* Returns false when the chunks are not the same as when the trace was opened. */
static bool making_collect(struct making *making, const struct trace *trace, uint16_t kind)
{
	struct entries entries;

	for (size_t i = 0; i < trace->nr_chunks; i += entries.nr) {
		entries = chunk_entries(trace, i);
		for (size_t k = 0; k < entries.nr; k++) {
			const struct table_entry *entry = (const struct table_entry *)(entries.at + k * entries.stride);

			if (entry->of.kind != kind || chunk_is_unusable(trace, i + k))
				continue;
			if (making->timeline->nr == making->room)
				return false;
			making_add(making, entry, (uint32_t)(i + k));
		}
	}
	return kind != TRACE_CHUNK_EVENTS || making->events == trace->info.events;
}

static void find_latest(struct timeline *timeline)
{
	uint64_t latest = 0;

	for (size_t i = 0; i < timeline->nr; i++) {
		latest = latest > timeline->spans[i].last_ns ? latest : timeline->spans[i].last_ns;
		timeline->latest_ns[i / TIMELINE_GROUP] = latest;
	}
}

static struct timeline *timeline_new(size_t room)
{
	struct timeline *timeline = calloc(1, sizeof(*timeline));

	if (!timeline)
		return NULL;
	timeline->room = room;
	timeline->spans = pages_large((room + 1) * sizeof(*timeline->spans));
	timeline->latest_ns = malloc((room / TIMELINE_GROUP + 1) * sizeof(*timeline->latest_ns));
	return timeline->spans && timeline->latest_ns ? timeline : timeline_free(timeline);
}

static struct timeline *timeline_make(const struct trace *trace, uint16_t kind, struct trace_error *ret_error)
{
	struct making making = {.timeline = timeline_new(trace->nr_of_kind[kind]),
				.room = trace->nr_of_kind[kind],
				.is_sorted = true};

	if (!making.timeline) {
		error_set(ret_error, -ENOMEM, "%s: no memory for the order of its chunks", trace->path);
		return NULL;
	}
	if (!trace_is_complete(trace) || !making_collect(&making, trace, kind)) {
		error_set(ret_error, -EBADMSG, "%s: the file was truncated or replaced after it was opened",
			  trace->path);
		return timeline_free(making.timeline);
	}
	if (!making.is_sorted)
		qsort(making.timeline->spans, making.timeline->nr, sizeof(struct span), compare_spans);
	find_latest(making.timeline);
	return making.timeline;
}

struct timeline *timeline_free(struct timeline *timeline)
{
	if (!timeline)
		return NULL;
	free(timeline->spans);
	free(timeline->latest_ns);
	free(timeline);
	return NULL;
}

/* Two threads may both make it; the first one's is kept. */
const struct timeline *trace_timeline(const struct trace *trace, uint16_t kind, struct trace_error *ret_error)
{
	struct timeline **published = (struct timeline **)&trace->timelines[kind == TRACE_CHUNK_START_STATE],
			*others = NULL;
	struct timeline *timeline = __atomic_load_n(published, __ATOMIC_ACQUIRE);

	if (timeline)
		return timeline;
	timeline = timeline_make(trace, kind, ret_error);
	if (!timeline ||
	    __atomic_compare_exchange_n(published, &others, timeline, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		return timeline;
	timeline_free(timeline);
	return others;
}

/* ---- while the file grows ---- */

static bool timeline_reserve(struct timeline *timeline, size_t more)
{
	size_t room = timeline->nr + more + timeline->nr / 2;
	struct span *spans;
	uint64_t *latest;

	if (timeline->nr + more <= timeline->room)
		return true;
	spans = reallocarray(timeline->spans, room + 1, sizeof(*spans));
	timeline->spans = spans ? spans : timeline->spans;
	latest = reallocarray(timeline->latest_ns, room / TIMELINE_GROUP + 1, sizeof(*latest));
	timeline->latest_ns = latest ? latest : timeline->latest_ns;
	if (!spans || !latest)
		return false;
	timeline->room = room;
	return true;
}

int timeline_extend(struct trace *trace, uint16_t kind, size_t first, uint64_t safe_ns)
{
	struct timeline *timeline = trace->timelines[kind == TRACE_CHUNK_START_STATE];

	if (!timeline)
		return 0;
	for (size_t i = first; i < trace->nr_chunks; i++) {
		struct trace_table_entry of = chunk_entry(trace, i)->of;
		struct span span = {of.first_ns, of.last_ns, (uint32_t)i, of.events, of.stream, of.cpu};
		size_t at = timeline->nr;

		if (of.kind != kind || chunk_is_unusable(trace, i))
			continue;
		if (!timeline_reserve(timeline, 1))
			return -ENOMEM;
		while (at > 0 && is_after(&timeline->spans[at - 1], &span) &&
		       timeline->spans[at - 1].first_ns >= safe_ns)
			at--;
		memmove(&timeline->spans[at + 1], &timeline->spans[at], (timeline->nr - at) * sizeof(span));
		timeline->spans[at] = span;
		timeline->nr++;
	}
	find_latest(timeline);
	return 0;
}

/* ---- searching ---- */

size_t timeline_at(const struct timeline *timeline, uint64_t ts_ns)
{
	size_t low = 0, high = (timeline->nr + TIMELINE_GROUP - 1) / TIMELINE_GROUP, at;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (timeline->latest_ns[middle] < ts_ns)
			low = middle + 1;
		else
			high = middle;
	}
	for (at = low * TIMELINE_GROUP; at < timeline->nr && timeline->spans[at].last_ns < ts_ns;)
		at++;
	return at < timeline->nr ? at : timeline->nr;
}
