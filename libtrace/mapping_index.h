/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef LIBTRACE_MAPPING_INDEX_H
#define LIBTRACE_MAPPING_INDEX_H
/*
 * mapping_index.h - the mappings of a process, found by address and time.
 *
 * A process may have 65,000 mappings at a time, and make others all the time; a profile asks about
 * each address in it. The index is a segment tree over the addresses: a mapping is in the lists of
 * the nodes that together cover it, and an address is in one node of each level. A list is in the
 * order of time, so a search takes log^2 of the number of mappings.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NO_MAPPING SIZE_MAX

/** struct mapping_place - a mapping from @start to @end, reported at @since_ns */
struct mapping_place {
	uint64_t start, end;
	uint64_t since_ns;
	bool may_be_late;
};

struct mapping_index;

/**
 * mapping_index_new() - an index of the @nr @places, the first reported first
 * Returns NULL if they are not in the order of time, or for lack of memory.
 */
struct mapping_index *mapping_index_new(const struct mapping_place *places, size_t nr);
struct mapping_index *mapping_index_free(struct mapping_index *index); /* NULL is fine; returns NULL */
/**
 * mapping_index_find() - the number of the place that has @address at @ts_ns
 * @from_ns, @to_ns: only those count that were reported from the one on and before the other
 * It is the last one until @ts_ns; without one, the first one after it that may be late; or
 * NO_MAPPING.
 */
size_t mapping_index_find(const struct mapping_index *index, uint64_t address, uint64_t ts_ns, uint64_t from_ns,
			  uint64_t to_ns);
#endif
