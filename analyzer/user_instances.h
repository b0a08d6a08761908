/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_USER_INSTANCES_H
#define ANALYZER_USER_INSTANCES_H
/* user_instances.h - each scope and request for the caller's hook: trace_user_events_on_span(). */
#include "user_accounting.h"

/** scope_tell() - @scope of @actor ends; @has_ended: by its end event */
void scope_tell(struct trace_user_events *user, const struct actor *actor, const struct segment *scope, bool has_ended);
/** request_piece() - the actor of @request leaves it: keep the time in which it worked on it */
void request_piece(struct trace_user_events *user, struct user_request *request);
/** request_tell() - @request ends; @has_ended: by its end event */
void request_tell(struct trace_user_events *user, const struct user_request *request, bool has_ended);
/** span_tell_end() - the end of @span, of @actor, has no begin in the trace */
void span_tell_end(struct trace_user_events *user, const struct actor *actor, const struct span_sum *span);
#endif
