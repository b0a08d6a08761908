/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * pack.c - the records of a sub-buffer become the columns of a chunk.
 *
 * 1. scan:    walk the records in the order they were reserved, check each, note its time and place. Nested writers may
 *             be slightly out of order: one that was interrupted carries the earlier time but may lie behind.
 * 2. sort:    by time, and by place where times are equal. Nearly sorted is the rule, so insertion comes first.
 * 3. deal:    go through them in time order; ids, times, and each type's payloads go to lanes of their own (lane.c).
 * 4. columns: each lane becomes byte planes (columns.c), and the times steps of the clock (times.c).
 *
 * Producers of user space are not trusted: nothing here relies on what a record says before it is checked, and each
 * header is read once, because the memory may still be changing.
 *
 * Within a block a type is known by its slot: events of the catalogue have their id's, those of programs the next free one
 * from TRACE_EV_MAX on. When there are too many types for one chunk, the rest of the records becomes another one.
 */
#include "pack.h"

#include "clones.h"
#include "error.h"
#include "lane.h"
#include "schema.h"
#include "times.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <trace/user_memory.h>
#include <xxhash.h>

enum {
	KEY_SLOT_BITS = 9,
	NR_SLOTS = 1 << KEY_SLOT_BITS,
	MAX_TYPES = 255,	/* of a chunk */
	MAX_REFERENCES = 32,	/* of a type; more are not followed */
	SLOT_TABLE_SIZE = 1024, /* a power of two, and never full */
};

/** struct user_slot - a type of a program in this block. @references: offsets in the payload */
struct user_slot {
	const struct trace_event_type *type;
	uint16_t nr_references;
	uint16_t references[MAX_REFERENCES];
};

/** struct memory - kept for the next block: fresh memory costs a page fault and the clearing of each page, half of all of packing */
struct memory {
	void *data; /* owned */
	size_t room;
};

enum {
	MEMORY_KEYS,
	MEMORY_SORTED,
	MEMORY_LANES,
	MEMORY_COLUMNS,
	NR_MEMORIES,
};

/** struct dealt - the block, dealt into lanes. @users: by slot, how to find the end of a program's payload; NULL: it has no references */
struct dealt {
	struct lane lanes[NR_SLOTS];
	uint8_t places[NR_SLOTS]; /* in the block's table of types */
	const struct user_slot *users[NR_SLOTS];
	uint16_t slots[MAX_TYPES]; /* by place */
	uint32_t nr_types;
	unsigned char *ids; /* of the events: places */
	uint32_t *times;    /* since the first event */
};

/**
 * struct packer - the work in progress on one block
 * @keys: one per record: time since the base << 32 | place, in 8-byte words << KEY_SLOT_BITS | slot. Sorting them sorts the records
 * @begin, @end: the records of this chunk, in 8-byte words
 * @count: by slot. @string_room: by slot, bytes that the strings of its records may have
 * @table: slots of programs' types by a hash of their id; 0: free
 * @least_words: of records of the catalogue without strings; of others, more than any record has
 */
struct packer {
	struct packer *next_free;
	const struct trace_source *source;
	const struct schema *schema; /* of programs */
	struct clock_model *clock;
	const struct syscall_args *args;
	struct memory memory[NR_MEMORIES];
	size_t begin;
	size_t end;
	uint64_t *keys;	  /* in its memory */
	uint64_t *sorted; /* in its memory; room for a merge, then for one column */
	size_t nr;
	uint32_t lost_inside;
	bool unsorted;
	uint32_t count[NR_SLOTS];
	uint32_t string_room[NR_SLOTS];
	uint32_t nr_user;
	uint16_t table[SLOT_TABLE_SIZE];
	uint16_t least_words[TRACE_EV_MAX];
	struct user_slot user[NR_SLOTS - TRACE_EV_MAX];
	struct dealt dealt; /* what is of slots that do not occur is of an earlier block */
};

/* Its content is lost. NULL: there is no memory. */
static void *memory_get(struct packer *packer, unsigned int which, size_t bytes)
{
	struct memory *memory = &packer->memory[which];

	if (bytes <= memory->room)
		return memory->data;
	free(memory->data);
	memory->data = malloc(bytes + bytes / 4);
	memory->room = memory->data ? bytes + bytes / 4 : 0;
	return memory->data;
}

/* ---- slots ---- */

static const struct trace_event_type *slot_type(const struct packer *packer, uint32_t slot)
{
	return slot < TRACE_EV_MAX ? catalogue_by_id(slot) : packer->user[slot - TRACE_EV_MAX].type;
}

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

/* ---- scan ---- */

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

/* The slot of a record that may have a string, be padding or be bad: 0 when it has none; NR_SLOTS when it belongs to the next chunk. */
static __attribute__((noinline)) uint32_t scan_slot(struct packer *packer, uint32_t id, const unsigned char *payload, size_t bytes)
{
	uint32_t slot = id < TRACE_EV_MAX ? id : user_slot_find(packer, id);
	const struct trace_event_type *type;

	if (slot == NR_SLOTS || id == TRACE_EV_padding)
		return slot;
	type = slot < TRACE_EV_MAX ? catalogue_types()[slot] : packer->user[slot - TRACE_EV_MAX].type;
	if (!record_is_good(packer, slot, type, payload, bytes)) {
		packer->lost_inside++;
		return 0;
	}
	packer->string_room[slot] += (uint32_t)bytes - type->fixed_bytes;
	return slot;
}

/*
 * Where the next record is depends on this one's header: nothing else here may stand in the way of that. One comparison tells the records of
 * the catalogue that need no look at their payload from all others.
 */
TRACE_CLONES static void scan(struct packer *packer)
{
	const unsigned char *records = packer->source->records;
	size_t nr_words = packer->source->bytes / 8, at, nr = 0;
	uint32_t base = (uint32_t)packer->source->base_ns, latest = 0, unsorted = 0, words;
	uint32_t *count = packer->count;
	const uint16_t *least_words = packer->least_words;
	uint64_t *keys = packer->keys;

	for (at = packer->begin; at < nr_words; at += words) {
		struct trace_record record;
		uint32_t time, slot;

		memcpy(&record, records + at * 8, sizeof(record));
		words = record.words;
		if (words - 1u >= nr_words - at) { /* 0, too */
			at = nr_words;
			break;
		}
		slot = record.id;
		if (__builtin_expect(slot >= TRACE_EV_MAX || words < least_words[slot], 0)) {
			slot = scan_slot(packer, slot, records + at * 8 + 8, (words - 1u) * 8);
			if (slot == 0)
				continue;
			if (slot == NR_SLOTS)
				break;
		}
		time = record.time - base;
		keys[nr++] = (uint64_t)time << 32 | at << KEY_SLOT_BITS | slot;
		count[slot]++;
		unsorted |= time < latest;
		latest = time;
	}
	packer->nr = nr;
	packer->unsorted = unsorted;
	packer->end = at;
}

/* ---- sort ---- */

/* Insertion; gives up, and returns false, after as many moves as a merge would cost. */
static bool sort_insertion(uint64_t *keys, size_t nr)
{
	size_t moves = 0, limit = 16 * nr + 64;

	for (size_t i = 1; i < nr; i++) {
		uint64_t key = keys[i];
		size_t j = i;

		for (; j > 0 && keys[j - 1] > key; j--)
			keys[j] = keys[j - 1];
		keys[j] = key;
		moves += i - j;
		if (moves > limit)
			return false;
	}
	return true;
}

static void merge(const uint64_t *from, uint64_t *to, size_t begin, size_t middle, size_t end)
{
	size_t a = begin, b = middle;

	for (size_t i = begin; i < end; i++)
		to[i] = b >= end || (a < middle && from[a] <= from[b]) ? from[a++] : from[b++];
}

static void sort_keys(struct packer *packer)
{
	uint64_t *from = packer->keys, *to = packer->sorted;

	if (!packer->unsorted || sort_insertion(from, packer->nr))
		return;
	for (size_t width = 1; width < packer->nr; width *= 2) {
		uint64_t *swap = from;

		for (size_t begin = 0; begin < packer->nr; begin += 2 * width) {
			size_t middle = begin + width < packer->nr ? begin + width : packer->nr;
			size_t end = middle + width < packer->nr ? middle + width : packer->nr;

			merge(from, to, begin, middle, end);
		}
		from = to;
		to = swap;
	}
	packer->keys = from;
	packer->sorted = to;
}

/* ---- deal ---- */

static void dealt_add_type(const struct packer *packer, struct dealt *dealt, uint32_t slot)
{
	const struct trace_event_type *type = slot_type(packer, slot);

	dealt->lanes[slot] = (struct lane){ .nr_events = packer->count[slot],
					    .nr_words = (uint8_t)(type->fixed_bytes / 8),
					    .has_string = type->has_string };
	dealt->places[slot] = (uint8_t)dealt->nr_types;
	dealt->users[slot] = NULL;
	if (slot >= TRACE_EV_MAX && packer->user[slot - TRACE_EV_MAX].nr_references)
		dealt->users[slot] = &packer->user[slot - TRACE_EV_MAX];
	dealt->slots[dealt->nr_types++] = (uint16_t)slot;
}

static bool deal_prepare(struct packer *packer)
{
	struct dealt *dealt = &packer->dealt;
	size_t bytes = (packer->nr + 7) / 8 * 8 * (1 + 4);
	unsigned char *at;

	dealt->nr_types = 0;
	for (uint32_t slot = 1; slot < TRACE_EV_MAX + packer->nr_user; slot++) {
		if (!packer->count[slot])
			continue;
		dealt_add_type(packer, dealt, slot);
		bytes += lane_bytes(&dealt->lanes[slot], packer->string_room[slot]);
	}
	at = memory_get(packer, MEMORY_LANES, bytes);
	if (!at)
		return false;
	for (uint32_t i = 0; i < dealt->nr_types; i++) {
		struct lane *lane = &dealt->lanes[dealt->slots[i]];
		size_t room = packer->string_room[dealt->slots[i]];

		lane_init(lane, at, room);
		at += lane_bytes(lane, room);
	}
	dealt->times = (uint32_t *)at;
	dealt->ids = at + (packer->nr + 7) / 8 * 8 * 4;
	return true;
}

/*
 * A hostile program may have changed the text since the scan: what counts is what we copy, within the room of the scan, of which there are whole words.
 * Copied and hashed in one go: paths are too short for the great functions that do one of these each.
 */
static size_t deal_text(const struct lane *lane, const unsigned char *text, const unsigned char *end, uint64_t *ret_hash)
{
	size_t room = (size_t)(lane->end_text - lane->next_text);
	uint64_t hash = 0, word, nul;

	room = room < (size_t)(end - text) ? room : (size_t)(end - text);
	for (size_t at = 0; at + sizeof(word) <= room; at += sizeof(word)) {
		memcpy(&word, text + at, sizeof(word));
		nul = nul_bytes(word);
		if (nul)
			word &= ((nul & -nul) >> 7) - 1; /* what stands before the first one */
		memcpy(lane->next_text + at, &word, sizeof(word));
		hash = (hash ^ word) * 0x9e3779b97f4a7c15;
		hash ^= hash >> 32;
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

static void deal_strings(struct lane *lane, const struct user_slot *user, const unsigned char *records, const unsigned char *end)
{
	for (size_t i = 0; i < lane->nr_events; i++) {
		const unsigned char *payload = records + 8 * (size_t)lane->rows_of[i];
		uint64_t hash;
		size_t length = user ? deal_tail(lane, user, payload, end, &hash) : deal_text(lane, payload + 8 * (size_t)lane->nr_words, end, &hash);

		lane_add_string(lane, i, payload, length, hash);
	}
}

TRACE_CLONES static void deal_keys(const struct packer *packer, struct dealt *dealt)
{
	const uint64_t *keys = packer->keys;
	uint32_t first = (uint32_t)(keys[0] >> 32), *times = dealt->times, *next[NR_SLOTS];
	unsigned char *ids = dealt->ids;
	size_t nr = packer->nr;

	for (uint32_t i = 0; i < dealt->nr_types; i++)
		next[dealt->slots[i]] = dealt->lanes[dealt->slots[i]].rows_of;
	for (size_t i = 0; i < nr; i++) {
		uint32_t slot = keys[i] & (NR_SLOTS - 1);

		ids[i] = dealt->places[slot];
		times[i] = (uint32_t)(keys[i] >> 32) - first;
		*next[slot]++ = ((uint32_t)keys[i] >> KEY_SLOT_BITS) + 1;
	}
}

/* First where each type's payloads are, then type by type, because looking at many of one size is quick. */
static void deal(const struct packer *packer, struct dealt *dealt)
{
	const unsigned char *records = packer->source->records, *end = records + packer->source->bytes;

	deal_keys(packer, dealt);
	for (uint32_t i = 0; i < dealt->nr_types; i++) {
		uint32_t slot = dealt->slots[i];

		if (dealt->lanes[slot].has_string)
			deal_strings(&dealt->lanes[slot], dealt->users[slot], records, end);
		else if (slot == TRACE_EV_sys_enter3 || slot == TRACE_EV_sys_enter6)
			lane_fill_calls(&dealt->lanes[slot], records, packer->args);
		else
			lane_fill(&dealt->lanes[slot], records);
	}
}

/* ---- columns ---- */

static size_t texts_bytes(const struct dealt *dealt)
{
	size_t bytes = 0;

	for (uint32_t i = 0; i < dealt->nr_types; i++) {
		const struct lane *lane = &dealt->lanes[dealt->slots[i]];

		bytes += (size_t)(lane->next_text - lane->texts);
	}
	return bytes;
}

static size_t block_bound(const struct packer *packer, const struct dealt *dealt)
{
	size_t bytes = sizeof(struct trace_columns_header) + sizeof(struct trace_columns_times) + packer->nr + times_bound(packer->nr);

	for (uint32_t i = 0; i < dealt->nr_types; i++)
		bytes += sizeof(struct trace_columns_type) + lane_bound(&dealt->lanes[dealt->slots[i]]);
	return bytes + texts_bytes(dealt);
}

static unsigned char *put_types(unsigned char *at, const struct packer *packer, const struct dealt *dealt)
{
	for (uint32_t i = 0; i < dealt->nr_types; i++) {
		const struct lane *lane = &dealt->lanes[dealt->slots[i]];
		bool repeats = lane->nr_rows < lane->nr_events;
		struct trace_columns_type type = { .id = slot_type(packer, dealt->slots[i])->id,
						   .words = lane->nr_words,
						   .flags = (lane->has_string ? TRACE_COLUMNS_STRING : 0) | (repeats ? TRACE_COLUMNS_INDEXES : 0),
						   .events = lane->nr_events,
						   .payloads = lane->nr_rows };

		at = mempcpy(at, &type, sizeof(type));
	}
	return at;
}

static unsigned char *put_texts(unsigned char *at, const struct dealt *dealt)
{
	for (uint32_t i = 0; i < dealt->nr_types; i++) {
		const struct lane *lane = &dealt->lanes[dealt->slots[i]];

		if (lane->has_string)
			at = mempcpy(at, lane->texts, (size_t)(lane->next_text - lane->texts));
	}
	return at;
}

/* The head is filled in when the times are. */
static unsigned char *put_columns(unsigned char *at, const struct packer *packer, const struct dealt *dealt)
{
	at += sizeof(struct trace_columns_header) + sizeof(struct trace_columns_times);
	at = put_types(at, packer, dealt);
	at = mempcpy(at, dealt->ids, packer->nr);
	for (uint32_t i = 0; i < dealt->nr_types; i++)
		at = lane_put(&dealt->lanes[dealt->slots[i]], at, packer->sorted);
	return put_texts(at, dealt);
}

static struct trace_packed *packed_new(const unsigned char *raw, size_t bytes)
{
	struct trace_packed *packed = malloc(sizeof(*packed) + bytes);

	if (!packed)
		return NULL;
	*packed = (struct trace_packed){ .bytes = bytes, .header.raw_bytes = (uint32_t)bytes };
	memcpy(packed->raw, raw, bytes);
	return packed;
}

static struct trace_packed *block_put(struct packer *packer, struct dealt *dealt, uint64_t first_ns)
{
	struct trace_columns_header head = { .events = (uint32_t)packer->nr, .nr_types = dealt->nr_types, .first_ns = first_ns };
	unsigned char *raw = memory_get(packer, MEMORY_COLUMNS, block_bound(packer, dealt)), *times_at, *codes_at, *end;
	struct trace_columns_times times;
	struct trace_packed *packed;
	uint32_t events[MAX_TYPES];

	if (!raw)
		return NULL;
	head.string_bytes = (uint32_t)texts_bytes(dealt);
	times_at = put_columns(raw, packer, dealt);
	for (uint32_t i = 0; i < dealt->nr_types; i++)
		events[i] = dealt->lanes[dealt->slots[i]].nr_events;
	end = times_encode(times_at, &(struct times_block){ .times = dealt->times, .places = dealt->ids, .events = events, .n = packer->nr, .nr_types = dealt->nr_types, .scratch = packer->sorted },
			   packer->clock, &times, &codes_at);
	memcpy(mempcpy(raw, &head, sizeof(head)), &times, sizeof(times));
	packed = packed_new(raw, (size_t)(end - raw));
	if (!packed)
		return NULL;
	packed->codes_at = (uint32_t)(codes_at - raw);
	for (uint32_t i = 0; i < dealt->nr_types; i++) {
		uint32_t id = dealt->slots[i] < TRACE_EV_USER ? dealt->slots[i] : TRACE_EV_USER;

		packed->header.ids[id / 64] |= 1ULL << (id % 64);
	}
	return packed;
}

static uint64_t missed_total(const struct packer *packer)
{
	const struct lane *lane = &packer->dealt.lanes[TRACE_EV_trace_missed];
	uint64_t missed = 0;

	_Static_assert(offsetof(struct trace_trace_missed, count) == 0, "the count is the first word");
	for (size_t i = 0; i < packer->count[TRACE_EV_trace_missed]; i++)
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
	uint64_t first_ns = packer->source->base_ns + (packer->keys[0] >> 32);

	if (!deal_prepare(packer))
		return NULL;
	deal(packer, &packer->dealt);
	packed = block_put(packer, &packer->dealt, first_ns);
	if (!packed)
		return NULL;
	packed->header.first_ns = first_ns;
	packed->header.last_ns = packer->source->base_ns + (packer->keys[packer->nr - 1] >> 32);
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
	sort_keys(packer);
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
	packer->unsorted = false;
	packer->nr_user = 0;
	memset(packer->count, 0, sizeof(packer->count));
	memset(packer->string_room, 0, sizeof(packer->string_room));
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
		free(packer->memory[i].data);
	free(packer);
}

void packing_release(struct packing *packing)
{
	while (packing->free) {
		struct packer *packer = packing->free;

		packing->free = packer->next_free;
		packer_free(packer);
	}
	pthread_mutex_destroy(&packing->lock);
	pthread_mutex_destroy(&packing->clock.lock);
}

static struct packer *packer_new(void)
{
	struct packer *packer = calloc(1, sizeof(*packer));

	for (uint32_t id = 0; packer && id < TRACE_EV_MAX; id++) {
		const struct trace_event_type *type = catalogue_types()[id];

		packer->least_words[id] = type && !type->has_string && id != TRACE_EV_padding ? (uint16_t)(1 + type->fixed_bytes / 8) : UINT16_MAX;
	}
	return packer;
}

static struct packer *packer_take(struct packing *packing)
{
	struct packer *packer;

	pthread_mutex_lock(&packing->lock);
	packer = packing->free;
	if (packer)
		packing->free = packer->next_free;
	pthread_mutex_unlock(&packing->lock);
	return packer ? packer : packer_new();
}

static void packer_give_back(struct packing *packing, struct packer *packer)
{
	pthread_mutex_lock(&packing->lock);
	packer->next_free = packing->free;
	packing->free = packer;
	pthread_mutex_unlock(&packing->lock);
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
		packer->clock = &packing->clock;
		packer->args = &packing->args;
		packer->end = 0;
		packer->keys = memory_get(packer, MEMORY_KEYS, source->bytes + 8);
		packer->sorted = memory_get(packer, MEMORY_SORTED, source->bytes + 8);
		packed = packer->keys && packer->sorted ? pack_all(packer) : NULL;
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
