/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef BASE_TUPLE_H
#define BASE_TUPLE_H
/*
 * tuple.h - match the two ends of a connection by their addresses and network namespaces.
 *
 * The search begins in the end's own namespace. If that has no peer, the connection may cross
 * namespaces, as connections of containers do. Then the peer is the end with the same addresses the
 * other way round, provided that no third namespace has either end. Two pairs of namespaces may use
 * the same addresses; then the pairs cannot be told apart, and the search finds no peer.
 *
 * A trace recorded before namespaces were recorded has namespace 0 in each event. Then only
 * addresses count.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <trace/reader.h>
#include "hash_table.h"

/**
 * struct tuple - one end. Addresses as in trace_sock_endpoints
 * @net: number of its network namespace; 0: not known. @remote_port 0: not connected
 */
struct tuple {
	uint64_t local[2];
	uint64_t remote[2];
	uint16_t local_port;
	uint16_t remote_port;
	uint16_t protocol;
	uint32_t net;
};

/**
 * tuple_add() - set the owner of this end (not 0), in place of any earlier owner. False: out of
 * memory
 */
bool tuple_add(struct hash_table *table, const struct tuple *tuple, uint64_t owner);
/** tuple_remove() - remove the end, if it has this owner */
void tuple_remove(struct hash_table *table, const struct tuple *tuple, uint64_t owner);
/**
 * tuple_other() - the owner of the peer of @tuple, or its last known owner: see tuple_are_ends().
 * 0: none, or not known
 */
uint64_t tuple_other(const struct hash_table *table, const struct tuple *tuple);
/** tuple_are_ends() - do the addresses of these two ends belong to one connection? */
bool tuple_are_ends(const struct tuple *one, const struct tuple *two);

/**
 * START_SOCKET_BYTES - size of a start_socket in a trace of any age
 * start_socket_netns() - its network namespace; 0: not recorded
 */
#define START_SOCKET_BYTES offsetof(struct trace_start_socket, netns)
uint32_t start_socket_netns(const struct trace_event *event);

/**
 * port_add() - @owner listens at @port. False: out of memory
 * port_find() - the listener at @port in @net
 * @anywhere: if @net has none, accept the listener of another namespace, if it is the only one
 */
bool port_add(struct hash_table *table, uint32_t net, uint16_t port, uint64_t owner);
uint64_t port_find(const struct hash_table *table, uint32_t net, uint16_t port, bool anywhere);
#endif
