/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DAEMON_RING_READER_H
#define DAEMON_RING_READER_H
/* ring_reader.h - what the readers of rings, drain.c, flight.c and user_kept.c, need beyond <trace/subbuf.h>. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <trace/subbuf.h>

/** ring_record_bytes() - bytes of records in @header, a sub-buffer or a copy: as it says, but never outside of it */
static inline size_t ring_record_bytes(const struct subbuf_ring *ring, const struct subbuf_header *header)
{
	uint32_t end = __atomic_load_n(&header->end, __ATOMIC_RELAXED);

	if (end < sizeof(*header) || end > ring->subbuf_bytes)
		return 0;
	return end - sizeof(*header);
}

/**
 * ring_flush() - subbuf_flush_block() and subbuf_flush(): what the ring holds until now can be read, once those who are inside have left
 * One at a time. On the ring's CPU, if there is a block; what of it cannot be closed, from a cpuset without that CPU, stays until it is full or the program ends.
 * Rings of the kernel that hold entries of system calls are closed by tracer_settle() alone, which is to be called before.
 * Returns how full the sub-buffer was that was closed, in bytes; 0: there was none.
 */
uint32_t ring_flush(const struct subbuf_ring *ring);

/** ring_is_out_of_reach() - is there a block that ring_flush() cannot close? */
bool ring_is_out_of_reach(const struct subbuf_ring *ring);

/** ring_close() - ring_flush(). Returns the last sub-buffer that nobody adds to any more; behind it the next may have been opened already */
uint64_t ring_close(const struct subbuf_ring *ring);

/* ---- sub-buffers that may be overwritten while we look: overwrite_reader.c ---- */

/** ring_newest() - the sub-buffer that was opened last */
static inline uint64_t ring_newest(const struct subbuf_ring *ring)
{
	return __atomic_load_n(&ring->control->position, __ATOMIC_ACQUIRE) >> SUBBUF_OFFSET_BITS;
}

/** ring_is_overwritten() - another has been opened in the place of sub-buffer @seq */
static inline bool ring_is_overwritten(const struct subbuf_ring *ring, uint64_t seq)
{
	return ring_newest(ring) >= seq + ring->nr_subbufs;
}

/** ring_oldest() - the oldest that was not overwritten, behind @forgotten */
uint64_t ring_oldest(const struct subbuf_ring *ring, uint64_t forgotten);

/* How many ms all that follows may wait in all; who is called with 0 does not wait. */
#define RING_PATIENCE 100

/** ring_wait_until_complete() - a writer may be inside, for a moment. False: it still is; or @seq is overwritten, which no patience helps */
bool ring_wait_until_complete(const struct subbuf_ring *ring, uint64_t seq, int *patience);

/** ring_copy_racing() - memory that others may be writing: what comes is what is checked afterwards. @bytes: a multiple of 8 */
void ring_copy_racing(void *to, const void *from, size_t bytes);

/**
 * ring_copy() - a copy of the complete sub-buffer @seq
 * As with a sequence lock: it is whole when its slot was not opened for seq + N by the time we had read it, and an opener moves the position
 * before it writes anything there. False: it was overwritten meanwhile.
 */
bool ring_copy(const struct subbuf_ring *ring, uint64_t seq, struct subbuf_header *ret_copy);

/** ring_records_before() - as subbuf_records_before(), once it is exact */
uint64_t ring_records_before(const struct subbuf_ring *ring, uint64_t seq, int *patience);

/** ring_forget() - close the sub-buffer in use; all up to the one whose number is returned is past. @ret_records: how many records that were */
uint64_t ring_forget(const struct subbuf_ring *ring, uint64_t *ret_records, int *patience);
#endif
