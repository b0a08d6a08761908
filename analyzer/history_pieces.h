/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_HISTORY_PIECES_H
#define ANALYZER_HISTORY_PIECES_H
/*
 * history_pieces.h - entries that stand for up to PIECE_INTERVALS intervals on a CPU: struct
 * history_piece. A history that keeps the mixture of states has them once it is coarse.
 */
#include <trace/error.h>
#include "critical_path_history.h"

/** is_on_cpu() - does a thread in @state, enum trace_state, have a CPU? */
static inline bool is_on_cpu(uint8_t state)
{
	return state != TRACE_STATE_WAIT_CPU && state != TRACE_STATE_BLOCKED;
}

/** piece_new() - a new piece of @timeline, as the value of an entry; HOLE: no memory */
uint32_t piece_new(struct thread_timeline *timeline);
/** pieces_of_timeline() - entries on a CPU become pieces, in place; returns 0 or -ENOMEM */
int pieces_of_timeline(struct trace_history *history, struct thread_timeline *timeline) TRACE_NODISCARD;

/** piece_add_ns() - the last piece of @timeline has one more interval */
static inline void piece_add_ns(struct thread_timeline *timeline, uint8_t state, uint64_t ns)
{
	struct history_piece *piece = &timeline->pieces[timeline->nr_pieces - 1];

	piece->ns[state == TRACE_STATE_RUNNING ? PIECE_STATES - 1 : state] += (uint32_t)ns;
	timeline->in_piece++;
}

/**
 * piece_has_room() - can an interval that ends at @to be part of the entry with the value @last,
 * which begins at @begin?
 */
static inline bool piece_has_room(const struct thread_timeline *timeline, uint32_t last, uint64_t begin, uint64_t to)
{
	return timeline->nr_pieces && last == (PIECE | (timeline->nr_pieces - 1)) &&
	       timeline->in_piece < PIECE_INTERVALS && to - begin <= UINT32_MAX;
}

/** piece_known() - what was RUNNING in @piece gets its @state */
static inline void piece_known(struct history_piece *piece, uint8_t state)
{
	piece->ns[state] += piece->ns[PIECE_STATES - 1];
	piece->ns[PIECE_STATES - 1] = 0;
}
#endif
