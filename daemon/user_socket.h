/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DAEMON_USER_SOCKET_H
#define DAEMON_USER_SOCKET_H
/*
 * user_socket.h - where programs with tracepoints offer their memory: <trace/user_memory.h>.
 *
 * Root's is open to everybody, a user's own to that user. A program says one thing and gets no answer.
 */
#include <trace/error.h>

#include "user_program.h"

struct user_socket;

/** user_socket_listen() - at $TRACER_SOCKET, root's place, or the user's. NULL: -EADDRINUSE another daemon listens there, or another errno */
struct user_socket *user_socket_listen(struct trace_error *ret_error);
struct user_socket *user_socket_close(struct user_socket *sock); /* NULL is fine; returns NULL */
int user_socket_fd(const struct user_socket *sock);

/** user_socket_backlog() - how many can wait to be accepted; who comes then is turned away */
size_t user_socket_backlog(void);

/** user_socket_owner() - the daemon that listens where we would; 0: not known */
pid_t user_socket_owner(void);

/** user_socket_accept() - a program that wants to say something: its connection, or a negative errno: -EAGAIN: nobody */
int user_socket_accept(struct user_socket *sock);

/** user_socket_peer() - the user at the other end of a connection; (uid_t)-1: not known */
uid_t user_socket_peer(int connection);

/**
 * user_socket_receive() - what it says
 * @connection: stays the caller's
 * Returns its memory's descriptor with who it is, both the caller's; -EAGAIN: nothing yet; -ENODATA: it left without a word;
 * -EBADMSG, -EPERM: nonsense, or nobody whom we record; -ENOMEM: it has none; another negative errno: we could not take it
 */
int user_socket_receive(int connection, struct user_identity *ret_identity);
#endif
