/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DAEMON_PROFILE_COUNTS_H
#define DAEMON_PROFILE_COUNTS_H
/*
 * profile_counts.h - what the tracer counts in the kernel while it takes samples: for kgmon
 *
 * A reset changes nothing in the kernel: the counts of that time are subtracted from later ones. So
 * no count is lost, and nothing is stopped.
 */
#include <stdbool.h>
#include <stdint.h>
#include <trace/tracer.h>

#define PROFILE_FINE	       10 /* kgmon -B: so many times as many samples */
#define PROFILE_MAX_MULTIPLIER 100
#define PROFILE_RESET_MARK     "profile reset" /* in the trace, for --profile=readprofile */

/**
 * struct profile_counts - @base: the counts at the last reset; owned
 * @period: the mean of --sample; 0: no samples are taken. @shortest: of the means since the reset
 * @is_mixed: the mean has changed since
 */
struct profile_counts {
	struct tracer_count *base;
	size_t nr_base;
	uint64_t base_not_counted;
	uint64_t since_ns;
	uint64_t period;
	uint64_t shortest;
	unsigned int multiplier;
	bool is_mixed;
};

/** struct profile_sums - what there is, for a sentence */
struct profile_sums {
	uint64_t samples, addresses, runs, not_counted;
};

struct profile_counts profile_counts_init(uint64_t period, uint64_t now_ns);
void profile_counts_release(struct profile_counts *profile);
/** profile_counts_reset() - count from now on. Returns 0, or an error: nothing has changed */
int profile_counts_reset(struct profile_counts *profile, const struct tracer *tracer, uint64_t now_ns);
/**
 * profile_counts_multiply() - note that @multiplier times as many samples are taken from now on
 * Returns the mean of their periods, at least @min.
 */
uint64_t profile_counts_multiply(struct profile_counts *profile, unsigned int multiplier, uint64_t min);
/**
 * profile_counts_write() - write all counts since the reset to @fd, a line each: gmon_counts.h
 * @by_event: samples are not of a timer. @fd: -1: only @ret_sums
 */
int profile_counts_write(const struct profile_counts *profile, const struct tracer *tracer, bool by_event, int fd,
			 struct profile_sums *ret_sums);
#endif
