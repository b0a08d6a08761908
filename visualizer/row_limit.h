/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef VISUALIZER_ROW_LIMIT_H
#define VISUALIZER_ROW_LIMIT_H
/* row_limit.h - which rows of a table are shown, and what is left out. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "value_text.h"
#include "visualizer_options.h"

#define WORTH_A_ROW 0.1 /* percent */

/**
 * struct row_limit - the rows of one table
 * @left, @left_ns: the number of rows that are not shown, and their time
 */
struct row_limit {
	const struct row_choice *choice;
	size_t max, shown, left;
	uint64_t left_ns;
};
/** row_limit_new() - show at most @max rows, unless --top or --all choose another maximum */
struct row_limit row_limit_new(const struct row_choice *choice, size_t max);
/** row_limit_max() - @otherwise, unless --top or --all (@nr rows) choose another maximum */
size_t row_limit_max(const struct row_choice *choice, size_t nr, size_t otherwise);
/**
 * row_limit_shows() - true if a row with @part of @whole is shown; otherwise count it for
 * row_limit_rest()
 * The first row is always shown: a table with nothing but a count of hidden rows is useless.
 */
bool row_limit_shows(struct row_limit *limit, uint64_t part, uint64_t whole);
/**
 * row_limit_shows_if() - the same, where @matters decides instead of the row's part of the time
 */
bool row_limit_shows_if(struct row_limit *limit, bool matters, uint64_t ns);
/** row_limit_rest() - "12 more rows, 3.45 ms", or "" */
const char *row_limit_rest(const struct row_limit *limit, const struct text_output *output, struct value_text *text);
#endif
