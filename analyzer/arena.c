/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include "table.h"

#define FIRST_PIECE_BYTES (32u << 10) /* most recordings have some hundred threads */
#define LAST_PIECE_BYTES (4u << 20)
#define HUGE_BYTES (2u << 20)
#define HUGE_MOST_BYTES (64u << 20) /* where the host of a virtual machine has to find the memory first, a large page costs more than it gains */

struct arena_piece { /* the first line of it */
	struct arena_piece *next;
};

/* The first is small, and each doubles what there is. */
static bool piece_new(struct arena *arena)
{
	size_t bytes = arena->bytes < FIRST_PIECE_BYTES ? FIRST_PIECE_BYTES : arena->bytes < LAST_PIECE_BYTES ? arena->bytes : LAST_PIECE_BYTES;
	struct arena_piece *piece = aligned_alloc(bytes < HUGE_BYTES ? CACHE_LINE : HUGE_BYTES, bytes);

	if (!piece)
		return false;
	if (bytes >= HUGE_BYTES && arena->bytes < HUGE_MOST_BYTES)
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

	if (room > FIRST_PIECE_BYTES - CACHE_LINE || (room > arena->left && !piece_new(arena)))
		return NULL;
	memory = arena->at;
	arena->at += room;
	arena->left -= room;
	return memset(memory, 0, room);
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
