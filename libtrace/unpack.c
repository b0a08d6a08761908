/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* unpack.c - decompress the payload of a chunk with zstd. */
#include "unpack.h"

#include <errno.h>
#include <stdlib.h>
#include <zstd.h>

bool scratch_grow(struct unpack_scratch *scratch, size_t bytes)
{
	unsigned char *larger;

	if (bytes <= scratch->room)
		return true;
	larger = malloc(bytes + bytes / 4);
	if (!larger)
		return false;
	free(scratch->memory);
	scratch->memory = larger;
	scratch->room = bytes + bytes / 4;
	return true;
}

/*
 * The output buffer has the size that the header declares, at most TRACE_RAW_MAX. For a frame that
 * needs more, zstd returns an error.
 */
int unpack(struct unpacker *unpacker, const struct trace_chunk_header *header, const unsigned char *packed,
	   const unsigned char **ret_raw, const char **ret_reason)
{
	size_t bytes;

	if (header->compression == TRACE_COMPRESSION_NONE && header->raw_bytes == header->packed_bytes) {
		*ret_raw = packed;
		return 0;
	}
	*ret_reason = "its compression is unknown; a newer version of this program may read it";
	if (header->compression != TRACE_COMPRESSION_ZSTD)
		return -EBADMSG;
	if (!unpacker->zstd)
		unpacker->zstd = ZSTD_createDCtx();
	if (!unpacker->zstd || !scratch_grow(&unpacker->payload, header->raw_bytes))
		return -ENOMEM;
	bytes = ZSTD_decompressDCtx(unpacker->zstd, unpacker->payload.memory, header->raw_bytes, packed,
				    header->packed_bytes);
	*ret_reason = "its payload cannot be decompressed";
	if (ZSTD_isError(bytes) || bytes != header->raw_bytes)
		return -EBADMSG;
	*ret_raw = unpacker->payload.memory;
	return 0;
}

void unpacker_release(struct unpacker *unpacker)
{
	ZSTD_freeDCtx(unpacker->zstd);
	free(unpacker->payload.memory);
	free(unpacker->tables.memory);
	*unpacker = (struct unpacker){0};
}
