/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef LIBTRACE_UNPACK_H
#define LIBTRACE_UNPACK_H
/* unpack.h - payloads without their compression. */
#include <stdbool.h>
#include <trace/format.h>

struct ZSTD_DCtx_s;

/** struct scratch - memory whose content is not wanted any more when it is asked for again. Zeroed = none yet */
struct scratch {
	unsigned char *memory; /* owned */
	size_t room;
};

/** scratch_grow() - room for @bytes. Returns false when there is no memory */
bool scratch_grow(struct scratch *scratch, size_t bytes);

/**
 * struct unpacker - what one thread needs to decompress and to decode, used again and again: it is large and slow to make, and stays at hand. Zeroed = new
 * @payload: decompressed. @tables: of codes, and of places
 */
struct unpacker {
	struct ZSTD_DCtx_s *zstd; /* owned */
	struct scratch payload;
	struct scratch tables;
};

/**
 * unpack() - the payload of a chunk, of @header->packed_bytes at @packed
 * Returns 0 with the payload, borrowed from @unpacker until its next one or from @packed itself; -ENOMEM; -EBADMSG with @ret_reason (static).
 */
int unpack(struct unpacker *unpacker, const struct trace_chunk_header *header, const unsigned char *packed, const unsigned char **ret_raw,
	   const char **ret_reason);

void unpacker_release(struct unpacker *unpacker);

#endif
