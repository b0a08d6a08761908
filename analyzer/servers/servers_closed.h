/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_SERVERS_SERVERS_CLOSED_H
#define ANALYZER_SERVERS_SERVERS_CLOSED_H
/* servers_closed.h - closed connections, until they are freed */
#include <stdbool.h>
#include <stdint.h>

struct trace_servers;
struct trace_file_id;
struct endpoint;

struct servers_closed {
	struct endpoint **items; /* owned, the array only */
	uint32_t nr, max;
	uint32_t sweep_at; /* the number of endpoints at which the next sweep begins; 0: not set yet */
};

/**
 * endpoint_closed() - a program or the network closed this end
 * @released: for both directions
 * @by_peer: the peer reset it. The program works on its requests until it closes it itself.
 */
void endpoint_closed(struct trace_servers *s, struct endpoint *endpoint, bool released, bool by_peer);
/** endpoint_released() - a trace_release_fn: the last descriptor of a pipe or socket is closed */
void endpoint_released(void *servers, const struct trace_file_id *id);
#endif
