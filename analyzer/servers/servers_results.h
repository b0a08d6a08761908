/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_SERVERS_SERVERS_RESULTS_H
#define ANALYZER_SERVERS_SERVERS_RESULTS_H
/* servers_results.h - bills by client, and the verification of the sums */
#include <stdbool.h>
#include <stddef.h>

struct trace_servers;
struct trace_server;
struct trace_receiver;

struct servers_results {
	bool finished;
	struct trace_server *servers; /* owned */
	size_t nr_servers;
	struct trace_receiver *receivers; /* owned */
	size_t nr_receivers;
};

void results_free(struct servers_results *results);
#endif
