/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_view_beyond.c - the sums of a full view: no time is lost when parts are merged, and columns
 * of any widths add up
 */
#include <string.h>
#include "random_story.h"
#include "unit.h"
#include "view_beyond.h"

#define START	 1000u
#define END	 (START + 7000000u)
#define NR_ADDED 3000u

static void add(struct view_beyond *beyond, uint32_t idx, uint64_t begin, enum trace_class class_of_time, uint64_t from,
		uint64_t to)
{
	struct beyond_row *row = beyond_row_of(&beyond->threads, &beyond->nr_threads, idx);

	CU_ASSERT_PTR_NOT_NULL_FATAL(row);
	row->begin = begin;
	CU_ASSERT_EQUAL(beyond_add(beyond, row, class_of_time, from, to), 0);
}

static void until(struct view_beyond *beyond, uint32_t idx, uint64_t begin, uint64_t ns, uint64_t *ret_times)
{
	struct beyond_edge edge = {0};

	CU_ASSERT_EQUAL(beyond_settle(beyond, &beyond->threads[idx]), 0);
	memset(ret_times, 0, TRACE_NR_CLASSES * sizeof(*ret_times));
	beyond_until(beyond, &beyond->threads[idx], (struct beyond_life){begin, UINT64_MAX}, ns, &edge, ret_times);
}

static uint64_t sum_of(const uint64_t *times)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < TRACE_NR_CLASSES; i++)
		sum += times[i];
	return sum;
}

/* Times never decrease, and are at most the time since the last instant. */
static void check_columns(struct view_beyond *beyond, uint32_t idx, uint64_t begin, struct dice *dice)
{
	uint64_t before[TRACE_NR_CLASSES] = {0}, now[TRACE_NR_CLASSES], ns = START;
	struct beyond_edge edge = {0};

	while (ns < END) {
		uint64_t next = ns + 1 + below(dice, 20000), other[TRACE_NR_CLASSES];

		memset(now, 0, sizeof(now));
		beyond_until(beyond, &beyond->threads[idx], (struct beyond_life){begin, UINT64_MAX}, next, &edge, now);
		until(beyond, idx, begin, next, other);
		CU_ASSERT_EQUAL(memcmp(now, other, sizeof(now)), 0);
		for (unsigned int i = 0; i < TRACE_NR_CLASSES; i++)
			CU_ASSERT(now[i] >= before[i]);
		CU_ASSERT(sum_of(now) - sum_of(before) <= next - ns);
		CU_ASSERT(next > begin || !sum_of(now));
		memcpy(before, now, sizeof(before));
		ns = next;
	}
}

static void columns_of_any_widths_add_up(void)
{
	for (uint64_t seed = 1; seed <= 10; seed++) {
		struct view_beyond beyond = {0};
		struct dice dice = {seed, NULL};
		uint64_t ns = START, begin = START + below(&dice, (END - START) / 2), added[TRACE_NR_CLASSES] = {0},
			 times[TRACE_NR_CLASSES];

		beyond_begin(&beyond, START, END);
		while (ns < END) {
			uint64_t to = ns + 1 + below(&dice, seed % 2 ? 500 : 50000), from = ns > begin ? ns : begin;
			enum trace_class class_of_time = (enum trace_class)below(&dice, TRACE_CLASS_ABSENT);

			to = to < END ? to : END;
			if (below(&dice, 5)) {
				add(&beyond, 0, begin, class_of_time, ns, to);
				added[class_of_time] += to > from ? to - from : 0;
			}
			ns = to;
		}
		until(&beyond, 0, begin, END, times);
		CU_ASSERT_EQUAL(memcmp(times, added, sizeof(times)), 0);
		check_columns(&beyond, 0, begin, &dice);
		beyond_clear(&beyond);
	}
}

static void parts_become_longer_when_rows_are_many(void)
{
	struct view_beyond beyond = {0};
	struct dice dice = {3, NULL};

	beyond_begin(&beyond, START, END);
	for (uint32_t i = 0; i < NR_ADDED; i++)
		for (unsigned int k = 0; k < 4; k++)
			add(&beyond, i, 0, (enum trace_class)k, START + i * 100 + k * 2000,
			    START + i * 100 + k * 2000 + 1500);
	CU_ASSERT(beyond.nr < BEYOND_PARTS);
	CU_ASSERT(beyond.bytes <= BEYOND_MAX_BYTES);
	for (uint32_t i = 0; i < NR_ADDED; i += 100) {
		uint64_t times[TRACE_NR_CLASSES];

		until(&beyond, i, 0, END, times);
		for (unsigned int k = 0; k < 4; k++)
			CU_ASSERT_EQUAL(times[k], 1500);
		check_columns(&beyond, i, 0, &dice);
	}
	beyond_clear(&beyond);
}

/* A trace may tell the same time twice. */
static void no_part_has_more_time_than_its_length(void)
{
	struct view_beyond beyond = {0};
	struct dice dice = {4, NULL};

	beyond_begin(&beyond, START, END);
	for (unsigned int i = 0; i < 3; i++)
		add(&beyond, 0, START + 10, (enum trace_class)i, 0, UINT64_MAX);
	check_columns(&beyond, 0, START + 10, &dice);
	beyond_clear(&beyond);
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		CASE(columns_of_any_widths_add_up),
		CASE(parts_become_longer_when_rows_are_many),
		CASE(no_part_has_more_time_than_its_length),
		{NULL, NULL},
	};

	return unit_main("view_beyond", cases, argc, argv);
}
