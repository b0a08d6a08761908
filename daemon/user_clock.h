/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DAEMON_USER_CLOCK_H
#define DAEMON_USER_CLOCK_H
/*
 * user_clock.h - convert ticks of the time-stamp counter into ns of CLOCK_MONOTONIC
 *
 * Programs store raw ticks. The daemon reads both clocks each time it takes records, before it
 * converts them. So every record lies between two such pairs of clock values.
 * A straight line between two pairs is as exact as the reading itself (well below 1 us), even if
 * the kernel slews its clock.
 * Example: the pairs are (3000 ticks, 1000 ns) and (6000 ticks, 2000 ns). Then tick 4500 is 1500
 * ns.
 * When the table is full, older pairs are thinned out, but never the first one. Nearly all records
 * of that time have been converted already.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "clock.h"

#define USER_CLOCK_KNOTS 4096

/**
 * struct user_clock - @knots: pairs, strictly increasing on both clocks
 * @at: index of the last conversion. Zeroed: no pairs
 */
struct user_clock {
	struct user_clock_knot {
		uint64_t tsc;
		uint64_t ns;
	} knots[USER_CLOCK_KNOTS];
	size_t nr;
	size_t at;
};

/**
 * user_clock_add() - add a pair; it is ignored if it is not later than the last one or has no tsc
 */
void user_clock_add(struct user_clock *clock, const struct clock_sample *sample);

/**
 * user_clock_merge() - add pairs that a program noted, if they lie between two own pairs; sorts
 * @pairs
 * A flight recorder reads its clocks rarely, for hours. Without these pairs one straight line would
 * span the time from its start to the snapshot.
 */
void user_clock_merge(struct user_clock *clock, struct user_clock_knot *pairs, size_t nr);

/**
 * user_clock_ns() - convert a tick; outside of the pairs the nearest line is extended
 * Returns false if there are fewer than two pairs, or if the result is no valid time.
 */
bool user_clock_ns(struct user_clock *clock, uint64_t tsc, uint64_t *ret_ns);
#endif
