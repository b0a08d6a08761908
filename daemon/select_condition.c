/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "select_condition.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "condition_text.h"
#include "error_set.h"

/* The quotation mark that ends the text at @at, or the end of the whole. */
static const char *text_end(const char *at)
{
	for (at++; *at && *at != '"'; at++)
		if (*at == '\\' && at[1])
			at++;
	return at;
}

/* The bracket that closes the one at @at; NULL: none does. */
static const char *bracket_end(const char *at)
{
	int depth = 0;

	for (; *at; at++) {
		if (*at == '"')
			at = text_end(at);
		if (!*at)
			return NULL;
		depth += (*at == '[') - (*at == ']');
		if (depth == 0)
			return at;
	}
	return NULL;
}

static bool has_operator(const char *from, const char *to)
{
	for (; from < to; from++)
		if (strchr("<>=&|", *from))
			return true;
	return false;
}

const char *select_item_end(const char *at)
{
	const char *end;

	for (; *at && *at != ','; at++) {
		if (*at == '"')
			at = text_end(at);
		end = *at == '[' ? bracket_end(at) : NULL;
		if (end)
			at = end;
		if (!*at)
			break;
	}
	return at;
}

/* The bracket that begins a condition at the end of @item; NULL: there is none. */
static const char *find_condition(const char *item)
{
	const char *end;

	for (const char *at = item; (at = strchr(at, '[')); at++) {
		end = bracket_end(at);
		if (end && !end[1] && has_operator(at, end))
			return at;
	}
	return NULL;
}

static int copy(char *into, size_t size, const char *from, size_t chars, struct trace_error *ret_error)
{
	if (chars >= size)
		return error_set(ret_error, -EINVAL, "\"%.20s...\" is too long: at most %zu characters", from,
				 size - 1);
	memcpy(into, from, chars);
	into[chars] = '\0';
	return 0;
}

int select_split(const char *item, char *ret_pattern, size_t pattern_bytes, char *ret_condition, size_t condition_bytes,
		 struct trace_error *ret_error)
{
	const char *bracket = find_condition(item), *blank = strchr(item, ' '), *begin, *end = item + strlen(item);
	struct condition_text condition;
	int err;

	*ret_condition = '\0';
	if (!bracket && (!blank || !has_operator(blank, end)))
		return copy(ret_pattern, pattern_bytes, item, strlen(item), ret_error);
	if (bracket && (!blank || bracket < blank || !has_operator(blank, bracket))) {
		begin = bracket + 1;
		end--;
		err = copy(ret_pattern, pattern_bytes, item, (size_t)(bracket - item), ret_error);
	} else {
		begin = blank + strspn(blank, " ");
		err = copy(ret_pattern, pattern_bytes, item, (size_t)(blank - item), ret_error);
	}
	if (!err && !strncmp(begin, "if ", 3))
		begin += 3;
	if (!err)
		err = copy(ret_condition, condition_bytes, begin, (size_t)(end - begin), ret_error);
	return err ? err : condition_parse(ret_condition, &condition, ret_error);
}
