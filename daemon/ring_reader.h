/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DAEMON_RING_READER_H
#define DAEMON_RING_READER_H
/*
 * ring_reader.h - close and read sub-buffers of a ring, in addition to <trace/subbuf.h>
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
 * tracer_flush_rings() before.
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

/** ring_newest() - number of the sub-buffer that was opened last */
static inline uint64_t ring_newest(const struct subbuf_ring *ring)
{
	return __atomic_load_n(&ring->control->position, __ATOMIC_ACQUIRE) >> SUBBUF_OFFSET_BITS;
}
#endif
