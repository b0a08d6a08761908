/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * pack.c - turn the records of a sub-buffer into the columns of a chunk.
 *
 * Terms: a *block* is the records of one sub-buffer. A *lane* holds the payloads of one event type.
 * A *slot* numbers a type within the block; a *type index* numbers it within the chunk.
 *
 * A block is packed in four steps:
 *
 * 1. pack_scan.c: walk the records in the order in which they were reserved. Check each, and note
 *                 its time, its type and its offset. Records may be slightly out of order: a writer
 *                 that was interrupted has the earlier time but may be behind the writer that
 *                 interrupted it. The scan moves such a record to where it belongs.
 * 2. pack_sort.c: sort by time; records with equal times keep their order. Only for blocks that are
 *                 far from sorted.
 * 3. pack_deal.c: copy the payloads of each type to the lane of the type (lane.c).
 * 4. pack.c:      write each lane as byte planes (columns.c), and the times as steps of the clock
 *                 (times.c).
 *
 * Example: switch, wakeup, switch at 100, 150, 210 ns become two lanes (2 switches, 1 wakeup), the
 * type indexes 0, 1, 0 and the times 100, +50, +60.
 *
 * Producers in user space are not trusted. No step uses a field of a record before it is checked,
 * and each header is read once only, because the program may still change the memory.
 *
 * The slot of a type of the catalogue is its event id; types of programs get the next free slot
 * from TRACE_EV_MAX on. The type index is its index in the chunk's list of types. When a block
 * has more types than fit one chunk, the rest of its records goes to another chunk.
 */
#include "pack.h"

#include "error_set.h"
#include "pack_deal.h"
#include "pack_scan.h"
#include "pack_sort.h"
#include "packer.h"
#include "pages.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
	LANES_USUALLY = 2,  /* bytes of lanes per byte of records, usually */
	PACKED_USUALLY = 3, /* bytes of records per byte of columns, usually */
};

/* ---- memory ---- */

static void memory_release(struct packer_buffer *memory)
{
	if (!memory->is_ready)
		free(memory->data);
	*memory = (struct packer_buffer){0};
}

void *packer_memory(struct packer *packer, unsigned int which, size_t bytes)
{
	struct packer_buffer *memory = &packer->memory[which];

	if (bytes <= memory->room)
		return memory->data;
	memory_release(memory);
	memory->data = malloc(bytes + bytes / 4);
	memory->room = memory->data ? bytes + bytes / 4 : 0;
	return memory->data;
}

/*
 * Each piece is aligned to its size. There is room after the last one, too, because lane_add()
 * looks ahead.
 */
static bool lists_reserve(struct packer *packer, size_t max_records)
{
	size_t piece_bytes = LIST_ENTRIES * sizeof(uint32_t), pieces = max_records / (LIST_ENTRIES - 1) + MAX_TYPES + 1;
	unsigned char *memory = packer_memory(packer, MEMORY_LISTS, (pieces + 1) * piece_bytes);

	packer->lists = memory ? (uint32_t *)(memory + (-(uintptr_t)memory & (piece_bytes - 1))) : NULL;
	return memory;
}

/* ---- columns ---- */

/*
 * Codes the lists of addresses of samples. Without memory, or for lists that are none, they are
 * texts.
 */
static void code_stacks(struct packer *packer)
{
	struct lane *lane = &packer->lanes[TRACE_EV_sample];
	struct stacks_rows rows = {.rows = lane->rows,
				   .lengths = lane->lengths,
				   .starts = lane->starts,
				   .texts = lane->texts,
				   .nr = lane->nr_rows};
	void *memory;

	if (packer->idx_by_slot[TRACE_EV_sample] == NO_TYPE)
		return;
	rows.text_bytes = (size_t)(lane->next_text - lane->texts);
	memory = packer_memory(packer, MEMORY_STACKS, stacks_encode_room(&rows));
	if (memory && stacks_encode(&rows, memory, &packer->stacks))
		lane->stacks = &packer->stacks;
}

/* The bytes of strings that are not among the texts. */
static size_t stack_bytes(const struct packer *packer)
{
	const struct lane *lane = &packer->lanes[TRACE_EV_sample];

	return packer->idx_by_slot[TRACE_EV_sample] != NO_TYPE && lane->stacks ? (size_t)(lane->next_text - lane->texts)
									       : 0;
}

static size_t texts_bytes(const struct packer *packer)
{
	size_t bytes = 0;

	for (uint32_t i = 0; i < packer->nr_types; i++)
		bytes += lane_text_bytes(lane_at(packer, i));
	return bytes;
}

static size_t block_bound(const struct packer *packer)
{
	size_t bytes = sizeof(struct trace_columns_header) + sizeof(struct trace_columns_times) + packer->nr +
		       times_bound(packer->nr);

	for (uint32_t i = 0; i < packer->nr_types; i++)
		bytes += sizeof(struct trace_columns_type) + lane_bound(lane_at(packer, i));
	return bytes + texts_bytes(packer) + LETTERS_BYTES;
}

static unsigned char *put_types(unsigned char *at, const struct packer *packer)
{
	for (uint32_t i = 0; i < packer->nr_types; i++) {
		const struct lane *lane = lane_at(packer, i);
		bool repeats = lane->nr_rows < lane->nr_events;
		struct trace_columns_type type = {.id = packer->types[i].type->id,
						  .words = lane->nr_words,
						  .flags = (lane->has_string ? TRACE_COLUMNS_STRING : 0) |
							   (repeats ? TRACE_COLUMNS_INDEXES : 0) |
							   (lane->stacks ? TRACE_COLUMNS_STACKS : 0),
						  .events = lane->nr_events,
						  .payloads = lane->nr_rows};

		at = mempcpy(at, &type, sizeof(type));
	}
	return at;
}

static unsigned char *put_texts(unsigned char *at, const struct packer *packer)
{
	for (uint32_t i = 0; i < packer->nr_types; i++)
		at = lane_put_texts(lane_at(packer, i), at);
	return at;
}

/* block_put() fills in the two headers at the beginning once the times are encoded. */
static unsigned char *put_columns(unsigned char *at, const struct packer *packer)
{
	at += sizeof(struct trace_columns_header) + sizeof(struct trace_columns_times);
	at = put_types(at, packer);
	at = mempcpy(at, packer->type_idxs, packer->nr);
	for (uint32_t i = 0; i < packer->nr_types; i++)
		at = lane_put(lane_at(packer, i), at, packer->scratch);
	return put_texts(at, packer);
}

/* The result has room for columns of at least @min_bytes bytes. */
static struct trace_packed *packed_new(struct packing *packing, size_t min_bytes)
{
	struct trace_packed *packed;
	size_t room = min_bytes + min_bytes / 4;

	pthread_mutex_lock(&packing->lock);
	packed = packing->spares;
	if (packed) {
		packing->spares = packed->next;
		packing->nr_spares--;
	}
	pthread_mutex_unlock(&packing->lock);
	if (packed && packed->room >= min_bytes) {
		room = packed->room;
	} else {
		free(packed);
		packed = malloc(sizeof(*packed) + room);
	}
	if (packed)
		*packed = (struct trace_packed){.room = room};
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

/* Gives the block's events letters in place of types, if any pay. Without memory there are none. */
static void choose_letters(struct packer *packer, struct times_block *block)
{
	size_t room = letters_room(packer->nr);
	unsigned char *memory;

	if (!packer->packing->has_letters)
		return;
	memory = packer_memory(packer, MEMORY_LETTERS, room + packer->nr);
	for (uint32_t i = 0; i < packer->nr_types; i++) {
		const struct lane *lane = lane_at(packer, i);

		packer->letter_types[i] =
			(struct letters_type){.id = block->ids[i],
					      .nr_events = lane->nr_events,
					      .nr_rows = lane->nr_rows,
					      .rows = lane->has_string || !lane->nr_words ? NULL : lane->rows,
					      .stride = lane->nr_words,
					      .rows_of = lane->rows_of};
	}
	if (!memory || !letters_choose(&packer->letters, packer->letter_types, packer->nr_types, packer->type_idxs,
				       packer->nr, memory, memory + room))
		return;
	block->type_idxs = memory + room;
	block->nr_types = packer->letters.nr;
	block->ids = packer->letters.ids;
	block->events = packer->letters.events;
	block->letters = packer->letters.list;
	block->letters_bytes = packer->letters.list_bytes;
}

static struct trace_packed *block_put(struct packer *packer, uint64_t first_ns)
{
	struct trace_columns_header head = {.events = (uint32_t)packer->nr,
					    .nr_types = packer->nr_types,
					    .first_ns = first_ns,
					    .string_bytes = (uint32_t)texts_bytes(packer),
					    .stack_bytes = (uint32_t)stack_bytes(packer)};
	struct times_block times_block = {.times = packer->times,
					  .type_idxs = packer->type_idxs,
					  .n = packer->nr,
					  .nr_types = packer->nr_types,
					  .scratch = packer->scratch};
	struct trace_packed *packed = packed_new(packer->packing, block_bound(packer));
	unsigned char *times_at, *codes_at, *end;
	struct trace_columns_times times;
	uint32_t events[MAX_TYPES];
	uint16_t ids[MAX_TYPES];

	if (!packed)
		return NULL;
	for (uint32_t i = 0; i < packer->nr_types; i++) {
		uint32_t id = packer->types[i].slot < TRACE_EV_USER ? packer->types[i].slot : TRACE_EV_USER;

		events[i] = packer->types[i].count;
		ids[i] = (uint16_t)packer->types[i].type->id;
		packed->header.ids[id / 64] |= 1ULL << (id % 64);
	}
	times_at = put_columns(packed->raw, packer);
	times_block.events = events;
	times_block.ids = ids;
	choose_letters(packer, &times_block);
	end = times_encode(times_at, &times_block, &packer->packing->clock, &packer->packing->times, &times, &codes_at);
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
	if (packer->idx_by_slot[TRACE_EV_trace_missed] == NO_TYPE)
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
	uint64_t first_ns = packer->source->base_ns + packer->times[0],
		 last_ns = packer->source->base_ns + packer->times[packer->nr - 1];

	if (!packer_deal(packer))
		return NULL;
	code_stacks(packer);
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
	header->undecodable = packer->undecodable;
	packed->lost_total = source->lost_total;
}

/* Pack as many records from packer->begin on as fit one chunk. */
static struct trace_packed *pack_chunk(struct packer *packer)
{
	struct trace_packed *packed;

	packer_scan(packer);
	if (packer->unsorted && !packer_sort(packer))
		return NULL;
	packed = packer->nr ? pack_columns(packer) : pack_empty();
	if (packed)
		pack_identify(packed, packer);
	return packed;
}

/* Prepare for the records after those of the previous chunk. */
static void packer_go_on(struct packer *packer)
{
	packer->begin = packer->end;
	packer->nr = 0;
	packer->undecodable = 0;
	packer->nr_moves = 0;
	packer->unsorted = false;
	packer->nr_types = 0;
	packer->nr_lists = 0;
	packer->nr_user = 0;
	memset(packer->idx_by_slot, NO_TYPE, sizeof(packer->idx_by_slot));
	memset(packer->min_words, 0xff, sizeof(packer->min_words));
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
		found += packer->nr + packer->undecodable;
		next = &last->next;
	}
	if (packer->source->nr_records > found)
		last->header.undecodable += (uint32_t)(packer->source->nr_records - found);
	return first;
}

/* ---- packers ---- */

void packing_init(struct packing *packing)
{
	*packing = (struct packing){0};
	syscall_args_init(&packing->args);
	pthread_mutex_init(&packing->lock, NULL);
	pthread_mutex_init(&packing->clock.lock, NULL);
	pthread_mutex_init(&packing->times.lock, NULL);
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
	pthread_mutex_destroy(&packing->times.lock);
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

/* A record has at least 8 bytes, so a block of n bytes has at most n / 8 records. */
static bool packer_reserve(struct packer *packer)
{
	size_t max_records = packer->source->bytes / 8 + 1, scratch_bytes = max_records * 8;

	if (scratch_bytes < times_encode_room(max_records))
		scratch_bytes = times_encode_room(max_records);
	packer->times = packer_memory(packer, MEMORY_EVENTS, max_records * (4 + 1));
	packer->type_idxs = (unsigned char *)(packer->times + max_records);
	packer->scratch = packer_memory(packer, MEMORY_SCRATCH, scratch_bytes);
	if (packer->packing->has_letters)
		packer_memory(packer, MEMORY_LETTERS, letters_room(max_records) + max_records);
	return lists_reserve(packer, max_records) && packer->times && packer->scratch;
}

/*
 * Let the packer reserve what one block of @block_bytes needs, add that up, and move it all into
 * one prefaulted mapping. Best effort: on failure each block allocates its own memory.
 */
static void packer_prepare(struct packing *packing, struct packer *packer, size_t block_bytes)
{
	struct trace_source source = {.bytes = block_bytes};
	size_t bytes = 0;
	unsigned char *at;

	packer->source = &source;
	packer->packing = packing;
	if (!packer_reserve(packer) || !packer_memory(packer, MEMORY_LANES, LANES_USUALLY * block_bytes))
		return;
	for (unsigned int i = 0; i < NR_MEMORIES; i++)
		bytes += (packer->memory[i].room + 63) & ~(size_t)63;
	packing->ready = at = pages_ready(bytes);
	for (unsigned int i = 0; at && i < NR_MEMORIES; i++) {
		size_t room = packer->memory[i].room;

		memory_release(&packer->memory[i]);
		packer->memory[i] = (struct packer_buffer){.data = at, .room = room, .is_ready = true};
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

struct trace_packed *packing_pack(struct packing *packing, const struct schema *schema,
				  const struct trace_source *source, struct trace_error *ret_error)
{
	struct packer *packer;
	struct trace_packed *packed = NULL;

	if (source->bytes > TRACE_RAW_MAX ||
	    (source->kind != TRACE_CHUNK_EVENTS && source->kind != TRACE_CHUNK_START_STATE)) {
		error_set(
			ret_error, -EINVAL,
			"a block of %zu bytes and kind %u cannot be packed: at most %u bytes of events or start state",
			source->bytes, source->kind, TRACE_RAW_MAX);
		return NULL;
	}
	packer = packer_take(packing);
	if (packer) {
		packer->source = source;
		packer->schema = schema;
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
