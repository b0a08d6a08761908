/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_SERVERS_SERVERS_ENDPOINT_H
#define ANALYZER_SERVERS_SERVERS_ENDPOINT_H
/*
 * servers_endpoint.h - one end of a connection, a datagram socket, a pipe, a futex word or eventfd
 */
#include <stdbool.h>
#include <stdint.h>
#include "hash_table.h"
#include "tuple.h"
#include "servers_channel.h"
#include "servers_thread.h"

struct trace_sock_endpoints;

enum endpoint_kind {
	ENDPOINT_STREAM,
	ENDPOINT_SEQPACKET,
	ENDPOINT_DATAGRAM,
	ENDPOINT_TCP,
	ENDPOINT_PIPE,
	ENDPOINT_OTHER
};
enum endpoint_role { ROLE_UNKNOWN, ROLE_SERVER, ROLE_CLIENT };

struct endpoint {
	uint64_t key; /* in servers_endpoints.by_key */
	uint64_t ino;
	uint8_t kind;  /* enum endpoint_kind */
	uint8_t role;  /* enum endpoint_role */
	bool is_new;   /* made during the trace */
	bool is_old;   /* a pipe that was open at the start */
	bool guessed;  /* the role comes from the first transfer on a connection older than the trace */
	bool accepted; /* accepted by a server, not one of a pair */
	bool listening;
	/*
	 * in servers_endpoints.listeners, for good. A socket of another kind may have its inode
	 * number by now.
	 */
	bool at_port;
	bool shared; /* several processes write to it, so it is a queue of messages, not a conversation */
	bool signal; /* not a pipe, but a futex word or eventfd at which its owner waits: servers_signal.c */

	/* servers_closed.c */
	uint64_t closed_ns; /* 0: it is not closed */
	bool released;	    /* no descriptor is left */
	bool retired;	    /* both ends are closed; it is in servers_closed.items */
	bool pinned;	    /* used by sweep() only: a thread or packet refers to it */

	struct tuple ends;				   /* TCP */
	struct endpoint *peer;				   /* streams: the other end */
	struct servers_process *owner;			   /* the process that used it last; of a pipe: the reader */
	struct servers_process *sender;			   /* the sender of the last request */
	const struct servers_process *last_from, *last_to; /* the last pair given to pair_sent() */

	/* the list of requests that came in here and are still alive, newest first */
	struct server_request *requests;
	/*
	 * In servers_endpoints.holders if one of the next three sets may not be empty. @holder_link
	 * is NULL if it is not in that list.
	 */
	struct endpoint *next_holder, **holder_link;
	struct set *connect_set; /* the set of the thread that connected */
	struct set *awaiting;	 /* the set of the client when it sent its last request here */
	bool asks_by_guess;	 /* that set was a guess: servers_request.c */
	struct set *open;	 /* requests that came in here and are not answered, oldest first */
	struct set *answered;	 /* the request that was answered last */

	struct servers_thread
		*unknown;	  /* it has read data of an unknown client here, and not answered: servers_open.c */
	struct ring_ops ring_ops; /* io_uring operations in progress here */
	/*
	 * Stream, TCP: what this end sends. Datagrams: what this socket receives. Pipe: its
	 * content.
	 */
	struct channel channel;
};

struct servers_endpoints {
	struct hash_table by_key;    /* inode or pipe -> struct endpoint, owned */
	struct hash_table tuples;    /* addresses of TCP connections -> struct endpoint */
	struct hash_table listeners; /* TCP port -> struct endpoint */
	struct endpoint *holders;    /* list of the endpoints that hold sets */
};

/**
 * endpoint_get() - find or make the endpoint of a socket. Returns NULL if out of memory, or for
 * inode 0.
 */
struct endpoint *endpoint_get(struct trace_servers *s, uint64_t ino, uint16_t family, uint16_t type, uint16_t protocol);
struct endpoint *endpoint_find(const struct servers_endpoints *endpoints, uint64_t ino);
/**
 * pipe_get() - find or make the endpoint of a pipe, or of what is treated as one
 * pipe_find() - the same, but NULL if it is not known
 */
struct endpoint *pipe_get(struct trace_servers *s, uint32_t dev, uint64_t ino);
struct endpoint *pipe_find(const struct servers_endpoints *endpoints, uint32_t dev, uint64_t ino);
/** endpoint_of_fd() - the socket or pipe that is open as @fd; NULL: not known, or another file */
struct endpoint *endpoint_of_fd(struct trace_servers *s, const struct servers_thread *thread, uint64_t fd);
/** fd_has_no_sender() - true if no process can send through @fd */
bool fd_has_no_sender(struct trace_servers *s, const struct servers_thread *thread, uint64_t fd);
/** endpoint_learn() - an event contains both addresses of a socket, its state and its peer */
void endpoint_learn(struct trace_servers *s, const struct trace_sock_endpoints *ends, struct servers_process *owner,
		    bool is_new);
/**
 * listener_of_peer() - the socket that listens, or listened, at the port of the other end; NULL:
 * not known
 */
struct endpoint *listener_of_peer(const struct servers_endpoints *endpoints, const struct endpoint *endpoint);
/**
 * endpoint_find_role() - determine which end is the server's, if no accept or connect was recorded
 */
void endpoint_find_role(struct servers_endpoints *endpoints, struct endpoint *endpoint, enum endpoint_role first);
/** endpoint_is_remote() - true if the other end of this TCP connection is on another host */
bool endpoint_is_remote(const struct endpoint *endpoint);
/** is_queue() - true if several senders' requests come in here, each a message of its own */
bool is_queue(const struct endpoint *endpoint);
/** channel_in() - the channel from which @endpoint receives; NULL: the other end is not known */
struct channel *channel_in(struct endpoint *endpoint);
/**
 * channel_out() - the channel into which a call at @endpoint sends
 *
 * Returns NULL if another event tells what was sent, or if the endpoint is not followed.
 */
struct channel *channel_out(struct endpoint *endpoint);
/**
 * endpoint_holds_set() - @endpoint got a set (other than in its channel): it is reset at the next
 * gap
 */
void endpoint_holds_set(struct servers_endpoints *endpoints, struct endpoint *endpoint);
/** endpoints_drop_sets() - after a gap */
void endpoints_drop_sets(struct servers_endpoints *endpoints);
/**
 * endpoint_empty() - release the ranges and sets of @endpoint
 * endpoint_remove() - free @endpoint, to which nothing refers any more
 */
void endpoint_empty(struct endpoint *endpoint);
void endpoint_remove(struct servers_endpoints *endpoints, struct endpoint *endpoint);
/**
 * endpoints_empty() - endpoint_empty() for all
 * endpoints_free() - free all; no request refers to them any more
 */
void endpoints_empty(struct servers_endpoints *endpoints);
void endpoints_free(struct servers_endpoints *endpoints);
#endif
