/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DAEMON_CLIENT_ACCEPT_H
#define DAEMON_CLIENT_ACCEPT_H
/* client_accept.h - traced programs connect to the socket and offer their memories */
struct clients;

/** client_accept_all() - accept the connections that wait, and read the offers that have arrived */
void client_accept_all(struct clients *clients);
/** client_accept_read() - @connection is readable: read its offer */
void client_accept_read(struct clients *clients, int connection);
/** client_accept_resume() - accept connections again after a pause */
void client_accept_resume(struct clients *clients);
void client_accept_init(struct clients *clients);
void client_accept_close(struct clients *clients);
#endif
