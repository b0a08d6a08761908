/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * pool.c - memory of fixed sizes from large pieces: STEPS sizes for each power of two, each with a
 * list of returned memory.
 */
#include "pool.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "pages.h"

enum {
	/* pieces of this size and more use large pages; what one stream needs fits smaller ones */
	HUGE_MIN_BYTES = 4 << 20,
	HUGE_MAX_BYTES = 32 << 20,
	FIRST_PIECE_BYTES = 256 << 10, /* most cursors read a few events only */
	LAST_PIECE_BYTES = 16 << 20,
	MIN_BITS = 12,
	MAX_BITS = 22,
	STEPS = 4, /* sizes per power of two: at most a fifth of a block is unused */
	NR_SIZES = (MAX_BITS - MIN_BITS) * STEPS + 1,
};

_Static_assert(POOL_MAX_BYTES == 1 << MAX_BITS, "the last size");

/** struct piece - a part of the pool's memory */
struct piece {
	void *memory; /* owned */
	struct piece *next;
};

/** struct unused - returned memory of one size */
struct unused {
	struct unused *next;
};

/**
 * struct pool - all fields are guarded by @lock
 * @at: the rest of the last piece
 * @huge_bytes: bytes in large pages so far, limited to HUGE_MAX_BYTES. With all 120 MB in large
 *              pages events cost a quarter less. But on a virtual machine whose host had not yet
 *              provided that memory, the first 10 million events cost twice as much. So one stream
 *              alone uses none, and many streams use some.
 */
struct pool {
	pthread_mutex_t lock;
	struct piece *pieces; /* owned */
	unsigned char *at;
	size_t left;
	size_t next_bytes; /* of the next piece */
	size_t second_bytes;
	size_t huge_bytes;
	struct unused *unused[NR_SIZES];
};

struct pool *pool_new(bool several)
{
	struct pool *pool = calloc(1, sizeof(*pool));

	if (!pool)
		return NULL;
	pthread_mutex_init(&pool->lock, NULL);
	pool->next_bytes = FIRST_PIECE_BYTES;
	pool->second_bytes = several ? HUGE_MIN_BYTES : 2 * FIRST_PIECE_BYTES;
	return pool;
}

struct pool *pool_free(struct pool *pool)
{
	if (!pool)
		return NULL;
	while (pool->pieces) {
		struct piece *piece = pool->pieces;

		pool->pieces = piece->next;
		free(piece->memory);
		free(piece);
	}
	pthread_mutex_destroy(&pool->lock);
	free(pool);
	return NULL;
}

/* (STEPS + 0 ... STEPS - 1) / STEPS times a power of two, at least 2^MIN_BITS. */
static size_t size_bytes(unsigned int size)
{
	return ((size_t)(STEPS + size % STEPS) << (MIN_BITS + size / STEPS)) / STEPS;
}

static unsigned int size_of(size_t bytes)
{
	unsigned int bits = bytes >> MIN_BITS ? 63u - (unsigned int)__builtin_clzll(bytes) - MIN_BITS : 0,
		     size = bits * STEPS;

	while (size_bytes(size) < bytes)
		size++;
	return size;
}

static bool piece_new(struct pool *pool, size_t bytes)
{
	size_t room = pool->next_bytes;
	struct piece *piece = malloc(sizeof(*piece));

	if (!piece)
		return false;
	while (room < bytes)
		room *= 2;
	piece->memory = room < HUGE_MIN_BYTES ? malloc(room) : aligned_alloc(PAGES_LARGE, room);
	if (!piece->memory) {
		free(piece);
		return false;
	}
	if (room >= HUGE_MIN_BYTES && pool->huge_bytes + room <= HUGE_MAX_BYTES) {
		madvise(piece->memory, room, MADV_HUGEPAGE);
		pool->huge_bytes += room;
	}
	piece->next = pool->pieces;
	pool->pieces = piece;
	pool->at = piece->memory;
	pool->left = room;
	if (pool->next_bytes == FIRST_PIECE_BYTES)
		pool->next_bytes = pool->second_bytes;
	else if (pool->next_bytes < LAST_PIECE_BYTES)
		pool->next_bytes *= 2;
	return true;
}

static void *take_locked(struct pool *pool, unsigned int size)
{
	struct unused *unused = pool->unused[size];
	size_t bytes = size_bytes(size);
	void *memory;

	if (unused) {
		pool->unused[size] = unused->next;
		return unused;
	}
	if (bytes > pool->left && !piece_new(pool, bytes))
		return NULL;
	memory = pool->at;
	pool->at += bytes;
	pool->left -= bytes;
	return memory;
}

void *pool_take(struct pool *pool, size_t bytes, size_t *ret_room)
{
	unsigned int size;
	void *memory;

	if (bytes > POOL_MAX_BYTES) {
		*ret_room = bytes + bytes / 4;
		return malloc(*ret_room);
	}
	size = size_of(bytes);
	pthread_mutex_lock(&pool->lock);
	memory = take_locked(pool, size);
	pthread_mutex_unlock(&pool->lock);
	if (memory)
		*ret_room = size_bytes(size);
	return memory;
}

void pool_give(struct pool *pool, void *memory, size_t room)
{
	struct unused *unused = memory;
	unsigned int size;

	if (room > POOL_MAX_BYTES)
		free(memory);
	if (!memory || room > POOL_MAX_BYTES)
		return;
	size = size_of(room);
	pthread_mutex_lock(&pool->lock);
	unused->next = pool->unused[size];
	pool->unused[size] = unused;
	pthread_mutex_unlock(&pool->lock);
}
