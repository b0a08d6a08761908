/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* server_bills TRACE - the CPU time of each server, and the part of it that each client caused. */
#include <stdio.h>
#include <trace/servers.h>

static void print(struct trace_servers *servers)
{
	for (size_t i = 0; i < trace_nr_servers(servers); i++) {
		const struct trace_server *server = trace_get_server(servers, i);

		printf("%s %u: %.3f us of CPU time, %.3f us background\n", server->comm, server->pid,
		       server->cpu_ns / 1e3, server->background_ns / 1e3);
		for (size_t k = 0; k < server->nr_clients; k++) {
			const struct trace_server_client *client = &server->clients[k];

			printf("%12.3f us exact %12.3f us shared  %llu requests of %s\n", client->exact_ns / 1e3,
			       client->shared_ns / 1e3, (unsigned long long)client->requests,
			       client->process ? client->comm : client->address);
		}
	}
}

int main(int argc, char **argv)
{
	struct trace_error error = {0};
	struct trace *trace = argc == 2 ? trace_open(argv[1], &error) : NULL;
	struct trace_analysis *analysis = trace ? trace_analysis_new(trace, NULL, &error) : NULL;
	struct trace_servers *servers = analysis ? trace_servers_new(trace, analysis, &error) : NULL;
	int status = !servers || trace_analysis_run(analysis, &error) < 0 || trace_servers_verify(servers, &error) < 0;

	if (!status)
		print(servers);
	else
		fprintf(stderr, "%s\n", argc == 2 ? error.message : "usage: server_bills TRACE");
	trace_servers_free(servers);
	trace_analysis_free(analysis);
	trace_close(trace);
	return status;
}
