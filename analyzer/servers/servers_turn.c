/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * servers_turn.c - a thread that has several open requests answers one: which time was for it
 *
 * Example: a thread has read requests of A, B and C. It works from 100 to 300 us, answers A, works
 * until 700 us, and answers B and C at once. A is billed for 200 us; B and C share 400 us.
 *
 * The next answer decides whether the last one was the end of its turn. So the time before an
 * answer waits in thread.turn until the thread does anything else.
 */
#include "servers_state.h"

/*
 * More CPU time than this between two answers is work: a loop that sends answers takes less. A call
 * in between, such as a read of a clock, took 4 us on a virtual machine with cold caches.
 */
#define BETWEEN_ANSWERS_NS 20000u
#define SWITCHES_NS	   30000u /* and more if it lost its CPU meanwhile: that costs time, too */

/* True if the thread has other requests than @request that this time may be for. */
static bool has_others(const struct servers_thread *thread, const struct server_request *request)
{
	return thread->turn || open_held(thread) > 1 || (thread->set && thread->set->nr > 1) ||
	       !set_has(thread->set, request);
}

static bool comes_together(const struct servers_thread *thread)
{
	uint64_t limit = thread->turn_cost < BETWEEN_ANSWERS_NS ? thread->turn_cost : BETWEEN_ANSWERS_NS;

	if (thread->turn_left_cpu)
		limit += SWITCHES_NS;
	return thread->call.enter.cpu <= thread->turn_end.cpu + limit;
}

/* Until its next rest the thread works on its last answer, unless it has read something else. */
static void keep_answered(struct trace_servers *s, struct servers_thread *thread, struct server_request *request)
{
	struct set *only = NULL;

	if (set_any_unanswered(thread->set))
		return;
	set_put(&s->sets, &only, request);
	set_unref(thread->set);
	thread->set = only;
}

void turn_answers(struct trace_servers *s, struct servers_thread *thread, struct server_request *request)
{
	struct set *before;

	if (!has_others(thread, request))
		return;
	if (thread->turn && !comes_together(thread))
		bill_turn(s, thread);
	set_put(&s->sets, &thread->turn, request);
	thread->turn_end = thread->call.enter;
	before = set_ref(thread->set);
	set_assign(&thread->set, thread->turn);
	log_correct_set(thread);
	set_assign(&thread->set, before);
	set_unref(before);
	keep_answered(s, thread, request);
}

void turn_call_ends(struct trace_servers *s, struct servers_thread *thread)
{
	struct cpu_time now = servers_cpu_time(s, thread);

	thread->turn_end = now;
	thread->turn_left_cpu = false;
	thread->turn_cost = now.cpu - thread->call.enter.cpu;
}
