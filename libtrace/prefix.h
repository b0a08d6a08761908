/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef LIBTRACE_PREFIX_H
#define LIBTRACE_PREFIX_H
/*
 * prefix.h - prefix (Huffman) codes for small alphabets, with at most PREFIX_MAX_BITS bits.
 *
 * As in DEFLATE, the lengths determine the codes: shorter codes come first, and within a length
 * those of smaller symbols. The first bit of a code is stored lowest, so a reader can use the next
 * PREFIX_MAX_BITS bits as a table index.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	PREFIX_MAX_BITS = 10,
	PREFIX_SYMBOLS = 128,
};

/**
 * prefix_lengths() - the optimal lengths for symbols that occur @counts times
 * The length is 0 for a symbol that does not occur, and for the only one that does.
 */
void prefix_lengths(const uint32_t *counts, size_t nr_symbols, uint8_t *ret_lengths);

/** prefix_codes() - the codes of symbols with @lengths; first bit lowest */
void prefix_codes(const uint8_t *lengths, size_t nr_symbols, uint16_t *ret_codes);

/** prefix_is_complete() - is every bit sequence made of codes with these lengths? */
bool prefix_is_complete(const uint8_t *lengths, size_t nr_symbols);

#endif
