/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef LIBTRACE_LANE_H
#define LIBTRACE_LANE_H
/*
 * lane.h - the payloads of one type in a block: every different one is kept once, and each event has the number of its own.
 *
 * In real recordings 1 to 30 % of the payloads of a block are different: the rest needs no columns, and no compression.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct syscall_args;

/**
 * struct lane - payloads in the order they came first
 * @rows: @nr_words each; the one being looked at is put behind them. @table: by hash, row + 1; 0: free
 * @rows_of: of each event; before it is looked at: in which word of the records its payload begins
 * @after: of each row, the row of the event behind its latest one, + 1; 0: not known yet
 * @lengths, @starts: by row, where in @texts its string is; @next_text: the one being looked at
 */
struct lane {
	uint64_t *rows;
	uint32_t *table;
	uint32_t *rows_of;
	uint32_t *after;
	uint64_t *lengths;
	uint32_t *starts;
	unsigned char *texts;
	unsigned char *next_text;
	unsigned char *end_text;
	uint32_t nr_events;
	uint32_t nr_rows;
	uint8_t table_bits;
	uint8_t nr_words;
	bool has_string;
};

/** lane_bytes() - memory that lane_init() takes, a multiple of 8, after nr_events, nr_words and has_string are filled in */
size_t lane_bytes(const struct lane *lane, size_t string_bytes);
void lane_init(struct lane *lane, void *memory, size_t string_bytes);

/** lane_fill() - look at all the payloads, of a type without strings */
void lane_fill(struct lane *lane, const unsigned char *records);

/** lane_fill_calls() - the same for sys_enter3 or sys_enter6: with the arguments as they are kept (syscall_args.h) */
void lane_fill_calls(struct lane *lane, const unsigned char *records, const struct syscall_args *args);

/**
 * lane_add_string() - the same for one event of a type with strings
 * @event: number of it. Its string is @length bytes at lane->next_text, with a hash of @hash, good in its upper bits
 */
void lane_add_string(struct lane *lane, size_t event, const unsigned char *payload, size_t length, uint64_t hash);

/** lane_bound() - bytes that lane_put() writes at most */
size_t lane_bound(const struct lane *lane);

/** lane_put() - append the columns to @out. @scratch: room for a number for each row. Returns the end of what it wrote */
unsigned char *lane_put(const struct lane *lane, unsigned char *out, uint64_t *scratch);

/** lane_index_planes() - bytes that tell @nr_rows rows apart */
static inline unsigned int lane_index_planes(uint32_t nr_rows)
{
	return nr_rows <= 1 ? 0 : nr_rows <= 1u << 8 ? 1 : nr_rows <= 1u << 16 ? 2 : 3;
}

#endif
