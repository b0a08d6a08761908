/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * report_code.c - the instructions of a function with the time of each beside it, and source lines
 * between them. Instructions far from any with time are left out. Without the file that ran, or
 * without objdump, the addresses of those with time are left, and a line says why.
 */
#include "report_code.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "build_id.h"
#include "error_set.h"
#include "grid.h"
#include "objdump.h"
#include "code_file.h"
#include "source_lines.h"
#include "value_text.h"

#define AROUND	   4   /* instructions without time that are shown before and after one with time */
#define BEHIND	   256 /* bytes: a file without symbols does not tell where the function ends */
#define MAX_LINES  65536
#define TEXT_BYTES 256

/* ---- the file that ran ---- */

/* True if @id is a word of one of the texts, the @word-th one. */
static bool knows(const struct trace *trace, enum trace_string_space space, int word, const char *id)
{
	const char *text;

	for (uint64_t i = 0; (text = trace_string(trace, space, i)); i++) {
		for (int k = 0; k < word && *text; k++) {
			text += strcspn(text, " ");
			text += strspn(text, " ");
		}
		if (strcspn(text, " ") == strlen(id) && !strncmp(text, id, strlen(id)))
			return true;
	}
	return false;
}

/* A file without a build id is taken as it is. */
static bool has_run(const struct trace *trace, int fd)
{
	char id[BUILD_ID_CHARS];

	return build_id_read(fd, id) &&
	       (!*id || !trace_string(trace, TRACE_STRING_BUILD_ID, 0) || knows(trace, TRACE_STRING_BUILD_ID, 2, id) ||
		knows(trace, TRACE_STRING_CODE_FILE, 1, id));
}

static int open_code(const struct report *report, const char *path, struct trace_error *ret_error)
{
	int fd;

	if (*path != '/')
		return error_set(ret_error, -ENOENT, "the code is in no file");
	fd = code_file_open(report->options->symbols.folder, path);
	if (fd < 0)
		return error_set(ret_error, fd, "the file is not on this machine (%s): --symfs names a copy",
				 code_file_why(fd));
	if (has_run(report->trace, fd))
		return fd;
	close(fd);
	return error_set(ret_error, -ESTALE,
			 "the file was built again since: --symfs names a copy of the one that ran");
}

/* ---- its instructions ---- */

/** struct instruction - @source, @line: of it, "" and 0: not known */
struct instruction {
	uint64_t address;
	char *text; /* owned */
	const char *source;
	uint32_t line;
};

/**
 * struct code_listing - the instructions of a function
 * @begin, @last: addresses: of the function, of the last one with time
 * @has_symbols: the file says where functions begin
 */
struct code_listing {
	struct instruction *list; /* owned */
	size_t nr, room;
	uint64_t begin, last;
	struct strings texts;
	const char *source;
	uint32_t line;
	bool has_symbols;
	bool is_cut; /* there are more than MAX_LINES instructions */
};

static bool add_line(void *context, const struct objdump_line *line)
{
	struct code_listing *listing = context;

	switch (line->kind) {
	case OBJDUMP_SYMBOL:
		if (line->address != listing->begin)
			return listing->last >= line->address; /* a symbol inside the function */
		listing->has_symbols = !strchr(line->text, '+') && *line->text != '.';
		return true;
	case OBJDUMP_SOURCE:
		listing->source = memory_text(&listing->texts, line->text);
		listing->line = line->line;
		return true;
	default:
		break;
	}
	if (line->address < listing->begin || (!listing->has_symbols && line->address > listing->last + BEHIND))
		return line->address < listing->begin;
	listing->is_cut = listing->nr == MAX_LINES;
	if (listing->is_cut)
		return false;
	listing->list = memory_grow(listing->list, listing->nr, &listing->room, sizeof(*listing->list));
	listing->list[listing->nr++] = (struct instruction){.address = line->address,
							    .text = memory_copy(line->text, strlen(line->text)),
							    .source = listing->source,
							    .line = listing->line};
	return true;
}

static void listing_clear(struct code_listing *listing)
{
	for (size_t i = 0; i < listing->nr; i++)
		free(listing->list[i].text);
	free(listing->list);
	strings_clear(&listing->texts);
}

static int listing_read(const struct report *report, const struct pointers *code, struct code_listing *listing,
			struct trace_error *ret_error)
{
	const struct code_row *first = code->at[0], *last = code->at[code->nr - 1];
	int fd = open_code(report, first->path, ret_error), result;

	if (fd < 0)
		return fd;
	listing->begin = first->begin;
	listing->last = last->address;
	listing->source = "";
	result = objdump_run(fd, first->begin, add_line, listing, ret_error);
	close(fd);
	if (!result && !listing->nr)
		result = error_set(ret_error, -EINVAL, "objdump found no code there");
	return result;
}

/* ---- text ---- */

static void put_times(struct grid *grid, const struct code_row *row)
{
	static const struct code_row none;

	row = row ? row : &none;
	grid_ns(grid, row->self.on_cpu_ns);
	grid_ns(grid, row->total.on_cpu_ns);
	grid_ns(grid, row->total.blocked_ns);
	grid_count(grid, row->self.samples);
}

static void put_nothing(struct grid *grid, const char *address, const char *text)
{
	for (int i = 0; i < 4; i++)
		grid_text(grid, "");
	grid_text(grid, address);
	grid_name(grid, text);
}

static void put_instruction(struct grid *grid, uint64_t address, const char *text, const struct code_row *row)
{
	char shown[32];

	snprintf(shown, sizeof(shown), "%" PRIx64, address);
	put_times(grid, row);
	grid_text(grid, shown);
	grid_name(grid, text);
}

static void put_source(struct grid *grid, struct source_lines *sources, const struct instruction *instruction)
{
	const char *slash = strrchr(instruction->source, '/'), *line;
	struct string text = {0};

	if (!instruction->line)
		return;
	string_addf(&text, "%s:%u", slash ? slash + 1 : instruction->source, instruction->line);
	line = source_line(sources, instruction->source, instruction->line);
	if (*line)
		string_addf(&text, "  %s", line);
	put_nothing(grid, "", string_text(&text));
	string_free(&text);
}

/*
 * The times of each instruction. A sample is at the begin of one, an address behind a call inside
 * it, so an instruction has the rows from its address to the next one.
 */
static void times_of(const struct code_listing *listing, const struct pointers *code, size_t idx, size_t *next,
		     struct code_row *ret_row)
{
	uint64_t end = idx + 1 < listing->nr ? listing->list[idx + 1].address : UINT64_MAX;

	*ret_row = (struct code_row){0};
	for (; *next < code->nr && ((const struct code_row *)code->at[*next])->address < end; (*next)++) {
		const struct code_row *row = code->at[*next];

		profile_time_add(&ret_row->self, &row->self);
		profile_time_add(&ret_row->total, &row->total);
	}
}

static bool has_time(const struct code_row *row)
{
	return profile_elapsed(&row->total) || row->self.samples;
}

/* Marks the instructions near one with time. */
static void mark_near(const struct code_row *times, size_t nr, bool *near)
{
	for (size_t i = 0; i < nr; i++)
		for (size_t k = i > AROUND ? i - AROUND : 0; has_time(&times[i]) && k < nr && k <= i + AROUND; k++)
			near[k] = true;
}

/* Returns 0, or the negative errno of a source that could not be read. */
static int put_listing(const struct report *report, struct grid *grid, const struct pointers *code,
		       const struct code_listing *listing)
{
	struct code_row *times = memory_take(listing->nr, sizeof(*times));
	bool *near = memory_take(listing->nr, sizeof(*near)), was_near = true;
	struct source_lines sources = {.folder = report->options->symbols.folder};
	const struct instruction *before = NULL;
	size_t next = 0;

	for (size_t i = 0; i < listing->nr; i++)
		times_of(listing, code, i, &next, &times[i]);
	mark_near(times, listing->nr, near);
	for (size_t i = 0; i < listing->nr; i++) {
		const struct instruction *at = &listing->list[i];
		bool shows = near[i] || report->options->rows.all;

		if (!shows && was_near)
			put_nothing(grid, "...", "");
		was_near = shows;
		if (!shows)
			continue;
		if (!before || before->line != at->line || before->source != at->source)
			put_source(grid, &sources, at);
		before = at;
		put_instruction(grid, at->address, at->text, &times[i]);
	}
	source_lines_clear(&sources);
	free(times);
	free(near);
	return sources.error;
}

static void put_head(const struct report *report, const struct pointers *code, size_t nr_others)
{
	const struct code_row *first = code->at[0];
	struct profile_time self = {0};
	char name[PATH_MAX], function[TEXT_BYTES];
	struct value_text time;

	for (size_t i = 0; i < code->nr; i++)
		profile_time_add(&self, &((const struct code_row *)code->at[i])->self);
	output_line(&report->output, "", "%s in %s: %s on a CPU in its instructions.",
		    text_name(report->options->profile.code, function, sizeof(function)),
		    *first->path ? text_name(first->path, name, sizeof(name)) : "generated code",
		    self.on_cpu_ns ? text_ns(&report->output, self.on_cpu_ns, &time) : "nothing");
	if (nr_others)
		output_line(&report->output, "", "%zu other function%s of that name %s less time.", nr_others,
			    nr_others == 1 ? "" : "s", nr_others == 1 ? "has" : "have");
}

void report_code(const struct report *report, const struct pointers *code, size_t nr_others)
{
	static const struct grid_column columns[] = {{"time", GRID_RIGHT},    {"with calls", GRID_RIGHT},
						     {"blocked", GRID_RARE},  {"samples", GRID_OPTIONAL},
						     {"address", GRID_RIGHT}, {"", GRID_ELASTIC}};
	struct code_listing listing = {0};
	struct trace_error error = {0};
	int result = listing_read(report, code, &listing, &error), source_error = 0;
	struct value_text count;
	struct grid *grid;

	put_head(report, code, nr_others);
	if (result)
		output_line(&report->output, "", "No instructions: %s.", error.message);
	fputs("\n", report->output.out);
	grid = grid_new(&report->output, "  ", columns, sizeof(columns) / sizeof(columns[0]));
	if (!result)
		source_error = put_listing(report, grid, code, &listing);
	for (size_t i = 0; result && i < code->nr; i++)
		put_instruction(grid, ((const struct code_row *)code->at[i])->address, "", code->at[i]);
	grid_end(grid, NULL);
	if (listing.is_cut)
		output_line(
			&report->output, "",
			"The function has more than %s instructions: the last row has the time of all further ones.",
			text_count(&report->output, MAX_LINES, &count));
	if (source_error)
		output_line(&report->output, "", "Lines of the source could not be read: %s.", strerror(-source_error));
	listing_clear(&listing);
}
