/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_STATE_HIDDEN_H
#define ANALYZER_STATE_HIDDEN_H
/* state_hidden.h - threads that no tracer gets to see: state_hidden.c. */
#include <stdbool.h>
#include <stdint.h>

struct cpu;
struct trace_analysis;
struct trace_event;
struct trace_thread;
struct verdict;

#define HIDDEN_LOG 64u
struct hidden_turn { /* a CPU was, or may have been, a hidden thread's */
	uint64_t from;
	uint64_t to;
};

/** hidden_load() - a thread_runs of the start state */
void hidden_load(struct trace_analysis *a, const struct trace_event *event);
/** hidden_settle() - all of the start state is loaded: where its hidden threads are is not known */
void hidden_settle(struct trace_analysis *a);
/** hidden_close() - at the end of the trace: if the kernel's counters say that @thread slept since it was read first, book that */
void hidden_close(struct trace_analysis *a, struct trace_thread *thread, uint64_t ns);
/** hidden_end() - the recording ends: close what a hidden thread on @cpu may have left long before */
void hidden_end(struct trace_analysis *a, struct cpu *cpu);
/** hidden_enter() - @thread was switched in: is it one that leaves no events? */
void hidden_enter(struct trace_analysis *a, struct cpu *cpu, struct trace_thread *thread, uint64_t ns);
/**
 * hidden_turns() - hidden threads had CPUs between @from and now: from when, until when
 * Returns false if none had, so that nothing can have happened unseen.
 */
bool hidden_turns(const struct trace_analysis *a, uint64_t from, uint64_t now, struct hidden_turn *ret_turn);
/** hidden_leave() - an event of @cpu: the hidden thread is gone */
void hidden_leave(struct trace_analysis *a, struct cpu *cpu, uint64_t ns);
/** hidden_wait() - what is known of a wait of a hidden thread */
struct verdict hidden_wait(struct trace_analysis *a, const struct trace_thread *thread);
#endif
