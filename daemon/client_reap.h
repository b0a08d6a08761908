/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DAEMON_CLIENT_REAP_H
#define DAEMON_CLIENT_REAP_H
/*
 * client_reap.h - traced programs end: what is left of them is taken, kept within limits, and
 * dropped
 */
#include <stddef.h>
#include <sys/types.h>

struct clients;

/** client_reap_mark() - the process of @pid_fd died */
void client_reap_mark(struct clients *clients, int pid_fd);
/**
 * client_reap_replaced() - mark programs as dead that the process @pid has replaced by execve()
 * A memory that the process no longer maps belongs to a program that it ran before. Returns the
 * number of memories that remain.
 */
size_t client_reap_replaced(struct clients *clients, pid_t pid, uid_t uid);
/**
 * client_reap_all() - take what dead programs left, release them, and drop those that are not
 * needed
 */
void client_reap_all(struct clients *clients);

/**
 * CLIENTS_RELEASED_MIN - dead programs in the table before the daemon checks which are still needed
 */
#define CLIENTS_RELEASED_MIN 256
#endif
