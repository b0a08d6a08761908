/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_HISTOGRAM_H
#define ANALYZER_HISTOGRAM_H
/*
 * histogram.h - exact counts of elapsed times, in tables. A row has 24 adjacent buckets (latency.h)
 * and one byte of the count of each.
 *
 * The times of a thread's calls are close together, so most counts of a thread share a few cache
 * lines. With thousands of threads the cost of counting is that of its cache misses. A count above
 * 255 continues in another row, which has the next byte and which most buckets never need.
 *
 * Example: 300 calls in one bucket are 300 = 44 + 1 * 256. The row with byte 0 has 44, and the row
 * with byte 1 has 1.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "latency.h"
#include "hash_table.h"

#define HISTOGRAM_BUCKETS    24u /* of a row */
#define HISTOGRAM_BYTE_BITS  3	 /* of its key: which byte of the counts */
#define HISTOGRAM_GROUP_BITS 7	 /* of its key: which of a call's rows; 2048 / 24 are less than 128 */

struct histogram_row {
	uint64_t key; /* histogram_row_key(), plus the number of the byte */
	uint8_t counts[HISTOGRAM_BUCKETS];
};

/* How many calls are in one bucket. */
struct histogram_count {
	uint64_t key; /* latency_key() */
	uint64_t count;
};

/**
 * histogram_row_key() - key of the row with the lowest bytes of the counts of @key, a latency_key()
 */
static inline uint64_t histogram_row_key(uint64_t key)
{
	uint64_t group = (key & ((1u << LATENCY_KEY_BITS) - 1)) / HISTOGRAM_BUCKETS;

	return (key >> LATENCY_KEY_BITS << HISTOGRAM_GROUP_BITS | group) << HISTOGRAM_BYTE_BITS;
}

/** histogram_cell() - index of the count of @key, a latency_key(), in its row */
static inline uint32_t histogram_cell(uint64_t key)
{
	return (uint32_t)(key & ((1u << LATENCY_KEY_BITS) - 1)) % HISTOGRAM_BUCKETS;
}

/**
 * histogram_add() - add @count to @cell of @table's row @row_key, which may be of any byte
 * Returns false when out of memory.
 */
bool histogram_add(struct hash_table *table, uint64_t row_key, uint32_t cell, uint64_t count);
/** histogram_add_row() - add all counts of @row to @table; false: out of memory */
bool histogram_add_row(struct hash_table *table, const struct histogram_row *row);
/** histogram_total() - the sum of all counts of @table */
uint64_t histogram_total(const struct hash_table *table);
/**
 * histogram_list() - the counts of @table that are not 0, sorted by key
 * Returns memory that the caller frees with free(); NULL when out of memory.
 */
struct histogram_count *histogram_list(const struct hash_table *table, size_t *ret_nr);
#endif
