/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "level.h"

/*
 * Bytes and ns for each event of a real mix, by zstd level: -7 1.60, 10.0; -3 1.33, 9.8; -1 1.19,
 * 10.4; 1 1.12, 13.4; 3 1.09, 14.9; 4 1.05, 17.4; 5 1.00, 39.6. Times are left out, because zstd
 * does not compress them. Levels above 6 gain almost nothing.
 */
static const int levels[] = {-3, -1, LEVEL_USUAL, 3, 4, 6};

enum {
	LEVEL_LOWEST = -2, /* steps */
	LEVEL_HIGHEST = 3,
};

_Static_assert(sizeof(levels) / sizeof(levels[0]) == LEVEL_HIGHEST - LEVEL_LOWEST + 1, "a level for each step");

static int step_next(const struct level *level, size_t queued_bytes, size_t limit_bytes)
{
	if (queued_bytes < limit_bytes / 8)
		return level->step - (level->step > 0) + (level->step < 0);
	if (queued_bytes < limit_bytes / 2)
		return level->step;
	if (level->write_ns > level->all_ns / 2)
		return level->step < LEVEL_HIGHEST ? level->step + 1 : level->step;
	return level->step > LEVEL_LOWEST ? level->step - 1 : level->step;
}

int level_block(struct level *level, uint64_t write_ns, uint64_t all_ns, size_t queued_bytes, size_t limit_bytes)
{
	level->write_ns += write_ns;
	level->all_ns += all_ns;
	if (++level->blocks == LEVEL_BLOCKS)
		*level = (struct level){.step = step_next(level, queued_bytes, limit_bytes)};
	return levels[level->step - LEVEL_LOWEST];
}
