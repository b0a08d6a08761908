/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_WAIT_H
#define ANALYZER_WAIT_H
/* wait.h - decides what a blocked thread waited for */
#include "wait_cause.h"

struct pending;
struct trace_analysis;
struct trace_thread;
struct waker;

/** wait_decide() - decide the wait cause of @pending, a closed wait of @thread */
struct wait_cause wait_decide(struct trace_analysis *a, struct trace_thread *thread, const struct pending *pending);

/** wait_decide_by() - the cause that @pending would have if @waker had ended it */
struct wait_cause wait_decide_by(struct trace_analysis *a, struct trace_thread *thread, const struct pending *pending,
				 const struct waker *waker);
#endif
