/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DAEMON_LOOP_H
#define DAEMON_LOOP_H
/* loop.h - the event loop of a session: signals, timers, rings, programs, requests */
#include <stdbool.h>
#include <trace/error.h>

struct session;

/** loop_init() - watch all descriptors of @session; needs loop_free() even after a failure */
int loop_init(struct session *session, struct trace_error *ret_error);
/**
 * loop_run() - run until the recording is to end. Afterwards only the clients in the
 * session's list `waiting` are connected
 */
void loop_run(struct session *session);
/**
 * loop_interrupted() - for recording_end(): did the user interrupt again while the recording ended?
 */
bool loop_interrupted(void *session);
void loop_free(struct session *session);
#endif
