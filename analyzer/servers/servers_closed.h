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
 */
void endpoint_closed(struct trace_servers *s, struct endpoint *endpoint, bool released);
/** endpoint_released() - a trace_release_fn: a pipe or socket was released; not TCP connections */
void endpoint_released(void *servers, const struct trace_file_id *id);
#endif
