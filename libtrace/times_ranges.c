/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * times_ranges.c - choose ranges of step counts, and write and read their codes.
 *
 * Octave 0 is the count 0, and octave k the counts from 2^(k - 1) on that are below 2^k. Each
 * octave is a tree: it is one range, or it is split into two halves, each of which is a tree, too.
 * A split pays when the codes of the halves are shorter, over all events, by more than the bits
 * that describe them.
 *
 * Example: 800 of 1,000 events have the counts 20 and 21. As one range, octave 5 (16 to 31) takes a
 * code of 1 bit and 4 bits after it for each of them. Split down to single counts, 20 and 21 take
 * codes of 1 or 2 bits.
 */
#include "times_ranges.h"

#include "log2_fixed.h"

#include <string.h>

enum {
	OCTAVES = RANGE_OCTAVES,
	NODE_BITS = 4, /* one node of a tree */
	NODE_ABSENT = 0,
	NODE_ONLY = 14,	 /* the code's only range, without bits */
	NODE_SPLIT = 15, /* 1 to PREFIX_MAX_BITS: a range with a code of that length */
	NODES_MAX = 2 * (RANGES_BYTES - 2),
	SPLIT_MIN_EVENTS = 16,
	LENGTHS_SYMBOLS = 124, /* of format 2.4 */
};

/** struct octave - its symbols; @below: bits of a count below its symbol */
struct octave {
	unsigned int first;
	unsigned int nr_bits; /* it has 2^nr_bits symbols */
	unsigned int below;
};

static struct octave octave_of(unsigned int k)
{
	if (k <= RANGE_BITS + 1)
		return (struct octave){.first = k ? 1u << (k - 1) : 0, .nr_bits = k ? k - 1 : 0};
	return (struct octave){.first = (k - RANGE_BITS) << RANGE_BITS,
			       .nr_bits = RANGE_BITS,
			       .below = k - RANGE_BITS - 1};
}

static struct times_range range_of(const struct octave *octave, unsigned int symbol, unsigned int nr_bits)
{
	uint32_t smallest = octave->below ? (1u << RANGE_BITS) + symbol % (1u << RANGE_BITS) : symbol;

	return (struct times_range){.symbol = (uint16_t)symbol,
				    .nr_symbols = (uint8_t)(1u << nr_bits),
				    .base = (uint8_t)(smallest >> nr_bits),
				    .more = (uint8_t)(nr_bits + octave->below)};
}

/* ---- choose ---- */

/**
 * struct ranges_chooser - the trees of a code while they grow
 * @before: how many events have a lower symbol
 * @all: log2_fixed() of the number of events
 * @nr_octaves: no event is in a later one
 * @nodes: NODE_ABSENT, NODE_SPLIT, or 1 for a range, in the order in which they are written
 */
struct ranges_chooser {
	uint32_t before[RANGE_SYMBOLS + 1];
	int64_t all;
	unsigned int nr_octaves;
	struct octave octave;
	struct ranges *ranges;
	unsigned int nr_nodes;
	uint8_t nodes[NODES_MAX];
};

/*
 * Grow the tree of 2^@nr_bits symbols. Returns the bits of its events and of its description, times
 * 2^LOG2_BITS.
 */
static int64_t grow(struct ranges_chooser *chooser, unsigned int symbol, unsigned int nr_bits)
{
	struct ranges *ranges = chooser->ranges;
	unsigned int node = chooser->nr_nodes++, range = ranges->nr;
	uint32_t n = chooser->before[symbol + (1u << nr_bits)] - chooser->before[symbol];
	int64_t node_bits = (int64_t)NODE_BITS << LOG2_BITS, whole, split;

	chooser->nodes[node] = n ? 1 : NODE_ABSENT;
	if (!n)
		return node_bits;
	whole = node_bits +
		n * (chooser->all - log2_fixed(n) + ((int64_t)(nr_bits + chooser->octave.below) << LOG2_BITS));
	if (n >= SPLIT_MIN_EVENTS && nr_bits && ranges->nr < RANGES_MAX - OCTAVES) {
		split = node_bits + grow(chooser, symbol, nr_bits - 1) +
			grow(chooser, symbol + (1u << (nr_bits - 1)), nr_bits - 1);
		if (split < whole && ranges->nr <= RANGES_MAX - OCTAVES) {
			chooser->nodes[node] = NODE_SPLIT;
			return split;
		}
		chooser->nr_nodes = node + 1;
		ranges->nr = range;
	}
	ranges->range[ranges->nr++] = range_of(&chooser->octave, symbol, nr_bits);
	return whole;
}

static unsigned int octave_last(const struct ranges_chooser *chooser)
{
	unsigned int k = chooser->nr_octaves - 1;
	uint32_t events = chooser->before[octave_of(k + 1).first];

	while (chooser->before[octave_of(k).first] == events)
		k--;
	return k;
}

static unsigned int octave_first(const struct ranges_chooser *chooser)
{
	unsigned int k = 0;

	while (k + 1 < chooser->nr_octaves && !chooser->before[octave_of(k + 1).first])
		k++;
	return k;
}

static void code_lengths(const struct ranges_chooser *chooser, struct ranges *ranges)
{
	uint32_t events[RANGES_MAX];
	uint8_t lengths[RANGES_MAX];

	for (unsigned int i = 0; i < ranges->nr; i++) {
		const struct times_range *range = &ranges->range[i];

		events[i] = chooser->before[range->symbol + range->nr_symbols] - chooser->before[range->symbol];
	}
	prefix_lengths(events, ranges->nr, lengths);
	for (unsigned int i = 0; i < ranges->nr; i++)
		ranges->range[i].length = lengths[i];
}

/* Replace each range among the nodes by the length of its code, and write two nodes per byte. */
static unsigned char *put_nodes(unsigned char *out, struct ranges_chooser *chooser)
{
	const struct times_range *range = chooser->ranges->range;
	bool is_only = chooser->ranges->nr == 1;

	for (unsigned int i = 0; i < chooser->nr_nodes; i++)
		if (chooser->nodes[i] == 1)
			chooser->nodes[i] = is_only ? NODE_ONLY : range++->length;
	chooser->nodes[chooser->nr_nodes] = 0;
	for (unsigned int i = 0; i < chooser->nr_nodes; i += 2)
		*out++ = (unsigned char)(chooser->nodes[i] | chooser->nodes[i + 1] << 4);
	return out;
}

unsigned int ranges_octaves(uint32_t count)
{
	return count ? 32 - (unsigned int)__builtin_clz(count) + 1 : 1;
}

unsigned int octaves_symbols(unsigned int nr_octaves)
{
	return octave_of(nr_octaves).first;
}

unsigned char *ranges_put(unsigned char *out, const uint32_t *counted, unsigned int nr_octaves,
			  struct ranges *ret_ranges)
{
	struct ranges_chooser chooser; /* large; only a part of it is used */
	unsigned int first, last, nr_symbols = octaves_symbols(nr_octaves);

	chooser.before[0] = 0;
	for (unsigned int i = 0; i < nr_symbols; i++)
		chooser.before[i + 1] = chooser.before[i] + counted[i];
	chooser.all = log2_fixed(chooser.before[nr_symbols]);
	chooser.nr_octaves = nr_octaves;
	chooser.ranges = ret_ranges;
	chooser.nr_nodes = 0;
	ret_ranges->nr = 0;
	*out++ = (unsigned char)(first = octave_first(&chooser));
	*out++ = (unsigned char)(last = octave_last(&chooser));
	for (unsigned int k = first; k <= last; k++) {
		chooser.octave = octave_of(k);
		grow(&chooser, chooser.octave.first, chooser.octave.nr_bits);
	}
	code_lengths(&chooser, ret_ranges);
	return put_nodes(out, &chooser);
}

/* ---- read ---- */

/** struct nodes - the nodes that are being read; @at, @end: in half bytes */
struct nodes {
	const unsigned char *data;
	size_t at;
	size_t end;
	bool has_only;
};

static bool take_tree(struct nodes *nodes, const struct octave *octave, unsigned int symbol, unsigned int nr_bits,
		      struct ranges *ranges)
{
	unsigned int node;

	if (nodes->at == nodes->end)
		return false;
	node = nodes->data[nodes->at / 2] >> 4 * (nodes->at % 2) & 15;
	nodes->at++;
	if (node == NODE_ABSENT)
		return true;
	if (node == NODE_SPLIT)
		return nr_bits && take_tree(nodes, octave, symbol, nr_bits - 1, ranges) &&
		       take_tree(nodes, octave, symbol + (1u << (nr_bits - 1)), nr_bits - 1, ranges);
	if (ranges->nr == RANGES_MAX || (node > PREFIX_MAX_BITS && node != NODE_ONLY))
		return false;
	nodes->has_only |= node == NODE_ONLY;
	ranges->range[ranges->nr] = range_of(octave, symbol, nr_bits);
	ranges->range[ranges->nr++].length = node == NODE_ONLY ? 0 : (uint8_t)node;
	return true;
}

static bool is_complete(const struct ranges *ranges)
{
	uint8_t lengths[RANGES_MAX];

	for (unsigned int i = 0; i < ranges->nr; i++)
		lengths[i] = ranges->range[i].length;
	return prefix_is_complete(lengths, ranges->nr);
}

const unsigned char *ranges_take(const unsigned char *in, const unsigned char *end, struct ranges *ret_ranges)
{
	struct nodes nodes;
	unsigned int first, last;

	ret_ranges->nr = 0;
	if (end - in < 2)
		return NULL;
	first = in[0];
	last = in[1];
	nodes = (struct nodes){.data = in + 2, .end = 2 * (size_t)(end - in - 2)};
	if (first > last || last >= OCTAVES)
		return NULL;
	for (unsigned int k = first; k <= last; k++) {
		struct octave octave = octave_of(k);

		if (!take_tree(&nodes, &octave, octave.first, octave.nr_bits, ret_ranges))
			return NULL;
	}
	if (nodes.has_only ? ret_ranges->nr != 1 : !is_complete(ret_ranges))
		return NULL;
	return nodes.data + (nodes.at + 1) / 2;
}

/*
 * In format 2.4, a range is a count below 8, or the magnitude of a count and the two bits after the
 * leading one: the first and the last range that occur, then the code lengths between them.
 */
const unsigned char *ranges_take_lengths(const unsigned char *in, const unsigned char *end, struct ranges *ret_ranges)
{
	unsigned int first, last, nr = 0;

	if (end - in < 2)
		return NULL;
	first = in[0];
	last = in[1];
	in += 2;
	if (first > last || last >= LENGTHS_SYMBOLS || (first < last && (size_t)(end - in) < (last - first + 2) / 2))
		return NULL;
	for (unsigned int i = first; i <= last; i++) {
		unsigned int more = i / 4 - (i >= 4),
			     length = first < last ? in[(i - first) / 2] >> 4 * ((i - first) % 2) & 15 : 0;

		if (length || first == last)
			ret_ranges->range[nr++] = (struct times_range){.base = (uint8_t)(i - 4 * more),
								       .more = (uint8_t)more,
								       .length = (uint8_t)length};
	}
	ret_ranges->nr = nr;
	if (first == last)
		return in;
	return is_complete(ret_ranges) ? in + (last - first + 2) / 2 : NULL;
}

void ranges_codes(const struct ranges *ranges, uint16_t *ret_codes)
{
	uint8_t lengths[RANGES_MAX];

	for (unsigned int i = 0; i < ranges->nr; i++)
		lengths[i] = ranges->range[i].length;
	prefix_codes(lengths, ranges->nr, ret_codes);
}
