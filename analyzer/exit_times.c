/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * exit_times.c - compare the kernel's account of a thread's life with the sums
 *
 * The kernel tells at the last switch how long a thread has run. If all of its life is in the
 * trace, and nothing was lost meanwhile, the sums of the thread must agree:
 *
 *	CPU time - stolen - slack <= run time <= CPU time + interrupted + stolen + unknown + slack
 *
 * - Most kernels count interrupts as run time of the thread below, some do not
 *   (CONFIG_IRQ_TIME_ACCOUNTING).
 * - The kernel leaves out what a virtual machine's host took, or too little of it.
 * - A part of the time that is unknown to us may have been on a CPU.
 * - Slack: for each switch, the kernel reads its clock a moment before our event. If a thread
 *   preempts another one at its wakeup, the kernel counts from the wakeup on (either_ns).
 */
#include "exit_times.h"
#include "state.h"
#include "violations.h"
#include "wait_cause.h"

#define SLACK_NS	    300000u
#define SLACK_PER_SWITCH_NS 10000u
#define SLACK_SHARE	    100u /* 1 % */

static uint64_t unknown_ns(struct trace_analysis *a, struct trace_thread *thread)
{
	struct wait_cause unknown = wait_unknown_cause(a, thread);
	const struct wait_row *row = table_find(&thread->acct.waits, sizeof(*row), wait_key(&unknown));

	return row ? row->ns : 0;
}

/* Did the trace see all of its life? */
static bool is_whole(const struct trace_analysis *a, const struct trace_thread *thread, uint64_t ns)
{
	return thread->is_born && !(thread->flags & (THREAD_FILTERED | THREAD_HIDDEN)) &&
	       gap_log_first_loss(&a->gaps, thread->start_ns, ns + 1) == UINT64_MAX;
}

void on_exit_times(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event)
{
	const struct trace_exit_times *times = event->payload;
	struct trace_thread *thread = cpu->current;
	uint64_t own, slack, most;

	if (!is_thread(cpu, thread) || thread->tid != times->tid || !is_whole(a, thread, ns))
		return;
	acct_cpu(a, cpu, ns);
	own = thread->acct.user + thread->acct.syscall + thread->acct.trap;
	for (uint32_t i = 0; i < thread->nr_shares; i++)
		own += thread->shares[i].ns;
	slack = SLACK_NS + times->switches * SLACK_PER_SWITCH_NS + own / SLACK_SHARE + thread->acct.stolen +
		thread->either_ns;
	most = own + thread->acct.interrupted + unknown_ns(a, thread) + slack;
	if (times->run_ns + slack >= own && times->run_ns <= most)
		return;
	violation_note(a, ns,
		       "exit_times of thread %u (%s): it ran for %" PRIu64 " ns, but its CPU time is %" PRIu64
		       " ns, of which the kernel can differ by %" PRIu64 " ns",
		       thread->tid, thread->comm, times->run_ns, own + thread->acct.interrupted, slack);
}
