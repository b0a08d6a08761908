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
 * What happens unseen, happens in such a turn: a wakeup that was not seen came between the beginning of the first and the end of the last one since the
 * thread went to sleep. Until then it was blocked, from then on queued; only in between it is not known which.
 *
 * From "in: 70" to the first event of any kind on that CPU, it is not known when the one ended and the other began: that time is unknown for
 * both and for the CPU. If no other switch follows, who came is not known until the end.
 *
 * Where the kernel leaves such a thread out of its own lists, too, the recorder says so (TRACE_THREAD_HIDDEN), and reads at the start and at the end
 * how often the thread has left a CPU. The same number, asleep both times: it slept from the one reading to the other, in one and the same wait. That
 * is certain, and that it is at rest; what for, the kernel does not tell. All other time of a hidden thread is unknown: one may follow upon another
 * without a trace.
 */
#include <string.h>
#include "slice_log.h"
#include "state.h"
#include "state_lost.h"
#include "state_syscall.h"
#include "wait.h"

/*
 * Mostly the next switch is in the same chunk, which is decoded already: a cursor for each CPU that reads ahead would decode it again. Returns false where it is not,
 * or where something is lost, whatever that is.
 */
static bool foresee(const struct trace_analysis *a, uint64_t ns, uint32_t *ret_prev)
{
	const struct trace_sched_switch *next = a->cursor ? trace_cursor_foresee(a->cursor, 1) : NULL;
	uint64_t next_ns = next ? trace_cursor_foresee_ns(a->cursor) : 0;

	if (!next_ns || next_ns < ns || lost_first(a, ns, next_ns + 1) != UINT64_MAX)
		return false;
	*ret_prev = next->prev_tid;
	return true;
}

/* ---- what is known of all of them ---- */

struct runs_row {
	uint64_t key; /* tid + 1 */
	uint64_t switches[2], ns[2]; /* at the start, at the end */
	uint32_t nr;
	bool slept; /* whenever it was read */
};

void hidden_load(struct trace_analysis *a, const struct trace_event *event)
{
	const struct trace_thread_runs *runs = event->payload;
	struct runs_row *row = books_row(a, &a->hidden_runs, sizeof(*row), runs->tid + 1ull);
	bool sleeps = runs->state & (TRACE_TASK_INTERRUPTIBLE | TRACE_TASK_UNINTERRUPTIBLE);

	if (row->nr >= 2)
		return;
	row->slept = sleeps && (row->slept || !row->nr);
	row->switches[row->nr] = runs->switches;
	row->ns[row->nr++] = event->ts_ns;
}

static bool never_ran(const struct runs_row *row)
{
	return row && row->nr == 2 && row->slept && row->switches[0] == row->switches[1] && row->ns[0] < row->ns[1];
}

void hidden_settle(struct trace_analysis *a)
{
	for (uint32_t i = NR_PSEUDO_PROCESSES; i < a->nr_processes; i++)
		for (struct trace_thread *thread = a->processes[i]->first; thread; thread = thread->next)
			if (thread->flags & THREAD_HIDDEN) {
				a->hides = true;
				thread->place = PLACE_LOST;
			}
}

/* Of the time before it was read first, nothing is known; nor if it was seen to run after that, whatever the counter says. */
void hidden_close(struct trace_analysis *a, struct trace_thread *thread, uint64_t ns)
{
	const struct runs_row *row = table_find(&a->hidden_runs, sizeof(*row), thread->tid + 1ull);

	if (!(thread->flags & THREAD_HIDDEN) || !never_ran(row) || thread->since > row->ns[0] || ns <= row->ns[0] || ns < a->end_ns)
		return;
	books_unknown(a, thread, row->ns[0]);
	thread->flags |= THREAD_ASLEEP;
	books_unknown(a, thread, ns);
}

struct verdict hidden_wait(struct trace_analysis *a, const struct trace_thread *thread)
{
	bool asleep = thread->flags & THREAD_ASLEEP;

	return (struct verdict){.kind = TRACE_WAIT_UNKNOWN, .idle = asleep, .target = strings_intern(&a->strings, asleep ? "asleep, hidden" : "hidden")};
}

/* ---- on a CPU ---- */

#define NOBODY_KNOWN UINT32_MAX

void hidden_enter(struct trace_analysis *a, struct cpu *cpu, struct trace_thread *thread, uint64_t ns)
{
	uint32_t prev;

	if (thread->flags & THREAD_VISIBLE)
		return;
	if (!foresee(a, ns, &prev)) {
		if (!lookahead_switch(&cpu->ahead, a->trace, cpu->cpu, ns, cpu->nr_switches, &prev)) {
			a->failed = cpu->ahead.error ? cpu->ahead.error : a->failed;
			cpu->hidden = thread->flags & THREAD_HIDDEN;
			cpu->successor = NOBODY_KNOWN;
			return;
		}
	}
	if (prev == thread->tid) {
		thread->flags |= THREAD_VISIBLE;
		return;
	}
	a->hides = true;
	cpu->hidden = true;
	cpu->successor = prev;
	if (!thread->comm[0])
		process_set_comm(thread, "(hidden)");
}

bool hidden_turns(const struct trace_analysis *a, uint64_t from, uint64_t now, struct hidden_turn *ret_turn)
{
	struct hidden_turn all = {.from = UINT64_MAX};

	for (uint64_t i = a->hidden_pos; i > 0; i--) {
		const struct hidden_turn *turn = &a->hidden_turns[(i - 1) % HIDDEN_LOG];

		if (turn->to <= from)
			break;
		if (i + HIDDEN_LOG == a->hidden_pos + 1)
			all.from = from; /* the log does not reach further */
		all.from = turn->from < all.from ? turn->from : all.from;
		all.to = turn->to > all.to ? turn->to : all.to;
	}
	for (uint32_t i = 0; i < a->nr_cpus; i++) {
		const struct cpu *cpu = &a->cpus[i];

		if (cpu->hidden) {
			all.from = cpu->mark < all.from ? cpu->mark : all.from;
			all.to = now;
		}
		if (!cpu->switched || cpu->first_switch_ns > from) /* who was there at the start is a belief */
			all = (struct hidden_turn){from, now};
	}
	if (all.from == UINT64_MAX)
		return false;
	ret_turn->from = all.from > from ? all.from : from;
	ret_turn->to = all.to < now ? all.to : now;
	return true;
}

/* Close the successor's time until the hidden thread came. Its frames stay: what it was in, it still is. */
static void close_until(struct trace_analysis *a, struct trace_thread *thread, uint64_t ns)
{
	switch (thread->place) {
	case PLACE_QUEUED:
		books_queued(a, thread, ns, NULL);
		break;
	case PLACE_OFF_AT_START:
		if (!(thread->flags & THREAD_FROM_START) || thread->task_state == TRACE_TASK_RUNNING)
			break;
		books_mode(a, thread, true);
		books_blocked(a, thread, ns, NULL);
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
	struct trace_thread *hidden = cpu->current, *next = &cpu->idle;
	uint64_t since = cpu->mark;

	if (cpu->successor)
		next = cpu->successor == NOBODY_KNOWN ? NULL : thread_living(a, cpu->successor);

	cpu->hidden = false;
	a->hidden_turns[a->hidden_pos++ % HIDDEN_LOG] = (struct hidden_turn){since, ns};
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
		cpu_take(a, cpu, next);
		next->has_early = false;
	} else {
		cpu->current = next;
	}
	books_log(a, cpu, ns);
}

void hidden_end(struct trace_analysis *a, struct cpu *cpu)
{
	if (!cpu->hidden || a->end_ns <= cpu->mark)
		return;
	cpu->successor = NOBODY_KNOWN;
	hidden_leave(a, cpu, a->end_ns);
}
