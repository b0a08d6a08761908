/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test_merge.c - merging sorted runs of keys of any size gives the same as sorting all keys. */
#include <stdlib.h>
#include <string.h>

#include "../../libtrace/merge.h"
#include "unit.h"

enum { RUNS_MOST = 300 };

/**
 * struct runs - the @keys of run i end at @ends[i], ascending within the run
 */
struct runs {
	uint64_t *keys; /* owned */
	size_t ends[RUNS_MOST];
	size_t nr;
};

static int compare_keys(const void *a, const void *b)
{
	uint64_t key_a = *(const uint64_t *)a, key_b = *(const uint64_t *)b;

	return key_a < key_b ? -1 : key_a > key_b;
}

static void write_run(const void *context, size_t run, uint64_t *ret_keys)
{
	const struct runs *runs = context;
	size_t begin = run ? runs->ends[run - 1] : 0;

	memcpy(ret_keys, runs->keys + begin, (runs->ends[run] - begin) * sizeof(*ret_keys));
}

static void expect_merged(struct merge *merge, struct runs *runs)
{
	size_t nr = runs->ends[runs->nr - 1];
	const uint64_t *merged = merge_runs(merge, runs->ends, runs->nr, write_run, runs);
	uint64_t *sorted = malloc(nr * sizeof(*sorted));

	memcpy(sorted, runs->keys, nr * sizeof(*sorted));
	qsort(sorted, nr, sizeof(*sorted), compare_keys);
	CU_ASSERT_EQUAL(memcmp(merged, sorted, nr * sizeof(*sorted)), 0);
	CU_ASSERT_EQUAL(merged[nr], UINT64_MAX);
	free(sorted);
}

/* @nr runs of 1 to @most keys; run number @big has a thousand times as many. All keys are
 * different, and the maximum key is among them. */
static void expect_runs(struct merge *merge, size_t nr, size_t most, size_t big)
{
	struct runs runs = {.nr = nr};
	size_t all = 0;

	for (size_t i = 0; i < nr; i++)
		runs.ends[i] = all += (1 + (size_t)random() % most) * (i == big ? 1000 : 1);
	runs.keys = malloc(all * sizeof(*runs.keys));
	for (size_t i = 0; i < all; i++)
		runs.keys[i] = ((uint64_t)random() << 32) + i;
	runs.keys[all - 1] = UINT64_MAX - 1;
	runs.keys[0] = 0;
	for (size_t i = 0; i < nr; i++)
		qsort(runs.keys + (i ? runs.ends[i - 1] : 0), runs.ends[i] - (i ? runs.ends[i - 1] : 0),
		      sizeof(*runs.keys), compare_keys);
	expect_merged(merge, &runs);
	free(runs.keys);
}

static void runs_of_any_number_and_size_become_one(void)
{
	struct merge merge = {0};

	srandom(1);
	for (size_t nr = 1; nr <= 20; nr++)
		for (int i = 0; i < 100; i++)
			expect_runs(&merge, nr, 1 + (size_t)random() % 50, nr);
	expect_runs(&merge, RUNS_MOST, 1, RUNS_MOST);
	expect_runs(&merge, RUNS_MOST, 100, RUNS_MOST);
	merge_release(&merge);
}

static void a_long_run_among_short_ones_is_merged_at_any_position(void)
{
	struct merge merge = {0};

	srandom(2);
	for (size_t nr = 2; nr <= 9; nr++)
		for (size_t big = 0; big < nr; big++)
			expect_runs(&merge, nr, 3, big);
	for (size_t big = 0; big < RUNS_MOST; big += RUNS_MOST / 4)
		expect_runs(&merge, RUNS_MOST, 3, big);
	merge_release(&merge);
}

static const struct unit_case cases[] = {
	{"runs_of_any_number_and_size_become_one", runs_of_any_number_and_size_become_one},
	{"a_long_run_among_short_ones_is_merged_at_any_position",
	 a_long_run_among_short_ones_is_merged_at_any_position},
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	return unit_main("merge", cases, argc, argv);
}
