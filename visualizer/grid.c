/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* grid.c - tables for text reports. */
#include <glib.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include "grid.h"

#define MAX_COLUMNS 16
#define NARROWEST 8 /* minimum of an elastic column while other columns can be dropped */
#define LEAST 3
#define EXTRA 20    /* minimum of an extra column, else it is dropped */
#define NAME_BYTES 512

struct grid {
	const struct report *report;
	const char *indent;
	struct grid_column columns[MAX_COLUMNS];
	size_t nr;
	struct pointers cells; /* owned strings, row by row */
};

struct grid *grid_new(const struct report *report, const char *indent, const struct grid_column *columns, size_t nr)
{
	struct grid *grid = memory_take(1, sizeof(*grid));

	if (nr > MAX_COLUMNS)
		abort();
	*grid = (struct grid){.report = report, .indent = indent, .nr = nr};
	memcpy(grid->columns, columns, nr * sizeof(*columns));
	return grid;
}

void grid_text(struct grid *grid, const char *text)
{
	pointers_add(&grid->cells, memory_copy(text, strlen(text)));
}

void grid_name(struct grid *grid, const char *name)
{
	char buffer[NAME_BYTES];

	grid_text(grid, text_name(name, buffer, sizeof(buffer)));
}

void grid_ns(struct grid *grid, uint64_t ns)
{
	struct text text;

	grid_text(grid, text_ns(grid->report, ns, &text));
}

void grid_bytes(struct grid *grid, uint64_t bytes)
{
	struct text text;

	grid_text(grid, !bytes && !grid->report->options->exact ? "-" : text_bytes(grid->report, bytes, &text));
}

void grid_count(struct grid *grid, uint64_t count)
{
	struct text text;

	snprintf(text.bytes, sizeof(text.bytes), "%" PRIu64, count);
	grid_text(grid, !count && !grid->report->options->exact ? "-" : text.bytes);
}

void grid_percent(struct grid *grid, uint64_t part, uint64_t whole)
{
	struct text text;

	snprintf(text.bytes, sizeof(text.bytes), "%.2f", percent(part, whole));
	grid_text(grid, text.bytes);
}

void grid_process(struct grid *grid, const char *comm, uint32_t pid)
{
	char buffer[NAME_BYTES + 32], both[NAME_BYTES + 34];

	text_process(comm, pid, buffer, sizeof(buffer));
	snprintf(both, sizeof(both), pid || !*comm ? "%s" : "(%s)", buffer);
	grid_text(grid, both);
}

/* ---- widths, in columns of a terminal ---- */

size_t grid_width(const char *text)
{
	size_t width = 0;

	for (; *text; text = g_utf8_next_char(text)) {
		gunichar c = g_utf8_get_char(text);

		width += *text == '\t' ? 8 - width % 8 : g_unichar_iszerowidth(c) ? 0 : g_unichar_iswide(c) ? 2 : 1;
	}
	return width;
}

static void measure(const struct grid *grid, size_t *widths)
{
	for (size_t i = 0; i < grid->nr; i++)
		widths[i] = grid_width(grid->columns[i].heading);
	for (size_t i = 0; i < grid->cells.nr; i++) {
		size_t width = grid_width(grid->cells.at[i]);

		if (width > widths[i % grid->nr])
			widths[i % grid->nr] = width;
	}
}

static bool is_nothing(const char *cell)
{
	return !*cell || strcmp(cell, "-") == 0 || strcmp(cell, "0") == 0;
}

/* Drops hidden columns, and empty ones of the kinds extra and rare. */
static void leave_out_empty(const struct grid *grid, size_t *widths)
{
	for (size_t i = 0; i < grid->nr; i++) {
		bool empty = grid->columns[i].kind == GRID_EXTRA || grid->columns[i].kind == GRID_RARE;

		for (size_t at = i; empty && at < grid->cells.nr; at += grid->nr)
			empty = is_nothing(grid->cells.at[at]);
		if (empty || grid->columns[i].kind == GRID_HIDDEN)
			widths[i] = 0;
	}
}

static size_t total(const struct grid *grid, const size_t *widths)
{
	size_t sum = grid_width(grid->indent);
	bool first = true;

	for (size_t i = 0; i < grid->nr; i++)
		if (widths[i]) {
			sum += widths[i] + (first ? 0 : 2);
			first = false;
		}
	return sum;
}

/* Narrows elastic columns, always the widest one, down to @least. */
static void narrow(const struct grid *grid, size_t *widths, size_t least)
{
	while (total(grid, widths) > grid->report->width) {
		size_t most = grid->nr;

		for (size_t i = 0; i < grid->nr; i++)
			if (grid->columns[i].kind == GRID_ELASTIC && widths[i] > least && (most == grid->nr || widths[i] > widths[most]))
				most = i;
		if (most == grid->nr)
			break;
		widths[most]--;
	}
}

/* Sets the widths of columns for the terminal. Width 0: the column is dropped. */
static void fit(const struct grid *grid, size_t *widths)
{
	size_t room = grid->report->width;

	measure(grid, widths);
	leave_out_empty(grid, widths);
	if (!room)
		return;
	for (size_t i = 0; i < grid->nr && total(grid, widths) > room; i++)
		if (grid->columns[i].kind == GRID_OPTIONAL || grid->columns[i].kind == GRID_RARE)
			widths[i] = 0;
	for (size_t i = 0; i < grid->nr; i++)
		if (grid->columns[i].kind == GRID_EXTRA && total(grid, widths) > room)
			widths[i] = widths[i] + room >= total(grid, widths) + EXTRA ? widths[i] + room - total(grid, widths) : 0;
	narrow(grid, widths, NARROWEST);
	/* the first column is the subject of the row */
	for (size_t i = grid->nr; i-- > 1 && total(grid, widths) > room;)
		if (grid->columns[i].kind == GRID_RIGHT)
			widths[i] = 0;
	narrow(grid, widths, LEAST);
}

/* ---- output ---- */

static const char *skip_width(const char *text, size_t width)
{
	while (*text && grid_width(text) > width)
		text = g_utf8_next_char(text);
	return text;
}

static char *cut(const char *text, size_t width)
{
	struct string cut = {0};

	if (grid_width(text) <= width) {
		string_add(&cut, text);
		return string_take(&cut);
	}
	if (*text == '/') {
		string_add(&cut, "\xe2\x80\xa6");
		string_add(&cut, skip_width(text, width - 1));
		return string_take(&cut);
	}
	for (; *text && grid_width(string_text(&cut)) < width - 1; text = g_utf8_next_char(text))
		string_add_bytes(&cut, text, (size_t)(g_utf8_next_char(text) - text));
	string_add(&cut, "\xe2\x80\xa6");
	return string_take(&cut);
}

char *grid_cut(const struct report *report, size_t before, const char *text)
{
	return report->width && report->width > before + NARROWEST ? cut(text, report->width - before) : memory_copy(text, strlen(text));
}

/* Writes @text, wrapped at the width of the terminal. */
static void put_words(const struct report *report, const char *indent, const char *text)
{
	size_t left = grid_width(indent), at = left;
	bool more = *text;

	for (size_t i = 0; more; i++) {
		size_t bytes = strcspn(text, " ");
		char *whole = memory_copy(text, bytes), *word = grid_cut(report, left + 4, whole);
		size_t length = grid_width(word);

		if (i && report->width && at + 1 + length > report->width) {
			fprintf(report->out, "\n%s    ", indent);
			at = left + 4;
		} else if (i) {
			fputs(" ", report->out);
			at++;
		}
		fputs(word, report->out);
		at += length;
		free(word);
		free(whole);
		more = text[bytes];
		text += bytes + 1;
	}
}

void grid_title(const struct report *report, const char *indent, const char *text)
{
	fprintf(report->out, "%s%s", indent, report->colour ? "\033[1m" : "");
	put_words(report, indent, text);
	fprintf(report->out, "%s\n", report->colour ? "\033[0m" : "");
}

void grid_line(const struct report *report, const char *indent, const char *format, ...)
{
	struct string text = {0};
	va_list arguments;

	va_start(arguments, format);
	string_addv(&text, format, arguments);
	va_end(arguments);
	fputs(indent, report->out);
	put_words(report, indent, string_text(&text));
	fputs("\n", report->out);
	string_free(&text);
}

static void put_row(const struct grid *grid, const size_t *widths, const char *const *cells)
{
	size_t owed = 0; /* blanks before the next cell: not written at the end of a line */

	fputs(grid->indent, grid->report->out);
	for (size_t i = 0; i < grid->nr; i++) {
		bool right = grid->columns[i].kind < GRID_ELASTIC;
		char *text;
		size_t blanks;

		if (!widths[i])
			continue;
		if (!*cells[i]) {
			owed += widths[i] + 2;
			continue;
		}
		text = cut(cells[i], widths[i]);
		blanks = widths[i] > grid_width(text) ? widths[i] - grid_width(text) : 0;
		fprintf(grid->report->out, "%*s%s", (int)(owed + (right ? blanks : 0)), "", text);
		owed = 2 + (right ? 0 : blanks);
		free(text);
	}
	fputs("\n", grid->report->out);
}

/* A line that names the dropped columns of numbers. */
static void put_missing(const struct grid *grid, const size_t *widths)
{
	struct string names = {0};

	for (size_t i = 0; i < grid->nr; i++)
		if (!widths[i] && grid->columns[i].kind == GRID_RIGHT)
			string_addf(&names, "%s%s", names.len ? ", " : "(no room for: ", grid->columns[i].heading);
	if (names.len)
		grid_line(grid->report, grid->indent, "%s)", string_text(&names));
	string_free(&names);
}

void grid_end(struct grid *grid, const char *rest)
{
	size_t widths[MAX_COLUMNS] = {0};
	const char *headings[MAX_COLUMNS];
	bool headed = false;

	fit(grid, widths);
	for (size_t i = 0; i < grid->nr; i++) {
		headings[i] = grid->columns[i].heading;
		headed |= *headings[i] != 0;
	}
	if (headed && grid->cells.nr)
		put_row(grid, widths, headings);
	for (size_t i = 0; i + grid->nr <= grid->cells.nr; i += grid->nr)
		put_row(grid, widths, (const char *const *)&grid->cells.at[i]);
	if (rest && *rest)
		grid_line(grid->report, grid->indent, "(%s)", rest);
	put_missing(grid, widths);
	pointers_free_all(&grid->cells);
	free(grid);
}
