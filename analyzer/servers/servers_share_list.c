/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* servers_share_list.c - the shares of a thread by client, after the pass */
#include "servers_share_list.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "error_set.h"
#include "servers_state.h"

/* struct lister - one call of share_list() */
struct lister {
	struct trace_servers *s;
	const struct servers_process *process; /* the server */
	struct trace_share_client *clients;    /* owned */
	size_t nr, max;
};

/* The part of @share until @until that is for number @which of @nr origins. */
static uint64_t part_until(const struct share *share, uint64_t until, uint32_t which, uint32_t nr)
{
	uint32_t first = (which + nr - share->at % nr) % nr; /* its first ns */

	return (until - share->from_ns + nr - 1 - first) / nr;
}

static bool add_client(struct lister *l, const struct trace_process *process, const char *address, uint64_t ns)
{
	for (size_t i = 0; i < l->nr; i++)
		if (process ? l->clients[i].process == process
			    : !l->clients[i].process && l->clients[i].address == address) {
			l->clients[i].ns += ns;
			return true;
		}
	if (l->nr == l->max) {
		size_t more = l->max ? l->max * 2 : 8;
		struct trace_share_client *bigger = reallocarray(l->clients, more, sizeof(*bigger));

		if (!bigger)
			return false;
		l->clients = bigger;
		l->max = more;
	}
	l->clients[l->nr++] = (struct trace_share_client){process, address, ns};
	return true;
}

/* The clients of a part of a share; false: out of memory. */
static bool clients_of(struct lister *l, const struct share *share, uint64_t from_ns, uint64_t to_ns)
{
	uint32_t nr;
	const uint32_t *origins = shares_origins(l->s->shares, share, &nr);

	l->nr = 0;
	for (uint32_t i = 0; i < nr; i++) {
		const char *address;
		const struct servers_process *who = origin_resolve(l->s, origins[i], &address);
		uint64_t ns = part_until(share, to_ns, i, nr) - part_until(share, from_ns, i, nr);

		if (who == l->process && l->s->origins.items[origins[i]].kind == ORIGIN_LINK)
			continue; /* a pipeline: its own work */
		if (ns && !add_client(l, who ? who->process : NULL, address, ns))
			return false;
	}
	return true;
}

/* The first share that ends after @ns. */
static uint32_t first_after(const struct share_list *list, uint64_t ns)
{
	uint32_t low = 0, high = list->nr;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (list->items[middle].to_ns > ns)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

int share_list(struct trace_servers *s, const struct trace_thread *thread, uint64_t from_ns, uint64_t to_ns,
	       trace_server_share_fn fn, void *data)
{
	const struct servers_thread *known = servers_find_thread(&s->threads, thread);
	struct lister l = {.s = s, .process = known ? known->process : NULL};
	const struct share_list *list;
	int error = 0;

	if (!s->shares)
		return -EINVAL;
	if (shares_failed(s->shares))
		return shares_failed(s->shares);
	if (!known || !process_is_server(known->process))
		return 0;
	list = shares_of(s->shares, trace_thread_index(thread));
	for (uint32_t i = first_after(list, from_ns); i < list->nr && list->items[i].from_ns < to_ns; i++) {
		const struct share *share = &list->items[i];
		struct trace_server_share told = {.thread = thread,
						  .from_ns = share->from_ns > from_ns ? share->from_ns : from_ns,
						  .to_ns = share->to_ns < to_ns ? share->to_ns : to_ns,
						  .begin_ns = share->from_ns,
						  .end_ns = share->to_ns,
						  .exact = shares_is_exact(s->shares, share, known->process)};

		if (!clients_of(&l, share, told.from_ns, told.to_ns)) {
			error = -ENOMEM;
			break;
		}
		told.clients = l.clients;
		told.nr_clients = l.nr;
		if (l.nr && !fn(data, &told))
			break;
	}
	free(l.clients);
	return error;
}

/* ---- verification ---- */

/* struct share_sums - what the shares of a server add up to, in the order of its clients */
struct share_sums {
	const struct trace_server *server;
	uint64_t *exact, *shared; /* owned */
	uint64_t of_no_client;
};

static bool add_share(void *data, const struct trace_server_share *share)
{
	struct share_sums *sums = data;

	for (size_t i = 0; i < share->nr_clients; i++) {
		const struct trace_share_client *client = &share->clients[i];
		size_t at = 0;

		while (at < sums->server->nr_clients && (sums->server->clients[at].process != client->process ||
							 sums->server->clients[at].address != client->address))
			at++;
		if (at == sums->server->nr_clients)
			sums->of_no_client += client->ns;
		else
			*(share->exact ? &sums->exact[at] : &sums->shared[at]) += client->ns;
	}
	return true;
}

static int compare(const struct share_sums *sums, struct trace_error *ret_error)
{
	for (size_t i = 0; i < sums->server->nr_clients; i++) {
		const struct trace_server_client *client = &sums->server->clients[i];

		if (sums->exact[i] != client->exact_ns || sums->shared[i] != client->shared_ns)
			return error_set(ret_error, -EBADMSG,
					 "server %u: its intervals for client %u are %" PRIu64 " exact + %" PRIu64
					 " shared ns, its bill is %" PRIu64 " + %" PRIu64 " ns",
					 sums->server->pid, client->pid, sums->exact[i], sums->shared[i],
					 client->exact_ns, client->shared_ns);
	}
	if (!sums->of_no_client)
		return 0;
	return error_set(ret_error, -EBADMSG, "server %u: intervals of %" PRIu64 " ns are for clients without a bill",
			 sums->server->pid, sums->of_no_client);
}

int share_list_verify(struct trace_servers *s, const struct trace_server *server, struct trace_error *ret_error)
{
	struct share_sums sums = {.server = server,
				  .exact = calloc(server->nr_clients + 1, sizeof(*sums.exact)),
				  .shared = calloc(server->nr_clients + 1, sizeof(*sums.shared))};
	int error = sums.exact && sums.shared ? 0 : -ENOMEM;

	for (const struct trace_thread *thread = NULL; !error && (thread = trace_next_thread(server->process, thread));)
		error = share_list(s, thread, 0, UINT64_MAX, add_share, &sums);
	error = error == -E2BIG ? 0
		: error		? error_set(ret_error, error, "out of memory to verify the servers' intervals")
				: compare(&sums, ret_error);
	free(sums.exact);
	free(sums.shared);
	return error;
}
