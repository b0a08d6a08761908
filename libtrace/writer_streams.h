/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef LIBTRACE_WRITER_STREAMS_H
#define LIBTRACE_WRITER_STREAMS_H
/* writer_streams.h - the events and losses of each stream of a writer. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct trace_chunk_header;
struct trace_packed;
struct trace_stream_stats;
struct trace_writer;
struct writer_stream;

bool writer_streams_begin(struct trace_writer *writer);
/** writer_streams_forget() - of these @nr streams no block follows */
void writer_streams_forget(struct trace_writer *writer, const struct trace_stream_stats *streams, size_t nr);
/**
 * writer_stream_find() - NULL: the stream has no block yet
 * writer_stream_of() - the same, but adds the stream; NULL: no memory
 */
struct writer_stream *writer_stream_find(const struct trace_writer *writer, uint32_t kind, uint32_t stream);
struct writer_stream *writer_stream_of(struct trace_writer *writer, const struct trace_chunk_header *header);
void writer_stream_account_before(struct writer_stream *stream, const struct trace_packed *packed);
void writer_stream_account_inside(struct trace_writer *writer, struct writer_stream *stream, uint32_t undecodable);
void writer_stream_account_written(struct trace_writer *writer, struct writer_stream *stream,
				   const struct trace_chunk_header *header, uint32_t undecodable);
void writer_stream_account_dropped(struct trace_writer *writer, struct writer_stream *stream,
				   const struct trace_chunk_header *header, uint32_t undecodable);
/** writer_stream_fill_header() - what the next chunk of @stream says about the time before it */
void writer_stream_fill_header(struct trace_chunk_header *header, const struct writer_stream *stream);

#endif
