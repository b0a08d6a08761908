/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test_index_times.c - an index with all durations has at most 0.6 bytes for an event */
#include "index_times.h"
#include "unit.h"

#define MI	  (1u << 20)
#define INTERVALS (8u * MI) /* that a view keeps; with more it has mixtures */

/* In tenths of a byte: what an interval takes at most in an index with all durations */
#define TENTHS_OF_INTERVAL 18u
#define TENTHS_OF_EVENT	   6u

static void the_events_give_the_times_where_durations_would_be_too_large(void)
{
	size_t nr_with = 0, nr_without = 0;

	for (uint64_t events = MI; events <= 40 * MI; events += MI / 4)
		for (uint64_t intervals = 0; intervals <= INTERVALS; intervals += MI / 8) {
			bool is_large = TENTHS_OF_INTERVAL * intervals > TENTHS_OF_EVENT * events;

			CU_ASSERT(!is_large || times_are_worth(intervals, events));
			nr_with += events > 16 * MI && is_large;
			nr_without += events > 16 * MI && !times_are_worth(intervals, events);
		}
	CU_ASSERT(nr_with > 100);
	CU_ASSERT(nr_without > 1000);
}

static void the_events_of_a_large_trace_are_not_read(void)
{
	CU_ASSERT(times_are_worth(0, 16 * MI));
	CU_ASSERT(!times_are_worth(INTERVALS / 2, 17 * MI));
	CU_ASSERT(times_are_worth(INTERVALS, 17 * MI));
	CU_ASSERT(!times_are_worth(INTERVALS, 26 * MI));
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		CASE(the_events_give_the_times_where_durations_would_be_too_large),
		CASE(the_events_of_a_large_trace_are_not_read),
		{NULL, NULL},
	};

	return unit_main("index_times", cases, argc, argv);
}
