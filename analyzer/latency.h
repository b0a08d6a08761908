/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_LATENCY_H
#define ANALYZER_LATENCY_H
/*
 * latency.h - the buckets of elapsed times: log-linear, as in HdrHistogram. histogram.h counts
 * them.
 *
 * A power of two is divided into 32 buckets of equal width. Each time below 64 ns has a bucket of
 * its own. A quantile is reported as the middle of its bucket, so its error is at most 1/64 (1.6
 * %). Only buckets near those in use are stored: the size of a histogram depends on the spread of
 * the times, not on their number. A call that takes between 100 ns and 100 ms needs about 640
 * buckets.
 *
 * Example: 1000 ns is between 512 and 1024, so its buckets are 16 ns wide, and its bucket has the
 * times from 992 to 1007 ns. The middle is 1000 ns.
 */
#include <stddef.h>
#include <stdint.h>

#define LATENCY_BITS	 5
#define LATENCY_KEY_BITS 11 /* (64 - 5) * 32 + 32 buckets are less than 2048 */

/** latency_bucket() - the bucket of a time; buckets are in the order of times */
static inline uint32_t latency_bucket(uint64_t ns)
{
	unsigned int shift = ns >> (LATENCY_BITS + 1) ? 63u - LATENCY_BITS - (unsigned int)__builtin_clzll(ns) : 0;

	return (shift << LATENCY_BITS) + (uint32_t)(ns >> shift);
}

static inline unsigned int latency_shift(uint32_t bucket)
{
	return bucket >> (LATENCY_BITS + 1) ? (bucket >> LATENCY_BITS) - 1 : 0;
}

/** latency_low() - the shortest time of a bucket */
static inline uint64_t latency_low(uint32_t bucket)
{
	return (uint64_t)(bucket - (latency_shift(bucket) << LATENCY_BITS)) << latency_shift(bucket);
}

/** latency_middle() - the time that is reported for a bucket */
static inline uint64_t latency_middle(uint32_t bucket)
{
	return latency_low(bucket) + ((1ull << latency_shift(bucket)) >> 1);
}

/**
 * latency_key() - the key of a call's bucket
 * @call_key: key of its call_row, not 0
 */
static inline uint64_t latency_key(uint64_t call_key, uint64_t ns)
{
	return call_key << LATENCY_KEY_BITS | latency_bucket(ns);
}
#endif
