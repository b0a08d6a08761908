/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef LIBTRACE_STRING_TABLE_H
#define LIBTRACE_STRING_TABLE_H
/* string_table.h - names of numbers, from the strings chunks. */
#include <stddef.h>
#include <stdint.h>

struct strings_entry {
	uint64_t key;
	uint32_t space;
	uint32_t nr; /* counts up in the file: the later of two counts */
	char *text;  /* in memory */
};

enum { STRINGS_SPACES = 16, STRINGS_DENSE = 1024 };

/** struct strings - zeroed = empty. strings_get() wants strings_sort() before */
struct strings {
	struct strings_entry *entries; /* owned */
	size_t nr;
	size_t room;
	char **memory; /* owned; one for each chunk */
	size_t nr_memory;
	const char **dense; /* owned; [STRINGS_SPACES][STRINGS_DENSE]: small numbers, which are the frequent ones */
};

/** strings_add() - the entries of a chunk's payload. 0, -ENOMEM, or -EBADMSG: it is cut off, what came before was added */
int strings_add(struct strings *strings, const unsigned char *payload, size_t bytes);
/** strings_sort() - after the last strings_add(). 0 or -ENOMEM */
int strings_sort(struct strings *strings);
const char *strings_get(const struct strings *strings, uint32_t space, uint64_t key);
void strings_release(struct strings *strings);

#endif
