/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test_histogram.c - counts of times, compared with a plain array: also counts that do not fit into
 * a byte, and sums of two histograms. */
#include <stdlib.h>
#include "histogram.h"
#include "unit.h"

#define CALLS 3u
#define TIMES (1u << LATENCY_KEY_BITS)

static uint64_t random_state = 88172645463325252u;

static uint64_t random_next(void)
{
	random_state ^= random_state << 13, random_state ^= random_state >> 7, random_state ^= random_state << 17;
	return random_state;
}

static void count(struct hash_table *table, uint64_t key, uint64_t nr)
{
	CU_ASSERT_TRUE(histogram_add(table, histogram_row_key(key), histogram_cell(key), nr));
}

/* Does the list, with parts of one bucket added up, equal @truth? */
static void expect(const struct hash_table *table, const uint64_t truth[CALLS + 1][TIMES])
{
	size_t nr = 0, wrong = 0;
	struct histogram_count *list = histogram_list(table, &nr), *at = list;
	uint64_t total = 0;

	CU_ASSERT_PTR_NOT_NULL_FATAL(list);
	for (uint64_t call = 1; call <= CALLS; call++)
		for (uint64_t bucket = 0; bucket < TIMES; bucket++) {
			uint64_t listed = 0;

			for (; at < list + nr && at->key == (call << LATENCY_KEY_BITS | bucket); at++)
				listed += at->count;
			wrong += listed != truth[call][bucket];
			total += listed;
		}
	CU_ASSERT_EQUAL(wrong, 0);
	CU_ASSERT_EQUAL((size_t)(at - list), nr);
	CU_ASSERT_EQUAL(histogram_total(table), total);
	free(list);
}

static void each_time_is_counted_in_its_bucket(void)
{
	static uint64_t truth[CALLS + 1][TIMES];
	struct hash_table table = {0};

	for (int i = 0; i < 100000; i++) {
		uint64_t call = 1 + random_next() % CALLS, ns = random_next() >> random_next() % 64;

		count(&table, latency_key(call, ns), 1);
		truth[call][latency_bucket(ns)]++;
	}
	expect(&table, truth);
	table_clear(&table);
}

static void a_count_is_exact_however_large(void)
{
	static const uint64_t numbers[] = {1, 254, 1, 1, 255, 65535, 65536, 1ull << 32, (1ull << 56) - 1, 1};
	static uint64_t truth[CALLS + 1][TIMES];
	struct hash_table table = {0};

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		count(&table, latency_key(2, 1000), numbers[i]);
		truth[2][latency_bucket(1000)] += numbers[i];
		expect(&table, truth);
	}
	table_clear(&table);
}

static void the_longest_time_has_a_bucket(void)
{
	static uint64_t truth[CALLS + 1][TIMES];
	struct hash_table table = {0};

	count(&table, latency_key(CALLS, UINT64_MAX), 7);
	count(&table, latency_key(1, 0), 3);
	truth[CALLS][latency_bucket(UINT64_MAX)] = 7;
	truth[1][0] = 3;
	expect(&table, truth);
	table_clear(&table);
}

static void histograms_are_added(void)
{
	static uint64_t truth[CALLS + 1][TIMES];
	struct hash_table parts[2] = {{0}}, sum = {0};

	for (int i = 0; i < 200000; i++) {
		uint64_t ns = 100 + random_next() % 400, call = 1 + random_next() % CALLS;

		count(&parts[random_next() >> 32 & 1], latency_key(call, ns), 1 + (random_next() >> 60));
	}
	for (int i = 0; i < 2; i++) {
		size_t nr = 0;
		struct histogram_count *list = histogram_list(&parts[i], &nr);

		for (size_t n = 0; n < nr; n++)
			truth[list[n].key >> LATENCY_KEY_BITS][list[n].key % TIMES] += list[n].count;
		free(list);
		for (const struct histogram_row *row = NULL; (row = table_next(&parts[i], sizeof(*row), row));)
			CU_ASSERT_TRUE(histogram_add_row(&sum, row));
		table_clear(&parts[i]);
	}
	expect(&sum, truth);
	table_clear(&sum);
}

static void no_times_make_an_empty_list(void)
{
	struct hash_table table = {0};
	size_t nr = 1;
	struct histogram_count *list = histogram_list(&table, &nr);

	CU_ASSERT_PTR_NOT_NULL(list);
	CU_ASSERT_EQUAL(nr, 0);
	CU_ASSERT_EQUAL(histogram_total(&table), 0);
	free(list);
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		CASE(each_time_is_counted_in_its_bucket), CASE(a_count_is_exact_however_large),
		CASE(the_longest_time_has_a_bucket),	  CASE(histograms_are_added),
		CASE(no_times_make_an_empty_list),	  {NULL, NULL},
	};

	return unit_main("histogram", cases, argc, argv);
}
