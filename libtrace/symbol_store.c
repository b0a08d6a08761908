/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * symbol_store.c - names of code in the trace. docs/FORMAT.md has the texts.
 *
 * Nothing in a text is trusted: one that is not as it should be is left out.
 */
#include "symbol_store.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <trace/format.h>
#include <xxhash.h>

#define MAX_FILES 65536u

/**
 * struct stored_row - an answer. @at: the byte
 * @text: borrowed from the trace, behind the number of the file: of this byte, or of the first one
 * of several with one name
 */
struct stored_row {
	uint64_t key; /* of file and byte */
	uint64_t at;
	const char *text;
};

static uint64_t key_of(size_t file, uint64_t at)
{
	uint64_t key = (uint64_t)file << 46 ^ at; /* a file of 64 TiB shares keys; its bytes are compared, too */

	return key + !key;
}

/* "INODE ID PATH". ID is - if the file has none, and ? if it is not known. */
static bool read_file(struct symbol_store *store, const char *text)
{
	struct stored_code_file file = {0};
	char *rest;
	size_t bytes;

	file.ino = strtoull(text, &rest, 10);
	if (rest == text || *rest != ' ')
		return false;
	rest++;
	bytes = strcspn(rest, " ");
	if (!bytes || bytes >= sizeof(file.id) || rest[bytes] != ' ' || rest[bytes + 1] != '/')
		return false;
	memcpy(file.id, rest, bytes);
	file.path = rest + bytes + 1;
	file.identity = !strcmp(file.id, "-") ? SYMBOL_WITHOUT_ID
			: *file.id == '?'     ? SYMBOL_UNRECORDED
					      : SYMBOL_WITH_ID;
	if (file.identity != SYMBOL_WITH_ID)
		*file.id = '\0';
	store->files[store->nr_files++] = file;
	return true;
}

static int read_files(struct symbol_store *store, const struct trace *trace)
{
	const char *text;
	size_t nr = 0;

	while (nr < MAX_FILES && trace_string(trace, TRACE_STRING_CODE_FILE, nr))
		nr++;
	store->files = calloc(nr + 1, sizeof(*store->files));
	if (!store->files)
		return -ENOMEM;
	for (size_t i = 0; i < nr && (text = trace_string(trace, TRACE_STRING_CODE_FILE, i)); i++)
		if (!read_file(store, text)) /* it keeps its number */
			store->files[store->nr_files++] = (struct stored_code_file){.path = ""};
	return 0;
}

static int add_row(struct symbol_store *store, uint64_t file, uint64_t at, const char *text)
{
	struct stored_row *row = table_add(&store->answers, sizeof(*row), key_of((size_t)file, at));

	if (!row)
		return -ENOMEM;
	row->at = at;
	row->text = text;
	return 0;
}

/* ---- the file of a mapping ---- */

/** struct stored_file_row - the first file with a path, an id or an inode. @file: + 1 */
struct stored_file_row {
	uint64_t key;
	size_t file;
};

static struct stored_code_file wanted_file(const struct symbol_origin *origin)
{
	struct stored_code_file wanted = {.path = origin->path, .ino = origin->ino, .identity = origin->identity};

	memcpy(wanted.id, origin->id, sizeof(wanted.id));
	return wanted;
}

/* Is it the same file? @all: also its path if the id is the same, and its inode if the path is */
static bool is_like(const struct stored_code_file *a, const struct stored_code_file *b, bool all)
{
	if (a->identity != b->identity)
		return false;
	if (a->identity == SYMBOL_WITH_ID)
		return !strcmp(a->id, b->id) && (!all || !strcmp(a->path, b->path));
	return !strcmp(a->path, b->path) && (!all || a->ino == b->ino);
}

static uint64_t file_key(const struct stored_code_file *file, bool all)
{
	bool with_id = file->identity == SYMBOL_WITH_ID;
	uint64_t key = hash_u64(2u * (uint64_t)file->identity + all + 1);

	if (with_id)
		key = XXH3_64bits_withSeed(file->id, strlen(file->id), key);
	if (!with_id || all)
		key = XXH3_64bits_withSeed(file->path, strlen(file->path), key);
	return !with_id && all ? key ^ hash_u64(file->ino) : key;
}

static size_t first_like(const struct symbol_store *store, const struct stored_code_file *wanted, bool all)
{
	const struct stored_file_row *row;

	for (uint64_t key = file_key(wanted, all);; key++) {
		row = table_find(&store->file_rows, sizeof(*row), key + !key);
		if (!row || is_like(&store->files[row->file - 1], wanted, all))
			return row ? row->file - 1 : NO_STORED_FILE;
	}
}

static int add_file_row(struct symbol_store *store, size_t file, bool all)
{
	struct stored_file_row *row;

	for (uint64_t key = file_key(&store->files[file], all);; key++) {
		row = table_add(&store->file_rows, sizeof(*row), key + !key);
		if (!row)
			return -ENOMEM;
		if (!row->file)
			row->file = file + 1;
		if (is_like(&store->files[row->file - 1], &store->files[file], all))
			return 0;
	}
}

static int add_file_rows(struct symbol_store *store)
{
	int error = 0;

	for (size_t i = 0; i < store->nr_files && !error; i++) {
		error = add_file_row(store, i, true);
		if (!error)
			error = add_file_row(store, i, false);
	}
	return error;
}

/* ---- answers ---- */

/* "FILE BYTE ADDRESS OFFSET\n", then the functions and, after an empty line, the sources. @steps:
 * to further bytes; NULL: none */
static int read_answer(struct symbol_store *store, const char *text, const char *steps)
{
	int error;
	char *rest;
	uint64_t file = strtoull(text, &rest, 10), at;

	if (*rest != ' ' || file >= store->nr_files)
		return 0;
	text = rest + 1;
	at = strtoull(text, &rest, 16);
	if (*rest != ' ')
		return 0;
	error = add_row(store, file, at, text);
	while (!error && steps && *steps) {
		at += strtoull(steps, &rest, 16);
		if (rest == steps)
			break;
		error = add_row(store, file, at, text);
		steps = rest;
	}
	return error;
}

int symbol_store_read(struct symbol_store *store, const struct trace *trace)
{
	const char *text;
	int error = read_files(store, trace);

	if (!error)
		error = add_file_rows(store);
	for (uint64_t i = 0; !error && store->nr_files && (text = trace_string(trace, TRACE_STRING_CODE, i)); i++)
		error = read_answer(store, text, trace_string(trace, TRACE_STRING_CODE_STEPS, i));
	return error;
}

void symbol_store_clear(struct symbol_store *store)
{
	free(store->files);
	table_clear(&store->answers);
	table_clear(&store->file_rows);
	*store = (struct symbol_store){0};
}

/*
 * The stored file of @origin; NO_STORED_FILE: none. A build id tells the file; a file without one
 * is the same under its path and inode. A stripped copy has the build id, too, but not the names: a
 * file with the path is preferred.
 */
size_t symbol_store_file(const struct symbol_store *store, const struct symbol_origin *origin)
{
	const struct stored_code_file wanted = wanted_file(origin);
	size_t found = NO_STORED_FILE;

	if (wanted.identity == SYMBOL_WITH_ID || wanted.ino)
		found = first_like(store, &wanted, true);
	if (found == NO_STORED_FILE && (wanted.identity == SYMBOL_WITH_ID || !wanted.ino))
		found = first_like(store, &wanted, false);
	return found;
}

bool symbol_store_find(const struct symbol_store *store, size_t file, uint64_t offset, struct stored_code *ret_code)
{
	const struct stored_row *row = table_find(&store->answers, sizeof(*row), key_of(file, offset));
	uint64_t distance;
	char *rest;

	if (!row || row->at != offset)
		return false;
	distance = offset - strtoull(row->text, &rest, 16);
	ret_code->address = strtoull(rest, &rest, 16) + distance;
	ret_code->offset = strtoull(rest, &rest, 10);
	if (*rest != '\n')
		return false;
	if (rest[1] != '\n') /* the function has a name, and a begin */
		ret_code->offset += distance;
	snprintf(ret_code->texts, sizeof(ret_code->texts), "%s", rest + 1);
	ret_code->functions = ret_code->texts;
	ret_code->sources = strstr(ret_code->texts, "\n\n");
	if (*ret_code->texts == '\n') { /* the function has no name */
		*ret_code->texts = '\0';
		ret_code->sources = ret_code->texts + 1;
	} else if (ret_code->sources) {
		*ret_code->sources = '\0';
		ret_code->sources += 2;
	}
	return ret_code->sources && strlen(ret_code->functions) <= SYMBOL_NAME_BYTES &&
	       strlen(ret_code->sources) <= SYMBOL_SOURCE_BYTES;
}

/* ---- writing ---- */

static char *checked(char *text)
{
	if (text && strlen(text) <= TRACE_STRING_MAX_BYTES)
		return text;
	free(text);
	return NULL;
}

char *symbol_store_file_text(const struct symbol_origin *origin)
{
	const char *id = origin->identity == SYMBOL_WITH_ID	 ? origin->id
			 : origin->identity == SYMBOL_WITHOUT_ID ? "-"
								 : "?";
	char *text;

	return checked(asprintf(&text, "%" PRIu64 " %s %s", origin->ino, id, origin->path) < 0 ? NULL : text);
}

char *symbol_store_code_text(size_t file, uint64_t at, uint64_t address, uint64_t offset, const char *functions,
			     const char *sources)
{
	char *text;
	int bytes = asprintf(&text, "%zu %" PRIx64 " %" PRIx64 " %" PRIu64 "\n%s%s%s", file, at, address, offset,
			     functions, *functions ? "\n\n" : "\n", sources);

	return checked(bytes < 0 ? NULL : text);
}
