/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "packed.h"

#include <stdlib.h>
#include <zlib.h>
#include "checked_memory.h"
#include "progress_line.h"

#define PIECE_BYTES (48u << 10)

bool packed_make(const void *raw, size_t bytes, size_t most, struct packed *ret_packed)
{
	const unsigned char *begin = raw;
	z_stream stream = {.next_in = (unsigned char *)begin};
	struct work_progress progress = work_progress_begin("tracevisualizer: page");
	struct packed packed = {0};
	int result = Z_OK;
	size_t bound;

	/* 16: with the head of gzip, without name and time */
	if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK)
		memory_end();
	bound = deflateBound(&stream, bytes);
	most = most < bound ? most : bound;
	packed.bytes = memory_take(most, 1);
	while (result == Z_OK && packed.size < most) {
		size_t left = bytes - (size_t)(stream.next_in - begin), room = most - packed.size;

		work_progress_at(&progress, bytes - left, bytes);
		stream.avail_in = left < PIECE_BYTES ? (unsigned int)left : PIECE_BYTES;
		stream.avail_out = room < PIECE_BYTES ? (unsigned int)room : PIECE_BYTES;
		stream.next_out = packed.bytes + packed.size;
		room = stream.avail_out;
		result = deflate(&stream, left > PIECE_BYTES ? Z_NO_FLUSH : Z_FINISH);
		packed.size += room - stream.avail_out;
	}
	progress_line_erase();
	deflateEnd(&stream);
	if (result != Z_STREAM_END)
		free(packed.bytes);
	else
		*ret_packed = packed;
	return result == Z_STREAM_END;
}
