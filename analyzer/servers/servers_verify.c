/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "servers_verify.h"

#include <errno.h>
#include <inttypes.h>
#include <trace/servers.h>

#include "error_set.h"

static int client_verify(const struct trace_server *server, const struct trace_server_client *client,
			 struct trace_error *ret_error)
{
	if (client->cpu_ns == client->exact_ns + client->shared_ns && client->least_ns <= client->cpu_ns &&
	    client->most_ns >= client->cpu_ns && client->most_ns <= server->cpu_ns)
		return 0;
	return error_set(ret_error, -EBADMSG,
			 "server %u: its bill of %" PRIu64 " ns for %u is not between %" PRIu64 " and %" PRIu64
			 " of %" PRIu64 " ns",
			 server->pid, client->cpu_ns, client->pid, client->least_ns, client->most_ns, server->cpu_ns);
}

int bills_verify(const struct trace_server *server, uint64_t cpu_ns, uint64_t over_ns, struct trace_error *ret_error)
{
	uint64_t exact = 0, shared = 0;

	for (size_t i = 0; i < server->nr_clients; i++) {
		int error = client_verify(server, &server->clients[i], ret_error);

		if (error)
			return error;
		exact += server->clients[i].exact_ns;
		shared += server->clients[i].shared_ns;
	}
	if (exact != server->exact_ns || shared != server->shared_ns || cpu_ns != server->cpu_ns ||
	    exact + shared + server->background_ns != cpu_ns || server->background_ns > cpu_ns)
		return error_set(ret_error, -EBADMSG,
				 "server %u: its bills of %" PRIu64 " exact + %" PRIu64 " shared + %" PRIu64
				 " background ns are not its CPU time of %" PRIu64 " ns",
				 server->pid, exact, shared, server->background_ns, cpu_ns);
	if (!over_ns)
		return 0;
	return error_set(ret_error, -EBADMSG,
			 "server %u: its threads were billed %" PRIu64 " ns more than their CPU time of %" PRIu64 " ns",
			 server->pid, over_ns, cpu_ns);
}
