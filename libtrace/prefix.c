/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * prefix.c - lengths of Huffman codes from counts, and codes from lengths.
 *
 * Example: the symbols a, b, c, d with the counts 5, 2, 1, 1 get the lengths 1, 2, 3, 3 and the
 * codes 0, 10, 110, 111 (written with the first bit on the left).
 */
#include "prefix.h"

#include <stdlib.h>
#include <string.h>

/**
 * struct node - @count: occurrences of a symbol, or the sum of the two child nodes; @up: the
 * parent; @depth: below the root
 */
struct node {
	uint32_t count;
	uint16_t up;
	uint16_t depth;
};

/*
 * Insertion sort by count, rarest first; each word has the count and the symbol. There are a few
 * dozen symbols, rarely in any order.
 */
static size_t sort_symbols(const uint32_t *counts, size_t nr_symbols, uint64_t *sorted)
{
	size_t nr = 0;

	for (size_t symbol = 0; symbol < nr_symbols; symbol++) {
		uint64_t key = (uint64_t)counts[symbol] << 32 | symbol;
		size_t at = nr;

		if (!counts[symbol])
			continue;
		for (; at > 0 && sorted[at - 1] > key; at--)
			sorted[at] = sorted[at - 1];
		sorted[at] = key;
		nr++;
	}
	return nr;
}

/*
 * Join the two rarest nodes under a new one until one is left. New nodes have ascending counts, so
 * two queues suffice instead of a heap.
 */
static void build_tree(struct node *nodes, size_t nr)
{
	size_t leaf = 0, inner = nr;

	for (size_t next = nr; next < 2 * nr - 1; next++) {
		nodes[next].count = 0;
		for (int i = 0; i < 2; i++) {
			bool is_leaf = leaf < nr && (inner >= next || nodes[leaf].count <= nodes[inner].count);
			size_t rarest = is_leaf ? leaf++ : inner++;

			nodes[next].count += nodes[rarest].count;
			nodes[rarest].up = (uint16_t)next;
		}
	}
	nodes[2 * nr - 2].depth = 0;
	for (size_t at = 2 * nr - 2; at-- > 0;)
		nodes[at].depth = (uint16_t)(nodes[nodes[at].up].depth + 1);
}

/*
 * Count the codes of each length. A code that would be too long takes the place of a shorter one,
 * which becomes one bit longer.
 */
static void count_lengths(const struct node *nodes, size_t nr, uint32_t *of_length)
{
	size_t too_deep = 0;

	for (size_t i = 0; i < nr; i++) {
		too_deep += nodes[i].depth > PREFIX_MAX_BITS;
		of_length[nodes[i].depth < PREFIX_MAX_BITS ? nodes[i].depth : PREFIX_MAX_BITS]++;
	}
	if (!too_deep)
		return;
	/* In units of the longest code: code space that is taken, and all there is. */
	uint32_t taken = 0, all = 1u << PREFIX_MAX_BITS;

	for (unsigned int length = 1; length <= PREFIX_MAX_BITS; length++)
		taken += of_length[length] << (PREFIX_MAX_BITS - length);
	while (taken > all) {
		unsigned int length = PREFIX_MAX_BITS - 1;

		while (!of_length[length])
			length--;
		of_length[length]--;
		of_length[length + 1] += 2;
		of_length[PREFIX_MAX_BITS]--;
		taken--;
	}
}

void prefix_lengths(const uint32_t *counts, size_t nr_symbols, uint8_t *ret_lengths)
{
	uint64_t sorted[PREFIX_SYMBOLS];
	struct node nodes[2 * PREFIX_SYMBOLS];
	uint32_t of_length[PREFIX_MAX_BITS + 1] = {0};
	size_t nr = sort_symbols(counts, nr_symbols, sorted), at;

	memset(ret_lengths, 0, nr_symbols);
	if (nr < 2)
		return;
	for (size_t i = 0; i < nr; i++)
		nodes[i].count = (uint32_t)(sorted[i] >> 32);
	build_tree(nodes, nr);
	count_lengths(nodes, nr, of_length);
	at = nr;
	for (unsigned int length = 1; length <= PREFIX_MAX_BITS; length++)
		for (uint32_t i = 0; i < of_length[length]; i++)
			ret_lengths[(uint32_t)sorted[--at]] = (uint8_t)length;
}

void prefix_codes(const uint8_t *lengths, size_t nr_symbols, uint16_t *ret_codes)
{
	uint32_t of_length[PREFIX_MAX_BITS + 2] = {0}, next[PREFIX_MAX_BITS + 2] = {0};

	for (size_t symbol = 0; symbol < nr_symbols; symbol++)
		of_length[lengths[symbol]]++;
	of_length[0] = 0;
	for (unsigned int length = 1; length <= PREFIX_MAX_BITS; length++)
		next[length] = (next[length - 1] + of_length[length - 1]) << 1;
	for (size_t symbol = 0; symbol < nr_symbols; symbol++) {
		uint32_t code = lengths[symbol] ? next[lengths[symbol]]++ : 0, reversed = 0;

		for (unsigned int bit = 0; bit < lengths[symbol]; bit++)
			reversed |= (code >> bit & 1) << (lengths[symbol] - 1u - bit);
		ret_codes[symbol] = (uint16_t)reversed;
	}
}

bool prefix_is_complete(const uint8_t *lengths, size_t nr_symbols)
{
	uint32_t taken = 0;

	for (size_t symbol = 0; symbol < nr_symbols; symbol++) {
		if (lengths[symbol] > PREFIX_MAX_BITS)
			return false;
		taken += lengths[symbol] ? 1u << (PREFIX_MAX_BITS - lengths[symbol]) : 0;
	}
	return taken == 1u << PREFIX_MAX_BITS;
}
