/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * report_lines.c - a source with the time of each line beside it. Lines far from any with time are
 * left out. A source that is not on this machine leaves the numbers of the lines.
 */
#include "report_lines.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include "grid.h"
#include "read_end.h"
#include "code_file.h"
#include "source_lines.h"
#include "value_text.h"

#define AROUND	   3 /* lines without time that are shown before and after one with time */
#define LINE_BYTES 4096

static void put_line(struct grid *grid, uint32_t number, const struct line_row *row, const char *source)
{
	static const struct line_row none;
	struct value_text line;
	struct string text = {0};

	row = row ? row : &none;
	snprintf(line.bytes, sizeof(line.bytes), "%u", number);
	source_expand(source, &text);
	grid_ns(grid, row->self.on_cpu_ns);
	grid_ns(grid, row->total.on_cpu_ns);
	grid_ns(grid, row->total.blocked_ns);
	grid_count(grid, row->self.samples);
	grid_text(grid, line.bytes);
	grid_name(grid, string_text(&text));
	string_free(&text);
}

/**
 * struct line_place - @next: the first of the lines with time that is not before the current one
 */
struct line_place {
	const struct pointers *lines;
	size_t next;
};

static uint32_t line_at(const struct line_place *place, size_t idx)
{
	return idx < place->lines->nr ? ((const struct line_row *)place->lines->at[idx])->line : UINT32_MAX;
}

/* The row of line @number, or NULL. @ret_near: one with time is near */
static const struct line_row *row_at(struct line_place *place, uint32_t number, bool *ret_near)
{
	uint32_t before, after;

	while (line_at(place, place->next) < number)
		place->next++;
	before = place->next ? line_at(place, place->next - 1) : 0;
	after = line_at(place, place->next);
	*ret_near = (before && number - before <= AROUND) || after - number <= AROUND;
	return after == number ? place->lines->at[place->next] : NULL;
}

/* Returns 0, or the negative errno of a read: then lines of the source are missing. */
static int put_source(const struct report *report, struct grid *grid, const struct pointers *lines, FILE *in)
{
	struct line_place place = {.lines = lines};
	char line[LINE_BYTES];
	bool is_first_part = true, was_near = true;
	uint32_t number = 1;
	int error;

	for (; fgets(line, sizeof(line), in); is_first_part = strchr(line, '\n') != NULL) {
		bool is_near;
		const struct line_row *row;

		if (!is_first_part)
			continue;
		row = row_at(&place, number, &is_near);
		if (is_near || report->options->rows.all) {
			if (!was_near) {
				for (int i = 0; i < 5; i++)
					grid_text(grid, "");
				grid_text(grid, "...");
			}
			put_line(grid, number, row, line);
			was_near = true;
		} else {
			was_near = false;
		}
		number++;
	}
	error = read_error(in);
	/* the source is another version, and shorter */
	for (size_t i = 0; i < lines->nr; i++)
		if (line_at(&place, i) >= number)
			put_line(grid, line_at(&place, i), lines->at[i], "");
	return error;
}

static struct profile_time sum_of(const struct pointers *lines)
{
	struct profile_time sum = {0};

	for (size_t i = 0; i < lines->nr; i++)
		profile_time_add(&sum, &((const struct line_row *)lines->at[i])->self);
	return sum;
}

static bool is_newer(const struct report *report, FILE *in)
{
	struct stat status;

	return !fstat(fileno(in), &status) &&
	       (uint64_t)status.st_mtim.tv_sec * 1000000000u > trace_get_info(report->trace)->start_realtime_ns;
}

void report_lines(const struct report *report, const struct pointers *lines)
{
	static const struct grid_column columns[] = {{"time", GRID_RIGHT},   {"with calls", GRID_RIGHT},
						     {"blocked", GRID_RARE}, {"samples", GRID_OPTIONAL},
						     {"line", GRID_RIGHT},   {"", GRID_ELASTIC}};
	const char *source = ((const struct line_row *)lines->at[0])->source;
	struct profile_time sum = sum_of(lines);
	struct value_text time;
	char name[PATH_MAX];
	struct grid *grid;
	FILE *in = source_open(report->options->symbols.folder, source);
	int cause = errno, error = 0;

	output_line(&report->output, "", "%s: %s on a CPU in its lines.", text_name(source, name, sizeof(name)),
		    sum.on_cpu_ns ? text_ns(&report->output, sum.on_cpu_ns, &time) : "nothing");
	if (!in)
		output_line(&report->output, "", "The source is not on this machine (%s): --symfs names a copy.",
			    code_file_why(-cause));
	else if (is_newer(report, in))
		output_line(&report->output, "",
			    "The source was changed after the recording: its lines may be others.");
	fputs("\n", report->output.out);
	grid = grid_new(&report->output, "  ", columns, sizeof(columns) / sizeof(columns[0]));
	if (in)
		error = put_source(report, grid, lines, in);
	for (size_t i = 0; !in && i < lines->nr; i++)
		put_line(grid, ((const struct line_row *)lines->at[i])->line, lines->at[i], "");
	grid_end(grid, NULL);
	if (error)
		output_line(&report->output, "", "The source could not be read to its end: %s.", strerror(-error));
	if (in)
		fclose(in);
}
