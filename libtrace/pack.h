/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef LIBTRACE_PACK_H
#define LIBTRACE_PACK_H
#include <trace/format.h>
#include <trace/writer.h>

/**
 * struct trace_packed - a block of records as columns, not yet compressed
 * @header: what is known before the block's place in the file is: kind, stream ... ids; the rest 0
 * @lost_total: of the source
 */
struct trace_packed {
	struct trace_chunk_header header;
	uint64_t lost_total;
	size_t bytes; /* of @raw that are allocated */
	unsigned char raw[];
};

#endif
