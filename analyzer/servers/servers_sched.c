/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* servers_sched.c - the events of the scheduler: threads sleep, are woken and made */
#include <errno.h>
#include "servers_ring_user.h"
#include "servers_sched.h"
#include "servers_state.h"

static bool has_request_from(const struct set *set, const struct endpoint *endpoint)
{
	for (uint32_t i = 0; set && i < set->nr; i++)
		if (set->items[i]->endpoint == endpoint)
			return true;
	return false;
}

static void leave_cpu(struct trace_servers *s, const struct trace_event *event, struct servers_thread *thread)
{
	const struct trace_sched_switch *sw = event->payload;

	if (thread->process->serves)
		open_count(s, thread);
	if (sw->prev_state & (TRACE_TASK_DEAD | TRACE_TASK_EXIT_DEAD | TRACE_TASK_EXIT_ZOMBIE))
		open_rest(s, thread); /* it has ended */
	thread->turn_left_cpu = true;
	log_put(s, thread, event->ts_ns, trace_thread_cpu_ns(s->analysis, thread->thread),
		sw->prev_state ? LOG_BLOCKED : LOG_QUEUED);
	if (sw->prev_state && thread->call.role == CALL_RING)
		ring_sleeps(s, thread);
	else if (!sw->prev_state || (thread->call.role != CALL_RECEIVE && thread->call.role != CALL_POLL &&
				     (thread->call.role != CALL_FUTEX || thread->call.lock)))
		return;
	thread->call.slept = true;
	thread->sleep.from_ns = event->ts_ns;
	if (thread->call.role != CALL_FUTEX)
		thread->sleep.last_ns = event->ts_ns;
	thread->sleep.to_ns = 0;
	if (thread->call.role == CALL_RECEIVE && thread->set && thread->call.endpoint &&
	    thread->call.endpoint->role == ROLE_SERVER && !has_request_from(thread->set, thread->call.endpoint))
		thread->call.idle_read = true;
}

void sched_on_switch(struct trace_servers *s, const struct trace_event *event)
{
	const struct trace_sched_switch *sw = event->payload;
	const struct trace_thread *previous = trace_thread_on_cpu(s->analysis, event->cpu),
				  *next = trace_find_thread(s->analysis, sw->next_tid);
	struct servers_thread *thread = previous && trace_thread_tid(previous) == sw->prev_tid
						? servers_touch_thread(s, previous)
						: NULL;

	if (thread)
		leave_cpu(s, event, thread);
	if (!sw->next_tid)
		packets_idle(s, event->cpu);
	thread = next ? servers_touch_thread(s, next) : NULL;
	if (thread && thread->log)
		log_runs(s, thread, event->ts_ns, event->cpu);
}

/* True if another thread of the process ends this wait because it has a job for @thread. */
static bool receives_job(const struct servers_thread *thread)
{
	switch (thread->call.role) {
	case CALL_FUTEX:
		return !thread->call.lock && (!thread->call.futex || !set_any_unanswered(thread->set) ||
					      futexes_have(&thread->waited_idle, thread->call.futex));
	case CALL_POLL:
		return !thread->set;
	case CALL_RECEIVE:
		return !thread->call.endpoint; /* an eventfd and the like; for a pipe the bytes show it */
	default:
		return false;
	}
}

/* True if another thread of the process may end this wait because it has something for @thread. */
static bool may_receive(const struct servers_thread *thread)
{
	return (thread->call.role == CALL_FUTEX && !thread->call.lock) || thread->call.role == CALL_POLL ||
	       thread->call.role == CALL_RECEIVE || thread->call.role == CALL_REST;
}

/*
 * True if both threads wait at this futex in turn. Then it is a lock that is made of a condition or
 * a semaphore, such as that of an interpreter, and no job is handed on. A thread that hands out
 * jobs does not wait at the futex where jobs are waited for. The futex counts as a lock from now
 * on.
 */
static bool is_lock_in_turns(struct servers_thread *thread, const struct servers_thread *waker)
{
	if (!thread->call.futex || !futexes_have(&waker->waited, thread->call.futex))
		return false;
	process_learn_lock(thread->process, thread->call.futex);
	thread->call.lock = true;
	return true;
}

void sched_on_waking(struct trace_servers *s, const struct trace_event *event)
{
	const struct trace_sched_waking *waking = event->payload;
	const struct trace_thread *woken = trace_find_thread(s->analysis, waking->tid);
	struct servers_thread *thread = woken ? servers_touch_thread(s, woken) : NULL, *waker;

	if (!woken || trace_thread_is_kernel(woken))
		return;
	if (!thread) {
		/* it was asleep until now: it waits since before the trace */
		thread = servers_thread_of(s, woken);
		if (thread && trace_thread_start_ns(woken) <= s->start_ns)
			thread->sleep.last_ns = s->start_ns;
	}
	if (!thread)
		return;
	if (thread->log)
		log_woken(s, thread, event->ts_ns);
	if (thread->call.slept && !thread->sleep.to_ns)
		thread->sleep.to_ns = event->ts_ns;
	if (waking->context != TRACE_CONTEXT_TASK || trace_cpu_interrupt(s->analysis, event->cpu))
		return;
	waker = servers_current_thread(s, event);
	if (!waker)
		return;
	thread->call.waker = waker;
	if (!thread->call.role)
		call_recover(s, thread);
	call_wakes_reader(s, waker, thread);
	if (waker->process != thread->process) {
		signal_wakes(s, waker, thread);
		return;
	}
	if (is_lock_in_turns(thread, waker))
		return;
	if (may_receive(thread) && (open_held(waker) || set_any_counted(waker->set)))
		process_may_cross(thread->process, thread->call.role == CALL_FUTEX ? thread->call.futex : 0);
	if (!waker->set || !receives_job(thread))
		return;
	set_assign(&thread->call.inherited, waker->set);
	set_put_all(&s->sets, &waker->passed, waker->set);
}

void sched_on_fork(struct trace_servers *s, const struct trace_event *event)
{
	const struct trace_sched_fork *fork = event->payload;
	const struct trace_thread *parent = trace_find_thread(s->analysis, fork->parent_tid);
	struct servers_thread *known = parent ? servers_find_thread(&s->threads, parent) : NULL;
	struct thread_birth *birth;
	bool inherits;

	inherits = known && (known->set || known->held.nr || known->ring.used || known->call.role == CALL_MAKE ||
			     known->log || s->without_waits);
	birth = inherits ? table_add(&s->threads.births, sizeof(*birth), fork->tid + 1ull)
			 : table_find(&s->threads.births, sizeof(*birth), fork->tid + 1ull);
	if (!birth) {
		s->failed = inherits ? -ENOMEM : s->failed;
		return;
	}
	/* a ring's worker is made for more than one request */
	set_assign(&birth->set, known && known->call.role != CALL_RING ? known->set : NULL);
	birth->parent = known;
	birth->fresh = known && known->fresh && set_any_counted(birth->set);
	birth->has_accepted = set_any_accepted(birth->set);
	birth->unsure = known && (known->held.unsure ||
				  (known->held.nr && !(known->held.nr == 1 && birth->set && birth->set->nr == 1)));
	birth->piped = birth->unsure && open_holds_pipes_only(known);
}

void sched_on_exec(struct trace_servers *s, const struct trace_event *event)
{
	struct servers_thread *thread = servers_current_thread(s, event);

	if (thread && (thread->process->serves || thread->unsure_until_exec))
		open_executed(s, thread);
}

/* The first event of a new thread: its accounting begins, and it waits for a CPU. */
void sched_on_wakeup_new(struct trace_servers *s, const struct trace_event *event)
{
	const struct trace_sched_wakeup_new *wakeup = event->payload;
	struct servers_thread *thread = servers_thread_of(s, trace_find_thread(s->analysis, wakeup->tid));

	if (!thread)
		return;
	thread->born_ns = event->ts_ns;
	open_handed(s, thread, thread->set); /* another thread of its process may have read it */
	log_put(s, thread, event->ts_ns, trace_thread_cpu_ns(s->analysis, thread->thread), LOG_QUEUED);
}
