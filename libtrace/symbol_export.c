/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* symbol_export.c - answers about files as texts for the trace; symbol_store.h reads them. */
#include "symbol_export.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STEP_BYTES 18	/* of one between bytes, in hexadecimal, with a blank */
#define MAX_ALIKE  3000 /* so that a text is short enough for a trace */

static int export_file(const struct symbol_object *object, uint64_t number, trace_symbols_emit_fn emit, void *context)
{
	char *text = symbol_store_file_text(&object->origin);
	int error = text ? emit(context, TRACE_STRING_CODE_FILE, number, text) : -ENOMEM;

	free(text);
	return error;
}

static uint64_t byte_of(const struct symbol_kept *kept)
{
	return (kept->key - 1) >> 2;
}

static int by_byte(const void *left, const void *right)
{
	uint64_t l = byte_of(*(const struct symbol_kept *const *)left),
		 r = byte_of(*(const struct symbol_kept *const *)right);

	return (l > r) - (l < r);
}

/* Whether the names of @kept are those of @first, and its numbers follow from the bytes. */
static bool is_named_as(const struct strings *strings, const struct symbol_kept *first, const struct symbol_kept *kept)
{
	uint64_t distance = byte_of(kept) - byte_of(first);
	bool has_function = *strings_text(strings, first->function);

	return kept->function == first->function && kept->source == first->source &&
	       kept->address - first->address == distance &&
	       kept->offset - first->offset == (has_function ? distance : 0);
}

/* The answers with all levels, by byte; NULL: no memory. Released with free() */
static const struct symbol_kept **sorted_answers(const struct symbol_object *object, size_t *ret_nr)
{
	const struct symbol_kept **list = calloc(object->answers.used + 1, sizeof(*list)), *kept = NULL;
	size_t nr = 0;

	while (list && (kept = table_next(&object->answers, sizeof(*kept), kept)))
		if (((kept->key - 1) & 3) == SYMBOL_LEVELS)
			list[nr++] = kept;
	if (nr)
		qsort(list, nr, sizeof(*list), by_byte);
	*ret_nr = nr;
	return list;
}

/* The steps from list[0] to the others; @nr > 1 */
static int export_steps(const struct symbol_kept *const *list, size_t nr, uint64_t number, trace_symbols_emit_fn emit,
			void *context)
{
	char *text = malloc(nr * STEP_BYTES);
	size_t bytes = 0;
	int error;

	if (!text)
		return -ENOMEM;
	for (size_t i = 1; i < nr; i++)
		bytes += (size_t)sprintf(text + bytes, "%s%" PRIx64, i > 1 ? " " : "",
					 byte_of(list[i]) - byte_of(list[i - 1]));
	error = emit(context, TRACE_STRING_CODE_STEPS, number, text);
	free(text);
	return error;
}

/* The first of @list, and the steps to those that are named as it is. @number: of the answer, which
 * counts up; returns how many were exported, or a negative errno */
static ssize_t export_alike(const struct strings *strings, const struct symbol_kept *const *list, size_t nr,
			    size_t file, uint64_t *number, trace_symbols_emit_fn emit, void *context)
{
	const struct symbol_kept *first = list[0];
	char *text = symbol_store_code_text(file, byte_of(first), first->address, first->offset,
					    strings_text(strings, first->function),
					    strings_text(strings, first->source));
	size_t alike = 1;
	int error;

	if (!text)
		return 1; /* a text that is too long is left out */
	while (alike < nr && alike < MAX_ALIKE && is_named_as(strings, first, list[alike]))
		alike++;
	error = emit(context, TRACE_STRING_CODE, *number, text);
	free(text);
	if (!error && alike > 1)
		error = export_steps(list, alike, *number, emit, context);
	(*number)++;
	return error ? error : (ssize_t)alike;
}

/*
 * @file: the number of the file; @nr: that of the next answer
 * Neighbours often have one name, or none: those are steps of two or three characters each. In the
 * order of the table, with a text each, names were 42 % of a trace of a compiler.
 */
static int export_answers(const struct strings *strings, const struct symbol_object *object, size_t file, uint64_t *nr,
			  trace_symbols_emit_fn emit, void *context)
{
	size_t nr_answers, i = 0;
	const struct symbol_kept **list = sorted_answers(object, &nr_answers);
	ssize_t exported = list ? 0 : -ENOMEM;

	while (exported >= 0 && i < nr_answers) {
		exported = export_alike(strings, list + i, nr_answers - i, file, nr, emit, context);
		i += exported > 0 ? (size_t)exported : 0;
	}
	free(list);
	return exported < 0 ? (int)exported : 0;
}

int symbol_files_export(const struct symbol_files *files, const struct strings *strings, trace_symbols_emit_fn emit,
			void *context)
{
	uint64_t nr_answers = 0;
	size_t nr_files = 0;
	int error = 0;

	for (size_t i = 0; !error && i < files->nr; i++) {
		const struct symbol_object *object = &files->objects[i];

		if (!object->answers.used)
			continue;
		error = export_file(object, nr_files, emit, context);
		if (!error)
			error = export_answers(strings, object, nr_files++, &nr_answers, emit, context);
	}
	return error;
}
