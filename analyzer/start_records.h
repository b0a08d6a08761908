/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_START_RECORDS_H
#define ANALYZER_START_RECORDS_H
/* start_records.h - apply the records of the start state: threads, descriptors, mappings ... */
#include <stdint.h>

struct trace_analysis;
struct trace_event;
struct trace_thread;

/** start_describe() - set name, flags and process of @thread from its start_thread @event */
void start_describe(struct trace_analysis *a, struct trace_thread *thread, const struct trace_event *event);

/**
 * start_sched_state() - set the scheduling state of @thread and its system call from @since on
 *
 * As far as the record says, the thread is off the CPUs.
 */
void start_sched_state(struct trace_thread *thread, const struct trace_event *event, uint64_t since);

/** start_record_apply() - take a record of the start state */
void start_record_apply(struct trace_analysis *a, const struct trace_event *event);

/**
 * start_call_ended() - a system call of @thread begins or ends, or may have: the thread runs, and
 * calls are not recorded
 *
 * If that is before the thread was read, the call in the start state may be a later one.
 */
void start_call_ended(struct trace_thread *thread, uint64_t ns);
#endif
