/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef BASE_HASH_TABLE_H
#define BASE_HASH_TABLE_H
/*
 * hash_table.h - the two containers of the analysis: a table of rows with a 64-bit key, and
 * interned strings.
 *
 * A table is an array with open addressing. The first member of each row is its key; key 0 marks a
 * free row. A thread has half a dozen tables, most with a handful of rows. So hash_table has only
 * 16 bytes and starts empty.
 * A small table stores its rows in the order of insertion, without holes. With thousands of
 * threads, a look-up then touches only the cache lines of used rows. The rows of larger tables have
 * another order in each run (hash.h).
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "hash.h"

struct hash_table {
	void *rows; /* owned, or lent */
	uint32_t used : 31;
	uint32_t is_lent : 1; /* rows are memory of the caller, until the table grows */
	uint32_t capacity;    /* 0, or a power of two */
};

#define TABLE_SMALL 8u /* capacity of a small table, at most */

/** table_home() - the row in @capacity at which the search for @key begins */
static inline uint32_t table_home(uint64_t key, uint32_t capacity)
{
	return capacity <= TABLE_SMALL ? 0 : hash_u32(key) & (capacity - 1);
}

/** table_find() - the row of @key (not 0), or NULL */
static inline void *table_find(const struct hash_table *table, size_t row_bytes, uint64_t key)
{
	uint32_t mask = table->capacity - 1;

	if (!table->capacity)
		return NULL;
	for (uint32_t i = table_home(key, table->capacity);; i = (i + 1) & mask) {
		uint64_t *row = (uint64_t *)((char *)table->rows + i * row_bytes);

		if (*row == key)
			return row;
		if (!*row)
			return NULL;
	}
}

#define CACHE_LINE 64u

/**
 * line_prefetch() - prefetch the cache line at @at, for writing
 * A caller that prefetches many lines waits for their memory accesses at the same time.
 * The empty asm statement counts as a side effect. gcc 12.2 takes a function that only prefetches
 * for a pure one and drops its calls.
 */
static inline void line_prefetch(const void *at)
{
	__builtin_prefetch(at, 1);
	__asm__ volatile("");
}

/** memory_prefetch() - prefetch @bytes at @memory, which may be 0 bytes */
static inline void memory_prefetch(const void *memory, size_t bytes)
{
	for (size_t at = 0; at < bytes; at += CACHE_LINE)
		line_prefetch((const char *)memory + at);
}

/**
 * table_prefetch() - prefetch the row of @key
 * Prefetches two lines if rows are long, because the row, or one that the search visits before it,
 * may cross into the next line.
 */
static inline void table_prefetch(const struct hash_table *table, size_t row_bytes, uint64_t key)
{
	const char *row;

	if (!table->capacity)
		return;
	row = (const char *)table->rows + table_home(key, table->capacity) * row_bytes;
	line_prefetch(row);
	if (row_bytes > CACHE_LINE / 2)
		line_prefetch(row + CACHE_LINE);
}

/**
 * table_add() - find or insert the row of @key (not 0). A new row has zeros after its key. NULL:
 * out of memory. Moves the other rows.
 */
void *table_add(struct hash_table *table, size_t row_bytes, uint64_t key);
/**
 * table_lend() - let the empty @table use the caller's @rows until it grows
 * @rows: zeroed. @capacity: number of rows, a power of two
 */
void table_lend(struct hash_table *table, void *rows, uint32_t capacity);
/**
 * table_is_full() - would one more row make the table grow?
 * table_more() - the capacity that it would then have
 */
static inline bool table_is_full(const struct hash_table *table)
{
	return (table->used + 1) * 4ull > table->capacity * 3ull;
}
uint32_t table_more(const struct hash_table *table);
/**
 * table_move() - move the rows into the caller's zeroed @rows, which are lent; @capacity as in
 * table_lend()
 */
void table_move(struct hash_table *table, size_t row_bytes, void *rows, uint32_t capacity);
/**
 * table_reserve() - make room for @nr_rows rows in all, if there is memory. Adding them then moves
 * no row.
 */
void table_reserve(struct hash_table *table, size_t row_bytes, uint32_t nr_rows);
/** table_remove() - remove the row of @key, if there is one. Moves other rows. */
void table_remove(struct hash_table *table, size_t row_bytes, uint64_t key);
void table_clear(struct hash_table *table);

/** table_next() - iterate over the used rows: @row NULL returns the first; NULL after the last */
void *table_next(const struct hash_table *table, size_t row_bytes, const void *row);

/* A string's number; 0 is the empty string. */
typedef uint32_t string_id;

struct strings {
	struct hash_table by_hash;
	char **text; /* the array and each string are owned */
	uint32_t used;
	uint32_t capacity;
	bool failed; /* out of memory: at least one text has number 0 although it is not empty */
};

/**
 * strings_intern() - return the number of @text, and keep a copy of it
 * Returns 0 when out of memory, and sets @strings->failed. The owner checks that flag before it
 * uses any result.
 */
string_id strings_intern(struct strings *strings, const char *text);
/** strings_prefetch() - prefetch for a later strings_intern() of a text with this hash */
static inline void strings_prefetch(const struct strings *strings, uint64_t hash)
{
	table_prefetch(&strings->by_hash, 2 * sizeof(uint64_t), hash + !hash);
}
/**
 * strings_take() - like strings_intern(), but takes over @text (from malloc()): keeps it or frees
 * it
 */
string_id strings_take(struct strings *strings, char *text);
static inline const char *strings_text(const struct strings *strings, string_id id)
{
	return id && id < strings->used ? strings->text[id] : "";
}
void strings_clear(struct strings *strings);
#endif
