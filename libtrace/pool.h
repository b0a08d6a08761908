/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef LIBTRACE_POOL_H
#define LIBTRACE_POOL_H
/*
 * pool.h - memory for the decoded blocks of a cursor; freed with the cursor.
 *
 * A cursor has one block per stream. For 256 streams, malloc() would cost a page fault per page,
 * and the cursor, which reads a few events of one block at a time, would use more pages than the
 * TLB holds. The pool therefore takes few and large pieces, in large pages where the kernel has
 * them.
 */
#include <stdbool.h>
#include <stddef.h>

struct pool;

/**
 * pool_new() - NULL: no memory
 * @several: one block of most streams is in use at the same time; then nearly all memory is in
 *           large pieces
 * pool_free() - all memory must have been given back. NULL is fine. Returns NULL
 */
struct pool *pool_new(bool several);
struct pool *pool_free(struct pool *pool);

enum { POOL_MAX_BYTES = 4 << 20 }; /* larger blocks are allocated with malloc() and freed when given back */

/**
 * pool_take() - at least @bytes; their number in @ret_room. NULL: no memory. Any thread may take
 * and give
 */
void *pool_take(struct pool *pool, size_t bytes, size_t *ret_room);

/** pool_give() - give back @memory of @room bytes from pool_take(). NULL is fine */
void pool_give(struct pool *pool, void *memory, size_t room);

#endif
