/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_STATE_RAN_H
#define ANALYZER_STATE_RAN_H
/*
 * state_ran.h - the threads that have used CPU time lately
 *
 * A caller that accounts their CPU time (servers_gaps.c) does not have to look at all threads.
 */

struct trace_analysis;
struct trace_thread;

/** ran_fn - called for a thread that was on a CPU since the last ran_take(), or is on one */
typedef void (*ran_fn)(void *data, const struct trace_thread *thread);
/**
 * ran_take() - call @fn once for each such thread
 *
 * The CPU time of all other threads has not changed. Supports one caller only.
 */
void ran_take(struct trace_analysis *a, ran_fn fn, void *data);
#endif
