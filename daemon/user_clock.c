/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "user_clock.h"

#include <stdlib.h>
#include <string.h>

/* Removes every second pair of the older half, but never the first pair. */
static void thin_out(struct user_clock *clock)
{
	size_t kept = 1;

	for (size_t i = 2; i < USER_CLOCK_KNOTS / 2; i += 2)
		clock->knots[kept++] = clock->knots[i];
	memmove(&clock->knots[kept], &clock->knots[USER_CLOCK_KNOTS / 2],
		USER_CLOCK_KNOTS / 2 * sizeof(clock->knots[0]));
	clock->nr = kept + USER_CLOCK_KNOTS / 2;
	clock->at = 0;
}

void user_clock_add(struct user_clock *clock, const struct clock_sample *sample)
{
	const struct user_clock_knot *last = clock->nr ? &clock->knots[clock->nr - 1] : NULL;

	if (!sample->tsc || (last && (sample->tsc <= last->tsc || sample->monotonic_ns <= last->ns)))
		return;
	if (clock->nr == USER_CLOCK_KNOTS)
		thin_out(clock);
	clock->knots[clock->nr++] = (struct user_clock_knot){sample->tsc, sample->monotonic_ns};
}

static int compare_ticks(const void *left, const void *right)
{
	const struct user_clock_knot *a = left, *b = right;

	return a->tsc < b->tsc ? -1 : a->tsc > b->tsc;
}

/* All own pairs are kept. A foreign pair must lie between its two neighbours on both clocks. */
void user_clock_merge(struct user_clock *clock, struct user_clock_knot *pairs, size_t nr)
{
	struct user_clock own = *clock;
	size_t at = 0;

	qsort(pairs, nr, sizeof(*pairs), compare_ticks);
	clock->nr = clock->at = 0;
	for (size_t i = 0; i < own.nr; i++) {
		const struct user_clock_knot *next = i + 1 < own.nr ? &own.knots[i + 1] : NULL;

		user_clock_add(clock, &(struct clock_sample){.monotonic_ns = own.knots[i].ns, .tsc = own.knots[i].tsc});
		for (; next && at < nr && pairs[at].tsc < next->tsc; at++)
			if (pairs[at].ns < next->ns)
				user_clock_add(clock, &(struct clock_sample){.monotonic_ns = pairs[at].ns,
									     .tsc = pairs[at].tsc});
	}
}

/* Index of the pair at or before @tsc, at most the last but one. */
static size_t knot_before(const struct user_clock *clock, uint64_t tsc)
{
	size_t low = 0, high = clock->nr - 1;

	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (clock->knots[middle].tsc <= tsc)
			low = middle;
		else
			high = middle;
	}
	return low;
}

static bool is_between(const struct user_clock *clock, size_t at, uint64_t tsc)
{
	return at + 1 < clock->nr && clock->knots[at].tsc <= tsc && tsc < clock->knots[at + 1].tsc;
}

bool user_clock_ns(struct user_clock *clock, uint64_t tsc, uint64_t *ret_ns)
{
	const struct user_clock_knot *a, *b;
	__int128 ns;

	if (clock->nr < 2)
		return false;
	if (!is_between(clock, clock->at, tsc))
		clock->at = knot_before(clock, tsc);
	a = &clock->knots[clock->at];
	b = a + 1;
	ns = (__int128)a->ns +
	     (__int128)((int64_t)(tsc - a->tsc)) * (int64_t)(b->ns - a->ns) / (int64_t)(b->tsc - a->tsc);
	if (ns < 0 || ns > INT64_MAX)
		return false;
	*ret_ns = (uint64_t)ns;
	return true;
}
