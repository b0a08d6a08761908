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

	for (uint64_t i = 0; !error && store->nr_files && (text = trace_string(trace, TRACE_STRING_CODE, i)); i++)
		error = read_answer(store, text, trace_string(trace, TRACE_STRING_CODE_STEPS, i));
	return error;
}

void symbol_store_clear(struct symbol_store *store)
{
	free(store->files);
	table_clear(&store->answers);
	*store = (struct symbol_store){0};
}

/* A build id tells the file; a file without one is the same under its path and inode. */
static bool is_of(const struct stored_code_file *file, const struct symbol_origin *origin)
{
	if (file->identity != origin->identity)
		return false;
	if (file->identity == SYMBOL_WITH_ID)
		return !strcmp(file->id, origin->id);
	return !strcmp(file->path, origin->path) && (file->ino == origin->ino || !origin->ino);
}

size_t symbol_store_file(const struct symbol_store *store, const struct symbol_origin *origin)
{
	size_t found = NO_STORED_FILE;

	/* a stripped copy has the build id, too, but not the names */
	for (size_t i = 0; i < store->nr_files; i++)
		if (is_of(&store->files[i], origin)) {
			if (!strcmp(store->files[i].path, origin->path))
				return i;
			found = found == NO_STORED_FILE ? i : found;
		}
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
