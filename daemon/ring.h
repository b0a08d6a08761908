/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DAEMON_RING_H
#define DAEMON_RING_H
/* ring.h - what both readers of rings, drain.c and flight.c, need beyond <trace/subbuf.h>. */
#include <stddef.h>
#include <trace/subbuf.h>

/** ring_record_bytes() - bytes of records in @header, a sub-buffer or a copy: as it says, but never outside of it */
static inline size_t ring_record_bytes(const struct subbuf_ring *ring, const struct subbuf_header *header)
{
	uint32_t end = __atomic_load_n(&header->end, __ATOMIC_RELAXED);

	if (end < sizeof(*header) || end > ring->subbuf_bytes)
		return 0;
	return end - sizeof(*header);
}
#endif
