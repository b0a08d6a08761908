/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef LIBTRACE_EVENT_BLOCK_H
#define LIBTRACE_EVENT_BLOCK_H
/*
 * event_block.h - the decoded events of one chunk, which a cursor steps through without looking at
 * single fields.
 */
#include <stdbool.h>
#include <string.h>
#include <trace/error.h>
#include <trace/format.h>

#include "pool.h"
#include "schema.h"
#include "unpack.h"

/**
 * struct block_type - the events of one type in the block, in time order
 * @next: position of the next event's payload in @memory, in 8-byte words. Events with equal
 *	payloads share one. @end: after the last entry
 * @sizes: the size of a payload at byte offset P is at @sizes + ((P - 8) & @sizes_mask)
 *
 * A type with strings has the size before each payload; all bits of the mask are set. Any other
 * type has one size for all payloads, and the mask is 0. So a caller that does not look at such a
 * payload does not wait for its memory. There is no branch between the two cases, because types mix
 * in a way that no branch predictor can learn.
 */
struct block_type {
	const uint32_t *next;
	const uint32_t *end;
	const unsigned char *memory;
	const unsigned char *sizes;
	size_t sizes_mask;
	const struct trace_event_type *type;
	uint32_t id;
	uint32_t fixed_bytes;
};

/**
 * struct block - a decoded chunk; its memory is reused for the next one
 * @ts_ns, @type_idxs: time of each event, and the index of its type in @types
 * @at: index of the next event. @nr: one past the last wanted one
 * @pool: source of its memory, set when the block is made; NULL: malloc()
 */
struct block {
	uint64_t *ts_ns;
	const unsigned char *type_idxs;
	struct block_type *types;
	uint32_t at;
	uint32_t nr;
	uint32_t nr_types;
	unsigned char *memory; /* owned; the other pointers point into it */
	size_t memory_room;
	size_t decoded_bytes; /* bytes of @memory in use */
	struct pool *pool;    /* borrowed */
};

/**
 * block_decode() - decode the events of a payload with TRACE_ENCODING_COLUMNS
 * @header: of the chunk; its events, first_ns and last_ns must agree with the payload
 * @tables: scratch memory. @raw is not needed afterwards
 * Returns 0, -ENOMEM, or -EBADMSG with the reason, a static text, in @ret_reason.
 */
int block_decode(struct block *block, struct unpack_scratch *tables, const struct schema *schema,
		 const struct trace_chunk_header *header, const unsigned char *raw,
		 const char **ret_reason) TRACE_NODISCARD;

#define BLOCK_PREFETCH_AHEAD 32 /* entries of @next: two cache lines */

/**
 * block_step() - return the payload of the next event of @type, and step over it
 * The caller moves block->at. Prefetches later entries of @next: another CPU may have written them.
 */
static inline const unsigned char *block_step(struct block_type *type, uint32_t *ret_bytes)
{
	size_t offset = 8 * (size_t)*type->next++;

	__builtin_prefetch(type->next + BLOCK_PREFETCH_AHEAD);
	memcpy(ret_bytes, type->sizes + ((offset - 8) & type->sizes_mask), sizeof(*ret_bytes));
	return type->memory + offset;
}

void block_release(struct block *block);

#endif
