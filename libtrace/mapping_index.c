/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* mapping_index.c - the mappings of a process, found by address and time: mapping_index.h. */
#include "mapping_index.h"

#include <stdlib.h>
#include <string.h>

#define MAX_PLACES (1u << 22)

/** struct mapping_lists - @items: of node i those from @first[i] on, before @first[i + 1] */
struct mapping_lists {
	size_t *first;
	uint32_t *items;
};

/**
 * struct mapping_index - @places, @edges: owned
 * @edges: begins and ends of places, in order. Leaf i, which is node @nr_leaves + i, has the
 * addresses from edge i on. The children of node i are nodes 2 * i and 2 * i + 1.
 * @all, @late: lists of all places, and of those that may be late
 */
struct mapping_index {
	struct mapping_place *places;
	size_t nr;
	uint64_t *edges;
	size_t nr_edges, nr_leaves;
	struct mapping_lists all, late;
};

static int by_address(const void *left, const void *right)
{
	const uint64_t *l = left, *r = right;

	return *l < *r ? -1 : *l > *r;
}

static bool find_edges(struct mapping_index *index)
{
	size_t nr = 0;

	index->edges = calloc(2 * index->nr + 1, sizeof(*index->edges));
	if (!index->edges)
		return false;
	for (size_t i = 0; i < index->nr; i++) {
		index->edges[2 * i] = index->places[i].start;
		index->edges[2 * i + 1] = index->places[i].end;
	}
	qsort(index->edges, 2 * index->nr, sizeof(*index->edges), by_address);
	for (size_t i = 0; i < 2 * index->nr; i++)
		if (!nr || index->edges[nr - 1] != index->edges[i])
			index->edges[nr++] = index->edges[i];
	index->nr_edges = nr;
	for (index->nr_leaves = 1; index->nr_leaves < nr;)
		index->nr_leaves *= 2;
	return true;
}

/* The last leaf that begins at or before @address; nr_edges: none */
static size_t leaf_at(const struct mapping_index *index, uint64_t address)
{
	size_t low = 0, high = index->nr_edges;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (index->edges[middle] <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? low - 1 : index->nr_edges;
}

/* Counts the places of each node in @lists->first[node + 1], or puts them where @next says. */
static void cover(const struct mapping_index *index, struct mapping_lists *lists, size_t *next, bool late)
{
	for (size_t i = 0; i < index->nr; i++) {
		const struct mapping_place *place = &index->places[i];
		size_t from, to;

		if (place->start >= place->end || (late && !place->may_be_late))
			continue;
		from = index->nr_leaves + leaf_at(index, place->start);
		to = index->nr_leaves + leaf_at(index, place->end);
		for (; from < to; from /= 2, to /= 2) {
			size_t nodes[] = {from & 1 ? from++ : 0, to & 1 ? --to : 0};

			for (int k = 0; k < 2; k++)
				if (nodes[k] && next)
					lists->items[next[nodes[k]]++] = (uint32_t)i;
				else if (nodes[k])
					lists->first[nodes[k] + 1]++;
		}
	}
}

static bool make_lists(const struct mapping_index *index, struct mapping_lists *lists, bool late)
{
	size_t nr_nodes = 2 * index->nr_leaves, *next;

	lists->first = calloc(nr_nodes + 1, sizeof(*lists->first));
	next = calloc(nr_nodes + 1, sizeof(*next));
	if (lists->first && next) {
		cover(index, lists, NULL, late);
		for (size_t i = 0; i < nr_nodes; i++)
			lists->first[i + 1] += lists->first[i];
		memcpy(next, lists->first, (nr_nodes + 1) * sizeof(*next));
		lists->items = calloc(lists->first[nr_nodes] + 1, sizeof(*lists->items));
		if (lists->items)
			cover(index, lists, next, late);
	}
	free(next);
	return lists->items;
}

static bool are_in_order(const struct mapping_place *places, size_t nr)
{
	for (size_t i = 1; i < nr; i++)
		if (places[i].since_ns < places[i - 1].since_ns)
			return false;
	return true;
}

struct mapping_index *mapping_index_new(const struct mapping_place *places, size_t nr)
{
	struct mapping_index *index;

	if (!nr || nr > MAX_PLACES || !are_in_order(places, nr))
		return NULL;
	index = calloc(1, sizeof(*index));
	if (!index)
		return NULL;
	index->nr = nr;
	index->places = calloc(nr, sizeof(*places));
	if (!index->places)
		return mapping_index_free(index);
	memcpy(index->places, places, nr * sizeof(*places));
	if (!find_edges(index) || !make_lists(index, &index->all, false) || !make_lists(index, &index->late, true))
		return mapping_index_free(index);
	return index;
}

struct mapping_index *mapping_index_free(struct mapping_index *index)
{
	if (!index)
		return NULL;
	free(index->places);
	free(index->edges);
	free(index->all.first);
	free(index->all.items);
	free(index->late.first);
	free(index->late.items);
	free(index);
	return NULL;
}

/* The first of the items of @node that was reported after @ns; the end of the list: none */
static size_t first_after(const struct mapping_index *index, const struct mapping_lists *lists, size_t node,
			  uint64_t ns)
{
	size_t low = lists->first[node], high = lists->first[node + 1];

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (index->places[lists->items[middle]].since_ns <= ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

size_t mapping_index_find(const struct mapping_index *index, uint64_t address, uint64_t ts_ns, uint64_t from_ns,
			  uint64_t to_ns)
{
	size_t leaf = leaf_at(index, address), last = NO_MAPPING, late = NO_MAPPING;
	uint64_t until_ns = ts_ns < to_ns ? ts_ns : to_ns - 1, after_ns = ts_ns;

	if (leaf == index->nr_edges || !to_ns)
		return NO_MAPPING;
	if (from_ns && from_ns - 1 > after_ns)
		after_ns = from_ns - 1;
	for (size_t node = index->nr_leaves + leaf; node; node /= 2) {
		size_t at = first_after(index, &index->all, node, until_ns), number;

		if (at > index->all.first[node]) {
			number = index->all.items[at - 1];
			if (index->places[number].since_ns >= from_ns && (last == NO_MAPPING || number > last))
				last = number;
		}
		at = first_after(index, &index->late, node, after_ns);
		if (at < index->late.first[node + 1]) {
			number = index->late.items[at];
			if (index->places[number].since_ns < to_ns && number < late)
				late = number;
		}
	}
	return last != NO_MAPPING ? last : late;
}
