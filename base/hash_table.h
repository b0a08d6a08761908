/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef BASE_HASH_TABLE_H
#define BASE_HASH_TABLE_H
/*
 * hash_table.h - the two containers of the analysis: rows found by a 64-bit key, and strings that are kept once.
 *
 * A table is an array with open addressing: the first member of every row is its key, and key 0 is a free row. A thread has half a dozen of them, most with a handful of rows, so the struct is 16 bytes and starts empty.
 * While it is small its rows stand in the order they came in, without a hole: of thousands of threads those that are used are asked for, and no more.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct table {
	void *rows; /* owned, or lent */
	uint32_t used : 31;
	uint32_t is_lent : 1; /* somebody else's memory, until it is too small */
	uint32_t capacity; /* 0, or a power of two */
};

static inline uint64_t hash_u64(uint64_t key)
{
	key *= 0x9e3779b97f4a7c15ULL;
	return key ^ key >> 32;
}

#define TABLE_SMALL 8u /* rows of room at most */

/** table_home() - which row of @capacity is looked at first for @key */
static inline uint32_t table_home(uint64_t key, uint32_t capacity)
{
	return capacity <= TABLE_SMALL ? 0 : (uint32_t)hash_u64(key) & (capacity - 1);
}

/** table_find() - the row of @key (not 0), or NULL */
static inline void *table_find(const struct table *table, size_t row_bytes, uint64_t key)
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
 * line_prefetch() - what is at @at will be wanted: of many, the memory can then be waited for at once
 * The asm, which is empty, is an effect: to gcc (12.2) a function that has no other than to prefetch is pure, and its calls are left out.
 */
static inline void line_prefetch(const void *at)
{
	__builtin_prefetch(at, 1);
	__asm__ volatile("");
}

/** table_prefetch() - the row of @key will be wanted; of long rows also the next line, into which it, or the row that is found instead, may reach */
static inline void table_prefetch(const struct table *table, size_t row_bytes, uint64_t key)
{
	const char *row;

	if (!table->capacity)
		return;
	row = (const char *)table->rows + table_home(key, table->capacity) * row_bytes;
	line_prefetch(row);
	if (row_bytes > CACHE_LINE / 2)
		line_prefetch(row + CACHE_LINE);
}

/** table_add() - the row of @key (not 0), made with zeros if there is none; NULL: out of memory. Moves the other rows. */
void *table_add(struct table *table, size_t row_bytes, uint64_t key);
/** table_lend() - @rows, zeros, are the room of @table, which is empty, until it wants more. @capacity: of them, a power of two */
void table_lend(struct table *table, void *rows, uint32_t capacity);
/** table_is_full() - one more row would make it grow; table_more() - the capacity that it would have then */
static inline bool table_is_full(const struct table *table)
{
	return (table->used + 1) * 4ull > table->capacity * 3ull;
}
uint32_t table_more(const struct table *table);
/** table_move() - its rows are in @rows from now on, zeros, which is lent; @capacity: as of table_lend() */
void table_move(struct table *table, size_t row_bytes, void *rows, uint32_t capacity);
/** table_reserve() - make room for @nr_rows rows in all, if there is memory: then they are added without moving any */
void table_reserve(struct table *table, size_t row_bytes, uint32_t nr_rows);
/** table_remove() - without the row of @key, if there is one. Moves other rows. */
void table_remove(struct table *table, size_t row_bytes, uint64_t key);
void table_clear(struct table *table);

/** table_next() - the used rows in turn; @row NULL = the first; NULL past the last */
void *table_next(const struct table *table, size_t row_bytes, const void *row);

static inline uint64_t text_hash(const char *text)
{
	uint64_t hash = 0xcbf29ce484222325ULL; /* FNV-1a */

	for (; *text; text++)
		hash = (hash ^ (unsigned char)*text) * 0x100000001b3ULL;
	return hash;
}

/* A string's number; 0 is the empty string. */
typedef uint32_t string_id;

struct strings {
	struct table by_hash;
	char **text; /* owned, and each */
	uint32_t used;
	uint32_t capacity;
	bool failed; /* a text was not kept for lack of memory: its number 0 stands for another one */
};

/** strings_intern() - the number of @text, kept from now on. 0 when out of memory: then @strings->failed, which its owner looks at before there is a result */
string_id strings_intern(struct strings *strings, const char *text);
/** strings_prefetch() - a text of this hash will be asked for */
static inline void strings_prefetch(const struct strings *strings, uint64_t hash)
{
	table_prefetch(&strings->by_hash, 2 * sizeof(uint64_t), hash + !hash);
}
/** strings_take() - the same, and @text, from malloc(), is freed or becomes the one that is kept */
string_id strings_take(struct strings *strings, char *text);
static inline const char *strings_text(const struct strings *strings, string_id id)
{
	return id && id < strings->used ? strings->text[id] : "";
}
void strings_clear(struct strings *strings);
#endif
