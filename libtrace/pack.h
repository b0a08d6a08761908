/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef LIBTRACE_PACK_H
#define LIBTRACE_PACK_H
#include <trace/format.h>
#include <trace/writer.h>

#include "schema.h"
#include "syscall_args.h"
#include "times.h"

/**
 * struct trace_packed - a block of records as columns, not yet compressed
 * @next: the block's next chunk, when its records are of more types than a chunk may have
 * @header: what is known before the block's place in the file is: kind, stream ... ids; the rest 0
 * @lost_total: of the source
 * @codes_at: in @raw: where the codes of the times begin, up to the end, which no compression makes smaller; 0: there are none
 */
struct trace_packed {
	struct trace_packed *next; /* owned */
	struct trace_chunk_header header;
	uint64_t lost_total;
	size_t bytes; /* of @raw that are allocated */
	uint32_t codes_at;
	unsigned char raw[];
};

/** writer_schema() - the events of programs that the writer was told of. Any thread, for schema_type() */
const struct schema *writer_schema(const struct trace_writer *writer);

/** struct packing - what packing remembers from block to block, of one writer */
struct packing {
	struct clock_model clock;
	struct syscall_args args;
	pthread_mutex_t lock;
	struct packer *free; /* owned; as many as there ever were threads at it at a time */
};
void packing_init(struct packing *packing);
void packing_release(struct packing *packing);

/** writer_packing() - the writer's. Any thread */
struct packing *writer_packing(struct trace_writer *writer);

#endif
