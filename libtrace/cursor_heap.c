/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * cursor_heap.c - the lanes of a cursor, ordered by the time of their next event.
 *
 * A binary heap in an array: the children of entry i are the entries 2 * i + 1 and 2 * i + 2, and
 * no child is before its parent. So entry 0, the top, has the next event of all lanes.
 *
 * Example: the lanes A, B, C and D have their next events at 10, 15, 35 and 20 ns. The heap is A,
 * B, C, D: B and C are the children of A, D is the child of B. When A is taken, the last entry D
 * goes down from the top: B (15) is before D (20), so the heap becomes B, D, C.
 */
#include "cursor_heap.h"

#include "chunk.h"
#include "cursor_state.h"

#include <errno.h>
#include <stdlib.h>

__attribute__((noinline)) bool cursor_lane_before(const struct cursor_lane *a, const struct cursor_lane *b)
{
	if (a->cpu != b->cpu)
		return a->cpu < b->cpu;
	if (a->stream != b->stream)
		return a->stream < b->stream;
	return a->rank < b->rank;
}

/* Returns a number, not a condition: the processor cannot predict which child is first. */
static inline size_t head_before(const struct cursor_head *a, const struct cursor_head *b)
{
	size_t before = a->ts_ns < b->ts_ns;

	if (__builtin_expect(a->ts_ns == b->ts_ns, 0))
		before = cursor_lane_before(a->lane, b->lane);
	return before;
}

/* Replaces the top of the heap by @head, and restores the order. */
static void heap_down(struct trace_cursor *cursor, struct cursor_head head)
{
	struct cursor_head *heap = cursor->heap;
	size_t at = 0, child, nr = cursor->nr_heap;

	for (; (child = 2 * at + 1) + 1 < nr; at = child) {
		child += head_before(&heap[child + 1], &heap[child]);
		if (!head_before(&heap[child], &head))
			break;
		heap[at] = heap[child];
	}
	if (child + 1 == nr && head_before(&heap[child], &head)) {
		heap[at] = heap[child];
		at = child;
	}
	heap[at] = head;
}

struct cursor_lane *cursor_lane_new(struct trace_cursor *cursor)
{
	struct cursor_lane *lane = cursor->free_lanes;

	if (lane)
		cursor->free_lanes = lane->next_free;
	else if ((lane = aligned_alloc(_Alignof(struct cursor_lane), sizeof(*lane))))
		*lane = (struct cursor_lane){.block = {.pool = cursor->pool}};
	return lane;
}

void cursor_lane_free(struct trace_cursor *cursor, struct cursor_lane *lane)
{
	lane->next_free = cursor->free_lanes;
	cursor->free_lanes = lane;
}

int cursor_heap_push(struct trace_cursor *cursor, struct cursor_lane *lane)
{
	struct cursor_head head = {lane->ts_ns, lane};
	size_t at = cursor->nr_heap;

	if (!trace_array_grow((void **)&cursor->heap, cursor->nr_heap, &cursor->heap_room, sizeof(*cursor->heap))) {
		cursor_lane_free(cursor, lane);
		return -ENOMEM;
	}
	cursor->nr_heap++;
	for (; at > 0 && head_before(&head, &cursor->heap[(at - 1) / 2]); at = (at - 1) / 2)
		cursor->heap[at] = cursor->heap[(at - 1) / 2];
	cursor->heap[at] = head;
	return 0;
}

struct cursor_lane *cursor_heap_take(struct trace_cursor *cursor)
{
	struct cursor_lane *lane = cursor->heap[0].lane;

	if (--cursor->nr_heap)
		heap_down(cursor, cursor->heap[cursor->nr_heap]);
	return lane;
}
