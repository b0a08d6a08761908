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
#include "ahead.h"
#include "trace.h"

#include "error_set.h"
#include "merge.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
	DECODED_BEFORE_AHEAD = 4, /* chunks */
	DECODE_AHEAD_MOST = 64,
	/* from here on the next events of the lanes do not stay in the cache */
	LANES_COLD = 12,
	REACH_FIRST = 64,
	REACH_LEAST = 16,
	REACH_MOST = 4096,
	/*
	 * Minimum size of a batch in events, plus BATCH_OF_LANE for each lane. In a smaller batch
	 * the work per batch would dominate.
	 */
	BATCH_LEAST = 512,
	BATCH_OF_LANE = 16,
	LOOKED_AT_MOST = 1024, /* chunks that one peek looks at */
};

/**
 * struct lane - a chunk in progress, or a gap
 * @ts_ns: time of its next event
 * @rank: 0: a gap; otherwise the index in the timeline + 1. Orders lanes when all else is equal
 * @lost: payload of a gap's event
 * @end: index of the first event in the block after the batch. @number: of the lane in the batch
 */
struct lane {
	uint64_t ts_ns;
	uint64_t rank;
	uint32_t cpu;
	uint32_t stream;
	struct block block; /* its first fields are in the same cache line */
	uint32_t end;
	uint32_t number;
	struct lane *next_free;
	struct trace_trace_lost lost;
} __attribute__((aligned(64)));

/**
 * struct head - a lane in the heap, with the time of its next event
 * The heap compares these copies, because the lanes are many and far apart in memory.
 */
struct head {
	uint64_t ts_ns;
	struct lane *lane; /* owned */
};

/**
 * struct batch - the events that are delivered next
 * @key: of the next event: its time since @first_ns, with the number of its lane in the lowest
 *	@number_bits bits. UINT64_MAX ends the keys
 * @lanes: by number, which is their order at equal times. Lanes in the batch are not in the heap
 * @taken: the same lanes, by the times of their first events
 * @ends: for each lane in @taken, the number of events in it and in the lanes before it
 * @reach: maximum number of events that one lane contributes
 */
struct batch {
	const uint64_t *key;
	uint64_t first_ns;
	uint64_t number_mask;
	unsigned int number_bits;
	uint32_t reach;
	size_t nr;
	size_t room;
	struct lane **lanes; /* owned, with the lanes */
	struct lane **taken; /* owned */
	size_t *ends;	     /* owned */
	struct merge merge;
};

struct trace_cursor {
	const struct trace *trace;
	const struct timeline *timeline;
	uint64_t from_ns;
	uint64_t last_ns; /* inclusive, because UINT64_MAX is a valid time */
	uint64_t mask[TRACE_MASK_WORDS];
	bool all_events;
	bool no_lost;
	uint32_t *cpus; /* owned; NULL: all */
	size_t nr_cpus;
	size_t next_chunk; /* index in the timeline */
	size_t next_gap;   /* index in trace->gaps_by_end */
	uint64_t next_join_ns; /* nothing joins the heap before this time */
	struct batch batch;
	struct lane *top; /* lane of the last event; in the batch */
	struct head *heap; /* owned */
	size_t nr_heap;
	size_t heap_room;
	struct lane *free_lanes; /* owned */
	size_t decode_ahead;	 /* chunks */
	size_t nr_decoded;	 /* since the last seek */
	uint64_t decoded_bytes;	 /* the same */
	uint64_t held_bytes;	 /* by all lanes */
	/*
	 * Owned. Its thread reads the fields above that do not change while it runs. NULL: not
	 * worth it.
	 */
	struct ahead *ahead;
	struct unpacker unpacker;
	struct pool *pool; /* owned; memory of all blocks */
	const struct trace_event_type *lost_type;
	struct trace_event event; /* the caller borrows it */
	int error;
	struct trace_error why;
	uint64_t skipped_chunks;
	void (*damaged)(void *data, const struct trace_gap *gap); /* NULL: the caller has none */
	void *damaged_data;
};

/* ---- heap ---- */

/* Returns whether @a precedes @b, when both have an event at the same time. */
static __attribute__((noinline)) bool lane_before(const struct lane *a, const struct lane *b)
{
	if (a->cpu != b->cpu)
		return a->cpu < b->cpu;
	if (a->stream != b->stream)
		return a->stream < b->stream;
	return a->rank < b->rank;
}

/* Returns a number, not a condition: the processor cannot predict which child is first. */
static inline size_t head_before(const struct head *a, const struct head *b)
{
	size_t before = a->ts_ns < b->ts_ns;

	if (__builtin_expect(a->ts_ns == b->ts_ns, 0))
		before = lane_before(a->lane, b->lane);
	return before;
}

/* Replaces the top of the heap by @head, and restores the order. */
static void heap_down(struct trace_cursor *cursor, struct head head)
{
	struct head *heap = cursor->heap;
	size_t at = 0, child, nr = cursor->nr_heap;

	for (; (child = 2 * at + 1) + 1 < nr; at = child) {
		child += head_before(&heap[child + 1], &heap[child]);
		if (!head_before(&heap[child], &head))
			break;
		heap[at] = heap[child];
	}
	if (child + 1 == nr && head_before(&heap[child], &head)) {
		heap[at] = heap[child];
		at = child;
	}
	heap[at] = head;
}

static struct lane *lane_new(struct trace_cursor *cursor)
{
	struct lane *lane = cursor->free_lanes;

	if (lane)
		cursor->free_lanes = lane->next_free;
	else if ((lane = aligned_alloc(_Alignof(struct lane), sizeof(*lane))))
		*lane = (struct lane){ .block = { .pool = cursor->pool } };
	return lane;
}

static void lane_free(struct trace_cursor *cursor, struct lane *lane)
{
	lane->next_free = cursor->free_lanes;
	cursor->free_lanes = lane;
}

/* Takes over @lane. A lane that came from the heap always fits again. */
static int heap_push(struct trace_cursor *cursor, struct lane *lane)
{
	struct head head = { lane->ts_ns, lane };
	size_t at = cursor->nr_heap;

	if (!trace_array_grow((void **)&cursor->heap, cursor->nr_heap, &cursor->heap_room, sizeof(*cursor->heap))) {
		lane_free(cursor, lane);
		return -ENOMEM;
	}
	cursor->nr_heap++;
	for (; at > 0 && head_before(&head, &cursor->heap[(at - 1) / 2]); at = (at - 1) / 2)
		cursor->heap[at] = cursor->heap[(at - 1) / 2];
	cursor->heap[at] = head;
	return 0;
}

static struct lane *heap_take(struct trace_cursor *cursor)
{
	struct lane *lane = cursor->heap[0].lane;

	if (--cursor->nr_heap)
		heap_down(cursor, cursor->heap[cursor->nr_heap]);
	return lane;
}

/* ---- filters ---- */

static bool wants_id(const struct trace_cursor *cursor, uint32_t id)
{
	id = id < TRACE_EV_USER ? id : TRACE_EV_USER;
	return cursor->mask[id / 64] >> (id % 64) & 1;
}

static bool wants_cpu(const struct trace_cursor *cursor, uint32_t cpu)
{
	for (size_t i = 0; i < cursor->nr_cpus; i++)
		if (cursor->cpus[i] == cpu)
			return true;
	return !cursor->cpus;
}

static bool wants_losses(const struct trace_cursor *cursor)
{
	return !cursor->no_lost && wants_id(cursor, TRACE_EV_trace_lost);
}

/*
 * Only reading a chunk shows whether it is damaged. So a cursor that wants losses reads all chunks,
 * also those without events that pass its filter.
 */
static bool wants_chunk(const struct trace_cursor *cursor, const struct span *span)
{
	struct trace_chunk_header header;
	struct chunk chunk;
	uint64_t wanted = 0;

	if (span->last_ns < cursor->from_ns || !wants_cpu(cursor, span->cpu))
		return false;
	if (cursor->all_events || wants_losses(cursor) || chunk_of_span(cursor->trace, span, &chunk) || chunk_header(cursor->trace, &chunk, &header))
		return true;
	for (int i = 0; i < TRACE_MASK_WORDS; i++)
		wanted |= header.ids[i] & cursor->mask[i];
	return wanted;
}

/* Skips the events of @lane that the cursor does not want. Returns false if no event is left. */
static bool lane_settle(const struct trace_cursor *cursor, struct lane *lane)
{
	struct block *block = &lane->block;

	for (; block->at < block->nr; block->at++) {
		struct block_type *type = &block->types[block->places[block->at]];
		uint32_t bytes;

		if (block->ts_ns[block->at] >= cursor->from_ns && (cursor->all_events || wants_id(cursor, type->id)))
			break;
		block_step(type, &bytes);
	}
	if (block->at >= block->nr || block->ts_ns[block->at] > cursor->last_ns)
		return false;
	lane->ts_ns = block->ts_ns[block->at];
	return true;
}

/* ---- what joins ---- */

static int join_gap(struct trace_cursor *cursor, const struct trace_gap *gap)
{
	struct lane *lane;

	if (!wants_losses(cursor) || gap->end_ns < cursor->from_ns || gap->end_ns > cursor->last_ns || !wants_cpu(cursor, gap->cpu))
		return 0;
	lane = lane_new(cursor);
	if (!lane)
		return -ENOMEM;
	lane->ts_ns = gap->end_ns;
	lane->rank = 0;
	lane->cpu = gap->cpu;
	lane->stream = gap->stream;
	lane->lost = (struct trace_trace_lost){ .lost = gap->lost, .from_ns = gap->start_ns, .stream = gap->stream, .cause = gap->cause };
	return heap_push(cursor, lane);
}

/*
 * If the file has become too short, the offset of the chunk is not known any more; the message
 * names its index instead.
 */
static void tell_of_damage(struct trace_cursor *cursor, const struct span *span, const char *reason)
{
	struct chunk chunk;

	if (chunk_get(cursor->trace, span->idx, &chunk))
		error_set(&cursor->why, -EBADMSG, "%s: chunk %u, of %u events, cannot be read: %s; its events are missing", cursor->trace->path, span->idx,
			  span->events, reason);
	else
		error_set(&cursor->why, -EBADMSG, "%s: the chunk of %u events at offset %llu is damaged: %s; its events are missing", cursor->trace->path,
			  span->events, (unsigned long long)chunk.public.offset, reason);
}

static int chunk_is_damaged(struct trace_cursor *cursor, const struct span *span, const char *reason)
{
	const struct trace_gap gap = { .stream = span->stream, .cpu = span->cpu, .start_ns = span->first_ns, .end_ns = span->last_ns,
				       .lost = span->events, .cause = TRACE_GAP_DAMAGED };

	if (!cursor->skipped_chunks++)
		tell_of_damage(cursor, span, reason);
	if (cursor->damaged)
		cursor->damaged(cursor->damaged_data, &gap);
	return join_gap(cursor, &gap);
}

static bool wants_ahead(const void *context, const struct span *span)
{
	const struct trace_cursor *cursor = context;

	return span->first_ns <= cursor->last_ns && wants_chunk(cursor, span);
}

/*
 * The decoding thread starts with the fourth chunk: most cursors are read for the first few events
 * only.
 */
static int decode_chunk(struct trace_cursor *cursor, size_t place, struct block *block, const char **ret_reason)
{
	int error;

	if (cursor->decode_ahead && ++cursor->nr_decoded == DECODED_BEFORE_AHEAD)
		cursor->ahead = ahead_new(cursor->trace, cursor->timeline, place, (unsigned int)cursor->decode_ahead, cursor->pool, wants_ahead,
					  cursor);
	if (cursor->ahead && ahead_take(cursor->ahead, place, block, &error, ret_reason))
		return error;
	return span_block(cursor->trace, &cursor->timeline->spans[place], &cursor->unpacker, block, ret_reason);
}

/*
 * Like decode_chunk(), but within the limits for crafted files: a file of this size cannot have so
 * many events in one pass, or at one time. Beyond a limit the chunk is not decoded, or not kept.
 */
static int decode_within_limits(struct trace_cursor *cursor, size_t place, struct block *block, const char **ret_reason)
{
	size_t held_before = block->memory_room;
	int error;

	*ret_reason = "with it this file stands for more events than any recorder can put into one of its size";
	if (is_beyond(&limit_in_a_pass, cursor->trace, cursor->decoded_bytes))
		return -EBADMSG;
	error = decode_chunk(cursor, place, block, ret_reason);
	cursor->decoded_bytes += block->decoded_bytes;
	cursor->held_bytes += block->memory_room;
	cursor->held_bytes -= held_before;
	if (error || !is_beyond(&limit_at_a_time, cursor->trace, cursor->held_bytes))
		return error;
	cursor->held_bytes -= block->memory_room;
	block_release(block);
	*ret_reason = "with it this file has more events at one time than any recorder can put into one of its size";
	return -EBADMSG;
}

static int join_chunk(struct trace_cursor *cursor, size_t place)
{
	const struct span *span = &cursor->timeline->spans[place];
	const char *reason = NULL;
	struct lane *lane;
	int error;

	if (!wants_chunk(cursor, span))
		return 0;
	lane = lane_new(cursor);
	if (!lane)
		return -ENOMEM;
	lane->rank = place + 1;
	lane->cpu = span->cpu;
	lane->stream = span->stream;
	error = decode_within_limits(cursor, place, &lane->block, &reason);
	if (!error && lane_settle(cursor, lane))
		return heap_push(cursor, lane);
	lane_free(cursor, lane);
	return error == -EBADMSG ? chunk_is_damaged(cursor, span, reason) : error;
}

static uint64_t next_chunk_ns(const struct trace_cursor *cursor)
{
	if (cursor->next_chunk >= cursor->timeline->nr)
		return UINT64_MAX;
	return cursor->timeline->spans[cursor->next_chunk].first_ns;
}

static uint64_t next_gap_ns(const struct trace_cursor *cursor)
{
	if (cursor->no_lost || cursor->next_gap >= cursor->trace->nr_gaps_by_end)
		return UINT64_MAX;
	return cursor->trace->gaps[cursor->trace->gaps_by_end[cursor->next_gap]].end_ns;
}

/*
 * Moves each chunk and gap that begins no later than the top's next event into the heap. If the
 * heap is empty, the next one joins.
 */
static int join_due(struct trace_cursor *cursor)
{
	int error = 0;

	while (!error) {
		uint64_t chunk_ns = next_chunk_ns(cursor), gap_ns = next_gap_ns(cursor);
		bool has_chunk = cursor->next_chunk < cursor->timeline->nr;
		bool has_gap = !cursor->no_lost && cursor->next_gap < cursor->trace->nr_gaps_by_end;
		uint64_t due_ns = cursor->nr_heap ? cursor->heap[0].ts_ns : UINT64_MAX;

		if (has_gap && gap_ns <= due_ns && (!has_chunk || gap_ns <= chunk_ns))
			error = join_gap(cursor, &cursor->trace->gaps[cursor->trace->gaps_by_end[cursor->next_gap++]]);
		else if (has_chunk && chunk_ns <= due_ns && chunk_ns <= cursor->last_ns)
			error = join_chunk(cursor, cursor->next_chunk++);
		else
			break;
	}
	return error;
}

static void find_next_join(struct trace_cursor *cursor)
{
	uint64_t chunk_ns = next_chunk_ns(cursor), gap_ns = next_gap_ns(cursor);

	cursor->next_join_ns = chunk_ns < gap_ns ? chunk_ns : gap_ns;
}

/* ---- batches ---- */

static const uint64_t no_keys = UINT64_MAX;

static bool batch_grow(struct batch *batch, size_t nr)
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

static void batch_release(struct batch *batch)
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
static uint64_t reach_ns(const struct batch *batch, const struct lane *lane)
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
static uint32_t end_in_batch(const struct lane *lane, uint32_t reach, uint64_t until_ns)
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
	struct batch *batch = &cursor->batch;
	uint32_t in_a_row = 0;

	while (cursor->nr_heap && cursor->heap[0].ts_ns <= until_ns) {
		struct lane *lane = heap_take(cursor);
		uint64_t reach = reach_ns(batch, lane);

		until_ns = reach < until_ns ? reach : until_ns;
		if (lane->rank && cursor->nr_heap && cursor->heap[0].ts_ns <= until_ns && cursor->heap[0].ts_ns > lane->ts_ns) {
			in_a_row += end_in_batch(lane, batch->reach, cursor->heap[0].ts_ns - 1) - lane->block.at;
			if (in_a_row >= BATCH_LEAST)
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
	const struct lane *lane_a = *(struct lane *const *)a, *lane_b = *(struct lane *const *)b;

	if (lane_before(lane_a, lane_b))
		return -1;
	return lane_before(lane_b, lane_a) || lane_a->number > lane_b->number ? 1 : -1;
}

static void number_lanes(struct batch *batch)
{
	if (batch->nr > 1)
		qsort(batch->lanes, batch->nr, sizeof(batch->lanes[0]), compare_lanes);
	for (uint32_t i = 0; i < batch->nr; i++)
		batch->lanes[i]->number = i;
}

/* Number of events of @lane in the batch that the cursor wants. */
static size_t nr_of_lane(const struct trace_cursor *cursor, const struct lane *lane)
{
	const struct block *block = &lane->block;
	size_t nr = 0;

	if (!lane->rank)
		return 1;
	if (cursor->all_events)
		return lane->end - block->at;
	for (uint32_t i = block->at; i < lane->end; i++)
		nr += wants_id(cursor, block->types[block->places[i]].id);
	return nr;
}

static inline uint64_t key_of(const struct batch *batch, uint64_t ts_ns, uint64_t number)
{
	return (ts_ns - batch->first_ns) << batch->number_bits | number;
}

/* merge_write_fn: writes the keys of the events that nr_of_lane() counts. */
static void write_keys(const void *context, size_t run, uint64_t *ret_keys)
{
	const struct trace_cursor *cursor = context;
	const struct batch *batch = &cursor->batch;
	const struct lane *lane = batch->taken[run];
	const struct block *block = &lane->block;

	if (!lane->rank)
		*ret_keys = key_of(batch, lane->ts_ns, lane->number);
	else if (cursor->all_events)
		for (uint32_t i = block->at; i < lane->end; i++)
			*ret_keys++ = key_of(batch, block->ts_ns[i], lane->number);
	else
		for (uint32_t i = block->at; i < lane->end; i++)
			if (wants_id(cursor, block->types[block->places[i]].id))
				*ret_keys++ = key_of(batch, block->ts_ns[i], lane->number);
}

/*
 * Adapts the reach: a batch needs so many events that the work per batch does not matter, and so
 * few that their keys stay in the cache.
 * @by_reach: the reach ended this batch, so it could have had more events
 */
static void adapt_reach(struct batch *batch, size_t nr, bool by_reach)
{
	size_t least = BATCH_LEAST + batch->nr * BATCH_OF_LANE;

	if (nr < least && by_reach && batch->reach < REACH_MOST)
		batch->reach *= 2;
	else if (nr > 4 * least && batch->reach > REACH_LEAST)
		batch->reach /= 2;
}

static int merge_batch(struct trace_cursor *cursor, uint64_t until_ns, size_t *ret_nr)
{
	struct batch *batch = &cursor->batch;
	const uint64_t *keys;
	size_t nr = 0;

	for (size_t i = 0; i < batch->nr; i++) {
		struct lane *lane = batch->taken[i];

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
 * Precondition: the heap is not empty, and join_due() has been called. However many lanes there
 * are, the keys have enough bits for hours of time.
 */
static int make_batch(struct trace_cursor *cursor)
{
	uint64_t first_ns = cursor->heap[0].ts_ns, until_ns = cursor->next_join_ns - 1 < cursor->last_ns ? cursor->next_join_ns - 1 : cursor->last_ns, most_ns, end_ns;
	struct batch *batch = &cursor->batch;
	size_t nr = 0;
	int error;

	if (!batch_grow(batch, cursor->nr_heap))
		return -ENOMEM;
	batch->first_ns = first_ns;
	batch->number_bits = 64u - (unsigned int)__builtin_clzll(cursor->nr_heap);
	batch->number_mask = (1ull << batch->number_bits) - 1;
	most_ns = (UINT64_MAX >> batch->number_bits) - 1;
	if (until_ns < first_ns) /* both are at the last possible time */
		until_ns = first_ns;
	if (until_ns - first_ns > most_ns)
		until_ns = first_ns + most_ns;
	end_ns = take_lanes(cursor, until_ns);
	number_lanes(batch);
	error = merge_batch(cursor, end_ns, &nr);
	adapt_reach(batch, nr, end_ns < until_ns);
	return error;
}

/*
 * Called when all events of the batch were delivered. Its lanes return to the heap, or have ended.
 */
static void end_batch(struct trace_cursor *cursor)
{
	struct batch *batch = &cursor->batch;

	for (size_t i = 0; i < batch->nr; i++)
		if (batch->lanes[i]->rank && lane_settle(cursor, batch->lanes[i]))
			heap_push(cursor, batch->lanes[i]);
		else
			lane_free(cursor, batch->lanes[i]);
	batch->nr = 0;
	batch->key = &no_keys;
	cursor->top = NULL;
}

/* Returns false at the end of the events, or with cursor->error set. */
static __attribute__((noinline)) bool next_batch(struct trace_cursor *cursor)
{
	if (cursor->error)
		return false;
	end_batch(cursor);
	if (!cursor->nr_heap || cursor->heap[0].ts_ns >= cursor->next_join_ns) {
		cursor->error = join_due(cursor);
		find_next_join(cursor);
	}
	if (!cursor->error && cursor->nr_heap)
		cursor->error = make_batch(cursor);
	if (cursor->error)
		error_set(&cursor->why, cursor->error, "%s: no memory to go on reading", cursor->trace->path);
	return cursor->batch.nr && !cursor->error;
}

/* ---- events ---- */

static inline struct lane *lane_of_key(const struct batch *batch, uint64_t key)
{
	return batch->lanes[key & batch->number_mask];
}

/*
 * Prefetches for the event after the next one: the entry that says where its payload is.
 * The empty asm statement counts as a side effect. gcc 12.2 takes a function that only prefetches
 * for a pure one and drops its calls.
 */
static inline void expect(const struct batch *batch)
{
	const struct lane *lane;

	if (batch->key[0] == UINT64_MAX || batch->key[1] == UINT64_MAX)
		return;
	lane = lane_of_key(batch, batch->key[1]);
	if (lane->rank)
		__builtin_prefetch(lane->block.types[lane->block.places[lane->block.at]].next);
	__asm__ volatile("");
}

static const struct trace_event *event_of_gap(struct trace_cursor *cursor, const struct lane *lane)
{
	cursor->event = (struct trace_event){ .ts_ns = lane->ts_ns,
					      .cpu = lane->cpu,
					      .stream = lane->stream,
					      .id = TRACE_EV_trace_lost,
					      .payload_bytes = sizeof(lane->lost),
					      .payload = &lane->lost,
					      .type = cursor->lost_type };
	return &cursor->event;
}

static inline const struct trace_event *event_of_chunk(struct trace_cursor *cursor, struct lane *lane, uint64_t ts_ns)
{
	struct block *block = &lane->block;
	struct block_type *type = &block->types[block->places[block->at++]];
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
	struct batch *batch = &cursor->batch;
	uint64_t key = *batch->key, ts_ns;
	const struct trace_event *event;
	struct lane *lane;

	if (key == UINT64_MAX) {
		if (!next_batch(cursor))
			return NULL;
		key = *batch->key;
	}
	batch->key++;
	lane = cursor->top = lane_of_key(batch, key);
	if (batch->nr >= LANES_COLD)
		expect(batch);
	if (!lane->rank)
		return event_of_gap(cursor, lane);
	ts_ns = batch->first_ns + (key >> batch->number_bits);
	event = event_of_chunk(cursor, lane, ts_ns);
	while (!cursor->all_events && !wants_id(cursor, event->id))
		event = event_of_chunk(cursor, lane, ts_ns);
	return event;
}

const void *trace_cursor_peek(const struct trace_cursor *cursor, uint32_t distance)
{
	const struct lane *lane = cursor->top;
	const struct block_type *type;

	if (!lane || !lane->rank || !distance)
		return NULL;
	type = &lane->block.types[lane->block.places[lane->block.at - 1]];
	return (size_t)(type->end - type->next) < distance ? NULL : type->memory + 8 * (size_t)type->next[distance - 1];
}

/* Does @lane belong to @stream, and is its next event at or before @until_ns? */
static bool lane_has(const struct lane *lane, uint32_t stream, uint64_t until_ns)
{
	return lane->rank && lane->stream == stream && lane->block.at < lane->block.nr && lane->block.ts_ns[lane->block.at] <= until_ns;
}

/*
 * Can a chunk other than the current one have events of @stream up to @until_ns? Chunks of one
 * stream overlap a little where writers nest, and by any amount in a crafted file. The search is
 * limited, and the answer is then yes. A recording has few streams, so the limit matters for
 * crafted files only.
 */
static bool may_have_other_chunk(const struct trace_cursor *cursor, uint32_t stream, uint64_t until_ns)
{
	size_t last = cursor->next_chunk + LOOKED_AT_MOST;

	if (cursor->batch.nr + cursor->nr_heap > LOOKED_AT_MOST)
		return true;
	for (size_t i = 0; i < cursor->batch.nr; i++)
		if (cursor->batch.lanes[i] != cursor->top && lane_has(cursor->batch.lanes[i], stream, until_ns))
			return true;
	for (size_t i = 0; i < cursor->nr_heap; i++)
		if (cursor->heap[i].ts_ns <= until_ns && lane_has(cursor->heap[i].lane, stream, until_ns))
			return true;
	for (size_t i = cursor->next_chunk; i < cursor->timeline->nr && cursor->timeline->spans[i].first_ns <= until_ns; i++)
		if (i == last || cursor->timeline->spans[i].stream == stream)
			return true;
	return false;
}

uint64_t trace_cursor_peek_ns(const struct trace_cursor *cursor)
{
	const struct lane *lane = cursor->top;

	if (!lane || !lane->rank)
		return 0;
	for (uint32_t i = lane->block.at; i < lane->block.nr; i++)
		if (lane->block.places[i] == lane->block.places[lane->block.at - 1])
			return may_have_other_chunk(cursor, lane->stream, lane->block.ts_ns[i]) ? 0 : lane->block.ts_ns[i];
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

static void drop_lanes(struct trace_cursor *cursor)
{
	while (cursor->nr_heap)
		lane_free(cursor, cursor->heap[--cursor->nr_heap].lane);
	while (cursor->batch.nr)
		lane_free(cursor, cursor->batch.lanes[--cursor->batch.nr]);
	cursor->batch.key = &no_keys;
	cursor->top = NULL;
}

int trace_cursor_seek(struct trace_cursor *cursor, uint64_t ts_ns)
{
	cursor->ahead = ahead_free(cursor->ahead);
	cursor->nr_decoded = 0;
	cursor->decoded_bytes = 0;
	drop_lanes(cursor);
	cursor->error = 0;
	cursor->from_ns = ts_ns;
	cursor->next_chunk = timeline_at(cursor->timeline, ts_ns);
	cursor->next_gap = gap_at(cursor->trace, ts_ns);
	find_next_join(cursor);
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

static int cursor_init(struct trace_cursor *cursor, const struct trace *trace, const struct trace_cursor_options *options, struct trace_error *ret_error)
{
	cursor->trace = trace;
	cursor->timeline = trace_timeline(trace, options->start_state ? TRACE_CHUNK_START_STATE : TRACE_CHUNK_EVENTS, ret_error);
	if (!cursor->timeline)
		return -1;
	cursor->pool = pool_new(options->decode_ahead);
	if (!cursor->pool)
		return error_set(ret_error, -ENOMEM, "%s: no memory for a cursor", trace->path);
	cursor->last_ns = options->to_ns ? options->to_ns - 1 : UINT64_MAX;
	cursor->no_lost = options->no_lost || options->start_state;
	cursor->decode_ahead = options->decode_ahead < DECODE_AHEAD_MOST ? options->decode_ahead : DECODE_AHEAD_MOST;
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
	struct trace_cursor_options all = { 0 };
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
	drop_lanes(cursor);
	while (cursor->free_lanes) {
		struct lane *lane = cursor->free_lanes;

		cursor->free_lanes = lane->next_free;
		block_release(&lane->block);
		free(lane);
	}
	pool_free(cursor->pool);
	unpacker_release(&cursor->unpacker);
	batch_release(&cursor->batch);
	free(cursor->heap);
	free(cursor->cpus);
	free(cursor);
	return NULL;
}
