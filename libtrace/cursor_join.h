/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef LIBTRACE_CURSOR_JOIN_H
#define LIBTRACE_CURSOR_JOIN_H
/* cursor_join.h - decode the next chunk or gap that a cursor wants, as a lane. */
#include <stdbool.h>
#include <trace/error.h>

struct cursor_lane;
struct trace_cursor;

/** cursor_lane_skip_unwanted() - skip unwanted events of @lane. False: no event is left */
bool cursor_lane_skip_unwanted(const struct trace_cursor *cursor, struct cursor_lane *lane);
/**
 * cursor_join_due() - move each chunk and gap that begins no later than the top's next event into
 * the heap. If the heap is empty, the next one joins. 0 or a negative errno
 */
int cursor_join_due(struct trace_cursor *cursor) TRACE_NODISCARD;
/** cursor_follow() - set until_ns to the safe point of the trace; the start state has none */
void cursor_follow(struct trace_cursor *cursor);
/** cursor_find_next_join() - set next_join_ns */
void cursor_find_next_join(struct trace_cursor *cursor);

#endif
