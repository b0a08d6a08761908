/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* limit_ring.h - the ring of a CPU for the least that a record costs: as many bytes as one of the daemon's has by default. */
#ifndef BENCH_LIMIT_RING_H
#define BENCH_LIMIT_RING_H
#include <linux/types.h>

#define LIMIT_RING_BYTES (8 << 20)

/** struct limit_ring - @position, @commit: bytes reserved and written, ever. @words: records of 16 bytes */
struct limit_ring {
	__u64 position;
	__u64 pad0[7];
	__u64 commit;
	__u64 pad1[7];
	__u64 words[LIMIT_RING_BYTES / 8 + 2];
};

#endif
