/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_PENDING_H
#define ANALYZER_PENDING_H
/* pending.h - finished waits without a decided cause */
#include <stdint.h>

struct pending;
struct trace_analysis;
struct trace_thread;
struct waker;
struct wait_cause;

/**
 * pending_wait() - account off-CPU time until @ns as a wait, with a cause that is decided later
 * @waker: NULL: not recorded
 */
void pending_wait(struct trace_analysis *a, struct trace_thread *thread, uint64_t ns, const struct waker *waker);

/**
 * pending_account() - account the wait @pending of @thread with the cause @v, and emit its interval
 */
void pending_account(struct trace_analysis *a, struct trace_thread *thread, const struct pending *pending,
		     const struct wait_cause *v);

/**
 * pending_split() - account the wait @pending of @thread as waits for the owners of a lock in turn
 * @release: the wakeup that gave the lock to @thread at @release_ns, the end of @pending or later
 */
void pending_split(struct trace_analysis *a, struct trace_thread *thread, const struct pending *pending,
		   const struct wait_cause *v, const struct waker *release, uint64_t release_ns);

/** pending_decide() - decide the pending waits of @thread that began in more than @depth frames */
void pending_decide(struct trace_analysis *a, struct trace_thread *thread, unsigned int depth);
#endif
