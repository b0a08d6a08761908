/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef LIBTRACE_POOL_H
#define LIBTRACE_POOL_H
/*
 * pool.h - memory for the decoded blocks of a cursor, which live as long as it does.
 *
 * A cursor has a block of each stream. Memory of 256 of them costs a fault for each page of it, and their events, which it goes through a few of
 * one block at a time, lie on more pages than a processor knows the places of. So it comes out of few and large pieces, of large pages where the kernel has them.
 */
#include <stdbool.h>
#include <stddef.h>

struct pool;

/**
 * pool_new() - NULL: no memory. pool_free() - after all that was taken was given back; NULL is fine. Returns NULL
 * @several: blocks at a time, of most streams: then all but a little of it is in large pages
 */
struct pool *pool_new(bool several);
struct pool *pool_free(struct pool *pool);

enum { POOL_MOST_BYTES = 4 << 20 }; /* more is no matter of the pool: malloc(), and free() when it is given back */

/** pool_take() - at least @bytes, and how many. Any thread may take and give. NULL: no memory */
void *pool_take(struct pool *pool, size_t bytes, size_t *ret_room);

/** pool_give() - what pool_take() gave with @room. NULL is fine */
void pool_give(struct pool *pool, void *memory, size_t room);

#endif
