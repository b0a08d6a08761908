/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_LATENCY_H
#define ANALYZER_LATENCY_H
/*
 * latency.h - the buckets of elapsed times: log-linear, as HdrHistogram has them. histogram.h counts them.
 *
 * A power of two is divided into 32 buckets of equal width, times below 64 ns have one each. A quantile is told as the middle of
 * its bucket: at most 1/64 (1.6 %) off. Only buckets near those in use are kept, so a histogram costs as much as its
 * times are spread, however many there are: of a call that takes between 100 ns and 100 ms 640 buckets.
 */
#include <stddef.h>
#include <stdint.h>

#define LATENCY_BITS 5
#define LATENCY_KEY_BITS 11 /* (64 - 5) * 32 + 32 buckets are less than 2048 */

/** latency_bucket() - which bucket a time belongs to; they are in the order of times */
static inline uint32_t latency_bucket(uint64_t ns)
{
	unsigned int shift = ns >> (LATENCY_BITS + 1) ? 63u - LATENCY_BITS - (unsigned int)__builtin_clzll(ns) : 0;

	return (shift << LATENCY_BITS) + (uint32_t)(ns >> shift);
}

/** latency_middle() - the time that stands for a bucket */
static inline uint64_t latency_middle(uint32_t bucket)
{
	unsigned int shift = bucket >> (LATENCY_BITS + 1) ? (bucket >> LATENCY_BITS) - 1 : 0;
	uint64_t low = (uint64_t)(bucket - (shift << LATENCY_BITS)) << shift;

	return low + ((1ull << shift) >> 1);
}

/** latency_key() - of a bucket of a call; @call_key: that of its call_row, not 0 */
static inline uint64_t latency_key(uint64_t call_key, uint64_t ns)
{
	return call_key << LATENCY_KEY_BITS | latency_bucket(ns);
}
#endif
