/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * state_hidden.c - threads without recorded events
 *
 * Some kernels hide processes from every tracer. While such a thread runs, no event is recorded,
 * not even an interrupt or the switch to its successor. (Seen with the first process of a virtual
 * machine on Linux 6.18; perf does not see it either.) The trace has "in: 70", and then the system
 * calls of the thread that ran next.
 *
 * The successor is certain all the same. A visible thread leaves a CPU by a recorded switch. So all
 * events between "in: 70" and the next switch belong to the thread that leaves at that switch. The
 * analysis peeks at that switch. It does so only for threads that are not known to be visible yet;
 * a fork event or a switch out makes a thread visible. On an ordinary machine that is one look for
 * each thread of the start state.
 *
 * Example: a CPU has "in: 70" at 5 ms, a system call at 8 ms, and "out: 71" at 9 ms. Thread 70 is
 * hidden. Thread 71 made the call at 8 ms. From 5 ms to 8 ms, the CPU and both threads are unknown.
 *
 * The time from "in: 70" to the CPU's next event is unknown for both threads and the CPU, since the
 * switch between the threads was not recorded. If no other switch follows, the successor stays
 * unknown until the end.
 *
 * Unrecorded events happen only in such time slices. A wakeup without an event came between the
 * begin of the first and the end of the last slice since the thread went to sleep. The thread was
 * blocked before the first one, queued after the last one, and in between its scheduling state is
 * unknown.
 *
 * In a recording of some processes the switch to a hidden thread is often missing, too: the CPU has
 * "in: 70", 70 does not pass the filter, and then events. They belong to the thread that is named
 * next, if that one passes. Any other thread that passes would have left the CPU by a recorded
 * switch. If 70 passes itself, and another thread is named next, then 70 ceased to pass unseen, and
 * the events are of neither. state_filtered.c explains which threads pass.
 *
 * If the kernel omits such a thread from its own lists, too, the recorder says so: hidden_runs.c.
 */
#include <errno.h>
#include <string.h>
#include "frame_end.h"
#include "pending.h"
#include "running_name.h"
#include "slice_log.h"
#include "state.h"
#include "state_close.h"
#include "state_hidden.h"
#include "state_life.h"

/*
 * Peeks at the next switch in the decoded chunk, which has it in most cases. A cursor for each CPU
 * that reads ahead would decode the chunk again.
 *
 * Returns false if the chunk does not have it, or if any event before it may be lost.
 */
static bool peek_switch(const struct trace_analysis *a, uint64_t ns, uint32_t *ret_prev, uint64_t *ret_ns)
{
	const struct trace_sched_switch *next = a->cursor ? trace_cursor_peek(a->cursor, 1) : NULL;
	uint64_t next_ns = next ? trace_cursor_peek_ns(a->cursor) : 0;

	if (!next_ns || next_ns < ns || gap_log_first_loss(&a->gaps, ns, next_ns + 1) != UINT64_MAX)
		return false;
	*ret_prev = next->prev_tid;
	*ret_ns = next_ns;
	return true;
}

#define NOT_KNOWN UINT32_MAX

/*
 * Reads the execs until @until ahead. Returns the time of the last one that gave a thread its
 * leader's number, maybe one after @until; 0: none.
 */
static uint64_t read_execs(struct trace_analysis *a, uint64_t ns, uint64_t until)
{
	uint64_t mask[TRACE_MASK_WORDS] = {[TRACE_EV_sched_exec / 64] = 1ull << TRACE_EV_sched_exec % 64};
	struct trace_cursor_options options = {.size = sizeof(options), .mask = mask, .from_ns = ns};
	const struct trace_event *event;
	const struct trace_sched_exec *exec;

	if (!a->hidden.execs)
		a->hidden.execs = trace_cursor_new(a->trace, &options, NULL);
	if (!a->hidden.execs)
		a->failed = -ENOMEM;
	while (a->hidden.execs && a->hidden.execs_ns <= until) {
		event = trace_cursor_next(a->hidden.execs);
		exec = event ? event->payload : NULL;
		a->hidden.execs_ns = event ? event->ts_ns : UINT64_MAX;
		if (exec && exec->old_tid != exec->tid)
			a->hidden.renamed_ns = event->ts_ns;
	}
	if (a->hidden.execs && trace_cursor_error(a->hidden.execs, NULL) == -ENOMEM)
		a->failed = -ENOMEM; /* the pass meets a damaged chunk, too */
	return a->hidden.renamed_ns;
}

/*
 * Maybe a thread that has another number from @ns to an exec before @until. peek_switch() does not
 * see the exec. A cursor for the execs alone decodes few chunks.
 */
static bool may_be_new_number(struct trace_analysis *a, uint32_t tid, uint64_t ns, uint64_t until)
{
	const struct trace_thread *leader = thread_find(&a->threads, tid);

	return leader && leader->process->pid == tid && leader->process->nr_threads > 1 &&
	       read_execs(a, ns, until) >= ns;
}

/*
 * The thread that is named next on the CPU. In a recording of some processes a thread may be named
 * before the next switch, and cease to pass then.
 */
static bool next_name(struct trace_analysis *a, struct cpu *cpu, const struct trace_thread *thread, uint64_t ns,
		      uint32_t *ret_tid)
{
	uint64_t next_ns;

	cpu->ahead.by_name = a->filter.is_on;
	cpu->ahead.renamed = 0;
	if (thread && peek_switch(a, ns, ret_tid, &next_ns) &&
	    (*ret_tid == thread->tid || (!a->filter.is_on && !may_be_new_number(a, *ret_tid, ns, next_ns))))
		return true;
	if (lookahead_switch(&cpu->ahead, a->trace, cpu->cpu, cpu->last_switch_ns, cpu->nr_switches, ret_tid))
		return true;
	a->failed = cpu->ahead.error ? cpu->ahead.error : a->failed;
	return false;
}

/*
 * The numbers of two threads of a process may change places at an exec. A process is hidden with
 * all its threads.
 */
static bool is_same_process(struct trace_analysis *a, const struct trace_thread *thread, uint32_t tid)
{
	const struct trace_thread *named = thread_find(&a->threads, tid);

	return tid == thread->process->pid || (named && named->process == thread->process);
}

void hidden_enter(struct trace_analysis *a, struct cpu *cpu, struct trace_thread *thread, uint64_t ns)
{
	uint32_t named;

	if (thread->flags & THREAD_VISIBLE && !a->filter.is_on)
		return;
	if (!next_name(a, cpu, thread, ns, &named)) {
		cpu->hidden = thread->flags & THREAD_HIDDEN ? HIDES_THREAD : HIDES_NOTHING;
		cpu->successor = NOT_KNOWN;
		return;
	}
	if (named == thread->tid || cpu->ahead.renamed == thread->tid || is_same_process(a, thread, named)) {
		thread->flags |= THREAD_VISIBLE;
		return;
	}
	cpu->hidden = HIDES_THREAD;
	cpu->successor = a->filter.is_on ? NOT_KNOWN : named;
	cpu->successor_renamed = cpu->ahead.renamed;
	if (a->filter.is_on)
		return;
	a->hidden.any = true;
	if (!thread->comm[0])
		process_set_comm(a, thread, "(hidden)");
}

bool hidden_slices(const struct trace_analysis *a, uint64_t from, uint64_t now, struct hidden_slice *ret_slice)
{
	struct hidden_slice all = {.from = UINT64_MAX};

	for (uint64_t i = a->hidden.pos; i > 0; i--) {
		const struct hidden_slice *slice = &a->hidden.slices[(i - 1) % HIDDEN_LOG];

		if (slice->to <= from)
			break;
		if (i + HIDDEN_LOG == a->hidden.pos + 1)
			all.from = from; /* the log does not reach that far back */
		all.from = slice->from < all.from ? slice->from : all.from;
		all.to = slice->to > all.to ? slice->to : all.to;
	}
	for (uint32_t i = 0; i < a->nr_cpus; i++) {
		const struct cpu *cpu = &a->cpus[i];

		if (cpu->hidden == HIDES_THREAD) {
			all.from = cpu->accounted_ns < all.from ? cpu->accounted_ns : all.from;
			all.to = now;
		}
		/* no switch has confirmed the thread yet */
		if (!cpu->switched || cpu->first_switch_ns > from)
			all = (struct hidden_slice){from, now};
	}
	if (all.from == UINT64_MAX)
		return false;
	ret_slice->from = all.from > from ? all.from : from;
	ret_slice->to = all.to < now ? all.to : now;
	return true;
}

/*
 * Closes the successor's time up to the hidden thread's begin. The successor stays in its frames.
 */
static void close_until(struct trace_analysis *a, struct trace_thread *thread, uint64_t ns)
{
	switch (thread->sched_state) {
	case SCHED_RUNNABLE:
		acct_queued(a, thread, ns, NULL);
		break;
	case SCHED_OFF_AT_START:
		if (!(thread->flags & THREAD_FROM_START) || thread->task_state == TRACE_TASK_RUNNING)
			break;
		acct_mode(a, thread, true);
		pending_wait(a, thread, ns, NULL);
		break;
	case SCHED_BLOCKED:
	case SCHED_NEW:
		pending_wait(a, thread, ns, NULL); /* the hidden thread woke it */
		break;
	default:
		break;
	}
}

/* @next came to the CPU after @since, and its first event is at @ns. */
static void successor_take(struct trace_analysis *a, struct cpu *cpu, struct trace_thread *next, uint64_t since,
			   uint64_t ns)
{
	if (next->sched_state == SCHED_ON_CPU)
		thread_evict(a, next, ns);
	close_until(a, next, since);
	acct_unknown(a, next, ns);
	if (next->sched_state == SCHED_UNKNOWN && !(next->flags & THREAD_MODE_UNKNOWN))
		thread_mode_unknown(next, ns);
	cpu_take(a, cpu, next);
	next->has_early = false;
}

/*
 * In an exec the thread gets its leader's number some time before the exec is recorded. Another
 * event may have told that already (thread_note_exchange()): then its old number is the leader's,
 * which has exited.
 */
static struct trace_thread *successor_of(struct trace_analysis *a, const struct cpu *cpu)
{
	const struct trace_thread *thread = cpu->successor_renamed ? thread_find(&a->threads, cpu->successor) : NULL;
	bool is_old_leader = cpu->successor_renamed &&
			     (!thread || thread->sched_state == SCHED_DEAD || (thread->flags & THREAD_EXITING));

	return thread_living(a, is_old_leader ? cpu->successor_renamed : cpu->successor);
}

static void hidden_leave(struct trace_analysis *a, struct cpu *cpu, uint64_t ns)
{
	struct trace_thread *hidden = cpu->current, *next = &cpu->idle;
	uint64_t since = cpu->accounted_ns;

	if (cpu->successor)
		next = cpu->successor == NOT_KNOWN ? NULL : successor_of(a, cpu);
	cpu->hidden = HIDES_NOTHING;
	a->hidden.slices[a->hidden.pos++ % HIDDEN_LOG] = (struct hidden_slice){since, ns};
	acct_mode(a, hidden, false);
	frames_pop(a, hidden, since, 0, 0);
	acct_cpu_unknown(a, cpu, ns);
	hidden->sched_state = SCHED_UNKNOWN;
	hidden->since = cpu->accounted_ns;
	cpu->current = NULL;
	if (next && next != &cpu->idle)
		successor_take(a, cpu, next, since, ns);
	else
		cpu->current = next;
	slice_log_begin(a, cpu, ns);
}

/* The thread that made the event at @ns passes the filter. Its switch in was not recorded. */
static void filtered_leave(struct trace_analysis *a, struct cpu *cpu, uint64_t ns)
{
	struct trace_thread *next;
	uint64_t since = cpu->accounted_ns;
	uint32_t named;

	cpu->hidden = HIDES_NOTHING;
	next = next_name(a, cpu, NULL, ns, &named) && named ? thread_living(a, named) : NULL;
	if (!next || (next->flags & THREAD_FILTERED))
		return;
	acct_cpu_unknown(a, cpu, ns);
	successor_take(a, cpu, next, since, ns);
	slice_log_begin(a, cpu, ns);
}

void hidden_event(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event)
{
	if (cpu->hidden == HIDES_THREAD)
		hidden_leave(a, cpu, ns);
	else if (is_own_event(event))
		filtered_leave(a, cpu, ns);
}

void hidden_end(struct trace_analysis *a, struct cpu *cpu)
{
	if (cpu->hidden != HIDES_THREAD || a->end_ns <= cpu->accounted_ns)
		return;
	cpu->successor = NOT_KNOWN;
	hidden_leave(a, cpu, a->end_ns);
}
