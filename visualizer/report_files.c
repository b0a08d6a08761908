/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* report_files.c - the table of files, for a process and for the machine. */
#include "grid.h"
#include "report_files.h"
#include "row_limit.h"
#include "wait_text.h"

void report_files(const struct report *report, const char *indent, const struct trace_figures *f, uint64_t whole_ns,
		  size_t max)
{
	static const struct grid_column columns[] = {{"waited", GRID_RIGHT},  {"reads", GRID_OPTIONAL},
						     {"read", GRID_RIGHT},    {"writes", GRID_OPTIONAL},
						     {"written", GRID_RIGHT}, {"disk", GRID_EXTRA},
						     {"path", GRID_ELASTIC}};
	struct grid *grid = grid_new(&report->output, indent, columns, sizeof(columns) / sizeof(columns[0]));
	uint64_t bytes = f->read_bytes + f->written_bytes;
	struct row_limit limit = row_limit_new(&report->options->rows, max);
	struct value_text rest;

	for (size_t i = 0; i < f->nr_files; i++) {
		const struct trace_file_use *file = &f->files[i];
		bool much = percent(file->read_bytes + file->written_bytes, bytes) >= 10 * WORTH_A_ROW;

		if (!row_limit_shows_if(&limit, much || percent(file->wait_ns, whole_ns) >= WORTH_A_ROW, file->wait_ns))
			continue;
		grid_ns(grid, file->wait_ns);
		grid_count(grid, file->reads);
		grid_bytes(grid, file->read_bytes);
		grid_count(grid, file->writes);
		grid_bytes(grid, file->written_bytes);
		grid_name(grid, trace_file_device(report->analysis, file->path));
		grid_name(grid, text_path(report->analysis, file->path));
	}
	grid_end(grid, row_limit_rest(&limit, &report->output, &rest));
}
