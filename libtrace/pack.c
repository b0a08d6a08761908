/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * pack.c - the records of a sub-buffer become the columns of a chunk.
 *
 * 1. scan:    walk the records in the order they were reserved, check each, note its time, type, and where it is. Nested writers may
 *             be slightly out of order: one that was interrupted carries the earlier time but may lie behind; it is put where it belongs.
 * 2. sort:    only those that are not nearly in order; by time, and by where they are when times are equal.
 * 3. deal:    the payloads of each type go to a lane of their own (lane.c).
 * 4. columns: each lane becomes byte planes (columns.c), and the times steps of the clock (times.c).
 *
 * Producers of user space are not trusted: nothing here relies on what a record says before it is checked, and each
 * header is read once, because the memory may still be changing.
 *
 * Within a block a type is known by its slot: events of the catalogue have their id's, those of programs the next free one
 * from TRACE_EV_MAX on. In the chunk it is known by its place in the list of those that occur. When there are too many types for one chunk, the
 * rest of the records becomes another one.
 */
#include "pack.h"

#include "clones.h"
#include "error.h"
#include "lane.h"
#include "pages.h"
#include "schema.h"
#include "times.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <trace/user_memory.h>
#include <xxhash.h>

enum {
	NR_SLOTS = 512,
	MAX_TYPES = 255,	/* of a chunk */
	NO_PLACE = 255,
	NEXT_CHUNK = 256,	/* instead of a place */
	LIST_ENTRIES = 128,	/* of a piece of a list */
	TEXTS_AHEAD = 3,
	MAX_REFERENCES = 32,	/* of a type; more are not followed */
	SLOT_TABLE_SIZE = 1024, /* a power of two, and never full */
	LANES_USUALLY = 2, /* times the records */
	PACKED_USUALLY = 3, /* records are so many times the columns */
	NR_CALL_KINDS = TRACE_EV_sys_enter6 - TRACE_EV_sys_enter + 1,
	/* Where in a record for several events the time between them is, and their payloads. */
	CALL_ELAPSED_WORD = (sizeof(struct trace_record) + offsetof(struct trace_record_call, elapsed)) / 8,
	CALL_EXIT_WORD = (sizeof(struct trace_record) + offsetof(struct trace_record_call, exit)) / 8,
	CALL_ENTRY_WORD = (sizeof(struct trace_record) + sizeof(struct trace_record_call)) / 8,
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

static void memory_release(struct memory *memory)
{
	if (!memory->is_ready)
		free(memory->data);
	*memory = (struct memory){ 0 };
}

/* Its content is lost. NULL: there is no memory. */
static void *memory_get(struct packer *packer, unsigned int which, size_t bytes)
{
	struct memory *memory = &packer->memory[which];

	if (bytes <= memory->room)
		return memory->data;
	memory_release(memory);
	memory->data = malloc(bytes + bytes / 4);
	memory->room = memory->data ? bytes + bytes / 4 : 0;
	return memory->data;
}

/* ---- slots ---- */

static void user_slot_init(struct user_slot *user, const struct trace_event_type *type)
{
	*user = (struct user_slot){ .type = type };
	for (size_t i = 0; i < type->nr_fields && user->nr_references < MAX_REFERENCES; i++)
		if (field_is_reference(&type->fields[i]))
			user->references[user->nr_references++] = type->fields[i].offset;
}

/* The slot of a type with an id from TRACE_EV_MAX on; 0: nobody described it; NR_SLOTS: there is none left. */
static uint32_t user_slot_find(struct packer *packer, uint32_t id)
{
	const struct trace_event_type *type;
	uint32_t at = id % SLOT_TABLE_SIZE;

	for (; packer->table[at]; at = (at + 1) % SLOT_TABLE_SIZE)
		if (packer->user[packer->table[at] - TRACE_EV_MAX].type->id == id)
			return packer->table[at];
	type = schema_type(packer->schema, id);
	if (!type)
		return 0;
	if (packer->nr_user + trace_catalogue_size() >= MAX_TYPES)
		return NR_SLOTS;
	user_slot_init(&packer->user[packer->nr_user], type);
	packer->table[at] = (uint16_t)(TRACE_EV_MAX + packer->nr_user++);
	return packer->table[at];
}

/* ---- is a record good? ---- */

/* Has @word a byte of 0? The lowest bit that is set is then in the lowest such byte. */
static inline uint64_t nul_bytes(uint64_t word)
{
	return (word - 0x0101010101010101) & ~word & 0x8080808080808080;
}

/* Is there a NUL in the string of a record? Its last word has one, because records are padded: nobody else need be asked. */
static bool string_ends(const unsigned char *text, size_t bytes)
{
	uint64_t last;

	if (bytes < sizeof(last))
		return false;
	memcpy(&last, text + bytes - sizeof(last), sizeof(last));
	return nul_bytes(last) || memchr(text, 0, bytes);
}

/* What follows the fixed part of a program's record, up to the end of what its fields refer to; -1: one refers to something else. */
static int tail_length(const struct user_slot *user, const unsigned char *payload, size_t bytes)
{
	size_t end = user->type->fixed_bytes;

	for (size_t i = 0; i < user->nr_references; i++) {
		struct user_reference reference;

		memcpy(&reference, payload + user->references[i], sizeof(reference));
		if ((size_t)reference.offset + reference.bytes > bytes)
			return -1;
		if (reference.bytes && (size_t)reference.offset + reference.bytes > end)
			end = (size_t)reference.offset + reference.bytes;
	}
	return (int)(end - user->type->fixed_bytes);
}

static bool record_is_good(const struct packer *packer, uint32_t slot, const struct trace_event_type *type, const unsigned char *payload,
			   size_t bytes)
{
	if (!type || bytes < type->fixed_bytes)
		return false;
	if (slot >= TRACE_EV_MAX && packer->user[slot - TRACE_EV_MAX].nr_references)
		return tail_length(&packer->user[slot - TRACE_EV_MAX], payload, bytes) >= 0;
	return !type->has_string || string_ends(payload + type->fixed_bytes, bytes - type->fixed_bytes);
}

/* ---- lists of payloads, one for each type ---- */

static uint32_t *list_new(struct packer *packer)
{
	return packer->lists + (size_t)packer->nr_lists++ * LIST_ENTRIES + 1;
}

/* The piece that ends at @end is full. */
static __attribute__((noinline)) uint32_t *list_go_on(struct packer *packer, uint32_t place, uint32_t *end)
{
	end[-LIST_ENTRIES] = packer->nr_lists;
	packer->found[place].count += LIST_ENTRIES - 1;
	return list_new(packer);
}

static inline void list_add(struct packer *packer, uint32_t place, uint32_t payload)
{
	uint32_t *end = packer->list_ends[place];

	*end++ = payload;
	if (__builtin_expect(!((uintptr_t)end % (LIST_ENTRIES * sizeof(*end))), 0))
		end = list_go_on(packer, place, end);
	packer->list_ends[place] = end;
}

/* How many there are in the piece where the list ends. */
static size_t list_last(const struct packer *packer, uint32_t place)
{
	return (uintptr_t)packer->list_ends[place] / sizeof(uint32_t) % LIST_ENTRIES - 1;
}

/* They begin where a multiple of their size does. There is room behind the last one, too, because lane_add() looks ahead. */
static bool lists_reserve(struct packer *packer, size_t most)
{
	size_t piece_bytes = LIST_ENTRIES * sizeof(uint32_t), pieces = most / (LIST_ENTRIES - 1) + MAX_TYPES + 1;
	unsigned char *memory = memory_get(packer, MEMORY_LISTS, (pieces + 1) * piece_bytes);

	packer->lists = memory ? (uint32_t *)(memory + (-(uintptr_t)memory & (piece_bytes - 1))) : NULL;
	return memory;
}

/* ---- scan ---- */

static uint32_t place_add(struct packer *packer, uint32_t slot, const struct trace_event_type *type)
{
	struct found *found = &packer->found[packer->nr_types];

	*found = (struct found){ .slot = slot, .type = type, .list = packer->nr_lists };
	packer->list_ends[packer->nr_types] = list_new(packer);
	if (slot >= TRACE_EV_MAX && packer->user[slot - TRACE_EV_MAX].nr_references)
		found->user = &packer->user[slot - TRACE_EV_MAX];
	if (slot < TRACE_EV_MAX && !type->has_string)
		packer->least_words[slot] = (uint16_t)(1 + type->fixed_bytes / 8);
	packer->places[slot] = (uint8_t)packer->nr_types;
	return packer->nr_types++;
}

static uint32_t place_of(struct packer *packer, uint32_t id)
{
	return packer->places[id] != NO_PLACE ? packer->places[id] : place_add(packer, id, catalogue_types()[id]);
}

/* A record for several events: an entry of a system call, its path, its exit. Each finds its payload in it, and none knows of the others. */
static inline bool is_call(uint32_t id)
{
	return id - TRACE_RECORD_CALL < NR_CALL_KINDS;
}

static inline bool is_path_call(uint32_t id)
{
	return id - TRACE_RECORD_PATH_ENTRY < TRACE_RECORD_CALL - TRACE_RECORD_PATH_ENTRY;
}

static inline bool call_has_exit(uint32_t id)
{
	return id >= TRACE_RECORD_PATH_CALL;
}

/* The entry, that is. */
static inline uint32_t call_event(uint32_t id)
{
	return TRACE_EV_sys_enter + (id - TRACE_RECORD_PATH_ENTRY) % NR_CALL_KINDS;
}

/* In which word of the record the payload of the path begins. */
static inline uint32_t call_path_word(uint32_t id)
{
	return CALL_ENTRY_WORD + catalogue_types()[call_event(id)]->fixed_bytes / 8;
}

/* The place of the entry, for the first record of its kind, any with a path, or a bad one: NO_PLACE. */
static uint32_t scan_call_place(struct packer *packer, uint32_t id, const unsigned char *payload, size_t bytes)
{
	uint32_t words = call_path_word(id);
	size_t before = (words - 1) * sizeof(uint64_t), path_bytes = sizeof(struct trace_sys_path);
	bool has_path = is_path_call(id);

	if (has_path ? bytes < before + path_bytes || !string_ends(payload + before + path_bytes, bytes - before - path_bytes) : bytes < before) {
		packer->lost_inside += 1 + has_path + call_has_exit(id);
		return NO_PLACE;
	}
	if (has_path)
		packer->found[place_of(packer, TRACE_EV_sys_path)].string_room += (uint32_t)(bytes - before - path_bytes);
	else
		packer->least_words[id] = (uint16_t)words;
	if (call_has_exit(id))
		place_of(packer, TRACE_EV_sys_exit);
	return packer->places[id] = (uint8_t)place_of(packer, call_event(id));
}

/* The place of a record that may be the first of its type, have a string, be padding or be bad: NO_PLACE when it has none; or NEXT_CHUNK. */
static __attribute__((noinline)) uint32_t scan_place(struct packer *packer, uint32_t id, const unsigned char *payload, size_t bytes)
{
	uint32_t slot = id < TRACE_EV_MAX ? id : user_slot_find(packer, id), place;
	const struct trace_event_type *type;

	if (slot == NR_SLOTS)
		return NEXT_CHUNK;
	if (id == TRACE_EV_padding)
		return NO_PLACE;
	if (is_call(id) || is_path_call(id))
		return scan_call_place(packer, id, payload, bytes);
	type = slot < TRACE_EV_MAX ? catalogue_types()[slot] : packer->user[slot - TRACE_EV_MAX].type;
	if (!record_is_good(packer, slot, type, payload, bytes)) {
		packer->lost_inside++;
		return NO_PLACE;
	}
	place = packer->places[slot] != NO_PLACE ? packer->places[slot] : place_add(packer, slot, type);
	packer->found[place].string_room += (uint32_t)bytes - type->fixed_bytes;
	return place;
}

/* The last one of @nr records is earlier than the one before. What would cost more to move than to sort stays where it is. */
static __attribute__((noinline)) void scan_earlier(struct packer *packer, size_t nr)
{
	uint32_t time = packer->times[nr - 1], *list_end;
	unsigned char id = packer->ids[nr - 1];
	size_t at = nr - 1, nr_same = 0;

	while (at > 0 && packer->times[at - 1] > time)
		nr_same += packer->ids[--at] == id;
	packer->nr_moves += nr - at;
	packer->unsorted |= packer->nr_moves > 16 * nr + 64 || (nr_same && nr_same >= list_last(packer, id));
	if (packer->unsorted)
		return;
	memmove(&packer->times[at + 1], &packer->times[at], (nr - 1 - at) * sizeof(packer->times[0]));
	memmove(&packer->ids[at + 1], &packer->ids[at], nr - 1 - at);
	packer->times[at] = time;
	packer->ids[at] = id;
	list_end = packer->list_ends[id];
	if (nr_same) {
		uint32_t payload = list_end[-1];

		memmove(list_end - nr_same, list_end - nr_same - 1, nr_same * sizeof(*list_end));
		list_end[-(ptrdiff_t)nr_same - 1] = payload;
	}
}

/* The events of a record with a path, which is word @at of the records; returns how many there are now. They may be earlier than others. */
static __attribute__((noinline)) size_t scan_path_call(struct packer *packer, size_t nr, size_t at, uint32_t id, uint32_t time, uint32_t latest)
{
	const unsigned char *record = packer->source->records + at * 8;
	const uint32_t events[] = { call_event(id), TRACE_EV_sys_path, TRACE_EV_sys_exit }, words[] = { CALL_ENTRY_WORD, call_path_word(id), CALL_EXIT_WORD };
	uint32_t elapsed;

	memcpy(&elapsed, record + CALL_ELAPSED_WORD * sizeof(uint64_t), sizeof(elapsed));
	for (uint32_t i = 0; i < 2 + (uint32_t)call_has_exit(id); i++) {
		uint32_t place = packer->places[events[i]];

		time += i == 2 ? elapsed : 0;
		packer->times[nr] = time;
		packer->ids[nr++] = (unsigned char)place;
		list_add(packer, place, (uint32_t)at + words[i]);
		if (time < latest)
			scan_earlier(packer, nr);
		else
			latest = time;
	}
	return nr;
}

/*
 * Where the next record is depends on this one's header: nothing else here may stand in the way of that. One comparison tells the records of
 * the catalogue that need no look at their payload from all others.
 */
TRACE_CLONES static void scan(struct packer *packer)
{
	const unsigned char *records = packer->source->records;
	size_t nr_words = packer->source->bytes / 8, at = packer->begin, next, nr = 0;
	uint32_t base = (uint32_t)packer->source->base_ns, latest = 0;
	const uint16_t *least_words = packer->least_words;
	const uint8_t *places = packer->places;
	uint32_t *times = packer->times;
	unsigned char *ids = packer->ids;

	for (; at < nr_words; at = next) {
		const unsigned char *record = records + at * 8;
		uint32_t place, time, elapsed, words = record[offsetof(struct trace_record, words)];
		uint16_t id;

		next = at + words;
		memcpy(&id, record + offsetof(struct trace_record, id), sizeof(id));
		memcpy(&time, record + offsetof(struct trace_record, time), sizeof(time));
		if (__builtin_expect(next > nr_words, 0))
			break;
		if (__builtin_expect(id >= TRACE_EV_MAX || words < least_words[id], 0)) {
			if (!words)
				break;
			place = scan_place(packer, id, record + sizeof(struct trace_record), (words - 1) * 8);
			if (place == NO_PLACE)
				continue;
			if (place == NEXT_CHUNK)
				goto end;
			if (is_path_call(id)) {
				nr = scan_path_call(packer, nr, at, id, time - base, latest);
				latest = times[nr - 1] > latest ? times[nr - 1] : latest;
				continue;
			}
		} else {
			place = places[id];
		}
		time -= base;
		if (is_call(id)) {
			times[nr] = time;
			ids[nr++] = (unsigned char)place;
			list_add(packer, place, (uint32_t)at + CALL_ENTRY_WORD);
			if (__builtin_expect(time < latest, 0))
				scan_earlier(packer, nr);
			memcpy(&elapsed, record + CALL_ELAPSED_WORD * sizeof(uint64_t), sizeof(elapsed));
			time += elapsed;
			place = places[TRACE_EV_sys_exit];
			at += CALL_EXIT_WORD - 1;
		}
		times[nr] = time;
		ids[nr++] = (unsigned char)place;
		list_add(packer, place, (uint32_t)at + 1);
		if (__builtin_expect(time < latest, 0))
			scan_earlier(packer, nr);
		else
			latest = time;
	}
	at = nr_words; /* what comes behind a record without an end makes no sense */
end:
	for (uint32_t i = 0; i < packer->nr_types; i++)
		packer->found[i].count += (uint32_t)list_last(packer, i);
	packer->nr = nr;
	packer->end = at;
}

/* ---- sort ---- */

/* Of the same time the first one stays first: where the payloads are does not tell, because that of a call's exit stands before its entry's. */
static void merge(const uint64_t *from, uint64_t *to, size_t begin, size_t middle, size_t end)
{
	size_t a = begin, b = middle;

	for (size_t i = begin; i < end; i++)
		to[i] = b >= end || (a < middle && from[a] >> 32 <= from[b] >> 32) ? from[a++] : from[b++];
}

/* Returns where they are then: in @from or in @to. */
static const uint64_t *sort_keys(uint64_t *from, uint64_t *to, size_t nr)
{
	for (size_t width = 1; width < nr; width *= 2) {
		uint64_t *swap = from;

		for (size_t begin = 0; begin < nr; begin += 2 * width) {
			size_t middle = begin + width < nr ? begin + width : nr;
			size_t end = middle + width < nr ? middle + width : nr;

			merge(from, to, begin, middle, end);
		}
		from = to;
		to = swap;
	}
	return from;
}

/* The payload of each record, whose id is in keys[i]; another 24 bits above the 8 of that. */
static void keys_add_payloads(const struct packer *packer, uint64_t *keys)
{
	const uint32_t *at[MAX_TYPES];

	for (uint32_t i = 0; i < packer->nr_types; i++)
		at[i] = packer->lists + (size_t)packer->found[i].list * LIST_ENTRIES + 1;
	for (size_t i = 0; i < packer->nr; i++) {
		const uint32_t **next = &at[packer->ids[i]];

		keys[i] |= *(*next)++ << 8;
		if (!((uintptr_t)*next % (LIST_ENTRIES * sizeof(**next))))
			*next = packer->lists + (size_t)(*next)[-LIST_ENTRIES] * LIST_ENTRIES + 1;
	}
}

/* The lists from the beginning. */
static void lists_again(struct packer *packer, const uint64_t *keys)
{
	packer->nr_lists = 0;
	for (uint32_t i = 0; i < packer->nr_types; i++) {
		packer->found[i].count = 0;
		packer->found[i].list = packer->nr_lists;
		packer->list_ends[i] = list_new(packer);
	}
	for (size_t i = 0; i < packer->nr; i++)
		list_add(packer, keys[i] & 0xff, (uint32_t)keys[i] >> 8);
	for (uint32_t i = 0; i < packer->nr_types; i++)
		packer->found[i].count += (uint32_t)list_last(packer, i);
}

/* By keys: time << 32 | payload << 8 | id. */
static bool sort(struct packer *packer)
{
	uint64_t *keys = memory_get(packer, MEMORY_KEYS, packer->source->bytes + 8);
	const uint64_t *sorted;

	_Static_assert(TRACE_RAW_MAX / 8 < 1 << 24, "keys have room for where a payload is");
	if (!keys)
		return false;
	for (size_t i = 0; i < packer->nr; i++)
		keys[i] = (uint64_t)packer->times[i] << 32 | packer->ids[i];
	keys_add_payloads(packer, keys);
	sorted = sort_keys(keys, packer->scratch, packer->nr);
	for (size_t i = 0; i < packer->nr; i++) {
		packer->times[i] = (uint32_t)(sorted[i] >> 32);
		packer->ids[i] = (unsigned char)sorted[i];
	}
	lists_again(packer, sorted);
	return true;
}

/* ---- deal ---- */

static struct lane *lane_at(const struct packer *packer, uint32_t place)
{
	return (struct lane *)&packer->lanes[packer->found[place].slot];
}

/* The lanes, with their memory. */
static bool deal_prepare(struct packer *packer)
{
	size_t bytes = 0;
	unsigned char *at;

	for (uint32_t i = 0; i < packer->nr_types; i++) {
		const struct found *found = &packer->found[i];

		packer->lanes[found->slot] = (struct lane){ .nr_events = found->count,
							    .nr_rows = packer->lanes[found->slot].nr_rows,
							    .nr_words = (uint8_t)(found->type->fixed_bytes / 8),
							    .has_string = found->type->has_string };
		bytes += lane_bytes(&packer->lanes[found->slot], found->string_room);
	}
	at = memory_get(packer, MEMORY_LANES, bytes);
	if (!at)
		return false;
	for (uint32_t i = 0; i < packer->nr_types; i++) {
		struct lane *lane = lane_at(packer, i);

		lane_init(lane, at, packer->found[i].string_room);
		at += lane_bytes(lane, packer->found[i].string_room);
	}
	return true;
}

/*
 * A hostile program may have changed the text since the scan: what counts is what we copy, within the room of the scan, of which there are whole words.
 * Copied and hashed in one go: paths are too short for the great functions that do one of these each.
 */
static size_t deal_text(const struct lane *lane, const unsigned char *text, const unsigned char *end, uint64_t *ret_hash)
{
	size_t room = (size_t)(lane->end_text - lane->next_text);
	uint64_t hash = 0, factor = 0x9e3779b97f4a7c15, word, nul; /* as in row_hash(), no product waits for another */

	room = room < (size_t)(end - text) ? room : (size_t)(end - text);
	for (size_t at = 0; at + sizeof(word) <= room; at += sizeof(word), factor += 0x3c6ef372fe94f82a) {
		memcpy(&word, text + at, sizeof(word));
		nul = nul_bytes(word);
		if (nul)
			word &= ((nul & -nul) >> 7) - 1; /* what stands before the first one */
		memcpy(lane->next_text + at, &word, sizeof(word));
		hash += (word ^ word >> 32) * factor;
		if (!nul)
			continue;
		*ret_hash = hash;
		return at + (unsigned int)__builtin_ctzll(nul) / 8;
	}
	*ret_hash = 0;
	return 0;
}

/* The same for what the fields of a program's record refer to. */
static size_t deal_tail(const struct lane *lane, const struct user_slot *user, const unsigned char *payload, const unsigned char *end, uint64_t *ret_hash)
{
	const unsigned char *tail = payload + 8 * (size_t)lane->nr_words;
	size_t room = (size_t)(lane->end_text - lane->next_text);
	int length = tail_length(user, payload, (size_t)(end - payload));

	if (length < 0 || (size_t)length > room || length > end - tail)
		length = 0;
	memcpy(lane->next_text, tail, (size_t)length);
	*ret_hash = XXH3_64bits(lane->next_text, (size_t)length);
	return (size_t)length;
}

static void deal_strings(struct lane *lane, const struct user_slot *user, const unsigned char *records, const unsigned char *end, const uint32_t *payloads, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		const unsigned char *payload = records + 8 * (size_t)payloads[i], *ahead = records + 8 * (size_t)payloads[i + TEXTS_AHEAD < nr ? i + TEXTS_AHEAD : i];
		uint64_t hash;
		size_t length = user ? deal_tail(lane, user, payload, end, &hash) : deal_text(lane, payload + 8 * (size_t)lane->nr_words, end, &hash);

		__builtin_prefetch(ahead); /* as lane_add() does */
		__builtin_prefetch(ahead + 64);
		lane_add_string(lane, payload, length, hash);
	}
}

static void deal_some(const struct packer *packer, uint32_t place, const uint32_t *payloads, size_t nr)
{
	const unsigned char *records = packer->source->records, *end = records + packer->source->bytes;
	const struct found *found = &packer->found[place];
	struct lane *lane = lane_at(packer, place);

	if (lane->has_string)
		deal_strings(lane, found->user, records, end, payloads, nr);
	else if (found->slot == TRACE_EV_sys_enter3 || found->slot == TRACE_EV_sys_enter6)
		lane_add_calls(lane, records, payloads, nr, &packer->packing->args);
	else
		lane_add(lane, records, payloads, nr);
}

/* Type by type, because looking at many of one size is quick. */
static void deal(const struct packer *packer)
{
	for (uint32_t i = 0; i < packer->nr_types; i++) {
		const uint32_t *list = packer->lists + (size_t)packer->found[i].list * LIST_ENTRIES;
		size_t left = packer->found[i].count;

		for (; left > LIST_ENTRIES - 1; left -= LIST_ENTRIES - 1) {
			deal_some(packer, i, list + 1, LIST_ENTRIES - 1);
			list = packer->lists + (size_t)list[0] * LIST_ENTRIES;
		}
		deal_some(packer, i, list + 1, left);
	}
}

/* ---- columns ---- */

static size_t texts_bytes(const struct packer *packer)
{
	size_t bytes = 0;

	for (uint32_t i = 0; i < packer->nr_types; i++)
		bytes += (size_t)(lane_at(packer, i)->next_text - lane_at(packer, i)->texts);
	return bytes;
}

static size_t block_bound(const struct packer *packer)
{
	size_t bytes = sizeof(struct trace_columns_header) + sizeof(struct trace_columns_times) + packer->nr + times_bound(packer->nr);

	for (uint32_t i = 0; i < packer->nr_types; i++)
		bytes += sizeof(struct trace_columns_type) + lane_bound(lane_at(packer, i));
	return bytes + texts_bytes(packer);
}

static unsigned char *put_types(unsigned char *at, const struct packer *packer)
{
	for (uint32_t i = 0; i < packer->nr_types; i++) {
		const struct lane *lane = lane_at(packer, i);
		bool repeats = lane->nr_rows < lane->nr_events;
		struct trace_columns_type type = { .id = packer->found[i].type->id,
						   .words = lane->nr_words,
						   .flags = (lane->has_string ? TRACE_COLUMNS_STRING : 0) | (repeats ? TRACE_COLUMNS_INDEXES : 0),
						   .events = lane->nr_events,
						   .payloads = lane->nr_rows };

		at = mempcpy(at, &type, sizeof(type));
	}
	return at;
}

static unsigned char *put_texts(unsigned char *at, const struct packer *packer)
{
	for (uint32_t i = 0; i < packer->nr_types; i++) {
		const struct lane *lane = lane_at(packer, i);

		if (lane->has_string)
			at = mempcpy(at, lane->texts, (size_t)(lane->next_text - lane->texts));
	}
	return at;
}

/* The head is filled in when the times are. */
static unsigned char *put_columns(unsigned char *at, const struct packer *packer)
{
	at += sizeof(struct trace_columns_header) + sizeof(struct trace_columns_times);
	at = put_types(at, packer);
	at = mempcpy(at, packer->ids, packer->nr);
	for (uint32_t i = 0; i < packer->nr_types; i++)
		at = lane_put(lane_at(packer, i), at, packer->scratch);
	return put_texts(at, packer);
}

/* With room for columns of @most bytes. */
static struct trace_packed *packed_new(struct packing *packing, size_t most)
{
	struct trace_packed *packed;
	size_t room = most + most / 4;

	pthread_mutex_lock(&packing->lock);
	packed = packing->spares;
	if (packed) {
		packing->spares = packed->next;
		packing->nr_spares--;
	}
	pthread_mutex_unlock(&packing->lock);
	if (packed && packed->room >= most) {
		room = packed->room;
	} else {
		free(packed);
		packed = malloc(sizeof(*packed) + room);
	}
	if (packed)
		*packed = (struct trace_packed){ .room = room };
	return packed;
}

void packing_recycle(struct packing *packing, struct trace_packed *packed)
{
	while (packed) {
		struct trace_packed *next = packed->next;

		pthread_mutex_lock(&packing->lock);
		if (packed->room && packing->nr_spares < PACKING_SPARES) {
			packed->next = packing->spares;
			packing->spares = packed;
			packing->nr_spares++;
			packed = NULL;
		}
		pthread_mutex_unlock(&packing->lock);
		free(packed);
		packed = next;
	}
}

static struct trace_packed *block_put(struct packer *packer, uint64_t first_ns)
{
	struct trace_columns_header head = { .events = (uint32_t)packer->nr, .nr_types = packer->nr_types, .first_ns = first_ns, .string_bytes = (uint32_t)texts_bytes(packer) };
	struct times_block times_block = { .times = packer->times, .places = packer->ids, .n = packer->nr, .nr_types = packer->nr_types, .scratch = packer->scratch };
	struct trace_packed *packed = packed_new(packer->packing, block_bound(packer));
	unsigned char *times_at, *codes_at, *end;
	struct trace_columns_times times;
	uint32_t events[MAX_TYPES];

	if (!packed)
		return NULL;
	for (uint32_t i = 0; i < packer->nr_types; i++) {
		uint32_t id = packer->found[i].slot < TRACE_EV_USER ? packer->found[i].slot : TRACE_EV_USER;

		events[i] = packer->found[i].count;
		packed->header.ids[id / 64] |= 1ULL << (id % 64);
	}
	times_at = put_columns(packed->raw, packer);
	times_block.events = events;
	end = times_encode(times_at, &times_block, &packer->packing->clock, &times, &codes_at);
	memcpy(mempcpy(packed->raw, &head, sizeof(head)), &times, sizeof(times));
	packed->bytes = (size_t)(end - packed->raw);
	packed->header.raw_bytes = (uint32_t)packed->bytes;
	packed->texts_at = (uint32_t)(times_at - packed->raw) - head.string_bytes;
	packed->codes_at = (uint32_t)(codes_at - packed->raw);
	return packed;
}

static uint64_t missed_total(const struct packer *packer)
{
	const struct lane *lane = &packer->lanes[TRACE_EV_trace_missed];
	uint64_t missed = 0;

	_Static_assert(offsetof(struct trace_trace_missed, count) == 0, "the count is the first word");
	if (packer->places[TRACE_EV_trace_missed] == NO_PLACE)
		return 0;
	for (size_t i = 0; i < lane->nr_events; i++)
		missed += lane->rows[(size_t)lane->rows_of[i] * lane->nr_words];
	return missed;
}

/* ---- the block ---- */

static struct trace_packed *pack_empty(void)
{
	return calloc(1, sizeof(struct trace_packed));
}

static struct trace_packed *pack_columns(struct packer *packer)
{
	struct trace_packed *packed;
	uint64_t first_ns = packer->source->base_ns + packer->times[0], last_ns = packer->source->base_ns + packer->times[packer->nr - 1];

	if (!deal_prepare(packer))
		return NULL;
	deal(packer);
	packed = block_put(packer, first_ns);
	if (!packed)
		return NULL;
	packed->header.first_ns = first_ns;
	packed->header.last_ns = last_ns;
	packed->header.missed = missed_total(packer);
	return packed;
}

static void pack_identify(struct trace_packed *packed, const struct packer *packer)
{
	const struct trace_source *source = packer->source;
	struct trace_chunk_header *header = &packed->header;

	header->kind = source->kind;
	header->encoding = TRACE_ENCODING_COLUMNS;
	header->stream = source->stream;
	header->cpu = source->cpu;
	header->seq = source->seq;
	header->lost_cause = source->lost_cause;
	header->events = (uint32_t)packer->nr;
	header->lost_inside = packer->lost_inside;
	packed->lost_total = source->lost_total;
}

/* The records from packer->begin on that fit one chunk. */
static struct trace_packed *pack_chunk(struct packer *packer)
{
	struct trace_packed *packed;

	scan(packer);
	if (packer->unsorted && !sort(packer))
		return NULL;
	packed = packer->nr ? pack_columns(packer) : pack_empty();
	if (packed)
		pack_identify(packed, packer);
	return packed;
}

/* Ready for the records behind those of the chunk before. */
static void packer_go_on(struct packer *packer)
{
	packer->begin = packer->end;
	packer->nr = 0;
	packer->lost_inside = 0;
	packer->nr_moves = 0;
	packer->unsorted = false;
	packer->nr_types = 0;
	packer->nr_lists = 0;
	packer->nr_user = 0;
	memset(packer->places, NO_PLACE, sizeof(packer->places));
	memset(packer->least_words, 0xff, sizeof(packer->least_words));
	memset(packer->table, 0, sizeof(packer->table));
}

static struct trace_packed *pack_all(struct packer *packer)
{
	struct trace_packed *first = NULL, **next = &first, *last = NULL;
	uint64_t found = 0;

	while (!first || packer->end < packer->source->bytes / 8) {
		packer_go_on(packer);
		last = *next = pack_chunk(packer);
		if (!last)
			return trace_packed_free(first);
		found += packer->nr + packer->lost_inside;
		next = &last->next;
	}
	if (packer->source->nr_records > found)
		last->header.lost_inside += (uint32_t)(packer->source->nr_records - found);
	return first;
}

/* ---- packers ---- */

void packing_init(struct packing *packing)
{
	*packing = (struct packing){ 0 };
	syscall_args_init(&packing->args);
	pthread_mutex_init(&packing->lock, NULL);
	pthread_mutex_init(&packing->clock.lock, NULL);
}

static void packer_free(struct packer *packer)
{
	for (unsigned int i = 0; i < NR_MEMORIES; i++)
		memory_release(&packer->memory[i]);
	free(packer);
}

void packing_release(struct packing *packing)
{
	packing->spares = trace_packed_free(packing->spares);
	while (packing->free) {
		struct packer *packer = packing->free;

		packing->free = packer->next_free;
		packer_free(packer);
	}
	free(packing->ready);
	pthread_mutex_destroy(&packing->lock);
	pthread_mutex_destroy(&packing->clock.lock);
}

static struct packer *packer_take(struct packing *packing)
{
	struct packer *packer;

	pthread_mutex_lock(&packing->lock);
	packer = packing->free;
	if (packer)
		packing->free = packer->next_free;
	pthread_mutex_unlock(&packing->lock);
	return packer ? packer : calloc(1, sizeof(*packer));
}

static void packer_give_back(struct packing *packing, struct packer *packer)
{
	pthread_mutex_lock(&packing->lock);
	packer->next_free = packing->free;
	packing->free = packer;
	pthread_mutex_unlock(&packing->lock);
}

/* A record has at least 8 bytes. */
static bool packer_reserve(struct packer *packer)
{
	size_t most = packer->source->bytes / 8 + 1;

	packer->times = memory_get(packer, MEMORY_EVENTS, most * (4 + 1));
	packer->ids = (unsigned char *)(packer->times + most);
	packer->scratch = memory_get(packer, MEMORY_SCRATCH, most * 8);
	return lists_reserve(packer, most) && packer->times && packer->scratch;
}

/* What a block takes is asked of those who will take it, and then put where it is ready. Without memory the blocks will ask for theirs. */
static void packer_prepare(struct packing *packing, struct packer *packer, size_t block_bytes)
{
	struct trace_source source = { .bytes = block_bytes };
	size_t bytes = 0;
	unsigned char *at;

	packer->source = &source;
	packer->packing = packing;
	if (!packer_reserve(packer) || !memory_get(packer, MEMORY_LANES, LANES_USUALLY * block_bytes))
		return;
	for (unsigned int i = 0; i < NR_MEMORIES; i++)
		bytes += (packer->memory[i].room + 63) & ~(size_t)63;
	packing->ready = at = pages_ready(bytes);
	for (unsigned int i = 0; at && i < NR_MEMORIES; i++) {
		size_t room = packer->memory[i].room;

		memory_release(&packer->memory[i]);
		packer->memory[i] = (struct memory){ .data = at, .room = room, .is_ready = true };
		at += (room + 63) & ~(size_t)63;
	}
}

void packing_prepare(struct packing *packing, size_t block_bytes)
{
	struct packer *packer = packer_take(packing);
	struct trace_packed *spares[PACKING_SPARES];

	if (!packer)
		return;
	packer_prepare(packing, packer, block_bytes);
	packer_give_back(packing, packer);
	for (unsigned int i = 0; i < PACKING_SPARES; i++) {
		spares[i] = packed_new(packing, block_bytes);
		if (spares[i])
			pages_populate(spares[i], block_bytes / PACKED_USUALLY);
	}
	for (unsigned int i = 0; i < PACKING_SPARES; i++)
		packing_recycle(packing, spares[i]);
}

struct trace_packed *trace_writer_pack(struct trace_writer *writer, const struct trace_source *source, struct trace_error *ret_error)
{
	struct packing *packing = writer_packing(writer);
	struct packer *packer;
	struct trace_packed *packed = NULL;

	if (source->bytes > TRACE_RAW_MAX || (source->kind != TRACE_CHUNK_EVENTS && source->kind != TRACE_CHUNK_START_STATE)) {
		error_set(ret_error, -EINVAL, "a block of %zu bytes and kind %u cannot be packed: at most %u bytes of events or start state",
			  source->bytes, source->kind, TRACE_RAW_MAX);
		return NULL;
	}
	packer = packer_take(packing);
	if (packer) {
		packer->source = source;
		packer->schema = writer_schema(writer);
		packer->packing = packing;
		packer->end = 0;
		packed = packer_reserve(packer) ? pack_all(packer) : NULL;
		packer_give_back(packing, packer);
	}
	if (!packed)
		error_set(ret_error, -ENOMEM, "no memory to pack a block of %zu bytes", source->bytes);
	return packed;
}

struct trace_packed *trace_packed_free(struct trace_packed *packed)
{
	while (packed) {
		struct trace_packed *next = packed->next;

		free(packed);
		packed = next;
	}
	return NULL;
}

size_t trace_packed_bytes(const struct trace_packed *packed)
{
	size_t bytes = 0;

	for (; packed; packed = packed->next)
		bytes += sizeof(*packed) + packed->bytes;
	return bytes;
}
