/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * verify.c - read the whole trace, and compare all counts with each other.
 *
 * Each attempted event must be counted exactly once:
 *
 *     attempted = stored + discarded + overwritten + missed + filtered
 *         the recorder's counters, per stream
 *     stored = written + lost_write + undecodable
 *         what the writer of the file did with them
 *     written = events in the stream's chunks
 *         what the file contains
 *     lost_before of all chunks <= discarded + overwritten
 *         the rest was lost after the last chunk
 *
 * Declared losses are no violation. Damage is one, and so is an event that no counter accounts for.
 */
#include "trace.h"

#include "chunk.h"
#include "error_set.h"
#include "index.h"
#include "plausible.h"
#include "stream_map.h"
#include "timeline.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define EVENTS_PER_SHOW 4096u

typedef unsigned long long ull; /* for messages */

/** struct verification - state of one trace_verify() */
struct verification {
	const struct trace *trace;
	struct block block;
	struct unpacker unpacker;
	uint64_t decoded_bytes;
	struct trace_error *ret_error;
	trace_progress_fn progress; /* NULL: none */
	void *progress_data;
};

/* Each part reads the whole trace. */
enum verified_part { VERIFIED_CHUNKS, VERIFIED_ORDER, NR_VERIFIED_PARTS };

static void show(const struct verification *verification, enum verified_part part, uint64_t done, uint64_t of)
{
	if (verification->progress && of)
		verification->progress(verification->progress_data, part * of + (done < of ? done : of),
				       NR_VERIFIED_PARTS * of);
}

static int violated_chunk(const struct verification *verification, const struct trace_chunk *chunk, const char *reason)
{
	return error_set(verification->ret_error, -EBADMSG, "%s: the chunk at offset %llu is damaged: %s",
			 verification->trace->path, (ull)chunk->offset, reason);
}

/* ---- chunks ---- */

/* Compare the header's summary of its events with the events; readers use it to skip chunks. */
static int check_contents(struct verification *verification, const struct chunk *chunk,
			  const struct trace_chunk_header *header)
{
	struct block *block = &verification->block;
	uint64_t ids[TRACE_MASK_WORDS] = {0}, missed = 0;

	for (uint32_t i = 0; i < block->nr; i++) {
		struct block_type *type = &block->types[block->type_idxs[i]];
		uint32_t bytes;
		const unsigned char *payload = block_step(type, &bytes);
		uint32_t id = type->id < TRACE_EV_USER ? type->id : TRACE_EV_USER;

		ids[id / 64] |= 1ULL << (id % 64);
		if (type->id == TRACE_EV_trace_missed && bytes >= sizeof(struct trace_trace_missed))
			missed += ((const struct trace_trace_missed *)payload)->count;
	}
	if (memcmp(ids, header->ids, sizeof(ids)) != 0)
		return violated_chunk(verification, &chunk->public, "its header lists other events than it contains");
	if (missed != header->missed)
		return violated_chunk(verification, &chunk->public,
				      "its header counts other missed events than it contains");
	return 0;
}

static int check_chunk(struct verification *verification, const struct chunk *chunk)
{
	const struct trace *trace = verification->trace;
	bool is_of_events = chunk->public.kind == TRACE_CHUNK_EVENTS || chunk->public.kind == TRACE_CHUNK_START_STATE;
	struct block *block = &verification->block;
	struct trace_chunk_header header, copy;
	const unsigned char *raw;
	const char *reason = chunk_header_read(trace, chunk->public.offset, &header);
	int error;

	if (reason)
		return violated_chunk(verification, &chunk->public, reason);
	if (chunk_header_read(trace, chunk->header_at, &copy) || memcmp(&header, &copy, sizeof(header)) != 0)
		return violated_chunk(verification, &chunk->public, "its header and the index differ");
	if (!chunk_header_is_of(&header, chunk))
		return violated_chunk(verification, &chunk->public, "its header and the table of chunks differ");
	error = is_of_events ? chunk_block(trace, chunk, &verification->unpacker, block, &reason)
			     : chunk_payload(trace, chunk, &verification->unpacker, &header, &raw, &reason);
	verification->decoded_bytes += is_of_events ? block->decoded_bytes : 0;
	if (!error && is_beyond(&limit_in_a_pass, trace, verification->decoded_bytes))
		return violated_chunk(
			verification, &chunk->public,
			"with it the file has more events than a recorder can write into a file of its size");
	if (!error)
		return is_of_events ? check_contents(verification, chunk, &header) : 0;
	if (error == -ENOMEM)
		return error_set(verification->ret_error, error, "%s: no memory to verify the trace", trace->path);
	return violated_chunk(verification, &chunk->public, reason);
}

static int check_chunks(struct verification *verification)
{
	const struct trace *trace = verification->trace;
	struct chunk chunk;
	int error = 0;

	for (size_t i = 0; !error && i < trace->nr_chunks; i++) {
		const char *reason = chunk_get(trace, i, &chunk);

		show(verification, VERIFIED_CHUNKS, i, trace->nr_chunks);
		error = reason ? error_set(verification->ret_error, -EBADMSG, "%s: chunk %zu cannot be read: %s",
					   trace->path, i, reason)
			       : check_chunk(verification, &chunk);
	}
	block_release(&verification->block);
	unpacker_release(&verification->unpacker);
	return error;
}

/* ---- the order of times ---- */

/* Offset of the stream's first chunk that can hold an event at @ts_ns; 0: none. */
static uint64_t offset_of(const struct trace *trace, uint32_t stream, uint64_t ts_ns)
{
	for (size_t i = 0; i < trace->nr_chunks; i++) {
		struct trace_table_entry of = chunk_entry(trace, i)->of;

		if (of.kind == TRACE_CHUNK_EVENTS && of.stream == stream && of.first_ns <= ts_ns && ts_ns <= of.last_ns)
			return of.offset;
	}
	return 0;
}

/*
 * Only a program's own events must not precede the recording. Kernel events and the event that
 * names a stream's program may: they describe the state at the start.
 */
static int check_begin(const struct verification *verification, const struct trace_event *event)
{
	const struct trace *trace = verification->trace;

	if (event->ts_ns >= trace->info.start_ns || event->id < TRACE_EV_MAX || !stream_is_of_program(event->stream))
		return 0;
	return error_set(
		verification->ret_error, -EBADMSG,
		"%s: offset %llu: stream %u, of a program, has an event at %llu ns, but the recording began at %llu ns",
		trace->path, (ull)offset_of(trace, event->stream, event->ts_ns), event->stream, (ull)event->ts_ns,
		(ull)trace->info.start_ns);
}

static int check_order(struct verification *verification)
{
	struct trace_cursor *cursor = trace_cursor_new(verification->trace, NULL, verification->ret_error);
	const struct trace_event *event;
	uint64_t before = 0, nr = 0;
	int error = cursor ? 0 : -ENOMEM;

	while (!error && (event = trace_cursor_next(cursor))) {
		if (event->ts_ns < before)
			error = error_set(verification->ret_error, -EBADMSG,
					  "%s: an event at %llu ns of CPU %u comes after one at %llu ns",
					  verification->trace->path, (ull)event->ts_ns, event->cpu, (ull)before);
		if (!error)
			error = check_begin(verification, event);
		before = event->ts_ns;
		if (!(nr++ % EVENTS_PER_SHOW))
			show(verification, VERIFIED_ORDER, nr, verification->trace->info.events);
	}
	if (!error)
		error = trace_cursor_error(cursor, verification->ret_error);
	trace_cursor_free(cursor);
	return error;
}

/* ---- sums ---- */

/* Count the events in the chunks, of all kinds, of each stream in the statistics. */
static int count_events(const struct trace *trace, struct stream_map *map, uint64_t *events)
{
	static const uint16_t kinds[] = {TRACE_CHUNK_EVENTS, TRACE_CHUNK_START_STATE};

	for (size_t i = 0; i < trace->nr_streams; i++)
		if (stream_map_find(map, 0, trace->statistics[i].stream) == STREAM_NONE &&
		    !stream_map_put(map, 0, trace->statistics[i].stream, (uint32_t)i))
			return -ENOMEM;
	for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
		const struct timeline *timeline = trace_timeline(trace, kinds[k], NULL);

		if (!timeline)
			return -ENOMEM;
		for (size_t i = 0; i < timeline->nr; i++) {
			uint32_t idx = stream_map_find(map, 0, timeline->spans[i].stream);

			if (idx != STREAM_NONE)
				events[idx] += timeline->spans[i].events;
		}
		if (!timeline)
			return -ENOMEM;
	}
	return 0;
}

static int check_stream(const struct verification *verification, const struct trace_statistics_stream *stream,
			uint64_t events)
{
	const struct trace *trace = verification->trace;
	uint64_t sum = stream->stored + stream->discarded + stream->overwritten + stream->missed + stream->filtered;

	if (stream->attempted != sum)
		return error_set(verification->ret_error, -EBADMSG,
				 "%s: stream %u: %llu events attempted, but %llu stored + %llu discarded + %llu "
				 "overwritten + %llu missed + %llu filtered",
				 trace->path, stream->stream, (ull)stream->attempted, (ull)stream->stored,
				 (ull)stream->discarded, (ull)stream->overwritten, (ull)stream->missed,
				 (ull)stream->filtered);
	if (stream->stored != stream->written + stream->lost_write + stream->undecodable)
		return error_set(verification->ret_error, -EBADMSG,
				 "%s: stream %u: %llu events stored, but %llu written + %llu in failed writes + %llu "
				 "undecodable",
				 trace->path, stream->stream, (ull)stream->stored, (ull)stream->written,
				 (ull)stream->lost_write, (ull)stream->undecodable);
	if (stream->lost_before > stream->discarded + stream->overwritten)
		return error_set(verification->ret_error, -EBADMSG,
				 "%s: stream %u: its chunks declare %llu events lost, its counters only %llu",
				 trace->path, stream->stream, (ull)stream->lost_before,
				 (ull)(stream->discarded + stream->overwritten));
	if (stream->claimed != TRACE_CLAIMED_UNKNOWN && stream->claimed > stream->discarded + stream->overwritten)
		return error_set(verification->ret_error, -EBADMSG,
				 "%s: stream %u: programs counted %llu events lost, its counters only %llu",
				 trace->path, stream->stream, (ull)stream->claimed,
				 (ull)(stream->discarded + stream->overwritten));
	if (trace->info.clean_end ? events != stream->written : events < stream->written)
		return error_set(verification->ret_error, -EBADMSG,
				 "%s: stream %u: %llu events were written, the file has %llu", trace->path,
				 stream->stream, (ull)stream->written, (ull)events);
	return 0;
}

static int check_streams(struct verification *verification)
{
	const struct trace *trace = verification->trace;
	uint64_t *events = calloc(trace->nr_streams + 1, sizeof(*events));
	struct stream_map map = {0};
	int error = events ? count_events(trace, &map, events) : -ENOMEM;

	if (error)
		error_set(verification->ret_error, error, "%s: no memory to verify the trace", trace->path);
	for (size_t i = 0; !error && i < trace->nr_streams; i++) {
		const struct trace_statistics_stream *stream = &trace->statistics[i];

		error = check_stream(verification, stream, events[stream_map_find(&map, 0, stream->stream)]);
	}
	stream_map_release(&map);
	free(events);
	return error;
}

int trace_verify(const struct trace *trace, struct trace_error *ret_error)
{
	return trace_verify_watched(trace, NULL, NULL, ret_error);
}

int trace_verify_watched(const struct trace *trace, trace_progress_fn progress, void *data,
			 struct trace_error *ret_error)
{
	struct verification verification = {
		.trace = trace, .ret_error = ret_error, .progress = progress, .progress_data = data};
	const char *reason;
	int error;

	if (trace->nr_damages)
		return error_set(ret_error, -EBADMSG, "%s: %s", trace->path, trace->damages[0].message);
	if (!trace_is_complete(trace))
		return error_set(ret_error, -EBADMSG, "%s: the file was truncated after it was opened", trace->path);
	reason = index_verify(trace);
	if (reason)
		return error_set(
			ret_error, -EBADMSG,
			"%s: its index is damaged (reading needs it only if the table of chunks is damaged, too): %s",
			trace->path, reason);
	error = check_chunks(&verification);
	if (!error)
		error = check_order(&verification);
	return !error && trace->statistics ? check_streams(&verification) : error;
}
