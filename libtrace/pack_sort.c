/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* pack_sort.c - the second step of packing, for blocks that are far from sorted. */
#include "pack_sort.h"

#include "pack.h"
#include "pack_scan.h"
#include "packer.h"

/*
 * Stable: of two equal times the first stays first. The payload's position cannot decide, because
 * in a record the exit of a call is stored before its entry.
 */
static void merge(const uint64_t *from, uint64_t *to, size_t begin, size_t middle, size_t end)
{
	size_t a = begin, b = middle;

	for (size_t i = begin; i < end; i++)
		to[i] = b >= end || (a < middle && from[a] >> 32 <= from[b] >> 32) ? from[a++] : from[b++];
}

/* Returns the sorted keys, which are in @from or in @to. */
static const uint64_t *sort_keys(uint64_t *from, uint64_t *to, size_t nr)
{
	for (size_t width = 1; width < nr; width *= 2) {
		uint64_t *swap = from;

		for (size_t begin = 0; begin < nr; begin += 2 * width) {
			size_t middle = begin + width < nr ? begin + width : nr;
			size_t end = middle + width < nr ? middle + width : nr;

			merge(from, to, begin, middle, end);
		}
		from = to;
		to = swap;
	}
	return from;
}

/*
 * Add the payload offset of each record to keys[i], which has the type index in bits 0-7: 24 bits
 * above those.
 */
static void keys_add_payloads(const struct packer *packer, uint64_t *keys)
{
	const uint32_t *at[MAX_TYPES];

	for (uint32_t i = 0; i < packer->nr_types; i++)
		at[i] = packer->lists + (size_t)packer->types[i].list * LIST_ENTRIES + 1;
	for (size_t i = 0; i < packer->nr; i++) {
		const uint32_t **next = &at[packer->type_idxs[i]];

		keys[i] |= *(*next)++ << 8;
		if (!((uintptr_t)*next % (LIST_ENTRIES * sizeof(**next))))
			*next = packer->lists + (size_t)(*next)[-LIST_ENTRIES] * LIST_ENTRIES + 1;
	}
}

/* Rebuild the lists from the sorted keys. */
static void lists_again(struct packer *packer, const uint64_t *keys)
{
	packer->nr_lists = 0;
	for (uint32_t i = 0; i < packer->nr_types; i++) {
		packer->types[i].count = 0;
		packer->types[i].list = packer->nr_lists;
		packer->list_ends[i] = list_new(packer);
	}
	for (size_t i = 0; i < packer->nr; i++)
		list_add(packer, keys[i] & 0xff, (uint32_t)keys[i] >> 8);
	for (uint32_t i = 0; i < packer->nr_types; i++)
		packer->types[i].count += (uint32_t)list_last(packer, i);
}

/* Sort by keys: time << 32 | payload offset << 8 | type index. */
bool packer_sort(struct packer *packer)
{
	uint64_t *keys = packer_memory(packer, MEMORY_KEYS, packer->source->bytes + 8);
	const uint64_t *sorted;

	_Static_assert(TRACE_RAW_MAX / 8 < 1 << 24, "keys have room for where a payload is");
	if (!keys)
		return false;
	for (size_t i = 0; i < packer->nr; i++)
		keys[i] = (uint64_t)packer->times[i] << 32 | packer->type_idxs[i];
	keys_add_payloads(packer, keys);
	sorted = sort_keys(keys, packer->scratch, packer->nr);
	for (size_t i = 0; i < packer->nr; i++) {
		packer->times[i] = (uint32_t)(sorted[i] >> 32);
		packer->type_idxs[i] = (unsigned char)sorted[i];
	}
	lists_again(packer, sorted);
	return true;
}
