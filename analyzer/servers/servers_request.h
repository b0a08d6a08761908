/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_SERVERS_SERVERS_REQUEST_H
#define ANALYZER_SERVERS_SERVERS_REQUEST_H
/* servers_request.h - requests begin and end: which process works for which client */

struct trace_servers;
struct servers_thread;
struct endpoint;
struct range;

/**
 * request_receive() - @thread received data through @endpoint
 * @range: the data with its sender; @range->sender NULL: not known
 */
void request_receive(struct trace_servers *s, struct servers_thread *thread, struct endpoint *endpoint,
		     const struct range *range);
/** request_accept() - @thread accepted @endpoint */
void request_accept(struct trace_servers *s, struct servers_thread *thread, struct endpoint *endpoint);
/**
 * request_prepare() - @thread is about to send at @endpoint: find the request that this answers
 *
 * Sets thread->call.answer and thread->call.outgoing.
 */
void request_prepare(struct trace_servers *s, struct servers_thread *thread, struct endpoint *endpoint);
/**
 * request_prepare_queued() - request_prepare() for an operation that @thread submitted to a ring
 *
 * The answered request may also be one that came in and that @thread has not taken yet. It is added
 * to thread->ring.answered; the set of @thread does not change.
 */
void request_prepare_queued(struct trace_servers *s, struct servers_thread *thread, struct endpoint *endpoint);
/** request_send() - @thread has sent at @endpoint */
void request_send(struct trace_servers *s, struct servers_thread *thread, struct endpoint *endpoint);
#endif
