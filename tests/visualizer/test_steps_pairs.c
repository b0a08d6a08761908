/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_steps_pairs.c - the cost of an event does not grow with the number of things or of earlier
 * events.
 *
 * Each story makes N things, and then N events happen, for every fifth pair of a thing and a
 * happening, and with TRACE_TEST_LONG for each. A walk over all things for each event takes four
 * times the steps in a story twice as long. THING=name and HAPPENING=name in the environment choose
 * a pair, NR=number the length.
 */
#include <stdio.h>
#include <stdlib.h>

#include "steps_repeated.h"

enum { FEW = 250 };

/* ---- */

static const struct repeated_step *thing, *happening;

static void tell_of_both(struct story *story, uint32_t nr)
{
	repeated_tell(story, thing, happening, nr);
}

/*
 * True for pairs with a cost that grows by design. A thread that sleeps through gaps has an
 * interval for each gap, up to a million intervals in all. Each call of a thread bills the time
 * since the last call to all requests that the thread works on, up to 4096; the tests below exceed
 * these bounds. An exec walks over the descriptors, as the kernel does.
 */
static bool is_paid(const struct repeated_step *one, const struct repeated_step *other)
{
	return one->cost == REQUESTS || (one->cost == THREADS && other->cost == GAPS) ||
	       (one->cost == DESCRIPTORS && other->cost == EXECS);
}

static bool is_chosen(const char *variable, const struct repeated_step *what)
{
	return !getenv(variable) || strcmp(getenv(variable), what->name) == 0;
}

static void no_event_costs_more_with_many_of_anything(void)
{
	uint32_t nr = getenv("NR") ? (uint32_t)atoi(getenv("NR")) : FEW;
	size_t nr_pairs_for_one = (size_t)unit_step(7); /* each thing and each happening is in some */
	size_t first = (size_t)unit_first((int)nr_pairs_for_one);

	for (size_t i = 0; repeated_things[i].name; i++)
		for (size_t j = 0; repeated_happenings[j].name; j++) {
			if ((i + j) % nr_pairs_for_one != first && !getenv("THING") && !getenv("HAPPENING"))
				continue;
			thing = &repeated_things[i];
			happening = &repeated_happenings[j];
			if (!is_chosen("THING", thing) || !is_chosen("HAPPENING", happening) ||
			    (is_paid(thing, happening) && !getenv("NR")))
				continue;
			if (!each_costs_the_same(tell_of_both, nr, "-a"))
				printf("... of %s, and %s\n", thing->name, happening->name);
		}
}

/* 2000 threads times 2000 gaps: more than the maximum of a million intervals. */
static void the_pieces_of_sleeps_through_gaps_are_bounded(void)
{
	thing = repeated_named(repeated_things, "processes");
	happening = repeated_named(repeated_happenings, "losses");
	each_costs_the_same(tell_of_both, 2000, "-a");
}

/* 5000 requests: more than the maximum of a set. */
static void the_requests_that_a_thread_works_on_are_bounded(void)
{
	thing = repeated_named(repeated_things, "remote requests");
	happening = repeated_named(repeated_happenings, "turns");
	each_costs_the_same(tell_of_both, 5000, "-a");
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		CASE(no_event_costs_more_with_many_of_anything),
		CASE(the_pieces_of_sleeps_through_gaps_are_bounded),
		CASE(the_requests_that_a_thread_works_on_are_bounded),
		{NULL, NULL},
	};

	return unit_main("steps_pairs", cases, argc, argv);
}
