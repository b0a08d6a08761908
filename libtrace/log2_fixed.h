/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef LIBTRACE_LOG2_FIXED_H
#define LIBTRACE_LOG2_FIXED_H
/*
 * log2_fixed.h - logarithms in integers, so that every compiler makes the same choices of codes.
 */
#include <stdint.h>

enum { LOG2_BITS = 16 };

/** log2_fixed() - log2 of @n, at least 1, times 2^LOG2_BITS; off by at most 0.002 */
static inline int64_t log2_fixed(uint32_t n)
{
	int exponent = 31 - __builtin_clz(n);
	int64_t x = (int64_t)(((uint64_t)n << LOG2_BITS >> exponent) - (1u << LOG2_BITS));
	int64_t curve = 27709 - (10879 * x >> LOG2_BITS); /* log2(1 + x) = x + x (1 - x) (0.423 - 0.166 x) */

	return ((int64_t)exponent << LOG2_BITS) + x + ((x * ((1 << LOG2_BITS) - x) >> LOG2_BITS) * curve >> LOG2_BITS);
}

#endif
