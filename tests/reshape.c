/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "reshape.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>
#include <zstd.h>

/* ---- decoding ---- */

/**
 * struct reader - the rest of a payload
 * @ok: no bytes were missing so far
 */
struct reader {
	unsigned char *at, *end;
	bool ok;
};

static unsigned char *take(struct reader *in, size_t bytes)
{
	unsigned char *begin = in->at;

	in->ok = in->ok && (size_t)(in->end - in->at) >= bytes;
	if (!in->ok)
		return NULL;
	in->at += bytes;
	return begin;
}

static void take_copy(struct reader *in, void *to, size_t bytes)
{
	const unsigned char *from = take(in, bytes);

	if (from)
		memcpy(to, from, bytes);
}

/* Decodes planes 0 to @nr_planes - 1 into numbers that are @stride apart. */
static void take_planes(struct reader *in, uint64_t *out, size_t stride, size_t n, unsigned int constant,
			unsigned int nr_planes)
{
	for (unsigned int plane = 0; plane < nr_planes; plane++) {
		bool same = constant >> plane & 1;
		const unsigned char *bytes = take(in, same ? 1 : n);

		for (size_t i = 0; bytes && i < n; i++)
			out[i * stride] |= (uint64_t)bytes[same ? 0 : i] << 8 * plane;
	}
}

/* Differences to the latest word with the same slot of its key, the word before it. */
static void add_steps(uint64_t *out, size_t stride, size_t n)
{
	uint64_t latest[256] = {0};

	for (size_t i = 0; i < n; i++) {
		uint64_t *slot = &latest[out[i * stride - 1] * 0x9e3779b97f4a7c15 >> 56];

		*slot = out[i * stride] += *slot;
	}
}

static void take_column(struct reader *in, uint64_t *out, size_t stride, size_t n)
{
	const unsigned char *head = take(in, 2), *dictionary, *indexes, *entries;
	uint64_t entry;

	if (head && head[0] == TRACE_COLUMN_STEPS) {
		in->at--;
		take_column(in, out, stride, n);
		add_steps(out, stride, n);
		return;
	}
	if (!head || head[0] != TRACE_COLUMN_DICTIONARY) {
		if (head)
			take_planes(in, out, stride, n, head[1], 8);
		return;
	}
	dictionary = take(in, 2);
	indexes = take(in, n);
	if (!indexes || dictionary[0] > 7)
		return;
	take_planes(in, out, stride, n, head[1], dictionary[0]);
	entries = take(in, (dictionary[1] + 1u) * 8);
	for (size_t i = 0; entries && i < n; i++) {
		if (indexes[i] > dictionary[1])
			continue;
		memcpy(&entry, entries + 8 * indexes[i], 8);
		out[i * stride] |= entry << 8 * dictionary[0];
	}
}

/* As docs/FORMAT.md defines: 0 planes for one payload, 1 for at most 256, 2 for 65536, else 3. */
static size_t number_planes(size_t payloads)
{
	return payloads <= 1 ? 0 : payloads <= 256 ? 1 : payloads <= 65536 ? 2 : 3;
}

/* The counts and symbols are kept as they are. As the format says, a symbol from 17 on has 1 to 8
 * bytes among the texts, and 16 has 2. */
static void take_stacks(struct reader *in, struct reshape_events *events)
{
	size_t nr = events->head.payloads, nr_symbols = 0;
	const unsigned char *counts = take(in, 3 * nr), *symbols;

	for (size_t i = 0; counts && i < nr; i++)
		nr_symbols += counts[2 * nr + i];
	symbols = counts ? take(in, nr_symbols) : NULL;
	for (size_t i = 0; symbols && i < nr_symbols; i++)
		events->text_bytes += symbols[i] > 16 ? (symbols[i] - 17) % 8 + 1u : symbols[i] == 16 ? 2 : 0;
	events->stacks_bytes = symbols ? 3 * nr + nr_symbols : 0;
	events->stacks = malloc(events->stacks_bytes + 1);
	if (symbols)
		memcpy(events->stacks, counts, events->stacks_bytes);
}

static size_t nr_columns(const struct trace_columns_type *head)
{
	return head->flags & TRACE_COLUMNS_STACKS ? 1 : head->words;
}

static void take_events(struct reader *in, struct reshape_events *events)
{
	const struct trace_columns_type *head = &events->head;
	const unsigned char *numbers;

	events->words = calloc((size_t)head->payloads * head->words + 1, 8);
	for (size_t word = 0; word < nr_columns(head); word++)
		take_column(in, events->words + word, head->words, head->payloads);
	if (head->flags & TRACE_COLUMNS_STACKS) {
		take_stacks(in, events);
	} else if (head->flags & TRACE_COLUMNS_STRING) {
		events->lengths = calloc(head->payloads + 1ul, 8);
		take_column(in, events->lengths, 1, head->payloads);
	}
	if (!(head->flags & TRACE_COLUMNS_INDEXES))
		return;
	events->number_bytes = number_planes(head->payloads) * head->events;
	numbers = take(in, events->number_bytes);
	events->numbers = malloc(events->number_bytes + 1);
	if (numbers)
		memcpy(events->numbers, numbers, events->number_bytes);
}

static void take_texts(struct reader *in, struct reshape_events *events)
{
	const unsigned char *texts;

	for (size_t i = 0; events->lengths && i < events->head.payloads; i++)
		events->text_bytes += events->lengths[i];
	texts = take(in, events->text_bytes);
	events->texts = malloc(events->text_bytes + 1);
	if (texts)
		memcpy(events->texts, texts, events->text_bytes);
}

static void events_free(struct reshape_chunk *chunk)
{
	for (uint32_t i = 0; chunk->events && i < chunk->head.nr_types; i++) {
		free(chunk->events[i].words);
		free(chunk->events[i].lengths);
		free(chunk->events[i].stacks);
		free(chunk->events[i].texts);
		free(chunk->events[i].numbers);
	}
	free(chunk->events);
	chunk->events = NULL;
}

static size_t times_bytes(const struct trace_columns_times *clock)
{
	size_t bytes = 2 * (size_t)clock->nr_corrections + clock->code_bytes + 8;

	for (size_t i = 0; i < TRACE_TIMES_STREAMS; i++)
		bytes += clock->bit_bytes[i];
	return bytes;
}

static void take_chunk(struct reshape_chunk *chunk)
{
	struct reader in = {.at = chunk->raw, .end = chunk->raw + chunk->raw_bytes, .ok = true};

	take_copy(&in, &chunk->head, sizeof(chunk->head));
	take_copy(&in, &chunk->clock, sizeof(chunk->clock));
	if (!in.ok || chunk->head.nr_types >= TRACE_EV_MAX)
		return;
	chunk->events = calloc(chunk->head.nr_types + 1ul, sizeof(*chunk->events));
	for (uint32_t i = 0; i < chunk->head.nr_types; i++)
		take_copy(&in, &chunk->events[i].head, sizeof(chunk->events[i].head));
	chunk->ids = take(&in, chunk->head.events);
	for (uint32_t i = 0; i < chunk->head.nr_types && in.ok; i++)
		take_events(&in, &chunk->events[i]);
	for (uint32_t i = 0; i < chunk->head.nr_types && in.ok; i++)
		take_texts(&in, &chunk->events[i]);
	chunk->times_bytes = times_bytes(&chunk->clock);
	chunk->times = take(&in, chunk->times_bytes);
	if (!in.ok)
		events_free(chunk);
}

static void unpack(struct reshape_chunk *chunk, const unsigned char *payload)
{
	const struct trace_chunk_header *header = &chunk->header;

	chunk->raw_bytes = header->raw_bytes;
	chunk->raw = malloc(header->raw_bytes + 1ul);
	if (header->compression == TRACE_COMPRESSION_NONE)
		memcpy(chunk->raw, payload, header->raw_bytes);
	else if (ZSTD_decompress(chunk->raw, header->raw_bytes, payload, header->packed_bytes) != header->raw_bytes)
		abort();
	if (header->kind == TRACE_CHUNK_EVENTS || header->kind == TRACE_CHUNK_START_STATE)
		take_chunk(chunk);
}

struct reshape *reshape_new(const unsigned char *data, size_t bytes)
{
	struct reshape *r = calloc(1, sizeof(*r));
	struct trace_chunk_header header;

	memcpy(&r->header, data, sizeof(r->header));
	r->complete = r->has_table = true;
	r->stride = sizeof(struct trace_table_entry);
	for (size_t at = r->header.header_bytes; at + sizeof(header) <= bytes;
	     at += header.header_bytes + header.packed_bytes) {
		memcpy(&header, data + at, sizeof(header));
		if (memcmp(header.magic, TRACE_CHUNK_MAGIC, TRACE_MAGIC_BYTES) != 0 || header.kind >= TRACE_CHUNK_INDEX)
			break;
		r->chunks = reallocarray(r->chunks, r->nr + 1, sizeof(*r->chunks));
		r->chunks[r->nr] = (struct reshape_chunk){.header = header,
							  .frame = {.compression = header.compression, .times = 1}};
		unpack(&r->chunks[r->nr++], data + at + header.header_bytes);
	}
	return r;
}

struct reshape *reshape_free(struct reshape *r)
{
	for (size_t i = 0; r && i < r->nr; i++) {
		events_free(&r->chunks[i]);
		free(r->chunks[i].raw);
	}
	if (r)
		free(r->chunks);
	free(r);
	return NULL;
}

/* ---- encoding ---- */

/**
 * struct bytes - a buffer that grows
 */
struct bytes {
	unsigned char *data;
	size_t nr, room;
};

static unsigned char *more(struct bytes *out, size_t bytes)
{
	if (out->nr + bytes > out->room) {
		out->room = 2 * (out->nr + bytes);
		out->data = realloc(out->data, out->room);
	}
	out->nr += bytes;
	return out->data + out->nr - bytes;
}

static void put(struct bytes *out, const void *from, size_t bytes)
{
	if (bytes)
		memcpy(more(out, bytes), from, bytes);
}

static void put_column(struct bytes *out, const uint64_t *from, size_t stride, size_t n)
{
	unsigned char *planes = more(out, 2 + 8 * n);

	*planes++ = TRACE_COLUMN_PLAIN;
	*planes++ = 0;
	for (unsigned int plane = 0; plane < 8; plane++)
		for (size_t i = 0; i < n; i++)
			*planes++ = (unsigned char)(from[i * stride] >> 8 * plane);
}

static void put_events(struct bytes *out, const struct reshape_events *events)
{
	const struct trace_columns_type *head = &events->head;

	for (size_t word = 0; word < nr_columns(head); word++)
		put_column(out, events->words + word, head->words, head->payloads);
	put(out, events->stacks, events->stacks_bytes);
	if (events->lengths)
		put_column(out, events->lengths, 1, head->payloads);
	put(out, events->numbers, events->number_bytes);
}

static void put_payload(struct bytes *out, const struct reshape_chunk *chunk)
{
	struct trace_columns_header head = chunk->head;

	head.first_ns = chunk->header.first_ns;
	head.string_bytes = 0;
	for (uint32_t i = 0; i < head.nr_types; i++)
		head.string_bytes += (uint32_t)chunk->events[i].text_bytes;
	put(out, &head, sizeof(head));
	put(out, &chunk->clock, sizeof(chunk->clock));
	for (uint32_t i = 0; i < head.nr_types; i++)
		put(out, &chunk->events[i].head, sizeof(chunk->events[i].head));
	put(out, chunk->ids, head.events);
	for (uint32_t i = 0; i < head.nr_types; i++)
		put_events(out, &chunk->events[i]);
	for (uint32_t i = 0; i < head.nr_types; i++)
		put(out, chunk->events[i].texts, chunk->events[i].text_bytes);
	put(out, chunk->times, chunk->times_bytes);
}

/* Encodes the payload at the end of @out, from @at on, as a frame. */
static void put_frame(struct bytes *out, size_t at, const struct reshape_frame *frame)
{
	size_t bytes = out->nr - at, room = ZSTD_compressBound(bytes);
	unsigned char *packed = malloc(room);

	if (frame->compression == TRACE_COMPRESSION_ZSTD)
		bytes = ZSTD_compress(packed, room, out->data + at, bytes, 1);
	else
		memcpy(packed, out->data + at, bytes);
	out->nr = at;
	for (uint32_t i = 0; i < frame->times; i++)
		put(out, packed, bytes);
	free(packed);
	bytes = out->nr - at;
	if (bytes)
		out->data[at + frame->flipped % bytes] ^= frame->bits;
	out->nr -= frame->missing < bytes ? frame->missing : bytes;
}

/* The payload is at the end of @out, after the space for its header. It had @raw_bytes bytes. */
static void put_header(struct bytes *out, size_t at, struct trace_chunk_header *header, uint32_t trace_id,
		       size_t raw_bytes)
{
	const unsigned char *payload = out->data + at + sizeof(*header);
	size_t bytes = out->nr - at - sizeof(*header);

	memcpy(header->magic, TRACE_CHUNK_MAGIC, TRACE_MAGIC_BYTES);
	header->header_bytes = sizeof(*header);
	header->trace_id = trace_id;
	header->raw_bytes = (uint32_t)raw_bytes;
	header->packed_bytes = (uint32_t)bytes;
	header->payload_checksum = XXH3_64bits(payload, bytes);
	header->checksum = XXH3_64bits(header, offsetof(struct trace_chunk_header, checksum));
	memcpy(out->data + at, header, sizeof(*header));
}

static void lie_about(const struct reshape_lie *lie, void *entry, size_t bytes)
{
	memcpy((unsigned char *)entry + lie->at % (bytes - sizeof(lie->value) + 1), &lie->value, sizeof(lie->value));
}

static void put_entry(struct bytes *index, struct trace_index_entry entry, const struct reshape_lie *lie)
{
	if (lie->is_told && lie->chunk == index->nr / sizeof(entry)) {
		lie_about(lie, &entry, sizeof(entry));
		entry.header.checksum = XXH3_64bits(&entry.header, offsetof(struct trace_chunk_header, checksum));
	}
	put(index, &entry, sizeof(entry));
}

static void put_chunk(struct bytes *out, const struct reshape_chunk *chunk, uint32_t trace_id, struct bytes *index,
		      const struct reshape_lie *lie)
{
	struct trace_index_entry entry = {.offset = out->nr, .header = chunk->header};
	size_t raw_bytes;

	more(out, sizeof(entry.header));
	if (chunk->events)
		put_payload(out, chunk);
	else
		put(out, chunk->raw, chunk->raw_bytes);
	raw_bytes = out->nr - entry.offset - sizeof(entry.header);
	put_frame(out, entry.offset + sizeof(entry.header), &chunk->frame);
	entry.header.compression = chunk->frame.compression;
	put_header(out, entry.offset, &entry.header, trace_id, raw_bytes + chunk->frame.more);
	put_entry(index, entry, lie);
}

/* Adds a chunk of these @bytes, unchanged, and its entry in the @index, if there is one. */
static void put_plain(struct bytes *out, uint16_t kind, const void *payload, size_t bytes, uint32_t trace_id,
		      struct bytes *index)
{
	struct trace_index_entry entry = {.offset = out->nr, .header = {.kind = kind}};

	more(out, sizeof(entry.header));
	put(out, payload, bytes);
	put_header(out, entry.offset, &entry.header, trace_id, bytes);
	if (index)
		put(index, &entry, sizeof(entry));
}

static struct trace_table_entry table_entry(const struct trace_index_entry *index)
{
	const struct trace_chunk_header *header = &index->header;
	bool lost = header->lost_before || header->lost_write || header->missed || header->undecodable ||
		    (header->flags & TRACE_CHUNK_FLAG_JUMP);

	return (struct trace_table_entry){.offset = index->offset,
					  .seq = header->seq,
					  .first_ns = header->first_ns,
					  .last_ns = header->last_ns,
					  .events_before = header->events_before,
					  .events = header->events,
					  .stream = header->stream,
					  .cpu = header->cpu,
					  .raw_bytes = header->raw_bytes,
					  .packed_bytes = header->packed_bytes,
					  .kind = header->kind,
					  .encoding = header->encoding,
					  .flags = lost ? TRACE_TABLE_LOSS : 0};
}

/* Adds the table of the chunks that are in the @index so far. */
static void put_table(struct bytes *out, const struct reshape *r, struct bytes *index)
{
	size_t nr = index->nr / sizeof(struct trace_index_entry), done = 0;
	struct trace_table_root root = {.offset = out->nr,
					.nr_entries = nr,
					.entry_bytes = (uint32_t)r->stride,
					.header_bytes = sizeof(struct trace_chunk_header),
					.index_entries = TRACE_INDEX_ENTRIES};

	for (; done < nr; root.nr_chunks++) {
		struct bytes entries = {0};

		for (size_t end = done + TRACE_TABLE_ENTRIES; done < nr && done < end; done++) {
			struct trace_table_entry entry =
				table_entry((const struct trace_index_entry *)index->data + done);

			if (r->table_lie.is_told && r->table_lie.chunk == done)
				lie_about(&r->table_lie, &entry, sizeof(entry));
			memcpy(memset(more(&entries, r->stride), 0, r->stride), &entry, sizeof(entry));
		}
		put_plain(out, TRACE_CHUNK_TABLE, entries.data, entries.nr, r->header.trace_id, index);
		free(entries.data);
	}
	if (r->root_lie.is_told)
		lie_about(&r->root_lie, &root, sizeof(root));
	put_plain(out, TRACE_CHUNK_ROOT, &root, sizeof(root), r->header.trace_id, index);
}

static void put_index(struct bytes *out, const struct bytes *index, uint32_t trace_id)
{
	struct trace_end_mark mark = {.trace_id = trace_id, .index_offset = out->nr};
	size_t most = TRACE_INDEX_ENTRIES * sizeof(struct trace_index_entry);

	for (size_t done = 0; done < index->nr; mark.nr_index_chunks++) {
		size_t bytes = index->nr - done < most ? index->nr - done : most;

		put_plain(out, TRACE_CHUNK_INDEX, index->data + done, bytes, trace_id, NULL);
		done += bytes;
	}
	memcpy(mark.magic, TRACE_END_MAGIC, TRACE_MAGIC_BYTES);
	mark.file_bytes = out->nr + sizeof(mark);
	mark.checksum = XXH3_64bits(&mark, offsetof(struct trace_end_mark, checksum));
	put(out, &mark, sizeof(mark));
}

unsigned char *reshape_put(const struct reshape *r, size_t *ret_bytes)
{
	struct trace_file_header file = r->header;
	struct bytes out = {0}, index = {0};

	file.header_bytes = sizeof(file);
	file.checksum = XXH3_64bits(&file, offsetof(struct trace_file_header, checksum));
	put(&out, &file, sizeof(file));
	for (size_t i = 0; i < r->nr; i++)
		put_chunk(&out, &r->chunks[i], file.trace_id, &index, &r->lie);
	if (r->complete && r->has_table)
		put_table(&out, r, &index);
	if (r->complete)
		put_index(&out, &index, file.trace_id);
	free(index.data);
	*ret_bytes = out.nr;
	return out.data;
}

/* ---- event types ---- */

/* Number @nr of the types in this chunk. */
static struct trace_schema_type *type_in(const struct reshape_chunk *chunk, size_t nr,
					 struct trace_schema_field **ret_fields)
{
	struct trace_schema_header head;
	struct trace_schema_type *type;
	size_t fields;

	memcpy(&head, chunk->raw, sizeof(head));
	fields = sizeof(head) + (size_t)head.nr_types * sizeof(*type);
	if (nr >= head.nr_types || head.type_bytes != sizeof(*type) ||
	    fields + (size_t)head.nr_fields * sizeof(**ret_fields) > chunk->raw_bytes)
		return NULL;
	type = (struct trace_schema_type *)(chunk->raw + sizeof(head)) + nr;
	*ret_fields = NULL;
	if (type->nr_fields && type->first_field <= head.nr_fields &&
	    type->nr_fields <= head.nr_fields - type->first_field)
		*ret_fields = (struct trace_schema_field *)(chunk->raw + fields) + type->first_field;
	return type;
}

struct trace_schema_type *reshape_type(const struct reshape *r, size_t nr, struct trace_schema_field **ret_fields)
{
	for (size_t i = 0; i < r->nr; i++) {
		struct trace_schema_header head;

		if (r->chunks[i].header.kind != TRACE_CHUNK_SCHEMA || r->chunks[i].raw_bytes < sizeof(head))
			continue;
		memcpy(&head, r->chunks[i].raw, sizeof(head));
		if (nr < head.nr_types)
			return type_in(&r->chunks[i], nr, ret_fields);
		nr -= head.nr_types;
	}
	return NULL;
}

struct trace_schema_type *reshape_type_by_id(const struct reshape *r, uint32_t id,
					     struct trace_schema_field **ret_fields)
{
	struct trace_schema_type *type;

	for (size_t i = 0; (type = reshape_type(r, i, ret_fields)); i++)
		if (type->id == id)
			return type;
	return NULL;
}

void reshape_events_resize(struct reshape_events *events, uint32_t words, bool string)
{
	struct trace_columns_type *head = &events->head;
	uint64_t *resized = calloc((size_t)head->payloads * words + 1, 8);
	size_t kept = words < head->words ? words : head->words;

	for (size_t i = 0; i < head->payloads; i++)
		memcpy(resized + i * words, events->words + i * head->words, 8 * kept);
	free(events->words);
	events->words = resized;
	head->words = (uint8_t)words;
	if (string == !!events->lengths)
		return;
	free(events->lengths);
	events->lengths = string ? calloc(head->payloads + 1ul, 8) : NULL;
	events->text_bytes = 0;
	head->flags ^= TRACE_COLUMNS_STRING;
}

void reshape_resize(struct reshape *r, uint32_t id, uint32_t words, bool string)
{
	struct trace_schema_field *fields;
	struct trace_schema_type *type = reshape_type_by_id(r, id, &fields);
	uint16_t nr = 0;

	if (!type)
		return;
	for (; fields && nr < type->nr_fields; nr++) {
		if (fields[nr].bytes ? fields[nr].offset + fields[nr].bytes > 8 * words : !string)
			break;
		if (!fields[nr].bytes)
			fields[nr].offset = (uint16_t)(8 * words);
	}
	type->nr_fields = nr;
	type->fixed_bytes = (uint16_t)(8 * words);
	type->has_string = string;
	for (size_t i = 0; i < r->nr; i++)
		for (uint32_t j = 0; r->chunks[i].events && j < r->chunks[i].head.nr_types; j++)
			if (r->chunks[i].events[j].head.id == id)
				reshape_events_resize(&r->chunks[i].events[j], words, string);
}
