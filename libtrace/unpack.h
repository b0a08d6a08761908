/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef LIBTRACE_UNPACK_H
#define LIBTRACE_UNPACK_H
/* unpack.h - payloads without their compression. */
#include <trace/format.h>

struct ZSTD_DCtx_s;

/** struct unpacker - what one thread needs to decompress, used again and again: it is large and slow to make. Zeroed = new */
struct unpacker {
	struct ZSTD_DCtx_s *zstd; /* owned */
};

/** struct payload - a decompressed payload; its memory is used again for the next one. Zeroed = none yet */
struct payload {
	unsigned char *raw; /* owned */
	size_t room;
};

/**
 * unpack() - the payload of a chunk, of @header->packed_bytes at @packed
 * Returns 0 with the payload, borrowed from @payload or from @packed itself; -ENOMEM; -EBADMSG with @ret_reason (static).
 */
int unpack(struct unpacker *unpacker, struct payload *payload, const struct trace_chunk_header *header, const unsigned char *packed,
	   const unsigned char **ret_raw, const char **ret_reason);

void unpacker_release(struct unpacker *unpacker);
void payload_release(struct payload *payload);

#endif
