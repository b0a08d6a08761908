/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef LIBTRACE_SYMBOL_FILES_H
#define LIBTRACE_SYMBOL_FILES_H
/* symbol_files.h - the files from which code was mapped, with what their readers have answered */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hash_table.h"
#include "symbol_origin.h"
#include "symbol_reader.h"
#include "symbol_store.h"

#define NO_SYMBOL_FILE SIZE_MAX

/**
 * struct symbol_kept - an answer about a byte of a file
 * @key: the byte, and what was asked for
 */
struct symbol_kept {
	uint64_t key;
	uint64_t address;
	uint64_t offset;
	string_id function;
	string_id source;
};

/** enum symbol_object_state - what is still asked about a file: less after its reader failed */
enum symbol_object_state { OBJECT_NEW, OBJECT_READABLE, OBJECT_WITHOUT_SOURCE, OBJECT_UNREADABLE };

/**
 * struct symbol_object - a file from which code was mapped
 * @why: why there are no names. @used_at: number of the query that asked last
 * @is_damaged: its debug information is, which was noted
 * @stored: its number among the files of which the trace has names, or NO_STORED_FILE
 */
struct symbol_object {
	char *path; /* owned; @origin refers to it */
	struct symbol_origin origin;
	const char *why;
	int fd;
	enum symbol_object_state state;
	struct symbol_reader reader;
	struct hash_table answers;
	size_t stored;
	uint64_t used_at;
	bool is_damaged;
};

/**
 * struct symbol_files - zeros: none. @by_ino, @by_name: rows of @objects
 * @failed: there was no memory for a file
 */
struct symbol_files {
	struct symbol_object *objects;
	uint32_t nr, room;
	struct hash_table by_ino, by_name;
	bool failed;
};

/** symbol_files_clear() - stop the readers, and release everything */
void symbol_files_clear(struct symbol_files *files);
/**
 * symbol_files_add() - the file @origin, which is added if it is new
 * @origin: its path points to the file's own copy afterwards. @chars: of the path count
 * @store: the names of the trace, which may have some of it
 * Returns its number, or NO_SYMBOL_FILE: no memory.
 */
size_t symbol_files_add(struct symbol_files *files, struct symbol_origin *origin, size_t chars,
			const struct symbol_store *store);
/** symbol_file_mapped() - the file @number was mapped at @mapped_ns of CLOCK_REALTIME, too */
void symbol_file_mapped(struct symbol_files *files, size_t number, uint64_t mapped_ns);

#endif
