/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * cursor_batch.c - take the events of all lanes up to a time before which nothing else joins, and
 * order them by one merge of their keys (cursor.c explains it).
 */
#include "cursor_batch.h"

#include "cursor_heap.h"
#include "cursor_join.h"
#include "cursor_state.h"
#include "error_set.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
	REACH_MIN = 16,
	REACH_MAX = 4096,
	/*
	 * Minimum size of a batch in events, plus BATCH_OF_LANE for each lane. In a smaller batch
	 * the work per batch would dominate.
	 */
	BATCH_MIN = 512,
	BATCH_OF_LANE = 16,
};

const uint64_t cursor_no_keys = UINT64_MAX;

static bool batch_grow(struct cursor_batch *batch, size_t nr)
{
	size_t room = 2 * nr;
	void *lanes, *taken, *ends;

	if (nr <= batch->room)
		return true;
	lanes = realloc(batch->lanes, room * sizeof(*batch->lanes));
	batch->lanes = lanes ? lanes : batch->lanes;
	taken = realloc(batch->taken, room * sizeof(*batch->taken));
	batch->taken = taken ? taken : batch->taken;
	ends = realloc(batch->ends, room * sizeof(*batch->ends));
	batch->ends = ends ? ends : batch->ends;
	if (!lanes || !taken || !ends)
		return false;
	batch->room = room;
	return true;
}

void cursor_batch_release(struct cursor_batch *batch)
{
	merge_release(&batch->merge);
	free(batch->lanes);
	free(batch->taken);
	free(batch->ends);
}

/*
 * The latest time of a batch with @lane: it ends after @reach events of the lane, but has all
 * events with the time of the lane's next one.
 */
static uint64_t reach_ns(const struct cursor_batch *batch, const struct cursor_lane *lane)
{
	const struct block *block = &lane->block;
	size_t end = (size_t)block->at + batch->reach;

	if (!lane->rank)
		return UINT64_MAX;
	while (end < block->nr && block->ts_ns[end] == lane->ts_ns)
		end += batch->reach;
	return end < block->nr ? block->ts_ns[end] - 1 : UINT64_MAX;
}

/* Index of the first event of @lane after @until_ns. The lane's next event is not after it. */
static uint32_t end_in_batch(const struct cursor_lane *lane, uint32_t reach, uint64_t until_ns)
{
	const struct block *block = &lane->block;
	uint32_t low = block->at + 1, high = block->nr;

	if (high - low > reach && block->ts_ns[low + reach] > until_ns)
		high = low + reach;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (block->ts_ns[middle] > until_ns)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

/*
 * Takes the lanes with events up to @until_ns out of the heap. Each lane may lower @until_ns to the
 * end of its reach, but not below its own next event. Also stops when the lanes taken have enough
 * events before the next event of each remaining lane, as happens when each lane has many events in
 * a row. Returns the final @until_ns.
 */
static uint64_t take_lanes(struct trace_cursor *cursor, uint64_t until_ns)
{
	struct cursor_batch *batch = &cursor->batch;
	uint32_t in_a_row = 0;

	while (cursor->nr_heap && cursor->heap[0].ts_ns <= until_ns) {
		struct cursor_lane *lane = cursor_heap_take(cursor);
		uint64_t reach = reach_ns(batch, lane);

		until_ns = reach < until_ns ? reach : until_ns;
		if (lane->rank && cursor->nr_heap && cursor->heap[0].ts_ns <= until_ns &&
		    cursor->heap[0].ts_ns > lane->ts_ns) {
			in_a_row += end_in_batch(lane, batch->reach, cursor->heap[0].ts_ns - 1) - lane->block.at;
			if (in_a_row >= BATCH_MIN)
				until_ns = cursor->heap[0].ts_ns - 1;
		}
		lane->number = (uint32_t)batch->nr;
		batch->lanes[batch->nr] = batch->taken[batch->nr] = lane;
		batch->nr++;
	}
	return until_ns;
}

/* Two gaps with the same CPU and stream keep the order in which they were taken. */
static int compare_lanes(const void *a, const void *b)
{
	const struct cursor_lane *lane_a = *(struct cursor_lane *const *)a, *lane_b = *(struct cursor_lane *const *)b;

	if (cursor_lane_before(lane_a, lane_b))
		return -1;
	return cursor_lane_before(lane_b, lane_a) || lane_a->number > lane_b->number ? 1 : -1;
}

static void number_lanes(struct cursor_batch *batch)
{
	if (batch->nr > 1)
		qsort(batch->lanes, batch->nr, sizeof(batch->lanes[0]), compare_lanes);
	for (uint32_t i = 0; i < batch->nr; i++)
		batch->lanes[i]->number = i;
}

/* Number of events of @lane in the batch that the cursor wants. */
static size_t nr_of_lane(const struct trace_cursor *cursor, const struct cursor_lane *lane)
{
	const struct block *block = &lane->block;
	size_t nr = 0;

	if (!lane->rank)
		return 1;
	if (cursor->all_events)
		return lane->end - block->at;
	for (uint32_t i = block->at; i < lane->end; i++)
		nr += cursor_wants_id(cursor, block->types[block->type_idxs[i]].id);
	return nr;
}

static inline uint64_t key_of(const struct cursor_batch *batch, uint64_t ts_ns, uint64_t number)
{
	return (ts_ns - batch->first_ns) << batch->number_bits | number;
}

/* merge_write_fn: writes the keys of the events that nr_of_lane() counts. */
static void write_keys(const void *context, size_t run, uint64_t *ret_keys)
{
	const struct trace_cursor *cursor = context;
	const struct cursor_batch *batch = &cursor->batch;
	const struct cursor_lane *lane = batch->taken[run];
	const struct block *block = &lane->block;

	if (!lane->rank)
		*ret_keys = key_of(batch, lane->ts_ns, lane->number);
	else if (cursor->all_events)
		for (uint32_t i = block->at; i < lane->end; i++)
			*ret_keys++ = key_of(batch, block->ts_ns[i], lane->number);
	else
		for (uint32_t i = block->at; i < lane->end; i++)
			if (cursor_wants_id(cursor, block->types[block->type_idxs[i]].id))
				*ret_keys++ = key_of(batch, block->ts_ns[i], lane->number);
}

/*
 * Adapts the reach: a batch needs so many events that the work per batch does not matter, and so
 * few that their keys stay in the cache.
 * @by_reach: the reach ended this batch, so it could have had more events
 */
static void adapt_reach(struct cursor_batch *batch, size_t nr, bool by_reach)
{
	size_t min_events = BATCH_MIN + batch->nr * BATCH_OF_LANE;

	if (nr < min_events && by_reach && batch->reach < REACH_MAX)
		batch->reach *= 2;
	else if (nr > 4 * min_events && batch->reach > REACH_MIN)
		batch->reach /= 2;
}

static int merge_batch(struct trace_cursor *cursor, uint64_t until_ns, size_t *ret_nr)
{
	struct cursor_batch *batch = &cursor->batch;
	const uint64_t *keys;
	size_t nr = 0;

	for (size_t i = 0; i < batch->nr; i++) {
		struct cursor_lane *lane = batch->taken[i];

		if (lane->rank)
			lane->end = end_in_batch(lane, batch->reach, until_ns);
		batch->ends[i] = nr += nr_of_lane(cursor, lane);
	}
	keys = merge_runs(&batch->merge, batch->ends, batch->nr, write_keys, cursor);
	if (!keys)
		return -ENOMEM;
	batch->key = keys;
	*ret_nr = nr;
	return 0;
}

/*
 * Precondition: the heap is not empty, and cursor_join_due() has been called. However many lanes
 * there are, the keys have enough bits for hours of time.
 */
static int make_batch(struct trace_cursor *cursor)
{
	uint64_t first_ns = cursor->heap[0].ts_ns,
		 end_of_all_ns = cursor->last_ns < cursor->until_ns ? cursor->last_ns : cursor->until_ns,
		 until_ns = cursor->next_join_ns - 1 < end_of_all_ns ? cursor->next_join_ns - 1 : end_of_all_ns, max_ns,
		 end_ns;
	struct cursor_batch *batch = &cursor->batch;
	size_t nr = 0;
	int error;

	if (!batch_grow(batch, cursor->nr_heap))
		return -ENOMEM;
	batch->first_ns = first_ns;
	batch->number_bits = 64u - (unsigned int)__builtin_clzll(cursor->nr_heap);
	batch->number_mask = (1ull << batch->number_bits) - 1;
	max_ns = (UINT64_MAX >> batch->number_bits) - 1;
	if (until_ns < first_ns) /* both are at the last possible time */
		until_ns = first_ns;
	if (until_ns - first_ns > max_ns)
		until_ns = first_ns + max_ns;
	end_ns = take_lanes(cursor, until_ns);
	number_lanes(batch);
	error = merge_batch(cursor, end_ns, &nr);
	adapt_reach(batch, nr, end_ns < until_ns);
	return error;
}

/*
 * Called when all events of the batch were delivered. Its lanes return to the heap, or have ended.
 */
static int end_batch(struct trace_cursor *cursor)
{
	struct cursor_batch *batch = &cursor->batch;
	int error = 0;

	for (size_t i = 0; i < batch->nr; i++)
		if (batch->lanes[i]->rank && cursor_lane_skip_unwanted(cursor, batch->lanes[i]))
			error = cursor_heap_push(cursor, batch->lanes[i]) < 0 ? -ENOMEM : error;
		else
			cursor_lane_free(cursor, batch->lanes[i]);
	batch->nr = 0;
	batch->key = &cursor_no_keys;
	cursor->top = NULL;
	return error;
}

/* The trace may have more chunks and gaps, and a later safe point, than at the last batch. */
static void follow_trace(struct trace_cursor *cursor)
{
	cursor_follow(cursor);
	cursor_find_next_join(cursor);
}

__attribute__((noinline)) bool cursor_next_batch(struct trace_cursor *cursor)
{
	if (cursor->error)
		return false;
	cursor->error = end_batch(cursor);
	if (cursor->until_ns != UINT64_MAX)
		follow_trace(cursor);
	if (!cursor->error && (!cursor->nr_heap || cursor->heap[0].ts_ns >= cursor->next_join_ns)) {
		cursor->error = cursor_join_due(cursor);
		cursor_find_next_join(cursor);
	}
	if (!cursor->error && cursor->nr_heap && cursor->heap[0].ts_ns <= cursor->until_ns)
		cursor->error = make_batch(cursor);
	if (cursor->error)
		error_set(&cursor->why, cursor->error, "%s: no memory to continue reading", cursor->trace->path);
	return cursor->batch.nr && !cursor->error;
}

void cursor_drop_lanes(struct trace_cursor *cursor)
{
	while (cursor->nr_heap)
		cursor_lane_free(cursor, cursor->heap[--cursor->nr_heap].lane);
	while (cursor->batch.nr)
		cursor_lane_free(cursor, cursor->batch.lanes[--cursor->batch.nr]);
	cursor->batch.key = &cursor_no_keys;
	cursor->top = NULL;
}
