/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * writer_streams.c - account for the events and losses of each stream, so that the next chunk can
 * declare what is missing before it.
 */
#include "writer_streams.h"

#include "writer_chunk.h"
#include "writer_state.h"

#include <string.h>
#include <trace/reader.h>
#include <trace/saturate.h>

enum { STREAMS_BEGIN = 16 }; /* writer_buffer_reserve() doubles it */

/* Without accounting a stream's losses would be unknown: allocate that of the first streams now. */
bool writer_streams_begin(struct trace_writer *writer)
{
	return writer_buffer_reserve(&writer->streams, STREAMS_BEGIN * sizeof(struct writer_stream)) &&
	       stream_map_begin(&writer->stream_map);
}

struct writer_stream *writer_stream_find(const struct trace_writer *writer, uint32_t kind, uint32_t stream)
{
	uint32_t idx = stream_map_find(&writer->stream_map, kind, stream);

	return idx == STREAM_NONE ? NULL : (struct writer_stream *)writer->streams.data + idx;
}

struct writer_stream *writer_stream_of(struct trace_writer *writer, const struct trace_chunk_header *header)
{
	struct writer_stream new = {.kind = header->kind, .stream = header->stream, .cpu = header->cpu};
	struct writer_stream *stream = writer_stream_find(writer, header->kind, header->stream);

	if (stream)
		return stream;
	/* reserve early for as many again: a failure now may not happen at the next call */
	writer_buffer_reserve(&writer->streams, writer->streams.bytes + sizeof(new));
	if (!writer_buffer_reserve(&writer->streams, sizeof(new)) ||
	    !stream_map_put(&writer->stream_map, new.kind, new.stream, (uint32_t)(writer->streams.bytes / sizeof(new))))
		return NULL;
	return writer_buffer_add(&writer->streams, &new, sizeof(new));
}

/* A slot of the array that is no stream's. */
static void mark_ended(struct trace_writer *writer, uint32_t kind, uint32_t number)
{
	struct writer_stream *stream = writer_stream_find(writer, kind, number);

	if (stream)
		stream->kind = 0;
}

/* Fewer streams need no memory. */
void writer_streams_forget(struct trace_writer *writer, const struct trace_stream_stats *streams, size_t nr)
{
	struct writer_stream *all = (struct writer_stream *)writer->streams.data;
	size_t nr_all = writer->streams.bytes / sizeof(*all), kept = 0;

	for (size_t i = 0; i < nr; i++) {
		mark_ended(writer, TRACE_CHUNK_START_STATE, streams[i].stream);
		mark_ended(writer, TRACE_CHUNK_EVENTS, streams[i].stream);
	}
	stream_map_clear(&writer->stream_map);
	for (size_t i = 0; i < nr_all; i++) {
		if (!all[i].kind)
			continue;
		all[kept] = all[i];
		stream_map_put(&writer->stream_map, all[kept].kind, all[kept].stream, (uint32_t)kept);
		kept++;
	}
	writer->streams.bytes = kept * sizeof(*all);
}

/*
 * Account for what the block says about the time before it: losses of the producer, and skipped
 * sub-buffers.
 */
void writer_stream_account_before(struct writer_stream *stream, const struct trace_packed *packed)
{
	const struct trace_chunk_header *header = &packed->header;
	uint64_t lost = packed->lost_total > stream->lost_total ? packed->lost_total - stream->lost_total : 0;

	stream->jump |= header->seq != stream->seq + 1 && !lost;
	stream->seq = header->seq;
	stream->cpu = header->cpu;
	stream->lost_total += lost;
	stream->lost_before += lost;
	stream->total_lost_before += lost;
	if (lost)
		stream->lost_cause = header->lost_cause;
}

/* @undecodable: of this block only */
void writer_stream_account_inside(struct trace_writer *writer, struct writer_stream *stream, uint32_t undecodable)
{
	stream->total_lost_inside += undecodable;
	writer->totals.undecodable += undecodable;
}

void writer_stream_account_written(struct trace_writer *writer, struct writer_stream *stream,
				   const struct trace_chunk_header *header, uint32_t undecodable)
{
	stream->number = trace_add_saturated(header->events_before, (uint64_t)header->events + header->undecodable);
	stream->lost_before = 0;
	stream->lost_write = 0;
	stream->undecodable -= header->undecodable - undecodable;
	stream->jump = false;
	stream->last_ns = header->last_ns > stream->last_ns ? header->last_ns : stream->last_ns;
	stream->total_written += header->events;
	writer->totals.events += header->events;
	writer_stream_account_inside(writer, stream, undecodable);
}

void writer_stream_account_dropped(struct trace_writer *writer, struct writer_stream *stream,
				   const struct trace_chunk_header *header, uint32_t undecodable)
{
	uint64_t lost = (uint64_t)header->events + undecodable;

	stream->lost_write += lost;
	stream->total_lost_write += lost;
	writer->totals.lost_write += lost;
}

void writer_stream_fill_header(struct trace_chunk_header *header, const struct writer_stream *stream)
{
	uint64_t room = UINT32_MAX - header->undecodable;

	header->lost_before = stream->lost_before;
	header->lost_write = stream->lost_write;
	header->lost_cause = stream->lost_cause;
	header->events_before = trace_add_saturated(stream->number, stream->lost_before);
	header->events_before = trace_add_saturated(header->events_before, stream->lost_write);
	/* the rest goes to the next chunk */
	header->undecodable += (uint32_t)(stream->undecodable < room ? stream->undecodable : room);
	header->flags = (stream->jump ? TRACE_CHUNK_FLAG_JUMP : 0) |
			(stream->undecodable ? TRACE_CHUNK_FLAG_INSIDE_BEFORE : 0);
}
