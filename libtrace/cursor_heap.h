/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef LIBTRACE_CURSOR_HEAP_H
#define LIBTRACE_CURSOR_HEAP_H
/* cursor_heap.h - the lanes of a cursor in the order of their next events. */
#include <stdbool.h>
#include <trace/error.h>

struct cursor_lane;
struct trace_cursor;

/** cursor_lane_before() - does @a precede @b, when both have an event at the same time? */
bool cursor_lane_before(const struct cursor_lane *a, const struct cursor_lane *b);
struct cursor_lane *cursor_lane_new(struct trace_cursor *cursor); /* NULL: no memory */
void cursor_lane_free(struct trace_cursor *cursor, struct cursor_lane *lane);
/** cursor_heap_push() - take over @lane. One that came from the heap fits again. 0 or -ENOMEM */
int cursor_heap_push(struct trace_cursor *cursor, struct cursor_lane *lane) TRACE_NODISCARD;
struct cursor_lane *cursor_heap_take(struct trace_cursor *cursor); /* the top; the heap is not empty */

#endif
