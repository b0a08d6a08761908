/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* writer_chunk.c - compress a payload, and append it to the file as a chunk. */
#include "writer_chunk.h"

#include "clock_ns.h"
#include "error_set.h"
#include "writer_state.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

/* ---- buffers ---- */

void *writer_buffer_reserve(struct writer_buffer *buffer, size_t bytes)
{
	if (buffer->bytes + bytes > buffer->room) {
		size_t room = (buffer->bytes + bytes) * 2;
		unsigned char *data = realloc(buffer->data, room);

		if (!data)
			return NULL;
		buffer->data = data;
		buffer->room = room;
	}
	return buffer->data + buffer->bytes;
}

void *writer_buffer_add(struct writer_buffer *buffer, const void *data, size_t bytes)
{
	void *copy = writer_buffer_reserve(buffer, bytes);

	if (!copy)
		return NULL;
	memcpy(copy, data, bytes);
	buffer->bytes += bytes;
	return copy;
}

/* ---- chunks ---- */

enum {
	PARTS_MIN_BYTES = 1024, /* for less, another frame is not worth its header */
	TEXTS_MIN_BYTES = 4096, /* for less, it is not worth its own table of letters either */
	STORED_HEAD = 0xa0,	/* frame header: size in 4 bytes, single segment, no checksum, no dictionary */
	STORED_HEAD_BYTES = 4 + 1 + 4 + 3, /* with the header of the first block */
	STORED_BLOCK_BYTES = 128 << 10,
	PREPARE_BYTES = 256 << 10, /* more than zstd processes at once */
	/*
	 * of the fastest level: the table fits the L1 cache; costs 0.007 bytes per event, saves 1/8
	 * of the time
	 */
	FAST_HASH_LOG = 11,
	/*
	 * of many strings: names of code, when a recording ends. Of 1 MB of them, 15,417 places in
	 * a compiler, the file has 284 KB instead of 430
	 */
	STRINGS_MIN_BYTES = 128 << 10,
	STRINGS_LEVEL = 3,
};

static void level_set(ZSTD_CCtx *zstd, int level)
{
	ZSTD_CCtx_setParameter(zstd, ZSTD_c_compressionLevel, level);
	ZSTD_CCtx_setParameter(zstd, ZSTD_c_hashLog, level == 1 ? FAST_HASH_LOG : 0); /* 0: the level's default */
}

/* Append a compressed frame to writer->packed, which has room for it. */
static bool frame_put(struct trace_writer *writer, ZSTD_CCtx *zstd, const unsigned char *data, size_t bytes)
{
	struct writer_buffer *packed = &writer->packed;
	size_t added = bytes ? ZSTD_compress2(zstd, packed->data + packed->bytes, packed->room - packed->bytes, data,
					      bytes)
			     : 0;

	if (ZSTD_isError(added))
		return false;
	packed->bytes += added;
	return true;
}

/*
 * Append a zstd frame (RFC 8878) with uncompressed blocks: magic, frame header, size, then blocks
 * of at most 128 KiB, each after a header of 3 bytes.
 */
static bool stored_frame_put(struct trace_writer *writer, const unsigned char *data, uint32_t bytes)
{
	struct writer_buffer *packed = &writer->packed;
	unsigned char *at = packed->data + packed->bytes;
	uint32_t magic = ZSTD_MAGICNUMBER;

	if (!bytes)
		return true;
	if (bytes + bytes / STORED_BLOCK_BYTES * 3 + STORED_HEAD_BYTES > packed->room - packed->bytes)
		return false;
	at = mempcpy(at, &magic, sizeof(magic));
	*at++ = STORED_HEAD;
	at = mempcpy(at, &bytes, sizeof(bytes));
	while (bytes) {
		/* block type 0: raw */
		uint32_t part = bytes < STORED_BLOCK_BYTES ? bytes : STORED_BLOCK_BYTES,
			 head = part << 3 | (part == bytes);

		at = mempcpy(mempcpy(at, &head, 3), data, part);
		data += part;
		bytes -= part;
	}
	packed->bytes = (size_t)(at - packed->data);
	return true;
}

static bool strings_put(struct trace_writer *writer, const struct raw_payload *raw, uint32_t bytes)
{
	bool put;

	if (bytes < STRINGS_MIN_BYTES || writer->level > STRINGS_LEVEL)
		return frame_put(writer, writer->zstd, raw->data, bytes);
	level_set(writer->zstd, STRINGS_LEVEL);
	put = frame_put(writer, writer->zstd, raw->data, bytes);
	level_set(writer->zstd, writer->level);
	return put;
}

static bool frames_put(struct trace_writer *writer, const struct raw_payload *raw, uint32_t bytes)
{
	uint32_t codes_at = !raw->codes_at || bytes < PARTS_MIN_BYTES ? bytes : raw->codes_at;

	uint32_t texts_at = raw->texts_at < TEXTS_MIN_BYTES || codes_at - raw->texts_at < TEXTS_MIN_BYTES
				    ? codes_at
				    : raw->texts_at;

	return frame_put(writer, writer->zstd, raw->data, texts_at) &&
	       frame_put(writer, writer->zstd, raw->data + texts_at, codes_at - texts_at) &&
	       stored_frame_put(writer, raw->data + codes_at, bytes - codes_at);
}

static const void *chunk_compress(struct trace_writer *writer, struct trace_chunk_header *header,
				  const struct raw_payload *raw)
{
	writer->packed.bytes = 0;
	header->compression = TRACE_COMPRESSION_NONE;
	header->packed_bytes = header->raw_bytes;
	/* index, table and root: readers use them in the file */
	if (header->kind >= TRACE_CHUNK_INDEX || header->raw_bytes < 64 || header->flags & TRACE_CHUNK_FLAG_MORE ||
	    !writer_buffer_reserve(&writer->packed, 3 * ZSTD_compressBound(0) + ZSTD_compressBound(header->raw_bytes)))
		return raw->data;
	if (!(header->kind == TRACE_CHUNK_STRINGS ? strings_put(writer, raw, header->raw_bytes)
						  : frames_put(writer, raw, header->raw_bytes)) ||
	    writer->packed.bytes >= header->raw_bytes)
		return raw->data;
	header->compression = TRACE_COMPRESSION_ZSTD;
	header->packed_bytes = (uint32_t)writer->packed.bytes;
	return writer->packed.data;
}

/* Hand a chunk to the caller of a writer without a file. */
static int chunk_hand_over(struct trace_writer *writer, const struct trace_chunk_header *header, const void *payload,
			   struct trace_error *ret_error)
{
	int error = writer->take(writer->take_context, header, payload);

	if (error)
		return error_set(ret_error, error, "a block of the trace could not be kept: %s", strerror(-error));
	writer->totals.chunks++;
	writer->totals.raw_bytes += header->raw_bytes;
	writer->totals.file_bytes += sizeof(*header) + header->packed_bytes;
	return 0;
}

int writer_chunk_append(struct trace_writer *writer, struct trace_chunk_header *header, const void *payload,
			struct trace_error *ret_error)
{
	struct iovec parts[2] = {{header, sizeof(*header)}, {(void *)payload, header->packed_bytes}};

	memcpy(header->magic, TRACE_CHUNK_MAGIC, TRACE_MAGIC_BYTES);
	header->header_bytes = sizeof(*header);
	header->trace_id = writer->trace_id;
	header->payload_checksum = XXH3_64bits(payload, header->packed_bytes);
	header->checksum = XXH3_64bits(header, offsetof(struct trace_chunk_header, checksum));
	if (writer->take)
		return chunk_hand_over(writer, header, payload, ret_error);
	return writer_chunk_put(writer, header, parts, 2, ret_error);
}

int writer_chunk_put(struct trace_writer *writer, const struct trace_chunk_header *header, struct iovec *parts,
		     int nr_parts, struct trace_error *ret_error)
{
	struct trace_index_entry *entry;
	uint64_t begin_ns;
	int error;

	entry = writer_buffer_reserve(&writer->index, sizeof(*entry));
	if (!entry)
		return error_set(ret_error, -ENOMEM, "no memory for the index of the trace: its last block is lost");
	*entry = (struct trace_index_entry){.offset = writer->output.bytes, .header = *header};
	begin_ns = clock_monotonic_ns();
	error = output_write(&writer->output, parts, nr_parts, ret_error);
	writer->totals.write_ns += clock_monotonic_ns() - begin_ns;
	if (error)
		return error;
	writer->index.bytes += sizeof(*entry);
	writer->totals.chunks++;
	writer->totals.raw_bytes += header->raw_bytes;
	writer->totals.file_bytes = writer->output.bytes;
	return 0;
}

int writer_chunk_write(struct trace_writer *writer, struct trace_chunk_header *header, const struct raw_payload *raw,
		       struct trace_error *ret_error)
{
	const void *payload = chunk_compress(writer, header, raw);

	return writer_chunk_append(writer, header, payload, ret_error);
}

int writer_chunk_write_plain(struct trace_writer *writer, enum trace_chunk_kind kind, const void *raw, size_t bytes,
			     struct trace_error *ret_error)
{
	struct trace_chunk_header header = {.kind = (uint16_t)kind, .raw_bytes = (uint32_t)bytes};

	return writer_chunk_write(writer, &header, &(struct raw_payload){.data = raw}, ret_error);
}

/* ---- the compressor ---- */

bool writer_compressor_begin(struct trace_writer *writer, int level)
{
	writer->zstd = ZSTD_createCCtx();
	if (!writer->zstd)
		return false;
	trace_writer_set_level(writer, level);
	return true;
}

/* Compress something, so that zstd allocates and touches its memory now. */
void writer_compressor_prepare(struct trace_writer *writer, size_t block_bytes)
{
	size_t bytes = block_bytes < PREPARE_BYTES ? block_bytes : PREPARE_BYTES;
	unsigned char *data = malloc(bytes);
	uint32_t number = 1;

	writer->packed.bytes = 0;
	if (!data || !writer_buffer_reserve(&writer->packed, ZSTD_compressBound(block_bytes) / 2))
		goto end;
	for (size_t i = 0; i < bytes; i++) {
		number = number * 1664525 + 1013904223;
		/* small numbers are more frequent, as in columns */
		data[i] = (unsigned char)(number >> 24 & number >> 16 & number >> 8);
	}
	frame_put(writer, writer->zstd, data, bytes);
end:
	free(data);
}

void trace_writer_set_level(struct trace_writer *writer, int level)
{
	writer->level = level;
	level_set(writer->zstd, level);
}
