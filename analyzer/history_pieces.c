/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* history_pieces.c - what a thread did on a CPU, once its history is coarse. */
#include <errno.h>
#include <stdlib.h>
#include "history_pieces.h"

uint32_t piece_new(struct thread_timeline *timeline)
{
	uint32_t max = timeline->max_pieces + timeline->max_pieces / 2 + 8;

	if (timeline->nr_pieces >= timeline->max_pieces) {
		struct history_piece *bigger = reallocarray(timeline->pieces, max, sizeof(*bigger));

		if (!bigger)
			return HOLE;
		timeline->pieces = bigger;
		timeline->max_pieces = max;
	}
	timeline->pieces[timeline->nr_pieces] = (struct history_piece){0};
	timeline->in_piece = 0;
	return PIECE | timeline->nr_pieces++;
}

/* There are not more pieces than entries. */
int pieces_of_timeline(struct trace_history *history, struct thread_timeline *timeline)
{
	struct series *series = &timeline->series;
	uint32_t nr = 0;
	int error = 0;

	for (uint32_t i = 0; i < series->nr && !error; i++) {
		uint64_t from = series->from[i], to = i + 1 < series->nr ? series->from[i + 1] : series->end;
		uint32_t value = series->value[i];
		uint8_t state = history->activities[value].state;

		if (value == HOLE || !is_on_cpu(state) || to - from > UINT32_MAX) {
			series->from[nr] = from;
			series->value[nr++] = value;
			continue;
		}
		if (!nr || !piece_has_room(timeline, series->value[nr - 1], series->from[nr - 1], to)) {
			series->from[nr] = from;
			series->value[nr] = piece_new(timeline);
			error = series->value[nr++] == HOLE ? -ENOMEM : 0;
		}
		if (!error)
			piece_add_ns(timeline, state, to - from);
	}
	history->nr_intervals -= series->nr - nr;
	series->nr = nr;
	series->changes++;
	return error;
}
