/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef LIBTRACE_MERGE_H
#define LIBTRACE_MERGE_H
/*
 * merge.h - merge ascending runs of keys into one run.
 *
 * A branch cannot predict which of two runs has the next key, so the merge has none: it compares,
 * selects and adds.
 * Runs with few keys are merged with each other before they are merged with long runs: a key of a
 * short run is moved more often, but there are few of them. For example, runs of 100, 100, 100 and
 * 900 keys: the first three are merged first, and the 900 keys move once, in the last merge.
 * Neighbours are merged first. Order the runs by their first keys, because two runs that do not
 * overlap are only copied.
 */
#include <stddef.h>
#include <stdint.h>

/** struct merge - buffers, reused by each call; zeroed is empty */
struct merge {
	uint64_t *keys[2]; /* owned */
	size_t room;	   /* capacity of each */
};

/**
 * merge_write_fn - write the keys of run @run to @ret_keys: as many as @ends says, ascending, below
 * UINT64_MAX
 */
typedef void (*merge_write_fn)(const void *context, size_t run, uint64_t *ret_keys);

/**
 * merge_runs() - merge all keys of @nr runs, ascending
 * @ends: for each run the number of keys in it and in the runs before it. No run is empty, and
 *	there is at least one
 * Returns ends[nr - 1] keys, followed by UINT64_MAX, borrowed until the next call. NULL: out of
 * memory.
 */
const uint64_t *merge_runs(struct merge *merge, const size_t *ends, size_t nr, merge_write_fn write,
			   const void *context);

void merge_release(struct merge *merge);

#endif
