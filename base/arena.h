/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H
/*
 * arena.h - memory for what an analysis has many of and keeps to its end: threads, and what goes with each.
 *
 * Of 10,000 threads the state does not stay in a cache until they come to a CPU again, and a page for each of its parts would not stay where the processor
 * keeps the places of pages either. So it comes out of few and large pieces, the larger ones of large pages where the kernel has them: those cost a fault for
 * each 2 MB instead of each 4 KB, too, and are given back at once.
 */
#include <stddef.h>

struct arena_piece;
struct arena_rows;
#define ARENA_LEAST_BITS 10
#define ARENA_MOST_BITS 17
#define ARENA_ROWS_LEAST (1u << ARENA_LEAST_BITS)
#define ARENA_ROWS_MOST (1u << ARENA_MOST_BITS)
#define ARENA_STEPS 4u /* between two powers of two: rows of 16, 24, 48 and 80 bytes, of which a table has a power of two, fit as they are */
struct arena { /* zeros: empty */
	struct arena_piece *pieces; /* owned */
	char *at;
	size_t left;
	size_t bytes; /* of all pieces */
	struct arena_rows *free_rows[(ARENA_MOST_BITS - ARENA_LEAST_BITS) * ARENA_STEPS + 1];
};

/** arena_take() - @bytes of zeros that begin on a line of the cache, until arena_free(); NULL: out of memory */
void *arena_take(struct arena *arena, size_t bytes);
/** arena_take_rows() - the same for what may be given back, from ARENA_ROWS_LEAST to ARENA_ROWS_MOST bytes. arena_give_rows(): of as many @bytes */
void *arena_take_rows(struct arena *arena, size_t bytes);
void arena_give_rows(struct arena *arena, void *rows, size_t bytes);
void arena_free(struct arena *arena);
#endif
