/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * symbols.c - translate addresses to names: the mapped file, and the function in it.
 *
 * Two passes over the trace collect all mappings (symbol_collection.c) before the first query. A
 * file is read at the first query about it, by a process without rights (symbol_reader.c). Answers
 * are kept, because the addresses of a trace repeat.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <trace/symbols.h>

#include "error_set.h"
#include "hash_table.h"
#include "kernel_code.h"
#include "program_code.h"
#include "symbol_collection.h"
#include "symbol_export.h"
#include "symbol_places.h"

#define MAX_READERS 16		 /* processes at a time */
#define MAX_OFFSET  (1ull << 61) /* no file is that long */

struct trace_symbols {
	struct symbol_collection collection;
	struct strings strings;	     /* names and source lines */
	struct symbol_answer answer; /* the last one of a reader */
	struct trace_error unread;   /* the first file that cannot be read; code 0: none */
	uint64_t nr_unread;
	uint64_t nr_queries;
	unsigned int nr_readers;
	struct symbol_search search;
	struct kernel_code kernel;
	struct stored_code code; /* the last one of it */
	struct program_code generated;
	struct trace_symbol_level levels[SYMBOL_MAX_LEVELS]; /* the last ones that were asked for */
	char level_texts[2 * (SYMBOL_NAME_BYTES + 1)];
	bool want_source;
	bool failed; /* out of memory for a part of a query */
};

struct trace_symbols *trace_symbols_new(const struct trace *trace, struct trace_error *ret_error)
{
	struct trace_symbols *symbols = calloc(1, sizeof(*symbols));

	if (symbols) {
		symbols->collection.trace = trace;
		symbols->search.folder = "";
	}
	if (!symbols || kernel_code_read(&symbols->kernel, trace) || program_code_read(&symbols->generated, trace) ||
	    symbol_collect(&symbols->collection, ret_error)) {
		error_set(ret_error, -ENOMEM, "no memory for the mappings of processes");
		return trace_symbols_free(symbols);
	}
	return symbols;
}

struct trace_symbols *trace_symbols_free(struct trace_symbols *symbols)
{
	if (!symbols)
		return NULL;
	file_opener_close(&symbols->search.opener);
	symbol_collection_clear(&symbols->collection);
	strings_clear(&symbols->strings);
	kernel_code_clear(&symbols->kernel);
	program_code_clear(&symbols->generated);
	free(symbols);
	return NULL;
}

const struct trace *symbols_trace(const struct trace_symbols *symbols)
{
	return symbols->collection.trace;
}

void trace_symbols_want_source(struct trace_symbols *symbols, bool wanted)
{
	symbols->want_source = wanted;
}

void trace_symbols_set_folder(struct trace_symbols *symbols, const char *folder)
{
	symbols->search.folder = folder ? folder : "";
}

void trace_symbols_want_debuginfod(struct trace_symbols *symbols, bool wanted)
{
	symbols->search.debuginfod = wanted;
}

void trace_symbols_set_kept(struct trace_symbols *symbols, const struct trace_symbols_kept *kept)
{
	symbols->search.kept = *kept;
}

/* ---- queries to readers ---- */

/* Stops the reader that has not been asked for the longest time. */
static void limit_readers(struct trace_symbols *symbols)
{
	struct symbol_object *oldest = NULL;

	for (size_t i = 0; symbols->nr_readers >= MAX_READERS && i < symbols->collection.files.nr; i++)
		if (symbols->collection.files.objects[i].reader.child.runs &&
		    (!oldest || symbols->collection.files.objects[i].used_at < oldest->used_at))
			oldest = &symbols->collection.files.objects[i];
	if (!oldest)
		return;
	symbol_reader_stop(&oldest->reader);
	symbols->nr_readers--;
}

void trace_symbols_pause(struct trace_symbols *symbols)
{
	for (size_t i = 0; i < symbols->collection.files.nr; i++)
		symbol_reader_stop(&symbols->collection.files.objects[i].reader);
	symbols->nr_readers = 0;
	file_opener_close(&symbols->search.opener);
}

static void note_unread(struct trace_symbols *symbols, const struct symbol_object *object, const char *reason)
{
	if (!symbols->nr_unread++)
		error_set(&symbols->unread, -EBADMSG,
			  "%.250s: names of functions or their source lines are missing: %s", object->path, reason);
}

static void open_object(struct trace_symbols *symbols, struct symbol_object *object)
{
	uint64_t before = symbols->search.nr_unopened;
	char reason[128];

	limit_readers(symbols);
	if (symbol_origin_open(&object->origin, &symbols->search, &object->reader, &object->fd, &object->why))
		symbols->failed = true;
	if (object->fd < 0 && symbols->search.nr_unopened > before) {
		snprintf(reason, sizeof(reason), "no process can be started to read it: %s",
			 strerror(-symbols->search.open_err));
		note_unread(symbols, object,
			    symbols->search.open_err == -EAGAIN	 ? reason
			    : symbols->search.open_err == -EBUSY ? SYMBOL_WHY_FULL
								 : "its file system does not answer");
	}
	symbols->nr_readers += object->reader.child.runs;
	object->state = object->fd >= 0 ? OBJECT_READABLE : OBJECT_UNREADABLE;
}

/* The reader of @object failed. It is asked for less from now on. */
static void restrict_object(struct trace_symbols *symbols, struct symbol_object *object, bool had_source,
			    const struct trace_error *error)
{
	if (object->state == OBJECT_READABLE)
		note_unread(symbols, object, error->message);
	object->state = had_source ? OBJECT_WITHOUT_SOURCE : OBJECT_UNREADABLE;
}

/* Returns false if there is no answer. */
static bool ask(struct trace_symbols *symbols, struct symbol_object *object, uint64_t offset, enum symbol_wanted wanted)
{
	struct trace_error error = {0};
	int result;

	if (!object->reader.child.runs)
		limit_readers(symbols);
	symbols->nr_readers -= object->reader.child.runs;
	object->used_at = symbols->nr_queries;
	result = symbol_reader_ask(&object->reader, object->fd, offset, wanted, &symbols->answer, &error);
	symbols->nr_readers += object->reader.child.runs;
	if (result == -ENOMEM)
		symbols->failed = true;
	else if (result)
		restrict_object(symbols, object, wanted != SYMBOL_NAME, &error);
	else if (symbols->answer.is_damaged && !object->is_damaged)
		note_unread(symbols, object, "a part of its debug information is damaged");
	object->is_damaged |= !result && symbols->answer.is_damaged;
	return !result;
}

/* The key of an answer about @offset, which is below MAX_OFFSET. */
static uint64_t key_of_answer(uint64_t offset, enum symbol_wanted wanted)
{
	return (offset << 2 | wanted) + 1;
}

static const struct symbol_kept *keep(struct trace_symbols *symbols, struct symbol_object *object, uint64_t key,
				      const struct symbol_kept *answer)
{
	struct symbol_kept *kept = table_add(&object->answers, sizeof(*kept), key);

	if (!kept) {
		symbols->failed = true;
		return NULL;
	}
	*kept = *answer;
	kept->key = key;
	symbols->failed |= symbols->strings.failed;
	return kept;
}

/* The last one of several functions is the outermost: it contains the others. */
static const char *outermost_of(const char *functions)
{
	const char *last = strrchr(functions, '\n');

	return last ? last + 1 : functions;
}

/* The innermost one, without its folder */
static const char *source_of(char *sources)
{
	const char *slash;

	sources[strcspn(sources, "\n")] = '\0';
	slash = strrchr(sources, '/');
	return slash ? slash + 1 : sources;
}

/* The answer that the trace has itself, or NULL */
static const struct symbol_kept *stored_answer(struct trace_symbols *symbols, struct symbol_object *object,
					       uint64_t offset, enum symbol_wanted wanted)
{
	uint64_t key = key_of_answer(offset, wanted);
	const struct symbol_kept *kept = table_find(&object->answers, sizeof(*kept), key);
	struct stored_code *code = &symbols->code;
	bool is_whole = wanted == SYMBOL_LEVELS;

	if (kept || object->stored == NO_STORED_FILE ||
	    !symbol_store_find(&symbols->collection.store, object->stored, offset, code))
		return kept;
	return keep(symbols, object, key,
		    &(struct symbol_kept){.address = code->address,
					  .offset = code->offset,
					  .function = strings_intern(&symbols->strings,
								     is_whole ? code->functions
									      : outermost_of(code->functions)),
					  .source = strings_intern(&symbols->strings, is_whole ? code->sources
										      : wanted == SYMBOL_SOURCE
											      ? source_of(code->sources)
											      : "")});
}

/* Returns the answer, or NULL: there is none. */
static const struct symbol_kept *answer_of(struct trace_symbols *symbols, struct symbol_object *object, uint64_t offset,
					   enum symbol_wanted asked)
{
	enum symbol_wanted wanted = object->state == OBJECT_WITHOUT_SOURCE ? SYMBOL_NAME : asked;
	uint64_t key = key_of_answer(offset, wanted);
	const struct symbol_kept *kept = table_find(&object->answers, sizeof(*kept), key);

	if (kept)
		return kept;
	if (!ask(symbols, object, offset, wanted))
		return NULL;
	return keep(symbols, object, key,
		    &(struct symbol_kept){.address = symbols->answer.address,
					  .offset = symbols->answer.offset,
					  .function = strings_intern(&symbols->strings, symbols->answer.function),
					  .source = strings_intern(&symbols->strings, symbols->answer.source)});
}

/* ---- queries ---- */

int trace_symbols_error(const struct trace_symbols *symbols, struct trace_error *ret_error)
{
	const struct trace_error *unread = &symbols->unread;

	if (symbols->failed)
		return error_set(ret_error, -ENOMEM, "no memory to read the names of functions from their files");
	if (symbols->nr_unread > 1)
		return error_set(ret_error, unread->code, "%s (and %" PRIu64 " more such files)", unread->message,
				 symbols->nr_unread - 1);
	return unread->code ? error_set(ret_error, unread->code, "%s", unread->message) : 0;
}

static bool find_in_kernel(const struct trace_symbols *symbols, uint64_t address, struct trace_symbol *ret_symbol)
{
	const struct kernel_function *function = kernel_code_find(&symbols->kernel, address);

	if (!function)
		return false;
	*ret_symbol = (struct trace_symbol){.function = function->name,
					    .offset = address - function->address,
					    .file = function->file,
					    .file_address = address,
					    .source = "",
					    .why = ""};
	return true;
}

/* Code in no file, that the process generated. */
static bool find_generated(const struct trace_symbols *symbols, const struct trace_symbol_place *place,
			   struct trace_symbol *ret_symbol)
{
	uint32_t pid = symbol_mappings_pid(&symbols->collection.mappings, place->tid, place->ts_ns);
	const struct program_function *function = program_code_find(&symbols->generated, pid, place->address);

	if (!function)
		return false;
	*ret_symbol = (struct trace_symbol){.function = function->name,
					    .offset = place->address - function->address,
					    .file = function->file,
					    .file_address = place->address,
					    .source = "",
					    .why = ""};
	return true;
}

size_t symbols_file_of(struct trace_symbols *symbols, const struct trace_symbol_place *place, uint64_t *ret_offset)
{
	const struct symbol_mapping *mapping = kernel_code_has(place->address)
						       ? NULL
						       : symbol_mappings_find(&symbols->collection.mappings, place->tid,
									      place->ts_ns, place->address);

	*ret_offset = mapping ? place->address - mapping->start + mapping->offset : 0;
	return mapping ? mapping->file : symbols->collection.files.nr;
}

size_t symbols_nr_files(const struct trace_symbols *symbols)
{
	return symbols->collection.files.nr;
}

bool symbols_is_known(const struct trace_symbols *symbols, size_t file, uint64_t offset)
{
	const struct symbol_object *object = &symbols->collection.files.objects[file];
	enum symbol_wanted wanted = object->state == OBJECT_WITHOUT_SOURCE ? SYMBOL_NAME : SYMBOL_LEVELS;

	return offset < MAX_OFFSET &&
	       table_find(&object->answers, sizeof(struct symbol_kept), key_of_answer(offset, wanted));
}

bool symbols_is_kept(const struct trace_symbols *symbols, size_t file)
{
	return symbol_origin_is_kept(&symbols->collection.files.objects[file].origin, &symbols->search);
}

static bool find(struct trace_symbols *symbols, const struct trace_symbol_place *place, enum symbol_wanted wanted,
		 struct trace_symbol *ret_symbol)
{
	const struct symbol_mapping *mapping;
	const struct symbol_kept *kept = NULL;
	struct symbol_object *object;
	uint64_t offset;

	if (kernel_code_has(place->address))
		return find_in_kernel(symbols, place->address, ret_symbol);
	mapping = symbol_mappings_find(&symbols->collection.mappings, place->tid, place->ts_ns, place->address);
	if (!mapping)
		return find_generated(symbols, place, ret_symbol);
	object = &symbols->collection.files.objects[mapping->file];
	offset = place->address - mapping->start + mapping->offset;
	symbols->nr_queries++;
	/* the user names a place with better files, or wants a line: a file goes first */
	if (offset < MAX_OFFSET && !*symbols->search.folder && !symbols->search.debuginfod && wanted != SYMBOL_SOURCE)
		kept = stored_answer(symbols, object, offset, wanted);
	if (!kept && object->state == OBJECT_NEW)
		open_object(symbols, object);
	/* after a failure the query is repeated without the source line */
	while (!kept && !symbols->failed && object->state != OBJECT_UNREADABLE && offset < MAX_OFFSET)
		kept = answer_of(symbols, object, offset, wanted);
	if (!kept && offset < MAX_OFFSET)
		kept = stored_answer(symbols, object, offset, wanted);
	/* if the file cannot be read any more, only its name is known */
	*ret_symbol = (struct trace_symbol){
		.function = kept ? strings_text(&symbols->strings, kept->function) : "",
		.offset = kept ? kept->offset : 0,
		.file = object->path,
		.file_address = kept ? kept->address : offset,
		.source = kept ? strings_text(&symbols->strings, kept->source) : "",
		.why = kept && *strings_text(&symbols->strings, kept->function) ? "" : object->why,
	};
	return true;
}

bool trace_symbols_find(struct trace_symbols *symbols, uint32_t tid, uint64_t ts_ns, uint64_t address,
			struct trace_symbol *ret_symbol)
{
	return find(symbols, &(struct trace_symbol_place){.tid = tid, .ts_ns = ts_ns, .address = address},
		    symbols->want_source ? SYMBOL_SOURCE : SYMBOL_NAME, ret_symbol);
}

/* Cuts off the first line of *@text, and moves *@text to the next one. */
static const char *take_line(char **text)
{
	char *line = *text, *end = line + strcspn(line, "\n");

	*text = end + (*end == '\n');
	*end = '\0';
	return line;
}

/* "/src/a.c:12": the path without the line */
static uint32_t take_number(char *source)
{
	char *colon = strrchr(source, ':');

	if (!colon)
		return 0;
	*colon = '\0';
	return (uint32_t)strtoul(colon + 1, NULL, 10);
}

/* As snprintf(), which takes three times as long: a profile has thousands of these. */
static void copy_text(char *to, size_t room, const char *text)
{
	size_t bytes = strnlen(text, room - 1);

	memcpy(to, text, bytes);
	to[bytes] = '\0';
}

size_t trace_symbols_find_levels(struct trace_symbols *symbols, uint32_t tid, uint64_t ts_ns, uint64_t address,
				 struct trace_symbol *ret_symbol, const struct trace_symbol_level **ret_levels)
{
	char *functions = symbols->level_texts, *sources = functions + sizeof(symbols->level_texts) / 2;
	size_t nr = 0;

	if (!find(symbols, &(struct trace_symbol_place){.tid = tid, .ts_ns = ts_ns, .address = address}, SYMBOL_LEVELS,
		  ret_symbol))
		return 0;
	copy_text(functions, sizeof(symbols->level_texts) / 2, ret_symbol->function);
	copy_text(sources, sizeof(symbols->level_texts) / 2, ret_symbol->source);
	do {
		struct trace_symbol_level *level = &symbols->levels[nr++];

		level->function = take_line(&functions);
		level->source = take_line(&sources);
		level->line = take_number((char *)(uintptr_t)level->source);
	} while (*functions && nr < SYMBOL_MAX_LEVELS);
	ret_symbol->function = symbols->levels[nr - 1].function;
	ret_symbol->source = "";
	*ret_levels = symbols->levels;
	return nr;
}

int trace_symbols_export(const struct trace_symbols *symbols, trace_symbols_emit_fn emit, void *context)
{
	return symbol_files_export(&symbols->collection.files, &symbols->strings, emit, context);
}
