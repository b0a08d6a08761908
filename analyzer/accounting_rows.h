/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_ACCOUNTING_ROWS_H
#define ANALYZER_ACCOUNTING_ROWS_H
/* accounting_rows.h - the rows of sums: their memory, deferred additions, latencies of calls */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "accounting.h"
#include "hash_table.h"

struct trace_analysis;
struct trace_thread;

/*
 * An addition to a row that is not read before the end. With thousands of threads or files the rows
 * are not cached. So an addition prefetches its row and is applied after NR_DEFERRED more
 * additions, when the row has arrived. Additions to one table are applied in their order.
 */
#define NR_DEFERRED 32u
#define ROWS_COLD   64u /* capacity of a table; additions to smaller tables are not deferred */
/* index of a number in a row; @counted: also add 1 to the next number */
struct sum {
	uint16_t row_bytes;
	uint8_t at;
	bool counted;
};
#define SUM_OF(row, member) ((struct sum){sizeof(struct row), offsetof(struct row, member) / sizeof(uint64_t), false})
#define COUNTED_SUM_OF(row, member) \
	((struct sum){sizeof(struct row), offsetof(struct row, member) / sizeof(uint64_t), true})
struct deferred_sum {
	struct hash_table *table; /* NULL: none */
	uint64_t key;
	uint64_t amount;
	struct sum sum;
};
_Static_assert(offsetof(struct wait_row, count) == offsetof(struct wait_row, ns) + sizeof(uint64_t),
	       "a sum that is counted");

/* The memory of rows, and additions that are not applied yet. */
struct row_store {
	struct acct_slab *free_slabs; /* free list of slabs in the arena */
	struct deferred_sum deferred[NR_DEFERRED];
	uint32_t pos;
	uint64_t sink[16]; /* receives the sums of rows for which there was no memory */
};

/** acct_new_row() - add row @key to @table; returns a sink if memory ran out */
void *acct_new_row(struct trace_analysis *a, struct hash_table *table, size_t row_bytes, uint64_t key);

/**
 * acct_give_rows() - release the rows of @table, made by acct_row(); call it before table_clear()
 */
void acct_give_rows(struct trace_analysis *a, const struct hash_table *table, size_t row_bytes);
_Static_assert(FIRST_CALLS * sizeof(struct call_row) < ARENA_ROWS_MIN, "acct_give_rows() relies on it");

/** acct_defer() - add to a number of row @key of @table, by rows_flush() at the latest */
void acct_defer(struct trace_analysis *a, struct hash_table *table, struct sum sum, uint64_t key, uint64_t amount);

/** rows_flush() - apply all deferred additions of acct_defer() */
void rows_flush(struct trace_analysis *a);

/**
 * acct_latency() - count a call's latency_key(), by latencies_flush() of the thread at the latest
 */
void acct_latency(struct trace_analysis *a, struct trace_thread *thread, bool trap, uint64_t key);

/** latencies_flush() - flush the noted latencies of @thread into its histograms */
void latencies_flush(struct trace_analysis *a, struct trace_thread *thread);

/** acct_slab_get() - give @thread a slab for its first rows and latencies, if there is memory */
void acct_slab_get(struct trace_analysis *a, struct trace_thread *thread);

/** acct_slab_give() - release the slab of @thread, when its tables have no rows any more */
void acct_slab_give(struct trace_analysis *a, struct trace_thread *thread);

/** latencies_add() - add the noted latencies of @thread to @acct; false: out of memory */
bool latencies_add(const struct trace_thread *thread, struct acct *acct);

/**
 * acct_row() - the row of @key, or a sink if memory ran out. Inline: callers pass a constant
 * @row_bytes
 */
static inline void *acct_row(struct trace_analysis *a, struct hash_table *table, size_t row_bytes, uint64_t key)
{
	void *row = table_find(table, row_bytes, key);

	return row ? row : acct_new_row(a, table, row_bytes, key);
}
#endif
