/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DAEMON_USER_CLOCK_H
#define DAEMON_USER_CLOCK_H
/*
 * user_clock.h - ticks of the time-stamp counter as ns of CLOCK_MONOTONIC.
 *
 * Programs store raw ticks. The daemon reads both clocks whenever it takes their records, before it converts them: so every record lies
 * between two such pairs, and a straight line from one to the next is as exact as the reading (well below 1 us), however
 * the kernel slews its clock. Old pairs are thinned out, never the first: what is old has nearly all been converted.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "clock.h"

#define USER_CLOCK_KNOTS 4096

/** struct user_clock - @knots: pairs, both strictly increasing. @at: where the last conversion was. Zeroed = none yet */
struct user_clock {
	struct user_clock_knot {
		uint64_t tsc;
		uint64_t ns;
	} knots[USER_CLOCK_KNOTS];
	size_t nr;
	size_t at;
};

/** user_clock_add() - one more pair; one that is not later than the last, or has no tsc, is left out */
void user_clock_add(struct user_clock *clock, const struct clock_sample *sample);

/**
 * user_clock_merge() - pairs that somebody else noted, sorted here, as far as they lie between ours
 * A flight recorder sleeps for hours: without them a straight line would go from its beginning to its snapshot.
 */
void user_clock_merge(struct user_clock *clock, struct user_clock_knot *pairs, size_t nr);

/** user_clock_last() - the tick of the last pair; 0: none */
uint64_t user_clock_last(const struct user_clock *clock);

/** user_clock_ns() - convert; outside of the pairs the nearest line goes on. False: there are less than two, or the result is no time */
bool user_clock_ns(struct user_clock *clock, uint64_t tsc, uint64_t *ret_ns);
#endif
