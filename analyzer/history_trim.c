/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* history_trim.c - give back the memory that a history keeps for more intervals. */
#include <stdlib.h>
#include "critical_path_history.h"

void series_trim(struct series *series, uint32_t more)
{
	uint32_t max = series->nr + more;
	uint64_t *from = max && max < series->max ? reallocarray(series->from, max, sizeof(*from)) : NULL;
	uint32_t *value;

	if (!from)
		return;
	series->from = from;
	series->max = max;
	value = reallocarray(series->value, max, sizeof(*value));
	if (value)
		series->value = value;
}

void timeline_trim(struct thread_timeline *timeline)
{
	uint32_t max = timeline->nr_pieces;
	struct history_piece *pieces;

	series_trim(&timeline->series, 0);
	pieces = max && max < timeline->max_pieces ? reallocarray(timeline->pieces, max, sizeof(*pieces)) : NULL;
	if (!pieces)
		return;
	timeline->pieces = pieces;
	timeline->max_pieces = max;
}
