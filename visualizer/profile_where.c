/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "profile_where.h"

struct where_slot {
	uint64_t key; /* wait and function */
	struct profile_row *wait;
	const struct profile_row *function;
	uint64_t ns;
};

const struct profile_row *profile_where(const struct profile_way *way)
{
	const struct profile_row *innermost = NULL;

	for (size_t i = way->nr; i-- > 0;) {
		const struct profile_row *row = way->steps[i].row;
		enum profile_owner owner = profile_owner_of(row->file);

		if (row->kind != PROFILE_FUNCTION || owner == OWNER_KERNEL)
			continue;
		if (owner == OWNER_PROGRAM)
			return row;
		innermost = innermost ? innermost : row;
	}
	return innermost;
}

void profile_where_add(struct profile_rows *rows, struct profile_row *wait, const struct profile_row *function,
		       uint64_t ns)
{
	struct where_slot *slot;

	if (!function || !ns)
		return;
	slot = memory_row(&rows->wheres, sizeof(*slot), ((uint64_t)wait->number << 32 | function->number) + 1);
	slot->wait = wait;
	slot->function = function;
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
