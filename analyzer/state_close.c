/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * state_close.c - close the intervals of a thread: at its end, at the end of the trace, and when an
 * event contradicts the state
 *
 * Inconsistencies: a thread leaves a CPU that the state gives to another thread, or it runs without
 * a recorded wakeup. A missing event is the cause. The time from the first loss on is unknown, or
 * all of the interval if no loss is known.
 */
#include <stdlib.h>
#include "accounting_packed.h"
#include "frame_end.h"
#include "hidden_runs.h"
#include "interrupted.h"
#include "kept_rests.h"
#include "pending.h"
#include "slice_log.h"
#include "state.h"
#include "state_close.h"
#include "state_end.h"
#include "state_family.h"

/*
 * Learn the call in which the thread is at the end. If system calls are not recorded, no event
 * tells where it began: it is the call of the last wait. Earlier waits are decided without it.
 */
static void learn_call(struct trace_analysis *a, struct trace_thread *thread)
{
	if (trace_analysis_recorded(a, TRACE_EV_sys_exit) != TRACE_RECORDED_ALWAYS)
		pending_decide(a, thread, 0);
	end_learn_call(a, thread);
}

void thread_close(struct trace_analysis *a, struct trace_thread *thread, uint64_t ns)
{
	uint64_t begin_ns;

	switch (thread->sched_state) {
	case SCHED_ON_CPU: /* the time of its CPU is closed already */
	case SCHED_DEAD:
		break;
	case SCHED_RUNNABLE:
		acct_queued(a, thread, ns, NULL);
		break;
	case SCHED_OFF_AT_START:
		/* It has no event at all. The start state says whether it was runnable. */
		if (thread->task_state == TRACE_TASK_RUNNING && (thread->flags & THREAD_FROM_START)) {
			acct_queued(a, thread, ns, NULL);
			break;
		}
		acct_mode(a, thread, true);
		if (ns >= a->end_ns)
			learn_call(a, thread);
		pending_wait(a, thread, ns, NULL);
		break;
	case SCHED_UNKNOWN:
		hidden_close(a, thread, ns);
		acct_unknown(a, thread, ns);
		break;
	default:
		if (ns >= a->end_ns)
			learn_call(a, thread);
		pending_wait(a, thread, ns, NULL);
	}
	slice_log_flush(a, thread); /* also closes a wait that would begin now */
	acct_mode(a, thread, false);
	begin_ns = thread->frames[0].begin.ns;
	frames_pop(a, thread, ns, 0, 0);
	if (thread->is_interrupted)
		interrupted_left(a, thread, &thread->frames[0], begin_ns);
	if (thread->is_interrupted)
		interrupted_end(a, thread);
	rests_end(a, thread);
}

void thread_end(struct trace_analysis *a, struct trace_thread *thread, uint64_t ns)
{
	if (thread->sched_state == SCHED_DEAD)
		return;
	thread_close(a, thread, ns);
	family_thread_ends(a, thread, ns);
	thread->sched_state = SCHED_DEAD;
	thread->process->nr_living--;
	thread->end_ns = ns;
	if (!thread->process->nr_living)
		family_end(a, thread->process, ns);
	thread->fds = fds_unref(thread->fds);
	thread->memory = memory_unref(thread->memory);
	thread->directories = directories_unref(thread->directories);
	free(thread->path);
	thread->path = NULL;
	thread->path_room = 0;
	acct_pack(a, thread);
}

/* ---- inconsistencies ---- */

void cpu_evict(struct trace_analysis *a, struct cpu *cpu, uint64_t ns)
{
	struct trace_thread *thread = cpu->current;

	if (is_thread(cpu, thread)) {
		acct_mode(a, thread, false);
		frames_pop(a, thread, cpu->accounted_ns, 0, 0);
		thread->sched_state = SCHED_UNKNOWN;
		thread->since = ns > cpu->accounted_ns ? ns : cpu->accounted_ns;
		thread->has_early = false;
	}
	acct_cpu_unknown(a, cpu, ns);
	irq_flush(cpu);
	cpu->current = NULL;
	cpu->hidden = HIDES_NOTHING;
}

void thread_evict(struct trace_analysis *a, struct trace_thread *thread, uint64_t ns)
{
	struct cpu *cpu = &a->cpus[thread->cpu];

	cpu_evict(a, cpu, ns);
	slice_log_begin(a, cpu, ns);
}

void thread_found_on_cpu(struct trace_analysis *a, struct trace_thread *thread, uint64_t ns)
{
	uint64_t lost = gap_log_first_loss(&a->gaps, thread->since, ns);

	if (thread->sched_state != SCHED_UNKNOWN && lost == UINT64_MAX)
		a->inconsistencies++;
	if (thread->sched_state == SCHED_ON_CPU) {
		thread_evict(a, thread, ns);
		/* the state was right until the loss */
	} else if (lost != UINT64_MAX && lost > thread->since) {
		thread_close(a, thread, lost);
	}
	acct_unknown(a, thread, ns);
	acct_mode(a, thread, false);
	frames_pop(a, thread, ns, 0, 0);
	thread->sched_state = SCHED_UNKNOWN;
	thread_mode_unknown(thread, ns);
}
