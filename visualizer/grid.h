/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef VISUALIZER_GRID_H
#define VISUALIZER_GRID_H
/*
 * grid.h - tables for people: columns as wide as what stands in them, and nothing wider than the terminal.
 *
 *	static const struct grid_column columns[] = {{"time", GRID_RIGHT}, {"path", GRID_ELASTIC}};
 *	struct grid *grid = grid_new(report, "\t", columns, 2);
 *
 *	grid_ns(grid, ns);
 *	grid_name(grid, path);
 *	grid_end(grid, "3 more rows");
 *
 * Cells are given row by row. Where the terminal is too narrow first the optional columns go, then the elastic ones are cut:
 * a path at its beginning, anything else at its end, and at last numbers from the right, which a line below tells. On a pipe nothing is cut.
 */
#include "report.h"

enum grid_kind {
	GRID_RIGHT,    /* numbers */
	GRID_OPTIONAL, /* the same, and left out where there is no room: the first ones first */
	GRID_RARE,     /* the same, and left out where all of it is nothing, too */
	GRID_ELASTIC,  /* text, to the left */
	GRID_EXTRA,    /* the same, and left out where little of it would be seen, or where there is nothing in it */
	GRID_HIDDEN,   /* not there: what would stand in it is not known */
};
struct grid_column {
	const char *heading;
	enum grid_kind kind;
};
struct grid;

struct grid *grid_new(const struct report *report, const char *indent, const struct grid_column *columns, size_t nr);
void grid_text(struct grid *grid, const char *text); /* as it is */
void grid_name(struct grid *grid, const char *name); /* made harmless */
void grid_ns(struct grid *grid, uint64_t ns);
void grid_bytes(struct grid *grid, uint64_t bytes);
void grid_count(struct grid *grid, uint64_t count);
void grid_percent(struct grid *grid, uint64_t part, uint64_t whole);
/** grid_process() - "cc1 (4711)"; with @pid 0, nobody in particular: "(several)" */
void grid_process(struct grid *grid, const char *comm, uint32_t pid);
/** grid_end() - print it, with a line below unless @rest is NULL or empty, and free it */
void grid_end(struct grid *grid, const char *rest);
/** grid_title() - what stands above a table, bold on a terminal; in as many lines as it takes there, the further ones indented */
void grid_title(const struct report *report, const char *indent, const char *text);
/** grid_line() - the same, not bold */
void grid_line(const struct report *report, const char *indent, const char *format, ...) __attribute__((format(printf, 3, 4)));
/** grid_width() - of @text in columns of a terminal */
size_t grid_width(const char *text);
/** grid_cut() - @text as a terminal has room for it behind @before columns; the caller's to free */
char *grid_cut(const struct report *report, size_t before, const char *text);
#endif
