/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TRACE_SATURATE_H
#define TRACE_SATURATE_H
/*
 * saturate.h - sums of losses.
 *
 * A number of lost events may come from a file or from the memory of a program, and may be wrong.
 * A sum that wraps around would make a loss disappear: 1000 + (2^64 - 1000) is 0. These sums stop
 * at UINT64_MAX instead, so a later check can refuse them.
 */
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** trace_add_saturated() - @a + @b, or UINT64_MAX if that needs more than 64 bits */
static inline uint64_t trace_add_saturated(uint64_t a, uint64_t b)
{
	uint64_t sum;

	return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

/** trace_multiply_saturated() - @a * @b, or UINT64_MAX if that needs more than 64 bits */
static inline uint64_t trace_multiply_saturated(uint64_t a, uint64_t b)
{
	uint64_t product;

	return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

#ifdef __cplusplus
}
#endif
#endif
