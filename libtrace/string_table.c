/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "string_table.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <trace/format.h>

static int strings_put(struct strings *strings, uint32_t space, uint64_t key, char *text)
{
	if (strings->nr == strings->room) {
		size_t room = strings->room ? 2 * strings->room : 512;
		struct strings_entry *entries = reallocarray(strings->entries, room, sizeof(*entries));

		if (!entries)
			return -ENOMEM;
		strings->entries = entries;
		strings->room = room;
	}
	strings->entries[strings->nr] = (struct strings_entry){ .key = key, .space = space, .nr = (uint32_t)strings->nr, .text = text };
	strings->nr++;
	return 0;
}

/*
 * The texts in the file have no NUL. Move each text down over the header of its entry, which makes
 * room for one.
 */
int strings_add(struct strings *strings, const unsigned char *payload, size_t bytes)
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
		error = strings_put(strings, entry.space, entry.key, text);
	}
	return error;
}

static int compare_number(const struct strings_entry *a, const struct strings_entry *b)
{
	if (a->space != b->space)
		return a->space < b->space ? -1 : 1;
	return a->key < b->key ? -1 : a->key > b->key;
}

static int compare_entries(const void *a, const void *b)
{
	const struct strings_entry *x = a, *y = b;
	int order = compare_number(x, y);

	return order ? order : (x->nr < y->nr) - (x->nr > y->nr); /* the later one first */
}

static bool is_dense(uint32_t space, uint64_t key)
{
	return space < STRINGS_SPACES && key < STRINGS_DENSE;
}

int strings_sort(struct strings *strings)
{
	size_t nr = 0;

	if (!strings->nr)
		return 0;
	qsort(strings->entries, strings->nr, sizeof(*strings->entries), compare_entries);
	for (size_t i = 0; i < strings->nr; i++)
		if (i == 0 || compare_number(&strings->entries[i], &strings->entries[nr - 1]) != 0)
			strings->entries[nr++] = strings->entries[i];
	strings->nr = nr;
	strings->dense = calloc(STRINGS_SPACES * STRINGS_DENSE, sizeof(*strings->dense));
	if (!strings->dense)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++)
		if (is_dense(strings->entries[i].space, strings->entries[i].key))
			strings->dense[strings->entries[i].space * STRINGS_DENSE + strings->entries[i].key] = strings->entries[i].text;
	return 0;
}

const char *strings_get(const struct strings *strings, uint32_t space, uint64_t key)
{
	struct strings_entry wanted = { .space = space, .key = key };
	size_t low = 0, high = strings->nr;

	if (strings->dense && is_dense(space, key))
		return strings->dense[space * STRINGS_DENSE + key];
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

void strings_release(struct strings *strings)
{
	for (size_t i = 0; i < strings->nr_memory; i++)
		free(strings->memory[i]);
	free(strings->memory);
	free(strings->dense);
	free(strings->entries);
	*strings = (struct strings){ 0 };
}
