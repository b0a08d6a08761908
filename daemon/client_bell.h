/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DAEMON_CLIENT_BELL_H
#define DAEMON_CLIENT_BELL_H
/* client_bell.h - programs that cannot see the daemon's socket */

struct clients;

/**
 * client_bell_begin() - let such programs know that a daemon listens; the socket is open already
 * Without the kernel's help they are only found in /proc.
 */
void client_bell_begin(struct clients *clients);
/** client_bell_take() - take the programs that called so far */
void client_bell_take(struct clients *clients);
/** client_bell_end() - programs that begin from now on are told that no daemon listens */
void client_bell_end(struct clients *clients);
#endif
