/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* servers_origin.c - origins: the clients where chains of requests began */
#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "servers_state.h"

struct origin_row {
	uint64_t key;
	uint32_t idx;
};

static uint32_t origin_intern(struct trace_servers *s, const struct origin *wanted)
{
	uint64_t key = hash_u64(hash_u64(wanted->kind + 1ull + ((uint64_t)wanted->of << 32)) ^
				((uint64_t)wanted->sender << 32 | wanted->receiver));
	struct origin_row *row;
	struct origin *bigger;
	uint64_t *stamps;

	for (;; key++) {
		key += !key;
		row = table_add(&s->origins.by_hash, sizeof(*row), key);
		if (!row || !row->idx)
			break;
		if (memcmp(&s->origins.items[row->idx - 1], wanted, sizeof(*wanted)) == 0)
			return row->idx - 1;
	}
	if (!(s->origins.nr & (s->origins.nr - 1)) && row) { /* the arrays are full at each power of two */
		bigger = reallocarray(s->origins.items, s->origins.nr ? s->origins.nr * 2 : 1, sizeof(*bigger));
		if (bigger)
			s->origins.items = bigger;
		stamps = reallocarray(s->origins.stamps, s->origins.nr ? s->origins.nr * 2 : 1, sizeof(*stamps));
		if (stamps)
			s->origins.stamps = stamps;
		if (!bigger || !stamps)
			row = NULL;
	}
	if (!row) {
		s->failed = -ENOMEM;
		return 0;
	}
	s->origins.items[s->origins.nr] = *wanted;
	s->origins.stamps[s->origins.nr] = 0;
	row->idx = ++s->origins.nr;
	return row->idx - 1;
}

uint32_t origin_process(struct trace_servers *s, const struct servers_process *process)
{
	struct origin origin;

	memset(&origin, 0, sizeof(origin)); /* origins are compared as bytes */
	origin.kind = ORIGIN_PROCESS;
	origin.of = process->idx;
	return origin_intern(s, &origin);
}

uint32_t origin_address(struct trace_servers *s, const struct endpoint *endpoint)
{
	static const unsigned char v4_mapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
	char host[INET6_ADDRSTRLEN] = "";
	unsigned char raw[16];
	struct origin origin;

	memcpy(raw, endpoint->ends.remote, sizeof(raw));
	if (memcmp(raw, v4_mapped, sizeof(v4_mapped)) == 0)
		inet_ntop(AF_INET, raw + 12, host, sizeof(host));
	else
		inet_ntop(AF_INET6, raw, host, sizeof(host));
	memset(&origin, 0, sizeof(origin));
	origin.kind = ORIGIN_ADDRESS;
	origin.of = strings_intern(&s->strings, host);
	return origin_intern(s, &origin);
}

uint32_t origin_link(struct trace_servers *s, uint32_t of, const struct servers_process *sender,
		     const struct servers_process *receiver)
{
	struct origin origin;

	memset(&origin, 0, sizeof(origin));
	origin.kind = ORIGIN_LINK;
	origin.of = of;
	origin.sender = sender->idx;
	origin.receiver = receiver->idx;
	return origin_intern(s, &origin);
}

struct servers_process *origin_resolve(struct trace_servers *s, uint32_t idx, const char **ret_address)
{
	*ret_address = "";
	while (s->origins.items[idx].kind == ORIGIN_LINK) {
		const struct origin *link = &s->origins.items[idx];
		struct servers_process *receiver = s->processes.by_idx[link->receiver];

		if (!pair_answered(&s->pairs, s->processes.by_idx[link->sender], receiver))
			return receiver; /* a pipeline: it works for itself */
		idx = link->of;
	}
	if (s->origins.items[idx].kind == ORIGIN_PROCESS)
		return s->processes.by_idx[s->origins.items[idx].of];
	*ret_address = strings_text(&s->strings, s->origins.items[idx].of);
	return NULL;
}

int origins_prepare(struct trace_servers *s)
{
	/* an origin for which there was no memory has the number 0 */
	s->origins.items = calloc(1, sizeof(*s->origins.items));
	s->origins.stamps = calloc(1, sizeof(*s->origins.stamps));
	return s->origins.items && s->origins.stamps ? 0 : -ENOMEM;
}

void origins_free(struct servers_origins *origins)
{
	free(origins->items);
	free(origins->stamps);
	table_clear(&origins->by_hash);
}
