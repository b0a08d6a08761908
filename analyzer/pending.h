/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_PENDING_H
#define ANALYZER_PENDING_H
/* pending.h - finished waits without a decided cause */
#include <stdint.h>

struct pending;
struct trace_analysis;
struct trace_thread;
struct waker;

/**
 * pending_wait() - account off-CPU time until @ns as a wait, with a cause that is decided later
 * @waker: NULL: not recorded
 */
void pending_wait(struct trace_analysis *a, struct trace_thread *thread, uint64_t ns, const struct waker *waker);

/** pending_decide() - decide the pending waits of @thread that began in more than @depth frames */
void pending_decide(struct trace_analysis *a, struct trace_thread *thread, unsigned int depth);
#endif
