/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * merge.c - merge runs of keys: divide them into two halves with about equally many keys, merge
 * each half, then merge the two results. Each level of the recursion writes into the other one of
 * two buffers.
 */
#include "merge.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/** struct merging - one call of merge_runs() */
struct merging {
	const size_t *ends;
	merge_write_fn write;
	const void *context;
};

static size_t first_key(const struct merging *merging, size_t run)
{
	return run ? merging->ends[run - 1] : 0;
}

/*
 * Index of the keys of @run in both arrays. Each earlier run has one more entry there, the
 * UINT64_MAX that ends it.
 */
static size_t key_offset(const struct merging *merging, size_t run)
{
	return first_key(merging, run) + run;
}

/* A run between @begin and @end, exclusive, that divides the keys about equally. */
static size_t middle_of(const struct merging *merging, size_t begin, size_t end)
{
	size_t half = first_key(merging, begin) + (first_key(merging, end) - first_key(merging, begin)) / 2,
	       low = begin + 1, high = end - 1;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (merging->ends[middle] > half)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

/*
 * Two runs have more than @nr keys together. Returns how many of their smallest @nr keys are in @a.
 */
static size_t nr_of_first(const uint64_t *a, size_t nr_a, const uint64_t *b, size_t nr_b, size_t nr)
{
	size_t low = nr > nr_b ? nr - nr_b : 0, high = nr < nr_a ? nr : nr_a;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (a[middle] < b[nr - middle - 1])
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static inline size_t merge_one(const uint64_t *a, const uint64_t *b, size_t of_a, size_t i, uint64_t *ret_keys)
{
	uint64_t key_a = a[of_a], key_b = b[i - of_a];
	bool is_a = key_a < key_b;

	ret_keys[i] = is_a ? key_a : key_b;
	return of_a + is_a;
}

/*
 * Merges two runs that end with UINT64_MAX. If there are many runs, most pairs do not overlap;
 * those are copied.
 * Each step of a merge waits for the step before it. So the loop merges both halves of the result
 * at the same time, as two independent chains.
 */
static void merge_two(const uint64_t *a, size_t nr_a, const uint64_t *b, size_t nr_b, uint64_t *ret_keys)
{
	size_t nr = nr_a + nr_b, half = nr / 2, first = 0, second;

	ret_keys[nr] = UINT64_MAX;
	if (a[nr_a - 1] < b[0]) {
		memcpy(mempcpy(ret_keys, a, nr_a * sizeof(*a)), b, nr_b * sizeof(*b));
		return;
	}
	second = nr_of_first(a, nr_a, b, nr_b, half);
	for (size_t i = 0; i < half; i++) {
		first = merge_one(a, b, first, i, ret_keys);
		second = merge_one(a, b, second, half + i, ret_keys);
	}
	if (nr % 2)
		merge_one(a, b, second, nr - 1, ret_keys);
}

/*
 * Merges the runs from @begin up to, but not including, @end into @to. @other is the second buffer.
 */
static void merge_into(const struct merging *merging, size_t begin, size_t end, uint64_t *to, uint64_t *other)
{
	size_t first = first_key(merging, begin), nr = first_key(merging, end) - first,
	       offset = key_offset(merging, begin), middle, nr_before;

	if (end - begin == 1) {
		merging->write(merging->context, begin, to + offset);
		to[offset + nr] = UINT64_MAX;
		return;
	}
	middle = middle_of(merging, begin, end);
	merge_into(merging, begin, middle, other, to);
	merge_into(merging, middle, end, other, to);
	nr_before = first_key(merging, middle) - first;
	merge_two(other + offset, nr_before, other + key_offset(merging, middle), nr - nr_before, to + offset);
}

static bool grow(struct merge *merge, size_t room)
{
	if (room <= merge->room)
		return true;
	merge_release(merge);
	room += room / 2;
	merge->keys[0] = malloc(room * sizeof(*merge->keys[0]));
	merge->keys[1] = malloc(room * sizeof(*merge->keys[1]));
	if (!merge->keys[0] || !merge->keys[1])
		return merge_release(merge), false;
	merge->room = room;
	return true;
}

const uint64_t *merge_runs(struct merge *merge, const size_t *ends, size_t nr, merge_write_fn write,
			   const void *context)
{
	struct merging merging = {ends, write, context};

	if (!grow(merge, ends[nr - 1] + nr))
		return NULL;
	merge_into(&merging, 0, nr, merge->keys[0], merge->keys[1]);
	return merge->keys[0];
}

void merge_release(struct merge *merge)
{
	free(merge->keys[0]);
	free(merge->keys[1]);
	*merge = (struct merge){0};
}
