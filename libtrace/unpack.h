/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef LIBTRACE_UNPACK_H
#define LIBTRACE_UNPACK_H
/* unpack.h - decompress payloads. */
#include <stdbool.h>
#include <trace/error.h>
#include <trace/format.h>

struct ZSTD_DCtx_s;

/** struct unpack_scratch - a buffer that loses its content on the next use. Zeroed = empty */
struct unpack_scratch {
	unsigned char *memory; /* owned */
	size_t room;
};

/** scratch_grow() - make room for @bytes. Returns false when there is no memory */
bool scratch_grow(struct unpack_scratch *scratch, size_t bytes);

/**
 * struct unpacker - the state of one thread for decompressing and decoding. It is large and slow to
 * make, so it is reused. Zeroed = new
 * @payload: a decompressed payload
 * @tables: of codes, and of positions
 */
struct unpacker {
	struct ZSTD_DCtx_s *zstd; /* owned */
	struct unpack_scratch payload;
	struct unpack_scratch tables;
};

/**
 * unpack() - the payload of a chunk, of @header->packed_bytes at @packed
 * Returns 0 with the payload, borrowed from @unpacker until its next one, or from @packed itself;
 * -ENOMEM; -EBADMSG with @ret_reason (static string).
 */
int unpack(struct unpacker *unpacker, const struct trace_chunk_header *header, const unsigned char *packed,
	   const unsigned char **ret_raw, const char **ret_reason) TRACE_NODISCARD;

void unpacker_release(struct unpacker *unpacker);

#endif
