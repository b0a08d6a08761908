/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "lane.h"

#include "clones.h"
#include "columns.h"
#include "syscall_args.h"

#include <string.h>

static size_t round_up_8(size_t bytes)
{
	return (bytes + 7) & ~(size_t)7;
}

/* A table that is three quarters full at most. */
static uint8_t table_bits(uint32_t nr_events)
{
	uint8_t bits = 1;

	while ((3ULL << bits) < 4ULL * nr_events)
		bits++;
	return bits;
}

size_t lane_bytes(const struct lane *lane, size_t string_bytes)
{
	size_t nr = lane->nr_events, bytes = 8 * nr * lane->nr_words + 8 * nr + ((size_t)4 << table_bits(lane->nr_events));

	return bytes + (lane->has_string ? 8 * nr + round_up_8(4 * nr) + round_up_8(string_bytes) : 0);
}

void lane_init(struct lane *lane, void *memory, size_t string_bytes)
{
	size_t nr = lane->nr_events;
	unsigned char *at = memory;

	lane->table_bits = table_bits(lane->nr_events);
	lane->rows = (uint64_t *)at;
	at += 8 * nr * lane->nr_words;
	lane->rows_of = (uint32_t *)at;
	lane->after = lane->rows_of + nr;
	at += 8 * nr;
	lane->table = (uint32_t *)at;
	at += (size_t)4 << lane->table_bits;
	memset(lane->table, 0, (size_t)4 << lane->table_bits);
	if (!lane->has_string)
		return;
	lane->lengths = (uint64_t *)at;
	at += 8 * nr;
	lane->starts = (uint32_t *)at;
	at += round_up_8(4 * nr);
	lane->texts = lane->next_text = at;
	lane->end_text = at + string_bytes;
}

/* ---- rows ---- */

/* The products do not wait for each other, and their sum is good enough in its upper bits. */
static inline uint64_t row_hash(const uint64_t *row, size_t nr_words)
{
	uint64_t hash = 0, factor = 0x9e3779b97f4a7c15;

	for (size_t i = 0; i < nr_words; i++, factor += 0x3c6ef372fe94f82a)
		hash += (row[i] ^ (row[i] >> 32)) * factor;
	return hash;
}

/*
 * The words, or what @form wants of them; is that what @other is, too? Looked at together, from the registers: to load at once what was
 * stored word by word makes the processor wait for its stores.
 */
static inline __attribute__((always_inline)) bool row_copy(uint64_t *row, const unsigned char *payload, size_t nr_words, const struct syscall_form *form, const uint64_t *other)
{
	uint64_t differs = 0;

#pragma GCC unroll 8
	for (size_t i = 0; i < nr_words; i++) {
		uint64_t word;

		memcpy(&word, payload + 8 * i, 8);
		if (form && !(form->kept >> i & 1))
			word = word && form->addresses >> i & 1 ? TRACE_ARG_ADDRESS : 0;
		differs |= word ^ other[i];
		row[i] = word;
	}
	return !differs;
}

static inline bool rows_equal(const uint64_t *row, const uint64_t *other, size_t nr_words)
{
	uint64_t differs = 0;

	for (size_t i = 0; i < nr_words; i++)
		differs |= row[i] ^ other[i];
	return !differs;
}

/*
 * @nr_words is a constant where it is called for the usual sizes: without the loops this takes half the time. What came behind the same payload
 * the last time often does so again: then there is no need for a hash and a look into a table that lies elsewhere.
 */
static inline __attribute__((always_inline)) void fill(struct lane *lane, const unsigned char *records, size_t nr_words,
						       const struct syscall_args *args)
{
	uint64_t *rows = lane->rows;
	uint32_t *table = lane->table, *rows_of = lane->rows_of, *after = lane->after, nr_rows = 0, row = 0, none = 0, *expected = &none;
	uint32_t mask = (1u << lane->table_bits) - 1, shift = 64u - lane->table_bits;

	for (size_t i = 0; i < lane->nr_events; i++) {
		uint64_t *words = rows + nr_rows * nr_words, first;
		const unsigned char *payload = records + 8 * (size_t)rows_of[i];
		struct syscall_form form;
		uint32_t slot;

		memcpy(&first, payload, 8);
		if (args)
			form = syscall_args_of(args, first);
		row = *expected;
		if (!row_copy(words, payload, nr_words, args ? &form : NULL, rows + (row - !!row) * nr_words) || !row) {
			slot = (uint32_t)(row_hash(words, nr_words) >> shift);
			while ((row = table[slot]) && !rows_equal(rows + (row - 1) * nr_words, words, nr_words))
				slot = (slot + 1) & mask;
			if (!row) {
				row = table[slot] = ++nr_rows;
				after[row - 1] = 0;
			}
			*expected = row;
		}
		expected = &after[row - 1];
		rows_of[i] = row - 1;
	}
	lane->nr_rows = nr_rows;
}

TRACE_CLONES static void fill_plain(struct lane *lane, const unsigned char *records)
{
	switch (lane->nr_words) {
	case 1:
		fill(lane, records, 1, NULL);
		break;
	case 2:
		fill(lane, records, 2, NULL);
		break;
	case 3:
		fill(lane, records, 3, NULL);
		break;
	case 4:
		fill(lane, records, 4, NULL);
		break;
	case 7:
		fill(lane, records, 7, NULL);
		break;
	default:
		fill(lane, records, lane->nr_words, NULL);
		break;
	}
}

TRACE_CLONES static void fill_calls(struct lane *lane, const unsigned char *records, const struct syscall_args *args)
{
	if (lane->nr_words == 4)
		fill(lane, records, 4, args);
	else
		fill(lane, records, lane->nr_words, args);
}

void lane_fill(struct lane *lane, const unsigned char *records)
{
	fill_plain(lane, records);
}

void lane_fill_calls(struct lane *lane, const unsigned char *records, const struct syscall_args *args)
{
	fill_calls(lane, records, args);
}

void lane_add_string(struct lane *lane, size_t event, const unsigned char *payload, size_t length, uint64_t hash)
{
	size_t nr_words = lane->nr_words;
	uint64_t *words = lane->rows + lane->nr_rows * nr_words;
	uint32_t mask = (1u << lane->table_bits) - 1, slot, row;

	row_copy(words, payload, nr_words, NULL, words);
	hash += row_hash(words, nr_words);
	for (slot = (uint32_t)(hash >> (64 - lane->table_bits)); (row = lane->table[slot]); slot = (slot + 1) & mask)
		if (rows_equal(lane->rows + (row - 1) * nr_words, words, nr_words) && lane->lengths[row - 1] == length &&
		    !memcmp(lane->texts + lane->starts[row - 1], lane->next_text, length))
			break;
	if (!row) {
		lane->lengths[lane->nr_rows] = length;
		lane->starts[lane->nr_rows] = (uint32_t)(lane->next_text - lane->texts);
		lane->next_text += length;
		row = lane->table[slot] = ++lane->nr_rows;
	}
	lane->rows_of[event] = row - 1;
}

/* ---- columns ---- */

size_t lane_bound(const struct lane *lane)
{
	return (lane->nr_words + 1u) * column_bound(lane->nr_rows) + (size_t)lane_index_planes(lane->nr_rows) * lane->nr_events;
}

static unsigned char *put_indexes(unsigned char *out, const struct lane *lane)
{
	for (unsigned int plane = 0; plane < lane_index_planes(lane->nr_rows); plane++, out += lane->nr_events)
		for (size_t i = 0; i < lane->nr_events; i++)
			out[i] = (unsigned char)(lane->rows_of[i] >> (8 * plane));
	return out;
}

unsigned char *lane_put(const struct lane *lane, unsigned char *out, uint64_t *scratch)
{
	for (size_t word = 0; word < lane->nr_words; word++) {
		for (size_t row = 0; row < lane->nr_rows; row++)
			scratch[row] = lane->rows[row * lane->nr_words + word];
		out = column_encode(out, scratch, lane->nr_rows);
	}
	if (lane->has_string)
		out = column_encode(out, lane->lengths, lane->nr_rows);
	return lane->nr_rows < lane->nr_events ? put_indexes(out, lane) : out;
}
