/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DAEMON_OVERWRITE_READER_H
#define DAEMON_OVERWRITE_READER_H
/* overwrite_reader.h - read rings that writers may overwrite concurrently, for flight recorders */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <trace/subbuf.h>

#include "ring_reader.h"

/** ring_is_overwritten() - has a later sub-buffer been opened in the slot of @seq? */
static inline bool ring_is_overwritten(const struct subbuf_ring *ring, uint64_t seq)
{
	return ring_newest(ring) >= seq + ring->nr_subbufs;
}

/** ring_oldest() - the oldest sub-buffer after @last_dropped that is not overwritten */
uint64_t ring_oldest(const struct subbuf_ring *ring, uint64_t last_dropped);

/* Total time in ms that the functions below may wait. With *@patience 0 they do not wait. */
#define RING_PATIENCE 100

/**
 * ring_wait_until_complete() - wait for writers inside sub-buffer @seq
 * Returns false if a writer is still inside, or at once if @seq is overwritten.
 */
bool ring_wait_until_complete(const struct subbuf_ring *ring, uint64_t seq, int *patience);

/**
 * ring_copy_racing() - copy memory that writers may change meanwhile; the caller checks the copy
 * @bytes: a multiple of 8
 */
void ring_copy_racing(void *to, const void *from, size_t bytes);

/**
 * ring_copy() - copy the complete sub-buffer @seq
 * It works as a sequence lock. An opener moves the position before it writes to the slot. So the
 * copy is valid if, after reading, the slot has not been opened for seq + N.
 * Returns false if the sub-buffer was overwritten meanwhile.
 */
bool ring_copy(const struct subbuf_ring *ring, uint64_t seq, struct subbuf_header *ret_copy);

/** ring_records_before() - subbuf_records_before(), repeated within @patience until it is exact */
uint64_t ring_records_before(const struct subbuf_ring *ring, uint64_t seq, int *patience);

/**
 * ring_drop() - close the sub-buffer in use. Returns the last closed one, which ends the
 * dropped part
 * @ret_records: number of records up to there
 */
uint64_t ring_drop(const struct subbuf_ring *ring, uint64_t *ret_records, int *patience);
#endif
