/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * servers_pair.c - pairs of processes that sent data to each other: which of them answers the other
 */
#include <errno.h>
#include "servers_state.h"

struct pair_row {
	uint64_t key;
	uint64_t through;	 /* the key of the first endpoint that data went through */
	uint32_t order;		 /* a number that grows with each new pair: it shows which direction was used first */
	bool several;		 /* data went through more than one endpoint */
	bool passed;		 /* the receiver has answered a client of the sender itself */
	bool unanswered;	 /* a wakeup went this way, and is not answered yet */
	bool breaks_alternation; /* two wakeups came in a row, or an answer without a request: the pair shares a lock */
};

static uint64_t pair_key(const struct servers_process *from, const struct servers_process *to)
{
	return (uint64_t)(from->idx + 1) << 32 | (to->idx + 1);
}

static const struct pair_row *pair_find(const struct servers_pairs *pairs, const struct servers_process *from,
					const struct servers_process *to)
{
	return table_find(&pairs->rows, sizeof(struct pair_row), pair_key(from, to));
}

bool pair_sent_first(const struct servers_pairs *pairs, const struct servers_process *one,
		     const struct servers_process *other)
{
	const struct pair_row *there = pair_find(pairs, one, other), *back = pair_find(pairs, other, one);

	return there && back && there->order < back->order;
}

bool pair_answered(const struct servers_pairs *pairs, const struct servers_process *client,
		   const struct servers_process *server)
{
	const struct pair_row *there = pair_find(pairs, client, server), *back = pair_find(pairs, server, client);

	if (there && there->passed)
		return true;
	return there && back && !there->breaks_alternation && !back->breaks_alternation &&
	       (there->through != back->through || there->several || back->several);
}

void pair_passed(struct trace_servers *s, const struct servers_process *from, const struct servers_process *to)
{
	struct pair_row *row = table_find(&s->pairs.rows, sizeof(*row), pair_key(from, to));

	if (row)
		row->passed = true;
}

/*
 * @from woke @to. The process that woke the other first is the client. It must wait for an answer
 * before it asks again, and no answer may come without a request.
 */
static void check_alternation(struct servers_pairs *pairs, struct pair_row *row, const struct servers_process *to,
			      const struct servers_process *from, const struct endpoint *through)
{
	struct pair_row *back = table_find(&pairs->rows, sizeof(*back), pair_key(to, from));

	if (!through->signal)
		return;
	if (!back || row->order < back->order) {
		row->breaks_alternation |= row->unanswered;
		row->unanswered = true;
	} else {
		back->breaks_alternation |= !back->unanswered;
		back->unanswered = false;
	}
}

void pair_sent(struct trace_servers *s, struct servers_process *from, struct servers_process *to,
	       const struct endpoint *through)
{
	struct pair_row *row = table_add(&s->pairs.rows, sizeof(*row), pair_key(from, to));
	const struct pair_row *there;

	if (!row) {
		s->failed = -ENOMEM;
		return;
	}
	if (!row->order) {
		row->order = ++s->pairs.nr;
		row->through = through->key;
	} else if (row->through != through->key) {
		row->several = true;
	}
	check_alternation(&s->pairs, row, to, from, through);
	there = pair_find(&s->pairs, to, from);
	if (there && there->order < row->order && pair_answered(&s->pairs, to, from))
		from->answered = true;
}
