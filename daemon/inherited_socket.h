/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DAEMON_INHERITED_SOCKET_H
#define DAEMON_INHERITED_SOCKET_H
/* inherited_socket.h - sockets that a service manager leaves, as sd_listen_fds(3) finds them. */

/**
 * inherited_socket() - the SOCK_SEQPACKET socket that the manager has bound to @path and listens on
 * Returns its descriptor, without blocking and closed at exec; -1: there is none.
 */
int inherited_socket(const char *path);
#endif
