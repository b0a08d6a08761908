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
 * @next: the block's next chunk, when its records have more types than one chunk may have
 * @header: the fields that do not depend on the position in the file: kind, stream ... ids; the
 *          rest is 0
 * @lost_total: from the source
 * @room: bytes allocated for @raw
 * @bytes: bytes used of @raw
 * @texts_at: offset in @raw of the texts; their statistics differ from all data before
 * @codes_at: offset in @raw of the coded times, which extend to the end; compression cannot shrink
 *            them
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

enum {
	PACKING_SPARES = 2, /* one is packed while the previous one is written; a slow disk needs more */
};

/**
 * struct packing - what a writer's packing keeps from block to block
 * @spares: written blocks, kept for reuse: fresh memory costs a page fault and the clearing of each
 *          page
 * @has_letters: write times with letters (times_letters.h): up to 6 % fewer bytes for 8 % more
 *               instructions. Set before the first block
 */
struct packing {
	struct clock_model clock;
	struct times_learned times;
	struct syscall_args args;
	bool has_letters;
	pthread_mutex_t lock;	     /* guards the fields below */
	struct trace_packed *spares; /* owned */
	unsigned int nr_spares;
	struct packer *free; /* owned; as many as threads have ever packed concurrently */
	void *ready;	     /* owned; memory of the first packer, if packing_prepare() was called */
};
void packing_init(struct packing *packing);
void packing_release(struct packing *packing);

/**
 * packing_prepare() - allocate and prefault what one thread needs to pack blocks of @block_bytes
 * Best effort. Call it before any other use.
 */
void packing_prepare(struct packing *packing, size_t block_bytes);

/** packing_recycle() - like trace_packed_free(), but the memory may be reused. Any thread */
void packing_recycle(struct packing *packing, struct trace_packed *packed);

/**
 * packing_pack() - trace_writer_pack(), without the writer. Any thread
 * @schema: the types of programs, for schema_type()
 */
struct trace_packed *packing_pack(struct packing *packing, const struct schema *schema,
				  const struct trace_source *source, struct trace_error *ret_error);

/** packer_memory() - a buffer of at least @bytes; growing loses its content. NULL: no memory */
void *packer_memory(struct packer *packer, unsigned int which, size_t bytes);

#endif
