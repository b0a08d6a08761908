/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef VISUALIZER_PROFILE_WHERE_H
#define VISUALIZER_PROFILE_WHERE_H
/* profile_where.h - in which function of its program a thread waited. */
#include "profile_rows.h"
#include "profile_way.h"

/**
 * profile_where() - the innermost function of the program on the way
 * Functions of libc and of the dynamic loader do not count, unless there are no others. NULL: there
 * is none.
 */
const struct profile_row *profile_where(const struct profile_way *way);
/** profile_where_add() - @ns of @wait were in @function; NULL: not known where */
void profile_where_add(struct profile_rows *rows, struct profile_row *wait, const struct profile_row *function,
		       uint64_t ns);
/** profile_where_end() - find the function with the most time of each wait */
void profile_where_end(struct profile_rows *rows);
#endif
