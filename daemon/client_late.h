/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DAEMON_CLIENT_LATE_H
#define DAEMON_CLIENT_LATE_H
/* client_late.h - events that a program and its children only counted */

struct clients;
struct user_program;

/**
 * client_lose_late() - events that @program counted and that no ring's account took are lost
 */
void client_lose_late(struct clients *clients, struct user_program *program);
#endif
