/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * report_profile.c - the elapsed time of the chosen threads: a row for each function of each
 * program, and one for each thing that they waited for. The rows of both tables add up to the
 * elapsed time.
 */
#include <errno.h>
#include <stdio.h>
#include "complain.h"
#include "grid.h"
#include "json.h"
#include "number_text.h"
#include "process_rows.h"
#include "profile_rows.h"
#include "report_profile.h"
#include "row_limit.h"
#include "value_text.h"

#define ROWS	   25
#define NAME_BYTES 256

/* ---- text ---- */

static void put_numbers(const struct report *report, const struct profile_rows *rows)
{
	const struct text_output *output = &report->output;
	struct trace_profile_numbers numbers;
	struct value_text elapsed, cpu, wait, blocked, rest, unnamed;
	struct string line = {0};

	trace_profile_get_numbers(report->profile, &numbers);
	string_addf(&line, "%s thread%s, elapsed %s: %s on a CPU, %s waiting for one, %s blocked",
		    number_count(rows->nr_threads).s, rows->nr_threads == 1 ? "" : "s",
		    text_ns(output, profile_elapsed(&rows->sum), &elapsed), text_ns(output, rows->sum.on_cpu_ns, &cpu),
		    text_ns(output, rows->sum.wait_cpu_ns, &wait), text_ns(output, rows->sum.blocked_ns, &blocked));
	if (rows->rest_ns)
		string_addf(&line, " (of it %s at rest)", text_ns(output, rows->rest_ns, &rest));
	string_addf(&line, ". These times are exact; %s sample%s divide%s those on a CPU among functions.",
		    number_count(rows->sum.samples).s, rows->sum.samples == 1 ? "" : "s",
		    rows->sum.samples == 1 ? "s" : "");
	if (numbers.unplaced)
		string_addf(&line, " %s more are not used: events before them are missing.",
			    number_count(numbers.unplaced).s);
	if (rows->unnamed_ns)
		string_addf(&line, " %s are in code without a name: the rows say why.",
			    text_ns(output, rows->unnamed_ns, &unnamed));
	output_paragraph(output, string_text(&line));
	string_free(&line);
}

/* "compress_block", "(not sampled) read", "(blocked) file /etc/passwd" */
static void put_name(struct grid *grid, const struct profile_row *row)
{
	struct string text = {0};

	if (row->kind != PROFILE_FUNCTION)
		string_addf(&text, "(%s)%s%s", profile_kind_word(row->kind), *row->name ? " " : "", row->name);
	else if (*row->name)
		string_addf(&text, "%s%s", row->name, row->is_late ? " (+ interrupts off)" : "");
	else
		string_addf(&text, "(no name: %s)", row->why);
	grid_name(grid, string_text(&text));
	string_free(&text);
}

/* "2.1 %": the standard deviation of the time, as part of it */
static void put_deviation(struct grid *grid, const struct profile_row *row)
{
	char text[32] = "";

	if (row->samples && profile_elapsed(row))
		snprintf(text, sizeof(text), "%.1f %%", percent(profile_deviation(row), profile_elapsed(row)));
	grid_text(grid, text);
}

/* ---- text: the table of functions, and that of waits ---- */

static bool is_on_cpu(const struct profile_row *row)
{
	return row->kind == PROFILE_FUNCTION || row->kind == PROFILE_NOT_SAMPLED;
}

static void put_row(struct grid *grid, const struct profile_row *row, uint64_t whole, bool on_cpu)
{
	grid_ns(grid, profile_elapsed(row));
	grid_percent(grid, profile_elapsed(row), whole);
	if (on_cpu) {
		grid_count(grid, row->samples);
		put_deviation(grid, row);
	}
	put_name(grid, row);
	if (on_cpu)
		grid_name(grid, row->file);
	grid_name(grid, row->program);
}

static void put_table(const struct report *report, const struct profile_rows *rows, bool on_cpu)
{
	static const struct grid_column functions[] = {{"time", GRID_RIGHT},	   {"%", GRID_RIGHT},
						       {"samples", GRID_OPTIONAL}, {"+-", GRID_RIGHT},
						       {"function", GRID_ELASTIC}, {"in", GRID_ELASTIC},
						       {"program", GRID_ELASTIC}},
					waits[] = {{"time", GRID_RIGHT},
						   {"%", GRID_RIGHT},
						   {"waits", GRID_ELASTIC},
						   {"program", GRID_ELASTIC}};
	struct row_limit limit = row_limit_new(&report->options->rows, ROWS);
	uint64_t whole = on_cpu ? rows->sum.on_cpu_ns : rows->sum.wait_cpu_ns + rows->sum.blocked_ns;
	struct value_text rest;
	struct grid *grid;

	if (!whole)
		return;
	output_title(&report->output, "", on_cpu ? "On a CPU:" : "Off the CPUs:");
	grid = on_cpu ? grid_new(&report->output, "  ", functions, sizeof(functions) / sizeof(functions[0]))
		      : grid_new(&report->output, "  ", waits, sizeof(waits) / sizeof(waits[0]));
	for (size_t i = 0; i < rows->rows.nr; i++) {
		const struct profile_row *row = rows->rows.at[i];

		if (is_on_cpu(row) == on_cpu && row_limit_shows(&limit, profile_elapsed(row), whole))
			put_row(grid, row, whole, on_cpu);
	}
	grid_end(grid, row_limit_rest(&limit, &report->output, &rest));
	fputs("\n", report->output.out);
}

/* ---- JSON: keys may be added, but never renamed ---- */

static void json_times(struct json *json, const struct profile_row *row)
{
	json_u64(json, "elapsed_ns", profile_elapsed(row));
	json_u64(json, "on_cpu_ns", row->on_cpu_ns);
	json_u64(json, "wait_cpu_ns", row->wait_cpu_ns);
	json_u64(json, "blocked_ns", row->blocked_ns);
	json_u64(json, "samples", row->samples);
}

static void json_row(struct json *json, const struct profile_row *row)
{
	putc('\n', json->out);
	json_open(json, NULL, "{");
	json_text(json, "kind", profile_kind_word(row->kind));
	json_text(json, "name", row->name);
	json_text(json, "file", row->file);
	json_text(json, "program", row->program);
	json_text(json, "why", row->why);
	json_bool(json, "late", row->is_late);
	json_times(json, row);
	json_u64(json, "deviation_ns", profile_deviation(row));
	json_close(json, "}");
}

static void put_json(const struct report *report, const struct profile_rows *rows)
{
	struct json json_of_out = {.out = report->output.out, .first = true}, *json = &json_of_out;
	struct trace_profile_numbers numbers;
	uint64_t from_ns, to_ns;

	trace_profile_get_numbers(report->profile, &numbers);
	trace_analysis_window(report->analysis, &from_ns, &to_ns);
	json_open(json, NULL, "{");
	json_text(json, "schema", "trace-profile/1");
	json_text(json, "file", trace_get_info(report->trace)->file);
	json_u64(json, "from_ns", from_ns);
	json_u64(json, "to_ns", to_ns);
	json_u64(json, "threads", rows->nr_threads);
	json_times(json, &rows->sum);
	json_u64(json, "rest_ns", rows->rest_ns);
	json_u64(json, "unnamed_ns", rows->unnamed_ns);
	json_u64(json, "unplaced", numbers.unplaced);
	json_open(json, "rows", "[");
	for (size_t i = 0; i < rows->rows.nr; i++)
		json_row(json, rows->rows.at[i]);
	json_close(json, "]");
	json_close(json, "}\n");
}

/* ---- the report ---- */

static void put_text(const struct report *report, const struct profile_rows *rows)
{
	put_numbers(report, rows);
	put_table(report, rows, true);
	put_table(report, rows, false);
}

/* The processes of a recorded command come first, as in the other reports. */
static void put_command(const struct report *report)
{
	struct pointers family = command_family(&report->command);
	const struct trace_process *process = report->command.process;
	struct trace_error error = {0}; /* the rows of the machine have the same names */
	struct profile_rows rows = {0};
	char name[NAME_BYTES];

	if (profile_rows_make(report, &family, &rows, &error) == -ENOMEM)
		memory_end();
	if (rows.rows.nr) {
		text_process(trace_process_title(process), trace_process_pid(process), name, sizeof(name));
		output_line(&report->output, "", "The command, %s%s:", name,
			    family.nr > 1 ? " with the processes that it started" : "");
		put_text(report, &rows);
		output_line(&report->output, "", "The whole machine:");
	}
	profile_rows_free(&rows);
	pointers_free(&family);
}

int report_profile(const struct report *report)
{
	struct trace_profile_numbers numbers;
	struct trace_error error = {0};
	struct profile_rows rows = {0};
	int result = 0;

	trace_profile_get_numbers(report->profile, &numbers);
	if (!numbers.samples && !report->is_windowed)
		return complain(1, "the trace has no samples: tracedaemon --sample TRACE -- COMMAND records some");
	if (profile_rows_make(report, NULL, &rows, &error) == -ENOMEM)
		memory_end();
	if (!rows.rows.nr) {
		result = complain(1, "no chosen thread has any time in the trace");
	} else if (report->options->reports.json) {
		put_json(report, &rows);
	} else {
		if (command_comes_first(report))
			put_command(report);
		put_text(report, &rows);
	}
	if (error.code)
		fprintf(stderr, "tracevisualizer: warning: %s\n", error.message);
	profile_rows_free(&rows);
	return result;
}
