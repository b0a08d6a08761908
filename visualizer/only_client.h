/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef VISUALIZER_ONLY_CLIENT_H
#define VISUALIZER_ONLY_CLIENT_H
/* only_client.h - the client of a server that has no other. */
#include "report.h"

/**
 * struct only_client - of @server
 * @process: NULL if it is on another host
 * @pid: 0 if it is on another host
 * @name: of the process, or its address
 */
struct only_client {
	const struct trace_process *server;
	const struct trace_process *process;
	uint32_t pid;
	const char *name;
};

/** only_client_of_server() - false: @server has several clients, or none */
bool only_client_of_server(const struct trace_server *server, struct only_client *ret_client);
/**
 * only_client_of() - false: @server is none, or has several clients
 * A report without servers has a list of such clients, or none.
 */
bool only_client_of(const struct report *report, const struct trace_process *server, struct only_client *ret_client);
#endif
