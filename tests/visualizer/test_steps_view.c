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
	if (is_chosen("THING", thing) && is_chosen("HAPPENING", happening) &&
	    !each_costs_the_same(tell_of_both, SOME, getenv("OPTION") ? getenv("OPTION") : VIEW))
		printf("... of %s, and %s\n", one, other);
}

static void no_question_costs_more_with_many_things(void)
{
	for (size_t i = 0; repeated_things[i].name; i++)
		check_pair(repeated_things[i].name, "waits");
}

static void no_question_costs_more_with_many_happenings(void)
{
	for (size_t i = 0; repeated_happenings[i].name; i++)
		check_pair("nothing", repeated_happenings[i].name);
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		CASE(no_question_costs_more_with_many_things),
		CASE(no_question_costs_more_with_many_happenings),
		{NULL, NULL},
	};

	return unit_main("steps_view", cases, argc, argv);
}
