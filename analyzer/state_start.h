/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_STATE_START_H
#define ANALYZER_STATE_START_H
/* state_start.h - what the recorder read before the first event (state_start.c), after a pause (state_restart.c), and after the last event (state_end.c). */
#include <stdint.h>

struct frame;
struct trace_analysis;
struct trace_error;
struct trace_event;
struct trace_process;
struct trace_thread;

int start_load(struct trace_analysis *a, struct trace_error *ret_error);
/** start_describe() - from its start_thread: what @thread was called, and whose it was */
void start_describe(struct trace_thread *thread, const struct trace_event *event);
/** start_place() - where it was, and in which system call, from @since on; it is off the CPUs, as far as is known */
void start_place(struct trace_thread *thread, const struct trace_event *event, uint64_t since);
/** start_owner() - the thread whose descriptors and memory are the process's: the leader; when that is gone, any other; NULL: none lives */
struct trace_thread *start_owner(const struct trace_analysis *a, const struct trace_process *process);
/** start_told() - what a record of the start state says */
void start_told(struct trace_analysis *a, const struct trace_event *event);
/** start_foresee() - in a pause a thread is seen that nobody knows: those that the state tells of when it is read again are known from now on */
void start_foresee(struct trace_analysis *a);
/** start_outlived() - a system call of @thread begins or ends: the one that the start state told of may have been a later one */
void start_outlived(struct trace_thread *thread, uint64_t ns);

/* What a thread waited for when the recording ended, as the recorder read it: state_end.c. */
struct end_wait {
	uint64_t key; /* tid + 1 */
	uint64_t ns;  /* when it was read */
	uint64_t args[4];
	uint32_t call;
	uint32_t holder;   /* pid of who had the lock; 0 */
	uint32_t first_fd; /* into analysis.end_fds */
	uint32_t nr_fds;
	uint64_t counts_fds; /* the call waits for descriptors, and these are all of them */
};

void end_load(struct trace_analysis *a, const struct trace_event *event);
/** end_wait_of() - what was read at the end of @thread, if it was in the call of @frame then; else NULL */
const struct end_wait *end_wait_of(const struct trace_analysis *a, const struct trace_thread *thread, const struct frame *frame);
/** end_learn_call() - a system call whose entry was not seen: it may have been read at the end */
void end_learn_call(struct trace_analysis *a, struct trace_thread *thread);
#endif
