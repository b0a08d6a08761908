/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_SERVERS_SERVERS_RING_H
#define ANALYZER_SERVERS_SERVERS_RING_H
/* servers_ring.h - operations of io_uring are submitted, transfer data and complete */
#include <stdbool.h>
#include <stdint.h>

struct trace_servers;
struct trace_event;
struct servers_thread;
struct endpoint;
struct channel;

void ring_submit(struct trace_servers *s, const struct trace_event *event);
void ring_complete(struct trace_servers *s, const struct trace_event *event);
void ring_file(struct trace_servers *s, const struct trace_event *event);
void ring_open(struct trace_servers *s, const struct trace_event *event);
/** ring_sends() - a send in the context of @thread; returns true if a ring operation sent it */
bool ring_sends(struct trace_servers *s, struct servers_thread *thread, struct endpoint *endpoint, int64_t ret,
		uint32_t position);
/**
 * ring_receives() - the same for a receive
 * @amount: bytes or messages
 * @channel: channel_in(@endpoint)
 */
bool ring_receives(struct trace_servers *s, struct servers_thread *thread, struct endpoint *endpoint,
		   struct channel *channel, int64_t amount, uint32_t position);
/** ring_looks() - the same for a look at @amount bytes, which stay in the channel */
bool ring_looks(struct trace_servers *s, struct servers_thread *thread, struct endpoint *endpoint,
		struct channel *channel, int64_t amount, uint32_t position);
/**
 * ring_datagram() - @thread puts a message into the queue of the socket @destination
 *
 * Returns true if a ring operation sends it. Then @thread is in the same state as in a call that
 * sends.
 */
bool ring_datagram(struct trace_servers *s, struct servers_thread *thread, uint64_t destination);
#endif
