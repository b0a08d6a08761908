/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * accounting_packed.c - compress the sums of dead threads.
 *
 * The rows of a living thread must be found fast: its tables are half empty and have numbers of 64
 * bits. The rows of a dead thread are only read once, at the end. A recording of builds and shell
 * scripts has a hundred thousand dead threads for each living one.
 *
 * So when a thread ends, its tables become a byte string. Each table is stored as the number of its
 * rows and each number of each row in LEB128: groups of seven bits, low ones first. Most numbers
 * are small (300 is the two bytes 0xac 0x02): 5000 bytes of a short command become 600. A
 * histogram's row is stored as a bitmap of the counts that are not 0, and those counts.
 *
 * Additions may come after the thread's end, such as from an io_uring request that completes after
 * its submitter. They go into new tables of the dead thread, and acct_of() returns the sum of
 * both.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "accounting_packed.h"
#include "histogram.h"
#include "slice_log.h"
#include "state.h"

#define MAX_BYTES 10 /* of a LEB128 number */

static const struct {
	size_t offset; /* in struct acct */
	uint8_t row_bytes;
	enum form {
		FORM_SUMS,
		/*
		 * the last two numbers are extremes; the last one is the complement of a small
		 * number
		 */
		FORM_CALLS,
		FORM_TIMES, /* histogram.h */
	} form;
} tables[] = {
	{offsetof(struct acct, calls), sizeof(struct call_row), FORM_CALLS},
	{offsetof(struct acct, traps), sizeof(struct call_row), FORM_CALLS},
	{offsetof(struct acct, call_times), sizeof(struct histogram_row), FORM_TIMES},
	{offsetof(struct acct, trap_times), sizeof(struct histogram_row), FORM_TIMES},
	{offsetof(struct acct, waits), sizeof(struct wait_row), FORM_SUMS},
	{offsetof(struct acct, cpu_holders), sizeof(struct cpu_holder_row), FORM_SUMS},
	{offsetof(struct acct, interrupts), sizeof(struct interrupt_row), FORM_SUMS},
	{offsetof(struct acct, files), sizeof(struct file_row), FORM_SUMS},
};
#define NR_TABLES (sizeof(tables) / sizeof(tables[0]))
_Static_assert(sizeof(struct acct) == 7 * sizeof(uint64_t) + NR_TABLES * sizeof(struct hash_table),
	       "a table of struct acct is not in tables[]");

static const struct hash_table *table_of(const struct acct *acct, size_t i)
{
	return (const struct hash_table *)((const char *)acct + tables[i].offset);
}

void acct_clear(struct acct *acct)
{
	for (size_t i = 0; i < NR_TABLES; i++)
		table_clear((struct hash_table *)((char *)acct + tables[i].offset));
}

/* ---- sums ---- */

/* Add all members except the key. */
static void add_numbers(uint64_t *sum, const uint64_t *row, size_t row_bytes)
{
	for (size_t i = 1; i < row_bytes / sizeof(*row); i++)
		sum[i] += row[i];
}

static void add_call(struct call_row *sum, const struct call_row *row)
{
	uint64_t longest = row->longest > sum->longest ? row->longest : sum->longest;
	uint64_t shortest = row->shortest > sum->shortest ? row->shortest : sum->shortest;

	add_numbers((uint64_t *)sum, (const uint64_t *)row, sizeof(*row));
	sum->longest = longest;
	sum->shortest = shortest;
}

static bool add_row(struct acct *sum, size_t i, const uint64_t *row)
{
	struct hash_table *table = (struct hash_table *)((char *)sum + tables[i].offset);
	uint64_t *to;

	if (tables[i].form == FORM_TIMES)
		return histogram_add_row(table, (const struct histogram_row *)row);
	to = table_add(table, tables[i].row_bytes, *row);
	if (!to)
		return false;
	if (tables[i].form == FORM_CALLS)
		add_call((struct call_row *)to, (const struct call_row *)row);
	else
		add_numbers(to, row, tables[i].row_bytes);
	return true;
}

bool acct_add(struct acct *sum, const struct acct *acct)
{
	for (size_t i = 0; i < NR_TABLES; i++)
		for (const uint64_t *row = NULL; (row = table_next(table_of(acct, i), tables[i].row_bytes, row));)
			if (!add_row(sum, i, row))
				return false;
	sum->user += acct->user;
	sum->syscall += acct->syscall;
	sum->trap += acct->trap;
	sum->interrupted += acct->interrupted;
	sum->wait_cpu += acct->wait_cpu;
	sum->blocked += acct->blocked;
	sum->stolen += acct->stolen;
	return true;
}

/* ---- numbers ---- */

static uint8_t *put_number(uint8_t *at, uint64_t number)
{
	for (; number >= 0x80; number >>= 7)
		*at++ = (uint8_t)(number | 0x80);
	*at++ = (uint8_t)number;
	return at;
}

static const uint8_t *get_number(const uint8_t *at, uint64_t *ret_number)
{
	unsigned int shift = 0;

	*ret_number = 0;
	do
		*ret_number |= (uint64_t)(*at & 0x7f) << shift;
	while (shift += 7, *at++ & 0x80);
	return at;
}

/* ---- packing and unpacking ---- */

/*
 * The upper bound of the packed size: 8 bytes of a row become at most 10, or 16 if they are 8
 * counts. The bitmap of a histogram's row comes in addition.
 */
static size_t max_bytes(const struct acct *acct)
{
	size_t bytes = 0;

	for (size_t i = 0; i < NR_TABLES; i++)
		bytes += MAX_BYTES + (size_t)table_of(acct, i)->used * (tables[i].row_bytes / sizeof(uint64_t) + 1) *
					     2 * sizeof(uint64_t);
	return bytes;
}

static uint8_t *put_sums(uint8_t *at, const uint64_t *row, size_t i)
{
	size_t nr = tables[i].row_bytes / sizeof(*row);

	for (size_t n = 0; n < nr; n++)
		at = put_number(at, tables[i].form == FORM_CALLS && n == nr - 1 ? ~row[n] : row[n]);
	return at;
}

static const uint8_t *get_sums(const uint8_t *at, uint64_t *row, size_t i)
{
	size_t nr = tables[i].row_bytes / sizeof(*row);

	for (size_t n = 0; n < nr; n++)
		at = get_number(at, &row[n]);
	if (tables[i].form == FORM_CALLS)
		row[nr - 1] = ~row[nr - 1];
	return at;
}

static uint8_t *put_times(uint8_t *at, const struct histogram_row *row)
{
	uint32_t used = 0;

	for (uint32_t cell = 0; cell < HISTOGRAM_BUCKETS; cell++)
		used |= (uint32_t)(row->counts[cell] != 0) << cell;
	at = put_number(put_number(at, row->key), used);
	for (; used; used &= used - 1)
		at = put_number(at, row->counts[__builtin_ctz(used)]);
	return at;
}

static const uint8_t *get_times(const uint8_t *at, struct histogram_row *row)
{
	uint64_t used, count;

	*row = (struct histogram_row){0};
	at = get_number(get_number(at, &row->key), &used);
	for (; used; used &= used - 1) {
		at = get_number(at, &count);
		row->counts[__builtin_ctzll(used)] = (uint8_t)count;
	}
	return at;
}

static uint8_t *put_table(uint8_t *at, const struct acct *acct, size_t i)
{
	at = put_number(at, table_of(acct, i)->used);
	for (const void *row = NULL; (row = table_next(table_of(acct, i), tables[i].row_bytes, row));)
		at = tables[i].form == FORM_TIMES ? put_times(at, row) : put_sums(at, row, i);
	return at;
}

void acct_pack(struct trace_analysis *a, struct trace_thread *thread)
{
	uint8_t *bytes, *end, *packed;

	latencies_flush(a, thread);
	acct_flush(a);
	if (uses_add(thread, &thread->acct))
		uses_give(a, thread);
	else
		a->failed = -ENOMEM;
	end = bytes = malloc(max_bytes(&thread->acct));
	for (size_t i = 0; bytes && i < NR_TABLES; i++)
		end = put_table(end, &thread->acct, i);
	packed = bytes ? malloc((size_t)(end - bytes)) : NULL;
	if (packed) { /* else the tables stay as they are */
		memcpy(packed, bytes, (size_t)(end - bytes));
		thread->packed = packed;
		thread->packed_bytes = (uint32_t)(end - bytes);
		for (size_t i = 0; i < NR_TABLES; i++)
			acct_give_rows(a, table_of(&thread->acct, i), tables[i].row_bytes);
		acct_clear(&thread->acct);
		acct_slab_give(a, thread);
	}
	free(bytes);
}

/* Unpack to rows without gaps. A caller can iterate over them, but not look them up. */
static bool unpack(const struct trace_thread *thread, struct acct *acct)
{
	const uint8_t *at = thread->packed;
	uint64_t nr_rows;

	for (size_t i = 0; i < NR_TABLES; i++) {
		struct hash_table *table = (struct hash_table *)((char *)acct + tables[i].offset);
		char *row;

		at = get_number(at, &nr_rows);
		if (!nr_rows)
			continue;
		table->rows = row = malloc(nr_rows * tables[i].row_bytes);
		if (!row)
			return false;
		table->used = (uint32_t)nr_rows & INT32_MAX; /* as it was packed */
		table->capacity = (uint32_t)nr_rows;
		for (; nr_rows; nr_rows--, row += tables[i].row_bytes)
			at = tables[i].form == FORM_TIMES ? get_times(at, (struct histogram_row *)(void *)row)
							  : get_sums(at, (uint64_t *)(void *)row, i);
	}
	return at == thread->packed + thread->packed_bytes;
}

static bool has_rows(const struct acct *acct)
{
	for (size_t i = 0; i < NR_TABLES; i++)
		if (table_of(acct, i)->used)
			return true;
	return false;
}

/* Copy the sums, with tables of their own. */
static bool copy(const struct acct *acct, struct acct *ret_copy)
{
	*ret_copy = *acct;
	for (size_t i = 0; i < NR_TABLES; i++)
		*(struct hash_table *)((char *)ret_copy + tables[i].offset) = (struct hash_table){0};
	for (size_t i = 0; i < NR_TABLES; i++) {
		const struct hash_table *table = table_of(acct, i);
		size_t bytes = (size_t)table->capacity * tables[i].row_bytes;
		void *rows = table->used ? malloc(bytes) : NULL;

		if (!table->used)
			continue;
		if (!rows)
			return false;
		*(struct hash_table *)((char *)ret_copy + tables[i].offset) = (struct hash_table){
			.rows = memcpy(rows, table->rows, bytes), .used = table->used, .capacity = table->capacity};
	}
	return true;
}

/* Copy the sums of a thread that is not packed and add what is not in its tables yet. */
static bool add_open(const struct trace_analysis *a, const struct trace_thread *thread, struct acct *ret_acct)
{
	if (!copy(&thread->acct, ret_acct))
		return false;
	return latencies_add(thread, ret_acct) && slice_log_add(a, thread, &ret_acct->cpu_holders) &&
	       uses_add(thread, ret_acct);
}

const struct acct *acct_of(const struct trace_analysis *a, const struct trace_thread *thread, struct acct *scratch)
{
	bool is_open = thread->nr_latencies || thread->in_episode || thread->uses.used, ok;
	struct acct own = thread->acct, sum = {0};

	if (!thread->packed && !is_open)
		return &thread->acct;
	if (!thread->packed)
		return add_open(a, thread, scratch) ? scratch : NULL;
	ok = unpack(thread, scratch);
	if (ok && (has_rows(&own) || is_open)) {
		ok = acct_add(&sum, scratch) && acct_add(&sum, &own) && latencies_add(thread, &sum) &&
		     slice_log_add(a, thread, &sum.cpu_holders) && uses_add(thread, &sum);
		acct_clear(scratch);
		*scratch = sum;
	}
	scratch->user = own.user;
	scratch->syscall = own.syscall;
	scratch->trap = own.trap;
	scratch->interrupted = own.interrupted;
	scratch->wait_cpu = own.wait_cpu;
	scratch->blocked = own.blocked;
	scratch->stolen = own.stolen;
	return ok ? scratch : NULL;
}
