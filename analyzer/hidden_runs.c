/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * hidden_runs.c - hidden threads that the kernel omits from its own lists, too
 *
 * state_hidden.c explains hidden threads. The recorder marks one that the kernel omits from its
 * lists (TRACE_THREAD_HIDDEN). It reads at the start and at the end how often the thread has left a
 * CPU. If the numbers are equal and the thread was asleep both times, it slept all the time in one
 * wait. The thread is certainly idle; the kernel does not give the cause. All other time of a
 * hidden thread is unknown: two of them may follow each other without an event.
 *
 * Example: thread 70 has left CPUs 12 times at the start and 12 times at the end, and was asleep
 * both times: it slept. If the second number is 13, its time is unknown.
 */
#include "hidden_runs.h"
#include "state.h"

struct runs_row {
	uint64_t key;		     /* tid + 1 */
	uint64_t switches[2], ns[2]; /* at the start, at the end */
	uint32_t nr;
	bool slept; /* asleep at each reading */
};

void hidden_load(struct trace_analysis *a, const struct trace_event *event)
{
	const struct trace_thread_runs *runs = event->payload;
	struct runs_row *row = acct_row(a, &a->hidden.readings, sizeof(*row), runs->tid + 1ull);
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

void hidden_start_complete(struct trace_analysis *a)
{
	for (uint32_t i = NR_PSEUDO_PROCESSES; i < a->threads.nr_processes; i++)
		for (struct trace_thread *thread = a->threads.processes[i]->first; thread; thread = thread->next)
			if (thread->flags & THREAD_HIDDEN) {
				a->hidden.any = true;
				thread->sched_state = SCHED_UNKNOWN;
			}
}

/*
 * The time before the first reading stays unknown. If the thread was seen to run after that
 * reading, all time stays unknown, whatever the counter says.
 */
void hidden_close(struct trace_analysis *a, struct trace_thread *thread, uint64_t ns)
{
	const struct runs_row *row = table_find(&a->hidden.readings, sizeof(*row), thread->tid + 1ull);

	if (!(thread->flags & THREAD_HIDDEN) || !never_ran(row) || thread->since > row->ns[0] || ns <= row->ns[0] ||
	    ns < a->end_ns)
		return;
	acct_unknown(a, thread, row->ns[0]);
	thread->flags |= THREAD_ASLEEP;
	acct_unknown(a, thread, ns);
}
