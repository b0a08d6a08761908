/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* history_again.c - waits that timed out and began again: see history_again.h */
#include <string.h>
#include "critical_path_history.h"
#include "history_again.h"
#include "state.h"

#define SAME_CONDITION (~7ull) /* glibc has two futexes in each condition, which are neighbours */

bool history_is_futex(const char *call)
{
	return strncmp(call, "futex", 5) == 0;
}

/* The waits of these calls may end because of their time, and then the program asks again. */
static bool may_ask_again(const char *call)
{
	static const char *const calls[] = {"poll",	  "ppoll",	 "select",	 "pselect6",
					    "epoll_wait", "epoll_pwait", "epoll_pwait2", "io_getevents"};

	if (history_is_futex(call))
		return true;
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		if (strcmp(call, calls[i]) == 0)
			return true;
	return false;
}

static struct asked asked_of(const struct trace_interval *interval)
{
	struct asked asked = {.from_ns = interval->from_ns,
			      .last_from_ns = interval->from_ns,
			      .last_to_ns = interval->to_ns};

	if (!interval->name || !may_ask_again(interval->name))
		return asked;
	asked.call = interval->name;
	asked.object = trace_thread_syscall_arg(interval->thread, 0);
	if (history_is_futex(asked.call))
		asked.object &= SAME_CONDITION;
	else
		asked.more = trace_thread_syscall_arg(interval->thread, 1);
	return asked;
}

static bool is_same(const struct asked *a, const struct asked *b)
{
	return a->call && b->call && strcmp(a->call, b->call) == 0 && a->object == b->object && a->more == b->more;
}

/* The waits of the series, which timed out, are followed to @waker. */
static void follow(struct trace_history *history, uint32_t timeline, uint64_t from_ns, uint64_t to_ns, uint32_t waker)
{
	struct series *series = &history->timelines[timeline].series;
	uint32_t idx = series_before(series, to_ns);
	bool changed = false;

	for (; idx < series->nr && series->from[idx] >= from_ns; idx--) {
		uint32_t value = series->value[idx];
		struct history_activity activity;

		if (value == HOLE || value & PIECE)
			continue;
		activity = history->activities[value];
		if (activity.state != TRACE_STATE_BLOCKED || activity.kind != TRACE_WAIT_TIMEOUT)
			continue;
		activity.waker = waker;
		activity.again = true;
		series->value[idx] = history_activity_get(history, &activity);
		changed = true;
	}
	series->changes += changed;
}

/*
 * When the thread found out that its time was over: a timer woke it at @woken_ns, and then it
 * waited for a CPU.
 */
static uint64_t ran_again_ns(const struct trace_history *history, uint32_t timeline, uint64_t woken_ns)
{
	const struct series *series = &history->timelines[timeline].series;
	uint32_t idx = series_before(series, woken_ns + 1);
	uint64_t ns = woken_ns;

	for (; idx < series->nr && series->from[idx] == ns; idx++) {
		uint32_t value = series->value[idx];

		if (value == HOLE || value & PIECE || history->activities[value].state != TRACE_STATE_WAIT_CPU)
			break;
		ns = series_to(series, idx);
	}
	return ns;
}

/* When the thread signalled the condition while the waiter found out that its time was over; 0: it
 * did not. */
static uint64_t signalled_ns(const struct trace_thread *by, const struct asked *asked, uint64_t ran_ns)
{
	uint64_t best = 0;

	for (int i = 0; by->signals && i < NR_SIGNALS; i++) {
		const struct futex_signal *at = &by->signals->last[i];

		if ((at->futex & SAME_CONDITION) == asked->object && at->ns > asked->last_from_ns &&
		    at->ns < ran_ns + AGAIN_NS && at->ns > best)
			best = at->ns;
	}
	return best;
}

static uint32_t signaller(const struct trace_history *history, const struct trace_thread *thread, uint32_t timeline,
			  const struct asked *asked)
{
	uint64_t ran_ns = ran_again_ns(history, timeline, asked->last_to_ns), best_ns = 0, ns;
	const struct trace_thread *best = NULL;

	if (!history_is_futex(asked->call))
		return NO_THREAD;
	for (const struct trace_thread *at = NULL; (at = trace_next_thread(thread->process, at));)
		if (at != thread && (ns = signalled_ns(at, asked, ran_ns)) > best_ns) {
			best = at;
			best_ns = ns;
		}
	return best ? history_timeline(history, best) : NO_THREAD;
}

/* A short wait for a mutex, before the thread asks again. */
static bool is_between(const struct asked *before, const struct asked *asked, const struct trace_interval *interval)
{
	return before->call && history_is_futex(before->call) && asked->call && history_is_futex(asked->call) &&
	       interval->kind != TRACE_WAIT_TIMEOUT &&
	       before->other_ns + interval->to_ns - interval->from_ns < AGAIN_NS;
}

void history_note_again(struct trace_history *history, uint32_t timeline, const struct trace_interval *interval,
			uint32_t value)
{
	struct asked *before = &history->timelines[timeline].asked, asked = asked_of(interval);
	const struct history_activity *activity = &history->activities[value];
	bool again = before->other_ns < AGAIN_NS && is_same(before, &asked),
	     timed_out = activity->kind == TRACE_WAIT_TIMEOUT;
	uint32_t waker = activity->waker, by;

	if (!again && is_between(before, &asked, interval)) {
		before->other_ns += interval->to_ns - interval->from_ns;
		return;
	}
	/* a signal in time is an answer: a wait behind it asks for something else */
	by = before->call ? signaller(history, interval->thread, timeline, before) : NO_THREAD;
	again &= by == NO_THREAD;
	if (!again)
		waker = by;
	else if (timed_out || activity->idle || !history_is_followed(activity))
		waker = NO_THREAD;
	if (waker != NO_THREAD)
		follow(history, timeline, before->from_ns, interval->from_ns, waker);
	if (again)
		asked.from_ns = before->from_ns;
	if (!timed_out)
		asked.call = NULL;
	*before = asked;
}
