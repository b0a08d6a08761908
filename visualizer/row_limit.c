/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* row_limit.c - which rows of a table are shown, and what is left out. */
#include <stdio.h>
#include "number_text.h"
#include "row_limit.h"

size_t row_limit_max(const struct row_choice *choice, size_t nr, size_t otherwise)
{
	return choice->all ? nr : choice->top ? (size_t)choice->top : otherwise;
}

struct row_limit row_limit_new(const struct row_choice *choice, size_t max)
{
	return (struct row_limit){.choice = choice, .max = row_limit_max(choice, SIZE_MAX, max)};
}

bool row_limit_shows_if(struct row_limit *limit, bool matters, uint64_t ns)
{
	const struct row_choice *choice = limit->choice;
	bool is_first = !limit->shown && !limit->left;

	if (limit->shown < limit->max && (choice->all || choice->top || matters || (is_first && ns))) {
		limit->shown++;
		return true;
	}
	limit->left++;
	limit->left_ns += ns;
	return false;
}

bool row_limit_shows(struct row_limit *limit, uint64_t part, uint64_t whole)
{
	return row_limit_shows_if(limit, percent(part, whole) >= WORTH_A_ROW, part);
}

const char *row_limit_rest(const struct row_limit *limit, const struct text_output *output, struct value_text *text)
{
	struct value_text ns;

	text->bytes[0] = 0;
	if (limit->left)
		snprintf(text->bytes, sizeof(text->bytes), "%.26s more row%s%s%.22s", number_count(limit->left).s,
			 limit->left == 1 ? "" : "s", limit->left_ns ? ", " : "",
			 limit->left_ns ? text_ns(output, limit->left_ns, &ns) : "");
	return text->bytes;
}
