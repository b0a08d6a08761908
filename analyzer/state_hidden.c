/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * state_hidden.c - threads that no tracer gets to see.
 *
 * Some kernels keep processes out of the sight of every tracer: whatever happens while such a thread is current leaves no event, not even
 * the switch away from it or an interrupt (observed with the first process of a virtual machine, Linux 6.18; perf is blind to it as well).
 * What is left in the trace is "in: 70", and then the system calls of whoever came after it.
 *
 * Who that is, is certain nevertheless. Any visible thread leaves a CPU by a visible switch. So all events between "in: 70" and the next
 * switch belong to the thread that leaves at that switch. It is looked up ahead, and only for threads that have not shown yet that they can be
 * seen: by a fork, or by leaving a CPU. On an ordinary machine that is once for each thread that was there at the start.
 *
 * From "in: 70" to the first event of any kind on that CPU, it is not known when the one ended and the other began: that time is unknown for
 * both and for the CPU.
 */
#include <string.h>
#include "state.h"

#define FAR_NS 20000000u /* further than this it is cheaper to seek */

/* Move the lookahead of @cpu to its first switch after @ns. Returns false when there is none, or a loss comes before it. */
static bool peek(struct trace_analysis *a, struct cpu *cpu, uint64_t ns)
{
	uint64_t mask[TRACE_MASK_WORDS] = {0};
	struct trace_cursor_options options = {.size = sizeof(options), .mask = mask, .cpus = &cpu->cpu, .nr_cpus = 1};
	const struct trace_event *event;

	mask[TRACE_EV_sched_switch / 64] |= 1ull << TRACE_EV_sched_switch % 64;
	mask[TRACE_EV_trace_lost / 64] |= 1ull << TRACE_EV_trace_lost % 64;
	if (!cpu->ahead) {
		cpu->ahead = trace_cursor_new(a->trace, &options, NULL);
		if (!cpu->ahead)
			return false;
	}
	if (cpu->ahead_ns + FAR_NS < ns)
		trace_cursor_seek(cpu->ahead, ns + 1);
	while (cpu->ahead_ns <= ns) {
		event = trace_cursor_next(cpu->ahead);
		if (!event)
			return false;
		cpu->ahead_ns = event->ts_ns;
		cpu->ahead_lost = event->id != TRACE_EV_sched_switch;
		if (!cpu->ahead_lost)
			cpu->ahead_prev = ((const struct trace_sched_switch *)event->payload)->prev_tid;
	}
	return !cpu->ahead_lost;
}

void hidden_enter(struct trace_analysis *a, struct cpu *cpu, struct trace_thread *thread, uint64_t ns)
{
	if ((thread->flags & THREAD_VISIBLE) || !peek(a, cpu, ns))
		return;
	if (cpu->ahead_prev == thread->tid) {
		thread->flags |= THREAD_VISIBLE;
		return;
	}
	cpu->hidden = true;
	cpu->successor = cpu->ahead_prev;
	if (!thread->comm[0])
		process_set_comm(thread, "(hidden)");
}

/* Close the successor's time until the hidden thread came. Its frames stay: what it was in, it still is. */
static void close_until(struct trace_analysis *a, struct trace_thread *thread, uint64_t ns)
{
	switch (thread->place) {
	case PLACE_QUEUED:
		books_queued(a, thread, ns);
		break;
	case PLACE_BLOCKED:
	case PLACE_NEW:
		books_blocked(a, thread, ns, NULL); /* the hidden thread woke it */
		break;
	default:
		break;
	}
}

void hidden_leave(struct trace_analysis *a, struct cpu *cpu, uint64_t ns)
{
	struct trace_thread *hidden = cpu->current, *next = cpu->successor ? thread_living(a, cpu->successor) : &cpu->idle;
	uint64_t since = cpu->mark;

	cpu->hidden = false;
	books_mode(a, hidden, false);
	frames_pop(a, hidden, since, 0, 0);
	books_cpu_unknown(a, cpu, ns);
	hidden->place = PLACE_LOST;
	hidden->since = cpu->mark;
	cpu->current = NULL;
	if (next && next != &cpu->idle) {
		if (next->place == PLACE_ON_CPU)
			thread_evict(a, next, ns);
		close_until(a, next, since);
		books_unknown(a, next, ns);
		if (next->place == PLACE_LOST && !(next->flags & THREAD_MODE_UNKNOWN))
			thread_mode_unknown(next, ns);
		next->place = PLACE_ON_CPU;
		next->cpu = cpu->cpu;
		next->early.ns = 0;
	}
	cpu->current = next;
	books_log(cpu, ns);
}
