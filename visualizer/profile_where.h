/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef VISUALIZER_PROFILE_WHERE_H
#define VISUALIZER_PROFILE_WHERE_H
/* profile_where.h - in which function of its program a thread waited. */
#include "profile_rows.h"

/**
 * profile_where() - the innermost function of the program on the way to @node
 * Functions of libc and of the dynamic loader do not count, unless there are no others. NULL: there
 * is none.
 */
const struct profile_node *profile_where(const struct profile_node *node);
/** profile_where_add() - @ns of @wait were in the function of @node; NULL: not known where */
void profile_where_add(struct profile_rows *rows, struct profile_row *wait, const struct profile_node *node,
		       uint64_t ns);
/** profile_where_end() - find the function with the most time of each wait */
void profile_where_end(struct profile_rows *rows);
#endif
