/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * pack.c - the records of a sub-buffer become the columns of a chunk.
 *
 * 1. scan:    walk the records in the order they were reserved, check each, note its time and place. Nested writers may
 *             be slightly out of order: one that was interrupted carries the earlier time but may lie behind.
 * 2. sort:    by time, and by place where times are equal. Nearly sorted is the rule, so insertion comes first.
 * 3. deal:    go through them in time order; ids, times, and each type's payloads go to arrays of their own.
 * 4. columns: each array becomes byte planes (columns.c).
 *
 * Producers of user space are not trusted: nothing here relies on what a record says before it is checked, and each
 * header is read once, because the memory may still be changing.
 *
 * Within a block a type is known by its slot: events of the catalogue have their id's, those of programs the next free one
 * from TRACE_EV_MAX on. When there are too many types for one chunk, the rest of the records becomes another one.
 */
#include "pack.h"

#include "columns.h"
#include "error.h"
#include "schema.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <trace/user_memory.h>

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

/**
 * struct packer - the work in progress on one block
 * @keys: one per record: time since the base << 32 | place, in 8-byte words << KEY_SLOT_BITS | slot. Sorting them sorts the records
 * @begin, @end: the records of this chunk, in 8-byte words
 * @count: by slot. @string_room: by slot, bytes that the strings of its records may have
 * @table: slots of programs' types by a hash of their id; 0: free
 */
struct packer {
	const struct trace_source *source;
	const struct schema *schema; /* of programs */
	size_t begin;
	size_t end;
	uint64_t *keys;	 /* owned */
	uint64_t *sorted; /* owned; room for a merge, then the times */
	size_t nr;
	uint32_t lost_inside;
	bool unsorted;
	uint32_t count[NR_SLOTS];
	uint32_t string_room[NR_SLOTS];
	uint32_t nr_user;
	uint16_t table[SLOT_TABLE_SIZE];
	struct user_slot user[NR_SLOTS - TRACE_EV_MAX];
};

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

/* The string of a record of @bytes payload bytes: its length, or -1 when no NUL ends it. */
static int string_length(const unsigned char *text, size_t bytes)
{
	const unsigned char *nul = memchr(text, 0, bytes);

	return nul ? (int)(nul - text) : -1;
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
	return !type->has_string || string_length(payload + type->fixed_bytes, bytes - type->fixed_bytes) >= 0;
}

static void scan(struct packer *packer)
{
	const struct trace_event_type *const *types = catalogue_types();
	const unsigned char *records = packer->source->records;
	size_t nr_words = packer->source->bytes / 8, at;
	uint32_t base = (uint32_t)packer->source->base_ns, latest = 0;
	struct trace_record record;

	for (at = packer->begin; at < nr_words; at += record.words) {
		const struct trace_event_type *type;
		uint32_t time, slot;

		memcpy(&record, records + at * 8, sizeof(record));
		if (record.words == 0 || record.words > nr_words - at)
			at = nr_words;
		if (at == nr_words)
			break;
		if (record.id == TRACE_EV_padding)
			continue;
		slot = record.id < TRACE_EV_MAX ? record.id : user_slot_find(packer, record.id);
		if (slot == NR_SLOTS)
			break;
		type = slot < TRACE_EV_MAX ? types[slot] : packer->user[slot - TRACE_EV_MAX].type;
		if (!record_is_good(packer, slot, type, records + at * 8 + 8, (record.words - 1u) * 8)) {
			packer->lost_inside++;
			continue;
		}
		time = record.time - base;
		packer->keys[packer->nr++] = (uint64_t)time << 32 | at << KEY_SLOT_BITS | slot;
		packer->count[slot]++;
		packer->string_room[slot] += (record.words - 1u) * 8 - type->fixed_bytes;
		packer->unsorted |= time < latest;
		latest = time;
	}
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

/**
 * struct lane - one type's payloads in time order, word by word: all first words, all second words ...
 * @next: where the first word of the next payload goes. @lengths, @texts: of the strings
 */
struct lane {
	uint64_t *words;
	uint64_t *next;
	size_t nr_all; /* payloads, and so words from one word to the next */
	uint64_t *lengths;
	unsigned char *texts;
	unsigned char *next_text;
	unsigned char *end_text;
	const struct user_slot *user; /* with references; or NULL */
	uint32_t nr;
	uint8_t nr_words;
	uint8_t place; /* in the block's table of types */
	bool has_string;
};

/** struct dealt - the block, dealt into lanes */
struct dealt {
	struct lane lanes[NR_SLOTS];
	uint16_t slots[MAX_TYPES]; /* by place */
	uint32_t nr_types;
	unsigned char *memory; /* owned */
};

static bool deal_prepare(const struct packer *packer, struct dealt *dealt)
{
	size_t bytes = 8;
	unsigned char *at;

	for (uint32_t slot = 1; slot < TRACE_EV_MAX + packer->nr_user; slot++) {
		const struct trace_event_type *type = slot_type(packer, slot);
		struct lane *lane = &dealt->lanes[slot];

		if (!packer->count[slot])
			continue;
		lane->nr_words = (uint8_t)(type->fixed_bytes / 8);
		lane->has_string = type->has_string;
		lane->place = (uint8_t)dealt->nr_types;
		if (slot >= TRACE_EV_MAX && packer->user[slot - TRACE_EV_MAX].nr_references)
			lane->user = &packer->user[slot - TRACE_EV_MAX];
		dealt->slots[dealt->nr_types++] = (uint16_t)slot;
		bytes += 8 * (size_t)packer->count[slot] * (lane->nr_words + lane->has_string);
		bytes += lane->has_string ? packer->string_room[slot] : 0;
	}
	at = dealt->memory = malloc(bytes);
	if (!at)
		return false;
	for (uint32_t i = 0; i < dealt->nr_types; i++) {
		uint32_t slot = dealt->slots[i];
		struct lane *lane = &dealt->lanes[slot];

		lane->words = lane->next = (uint64_t *)at;
		lane->nr_all = packer->count[slot];
		at += 8 * (size_t)packer->count[slot] * lane->nr_words;
		lane->lengths = (uint64_t *)at;
		at += 8 * (size_t)packer->count[slot] * lane->has_string;
		lane->texts = lane->next_text = at;
		at += lane->has_string ? packer->string_room[slot] : 0; /* a multiple of 8 */
		lane->end_text = at;
	}
	return true;
}

/* A hostile program may have changed the text since the scan: what counts is what we copy, within the room of the scan. */
static void deal_text(struct lane *lane, const unsigned char *text, const unsigned char *end)
{
	size_t room = (size_t)(lane->end_text - lane->next_text);
	unsigned char *copy_end = memccpy(lane->next_text, text, 0, room < (size_t)(end - text) ? room : (size_t)(end - text));
	size_t length = copy_end ? (size_t)(copy_end - lane->next_text) - 1 : 0;

	lane->lengths[lane->nr++] = length;
	lane->next_text += length;
}

/* The same for what the fields of a program's record refer to. */
static void deal_tail(struct lane *lane, const unsigned char *payload, const unsigned char *end)
{
	const unsigned char *tail = payload + 8 * (size_t)lane->nr_words;
	size_t room = (size_t)(lane->end_text - lane->next_text);
	int length = tail_length(lane->user, payload, (size_t)(end - payload));

	if (length < 0 || (size_t)length > room || length > end - tail)
		length = 0;
	memcpy(lane->next_text, tail, (size_t)length);
	lane->lengths[lane->nr++] = (size_t)length;
	lane->next_text += length;
}

static void deal(const struct packer *packer, struct dealt *dealt, unsigned char *ids, uint64_t *times)
{
	const unsigned char *records = packer->source->records, *end = records + packer->source->bytes;
	uint32_t before = (uint32_t)(packer->keys[0] >> 32);

	for (size_t i = 0; i < packer->nr; i++) {
		uint64_t key = packer->keys[i];
		struct lane *lane = &dealt->lanes[key & (NR_SLOTS - 1)];
		const unsigned char *payload = records + (size_t)((uint32_t)key >> KEY_SLOT_BITS) * 8 + 8;
		size_t nr_words = lane->nr_words;

		ids[i] = lane->place;
		times[i] = (uint32_t)(key >> 32) - before;
		before = (uint32_t)(key >> 32);
		for (size_t word = 0; word < nr_words; word++)
			memcpy(&lane->next[word * lane->nr_all], payload + 8 * word, 8);
		lane->next++;
		if (lane->user && lane->has_string)
			deal_tail(lane, payload, end);
		else if (lane->has_string)
			deal_text(lane, payload + 8 * nr_words, end);
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
	size_t bytes = sizeof(struct trace_columns_header) + packer->nr + column_bound(packer->nr);

	for (uint32_t i = 0; i < dealt->nr_types; i++) {
		uint32_t slot = dealt->slots[i];
		const struct lane *lane = &dealt->lanes[slot];

		bytes += sizeof(struct trace_columns_type) + (lane->nr_words + 1u) * column_bound(packer->count[slot]) +
			 (lane->has_string ? packer->string_room[slot] : 0);
	}
	return bytes;
}

static unsigned char *put_head(unsigned char *at, const struct packer *packer, const struct dealt *dealt, uint64_t first_ns)
{
	struct trace_columns_header header = { .events = (uint32_t)packer->nr, .nr_types = dealt->nr_types, .first_ns = first_ns };

	at += sizeof(header); /* filled in when the strings are known */
	memcpy(at - sizeof(header), &header, sizeof(header));
	for (uint32_t i = 0; i < dealt->nr_types; i++) {
		const struct lane *lane = &dealt->lanes[dealt->slots[i]];
		struct trace_columns_type type = { .id = slot_type(packer, dealt->slots[i])->id,
						   .words = lane->nr_words,
						   .flags = lane->has_string,
						   .events = packer->count[dealt->slots[i]] };

		at = mempcpy(at, &type, sizeof(type));
	}
	return at;
}

static unsigned char *put_lane(unsigned char *at, const struct lane *lane)
{
	for (size_t word = 0; word < lane->nr_words; word++)
		at = column_encode(at, lane->words + word * lane->nr_all, lane->nr_all);
	if (lane->has_string)
		at = column_encode(at, lane->lengths, lane->nr_all);
	return at;
}

static unsigned char *put_texts(unsigned char *at, const struct dealt *dealt)
{
	for (uint32_t i = 0; i < dealt->nr_types; i++) {
		const struct lane *lane = &dealt->lanes[dealt->slots[i]];

		at = mempcpy(at, lane->texts, (size_t)(lane->next_text - lane->texts));
	}
	return at;
}

static struct trace_packed *block_put(const struct packer *packer, struct dealt *dealt, uint64_t first_ns)
{
	size_t bound = block_bound(packer, dealt);
	struct trace_packed *packed = malloc(sizeof(*packed) + bound);
	struct trace_columns_header *header;
	unsigned char *at;

	if (!packed)
		return NULL;
	*packed = (struct trace_packed){ .bytes = bound };
	at = put_head(packed->raw, packer, dealt, first_ns);
	deal(packer, dealt, at, packer->sorted);
	at = column_encode(at + packer->nr, packer->sorted, packer->nr);
	for (uint32_t i = 0; i < dealt->nr_types; i++)
		at = put_lane(at, &dealt->lanes[dealt->slots[i]]);
	header = (struct trace_columns_header *)packed->raw;
	header->string_bytes = (uint32_t)texts_bytes(dealt);
	at = put_texts(at, dealt);
	packed->header.raw_bytes = (uint32_t)(at - packed->raw);
	for (uint32_t i = 0; i < dealt->nr_types; i++) {
		uint32_t id = dealt->slots[i] < TRACE_EV_USER ? dealt->slots[i] : TRACE_EV_USER;

		packed->header.ids[id / 64] |= 1ULL << (id % 64);
	}
	return packed;
}

static uint64_t missed_total(const struct packer *packer, const struct dealt *dealt)
{
	const struct lane *lane = &dealt->lanes[TRACE_EV_trace_missed];
	uint64_t missed = 0;

	_Static_assert(offsetof(struct trace_trace_missed, count) == 0, "the count is the first word");
	for (size_t i = 0; i < lane->nr_all; i++)
		missed += lane->words[i];
	return missed;
}

/* ---- the block ---- */

static struct trace_packed *pack_empty(void)
{
	return calloc(1, sizeof(struct trace_packed));
}

static struct trace_packed *pack_columns(struct packer *packer)
{
	struct dealt *dealt = calloc(1, sizeof(*dealt));
	struct trace_packed *packed = NULL;
	uint64_t first_ns = packer->source->base_ns + (packer->keys[0] >> 32);

	if (!dealt)
		return NULL;
	if (deal_prepare(packer, dealt))
		packed = block_put(packer, dealt, first_ns);
	if (packed) {
		packed->header.first_ns = first_ns;
		packed->header.last_ns = packer->source->base_ns + (packer->keys[packer->nr - 1] >> 32);
		packed->header.missed = missed_total(packer, dealt);
	}
	free(dealt->memory);
	free(dealt);
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

struct trace_packed *trace_writer_pack(struct trace_writer *writer, const struct trace_source *source, struct trace_error *ret_error)
{
	struct packer *packer;
	struct trace_packed *packed = NULL;

	if (source->bytes > TRACE_RAW_MAX || (source->kind != TRACE_CHUNK_EVENTS && source->kind != TRACE_CHUNK_START_STATE)) {
		error_set(ret_error, -EINVAL, "a block of %zu bytes and kind %u cannot be packed: at most %u bytes of events or start state",
			  source->bytes, source->kind, TRACE_RAW_MAX);
		return NULL;
	}
	packer = calloc(1, sizeof(*packer));
	if (!packer)
		goto done;
	packer->source = source;
	packer->schema = writer_schema(writer);
	packer->keys = malloc(source->bytes + 8);
	packer->sorted = malloc(source->bytes + 8);
	if (!packer->keys || !packer->sorted)
		goto done;
	packed = pack_all(packer);
done:
	if (!packed)
		error_set(ret_error, -ENOMEM, "no memory to pack a block of %zu bytes", source->bytes);
	if (packer) {
		free(packer->keys);
		free(packer->sorted);
	}
	free(packer);
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
