/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * servers_ring_user.c - servers that receive and send through io_uring
 *
 * A system call that receives says two things at once: this data came, and this thread works on it
 * from now on. A ring separates the two. One thread, the user of the operation, submits it. The
 * kernel executes it when it can: in the call that submits it, in a later call of the user, in a
 * worker thread, or in the thread that polls the ring. No event shows when the user looks at the
 * result. So the analysis follows these steps:
 *
 *   submitted     the operation keeps the user's set
 *   data came     its requests go into the user's queue (thread.ring.arrived)
 *   completed     an operation that brings no request (a file was read, something was sent)
 *                 puts the set that it kept into the queue
 *   the user returns from io_uring_enter, and wanted to wait or has nothing else to do
 *                 its set becomes its queue
 *   it sleeps in the call
 *                 it has looked at everything that was in the queue
 *   the user enters the call, or submits
 *                 the ring shows how many results it has taken: its time since the last look
 *                 was for these
 *   the user answers
 *                 its time since its last answer or rest was for what it answers now; all
 *                 requests that it answers in one call share the time
 *
 * If a kernel thread polls the ring, the user makes no calls. Then the user is assumed to take what
 * comes when it has nothing else to do, and to leave what it has answered. A worker's CPU time is
 * for the operation that it completes. The CPU time of the polling thread is for an operation from
 * its submission on, if it completes at once.
 *
 * Example: a thread waits for data of A and B, which both arrive. It entered io_uring_enter at 100
 * us of its CPU time, and when it returns its set becomes A and B. At 400 us it submits the answer
 * to A: 300 us were for A. At 600 us, in the next call, it submits the answer to B: 200 us were for
 * B. If it submits both answers in one call at 600 us, A and B share the 500 us.
 */
#include <string.h>
#include "servers_ring_user.h"
#include "servers_state.h"

#define ENTER_GETEVENTS 1 /* IORING_ENTER_GETEVENTS */

/* ---- users and workers ---- */

/*
 * True for a thread that the kernel made for a ring. It works for the thread that made it, or for
 * the process.
 */
static bool is_worker(struct servers_thread *thread)
{
	if (!thread->ring.is_worker && trace_thread_is_io_worker(thread->thread)) {
		thread->ring.is_worker = true;
		/* it does not work on what its user worked on when it was made */
		set_assign(&thread->set, NULL);
	}
	return thread->ring.is_worker;
}

struct servers_thread *ring_user_of(struct trace_servers *s, struct servers_thread *thread)
{
	const struct trace_thread *leader;

	if (!is_worker(thread)) {
		servers_touch(s, thread); /* it may be another thread than that of the event */
		return thread;
	}
	if (thread->parent && thread->parent->process == thread->process)
		return ring_user_of(s, thread->parent);
	leader = trace_find_thread(s->analysis, trace_process_pid(thread->process->process));
	return leader ? servers_thread_of(s, leader) : NULL;
}

/* ---- the user's set ---- */

static void bill_for_set(struct trace_servers *s, struct servers_thread *user, struct set *set,
			 const struct cpu_time *until)
{
	struct set *before = set_ref(user->set);

	set_assign(&user->set, set);
	if (set != before)
		log_correct_set(user);
	bill_until(s, user, until);
	set_assign(&user->set, before);
	set_unref(before);
}

static void answered_clear(struct trace_servers *s, struct servers_thread *user)
{
	set_assign(&user->ring.answered, NULL);
	waits_decided(s, user);
}

/*
 * Bill @user until its submission at @until.
 *
 * The time was for the requests that it has answered by then, or for its whole set if it answered
 * none. If an answered request came while the thread worked on something else, then the thread has
 * looked at its queue meanwhile: the time until then was for the old set.
 */
static void bill_until_submission(struct trace_servers *s, struct servers_thread *user, const struct cpu_time *until)
{
	struct set *answered = set_ref(user->ring.answered), *before = set_ref(user->ring.answered),
		   *meanwhile = set_ref(user->ring.answered);

	set_keep(&s->sets, &before, user->set);
	set_keep(&s->sets, &meanwhile, user->ring.arrived);
	if (meanwhile && user->ring.arrived_at.cpu > user->charged.cpu && user->ring.arrived_at.cpu < until->cpu)
		bill_for_set(s, user, before ? before : user->set, &user->ring.arrived_at);
	bill_for_set(s, user, answered ? answered : user->set, until);
	for (uint32_t i = 0; answered && i < answered->nr; i++)
		if (answered->items[i]->replied)
			open_prove(s, user, answered->items[i]);
	user->trails |= answered != NULL;
	set_unref(before);
	set_unref(meanwhile);
	set_drop(&s->sets, &user->ring.arrived, answered);
	if (set_any_unanswered(user->set))
		set_drop_replied(&s->sets, &user->set);
	else if (answered) /* until its next rest, because the answer may have several pieces */
		set_assign(&user->set, answered);
	set_unref(answered);
	answered_clear(s, user);
}

static bool any_unanswered_data(const struct set *set)
{
	for (uint32_t i = 0; set && i < set->nr; i++)
		if (set->items[i]->counted && !set->items[i]->replied)
			return true;
	return false;
}

/* Let @user work on its queue, from the CPU time @until on. */
static void take_queue(struct trace_servers *s, struct servers_thread *user, const struct cpu_time *until)
{
	struct set *taken = user->ring.arrived;

	user->ring.arrived = NULL;
	set_drop_replied(&s->sets, &taken);
	if (any_unanswered_data(taken)) /* a connection that was only accepted is left for later */
		set_drop_accepted(&s->sets, &taken);
	bill_replace_set(s, user, taken, until);
	user->fresh |= set_any_counted(taken); /* an accepted connection has brought no request */
	user->tentative = taken && taken->nr > 1;
	set_unref(taken);
}

static bool is_accepted_at(const struct server_request *request, const void *endpoint)
{
	return !request->counted && request->endpoint == endpoint;
}

void ring_set_position(struct servers_thread *user, const struct set *set, int64_t position)
{
	for (uint32_t i = 0; set && i < set->nr; i++) {
		set->items[i]->ring_user = user;
		set->items[i]->ring_position = position == POSITION_FOLLOWS ? 0 : (uint32_t)position;
		set->items[i]->position_follows = position == POSITION_FOLLOWS;
	}
}

void ring_arrives(struct trace_servers *s, struct servers_thread *user, struct set *set, int64_t position)
{
	struct cpu_time now;

	if (!set_any_unanswered(set))
		return;
	for (uint32_t i = 0; i < set->nr; i++)
		/* data came on an accepted connection: its request replaces the connection's */
		if (set->items[i]->counted) {
			set_filter(&s->sets, &user->set, is_accepted_at, set->items[i]->endpoint);
			set_filter(&s->sets, &user->ring.arrived, is_accepted_at, set->items[i]->endpoint);
		}
	ring_set_position(user, set, position);
	now = servers_cpu_time(s, user);
	if (!user->ring.arrived)
		user->ring.arrived_at = now;
	set_put_all(&s->sets, &user->ring.arrived, set);
	if (user->call.role != CALL_RING && !set_any_unanswered(user->set))
		take_queue(s, user, &now);
}

struct ring_results {
	const struct servers_thread *user;
	uint32_t seen;
};

static bool is_taken(const struct server_request *request, const void *data)
{
	const struct ring_results *results = data;

	if (request->ring_user == results->user && request->position_follows)
		return false;
	return request->ring_user != results->user || !request->ring_position ||
	       (int32_t)(results->seen - request->ring_position) >= 0;
}

static bool is_not_taken(const struct server_request *request, const void *data)
{
	return !is_taken(request, data);
}

void ring_taken(struct trace_servers *s, struct servers_thread *user, uint32_t seen)
{
	struct ring_results results = {user, seen};
	struct set *not_taken = set_ref(user->set), *now = set_ref(user->ring.arrived);

	user->ring.seen_is_recorded = true;
	set_filter(&s->sets, &not_taken, is_taken, &results);
	set_filter(&s->sets, &now, is_not_taken, &results);
	set_drop_replied(&s->sets, &now);
	if (any_unanswered_data(now) || any_unanswered_data(user->set))
		set_drop_accepted(&s->sets, &now);
	if (not_taken) {
		set_filter(&s->sets, &user->set, is_not_taken, &results);
		set_put_all(&s->sets, &user->ring.arrived, not_taken);
	}
	if (now) {
		if (set_any_unanswered(user->set) && user->ring.arrived_at.cpu > user->charged.cpu)
			bill_until(s, user, &user->ring.arrived_at);
		set_drop(&s->sets, &user->set, user->passed);
		set_drop_replied(&s->sets, &user->set);
		set_assign(&user->passed, NULL);
		set_put_all(&s->sets, &user->set, now);
		user->fresh |= set_any_counted(now);
		set_drop(&s->sets, &user->ring.arrived, now);
	}
	if (not_taken || now)
		log_correct_set(user);
	set_unref(not_taken);
	set_unref(now);
}

void ring_bill_worker(struct trace_servers *s, struct servers_thread *worker, const struct ring_op *op, struct set *set)
{
	if (!is_worker(worker))
		return;
	if (strncmp(trace_thread_comm(worker->thread), "iou-sqp-", 8) == 0 && worker->ring.submitting != op)
		set = NULL; /* the polling thread has also looked for work */
	set_assign(&worker->set, set);
	bill_now(s, worker);
	set_assign(&worker->set, NULL);
}

/* ---- io_uring_enter ---- */

void ring_enter(struct servers_thread *thread, const uint64_t *args, unsigned int nr)
{
	thread->ring.used = true;
	thread->ring.waits = nr < 6 || ((args[3] & ENTER_GETEVENTS) && args[2]);
	thread->ring.submitted = thread->call.enter;
	thread->ring.billed = thread->ring.seen_is_recorded = false;
}

void ring_on_uring_enter(struct trace_servers *s, const struct trace_event *event)
{
	const struct trace_uring_enter *enter = event->payload;
	struct servers_thread *thread = servers_current_thread(s, event);

	if (!thread || thread->call.role != CALL_RING)
		return;
	thread->ring.several |= thread->ring.address && thread->ring.address != enter->ring;
	thread->ring.address = enter->ring;
	if (!thread->ring.several)
		ring_taken(s, thread, enter->seen);
}

void ring_sleeps(struct trace_servers *s, struct servers_thread *thread)
{
	if (!thread->ring.waits || thread->ring.billed)
		return;
	thread->ring.billed = true;
	bill_until_submission(s, thread, &thread->ring.submitted);
	if (thread->ring.arrived_at.cpu <= thread->call.enter.cpu)
		set_assign(&thread->ring.arrived, NULL); /* it has looked, and waits for more */
	/* it looks for work, so it has finished */
	bill_replace_set(s, thread, NULL, &thread->ring.submitted);
	thread->fresh = false;
	open_rest(s, thread);
}

void ring_exit(struct trace_servers *s, struct servers_thread *thread)
{
	/* from operations with a submission that was not recorded */
	set_put_all(&s->sets, &thread->ring.arrived, thread->call.incoming);
	set_assign(&thread->call.incoming, NULL);
	if (!thread->ring.billed) {
		bill_until_submission(s, thread, &thread->ring.submitted);
		if (thread->ring.waits && !thread->ring.seen_is_recorded)
			/* it may not have looked at all of them */
			set_put_all(&s->sets, &thread->ring.arrived, thread->set);
	}
	if (thread->ring.waits || (thread->ring.arrived && !set_any_unanswered(thread->set)))
		take_queue(s, thread, &thread->ring.submitted);
	else
		log_set(s, thread);
}

void ring_bill_user(struct trace_servers *s, struct servers_thread *user)
{
	struct cpu_time now;

	if (user->call.role == CALL_RING && user->ring.billed)
		answered_clear(s, user); /* it sleeps: its time is billed already */
	if (user->call.role == CALL_RING || !user->ring.answered)
		return;
	now = servers_cpu_time(s, user);
	/* it may have begun the next request before this was seen */
	set_put_all(&s->sets, &user->ring.answered, user->set);
	bill_until_submission(s, user, &now);
	log_set(s, user);
}

void ring_reset(struct servers_thread *thread)
{
	set_assign(&thread->ring.arrived, NULL);
	set_assign(&thread->ring.answered, NULL);
	set_assign(&thread->ring.got, NULL);
	thread->ring.made = NULL;
}
