/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_PROFILE_PARTS_H
#define ANALYZER_PROFILE_PARTS_H
/*
 * profile_parts.h - the callers for which a sample had no room. They are in samples of their own,
 * the parts of the stack, which are recorded before the one to which they belong.
 *
 * Example: a stack of 500 callers is a part with source 16 and callers 223 to 444, a part with
 * source 17 and the others, and the sample itself, with source 0 and the first 222 callers.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <trace/reader.h>
#include "hash_table.h"

/* trace_sample.source of whole samples */
enum { SOURCE_TIMER, SOURCE_WAIT, SOURCE_WAIT_EXIT, SOURCE_WAKER, SOURCE_WAKER_SOFTIRQ, SOURCE_WAKER_INTERRUPT };

/**
 * struct stack_parts - the callers behind those of a sample, the innermost first
 * @certain: so many of them were found by tables alone. @end: trace_sample.cut of the last part
 * @next: the number of parts so far; 0: one is missing
 */
struct stack_parts {
	uint64_t *callers; /* owned */
	uint32_t nr, room, certain;
	uint32_t next;
	uint8_t end;
};

/** stack_parts_is_part() - whether the sample @event is a part */
bool stack_parts_is_part(const struct trace_event *event);
/** stack_parts_add() - keep the callers of a part; false: no memory. @rows: of stacks */
bool stack_parts_add(struct hash_table *rows, const struct trace_event *event);
/**
 * stack_parts_take() - those that belong to the sample @event, borrowed until the next part; NULL:
 * it has none, or one of them was lost. They belong to no other sample any more
 */
const struct stack_parts *stack_parts_take(const struct hash_table *rows, const struct trace_event *event);
void stack_parts_clear(struct hash_table *rows);
#endif
