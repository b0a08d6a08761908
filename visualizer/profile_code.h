/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef VISUALIZER_PROFILE_CODE_H
#define VISUALIZER_PROFILE_CODE_H
/* profile_code.h - a profile by instruction, of one function. */
#include <trace/error.h>
#include "profile_rows.h"

/**
 * struct code_row - an address in the function, in its file
 * @begin: of the function. Behind a call the address is in the calling instruction
 * @self, @total: as in struct line_row; also of functions that the compiler built into it
 */
struct code_row {
	uint64_t key;
	const char *path;
	uint64_t begin, address;
	uint64_t last_stack;
	struct profile_time self, total;
};

/** profile_code_add() - as profile_lines_add(): @time, where the function @wanted is in @stack */
void profile_code_add(struct profile_rows *rows, const char *wanted, const struct profile_stack *stack, bool has_self,
		      const struct profile_time *time);
/**
 * profile_code_of() - the rows of the function with most time of that name, by address; owned by
 * the caller, with rows of @rows. @ret_others: how many other functions have the name
 * Returns 0, or -ENOENT with the reason.
 */
int profile_code_of(const struct profile_rows *rows, const char *function, struct pointers *ret_code,
		    size_t *ret_others, struct trace_error *ret_error) TRACE_NODISCARD;
#endif
