/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_STATE_SOCKET_H
#define ANALYZER_STATE_SOCKET_H
/* state_socket.h - sockets, and how two of them belong together: state_socket.c. */
#include <stdint.h>
#include "state_file.h"
#include "tuple.h"

struct trace_start_socket;

typedef uint32_t sock_idx;

struct sock {
	uint64_t ino;
	uint64_t peer_ino;
	struct tuple ends; /* unix: of no meaning */
	uint16_t family;
	uint16_t type;
	uint16_t state;
	uint64_t asked[2]; /* whom it asked for a connection; ends.remote is who gave it one */
	uint16_t asked_port;
	uint32_t owner;	 /* process that used it last */
	uint32_t sweeps; /* before it was last asked for: state_forget.c; or FILE_FREE */
	uint32_t next;	 /* that is free */
};

struct sock *sock_of_inode(const struct trace_analysis *a, uint64_t ino);
struct sock *sock_of_file(const struct trace_analysis *a, file_idx file);
struct sock *sock_peer(const struct trace_analysis *a, const struct sock *sock);
/** sock_address() - "10.0.0.1:443", "[::1]:80": the remote end */
string_id sock_address(struct trace_analysis *a, const struct sock *sock);
void sock_forget(struct trace_analysis *a, sock_idx sock);
/** sock_mark() - set the bits of the socket of @ino and of its other end */
void sock_mark(const struct trace_analysis *a, uint64_t ino, uint64_t *marks);
void sock_start(struct trace_analysis *a, const struct trace_start_socket *start, uint32_t netns, uint32_t owner);
#endif
