/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef LIBTRACE_SYMBOL_STORE_H
#define LIBTRACE_SYMBOL_STORE_H
/*
 * symbol_store.h - the names of sampled code that a trace has itself, for other machines:
 * TRACE_STRING_CODE_FILE, TRACE_STRING_CODE and TRACE_STRING_CODE_STEPS
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <trace/reader.h>

#include "hash_table.h"
#include "symbol_origin.h"
#include "symbol_wanted.h"

#define NO_STORED_FILE SIZE_MAX

/** struct stored_code_file - a file with names. @path: of the trace. @id: "" if it has none */
struct stored_code_file {
	uint64_t ino;
	const char *path;
	enum symbol_identity identity;
	char id[SYMBOL_ID_BYTES];
};

/**
 * struct symbol_store - zeros: empty. @files: owned. @answers: texts by file and byte
 * @file_rows: its files by path, id and inode
 */
struct symbol_store {
	struct stored_code_file *files;
	size_t nr_files;
	struct hash_table answers, file_rows;
};

/** symbol_store_read() - take the names of @trace. Returns 0 or -ENOMEM */
int symbol_store_read(struct symbol_store *store, const struct trace *trace) TRACE_NODISCARD;
void symbol_store_clear(struct symbol_store *store);
/** symbol_store_file() - the number of the file @origin, or NO_STORED_FILE */
size_t symbol_store_file(const struct symbol_store *store, const struct symbol_origin *origin);

/**
 * struct stored_code - what is at a byte of a file; as struct symbol_found
 * @functions, @sources: lines, as SYMBOL_LEVELS has them; in @texts
 */
struct stored_code {
	uint64_t address;
	uint64_t offset;
	char *functions, *sources;
	char texts[SYMBOL_NAME_BYTES + SYMBOL_SOURCE_BYTES + 2];
};

/** symbol_store_find() - false: the store has no answer for byte @offset of @file */
bool symbol_store_find(const struct symbol_store *store, size_t file, uint64_t offset, struct stored_code *ret_code);

/**
 * symbol_store_file_text(), symbol_store_code_text() - the texts of a file and of an answer, to be
 * released with free(); NULL: no memory, or too long for a trace
 */
char *symbol_store_file_text(const struct symbol_origin *origin);
char *symbol_store_code_text(size_t file, uint64_t at, uint64_t address, uint64_t offset, const char *functions,
			     const char *sources);

#endif
