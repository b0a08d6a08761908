/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* sort.c - merge sort: stable, and it fails when out of memory. */
#include "sort.h"

#include <stdlib.h>
#include <string.h>

#define FEW_BYTES 1024u /* arrays up to this size are sorted on the stack, without malloc() */

#define FEW 6u /* so many are sorted by insertion: a merge costs more */

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

/* Inserts each element of a short array into those before it, which are in order. */
static void insert_all(const struct sorting *sorting, char *array, size_t nr)
{
	size_t bytes = sorting->bytes;

	for (char *next = array + bytes; nr-- > 1; next += bytes) {
		char *at = next;

		while (at > array && sorting->compare(at - bytes, next, sorting->data) > 0)
			at -= bytes;
		if (at == next)
			continue;
		memcpy(sorting->spare, next, bytes);
		memmove(at + bytes, at, (size_t)(next - at));
		memcpy(at, sorting->spare, bytes);
	}
}

static void sort(const struct sorting *sorting, char *array, size_t nr)
{
	if (nr <= FEW) {
		insert_all(sorting, array, nr);
		return;
	}
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
