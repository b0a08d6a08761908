/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DAEMON_LEVEL_H
#define DAEMON_LEVEL_H
/*
 * level.h - how hard to compress while a recording lasts.
 *
 * What the writer cannot keep up with is lost in the end, so the level follows what stands in its way. While it keeps up: the usual level. When half
 * of its queue is full, what the last blocks took decides: if more than half of the time went into system calls that write, the disk is too slow, and
 * fewer bytes help: a higher level. Otherwise it is the CPU, and less work helps: a lower one. One step at a time, because the queue answers late.
 * When nearly all of the queue is empty again, it goes back, as slowly.
 */
#include <stddef.h>
#include <stdint.h>

enum {
	LEVEL_USUAL = 1,
	LEVEL_BLOCKS = 8, /* between two looks */
};

/**
 * struct level - what was seen since the last look. Zeroed = begin, at the usual level
 * @step: above the usual one; below 0: below
 */
struct level {
	int step;
	unsigned int blocks;
	uint64_t write_ns;
	uint64_t all_ns;
};

/**
 * level_block() - a block was compressed and written
 * @write_ns: of @all_ns, in system calls. @queued_bytes of @limit_bytes wait behind it
 * Returns the level for the next one.
 */
int level_block(struct level *level, uint64_t write_ns, uint64_t all_ns, size_t queued_bytes, size_t limit_bytes);

#endif
