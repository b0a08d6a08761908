/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TESTS_USER_LIMITS_H
#define TESTS_USER_LIMITS_H
/* user_limits.h - bounds of one user's programs, for the tests of each */
#include "budget.h"

/* Limits without effect; a test sets those that it needs. */
static inline struct budget_limits no_limits(void)
{
	struct budget_limits limits = {.types_per_program = 1ull << 50, .trusts_none = true};

	for (size_t i = 0; i < BUDGET_NR_AMOUNTS; i++)
		limits.per_uid[i] = limits.together[i] = 1ull << 50;
	for (size_t i = 0; i < BUDGET_NR_RATES; i++)
		limits.per_s[i] = limits.burst[i] = 1000000;
	return limits;
}
#endif
