/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * cursor.c - delivers all events in time order, from chunks that are each in time order.
 *
 * In this file a lane is an input of the merge: a chunk in progress, or a gap. (lane.h uses the
 * word for something else.)
 *
 * The timeline has all chunks in the order of their first times. A heap holds the lanes, ordered by
 * the time of their next event. The next chunk of the timeline joins the heap when its first time
 * is not after the next event of the heap's top; if the heap is empty, it joins at once. So each
 * chunk is decoded as late as possible, and any overlap of chunks is merged. Gaps join in the same
 * way, each as a single event at the end of the gap.
 *
 * The cursor takes events from the heap in batches. A batch has the events of all lanes up to a
 * time before which nothing else joins: some hundreds of events. One merge of numbers orders the
 * whole batch (merge.h), because a branch for each event would be mispredicted every other time.
 * Such a number is a key: the time since the begin of the batch, shifted left, and the number of
 * the lane in the low bits.
 *
 * An example. Chunk A has events at 10, 20, 30 and 40 ns, B at 15, 25 and 60, and C begins at 35:
 *
 *	join A     batch up to 14     10 of A
 *	join B     batch up to 34     15 of B, 20 of A, 25 of B, 30 of A
 *	join C     batch up to ...    35 of C, 40 of A, ...
 *
 * The second batch begins at 15 and has two lanes, A with number 0 and B with number 1. With two
 * bits for the number its keys are 0 << 2 | 1, 5 << 2 | 0, 10 << 2 | 1 and 15 << 2 | 0.
 *
 * A chunk that cannot be decoded becomes a gap, in this cursor only: the trace itself does not
 * change.
 */
#include "cursor_state.h"

#include "catalogue.h"
#include "cursor_batch.h"
#include "cursor_join.h"
#include "error_set.h"
#include "timeline.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
	DECODE_AHEAD_MAX = 64,
	/* from here on the next events of the lanes do not stay in the cache */
	LANES_COLD = 12,
	LOOKED_AT_MAX = 1024, /* chunks that one peek looks at */
};

/* ---- events ---- */

static inline struct cursor_lane *lane_of_key(const struct cursor_batch *batch, uint64_t key)
{
	return batch->lanes[key & batch->number_mask];
}

/*
 * Prefetches for the second event from here: the entry that says where its payload is.
 * The empty asm statement counts as a side effect. gcc 12.2 takes a function that only prefetches
 * for a pure one and drops its calls.
 */
static inline void prefetch_second_key(const struct cursor_batch *batch)
{
	const struct cursor_lane *lane;

	if (batch->key[0] == UINT64_MAX || batch->key[1] == UINT64_MAX)
		return;
	lane = lane_of_key(batch, batch->key[1]);
	if (lane->rank)
		__builtin_prefetch(lane->block.types[lane->block.type_idxs[lane->block.at]].next);
	__asm__ volatile("");
}

static const struct trace_event *event_of_gap(struct trace_cursor *cursor, const struct cursor_lane *lane)
{
	cursor->event = (struct trace_event){.ts_ns = lane->ts_ns,
					     .cpu = lane->cpu,
					     .stream = lane->stream,
					     .id = TRACE_EV_trace_lost,
					     .payload_bytes = sizeof(lane->lost),
					     .payload = &lane->lost,
					     .type = cursor->lost_type};
	return &cursor->event;
}

static inline const struct trace_event *event_of_chunk(struct trace_cursor *cursor, struct cursor_lane *lane,
						       uint64_t ts_ns)
{
	struct block *block = &lane->block;
	struct block_type *type = &block->types[block->type_idxs[block->at++]];
	struct trace_event *event = &cursor->event;

	event->ts_ns = ts_ns;
	event->cpu = lane->cpu;
	event->stream = lane->stream;
	event->id = type->id;
	event->type = type->type;
	event->payload = block_step(type, &event->payload_bytes);
	return event;
}

const struct trace_event *trace_cursor_next(struct trace_cursor *cursor)
{
	struct cursor_batch *batch = &cursor->batch;
	uint64_t key = *batch->key, ts_ns;
	const struct trace_event *event;
	struct cursor_lane *lane;

	if (key == UINT64_MAX) {
		if (!cursor_next_batch(cursor))
			return NULL;
		key = *batch->key;
	}
	batch->key++;
	lane = cursor->top = lane_of_key(batch, key);
	if (batch->nr >= LANES_COLD)
		prefetch_second_key(batch);
	if (!lane->rank)
		return event_of_gap(cursor, lane);
	ts_ns = batch->first_ns + (key >> batch->number_bits);
	event = event_of_chunk(cursor, lane, ts_ns);
	while (!cursor->all_events && !cursor_wants_id(cursor, event->id))
		event = event_of_chunk(cursor, lane, ts_ns);
	return event;
}

const void *trace_cursor_peek(const struct trace_cursor *cursor, uint32_t distance)
{
	const struct cursor_lane *lane = cursor->top;
	const struct block_type *type;

	if (!lane || !lane->rank || !distance)
		return NULL;
	type = &lane->block.types[lane->block.type_idxs[lane->block.at - 1]];
	return (size_t)(type->end - type->next) < distance ? NULL : type->memory + 8 * (size_t)type->next[distance - 1];
}

/* Does @lane belong to @stream, and is its next event at or before @until_ns? */
static bool lane_has(const struct cursor_lane *lane, uint32_t stream, uint64_t until_ns)
{
	return lane->rank && lane->stream == stream && lane->block.at < lane->block.nr &&
	       lane->block.ts_ns[lane->block.at] <= until_ns;
}

/*
 * Can a chunk other than the current one have events of @stream up to @until_ns? Chunks of one
 * stream overlap a little where writers nest, and by any amount in a crafted file. The search is
 * limited, and the answer is then yes. A recording has few streams, so the limit matters for
 * crafted files only.
 */
static bool may_have_other_chunk(const struct trace_cursor *cursor, uint32_t stream, uint64_t until_ns)
{
	size_t last = cursor->next_chunk + LOOKED_AT_MAX;

	if (cursor->batch.nr + cursor->nr_heap > LOOKED_AT_MAX)
		return true;
	for (size_t i = 0; i < cursor->batch.nr; i++)
		if (cursor->batch.lanes[i] != cursor->top && lane_has(cursor->batch.lanes[i], stream, until_ns))
			return true;
	for (size_t i = 0; i < cursor->nr_heap; i++)
		if (cursor->heap[i].ts_ns <= until_ns && lane_has(cursor->heap[i].lane, stream, until_ns))
			return true;
	for (size_t i = cursor->next_chunk; i < cursor->timeline->nr && cursor->timeline->spans[i].first_ns <= until_ns;
	     i++)
		if (i == last || cursor->timeline->spans[i].stream == stream)
			return true;
	return false;
}

uint64_t trace_cursor_peek_ns(const struct trace_cursor *cursor)
{
	const struct cursor_lane *lane = cursor->top;

	if (!lane || !lane->rank)
		return 0;
	for (uint32_t i = lane->block.at; i < lane->block.nr; i++)
		if (lane->block.type_idxs[i] == lane->block.type_idxs[lane->block.at - 1])
			return may_have_other_chunk(cursor, lane->stream, lane->block.ts_ns[i]) ? 0
												: lane->block.ts_ns[i];
	return 0;
}

/* ---- positions ---- */

static size_t gap_at(const struct trace *trace, uint64_t ts_ns)
{
	size_t low = 0, high = trace->nr_gaps_by_end;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (trace->gaps[trace->gaps_by_end[middle]].end_ns < ts_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

int trace_cursor_seek(struct trace_cursor *cursor, uint64_t ts_ns)
{
	cursor->ahead = ahead_free(cursor->ahead);
	cursor->nr_decoded = 0;
	cursor->decoded_bytes = 0;
	cursor_drop_lanes(cursor);
	cursor->error = 0;
	cursor->from_ns = ts_ns;
	cursor_follow(cursor);
	cursor->next_chunk = timeline_at(cursor->timeline, ts_ns);
	cursor->next_gap = gap_at(cursor->trace, ts_ns);
	cursor_find_next_join(cursor);
	return 0;
}

int trace_cursor_error(const struct trace_cursor *cursor, struct trace_error *ret_error)
{
	if (!cursor->error && !cursor->skipped_chunks)
		return 0;
	if (ret_error)
		*ret_error = cursor->why;
	return cursor->why.code;
}

int trace_cursor_end(struct trace_cursor *cursor, struct trace_error *ret_error)
{
	int error = cursor ? trace_cursor_error(cursor, ret_error) : 0;

	trace_cursor_free(cursor);
	return error;
}

/* ---- begin, end ---- */

static int cursor_init(struct trace_cursor *cursor, const struct trace *trace,
		       const struct trace_cursor_options *options, struct trace_error *ret_error)
{
	cursor->trace = trace;
	cursor->timeline = trace_timeline(trace, options->start_state ? TRACE_CHUNK_START_STATE : TRACE_CHUNK_EVENTS,
					  ret_error);
	if (!cursor->timeline)
		return -1;
	cursor->pool = pool_new(options->decode_ahead);
	if (!cursor->pool)
		return error_set(ret_error, -ENOMEM, "%s: no memory for a cursor", trace->path);
	cursor->last_ns = options->to_ns ? options->to_ns - 1 : UINT64_MAX;
	cursor->no_lost = options->no_lost || options->start_state;
	cursor->decode_ahead = options->decode_ahead < DECODE_AHEAD_MAX ? options->decode_ahead : DECODE_AHEAD_MAX;
	if (trace->follow) /* its list of chunks grows */
		cursor->decode_ahead = 0;
	cursor->damaged = options->damaged;
	cursor->damaged_data = options->damaged_data;
	cursor->batch.reach = REACH_FIRST;
	cursor->all_events = !options->mask;
	if (options->mask)
		memcpy(cursor->mask, options->mask, sizeof(cursor->mask));
	else
		memset(cursor->mask, 0xff, sizeof(cursor->mask));
	cursor->lost_type = catalogue_by_id(TRACE_EV_trace_lost);
	if (options->cpus) {
		cursor->cpus = malloc((options->nr_cpus + 1) * sizeof(*cursor->cpus));
		if (!cursor->cpus)
			return error_set(ret_error, -ENOMEM, "%s: no memory for a cursor", trace->path);
		memcpy(cursor->cpus, options->cpus, options->nr_cpus * sizeof(*cursor->cpus));
		cursor->nr_cpus = options->nr_cpus;
	}
	return trace_cursor_seek(cursor, options->from_ns);
}

struct trace_cursor *trace_cursor_new(const struct trace *trace, const struct trace_cursor_options *options,
				      struct trace_error *ret_error)
{
	struct trace_cursor_options all = {0};
	struct trace_cursor *cursor = calloc(1, sizeof(*cursor));

	if (options)
		memcpy(&all, options, options->size < sizeof(all) ? options->size : sizeof(all));
	if (!cursor)
		error_set(ret_error, -ENOMEM, "%s: no memory for a cursor", trace->path);
	else if (cursor_init(cursor, trace, &all, ret_error) < 0)
		cursor = trace_cursor_free(cursor);
	return cursor;
}

struct trace_cursor *trace_cursor_free(struct trace_cursor *cursor)
{
	if (!cursor)
		return NULL;
	ahead_free(cursor->ahead);
	cursor_drop_lanes(cursor);
	while (cursor->free_lanes) {
		struct cursor_lane *lane = cursor->free_lanes;

		cursor->free_lanes = lane->next_free;
		block_release(&lane->block);
		free(lane);
	}
	pool_free(cursor->pool);
	unpacker_release(&cursor->unpacker);
	cursor_batch_release(&cursor->batch);
	free(cursor->heap);
	free(cursor->cpus);
	free(cursor);
	return NULL;
}
