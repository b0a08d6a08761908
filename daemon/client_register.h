/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DAEMON_CLIENT_REGISTER_H
#define DAEMON_CLIENT_REGISTER_H
/* client_register.h - the daemon takes a traced program, or refuses it */
#include <stdbool.h>
#include <sys/types.h>

#include "user_identity.h"

struct clients;

/**
 * client_register() - a program was found; takes @fd, its memory, and @identity->pid_fd
 * @count_all: as for user_program_new(). @offered: the program offered itself, and was not found in
 *     /proc.
 */
void client_register(struct clients *clients, int fd, struct user_identity *identity, bool count_all, bool offered);

/**
 * client_register_wait_for() - watch the daemon @pid: its socket and programs can be taken when it
 * ends. Returns false if it has ended already
 */
bool client_register_wait_for(struct clients *clients, pid_t pid);
#endif
