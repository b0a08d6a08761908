/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test_profile_split.c - the division of a time among samples: integers that add up, as near to the
 * true shares as integers can be. */
#include <stdlib.h>
#include "profile_strata.h"
#include "unit.h"

#define MAX_PARTS 40

static uint64_t sum_of(const uint64_t *list, size_t nr)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < nr; i++)
		sum += list[i];
	return sum;
}

static void the_largest_remainders_get_the_rest(void)
{
	/* 10 ns in proportion 1 : 1 : 1 : 4 are 1.43, 1.43, 1.43 and 5.71 */
	static const uint64_t parts[] = {1, 1, 1, 4};
	uint64_t ns[4];

	CU_ASSERT_EQUAL(split_ns(10, parts, 4, 7, ns), 0);
	CU_ASSERT_EQUAL(ns[0], 2); /* of equal remainders the first */
	CU_ASSERT_EQUAL(ns[1], 1);
	CU_ASSERT_EQUAL(ns[2], 1);
	CU_ASSERT_EQUAL(ns[3], 6);
}

static void a_time_of_64_bits_does_not_overflow(void)
{
	static const uint64_t parts[] = {UINT32_MAX, UINT32_MAX};
	uint64_t ns[2];

	CU_ASSERT_EQUAL(split_ns(UINT64_MAX, parts, 2, 2ull * UINT32_MAX, ns), 0);
	CU_ASSERT_EQUAL(ns[0], UINT64_MAX / 2 + 1);
	CU_ASSERT_EQUAL(ns[1], UINT64_MAX / 2);
}

static void shares_add_up_and_are_less_than_1_ns_off(void)
{
	uint64_t parts[MAX_PARTS], ns[MAX_PARTS];

	srandom(1);
	for (int i = 0; i < 2000; i++) {
		size_t nr = 1 + (size_t)random() % MAX_PARTS;
		uint64_t time = (uint64_t)random() % (i % 2 ? 50 : 1000000000), whole;

		for (size_t k = 0; k < nr; k++)
			parts[k] = 1 + (uint64_t)random() % 1000;
		whole = sum_of(parts, nr);
		CU_ASSERT_EQUAL_FATAL(split_ns(time, parts, nr, whole, ns), 0);
		CU_ASSERT_EQUAL(sum_of(ns, nr), time);
		for (size_t k = 0; k < nr; k++) {
			CU_ASSERT(ns[k] * whole < time * parts[k] + whole);
			CU_ASSERT(ns[k] * whole + whole > time * parts[k]);
		}
	}
}

static void a_merged_stratum_has_the_samples_of_both(void)
{
	struct strata strata = {0};
	struct stratum a = {.state = TRACE_STATE_RUNNING}, b = {.state = TRACE_STATE_USER};

	stratum_of(&strata, &a)->ns = 30;
	stratum_add_samples(&strata, stratum_of(&strata, &a), 1, 2);
	stratum_of(&strata, &b)->ns = 70;
	stratum_add_samples(&strata, stratum_of(&strata, &b), 1, 1);
	stratum_add_samples(&strata, stratum_of(&strata, &b), 2, 1);
	stratum_merge(&strata, stratum_of(&strata, &b), stratum_of(&strata, &a));
	CU_ASSERT_EQUAL(strata_split(&strata), 0);
	CU_ASSERT_EQUAL(strata.failed, 0);
	CU_ASSERT_EQUAL(stratum_of(&strata, &a)->ns, 0);
	CU_ASSERT_EQUAL(stratum_of(&strata, &b)->ns, 100);
	CU_ASSERT_EQUAL(strata.groups[stratum_of(&strata, &b)->first].samples, 3);
	CU_ASSERT_EQUAL(strata.groups[stratum_of(&strata, &b)->first].ns, 75);
	CU_ASSERT_EQUAL(strata.groups[stratum_of(&strata, &b)->last].ns, 25);
	strata_clear(&strata);
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		CASE(the_largest_remainders_get_the_rest),
		CASE(a_time_of_64_bits_does_not_overflow),
		CASE(shares_add_up_and_are_less_than_1_ns_off),
		CASE(a_merged_stratum_has_the_samples_of_both),
		{NULL, NULL},
	};

	return unit_main("profile_split", cases, argc, argv);
}
