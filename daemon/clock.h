/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DAEMON_CLOCK_H
#define DAEMON_CLOCK_H
/* clock.h - the same instant on several clocks. */
#include <stdint.h>

/** struct clock_sample - one instant. @tsc 0: this machine has no TSC that its kernel keeps time by, nor an invariant one */
struct clock_sample {
	uint64_t monotonic_ns;
	uint64_t realtime_ns;
	uint64_t tsc;
};

/** clock_now() - CLOCK_MONOTONIC in ns */
uint64_t clock_now(void);

/** clock_take_sample() - the tightest of a few tries: interrupted ones are off by the interruption and lose */
struct clock_sample clock_take_sample(void);
#endif
