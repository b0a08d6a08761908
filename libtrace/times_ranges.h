/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef LIBTRACE_TIMES_RANGES_H
#define LIBTRACE_TIMES_RANGES_H
/*
 * times_ranges.h - prefix codes for ranges of step counts.
 *
 * A *range* has 2^more step counts, from base * 2^more on. A count is stored as the code of its
 * range and the `more` bits after it. Ranges are narrow where counts are frequent: a system call
 * that mostly takes 20 or 21 steps has one code for each of the two, and one for all from 256 to
 * 511.
 *
 * A *symbol* is the narrowest range: the count itself below 64, else the magnitude of the count and
 * the 5 bits after the leading one.
 */
#include <stdint.h>

#include "prefix.h"

enum {
	RANGE_BITS = 5,		     /* of a count after the leading one, at most */
	RANGE_SYMBOLS = 896,	     /* of counts below 2^32 */
	RANGE_OCTAVES = 33,	     /* the count 0, and those with each magnitude */
	RANGES_MAX = PREFIX_SYMBOLS, /* of a code */
	RANGES_BYTES = 768,	     /* of a written code, at most */
};

/**
 * struct times_range - a range of a code
 * @symbol, @nr_symbols: the symbols in it; when encoding only
 * @length: bits of its code; 0: it is the only one
 */
struct times_range {
	uint16_t symbol;
	uint8_t nr_symbols;
	uint8_t base;
	uint8_t more;
	uint8_t length;
};

struct ranges {
	unsigned int nr;
	struct times_range range[RANGES_MAX];
};

/**
 * range_symbol() - the symbol of @count
 * Without a branch, so that the compiler can vectorise it: the symbol is in the float
 * representation of the count. The count is halved because the conversion to float is signed, and
 * the bits that the conversion would round up are cleared.
 */
static inline uint32_t range_symbol(uint32_t count)
{
	union {
		float number;
		int32_t bits;
	} half = {.number = (float)(int32_t)(count >> 1 & ~(count >> 9))};
	int32_t large = (half.bits >> (23 - RANGE_BITS)) - (127 + 3) * (1 << RANGE_BITS);
	int32_t small = (int32_t)(count < 64 ? count : 64);

	return (uint32_t)(large > small ? large : small);
}

/** ranges_octaves() - octaves up to the one of @count */
unsigned int ranges_octaves(uint32_t count);

/** octaves_symbols() - symbols in the first @nr_octaves, at most RANGE_OCTAVES */
unsigned int octaves_symbols(unsigned int nr_octaves);

/**
 * ranges_put() - choose the ranges and their codes, and write them
 * @counted: how many counts have each symbol, of the first @nr_octaves; not all are 0
 * Returns the end of what it wrote, at most RANGES_BYTES.
 */
unsigned char *ranges_put(unsigned char *out, const uint32_t *counted, unsigned int nr_octaves,
			  struct ranges *ret_ranges);

/** ranges_take() - read them; returns the end. NULL: they are no complete code */
const unsigned char *ranges_take(const unsigned char *in, const unsigned char *end, struct ranges *ret_ranges);

/** ranges_take_lengths() - the same, for the coding of format 2.4 and before */
const unsigned char *ranges_take_lengths(const unsigned char *in, const unsigned char *end, struct ranges *ret_ranges);

/** ranges_codes() - the code of each range; first bit lowest */
void ranges_codes(const struct ranges *ranges, uint16_t *ret_codes);

#endif
