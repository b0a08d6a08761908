/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DAEMON_USER_SOCKET_H
#define DAEMON_USER_SOCKET_H
/*
 * user_socket.h - the socket where traced programs offer their memory: <trace/user_memory.h>
 *
 * All users may connect to root's socket, and a user's own socket is for that user only. A program
 * sends one message and gets no answer.
 */
#include <trace/error.h>

#include "user_identity.h"

struct user_socket;

/**
 * user_socket_listen() - listen at $TRACER_SOCKET, or at root's or the user's default path
 * Returns NULL on error: -EADDRINUSE: another daemon listens there; or another errno.
 */
struct user_socket *user_socket_listen(struct trace_error *ret_error);
struct user_socket *user_socket_close(struct user_socket *sock); /* NULL is fine; returns NULL */
int user_socket_fd(const struct user_socket *sock);

/**
 * user_socket_backlog() - how many connections can wait to be accepted; further ones are refused
 */
size_t user_socket_backlog(void);

/**
 * user_socket_owner() - pid of the daemon that listens on the path that this one would use; 0: not
 * known
 */
pid_t user_socket_owner(void);

/**
 * user_socket_accept() - accept a connection. Returns it, or a negative errno; -EAGAIN: none waits
 */
int user_socket_accept(struct user_socket *sock);

/** user_socket_peer() - the user at the other end of a connection; (uid_t)-1: not known */
uid_t user_socket_peer(int connection);

/**
 * user_socket_receive() - receive an offer
 * @connection: stays the caller's
 * Returns the descriptor of the program's memory, and the identity of the process; the caller owns
 * both.
 * -EAGAIN: no message yet. -ENODATA: the program closed the connection without one. -EBADMSG: an
 * invalid message. -EPERM: not a process that this daemon records. -ENOMEM: the program has no
 * memory. -ETIMEDOUT: it sent a file that does not answer, or its user did before
 * (offer_child.h). For both @ret_identity is that of the program, if it is known. Another negative
 * errno: the daemon could not receive it.
 */
int user_socket_receive(int connection, struct user_identity *ret_identity);
#endif
