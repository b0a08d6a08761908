/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* stretch_log.c - entries as columns of bytes: stretch_log.h. */
#include <string.h>
#include "stretch_log.h"

#define KIND_BITS     15u
#define IS_PREDICTED  16u
#define IS_ERROR      32u
#define HAS_PARTS     64u
#define HAS_BEGIN     128u
#define MAX_OF_COLUMN 80u /* bytes of an entry: at most eight numbers of ten bytes */

_Static_assert(NR_STRETCH_KINDS <= KIND_BITS, "a kind has four bits");

/* ---- what follows what ---- */

static uint32_t *prediction(struct stretch_stream *stream, enum stretch_kind kind)
{
	return &stream->next[(stream->last_entry * 0x9e3779b1u + kind * 0x85ebca6bu) >> (32 - STRETCH_NEXT_BITS)];
}

static void note(struct stretch_stream *stream, const struct stretch_entry *entry)
{
	*prediction(stream, entry->kind) = entry->id;
	stream->last_entry = entry->id * NR_STRETCH_KINDS + entry->kind;
	stream->last_ns = entry->to_ns;
}

/* A difference of either sign: small ones have few bytes. */
static uint64_t zigzag(uint64_t difference)
{
	return difference << 1 ^ (0 - (difference >> 63));
}

static uint64_t from_zigzag(uint64_t number)
{
	return number >> 1 ^ (0 - (number & 1));
}

static bool has_bytes(enum stretch_kind kind)
{
	return kind == STRETCH_READ || kind == STRETCH_WRITE || kind == STRETCH_EVENT;
}

static bool has_span(enum stretch_kind kind)
{
	return !has_bytes(kind) && kind != STRETCH_MAJOR && kind != STRETCH_UNMATCHED && kind != STRETCH_HIT;
}

/* ---- write ---- */

void stretch_writer_begin(struct stretch_writer *writer, uint64_t begin_ns)
{
	for (int i = 0; i < NR_STRETCH_COLUMNS; i++)
		writer->columns[i].nr = 0;
	memset(&writer->stream, 0, sizeof(writer->stream));
	writer->stream.last_ns = begin_ns;
	writer->nr = 0;
}

/* The columns have room for it. */
static inline void put(struct stretch_writer *writer, enum stretch_column column, uint64_t number)
{
	struct bytes_out *out = &writer->columns[column];

	for (; number >= 0x80; number >>= 7)
		out->at[out->nr++] = (uint8_t)(number | 0x80);
	out->at[out->nr++] = (uint8_t)number;
}

/* The low byte is random; what is above is small, and compresses well. */
static inline void put_time(struct stretch_writer *writer, enum stretch_column column, uint64_t number)
{
	struct bytes_out *out = &writer->columns[column];

	out->at[out->nr++] = (uint8_t)number;
	put(writer, (enum stretch_column)(column + 1), number >> 8);
}

static bool has_room(struct stretch_writer *writer)
{
	for (int i = 0; i < NR_STRETCH_COLUMNS; i++) {
		struct bytes_out *out = &writer->columns[i];

		if (out->room - out->nr >= MAX_OF_COLUMN)
			continue;
		if (!bytes_room(out, MAX_OF_COLUMN))
			return false;
		out->nr -= MAX_OF_COLUMN;
	}
	return true;
}

static void put_times(struct stretch_writer *writer, const struct stretch_entry *entry)
{
	put(writer, COLUMN_MORE, entry->times.user_ns);
	put(writer, COLUMN_MORE, entry->times.syscall_ns);
	put(writer, COLUMN_MORE, entry->times.trap_ns);
	put(writer, COLUMN_MORE, entry->times.interrupted_ns);
	put(writer, COLUMN_MORE, entry->times.wait_cpu_ns);
	put(writer, COLUMN_MORE, entry->times.blocked_ns);
	put(writer, COLUMN_MORE, entry->queued);
}

void stretch_put(struct stretch_writer *writer, const struct stretch_entry *entry)
{
	bool has_parts = entry->kind == STRETCH_CALL && (entry->interrupted || entry->wait_cpu || entry->wait),
	     is_predicted = *prediction(&writer->stream, entry->kind) == entry->id;
	struct bytes_out *tags = &writer->columns[COLUMN_TAG];

	if (!has_room(writer))
		return;
	tags->at[tags->nr++] = (uint8_t)(entry->kind | (is_predicted ? IS_PREDICTED : 0) |
					 (entry->is_error ? IS_ERROR : 0) | (has_parts ? HAS_PARTS : 0) |
					 (entry->has_begin ? HAS_BEGIN : 0));
	if (!is_predicted)
		put(writer, COLUMN_ID, entry->id);
	put_time(writer, COLUMN_END, zigzag(entry->to_ns - writer->stream.last_ns));
	if (has_span(entry->kind))
		put_time(writer, COLUMN_LENGTH, entry->to_ns - entry->from_ns);
	else if (has_bytes(entry->kind))
		put(writer, COLUMN_MORE, entry->bytes);
	if (has_parts) {
		put(writer, COLUMN_MORE, entry->interrupted);
		put(writer, COLUMN_MORE, entry->wait_cpu);
		put(writer, COLUMN_MORE, entry->wait);
	}
	if (entry->has_begin) {
		put(writer, COLUMN_MORE, entry->begin.cpu);
		put(writer, COLUMN_MORE, entry->begin.interrupted);
		put(writer, COLUMN_MORE, entry->begin.wait_cpu);
		put(writer, COLUMN_MORE, entry->begin.wait);
	}
	if (entry->kind == STRETCH_SPAN)
		put_times(writer, entry);
	note(&writer->stream, entry);
	writer->nr++;
}

void stretch_writer_end(const struct stretch_writer *writer, struct bytes_out *out)
{
	for (int i = 0; i < NR_STRETCH_COLUMNS; i++) {
		bytes_put_number(out, writer->columns[i].nr);
		out->failed |= writer->columns[i].failed;
	}
	for (int i = 0; i < NR_STRETCH_COLUMNS; i++)
		bytes_put(out, writer->columns[i].at, writer->columns[i].nr);
}

void stretch_writer_clear(struct stretch_writer *writer)
{
	for (int i = 0; i < NR_STRETCH_COLUMNS; i++)
		bytes_free(&writer->columns[i]);
}

/* ---- read ---- */

void stretch_reader_begin(struct stretch_reader *reader, const uint8_t *bytes, size_t nr, uint64_t begin_ns)
{
	struct bytes_in in = {.at = bytes, .end = bytes + nr};
	uint64_t sizes[NR_STRETCH_COLUMNS];

	*reader = (struct stretch_reader){.stream.last_ns = begin_ns};
	for (int i = 0; i < NR_STRETCH_COLUMNS; i++)
		sizes[i] = bytes_number(&in);
	for (int i = 0; i < NR_STRETCH_COLUMNS; i++) {
		const uint8_t *at = bytes_take(&in, sizes[i]);

		reader->columns[i] = (struct bytes_in){.at = at, .end = at ? at + sizes[i] : NULL};
	}
	reader->failed = in.failed;
}

/* As bytes_number(), of which most have one byte. */
static inline uint64_t get(struct stretch_reader *reader, enum stretch_column column)
{
	struct bytes_in *in = &reader->columns[column];
	uint64_t number;

	if (in->at < in->end && *in->at < 0x80)
		return *in->at++;
	number = bytes_number(in);
	reader->failed |= in->failed;
	return number;
}

static inline uint64_t get_time(struct stretch_reader *reader, enum stretch_column column)
{
	struct bytes_in *in = &reader->columns[column];
	uint8_t low = in->at < in->end ? *in->at++ : 0;

	return low | get(reader, (enum stretch_column)(column + 1)) << 8;
}

static void get_parts(struct stretch_reader *reader, uint8_t flags, struct stretch_entry *entry)
{
	if (flags & HAS_PARTS) {
		entry->interrupted = get(reader, COLUMN_MORE);
		entry->wait_cpu = get(reader, COLUMN_MORE);
		entry->wait = get(reader, COLUMN_MORE);
	}
	if (flags & HAS_BEGIN) {
		entry->has_begin = true;
		entry->begin.ns = entry->from_ns;
		entry->begin.cpu = get(reader, COLUMN_MORE);
		entry->begin.interrupted = get(reader, COLUMN_MORE);
		entry->begin.wait_cpu = get(reader, COLUMN_MORE);
		entry->begin.wait = get(reader, COLUMN_MORE);
	}
}

static void get_times(struct stretch_reader *reader, struct stretch_entry *entry)
{
	entry->times.user_ns = get(reader, COLUMN_MORE);
	entry->times.syscall_ns = get(reader, COLUMN_MORE);
	entry->times.trap_ns = get(reader, COLUMN_MORE);
	entry->times.interrupted_ns = get(reader, COLUMN_MORE);
	entry->times.wait_cpu_ns = get(reader, COLUMN_MORE);
	entry->times.blocked_ns = get(reader, COLUMN_MORE);
	entry->queued = get(reader, COLUMN_MORE);
}

bool stretch_get(struct stretch_reader *reader, struct stretch_entry *ret_entry)
{
	struct bytes_in *tags = &reader->columns[COLUMN_TAG];
	enum stretch_kind kind;
	uint8_t flags;

	if (reader->failed || tags->at == tags->end)
		return false;
	flags = *tags->at++;
	kind = (enum stretch_kind)(flags & KIND_BITS);
	if (kind >= NR_STRETCH_KINDS) {
		reader->failed = true;
		return false;
	}
	*ret_entry = (struct stretch_entry){.kind = kind, .is_error = flags & IS_ERROR};
	ret_entry->id = flags & IS_PREDICTED ? *prediction(&reader->stream, kind) : (uint32_t)get(reader, COLUMN_ID);
	ret_entry->to_ns = reader->stream.last_ns + from_zigzag(get_time(reader, COLUMN_END));
	ret_entry->from_ns = ret_entry->to_ns;
	if (has_span(kind))
		ret_entry->from_ns -= get_time(reader, COLUMN_LENGTH);
	else if (has_bytes(kind))
		ret_entry->bytes = get(reader, COLUMN_MORE);
	if (flags & (HAS_PARTS | HAS_BEGIN))
		get_parts(reader, flags, ret_entry);
	if (kind == STRETCH_SPAN)
		get_times(reader, ret_entry);
	note(&reader->stream, ret_entry);
	return !reader->failed;
}
