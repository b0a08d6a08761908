/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_mapping_index.c - the index of mappings finds what a walk over all of them finds.
 */
#include "../../libtrace/mapping_index.h"

#include <stdlib.h>
#include "unit.h"

enum { MOST = 300, ADDRESSES = 100, TIMES = 40 };

static uint64_t roll(uint64_t of)
{
	return (uint64_t)random() % of;
}

/* The walk of symbol_mappings.c over the mappings of a process with few. */
static size_t walk(const struct mapping_place *places, size_t nr, uint64_t address, uint64_t ts_ns, uint64_t from_ns,
		   uint64_t to_ns)
{
	size_t late = NO_MAPPING;

	for (size_t i = nr; i-- > 0;) {
		if (places[i].since_ns < from_ns || places[i].since_ns >= to_ns || address < places[i].start ||
		    address >= places[i].end)
			continue;
		if (places[i].since_ns <= ts_ns)
			return i;
		if (places[i].may_be_late)
			late = i;
	}
	return late;
}

static size_t make_places(struct mapping_place *places)
{
	size_t nr = 1 + roll(MOST);
	uint64_t ns = 0;

	for (size_t i = 0; i < nr; i++) {
		uint64_t start = roll(ADDRESSES), length = roll(4) ? roll(5) : roll(ADDRESSES);

		ns += roll(2) ? roll(3) : 0;
		places[i] = (struct mapping_place){
			.start = start, .end = start + length, .since_ns = ns, .may_be_late = roll(2)};
	}
	return nr;
}

static void the_index_finds_what_a_walk_finds(void)
{
	static struct mapping_place places[MOST + 1];

	srandom(1);
	for (int round = 0; round < 200; round++) {
		size_t nr = make_places(places), nr_found = 0;
		struct mapping_index *index = mapping_index_new(places, nr);
		bool same = true;

		CU_ASSERT_PTR_NOT_NULL_FATAL(index);
		for (int i = 0; i < 500; i++) {
			uint64_t address = roll(2 * ADDRESSES), ts_ns = roll(MOST), from_ns = roll(2) ? roll(MOST) : 0,
				 to_ns = roll(2) ? roll(MOST) : UINT64_MAX;
			size_t found = mapping_index_find(index, address, ts_ns, from_ns, to_ns);

			nr_found += found != NO_MAPPING;
			same &= found == walk(places, nr, address, ts_ns, from_ns, to_ns);
		}
		CU_ASSERT(same);
		CU_ASSERT(nr < 20 || nr_found > 10);
		mapping_index_free(index);
	}
}

static void mappings_that_are_not_in_order_have_no_index(void)
{
	const struct mapping_place places[] = {{.start = 1, .end = 2, .since_ns = 2},
					       {.start = 1, .end = 2, .since_ns = 1}};

	CU_ASSERT_PTR_NULL(mapping_index_new(places, 2));
	CU_ASSERT_PTR_NULL(mapping_index_new(places, 0));
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		CASE(the_index_finds_what_a_walk_finds),
		CASE(mappings_that_are_not_in_order_have_no_index),
		{NULL, NULL},
	};

	return unit_main("mapping index", cases, argc, argv);
}
