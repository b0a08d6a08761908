/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * arena.c - take memory from the current piece; keep returned rows in a list for each size class.
 */
#include "arena.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "pages.h"
#include "hash_table.h"

#define FIRST_PIECE_BYTES (32u << 10) /* most recordings have some hundred threads */
#define LAST_PIECE_BYTES  (4u << 20)
/*
 * Up to this size, that of about 10,000 threads, the arena asks for large pages. Beyond it they
 * cost more than they gain in a virtual machine, where the host has to find the memory first.
 */
#define HUGE_MAX_BYTES (24u << 20)

/* rows that were returned, as a list */
struct arena_rows {
	struct arena_rows *next;
};

/* header in the first cache line of a piece */
struct arena_piece {
	struct arena_piece *next;
};

/*
 * The size of a piece with @room free bytes. The first piece is small. Each further piece doubles
 * the size of the arena, up to LAST_PIECE_BYTES at a time; a piece for more than that is as large
 * as it has to be.
 */
static size_t piece_bytes(const struct arena *arena, size_t room)
{
	size_t bytes = arena->bytes < FIRST_PIECE_BYTES	 ? FIRST_PIECE_BYTES
		       : arena->bytes < LAST_PIECE_BYTES ? arena->bytes
							 : LAST_PIECE_BYTES;

	while (bytes < room + CACHE_LINE && bytes < LAST_PIECE_BYTES)
		bytes *= 2;
	return bytes < room + CACHE_LINE ? (room + CACHE_LINE + PAGES_LARGE - 1) & ~(size_t)(PAGES_LARGE - 1) : bytes;
}

static bool piece_new(struct arena *arena, size_t room)
{
	size_t bytes = piece_bytes(arena, room);
	struct arena_piece *piece = aligned_alloc(bytes < PAGES_LARGE ? CACHE_LINE : PAGES_LARGE, bytes);

	if (!piece)
		return false;
	if (bytes >= PAGES_LARGE && arena->bytes < HUGE_MAX_BYTES)
		madvise(piece, bytes, MADV_HUGEPAGE);
	piece->next = arena->pieces;
	arena->pieces = piece;
	arena->at = (char *)piece + CACHE_LINE;
	arena->left = bytes - CACHE_LINE;
	arena->bytes += bytes;
	return true;
}

void *arena_take(struct arena *arena, size_t bytes)
{
	size_t room = (bytes + CACHE_LINE - 1) & ~(size_t)(CACHE_LINE - 1);
	void *memory;

	if (bytes > SIZE_MAX / 2 || (room > arena->left && !piece_new(arena, room)))
		return NULL;
	memory = arena->at;
	arena->at += room;
	arena->left -= room;
	return memset(memory, 0, room);
}

/* The size of a class is a power of two times 1, 1 + 1/ARENA_STEPS, ... 2 - 1/ARENA_STEPS. */
static size_t class_bytes(unsigned int class)
{
	return ((size_t)(ARENA_STEPS + class % ARENA_STEPS) << (ARENA_MIN_BITS + class / ARENA_STEPS)) / ARENA_STEPS;
}

static unsigned int class_of(size_t bytes)
{
	unsigned int class = (63u - (unsigned int)__builtin_clzll(bytes) - ARENA_MIN_BITS) * ARENA_STEPS;

	while (class_bytes(class) < bytes)
		class ++;
	return class;
}

void *arena_take_rows(struct arena *arena, size_t bytes)
{
	unsigned int class = class_of(bytes);
	struct arena_rows *rows = arena->free_rows[class];

	if (!rows)
		return arena_take(arena, class_bytes(class));
	arena->free_rows[class] = rows->next;
	return memset(rows, 0, bytes);
}

void arena_give_rows(struct arena *arena, void *rows, size_t bytes)
{
	struct arena_rows *given = rows;
	unsigned int class = class_of(bytes);

	given->next = arena->free_rows[class];
	arena->free_rows[class] = given;
}

void arena_free(struct arena *arena)
{
	struct arena_piece *next;

	for (struct arena_piece *piece = arena->pieces; piece; piece = next) {
		next = piece->next;
		free(piece);
	}
	*arena = (struct arena){0};
}
