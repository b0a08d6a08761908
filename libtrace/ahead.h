/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef LIBTRACE_AHEAD_H
#define LIBTRACE_AHEAD_H
/*
 * ahead.h - a thread that decodes the chunks that a cursor will want next, in their order, while the cursor's events are used.
 *
 * It never decodes more than its window ahead: memory does not grow with the trace. It reads what does not change after
 * trace_open() and, through wants(), what does not change while it runs.
 */
#include <stdbool.h>
#include <stddef.h>

#include "trace.h"

struct ahead;

/** ahead_wants_fn - does @context want the chunk of @span? Called from the thread */
typedef bool (*ahead_wants_fn)(const void *context, const struct span *span);

/**
 * ahead_new() - begin with the chunk at @place of @timeline
 * @pool: where the cursor's blocks have their memory from
 * Returns NULL when there is no memory, no thread, or only one CPU to run on: do without.
 */
struct ahead *ahead_new(const struct trace *trace, const struct timeline *timeline, size_t place, unsigned int window, struct pool *pool,
			ahead_wants_fn wants, const void *context);

/**
 * ahead_take() - the chunk at @place as chunk_block() gives it; waits for it. Places come in ascending order
 * @block: becomes the decoded one; what it was is used again for another
 * Returns false when the thread did not want that chunk: decode it yourself.
 */
bool ahead_take(struct ahead *ahead, size_t place, struct block *block, int *ret_error, const char **ret_reason);

/** ahead_free() - ends the thread. NULL is fine. Returns NULL */
struct ahead *ahead_free(struct ahead *ahead);

#endif
