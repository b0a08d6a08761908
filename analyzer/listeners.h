/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_LISTENERS_H
#define ANALYZER_LISTENERS_H
/*
 * listeners.h - the processes that listen at TCP ports of this machine
 *
 * A recording of one process (tracedaemon -P) has no events of its server, but the start state has
 * the sockets of all processes. So it is known that postgres listens at the port that the process
 * is connected to, also if the connection is newer than the start state.
 */
#include <stdint.h>
#include "hash_table.h"

struct trace_analysis;
struct socket_state;

struct listeners {
	struct hash_table by_port;   /* network namespace and port -> index of a process */
	struct hash_table by_target; /* target of a wait -> index of a process */
};

/** listener_add() - the owner of @sock listens */
void listener_add(struct trace_analysis *a, const struct socket_state *sock);
/** listener_note() - the text of a wait for @sock is @target; its other end is not known */
void listener_note(struct trace_analysis *a, const struct socket_state *sock, string_id target);
/** listeners_renumber() - the processes have new indexes: process_renumber() */
void listeners_renumber(struct trace_analysis *a);
void listeners_clear(struct listeners *listeners);
#endif
