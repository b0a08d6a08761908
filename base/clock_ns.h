/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef BASE_CLOCK_NS_H
#define BASE_CLOCK_NS_H
#include <stdint.h>
#include <time.h>

/** clock_read_ns() - @clock in ns */
static inline uint64_t clock_read_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/** clock_monotonic_ns() - CLOCK_MONOTONIC, the clock of all times in a trace, in ns */
static inline uint64_t clock_monotonic_ns(void)
{
	return clock_read_ns(CLOCK_MONOTONIC);
}

#endif
