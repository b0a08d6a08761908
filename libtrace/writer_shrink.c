/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * writer_shrink.c - compress a chunk once more, for longer
 *
 * A writer compresses at level 1, because the drain does not wait. Where a chunk stays in memory,
 * a thread with nothing else to do can take thirty times as long: that saves 2 to 12 % of it. The
 * frames of a chunk stay apart, because each has statistics of its own; a stored frame, that of the
 * times, stays as it is.
 */
#include <stdlib.h>
#include <string.h>
#include <trace/format.h>
#include <trace/writer.h>
#include <zstd.h>

enum {
	/*
	 * A frame is mostly shorter than 128 KiB; with less memory zstd finds nearly as much. So it
	 * takes 2.4 MiB instead of up to 50.
	 */
	SHRINK_WINDOW_LOG = 17,
	SHRINK_MIN_BYTES = 64, /* less is not worth it */
};

/** struct trace_shrinker - @raw: of one frame; owned */
struct trace_shrinker {
	ZSTD_CCtx *pack;
	ZSTD_DCtx *unpack;
	unsigned char *raw;
	size_t room;
};

struct trace_shrinker *trace_shrinker_new(void)
{
	struct trace_shrinker *shrinker = calloc(1, sizeof(*shrinker));

	if (!shrinker)
		return NULL;
	shrinker->pack = ZSTD_createCCtx();
	shrinker->unpack = ZSTD_createDCtx();
	if (!shrinker->pack || !shrinker->unpack)
		return trace_shrinker_free(shrinker);
	ZSTD_CCtx_setParameter(shrinker->pack, ZSTD_c_windowLog, SHRINK_WINDOW_LOG);
	ZSTD_CCtx_setParameter(shrinker->pack, ZSTD_c_hashLog, SHRINK_WINDOW_LOG);
	ZSTD_CCtx_setParameter(shrinker->pack, ZSTD_c_chainLog, SHRINK_WINDOW_LOG);
	return shrinker;
}

struct trace_shrinker *trace_shrinker_free(struct trace_shrinker *shrinker)
{
	if (!shrinker)
		return NULL;
	ZSTD_freeCCtx(shrinker->pack);
	ZSTD_freeDCtx(shrinker->unpack);
	free(shrinker->raw);
	free(shrinker);
	return NULL;
}

/* The contents of a frame; NULL: it has none that are worth it, or there is no memory. */
static const unsigned char *frame_open(struct trace_shrinker *shrinker, const unsigned char *frame, size_t bytes,
				       size_t *ret_bytes)
{
	unsigned long long raw_bytes = ZSTD_getFrameContentSize(frame, bytes);
	unsigned char *raw;

	/* a stored frame is longer than its contents */
	if (raw_bytes > TRACE_RAW_MAX || raw_bytes < SHRINK_MIN_BYTES || raw_bytes <= bytes)
		return NULL;
	if (raw_bytes > shrinker->room) {
		raw = realloc(shrinker->raw, raw_bytes);
		if (!raw)
			return NULL;
		shrinker->raw = raw;
		shrinker->room = raw_bytes;
	}
	if (ZSTD_decompressDCtx(shrinker->unpack, shrinker->raw, raw_bytes, frame, bytes) != raw_bytes)
		return NULL;
	*ret_bytes = raw_bytes;
	return shrinker->raw;
}

/* The frame once more, or as it is where that is not longer. Returns its bytes, at most @bytes. */
static size_t frame_shrink(struct trace_shrinker *shrinker, const unsigned char *frame, size_t bytes,
			   unsigned char *out)
{
	size_t raw_bytes, packed = bytes;
	const unsigned char *raw = frame_open(shrinker, frame, bytes, &raw_bytes);

	if (raw)
		packed = ZSTD_compress2(shrinker->pack, out, bytes, raw, raw_bytes);
	if (packed < bytes) /* an error is a large number: the room did not suffice */
		return packed;
	memcpy(out, frame, bytes);
	return bytes;
}

size_t trace_shrink_chunk(struct trace_shrinker *shrinker, const struct trace_chunk_header *header, const void *payload,
			  int level, void *ret_payload)
{
	const unsigned char *at = payload;
	unsigned char *out = ret_payload;
	size_t left = header->packed_bytes;

	if (header->compression != TRACE_COMPRESSION_ZSTD)
		return left;
	ZSTD_CCtx_setParameter(shrinker->pack, ZSTD_c_compressionLevel, level);
	while (left) {
		size_t bytes = ZSTD_findFrameCompressedSize(at, left);

		if (ZSTD_isError(bytes))
			return header->packed_bytes;
		out += frame_shrink(shrinker, at, bytes, out);
		at += bytes;
		left -= bytes;
	}
	return (size_t)(out - (unsigned char *)ret_payload);
}
