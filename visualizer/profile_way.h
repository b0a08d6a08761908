/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef VISUALIZER_PROFILE_WAY_H
#define VISUALIZER_PROFILE_WAY_H
/*
 * profile_way.h - the rows from a program to what called the row of a share. The way of the share
 * before begins with the same ones as a rule, and those stay.
 */
#include <stddef.h>
#include <stdint.h>

struct profile_node;
struct profile_row;
struct profile_time;
struct profile_tree;

#define PROFILE_NO_FUNCTION UINT32_MAX

/**
 * struct profile_step - @function: number of @row's function; PROFILE_NO_FUNCTION: it is a program,
 * or the unknown callers of a stack. @node: of the tree, if there is one
 */
struct profile_step {
	struct profile_row *row;
	struct profile_node *node;
	uint32_t function;
};

/**
 * struct profile_way - @steps: the program is first; owned
 * @tree: gets a node for each way; NULL: it is not needed. @shares: whose time was added so far
 */
struct profile_way {
	struct profile_step *steps;
	size_t nr, room;
	struct profile_tree *tree;
	uint32_t shares;
};

/** profile_way_top() - step number @at is @row, no function. A new row drops the steps behind it */
void profile_way_top(struct profile_way *way, size_t at, struct profile_row *row);
/** profile_way_add() - the next step */
void profile_way_add(struct profile_way *way, uint32_t function, struct profile_row *row);
/**
 * profile_way_keep() - drop the steps behind the first @top that are not of @functions
 * The outermost of the @nr functions is the last one; the first @inner of them have no step.
 * Returns how many are left to add: the first ones.
 */
size_t profile_way_keep(struct profile_way *way, size_t top, const uint32_t *functions, size_t nr, size_t inner);
/** profile_way_node() - of the last step; of the root without one. NULL: there is no tree */
struct profile_node *profile_way_node(const struct profile_way *way);
/** profile_way_total() - add @time to the total of @row and of each row on the way, once */
void profile_way_total(struct profile_way *way, struct profile_row *row, const struct profile_time *time);
void profile_way_free(struct profile_way *way);
#endif
