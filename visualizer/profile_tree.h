/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef VISUALIZER_PROFILE_TREE_H
#define VISUALIZER_PROFILE_TREE_H
/*
 * profile_tree.h - the contexts of a profile: a node is a function with the callers that led to it.
 * Below the root are programs.
 */
#include <trace/error.h>
#include "checked_memory.h"
#include "number_index.h"
#include "profile_time.h"

struct profile_row;
struct woken_in;

/**
 * struct profile_node - @row: what is there; NULL: the root
 * @parent: NULL for the root. @child, @next: its first child, its next sibling
 * @self: the time in it. @total: in it and below it; of profile_tree_end()
 * @woken: where the waits of a node ended, as far as it is known
 */
struct profile_node {
	struct profile_row *row;
	struct profile_node *parent, *child, *next;
	struct woken_in *woken;
	struct profile_time self, total;
	uint32_t number;
};

/** struct profile_tree - @nodes: owned; callers before what they call */
struct profile_tree {
	struct pointers nodes;
	struct number_index by_row; /* by parent and row */
};

/** profile_tree_root() - it is added if it is missing */
struct profile_node *profile_tree_root(struct profile_tree *tree);
/** profile_tree_below() - the child of @parent for @row, which is added if it is missing */
struct profile_node *profile_tree_below(struct profile_tree *tree, struct profile_node *parent,
					struct profile_row *row);
/** profile_tree_end() - add up the times of the nodes; children with more time come first */
void profile_tree_end(struct profile_tree *tree);
/** profile_node_next() - the node after @node if children come before siblings; NULL at the end */
const struct profile_node *profile_node_next(const struct profile_node *node);
/** profile_node_depth() - the number of its callers that are not repeated, the root not counted */
size_t profile_node_depth(const struct profile_node *node);
/**
 * profile_node_is_repeated() - is it a function that its caller, the same function, only called?
 * Reports show such a chain as one function that is there several times.
 */
bool profile_node_is_repeated(const struct profile_node *node);
/** profile_node_last() - the end of the chain that begins with @node; @ret_times: its length */
const struct profile_node *profile_node_last(const struct profile_node *node, size_t *ret_times);
/**
 * profile_tree_verify() - do the times of the nodes add up to @whole, and each total to its parts?
 * Returns 0, or -EBADMSG with the first difference
 */
int profile_tree_verify(const struct profile_tree *tree, const struct profile_time *whole,
			struct trace_error *ret_error) TRACE_NODISCARD;
void profile_tree_free(struct profile_tree *tree);
#endif
