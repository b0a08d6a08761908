/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_USER_REQUESTS_H
#define ANALYZER_USER_REQUESTS_H
/* user_requests.h - the requests of programs, from begin to end. */
#include "user_accounting.h"

void request_begin(struct trace_user_events *user, struct actor *actor, string_id name, uint64_t id);
void request_end(struct trace_user_events *user, struct actor *actor, string_id name, uint64_t id);
void request_handoff(struct trace_user_events *user, struct actor *actor, string_id name, uint64_t id);
/** requests_leave() - the thread of @actor is gone: detach its requests */
void requests_leave(struct trace_user_events *user, struct actor *actor);
/** requests_drop() - end all requests of @program without a result */
void requests_drop(struct trace_user_events *user, struct program *program);

#endif
