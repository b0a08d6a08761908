/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "report_profile_by.h"

#include <stdio.h>
#include "grid.h"
#include "process_rows.h"
#include "row_limit.h"
#include "value_text.h"

#define ROWS	 25
#define NR_TIMES 6

#define HEADING(name, word, heading) heading,
static const char *const headings[NR_PROFILE_KEYS] = {EACH_PROFILE_KEY(HEADING)};

static void put_row(struct grid *grid, const struct profile_by_row *row, const struct profile_time *sum, size_t nr_keys)
{
	uint64_t deviation_ns = profile_deviation_of(row->variance);
	char text[32] = "";

	grid_ns(grid, row->time.on_cpu_ns);
	grid_percent(grid, row->time.on_cpu_ns, sum->on_cpu_ns);
	grid_count(grid, row->time.samples);
	if (row->time.samples)
		snprintf(text, sizeof(text), "%.1f %%", percent(deviation_ns, row->time.on_cpu_ns));
	grid_text(grid, text);
	grid_ns(grid, row->time.wait_cpu_ns);
	grid_ns(grid, row->time.blocked_ns);
	for (size_t i = 0; i < nr_keys; i++)
		grid_name(grid, row->values[i]);
}

void profile_by_put(const struct report *report, const struct profile_rows *rows)
{
	const struct profile_by_choice *choice = &report->options->profile.by;
	struct grid_column columns[NR_TIMES + NR_PROFILE_KEYS] = {{"on a CPU", GRID_RIGHT},   {"%", GRID_RIGHT},
								  {"samples", GRID_OPTIONAL}, {"+-", GRID_OPTIONAL},
								  {"CPU wait", GRID_RARE},    {"blocked", GRID_RARE}};
	struct row_limit limit = row_limit_new(&report->options->rows, ROWS);
	struct value_text rest;
	struct grid *grid;

	for (size_t i = 0; i < choice->nr; i++)
		columns[NR_TIMES + i] = (struct grid_column){headings[choice->keys[i]], GRID_ELASTIC};
	grid = grid_new(&report->output, "  ", columns, NR_TIMES + choice->nr);
	for (size_t i = 0; i < rows->by.rows.nr; i++) {
		const struct profile_by_row *row = rows->by.rows.at[i];

		if (row_limit_shows_if(&limit, row->time.on_cpu_ns || !rows->sum.on_cpu_ns, row->time.on_cpu_ns))
			put_row(grid, row, &rows->sum, choice->nr);
	}
	grid_end(grid, row_limit_rest(&limit, &report->output, &rest));
	fputs("\n", report->output.out);
}
