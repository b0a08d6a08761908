/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef LIBTRACE_MERGE_H
#define LIBTRACE_MERGE_H
/*
 * merge.h - ascending runs of keys, merged into one.
 *
 * Which of two runs is next is nothing that a branch could be predicted by, so there is none: two runs are merged by comparing, selecting and adding. Of many,
 * those of some keys are merged with each other before they are with those of many: a key is moved as often as it is rare. Neighbours are merged first: so runs are
 * best told by their first keys, because two of which one is behind the other are only copied.
 */
#include <stddef.h>
#include <stdint.h>

/** struct merge - memory, used again and again; zeroed is empty */
struct merge {
	uint64_t *keys[2]; /* owned */
	size_t room;	   /* of each */
};

/** merge_write_fn - puts the keys of run @run, as many as were told, ascending and below UINT64_MAX, to @ret_keys */
typedef void (*merge_write_fn)(const void *context, size_t run, uint64_t *ret_keys);

/**
 * merge_runs() - all keys of @nr runs, ascending
 * @ends: for each run the number of keys of all runs up to its end; no run is empty, and there is one at least
 * Returns ends[nr - 1] keys, borrowed until the next call, with UINT64_MAX behind them; NULL: no memory.
 */
const uint64_t *merge_runs(struct merge *merge, const size_t *ends, size_t nr, merge_write_fn write, const void *context);

void merge_release(struct merge *merge);

#endif
