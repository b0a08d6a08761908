/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef LIBTRACE_LANE_H
#define LIBTRACE_LANE_H
/*
 * lane.h - the payloads of one event type in a block: each different payload is stored once, as a
 * row, and each event has the number of its row.
 *
 * In real recordings 1 to 30 % of the payloads of a block are different. The other events need no
 * columns and no compression.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct stacks_coded;
struct syscall_args;

/**
 * struct lane - the rows, in the order of their first use
 * @rows: @nr_words words each. The payload that is being added is written after the last row
 * @table: by hash, the number of a row + 1; 0: free. It grows when there are more than @table_rows
 *	rows
 * @rows_of: row of each event. @next_row_of: where the row of the next event goes
 * @has_calls: the events were added by lane_add_calls()
 * @lengths, @starts, @hashes: by row: its string in @texts, and the upper half of the hash of
 *	payload and string
 * @next_text: the string that is being added
 * @stacks: in place of the strings, and of all words except the first; borrowed; NULL: none
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
	const struct stacks_coded *stacks;
};

/**
 * lane_bytes() - memory that lane_init() needs, a multiple of 8. Set nr_events, nr_words and
 * has_string before
 */
size_t lane_bytes(const struct lane *lane, size_t string_bytes);
/**
 * lane_init() - prepare the lane for its events
 * Set lane->nr_rows to the expected number of rows before, for example that of the same type in the
 * previous block. Most payloads repeat, so a table of that size is small. It stays in the cache and
 * is cleared quickly.
 */
void lane_init(struct lane *lane, void *memory, size_t string_bytes);

enum {
	LANE_AHEAD = 8,
};

/**
 * lane_add() - add @nr events of a type without strings
 * @payloads: positions of their payloads in @records, in 8-byte words. LANE_AHEAD further numbers
 *	must be readable, and may have any value
 */
void lane_add(struct lane *lane, const unsigned char *records, const uint32_t *payloads, size_t nr);

/**
 * lane_add_calls() - the same for sys_enter3 or sys_enter6; keeps their arguments as syscall_args.h
 * says
 */
void lane_add_calls(struct lane *lane, const unsigned char *records, const uint32_t *payloads, size_t nr,
		    const struct syscall_args *args);

/**
 * lane_add_string() - add one event of a type with strings
 * Its string has @length bytes at lane->next_text. The upper bits of @hash are a good hash of the
 * string.
 */
void lane_add_string(struct lane *lane, const unsigned char *payload, size_t length, uint64_t hash);

/** lane_text_bytes() - number of bytes that the lane has among the texts */
size_t lane_text_bytes(const struct lane *lane);

/** lane_put_texts() - append these texts to @out. Returns the end of what it wrote */
unsigned char *lane_put_texts(const struct lane *lane, unsigned char *out);

/** lane_bound() - maximum number of bytes that lane_put() writes */
size_t lane_bound(const struct lane *lane);

/**
 * lane_put() - append the columns to @out. Returns the end of what it wrote
 * @scratch: room for one number for each row
 */
unsigned char *lane_put(const struct lane *lane, unsigned char *out, uint64_t *scratch);

/** lane_index_planes() - number of bytes that a row number needs */
static inline unsigned int lane_index_planes(uint32_t nr_rows)
{
	return nr_rows <= 1 ? 0 : nr_rows <= 1u << 8 ? 1 : nr_rows <= 1u << 16 ? 2 : 3;
}

#endif
