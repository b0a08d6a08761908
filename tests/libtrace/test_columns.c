/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_columns.c - columns are decoded to the words that were encoded, and positions in streams
 * become steps
 */
#include "../../libtrace/columns.h"

#include <stdlib.h>
#include <string.h>

#include "unit.h"

enum { NR = 5000, NR_KEYS = 9, STRIDE = 3 };

struct column {
	uint64_t rows[NR * STRIDE]; /* the second word of each is the column, the first its key */
	unsigned char bytes[4 + 8 * 256 + 8 * NR];
	size_t nr_bytes;
};

static uint64_t random_bits(void)
{
	static uint64_t state = 88172645463325252;

	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

static void encode(struct column *c)
{
	static uint64_t words[NR];

	for (size_t i = 0; i < NR; i++)
		words[i] = c->rows[i * STRIDE + 1];
	c->nr_bytes = (size_t)(column_encode_behind(c->bytes, words, c->rows, STRIDE, NR) - c->bytes);
}

/* Decodes @bytes of the column, with its keys or without. */
static bool decode(const struct column *c, size_t bytes, uint64_t *rows, bool has_keys)
{
	const unsigned char *at = c->bytes;

	for (size_t i = 0; i < NR; i++)
		rows[i * STRIDE] = c->rows[i * STRIDE];
	return column_decode(&at, c->bytes + bytes, rows + 1, has_keys ? rows : NULL, STRIDE, NR) &&
	       at == c->bytes + c->nr_bytes;
}

static bool is_decoded(const struct column *c)
{
	static uint64_t rows[NR * STRIDE];

	if (!decode(c, c->nr_bytes, rows, true))
		return false;
	for (size_t i = 0; i < NR; i++)
		if (rows[i * STRIDE + 1] != c->rows[i * STRIDE + 1])
			return false;
	return true;
}

/* Each key has a position, which begins anywhere, and grows by less than @step. */
static void fill_positions(struct column *c, uint64_t step)
{
	uint64_t positions[NR_KEYS];

	for (size_t i = 0; i < NR_KEYS; i++)
		positions[i] = i ? random_bits() : UINT64_MAX - 1000; /* one begins again at 0 */
	for (size_t i = 0; i < NR; i++) {
		uint64_t key = random_bits() % NR_KEYS;

		c->rows[i * STRIDE] = 0xffff888100000000 + key * 640;
		c->rows[i * STRIDE + 1] = positions[key] += random_bits() % step;
	}
}

static void positions_become_steps(void)
{
	static struct column c;

	fill_positions(&c, 200);
	encode(&c);
	CU_ASSERT_EQUAL(c.bytes[0], TRACE_COLUMN_STEPS);
	CU_ASSERT(c.nr_bytes < 2 * NR);
	CU_ASSERT_TRUE(is_decoded(&c));
}

static void other_words_do_not(void)
{
	static struct column c;

	fill_positions(&c, 1ull << 40);
	encode(&c);
	CU_ASSERT_NOT_EQUAL(c.bytes[0], TRACE_COLUMN_STEPS);
	CU_ASSERT_TRUE(is_decoded(&c));
	for (size_t i = 0; i < NR; i++) /* two bytes a word are as short as steps */
		c.rows[i * STRIDE + 1] = random_bits() % 60000;
	encode(&c);
	CU_ASSERT_NOT_EQUAL(c.bytes[0], TRACE_COLUMN_STEPS);
	CU_ASSERT_TRUE(is_decoded(&c));
}

static void damaged_steps_are_refused(void)
{
	static struct column c, nested;
	static uint64_t rows[NR * STRIDE];

	fill_positions(&c, 200);
	encode(&c);
	CU_ASSERT_FALSE(decode(&c, c.nr_bytes, rows, false)); /* the first column has no keys */
	for (size_t bytes = 0; bytes < c.nr_bytes; bytes += 97)
		CU_ASSERT_FALSE(decode(&c, bytes, rows, true));
	nested.nr_bytes = c.nr_bytes + 1;
	nested.bytes[0] = TRACE_COLUMN_STEPS;
	memcpy(nested.bytes + 1, c.bytes, c.nr_bytes);
	CU_ASSERT_FALSE(decode(&nested, nested.nr_bytes, rows, true));
}

/* The example of docs/FORMAT.md. */
static void the_example_is_decoded(void)
{
	static const unsigned char bytes[] = {2, 0, 0xfc, 0xe8, 0x88, 100, 100, 3, 0x13, 0, 0, 0, 0, 0, 0, 0, 0};
	const unsigned char *at = bytes;
	uint64_t rows[8] = {11, 0, 22, 0, 11, 0, 22, 0};

	CU_ASSERT_NOT_EQUAL(column_slot(11), column_slot(22));
	CU_ASSERT_TRUE(column_decode(&at, bytes + sizeof(bytes), rows + 1, rows, 2, 4));
	CU_ASSERT_PTR_EQUAL(at, bytes + sizeof(bytes));
	CU_ASSERT(rows[1] == 1000 && rows[3] == 5000 && rows[5] == 1100 && rows[7] == 5100);
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		CASE(positions_become_steps),
		CASE(other_words_do_not),
		CASE(damaged_steps_are_refused),
		CASE(the_example_is_decoded),
		{NULL, NULL},
	};

	return unit_main("columns", cases, argc, argv);
}
