/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test_user_types.c - event types that programs define: their descriptions and fields survive a
 * trace, and hostile ones break nothing. */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <trace/user_memory.h>
#include <unistd.h>
#include <zstd.h>

#include "image.h"
#include "unit.h"

/* ---- a type of every kind of field ---- */

/** struct paid - the fixed part of shop:order_paid */
struct paid {
	uint32_t tid;
	int32_t id;
	double price;
	float rate;
	uint8_t express;
	char grade;
	uint16_t count;
	uint64_t where;
	struct user_reference name;
	struct user_reference key;
};

static const struct trace_field paid_fields[] = {
	{"id", offsetof(struct paid, id), 4, true, TRACE_KIND_DEC},
	{"price", offsetof(struct paid, price), 8, true, TRACE_KIND_FLOAT},
	{"rate", offsetof(struct paid, rate), 4, true, TRACE_KIND_FLOAT},
	{"express", offsetof(struct paid, express), 1, false, TRACE_KIND_BOOL},
	{"grade", offsetof(struct paid, grade), 1, true, TRACE_KIND_CHAR},
	{"count", offsetof(struct paid, count), 2, false, TRACE_KIND_DEC},
	{"where", offsetof(struct paid, where), 8, false, TRACE_KIND_HEX},
	{"name", offsetof(struct paid, name), 4, false, TRACE_KIND_STRING},
	{"key", offsetof(struct paid, key), 4, false, TRACE_KIND_BYTES},
};

static const struct trace_event_type paid_type = {
	.name = "shop:order_paid",
	.classic = "NONE",
	.text = "",
	.doc = "",
	.program = "NONE",
	.fields = paid_fields,
	.nr_fields = sizeof(paid_fields) / sizeof(paid_fields[0]),
	.fixed_bytes = sizeof(struct paid),
	.has_string = true,
	.category = TRACE_CATEGORY_USER,
	.flags = TRACE_EVENT_ON | TRACE_EVENT_TID,
	.role = TRACE_ROLE_BEGIN,
	.source = "shop.c:12 pay",
};

static const struct trace_field number_fields[] = {{"n", 4, 4, true, TRACE_KIND_DEC}};

/* A type with one number and the given name. */
static struct trace_event_type number_type(const char *name)
{
	return (struct trace_event_type){.name = name,
					 .classic = "NONE",
					 .text = "",
					 .doc = "",
					 .program = "NONE",
					 .fields = number_fields,
					 .nr_fields = 1,
					 .fixed_bytes = 8,
					 .category = TRACE_CATEGORY_USER,
					 .flags = TRACE_EVENT_TID,
					 .source = ""};
}

static void add_paid(struct tb *tb, uint16_t id, uint64_t ts_ns, const char *name, size_t name_bytes, const void *key,
		     size_t key_bytes)
{
	unsigned char payload[512] = {0};
	struct paid paid = {.tid = 42,
			    .id = -7,
			    .price = 12.5,
			    .rate = 0.1f,
			    .express = 1,
			    .grade = 'a',
			    .count = 3,
			    .where = 0xdead};

	paid.name = (struct user_reference){sizeof(paid), (uint16_t)name_bytes};
	paid.key = (struct user_reference){(uint16_t)(sizeof(paid) + name_bytes), (uint16_t)key_bytes};
	memcpy(payload, &paid, sizeof(paid));
	memcpy(payload + sizeof(paid), name, name_bytes);
	memcpy(payload + sizeof(paid) + name_bytes, key, key_bytes);
	tb_user_event(tb, 1, ts_ns, id, payload, sizeof(paid) + name_bytes + key_bytes);
}

static void add_number(struct tb *tb, uint16_t id, uint64_t ts_ns, int32_t n)
{
	tb_user_event(tb, 1, ts_ns, id, &(struct {
			      uint32_t tid;
			      int32_t n;
		      }){42, n},
		      8);
}

/* The first event of a program in @trace. The caller frees the cursor. */
static const struct trace_event *first_user(struct trace_cursor **ret_cursor, const struct trace *trace)
{
	struct trace_cursor_options options = {.size = sizeof(options)};
	uint64_t mask[TRACE_MASK_WORDS] = {0};

	mask[TRACE_EV_USER / 64] |= 1ull << TRACE_EV_USER % 64;
	options.mask = mask;
	*ret_cursor = trace_cursor_new(trace, &options, NULL);
	return trace_cursor_next(*ret_cursor);
}

/* ---- round trips ---- */

static void a_type_comes_back_as_it_was_described(void)
{
	struct tb *tb = tb_new();
	const struct trace_event_type *type;
	uint16_t id = tb_user_type(tb, &paid_type);
	struct trace *trace;

	CU_ASSERT_EQUAL(id, TRACE_EV_MAX);
	add_paid(tb, id, 1000, "bob", 3, "", 0);
	trace = tb_open_trace(tb);
	type = trace_type_by_id(trace, id);
	CU_ASSERT_PTR_NOT_NULL_FATAL(type);
	CU_ASSERT_STRING_EQUAL(type->name, "shop:order_paid");
	CU_ASSERT_EQUAL(trace_nr_types(trace), trace_catalogue_size() + 1);
	CU_ASSERT_EQUAL(type->id, id);
	CU_ASSERT_EQUAL(type->role, TRACE_ROLE_BEGIN);
	CU_ASSERT_EQUAL(type->flags, TRACE_EVENT_ON | TRACE_EVENT_TID);
	CU_ASSERT_EQUAL(type->category, TRACE_CATEGORY_USER);
	CU_ASSERT_STRING_EQUAL(type->source, "shop.c:12 pay");
	CU_ASSERT_EQUAL_FATAL(type->nr_fields, paid_type.nr_fields);
	for (size_t i = 0; i < type->nr_fields; i++) {
		CU_ASSERT_STRING_EQUAL(type->fields[i].name, paid_fields[i].name);
		CU_ASSERT_EQUAL(type->fields[i].kind, paid_fields[i].kind);
		CU_ASSERT_EQUAL(type->fields[i].offset, paid_fields[i].offset);
		CU_ASSERT_EQUAL(type->fields[i].is_signed, paid_fields[i].is_signed);
	}
	CU_ASSERT_EQUAL(trace_type_by_id(trace, TRACE_EV_sched_switch)->role, TRACE_ROLE_EVENT);
	CU_ASSERT_STRING_EQUAL(trace_type_by_id(trace, TRACE_EV_sched_switch)->source, "");
	trace_close(trace);
	tb_free(tb);
}

static void fields_of_every_kind_come_back(void)
{
	struct tb *tb = tb_new();
	uint16_t id = tb_user_type(tb, &paid_type);
	const struct trace_event_type *type;
	const struct trace_event *event;
	struct trace_cursor *cursor;
	struct trace *trace;
	const void *at;
	size_t bytes;

	add_paid(tb, id, 1000, "bob\0by", 6, "\1\0\2\0", 4);
	trace = tb_open_trace(tb);
	event = first_user(&cursor, trace);
	CU_ASSERT_PTR_NOT_NULL_FATAL(event);
	type = event->type;
	CU_ASSERT_EQUAL(event->id, id);
	CU_ASSERT_EQUAL(event->stream, TB_USER_STREAM + 1);
	CU_ASSERT_EQUAL(event->cpu, 1);
	CU_ASSERT_EQUAL(((const struct paid *)event->payload)->tid, 42);
	CU_ASSERT_EQUAL((int64_t)trace_event_u64(event, trace_type_field(type, "id")), -7);
	CU_ASSERT_EQUAL(trace_event_double(event, trace_type_field(type, "id")), -7);
	CU_ASSERT_EQUAL(trace_event_double(event, trace_type_field(type, "count")), 3);
	CU_ASSERT_EQUAL(trace_event_double(event, trace_type_field(type, "price")), 12.5);
	CU_ASSERT_EQUAL(trace_event_double(event, trace_type_field(type, "rate")), 0.1f);
	CU_ASSERT_EQUAL(trace_event_double(event, NULL), 0);
	at = trace_event_bytes(event, trace_type_field(type, "name"), &bytes);
	CU_ASSERT_EQUAL_FATAL(bytes, 6);
	CU_ASSERT_EQUAL(memcmp(at, "bob\0by", 6), 0);
	at = trace_event_bytes(event, trace_type_field(type, "key"), &bytes);
	CU_ASSERT_EQUAL_FATAL(bytes, 4);
	CU_ASSERT_EQUAL(memcmp(at, "\1\0\2\0", 4), 0);
	CU_ASSERT_PTR_NULL(trace_event_bytes(event, trace_type_field(type, "id"), &bytes));
	CU_ASSERT_EQUAL(bytes, 0);
	CU_ASSERT_STRING_EQUAL(trace_event_string(event), "");
	CU_ASSERT_EQUAL(trace_verify(trace, NULL), 0);
	trace_cursor_free(cursor);
	trace_close(trace);
	tb_free(tb);
}

static void the_text_has_all_fields_and_cannot_be_forged(void)
{
	struct tb *tb = tb_new();
	uint16_t id = tb_user_type(tb, &paid_type);
	const struct trace_event *event;
	struct trace_cursor *cursor;
	struct trace *trace;
	char text[512];

	add_paid(tb, id, 1000, "b\"o\\b\n\33\xff\xc3\xa4", 10, "\x01\xab", 2);
	trace = tb_open_trace(tb);
	event = first_user(&cursor, trace);
	CU_ASSERT_PTR_NOT_NULL_FATAL(event);
	trace_event_format(trace, event, text, sizeof(text));
	CU_ASSERT_STRING_EQUAL(text, "id=-7 price=12.5 rate=0.1 express=1 grade='a' count=3 where=0xdead "
				     "name=\"b\\\"o\\\\b\\n\\x1b\\xff\xc3\xa4\" key=01ab");
	trace_cursor_free(cursor);
	trace_close(trace);
	tb_free(tb);
}

/* The string of a kernel event, read by its field. */
static void bytes_of_a_catalogue_event_are_its_string(void)
{
	struct tb *tb = tb_new();
	const struct trace_event *event;
	struct trace_cursor *cursor;
	struct trace *trace;
	size_t bytes;

	tb_exec(tb, 0, 1000, 42, "/bin/true");
	trace = tb_open_trace(tb);
	cursor = trace_cursor_new(trace, NULL, NULL);
	event = trace_cursor_next(cursor);
	CU_ASSERT_PTR_NOT_NULL_FATAL(event);
	CU_ASSERT_STRING_EQUAL(trace_event_bytes(event, trace_type_field(event->type, "path"), &bytes), "/bin/true");
	CU_ASSERT_EQUAL(bytes, 9);
	trace_cursor_free(cursor);
	trace_close(trace);
	tb_free(tb);
}

/* More types than a chunk can have, in one block. Every seventh type has a second event, out of
 * order. */
static void a_block_of_a_thousand_types_loses_nothing(void)
{
	enum { NR = 1000 };
	struct tb *tb = tb_new();
	const struct trace_event *event;
	struct trace_cursor *cursor;
	struct trace *trace;
	size_t nr = 0;
	uint64_t before = 0;

	for (int i = 0; i < NR; i++) {
		char name[32];

		snprintf(name, sizeof(name), "many:event%d", i);
		tb_user_type(tb, &(struct trace_event_type[]){number_type(name)}[0]);
	}
	for (int i = 0; i < NR; i++) {
		add_number(tb, (uint16_t)(TRACE_EV_MAX + i), 1000 + 10 * (uint64_t)i, i);
		if (i % 7 == 0)
			add_number(tb, (uint16_t)(TRACE_EV_MAX + i / 2), 995 + 10 * (uint64_t)i, i);
	}
	tb_switch(tb, 1, 5000, 0, 42, 0);
	trace = tb_open_trace(tb);
	CU_ASSERT_TRUE(trace_nr_chunks(trace) > NR / 255);
	CU_ASSERT_EQUAL(trace_nr_gaps(trace), 0);
	cursor = trace_cursor_new(trace, NULL, NULL);
	while ((event = trace_cursor_next(cursor))) {
		CU_ASSERT_TRUE(event->ts_ns >= before);
		before = event->ts_ns;
		if (event->id >= TRACE_EV_MAX && event->ts_ns % 10 == 0) {
			uint64_t n = trace_event_u64(event, &event->type->fields[0]);

			CU_ASSERT_EQUAL(event->id, TRACE_EV_MAX + n);
			CU_ASSERT_EQUAL(event->ts_ns, 1000 + 10 * n);
		}
		nr += event->id >= TRACE_EV_MAX;
	}
	CU_ASSERT_EQUAL(nr, NR + (NR + 6) / 7);
	CU_ASSERT_EQUAL(trace_verify(trace, NULL), 0);
	CU_ASSERT_EQUAL(trace_cursor_end(cursor, NULL), 0);
	trace_close(trace);
	tb_free(tb);
}

static void a_mask_chooses_between_programs_and_the_kernel(void)
{
	struct tb *tb = tb_new();
	uint16_t id = tb_user_type(tb, &(struct trace_event_type[]){number_type("a:b")}[0]);
	struct trace_cursor_options options = {.size = sizeof(options)};
	uint64_t mask[TRACE_MASK_WORDS] = {1ull << TRACE_EV_sched_switch};
	const struct trace_event *event;
	struct trace_cursor *cursor;
	struct trace *trace;

	tb_switch(tb, 1, 900, 0, 42, 0);
	add_number(tb, id, 1000, 1);
	tb_switch(tb, 1, 1100, 42, 0, 0);
	trace = tb_open_trace(tb);
	event = first_user(&cursor, trace);
	CU_ASSERT_PTR_NOT_NULL_FATAL(event);
	CU_ASSERT_EQUAL(event->id, id);
	CU_ASSERT_PTR_NULL(trace_cursor_next(cursor));
	trace_cursor_free(cursor);
	options.mask = mask;
	cursor = trace_cursor_new(trace, &options, NULL);
	CU_ASSERT_EQUAL(trace_cursor_next(cursor)->ts_ns, 900);
	CU_ASSERT_EQUAL(trace_cursor_next(cursor)->ts_ns, 1100);
	CU_ASSERT_PTR_NULL(trace_cursor_next(cursor));
	trace_cursor_free(cursor);
	trace_close(trace);
	tb_free(tb);
}

/* ---- the writer ---- */

static struct trace_writer *writer_on_memory(int *ret_fd)
{
	*ret_fd = memfd_create("trace", MFD_CLOEXEC);
	return trace_writer_new(*ret_fd, NULL, NULL);
}

static void the_same_description_has_the_same_id(void)
{
	struct trace_event_type a = number_type("a:a"), b = number_type("a:b"), c = number_type("a:a");
	struct trace_error error;
	uint16_t ids[4];
	int fd;
	struct trace_writer *writer = writer_on_memory(&fd);

	c.role = TRACE_ROLE_END;
	CU_ASSERT_EQUAL(trace_writer_event_type(writer, &a, &ids[0], &error), 0);
	CU_ASSERT_EQUAL(trace_writer_event_type(writer, &b, &ids[1], &error), 0);
	CU_ASSERT_EQUAL(trace_writer_event_type(writer, &c, &ids[2], &error), 0);
	a.id = 7; /* does not count */
	CU_ASSERT_EQUAL(trace_writer_event_type(writer, &a, &ids[3], &error), 0);
	CU_ASSERT_EQUAL(ids[0], TRACE_EV_MAX);
	CU_ASSERT_EQUAL(ids[1], TRACE_EV_MAX + 1);
	CU_ASSERT_EQUAL(ids[2], TRACE_EV_MAX + 2);
	CU_ASSERT_EQUAL(ids[3], ids[0]);
	CU_ASSERT_STRING_EQUAL(trace_writer_type(writer, ids[1])->name, "a:b");
	CU_ASSERT_STRING_EQUAL(trace_writer_type(writer, TRACE_EV_sched_switch)->name, "sched_switch");
	CU_ASSERT_PTR_NULL(trace_writer_type(writer, TRACE_EV_MAX + 3));
	trace_writer_free(writer);
	close(fd);
}

static void descriptions_that_make_no_sense_are_refused(void)
{
	struct trace_field outside = {"n", 8, 4, true, TRACE_KIND_DEC}, odd = {"n", 4, 3, true, TRACE_KIND_DEC};
	struct trace_field half = {"f", 4, 2, true, TRACE_KIND_FLOAT}, wide = {"s", 0, 8, false, TRACE_KIND_STRING};
	struct trace_event_type type;
	struct trace_error error;
	uint16_t id = 0;
	int fd;
	struct trace_writer *writer = writer_on_memory(&fd);
	const struct trace_field *bad[] = {&outside, &odd, &half, &wide};
	char *name = malloc(100000);

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		type = number_type("a:b");
		type.fields = bad[i];
		CU_ASSERT_EQUAL(trace_writer_event_type(writer, &type, &id, &error), -EINVAL);
	}
	type = number_type("a:b");
	type.fixed_bytes = 12;
	CU_ASSERT_EQUAL(trace_writer_event_type(writer, &type, &id, &error), -EINVAL);
	memset(name, 'x', 99999);
	name[99999] = '\0';
	type = number_type(name);
	CU_ASSERT_EQUAL(trace_writer_event_type(writer, &type, &id, &error), -EINVAL);
	CU_ASSERT_EQUAL(id, 0);
	free(name);
	trace_writer_free(writer);
	close(fd);
}

static void all_ids_can_be_used_and_no_more(void)
{
	struct trace_error error;
	uint16_t id = 0;
	int fd, result = 0;
	struct trace_writer *writer = writer_on_memory(&fd);

	for (int i = 0; i < 65536 - TRACE_EV_MAX && !result; i++) {
		char name[32];

		snprintf(name, sizeof(name), "many:%d", i);
		result = trace_writer_event_type(writer, &(struct trace_event_type[]){number_type(name)}[0], &id,
						 &error);
	}
	CU_ASSERT_EQUAL(result, 0);
	CU_ASSERT_EQUAL(id, 65535);
	CU_ASSERT_EQUAL(trace_writer_event_type(writer, &(struct trace_event_type[]){number_type("one:more")}[0], &id,
						&error),
			-ENOSPC);
	CU_ASSERT_EQUAL(trace_writer_event_type(writer, &(struct trace_event_type[]){number_type("many:7")}[0], &id,
						&error),
			0);
	CU_ASSERT_EQUAL(id, TRACE_EV_MAX + 7);
	trace_writer_free(writer);
	close(fd);
}

/* A type described while other threads pack and write is in the file before the events that need
 * it. */
static void *describe(void *argument)
{
	struct trace_error error;
	uint16_t id;

	for (int i = 0; i < 2000; i++) {
		char name[32];

		snprintf(name, sizeof(name), "beside:%d", i);
		if (trace_writer_event_type(argument, &(struct trace_event_type[]){number_type(name)}[0], &id, &error) <
		    0)
			abort();
	}
	return NULL;
}

static void types_may_be_described_while_writing(void)
{
	struct trace_error error;
	struct trace *trace;
	pthread_t thread;
	char path[64];
	int fd;
	struct trace_writer *writer = writer_on_memory(&fd);
	uint64_t seq = 0, stored = 0;

	pthread_create(&thread, NULL, describe, writer);
	for (uint32_t id = TRACE_EV_MAX; id < TRACE_EV_MAX + 2000; id++) {
		uint64_t record[2] = {(uint64_t)2 << 48 | (uint64_t)id << 32, 5};
		struct trace_source source = {.records = record,
					      .bytes = 16,
					      .base_ns = 0,
					      .seq = ++seq,
					      .stream = 9,
					      .nr_records = 1,
					      .kind = TRACE_CHUNK_EVENTS};

		while (!trace_writer_type(writer, id))
			usleep(10);
		if (trace_writer_write(writer, trace_writer_pack(writer, &source, &error), &error) < 0)
			abort();
		stored++;
	}
	pthread_join(thread, NULL);
	CU_ASSERT_EQUAL(trace_writer_finish(writer, &error), 0);
	trace_writer_free(writer);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	trace = trace_open(path, &error);
	CU_ASSERT_PTR_NOT_NULL_FATAL(trace);
	CU_ASSERT_EQUAL(trace_get_info(trace)->events, stored);
	CU_ASSERT_EQUAL(trace_verify(trace, NULL), 0);
	trace_close(trace);
	close(fd);
}

/* Packs one record of @words with @id. Returns what the trace then contains. */
static struct seen seen_of_record(struct trace_writer *writer, int fd, uint64_t *words, size_t nr_words, uint16_t id,
				  uint64_t *ret_lost)
{
	struct trace_source source = {.records = words,
				      .bytes = nr_words * 8,
				      .seq = 1,
				      .stream = 9,
				      .nr_records = 1,
				      .kind = TRACE_CHUNK_EVENTS};
	struct trace_stream_stats stats = {.stream = 9, .stored = 1, .attempted = 1};
	struct trace_error error;
	struct trace *trace;
	struct seen seen;
	char path[64];

	words[0] = (uint64_t)nr_words << 48 | (uint64_t)id << 32;
	if (trace_writer_write(writer, trace_writer_pack(writer, &source, &error), &error) < 0 ||
	    trace_writer_statistics(writer, &stats, 1, 1, &error) < 0 || trace_writer_finish(writer, &error) < 0)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	trace = trace_open(path, &error);
	CU_ASSERT_PTR_NOT_NULL_FATAL(trace);
	CU_ASSERT_EQUAL(trace_verify(trace, NULL), 0);
	*ret_lost = trace_get_info(trace)->lost;
	seen = seen_of(trace,
		       &(struct trace_cursor_options){.size = sizeof(struct trace_cursor_options), .no_lost = true});
	trace_close(trace);
	return seen;
}

/* A record with a reference out of its bounds, or shorter than its type, is left out and
 * counted. */
static void records_that_their_type_does_not_allow_are_counted(void)
{
	static const struct {
		uint16_t offset, bytes, words;
		bool good;
	} cases[] = {
		{48, 8, 8, true}, {48, 9, 8, false}, {56, 1, 8, false}, {65535, 65535, 8, false}, {0, 40, 6, true},
		{0, 0, 5, false}, {0, 0, 6, true},   {48, 0, 6, false}, {36, 4, 6, true},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint64_t words[16] = {0}, lost;
		struct paid paid = {.name = {cases[i].offset, cases[i].bytes}};
		struct trace_error error;
		struct seen seen;
		uint16_t id;
		int fd;
		struct trace_writer *writer = writer_on_memory(&fd);

		CU_ASSERT_EQUAL(sizeof(paid), 40);
		memcpy(&words[1], &paid, sizeof(paid));
		if (trace_writer_event_type(writer, &paid_type, &id, &error) < 0)
			abort();
		seen = seen_of_record(writer, fd, words, cases[i].words, id, &lost);
		CU_ASSERT_EQUAL(seen.nr, cases[i].good);
		CU_ASSERT_EQUAL(lost, !cases[i].good);
		seen_free(&seen);
		trace_writer_free(writer);
		close(fd);
	}
}

/* ---- damage ---- */

static struct tb *two_types(void)
{
	struct tb *tb = tb_new();
	uint16_t a = tb_user_type(tb, &paid_type),
		 b = tb_user_type(tb, &(struct trace_event_type[]){number_type("a:b")}[0]);

	tb_switch(tb, 0, 900, 0, 42, 0);
	for (int i = 0; i < 4; i++) {
		add_paid(tb, a, 1000 + 10 * (uint64_t)i, "customer", (size_t)i, "12345678", (size_t)i * 2);
		add_number(tb, b, 1005 + 10 * (uint64_t)i, i);
	}
	return tb;
}

/* Reads every field of every event; the sanitizers check the bounds. */
static size_t read_everything(const struct trace *trace)
{
	struct trace_cursor *cursor = trace_cursor_new(trace, NULL, NULL);
	const struct trace_event *event;
	size_t sum = 0, nr = 0;
	char text[300];

	while ((event = trace_cursor_next(cursor))) {
		for (size_t i = 0; i < event->type->nr_fields; i++) {
			size_t bytes;
			const unsigned char *at = trace_event_bytes(event, &event->type->fields[i], &bytes);

			for (size_t j = 0; j < bytes; j++)
				sum += at[j];
			sum += trace_event_u64(event, &event->type->fields[i]);
		}
		trace_event_format(trace, event, text, sizeof(text));
		sum += strlen(text) + strlen(trace_event_string(event));
		nr += event->id != TRACE_EV_trace_lost;
	}
	CU_ASSERT_NOT_EQUAL(trace_cursor_end(cursor, NULL), -ENOMEM);
	return sum == 1 ? 0 : nr;
}

/* A trace without an index, with its second schema chunk uncompressed. */
static struct image image_plain_schema(struct tb *tb)
{
	struct image image = image_new(tb, false), plain;
	struct trace_chunk_header header;
	long at = image_find(&image, TRACE_CHUNK_SCHEMA, 1, &header);
	unsigned char *data, *payload = image.data + at + header.header_bytes;
	size_t after = (size_t)at + header.header_bytes + header.packed_bytes;

	CU_ASSERT_TRUE_FATAL(at > 0);
	data = malloc(image.bytes + header.raw_bytes);
	memcpy(data, image.data, (size_t)at + header.header_bytes);
	if (header.compression == TRACE_COMPRESSION_ZSTD)
		ZSTD_decompress(data + at + header.header_bytes, header.raw_bytes, payload, header.packed_bytes);
	else
		memcpy(data + at + header.header_bytes, payload, header.raw_bytes);
	memcpy(data + at + header.header_bytes + header.raw_bytes, image.data + after, image.bytes - after);
	plain = image_of(data, image.bytes - header.packed_bytes + header.raw_bytes);
	header.compression = TRACE_COMPRESSION_NONE;
	header.packed_bytes = header.raw_bytes;
	image_put_chunk(&plain, (size_t)at, &header);
	image_free(&image);
	free(data);
	return plain;
}

/* Every byte of the programs' schema chunk takes several values, with correct checksums. The
 * kernel's events always stay intact. */
static void hostile_schema_chunks_break_nothing(void)
{
	struct tb *tb = two_types();
	struct image image = image_plain_schema(tb);
	struct trace_chunk_header header;
	long at = image_find(&image, TRACE_CHUNK_SCHEMA, 1, &header);
	unsigned char *payload = image.data + at + header.header_bytes;
	size_t nr_opened = 0, nr_switches = 0, nr = 0, step = (size_t)unit_step(7);

	CU_ASSERT_EQUAL_FATAL(header.compression, TRACE_COMPRESSION_NONE);
	for (size_t i = 0; i < header.packed_bytes; i += step) {
		static const unsigned char values[] = {0, 1, 2, 4, 8, 0x7f, 0x80, 0xfe, 0xff};
		unsigned char before = payload[i];

		for (size_t j = 0; j < sizeof(values); j++, nr++) {
			struct trace *trace;

			payload[i] = values[j];
			image_put_chunk(&image, (size_t)at, &header);
			trace = trace_open(image.path, NULL);
			nr_opened += trace != NULL;
			if (trace)
				nr_switches += read_everything(trace) >= 1;
			CU_ASSERT_NOT_EQUAL(trace_verify(trace, NULL), -ENOMEM);
			trace_close(trace);
		}
		payload[i] = before;
	}
	CU_ASSERT_EQUAL(nr_opened, nr);
	CU_ASSERT_TRUE(nr > 1000 / step);
	CU_ASSERT_EQUAL(nr_switches, nr);
	image_free(&image);
	tb_free(tb);
}

/* Without the description the events are lost and counted; all others are read. */
static void a_damaged_description_costs_the_events_of_programs_only(void)
{
	struct tb *tb = two_types();
	struct image image = image_new(tb, true);
	struct trace_chunk_header header;
	long at = image_find(&image, TRACE_CHUNK_SCHEMA, 1, &header);
	struct trace *trace;
	struct seen seen;

	CU_ASSERT_TRUE_FATAL(at > 0);
	image.data[at + header.header_bytes + 9] ^= 1;
	trace = trace_open(image.path, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(trace);
	seen = seen_of(trace, NULL);
	CU_ASSERT_EQUAL(seen.nr, 1); /* the switch */
	CU_ASSERT_EQUAL(seen.lost, 8);
	CU_ASSERT_EQUAL(trace_verify(trace, NULL), -EBADMSG);
	seen_free(&seen);
	trace_close(trace);
	image_free(&image);
	tb_free(tb);
}

static void every_truncation_keeps_the_described_events(void)
{
	struct tb *tb = two_types();
	struct image image = image_new(tb, true);

	for (size_t bytes = image.bytes; bytes > 0; bytes -= bytes > 200 ? 7 * (size_t)unit_step(5) : 1) {
		struct image part = image_of(image.data, bytes);
		struct trace *trace = trace_open(part.path, NULL);

		if (trace)
			CU_ASSERT_TRUE(read_everything(trace) <= 9);
		trace_close(trace);
		image_free(&part);
	}
	image_free(&image);
	tb_free(tb);
}

static const struct unit_case cases[] = {
	{"a_type_comes_back_as_it_was_described", a_type_comes_back_as_it_was_described},
	{"fields_of_every_kind_come_back", fields_of_every_kind_come_back},
	{"the_text_has_all_fields_and_cannot_be_forged", the_text_has_all_fields_and_cannot_be_forged},
	{"bytes_of_a_catalogue_event_are_its_string", bytes_of_a_catalogue_event_are_its_string},
	{"a_block_of_a_thousand_types_loses_nothing", a_block_of_a_thousand_types_loses_nothing},
	{"a_mask_chooses_between_programs_and_the_kernel", a_mask_chooses_between_programs_and_the_kernel},
	{"the_same_description_has_the_same_id", the_same_description_has_the_same_id},
	{"descriptions_that_make_no_sense_are_refused", descriptions_that_make_no_sense_are_refused},
	{"all_ids_can_be_used_and_no_more", all_ids_can_be_used_and_no_more},
	{"types_may_be_described_while_writing", types_may_be_described_while_writing},
	{"records_that_their_type_does_not_allow_are_counted", records_that_their_type_does_not_allow_are_counted},
	{"hostile_schema_chunks_break_nothing", hostile_schema_chunks_break_nothing},
	{"a_damaged_description_costs_the_events_of_programs_only",
	 a_damaged_description_costs_the_events_of_programs_only},
	{"every_truncation_keeps_the_described_events", every_truncation_keeps_the_described_events},
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	return unit_main("user types", cases, argc, argv);
}
