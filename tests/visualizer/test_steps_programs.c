/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_steps_programs.c - the cost of programs' own events, in steps instead of time: many
 * requests, scopes, names, threads and losses at the same time.
 */
#include <stdio.h>

#include "steps.h"

/* The event types of a request. */
struct order_types {
	uint16_t begin, end, handoff;
};

static struct order_types order(struct story *story)
{
	return (struct order_types){steps_user_type(story, "shop:order.begin", TRACE_ROLE_REQUEST_BEGIN),
				    steps_user_type(story, "shop:order.end", TRACE_ROLE_REQUEST_END),
				    steps_user_type(story, "shop:order.handoff", TRACE_ROLE_REQUEST_HANDOFF)};
}

/* Thread @tid records event @id in the program stream @of. */
static void tell(struct story *story, uint32_t of, uint16_t id, uint32_t tid, uint64_t value)
{
	struct {
		uint32_t tid, pad;
		uint64_t value;
	} payload = {.tid = tid, .value = value};

	add(story, &story->streams[of], ++story->ns, id, &payload, sizeof(payload), NULL);
}

/* Starts programs ONE and OTHER, each with its stream, on CPUs 0 and 1. */
static void programs(struct story *story)
{
	thread(story, ONE, ONE, -1);
	thread(story, OTHER, OTHER, -1);
	for (uint32_t i = 0; i < 2; i++)
		EVENT(story, i, user_stream, "/bin/shop", .stream = story->streams[PROGRAM + i].stream,
		      .pid = i ? OTHER : ONE, .cpu = i);
	run(story, 0, 0, ONE);
	run(story, 1, 0, OTHER);
}

/* Thread ONE polls until OTHER wakes it. */
static void wait_once(struct story *story)
{
	enter(story, 0, SYS_poll, 1);
	run(story, 0, ONE, 0);
	EVENT(story, 1, sched_waking, NULL, .tid = ONE);
	run(story, 0, 0, ONE);
	leave(story, 0, 1);
}

/* The same, but another thread wakes it each time. */
static void wait_for(struct story *story, uint32_t nr)
{
	run(story, 1, OTHER, MANY + nr);
	enter(story, 0, SYS_poll, 1);
	run(story, 0, ONE, 0);
	EVENT(story, 1, sched_waking, NULL, .tid = ONE);
	run(story, 0, 0, ONE);
	leave(story, 0, 1);
	run(story, 1, MANY + nr, OTHER);
}

/* ---- requests ---- */

static void tell_of_open_requests(struct story *story, uint32_t nr)
{
	struct order_types of = order(story);

	programs(story);
	for (uint32_t i = 0; i < nr; i++)
		tell(story, PROGRAM, of.begin, ONE, i);
	for (uint32_t i = 0; i < nr; i++)
		wait_once(story);
	for (uint32_t i = 0; i < nr; i += 2) /* the oldest first; the others stay open */
		tell(story, PROGRAM, of.end, ONE, i);
}

static void a_wait_costs_the_same_however_many_requests_are_open(void)
{
	each_costs_the_same_shown(tell_of_open_requests, 2000);
}

/* Each request begins between waits for different threads; all end at the end. */
static void tell_of_different_waits(struct story *story, uint32_t nr)
{
	struct order_types of = order(story);

	programs(story);
	for (uint32_t i = 0; i < nr; i++) {
		thread(story, MANY + i, MANY + i, -1);
		wait_for(story, i);
		tell(story, PROGRAM, of.begin, ONE, i);
	}
	for (uint32_t i = 0; i < nr; i++)
		tell(story, PROGRAM, of.end, ONE, i);
}

static void a_request_costs_the_same_however_many_different_waits_it_has(void)
{
	each_costs_the_same_shown(tell_of_different_waits, 2000);
}

/* The same, but the requests have no end: the loss of an event ends them. */
static void tell_of_lost_requests(struct story *story, uint32_t nr)
{
	struct order_types of = order(story);

	programs(story);
	for (uint32_t i = 0; i < nr; i++) {
		thread(story, MANY + i, MANY + i, -1);
		wait_for(story, i);
		tell(story, PROGRAM, of.begin, ONE, i);
	}
	lose(story, &story->streams[PROGRAM]);
	tell(story, PROGRAM, of.begin, ONE, nr);
}

static void a_request_that_is_lost_costs_the_same_however_many_waits_it_has(void)
{
	each_costs_the_same_shown(tell_of_lost_requests, 2000);
}

/* After waits, all requests move to another thread and back. */
static void tell_of_handed_requests(struct story *story, uint32_t nr)
{
	struct order_types of = order(story);

	programs(story);
	BEFORE(story, start_thread, "thread", .tid = ONE + 1, .tgid = ONE, .ppid = 1, .nr = -1,
	       .state = TRACE_TASK_INTERRUPTIBLE);
	for (uint32_t i = 0; i < nr; i++) {
		thread(story, MANY + i, MANY + i, -1);
		wait_for(story, i);
		tell(story, PROGRAM, of.begin, ONE, i);
	}
	for (uint32_t i = 0; i < 2 * nr; i++) {
		tell(story, PROGRAM, of.handoff, i < nr ? ONE : ONE + 1, i % nr);
		tell(story, PROGRAM, of.begin, i < nr ? ONE + 1 : ONE, i % nr);
	}
}

static void a_request_that_changes_its_thread_costs_the_same_however_many_there_are(void)
{
	each_costs_the_same_shown(tell_of_handed_requests, 2000);
}

/* Half of the requests begin while their thread waits, before the cause of that wait is known. */
static void tell_of_early_requests(struct story *story, uint32_t nr)
{
	struct order_types of = order(story);

	programs(story);
	for (uint32_t i = 0; i < nr; i++)
		tell(story, PROGRAM, of.begin, ONE, i);
	enter(story, 0, SYS_poll, 1);
	for (uint32_t i = 0; i < nr; i++) {
		run(story, 0, ONE, 0);
		EVENT(story, 1, sched_waking, NULL, .tid = ONE);
		run(story, 0, 0, ONE);
	}
	run(story, 0, ONE, 0);
	for (uint32_t i = 0; i < nr; i++)
		tell(story, PROGRAM, of.begin, ONE, nr + i);
	EVENT(story, 1, sched_waking, NULL, .tid = ONE);
	run(story, 0, 0, ONE);
	leave(story, 0, 1);
}

static void a_request_that_begins_in_a_wait_costs_the_same_however_many_there_are(void)
{
	each_costs_the_same_shown(tell_of_early_requests, 2000);
}

/* ---- losses ---- */

/* One program has N open requests, and the other one loses N events. */
static void tell_of_losses_elsewhere(struct story *story, uint32_t nr)
{
	struct order_types of = order(story);

	programs(story);
	for (uint32_t i = 0; i < nr; i++)
		tell(story, PROGRAM, of.begin, ONE, i);
	for (uint32_t i = 0; i < nr; i++) {
		tell(story, OTHER_PROGRAM, of.begin, OTHER, i);
		lose(story, &story->streams[OTHER_PROGRAM]);
	}
	tell(story, OTHER_PROGRAM, of.begin, OTHER, 0);
}

static void a_loss_of_a_program_costs_the_same_however_many_requests_another_has(void)
{
	each_costs_the_same_shown(tell_of_losses_elsewhere, 1000);
}

/* A program with 8 N threads, each with an event, loses N events. */
static void tell_of_losses_with_threads(struct story *story, uint32_t nr)
{
	uint16_t met = steps_user_type(story, "shop:met", TRACE_ROLE_EVENT);

	programs(story);
	for (uint32_t i = 0; i < 8 * nr; i++) {
		BEFORE(story, start_thread, "thread", .tid = MANY + i, .tgid = ONE, .ppid = 1, .nr = -1,
		       .state = TRACE_TASK_INTERRUPTIBLE);
		run(story, 0, ONE, MANY + i);
		tell(story, PROGRAM, met, MANY + i, i);
		run(story, 0, MANY + i, ONE);
	}
	for (uint32_t i = 0; i < nr; i++) {
		tell(story, PROGRAM, met, ONE, i);
		lose(story, &story->streams[PROGRAM]);
	}
	tell(story, PROGRAM, met, ONE, 0);
}

static void a_loss_costs_the_same_however_many_threads_there_were(void)
{
	each_costs_the_same_shown(tell_of_losses_with_threads, 250);
}

/* ---- names ---- */

/* Open requests, each with a name of its own. */
static void tell_of_names(struct story *story, uint32_t nr)
{
	char name[32];

	programs(story);
	for (uint32_t i = 0; i < nr; i++) {
		snprintf(name, sizeof(name), "shop:order%u.begin", i);
		tell(story, PROGRAM, steps_user_type(story, name, TRACE_ROLE_REQUEST_BEGIN), ONE, i);
	}
	for (uint32_t i = 0; i < nr; i++)
		wait_once(story);
	for (uint32_t i = 0; i < nr; i++) {
		snprintf(name, sizeof(name), "shop:order%u.end", i);
		tell(story, PROGRAM, steps_user_type(story, name, TRACE_ROLE_REQUEST_END), ONE, i);
	}
}

static void a_wait_costs_the_same_however_many_names_of_requests_are_open(void)
{
	each_costs_the_same_shown(tell_of_names, 250);
	each_costs_the_same(tell_of_names, 250, "--json");
}

/* Types of events, each with a name and a number that the view shows over time. */
static void tell_of_types(struct story *story, uint32_t nr)
{
	char name[32];

	programs(story);
	for (uint32_t i = 0; i < nr; i++) {
		snprintf(name, sizeof(name), "shop:met%u", i);
		tell(story, PROGRAM, steps_user_type(story, name, TRACE_ROLE_EVENT), ONE, i);
	}
}

static void a_type_costs_the_same_however_many_there_are(void)
{
	each_costs_the_same_shown(tell_of_types, 1000);
}

/* ---- scopes ---- */

/* N nested scopes; in each a request begins, a mark is recorded, and the thread waits. */
static void tell_of_scopes(struct story *story, uint32_t nr)
{
	uint16_t open = steps_user_type(story, "shop:work.begin", TRACE_ROLE_BEGIN),
		 close = steps_user_type(story, "shop:work.end", TRACE_ROLE_END);
	uint16_t met = steps_user_type(story, "shop:met", TRACE_ROLE_EVENT);
	struct order_types of = order(story);

	programs(story);
	for (uint32_t i = 0; i < nr; i++) {
		tell(story, PROGRAM, open, ONE, i);
		tell(story, PROGRAM, of.begin, ONE, i);
		tell(story, PROGRAM, met, ONE, i);
		wait_once(story);
	}
	for (uint32_t i = 0; i < nr; i++) {
		tell(story, PROGRAM, close, ONE, i);
		tell(story, PROGRAM, met, ONE, i);
		wait_once(story);
	}
}

static void a_wait_costs_the_same_however_many_scopes_are_open(void)
{
	each_costs_the_same_shown(tell_of_scopes, 1000);
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		CASE(a_wait_costs_the_same_however_many_requests_are_open),
		CASE(a_request_costs_the_same_however_many_different_waits_it_has),
		CASE(a_request_that_is_lost_costs_the_same_however_many_waits_it_has),
		CASE(a_request_that_changes_its_thread_costs_the_same_however_many_there_are),
		CASE(a_request_that_begins_in_a_wait_costs_the_same_however_many_there_are),
		CASE(a_loss_of_a_program_costs_the_same_however_many_requests_another_has),
		CASE(a_loss_costs_the_same_however_many_threads_there_were),
		CASE(a_wait_costs_the_same_however_many_names_of_requests_are_open),
		CASE(a_type_costs_the_same_however_many_there_are),
		CASE(a_wait_costs_the_same_however_many_scopes_are_open),
		{NULL, NULL},
	};

	return unit_main("steps_programs", cases, argc, argv);
}
