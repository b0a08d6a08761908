/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_WAIT_ALONE_H
#define ANALYZER_WAIT_ALONE_H
/* wait_alone.h - the cause of a wait without a waker: the call alone decides */
#include "wait_cause.h"

struct wait_context;

/**
 * wait_by_call_alone() - the process that can end the wait, "several", "unknown" if only a
 * process can end it and none is known, or the name of the call
 * @via: the means that the wait would have had with a waker
 */
struct wait_cause wait_by_call_alone(const struct wait_context *ctx, enum via via);
/**
 * wait_child_of_call() - the child, living or not, that a wait4() returned (@ctx->result), or else
 * the one for which it or waitid() waited; PROCESS_UNKNOWN: any
 */
uint32_t wait_child_of_call(const struct wait_context *ctx);
#endif
