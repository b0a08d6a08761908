/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_STATE_RAN_H
#define ANALYZER_STATE_RAN_H
/* state_ran.h - whose CPU time may have changed: for who keeps accounts of it (servers_gaps.c), and may not look at all threads each time. */

struct trace_analysis;
struct trace_thread;

/** ran_fn - @thread was on a CPU since ran_take() was called last, or is on one */
typedef void (*ran_fn)(void *data, const struct trace_thread *thread);
/** ran_take() - @fn is called for each such thread once. The CPU time of all others is what it was. For one caller. */
void ran_take(struct trace_analysis *a, ran_fn fn, void *data);
#endif
