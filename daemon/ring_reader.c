/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ring_reader.h"

#include "cpu_visit.h"

/*
 * Closes the open block. Returns its end offset; 0: no block was open, or it could not be closed.
 */
static uint32_t flush_block(const struct subbuf_ring *ring)
{
	uint64_t block = __atomic_load_n(&ring->control->block, __ATOMIC_RELAXED);
	bool closed;

	if (!subbuf_block_is_open(block) || !cpu_visit(ring->control->cpu))
		return 0;
	block = __atomic_load_n(&ring->control->block, __ATOMIC_RELAXED);
	closed = subbuf_flush_block(ring);
	cpu_leave();
	return closed ? (uint32_t)block : 0;
}

bool ring_is_out_of_reach(const struct subbuf_ring *ring)
{
	if (!subbuf_block_is_open(__atomic_load_n(&ring->control->block, __ATOMIC_RELAXED)))
		return false;
	if (!cpu_visit(ring->control->cpu))
		return true;
	cpu_leave();
	return false;
}

uint32_t ring_flush(const struct subbuf_ring *ring)
{
	uint32_t block, offset;

	if (ring->control->producer == SUBBUF_PRODUCER_KERNEL &&
	    __atomic_load_n(&ring->control->defers, __ATOMIC_RELAXED))
		return 0;
	block = flush_block(ring);
	offset = (uint32_t)(__atomic_load_n(&ring->control->position, __ATOMIC_RELAXED) & SUBBUF_OFFSET_MASK);
	return subbuf_flush(ring) && offset > block ? offset : block;
}

uint64_t ring_close(const struct subbuf_ring *ring)
{
	ring_flush(ring);
	return subbuf_newest_closed(ring);
}
