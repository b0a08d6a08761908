/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef LIBTRACE_CURSOR_BATCH_H
#define LIBTRACE_CURSOR_BATCH_H
/* cursor_batch.h - order the events of all lanes of a cursor up to a time. */
#include <stdbool.h>
#include <stdint.h>

struct cursor_batch;
struct trace_cursor;

extern const uint64_t cursor_no_keys; /* the keys of an empty batch */

/** cursor_next_batch() - returns false at the end of the events, or with cursor->error set */
bool cursor_next_batch(struct trace_cursor *cursor);
/** cursor_drop_lanes() - empty the batch and the heap */
void cursor_drop_lanes(struct trace_cursor *cursor);
void cursor_batch_release(struct cursor_batch *batch);

#endif
