/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * profile_contexts.c - the callers and the callees of a function.
 *
 * A function that calls itself, directly or by way of others, is on a stack several times. Its time
 * counts once: the callers are those of the outermost one, and what it called is what the innermost
 * one called. So the callers add up to the time in and under the function, and so do the callees
 * together with the time in the function itself.
 */
#include "profile_contexts.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include "error_set.h"

struct neighbour_slot {
	uint64_t key; /* number of the row + 2; 1: the function itself */
	struct profile_neighbour *neighbour;
};

static bool is_named(const struct profile_node *node, const char *function)
{
	return node->row && node->row->kind == PROFILE_FUNCTION && !strcmp(node->row->name, function);
}

static void add_time(struct profile_neighbours *neighbours, struct hash_table *index, struct profile_row *row,
		     const struct profile_time *time)
{
	struct neighbour_slot *slot = memory_row(index, sizeof(*slot), row ? (uint64_t)row->number + 2 : 1);

	if (!slot->neighbour) {
		slot->neighbour = memory_take(1, sizeof(*slot->neighbour));
		slot->neighbour->row = row;
		pointers_add(&neighbours->list, slot->neighbour);
	}
	profile_time_add(&slot->neighbour->time, time);
	profile_time_add(&neighbours->total, time);
}

/* The outermost of the functions on the way to @node, or NULL */
static const struct profile_node *outermost(const struct profile_node *node, const char *function)
{
	const struct profile_node *found = NULL;

	for (; node; node = node->parent)
		if (is_named(node, function))
			found = node;
	return found;
}

static void add_callees(struct profile_neighbours *neighbours, struct hash_table *index,
			const struct profile_node *node, const char *function)
{
	const struct profile_node *inner = NULL, *at = node;

	for (; at && !is_named(at, function); at = at->parent)
		inner = at;
	if (at && profile_elapsed(&node->self) + node->self.samples)
		add_time(neighbours, index, inner ? inner->row : NULL, &node->self);
}

static int by_elapsed(const void *left, const void *right, void *data)
{
	uint64_t l = profile_elapsed(&(*(struct profile_neighbour *const *)left)->time),
		 r = profile_elapsed(&(*(struct profile_neighbour *const *)right)->time);

	(void)data;
	return (l < r) - (l > r);
}

struct profile_neighbours profile_neighbours_make(const struct profile_rows *rows, const char *function, bool callers)
{
	struct profile_neighbours neighbours = {0};
	struct hash_table index = {0};

	for (size_t i = 0; i < rows->rows.nr; i++) {
		const struct profile_row *row = rows->rows.at[i];

		neighbours.nr_rows += row->kind == PROFILE_FUNCTION && !strcmp(row->name, function);
	}
	for (size_t i = 0; i < rows->tree.nodes.nr; i++) {
		const struct profile_node *node = rows->tree.nodes.at[i];

		if (is_named(node, function))
			profile_time_add(&neighbours.self, &node->self);
		if (!callers)
			add_callees(&neighbours, &index, node, function);
		else if (is_named(node, function) && outermost(node, function) == node)
			add_time(&neighbours, &index, node->parent->row, &node->total);
	}
	memory_sort(neighbours.list.at, neighbours.list.nr, sizeof(*neighbours.list.at), by_elapsed, NULL);
	table_clear(&index);
	return neighbours;
}

int profile_neighbours_verify(const struct profile_rows *rows, const char *function, struct trace_error *ret_error)
{
	struct profile_neighbours callers = profile_neighbours_make(rows, function, true),
				  callees = profile_neighbours_make(rows, function, false);
	int result = 0;

	if (!profile_time_equals(&callers.total, &callees.total))
		result = error_set(ret_error, -EBADMSG,
				   "profile: the callers of %s have %" PRIu64 " ns, and what it called %" PRIu64 " ns",
				   function, profile_elapsed(&callers.total), profile_elapsed(&callees.total));
	profile_neighbours_free(&callers);
	profile_neighbours_free(&callees);
	return result;
}

void profile_neighbours_free(struct profile_neighbours *neighbours)
{
	pointers_free_all(&neighbours->list);
}
