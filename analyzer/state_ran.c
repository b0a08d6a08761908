/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* state_ran.c - the list of threads that have used CPU time lately. */
#include "state.h"
#include "state_ran.h"

void ran_take(struct trace_analysis *a, ran_fn fn, void *data)
{
	struct trace_thread *thread = a->ran, *next;

	a->ran = NULL;
	for (; thread; thread = next) {
		next = thread->next_ran;
		thread->ran = thread->sched_state == SCHED_ON_CPU;
		thread->next_ran = thread->ran ? a->ran : NULL;
		if (thread->ran)
			a->ran = thread;
		fn(data, thread);
	}
}
