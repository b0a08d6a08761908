/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_round_trip.c - the reader returns everything that is recorded, bit for bit: random blocks of
 * records through the writer and the reader.
 *
 * The records are events of all kinds, with payloads that repeat or never do, and records for
 * several events. The distances of their times range from 0 to 2^32 ns, and they are in order,
 * nearly so, or not at all. The test keeps the expected result: the same events, sorted by time
 * within each block, and in the order of recording where times are equal.
 *
 * 	TRACE_TEST_LONG: 2000 traces, some minutes
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <trace/events.h>
#include <trace/reader.h>
#include <trace/user_memory.h>
#include <trace/writer.h>
#include <unistd.h>

#include "unit.h"

enum {
	NR_TRACES = 60,
	NR_TRACES_LONG = 2000,
	MOST_BYTES = 3 << 20, /* of a block's records */
	MOST_TEXT = 1200,
	MOST_IDS = 40, /* event types that a block has */
	STREAM = 4,
};
#define LAST_OFFSET 0xffffffffull /* of a time, from the block's begin */

/**
 * struct expected - an event that should be read back
 * @payload: its position in the story's payloads
 */
struct expected {
	uint64_t ts_ns;
	size_t payload;
	size_t order;
	uint32_t id;
	uint32_t bytes;
};

/**
 * struct story - a trace: the records of the current block, and the events expected of all blocks
 */
struct story {
	uint64_t seed;
	struct trace_writer *writer;
	uint16_t program_id; /* event type of a program */
	unsigned char *records;
	size_t bytes;
	uint32_t nr_records;
	struct expected *expected;
	size_t nr, room;
	unsigned char *payloads;
	size_t payload_bytes, payload_room;
};

/**
 * struct style - the parameters of a block: kinds of distances, of disorder and of words
 */
struct style {
	unsigned int distances, disorder, words;
	uint16_t ids[MOST_IDS];
	unsigned int nr_ids;
};

static uint64_t roll(struct story *story)
{
	uint64_t x = story->seed += 0x9e3779b97f4a7c15ULL; /* splitmix64 */

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ x >> 27) * 0x94d049bb133111ebULL;
	return x ^ x >> 31;
}

static uint64_t below(struct story *story, uint64_t n)
{
	return roll(story) % n;
}

/* ---- records, and expected events ---- */

static void expect(struct story *story, uint64_t ts_ns, uint32_t id, const void *payload, size_t bytes)
{
	if (story->nr == story->room) {
		story->room = 2 * story->room + 4096;
		story->expected = reallocarray(story->expected, story->room, sizeof(*story->expected));
	}
	if (story->payload_bytes + bytes > story->payload_room) {
		story->payload_room = 2 * (story->payload_room + bytes);
		story->payloads = realloc(story->payloads, story->payload_room);
	}
	story->expected[story->nr] = (struct expected){.ts_ns = ts_ns,
						       .payload = story->payload_bytes,
						       .order = story->nr,
						       .id = id,
						       .bytes = (uint32_t)bytes};
	memcpy(story->payloads + story->payload_bytes, payload, bytes);
	story->payload_bytes += bytes;
	story->nr++;
}

static void record(struct story *story, uint64_t ts_ns, uint32_t id, const uint64_t *words, size_t nr_words,
		   uint32_t nr_events)
{
	struct trace_record record = {.time = (uint32_t)ts_ns, .id = (uint16_t)id, .words = (uint8_t)(1 + nr_words)};

	memcpy(mempcpy(story->records + story->bytes, &record, sizeof(record)), words, 8 * nr_words);
	story->bytes += 8 + 8 * nr_words;
	story->nr_records += nr_events;
}

static uint64_t random_word(struct story *story, const struct style *style)
{
	switch (style->words) {
	case 0:
		return below(story, 4);
	case 1:
		return below(story, 300);
	case 2:
		return below(story, 70000);
	case 3:
		return 0x7fff00000000 + below(story, 16) * 4096;
	case 4:
		return roll(story) >> below(story, 64);
	default:
		return roll(story);
	}
}

/* Writes a text and its NUL at @at. Returns its bytes including the NUL. The rest of the last word
 * is random, but for its last byte, which is a NUL. */
static size_t random_text(struct story *story, void *at)
{
	size_t length = below(story, 20) ? below(story, 40) : below(story, MOST_TEXT);
	bool repeats = below(story, 2);
	char *text = at;

	for (size_t i = 0; i < (length & ~(size_t)7) + 7; i++)
		text[i] = (char)(repeats ? 'a' + (length + i) % 3 : 1 + below(story, 255));
	text[length] = text[length | 7] = '\0';
	return length + 1;
}

static void record_call(struct story *story, const struct style *style, uint64_t base_ns, uint64_t offset, uint32_t id)
{
	bool has_path = id < TRACE_RECORD_CALL, has_exit = id >= TRACE_RECORD_PATH_CALL;
	size_t entry_words = 1 + 3 * ((id - TRACE_RECORD_PATH_ENTRY) % 3), nr = 2 + entry_words, bytes;
	uint64_t words[16 + MOST_TEXT / 8], elapsed = below(story, 3)	? below(story, 5000)
						      : below(story, 2) ? roll(story) >> 32
									: 0;

	elapsed = elapsed < LAST_OFFSET - offset ? elapsed : LAST_OFFSET - offset;
	words[0] = elapsed;
	for (size_t i = 1; i < nr; i++)
		words[i] = random_word(story, style);
	expect(story, base_ns + offset, TRACE_EV_sys_enter + (id - TRACE_RECORD_PATH_ENTRY) % 3, words + 2,
	       8 * entry_words);
	if (has_path) {
		words[nr] = random_word(story, style);
		bytes = random_text(story, &words[nr + 1]);
		expect(story, base_ns + offset, TRACE_EV_sys_path, &words[nr], 8 + bytes);
		nr += 1 + (bytes + 7) / 8;
	}
	if (has_exit)
		expect(story, base_ns + offset + elapsed, TRACE_EV_sys_exit, &words[1], 8);
	record(story, base_ns + offset, id, words, nr, 1u + has_path + has_exit);
}

/* A number, two references, and other numbers until @fixed; behind them the bytes referred to. */
static void record_with_references(struct story *story, const struct style *style, uint64_t ts_ns, uint16_t id,
				   uint16_t fixed)
{
	struct user_reference references[2] = {{.offset = fixed, .bytes = (uint16_t)below(story, 20)}};
	uint64_t words[8] = {random_word(story, style)};
	size_t bytes = fixed;

	references[1] = (struct user_reference){.offset = (uint16_t)(fixed + references[0].bytes),
						.bytes = (uint16_t)below(story, 9)};
	memcpy(&words[1], references, sizeof(references));
	for (size_t i = 2; i < fixed / 8u; i++)
		words[i] = random_word(story, style);
	for (size_t i = 0; i < (size_t)references[0].bytes + references[1].bytes; i++)
		((unsigned char *)words)[bytes++] = (unsigned char)below(story, 256);
	record(story, ts_ns, id, words, (bytes + 7) / 8, 1);
	((unsigned char *)words)[bytes] = '\0'; /* part of the record */
	expect(story, ts_ns, id, words, bytes + 1);
}

/* An event of the catalogue with references: two lists of addresses. */
static void record_sample(struct story *story, const struct style *style, uint64_t ts_ns)
{
	struct user_reference references[2] = {
		{.offset = sizeof(struct trace_sample), .bytes = (uint16_t)(8 * below(story, 4))}};
	struct {
		struct trace_sample sample;
		uint64_t addresses[8];
	} payload = {.sample = {.tid = (uint32_t)random_word(story, style), .ip = random_word(story, style)}};
	size_t nr;

	references[1] = (struct user_reference){.offset = (uint16_t)(references[0].offset + references[0].bytes),
						.bytes = (uint16_t)(8 * below(story, 4))};
	memcpy(&payload.sample.kernel, &references[0], sizeof(references[0]));
	memcpy(&payload.sample.user, &references[1], sizeof(references[1]));
	nr = (size_t)(references[0].bytes + references[1].bytes) / 8;
	for (size_t i = 0; i < nr; i++)
		payload.addresses[i] = random_word(story, style);
	record(story, ts_ns, TRACE_EV_sample, (const uint64_t *)&payload, sizeof(payload.sample) / 8 + nr, 1);
	payload.addresses[nr] = 0; /* its first byte is part of the event */
	expect(story, ts_ns, TRACE_EV_sample, (const uint64_t *)&payload, sizeof(payload.sample) + 8 * nr + 1);
}

/* The other one: the memory of an argument. */
static void record_data(struct story *story, const struct style *style, uint64_t ts_ns)
{
	struct {
		struct trace_sys_data data;
		uint64_t content[8];
	} payload = {.data = {.argument = (uint8_t)below(story, 6), .bytes = random_word(story, style)}};
	size_t nr = below(story, 8);

	payload.data.content = (uint32_t)(sizeof(payload.data) | nr * 8 << 16);
	for (size_t i = 0; i < nr; i++)
		payload.content[i] = random_word(story, style);
	record(story, ts_ns, TRACE_EV_sys_data, (const uint64_t *)&payload, sizeof(payload.data) / 8 + nr, 1);
	payload.content[nr] = 0;
	expect(story, ts_ns, TRACE_EV_sys_data, (const uint64_t *)&payload, sizeof(payload.data) + 8 * nr + 1);
}

static void record_event(struct story *story, const struct style *style, uint64_t ts_ns,
			 const struct trace_event_type *type)
{
	uint64_t words[40 + MOST_TEXT / 8];
	size_t bytes = type->fixed_bytes;

	if (type->id == TRACE_EV_sample) {
		record_sample(story, style, ts_ns);
		return;
	}
	if (type->id == TRACE_EV_sys_data) {
		record_data(story, style, ts_ns);
		return;
	}
	for (size_t i = 0; i < bytes / 8; i++)
		words[i] = random_word(story, style);
	if (type->has_string)
		bytes += random_text(story, &words[bytes / 8]);
	record(story, ts_ns, type->id, words, (bytes + 7) / 8, 1);
	expect(story, ts_ns, type->id, words, bytes);
}

/* ---- times ---- */

static uint64_t distance(struct story *story, const struct style *style)
{
	switch (style->distances) {
	case 0:
		return 0;
	case 1:
		return below(story, 3);
	case 2:
		return (uint64_t)(24.5 * (double)(1 + below(story, 100)));
	case 3:
		return below(story, 50) ? below(story, 1000) : below(story, 1u << 26);
	case 4:
		return below(story, 50) ? below(story, 200) : below(story, 1ull << (15 + below(story, 16)));
	case 5:
		return 1ull << below(story, 33);
	case 6:
		return below(story, 8) ? below(story, 40) : roll(story) >> (33 + below(story, 31));
	default:
		return roll(story) >> (32 + below(story, 32));
	}
}

/* How much a record's time may be before those of earlier records. */
static uint64_t disorder(struct story *story, const struct style *style)
{
	switch (style->disorder) {
	case 1:
		return below(story, 10) ? 0 : below(story, 200);
	case 2:
		return roll(story) >> (32 + below(story, 32));
	case 3:
		return below(story, 300) ? 0 : below(story, 5000000);
	default:
		return 0;
	}
}

/* ---- blocks ---- */

static uint16_t random_id(struct story *story)
{
	const struct trace_event_type *type;

	if (below(story, 4) == 0)
		return (uint16_t)(TRACE_RECORD_PATH_ENTRY + below(story, 9));
	if (below(story, 12) == 0)
		return story->program_id;
	do
		type = trace_catalogue_type(below(story, trace_catalogue_size()));
	while (type->id <= TRACE_EV_trace_missed); /* those are events of losses */
	return type->id;
}

static const struct trace_event_type *type_of(uint16_t id)
{
	for (size_t i = 0; i < trace_catalogue_size(); i++)
		if (trace_catalogue_type(i)->id == id)
			return trace_catalogue_type(i);
	return NULL;
}

static void block_write(struct story *story, uint64_t base_ns, uint64_t seq)
{
	unsigned char *records = malloc(story->bytes); /* no spare byte, for AddressSanitizer */
	struct trace_source source = {.records = memcpy(records, story->records, story->bytes),
				      .bytes = story->bytes,
				      .base_ns = base_ns,
				      .seq = seq,
				      .stream = STREAM,
				      .nr_records = story->nr_records,
				      .kind = TRACE_CHUNK_EVENTS};

	CU_ASSERT_EQUAL(trace_writer_write(story->writer, trace_writer_pack(story->writer, &source, NULL), NULL), 0);
	free(records);
	story->bytes = story->nr_records = 0;
}

static void block_tell(struct story *story, uint64_t base_ns, uint64_t seq)
{
	struct style style = {.distances = (unsigned int)below(story, 8),
			      .disorder = (unsigned int)below(story, 5),
			      .words = (unsigned int)below(story, 6),
			      .nr_ids = 1 + (unsigned int)below(story, MOST_IDS)};
	size_t nr = below(story, 8) ? 1 + below(story, 3000) : below(story, 3) ? 1 : 20000;
	uint64_t offset = below(story, 3) ? 0 : below(story, 1000);

	for (unsigned int i = 0; i < style.nr_ids; i++)
		style.ids[i] = random_id(story);
	for (size_t i = 0; i < nr && story->bytes < MOST_BYTES; i++) {
		uint16_t id = style.ids[below(story, style.nr_ids)];
		uint64_t back = disorder(story, &style), at;

		offset += distance(story, &style);
		offset = offset < LAST_OFFSET ? offset : LAST_OFFSET;
		at = back < offset ? offset - back : 0;
		if (id == story->program_id)
			record_with_references(story, &style, base_ns + at, id, 16);
		else if (id == TRACE_EV_sample)
			record_with_references(story, &style, base_ns + at, id, type_of(id)->fixed_bytes);
		else if (id >= TRACE_RECORD_PATH_ENTRY)
			record_call(story, &style, base_ns, at, id);
		else
			record_event(story, &style, base_ns + at, type_of(id));
	}
	block_write(story, base_ns, seq);
}

/* ---- writing and reading ---- */

static int by_time(const void *left, const void *right)
{
	const struct expected *l = left, *r = right;

	if (l->ts_ns != r->ts_ns)
		return l->ts_ns < r->ts_ns ? -1 : 1;
	return l->order < r->order ? -1 : l->order > r->order;
}

static size_t differences(const struct story *story, const struct trace *trace)
{
	struct trace_cursor_options options = {.size = sizeof(options), .decode_ahead = 4};
	struct trace_cursor *cursor = trace_cursor_new(trace, &options, NULL);
	const struct trace_event *event;
	size_t at = 0, nr = 0;

	for (; (event = trace_cursor_next(cursor)) && at < story->nr; at++) {
		const struct expected *expected = &story->expected[at];

		nr += event->ts_ns != expected->ts_ns || event->id != expected->id ||
		      event->payload_bytes != expected->bytes ||
		      memcmp(event->payload, story->payloads + expected->payload, expected->bytes) != 0;
	}
	nr += event || at < story->nr || trace_cursor_error(cursor, NULL);
	trace_cursor_free(cursor);
	return nr;
}

static void describe_event(struct story *story)
{
	static const struct trace_field fields[] = {
		{.name = "number", .bytes = 8, .kind = TRACE_KIND_DEC},
		{.name = "text", .offset = 8, .bytes = 4, .kind = TRACE_KIND_STRING},
		{.name = "bytes", .offset = 12, .bytes = 4, .kind = TRACE_KIND_BYTES}};
	static const struct trace_event_type type = {.name = "test:event",
						     .classic = "",
						     .text = "",
						     .doc = "",
						     .program = "",
						     .source = "",
						     .fields = fields,
						     .nr_fields = 3,
						     .fixed_bytes = 16,
						     .has_string = true,
						     .category = TRACE_CATEGORY_USER};

	CU_ASSERT_EQUAL(trace_writer_event_type(story->writer, &type, &story->program_id, NULL), 0);
}

static void check(uint64_t seed)
{
	struct story story = {.seed = seed * 1000003, .records = malloc(MOST_BYTES + TRACE_RECORD_MAX_BYTES)};
	struct trace_writer_options options = {.size = sizeof(options), .block_bytes = seed % 2 ? 65536 : 0};
	struct trace_stream_stats stats = {.stream = STREAM};
	uint64_t base_ns = below(&story, 2) ? below(&story, 1u << 30) : roll(&story) >> 3,
		 nr_blocks = 1 + below(&story, 5);
	int fd = memfd_create("round trip", MFD_CLOEXEC);
	struct trace *trace;
	char path[64];
	size_t nr;

	story.writer = trace_writer_new(fd, &options, NULL);
	describe_event(&story);
	for (uint64_t seq = 1; seq <= nr_blocks; seq++, base_ns += LAST_OFFSET + 1 + below(&story, 1000))
		block_tell(&story, base_ns, seq);
	stats.stored = stats.attempted = story.nr;
	CU_ASSERT_EQUAL(trace_writer_statistics(story.writer, &stats, 1, base_ns, NULL), 0);
	CU_ASSERT_EQUAL(trace_writer_finish(story.writer, NULL), 0);
	trace_writer_free(story.writer);
	qsort(story.expected, story.nr, sizeof(*story.expected), by_time);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	trace = trace_open(path, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(trace);
	CU_ASSERT_EQUAL(trace_nr_gaps(trace), 0);
	CU_ASSERT_EQUAL(trace_verify(trace, NULL), 0);
	nr = differences(&story, trace);
	CU_ASSERT_EQUAL(nr, 0);
	if (nr)
		printf("\n    seed %llu: %zu of %zu events are not as they were", (unsigned long long)seed, nr,
		       story.nr);
	trace_close(trace);
	close(fd);
	free(story.records);
	free(story.expected);
	free(story.payloads);
}

static void records_are_read_back_bit_for_bit(void)
{
	uint64_t nr = getenv("TRACE_TEST_LONG") ? NR_TRACES_LONG : NR_TRACES;

	for (uint64_t seed = 1; seed <= nr; seed += (uint64_t)unit_step(3))
		check(seed);
}

static const struct unit_case cases[] = {
	{"records_are_read_back_bit_for_bit", records_are_read_back_bit_for_bit},
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	return unit_main("round trip", cases, argc, argv);
}
