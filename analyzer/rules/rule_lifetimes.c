/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "rule_lifetimes.h"

#include <stdlib.h>

#include "rules.h"

/* The latest wait for a process, or the pieces of a wait that something interrupted. */
struct lifetimes_wait {
	const struct trace_thread *thread; /* NULL: none yet */
	const struct trace_process *other;
	uint64_t event;	  /* number of the event that decided it */
	uint64_t from_ns; /* of the first piece in which @other did not live */
	uint64_t to_ns;
	bool lived, did_not_live; /* @other, in one of the pieces */
};

struct lifetimes {
	struct rules *rules;
	struct lifetimes_wait last;
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

static void judge_last(struct lifetimes *l)
{
	const struct lifetimes_wait *last = &l->last;

	if (last->did_not_live && !last->lived && rules_are_sure(l->rules, last->from_ns, last->to_ns))
		rules_broken(l->rules, last->to_ns, last->thread,
			     "waited for process %u (%s), which did not live during the wait",
			     trace_process_pid(last->other), trace_process_comm(last->other));
	l->last = (struct lifetimes_wait){0};
}

/*
 * The pieces of an interrupted wait are decided together, and are for the process that ended the
 * last one: it may have begun after the first ones.
 */
static void note_other(struct lifetimes *l, const struct trace_analysis *analysis, const struct trace_interval *wait)
{
	struct lifetimes_wait *last = &l->last;
	uint64_t event = state_nr_events(analysis);

	if (last->thread != wait->thread || last->other != wait->other || last->event != event)
		judge_last(l);
	last->thread = wait->thread;
	last->other = wait->other;
	last->event = event;
	if (process_lived(wait->other, wait)) {
		last->lived = true;
	} else if (!last->did_not_live) {
		last->did_not_live = true;
		last->from_ns = wait->from_ns;
		last->to_ns = wait->to_ns;
	}
}

static void on_wait(void *data, struct trace_analysis *analysis, const struct trace_interval *wait)
{
	struct lifetimes *l = data;
	/* the thread for which a worker acts may have ended */
	const struct trace_thread *waker = wait->worker ? wait->worker : wait->waker;

	if (wait->other && trace_process_pid(wait->other))
		note_other(l, analysis, wait);
	if (waker && !thread_lived(waker, wait) && rules_are_sure(l->rules, wait->from_ns, wait->to_ns))
		rules_broken(l->rules, wait->to_ns, wait->thread,
			     "was woken by thread %u (%s), which did not live then", trace_thread_tid(waker),
			     trace_thread_comm(waker));
}

void rule_lifetimes_check(void *data)
{
	judge_last(data);
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
