/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef LIBTRACE_COLUMNS_H
#define LIBTRACE_COLUMNS_H
/*
 * columns.h - a column: n 64-bit words as byte planes.
 *
 *	plain       u8 coding | u8 constant | plane 0 | ... | plane 7
 *	dictionary  u8 coding | u8 constant | u8 low | u8 last | n indexes |
 *	            plane 0 | ... | plane low - 1 | entry 0 | ... | entry last
 *	steps       u8 coding | plain or dictionary column of differences
 *
 * Plane p holds byte p of each word. It has n bytes, or one byte if bit p of `constant` is set (all
 * words have the same byte). Fields have the same positions in the words as in memory, so the
 * planes of a word are the planes of its fields.
 *
 * With a dictionary, the bytes of a word from `low` on are those of entry number `index`. An entry
 * has 8 bytes and is shifted down by `low` bytes. For example, with low = 2 the word
 * 0x00007fff12345678 has planes 0x78 and 0x56, and the entry 0x00007fff1234.
 *
 * Steps are for words that grow for each value of the word before them in the payload, as the
 * position in a stream does for each socket: a difference is that to the latest word whose key, the
 * word before it, has the same slot (column_slot()), or to 0.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <trace/format.h>

#define COLUMN_SLOTS 256

/** column_slot() - the slot of a key: docs/FORMAT.md */
static inline unsigned int column_slot(uint64_t key)
{
	return (unsigned int)((key * 0x9e3779b97f4a7c15) >> 56);
}

/** column_bound() - maximum number of bytes that column_encode() writes for @n words */
static inline size_t column_bound(size_t n)
{
	return 4 + 8 * 256 + 8 * n;
}

/**
 * column_encode() - append the column of @n words to @out
 * @n: at least 1
 * Returns the end of what it wrote.
 */
unsigned char *column_encode(unsigned char *out, const uint64_t *words, size_t n);

/**
 * column_encode_behind() - the same of a column behind another one in its payloads; as steps where
 * that is clearly shorter
 * @words: @n of them; overwritten. @keys: the words of the column before it, @stride words apart
 */
unsigned char *column_encode_behind(unsigned char *out, uint64_t *words, const uint64_t *keys, size_t stride, size_t n);

/**
 * column_decode() - decode a column
 * @in: begin of the column; set to its end. @end: end of the readable bytes
 * @words: @n of them, @stride words apart
 * @keys: the column before it, also @stride words apart; NULL: it is the first, or of lengths
 * Returns false, with @words undefined, when the column does not fit before @end or its coding is
 * unknown.
 */
bool column_decode(const unsigned char **in, const unsigned char *end, uint64_t *words, const uint64_t *keys,
		   size_t stride, size_t n);

#endif
