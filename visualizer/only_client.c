/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* only_client.c - the client of a server that has no other. */
#include "only_client.h"

static bool in_list(const struct report *report, const struct trace_process *server, struct only_client *ret_client)
{
	for (size_t i = 0; i < report->nr_only_clients; i++)
		if (report->only_clients[i].server == server) {
			*ret_client = report->only_clients[i];
			return true;
		}
	return false;
}

bool only_client_of_server(const struct trace_server *server, struct only_client *ret_client)
{
	const struct trace_server_client *client = server->clients;

	if (server->nr_clients != 1)
		return false;
	*ret_client = (struct only_client){
		.server = server->process,
		.process = client->process,
		.pid = client->pid,
		.name = *client->address ? client->address : trace_process_title(client->process),
	};
	return true;
}

bool only_client_of(const struct report *report, const struct trace_process *server, struct only_client *ret_client)
{
	const struct trace_server *found = NULL;

	if (!report->servers)
		return in_list(report, server, ret_client);
	for (size_t i = 0; (found = trace_get_server(report->servers, i)) && found->process != server; i++)
		;
	return found && only_client_of_server(found, ret_client);
}
