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
 * @rows: @nr_words each; the one being looked at is put behind them. @table: by hash, row + 1; 0: free. It grows when there are more than @table_rows
 * @rows_of: of each event; @next_row_of: of the next one
 * @has_calls: they were added by lane_add_calls()
 * @lengths, @starts, @hashes: by row, where in @texts its string is, and the upper half of the hash of both; @next_text: the one being looked at
 */
struct lane {
	uint64_t *rows;
	uint32_t *table;
	uint32_t *rows_of;
	uint32_t *next_row_of;
	uint64_t *lengths;
	uint32_t *starts;
	uint32_t *hashes;
	unsigned char *texts;
	unsigned char *next_text;
	unsigned char *end_text;
	uint32_t nr_events;
	uint32_t nr_rows;
	uint32_t table_rows;
	uint8_t table_bits;
	uint8_t nr_words;
	bool has_string;
	bool has_calls;
};

/** lane_bytes() - memory that lane_init() takes, a multiple of 8, after nr_events, nr_words and has_string are filled in */
size_t lane_bytes(const struct lane *lane, size_t string_bytes);
/**
 * lane_init() - ready for the events
 * lane->nr_rows is how many rows there may be, such as there were of the type in the block before: a table for those is small, because most payloads
 * occur again and again; it stays where it is quickly read, and is soon cleared.
 */
void lane_init(struct lane *lane, void *memory, size_t string_bytes);

enum {
	LANE_AHEAD = 8,
};

/** lane_add() - @nr events of a type without strings. @payloads: in which 8-byte words of @records theirs begin; LANE_AHEAD numbers behind them can be read, too, and may be any */
void lane_add(struct lane *lane, const unsigned char *records, const uint32_t *payloads, size_t nr);

/** lane_add_calls() - the same for sys_enter3 or sys_enter6: with the arguments as they are kept (syscall_args.h) */
void lane_add_calls(struct lane *lane, const unsigned char *records, const uint32_t *payloads, size_t nr, const struct syscall_args *args);

/** lane_add_string() - one event of a type with strings. Its string is @length bytes at lane->next_text, with a hash of @hash, good in its upper bits */
void lane_add_string(struct lane *lane, const unsigned char *payload, size_t length, uint64_t hash);

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
