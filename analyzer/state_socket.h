/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_STATE_SOCKET_H
#define ANALYZER_STATE_SOCKET_H
/* state_socket.h - sockets, and the connections between them: state_socket.c. */
#include <stdint.h>
#include "handler.h"
#include "state_file.h"
#include "tuple.h"

struct trace_start_socket;

typedef uint32_t sock_idx;

struct socket_state {
	uint64_t ino;
	uint64_t peer_ino;
	struct tuple ends; /* the two addresses; unused for unix sockets */
	uint16_t family;
	uint16_t type;
	uint16_t state;
	/*
	 * address that it called connect() with, if ends.remote did not accept the connection; or
	 * the one to which it sends
	 */
	uint64_t connect_address[2];
	uint16_t connect_port;
	uint8_t nr_destinations;     /* of a socket without a connection; 2: several */
	uint8_t role;		     /* enum socket_role of open_request.h */
	bool answers;		     /* SERVER: it has sent; CLIENT: something came after it had sent */
	bool has_read;		     /* SERVER: it has received */
	struct trace_thread *reader; /* SERVER: read a request that is not answered; NULL: none */
	struct trace_thread *asker;  /* CLIENT: sent, and nothing came since; NULL: none */
	/* SERVER: relayed the latest part of an answer, at @relayed_ns; NULL: none */
	struct trace_thread *relayer;
	uint64_t relayed_ns;
	struct open_datagrams *datagrams; /* owned; SERVER: those without an answer; NULL: none */
	uint32_t owner;			  /* index of the process that used it last */
	uint32_t sweeps;		  /* number of sweeps before its last use: state_expire.c; or FILE_FREE */
	uint32_t next;			  /* next of the free list */
};

struct socket_table {
	struct socket_state *list; /* owned; [0] unused */
	uint32_t nr, max, first_free;
	struct hash_table by_inode, by_tuple;
	uint64_t nr_roles;		/* how often a socket got a role or began to listen */
	uint64_t listening[65536 / 64]; /* bits: TCP ports at which a socket listens, or listened */
};

void socket_table_clear(struct socket_table *table);
struct socket_state *sock_of_inode(const struct trace_analysis *a, uint64_t ino);
/** sock_peek() - the same, but it does not count as a use of the socket */
const struct socket_state *sock_peek(const struct trace_analysis *a, uint64_t ino);
struct socket_state *sock_of_file(const struct trace_analysis *a, file_idx file);
struct socket_state *sock_peer(const struct trace_analysis *a, const struct socket_state *sock);
/** sock_address() - the remote address as "10.0.0.1:443" or "[::1]:80" */
string_id sock_address(struct trace_analysis *a, const struct socket_state *sock);
void socket_drop(struct trace_analysis *a, sock_idx sock);
/** sock_mark() - set the bits of the socket with inode @ino and of its peer */
void sock_mark(const struct trace_analysis *a, uint64_t ino, uint64_t *marks);
/** sock_forget() - the socket was another one, or had other ends, until its next event */
void sock_forget(struct trace_analysis *a, uint64_t ino);
void sock_start(struct trace_analysis *a, const struct trace_start_socket *start, uint32_t netns, uint32_t owner);
/** sockets_renumber() - the processes have new indexes: process_renumber() */
void sockets_renumber(struct trace_analysis *a);

/** sock_transfer() - @thread sends or receives on the socket; returns its state, or NULL */
struct socket_state *sock_transfer(struct trace_analysis *a, struct trace_thread *thread, uint64_t ino);

event_handler on_sock_endpoints, on_sock_asks, on_sock_names;
#endif
