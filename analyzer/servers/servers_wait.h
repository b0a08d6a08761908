/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_SERVERS_SERVERS_WAIT_H
#define ANALYZER_SERVERS_SERVERS_WAIT_H
/* servers_wait.h - the client's side: what a server did while its client waited for it */
#include <stddef.h>
#include "hash_table.h"

struct trace_servers;
struct trace_server_wait;
struct trace_error;
struct servers_thread;
struct servers_threads;
struct set;

struct servers_waits {
	struct hash_table rows;		   /* (client, server) processes -> struct pair_wait */
	struct trace_server_wait *results; /* owned; after waits_finish() */
	size_t nr_results;
};

/**
 * wait_answered() - the last sleep of @thread ended with the answer that @server sent
 * @asked: the set of @thread when it asked; NULL: its current set
 */
void wait_answered(struct trace_servers *s, struct servers_thread *thread, struct servers_thread *server,
		   struct set *asked);
/** waits_decided() - it is known what the time before the latest answers of @server was for */
void waits_decided(struct trace_servers *s, struct servers_thread *server);
/** waits_drop() - release the waits that are not decided */
void waits_drop(const struct servers_threads *threads);
void waits_finish(struct trace_servers *s);
/** wait_verify() - verify that the pieces of a wait add up to it */
int wait_verify(const struct trace_server_wait *wait, struct trace_error *ret_error);
void waits_free(struct servers_waits *waits);
#endif
