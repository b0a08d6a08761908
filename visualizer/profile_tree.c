/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "profile_tree.h"

#include <errno.h>
#include <inttypes.h>
#include "error_set.h"
#include "profile_rows.h"

static struct profile_node *add_node(struct profile_tree *tree)
{
	struct profile_node *node = memory_take(1, sizeof(*node));

	node->number = (uint32_t)tree->nodes.nr;
	pointers_add(&tree->nodes, node);
	return node;
}

struct profile_node *profile_tree_root(struct profile_tree *tree)
{
	return tree->nodes.nr ? tree->nodes.at[0] : add_node(tree);
}

static uint64_t node_hash(const struct profile_node *parent, const struct profile_row *row)
{
	return hash_u64((uint64_t)parent->number << 32 | row->number);
}

static uint64_t hash_of_node(const void *tree, uint32_t number)
{
	const struct profile_node *node = ((const struct profile_tree *)tree)->nodes.at[number];

	return node_hash(node->parent, node->row);
}

struct profile_node *profile_tree_below(struct profile_tree *tree, struct profile_node *parent, struct profile_row *row)
{
	uint64_t hash = node_hash(parent, row);
	struct profile_node *node;
	uint32_t number;

	if (!number_index_room(&tree->by_row, hash_of_node, tree))
		memory_end();
	for (uint32_t step = 0; number_index_has(&tree->by_row, hash, step, &number); step++) {
		node = tree->nodes.at[number];
		if (node->parent == parent && node->row == row)
			return node;
	}
	node = add_node(tree);
	node->row = row;
	node->parent = parent;
	node->next = parent->child;
	parent->child = node;
	number_index_add(&tree->by_row, hash, node->number);
	return node;
}

/* ---- sums ---- */

static int by_total(const void *left, const void *right, void *data)
{
	uint64_t l = profile_elapsed(&(*(struct profile_node *const *)left)->total),
		 r = profile_elapsed(&(*(struct profile_node *const *)right)->total);

	(void)data;
	return (l < r) - (l > r);
}

static void sort_children(struct profile_node *node, struct pointers *list)
{
	struct profile_node *child;

	list->nr = 0;
	for (child = node->child; child; child = child->next)
		pointers_add(list, child);
	if (list->nr < 2)
		return;
	memory_sort(list->at, list->nr, sizeof(*list->at), by_total, NULL);
	node->child = list->at[0];
	for (size_t i = 0; i < list->nr; i++) {
		child = list->at[i];
		child->next = i + 1 < list->nr ? list->at[i + 1] : NULL;
	}
}

void profile_tree_end(struct profile_tree *tree)
{
	struct pointers list = {0};

	number_index_clear(&tree->by_row);
	for (size_t i = tree->nodes.nr; i-- > 0;) {
		struct profile_node *node = tree->nodes.at[i];

		profile_time_add(&node->total, &node->self);
		if (node->parent)
			profile_time_add(&node->parent->total, &node->total);
	}
	for (size_t i = 0; i < tree->nodes.nr; i++)
		sort_children(tree->nodes.at[i], &list);
	pointers_free(&list);
}

/* ---- the way through the tree ---- */

const struct profile_node *profile_node_next(const struct profile_node *node)
{
	if (node->child)
		return node->child;
	while (node && !node->next)
		node = node->parent;
	return node ? node->next : NULL;
}

size_t profile_node_depth(const struct profile_node *node)
{
	size_t depth = 0;

	for (; node->parent && node->parent->parent; node = node->parent)
		depth += !profile_node_is_repeated(node);
	return depth;
}

bool profile_node_is_repeated(const struct profile_node *node)
{
	const struct profile_node *caller = node->parent;

	return caller && caller->row == node->row && caller->child == node && !node->next &&
	       !profile_elapsed(&caller->self);
}

const struct profile_node *profile_node_last(const struct profile_node *node, size_t *ret_times)
{
	for (*ret_times = 1; node->child && profile_node_is_repeated(node->child); ++*ret_times)
		node = node->child;
	return node;
}

/* ---- verification ---- */

static int differs(const char *name, const struct profile_time *sum, const struct profile_time *expected,
		   struct trace_error *ret_error)
{
	return error_set(ret_error, -EBADMSG,
			 "profile: %s has %" PRIu64 " ns and %" PRIu64 " samples, and its parts have %" PRIu64
			 " ns and %" PRIu64,
			 name, profile_elapsed(expected), expected->samples, profile_elapsed(sum), sum->samples);
}

int profile_tree_verify(const struct profile_tree *tree, const struct profile_time *whole,
			struct trace_error *ret_error)
{
	struct profile_time all = {0};

	for (size_t i = 0; i < tree->nodes.nr; i++) {
		const struct profile_node *node = tree->nodes.at[i], *child;
		struct profile_time sum = node->self;

		profile_time_add(&all, &node->self);
		for (child = node->child; child; child = child->next)
			profile_time_add(&sum, &child->total);
		if (!profile_time_equals(&sum, &node->total))
			return differs(node->row ? node->row->name : "the tree", &sum, &node->total, ret_error);
	}
	return profile_time_equals(&all, whole) ? 0 : differs("the whole", &all, whole, ret_error);
}

void profile_tree_free(struct profile_tree *tree)
{
	pointers_free_all(&tree->nodes);
	number_index_clear(&tree->by_row);
}
