/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_WAIT_WAKER_H
#define ANALYZER_WAIT_WAKER_H
/* wait_waker.h - the cause of a wait by its waker: a task, a kernel thread, or an interrupt */
#include <stdbool.h>
#include "wait_cause.h"

struct wait_context;

/** wait_by_waker_alone() - by the waker only, and not by which socket it reported as ready */
struct wait_cause wait_by_waker_alone(const struct wait_context *ctx, enum via via);
/**
 * wait_waker_is_filtered() - did a filter leave out the task or interrupt that ended the wait?
 *
 * A recording of some processes has only the wakeup then.
 */
bool wait_waker_is_filtered(const struct wait_context *ctx);
/**
 * wait_ended_by_rcu() - did an RCU grace period end the wait, whichever file the call acts on?
 *
 * Such a call waits for all CPUs and not for data: a write() to a file that moves a process to a
 * control group, or to a setting.
 */
bool wait_ended_by_rcu(const struct wait_context *ctx);
#endif
