/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_HIDDEN_RUNS_H
#define ANALYZER_HIDDEN_RUNS_H
/* hidden_runs.h - hidden threads that the kernel omits from its own lists, too */
#include <stdint.h>

struct trace_analysis;
struct trace_event;
struct trace_thread;

/** hidden_load() - take a thread_runs event of the start state */
void hidden_load(struct trace_analysis *a, const struct trace_event *event);

/**
 * hidden_start_complete() - the start state is complete: the scheduling state of hidden threads is
 * unknown
 */
void hidden_start_complete(struct trace_analysis *a);

/**
 * hidden_close() - at the end of the trace: account the sleep of a hidden thread
 *
 * Does so if the kernel's counters say that @thread slept from its first reading on.
 */
void hidden_close(struct trace_analysis *a, struct trace_thread *thread, uint64_t ns);
#endif
