/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "profile_pending.h"

#include <stdlib.h>

struct pending_row {
	uint64_t key; /* address of the thread */
	struct pending_stack *first;
};

struct pending_stack *pending_add(struct hash_table *pending, const struct trace_thread *thread, size_t nr_kernel)
{
	struct pending_stack *stack = calloc(1, sizeof(*stack) + nr_kernel * sizeof(stack->kernel[0]));
	struct pending_row *row = stack ? table_add(pending, sizeof(*row), (uintptr_t)thread) : NULL;

	if (!row) {
		free(stack);
		return NULL;
	}
	stack->nr_kernel = nr_kernel;
	stack->next = row->first;
	row->first = stack;
	return stack;
}

struct pending_stack *pending_first(const struct hash_table *pending, const struct trace_thread *thread)
{
	const struct pending_row *row = table_find(pending, sizeof(*row), (uintptr_t)thread);

	return row ? row->first : NULL;
}

static void free_list(struct pending_stack *stack)
{
	while (stack) {
		struct pending_stack *next = stack->next;

		free(stack);
		stack = next;
	}
}

void pending_drop(struct hash_table *pending, const struct trace_thread *thread)
{
	free_list(pending_first(pending, thread));
	table_remove(pending, sizeof(struct pending_row), (uintptr_t)thread);
}

static int by_number(const void *left, const void *right)
{
	uint32_t l = trace_thread_index(*(const struct trace_thread *const *)left),
		 r = trace_thread_index(*(const struct trace_thread *const *)right);

	return (l > r) - (l < r);
}

const struct trace_thread **pending_threads(const struct hash_table *pending, size_t *ret_nr)
{
	const struct trace_thread **threads = calloc(pending->used + 1, sizeof(*threads));
	const struct pending_row *row = NULL;
	size_t nr = 0;

	while (threads && (row = table_next(pending, sizeof(*row), row)))
		threads[nr++] = (const struct trace_thread *)(uintptr_t)row->key;
	if (threads)
		qsort(threads, nr, sizeof(*threads), by_number);
	*ret_nr = nr;
	return threads;
}

void pending_clear(struct hash_table *pending)
{
	const struct pending_row *row = NULL;

	while ((row = table_next(pending, sizeof(*row), row)))
		free_list(row->first);
	table_clear(pending);
}
