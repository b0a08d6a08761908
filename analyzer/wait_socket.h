/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_WAIT_SOCKET_H
#define ANALYZER_WAIT_SOCKET_H
/* wait_socket.h - the cause of a wait on a socket: the process at the other end, or the network */
#include "wait_cause.h"

struct socket_state;
struct wait_context;

enum via via_of_socket(const struct socket_state *sock);
struct wait_cause wait_by_socket(const struct wait_context *ctx, const struct socket_state *sock);
/** wait_by_waker() - for calls that do not decide alone: by the ready socket, else by the waker */
struct wait_cause wait_by_waker(const struct wait_context *ctx, enum via via);
#endif
