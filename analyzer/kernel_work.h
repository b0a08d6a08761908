/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_KERNEL_WORK_H
#define ANALYZER_KERNEL_WORK_H
/* kernel_work.h - the kernel's work for a thread outside of its calls: exit, signals, task work */
#include <stdbool.h>
#include <stdint.h>
#include "handler.h"
#include "state_frame.h"

/** in_task_work() - does the kernel do work for the thread after a call, as far as is known? */
static inline bool in_task_work(const struct trace_thread *thread)
{
	return thread->depth && thread->frames[0].call == CALL_TASK_WORK;
}

/**
 * account_before_user() - as acct_cpu(), if the event at @ns shows that the thread came from user
 * mode
 */
void account_before_user(struct trace_analysis *a, struct cpu *cpu, uint64_t ns);

/** exit_begins() - @thread begins to exit with this wait status, and does not return to user mode */
void exit_begins(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, struct trace_thread *thread, int32_t code);

/** dies_from_now() - @thread does not return to user mode after @ns */
void dies_from_now(struct trace_thread *thread, uint64_t ns);

/**
 * dying_denied() - an event shows that a dying thread is in user mode all the same
 * @what: the event
 */
void dying_denied(struct trace_analysis *a, struct trace_thread *thread, uint64_t ns, const char *what);

event_handler on_signal_deliver, on_task_work, on_task_work_end;
#endif
