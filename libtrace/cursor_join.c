/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* cursor_join.c - the chunks and gaps that join the merge of a cursor, each as a lane. */
#include "cursor_join.h"

#include "chunk.h"
#include "cursor_heap.h"
#include "cursor_state.h"
#include "error_set.h"
#include "number_text.h"
#include "timeline.h"

#include <errno.h>

enum { DECODED_BEFORE_AHEAD = 4 }; /* chunks */

/* ---- filters ---- */

static bool wants_cpu(const struct trace_cursor *cursor, uint32_t cpu)
{
	for (size_t i = 0; i < cursor->nr_cpus; i++)
		if (cursor->cpus[i] == cpu)
			return true;
	return !cursor->cpus;
}

static bool wants_losses(const struct trace_cursor *cursor)
{
	return !cursor->no_lost && cursor_wants_id(cursor, TRACE_EV_trace_lost);
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
	if (cursor->all_events || wants_losses(cursor) || chunk_of_span(cursor->trace, span, &chunk) ||
	    chunk_header(cursor->trace, &chunk, &header))
		return true;
	for (int i = 0; i < TRACE_MASK_WORDS; i++)
		wanted |= header.ids[i] & cursor->mask[i];
	return wanted;
}

bool cursor_lane_skip_unwanted(const struct trace_cursor *cursor, struct cursor_lane *lane)
{
	struct block *block = &lane->block;

	for (; block->at < block->nr; block->at++) {
		struct block_type *type = &block->types[block->type_idxs[block->at]];
		uint32_t bytes;

		if (block->ts_ns[block->at] >= cursor->from_ns &&
		    (cursor->all_events || cursor_wants_id(cursor, type->id)))
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
	struct cursor_lane *lane;

	if (!wants_losses(cursor) || gap->end_ns < cursor->from_ns || gap->end_ns > cursor->last_ns ||
	    !wants_cpu(cursor, gap->cpu))
		return 0;
	lane = cursor_lane_new(cursor);
	if (!lane)
		return -ENOMEM;
	lane->ts_ns = gap->end_ns;
	lane->rank = 0;
	lane->cpu = gap->cpu;
	lane->stream = gap->stream;
	lane->lost = (struct trace_trace_lost){
		.lost = gap->lost, .from_ns = gap->start_ns, .stream = gap->stream, .cause = gap->cause};
	return cursor_heap_push(cursor, lane);
}

/*
 * If the file has become too short, the offset of the chunk is not known any more; the message
 * names its index instead.
 */
static void note_damage(struct trace_cursor *cursor, const struct span *span, const char *reason)
{
	struct chunk chunk;

	if (chunk_get(cursor->trace, span->idx, &chunk))
		error_set(&cursor->why, -EBADMSG, "%s: chunk %u, of %s, cannot be read: %s; its events are missing",
			  cursor->trace->path, span->idx, number_events(span->events).s, reason);
	else
		error_set(&cursor->why, -EBADMSG,
			  "%s: the chunk of %s at offset %llu is damaged: %s; its events are missing",
			  cursor->trace->path, number_events(span->events).s, (unsigned long long)chunk.public.offset,
			  reason);
}

static int chunk_is_damaged(struct trace_cursor *cursor, const struct span *span, const char *reason)
{
	const struct trace_gap gap = {.stream = span->stream,
				      .cpu = span->cpu,
				      .start_ns = span->first_ns,
				      .end_ns = span->last_ns,
				      .lost = span->events,
				      .cause = TRACE_GAP_DAMAGED};

	if (!cursor->skipped_chunks++)
		note_damage(cursor, span, reason);
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
static int decode_chunk(struct trace_cursor *cursor, size_t span_idx, struct block *block, const char **ret_reason)
{
	int error;

	if (cursor->decode_ahead && ++cursor->nr_decoded == DECODED_BEFORE_AHEAD)
		cursor->ahead = ahead_new(cursor->trace, cursor->timeline, span_idx, (unsigned int)cursor->decode_ahead,
					  cursor->pool, wants_ahead, cursor);
	if (cursor->ahead && ahead_take(cursor->ahead, span_idx, block, &error, ret_reason))
		return error;
	return span_block(cursor->trace, &cursor->timeline->spans[span_idx], &cursor->unpacker, block, ret_reason);
}

/*
 * Like decode_chunk(), but within the limits for crafted files: a file of this size cannot have so
 * many events in one pass, or at one time. Beyond a limit the chunk is not decoded, or not kept.
 */
static int decode_within_limits(struct trace_cursor *cursor, size_t span_idx, struct block *block,
				const char **ret_reason)
{
	size_t held_before = block->memory_room;
	int error;

	*ret_reason = "with it the file has more events than a recorder can write into a file of its size";
	if (is_beyond(&limit_in_a_pass, cursor->trace, cursor->decoded_bytes))
		return -EBADMSG;
	error = decode_chunk(cursor, span_idx, block, ret_reason);
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

static int join_chunk(struct trace_cursor *cursor, size_t span_idx)
{
	const struct span *span = &cursor->timeline->spans[span_idx];
	const char *reason = NULL;
	struct cursor_lane *lane;
	int error;

	if (!wants_chunk(cursor, span))
		return 0;
	lane = cursor_lane_new(cursor);
	if (!lane)
		return -ENOMEM;
	lane->rank = span_idx + 1;
	lane->cpu = span->cpu;
	lane->stream = span->stream;
	error = decode_within_limits(cursor, span_idx, &lane->block, &reason);
	if (!error && cursor_lane_skip_unwanted(cursor, lane))
		return cursor_heap_push(cursor, lane);
	cursor_lane_free(cursor, lane);
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

int cursor_join_due(struct trace_cursor *cursor)
{
	int error = 0;

	while (!error) {
		uint64_t chunk_ns = next_chunk_ns(cursor), gap_ns = next_gap_ns(cursor);
		bool has_chunk = cursor->next_chunk < cursor->timeline->nr;
		bool has_gap = !cursor->no_lost && cursor->next_gap < cursor->trace->nr_gaps_by_end;
		uint64_t due_ns = cursor->nr_heap && cursor->heap[0].ts_ns < cursor->until_ns ? cursor->heap[0].ts_ns
											      : cursor->until_ns;

		if (has_gap && gap_ns <= due_ns && (!has_chunk || gap_ns <= chunk_ns))
			error = join_gap(cursor, &cursor->trace->gaps[cursor->trace->gaps_by_end[cursor->next_gap++]]);
		else if (has_chunk && chunk_ns <= due_ns && chunk_ns <= cursor->last_ns)
			error = join_chunk(cursor, cursor->next_chunk++);
		else
			break;
	}
	return error;
}

void cursor_find_next_join(struct trace_cursor *cursor)
{
	uint64_t chunk_ns = next_chunk_ns(cursor), gap_ns = next_gap_ns(cursor);

	cursor->next_join_ns = chunk_ns < gap_ns ? chunk_ns : gap_ns;
}

void cursor_follow(struct trace_cursor *cursor)
{
	cursor->until_ns = cursor->trace->safe_ns == UINT64_MAX || cursor->timeline == cursor->trace->timelines[1]
				   ? UINT64_MAX
				   : cursor->trace->safe_ns - (cursor->trace->safe_ns > 0);
}
