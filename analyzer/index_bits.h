/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_INDEX_BITS_H
#define ANALYZER_INDEX_BITS_H
/* index_bits.h - a stream of bits, for the index of a view; the lowest bit comes first */
#include <string.h>
#include "index_bytes.h"

#define BITS_AT_ONCE 56u

/** struct bits_out - zeroed = empty */
struct bits_out {
	struct bytes_out bytes;
	uint64_t held;
	unsigned int nr_held;
};
/** bits_put() - the lowest @nr bits of @value, at most 63; the others are not used */
static inline void bits_put(struct bits_out *out, uint64_t value, unsigned int nr)
{
	for (; nr > BITS_AT_ONCE - 8; nr -= 32, value >>= 32)
		bits_put(out, value, 32);
	out->held |= (value & ((1ull << nr) - 1)) << out->nr_held;
	out->nr_held += nr;
	for (; out->nr_held >= 8; out->nr_held -= 8, out->held >>= 8) {
		uint8_t byte = (uint8_t)out->held;

		bytes_put(&out->bytes, &byte, 1);
	}
}
/** bits_end() - fill up the last byte */
static inline void bits_end(struct bits_out *out)
{
	if (out->nr_held)
		bits_put(out, 0, 8 - out->nr_held);
}

/** struct bits_in - @next: number of the next bit of @bytes */
struct bits_in {
	const uint8_t *bytes; /* borrowed */
	size_t nr_bytes;
	uint64_t next;
};
/** bits_take() - @nr bits, at most 63; behind the end: 0 */
static inline uint64_t bits_take(struct bits_in *in, unsigned int nr)
{
	uint64_t at = in->next / 8, word = 0;

	if (nr > BITS_AT_ONCE) {
		word = bits_take(in, 32);
		return word | bits_take(in, nr - 32) << 32;
	}
	if (at + sizeof(word) <= in->nr_bytes)
		memcpy(&word, in->bytes + at, sizeof(word)); /* little-endian, as all machines of the toolkit */
	else if (at < in->nr_bytes)
		memcpy(&word, in->bytes + at, in->nr_bytes - at);
	word = word >> in->next % 8 & ((1ull << nr) - 1);
	in->next += nr;
	return word;
}
/** bits_are_read() - were there as many bits as were taken, and less than a byte more? */
static inline bool bits_are_read(const struct bits_in *in)
{
	return (in->next + 7) / 8 == in->nr_bytes;
}
#endif
