/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * event_block.c - decodes columns into events.
 *
 * Any program can have written the payload. head_check() first checks the whole head. After it, the
 * sizes of all arrays are known to be within TRACE_RAW_MAX, and only one check remains: each column
 * must end before the payload does. A block of constant columns is short but decodes to many
 * events. So the decoded size has the same maximum as the records that the block came from.
 */
#include "event_block.h"

#include "clones.h"
#include "columns.h"
#include "lane.h"
#include "stacks.h"
#include "times.h"
#include "times_letters.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/**
 * struct block_decoder - one payload that is being decoded
 * @at, @end: the columns that are left
 * @texts, @times: the strings, then the times; both follow the columns
 * @stack_bytes: of the strings of stacks that are not decoded yet
 * @letters: list of the letters of times; NULL: none. @letters_by_type: the letter of each event,
 *	type by type, up to @next_letter; @letter_idxs: in time order; @letters_of_rows: of the
 *	payloads of a type
 */
struct block_decoder {
	struct block *block;
	struct unpack_scratch *tables;
	const struct schema *schema;
	const struct trace_chunk_header *chunk;
	struct trace_columns_header head;
	struct trace_columns_times clock;
	struct trace_columns_type types[TRACE_EV_MAX];
	const unsigned char *at;
	const unsigned char *end;
	const unsigned char *texts;
	const unsigned char *times;
	const unsigned char *times_end;
	size_t stack_bytes;
	const unsigned char *letters;
	unsigned char *letters_by_type;
	unsigned char *next_letter;
	unsigned char *letter_idxs;
	unsigned char *letters_of_rows;
	unsigned char *memory;
	const char *reason;
};

static int malformed(struct block_decoder *decoder, const char *reason)
{
	decoder->reason = reason;
	return -EBADMSG;
}

static size_t round_up_8(size_t bytes)
{
	return (bytes + 7) & ~(size_t)7;
}

/* ---- head ---- */

static int head_type_check(struct block_decoder *decoder, const struct trace_columns_type *disk, size_t *events,
			   size_t *decoded_bytes)
{
	const struct trace_event_type *type = schema_type(decoder->schema, disk->id);

	if (!type)
		return malformed(decoder, "it has an event that the schema does not define");
	if (disk->words * 8u != type->fixed_bytes || (disk->flags & TRACE_COLUMNS_STRING) != type->has_string)
		return malformed(decoder, "the size of an event differs from the schema's");
	if (disk->flags & TRACE_COLUMNS_STACKS && (!type->has_string || disk->words != STACKS_WORDS))
		return malformed(decoder, "it has stacks of an event that has none");
	if (disk->events == 0)
		return malformed(decoder, "it lists an event type that does not occur in it");
	if (disk->payloads == 0 ||
	    (disk->flags & TRACE_COLUMNS_INDEXES ? disk->payloads >= disk->events : disk->payloads != disk->events))
		return malformed(decoder, "it has an impossible number of payloads");
	*events += disk->events;
	*decoded_bytes += (size_t)disk->events * 8u + (size_t)disk->payloads * type->fixed_bytes;
	return 0;
}

static bool type_has_letters(const struct trace_columns_type *type)
{
	return type->words && !(type->flags & TRACE_COLUMNS_STRING);
}

/* The letters of times, if there are any. */
static int letters_check(struct block_decoder *decoder)
{
	size_t begin = 2 * (size_t)decoder->clock.nr_corrections;
	const unsigned char *list = decoder->times + begin;

	if (decoder->clock.coding != TIMES_LETTERS)
		return 0;
	if (decoder->clock.code_bytes < letters_bytes(list[0]) || decoder->head.nr_types + list[0] > LETTERS_MAX)
		return malformed(decoder, "it has an impossible number of letters");
	for (unsigned int i = 0; i < list[0]; i++) {
		struct letter letter = letter_at(list, i);

		/* a type that does not exist has no payloads */
		if (letter.row >= decoder->types[letter.type].payloads ||
		    !type_has_letters(&decoder->types[letter.type]))
			return malformed(decoder, "it has a letter of a payload that does not exist");
	}
	decoder->letters = list;
	return 0;
}

/* The strings and the times are at the end of the payload. The head says how long they are. */
static int tail_check(struct block_decoder *decoder)
{
	size_t room = (size_t)(decoder->end - decoder->at), string_bytes = decoder->head.string_bytes;
	uint64_t clock_bytes = times_bytes(&decoder->clock);

	if (string_bytes > room || clock_bytes > room - string_bytes)
		return malformed(decoder, "it is shorter than its strings and times");
	decoder->times_end = decoder->end;
	decoder->times = decoder->end - clock_bytes;
	decoder->texts = decoder->times - string_bytes;
	decoder->end = decoder->texts;
	return letters_check(decoder);
}

static int head_check(struct block_decoder *decoder)
{
	size_t room = (size_t)(decoder->end - decoder->at), events = 0, decoded_bytes = 0, types_bytes;
	int error;

	if (room < sizeof(decoder->head) + sizeof(decoder->clock))
		return malformed(decoder, "it is shorter than its head");
	memcpy(&decoder->head, decoder->at, sizeof(decoder->head));
	decoder->at += sizeof(decoder->head);
	memcpy(&decoder->clock, decoder->at, sizeof(decoder->clock));
	decoder->at += sizeof(decoder->clock);
	room -= sizeof(decoder->head) + sizeof(decoder->clock);
	if (decoder->head.events != decoder->chunk->events || decoder->head.first_ns != decoder->chunk->first_ns)
		return malformed(decoder, "its head and the chunk's header differ");
	if (decoder->head.events == 0 || decoder->head.events > TRACE_CHUNK_EVENTS_MAX || decoder->head.nr_types == 0 ||
	    decoder->head.nr_types >= TRACE_EV_MAX)
		return malformed(decoder, "it has an impossible number of events");
	types_bytes = decoder->head.nr_types * sizeof(struct trace_columns_type);
	if (types_bytes > room)
		return malformed(decoder, "it is shorter than its head");
	memcpy(decoder->types, decoder->at, types_bytes);
	decoder->at += types_bytes;
	for (uint32_t i = 0; i < decoder->head.nr_types; i++) {
		error = head_type_check(decoder, &decoder->types[i], &events, &decoded_bytes);
		if (error)
			return error;
	}
	if (events != decoder->head.events)
		return malformed(decoder, "its events do not add up");
	if (decoded_bytes + decoder->head.string_bytes + decoder->head.stack_bytes > TRACE_RAW_MAX)
		return malformed(decoder, "its events are larger than the format allows");
	decoder->stack_bytes = decoder->head.stack_bytes;
	return tail_check(decoder);
}

/* ---- memory ---- */

static void memory_give(struct block *block)
{
	if (block->pool)
		pool_give(block->pool, block->memory, block->memory_room);
	else
		free(block->memory);
	block->memory = NULL;
	block->memory_room = 0;
}

static bool memory_grow(struct block *block, size_t bytes)
{
	if (bytes <= block->memory_room)
		return true;
	memory_give(block); /* its content is no longer needed */
	if (block->pool)
		block->memory = pool_take(block->pool, bytes, &block->memory_room);
	else
		block->memory = malloc(block->memory_room = bytes + bytes / 4);
	if (!block->memory)
		block->memory_room = 0;
	return block->memory;
}

/*
 * Types, times and type indexes; then for each type the position of each event's payload, and the
 * payloads. A type with strings needs its payloads twice, their sizes and lengths, and room for the
 * texts.
 */
static size_t memory_needed(const struct block_decoder *decoder)
{
	size_t bytes = decoder->head.nr_types * sizeof(struct block_type) + 8 * (size_t)decoder->head.events +
		       round_up_8(decoder->head.events);

	for (uint32_t i = 0; i < decoder->head.nr_types; i++) {
		const struct trace_columns_type *disk = &decoder->types[i];
		size_t nr = disk->payloads, payload_bytes = nr * disk->words * 8u;

		bytes += round_up_8(4 * (size_t)disk->events) + payload_bytes;
		if (disk->flags & TRACE_COLUMNS_STRING)
			bytes += payload_bytes + nr * (8 + 8 + 8);
	}
	if (decoder->letters) /* of the events, twice, and of the payloads of a type */
		bytes += 3 * round_up_8(decoder->head.events);
	return bytes + round_up_8(decoder->head.string_bytes) + round_up_8(decoder->head.stack_bytes);
}

static void *take(struct block_decoder *decoder, size_t bytes)
{
	void *memory = decoder->memory;

	decoder->memory += round_up_8(bytes);
	return memory;
}

/* ---- ids and times ---- */

/*
 * Counts in four tables in turn: incrementing one counter twice in a row would have to wait for the
 * first increment.
 */
static void count_types(const unsigned char *type_idxs, uint32_t nr, uint32_t *ret_count)
{
	uint32_t count[4][TRACE_EV_MAX] = {0}, i = 0;

	for (; i + 4 <= nr; i += 4)
		for (unsigned int k = 0; k < 4; k++)
			count[k][type_idxs[i + k]]++;
	for (; i < nr; i++)
		count[0][type_idxs[i]]++;
	for (unsigned int type = 0; type < TRACE_EV_MAX; type++)
		ret_count[type] = count[0][type] + count[1][type] + count[2][type] + count[3][type];
}

static int decode_type_idxs(struct block_decoder *decoder)
{
	uint32_t nr = decoder->head.events, count[TRACE_EV_MAX];

	if ((size_t)(decoder->end - decoder->at) < nr)
		return malformed(decoder, "it ends within the ids");
	decoder->block->type_idxs = memcpy(take(decoder, nr), decoder->at, nr);
	count_types(decoder->at, nr, count);
	for (uint32_t i = 0; i < decoder->head.nr_types; i++)
		if (count[i] != decoder->types[i].events)
			return malformed(decoder, "its ids do not add up");
	decoder->at += nr;
	return 0;
}

static void take_letters(struct block_decoder *decoder)
{
	decoder->letters_by_type = decoder->next_letter = take(decoder, decoder->head.events);
	decoder->letter_idxs = take(decoder, decoder->head.events);
	decoder->letters_of_rows = take(decoder, decoder->head.events);
}

/* From the letters type by type to those in time order. */
static void letters_in_order(struct block_decoder *decoder)
{
	const unsigned char *next[TRACE_EV_MAX], *at = decoder->letters_by_type;
	unsigned char *out = decoder->letter_idxs;

	for (uint32_t i = 0; i < decoder->head.nr_types; i++) {
		next[i] = at;
		at += decoder->types[i].events;
	}
	for (uint32_t i = 0; i < decoder->head.events; i++)
		out[i] = *next[decoder->block->type_idxs[i]]++;
}

static int decode_times(struct block_decoder *decoder)
{
	uint32_t nr = decoder->head.events, events[TRACE_EV_MAX];
	uint64_t *ts_ns = take(decoder, 8 * (size_t)nr);
	struct times_block block = {
		.type_idxs = decoder->block->type_idxs, .events = events, .n = nr, .nr_types = decoder->head.nr_types};

	if (decoder->letters) {
		letters_in_order(decoder);
		block.type_idxs = decoder->letter_idxs;
		block.nr_types += decoder->letters[0];
		block.letters = decoder->letters;
		block.letters_bytes = letters_bytes(decoder->letters[0]);
	}

	if (!scratch_grow(decoder->tables, times_decode_room(nr)))
		return -ENOMEM;
	block.scratch = decoder->tables->memory;
	for (uint32_t i = 0; i < decoder->head.nr_types; i++)
		events[i] = decoder->types[i].events;
	decoder->block->ts_ns = ts_ns;
	if (!times_decode(decoder->times, decoder->times_end, &decoder->clock, &block, decoder->head.first_ns, ts_ns))
		return malformed(decoder, "its times are not ascending, or end too early");
	if (ts_ns[nr - 1] != decoder->chunk->last_ns)
		return malformed(decoder, "its times and the chunk's header differ");
	return 0;
}

/* ---- payloads ---- */

/* Decodes the words of each payload, @stride words apart. */
static int decode_fixed(struct block_decoder *decoder, const struct trace_columns_type *disk, uint64_t *words,
			size_t stride)
{
	for (size_t word = 0; word < disk->words; word++)
		if (!column_decode(&decoder->at, decoder->end, words + word, word ? words + word - 1 : NULL, stride,
				   disk->payloads))
			return malformed(decoder, "it ends within the fields");
	return 0;
}

static inline uint32_t position_of(const struct block_decoder *decoder, const void *payload)
{
	return (uint32_t)((uint64_t)((const unsigned char *)payload - decoder->block->memory) / 8);
}

/* Decodes payloads without strings. @ret_positions: the position of each. */
static int decode_plain(struct block_decoder *decoder, const struct trace_columns_type *disk, uint32_t *ret_positions)
{
	uint64_t *words = take(decoder, (size_t)disk->payloads * disk->words * 8);
	uint32_t position = position_of(decoder, words);

	for (uint32_t i = 0; i < disk->payloads; i++)
		ret_positions[i] = position + i * disk->words;
	return decode_fixed(decoder, disk, words, disk->words);
}

/*
 * Decodes payloads with strings: writes size, fixed part, text and NUL of each payload one after
 * the other, aligned to 8 bytes.
 */
static int decode_strings(struct block_decoder *decoder, const struct trace_columns_type *disk, uint32_t *ret_positions)
{
	size_t nr = disk->payloads, fixed_bytes = disk->words * 8u;
	uint64_t *fixed = take(decoder, nr * fixed_bytes), *lengths = take(decoder, nr * 8), size;
	unsigned char *out;

	if (decode_fixed(decoder, disk, fixed, disk->words) < 0)
		return -EBADMSG;
	if (!column_decode(&decoder->at, decoder->end, lengths, NULL, 1, nr))
		return malformed(decoder, "it ends within the lengths of strings");
	out = decoder->memory;
	for (size_t i = 0; i < nr; i++) {
		size_t room;

		if (lengths[i] > (size_t)(decoder->times - decoder->texts))
			return malformed(decoder, "its strings are longer than the payload");
		size = fixed_bytes + lengths[i] + 1;
		room = round_up_8(size);
		out = mempcpy(out, &size, 8);
		ret_positions[i] = position_of(decoder, out);
		memcpy(out, (unsigned char *)fixed + i * fixed_bytes, fixed_bytes);
		memcpy(out + fixed_bytes, decoder->texts, lengths[i]);
		memset(out + fixed_bytes + lengths[i], 0, room - fixed_bytes - lengths[i]);
		decoder->texts += lengths[i];
		out += room;
	}
	decoder->memory = out;
	return 0;
}

/* The words and the list of the next stack, at @out. */
static int decode_stack(struct block_decoder *decoder, struct stacks_reader *stacks, uint64_t first, unsigned char *out)
{
	uint64_t words[STACKS_WORDS] = {first}, size;
	size_t bytes;

	if (!stacks_next(stacks, first, out + 8 + sizeof(words), decoder->stack_bytes, &words[1], &bytes))
		return malformed(decoder, "it has a stack that is none");
	decoder->stack_bytes -= bytes;
	words[0] = stacks_unfold_first(first, words[1]);
	size = sizeof(words) + bytes + 1;
	memcpy(mempcpy(out, &size, 8), words, sizeof(words));
	memset(out + 8 + sizeof(words) + bytes, 0, 8);
	return 0;
}

/* The same for payloads that are stacks: the words but the first, and the strings, are coded. */
static int decode_stacks(struct block_decoder *decoder, const struct trace_columns_type *disk, void *memory,
			 uint32_t *ret_positions)
{
	uint64_t *first = take(decoder, (size_t)disk->payloads * 8), size;
	struct stacks_reader stacks;
	unsigned char *out;

	if (!column_decode(&decoder->at, decoder->end, first, NULL, 1, disk->payloads))
		return malformed(decoder, "it ends within the fields");
	if (!stacks_open(&stacks, &decoder->at, decoder->end, &decoder->texts, decoder->times, disk->payloads, memory))
		return malformed(decoder, "it ends within the stacks");
	out = decoder->memory;
	for (uint32_t i = 0; i < disk->payloads; i++) {
		if (decode_stack(decoder, &stacks, first[i], out) < 0)
			return -EBADMSG;
		ret_positions[i] = position_of(decoder, out + 8);
		memcpy(&size, out, 8);
		out += 8 + round_up_8(size);
	}
	decoder->memory = out;
	return 0;
}

/*
 * Joins the byte planes of the events' payload numbers. A type with one payload has no planes.
 * Returns the highest number.
 */
TRACE_CLONES static uint32_t join_planes(const unsigned char *planes, unsigned int nr_planes, size_t nr,
					 uint32_t *ret_indexes)
{
	uint32_t highest = 0;

	memset(ret_indexes, 0, 4 * nr);
	for (unsigned int plane = 0; plane < nr_planes; plane++)
		for (size_t i = 0; i < nr; i++)
			ret_indexes[i] |= (uint32_t)planes[plane * nr + i] << (8 * plane);
	for (size_t i = 0; i < nr; i++)
		highest = highest > ret_indexes[i] ? highest : ret_indexes[i];
	return highest;
}

/* Has a letter a payload of this type? */
static bool is_in_letters(const struct block_decoder *decoder, uint8_t type_idx)
{
	for (unsigned int i = 0; i < decoder->letters[0]; i++)
		if (letter_at(decoder->letters, i).type == type_idx)
			return true;
	return false;
}

/*
 * The letters of the events of a type. @words: of its payloads. @rows_of: the payload of each
 * event; NULL: each has its own.
 */
static int decode_letters(struct block_decoder *decoder, uint8_t type_idx, const uint64_t *words,
			  const uint32_t *rows_of)
{
	const struct trace_columns_type *disk = &decoder->types[type_idx];
	unsigned char *out = decoder->next_letter, *of_rows = rows_of ? decoder->letters_of_rows : out;

	decoder->next_letter += disk->events;
	if (!is_in_letters(decoder, type_idx)) {
		memset(out, type_idx, disk->events);
		return 0;
	}
	if (!letters_of_rows(decoder->letters, decoder->head.nr_types, type_idx, words, disk->words, disk->payloads,
			     of_rows))
		return malformed(decoder, "it has two letters for the same payloads");
	for (uint32_t i = 0; rows_of && i < disk->events; i++)
		out[i] = of_rows[rows_of[i]];
	return 0;
}

static int decode_indexes(struct block_decoder *decoder, const struct trace_columns_type *disk, uint32_t *ret_indexes)
{
	unsigned int nr_planes = lane_index_planes(disk->payloads);
	size_t nr = disk->events;

	if ((size_t)(decoder->end - decoder->at) < nr_planes * nr)
		return malformed(decoder, "it ends within the numbers of payloads");
	if (join_planes(decoder->at, nr_planes, nr, ret_indexes) >= disk->payloads)
		return malformed(decoder, "it refers to a payload that does not exist");
	decoder->at += nr_planes * nr;
	return 0;
}

/* Scratch memory: positions of payloads that events have the numbers of, then what stacks need. */
static bool type_reserve(struct block_decoder *decoder, const struct trace_columns_type *disk, uint32_t **positions,
			 void **ret_stacks)
{
	size_t bytes = disk->flags & TRACE_COLUMNS_INDEXES ? round_up_8(4 * (size_t)disk->payloads) : 0, all = bytes;

	if (disk->flags & TRACE_COLUMNS_STACKS)
		all += stacks_decode_room((size_t)(decoder->times - decoder->texts));
	if (all && !scratch_grow(decoder->tables, all))
		return false;
	if (bytes)
		*positions = (uint32_t *)decoder->tables->memory;
	*ret_stacks = all ? decoder->tables->memory + bytes : NULL;
	return true;
}

static int decode_type(struct block_decoder *decoder, uint8_t type_idx, struct block_type *type)
{
	const struct trace_columns_type *disk = &decoder->types[type_idx];
	uint32_t *of_events = take(decoder, 4 * (size_t)disk->events), *positions = of_events;
	void *memory;
	int error;

	if (!type_reserve(decoder, disk, &positions, &memory))
		return -ENOMEM;
	*type = (struct block_type){.next = of_events,
				    .end = of_events + disk->events,
				    .memory = decoder->block->memory,
				    .sizes = (unsigned char *)&type->fixed_bytes,
				    .type = schema_type(decoder->schema, disk->id),
				    .id = disk->id,
				    .fixed_bytes = disk->words * 8u};
	if (disk->flags & TRACE_COLUMNS_STRING) {
		type->sizes = decoder->block->memory;
		type->sizes_mask = SIZE_MAX;
		error = disk->flags & TRACE_COLUMNS_STACKS ? decode_stacks(decoder, disk, memory, positions)
							   : decode_strings(decoder, disk, positions);
	} else {
		error = decode_plain(decoder, disk, positions);
	}
	if (!error && positions != of_events)
		error = decode_indexes(decoder, disk, of_events);
	if (!error && decoder->letters)
		error = decode_letters(decoder, type_idx, (uint64_t *)decoder->block->memory + positions[0],
				       positions != of_events ? of_events : NULL);
	for (uint32_t i = 0; positions != of_events && !error && i < disk->events; i++)
		of_events[i] = positions[of_events[i]];
	return error;
}

static int decode_types(struct block_decoder *decoder)
{
	int error = 0;

	for (uint32_t i = 0; !error && i < decoder->head.nr_types; i++)
		error = decode_type(decoder, (uint8_t)i, &decoder->block->types[i]);
	return error;
}

int block_decode(struct block *block, struct unpack_scratch *tables, const struct schema *schema,
		 const struct trace_chunk_header *header, const unsigned char *raw, const char **ret_reason)
{
	struct block_decoder decoder = {.block = block,
					.tables = tables,
					.schema = schema,
					.chunk = header,
					.at = raw,
					.end = raw + header->raw_bytes};
	int error = head_check(&decoder);

	block->at = block->nr = 0;
	block->decoded_bytes = error ? 0 : memory_needed(&decoder);
	if (!error && !memory_grow(block, block->decoded_bytes))
		return -ENOMEM;
	decoder.memory = block->memory;
	if (!error) {
		block->nr_types = decoder.head.nr_types;
		block->types = take(&decoder, block->nr_types * sizeof(*block->types));
		error = decode_type_idxs(&decoder);
	}
	if (!error && decoder.letters)
		take_letters(&decoder);
	if (!error)
		error = decode_types(&decoder);
	if (!error)
		error = decode_times(&decoder); /* after the types, of which letters need the payloads */
	if (!error && (decoder.at != decoder.end || decoder.texts != decoder.times || decoder.stack_bytes))
		error = malformed(&decoder, "it has bytes after its last column");
	if (error)
		*ret_reason = decoder.reason;
	else
		block->nr = decoder.head.events;
	return error;
}

void block_release(struct block *block)
{
	memory_give(block);
	*block = (struct block){.pool = block->pool};
}
