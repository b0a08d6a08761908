/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H
/*
 * arena.h - memory for objects that an analysis has many of and keeps to its end: threads and their
 * parts.
 *
 * The state of 10,000 threads does not fit in the CPU's caches. If each part of a thread had a page
 * of its own, the pages would not fit in the TLB either. So the arena takes memory in few, large
 * pieces. The larger pieces consist of large pages if the kernel has them. Such a page costs one
 * fault per 2 MB instead of one per 4 KB, and is released in one step.
 */
#include <stddef.h>

struct arena_piece;
struct arena_rows;
#define ARENA_MIN_BITS 10
#define ARENA_MAX_BITS 17
#define ARENA_ROWS_MIN (1u << ARENA_MIN_BITS)
#define ARENA_ROWS_MAX (1u << ARENA_MAX_BITS)
/*
 * size classes between two powers of two. A table has a power of two of rows; with rows of 16, 24,
 * 48 or 80 bytes its size is exactly a class.
 */
#define ARENA_STEPS 4u
/* zeros: empty */
struct arena {
	struct arena_piece *pieces; /* owned */
	char *at;
	size_t left;
	size_t bytes; /* of all pieces */
	struct arena_rows *free_rows[(ARENA_MAX_BITS - ARENA_MIN_BITS) * ARENA_STEPS + 1];
};

/**
 * arena_take() - allocate @bytes of zeroed memory, aligned to a cache line, until arena_free().
 * NULL: out of memory
 */
void *arena_take(struct arena *arena, size_t bytes);
/**
 * arena_take_rows() - the same for memory of ARENA_ROWS_MIN to ARENA_ROWS_MAX bytes that can be
 * returned
 * arena_give_rows() - return such memory; @bytes must be the same as when it was taken
 */
void *arena_take_rows(struct arena *arena, size_t bytes);
void arena_give_rows(struct arena *arena, void *rows, size_t bytes);
void arena_free(struct arena *arena);
#endif
