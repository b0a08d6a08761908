/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * limit_ring.h - the ring of a CPU for the records of limit.bpf.c; as large as the daemon's
 * default ring.
 */
#ifndef BENCH_LIMIT_RING_H
#define BENCH_LIMIT_RING_H
#include <linux/types.h>

#define LIMIT_RING_BYTES (8 << 20)

/**
 * struct limit_ring - @position, @commit: total bytes reserved, committed. @words: 16-byte
 * records
 */
struct limit_ring {
	__u64 position;
	__u64 pad0[7];
	__u64 commit;
	__u64 pad1[7];
	__u64 words[LIMIT_RING_BYTES / 8 + 2];
};

#endif
