/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_SERVERS_SERVERS_PAIR_H
#define ANALYZER_SERVERS_SERVERS_PAIR_H
/*
 * servers_pair.h - pairs of processes that sent data to each other: which of them answers the other
 */
#include <stdbool.h>
#include <stdint.h>
#include "hash_table.h"

struct trace_servers;
struct servers_process;
struct endpoint;

struct servers_pairs {
	struct hash_table rows; /* (from, to) processes -> struct pair_row */
	uint32_t nr;
};

/** pair_sent() - note that data went from one process to another */
void pair_sent(struct trace_servers *s, struct servers_process *from, struct servers_process *to,
	       const struct endpoint *through);
/** pair_sent_first() - true if data went both ways, from @one to @other first */
bool pair_sent_first(const struct servers_pairs *pairs, const struct servers_process *one,
		     const struct servers_process *other);
/**
 * pair_answered() - true if @server answered @client: data went both ways, and not only through one
 * pipe
 *
 * Many processes write to and read from one pipe alike.
 */
bool pair_answered(const struct servers_pairs *pairs, const struct servers_process *client,
		   const struct servers_process *server);
/**
 * pair_passed() - @from passed a request of a client to @to, and @to has answered the client: so
 * what @from sends to it is work
 */
void pair_passed(struct trace_servers *s, const struct servers_process *from, const struct servers_process *to);
#endif
