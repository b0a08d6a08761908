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
 */
#include "pack.h"

#include "columns.h"
#include "error.h"
#include "schema.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/**
 * struct packer - the work in progress on one block
 * @keys: one per record: time since the base << 32 | place, in 8-byte words << 8 | id. Sorting them sorts the records
 * @string_room: by id, bytes that the strings of its records may have
 */
struct packer {
	const struct trace_source *source;
	uint64_t *keys;	 /* owned */
	uint64_t *sorted; /* owned; room for a merge, then the times */
	size_t nr;
	uint32_t lost_inside;
	bool unsorted;
	uint32_t count[TRACE_EV_MAX];
	uint32_t string_room[TRACE_EV_MAX];
};

enum {
	KEY_ID_BITS = 8,
};

/* ---- scan ---- */

/* The string of a record of @bytes payload bytes: its length, or -1 when no NUL ends it. */
static int string_length(const unsigned char *text, size_t bytes)
{
	const unsigned char *nul = memchr(text, 0, bytes);

	return nul ? (int)(nul - text) : -1;
}

static bool record_is_good(const struct trace_event_type *type, const unsigned char *payload, size_t bytes)
{
	if (!type || bytes < type->fixed_bytes)
		return false;
	return !type->has_string || string_length(payload + type->fixed_bytes, bytes - type->fixed_bytes) >= 0;
}

static void scan(struct packer *packer)
{
	const struct trace_event_type *const *types = catalogue_types();
	const unsigned char *records = packer->source->records;
	size_t nr_words = packer->source->bytes / 8, nr_bad = 0;
	uint32_t base = (uint32_t)packer->source->base_ns, latest = 0;
	struct trace_record record;

	for (size_t at = 0; at < nr_words; at += record.words) {
		const struct trace_event_type *type;
		uint32_t time;

		memcpy(&record, records + at * 8, sizeof(record));
		if (record.words == 0 || record.words > nr_words - at)
			break;
		if (record.id == TRACE_EV_padding)
			continue;
		type = record.id < TRACE_EV_MAX ? types[record.id] : NULL;
		if (!record_is_good(type, records + at * 8 + 8, (record.words - 1u) * 8)) {
			nr_bad++;
			continue;
		}
		time = record.time - base;
		packer->keys[packer->nr++] = (uint64_t)time << 32 | at << KEY_ID_BITS | record.id;
		packer->count[record.id]++;
		packer->string_room[record.id] += (record.words - 1u) * 8 - type->fixed_bytes;
		packer->unsorted |= time < latest;
		latest = time;
	}
	if (packer->source->nr_records > packer->nr + nr_bad)
		nr_bad = packer->source->nr_records - packer->nr;
	packer->lost_inside = (uint32_t)nr_bad;
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
	uint32_t nr;
	uint8_t nr_words;
	uint8_t place; /* in the block's table of types */
	bool has_string;
};

/** struct dealt - the block, dealt into lanes */
struct dealt {
	struct lane lanes[TRACE_EV_MAX]; /* by id */
	uint8_t ids[TRACE_EV_MAX];	 /* by place */
	uint32_t nr_types;
	unsigned char *memory; /* owned */
};

static bool deal_prepare(const struct packer *packer, struct dealt *dealt)
{
	size_t bytes = 8;
	unsigned char *at;

	for (uint32_t id = 1; id < TRACE_EV_MAX; id++) {
		const struct trace_event_type *type = catalogue_by_id(id);
		struct lane *lane = &dealt->lanes[id];

		if (!packer->count[id])
			continue;
		lane->nr_words = (uint8_t)(type->fixed_bytes / 8);
		lane->has_string = type->has_string;
		lane->place = (uint8_t)dealt->nr_types;
		dealt->ids[dealt->nr_types++] = (uint8_t)id;
		bytes += 8 * (size_t)packer->count[id] * (lane->nr_words + lane->has_string);
		bytes += lane->has_string ? packer->string_room[id] : 0;
	}
	at = dealt->memory = malloc(bytes);
	if (!at)
		return false;
	for (uint32_t i = 0; i < dealt->nr_types; i++) {
		uint32_t id = dealt->ids[i];
		struct lane *lane = &dealt->lanes[id];

		lane->words = lane->next = (uint64_t *)at;
		lane->nr_all = packer->count[id];
		at += 8 * (size_t)packer->count[id] * lane->nr_words;
		lane->lengths = (uint64_t *)at;
		at += 8 * (size_t)packer->count[id] * lane->has_string;
		lane->texts = lane->next_text = at;
		at += lane->has_string ? packer->string_room[id] : 0; /* a multiple of 8 */
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

static void deal(const struct packer *packer, struct dealt *dealt, unsigned char *ids, uint64_t *times)
{
	const unsigned char *records = packer->source->records, *end = records + packer->source->bytes;
	uint32_t before = (uint32_t)(packer->keys[0] >> 32);

	for (size_t i = 0; i < packer->nr; i++) {
		uint64_t key = packer->keys[i];
		struct lane *lane = &dealt->lanes[key & 0xff];
		const unsigned char *payload = records + (size_t)((uint32_t)key >> KEY_ID_BITS) * 8 + 8;
		size_t nr_words = lane->nr_words;

		ids[i] = lane->place;
		times[i] = (uint32_t)(key >> 32) - before;
		before = (uint32_t)(key >> 32);
		for (size_t word = 0; word < nr_words; word++)
			memcpy(&lane->next[word * lane->nr_all], payload + 8 * word, 8);
		lane->next++;
		if (lane->has_string)
			deal_text(lane, payload + 8 * nr_words, end);
	}
}

/* ---- columns ---- */

static size_t texts_bytes(const struct dealt *dealt)
{
	size_t bytes = 0;

	for (uint32_t i = 0; i < dealt->nr_types; i++) {
		const struct lane *lane = &dealt->lanes[dealt->ids[i]];

		bytes += (size_t)(lane->next_text - lane->texts);
	}
	return bytes;
}

static size_t block_bound(const struct packer *packer, const struct dealt *dealt)
{
	size_t bytes = sizeof(struct trace_columns_header) + packer->nr + column_bound(packer->nr);

	for (uint32_t i = 0; i < dealt->nr_types; i++) {
		uint32_t id = dealt->ids[i];
		const struct lane *lane = &dealt->lanes[id];

		bytes += sizeof(struct trace_columns_type) + (lane->nr_words + 1u) * column_bound(packer->count[id]) +
			 (lane->has_string ? packer->string_room[id] : 0);
	}
	return bytes;
}

static unsigned char *put_head(unsigned char *at, const struct packer *packer, const struct dealt *dealt, uint64_t first_ns)
{
	struct trace_columns_header header = { .events = (uint32_t)packer->nr, .nr_types = dealt->nr_types, .first_ns = first_ns };

	at += sizeof(header); /* filled in when the strings are known */
	memcpy(at - sizeof(header), &header, sizeof(header));
	for (uint32_t i = 0; i < dealt->nr_types; i++) {
		const struct lane *lane = &dealt->lanes[dealt->ids[i]];
		struct trace_columns_type type = { .id = dealt->ids[i],
						   .words = lane->nr_words,
						   .flags = lane->has_string,
						   .events = packer->count[dealt->ids[i]] };

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
		const struct lane *lane = &dealt->lanes[dealt->ids[i]];

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
	packed->header = (struct trace_chunk_header){ 0 };
	packed->bytes = bound;
	at = put_head(packed->raw, packer, dealt, first_ns);
	deal(packer, dealt, at, packer->sorted);
	at = column_encode(at + packer->nr, packer->sorted, packer->nr);
	for (uint32_t i = 0; i < dealt->nr_types; i++)
		at = put_lane(at, &dealt->lanes[dealt->ids[i]]);
	header = (struct trace_columns_header *)packed->raw;
	header->string_bytes = (uint32_t)texts_bytes(dealt);
	at = put_texts(at, dealt);
	packed->header.raw_bytes = (uint32_t)(at - packed->raw);
	for (uint32_t i = 0; i < dealt->nr_types; i++)
		packed->header.ids[dealt->ids[i] / 64] |= 1ULL << (dealt->ids[i] % 64);
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
	packer->keys = malloc(source->bytes + 8);
	packer->sorted = malloc(source->bytes + 8);
	if (!packer->keys || !packer->sorted)
		goto done;
	scan(packer);
	sort_keys(packer);
	packed = packer->nr ? pack_columns(packer) : pack_empty();
	if (packed)
		pack_identify(packed, packer);
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
	free(packed);
	return NULL;
}

size_t trace_packed_bytes(const struct trace_packed *packed)
{
	return sizeof(*packed) + packed->bytes;
}
