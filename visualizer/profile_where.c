/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "profile_where.h"

struct where_slot {
	uint64_t key; /* wait and function */
	struct profile_row *wait;
	const struct profile_row *function;
	uint64_t ns;
};

const struct profile_node *profile_where(const struct profile_node *node)
{
	const struct profile_node *innermost = NULL;

	for (; node && node->row; node = node->parent) {
		enum profile_owner owner = profile_owner_of(node->row->file);

		if (node->row->kind != PROFILE_FUNCTION || owner == OWNER_KERNEL)
			continue;
		if (owner == OWNER_PROGRAM)
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
