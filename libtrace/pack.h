/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef LIBTRACE_PACK_H
#define LIBTRACE_PACK_H
#include <trace/format.h>
#include <trace/writer.h>

#include "schema.h"

/**
 * struct trace_packed - a block of records as columns, not yet compressed
 * @next: the block's next chunk, when its records are of more types than a chunk may have
 * @header: what is known before the block's place in the file is: kind, stream ... ids; the rest 0
 * @lost_total: of the source
 */
struct trace_packed {
	struct trace_packed *next; /* owned */
	struct trace_chunk_header header;
	uint64_t lost_total;
	size_t bytes; /* of @raw that are allocated */
	unsigned char raw[];
};

/** writer_schema() - the events of programs that the writer was told of. Any thread, for schema_type() */
const struct schema *writer_schema(const struct trace_writer *writer);

#endif
