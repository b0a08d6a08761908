/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef VISUALIZER_PROFILE_LINES_H
#define VISUALIZER_PROFILE_LINES_H
/* profile_lines.h - a profile by source line. */
#include <trace/error.h>
#include "profile_rows.h"

/**
 * struct line_row - @source: its path; "": functions without debug information, then @line is 0
 * @self: the time of samples in this line
 * @total: of all stacks with this line, each once: also what it called, and waits there
 */
struct line_row {
	uint64_t key;
	const char *source;
	uint32_t line;
	uint64_t last_stack;
	struct profile_time self, total;
};

/** profile_lines_add() - @time with the functions of @stack; @has_self: the innermost one ran */
void profile_lines_add(struct profile_rows *rows, const struct profile_stack *stack, bool has_self,
		       const struct profile_time *time);
/**
 * profile_lines_of() - the rows of a source, by line; owned by the caller, with rows of @rows
 * @file: its path, or the end of it. Returns 0; -ENOENT: no sample is in such a file; -EEXIST: it
 * is the end of several paths. The reason is in @ret_error.
 */
int profile_lines_of(const struct profile_rows *rows, const char *file, struct pointers *ret_lines,
		     struct trace_error *ret_error) TRACE_NODISCARD;
/**
 * profile_lines_verify() - are the times of the lines those of the functions?
 * Returns 0, or -EBADMSG with the difference
 */
int profile_lines_verify(const struct profile_rows *rows, struct trace_error *ret_error) TRACE_NODISCARD;
#endif
