/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * anonymous.c - chunks with pseudonyms in place of names.
 *
 * In a chunk of events the numbers and times of the events stay as they are. Only the columns of
 * types with names are decoded, changed and encoded again, and all texts are new.
 */
#include "anonymous.h"
#include "anonymous_event.h"
#include "anonymous_names.h"
#include "columns.h"
#include "lane.h"
#include "stacks.h"
#include "writer_chunk.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/**
 * struct rewriting - a chunk of events. @at, @end: the columns that are left; @texts: its strings
 * @stack_bytes: of the strings of stacks that are left
 */
struct rewriting {
	struct anonymous *anonymous;
	const struct schema *schema;
	const unsigned char *at;
	const unsigned char *end;
	const unsigned char *texts;
	const unsigned char *texts_end;
	size_t stack_bytes;
	struct writer_buffer texts_out; /* owned */
};

static int add_to(struct writer_buffer *buffer, const void *data, size_t bytes)
{
	return !bytes || writer_buffer_add(buffer, data, bytes) ? 0 : -ENOMEM;
}

static int add(struct anonymous *anonymous, const void *data, size_t bytes)
{
	return add_to(&anonymous->out, data, bytes);
}

static uint64_t *room_for(struct writer_buffer *buffer, size_t words)
{
	buffer->bytes = 0;
	return writer_buffer_reserve(buffer, words * 8 + 8);
}

static int put_column(struct anonymous *anonymous, const uint64_t *words, size_t nr)
{
	unsigned char *out = writer_buffer_reserve(&anonymous->out, column_bound(nr));

	if (!out)
		return -ENOMEM;
	anonymous->out.bytes += (size_t)(column_encode(out, words, nr) - out);
	return 0;
}

/* Columns without names are copied; they are decoded to find their end. */
static int copy_columns(struct rewriting *rewriting, const struct trace_columns_type *type)
{
	uint64_t *words = room_for(&rewriting->anonymous->words, type->payloads);
	const unsigned char *begin = rewriting->at;

	if (!words)
		return -ENOMEM;
	for (unsigned int i = 0; i < type->words; i++)
		if (!column_decode(&rewriting->at, rewriting->end, words, i ? words : NULL, 1, type->payloads))
			return -EBADMSG;
	return add(rewriting->anonymous, begin, (size_t)(rewriting->at - begin));
}

/* The payload at @words, @stride words apart, and its string at @text. */
static int rewrite_payload(struct rewriting *rewriting, const struct trace_event_type *type, uint64_t *words,
			   size_t stride, const unsigned char *text, uint64_t *length)
{
	struct anonymous *anonymous = rewriting->anonymous;
	uint64_t payload[256];
	size_t nr = type->fixed_bytes / 8;

	for (size_t i = 0; i < nr; i++)
		payload[i] = words[i * stride];
	anonymous->text.bytes = 0;
	anonymous_event(&anonymous->names, type, (unsigned char *)payload, (const char *)text, length ? *length : 0,
			&anonymous->text);
	for (size_t i = 0; i < nr; i++)
		words[i * stride] = payload[i];
	if (!length)
		return 0;
	*length = anonymous->text.bytes;
	return add_to(&rewriting->texts_out, anonymous->text.data, anonymous->text.bytes);
}

/* @nr payloads, whose strings are from *@texts on; @lengths: NULL if the type has none. */
static int rewrite_payloads(struct rewriting *rewriting, const struct trace_event_type *type, size_t nr,
			    uint64_t *words, uint64_t *lengths, const unsigned char **texts)
{
	int error = 0;

	for (size_t i = 0; !error && i < nr; i++) {
		uint64_t length = lengths ? lengths[i] : 0;

		if (length > (size_t)(rewriting->texts_end - *texts) && texts == &rewriting->texts)
			return -EBADMSG;
		error = rewrite_payload(rewriting, type, words + i, nr, *texts, lengths ? lengths + i : NULL);
		*texts += length;
	}
	for (unsigned int i = 0; !error && i < type->fixed_bytes / 8u; i++)
		error = put_column(rewriting->anonymous, words + i * nr, nr);
	return !error && lengths ? put_column(rewriting->anonymous, lengths, nr) : error;
}

static int rewrite_columns(struct rewriting *rewriting, const struct trace_columns_type *disk,
			   const struct trace_event_type *type)
{
	bool has_string = disk->flags & TRACE_COLUMNS_STRING;
	size_t nr = disk->payloads;
	uint64_t *words = room_for(&rewriting->anonymous->words, disk->words * nr),
		 *lengths = room_for(&rewriting->anonymous->lengths, nr);

	if (!words || !lengths)
		return -ENOMEM;
	for (unsigned int i = 0; i < disk->words; i++)
		if (!column_decode(&rewriting->at, rewriting->end, words + i * nr, i ? words + (i - 1) * nr : NULL, 1,
				   nr))
			return -EBADMSG;
	if (has_string && !column_decode(&rewriting->at, rewriting->end, lengths, NULL, 1, nr))
		return -EBADMSG;
	return rewrite_payloads(rewriting, type, nr, words, has_string ? lengths : NULL, &rewriting->texts);
}

/* The words and strings of @nr stacks. */
static int decode_stacks(struct rewriting *rewriting, uint32_t nr, void *memory, uint64_t *words, uint64_t *lengths,
			 unsigned char *lists)
{
	struct stacks_reader stacks;

	if (!column_decode(&rewriting->at, rewriting->end, words, NULL, 1, nr) ||
	    !stacks_open(&stacks, &rewriting->at, rewriting->end, &rewriting->texts, rewriting->texts_end, nr, memory))
		return -EBADMSG;
	for (size_t i = 0; i < nr; i++) {
		uint64_t others[2];
		size_t bytes;

		if (!stacks_next(&stacks, words[i], lists, rewriting->stack_bytes, others, &bytes))
			return -EBADMSG;
		words[i] = stacks_unfold_first(words[i], others[0]);
		words[nr + i] = others[0];
		words[2 * (size_t)nr + i] = others[1];
		lengths[i] = bytes;
		lists += bytes;
		rewriting->stack_bytes -= bytes;
	}
	return 0;
}

/* Stacks become words and strings; the flag of their type is cleared. */
static int rewrite_stacks(struct rewriting *rewriting, const struct trace_columns_type *disk,
			  const struct trace_event_type *type, uint32_t number)
{
	size_t flags_at = sizeof(struct trace_columns_header) + sizeof(struct trace_columns_times) +
			  number * sizeof(*disk) + offsetof(struct trace_columns_type, flags);
	uint64_t *words = room_for(&rewriting->anonymous->words, STACKS_WORDS * (size_t)disk->payloads),
		 *lengths = room_for(&rewriting->anonymous->lengths, disk->payloads);
	void *memory = malloc(stacks_decode_room((size_t)(rewriting->texts_end - rewriting->texts)));
	unsigned char *lists = malloc(rewriting->stack_bytes + 1);
	const unsigned char *texts = lists;
	int error = words && lengths && memory && lists ? 0 : -ENOMEM;

	if (!error)
		error = decode_stacks(rewriting, disk->payloads, memory, words, lengths, lists);
	if (!error)
		error = rewrite_payloads(rewriting, type, disk->payloads, words, lengths, &texts);
	free(memory);
	free(lists);
	rewriting->anonymous->out.data[flags_at] &= (unsigned char)~TRACE_COLUMNS_STACKS;
	return error;
}

static int rewrite_fields(struct rewriting *rewriting, const struct trace_columns_type *disk,
			  const struct trace_event_type *type, uint32_t number)
{
	if (disk->flags & TRACE_COLUMNS_STACKS)
		return type->has_string && disk->words == STACKS_WORDS ? rewrite_stacks(rewriting, disk, type, number)
								       : -EBADMSG;
	return anonymous_has_names(type) ? rewrite_columns(rewriting, disk, type) : copy_columns(rewriting, disk);
}

static int rewrite_type(struct rewriting *rewriting, const struct trace_columns_type *disk, uint32_t number)
{
	const struct trace_event_type *type = schema_type(rewriting->schema, disk->id);
	size_t numbers = disk->flags & TRACE_COLUMNS_INDEXES ? (size_t)lane_index_planes(disk->payloads) * disk->events
							     : 0;
	int error;

	if (!type || type->fixed_bytes != disk->words * 8u ||
	    type->has_string != (disk->flags & TRACE_COLUMNS_STRING) || !disk->payloads ||
	    (uint64_t)disk->payloads * disk->words * 8 > TRACE_RAW_MAX || disk->payloads > TRACE_CHUNK_EVENTS_MAX)
		return -EBADMSG;
	error = rewrite_fields(rewriting, disk, type, number);
	if (error)
		return error;
	if (numbers > (size_t)(rewriting->end - rewriting->at))
		return -EBADMSG;
	rewriting->at += numbers;
	return add(rewriting->anonymous, rewriting->at - numbers, numbers);
}

/* The head, the types and the ids are copied. */
static int rewrite_types(struct rewriting *rewriting, const struct trace_columns_header *head, const unsigned char *raw)
{
	const unsigned char *types = raw + sizeof(*head) + sizeof(struct trace_columns_times);
	size_t bytes = head->nr_types * sizeof(struct trace_columns_type) + head->events;
	int error;

	if (bytes > (size_t)(rewriting->end - types))
		return -EBADMSG;
	rewriting->at = types + bytes;
	error = add(rewriting->anonymous, raw, (size_t)(rewriting->at - raw));
	for (uint32_t i = 0; !error && i < head->nr_types; i++) {
		struct trace_columns_type type;

		memcpy(&type, types + i * sizeof(type), sizeof(type));
		error = rewrite_type(rewriting, &type, i);
	}
	return error;
}

static uint64_t bytes_of_times(const struct trace_columns_times *times)
{
	uint64_t bytes = 2ull * times->nr_corrections + times->code_bytes + 8;

	for (int i = 0; i < TRACE_TIMES_STREAMS; i++)
		bytes += times->bit_bytes[i];
	return bytes;
}

static int events_payload(struct anonymous *anonymous, const struct schema *schema,
			  const struct trace_chunk_header *header, const unsigned char *raw)
{
	struct rewriting rewriting = {.anonymous = anonymous, .schema = schema};
	struct trace_columns_header head;
	struct trace_columns_times times;
	uint64_t tail;
	int error;

	if (header->encoding != TRACE_ENCODING_COLUMNS || header->raw_bytes < sizeof(head) + sizeof(times))
		return -EBADMSG;
	memcpy(&head, raw, sizeof(head));
	memcpy(&times, raw + sizeof(head), sizeof(times));
	tail = bytes_of_times(&times);
	if (tail + head.string_bytes > header->raw_bytes - sizeof(head) - sizeof(times) ||
	    head.stack_bytes > TRACE_RAW_MAX)
		return -EBADMSG;
	rewriting.stack_bytes = head.stack_bytes;
	rewriting.texts_end = raw + header->raw_bytes - tail;
	rewriting.texts = rewriting.end = rewriting.texts_end - head.string_bytes;
	error = rewrite_types(&rewriting, &head, raw);
	if (!error &&
	    (rewriting.at != rewriting.end || rewriting.texts != rewriting.texts_end || rewriting.stack_bytes))
		error = -EBADMSG;
	if (!error)
		error = add(anonymous, rewriting.texts_out.data, rewriting.texts_out.bytes);
	if (!error)
		error = add(anonymous, rewriting.texts_end, tail);
	if (!error) {
		head.string_bytes = (uint32_t)rewriting.texts_out.bytes;
		head.stack_bytes = 0;
		memcpy(anonymous->out.data, &head, sizeof(head));
	}
	free(rewriting.texts_out.data);
	return error;
}

int anonymous_payload(struct anonymous *anonymous, const struct schema *schema, const struct trace_chunk_header *header,
		      const unsigned char *raw)
{
	int error = 0;

	anonymous->out.bytes = 0;
	switch (header->kind) {
	case TRACE_CHUNK_EVENTS:
	case TRACE_CHUNK_START_STATE:
		error = events_payload(anonymous, schema, header, raw);
		break;
	case TRACE_CHUNK_STRINGS:
		error = anonymous_strings(&anonymous->names, raw, header->raw_bytes, &anonymous->out);
		break;
	case TRACE_CHUNK_SCHEMA:
		error = anonymous_schema(&anonymous->names, raw, header->raw_bytes, &anonymous->out);
		break;
	case TRACE_CHUNK_CLOCK:
	case TRACE_CHUNK_STATISTICS:
		error = add(anonymous, raw, header->raw_bytes);
		break;
	default: /* a kind of a newer writer may have anything */
		error = -EBADMSG;
	}
	if (!error && anonymous->names.failed)
		error = -ENOMEM;
	return !error && anonymous->out.bytes > TRACE_RAW_MAX ? -EBADMSG : error;
}

void anonymous_release(struct anonymous *anonymous)
{
	pseudonyms_release(&anonymous->names);
	free(anonymous->out.data);
	free(anonymous->words.data);
	free(anonymous->lengths.data);
	free(anonymous->text.data);
}
