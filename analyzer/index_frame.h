/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_INDEX_FRAME_H
#define ANALYZER_INDEX_FRAME_H
/* index_frame.h - the compression of parts that follow each other, without a copy of them */
#include "index_bytes.h"

/** struct index_frame - @out: where the compressed bytes go; borrowed */
struct index_frame {
	void *stream; /* owned; ZSTD_CStream; NULL: no memory */
	struct bytes_out *out;
};
/** index_frame_begin() - the parts have @unpacked bytes together */
struct index_frame index_frame_begin(uint64_t unpacked, struct bytes_out *out);
void index_frame_put(struct index_frame *frame, const void *bytes, size_t nr);
/** index_frame_end() - after the last part; out->failed tells of errors */
void index_frame_end(struct index_frame *frame);
#endif
