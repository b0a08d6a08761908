/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef VISUALIZER_PROFILE_CONTEXTS_H
#define VISUALIZER_PROFILE_CONTEXTS_H
/* profile_contexts.h - what called a function, and what it called: its whole time, in both ways. */
#include <trace/error.h>
#include "profile_rows.h"

/** struct profile_neighbour - @row: NULL: the function itself; @time: by way of it */
struct profile_neighbour {
	struct profile_row *row;
	struct profile_time time;
};

/**
 * struct profile_neighbours - @total: the time in the function and in what it called, which counts
 * once where it calls itself; @self: the time in it; @list: owned; the longest first
 * @nr_rows: the rows that have this name
 */
struct profile_neighbours {
	struct profile_time total, self;
	size_t nr_rows;
	struct pointers list;
};

/** profile_neighbours_make() - the callers of the functions named @function, or its callees */
struct profile_neighbours profile_neighbours_make(const struct profile_rows *rows, const char *function, bool callers);
/**
 * profile_neighbours_verify() - do the callers of @function have the time of it and its callees?
 * Returns 0, or -EBADMSG with the difference
 */
int profile_neighbours_verify(const struct profile_rows *rows, const char *function,
			      struct trace_error *ret_error) TRACE_NODISCARD;
void profile_neighbours_free(struct profile_neighbours *neighbours);
#endif
