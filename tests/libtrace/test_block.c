/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_block.c - decode payloads with false contents. They end before an inaccessible page, so
 * reading one byte too many ends the test.
 *
 * This is the only test of libtrace that uses its internals: through the public interface a wrong
 * read would meet other parts of the file.
 */
#include "../../libtrace/event_block.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../../libtrace/pack.h"
#include "unit.h"

static const struct schema no_types; /* of programs */
static struct packing packing;

/**
 * struct fence - memory that ends where another page is not accessible
 */
struct fence {
	unsigned char *begin;
	size_t bytes;
};

static struct fence fence_new(size_t bytes)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), all = (bytes + 2 * page - 1) / page * page;
	struct fence fence = {.bytes = all};

	fence.begin = mmap(NULL, all, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (fence.begin == MAP_FAILED || mprotect(fence.begin + all - page, page, PROT_NONE) < 0)
		abort();
	fence.bytes = all - page;
	return fence;
}

/* Copies @bytes of @data so that they end at the fence. */
static unsigned char *fence_put(const struct fence *fence, const void *data, size_t bytes)
{
	return memcpy(fence->begin + fence->bytes - bytes, data, bytes);
}

static void fence_free(struct fence *fence)
{
	munmap(fence->begin, fence->bytes + (size_t)sysconf(_SC_PAGESIZE));
}

/**
 * struct fixture - a block with three types, strings, constant and plain columns, and dictionaries
 */
struct fixture {
	struct schema schema;
	struct trace_packed *packed;
	struct trace_chunk_header header;
	struct fence fence;
	struct block block;
	struct unpack_scratch tables;
	const char *reason;
};

enum { NR_EVENTS = 300, MORE_BYTES = 1100 };

static size_t put_event(uint64_t *words, uint32_t i)
{
	static const uint8_t sizes[3] = {2, 5, 4};
	static const uint16_t ids[3] = {TRACE_EV_sys_exit, TRACE_EV_sys_enter3, TRACE_EV_sched_comm};
	struct trace_record record = {.time = i * i, .id = ids[i % 3], .words = sizes[i % 3]};

	memset(words, 0, sizes[i % 3] * 8);
	memcpy(&words[0], &record, 8);
	words[1] = i % 3 == 0 ? i * 0x10003 : i % 11;
	if (i % 3 == 1) {
		words[2] = 0x7ffe00000000 + i % 5 * 4096 + i;
		words[3] = 5;
	}
	if (i % 3 == 2)
		memcpy(&words[2], "a comm of a task", i % 16);
	return sizes[i % 3];
}

static struct fixture fixture_of(struct packing *by, uint32_t nr, size_t (*put)(uint64_t *words, uint32_t i))
{
	struct fixture fixture = {0};
	uint64_t *words = malloc(nr * 5 * sizeof(*words));
	struct trace_source source = {
		.records = words, .seq = 1, .base_ns = 1000, .nr_records = nr, .kind = TRACE_CHUNK_EVENTS};

	for (uint32_t i = 0; i < nr; i++)
		source.bytes += 8 * put(words + source.bytes / 8, i);
	CU_ASSERT_EQUAL_FATAL(schema_add_catalogue(&fixture.schema), 0);
	fixture.packed = packing_pack(by, &no_types, &source, NULL);
	if (!fixture.packed || fixture.packed->header.events != nr)
		abort();
	fixture.header = fixture.packed->header;
	fixture.fence = fence_new(fixture.header.raw_bytes + MORE_BYTES);
	free(words);
	return fixture;
}

static struct fixture fixture_new(void)
{
	return fixture_of(&packing, NR_EVENTS, put_event);
}

static void fixture_free(struct fixture *fixture)
{
	trace_packed_free(fixture->packed);
	schema_release(&fixture->schema);
	fence_free(&fixture->fence);
	block_release(&fixture->block);
	free(fixture->tables.memory);
}

/* Decodes @bytes of @raw at the fence, and reads all events. */
static int decode(struct fixture *fixture, const unsigned char *raw, size_t bytes)
{
	struct block *block = &fixture->block;
	const char *reason = NULL;
	uint64_t sum = 0;
	int error;

	fixture->header.raw_bytes = (uint32_t)bytes;
	free(block->memory); /* memory of exactly the size that is needed, to detect writes beyond it as well */
	block->memory = NULL;
	block->memory_room = 0;
	error = block_decode(block, &fixture->tables, &fixture->schema, &fixture->header,
			     fence_put(&fixture->fence, raw, bytes), &reason);
	CU_ASSERT_EQUAL(!error, !reason);
	fixture->reason = reason;
	for (uint32_t i = 0; !error && i < block->nr; i++) {
		struct block_type *type = &block->types[block->type_idxs[i]];
		uint32_t size;
		const unsigned char *payload = block_step(type, &size);

		CU_ASSERT_TRUE(type >= block->types && type < block->types + block->nr_types);
		CU_ASSERT_EQUAL(size < type->type->fixed_bytes, false);
		for (uint32_t j = 0; j < size; j++)
			sum += payload[j];
		CU_ASSERT_TRUE(sum > 0 && block->ts_ns[i] >= 1000);
	}
	return error;
}

static struct trace_columns_type *raw_types(unsigned char *raw)
{
	return (struct trace_columns_type *)(raw + sizeof(struct trace_columns_header) +
					     sizeof(struct trace_columns_times));
}

static unsigned char *raw_ids(unsigned char *raw)
{
	return (unsigned char *)raw_types(raw) + 3 * sizeof(struct trace_columns_type);
}

static void the_fixture_is_valid(void)
{
	struct fixture fixture = fixture_new();

	CU_ASSERT_EQUAL(decode(&fixture, fixture.packed->raw, fixture.packed->header.raw_bytes), 0);
	CU_ASSERT_EQUAL(fixture.block.nr, NR_EVENTS);
	fixture_free(&fixture);
}

static void a_payload_of_any_shorter_length_is_malformed(void)
{
	struct fixture fixture = fixture_new();

	for (size_t bytes = 0; bytes < fixture.packed->header.raw_bytes; bytes++)
		CU_ASSERT_EQUAL(decode(&fixture, fixture.packed->raw, bytes), -EBADMSG);
	fixture_free(&fixture);
}

static void a_payload_that_is_too_long_is_malformed(void)
{
	struct fixture fixture = fixture_new();
	size_t bytes = fixture.packed->header.raw_bytes;
	unsigned char *raw = calloc(1, bytes + 1);

	memcpy(raw, fixture.packed->raw, bytes);
	CU_ASSERT_EQUAL(decode(&fixture, raw, bytes + 1), -EBADMSG);
	free(raw);
	fixture_free(&fixture);
}

static void no_value_of_any_byte_breaks_anything(void)
{
	struct fixture fixture = fixture_new();
	unsigned char *raw = fixture.packed->raw;

	for (size_t i = 0; i < fixture.packed->header.raw_bytes; i += (size_t)unit_step(5)) {
		unsigned char before = raw[i];

		for (int step = 1; step < 256; step = step * 2 + 1) {
			raw[i] = (unsigned char)(before + step);
			decode(&fixture, raw, fixture.packed->header.raw_bytes);
		}
		raw[i] = before;
	}
	fixture_free(&fixture);
}

static void ids_beyond_the_types_are_malformed(void)
{
	struct fixture fixture = fixture_new();
	unsigned char *raw = fixture.packed->raw;

	raw_types(raw)[0].events--; /* keeps the sum of the types' counts right */
	for (size_t i = 0; i < NR_EVENTS; i++)
		if (raw_ids(raw)[i] == 0) {
			raw_ids(raw)[i] = 200;
			break;
		}
	CU_ASSERT_EQUAL(decode(&fixture, raw, fixture.packed->header.raw_bytes), -EBADMSG);
	fixture_free(&fixture);
}

static void types_of_another_size_than_the_schema_are_malformed(void)
{
	struct fixture fixture = fixture_new();
	unsigned char *raw = fixture.packed->raw;

	raw_types(raw)[0].id = TRACE_EV_sys_enter6; /* needs more bytes than there are */
	CU_ASSERT_EQUAL(decode(&fixture, raw, fixture.packed->header.raw_bytes), -EBADMSG);
	raw_types(raw)[0].id = TRACE_EV_trace_mark; /* needs a string, which is missing */
	CU_ASSERT_EQUAL(decode(&fixture, raw, fixture.packed->header.raw_bytes), -EBADMSG);
	raw_types(raw)[0].id = 255;
	CU_ASSERT_EQUAL(decode(&fixture, raw, fixture.packed->header.raw_bytes), -EBADMSG);
	fixture_free(&fixture);
}

static void times_other_than_the_headers_are_malformed(void)
{
	struct fixture fixture = fixture_new();
	size_t bytes = fixture.packed->header.raw_bytes;

	fixture.header.last_ns++;
	CU_ASSERT_EQUAL(decode(&fixture, fixture.packed->raw, bytes), -EBADMSG);
	fixture.header.last_ns--;
	fixture.header.first_ns++;
	CU_ASSERT_EQUAL(decode(&fixture, fixture.packed->raw, bytes), -EBADMSG);
	fixture.header.first_ns--;
	fixture.header.events++;
	CU_ASSERT_EQUAL(decode(&fixture, fixture.packed->raw, bytes), -EBADMSG);
	fixture.header.events--;
	CU_ASSERT_EQUAL(decode(&fixture, fixture.packed->raw, bytes), 0);
	fixture_free(&fixture);
}

/* Allocates all sizes around those of the pool: no two overlap, and freed memory is used again. */
static void memory_of_a_pool_is_used_again(void)
{
	enum { NR = 60 };
	static const size_t near[3] = {(size_t)-1, 0, 1};
	struct pool *pool = pool_new(false);
	unsigned char *memory[3 * NR];
	size_t rooms[3 * NR], nr = 0;

	for (size_t bytes = 512; bytes < 3 * (size_t)POOL_MAX_BYTES / 2; bytes += bytes / 4)
		for (size_t i = 0; i < 3 && nr < 3 * NR; i++, nr++) {
			memory[nr] = pool_take(pool, bytes + near[i], &rooms[nr]);
			CU_ASSERT_PTR_NOT_NULL_FATAL(memory[nr]);
			CU_ASSERT_TRUE(rooms[nr] >= bytes + near[i] && (uintptr_t)memory[nr] % 8 == 0);
			CU_ASSERT_TRUE(bytes < 4096 || rooms[nr] <= bytes + bytes / 4 + 2);
			memset(memory[nr], (int)nr, rooms[nr]);
		}
	CU_ASSERT_TRUE(nr < 3 * NR && rooms[nr - 1] > POOL_MAX_BYTES);
	for (size_t i = 0; i < nr; i++)
		CU_ASSERT_TRUE(memory[i][0] == (unsigned char)i && !memcmp(memory[i], memory[i] + 1, rooms[i] - 1));
	for (size_t i = 0; i < nr; i++)
		pool_give(pool, memory[i], rooms[i]);
	for (size_t i = 0; i < nr; i++) {
		size_t room, same = 0;
		unsigned char *again = pool_take(pool, rooms[i], &room);

		for (size_t j = 0; j < nr; j++)
			same += again == memory[j] && room == rooms[j];
		CU_ASSERT_TRUE(rooms[i] > POOL_MAX_BYTES || same == 1);
		if (rooms[i] > POOL_MAX_BYTES)
			pool_give(pool, again, room);
	}
	pool_give(pool, NULL, 0);
	pool_free(pool);
}

/* ---- letters of times ---- */

enum { NR_CALLS = 2000, SHORT_NS = 20, LONG_NS = 45, BETWEEN_NS = 53, BASE_NS = 1000, READ = 0, SELECT = 23 };

/* Two calls of the same type, in no order. */
static uint32_t call_at(uint32_t i)
{
	return i * 0x9e3779b1 >> 31 ? READ : SELECT;
}

/* Events 2 i and 2 i + 1 are begin and end of call i. The calls of SELECT take longer. */
static uint32_t call_time(uint32_t i)
{
	static uint32_t begins[NR_CALLS + 1];

	for (uint32_t call = 0; !begins[NR_CALLS] && call < NR_CALLS; call++)
		begins[call + 1] = begins[call] + BETWEEN_NS + (call_at(call) == READ ? SHORT_NS : LONG_NS);
	return i % 2 ? begins[i / 2 + 1] - BETWEEN_NS : begins[i / 2];
}

static size_t put_call(uint64_t *words, uint32_t i)
{
	struct trace_record record = {.time = BASE_NS + call_time(i),
				      .id = i % 2 ? TRACE_EV_sys_exit : TRACE_EV_sys_enter3,
				      .words = i % 2 ? 2 : 5};

	memset(words, 0, record.words * 8u);
	memcpy(&words[0], &record, 8);
	if (i % 2 == 0) {
		words[1] = call_at(i / 2);
		words[2] = 1 + i % 3;
	}
	return record.words;
}

/** struct lettered - @times: a copy of their head. @list: the letters in the payload */
struct lettered {
	struct packing packing;
	struct fixture fixture;
	struct trace_columns_times times;
	unsigned char *list;
};

static void lettered_init(struct lettered *lettered)
{
	unsigned char *raw;

	packing_init(&lettered->packing);
	lettered->packing.has_letters = true;
	lettered->fixture = fixture_of(&lettered->packing, 2 * NR_CALLS, put_call);
	raw = lettered->fixture.packed->raw;
	memcpy(&lettered->times, raw + sizeof(struct trace_columns_header), sizeof(lettered->times));
	lettered->list = raw + lettered->fixture.header.raw_bytes - 8 - lettered->times.code_bytes;
	for (size_t i = 0; i < TRACE_TIMES_STREAMS; i++)
		lettered->list -= lettered->times.bit_bytes[i];
}

static void lettered_release(struct lettered *lettered)
{
	fixture_free(&lettered->fixture);
	packing_release(&lettered->packing);
}

static int lettered_decode(struct lettered *lettered)
{
	return decode(&lettered->fixture, lettered->fixture.packed->raw, lettered->fixture.packed->header.raw_bytes);
}

/*
 * With one code for all ends of calls, each would have a bit that tells which of the two it is.
 * Counts below 64 have ranges of their own.
 */
static void times_depend_on_which_call_it_is(void)
{
	struct lettered lettered;
	size_t bit_bytes = 0;

	lettered_init(&lettered);
	for (size_t i = 0; i < TRACE_TIMES_STREAMS; i++)
		bit_bytes += lettered.times.bit_bytes[i];
	CU_ASSERT_EQUAL(lettered.times.coding, 2);
	CU_ASSERT_TRUE(lettered.list[0] == 2 && lettered.list[1] == 0 && lettered.list[5] == 0);
	CU_ASSERT_TRUE(bit_bytes < NR_CALLS / 8 * 2 / 3);
	CU_ASSERT_EQUAL_FATAL(lettered_decode(&lettered), 0);
	for (uint32_t i = 0; i < 2 * NR_CALLS; i++)
		if (lettered.fixture.block.ts_ns[i] != BASE_NS + (uint64_t)call_time(i))
			CU_FAIL("a time is wrong");
	lettered_release(&lettered);
}

static void check_letter(struct lettered *lettered, size_t at, unsigned char value, const char *reason)
{
	unsigned char before = lettered->list[at];

	lettered->list[at] = value;
	CU_ASSERT_EQUAL(lettered_decode(lettered), -EBADMSG);
	CU_ASSERT_STRING_EQUAL(lettered->fixture.reason, reason);
	lettered->list[at] = before;
}

/* Decodes a payload with @nr letters, and a description that is as long as they are. */
static int decode_letters(struct lettered *lettered, unsigned char nr)
{
	size_t bytes = lettered->fixture.packed->header.raw_bytes;
	unsigned char *raw = calloc(1, bytes + MORE_BYTES);
	size_t at = (size_t)(lettered->list - lettered->fixture.packed->raw);
	int error;

	memcpy(raw, lettered->fixture.packed->raw, bytes);
	memcpy(raw + at + MORE_BYTES, lettered->list, bytes - at);
	raw[at] = nr;
	lettered->times.code_bytes += MORE_BYTES;
	memcpy(raw + sizeof(struct trace_columns_header), &lettered->times, sizeof(lettered->times));
	error = decode(&lettered->fixture, raw, bytes + MORE_BYTES);
	free(raw);
	return error;
}

static void letters_of_nothing_are_malformed(void)
{
	static const char number[] = "it has an impossible number of letters",
			  nothing[] = "it has a letter of a payload that does not exist";
	struct lettered lettered;

	lettered_init(&lettered);
	check_letter(&lettered, 0, 250, number); /* they are longer than the description */
	check_letter(&lettered, 1, 2, nothing);	 /* no such type */
	check_letter(&lettered, 3, 1, nothing);	 /* no such payload */
	check_letter(&lettered, 6, lettered.list[2], "it has two letters for the same payloads");
	CU_ASSERT_EQUAL(lettered_decode(&lettered), 0);
	CU_ASSERT_EQUAL(decode_letters(&lettered, 254), -EBADMSG); /* with the types there are more than 255 */
	CU_ASSERT_STRING_EQUAL(lettered.fixture.reason, number);
	lettered_release(&lettered);
}

/* Payloads with strings are not in one array, so their first words could not be read from it. */
static void letters_of_types_with_strings_are_malformed(void)
{
	struct fixture fixture = fixture_new();
	unsigned char *raw = fixture.packed->raw, *list = raw + fixture.header.raw_bytes - 8;
	struct trace_columns_times times;

	memcpy(&times, raw + sizeof(struct trace_columns_header), sizeof(times));
	list -= times.code_bytes;
	for (size_t i = 0; i < TRACE_TIMES_STREAMS; i++)
		list -= times.bit_bytes[i];
	times.coding = 2;
	memcpy(raw + sizeof(struct trace_columns_header), &times, sizeof(times));
	memcpy(list, "\1\2\0\0", 5);
	CU_ASSERT_EQUAL(raw_types(raw)[2].flags & TRACE_COLUMNS_STRING, TRACE_COLUMNS_STRING);
	CU_ASSERT_EQUAL(decode(&fixture, raw, fixture.packed->header.raw_bytes), -EBADMSG);
	CU_ASSERT_STRING_EQUAL(fixture.reason, "it has a letter of a payload that does not exist");
	fixture_free(&fixture);
}

static void no_value_of_the_letters_breaks_anything(void)
{
	struct lettered lettered;

	lettered_init(&lettered);
	for (size_t i = 0; i < lettered.times.code_bytes; i += (size_t)unit_step(3)) {
		unsigned char before = lettered.list[i];

		for (int step = 1; step < 256; step = step * 2 + 1) {
			lettered.list[i] = (unsigned char)(before + step);
			lettered_decode(&lettered);
		}
		lettered.list[i] = before;
	}
	lettered_release(&lettered);
}

static void a_description_without_letters_is_malformed(void)
{
	struct lettered lettered;
	unsigned char *raw;

	lettered_init(&lettered);
	raw = lettered.fixture.packed->raw + sizeof(struct trace_columns_header);
	lettered.times.bit_bytes[0] += lettered.times.code_bytes;
	lettered.times.code_bytes = 0;
	memcpy(raw, &lettered.times, sizeof(lettered.times));
	CU_ASSERT_EQUAL(lettered_decode(&lettered), -EBADMSG);
	lettered_release(&lettered);
}

static const struct unit_case cases[] = {
	{"memory_of_a_pool_is_used_again", memory_of_a_pool_is_used_again},
	{"the_fixture_is_valid", the_fixture_is_valid},
	{"a_payload_of_any_shorter_length_is_malformed", a_payload_of_any_shorter_length_is_malformed},
	{"a_payload_that_is_too_long_is_malformed", a_payload_that_is_too_long_is_malformed},
	{"no_value_of_any_byte_breaks_anything", no_value_of_any_byte_breaks_anything},
	{"ids_beyond_the_types_are_malformed", ids_beyond_the_types_are_malformed},
	{"types_of_another_size_than_the_schema_are_malformed", types_of_another_size_than_the_schema_are_malformed},
	{"times_other_than_the_headers_are_malformed", times_other_than_the_headers_are_malformed},
	{"times_depend_on_which_call_it_is", times_depend_on_which_call_it_is},
	{"letters_of_nothing_are_malformed", letters_of_nothing_are_malformed},
	{"letters_of_types_with_strings_are_malformed", letters_of_types_with_strings_are_malformed},
	{"no_value_of_the_letters_breaks_anything", no_value_of_the_letters_breaks_anything},
	{"a_description_without_letters_is_malformed", a_description_without_letters_is_malformed},
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	packing_init(&packing);
	return unit_main("block", cases, argc, argv);
}
