/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* index_frame.c - compression in parts: index_frame.h. */
#include <zstd.h>
#include "index_frame.h"

#define LEVEL	    3
#define FRAME_PIECE (64u << 10)

struct index_frame index_frame_begin(uint64_t unpacked, struct bytes_out *out)
{
	struct index_frame frame = {.stream = ZSTD_createCStream(), .out = out};

	out->failed |= !frame.stream || ZSTD_isError(ZSTD_initCStream(frame.stream, LEVEL)) ||
		       ZSTD_isError(ZSTD_CCtx_setPledgedSrcSize(frame.stream, unpacked));
	return frame;
}

static void compress(struct index_frame *frame, ZSTD_inBuffer in, ZSTD_EndDirective end)
{
	size_t left = 1;

	while (!frame->out->failed && (in.pos < in.size || (end == ZSTD_e_end && left))) {
		ZSTD_outBuffer piece = {bytes_room(frame->out, FRAME_PIECE), FRAME_PIECE, 0};

		if (!piece.dst)
			return;
		left = ZSTD_compressStream2(frame->stream, &piece, &in, end);
		frame->out->failed |= ZSTD_isError(left);
		frame->out->nr -= FRAME_PIECE - piece.pos;
	}
}

void index_frame_put(struct index_frame *frame, const void *bytes, size_t nr)
{
	compress(frame, (ZSTD_inBuffer){bytes, nr, 0}, ZSTD_e_continue);
}

void index_frame_end(struct index_frame *frame)
{
	compress(frame, (ZSTD_inBuffer){NULL, 0, 0}, ZSTD_e_end);
	ZSTD_freeCStream(frame->stream);
	frame->stream = NULL;
}
