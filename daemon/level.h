/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DAEMON_LEVEL_H
#define DAEMON_LEVEL_H
/*
 * level.h - chooses the compression level while a recording runs.
 *
 * If the writer is too slow, events are lost in the end; so the level depends on what limits the
 * writer:
 * - While the writer keeps up, it uses the usual level.
 * - If its queue is more than half full and the last blocks spent more than half of their time in
 * write system calls, the disk is too slow. Fewer bytes help, so the level rises.
 * - If they spent less, the CPU is too slow. Less work helps, so the level falls.
 * - When the queue is less than 1/8 full, the level returns to the usual one.
 *
 * The level changes one step at a time, because the queue reacts with a delay.
 */
#include <stddef.h>
#include <stdint.h>

enum {
	LEVEL_USUAL = 1,
	LEVEL_BLOCKS = 8, /* between two decisions */
};

/**
 * struct level - measured since the last decision; zeroed: begin at the usual level
 * @step: steps above the usual level; negative: below
 */
struct level {
	int step;
	unsigned int blocks;
	uint64_t write_ns;
	uint64_t all_ns;
};

/**
 * level_block() - decide after a block was compressed and written
 * @write_ns: the part of @all_ns spent in system calls
 * @queued_bytes, @limit_bytes: bytes still in the queue, and its size
 * Returns the level for the next block.
 */
int level_block(struct level *level, uint64_t write_ns, uint64_t all_ns, size_t queued_bytes, size_t limit_bytes);

#endif
