/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* string_table.c - collect the names of all strings chunks, sort them, and look them up. */
#include "string_table.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <trace/format.h>

static int string_table_put(struct string_table *strings, uint32_t space, uint64_t key, char *text)
{
	if (strings->nr == strings->room) {
		size_t room = strings->room ? 2 * strings->room : 512;
		struct string_table_entry *entries = reallocarray(strings->entries, room, sizeof(*entries));

		if (!entries)
			return -ENOMEM;
		strings->entries = entries;
		strings->room = room;
	}
	strings->entries[strings->nr] =
		(struct string_table_entry){.key = key, .space = space, .nr = strings->nr_added++, .text = text};
	strings->nr++;
	return 0;
}

/*
 * The texts in the file have no NUL. Move each text down over the header of its entry, which makes
 * room for one.
 */
int string_table_add(struct string_table *strings, const unsigned char *payload, size_t bytes)
{
	char **blocks = reallocarray(strings->memory, strings->nr_memory + 1, sizeof(*blocks));
	char *memory = malloc(bytes + 1);
	struct trace_string_entry entry;
	int error = 0;

	if (blocks)
		strings->memory = blocks;
	if (!blocks || !memory) {
		free(memory);
		return -ENOMEM;
	}
	strings->memory[strings->nr_memory++] = memory;
	for (size_t at = 0; !error && at < bytes; at += sizeof(entry) + entry.text_bytes) {
		char *text = memory + at;

		if (bytes - at < sizeof(entry))
			return -EBADMSG;
		memcpy(&entry, payload + at, sizeof(entry));
		if (bytes - at - sizeof(entry) < entry.text_bytes)
			return -EBADMSG;
		memcpy(text, payload + at + sizeof(entry), entry.text_bytes);
		text[entry.text_bytes] = '\0';
		error = string_table_put(strings, entry.space, entry.key, text);
	}
	return error;
}

static int compare_number(const struct string_table_entry *a, const struct string_table_entry *b)
{
	if (a->space != b->space)
		return a->space < b->space ? -1 : 1;
	return a->key < b->key ? -1 : a->key > b->key;
}

static int compare_entries(const void *a, const void *b)
{
	const struct string_table_entry *x = a, *y = b;
	int order = compare_number(x, y);

	return order ? order : (x->nr < y->nr) - (x->nr > y->nr); /* the later one first */
}

static bool is_dense(uint32_t space, uint64_t key)
{
	return space < STRING_TABLE_SPACES && key < STRING_TABLE_DENSE;
}

int string_table_sort(struct string_table *strings)
{
	size_t nr = 0;

	if (strings->nr == strings->nr_sorted)
		return 0;
	qsort(strings->entries, strings->nr, sizeof(*strings->entries), compare_entries);
	for (size_t i = 0; i < strings->nr; i++)
		if (i == 0 || compare_number(&strings->entries[i], &strings->entries[nr - 1]) != 0)
			strings->entries[nr++] = strings->entries[i];
	strings->nr = strings->nr_sorted = nr;
	if (!strings->dense)
		strings->dense = calloc(STRING_TABLE_SPACES * STRING_TABLE_DENSE, sizeof(*strings->dense));
	if (!strings->dense)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++)
		if (is_dense(strings->entries[i].space, strings->entries[i].key))
			strings->dense[strings->entries[i].space * STRING_TABLE_DENSE + strings->entries[i].key] =
				strings->entries[i].text;
	return 0;
}

const char *string_table_get(const struct string_table *strings, uint32_t space, uint64_t key)
{
	struct string_table_entry wanted = {.space = space, .key = key};
	size_t low = 0, high = strings->nr;

	if (strings->dense && is_dense(space, key))
		return strings->dense[space * STRING_TABLE_DENSE + key];
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int order = compare_number(&wanted, &strings->entries[middle]);

		if (order == 0)
			return strings->entries[middle].text;
		if (order < 0)
			high = middle;
		else
			low = middle + 1;
	}
	return NULL;
}

void string_table_release(struct string_table *strings)
{
	for (size_t i = 0; i < strings->nr_memory; i++)
		free(strings->memory[i]);
	free(strings->memory);
	free(strings->dense);
	free(strings->entries);
	*strings = (struct string_table){0};
}
