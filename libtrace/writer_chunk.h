/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef LIBTRACE_WRITER_CHUNK_H
#define LIBTRACE_WRITER_CHUNK_H
/* writer_chunk.h - compress a payload and append it as a chunk. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <trace/format.h>

struct trace_error;
struct trace_writer;
struct writer_buffer;

/**
 * writer_buffer_reserve() - make room for @bytes more. Returns where they begin; NULL: no memory
 * writer_buffer_add() - append @data
 */
void *writer_buffer_reserve(struct writer_buffer *buffer, size_t bytes);
void *writer_buffer_add(struct writer_buffer *buffer, const void *data, size_t bytes);

/**
 * struct raw_payload - a payload before compression
 * @texts_at: offset of the texts, which need statistics of their own; 0: none
 * @codes_at: offset of the incompressible part, which extends to the end; 0: none
 */
struct raw_payload {
	const unsigned char *data;
	uint32_t texts_at;
	uint32_t codes_at;
};

/** writer_chunk_write() - compress and append a chunk; fills in the rest of @header */
int writer_chunk_write(struct trace_writer *writer, struct trace_chunk_header *header, const struct raw_payload *raw,
		       struct trace_error *ret_error);
/**
 * writer_chunk_append() - append a chunk with a payload that is as in the file; fills in the magic,
 * the trace_id and the checksums of @header
 */
int writer_chunk_append(struct trace_writer *writer, struct trace_chunk_header *header, const void *payload,
			struct trace_error *ret_error);
struct iovec;
/** writer_chunk_put() - the bytes of a chunk as they are, with an entry for it in the index */
int writer_chunk_put(struct trace_writer *writer, const struct trace_chunk_header *header, struct iovec *parts,
		     int nr_parts, struct trace_error *ret_error);
/** writer_chunk_write_plain() - append a chunk of @kind that belongs to no stream */
int writer_chunk_write_plain(struct trace_writer *writer, enum trace_chunk_kind kind, const void *raw, size_t bytes,
			     struct trace_error *ret_error);
/** writer_compressor_begin() - returns false when there is no memory */
bool writer_compressor_begin(struct trace_writer *writer, int level);
void writer_compressor_prepare(struct trace_writer *writer, size_t block_bytes);

#endif
