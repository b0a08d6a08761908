/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* sort.c - merge sort: stable, and it fails when out of memory. */
#include "sort.h"

#include <stdlib.h>
#include <string.h>

#define FEW_BYTES 1024u /* arrays up to this size are sorted on the stack, without malloc() */

/** struct sorting - the constants of one sort. @spare: room for all elements */
struct sorting {
	char *spare;
	size_t bytes;
	int (*compare)(const void *, const void *, void *);
	void *data;
};

/* Merges the two halves of @nr elements, each of which is in order. */
static void merge(const struct sorting *sorting, char *array, size_t nr)
{
	size_t bytes = sorting->bytes, half = nr / 2;
	char *left = array, *left_end = array + half * bytes, *right = left_end, *right_end = array + nr * bytes,
	     *to = sorting->spare;

	if (sorting->compare(right - bytes, right, sorting->data) <= 0)
		return; /* the whole is in order already */
	while (left < left_end && right < right_end) {
		char **smaller = sorting->compare(right, left, sorting->data) < 0 ? &right : &left;

		memcpy(to, *smaller, bytes);
		*smaller += bytes;
		to += bytes;
	}
	/* the rest of the right half is already in its position */
	memcpy(to, left, (size_t)(left_end - left));
	memcpy(array, sorting->spare, (size_t)(to - sorting->spare) + (size_t)(left_end - left));
}

static void sort(const struct sorting *sorting, char *array, size_t nr)
{
	if (nr < 2)
		return;
	sort(sorting, array, nr / 2);
	sort(sorting, array + nr / 2 * sorting->bytes, nr - nr / 2);
	merge(sorting, array, nr);
}

bool sort_stable(void *array, size_t nr, size_t bytes, int (*compare)(const void *, const void *, void *), void *data)
{
	struct sorting sorting = {.bytes = bytes, .compare = compare, .data = data};
	_Alignas(max_align_t) char few[FEW_BYTES];
	void *spare = NULL;

	if (nr < 2)
		return true;
	if (nr > sizeof(few) / bytes) {
		spare = reallocarray(NULL, nr, bytes);
		if (!spare)
			return false;
	}
	sorting.spare = spare ? spare : few;
	sort(&sorting, array, nr);
	free(spare);
	return true;
}

/**
 * struct of_two - wraps a comparison function, because C does not convert function pointers to void
 * *
 */
struct of_two {
	int (*compare)(const void *, const void *);
};

static int compare_two(const void *left, const void *right, void *data)
{
	return ((const struct of_two *)data)->compare(left, right);
}

bool sort_rows(void *array, size_t nr, size_t bytes, int (*compare)(const void *, const void *))
{
	struct of_two of_two = {compare};

	return sort_stable(array, nr, bytes, compare_two, &of_two);
}
