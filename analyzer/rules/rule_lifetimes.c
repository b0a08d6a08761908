/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "rule_lifetimes.h"

#include <stdlib.h>

#include "rules.h"

struct lifetimes {
	struct rules *rules;
};

static bool thread_lived(const struct trace_thread *thread, const struct trace_interval *wait)
{
	uint64_t end_ns = trace_thread_end_ns(thread);

	return trace_thread_start_ns(thread) <= wait->to_ns && (!end_ns || end_ns >= wait->from_ns);
}

static bool process_lived(const struct trace_process *process, const struct trace_interval *wait)
{
	const struct trace_thread *thread = NULL;

	while ((thread = trace_next_thread(process, thread)))
		if (thread_lived(thread, wait))
			return true;
	return false;
}

static void on_wait(void *data, struct trace_analysis *analysis, const struct trace_interval *wait)
{
	struct lifetimes *l = data;
	const struct trace_process *other = wait->other;
	/* the thread for which a worker acts may have ended */
	const struct trace_thread *waker = wait->worker ? wait->worker : wait->waker;

	(void)analysis;
	if (other && trace_process_pid(other) && !process_lived(other, wait) &&
	    rules_are_sure(l->rules, wait->from_ns, wait->to_ns))
		rules_broken(l->rules, wait->to_ns, wait->thread,
			     "waited for process %u (%s), which did not live during the wait", trace_process_pid(other),
			     trace_process_comm(other));
	if (waker && !thread_lived(waker, wait) && rules_are_sure(l->rules, wait->from_ns, wait->to_ns))
		rules_broken(l->rules, wait->to_ns, wait->thread,
			     "was woken by thread %u (%s), which did not live then", trace_thread_tid(waker),
			     trace_thread_comm(waker));
}

void *rule_lifetimes_begin(struct rules *rules)
{
	struct lifetimes *l = calloc(1, sizeof(*l));

	if (!l)
		return NULL;
	l->rules = rules;
	if (trace_analysis_on_interval_of(rules_analysis(rules), 1u << TRACE_STATE_BLOCKED, on_wait, l) < 0) {
		free(l);
		return NULL;
	}
	return l;
}

void rule_lifetimes_end(void *data)
{
	free(data);
}
