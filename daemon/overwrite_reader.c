/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * overwrite_reader.c - reading of rings in which writers may overwrite the oldest sub-buffers
 * meanwhile: for flight recorders
 */
#include <poll.h>

#include "overwrite_reader.h"

uint64_t ring_oldest(const struct subbuf_ring *ring, uint64_t last_dropped)
{
	uint64_t newest = ring_newest(ring), nr = ring->nr_subbufs;
	uint64_t oldest = newest >= nr ? newest - nr + 1 : 1;

	return oldest > last_dropped ? oldest : last_dropped + 1;
}

static bool wait_a_little(int *patience)
{
	if (*patience <= 0)
		return false;
	--*patience;
	poll(NULL, 0, 1);
	return true;
}

bool ring_wait_until_complete(const struct subbuf_ring *ring, uint64_t seq, int *patience)
{
	while (!subbuf_complete(ring, seq))
		if (ring_is_overwritten(ring, seq) || !wait_a_little(patience))
			return false;
	return true;
}

/*
 * The caller detects a torn copy afterwards and discards it. Thread sanitizer cannot know that, so
 * it is switched off here.
 */
__attribute__((no_sanitize_thread, noinline)) void ring_copy_racing(void *to, const void *from, size_t bytes)
{
	trace_u64 *to_words = to;
	const trace_u64 *from_words = from;

	for (size_t i = 0; i < bytes / sizeof(*to_words); i++)
		to_words[i] = __atomic_load_n(&from_words[i], __ATOMIC_RELAXED);
}

bool ring_copy(const struct subbuf_ring *ring, uint64_t seq, struct subbuf_header *ret_copy)
{
	ring_copy_racing(ret_copy, subbuf_slot(ring, seq), ring->subbuf_bytes);
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return ret_copy->seq == seq && !ring_is_overwritten(ring, seq);
}

uint64_t ring_records_before(const struct subbuf_ring *ring, uint64_t seq, int *patience)
{
	struct subbuf_count count = subbuf_records_before(ring, seq);

	while (!count.exact && !ring_is_overwritten(ring, seq) && wait_a_little(patience))
		count = subbuf_records_before(ring, seq);
	return count.records;
}

/*
 * If the ring wraps around while its records are counted, close and count again from the new
 * position.
 */
uint64_t ring_drop(const struct subbuf_ring *ring, uint64_t *ret_records, int *patience)
{
	uint64_t last_dropped;

	do {
		last_dropped = ring_close(ring);
		*ret_records = ring_records_before(ring, last_dropped + 1, patience);
	} while (ring_newest(ring) > last_dropped + ring->nr_subbufs && wait_a_little(patience));
	return last_dropped;
}
