/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * accounting_rows.c - the rows of a thread's sums: their memory, additions that are applied later,
 * and the latencies of calls.
 */
#include <errno.h>
#include <string.h>
#include "accounting_rows.h"
#include "histogram.h"
#include "state.h"

/* Smaller rows are part of a slab. */
void acct_give_rows(struct trace_analysis *a, const struct hash_table *table, size_t row_bytes)
{
	if (table->is_lent && table->capacity * row_bytes >= ARENA_ROWS_MIN)
		arena_give_rows(&a->arena, table->rows, table->capacity * row_bytes);
}

void *acct_new_row(struct trace_analysis *a, struct hash_table *table, size_t row_bytes, uint64_t key)
{
	const struct hash_table before = *table;
	size_t bytes = (size_t)table_more(table) * row_bytes;
	void *row = NULL;

	if (table_is_full(table) && bytes >= ARENA_ROWS_MIN && bytes <= ARENA_ROWS_MAX &&
	    (row = arena_take_rows(&a->arena, bytes)))
		table_move(table, row_bytes, row, table_more(table));
	row = table_add(table, row_bytes, key);
	if (table->rows != before.rows)
		acct_give_rows(a, &before, row_bytes);
	if (row)
		return row;
	a->failed = -ENOMEM; /* it ends the pass */
	return a->rows.sink;
}

/* ---- deferred sums, which are not read before the end ---- */

static void sum_add(struct trace_analysis *a, struct hash_table *table, struct sum sum, uint64_t key, uint64_t amount)
{
	uint64_t *row = acct_row(a, table, sum.row_bytes, key);

	row[sum.at] += amount;
	if (sum.counted)
		row[sum.at + 1]++;
}

static void deferred_add(struct trace_analysis *a, const struct deferred_sum *deferred)
{
	sum_add(a, deferred->table, deferred->sum, deferred->key, deferred->amount);
}

void acct_defer(struct trace_analysis *a, struct hash_table *table, struct sum sum, uint64_t key, uint64_t amount)
{
	struct deferred_sum *deferred;

	if (table->capacity < ROWS_COLD) {
		sum_add(a, table, sum, key, amount);
		return;
	}
	deferred = &a->rows.deferred[a->rows.pos++ % NR_DEFERRED];
	if (deferred->table)
		deferred_add(a, deferred);
	*deferred = (struct deferred_sum){.table = table, .key = key, .amount = amount, .sum = sum};
	table_prefetch(table, sum.row_bytes, key);
}

void rows_flush(struct trace_analysis *a)
{
	for (uint32_t i = 0; i < NR_DEFERRED; i++, a->rows.pos++) {
		struct deferred_sum *deferred = &a->rows.deferred[a->rows.pos % NR_DEFERRED];

		if (deferred->table)
			deferred_add(a, deferred);
		deferred->table = NULL;
	}
}

/* ---- slabs ---- */

void acct_slab_get(struct trace_analysis *a, struct trace_thread *thread)
{
	struct acct_slab *slab = a->rows.free_slabs;

	if (slab) {
		a->rows.free_slabs = slab->next;
		memset(slab, 0, sizeof(*slab));
	} else if (!(slab = arena_take(&a->arena, sizeof(*slab)))) {
		return; /* the thread's tables and histograms work without it */
	}
	thread->slab = slab;
	if (!thread->acct.calls.capacity)
		table_lend(&thread->acct.calls, slab->calls, FIRST_CALLS);
	if (!thread->acct.waits.capacity)
		table_lend(&thread->acct.waits, slab->waits, FIRST_ROWS);
	if (!thread->acct.cpu_holders.capacity)
		table_lend(&thread->acct.cpu_holders, slab->cpu_holders, FIRST_ROWS);
}

void acct_slab_give(struct trace_analysis *a, struct trace_thread *thread)
{
	if (!thread->slab)
		return;
	thread->slab->next = a->rows.free_slabs;
	a->rows.free_slabs = thread->slab;
	thread->slab = NULL;
}

/* ---- latencies of calls ---- */

static struct hash_table *latencies_of(struct trace_thread *thread, bool trap)
{
	return trap ? &thread->acct.trap_times : &thread->acct.call_times;
}

/* As histogram_add(), with rows from the arena. */
static inline void latency_count(struct trace_analysis *a, struct hash_table *times, uint64_t key)
{
	uint64_t row_key = histogram_row_key(key);
	uint32_t cell = histogram_cell(key);

	while (!++((struct histogram_row *)acct_row(a, times, sizeof(struct histogram_row), row_key))->counts[cell])
		row_key++;
}

/*
 * Prefetch the rows of the histograms. A table with no more cache lines than there are notes is
 * prefetched whole, so that its slots need not be computed twice.
 */
static void latencies_prefetch(struct trace_thread *thread, const uint32_t *noted, uint32_t nr)
{
	bool is_small = true;

	for (int trap = 0; trap < 2; trap++) {
		const struct hash_table *table = latencies_of(thread, trap);

		if (table->capacity * sizeof(struct histogram_row) <= (size_t)nr * CACHE_LINE)
			memory_prefetch(table->rows, table->capacity * sizeof(struct histogram_row));
		else
			is_small = false;
	}
	for (uint32_t i = 0; i < nr && !is_small; i++)
		table_prefetch(latencies_of(thread, noted[i] & 1), sizeof(struct histogram_row),
			       histogram_row_key(noted[i] >> 1));
}

void latencies_flush(struct trace_analysis *a, struct trace_thread *thread)
{
	const uint32_t *noted = thread->slab ? thread->slab->latencies : NULL;
	uint32_t nr = thread->nr_latencies;

	thread->nr_latencies = 0;
	if (a->threads.nr >= THREADS_COLD)
		latencies_prefetch(thread, noted, nr);
	for (uint32_t i = 0; i < nr; i++)
		latency_count(a, latencies_of(thread, noted[i] & 1), noted[i] >> 1);
}

bool latencies_add(const struct trace_thread *thread, struct acct *acct)
{
	for (uint32_t i = 0; i < thread->nr_latencies; i++) {
		uint32_t noted = thread->slab->latencies[i];

		if (!histogram_add(noted & 1 ? &acct->trap_times : &acct->call_times, histogram_row_key(noted >> 1),
				   histogram_cell(noted >> 1), 1))
			return false;
	}
	return true;
}

void acct_latency(struct trace_analysis *a, struct trace_thread *thread, bool trap, uint64_t key)
{
	if (!thread->slab && thread->sched_state != SCHED_DEAD)
		acct_slab_get(a, thread);
	if (a->no_call_times)
		return;
	if (!thread->slab || key > UINT32_MAX >> 1) {
		latency_count(a, latencies_of(thread, trap), key);
		return;
	}
	thread->slab->latencies[thread->nr_latencies++] = (uint32_t)key << 1 | trap;
	if (thread->nr_latencies == NR_LATENCIES)
		latencies_flush(a, thread);
}
