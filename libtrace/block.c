/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * block.c - columns back into events.
 *
 * The payload comes from a file that anybody may have written. The head is checked first, as a whole: after head_check()
 * the sizes of all arrays are known to be within TRACE_RAW_MAX, and what remains to be checked is that each column ends
 * before the payload does. A block of constant columns is short and stands for many events: that is why the decoded size has
 * the same maximum as the records it came from.
 */
#include "block.h"

#include "columns.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/**
 * struct decoder - one payload on its way
 * @at, @end: what is left of it; @texts, @texts_end: of the strings, at its end
 */
struct decoder {
	struct block *block;
	const struct schema *schema;
	const struct trace_chunk_header *chunk;
	struct trace_columns_header head;
	struct trace_columns_type types[TRACE_EV_MAX];
	const unsigned char *at;
	const unsigned char *end;
	const unsigned char *texts;
	const unsigned char *texts_end;
	unsigned char *memory;
	const char *reason;
};

static int malformed(struct decoder *decoder, const char *reason)
{
	decoder->reason = reason;
	return -EBADMSG;
}

static size_t round_up_8(size_t bytes)
{
	return (bytes + 7) & ~(size_t)7;
}

/* ---- head ---- */

static int head_type_check(struct decoder *decoder, const struct trace_columns_type *disk, size_t *events, size_t *decoded_bytes)
{
	const struct trace_event_type *type = schema_type(decoder->schema, disk->id);

	if (!type)
		return malformed(decoder, "it has an event that the schema does not define");
	if (disk->words * 8u != type->fixed_bytes || (disk->flags & 1) != type->has_string)
		return malformed(decoder, "it has an event of another size than the schema's");
	if (disk->events == 0)
		return malformed(decoder, "it names an event that does not occur");
	*events += disk->events;
	*decoded_bytes += (size_t)disk->events * (type->fixed_bytes + 8u);
	return 0;
}

static int head_check(struct decoder *decoder)
{
	size_t room = (size_t)(decoder->end - decoder->at), events = 0, decoded_bytes = 0;
	int error;

	if (room < sizeof(decoder->head))
		return malformed(decoder, "it is shorter than its head");
	memcpy(&decoder->head, decoder->at, sizeof(decoder->head));
	room -= sizeof(decoder->head);
	if (decoder->head.events != decoder->chunk->events || decoder->head.first_ns != decoder->chunk->first_ns)
		return malformed(decoder, "its head and the chunk's header differ");
	if (decoder->head.events == 0 || decoder->head.events > TRACE_CHUNK_EVENTS_MAX || decoder->head.nr_types == 0 ||
	    decoder->head.nr_types >= TRACE_EV_MAX)
		return malformed(decoder, "it has an impossible number of events");
	if (decoder->head.nr_types * sizeof(struct trace_columns_type) > room)
		return malformed(decoder, "it is shorter than its head");
	room -= decoder->head.nr_types * sizeof(struct trace_columns_type);
	decoder->at += sizeof(decoder->head);
	memcpy(decoder->types, decoder->at, decoder->head.nr_types * sizeof(struct trace_columns_type));
	decoder->at += decoder->head.nr_types * sizeof(struct trace_columns_type);
	for (uint32_t i = 0; i < decoder->head.nr_types; i++) {
		error = head_type_check(decoder, &decoder->types[i], &events, &decoded_bytes);
		if (error)
			return error;
	}
	if (events != decoder->head.events)
		return malformed(decoder, "its events do not add up");
	if (decoder->head.string_bytes > room || decoded_bytes + decoder->head.string_bytes > TRACE_RAW_MAX)
		return malformed(decoder, "its events are larger than the format allows");
	decoder->texts = decoder->end - decoder->head.string_bytes;
	decoder->texts_end = decoder->end;
	decoder->end = decoder->texts;
	return 0;
}

/* ---- memory ---- */

static bool grow(unsigned char **memory, size_t *room, size_t bytes)
{
	unsigned char *larger;

	if (bytes <= *room)
		return true;
	larger = malloc(bytes + bytes / 4);
	if (!larger)
		return false;
	free(*memory); /* nothing in it is wanted any more */
	*memory = larger;
	*room = bytes + bytes / 4;
	return true;
}

/* Times; then for each type its payloads, and for one with strings: lengths, sizes, and room for the texts. */
static size_t memory_needed(const struct decoder *decoder)
{
	size_t bytes = 8 * (size_t)decoder->head.events;

	for (uint32_t i = 0; i < decoder->head.nr_types; i++) {
		size_t nr = decoder->types[i].events;

		bytes += nr * decoder->types[i].words * 8;
		if (decoder->types[i].flags & 1)
			bytes += nr * 8 + round_up_8(nr * 4) + nr * decoder->types[i].words * 8 + nr * 8;
	}
	return bytes + round_up_8(decoder->head.string_bytes);
}

static void *take(struct decoder *decoder, size_t bytes)
{
	void *memory = decoder->memory;

	decoder->memory += round_up_8(bytes);
	return memory;
}

/* ---- ids and times ---- */

static int decode_places(struct decoder *decoder)
{
	uint32_t nr = decoder->head.events, count[TRACE_EV_MAX] = { 0 };

	if ((size_t)(decoder->end - decoder->at) < nr)
		return malformed(decoder, "it ends within the ids");
	decoder->block->places = decoder->at;
	for (uint32_t i = 0; i < nr; i++)
		count[decoder->at[i]]++;
	for (uint32_t i = 0; i < decoder->head.nr_types; i++)
		if (count[i] != decoder->types[i].events)
			return malformed(decoder, "its ids do not add up");
	decoder->at += nr;
	return 0;
}

static int decode_times(struct decoder *decoder)
{
	uint32_t nr = decoder->head.events;
	uint64_t *ts_ns = take(decoder, 8 * (size_t)nr), now = decoder->head.first_ns, sum = 0;

	decoder->block->ts_ns = ts_ns;
	if (!column_decode(&decoder->at, decoder->end, ts_ns, 1, nr))
		return malformed(decoder, "it ends within the times");
	for (uint32_t i = 0; i < nr; i++) {
		sum |= ts_ns[i];
		now = ts_ns[i] += now;
	}
	if (sum >> 40 || now != decoder->chunk->last_ns || now < decoder->head.first_ns)
		return malformed(decoder, "its times and the chunk's header differ");
	return 0;
}

/* ---- payloads ---- */

static int decode_fixed(struct decoder *decoder, const struct trace_columns_type *disk, uint64_t *words)
{
	for (size_t word = 0; word < disk->words; word++)
		if (!column_decode(&decoder->at, decoder->end, words + word, disk->words, disk->events))
			return malformed(decoder, "it ends within the fields");
	return 0;
}

/* Fixed payload, text and NUL of each event behind each other, at multiples of 8. */
static int decode_strings(struct decoder *decoder, const struct trace_columns_type *disk, struct block_type *type)
{
	size_t nr = disk->events, fixed_bytes = disk->words * 8u;
	unsigned char *fixed = (unsigned char *)type->next, *out;
	uint64_t *lengths = take(decoder, nr * 8);
	uint32_t *sizes = take(decoder, nr * 4);

	if (!column_decode(&decoder->at, decoder->end, lengths, 1, nr))
		return malformed(decoder, "it ends within the lengths of strings");
	out = decoder->memory;
	type->next = out;
	type->size = sizes;
	type->size_step = 1;
	for (size_t i = 0; i < nr; i++) {
		size_t room;

		if (lengths[i] > (size_t)(decoder->texts_end - decoder->texts))
			return malformed(decoder, "its strings are longer than the payload");
		sizes[i] = (uint32_t)(fixed_bytes + lengths[i] + 1);
		room = round_up_8(sizes[i]);
		memcpy(out, fixed + i * fixed_bytes, fixed_bytes);
		memcpy(out + fixed_bytes, decoder->texts, lengths[i]);
		memset(out + fixed_bytes + lengths[i], 0, room - fixed_bytes - lengths[i]);
		decoder->texts += lengths[i];
		out += room;
	}
	decoder->memory = out;
	return 0;
}

static int decode_types(struct decoder *decoder)
{
	int error = 0;

	decoder->block->nr_types = decoder->head.nr_types;
	for (uint32_t i = 0; !error && i < decoder->head.nr_types; i++) {
		const struct trace_columns_type *disk = &decoder->types[i];
		struct block_type *type = &decoder->block->types[i];
		uint64_t *words = take(decoder, (size_t)disk->events * disk->words * 8);

		*type = (struct block_type){ .next = (const unsigned char *)words,
					     .size = &type->fixed_bytes,
					     .type = schema_type(decoder->schema, disk->id),
					     .id = disk->id,
					     .fixed_bytes = disk->words * 8u };
		error = decode_fixed(decoder, disk, words);
		if (!error && (disk->flags & 1))
			error = decode_strings(decoder, disk, type);
	}
	return error;
}

int block_decode(struct block *block, const struct schema *schema, const struct trace_chunk_header *header, const unsigned char *raw,
		 const char **ret_reason)
{
	struct decoder decoder = { .block = block, .schema = schema, .chunk = header, .at = raw, .end = raw + header->raw_bytes };
	int error = head_check(&decoder);

	if (!error && !grow(&block->memory, &block->memory_room, memory_needed(&decoder)))
		return -ENOMEM;
	decoder.memory = block->memory;
	if (!error)
		error = decode_places(&decoder);
	if (!error)
		error = decode_times(&decoder);
	if (!error)
		error = decode_types(&decoder);
	if (!error && (decoder.at != decoder.end || decoder.texts != decoder.texts_end))
		error = malformed(&decoder, "something stands behind its last column");
	if (error)
		*ret_reason = decoder.reason;
	block->at = 0;
	block->nr = error ? 0 : decoder.head.events;
	return error;
}

void block_release(struct block *block)
{
	payload_release(&block->payload);
	free(block->memory);
	*block = (struct block){ 0 };
}
