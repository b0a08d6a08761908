/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef LIBTRACE_PACKER_H
#define LIBTRACE_PACKER_H
/*
 * packer.h - the working state of one block, shared by the steps of packing. pack.c explains the
 * steps and the terms slot and type index.
 */
#include <trace/format.h>
#include <trace/reader.h>
#include <trace/writer.h>

#include "lane.h"
#include "schema.h"
#include "stacks.h"
#include "times_letters.h"

enum {
	NR_SLOTS = 512,
	MAX_TYPES = 255, /* per chunk */
	NO_TYPE = 255,
	LIST_ENTRIES = 128,	/* per piece of a list */
	MAX_REFERENCES = 32,	/* per type; more are not followed */
	SLOT_TABLE_SIZE = 1024, /* a power of two; the table is never full */
};

/**
 * struct user_slot - a type in this block whose fields may refer to bytes behind them
 * @references: offsets of the references in the payload
 */
struct user_slot {
	const struct trace_event_type *type;
	uint16_t nr_references;
	uint16_t references[MAX_REFERENCES];
};

/**
 * struct packer_buffer - a buffer that is kept for the next block
 * Fresh memory costs a page fault and the clearing of each page, which would be half of the time of
 * packing.
 * @is_ready: the buffer is part of packing->ready
 */
struct packer_buffer {
	void *data; /* owned, unless @is_ready */
	size_t room;
	bool is_ready;
};

enum {
	MEMORY_EVENTS,
	MEMORY_LISTS,
	MEMORY_KEYS,
	MEMORY_SCRATCH,
	MEMORY_LANES,
	MEMORY_STACKS,
	MEMORY_LETTERS,
	NR_MEMORIES,
};

/**
 * struct chunk_type - a type that occurs in the chunk
 * @count: records of the type; during the scan, only those in the full pieces of its list
 * @list: number of the first piece of its list
 * @string_room: upper bound of the bytes in the strings of its records
 * @user: how to find the end of a program's payload; NULL: the type has no references
 */
struct chunk_type {
	uint32_t slot;
	uint32_t count;
	uint32_t list;
	uint32_t string_room;
	const struct trace_event_type *type;
	const struct user_slot *user;
};

/**
 * struct packer - the working state of one block
 * @begin, @end: the records of this chunk, in 8-byte words
 * @times, @type_idxs: for each record: ns since the base, and the index of its type
 * @lists: pieces of LIST_ENTRIES: the number of the next piece, then the word offsets of a type's
 *         payloads
 * @list_ends: by type index, where the next offset is stored; never beyond the end of a piece
 * @scratch: room for 8 bytes per record, and for times_encode()
 * @nr_moves: moves that were needed to put late records in order
 * @unsorted: there were too many moves; packer_sort() has to sort
 * @types: by type index
 * @idx_by_slot: by slot; NO_TYPE: the type has not occurred yet
 * @min_words: minimum size of a record of a catalogue type without strings that has occurred; for
 *               other types a value above any size
 * @table: hash table from ids of programs' types to slots; 0: free
 * @lanes: by slot; a slot that does not occur in this block has stale content
 * @times, @type_idxs, @lists and @scratch are in @memory.
 */
struct packer {
	struct packer *next_free;
	const struct trace_source *source;
	const struct schema *schema; /* types of programs */
	struct packing *packing;
	struct packer_buffer memory[NR_MEMORIES];
	size_t begin;
	size_t end;
	uint32_t *times;
	unsigned char *type_idxs;
	uint32_t *lists;
	uint32_t nr_lists;
	uint32_t *list_ends[MAX_TYPES];
	uint64_t *scratch;
	size_t nr;
	uint32_t undecodable;
	size_t nr_moves;
	bool unsorted;
	uint32_t nr_types;
	struct chunk_type types[MAX_TYPES];
	uint8_t idx_by_slot[NR_SLOTS];
	uint16_t min_words[TRACE_EV_MAX];
	uint32_t nr_user;
	uint16_t table[SLOT_TABLE_SIZE];
	struct user_slot user[NR_SLOTS - TRACE_EV_MAX];
	struct user_slot sample; /* of the event sample; its type is NULL before the first one */
	struct user_slot data;	 /* the same for TRACE_EV_sys_data */
	struct lane lanes[NR_SLOTS];
	struct stacks_coded stacks; /* of the event sample */
	struct letters letters;
	struct letters_type letter_types[MAX_TYPES];
};

static inline struct lane *lane_at(const struct packer *packer, uint32_t type_idx)
{
	return (struct lane *)&packer->lanes[packer->types[type_idx].slot];
}

/* Nonzero if @word has a byte of 0. The lowest set bit is then in the lowest such byte. */
static inline uint64_t nul_bytes(uint64_t word)
{
	return (word - 0x0101010101010101) & ~word & 0x8080808080808080;
}

#endif
