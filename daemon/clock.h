/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DAEMON_CLOCK_H
#define DAEMON_CLOCK_H
/* clock.h - one instant on several clocks. */
#include <stdint.h>

/**
 * struct clock_sample - one instant. @tsc: 0: the TSC is not invariant, and the kernel does not use
 * it as its clock source
 */
struct clock_sample {
	uint64_t monotonic_ns;
	uint64_t realtime_ns;
	uint64_t tsc;
};

/** clock_now() - CLOCK_MONOTONIC in ns */
uint64_t clock_now(void);

/**
 * clock_take_sample() - take several samples, and return the one with the shortest distance between
 * its two reads of CLOCK_MONOTONIC: a sample that was interrupted has a longer one
 */
struct clock_sample clock_take_sample(void);
#endif
