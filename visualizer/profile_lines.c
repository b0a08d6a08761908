/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "profile_lines.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include "error_set.h"

#define NAMED 3 /* sources in a message */

/* ---- rows ---- */

/* Texts of profile_names are equal if their addresses are. */
static struct line_row *row_of(struct profile_rows *rows, const struct frame_name *name)
{
	uint64_t key = hash_u64((uintptr_t)name->source) ^ name->line;
	struct line_row *row;

	for (;; key++) {
		key += !key;
		row = memory_row(&rows->lines, sizeof(*row), key);
		if (!row->source) {
			row->source = name->source;
			row->line = name->line;
		}
		if (row->source == name->source && row->line == name->line)
			return row;
	}
}

void profile_lines_add(struct profile_rows *rows, const struct profile_stack *stack, bool has_self,
		       const struct profile_time *time)
{
	rows->nr_stacks++;
	for (size_t i = 0; i < stack->nr; i++) {
		struct line_row *row = row_of(rows, profile_name_of(&rows->names, stack->functions[i]));

		if (!i && has_self)
			profile_time_add(&row->self, time);
		if (row->last_stack != rows->nr_stacks)
			profile_time_add(&row->total, time);
		row->last_stack = rows->nr_stacks;
	}
}

int profile_lines_verify(const struct profile_rows *rows, struct trace_error *ret_error)
{
	struct profile_time lines = {0}, functions = {0};
	const struct line_row *line = NULL;

	while ((line = table_next(&rows->lines, sizeof(*line), line)))
		profile_time_add(&lines, &line->self);
	for (size_t i = 0; i < rows->rows.nr; i++) {
		const struct profile_row *row = rows->rows.at[i];

		if (row->kind == PROFILE_FUNCTION)
			profile_time_add(&functions, &row->self);
	}
	if (profile_time_equals(&lines, &functions))
		return 0;
	return error_set(ret_error, -EBADMSG,
			 "profile: the lines have %" PRIu64 " ns, and the functions %" PRIu64 " ns",
			 profile_elapsed(&lines), profile_elapsed(&functions));
}

/* ---- the lines of a source ---- */

static bool is_end_of(const char *path, const char *file)
{
	size_t bytes = strlen(path), end = strlen(file);

	return bytes >= end && !strcmp(path + bytes - end, file) &&
	       (bytes == end || *file == '/' || path[bytes - end - 1] == '/');
}

static int by_line(const void *left, const void *right, void *data)
{
	const struct line_row *l = *(struct line_row *const *)left, *r = *(struct line_row *const *)right;

	(void)data;
	return (l->line > r->line) - (l->line < r->line);
}

/** struct source_time - the time of samples in a source, with what it called */
struct source_time {
	uint64_t key; /* address of its text */
	const char *source;
	uint64_t ns;
};

static int longest_first(const void *left, const void *right, void *data)
{
	const struct source_time *l = *(struct source_time *const *)left, *r = *(struct source_time *const *)right;

	(void)data;
	return l->ns != r->ns ? (l->ns < r->ns) - (l->ns > r->ns) : strcmp(l->source, r->source);
}

/* "/src/a.c, /src/b.c": the sources with the most time that end with @file; NULL: all */
static size_t add_sources(const struct profile_rows *rows, const char *file, struct string *text)
{
	struct hash_table times = {0};
	struct pointers list = {0};
	const struct line_row *line = NULL;
	struct source_time *time = NULL;
	size_t nr;

	while ((line = table_next(&rows->lines, sizeof(*line), line)))
		if (*line->source && (!file || is_end_of(line->source, file))) {
			time = memory_row(&times, sizeof(*time), (uintptr_t)line->source);
			time->source = line->source;
			time->ns += profile_elapsed(&line->self);
		}
	time = NULL;
	while ((time = table_next(&times, sizeof(*time), time)))
		pointers_add(&list, time);
	memory_sort(list.at, list.nr, sizeof(*list.at), longest_first, NULL);
	nr = list.nr;
	for (size_t i = 0; i < nr && i < NAMED; i++)
		string_addf(text, "%s%s", i ? ", " : "", ((struct source_time *)list.at[i])->source);
	if (nr > NAMED)
		string_addf(text, " and %zu more", nr - NAMED);
	pointers_free(&list);
	table_clear(&times);
	return nr;
}

static int no_source(const struct profile_rows *rows, const char *file, struct trace_error *ret_error)
{
	struct string known = {0};
	struct trace_error unread = {0};
	int result;

	if (add_sources(rows, NULL, &known))
		result = error_set(ret_error, -ENOENT, "no sample is in the source '%s'; the sources with the most: %s",
				   file, string_text(&known));
	else if (trace_symbols_error(rows->names.symbols, &unread))
		result = error_set(ret_error, -ENOENT, "no sample has a known source line: %.900s", unread.message);
	else
		result = error_set(ret_error, -ENOENT,
				   "no program with samples has debug information: build it with -g, or install its "
				   "debug files");
	string_free(&known);
	return result;
}

int profile_lines_of(const struct profile_rows *rows, const char *file, struct pointers *ret_lines,
		     struct trace_error *ret_error)
{
	struct string found = {0};
	struct pointers lines = {0};
	size_t nr = add_sources(rows, file, &found);
	struct line_row *line = NULL;

	if (nr > 1)
		error_set(ret_error, -EEXIST, "'%s' is the end of several sources; choose one: %s", file,
			  string_text(&found));
	string_free(&found);
	if (nr != 1)
		return nr ? -EEXIST : no_source(rows, file, ret_error);
	while ((line = table_next(&rows->lines, sizeof(*line), line)))
		if (*line->source && is_end_of(line->source, file))
			pointers_add(&lines, line);
	memory_sort(lines.at, lines.nr, sizeof(*lines.at), by_line, NULL);
	*ret_lines = lines;
	return 0;
}
