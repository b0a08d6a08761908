/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "profile_code.h"

#include <errno.h>
#include <string.h>
#include "error_set.h"

/* Texts of profile_names are equal if their addresses are. */
static struct code_row *row_of(struct profile_rows *rows, const struct frame_name *name)
{
	uint64_t key = hash_u64((uintptr_t)name->path) ^ name->address;
	struct code_row *row;

	for (;; key++) {
		key += !key;
		row = memory_row(&rows->code, sizeof(*row), key);
		if (!row->path) {
			row->path = name->path;
			row->begin = name->begin;
			row->address = name->address;
		}
		if (row->path == name->path && row->address == name->address)
			return row;
	}
}

void profile_code_add(struct profile_rows *rows, const char *wanted, const struct profile_stack *stack, bool has_self,
		      const struct profile_time *time)
{
	bool is_below = false; /* a function that was built into the next one ran */

	rows->nr_stacks++;
	for (size_t i = 0; i < stack->nr; i++) {
		const struct frame_name *name = profile_name_of(&rows->names, stack->functions[i]);
		bool is_first = !i || is_below;
		struct code_row *row;

		is_below = is_first && name->is_inlined;
		if (name->is_inlined || strcmp(name->name, wanted) != 0)
			continue;
		row = row_of(rows, name);
		if (is_first && has_self)
			profile_time_add(&row->self, time);
		if (row->last_stack != rows->nr_stacks)
			profile_time_add(&row->total, time);
		row->last_stack = rows->nr_stacks;
	}
}

/** struct code_time - the time in a function, by its file and begin */
struct code_time {
	uint64_t key;
	const char *path;
	uint64_t begin;
	uint64_t ns;
};

static bool has_more(const struct code_time *time, const struct code_time *other)
{
	return !other || time->ns > other->ns || (time->ns == other->ns && strcmp(time->path, other->path) < 0);
}

static struct code_time longest_of(const struct profile_rows *rows, size_t *ret_nr)
{
	struct hash_table times = {0};
	const struct code_row *row = NULL;
	struct code_time *time = NULL, longest = {0};
	const struct code_time *found = NULL;

	while ((row = table_next(&rows->code, sizeof(*row), row))) {
		time = memory_row(&times, sizeof(*time), (hash_u64((uintptr_t)row->path) ^ row->begin) | 1);
		time->path = row->path;
		time->begin = row->begin;
		time->ns += profile_elapsed(&row->total);
	}
	for (time = NULL; (time = table_next(&times, sizeof(*time), time));)
		found = has_more(time, found) ? time : found;
	if (found)
		longest = *found;
	*ret_nr = times.used;
	table_clear(&times);
	return longest;
}

static int by_address(const void *left, const void *right, void *data)
{
	const struct code_row *l = *(struct code_row *const *)left, *r = *(struct code_row *const *)right;

	(void)data;
	return (l->address > r->address) - (l->address < r->address);
}

/* The function into which the compiler built @function: NULL: none */
static const char *container_of_inlined(const struct profile_rows *rows, const char *function)
{
	const struct frame_name *list = rows->names.list;

	for (size_t i = 0; i < rows->names.nr; i++)
		if (list[i].is_inlined && !strcmp(list[i].name, function))
			for (size_t k = i + 1; k < rows->names.nr; k++)
				if (!list[k].is_inlined)
					return list[k].name;
	return NULL;
}

int profile_code_of(const struct profile_rows *rows, const char *function, struct pointers *ret_code,
		    size_t *ret_others, struct trace_error *ret_error)
{
	size_t nr;
	struct code_time longest = longest_of(rows, &nr);
	const char *container = nr ? NULL : container_of_inlined(rows, function);
	struct code_row *row = NULL;

	if (container)
		return error_set(ret_error, -ENOENT, "'%s' is built into '%s': --asm=%s has its instructions", function,
				 container, container);
	if (!nr)
		return error_set(ret_error, -ENOENT,
				 "no sample has the function '%s': --profile --all lists those that have some",
				 function);
	while ((row = table_next(&rows->code, sizeof(*row), row)))
		if (row->path == longest.path && row->begin == longest.begin)
			pointers_add(ret_code, row);
	memory_sort(ret_code->at, ret_code->nr, sizeof(*ret_code->at), by_address, NULL);
	*ret_others = nr - 1;
	return 0;
}
