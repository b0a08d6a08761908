/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * write_unpacked.c - a copy of a trace whose chunks are not compressed; without names, if wanted.
 *
 * The copy keeps the order of the file. A chunk that can be unpacked gets a new header with new
 * checksums. All other bytes are copied: chunks that cannot be read, with their wrong checksums,
 * and what is between chunks. So a reader of the copy finds the same losses.
 *
 *	the trace                        the copy ends with
 *	has an index                     a new index and an end mark
 *	has an end mark, a bad index     an end mark without an index, and what follows the old mark
 *	was cut off                      the bytes of the trace
 *
 * In a copy without names, each byte that is not understood is 0.
 */
#include "anonymous.h"
#include "chunk.h"
#include "error_set.h"
#include "unpack.h"
#include "writer_chunk.h"
#include "writer_state.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

/**
 * struct copying - @at: the bytes of the trace before it are in the copy. @anonymous: NULL: names
 * are copied
 */
struct copying {
	const struct trace *trace;
	struct trace_writer *writer; /* owned */
	struct unpacker unpacker;
	struct anonymous *anonymous;
	uint64_t at;
	uint64_t most_bytes;
};

static int check_size(const struct copying *copying, uint64_t more, struct trace_error *ret_error)
{
	if (more <= copying->most_bytes && copying->writer->output.bytes <= copying->most_bytes - more)
		return 0;
	return error_set(ret_error, -EFBIG, "%s: without compression it has more than %llu bytes", copying->trace->path,
			 (unsigned long long)copying->most_bytes);
}

/* How many bytes at @at hold numbers only: those of a header that is good. */
static size_t bytes_of_header(const struct copying *copying, uint64_t at)
{
	const struct trace *trace = copying->trace;
	struct trace_file_header file;
	struct trace_chunk_header chunk;

	if (at)
		return chunk_header_read(trace, at, &chunk) ? 0 : sizeof(chunk);
	if (trace->bytes < sizeof(file))
		return 0;
	memcpy(&file, trace->data, sizeof(file));
	return file.checksum == XXH3_64bits(&file, offsetof(struct trace_file_header, checksum)) ? sizeof(file) : 0;
}

/* The bytes up to @end as they go into a copy without names; NULL: no memory. */
static unsigned char *without_names(const struct copying *copying, uint64_t end)
{
	size_t bytes = end - copying->at, header = bytes_of_header(copying, copying->at);
	unsigned char *copy = calloc(bytes, 1);

	if (copy)
		memcpy(copy, copying->trace->data + copying->at, header < bytes ? header : bytes);
	return copy;
}

/* Copies the bytes of the trace up to @end; with a header, as a chunk. */
static int copy_bytes(struct copying *copying, const struct trace_chunk_header *header, uint64_t end,
		      struct trace_error *ret_error)
{
	unsigned char *copy = NULL;
	struct iovec part;
	int error;

	if (end > copying->trace->bytes)
		end = copying->trace->bytes;
	if (end <= copying->at)
		return 0;
	part = (struct iovec){(void *)(copying->trace->data + copying->at), end - copying->at};
	error = check_size(copying, part.iov_len, ret_error);
	if (!error && copying->anonymous) {
		part.iov_base = copy = without_names(copying, end);
		error = copy ? 0 : error_set(ret_error, -ENOMEM, "%s: no memory to copy it", copying->trace->path);
	}
	if (!error && header)
		error = writer_chunk_put(copying->writer, header, &part, 1, ret_error);
	else if (!error)
		error = output_write(&copying->writer->output, &part, 1, ret_error);
	copying->at = end;
	free(copy);
	return error;
}

/* Copies the bytes of the trace up to @end. */
static int copy_until(struct copying *copying, uint64_t end, struct trace_error *ret_error)
{
	return copy_bytes(copying, NULL, end, ret_error);
}

/* The chunk cannot be read: its bytes up to @end, and an entry in the index. */
static int copy_bad_chunk(struct copying *copying, const struct chunk *chunk, uint64_t end,
			  struct trace_error *ret_error)
{
	const struct trace_chunk *public = &chunk->public;
	struct trace_chunk_header header;

	if (chunk_header(copying->trace, chunk, &header))
		header = (struct trace_chunk_header){.header_bytes = sizeof(header),
						     .kind = public->kind,
						     .encoding = public->encoding,
						     .trace_id = copying->trace->trace_id,
						     .stream = public->stream,
						     .cpu = public->cpu,
						     .events = (uint32_t) public->events,
						     .seq = public->seq,
						     .first_ns = public->first_ns,
						     .last_ns = public->last_ns,
						     .events_before = chunk->events_before,
						     .raw_bytes = public->raw_bytes,
						     .packed_bytes = public->packed_bytes};
	return copy_bytes(copying, &header, end, ret_error);
}

/* Replaces the names in a payload. */
static int rewrite(struct copying *copying, struct trace_chunk_header *header, const unsigned char **raw)
{
	int error = copying->anonymous ? anonymous_payload(copying->anonymous, &copying->trace->schema, header, *raw)
				       : 0;

	if (error || !copying->anonymous)
		return error;
	*raw = copying->anonymous->out.data;
	header->raw_bytes = (uint32_t)copying->anonymous->out.bytes;
	return 0;
}

static int copy_chunk(struct copying *copying, size_t idx, struct trace_error *ret_error)
{
	struct trace_chunk_header header;
	const unsigned char *raw;
	const char *reason;
	struct chunk chunk;
	uint64_t end;
	int error;

	chunk_make(copying->trace, idx, &chunk);
	if (chunk.public.offset < copying->at) /* no recorder writes such an index */
		return 0;
	error = copy_until(copying, chunk.public.offset, ret_error);
	if (error)
		return error;
	error = chunk_payload(copying->trace, &chunk, &copying->unpacker, &header, &raw, &reason);
	end = chunk.public.offset + sizeof(header) + chunk.public.packed_bytes;
	if (!error)
		end = chunk.public.offset + header.header_bytes + header.packed_bytes;
	if (!error)
		error = rewrite(copying, &header, &raw);
	if (error == -ENOMEM)
		return error_set(ret_error, error, "%s: no memory to unpack it", copying->trace->path);
	if (error)
		return copy_bad_chunk(copying, &chunk, end, ret_error);
	error = check_size(copying, sizeof(header) + (uint64_t)header.raw_bytes, ret_error);
	if (error)
		return error;
	copying->at = end;
	header.compression = TRACE_COMPRESSION_NONE;
	header.packed_bytes = header.raw_bytes;
	return writer_chunk_append(copying->writer, &header, raw, ret_error);
}

/* The end of the bytes that a failed write left before the table; usually none. */
static uint64_t unfinished_until(const struct trace *trace, uint64_t from)
{
	for (size_t i = 0; i < trace->nr_damages; i++)
		if (trace->damages[i].offset == from)
			return from + trace->damages[i].bytes;
	return from;
}

/* Where the bytes after the end mark begin; at the end of the file, if there is none. */
static uint64_t end_of_mark(const struct trace *trace, uint64_t from)
{
	struct trace_end_mark mark;

	for (uint64_t at = from; at < trace->bytes && trace->bytes - at >= sizeof(mark); at++) {
		const unsigned char *found = memmem(trace->data + at, trace->bytes - at, TRACE_END_MAGIC,
						    TRACE_MAGIC_BYTES);

		if (!found)
			break;
		at = (uint64_t)(found - trace->data);
		if (trace->bytes - at < sizeof(mark))
			break;
		memcpy(&mark, found, sizeof(mark));
		if (mark.file_bytes == at + sizeof(mark))
			return mark.file_bytes;
	}
	return trace->bytes;
}

static int copy_end_mark(struct copying *copying, struct trace_error *ret_error)
{
	uint64_t offset = copying->writer->output.bytes;
	struct trace_end_mark mark = {.trace_id = copying->trace->trace_id,
				      .index_offset = offset,
				      .file_bytes = offset + sizeof(mark)};
	struct iovec part = {&mark, sizeof(mark)};

	memcpy(mark.magic, TRACE_END_MAGIC, TRACE_MAGIC_BYTES);
	mark.checksum = XXH3_64bits(&mark, offsetof(struct trace_end_mark, checksum));
	copying->at = end_of_mark(copying->trace, copying->at);
	return output_write(&copying->writer->output, &part, 1, ret_error);
}

static int copy_end(struct copying *copying, struct trace_error *ret_error)
{
	const struct trace_info *info = &copying->trace->info;
	int error = 0;

	if (info->clean_end && !info->index_rebuilt) {
		error = copy_until(copying, unfinished_until(copying->trace, copying->at), ret_error);
		if (!error)
			error = trace_writer_finish(copying->writer, ret_error);
	} else if (info->clean_end) {
		error = copy_end_mark(copying, ret_error);
	}
	if (!error && (!info->clean_end || info->index_rebuilt))
		error = copy_until(copying, copying->trace->bytes, ret_error);
	return error ? error : check_size(copying, 0, ret_error);
}

static int write_copy(const struct trace *trace, struct anonymous *anonymous, int fd, uint64_t most_bytes,
		      struct trace_error *ret_error)
{
	struct copying copying = {.trace = trace, .anonymous = anonymous, .most_bytes = most_bytes};
	int error = 0;

	if (!trace_is_complete(trace))
		return error_set(ret_error, -EBADMSG, "%s: was truncated after it was opened", trace->path);
	copying.writer = writer_bare_new(fd, trace->trace_id, ret_error);
	if (!copying.writer)
		return -ENOMEM;
	if (!trace->nr_chunks)
		error = copy_until(&copying, sizeof(struct trace_file_header), ret_error);
	for (size_t i = 0; !error && i < trace->nr_chunks; i++)
		error = copy_chunk(&copying, i, ret_error);
	if (!error)
		error = copy_end(&copying, ret_error);
	unpacker_release(&copying.unpacker);
	trace_writer_free(copying.writer);
	return error;
}

int trace_write_unpacked(const struct trace *trace, int fd, uint64_t most_bytes, struct trace_error *ret_error)
{
	return write_copy(trace, NULL, fd, most_bytes, ret_error);
}

int trace_write_anonymous(const struct trace *trace, int fd, uint64_t most_bytes, struct trace_error *ret_error)
{
	struct anonymous anonymous = {0};
	int error = write_copy(trace, &anonymous, fd, most_bytes, ret_error);

	anonymous_release(&anonymous);
	return error;
}
