/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* servers_cause.c - the wait causes of threads of servers, each kept once */
#include <errno.h>
#include <stdlib.h>
#include "servers_state.h"

struct cause_row {
	uint64_t key;
	uint32_t idx;
};

static bool cause_equal(const struct server_cause *one, const struct server_cause *two)
{
	return one->other == two->other && one->target == two->target && one->via == two->via &&
	       one->kind == two->kind && one->idle == two->idle;
}

uint32_t cause_intern(struct trace_servers *s, const struct server_cause *wanted)
{
	uint64_t key = hash_u64(hash_u64((uintptr_t)wanted->other) ^ (uintptr_t)wanted->target);
	struct cause_row *row;
	struct server_cause *bigger;

	for (key ^= (uint64_t)wanted->kind << 1 | wanted->idle;; key++) {
		key += !key;
		row = table_add(&s->causes.by_hash, sizeof(*row), key);
		if (!row || !row->idx)
			break;
		if (cause_equal(&s->causes.items[row->idx - 1], wanted))
			return row->idx;
	}
	if (!(s->causes.nr & (s->causes.nr - 1)) && row) { /* the array is full at each power of two */
		bigger = reallocarray(s->causes.items, s->causes.nr ? s->causes.nr * 2 : 1, sizeof(*bigger));
		if (bigger)
			s->causes.items = bigger;
		else
			row = NULL;
	}
	if (!row) {
		s->failed = -ENOMEM;
		return 0;
	}
	s->causes.items[s->causes.nr] = *wanted;
	return row->idx = ++s->causes.nr;
}

void causes_free(struct servers_causes *causes)
{
	free(causes->items);
	table_clear(&causes->by_hash);
}
