/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test_table.c - the analysis' table against a plain array, in random order. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "table.h"
#include "unit.h"

struct row {
	uint64_t key;
	uint64_t value;
};

#define KEYS 300u

static void rows_are_found_until_they_are_removed(void)
{
	uint64_t truth[KEYS + 1] = {0}, sum = 0, wanted = 0, random = 88172645463325252u;
	struct table table = {0};
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

static void what_is_not_there_can_be_removed(void)
{
	struct table table = {0};

	table_remove(&table, sizeof(struct row), 1);
	table_add(&table, sizeof(struct row), 1);
	table_remove(&table, sizeof(struct row), 2);
	CU_ASSERT_EQUAL(table.used, 1);
	table_clear(&table);
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

/* It is freed or kept, never copied; AddressSanitizer sees to the rest. */
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

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
#define CASE(name) {#name, name}
		CASE(rows_are_found_until_they_are_removed),
		CASE(what_is_not_there_can_be_removed),
		CASE(a_string_is_kept_once),
		CASE(a_string_that_is_taken_is_kept_once),
		{NULL, NULL},
	};

	return unit_main("table", cases, argc, argv);
}
