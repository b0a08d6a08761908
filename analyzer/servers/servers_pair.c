/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * servers_pair.c - pairs of processes that sent data to each other: which of them answers the other
 */
#include <errno.h>
#include "servers_state.h"

struct pair_row {
	uint64_t key;
	uint64_t through; /* key of the first endpoint that data went through */
	uint32_t order;	  /* number of the pair: which of two directions was first */
	bool several;	  /* data went through several endpoints */
	bool asked;	  /* a wakeup went this way, and is not answered yet */
	bool no_turns;	  /* two wakeups in a row, or an answer without a request: it is no conversation */
};

static uint64_t pair_key(const struct servers_process *from, const struct servers_process *to)
{
	return (uint64_t)(from->idx + 1) << 32 | (to->idx + 1);
}

static const struct pair_row *pair_find(const struct trace_servers *s, const struct servers_process *from,
					const struct servers_process *to)
{
	return table_find(&s->pairs.rows, sizeof(struct pair_row), pair_key(from, to));
}

bool pair_asked_first(const struct trace_servers *s, const struct servers_process *one, const struct servers_process *other)
{
	const struct pair_row *there = pair_find(s, one, other), *back = pair_find(s, other, one);

	return there && back && there->order < back->order;
}

bool pair_answered(const struct trace_servers *s, const struct servers_process *client, const struct servers_process *server)
{
	const struct pair_row *there = pair_find(s, client, server), *back = pair_find(s, server, client);

	return there && back && !there->no_turns && !back->no_turns &&
	       (there->through != back->through || there->several || back->several);
}

/*
 * @from woke @to. The process that woke the other first is the client. It must wait for an answer
 * before it asks again, and no answer may come without a request.
 */
static void check_turns(struct trace_servers *s, struct pair_row *row, const struct servers_process *to, const struct servers_process *from,
		       const struct endpoint *through)
{
	struct pair_row *back = table_find(&s->pairs.rows, sizeof(*back), pair_key(to, from));

	if (!through->signal)
		return;
	if (!back || row->order < back->order) {
		row->no_turns |= row->asked;
		row->asked = true;
	} else {
		back->no_turns |= !back->asked;
		back->asked = false;
	}
}

void pair_talk(struct trace_servers *s, struct servers_process *from, struct servers_process *to, const struct endpoint *through)
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
	check_turns(s, row, to, from, through);
	there = pair_find(s, to, from);
	if (there && there->order < row->order && pair_answered(s, to, from))
		from->answered = true;
}
