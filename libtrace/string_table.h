/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef LIBTRACE_STRING_TABLE_H
#define LIBTRACE_STRING_TABLE_H
/* string_table.h - names of numbers, from the strings chunks. */
#include <stddef.h>
#include <stdint.h>

struct strings_entry {
	uint64_t key;
	uint32_t space;
	uint32_t nr; /* increases in the file: of two entries with one key the later is valid */
	char *text;  /* in memory */
};

enum { STRINGS_SPACES = 16, STRINGS_DENSE = 1024 };

/** struct strings - zeroed = empty. Call strings_sort() before strings_get() */
struct strings {
	struct strings_entry *entries; /* owned */
	size_t nr;
	size_t room;
	char **memory; /* owned; one block per chunk */
	size_t nr_memory;
	const char **dense; /* owned; [STRINGS_SPACES][STRINGS_DENSE]: small keys, the frequent ones */
};

/**
 * strings_add() - add the entries of a chunk's payload
 * Returns 0, -ENOMEM, or -EBADMSG when the payload is cut off; the entries before that are added.
 */
int strings_add(struct strings *strings, const unsigned char *payload, size_t bytes);
/** strings_sort() - call after the last strings_add(). 0 or -ENOMEM */
int strings_sort(struct strings *strings);
const char *strings_get(const struct strings *strings, uint32_t space, uint64_t key);
void strings_release(struct strings *strings);

#endif
