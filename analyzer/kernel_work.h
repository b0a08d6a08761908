/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_KERNEL_WORK_H
#define ANALYZER_KERNEL_WORK_H
/* kernel_work.h - the kernel's work for a thread outside of its calls: exit, signals, task work */
#include <stdbool.h>
#include <stdint.h>
#include "handler.h"
#include "state_frame.h"

/**
 * returns_untold() - is the thread in work of the kernel that ends with the return to user mode?
 */
static inline bool returns_untold(const struct trace_thread *thread)
{
	return thread->depth && thread->frames[0].kind == FRAME_KERNEL && !thread->is_dying;
}

/** stop_begins() - @thread leaves its CPU at @ns, because it is stopped */
void stop_begins(struct trace_analysis *a, struct trace_thread *thread, uint64_t ns);

/**
 * account_before_user() - as acct_cpu(), if the event at @ns shows that the thread came from user
 * mode
 */
void account_before_user(struct trace_analysis *a, struct cpu *cpu, uint64_t ns);

/**
 * exit_begins() - @thread begins to exit with this wait status, and does not return to user mode
 */
void exit_begins(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, struct trace_thread *thread, int32_t code);

/** exception_signals() - a signal at @ns, maybe for an exception of the thread on @cpu */
void exception_signals(struct trace_analysis *a, struct cpu *cpu, uint64_t ns,
		       const struct trace_signal_generate *signal);

/* on_completion: task work that completes a request of io_uring, and then the request */
event_handler on_signal_deliver, on_task_work, on_task_work_end, on_completion;
#endif
