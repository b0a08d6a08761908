/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef VISUALIZER_PROFILE_TIME_H
#define VISUALIZER_PROFILE_TIME_H
/* profile_time.h - an elapsed time of a profile, by state. */
#include <stdbool.h>
#include <stdint.h>

/**
 * struct profile_time - elapsed = on a CPU + waiting for a CPU + blocked
 * @on_cpu_ns: with interrupts that took the CPU
 */
struct profile_time {
	uint64_t on_cpu_ns;
	uint64_t wait_cpu_ns;
	uint64_t blocked_ns;
	uint64_t samples;
};

static inline uint64_t profile_elapsed(const struct profile_time *time)
{
	return time->on_cpu_ns + time->wait_cpu_ns + time->blocked_ns;
}
static inline void profile_time_add(struct profile_time *to, const struct profile_time *time)
{
	to->on_cpu_ns += time->on_cpu_ns;
	to->wait_cpu_ns += time->wait_cpu_ns;
	to->blocked_ns += time->blocked_ns;
	to->samples += time->samples;
}
static inline bool profile_time_equals(const struct profile_time *a, const struct profile_time *b)
{
	return a->on_cpu_ns == b->on_cpu_ns && a->wait_cpu_ns == b->wait_cpu_ns && a->blocked_ns == b->blocked_ns &&
	       a->samples == b->samples;
}
#endif
