/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* grid.c - tables for text reports. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include "checked_memory.h"
#include "grid.h"
#include "value_text.h"

#define MAX_COLUMNS	  16
#define ELASTIC_WIDTH	  8  /* minimum of an elastic column while other columns can be dropped */
#define ELASTIC_WIDTH_MIN 3  /* the same when none is left */
#define EXTRA_WIDTH	  20 /* minimum of an extra column, else it is dropped */
#define NAME_BYTES	  512

struct grid {
	const struct text_output *output;
	const char *indent;
	struct grid_column columns[MAX_COLUMNS];
	size_t nr;
	struct pointers cells; /* owned strings, row by row */
};

struct grid *grid_new(const struct text_output *output, const char *indent, const struct grid_column *columns,
		      size_t nr)
{
	struct grid *grid = memory_take(1, sizeof(*grid));

	if (nr > MAX_COLUMNS)
		abort();
	*grid = (struct grid){.output = output, .indent = indent, .nr = nr};
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
	struct value_text text;

	grid_text(grid, text_ns(grid->output, ns, &text));
}

void grid_bytes(struct grid *grid, uint64_t bytes)
{
	struct value_text text;

	grid_text(grid, !bytes && !grid->output->exact ? "-" : text_bytes(grid->output, bytes, &text));
}

void grid_count(struct grid *grid, uint64_t count)
{
	struct value_text text;

	grid_text(grid, !count && !grid->output->exact ? "-" : text_count(grid->output, count, &text));
}

void grid_percent(struct grid *grid, uint64_t part, uint64_t whole)
{
	struct value_text text;

	snprintf(text.bytes, sizeof(text.bytes), "%.2f", percent(part, whole));
	grid_text(grid, text.bytes);
}

void grid_process(struct grid *grid, const char *comm, uint32_t pid)
{
	char buffer[NAME_BYTES + 32], both[NAME_BYTES + 34];

	text_process(comm, pid, buffer, sizeof(buffer));
	if (!pid && strcmp(comm, "several") == 0)
		strcpy(both, "several processes");
	else
		snprintf(both, sizeof(both), pid || !*comm ? "%s" : "(%s)", buffer);
	grid_text(grid, both);
}

/* ---- widths, in columns of a terminal ---- */

static void measure(const struct grid *grid, size_t *widths)
{
	for (size_t i = 0; i < grid->nr; i++)
		widths[i] = text_width(grid->columns[i].heading);
	for (size_t i = 0; i < grid->cells.nr; i++) {
		size_t width = text_width(grid->cells.at[i]);

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
	size_t sum = text_width(grid->indent);
	bool first = true;

	for (size_t i = 0; i < grid->nr; i++)
		if (widths[i]) {
			sum += widths[i] + (first ? 0 : 2);
			first = false;
		}
	return sum;
}

/* Narrows elastic columns, always the widest one, down to @min. */
static void narrow(const struct grid *grid, size_t *widths, size_t min)
{
	while (total(grid, widths) > grid->output->width) {
		size_t widest = grid->nr;

		for (size_t i = 0; i < grid->nr; i++)
			if (grid->columns[i].kind == GRID_ELASTIC && widths[i] > min &&
			    (widest == grid->nr || widths[i] > widths[widest]))
				widest = i;
		if (widest == grid->nr)
			break;
		widths[widest]--;
	}
}

/* Sets the widths of columns for the terminal. Width 0: the column is dropped. */
static void fit(const struct grid *grid, size_t *widths)
{
	size_t room = grid->output->width;

	measure(grid, widths);
	leave_out_empty(grid, widths);
	if (!room)
		return;
	for (size_t i = 0; i < grid->nr && total(grid, widths) > room; i++)
		if (grid->columns[i].kind == GRID_OPTIONAL || grid->columns[i].kind == GRID_RARE)
			widths[i] = 0;
	for (size_t i = 0; i < grid->nr; i++)
		if (grid->columns[i].kind == GRID_EXTRA && total(grid, widths) > room)
			widths[i] = widths[i] + room >= total(grid, widths) + EXTRA_WIDTH
					    ? widths[i] + room - total(grid, widths)
					    : 0;
	narrow(grid, widths, ELASTIC_WIDTH);
	/* the first column is the subject of the row */
	for (size_t i = grid->nr; i-- > 1 && total(grid, widths) > room;)
		if (grid->columns[i].kind == GRID_RIGHT)
			widths[i] = 0;
	narrow(grid, widths, ELASTIC_WIDTH_MIN);
}

/* ---- output ---- */

static void put_row(const struct grid *grid, const size_t *widths, const char *const *cells)
{
	size_t owed = 0; /* blanks before the next cell: not written at the end of a line */

	fputs(grid->indent, grid->output->out);
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
		text = text_cut_cell(cells[i], widths[i]);
		blanks = widths[i] > text_width(text) ? widths[i] - text_width(text) : 0;
		fprintf(grid->output->out, "%*s%s", (int)(owed + (right ? blanks : 0)), "", text);
		owed = 2 + (right ? 0 : blanks);
		free(text);
	}
	fputs("\n", grid->output->out);
}

/* A line that names the dropped columns of numbers. */
static void put_missing(const struct grid *grid, const size_t *widths)
{
	struct string names = {0};

	for (size_t i = 0; i < grid->nr; i++)
		if (!widths[i] && grid->columns[i].kind == GRID_RIGHT)
			string_addf(&names, "%s%s", names.len ? ", " : "(no room for: ", grid->columns[i].heading);
	if (names.len)
		output_line(grid->output, grid->indent, "%s)", string_text(&names));
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
		output_line(grid->output, grid->indent, "(%s)", rest);
	put_missing(grid, widths);
	pointers_free_all(&grid->cells);
	free(grid);
}
