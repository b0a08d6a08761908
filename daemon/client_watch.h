/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DAEMON_CLIENT_WATCH_H
#define DAEMON_CLIENT_WATCH_H
/* client_watch.h - the epoll set and the timer of the traced programs */
#include <stdint.h>

/** struct client_watch - @epoll_fd: readable when one of the watched descriptors is */
struct client_watch {
	int epoll_fd;
	int timer_fd;
};

enum { WATCH_SOCKET = 1, WATCH_TIMER, WATCH_CONNECTION, WATCH_PROCESS, WATCH_DAEMON, WATCH_BELL };

/** client_watch_init() - returns 0 or a negative errno; needs client_watch_close() in any case */
int client_watch_init(struct client_watch *watch);
void client_watch_close(struct client_watch *watch);
/**
 * client_watch_add() - watch @fd. Returns 0 or a negative errno
 * @kind: comes back in the epoll data, with the number of the descriptor in the upper half
 */
int client_watch_add(const struct client_watch *watch, int fd, uint32_t kind);
void client_watch_remove(const struct client_watch *watch, int fd);
/** client_watch_set_timer() - the timer expires once, in @ns; 0: never */
void client_watch_set_timer(const struct client_watch *watch, uint64_t ns);
#endif
