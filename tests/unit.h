/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TESTS_UNIT_H
#define TESTS_UNIT_H
/*
 * unit.h - the main() of a CUnit test. tests/tally counts the test cases in the summary that it
 * prints.
 *
 *   static const struct unit_case cases[] = {CASE(shares_add_up_to_elapsed), {NULL, NULL}};
 *   int main(int argc, char **argv) { return unit_main("decompose", cases, argc, argv); }
 *
 * With arguments only the cases of these names run. Searches are complete unless TRACE_TEST_THIN is
 * in the environment.
 */
#include <CUnit/Basic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct unit_case {
	const char *name; /* the claim */
	void (*run)(void);
};
#define CASE(name)          \
	{                   \
#name, name \
	}

/**
 * unit_step() - the distance between two tested points of a search
 * @thin: the distance if TRACE_TEST_THIN is set, as it is in all builds but one
 *   (tests/CMakeLists.txt). A prime meets every phase of a period.
 * Return: 1 with TRACE_TEST_LONG; in the one build 11 for searches that are long, and in the
 *   others twice @thin
 */
static inline int unit_step(int thin)
{
	if (getenv("TRACE_TEST_LONG"))
		return 1;
	if (getenv("TRACE_TEST_THIN"))
		return thin >= 5 ? 2 * thin + 1 : thin;
	return thin >= 7 ? 11 : 1;
}

/**
 * unit_first() - the first point of a search that takes only each @step-th one
 * The day of TRACE_TEST_DAY chooses it, so that a search has met all points after @step days.
 * ./check sets the day and prints it; without it the first point is 0.
 */
static inline int unit_first(int step)
{
	const char *day = getenv("TRACE_TEST_DAY");

	return day ? (int)(strtoul(day, NULL, 10) % (unsigned long)step) : 0;
}

static inline int unit_wanted(const char *name, int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (strcmp(argv[i], name) == 0)
			return 1;
	return argc < 2;
}

/* Returns whether each argument names a case: a misspelled one would run nothing, and pass. */
static inline int unit_names_cases(const struct unit_case *cases, int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		const struct unit_case *at = cases;

		while (at->name && strcmp(at->name, argv[i]) != 0)
			at++;
		if (!at->name) {
			fprintf(stderr, "there is no case %s\n", argv[i]);
			return 0;
		}
	}
	return 1;
}

/**
 * unit_main_of_day() - run the cases of the day
 * @step: one case in @step is run each day, because each takes seconds; all of them with
 *   TRACE_TEST_LONG, or if the arguments name some
 * Return: the exit status of main()
 */
static inline int unit_main_of_day(const char *suite_name, const struct unit_case *cases, int step, int argc,
				   char **argv)
{
	int is_sample = argc < 2 && !getenv("TRACE_TEST_LONG"), place = is_sample ? unit_first(step) : 0;
	CU_pSuite suite;
	unsigned int failures;

	if (!unit_names_cases(cases, argc, argv) || CU_initialize_registry() != CUE_SUCCESS)
		return 1;
	suite = CU_add_suite(suite_name, NULL, NULL);
	for (; suite && cases->name; cases++, place++) {
		if (is_sample && place % step)
			continue;
		if (unit_wanted(cases->name, argc, argv) && !CU_add_test(suite, cases->name, cases->run))
			return 1;
	}
	CU_basic_set_mode(CU_BRM_VERBOSE);
	if (!suite || CU_basic_run_tests() != CUE_SUCCESS)
		return 1;
	failures = CU_get_number_of_failures();
	CU_cleanup_registry();
	return failures ? 1 : 0;
}

static inline int unit_main(const char *suite_name, const struct unit_case *cases, int argc, char **argv)
{
	return unit_main_of_day(suite_name, cases, 1, argc, argv);
}
#endif
