/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* history_trim.c - give back the memory that a history keeps for more intervals. */
#include <stdlib.h>
#include <string.h>
#include "critical_path_history.h"

#define LARGE (1u << 20) /* bytes */

/*
 * Returns a copy of @array that has room for @bytes, and frees @array; or @array, if there is no
 * memory. realloc() would shrink it where it is, and leave a hole behind each of thousands of
 * arrays that is too small for the next one. A large array is shrunk where it is: its copy would
 * be the most memory that a view needs.
 */
static void *moved(void *array, size_t bytes, size_t used)
{
	void *smaller = bytes >= LARGE ? realloc(array, bytes) : malloc(bytes);

	if (!smaller)
		return array;
	if (bytes >= LARGE)
		return smaller;
	memcpy(smaller, array, used);
	free(array);
	return smaller;
}

void series_trim(struct series *series, uint32_t more)
{
	uint32_t max = series->nr + more;

	if (!max || max >= series->max)
		return;
	series->from = moved(series->from, max * sizeof(*series->from), series->nr * sizeof(*series->from));
	series->value = moved(series->value, max * sizeof(*series->value), series->nr * sizeof(*series->value));
	series->max = max;
}

void timeline_trim(struct thread_timeline *timeline)
{
	uint32_t max = timeline->nr_pieces;
	size_t bytes = max * sizeof(*timeline->pieces);

	series_trim(&timeline->series, 0);
	if (!max || max >= timeline->max_pieces)
		return;
	timeline->pieces = moved(timeline->pieces, bytes, bytes);
	timeline->max_pieces = max;
}
