/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test_table.c - the tables of the analysis, compared with a plain array, in random order. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "arena.h"
#include "hash_table.h"
#include "number_index.h"
#include "unit.h"

struct row {
	uint64_t key;
	uint64_t value;
};

#define KEYS 300u

static void rows_are_found_until_they_are_removed(void)
{
	uint64_t truth[KEYS + 1] = {0}, sum = 0, wanted = 0, random = 88172645463325252u;
	struct hash_table table = {0};
	const struct row *at = NULL;
	uint32_t used = 0;

	for (int i = 0; i < 200000; i++) {
		uint64_t key;
		struct row *row;

		random ^= random << 13, random ^= random >> 7, random ^= random << 17;
		key = 1 + random % KEYS;
		row = table_find(&table, sizeof(*row), key);
		if ((row ? row->value : 0) != truth[key]) {
			CU_FAIL_FATAL("another value than was put in");
		}
		if (random >> 32 & 1) {
			row = table_add(&table, sizeof(*row), key);
			row->value = truth[key] = 1 + (uint64_t)i;
		} else {
			table_remove(&table, sizeof(*row), key);
			truth[key] = 0;
		}
	}
	for (uint32_t key = 1; key <= KEYS; key++) {
		wanted += truth[key];
		used += truth[key] != 0;
	}
	while ((at = table_next(&table, sizeof(*at), at)))
		sum += at->value;
	CU_ASSERT_EQUAL(sum, wanted);
	CU_ASSERT_EQUAL(table.used, used);
	table_clear(&table);
}

/* As in thread_prefetch_rows(): the @used rows are all of the table's rows. */
static void rows_of_a_small_table_are_at_its_front(void)
{
	uint64_t keys[6] = {0}, next = 1000, random = 88172645463325252u;
	struct hash_table table = {0};

	for (int i = 0; i < 10000; i++) {
		uint32_t at;

		random ^= random << 13, random ^= random >> 7, random ^= random << 17;
		if (table.used && (table.used == 6 || random & 1)) {
			at = (uint32_t)(random >> 32) % table.used;
			table_remove(&table, sizeof(struct row), keys[at]);
			memmove(&keys[at], &keys[at + 1], (sizeof(keys) / sizeof(keys[0]) - 1 - at) * sizeof(keys[0]));
		} else {
			keys[table.used] = next;
			((struct row *)table_add(&table, sizeof(struct row), next))->value = next * 3;
			next += 1 + random % 99;
		}
		for (at = 0; at < table.used; at++)
			if (((const struct row *)table.rows)[at].key != keys[at] ||
			    ((const struct row *)table.rows)[at].value != keys[at] * 3 ||
			    table_find(&table, sizeof(struct row), keys[at]) != (const struct row *)table.rows + at)
				CU_FAIL_FATAL("another row than came then");
	}
	CU_ASSERT_TRUE(table.capacity <= TABLE_SMALL);
	table_clear(&table);
}

static void removing_a_missing_row_changes_nothing(void)
{
	struct hash_table table = {0};

	table_remove(&table, sizeof(struct row), 1);
	table_add(&table, sizeof(struct row), 1);
	table_remove(&table, sizeof(struct row), 2);
	CU_ASSERT_EQUAL(table.used, 1);
	table_clear(&table);
}

/* The memory is not from malloc(): freeing it would be reported. */
static void lent_rows_are_used_and_not_freed(void)
{
	struct row lent[4] = {{0}};
	struct hash_table table;

	table_lend(&table, lent, 4);
	CU_ASSERT_PTR_NULL(table_find(&table, sizeof(*lent), 1));
	for (uint64_t key = 1; key <= 3; key++)
		((struct row *)table_add(&table, sizeof(*lent), key))->value = key;
	CU_ASSERT_PTR_EQUAL(table.rows, lent);
	for (uint64_t key = 4; key <= 20; key++)
		((struct row *)table_add(&table, sizeof(*lent), key))->value = key;
	CU_ASSERT_PTR_NOT_EQUAL(table.rows, lent);
	CU_ASSERT_EQUAL(table.used, 20);
	for (uint64_t key = 1; key <= 20; key++)
		CU_ASSERT_EQUAL(((const struct row *)table_find(&table, sizeof(*lent), key))->value, key);
	table_clear(&table);
	memset(lent, 0, sizeof(lent));
	table_lend(&table, lent, 4);
	table_add(&table, sizeof(*lent), 1);
	table_clear(&table);
	CU_ASSERT_PTR_NULL(table.rows);
}

static void arena_memory_is_zeroed_and_on_cache_lines_of_its_own(void)
{
	struct arena arena = {0};
	unsigned char *last = NULL;
	size_t sum = 0;

	for (size_t i = 0; i < 20000; i++) {
		unsigned char *taken = arena_take(&arena, 1 + i % 2000);

		CU_ASSERT_EQUAL_FATAL((uintptr_t)taken % CACHE_LINE, 0);
		for (size_t n = 0; n < 1 + i % 2000; n++)
			sum += taken[n];
		memset(taken, 0xff, 1 + i % 2000);
		if (last)
			CU_ASSERT_EQUAL(last[(i - 1) % 2000], 0xff);
		last = taken;
	}
	CU_ASSERT_EQUAL(sum, 0);
	CU_ASSERT(arena.bytes > 16u << 20);
	arena_free(&arena);
	CU_ASSERT_PTR_NULL(arena.pieces);
}

/* The facts of an index with thousands of processes are larger than a piece. */
static void arena_memory_may_be_larger_than_a_piece(void)
{
	static const size_t sizes[] = {100 << 10, 1 << 20, (4 << 20) - CACHE_LINE, (4 << 20) - CACHE_LINE + 1, 4 << 20,
				       5 << 20,	  64 << 20};

	for (size_t before = 0; before < 3; before++)
		for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
			struct arena arena = {0};
			unsigned char *small = before ? arena_take(&arena, before * 1000) : NULL, *large, *next;

			large = arena_take(&arena, sizes[i]);
			CU_ASSERT_PTR_NOT_NULL_FATAL(large);
			CU_ASSERT_EQUAL((uintptr_t)large % CACHE_LINE, 0);
			CU_ASSERT(large[0] == 0 && memcmp(large, large + 1, sizes[i] - 1) == 0);
			memset(large, 0xff, sizes[i]);
			next = arena_take(&arena, 3000);
			CU_ASSERT(next[0] == 0 && next[2999] == 0 && large[sizes[i] - 1] == 0xff);
			CU_ASSERT(!small || small[0] == 0);
			CU_ASSERT(arena.bytes < sizes[i] * 2 + (4u << 20));
			arena_free(&arena);
		}
}

static void an_arena_has_no_memory_for_too_much(void)
{
	struct arena arena = {0};

	CU_ASSERT_PTR_NULL(arena_take(&arena, SIZE_MAX));
	CU_ASSERT_PTR_NULL(arena_take(&arena, SIZE_MAX - CACHE_LINE));
	CU_ASSERT_PTR_NOT_NULL(arena_take(&arena, 1));
	arena_free(&arena);
}

/* A table that grows in it, as those of the accounting do: for each size, returned rows are used
 * again. */
static void returned_rows_are_used_again(void)
{
	struct arena arena = {0};
	void *first[64];
	size_t nr = 0, bytes_before;

	for (size_t bytes = ARENA_ROWS_MIN; bytes <= ARENA_ROWS_MAX; bytes += bytes / 4) {
		first[nr] = arena_take_rows(&arena, bytes);
		memset(first[nr++], 0xff, bytes);
	}
	nr = 0;
	for (size_t bytes = ARENA_ROWS_MIN; bytes <= ARENA_ROWS_MAX; bytes += bytes / 4)
		arena_give_rows(&arena, first[nr++], bytes);
	bytes_before = arena.bytes;
	for (size_t bytes = ARENA_ROWS_MIN; bytes <= ARENA_ROWS_MAX; bytes += bytes / 4) {
		unsigned char *rows = arena_take_rows(&arena, bytes), all = 0;

		for (size_t i = 0; i < bytes; i++)
			all |= rows[i];
		CU_ASSERT_EQUAL(all, 0);
		memset(rows, 0xff, bytes);
	}
	CU_ASSERT_EQUAL(arena.bytes, bytes_before);
	arena_free(&arena);
}

static void a_table_moves_to_lent_rows(void)
{
	struct row *lent = calloc(64, sizeof(*lent));
	struct hash_table table = {0};

	for (uint64_t key = 1; key <= 12; key++)
		((struct row *)table_add(&table, sizeof(*lent), key))->value = key;
	CU_ASSERT(table_is_full(&table));
	CU_ASSERT_EQUAL(table_more(&table), 32);
	table_move(&table, sizeof(*lent), lent, 64);
	CU_ASSERT_PTR_EQUAL(table.rows, lent);
	CU_ASSERT(!table_is_full(&table));
	for (uint64_t key = 1; key <= 12; key++)
		CU_ASSERT_EQUAL(((const struct row *)table_find(&table, sizeof(*lent), key))->value, key);
	CU_ASSERT_EQUAL(table.used, 12);
	table_clear(&table);
	free(lent);
}

static void a_string_is_kept_once(void)
{
	struct strings strings = {0};
	string_id one = strings_intern(&strings, "one"), two = strings_intern(&strings, "two");

	CU_ASSERT_EQUAL(strings_intern(&strings, "one"), one);
	CU_ASSERT_NOT_EQUAL(one, two);
	CU_ASSERT_EQUAL(strings_intern(&strings, ""), 0);
	CU_ASSERT_STRING_EQUAL(strings_text(&strings, two), "two");
	CU_ASSERT_STRING_EQUAL(strings_text(&strings, 77), "");
	strings_clear(&strings);
}

/* It is freed or kept, never copied; AddressSanitizer checks that. */
static void a_string_that_is_taken_is_kept_once(void)
{
	struct strings strings = {0};
	char *one = strdup("one"), *again = strdup("one");
	string_id id = strings_take(&strings, one);

	CU_ASSERT_PTR_EQUAL(strings_text(&strings, id), one);
	CU_ASSERT_EQUAL(strings_take(&strings, again), id);
	CU_ASSERT_EQUAL(strings_intern(&strings, "one"), id);
	CU_ASSERT_PTR_EQUAL(strings_text(&strings, id), one);
	CU_ASSERT_EQUAL(strings_take(&strings, strdup("")), 0);
	for (int i = 0; i < 200; i++) { /* also where the list grows */
		char text[16];

		snprintf(text, sizeof(text), "%d", i);
		CU_ASSERT_STRING_EQUAL(strings_text(&strings, strings_take(&strings, strdup(text))), text);
	}
	strings_clear(&strings);
}

/* All entries have one of four hashes, so that the search for most of them passes others. */
static uint64_t bad_hash(const void *context, uint32_t number)
{
	return ((const uint32_t *)context)[number] % 4;
}

static bool find_number(const struct number_index *index, const uint32_t *list, uint32_t wanted, uint32_t *ret_number)
{
	for (uint32_t step = 0; number_index_has(index, wanted % 4, step, ret_number); step++)
		if (list[*ret_number] == wanted)
			return true;
	return false;
}

static void entries_are_found_by_their_content(void)
{
	struct number_index index = {0};
	uint32_t list[KEYS] = {0}, number;

	CU_ASSERT_FALSE(find_number(&index, list, 1, &number));
	for (uint32_t i = 0; i < KEYS; i++) {
		list[i] = 7 * i;
		CU_ASSERT_FATAL(number_index_room(&index, bad_hash, list));
		CU_ASSERT_FALSE(find_number(&index, list, list[i], &number));
		number_index_add(&index, list[i] % 4, i);
		for (uint32_t k = 0; k <= i; k++) /* also right after the index has grown */
			if (!find_number(&index, list, list[k], &number) || number != k)
				CU_FAIL_FATAL("an entry is not found");
	}
	CU_ASSERT_FALSE(find_number(&index, list, 3, &number));
	CU_ASSERT_EQUAL(index.used, KEYS);
	number_index_clear(&index);
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		CASE(rows_are_found_until_they_are_removed),
		CASE(rows_of_a_small_table_are_at_its_front),
		CASE(removing_a_missing_row_changes_nothing),
		CASE(lent_rows_are_used_and_not_freed),
		CASE(arena_memory_is_zeroed_and_on_cache_lines_of_its_own),
		CASE(arena_memory_may_be_larger_than_a_piece),
		CASE(an_arena_has_no_memory_for_too_much),
		CASE(returned_rows_are_used_again),
		CASE(a_table_moves_to_lent_rows),
		CASE(entries_are_found_by_their_content),
		CASE(a_string_is_kept_once),
		CASE(a_string_that_is_taken_is_kept_once),
		{NULL, NULL},
	};

	return unit_main("table", cases, argc, argv);
}
