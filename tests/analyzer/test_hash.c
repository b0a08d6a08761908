/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test_hash.c - a program that knows our code cannot choose keys that share a row of a table. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "hash_table.h"
#include "unit.h"

#define KEYS	  100000u
#define PROCESSES 60u

/* The largest distance of a row from the place where the search for it begins. */
static uint32_t largest_distance(const struct hash_table *table)
{
	const uint64_t *rows = table->rows;
	uint32_t largest = 0;

	for (uint32_t i = 0; i < table->capacity; i++) {
		uint32_t distance = (i - table_home(rows[i], table->capacity)) & (table->capacity - 1);

		if (rows[i] && distance > largest)
			largest = distance;
	}
	return largest;
}

static uint64_t random_number(uint64_t *state)
{
	*state ^= *state << 13, *state ^= *state >> 7, *state ^= *state << 17;
	return *state;
}

/* With the factor of a program before this one, each product has zeros above bit 44: one home. */
static void keys_chosen_for_a_known_factor_have_many_homes(void)
{
	const uint64_t factor = 0x9e3779b97f4a7c15ULL;
	uint64_t inverse = factor, state = 88172645463325252u; /* the inverse in 3 bits; each step doubles them */
	struct hash_table table = {0};

	for (int i = 0; i < 5; i++)
		inverse *= 2 - factor * inverse;
	CU_ASSERT_EQUAL(factor * inverse, 1);
	for (uint32_t i = 0; i < KEYS; i++)
		table_add(&table, sizeof(uint64_t), (random_number(&state) >> 20 | 1) * inverse);
	CU_ASSERT(table.used > KEYS / 2);
	CU_ASSERT(largest_distance(&table) < 1000);
	table_clear(&table);
}

/* No factor moves upper bits down. */
static void keys_that_differ_in_upper_bits_have_many_homes(void)
{
	struct hash_table table = {0};

	for (uint64_t i = 1; i < KEYS; i++)
		table_add(&table, sizeof(uint64_t), i << 47);
	CU_ASSERT(largest_distance(&table) < 1000);
	table_clear(&table);
}

/* Keys are often numbers in a row, addresses of objects, or pairs of numbers. */
static uint32_t largest_of_equal_distances(void)
{
	static const uint64_t steps[] = {1, 3, 8, 48, 64, 4096, 1u << 20, 1ull << 32, (1ull << 32) + 1};
	uint32_t largest = 0;

	for (size_t i = 0; i < sizeof(steps) / sizeof(*steps); i++) {
		struct hash_table table = {0};
		uint32_t distance;

		for (uint64_t k = 1; k <= KEYS / 10; k++)
			table_add(&table, sizeof(uint64_t), k * steps[i]);
		distance = largest_distance(&table);
		largest = distance > largest ? distance : largest;
		table_clear(&table);
	}
	return largest;
}

/* For a process of its own: its hashes, which another process is not to know. */
static int print_hashes(void)
{
	printf("%" PRIx64 " %" PRIx64 " %u\n", hash_factor, text_hash("libc.so.6"), largest_of_equal_distances());
	return 0;
}

struct hashes {
	uint64_t factor, text;
	uint32_t largest;
};

static bool hashes_of_a_process(struct hashes *ret_hashes)
{
	char program[4096], command[4200];
	ssize_t length = readlink("/proc/self/exe", program, sizeof(program) - 1);
	FILE *pipe;
	int nr;

	if (length < 0)
		return false;
	program[length] = '\0';
	snprintf(command, sizeof(command), "exec '%s' print", program);
	pipe = popen(command, "r");
	if (!pipe)
		return false;
	nr = fscanf(pipe, "%" SCNx64 " %" SCNx64 " %u", &ret_hashes->factor, &ret_hashes->text, &ret_hashes->largest);
	return pclose(pipe) == 0 && nr == 3;
}

/* With one factor alone, multiples gather in few places in 1 of 30 processes. */
static void each_process_has_its_own_hashes_and_all_are_good(void)
{
	struct hashes before = {0}, own;

	for (uint32_t i = 0; i < PROCESSES; i++) {
		CU_ASSERT_FATAL(hashes_of_a_process(&own));
		CU_ASSERT(own.factor & 1);
		CU_ASSERT_NOT_EQUAL(own.factor, before.factor);
		CU_ASSERT_NOT_EQUAL(own.text, before.text);
		CU_ASSERT(own.largest < 500);
		before = own;
	}
}

static void texts_have_different_hashes(void)
{
	CU_ASSERT_EQUAL(text_hash("abc"), text_hash("abc"));
	CU_ASSERT_NOT_EQUAL(text_hash("abc"), text_hash("abd"));
	CU_ASSERT_NOT_EQUAL(text_hash(""), text_hash("a"));
	CU_ASSERT_EQUAL(hash_u64(0), 0);
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		CASE(keys_chosen_for_a_known_factor_have_many_homes),
		CASE(keys_that_differ_in_upper_bits_have_many_homes),
		CASE(each_process_has_its_own_hashes_and_all_are_good),
		CASE(texts_have_different_hashes),
		{NULL, NULL},
	};

	if (argc == 2 && strcmp(argv[1], "print") == 0)
		return print_hashes();
	return unit_main("hash", cases, argc, argv);
}
