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
#include "hidden_runs.h"
#include "pending.h"
#include "slice_log.h"
#include "state.h"
#include "state_close.h"
#include "state_end.h"
#include "state_frame.h"

void thread_close(struct trace_analysis *a, struct trace_thread *thread, uint64_t ns)
{
	switch (thread->place) {
	case PLACE_ON_CPU: /* the time of its CPU is closed already */
	case PLACE_DEAD:
		break;
	case PLACE_QUEUED:
		books_queued(a, thread, ns, NULL);
		break;
	case PLACE_OFF_AT_START:
		/* It has no event at all. The start state says whether it was runnable. */
		if (thread->task_state == TRACE_TASK_RUNNING && (thread->flags & THREAD_FROM_START)) {
			books_queued(a, thread, ns, NULL);
			break;
		}
		books_mode(a, thread, true);
		if (ns >= a->end_ns)
			end_learn_call(a, thread);
		pending_wait(a, thread, ns, NULL);
		break;
	case PLACE_LOST:
		hidden_close(a, thread, ns);
		books_unknown(a, thread, ns);
		break;
	default:
		if (ns >= a->end_ns)
			end_learn_call(a, thread);
		pending_wait(a, thread, ns, NULL);
	}
	turns_settle(a, thread); /* also closes a wait that would begin now */
	books_mode(a, thread, false);
	frames_pop(a, thread, ns, 0, 0);
}

void thread_end(struct trace_analysis *a, struct trace_thread *thread, uint64_t ns)
{
	if (thread->place == PLACE_DEAD)
		return;
	thread_close(a, thread, ns);
	thread->place = PLACE_DEAD;
	thread->process->nr_living--;
	thread->end_ns = ns;
	thread->fds = fds_unref(thread->fds);
	thread->memory = memory_unref(thread->memory);
	free(thread->path);
	thread->path = NULL;
	thread->path_room = 0;
	books_pack(a, thread);
}

/* ---- inconsistencies ---- */

void cpu_evict(struct trace_analysis *a, struct cpu *cpu, uint64_t ns)
{
	struct trace_thread *thread = cpu->current;

	if (is_thread(cpu, thread)) {
		books_mode(a, thread, false);
		frames_pop(a, thread, cpu->mark, 0, 0);
		thread->place = PLACE_LOST;
		thread->since = ns > cpu->mark ? ns : cpu->mark;
		thread->has_early = false;
	}
	books_cpu_unknown(a, cpu, ns);
	irq_flush(cpu);
	cpu->current = NULL;
	cpu->hidden = false;
}

void thread_evict(struct trace_analysis *a, struct trace_thread *thread, uint64_t ns)
{
	struct cpu *cpu = &a->cpus[thread->cpu];

	cpu_evict(a, cpu, ns);
	books_log(a, cpu, ns);
}

void thread_found_on_cpu(struct trace_analysis *a, struct trace_thread *thread, uint64_t ns)
{
	uint64_t lost = gap_log_first_loss(&a->gaps, thread->since, ns);

	if (thread->place != PLACE_LOST && lost == UINT64_MAX)
		a->inconsistencies++;
	if (thread->place == PLACE_ON_CPU) {
		thread_evict(a, thread, ns);
	/* the state was right until the loss */
	} else if (lost != UINT64_MAX && lost > thread->since) {
		thread_close(a, thread, lost);
	}
	books_unknown(a, thread, ns);
	books_mode(a, thread, false);
	frames_pop(a, thread, ns, 0, 0);
	thread->place = PLACE_LOST;
	thread_mode_unknown(thread, ns);
}
