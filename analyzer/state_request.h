/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_STATE_REQUEST_H
#define ANALYZER_STATE_REQUEST_H
/* state_request.h - the requests that threads work on: is a wait the rest between two requests? */
#include <stdbool.h>
#include <stdint.h>
#include "state_file.h"

struct pending;
struct socket_state;
struct trace_analysis;
struct trace_thread;

/* which end of a connection a socket is */
enum socket_role {
	ROLE_UNKNOWN,
	ROLE_SERVER, /* it was accepted, listens, or received the first datagram */
	ROLE_CLIENT, /* it called connect(), or sent the first datagram */
	ROLE_NONE,   /* an end of a pair */
};

/** struct open_requests - what a thread owes to others, and waits for from others */
struct open_requests {
	uint64_t since_ns;   /* when the latest of them began */
	uint64_t rest_place; /* where it waits for jobs from threads with a request; 0: not known */
	uint32_t nr_read;    /* requests that it read and that are not answered */
	uint32_t nr_asked;   /* requests of its own, on connections that have answered before */
	uint32_t nr_first;   /* requests of its own, on connections that have not */
	bool has_job;	     /* a thread with a request woke it from @rest_place */
	bool hands_over;     /* another thread answered the latest request that it had read */
};

/** request_transfer() - @thread received from @sock, or sent, which may open or close a request */
void request_transfer(struct trace_analysis *a, struct trace_thread *thread, struct socket_state *sock, bool received);
/** request_close() - @thread closes @sock, which ends its requests */
void request_close(const struct trace_thread *thread, struct socket_state *sock);
/** request_forget() - no thread has a request at @sock any more */
void request_forget(struct socket_state *sock);

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
/**
 * pool_rests() - is the wait at @place, a condition or an eventfd, a wait for the next job?
 * @pending: the wait, which is decided now; learns from it where @thread waits for jobs
 */
bool pool_rests(struct trace_analysis *a, struct trace_thread *thread, const struct pending *pending, uint64_t place);
#endif
