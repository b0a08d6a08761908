/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef LIBTRACE_AHEAD_H
#define LIBTRACE_AHEAD_H
/*
 * ahead.h - a thread that decodes the next chunks for a cursor, in order, while the caller uses the
 * cursor's events.
 *
 * The thread never decodes more chunks ahead than its window has, so memory does not grow with the
 * trace. It reads only data that does not change after trace_open() and, through wants(), data that
 * does not change while it runs.
 */
#include <stdbool.h>
#include <stddef.h>

#include "event_block.h"

struct ahead;
struct span;
struct timeline;
struct trace;

/** ahead_wants_fn - does @context want the chunk of @span? Called from the thread */
typedef bool (*ahead_wants_fn)(const void *context, const struct span *span);

/**
 * ahead_new() - start the thread at the span @span_idx of @timeline
 * @pool: source of the memory of the cursor's blocks
 * Returns NULL when there is no memory, no thread, or only one CPU to run on. The caller then
 * decodes the chunks itself.
 */
struct ahead *ahead_new(const struct trace *trace, const struct timeline *timeline, size_t span_idx,
			unsigned int window, struct pool *pool, ahead_wants_fn wants, const void *context);

/**
 * ahead_take() - wait for the chunk at @span_idx, and return it like chunk_block(). Call with
 * ascending indexes
 * @block: exchanged for the decoded one; the old one is reused
 * Returns false when the thread did not want that chunk. The caller then decodes it itself.
 */
bool ahead_take(struct ahead *ahead, size_t span_idx, struct block *block, int *ret_error, const char **ret_reason);

/** ahead_free() - end the thread. @ahead may be NULL. Returns NULL */
struct ahead *ahead_free(struct ahead *ahead);

#endif
