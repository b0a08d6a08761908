/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* histogram.c - add to counts byte by byte, and list them. */
#include "histogram.h"

#include <stdlib.h>

_Static_assert(sizeof(struct histogram_row) * 2 == CACHE_LINE, "two rows in a line of the cache");
_Static_assert((1u << LATENCY_KEY_BITS) / HISTOGRAM_BUCKETS < 1u << HISTOGRAM_GROUP_BITS,
	       "each bucket is in a row of its call");

bool histogram_add(struct hash_table *table, uint64_t row_key, uint32_t cell, uint64_t count)
{
	for (; count; row_key++, count >>= 8) {
		struct histogram_row *row = table_add(table, sizeof(*row), row_key);

		if (!row)
			return false;
		count += row->counts[cell];
		row->counts[cell] = (uint8_t)count;
	}
	return true;
}

bool histogram_add_row(struct hash_table *table, const struct histogram_row *row)
{
	for (uint32_t cell = 0; cell < HISTOGRAM_BUCKETS; cell++)
		if (!histogram_add(table, row->key, cell, row->counts[cell]))
			return false;
	return true;
}

static uint64_t count_of(const struct histogram_row *row, uint32_t cell)
{
	return (uint64_t)row->counts[cell] << 8 * (row->key & ((1u << HISTOGRAM_BYTE_BITS) - 1));
}

uint64_t histogram_total(const struct hash_table *table)
{
	uint64_t total = 0;

	for (const struct histogram_row *row = NULL; (row = table_next(table, sizeof(*row), row));)
		for (uint32_t cell = 0; cell < HISTOGRAM_BUCKETS; cell++)
			total += count_of(row, cell);
	return total;
}

/* A row's key, and its place in the table. */
struct place {
	uint64_t key;
	const struct histogram_row *row;
};

static int order(const void *left, const void *right)
{
	const struct place *l = left, *r = right;

	return l->key < r->key ? -1 : l->key > r->key;
}

/* The rows of @table that are in use, sorted by key. NULL: out of memory. */
static struct place *rows_in_order(const struct hash_table *table)
{
	struct place *rows = malloc((table->used + 1) * sizeof(*rows)), *at = rows;

	for (const struct histogram_row *row = NULL; rows && (row = table_next(table, sizeof(*row), row));)
		*at++ = (struct place){row->key, row};
	if (rows)
		qsort(rows, table->used, sizeof(*rows), order);
	return rows;
}

/* Append the counts that are not 0 of the rows before @end: the bytes of counts of one group. */
static struct histogram_count *append(struct histogram_count *at, const struct place *first, const struct place *end)
{
	uint64_t group = first->key >> HISTOGRAM_BYTE_BITS & ((1u << HISTOGRAM_GROUP_BITS) - 1);
	uint64_t call = first->key >> (HISTOGRAM_BYTE_BITS + HISTOGRAM_GROUP_BITS);
	uint64_t key = call << LATENCY_KEY_BITS | group * HISTOGRAM_BUCKETS;

	for (uint32_t cell = 0; cell < HISTOGRAM_BUCKETS; cell++) {
		uint64_t count = 0;

		for (const struct place *byte = first; byte < end; byte++)
			count += count_of(byte->row, cell);
		if (count)
			*at++ = (struct histogram_count){key + cell, count};
	}
	return at;
}

struct histogram_count *histogram_list(const struct hash_table *table, size_t *ret_nr)
{
	struct histogram_count *list = malloc(((size_t)table->used * HISTOGRAM_BUCKETS + 1) * sizeof(*list)),
			       *at = list;
	struct place *rows = list ? rows_in_order(table) : NULL, *end;

	for (struct place *first = rows; rows && first < rows + table->used; first = end) {
		for (end = first + 1;
		     end < rows + table->used && end->key >> HISTOGRAM_BYTE_BITS == first->key >> HISTOGRAM_BYTE_BITS;)
			end++;
		at = append(at, first, end);
	}
	if (rows)
		*ret_nr = (size_t)(at - list);
	else
		free(list);
	free(rows);
	return rows ? list : NULL;
}
