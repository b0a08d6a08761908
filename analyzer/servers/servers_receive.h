/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_SERVERS_SERVERS_RECEIVE_H
#define ANALYZER_SERVERS_SERVERS_RECEIVE_H
/* servers_receive.h - data came out of a channel: which calls had sent it */
#include <stdint.h>

struct trace_servers;
struct servers_thread;
struct endpoint;
struct channel;

/**
 * channel_receive() - @amount bytes or messages came out: call request_receive() for each known
 * sender
 * @position: TCP: the sequence number after them
 */
void channel_receive(struct trace_servers *s, struct endpoint *endpoint, struct channel *channel,
		     struct servers_thread *thread, uint64_t amount, uint32_t position);
/**
 * channel_peek() - the thread looked at the next @amount bytes, which stay in the channel
 * @position: TCP: the sequence number before them
 */
void channel_peek(struct trace_servers *s, struct endpoint *endpoint, struct channel *channel,
		  struct servers_thread *thread, uint64_t amount, uint32_t position);
/** receive_unknown() - data came in, but its sender is not known */
void receive_unknown(struct trace_servers *s, struct servers_thread *thread, struct endpoint *endpoint);
#endif
