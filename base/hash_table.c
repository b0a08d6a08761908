/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* hash_table.c - rows by key, and interned strings. */
#include <stdlib.h>
#include <string.h>
#include "pages.h"
#include "hash_table.h"

#define TABLE_FIRST_CAPACITY 4u
#define FREED_AHEAD	     8u

/*
 * Allocates zeroed rows, to be released with free(). Each look-up in a large table touches another
 * page. With small pages most look-ups would miss the TLB, and the processor would walk the page
 * tables. Each page would also cost a fault, because the free rows of a table are spread over all
 * of it. So large tables use large pages.
 */
static void *rows_new(uint32_t capacity, size_t row_bytes)
{
	size_t bytes = capacity * row_bytes;
	void *rows;

	if (bytes < PAGES_LARGE)
		return calloc(capacity, row_bytes);
	rows = pages_large(bytes);
	return rows ? memset(rows, 0, bytes) : NULL;
}

static uint64_t *free_row(const struct hash_table *table, size_t row_bytes, uint64_t key)
{
	uint32_t mask = table->capacity - 1;
	uint32_t i = table_home(key, table->capacity);
	uint64_t *row;

	while (row = (uint64_t *)((char *)table->rows + i * row_bytes), *row)
		i = (i + 1) & mask;
	return row;
}

static void move_to(struct hash_table *table, size_t row_bytes, struct hash_table bigger)
{
	void *row = NULL;

	bigger.used = table->used;
	while ((row = table_next(table, row_bytes, row)))
		memcpy(free_row(&bigger, row_bytes, *(uint64_t *)row), row, row_bytes);
	if (!table->is_lent)
		free(table->rows);
	*table = bigger;
}

static bool table_grow(struct hash_table *table, size_t row_bytes, uint32_t capacity)
{
	struct hash_table bigger = {.capacity = capacity};

	if (!bigger.capacity)
		return false;
	bigger.rows = rows_new(bigger.capacity, row_bytes);
	if (!bigger.rows)
		return false;
	move_to(table, row_bytes, bigger);
	return true;
}

uint32_t table_more(const struct hash_table *table)
{
	return table->capacity ? table->capacity * 2 : TABLE_FIRST_CAPACITY;
}

void table_move(struct hash_table *table, size_t row_bytes, void *rows, uint32_t capacity)
{
	move_to(table, row_bytes, (struct hash_table){.rows = rows, .is_lent = true, .capacity = capacity});
}

void table_lend(struct hash_table *table, void *rows, uint32_t capacity)
{
	*table = (struct hash_table){.rows = rows, .is_lent = true, .capacity = capacity};
}

void table_reserve(struct hash_table *table, size_t row_bytes, uint32_t nr_rows)
{
	uint32_t capacity = TABLE_FIRST_CAPACITY;

	while (capacity && nr_rows * 4ull > capacity * 3ull)
		capacity *= 2;
	if (capacity > table->capacity)
		table_grow(table, row_bytes, capacity);
}

void *table_add(struct hash_table *table, size_t row_bytes, uint64_t key)
{
	uint64_t *row = table_find(table, row_bytes, key);

	if (row)
		return row;
	if (table_is_full(table) && !table_grow(table, row_bytes, table_more(table)))
		return NULL;
	row = free_row(table, row_bytes, key);
	*row = key;
	table->used++;
	return row;
}

/*
 * The rows after the removed one, up to the next free row, move into the hole if the hole would end
 * the search for them. So a table needs no marks for removed rows.
 */
void table_remove(struct hash_table *table, size_t row_bytes, uint64_t key)
{
	char *rows = table->rows, *row = table_find(table, row_bytes, key);
	uint32_t mask = table->capacity - 1, hole, i;

	if (!row)
		return;
	hole = i = (uint32_t)((size_t)(row - rows) / row_bytes);
	while (i = (i + 1) & mask, *(uint64_t *)(rows + i * row_bytes)) {
		uint32_t home = table_home(*(uint64_t *)(rows + i * row_bytes), table->capacity);

		if (((i - home) & mask) < ((i - hole) & mask))
			continue; /* its home is after the hole, so a search still finds it */
		memcpy(rows + hole * row_bytes, rows + i * row_bytes, row_bytes);
		hole = i;
	}
	memset(rows + hole * row_bytes, 0, row_bytes);
	table->used--;
}

void table_clear(struct hash_table *table)
{
	if (!table->is_lent)
		free(table->rows);
	*table = (struct hash_table){0};
}

void *table_next(const struct hash_table *table, size_t row_bytes, const void *row)
{
	size_t i = row ? (size_t)((const char *)row - (const char *)table->rows) / row_bytes + 1 : 0;

	for (; i < table->capacity; i++) {
		void *next = (char *)table->rows + i * row_bytes;

		if (*(uint64_t *)next)
			return next;
	}
	return NULL;
}

/* ---- strings ---- */

struct string_row {
	uint64_t key;
	string_id id;
};
_Static_assert(sizeof(struct string_row) == 2 * sizeof(uint64_t), "as strings_prefetch() has it");

/* Takes over @text. */
static string_id strings_append(struct strings *strings, char *text)
{
	if (text && strings->used >= strings->capacity) {
		uint32_t capacity = strings->capacity ? strings->capacity * 2 : 64;
		char **bigger = reallocarray(strings->text, capacity, sizeof(*bigger));

		if (!bigger) {
			free(text);
			strings->failed = true;
			return 0;
		}
		strings->text = bigger;
		strings->capacity = capacity;
		if (!strings->used)
			strings->text[strings->used++] = NULL; /* number 0 is the empty string */
	}
	if (!text) {
		strings->failed = true;
		return 0;
	}
	strings->text[strings->used] = text;
	return strings->used++;
}

/* The row of @text. A new row has no number yet. NULL: out of memory. */
static struct string_row *strings_row(struct strings *strings, const char *text)
{
	/* Two texts of one hash take neighbouring keys. */
	for (uint64_t hash = text_hash(text);; hash++) {
		struct string_row *row;

		hash += !hash;
		row = table_add(&strings->by_hash, sizeof(*row), hash);
		strings->failed |= !row;
		if (!row || !row->id || strcmp(strings->text[row->id], text) == 0)
			return row;
	}
}

string_id strings_intern(struct strings *strings, const char *text)
{
	struct string_row *row = *text ? strings_row(strings, text) : NULL;

	if (!row)
		return 0;
	return row->id ? row->id : (row->id = strings_append(strings, strdup(text)));
}

string_id strings_take(struct strings *strings, char *text)
{
	struct string_row *row = *text ? strings_row(strings, text) : NULL;

	if (row && !row->id)
		return row->id = strings_append(strings, text);
	free(text);
	return row ? row->id : 0;
}

void strings_clear(struct strings *strings)
{
	for (uint32_t i = 0; i < strings->used; i++) {
		if (strings->used - i > FREED_AHEAD && strings->text[i + FREED_AHEAD])
			/* the header that free() reads */
			line_prefetch(strings->text[i + FREED_AHEAD] - 2 * sizeof(size_t));
		free(strings->text[i]);
	}
	free(strings->text);
	table_clear(&strings->by_hash);
	*strings = (struct strings){0};
}
