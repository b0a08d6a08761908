/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* servers_kept_list.c - the requests of a server, after the pass */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "error_set.h"
#include "servers_state.h"
#include "sort.h"

static int by_place(const void *left, const void *right)
{
	const struct kept_request *l = *(struct kept_request *const *)left, *r = *(struct kept_request *const *)right;

	if (l->process->idx != r->process->idx)
		return l->process->idx < r->process->idx ? -1 : 1;
	if (l->from_ns != r->from_ns)
		return l->from_ns < r->from_ns ? -1 : 1;
	return l < r ? -1 : l > r;
}

/* The list by process and time, which is made once. */
static int make_order(struct servers_kept *kept)
{
	if (kept->failed || kept->order)
		return kept->failed;
	kept->order = calloc(kept->nr + 1ul, sizeof(*kept->order)); /* NULL behind the last */
	for (uint32_t i = 0; kept->order && i < kept->nr; i++)
		kept->order[i] = &kept->items[i];
	return kept->order && sort_rows(kept->order, kept->nr, sizeof(*kept->order), by_place) ? 0 : -ENOMEM;
}

/* The first of @process or of a later one; NULL at the end. */
static struct kept_request **first_of(const struct servers_kept *kept, const struct servers_process *process)
{
	uint32_t low = 0, high = kept->nr;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (kept->order[middle]->process->idx < process->idx)
			low = middle + 1;
		else
			high = middle;
	}
	return &kept->order[low];
}

/* The least of its bill: what open_proven() is for a client. */
static uint64_t least_of(const struct trace_servers *s, const struct kept_request *kept)
{
	uint64_t least = kept->named;
	bool is_refuted = (size_t)(kept - s->kept->items) < kept->process->kept_refuted ||
			  (kept->doubter && process_is_server(kept->doubter));

	if (!is_refuted)
		least += process_crosses(kept->process) ? kept->proven.alone : kept->proven.apart;
	return least < kept->billed ? least : kept->billed;
}

/* The most of it: what open_most() is for a client. */
static uint64_t most_of(const struct kept_request *kept)
{
	uint64_t all_to = kept->open ? kept->process->counted : kept->all_to,
		 unheld_to = kept->open ? kept->process->unheld : kept->unheld_to, window = all_to - kept->all_from,
		 apart = kept->held + unheld_to - kept->unheld_from, most;

	if (!process_crosses(kept->process) && apart < window)
		window = apart;
	most = window + kept->outside;
	return most > kept->billed ? most : kept->billed;
}

/* False: it is the process's own work, in a pipeline. */
static bool result_of(struct trace_servers *s, const struct kept_request *kept, struct trace_server_request *ret)
{
	const char *address;
	const struct servers_process *client = origin_resolve(s, kept->origin, &address);

	if (client == kept->process && s->origins.items[kept->origin].kind == ORIGIN_LINK)
		return false;
	*ret = (struct trace_server_request){.server = kept->process->process,
					     .process = client ? client->process : NULL,
					     .address = address,
					     .thread = kept->thread,
					     .answerer = kept->answerer,
					     .from_ns = kept->from_ns,
					     .to_ns = kept->to_ns ? kept->to_ns : trace_analysis_now(s->analysis),
					     .end = kept->to_ns ? (enum trace_request_end)kept->end
								: TRACE_REQUEST_OPEN,
					     .cpu_ns = kept->billed,
					     .least_ns = least_of(s, kept),
					     .most_ns = most_of(kept)};
	return true;
}

int kept_list(struct trace_servers *s, const struct trace_process *wanted, trace_server_request_fn fn, void *data)
{
	const struct servers_process *process;
	struct trace_server_request request;
	int error;

	if (!s->kept)
		return -EINVAL;
	error = make_order(s->kept);
	process = error ? NULL : servers_process_of(s, wanted);
	if (!process)
		return error ? error : -ENOMEM;
	if (!process_is_server(process))
		return 0;
	for (struct kept_request **at = first_of(s->kept, process); *at && (*at)->process == process; at++)
		if ((*at)->counted && result_of(s, *at, &request) && !fn(data, &request))
			break;
	return 0;
}

/* ---- verification ---- */

/* struct request_sums - what the requests of a server add up to, in the order of its clients */
struct request_sums {
	const struct trace_server *server;
	struct trace_server_client *clients; /* owned */
	uint64_t of_no_client, nr_wrong;
};

static bool add_request(void *data, const struct trace_server_request *request)
{
	struct request_sums *sums = data;
	size_t at = 0;

	while (at < sums->server->nr_clients && (sums->server->clients[at].process != request->process ||
						 sums->server->clients[at].address != request->address))
		at++;
	sums->of_no_client += at == sums->server->nr_clients;
	sums->nr_wrong += request->from_ns > request->to_ns || request->least_ns > request->cpu_ns ||
			  request->cpu_ns > request->most_ns;
	if (at == sums->server->nr_clients)
		return true;
	sums->clients[at].requests++;
	sums->clients[at].cpu_ns += request->cpu_ns;
	sums->clients[at].least_ns += request->least_ns;
	return true;
}

static int compare(const struct request_sums *sums, bool is_complete, struct trace_error *ret_error)
{
	for (size_t i = 0; i < sums->server->nr_clients; i++) {
		const struct trace_server_client *client = &sums->server->clients[i], *sum = &sums->clients[i];

		if (sum->requests != client->requests ||
		    (is_complete && (sum->cpu_ns > client->cpu_ns || sum->least_ns > client->least_ns)))
			return error_set(ret_error, -EBADMSG,
					 "server %u: its %" PRIu64 " requests of client %u have %" PRIu64
					 " ns, %" PRIu64 " proven; the bill has %" PRIu64 " requests, %" PRIu64
					 " ns, %" PRIu64 " proven",
					 sums->server->pid, sum->requests, client->pid, sum->cpu_ns, sum->least_ns,
					 client->requests, client->cpu_ns, client->least_ns);
	}
	if (!sums->of_no_client && !sums->nr_wrong)
		return 0;
	return error_set(ret_error, -EBADMSG,
			 "server %u: %" PRIu64 " requests are of clients without a bill, and %" PRIu64
			 " have bills outside their bounds",
			 sums->server->pid, sums->of_no_client, sums->nr_wrong);
}

int kept_verify(struct trace_servers *s, const struct trace_server *server, bool is_complete,
		struct trace_error *ret_error)
{
	struct request_sums sums = {.server = server, .clients = calloc(server->nr_clients + 1, sizeof(*sums.clients))};
	int error = sums.clients ? kept_list(s, server->process, add_request, &sums) : -ENOMEM;

	error = error == -E2BIG ? 0
		: error		? error_set(ret_error, error, "out of memory to verify the servers' requests")
				: compare(&sums, is_complete, ret_error);
	free(sums.clients);
	return error;
}
