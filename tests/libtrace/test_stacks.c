/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_stacks.c - stacks are decoded to what was encoded, and what they share is not written twice
 */
#include "../../libtrace/stacks.h"

#include <stdlib.h>
#include <string.h>
#include <trace/user_memory.h>

#include "unit.h"

enum { NR = 3000, MOST = STACKS_MAX_FRAMES - 1 };

/**
 * struct sampled - payloads of samples, and their code
 */
struct sampled {
	uint64_t rows[NR * STACKS_WORDS];
	uint64_t lengths[NR];
	uint32_t starts[NR];
	unsigned char *texts;
	uint32_t nr;
	size_t text_bytes;
	void *memory;
	struct stacks_coded coded;
};

static uint64_t below(uint64_t n)
{
	static uint64_t state = 88172645463325252;

	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return n ? (state >> 20) % n : 0;
}

static struct sampled *story_new(void)
{
	struct sampled *s = calloc(1, sizeof(*s));

	s->texts = malloc(NR * MOST * 8ul);
	return s;
}

static void story_free(struct sampled *s)
{
	free(s->texts);
	free(s->memory);
	free(s);
}

/* @frames: from the outermost on; the last @kernel + 1 are the kernel's if @kernel is not 0 */
static void add(struct sampled *s, uint32_t tid, const uint64_t *frames, uint32_t nr, uint32_t kernel)
{
	struct user_reference references[2] = {{.offset = 24, .bytes = (uint16_t)(8 * kernel)}};
	uint64_t *row = s->rows + (size_t)s->nr * STACKS_WORDS;

	references[1] = (struct user_reference){.offset = (uint16_t)(24 + 8 * kernel),
						.bytes = (uint16_t)(8 * (nr - 1 - kernel))};
	row[0] = tid | 1ull << 32;
	memcpy(&row[1], references, sizeof(references));
	row[2] = frames[nr - 1];
	s->starts[s->nr] = (uint32_t)s->text_bytes;
	s->lengths[s->nr++] = 8 * (nr - 1ull);
	for (uint32_t i = nr - 1; i--; s->text_bytes += 8)
		memcpy(s->texts + s->text_bytes, &frames[i], 8);
}

static bool encode(struct sampled *s)
{
	struct stacks_rows rows = {.rows = s->rows,
				   .lengths = s->lengths,
				   .starts = s->starts,
				   .texts = s->texts,
				   .nr = s->nr,
				   .text_bytes = s->text_bytes};

	free(s->memory);
	s->memory = malloc(stacks_encode_room(&rows));
	return stacks_encode(&rows, s->memory, &s->coded);
}

/* The bytes of the code in memory of exactly that size. */
static unsigned char *exactly(const struct sampled *s, size_t *ret_columns)
{
	const struct stacks_coded *coded = &s->coded;
	unsigned char *bytes = malloc(coded->nr_counts + coded->nr_symbols + coded->nr_literals + 1);

	*ret_columns = coded->nr_counts + coded->nr_symbols;
	memcpy(mempcpy(mempcpy(bytes, coded->counts, coded->nr_counts), coded->symbols, coded->nr_symbols),
	       coded->literals, coded->nr_literals);
	return bytes;
}

/* Decodes @columns and @literals bytes; the number of stacks that are as they were. */
static uint32_t decode(const struct sampled *s, const unsigned char *bytes, size_t columns, size_t literals)
{
	const unsigned char *at = bytes, *texts = bytes + columns, *end = texts + literals;
	void *memory = malloc(stacks_decode_room(literals));
	unsigned char *lists = malloc(s->text_bytes + 1), *list = lists;
	size_t room = s->text_bytes, list_bytes;
	struct stacks_reader reader;
	uint64_t words[2];
	uint32_t nr = 0;

	if (stacks_open(&reader, &at, texts, &texts, end, s->nr, memory))
		for (; nr < s->nr && stacks_next(&reader, s->rows[(size_t)nr * 3], list, room, words, &list_bytes);
		     nr++) {
			if (list_bytes != s->lengths[nr] || memcmp(words, &s->rows[(size_t)nr * 3 + 1], 16) != 0 ||
			    memcmp(list, s->texts + s->starts[nr], list_bytes) != 0)
				break;
			list += list_bytes;
			room -= list_bytes;
		}
	free(memory);
	free(lists);
	return nr;
}

static bool is_decoded(struct sampled *s)
{
	size_t columns;
	unsigned char *bytes = exactly(s, &columns);
	uint32_t nr = decode(s, bytes, columns, s->coded.nr_literals);

	free(bytes);
	return nr == s->nr;
}

/* Threads that call and return at random among @functions functions, with their kernel's part. */
static void wander(struct sampled *s, uint32_t threads, uint64_t functions, uint32_t most)
{
	static uint64_t frames[8][STACKS_MAX_FRAMES];
	uint32_t depth[8] = {0};

	for (uint32_t i = 0; i < NR; i++) {
		uint32_t thread = (uint32_t)below(threads), *nr = &depth[thread];

		*nr -= (uint32_t)below(*nr + 1ull);
		do
			frames[thread][(*nr)++] = (below(8) ? 0x400000 : 0xffffffff81000000) + 16 * below(functions);
		while (*nr < most && below(3));
		add(s, 100 + thread, frames[thread], *nr, (uint32_t)below(*nr));
	}
}

static void stacks_are_decoded_to_what_was_encoded(void)
{
	static const struct {
		uint32_t threads, functions, most;
	} cases[] = {
		{1, 5, 10}, {8, 40, 30}, {8, 3000, 60}, {2, 1 << 30, STACKS_MAX_FRAMES}, {1, 1, STACKS_MAX_FRAMES}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct sampled *s = story_new();

		wander(s, cases[i].threads, cases[i].functions, cases[i].most);
		CU_ASSERT_TRUE(encode(s));
		CU_ASSERT_TRUE(is_decoded(s));
		story_free(s);
	}
}

/* The example of docs/FORMAT.md. */
static void a_stack_is_the_difference_to_the_one_before(void)
{
	static const uint64_t sort[] = {0x401000, 0x401020, 0x401100}, print[] = {0x401000, 0x401020, 0x401130};
	static const unsigned char counts[] = {0, 0, 0, 1, 3, 1}, symbols[] = {19, 25, 26, 17},
				   literals[] = {0x00, 0x40, 0xc0, 0x60, 0x20, 0x01, 0x80};
	struct sampled *s = story_new();

	add(s, 7, sort, 3, 0);
	add(s, 7, print, 3, 0);
	CU_ASSERT_TRUE(encode(s));
	CU_ASSERT_EQUAL(s->coded.nr_counts, sizeof(counts));
	CU_ASSERT_TRUE(memcmp(s->coded.counts, counts, sizeof(counts)) == 0);
	CU_ASSERT_EQUAL(s->coded.nr_symbols, sizeof(symbols));
	CU_ASSERT_TRUE(memcmp(s->coded.symbols, symbols, sizeof(symbols)) == 0);
	CU_ASSERT_EQUAL(s->coded.nr_literals, sizeof(literals));
	CU_ASSERT_TRUE(memcmp(s->coded.literals, literals, sizeof(literals)) == 0);
	CU_ASSERT_TRUE(is_decoded(s));
	story_free(s);
}

/* A callee that was there before has one byte, and no address. */
static void known_frames_have_no_address(void)
{
	struct sampled *s = story_new();
	uint64_t frames[] = {0x1000, 0x2000, 0x3000, 0};

	for (uint32_t i = 0; i < 1000; i++) {
		frames[3] = 0x4000 + 0x100 * below(12);
		add(s, 7, frames, 4, 0);
	}
	CU_ASSERT_TRUE(encode(s));
	CU_ASSERT_TRUE(s->coded.nr_symbols <= 1003);
	CU_ASSERT_TRUE(s->coded.nr_literals <= 2 * (3 + 12));
	story_free(s);
}

/* A list that is none, and more frames or addresses than the format has, stay texts. */
static void other_lists_are_not_coded(void)
{
	static uint64_t frames[STACKS_MAX_FRAMES + 1];
	struct sampled *s = story_new();
	uint32_t step = (uint32_t)unit_step(5), first = (uint32_t)unit_first((int)step);

	for (uint32_t i = 0; i <= STACKS_MAX_FRAMES; i++)
		frames[i] = 0x1000 + 8 * i;
	add(s, 7, frames, STACKS_MAX_FRAMES, 96);
	CU_ASSERT_TRUE(encode(s) && is_decoded(s));
	add(s, 7, frames, STACKS_MAX_FRAMES + 1, 96);
	CU_ASSERT_TRUE(!encode(s));
	s->nr--;
	s->rows[1] += 8; /* the kernel's list is elsewhere */
	CU_ASSERT_TRUE(!encode(s));
	s->rows[1] -= 8;
	s->lengths[0] -= 8;
	CU_ASSERT_TRUE(!encode(s));
	story_free(s);
	s = story_new();
	for (uint64_t address = 0; s->nr < NR && address < 70000; address += 100) {
		for (uint32_t i = 0; i < 100; i++)
			frames[i] = 0x1000 + 8 * (address + i);
		add(s, 7, frames, 100, 0);
		if (s->nr % step == first || address > 65000)
			CU_ASSERT_EQUAL(encode(s), address + 100 <= 65536);
	}
	story_free(s);
}

/* Is one stack read, of counts, symbols and literals, into @room bytes? */
static bool is_read(const unsigned char *bytes, size_t columns, size_t literals, size_t room)
{
	const unsigned char *at = bytes, *texts = bytes + columns;
	void *memory = malloc(stacks_decode_room(literals));
	unsigned char *list = malloc(room + 1);
	struct stacks_reader reader;
	uint64_t words[2];
	size_t list_bytes;
	bool is_good = stacks_open(&reader, &at, texts, &texts, texts + literals, 1, memory) &&
		       stacks_next(&reader, 7, list, room, words, &list_bytes);

	free(list);
	free(memory);
	return is_good;
}

/* Two new frames, 0x10 and 0x20; then a guard fails for each part of it. */
static void impossible_stacks_are_refused(void)
{
	unsigned char good[] = {0, 0, 2, 17, 25, 0x20, 0x20}, known[] = {0, 0, 2, 17, 16, 0x20, 0, 0};

	CU_ASSERT_TRUE(is_read(good, 5, 2, 8));
	CU_ASSERT_FALSE(is_read(good, 5, 2, 7)); /* no room for the list */
	CU_ASSERT_FALSE(is_read(good, 5, 1, 8));
	good[0] = 2; /* more addresses of the kernel than callers */
	CU_ASSERT_FALSE(is_read(good, 5, 2, 8));
	good[0] = 0;
	good[1] = 1; /* drops what is not there */
	CU_ASSERT_FALSE(is_read(good, 5, 2, 8));
	good[1] = 0;
	good[4] = 0; /* the first callee of a caller that has none */
	CU_ASSERT_FALSE(is_read(good, 5, 2, 8));
	good[4] = 65; /* no symbol */
	CU_ASSERT_FALSE(is_read(good, 5, 2, 8));
	good[2] = 0; /* a stack without a frame */
	CU_ASSERT_FALSE(is_read(good, 3, 0, 8));
	CU_ASSERT_TRUE(is_read(known, 5, 3, 8));
	known[6] = 1; /* an address before the first one */
	CU_ASSERT_FALSE(is_read(known, 5, 3, 8));
	known[6] = 0;
	known[7] = 1;
	CU_ASSERT_FALSE(is_read(known, 5, 3, 8));
}

/* Whatever the bytes are, the decoder stays within them and within its room, and ends. */
static void damaged_stacks_are_refused_or_harmless(void)
{
	struct sampled *s = story_new();
	size_t columns, all;
	unsigned char *bytes;
	int step = unit_step(5), first = unit_first(step);

	wander(s, 3, 300, 20);
	CU_ASSERT_TRUE(encode(s));
	bytes = exactly(s, &columns);
	all = columns + s->coded.nr_literals;
	CU_ASSERT_EQUAL(decode(s, bytes, columns, s->coded.nr_literals), s->nr);
	CU_ASSERT_EQUAL(decode(s, bytes, columns - 1, s->coded.nr_literals), 0);
	CU_ASSERT_EQUAL(decode(s, bytes, columns, s->coded.nr_literals - 1), 0);
	for (int i = 0; i < 3000; i++) {
		size_t at = below(all);
		unsigned char flip = (unsigned char)(1u << below(8));

		if (i % step != first)
			continue;
		bytes[at] ^= flip;
		CU_ASSERT_TRUE(decode(s, bytes, columns, s->coded.nr_literals) <= s->nr);
		bytes[at] ^= flip;
	}
	free(bytes);
	story_free(s);
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		CASE(stacks_are_decoded_to_what_was_encoded),
		CASE(a_stack_is_the_difference_to_the_one_before),
		CASE(known_frames_have_no_address),
		CASE(other_lists_are_not_coded),
		CASE(impossible_stacks_are_refused),
		CASE(damaged_stacks_are_refused_or_harmless),
		{NULL, NULL},
	};

	return unit_main("stacks", cases, argc, argv);
}
