/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef LIBTRACE_STRING_TABLE_H
#define LIBTRACE_STRING_TABLE_H
/* string_table.h - names of numbers, from the strings chunks. */
#include <stddef.h>
#include <stdint.h>
#include <trace/error.h>

struct string_table_entry {
	uint64_t key;
	uint32_t space;
	uint32_t nr; /* increases in the file: of two entries with one key the later is valid */
	char *text;  /* in memory */
};

enum { STRING_TABLE_SPACES = 16, STRING_TABLE_DENSE = 1024 };

/** struct string_table - zeroed = empty. Call string_table_sort() before string_table_get() */
struct string_table {
	struct string_table_entry *entries; /* owned */
	size_t nr;
	size_t nr_sorted;
	size_t room;
	uint32_t nr_added; /* ever */
	char **memory;	   /* owned; one block per chunk */
	size_t nr_memory;
	const char **dense; /* owned; [STRING_TABLE_SPACES][STRING_TABLE_DENSE]: small keys, the frequent ones */
};

/**
 * string_table_add() - add the entries of a chunk's payload
 * Returns 0, -ENOMEM, or -EBADMSG when the payload is cut off; the entries before that are added.
 */
int string_table_add(struct string_table *strings, const unsigned char *payload, size_t bytes) TRACE_NODISCARD;
/** string_table_sort() - call after string_table_add(), before a text is looked up. 0 or -ENOMEM */
int string_table_sort(struct string_table *strings) TRACE_NODISCARD;
const char *string_table_get(const struct string_table *strings, uint32_t space, uint64_t key);
void string_table_release(struct string_table *strings);

#endif
