/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "report_profile_tree.h"

#include <stdio.h>
#include <stdlib.h>
#include "grid.h"
#include "number_text.h"
#include "profile_waker.h"
#include "row_limit.h"
#include "value_text.h"

#define ROWS	  25
#define TREE_ROWS 40

/* ---- the tree ---- */

static int by_total(const void *left, const void *right, void *data)
{
	uint64_t l = profile_elapsed(&(*(struct profile_node *const *)left)->total),
		 r = profile_elapsed(&(*(struct profile_node *const *)right)->total);

	(void)data;
	return (l < r) - (l > r);
}

/* The least time of a node that is shown. A caller has at least the time of what it called, so the
 * nodes with the most time are a tree. */
static uint64_t least_shown(const struct report *report, const struct profile_rows *rows)
{
	size_t max = row_limit_max(&report->options->rows, rows->tree.nodes.nr, TREE_ROWS);
	struct pointers nodes = {0};
	uint64_t ns = 1;

	for (size_t i = 1; i < rows->tree.nodes.nr; i++)
		if (!profile_node_is_repeated(rows->tree.nodes.at[i]))
			pointers_add(&nodes, rows->tree.nodes.at[i]);
	memory_sort(nodes.at, nodes.nr, sizeof(*nodes.at), by_total, NULL);
	if (max && nodes.nr > max)
		ns = profile_elapsed(&((struct profile_node *)nodes.at[max - 1])->total);
	pointers_free(&nodes);
	return ns ? ns : 1;
}

static void put_node(struct grid *grid, const struct profile_node *node, uint64_t whole)
{
	size_t times;
	const struct profile_node *last = profile_node_last(node, &times);
	struct string text = {0};

	for (size_t i = profile_node_depth(node); i > 0; i--)
		string_add(&text, "  ");
	profile_row_text(node->row, &text);
	if (times > 1)
		string_addf(&text, " (%s times)", number_count(times).s);
	if (node->woken) {
		string_add(&text, ", woken in ");
		woken_in_text(node->woken, profile_elapsed(&node->self), &text);
	}
	grid_ns(grid, profile_elapsed(&node->total));
	grid_percent(grid, profile_elapsed(&node->total), whole);
	grid_ns(grid, profile_elapsed(&last->self));
	grid_name(grid, string_text(&text));
	grid_name(grid, node->row->kind == PROFILE_FUNCTION ? node->row->file : "");
	string_free(&text);
}

void profile_tree_put(const struct report *report, const struct profile_rows *rows)
{
	static const struct grid_column columns[] = {{"total", GRID_RIGHT},
						     {"%", GRID_RIGHT},
						     {"self", GRID_RIGHT},
						     {"context", GRID_ELASTIC},
						     {"in", GRID_EXTRA}};
	const struct profile_node *node = rows->tree.nodes.at[0];
	struct grid *grid = grid_new(&report->output, "  ", columns, sizeof(columns) / sizeof(columns[0]));
	uint64_t whole = profile_elapsed(&rows->sum), least_ns = least_shown(report, rows), left_ns = 0;
	size_t left = 0;
	struct value_text ns;
	char rest[96] = "";

	for (node = node->child; node; node = profile_node_next(node)) {
		if (profile_node_is_repeated(node))
			continue;
		if (profile_elapsed(&node->total) >= least_ns) {
			put_node(grid, node, whole);
			continue;
		}
		left++;
		left_ns += profile_elapsed(&node->self);
	}
	if (left)
		snprintf(rest, sizeof(rest), "%s more, %s in them", number_count(left).s,
			 text_ns(&report->output, left_ns, &ns));
	grid_end(grid, rest);
}

/* ---- callers and callees ---- */

static void put_neighbour(struct grid *grid, const struct profile_neighbour *neighbour, uint64_t whole)
{
	const struct profile_row *row = neighbour->row;
	struct string text = {0};

	if (row)
		profile_row_text(row, &text);
	else
		string_add(&text, "(in the function itself)");
	grid_ns(grid, profile_elapsed(&neighbour->time));
	grid_percent(grid, profile_elapsed(&neighbour->time), whole);
	grid_ns(grid, neighbour->time.on_cpu_ns);
	grid_ns(grid, neighbour->time.wait_cpu_ns + neighbour->time.blocked_ns);
	grid_count(grid, neighbour->time.samples);
	grid_name(grid, string_text(&text));
	grid_name(grid, row ? row->file : "");
	grid_name(grid, row ? row->program : "");
	string_free(&text);
}

void profile_neighbours_put(const struct report *report, const struct profile_neighbours *neighbours)
{
	const struct profile_choice *choice = &report->options->profile;
	const struct grid_column columns[] = {
		{"time", GRID_RIGHT},	     {"%", GRID_RIGHT},
		{"on a CPU", GRID_OPTIONAL}, {"waits", GRID_RARE},
		{"samples", GRID_OPTIONAL},  {choice->form == PROFILE_CALLERS ? "called from" : "calls", GRID_ELASTIC},
		{"in", GRID_ELASTIC},	     {"program", GRID_ELASTIC},
	};
	struct row_limit limit = row_limit_new(&report->options->rows, ROWS);
	uint64_t whole = profile_elapsed(&neighbours->total);
	struct value_text total, self, rest;
	struct string line = {0};
	char name[256];
	struct grid *grid;

	string_addf(&line, "%s: %s in it and in what it called, %s of it in the function itself.",
		    text_name(choice->function, name, sizeof(name)), text_ns(&report->output, whole, &total),
		    text_ns(&report->output, profile_elapsed(&neighbours->self), &self));
	if (neighbours->nr_rows > 1)
		string_addf(&line, " %s functions have this name.", number_count(neighbours->nr_rows).s);
	output_paragraph(&report->output, string_text(&line));
	string_free(&line);
	grid = grid_new(&report->output, "  ", columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = 0; i < neighbours->list.nr; i++) {
		const struct profile_neighbour *neighbour = neighbours->list.at[i];

		if (row_limit_shows(&limit, profile_elapsed(&neighbour->time), whole))
			put_neighbour(grid, neighbour, whole);
	}
	grid_end(grid, row_limit_rest(&limit, &report->output, &rest));
}
