/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef LIBTRACE_EVENT_BLOCK_H
#define LIBTRACE_EVENT_BLOCK_H
/* event_block.h - the events of one chunk, decoded: ready to be stepped through without looking at single fields. */
#include <stdbool.h>
#include <string.h>
#include <trace/format.h>

#include "pool.h"
#include "schema.h"
#include "unpack.h"

/**
 * struct block_type - one type's events in the block, in time order
 * @next: where the payload of the next one is: in @memory, in 8-byte words. Events of the same payload share it. @end: behind the last
 * @sizes: how many bytes it has, at this place and @sizes_mask of the payload's: before each that has a string, once for all that have none, whose payloads
 *	nobody has to wait for who does not look at them. Without a branch, because types mix in a way that no branch predictor can tell
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
 * struct block - a decoded chunk; its memory is used again for the next one
 * @ts_ns, @places: time of each event, and the place of its type in @types
 * @at: the next event; @nr: one past the last wanted one
 * @pool: where its memory is from, set when the block is made; NULL: malloc()
 */
struct block {
	uint64_t *ts_ns;
	const unsigned char *places;
	struct block_type *types;
	uint32_t at;
	uint32_t nr;
	uint32_t nr_types;
	unsigned char *memory; /* owned; all that the others point into */
	size_t memory_room;
	size_t decoded_bytes; /* of it, in use */
	struct pool *pool; /* borrowed */
};

/**
 * block_decode() - the events in a payload of TRACE_ENCODING_COLUMNS
 * @header: of the chunk; its events, first_ns and last_ns must be what the payload holds
 * @tables: scratch memory; of @raw nothing is needed afterwards
 * Returns 0, -ENOMEM, or -EBADMSG with the reason, a static text, in @ret_reason.
 */
int block_decode(struct block *block, struct scratch *tables, const struct schema *schema, const struct trace_chunk_header *header,
		 const unsigned char *raw, const char **ret_reason);

#define BLOCK_PLACES_AHEAD 32 /* of a type: two lines of the cache */

/** block_step() - the payload of event @block->at of type @type, and on to the next. Where later ones are is asked for: another CPU wrote it */
static inline const unsigned char *block_step(struct block_type *type, uint32_t *ret_bytes)
{
	size_t place = 8 * (size_t)*type->next++;

	__builtin_prefetch(type->next + BLOCK_PLACES_AHEAD);
	memcpy(ret_bytes, type->sizes + ((place - 8) & type->sizes_mask), sizeof(*ret_bytes));
	return type->memory + place;
}

void block_release(struct block *block);

#endif
