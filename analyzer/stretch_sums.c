/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* stretch_sums.c - add, pack and unpack the sums of tables: stretch_sums.h. */
#include <stdlib.h>
#include <string.h>
#include "histogram.h"
#include "stretch_sums.h"

#define TIMES_HEAD (sizeof(uint64_t) + sizeof(uint32_t)) /* a row's key, and which counts follow */

_Static_assert(HISTOGRAM_BUCKETS <= 32, "the bits of a row's counts");

/* Rows for @max groups, and what tells of their blocks. False: no memory; what there was stays. */
static bool make_room(struct stretch_sums *sums, uint32_t max)
{
	uint32_t nr_blocks = max / STRETCH_BLOCK, before = sums->max / STRETCH_BLOCK;
	struct stretch_row *rows = reallocarray(sums->rows, max, sizeof(*rows));
	uint32_t *blocks = rows ? reallocarray(sums->blocks, nr_blocks, sizeof(*blocks)) : NULL;
	bool *is_used = blocks ? reallocarray(sums->is_used, nr_blocks, sizeof(*is_used)) : NULL;

	sums->rows = rows ? rows : sums->rows;
	sums->blocks = blocks ? blocks : sums->blocks;
	if (!is_used)
		return false;
	memset(rows + sums->max, 0, (max - sums->max) * sizeof(*rows));
	memset(is_used + before, 0, (nr_blocks - before) * sizeof(*is_used));
	sums->is_used = is_used;
	sums->max = max;
	return true;
}

struct stretch_row *stretch_sums_row(struct stretch_sums *sums, uint32_t group)
{
	static struct stretch_row sink;
	uint32_t block = group / STRETCH_BLOCK;

	if (group < sums->nr && sums->is_used[block])
		return &sums->rows[group];
	if (group >= sums->max && !make_room(sums, (block + block / 2 + 8) * STRETCH_BLOCK)) {
		sums->failed = true;
		return &sink;
	}
	if (!sums->is_used[block])
		sums->blocks[sums->nr_blocks++] = block;
	sums->is_used[block] = true;
	sums->nr = group < sums->nr ? sums->nr : group + 1;
	return &sums->rows[group];
}

void stretch_sums_call(struct stretch_sums *sums, uint32_t group, uint64_t ns, bool is_error)
{
	uint64_t *n = stretch_sums_row(sums, group)->n, key = latency_key(group + 1ull, ns);
	struct histogram_row *times;

	n[SUM_CALLS]++;
	n[SUM_ERRORS] += is_error;
	n[SUM_LONGEST] = ns > n[SUM_LONGEST] ? ns : n[SUM_LONGEST];
	n[SUM_SHORTEST] = ~ns > n[SUM_SHORTEST] ? ~ns : n[SUM_SHORTEST];
	times = table_find(&sums->times, sizeof(*times), histogram_row_key(key));
	if (times && times->counts[histogram_cell(key)] < UINT8_MAX)
		times->counts[histogram_cell(key)]++;
	else
		sums->failed |= !histogram_add(&sums->times, histogram_row_key(key), histogram_cell(key), 1);
}

/* ---- pack ---- */

static uint8_t *put(uint8_t *at, uint64_t number)
{
	for (; number >= 0x80; number >>= 7)
		*at++ = (uint8_t)(number | 0x80);
	*at++ = (uint8_t)number;
	return at;
}

static bool is_empty(const struct stretch_row *row)
{
	uint64_t any = 0;

	for (int i = 0; i < NR_SUMS; i++)
		any |= row->n[i];
	return !any;
}

static void pack_row(uint32_t skipped, const struct stretch_row *row, struct bytes_out *out)
{
	uint8_t *begin = bytes_room(out, 10 * (NR_SUMS + 1)), *at = begin;

	if (!begin)
		return;
	at = put(at, skipped);
	for (int i = 0; i < NR_SUMS; i++)
		at = put(at, i == SUM_SHORTEST && row->n[i] ? ~row->n[i] + 1 : row->n[i]);
	out->nr -= 10 * (NR_SUMS + 1) - (size_t)(at - begin);
}

static void pack_times(const struct histogram_row *row, struct bytes_out *out)
{
	uint8_t *begin = bytes_room(out, TIMES_HEAD + HISTOGRAM_BUCKETS), *at = begin;
	uint32_t used = 0;

	if (!begin)
		return;
	memcpy(at, &row->key, sizeof(row->key));
	at += sizeof(row->key);
	for (uint32_t cell = 0; cell < HISTOGRAM_BUCKETS; cell++)
		used |= (uint32_t)(row->counts[cell] != 0) << cell;
	memcpy(at, &used, sizeof(used));
	at += sizeof(used);
	for (; used; used &= used - 1)
		*at++ = row->counts[__builtin_ctz(used)];
	out->nr -= TIMES_HEAD + HISTOGRAM_BUCKETS - (size_t)(at - begin);
}

/* Number @i of the groups in used blocks. */
static uint32_t group_at(const struct stretch_sums *sums, uint32_t i)
{
	return sums->blocks[i / STRETCH_BLOCK] * STRETCH_BLOCK + i % STRETCH_BLOCK;
}

static int by_number(const void *left, const void *right)
{
	const uint32_t *l = left, *r = right;

	return *l < *r ? -1 : *l > *r;
}

void stretch_sums_pack(const struct stretch_sums *sums, struct bytes_out *out)
{
	uint32_t nr = 0, next = 0;

	if (sums->nr_blocks)
		qsort(sums->blocks, sums->nr_blocks, sizeof(*sums->blocks), by_number);
	for (uint32_t i = 0; i < sums->nr_blocks * STRETCH_BLOCK; i++)
		nr += !is_empty(&sums->rows[group_at(sums, i)]);
	bytes_put_number(out, nr);
	for (uint32_t i = 0; i < sums->nr_blocks * STRETCH_BLOCK; i++) {
		uint32_t group = group_at(sums, i);

		if (is_empty(&sums->rows[group]))
			continue;
		pack_row(group - next, &sums->rows[group], out);
		next = group + 1;
	}
	bytes_put_number(out, sums->times.used);
	for (const struct histogram_row *row = NULL; (row = table_next(&sums->times, sizeof(*row), row));)
		pack_times(row, out);
}

/* ---- add ---- */

/* As bytes_number(); most numbers have few bytes. */
static inline uint64_t get(struct bytes_in *in)
{
	if (in->end - in->at >= 3 && in->at[0] < 0x80)
		return *in->at++;
	if (in->end - in->at >= 3 && in->at[1] < 0x80) {
		in->at += 2;
		return (in->at[-2] & 0x7fu) | (uint64_t)in->at[-1] << 7;
	}
	if (in->end - in->at >= 3 && in->at[2] < 0x80) {
		in->at += 3;
		return (in->at[-3] & 0x7fu) | (in->at[-2] & 0x7fu) << 7 | (uint64_t)in->at[-1] << 14;
	}
	return bytes_number(in);
}

static void add_row(struct stretch_row *row, struct bytes_in *in)
{
	uint64_t more[NR_SUMS];

	for (int i = 0; i < NR_SUMS; i++)
		more[i] = get(in);
	if (more[SUM_SHORTEST])
		more[SUM_SHORTEST] = ~(more[SUM_SHORTEST] - 1);
	for (int i = 0; i < SUM_LONGEST; i++)
		row->n[i] += more[i];
	for (int i = SUM_LONGEST; i < NR_SUMS; i++)
		row->n[i] = more[i] > row->n[i] ? more[i] : row->n[i];
}

static void add_times(struct stretch_sums *sums, struct bytes_in *in)
{
	const uint8_t *head = bytes_take(in, TIMES_HEAD);
	struct histogram_row *row;
	uint32_t used;
	uint64_t key;

	if (!head)
		return;
	memcpy(&key, head, sizeof(key));
	row = table_find(&sums->times, sizeof(*row), key);
	if (!row)
		row = table_add(&sums->times, sizeof(*row), key + !key);
	sums->failed |= !row;
	if (!row)
		return;
	for (memcpy(&used, head + sizeof(key), sizeof(used)); used && in->at < in->end; used &= used - 1) {
		uint32_t cell = (uint32_t)__builtin_ctz(used), count;

		in->failed |= cell >= HISTOGRAM_BUCKETS;
		if (in->failed)
			return;
		count = row->counts[cell] + (uint32_t)*in->at++;
		row->counts[cell] = (uint8_t)count;
		if (count < 256)
			continue;
		sums->failed |= !histogram_add(&sums->times, key + 1, cell, 1);
		row = table_find(&sums->times, sizeof(*row), key); /* it may have moved */
		if (!row)
			return;
	}
}

void stretch_sums_add(struct stretch_sums *sums, struct bytes_in *in)
{
	uint64_t group = 0;
	uint32_t nr_times;

	for (uint32_t nr = bytes_count(in, NR_SUMS + 1); nr && !in->failed; nr--) {
		group += get(in);
		if (group >= UINT32_MAX / 2)
			in->failed = true;
		else
			add_row(stretch_sums_row(sums, (uint32_t)group++), in);
	}
	nr_times = bytes_count(in, TIMES_HEAD);
	/* in the order of their places, which would all be near the begin of a smaller table */
	table_reserve(&sums->times, sizeof(struct histogram_row), sums->times.used + nr_times);
	for (; nr_times && !in->failed && !sums->failed; nr_times--)
		add_times(sums, in);
}

void stretch_sums_reset(struct stretch_sums *sums)
{
	uint32_t rows;

	for (uint32_t i = 0; i < sums->nr_blocks; i++) {
		memset(sums->rows + sums->blocks[i] * STRETCH_BLOCK, 0, STRETCH_BLOCK * sizeof(*sums->rows));
		sums->is_used[sums->blocks[i]] = false;
	}
	sums->nr_blocks = 0;
	sums->nr = 0;
	rows = sums->times.used;
	table_clear(&sums->times);
	table_reserve(&sums->times, sizeof(struct histogram_row), rows);
}

void stretch_sums_clear(struct stretch_sums *sums)
{
	free(sums->rows);
	free(sums->blocks);
	free(sums->is_used);
	table_clear(&sums->times);
	*sums = (struct stretch_sums){0};
}
