/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_STATE_START_H
#define ANALYZER_STATE_START_H
/*
 * state_start.h - the state that the recorder read before the first event (state_start.c), after a
 * pause (state_restart.c) and after the last event (state_end.c)
 */
#include <stdint.h>

struct frame;
struct trace_analysis;
struct trace_error;
struct trace_event;
struct trace_process;
struct trace_thread;

int start_load(struct trace_analysis *a, struct trace_error *ret_error);
/** start_describe() - set name, flags and process of @thread from its start_thread @event */
void start_describe(struct trace_thread *thread, const struct trace_event *event);
/**
 * start_place() - set the scheduling state of @thread and its system call from @since on
 *
 * As far as the record says, the thread is off the CPUs.
 */
void start_place(struct trace_thread *thread, const struct trace_event *event, uint64_t since);
/**
 * start_owner() - the thread with the descriptors and the memory of @process
 *
 * It is the leader or, if that is dead, another living thread. Returns NULL if none lives.
 */
struct trace_thread *start_owner(const struct trace_analysis *a, const struct trace_process *process);
/** start_told() - take a record of the start state */
void start_told(struct trace_analysis *a, const struct trace_event *event);
/**
 * start_foresee() - an unknown thread is seen during a pause: read ahead in the repeated start
 * state
 *
 * The threads that the state has there are known from now on.
 */
void start_foresee(struct trace_analysis *a);
/**
 * start_outlived() - a system call of @thread begins or ends
 *
 * If that is before the thread was read, the call in the start state may be a later one.
 */
void start_outlived(struct trace_thread *thread, uint64_t ns);

/* The wait of a thread at the end of the recording, as the recorder read it: state_end.c. */
struct end_wait {
	uint64_t key; /* tid + 1 */
	uint64_t ns;  /* when the recorder read it */
	uint64_t args[4];
	uint32_t call;
	uint32_t holder;   /* pid of the process that has the lock; 0: none */
	uint32_t first_fd; /* index into trace_analysis.end_fds */
	uint32_t nr_fds;
	uint64_t counts_fds; /* the call waits for descriptors, and all of them are here */
};

void end_load(struct trace_analysis *a, const struct trace_event *event);
/**
 * end_wait_of() - the record of @thread's wait at the end of the recording
 *
 * Returns NULL if there is none, or if @thread was not in the call of @frame.
 */
const struct end_wait *end_wait_of(const struct trace_analysis *a, const struct trace_thread *thread, const struct frame *frame);
/**
 * end_learn_call() - take the call of @thread from its record at the end, if its entry is missing
 */
void end_learn_call(struct trace_analysis *a, struct trace_thread *thread);
#endif
