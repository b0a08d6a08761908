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
 * @room: bytes in @raw that are allocated; @bytes: of them, used
 * @texts_at: in @raw: where the texts begin, which are unlike all before. @codes_at: where the codes of the times begin, up to the end, which no compression
 *            makes smaller
 */
struct trace_packed {
	struct trace_packed *next; /* owned */
	struct trace_chunk_header header;
	uint64_t lost_total;
	size_t room;
	size_t bytes;
	uint32_t texts_at;
	uint32_t codes_at;
	unsigned char raw[];
};

/** writer_schema() - the events of programs that the writer was told of. Any thread, for schema_type() */
const struct schema *writer_schema(const struct trace_writer *writer);

enum {
	PACKING_SPARES = 2, /* one is packed while the one before is written; more are there only when the disk is slow */
};

/**
 * struct packing - what packing remembers from block to block, of one writer
 * @spares: blocks that are written, whose memory is used again: fresh memory costs a page fault and the clearing of each page
 */
struct packing {
	struct clock_model clock;
	struct syscall_args args;
	pthread_mutex_t lock; /* guards what is below */
	struct trace_packed *spares; /* owned */
	unsigned int nr_spares;
	struct packer *free; /* owned; as many as there ever were threads at it at a time */
	void *ready; /* owned; the memory of the first packer, if it was prepared */
};
void packing_init(struct packing *packing);
void packing_release(struct packing *packing);

/** packing_prepare() - the memory that one thread needs to pack blocks of @block_bytes is there before the first one comes, as far as can be had. Before any */
void packing_prepare(struct packing *packing, size_t block_bytes);

/** packing_recycle() - as trace_packed_free(); the memory may be used again. Any thread */
void packing_recycle(struct packing *packing, struct trace_packed *packed);

/** writer_packing() - the writer's. Any thread */
struct packing *writer_packing(struct trace_writer *writer);

#endif
