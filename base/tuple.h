/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef BASE_TUPLE_H
#define BASE_TUPLE_H
/*
 * tuple.h - how the two ends of a connection find each other: by their addresses, and by the network namespace that each is in.
 *
 * Ends in the same namespace are looked for first. Where none is, a connection may lead from one namespace into another, as those of containers do: there the other
 * end is who has the same addresses the other way round, if of either end there is no second one anywhere. Two pairs of namespaces may well use the same
 * addresses: then which of them belong together is not known, and not said.
 *
 * A trace of before namespaces were recorded has 0 for all of them: then addresses alone count.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <trace/reader.h>
#include "hash_table.h"

/** struct tuple - one end. @net: number of its network namespace; 0: not known. @remote_port 0: it is not connected. Addresses as in trace_sock_endpoints */
struct tuple {
	uint64_t local[2];
	uint64_t remote[2];
	uint16_t local_port;
	uint16_t remote_port;
	uint16_t protocol;
	uint32_t net;
};

/** tuple_add() - @who (not 0) is this end, instead of whoever was; false: out of memory */
bool tuple_add(struct table *table, const struct tuple *tuple, uint64_t who);
/** tuple_remove() - it is no more, if it was @who */
void tuple_remove(struct table *table, const struct tuple *tuple, uint64_t who);
/** tuple_other() - who is the other end, or was when it had these addresses: see tuple_are_ends(); 0: nobody, or not known */
uint64_t tuple_other(const struct table *table, const struct tuple *tuple);
/** tuple_are_ends() - are these two ends of one connection, by their addresses? */
bool tuple_are_ends(const struct tuple *one, const struct tuple *two);

/** START_SOCKET_BYTES - of a start_socket of a trace of any age; start_socket_netns() - its network namespace, 0: it is not told */
#define START_SOCKET_BYTES offsetof(struct trace_start_socket, netns)
uint32_t start_socket_netns(const struct trace_event *event);

/** port_add() - @who listens at @port; false: out of memory. port_find() - who does there; @anywhere: or, if nobody does, the only one in other namespaces */
bool port_add(struct table *table, uint32_t net, uint16_t port, uint64_t who);
uint64_t port_find(const struct table *table, uint32_t net, uint16_t port, bool anywhere);
#endif
