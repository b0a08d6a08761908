/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test_damage_made.c - files with correct checksums that our writer would not make: bombs, false
 * sizes, invalid columns. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <trace/symbols.h>
#include <unistd.h>
#include <xxhash.h>
#include <zstd.h>

#include "damage_case.h"
#include "rawfile.h"
#include "spend.h"
#include "unit.h"

/* Replaces the payload of the first chunk of events by @payload, in a trace without an index.
 * @nr_events 0: as before. */
static struct outcome with_payload(const struct fixture *fixture, const void *payload, size_t bytes, uint32_t raw_bytes,
				   uint8_t compression, uint32_t nr_events)
{
	struct trace_chunk_header header;
	size_t at = (size_t)image_find(&fixture->image, TRACE_CHUNK_EVENTS, 0, &header),
	       end = at + chunk_bytes(&header);
	unsigned char *data = malloc(fixture->image.bytes + bytes), *out = data;
	struct image image;
	struct outcome outcome;

	out = mempcpy(out, fixture->image.data, at + header.header_bytes);
	out = mempcpy(out, payload, bytes);
	out = mempcpy(out, fixture->image.data + end, fixture->image.bytes - end);
	header.packed_bytes = (uint32_t)bytes;
	header.raw_bytes = raw_bytes;
	header.compression = compression;
	if (nr_events) {
		header.events = nr_events;
		header.last_ns = header.first_ns;
	}
	image = image_of(data, (size_t)(out - data));
	image_put_chunk(&image, at, &header);
	outcome = read_all(fixture, image.path);
	image_free(&image);
	free(data);
	return outcome;
}

/* ---- files that our writer would not make ---- */

enum { MADE_ID = 7, MADE_MOST_BYTES = 256 << 10 };

/**
 * struct made - a trace file made by hand: a header of @header_bytes with unused space in it, and
 * the bytes after it
 */
struct made {
	unsigned char data[MADE_MOST_BYTES];
	size_t bytes;
};

static void made_header(struct made *made, size_t header_bytes)
{
	struct trace_file_header header = {.version_major = TRACE_FORMAT_MAJOR,
					   .version_minor = TRACE_FORMAT_MINOR,
					   .header_bytes = (uint32_t)header_bytes,
					   .trace_id = MADE_ID};
	uint64_t checksum;

	memcpy(header.magic, TRACE_FILE_MAGIC, TRACE_MAGIC_BYTES);
	memcpy(made->data, &header, offsetof(struct trace_file_header, checksum));
	checksum = XXH3_64bits(made->data, header_bytes - sizeof(checksum));
	memcpy(made->data + header_bytes - sizeof(checksum), &checksum, sizeof(checksum));
	if (made->bytes < header_bytes)
		made->bytes = header_bytes;
}

static void made_chunk(struct made *made, struct trace_chunk_header header, const void *payload, size_t bytes)
{
	memcpy(header.magic, TRACE_CHUNK_MAGIC, TRACE_MAGIC_BYTES);
	header.header_bytes = sizeof(header);
	header.trace_id = MADE_ID;
	header.packed_bytes = (uint32_t)bytes;
	if (header.compression == TRACE_COMPRESSION_NONE)
		header.raw_bytes = header.packed_bytes;
	header.payload_checksum = XXH3_64bits(payload, bytes);
	header.checksum = XXH3_64bits(&header, offsetof(struct trace_chunk_header, checksum));
	memcpy(mempcpy(made->data + made->bytes, &header, sizeof(header)), payload, bytes);
	made->bytes += sizeof(header) + bytes;
}

static struct trace *made_open(const struct made *made, struct trace_error *ret_error)
{
	struct image image = image_of(made->data, made->bytes);
	struct trace *trace = trace_open(image.path, ret_error);

	image_free(&image);
	return trace;
}

/* The begin of the table limits what it may list. Here it lies before the first chunk, inside the
 * file's header. */
static void a_table_within_the_files_header_is_refused(void)
{
	struct made *made = calloc(1, sizeof(*made));
	struct trace_table_entry entry = {
		.offset = 1ull << 40, .events_before = 5, .events = 1, .kind = TRACE_CHUNK_EVENTS};
	struct trace_table_root root = {.offset = sizeof(struct trace_file_header),
					.nr_entries = 1,
					.nr_chunks = 1,
					.entry_bytes = sizeof(entry),
					.header_bytes = sizeof(struct trace_chunk_header) + 8,
					.index_entries = 1};
	struct trace_end_mark mark = {.trace_id = MADE_ID, .nr_index_chunks = 1};
	struct trace *trace;

	made->bytes = root.offset;
	made_chunk(made, (struct trace_chunk_header){.kind = TRACE_CHUNK_TABLE}, &entry, sizeof(entry));
	made_chunk(made, (struct trace_chunk_header){.kind = TRACE_CHUNK_ROOT}, &root, sizeof(root));
	mark.index_offset = made->bytes;
	made_header(made, made->bytes + 8);
	memcpy(mark.magic, TRACE_END_MAGIC, TRACE_MAGIC_BYTES);
	mark.file_bytes = made->bytes + sizeof(mark);
	mark.checksum = XXH3_64bits(&mark, offsetof(struct trace_end_mark, checksum));
	memcpy(made->data + made->bytes, &mark, sizeof(mark));
	made->bytes += sizeof(mark);
	trace = made_open(made, NULL);
	CU_ASSERT_PTR_NOT_NULL(trace);
	CU_ASSERT_TRUE(trace && trace_nr_chunks(trace) == 0 && trace_nr_damages(trace) > 0);
	trace_close(trace);
	free(made);
}

/* A schema of @nr types that all have the same text of @chars characters and the same @nr_fields.
 * Returns the number of types that the reader accepts. */
static size_t types_with_one_text_of(uint32_t nr, uint16_t nr_fields, const char *text, size_t chars)
{
	struct made *made = calloc(1, sizeof(*made));
	struct trace_schema_header head = {.nr_types = nr,
					   .nr_fields = nr_fields,
					   .type_bytes = sizeof(struct trace_schema_type),
					   .field_bytes = sizeof(struct trace_schema_field),
					   .text_bytes = (uint32_t)chars + 2};
	unsigned char *payload = calloc(1, MADE_MOST_BYTES / 2), *at = mempcpy(payload, &head, sizeof(head));
	struct trace *trace;
	size_t taken;

	for (uint32_t i = 0; i < nr; i++)
		at = mempcpy(at,
			     &(struct trace_schema_type){.id = (uint16_t)(TRACE_EV_MAX + i),
							 .text = 1,
							 .nr_fields = nr_fields,
							 .fixed_bytes = 8},
			     sizeof(struct trace_schema_type));
	for (uint32_t i = 0; i < nr_fields; i++)
		at = mempcpy(at, &(struct trace_schema_field){.name = (uint32_t)chars - 7, .bytes = 8},
			     sizeof(struct trace_schema_field));
	memcpy(at + 1, text, chars);
	made_header(made, sizeof(struct trace_file_header));
	made_chunk(made, (struct trace_chunk_header){.kind = TRACE_CHUNK_SCHEMA}, payload,
		   (size_t)(at - payload) + head.text_bytes);
	trace = made_open(made, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(trace);
	taken = trace_nr_types(trace);
	CU_ASSERT_EQUAL(trace_nr_damages(trace), taken == 0);
	trace_close(trace);
	free(payload);
	free(made);
	return taken;
}

static size_t types_with_one_text(uint32_t nr, size_t chars)
{
	char *text = malloc(chars);
	size_t taken;

	memset(text, 'x', chars);
	taken = types_with_one_text_of(nr, 0, text, chars);
	free(text);
	return taken;
}

/* The reader once searched the closing brace from each opening brace on, and compared the text in
 * between with the name of each field: that took 20 s. */
static void a_text_of_braces_is_read_in_linear_time(void)
{
	enum { CHARS = 28000 };
	char text[CHARS];
	long long since = clock_ns(CLOCK_PROCESS_CPUTIME_ID);

	if (unit_step(2) > 1)
		return; /* a sanitizer checks all of a text wherever a part of it is read */
	memset(text, '{', CHARS);
	text[CHARS - 1] = '}';
	CU_ASSERT_EQUAL(types_with_one_text_of(250, 1000, text, CHARS), 250);
	CU_ASSERT(clock_ns(CLOCK_PROCESS_CPUTIME_ID) - since < 5000 * MS);
}

/* A small chunk could describe any number of large types, and opening it would take hours. */
static void types_that_share_more_than_a_schema_can_hold_are_refused(void)
{
	CU_ASSERT_EQUAL(types_with_one_text(1, 65000), 1);
	CU_ASSERT_EQUAL(types_with_one_text(1, 65500), 0);
	CU_ASSERT_EQUAL(types_with_one_text(250, 65000), 250);
	CU_ASSERT_EQUAL(types_with_one_text(270, 65000), 0);
}

/* One event of a type that has only a number; our sched_fork has 24 bytes. And a loss, with a type
 * that claims a string. */
static struct trace *trace_of_a_short_event(void)
{
	struct {
		struct trace_schema_header head;
		struct trace_schema_type types[2];
		char text[8];
	} schema = {.head = {.nr_types = 2,
			     .type_bytes = sizeof(struct trace_schema_type),
			     .field_bytes = sizeof(struct trace_schema_field),
			     .text_bytes = 8},
		    .types = {{.id = TRACE_EV_sched_fork},
			      {.id = TRACE_EV_trace_lost,
			       .fixed_bytes = sizeof(struct trace_trace_lost),
			       .has_string = 1}}};
	struct {
		struct trace_columns_header head;
		struct trace_columns_times times;
		struct trace_columns_type type;
		unsigned char id, codes[2], end[8];
	} __attribute__((packed)) columns = {.head = {.events = 1, .nr_types = 1, .first_ns = 1000},
					     .times = {.step = 1ull << 32, .code_bytes = 2},
					     .type = {.id = TRACE_EV_sched_fork, .events = 1, .payloads = 1}};
	struct trace_chunk_header header = {.kind = TRACE_CHUNK_EVENTS,
					    .encoding = TRACE_ENCODING_COLUMNS,
					    .events = 1,
					    .first_ns = 1000,
					    .last_ns = 1000,
					    .events_before = 3,
					    .lost_before = 3,
					    .ids = {1ull << TRACE_EV_sched_fork}};
	struct made *made = calloc(1, sizeof(*made));
	struct trace *trace;

	made_header(made, sizeof(struct trace_file_header));
	made_chunk(made, (struct trace_chunk_header){.kind = TRACE_CHUNK_SCHEMA}, &schema,
		   offsetof(__typeof__(schema), text) + sizeof(schema.text));
	made_chunk(made, header, &columns, sizeof(columns));
	trace = made_open(made, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(trace);
	free(made);
	return trace;
}

/* AddressSanitizer finds reads beyond the events. */
static void no_bytes_beyond_short_events_are_read(void)
{
	struct trace *trace = trace_of_a_short_event();
	struct trace_cursor *cursor = trace_cursor_new(trace, NULL, NULL);
	struct trace_symbols *symbols = trace_symbols_new(trace, NULL);
	const struct trace_event *event = trace_cursor_next(cursor);

	CU_ASSERT_PTR_NOT_NULL(symbols);
	CU_ASSERT_PTR_NOT_NULL_FATAL(event);
	CU_ASSERT_EQUAL(event->id, TRACE_EV_trace_lost);
	CU_ASSERT_FALSE(event->type->has_string);
	while (event && event->id == TRACE_EV_trace_lost) /* the file has no end mark, either */
		event = trace_cursor_next(cursor);
	CU_ASSERT_PTR_NOT_NULL_FATAL(event);
	CU_ASSERT_EQUAL(event->id, TRACE_EV_sched_fork);
	CU_ASSERT_EQUAL(event->payload_bytes, 0);
	trace_symbols_free(symbols);
	trace_cursor_free(cursor);
	trace_close(trace);
}

/* The reader itself makes the events of losses. More fields in the file's description of them do
 * not apply to these. */
static void a_files_description_of_losses_is_ignored(void)
{
	struct {
		struct trace_schema_header head;
		struct trace_schema_type type;
		struct trace_schema_field field;
		char text[24];
	} schema = {.head = {.nr_types = 1,
			     .nr_fields = 1,
			     .type_bytes = sizeof(schema.type),
			     .field_bytes = sizeof(schema.field),
			     .text_bytes = sizeof(schema.text)},
		    .type = {.id = TRACE_EV_trace_lost, .nr_fields = 1, .fixed_bytes = 1024, .text = 1},
		    .field = {.name = 7, .offset = 1016, .bytes = 8},
		    .text = "\0{far}\0far"};
	struct trace_chunk_header lost = {.kind = TRACE_CHUNK_EVENTS,
					  .encoding = TRACE_ENCODING_COLUMNS,
					  .events = 1,
					  .first_ns = 1000,
					  .last_ns = 1000,
					  .events_before = 3,
					  .lost_before = 3};
	struct made *made = calloc(1, sizeof(*made));
	const struct trace_event *event;
	struct trace_cursor *cursor;
	struct trace *trace;
	char text[100];

	made_header(made, sizeof(struct trace_file_header));
	made_chunk(made, (struct trace_chunk_header){.kind = TRACE_CHUNK_SCHEMA}, &schema,
		   offsetof(__typeof__(schema), text) + sizeof(schema.text));
	made_chunk(made, lost, "", 0);
	trace = made_open(made, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(trace);
	CU_ASSERT_EQUAL(trace_nr_damages(trace), 0);
	cursor = trace_cursor_new(trace, NULL, NULL);
	event = trace_cursor_next(cursor);
	CU_ASSERT_PTR_NOT_NULL_FATAL(event);
	CU_ASSERT_EQUAL(event->id, TRACE_EV_trace_lost);
	trace_event_format(trace, event, text, sizeof(text));
	CU_ASSERT_STRING_EQUAL(text, "LOST : 3 events since 0");
	trace_cursor_free(cursor);
	trace_close(trace);
	free(made);
}

/* Nothing was unpacked before, so the reader has no memory allocated. */
static void a_schema_that_unpacks_to_nothing_is_damage(void)
{
	struct made *made = calloc(1, sizeof(*made));
	unsigned char frame[64];
	struct trace *trace;

	made_header(made, sizeof(struct trace_file_header));
	made_chunk(made, (struct trace_chunk_header){.kind = TRACE_CHUNK_SCHEMA, .compression = TRACE_COMPRESSION_ZSTD},
		   frame, ZSTD_compress(frame, sizeof(frame), "", 0, 1));
	trace = made_open(made, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(trace);
	CU_ASSERT_EQUAL(trace_nr_damages(trace), 1);
	trace_close(trace);
	free(made);
}

static void a_compression_bomb_is_refused(void)
{
	struct fixture fixture = fixture_new(false);
	size_t raw = 256u << 20, room = ZSTD_compressBound(raw), packed;
	unsigned char *zeros = calloc(1, raw), *bomb = malloc(room);
	struct outcome outcome;

	packed = ZSTD_compress(bomb, room, zeros, raw, 1);
	outcome = with_payload(&fixture, bomb, packed, TRACE_RAW_MAX, TRACE_COMPRESSION_ZSTD, 0);
	CU_ASSERT_TRUE(outcome.opened && outcome.exact && outcome.detected);
	CU_ASSERT_EQUAL(outcome.missing, 5);
	outcome = with_payload(&fixture, bomb, packed, (uint32_t)raw, TRACE_COMPRESSION_ZSTD, 0);
	CU_ASSERT_TRUE(outcome.opened && outcome.exact && outcome.detected);
	CU_ASSERT_EQUAL(outcome.missing, 5);
	CU_ASSERT_TRUE(outcome.nr_damages > 0); /* refused before memory was allocated for it */
	free(zeros);
	free(bomb);
	fixture_free(&fixture);
}

/* Constant columns make large events of one byte each. The limit of a record's size applies to them
 * all the same. */
static void a_bomb_of_constant_columns_is_refused(void)
{
	struct fixture fixture = fixture_new(false);
	size_t nr = TRACE_RAW_MAX / 64 + 1, heads = sizeof(struct trace_columns_header) +
						    sizeof(struct trace_columns_times) +
						    sizeof(struct trace_columns_type);
	size_t raw = heads + nr + 70 + 2 + 8; /* ids, columns, times */
	struct trace_columns_type type = {
		.id = TRACE_EV_sys_enter6, .words = 7, .events = (uint32_t)nr, .payloads = (uint32_t)nr};
	unsigned char *payload = calloc(1, raw), *at = payload;
	struct outcome outcome;

	at = mempcpy(at, &(struct trace_columns_header){.events = (uint32_t)nr, .nr_types = 1, .first_ns = 1000},
		     sizeof(struct trace_columns_header));
	at = mempcpy(at, &(struct trace_columns_times){.step = 1ULL << 32, .code_bytes = 2},
		     sizeof(struct trace_columns_times));
	at = mempcpy(at, &type, sizeof(type));
	at += nr;
	for (int column = 0; column < 7; column++, at += 10) /* all bytes are 0 */
		at[1] = 0xff;
	outcome = with_payload(&fixture, payload, raw, (uint32_t)raw, TRACE_COMPRESSION_NONE, (uint32_t)nr);
	CU_ASSERT_TRUE(outcome.opened && outcome.exact && outcome.detected);
	CU_ASSERT_TRUE(outcome.missing >= 5);
	free(payload);
	fixture_free(&fixture);
}

/**
 * struct bombs - a file to which chunks of some hundred bytes are added that decode to megabytes of
 * events
 */
struct bombs {
	struct rawfile *file;
	uint32_t trace_id;
	unsigned char *payload; /* owned; before compression */
	unsigned char *packed;	/* owned */
	size_t room;
};

enum { BOMB_RAW = 15 << 20 };

static struct bombs bombs_new(void)
{
	struct bombs bombs = {.file = rawfile_new(),
			      .payload = calloc(1, BOMB_RAW),
			      .room = ZSTD_compressBound(BOMB_RAW)};

	bombs.packed = malloc(bombs.room);
	CU_ASSERT_EQUAL(pread(bombs.file->fd, &bombs.trace_id, 4, offsetof(struct trace_file_header, trace_id)), 4);
	lseek(bombs.file->fd, 0, SEEK_END);
	return bombs;
}

static void bombs_add(struct bombs *bombs, struct trace_chunk_header header, size_t raw)
{
	size_t packed = ZSTD_compress(bombs->packed, bombs->room, bombs->payload, raw, 1);

	memcpy(header.magic, TRACE_CHUNK_MAGIC, TRACE_MAGIC_BYTES);
	header.header_bytes = sizeof(header);
	header.trace_id = bombs->trace_id;
	header.compression = TRACE_COMPRESSION_ZSTD;
	header.raw_bytes = (uint32_t)raw;
	header.packed_bytes = (uint32_t)packed;
	header.payload_checksum = XXH3_64bits(bombs->packed, packed);
	header.checksum = XXH3_64bits(&header, offsetof(struct trace_chunk_header, checksum));
	CU_ASSERT_EQUAL(write(bombs->file->fd, &header, sizeof(header)), sizeof(header));
	CU_ASSERT_EQUAL(write(bombs->file->fd, bombs->packed, packed), (ssize_t)packed);
}

enum { BOMB_EVENTS = TRACE_RAW_MAX / 64 };

/* The maximum number of system calls that a chunk may have, all of them 0, at @ts_ns. */
static void bombs_add_events(struct bombs *bombs, uint32_t stream, uint64_t ts_ns)
{
	struct trace_columns_type type = {
		.id = TRACE_EV_sys_enter6, .words = 7, .events = BOMB_EVENTS, .payloads = BOMB_EVENTS};
	struct trace_columns_header head = {.events = BOMB_EVENTS, .nr_types = 1, .first_ns = ts_ns};
	struct trace_columns_times times = {.step = 1ULL << 32, .code_bytes = 2};
	struct trace_chunk_header header = {.kind = TRACE_CHUNK_EVENTS,
					    .encoding = TRACE_ENCODING_COLUMNS,
					    .stream = stream,
					    .seq = 1,
					    .events = BOMB_EVENTS,
					    .first_ns = ts_ns,
					    .last_ns = ts_ns};
	unsigned char *at = mempcpy(mempcpy(mempcpy(bombs->payload, &head, sizeof(head)), &times, sizeof(times)), &type,
				    sizeof(type));

	header.ids[TRACE_EV_sys_enter6 / 64] = 1ull << TRACE_EV_sys_enter6 % 64;
	at += BOMB_EVENTS;
	for (int column = 0; column < 7; column++, at += 10)
		at[1] = 0xff;
	bombs_add(bombs, header, (size_t)(at - bombs->payload) + 2 + 8);
}

static struct trace *bombs_open(struct bombs *bombs)
{
	struct trace *trace = trace_open(bombs->file->path, NULL);

	CU_ASSERT_PTR_NOT_NULL_FATAL(trace);
	CU_ASSERT(trace_get_info(trace)->file_bytes < 80 << 10);
	close(bombs->file->fd);
	trace_writer_free(bombs->file->writer);
	free(bombs->file);
	free(bombs->payload);
	free(bombs->packed);
	return trace;
}

/* Reads all events. Returns their number, and the number of lost ones. */
static uint64_t go_through(const struct trace *trace, uint64_t *ret_lost, struct trace_error *ret_error)
{
	struct trace_cursor *cursor = trace_cursor_new(
		trace, &(struct trace_cursor_options){.size = sizeof(struct trace_cursor_options), .decode_ahead = 4},
		NULL);
	const struct trace_event *event;
	uint64_t nr = 0;

	*ret_lost = 0;
	while ((event = trace_cursor_next(cursor))) {
		nr += event->id != TRACE_EV_trace_lost;
		if (event->id == TRACE_EV_trace_lost)
			*ret_lost += ((const struct trace_trace_lost *)event->payload)->lost;
	}
	CU_ASSERT_EQUAL(trace_cursor_error(cursor, ret_error), -EBADMSG);
	trace_cursor_free(cursor);
	return nr;
}

static void chunks_that_overlap_too_much_are_refused(void)
{
	struct bombs bombs = bombs_new();
	struct trace_error error = {0};
	struct trace *trace;
	uint64_t lost, nr;

	for (uint32_t i = 0; i < 20; i++)
		bombs_add_events(&bombs, i, 1000);
	trace = bombs_open(&bombs);
	nr = go_through(trace, &lost, &error);
	CU_ASSERT_EQUAL(nr + lost, 20 * BOMB_EVENTS);
	/* of 17 MiB each, so that together they take a fourth of a GiB */
	CU_ASSERT(nr >= 10 * BOMB_EVENTS && nr < 16 * BOMB_EVENTS);
	CU_ASSERT_PTR_NOT_NULL(strstr(error.message, "more events at one time than any recorder"));
	trace_close(trace);
}

static struct trace *bombs_behind_each_other(uint32_t nr)
{
	struct bombs bombs = bombs_new();

	for (uint32_t i = 0; i < nr; i++)
		bombs_add_events(&bombs, i, 1000 + i);
	return bombs_open(&bombs);
}

static void chunks_too_large_in_total_are_refused(void)
{
	uint32_t nr_chunks = 255; /* of 17 MiB each */
	struct trace_error error = {0};
	struct trace *trace;
	uint64_t lost, nr;

	if (unit_step(2) > 1)
		return; /* slow where each access is checked */
	trace = bombs_behind_each_other(nr_chunks);
	nr = go_through(trace, &lost, &error);
	CU_ASSERT_EQUAL(nr + lost, (uint64_t)nr_chunks * BOMB_EVENTS);
	CU_ASSERT(nr >= 235ull * BOMB_EVENTS && nr < 245ull * BOMB_EVENTS);
	CU_ASSERT_PTR_NOT_NULL(strstr(error.message, "has more events than a recorder can write"));
	trace_close(trace);
}

/* A recorder with large buffers can put a million equal events into 400 bytes. */
static void many_events_in_a_small_file_are_read(void)
{
	uint32_t nr_chunks = unit_step(2) == 1 ? 70 : 3;
	struct trace *trace = bombs_behind_each_other(nr_chunks);
	struct trace_cursor *cursor = trace_cursor_new(
		trace, &(struct trace_cursor_options){.size = sizeof(struct trace_cursor_options), .no_lost = true},
		NULL);
	uint64_t nr = 0;

	while (trace_cursor_next(cursor))
		nr++;
	CU_ASSERT_EQUAL(trace_cursor_error(cursor, NULL), 0);
	CU_ASSERT_EQUAL(nr, (uint64_t)nr_chunks * BOMB_EVENTS);
	trace_cursor_free(cursor);
	trace_close(trace);
}

static void names_too_large_in_total_are_refused(void)
{
	enum { NAME = 60000 };
	struct trace_string_entry entry = {.space = TRACE_STRING_SYSCALL, .text_bytes = NAME};
	struct bombs bombs = bombs_new();
	size_t raw = 0;
	struct trace *trace;

	for (; raw + sizeof(entry) + NAME <= BOMB_RAW; raw += sizeof(entry) + NAME)
		memcpy(bombs.payload + raw, &entry, sizeof(entry));
	for (uint32_t i = 0; i < 10; i++)
		bombs_add(&bombs, (struct trace_chunk_header){.kind = TRACE_CHUNK_STRINGS}, raw);
	trace = bombs_open(&bombs);
	CU_ASSERT(trace_nr_damages(trace) >= 3 && trace_nr_damages(trace) <= 7);
	CU_ASSERT_PTR_NOT_NULL(
		strstr(trace_get_damage(trace, 0)->message, "more names and types than a recorder can write"));
	trace_close(trace);
}

/* Every byte of a payload of columns takes every value, with correct checksums: the decoded events
 * are arbitrary, but nothing breaks, and the other chunks' events are exact. */
static void malformed_columns_break_nothing(void)
{
	struct fixture fixture = fixture_new(false);
	struct trace_chunk_header header;
	size_t at = (size_t)image_find(&fixture.image, TRACE_CHUNK_EVENTS, 0, &header);
	unsigned char *raw = malloc(header.raw_bytes);
	size_t nr_short = 0, step = (size_t)unit_step(3);

	if (header.compression == TRACE_COMPRESSION_ZSTD)
		ZSTD_decompress(raw, header.raw_bytes, fixture.image.data + at + header.header_bytes,
				header.packed_bytes);
	else
		memcpy(raw, fixture.image.data + at + header.header_bytes, header.raw_bytes);
	for (size_t i = 0; i < header.raw_bytes; i += step) {
		unsigned char before = raw[i];

		for (int value = 0; value < 256; value += value < 4 || value > 253 ? 1 : 25) {
			struct outcome outcome;

			raw[i] = (unsigned char)value;
			outcome = with_payload(&fixture, raw, header.raw_bytes, header.raw_bytes,
					       TRACE_COMPRESSION_NONE, 0);
			nr_short += !outcome.opened;
		}
		raw[i] = before;
		if (i % 4 == 0) {
			struct outcome outcome = with_payload(&fixture, raw, i, (uint32_t)i, TRACE_COMPRESSION_NONE, 0);

			nr_short += outcome.missing != 5 || !outcome.detected;
		}
	}
	CU_ASSERT_EQUAL(nr_short, 0);
	free(raw);
	fixture_free(&fixture);
}

/* A thread that decodes ahead finds the same damage. */
static void damage_ahead_is_the_same(void)
{
	struct trace_cursor_options alone = {.size = sizeof(alone)}, both = {.size = sizeof(both), .decode_ahead = 3};
	struct tb *tb = tb_new();
	struct image image;
	struct trace *trace;
	struct seen seen[2];

	for (uint64_t i = 0; i < 4000; i++) {
		tb_sys_exit(tb, i % 2, 1000 + i, (int64_t)i);
		if (i % 100 > 97)
			tb_cut(tb, i % 2);
	}
	image = image_new(tb, true);
	for (size_t nth = 7; nth < 80; nth += 9) {
		struct trace_chunk_header header;
		long at = image_find(&image, TRACE_CHUNK_EVENTS, nth, &header);

		CU_ASSERT_TRUE_FATAL(at > 0);
		image.data[at + header.header_bytes + 40] ^= 1;
	}
	trace = trace_open(image.path, NULL);
	seen[0] = seen_of(trace, &alone);
	seen[1] = seen_of(trace, &both);
	CU_ASSERT_TRUE(seen[0].nr_lost == 9 && seen[0].error == -EBADMSG);
	CU_ASSERT_TRUE(seen[1].nr == seen[0].nr && seen[1].lost == seen[0].lost && seen[1].nr_lost == seen[0].nr_lost &&
		       seen[1].error == seen[0].error);
	CU_ASSERT_EQUAL(memcmp(seen[0].events, seen[1].events, seen[0].nr * sizeof(*seen[0].events)), 0);
	seen_free(&seen[0]);
	seen_free(&seen[1]);
	trace_close(trace);
	image_free(&image);
	tb_free(tb);
}

static const struct unit_case cases[] = {
	{"a_table_within_the_files_header_is_refused", a_table_within_the_files_header_is_refused},
	{"a_text_of_braces_is_read_in_linear_time", a_text_of_braces_is_read_in_linear_time},
	{"types_that_share_more_than_a_schema_can_hold_are_refused",
	 types_that_share_more_than_a_schema_can_hold_are_refused},
	{"no_bytes_beyond_short_events_are_read", no_bytes_beyond_short_events_are_read},
	{"a_files_description_of_losses_is_ignored", a_files_description_of_losses_is_ignored},
	{"a_schema_that_unpacks_to_nothing_is_damage", a_schema_that_unpacks_to_nothing_is_damage},
	{"a_compression_bomb_is_refused", a_compression_bomb_is_refused},
	{"a_bomb_of_constant_columns_is_refused", a_bomb_of_constant_columns_is_refused},
	{"chunks_that_overlap_too_much_are_refused", chunks_that_overlap_too_much_are_refused},
	{"many_events_in_a_small_file_are_read", many_events_in_a_small_file_are_read},
	{"chunks_too_large_in_total_are_refused", chunks_too_large_in_total_are_refused},
	{"names_too_large_in_total_are_refused", names_too_large_in_total_are_refused},
	{"damage_ahead_is_the_same", damage_ahead_is_the_same},
	{"malformed_columns_break_nothing", malformed_columns_break_nothing},
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	return unit_main("damage_made", cases, argc, argv);
}
