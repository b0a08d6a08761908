/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_OPEN_REQUEST_H
#define ANALYZER_OPEN_REQUEST_H
/* open_request.h - which requests are open at a thread: state_request.c explains them */
#include <stdbool.h>
#include <stdint.h>

struct kept_rests;
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

/** struct thread_requests - what a thread owes to others, and waits for from others */
struct thread_requests {
	uint64_t since_ns;	   /* when the latest of them began */
	uint64_t rest_place;	   /* where it waits for jobs from threads with a request; 0: not known */
	uint32_t nr_read;	   /* requests that it read and that are not answered */
	uint32_t nr_asked;	   /* requests of its own, on connections that have answered */
	uint32_t nr_first;	   /* requests of its own, on connections that have not */
	uint32_t nr_relays : 28;   /* connections with an answer that it relays: relay.c */
	uint32_t has_job : 1;	   /* a thread with a request woke it from @rest_place */
	uint32_t hands_over : 1;   /* another thread answered the latest request that it had read */
	uint32_t accepts : 1;	   /* it accepted a connection: it gets its work there */
	uint32_t has_accepted : 1; /* it has received and sent nothing since it accepted one */
	uint64_t accepted_ns;	   /* when it accepted the latest connection */
	uint64_t part_ns;	   /* when it received a part of an answer */
	struct kept_rests *rests;  /* owned; NULL: none */
};

/** request_read() - @thread read from @sock, a server's end; request_answered() - it sent */
void request_read(struct trace_analysis *a, struct trace_thread *thread, struct socket_state *sock);
void request_answered(struct trace_analysis *a, struct trace_thread *thread, struct socket_state *sock);
/** request_stalled() - @sock, a server's end, took no more of the answer of @thread */
void request_stalled(struct trace_analysis *a, struct trace_thread *thread, struct socket_state *sock);
/** request_asked() - @thread sent to @sock, a client's end; request_got_answer() - data came */
void request_asked(struct trace_analysis *a, struct trace_thread *thread, struct socket_state *sock);
void request_got_answer(struct socket_state *sock);
/** request_close() - @thread closes @sock, or sends no more, which ends its requests */
void request_close(const struct trace_analysis *a, const struct trace_thread *thread, struct socket_state *sock);
/** request_forget() - no thread has a request at @sock any more */
void request_forget(struct socket_state *sock);
/** request_accepted() - @thread accepted a connection */
void request_accepted(struct trace_thread *thread, uint64_t ns);
/** requests_were_read() - true if a request that the thread read is open at it */
bool requests_were_read(const struct thread_requests *requests);
/** requests_changed() - the requests of @thread were changed directly */
void requests_changed(struct trace_thread *thread);
#endif
