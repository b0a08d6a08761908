/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_HISTOGRAM_H
#define ANALYZER_HISTOGRAM_H
/*
 * histogram.h - how often each time was counted: tables whose rows are 24 neighbouring buckets (latency.h), a byte of each bucket's count.
 *
 * What a thread's calls take lies close together, so a count finds others in its line of the cache; of thousands of threads that is what counting costs. A count that
 * a byte does not hold goes on in the row of the next byte, which most buckets never need. So counts are exact, however large.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "latency.h"
#include "hash_table.h"

#define HISTOGRAM_BUCKETS 24u /* of a row */
#define HISTOGRAM_BYTE_BITS 3 /* of its key: which byte of the counts */
#define HISTOGRAM_PLACE_BITS 7 /* and which of a call's rows: 2048 / 24 are less than 128 */

struct histogram_row {
	uint64_t key; /* histogram_row_key(), and which byte */
	uint8_t counts[HISTOGRAM_BUCKETS];
};

/** struct histogram_count - so many, or a part of so many: what else is listed of the same bucket is to be added */
struct histogram_count {
	uint64_t key; /* latency_key() */
	uint64_t count;
};

/** histogram_row_key() - of the row with the lowest bytes of the counts of @key, a latency_key() */
static inline uint64_t histogram_row_key(uint64_t key)
{
	uint64_t place = (key & ((1u << LATENCY_KEY_BITS) - 1)) / HISTOGRAM_BUCKETS;

	return (key >> LATENCY_KEY_BITS << HISTOGRAM_PLACE_BITS | place) << HISTOGRAM_BYTE_BITS;
}

/** histogram_cell() - which of the row's counts is that of @key, a latency_key() */
static inline uint32_t histogram_cell(uint64_t key)
{
	return (uint32_t)(key & ((1u << LATENCY_KEY_BITS) - 1)) % HISTOGRAM_BUCKETS;
}

/** histogram_add() - @count more of @cell in @table's row of @row_key, whichever byte that is; false: out of memory */
bool histogram_add(struct table *table, uint64_t row_key, uint32_t cell, uint64_t count);
/** histogram_add_row() - all that is in @row is added to @table; false: out of memory */
bool histogram_add_row(struct table *table, const struct histogram_row *row);
/** histogram_total() - all counts of @table together */
uint64_t histogram_total(const struct table *table);
/** histogram_list() - the counts of @table that are not 0, by key. Returns memory to free(); NULL: out of memory */
struct histogram_count *histogram_list(const struct table *table, size_t *ret_nr);
#endif
