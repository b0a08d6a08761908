/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_STATE_REQUEST_H
#define ANALYZER_STATE_REQUEST_H
/* state_request.h - the requests that threads work on: is a wait the rest between two requests? */
#include <stdbool.h>
#include <stdint.h>
#include "handler.h"

struct pending;
struct socket_state;
struct trace_analysis;
struct trace_process;
struct trace_thread;

/** thread_serves() - true if the process of @thread has a socket at which requests come in */
bool thread_serves(struct trace_analysis *a, const struct trace_thread *thread);
/** socket_serves() - true if requests come in at @sock, an open socket of @thread */
bool socket_serves(const struct trace_analysis *a, const struct trace_thread *thread, const struct socket_state *sock);
/**
 * wait_is_asked() - true if @thread worked on a request, or waited for an answer to its own,
 * during
 * @pending, and if that is not known
 */
bool wait_is_asked(struct trace_analysis *a, struct trace_thread *thread, const struct pending *pending);
/** thread_asks_first() - the same for an answer on connections that have not answered before */
bool thread_asks_first(const struct trace_thread *thread);
/** socket_brings_connections() - did @thread's process get accepted connections by @sock? */
bool socket_brings_connections(const struct trace_analysis *a, const struct trace_thread *thread,
			       const struct socket_state *sock);
/**
 * pool_rests() - is the wait at @place, a condition or an eventfd, a wait for the next job?
 * @pending: the wait, which is decided now; learns from it where @thread waits for jobs
 */
bool pool_rests(struct trace_analysis *a, struct trace_thread *thread, const struct pending *pending, uint64_t place);

/**
 * accept_lock_rests() - did @thread wait for its turn to accept connections?
 *
 * Servers of several processes have a lock for that: the process that has it waits in accept().
 * @pending: the wait for @lock, a place as above, which is decided now
 * @holder: the process that has the lock at the end of the recording; NULL: not known
 */
bool accept_lock_rests(struct trace_analysis *a, struct trace_thread *thread, const struct pending *pending,
		       uint64_t lock, const struct trace_process *holder);

/* of sock_send, sock_recv and sock_look */
event_handler on_request_transfer;
#endif
