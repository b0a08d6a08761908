/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef VISUALIZER_GRID_H
#define VISUALIZER_GRID_H
/*
 * grid.h - tables for text reports: columns are as wide as their cells, and the table is not wider
 * than the terminal.
 *
 *	static const struct grid_column columns[] = {{"time", GRID_RIGHT}, {"path", GRID_ELASTIC}};
 *	struct grid *grid = grid_new(&report->output, "\t", columns, 2);
 *
 *	grid_ns(grid, ns);
 *	grid_name(grid, path);
 *	grid_end(grid, "3 more rows");
 *
 * The caller gives cells row by row. On a narrow terminal the optional columns are dropped first.
 * Then elastic columns are cut: a path at its beginning, other text at its end, but the number of a
 * process stays. At last number columns are dropped from the right, and a line below the table
 * names them. On a pipe nothing is cut.
 */
#include <stddef.h>
#include <stdint.h>
#include "text_output.h"

enum grid_kind {
	GRID_RIGHT,    /* numbers */
	GRID_OPTIONAL, /* numbers, dropped on narrow terminals, leftmost first */
	GRID_RARE,     /* the same, also dropped if all cells are empty or zero */
	GRID_ELASTIC,  /* text, left-aligned */
	GRID_EXTRA,    /* text, dropped if empty or if little of it would fit */
	GRID_HIDDEN,   /* dropped: its values are unknown */
};
struct grid_column {
	const char *heading;
	enum grid_kind kind;
};
struct grid;

struct grid *grid_new(const struct text_output *output, const char *indent, const struct grid_column *columns,
		      size_t nr);
void grid_text(struct grid *grid, const char *text); /* unchanged */
void grid_name(struct grid *grid, const char *name); /* by text_name() */
void grid_ns(struct grid *grid, uint64_t ns);
void grid_bytes(struct grid *grid, uint64_t bytes);
void grid_count(struct grid *grid, uint64_t count);
void grid_percent(struct grid *grid, uint64_t part, uint64_t whole);
/** grid_process() - "cc1 (4711)"; with @pid 0: "(unknown)" */
void grid_process(struct grid *grid, const char *comm, uint32_t pid);
/** grid_end() - print the table, with the line @rest below it unless NULL or empty, and free it */
void grid_end(struct grid *grid, const char *rest);
#endif
