/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "profile_where.h"

#include <string.h>

struct where_slot {
	uint64_t key; /* wait and function */
	struct profile_row *wait;
	const struct profile_row *function;
	uint64_t ns;
};

static bool is_of_program(const struct profile_row *row)
{
	return row->kind == PROFILE_FUNCTION && row->file[0] != '[';
}

static bool is_of_libc(const struct profile_row *row)
{
	static const char *const stems[] = {"libc.so", "libc-", "libpthread", "ld-linux", "ld-musl", "ld-2"};

	for (size_t i = 0; i < sizeof(stems) / sizeof(stems[0]); i++)
		if (!strncmp(row->file, stems[i], strlen(stems[i])))
			return true;
	return false;
}

const struct profile_node *profile_where(const struct profile_node *node)
{
	const struct profile_node *innermost = NULL;

	for (; node && node->row; node = node->parent) {
		if (!is_of_program(node->row))
			continue;
		if (!is_of_libc(node->row))
			return node;
		innermost = innermost ? innermost : node;
	}
	return innermost;
}

void profile_where_add(struct profile_rows *rows, struct profile_row *wait, const struct profile_node *node,
		       uint64_t ns)
{
	struct where_slot *slot;

	if (!node || !ns)
		return;
	slot = memory_row(&rows->wheres, sizeof(*slot), ((uint64_t)wait->number << 32 | node->row->number) + 1);
	slot->wait = wait;
	slot->function = node->row;
	slot->ns += ns;
}

void profile_where_end(struct profile_rows *rows)
{
	const struct where_slot *slot = NULL;

	while ((slot = table_next(&rows->wheres, sizeof(*slot), slot))) {
		struct profile_row *wait = slot->wait;

		if (slot->ns < wait->where_ns ||
		    (slot->ns == wait->where_ns && wait->where && wait->where->number < slot->function->number))
			continue;
		wait->where = slot->function;
		wait->where_ns = slot->ns;
	}
}
