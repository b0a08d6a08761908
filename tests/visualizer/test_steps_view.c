/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_steps_view.c - the cost of each question of the view does not grow faster than what the
 * trace has many of.
 */
#include <stdio.h>
#include <stdlib.h>

#include "steps_repeated.h"

enum { SOME = 500 };

static const struct repeated_step *thing, *happening;

static void tell_of_both(struct story *story, uint32_t nr)
{
	repeated_tell(story, thing, happening, nr);
}

static bool is_chosen(const char *variable, const struct repeated_step *what)
{
	return !getenv(variable) || strcmp(getenv(variable), what->name) == 0;
}

static void check_pair(const char *one, const char *other)
{
	thing = repeated_named(repeated_things, one);
	happening = repeated_named(repeated_happenings, other);
	if (thing->cost == REQUESTS) /* each share of CPU time has up to 4,096 clients */
		return;
	if (is_chosen("THING", thing) && is_chosen("HAPPENING", happening) &&
	    !each_costs_the_same(tell_of_both, SOME, getenv("OPTION") ? getenv("OPTION") : VIEW))
		printf("... of %s, and %s\n", one, other);
}

/* The distance between two things or happenings of a sample; 1 for one that is chosen by name. */
static size_t pair_step(void)
{
	return getenv("THING") || getenv("HAPPENING") ? 1 : (size_t)unit_step(7);
}

static void no_question_costs_more_with_many_things(void)
{
	size_t step = pair_step(), first = (size_t)unit_first((int)step);

	for (size_t i = 0; repeated_things[i].name; i++)
		if (i % step == first)
			check_pair(repeated_things[i].name, "waits");
}

static void no_question_costs_more_with_many_happenings(void)
{
	size_t step = pair_step(), first = (size_t)unit_first((int)step);

	for (size_t i = 0; repeated_happenings[i].name; i++)
		if (i % step == first)
			check_pair("nothing", repeated_happenings[i].name);
}

static void a_sample_finds_its_mapping_among_many(void)
{
	thing = repeated_named(repeated_things, "mappings");
	happening = repeated_named(repeated_happenings, "samples");
	each_costs_the_same(tell_of_both, 2000, VIEW);
	each_costs_the_same(tell_of_both, 2000, "--profile");
}

/* The verdict names the client of a server that has no other. */
static void the_client_of_each_server_is_found_at_once(void)
{
	thing = repeated_named(repeated_things, "servers");
	happening = repeated_named(repeated_happenings, "waits");
	each_costs_the_same(tell_of_both, 3000, VIEW);
}

/* ---- many threads ---- */

static void tell_of(struct story *story, uint32_t nr, const char *one, const char *other)
{
	repeated_tell(story, repeated_named(repeated_things, one), repeated_named(repeated_happenings, other), nr);
}

static void tell_of_threads(struct story *story, uint32_t nr)
{
	tell_of(story, nr, "threads", "waits");
}

static void tell_of_short_threads(struct story *story, uint32_t nr)
{
	tell_of(story, nr, "nothing", "short threads");
}

static void tell_of_dead_children(struct story *story, uint32_t nr)
{
	tell_of(story, nr, "dead children", "waits");
}

static void tell_of_forks(struct story *story, uint32_t nr)
{
	tell_of(story, nr, "nothing", "forks");
}

/* The picture has 500 columns. */
static void a_thread_costs_a_process_no_step_for_each_column(void)
{
	const uint32_t nr = 2000;

	CU_ASSERT(view_cost_of(tell_of_threads, nr, "shares?rows=P&columns=500").steps < nr * UINT64_C(250));
	CU_ASSERT(view_cost_of(tell_of_short_threads, nr, "shares?rows=P&columns=500").steps < nr * UINT64_C(500));
}

static void tell_of_losses(struct story *story, uint32_t nr)
{
	tell_of(story, nr, "nothing", "losses");
}

/* The picture of lost events has 1000 columns. */
static void a_gap_costs_no_step_for_each_column_before_it(void)
{
	const uint32_t nr = 2000;

	CU_ASSERT(view_cost_of(tell_of_losses, nr, "counters?columns=1000&name=lost%20events").steps <
		  nr * UINT64_C(50));
}

/* Without a limit they take 18, 7 and 4 MB. */
static void the_report_of_many_threads_has_a_size_for_a_page(void)
{
	const uint32_t nr = 11000;

	CU_ASSERT(view_cost_of(tell_of_dead_children, nr, "books").bytes < 3000000);
	CU_ASSERT(view_cost_of(tell_of_threads, nr, "books").bytes < 1000000);
	CU_ASSERT(view_cost_of(tell_of_dead_children, nr, "tables").bytes < 1000);
}

/* ---- tables of many threads ---- */

/* A stretch of the tables has a sum for each thread's calls: its place is found at once. */
static void tables_find_the_calls_of_many_threads(void)
{
	each_costs_the_same(tell_of_dead_children, 10000, VIEW);
	each_costs_the_same(tell_of_forks, 10000, VIEW);
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		CASE(no_question_costs_more_with_many_things),
		CASE(no_question_costs_more_with_many_happenings),
		CASE(a_sample_finds_its_mapping_among_many),
		CASE(the_client_of_each_server_is_found_at_once),
		CASE(a_thread_costs_a_process_no_step_for_each_column),
		CASE(a_gap_costs_no_step_for_each_column_before_it),
		CASE(the_report_of_many_threads_has_a_size_for_a_page),
		CASE(tables_find_the_calls_of_many_threads),
		{NULL, NULL},
	};

	return unit_main("steps_view", cases, argc, argv);
}
