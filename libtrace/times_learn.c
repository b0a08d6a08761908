/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * times_learn.c - search a block for contexts with times of their own.
 *
 * The search counts the times of each type after each past, in ranges four times as wide as the
 * narrowest of times_ranges.h. Then it goes through the pasts, the long ones first. A past becomes
 * a context if its times and the others of the next shorter past together need fewer bits with two
 * codes than with one, the two descriptions included. Its events no longer count for shorter pasts.
 *
 * A search takes as long as to pack some thousand events. It is done in the blocks 0, 1, 2, 4, 8
 * and 16 of a recording, and then in each 32nd.
 */
#include "times_learn.h"

#include "log2_fixed.h"
#include "times_ranges.h"

#include <stdlib.h>
#include <string.h>

enum {
	TYPE_MIN_EVENTS = 128, /* of a type with a code of its own */
	TYPES_MAX = 31,	       /* with a code of their own */
	BLOCK_MIN_EVENTS = 2048,
	SEARCH_EVENTS = 8192,
	SEARCH_EVERY = 32,
	SYMBOLS = RANGE_SYMBOLS / 4,
	PASTS_MAX = 256,
	NODES_MAX = 4 * PASTS_MAX,
	SLOTS = 4 * NODES_MAX,
	NODE_MIN_EVENTS = 64, /* in the whole block */
	CODE_BITS = 48,	      /* to describe a context, and its code without its ranges */
	SYMBOL_BITS = 6,      /* to describe a range */
};

/**
 * struct past_node - the times of events of one type after one past
 * @key: the type, the types before it, one byte each, the depth
 * @shorter: the same with a past that is shorter by one; -1: it has none
 */
struct past_node {
	uint64_t key;
	int shorter;
	unsigned int depth;
	uint32_t events;
	uint16_t counted[SYMBOLS];
};

/** struct search - @slots: a hash table; the number of a node plus 1 */
struct search {
	unsigned int nr;
	uint32_t events;
	const struct times_block *block;
	struct past_node nodes[NODES_MAX];
	uint16_t slots[SLOTS];
};

/* ---- count ---- */

static struct past_node *node_at(struct search *search, uint64_t types, unsigned int depth)
{
	uint64_t key = types | (uint64_t)depth << 56;
	unsigned int slot = (unsigned int)(key * 0x9e3779b97f4a7c15 >> 52) % SLOTS;
	struct past_node *node;

	for (; search->slots[slot]; slot = (slot + 1) % SLOTS)
		if (search->nodes[search->slots[slot] - 1].key == key)
			return &search->nodes[search->slots[slot] - 1];
	node = &search->nodes[search->nr++];
	search->slots[slot] = (uint16_t)search->nr;
	memset(node, 0, sizeof(*node));
	node->key = key;
	node->depth = depth;
	node->shorter = -1;
	return node;
}

static void count_longest(struct search *search)
{
	const struct times_block *block = search->block;
	size_t n = block->n < SEARCH_EVENTS ? block->n : SEARCH_EVENTS;
	uint64_t types = 0;

	for (size_t i = 0; i < n && search->nr < PASTS_MAX; i++) {
		struct past_node *node;

		types = (types << 8 | block->type_idxs[i]) & UINT32_MAX;
		if (i < CONTEXT_DEPTH)
			continue;
		node = node_at(search, types, CONTEXT_DEPTH);
		node->events++;
		node->counted[range_symbol(block->times[i] - block->times[i - 1]) / 4]++;
		search->events++;
	}
}

/* Types are in the order of time, the oldest in the highest byte. */
static void add_shorter(struct search *search, unsigned int idx)
{
	struct past_node *node = &search->nodes[idx], *shorter;

	if (!node->depth)
		return;
	shorter = node_at(search, (node->key & UINT32_MAX) & ((1ull << 8 * node->depth) - 1), node->depth - 1);
	node->shorter = (int)(shorter - search->nodes);
	shorter->events += node->events;
	for (unsigned int i = 0; i < SYMBOLS; i++)
		shorter->counted[i] += node->counted[i];
}

/* ---- search ---- */

/* The bits of @node's events without those of @part (NULL: of all), times 2^LOG2_BITS. */
static int64_t node_bits(const struct search *search, const struct past_node *node, const struct past_node *part)
{
	uint32_t events = node->events - (part ? part->events : 0);
	int64_t all = events ? log2_fixed(events) : 0, bits = 0, symbols = 0;

	for (unsigned int i = 0; i < SYMBOLS; i++) {
		uint32_t n = (uint32_t)node->counted[i] - (part ? part->counted[i] : 0u);

		if (n) {
			bits += n * (all - log2_fixed(n));
			symbols++;
		}
	}
	return bits / search->events * (int64_t)search->block->n + ((CODE_BITS + SYMBOL_BITS * symbols) << LOG2_BITS);
}

static bool pays(const struct search *search, const struct past_node *node)
{
	const struct past_node *shorter = &search->nodes[node->shorter];

	if ((uint64_t)node->events * search->block->n < (uint64_t)NODE_MIN_EVENTS * search->events)
		return false;
	return node_bits(search, node, NULL) + node_bits(search, shorter, node) < node_bits(search, shorter, NULL);
}

static void take_out(struct search *search, const struct past_node *node)
{
	for (int up = node->shorter; up >= 0; up = search->nodes[up].shorter) {
		search->nodes[up].events -= node->events;
		for (unsigned int i = 0; i < SYMBOLS; i++)
			search->nodes[up].counted[i] -= node->counted[i];
	}
}

static struct times_known known_of(const struct search *search, const struct past_node *node)
{
	struct times_known known = {.depth = (uint8_t)node->depth};

	for (unsigned int i = 0; i <= node->depth; i++)
		known.ids[i] = search->block->ids[node->key >> 8 * i & 255];
	return known;
}

static unsigned int search_contexts(struct search *search, struct times_known *ret_known)
{
	unsigned int nr = 0;

	count_longest(search);
	for (unsigned int i = 0; i < search->nr; i++)
		add_shorter(search, i); /* which appends the shorter ones */
	for (unsigned int i = 0; i < search->nr && nr < TIMES_KNOWN; i++) {
		if (!search->nodes[i].depth || !pays(search, &search->nodes[i]))
			continue;
		ret_known[nr++] = known_of(search, &search->nodes[i]);
		take_out(search, &search->nodes[i]);
	}
	return nr;
}

/* ---- what is known ---- */

static bool is_due(struct times_learned *learned)
{
	bool due;

	pthread_mutex_lock(&learned->lock);
	due = learned->blocks++ == learned->next;
	if (due)
		learned->next += learned->next < SEARCH_EVERY ? (learned->next ? learned->next : 1) : SEARCH_EVERY;
	pthread_mutex_unlock(&learned->lock);
	return due;
}

/* Contexts of types that this block does not have stay known, unless there is no room. */
static void remember(struct times_learned *learned, const struct times_block *block, struct times_known *found,
		     unsigned int nr)
{
	pthread_mutex_lock(&learned->lock);
	for (unsigned int i = 0; i < learned->nr && nr < TIMES_KNOWN; i++) {
		bool is_here = false;

		for (uint32_t type = 0; type < block->nr_types; type++)
			is_here |= block->ids[type] == learned->known[i].ids[0] &&
				   block->events[type] >= TYPE_MIN_EVENTS;
		if (!is_here)
			found[nr++] = learned->known[i];
	}
	memcpy(learned->known, found, nr * sizeof(*found));
	learned->nr = nr;
	pthread_mutex_unlock(&learned->lock);
}

void times_learn(struct times_learned *learned, const struct times_block *block)
{
	struct times_known found[TIMES_KNOWN];
	struct search *search;

	if (block->n < BLOCK_MIN_EVENTS || !is_due(learned))
		return;
	search = malloc(sizeof(*search));
	if (!search)
		return;
	search->nr = search->events = 0;
	search->block = block;
	memset(search->slots, 0, sizeof(search->slots));
	remember(learned, block, found, search_contexts(search, found));
	free(search);
}

/* ---- the contexts of a block ---- */

static void add_types(struct contexts *contexts, const struct times_block *block)
{
	unsigned int nr = 0, nr_others = 0;
	bool own[256];

	for (uint32_t type = 0; type < block->nr_types; type++) {
		own[type] = block->events[type] >= TYPE_MIN_EVENTS && nr < TYPES_MAX;
		nr += own[type];
		nr_others += !own[type];
	}
	if (nr_others)
		contexts_add(contexts, (struct context){.type = CONTEXT_ANY});
	for (uint32_t type = 0; type < block->nr_types; type++)
		if (own[type])
			contexts_add(contexts, (struct context){.type = (uint8_t)type});
}

static int type_of(const struct times_block *block, uint16_t id)
{
	for (uint32_t type = 0; type < block->nr_types; type++)
		if (block->ids[type] == id)
			return (int)type;
	return -1;
}

static void add_known(struct contexts *contexts, const struct times_block *block, const struct times_known *known)
{
	int type = type_of(block, known->ids[0]);
	struct context context = {.type = (uint8_t)type, .depth = known->depth};

	if (type < 0 || block->events[type] < TYPE_MIN_EVENTS)
		return;
	for (unsigned int i = 1; i <= known->depth; i++) {
		int before = type_of(block, known->ids[i]);
		unsigned int class = before < 0 ? 0 : contexts_class(contexts, (uint8_t)before);

		if (!class)
			return;
		context.past |= (uint16_t)(class << 4 * (CONTEXT_DEPTH - i));
	}
	contexts_add(contexts, context);
}

void times_choose(struct contexts *contexts, const struct times_block *block, struct times_learned *learned)
{
	struct times_known known[TIMES_KNOWN];
	unsigned int nr = 0;

	contexts_init(contexts);
	add_types(contexts, block);
	if (!learned)
		return;
	pthread_mutex_lock(&learned->lock);
	memcpy(known, learned->known, learned->nr * sizeof(*known));
	nr = learned->nr;
	pthread_mutex_unlock(&learned->lock);
	for (unsigned int depth = 1; depth <= CONTEXT_DEPTH; depth++)
		for (unsigned int i = 0; i < nr; i++)
			if (known[i].depth == depth)
				add_known(contexts, block, &known[i]);
}

int context_parent(const struct contexts *contexts, unsigned int code)
{
	struct context context = contexts->codes[code];

	while (code-- > 0) {
		struct context other = contexts->codes[code];
		unsigned int shift = 4 * (CONTEXT_DEPTH - other.depth);

		if ((other.type == context.type || other.type == CONTEXT_ANY) &&
		    other.past >> shift == context.past >> shift)
			return (int)code;
	}
	return -1;
}
