/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef LIBTRACE_PACKER_H
#define LIBTRACE_PACKER_H
/* packer.h - the work in progress on one block, which the steps of packing share: pack.c says how they follow each other. */
#include <trace/format.h>
#include <trace/reader.h>
#include <trace/writer.h>

#include "lane.h"
#include "schema.h"

enum {
	NR_SLOTS = 512,
	MAX_TYPES = 255,	/* of a chunk */
	NO_PLACE = 255,
	LIST_ENTRIES = 128,	/* of a piece of a list */
	MAX_REFERENCES = 32,	/* of a type; more are not followed */
	SLOT_TABLE_SIZE = 1024, /* a power of two, and never full */
};

/** struct user_slot - a type of a program in this block. @references: offsets in the payload */
struct user_slot {
	const struct trace_event_type *type;
	uint16_t nr_references;
	uint16_t references[MAX_REFERENCES];
};

/** struct memory - kept for the next block: fresh memory costs a page fault and the clearing of each page, half of all of packing. @is_ready: of packing->ready */
struct memory {
	void *data; /* owned, unless it is ready */
	size_t room;
	bool is_ready;
};

enum {
	MEMORY_EVENTS,
	MEMORY_LISTS,
	MEMORY_KEYS,
	MEMORY_SCRATCH,
	MEMORY_LANES,
	NR_MEMORIES,
};

/**
 * struct found - a type that occurs in the chunk
 * @count: of its records; while they are scanned, of those in pieces of its list that are full
 * @list: the first piece of it. @string_room: bytes that the strings of its records may have. @user: how to find the end of a program's payload; NULL: it has no references
 */
struct found {
	uint32_t slot;
	uint32_t count;
	uint32_t list;
	uint32_t string_room;
	const struct trace_event_type *type;
	const struct user_slot *user;
};

/**
 * struct packer - the work in progress on one block
 * @begin, @end: the records of this chunk, in 8-byte words
 * @times, @ids: of each record: ns since the base, and the place of its type. In its memory
 * @lists: in its memory, pieces of LIST_ENTRIES: the number of the piece behind it, then in which words the payloads of a type begin
 * @list_ends: by place, where the next one goes; never behind the end of a piece
 * @nr_moves: by how much those were moved that were out of order. @unsorted: that became too much
 * @scratch: in its memory; room for 8 bytes of each record
 * @found: by place. @places: by slot; NO_PLACE: it did not occur so far
 * @least_words: of records of the catalogue without strings that occurred; of others, more than any record has
 * @table: slots of programs' types by a hash of their id; 0: free
 * @lanes: by slot; those of slots that do not occur are of an earlier block
 */
struct packer {
	struct packer *next_free;
	const struct trace_source *source;
	const struct schema *schema; /* of programs */
	struct packing *packing;
	struct memory memory[NR_MEMORIES];
	size_t begin;
	size_t end;
	uint32_t *times;
	unsigned char *ids;
	uint32_t *lists;
	uint32_t nr_lists;
	uint32_t *list_ends[MAX_TYPES];
	uint64_t *scratch;
	size_t nr;
	uint32_t lost_inside;
	size_t nr_moves;
	bool unsorted;
	uint32_t nr_types;
	struct found found[MAX_TYPES];
	uint8_t places[NR_SLOTS];
	uint16_t least_words[TRACE_EV_MAX];
	uint32_t nr_user;
	uint16_t table[SLOT_TABLE_SIZE];
	struct user_slot user[NR_SLOTS - TRACE_EV_MAX];
	struct lane lanes[NR_SLOTS];
};

/** packer_memory() - its content is lost. NULL: there is no memory */
void *packer_memory(struct packer *packer, unsigned int which, size_t bytes);

/* ---- pack_scan.c ---- */

/** packer_scan() - the times, types and payloads of the records from packer->begin on that fit one chunk */
void packer_scan(struct packer *packer);

/** packer_tail_length() - what follows the fixed part of a program's record, up to the end of what its fields refer to; -1: one refers to something else */
int packer_tail_length(const struct user_slot *user, const unsigned char *payload, size_t bytes);

/* Has @word a byte of 0? The lowest bit that is set is then in the lowest such byte. */
static inline uint64_t nul_bytes(uint64_t word)
{
	return (word - 0x0101010101010101) & ~word & 0x8080808080808080;
}

/* ---- pack_sort.c ---- */

/** packer_sort() - what was not nearly in order. False: there is no memory */
bool packer_sort(struct packer *packer);

/* ---- pack_deal.c ---- */

/** packer_deal() - the payloads to the lanes of their types. False: there is no memory for those */
bool packer_deal(struct packer *packer);

static inline struct lane *lane_at(const struct packer *packer, uint32_t place)
{
	return (struct lane *)&packer->lanes[packer->found[place].slot];
}

/* ---- lists of payloads, one for each type ---- */

static inline uint32_t *list_new(struct packer *packer)
{
	return packer->lists + (size_t)packer->nr_lists++ * LIST_ENTRIES + 1;
}

/* The piece that ends at @end is full. */
uint32_t *packer_list_go_on(struct packer *packer, uint32_t place, uint32_t *end);

static inline void list_add(struct packer *packer, uint32_t place, uint32_t payload)
{
	uint32_t *end = packer->list_ends[place];

	*end++ = payload;
	if (__builtin_expect(!((uintptr_t)end % (LIST_ENTRIES * sizeof(*end))), 0))
		end = packer_list_go_on(packer, place, end);
	packer->list_ends[place] = end;
}

/* How many there are in the piece where the list ends. */
static inline size_t list_last(const struct packer *packer, uint32_t place)
{
	return (uintptr_t)packer->list_ends[place] / sizeof(uint32_t) % LIST_ENTRIES - 1;
}

#endif
