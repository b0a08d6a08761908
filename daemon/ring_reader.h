/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DAEMON_RING_READER_H
#define DAEMON_RING_READER_H
/*
 * ring_reader.h - functions on rings for drain.c, flight.c and user_kept.c, in addition to
 * <trace/subbuf.h>
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <trace/subbuf.h>

/**
 * ring_record_bytes() - bytes of records in @header, a sub-buffer or its copy; 0 if its end is
 * invalid
 */
static inline size_t ring_record_bytes(const struct subbuf_ring *ring, const struct subbuf_header *header)
{
	uint32_t end = __atomic_load_n(&header->end, __ATOMIC_RELAXED);

	if (end < sizeof(*header) || end > ring->subbuf_bytes)
		return 0;
	return end - sizeof(*header);
}

/**
 * ring_flush() - subbuf_flush_block() and subbuf_flush(): make the ring's records readable, once
 * the writers inside have left
 * One flush at a time. If a block is open, the flush runs on the ring's CPU. If the daemon's cpuset
 * excludes that CPU, the block stays open until it is full or the program ends.
 * A kernel ring in which BPF programs defer entries of system calls is not flushed here: call
 * tracer_settle() before.
 * Returns the fill level in bytes of the closed sub-buffer; 0: none was closed.
 */
uint32_t ring_flush(const struct subbuf_ring *ring);

/** ring_is_out_of_reach() - is a block open that ring_flush() cannot close? */
bool ring_is_out_of_reach(const struct subbuf_ring *ring);

/**
 * ring_close() - ring_flush(). Returns the newest closed sub-buffer; a later one may be open
 * already
 */
uint64_t ring_close(const struct subbuf_ring *ring);

/* ---- rings that writers may overwrite concurrently: overwrite_reader.c ---- */

/** ring_newest() - number of the sub-buffer that was opened last */
static inline uint64_t ring_newest(const struct subbuf_ring *ring)
{
	return __atomic_load_n(&ring->control->position, __ATOMIC_ACQUIRE) >> SUBBUF_OFFSET_BITS;
}

/** ring_is_overwritten() - has a later sub-buffer been opened in the slot of @seq? */
static inline bool ring_is_overwritten(const struct subbuf_ring *ring, uint64_t seq)
{
	return ring_newest(ring) >= seq + ring->nr_subbufs;
}

/** ring_oldest() - the oldest sub-buffer after @forgotten that is not overwritten */
uint64_t ring_oldest(const struct subbuf_ring *ring, uint64_t forgotten);

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
 * forgotten part
 * @ret_records: number of records up to there
 */
uint64_t ring_drop(const struct subbuf_ring *ring, uint64_t *ret_records, int *patience);
#endif
