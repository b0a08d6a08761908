/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef LIBTRACE_PREFIX_H
#define LIBTRACE_PREFIX_H
/*
 * prefix.h - prefix codes (Huffman's) for small alphabets, of at most PREFIX_MOST_BITS bits.
 *
 * What a code is follows from the lengths alone, as in DEFLATE: shorter codes come first, and among those of one length that of the smaller
 * symbol. Codes stand in the bits with their first bit lowest, so that a reader looks up the next PREFIX_MOST_BITS bits as they are.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	PREFIX_MOST_BITS = 10,
	PREFIX_SYMBOLS = 128,
};

/** prefix_lengths() - the best lengths for symbols that occur @counts times; 0 for those that do not, and for the only one that does */
void prefix_lengths(const uint32_t *counts, size_t nr_symbols, uint8_t *ret_lengths);

/** prefix_codes() - the codes of symbols of @lengths, first bit lowest */
void prefix_codes(const uint8_t *lengths, size_t nr_symbols, uint16_t *ret_codes);

/** prefix_is_complete() - is every sequence of bits one of codes of these lengths? */
bool prefix_is_complete(const uint8_t *lengths, size_t nr_symbols);

#endif
