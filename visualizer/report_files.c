/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* report_files.c - the table of files, for a process and for the machine. */
#include "grid.h"

void report_files(const struct report *report, const char *indent, const struct trace_figures *f, uint64_t whole_ns, size_t most)
{
	static const struct grid_column columns[] = {{"waited", GRID_RIGHT},	 {"reads", GRID_OPTIONAL}, {"read", GRID_RIGHT},
						     {"writes", GRID_OPTIONAL}, {"written", GRID_RIGHT},   {"disk", GRID_EXTRA}, {"path", GRID_ELASTIC}};
	struct grid *grid = grid_new(report, indent, columns, sizeof(columns) / sizeof(columns[0]));
	uint64_t bytes = f->read_bytes + f->written_bytes;
	struct fold fold = fold_begin(report, most);
	struct text rest;

	for (size_t i = 0; i < f->nr_files; i++) {
		const struct trace_file_use *file = &f->files[i];
		bool much = percent(file->read_bytes + file->written_bytes, bytes) >= 10 * WORTH_A_ROW;

		if (!fold_shows_if(&fold, much || percent(file->wait_ns, whole_ns) >= WORTH_A_ROW, file->wait_ns))
			continue;
		grid_ns(grid, file->wait_ns);
		grid_count(grid, file->reads);
		grid_bytes(grid, file->read_bytes);
		grid_count(grid, file->writes);
		grid_bytes(grid, file->written_bytes);
		grid_name(grid, trace_file_device(report->analysis, file->path));
		grid_name(grid, text_path(report, file->path));
	}
	grid_end(grid, fold_rest(&fold, &rest));
}
