/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * report_profile_diff.c - two profiles, function by function.
 *
 * Rows with the same texts are one row. Those of waits are merged by what kind of thing they were
 * for, because the names of files and the numbers of processes differ. So each column adds up to
 * the time of its side.
 *
 * If both traces are recordings of commands, the commands are compared with their times as they
 * are: that one ran longer is what the user looks for. Otherwise the lengths of the recordings say
 * nothing. Then the times of B are scaled to the length of A for the differences.
 */
#include "report_profile_diff.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "complain.h"
#include "grid.h"
#include "json_pair.h"
#include "number_text.h"
#include "opreport.h"
#include "process_choice.h"
#include "profile_rows.h"
#include "row_limit.h"
#include "value_text.h"

#define ROWS	   25
#define NAME_BYTES 256

/**
 * struct profile_change - a function of both sides, or a kind of waits; @ns, @variance: by side
 * @change_ns: by which B has more, after scaling
 */
struct profile_change {
	uint64_t key; /* of its texts */
	const struct profile_row *row;
	uint64_t ns[2], samples[2];
	double variance[2];
	int64_t change_ns;
};

/** struct profile_diff - @lengths: of the recordings; @is_scaled: the times of B are for changes */
struct profile_diff {
	const struct report *sides;
	struct profile_rows rows[2];
	struct strings keys;
	struct hash_table by_key;
	struct pointers changes; /* targets are in @by_key */
	uint64_t lengths[2], elapsed_ns[2];
	bool of_commands, is_scaled;
};

/* ---- rows ---- */

static bool is_wait(const struct profile_row *row)
{
	return row->kind == PROFILE_BLOCKED || row->kind == PROFILE_NOT_TRACED || row->kind == PROFILE_REST ||
	       row->kind == PROFILE_WAIT_CPU;
}

static void add_row(struct profile_diff *diff, int side, const struct profile_row *row)
{
	struct profile_change *change;
	struct string text = {0};

	if (is_wait(row))
		string_addf(&text, "%d %d\x01%s", row->kind, row->wait, row->program);
	else
		string_addf(&text, "%d\x01%s\x01%s\x01%s\x01%s", row->kind, row->name, row->file, row->program,
			    row->why);
	change = memory_row(&diff->by_key, sizeof(*change), memory_key(&diff->keys, string_text(&text)));
	string_free(&text);
	change->row = change->row ? change->row : row;
	change->ns[side] += profile_elapsed(&row->self);
	change->samples[side] += row->self.samples;
	change->variance[side] += row->variance;
}

static uint64_t scaled(const struct profile_diff *diff, uint64_t ns)
{
	if (!diff->is_scaled)
		return ns;
	return (uint64_t)((unsigned __int128)ns * diff->lengths[0] / (diff->lengths[1] ? diff->lengths[1] : 1));
}

/* The standard deviation of the change by sampling */
static uint64_t deviation(const struct profile_diff *diff, const struct profile_change *change)
{
	double scale = diff->is_scaled && diff->lengths[1] ? (double)diff->lengths[0] / (double)diff->lengths[1] : 1;

	return profile_deviation(
		&(struct profile_row){.variance = change->variance[0] + change->variance[1] * scale * scale});
}

static uint64_t size_of(const struct profile_change *change)
{
	return (uint64_t)(change->change_ns < 0 ? -change->change_ns : change->change_ns);
}

/* The largest change first; then the longest. */
static int by_change(const void *left, const void *right, void *data)
{
	const struct profile_change *l = *(struct profile_change *const *)left,
				    *r = *(struct profile_change *const *)right;
	uint64_t sizes[2] = {size_of(l), size_of(r)}, times[2] = {l->ns[0] + l->ns[1], r->ns[0] + r->ns[1]};

	(void)data;
	if (sizes[0] != sizes[1])
		return sizes[0] < sizes[1] ? 1 : -1;
	return (times[0] < times[1]) - (times[0] > times[1]);
}

static void collect(struct profile_diff *diff)
{
	struct profile_change *change = NULL;

	for (int side = 0; side < 2; side++)
		for (size_t i = 0; i < diff->rows[side].rows.nr; i++)
			add_row(diff, side, diff->rows[side].rows.at[i]);
	while ((change = table_next(&diff->by_key, sizeof(*change), change))) {
		change->change_ns = (int64_t)(scaled(diff, change->ns[1]) - change->ns[0]);
		if (change->ns[0] || change->ns[1])
			pointers_add(&diff->changes, change);
	}
	memory_sort(diff->changes.at, diff->changes.nr, sizeof(*diff->changes.at), by_change, NULL);
}

/* ---- text ---- */

static void change_text(const struct profile_change *change, struct string *text)
{
	const struct profile_row *row = change->row;

	if (row->kind == PROFILE_BLOCKED)
		string_addf(text, "(blocked) %s", trace_wait_kind_name(row->wait));
	else if (is_wait(row))
		string_addf(text, "(%s)", profile_kind_word(row->kind));
	else
		profile_row_text(row, text);
}

/* "+1.20 ms", "-340 us" */
static void put_change(struct grid *grid, const struct text_output *output, const struct profile_change *change)
{
	struct value_text time;
	char text[sizeof(time.bytes) + 1];

	snprintf(text, sizeof(text), "%s%s", change->change_ns < 0 ? "-" : "+",
		 text_ns(output, size_of(change), &time));
	grid_text(grid, change->change_ns ? text : "-");
}

static void put_deviation(struct grid *grid, const struct profile_diff *diff, const struct profile_change *change)
{
	struct value_text time;

	grid_text(grid, change->samples[0] + change->samples[1]
				? text_ns(&diff->sides[0].output, deviation(diff, change), &time)
				: "");
}

static void put_heading(const struct profile_diff *diff)
{
	const struct text_output *output = &diff->sides[0].output;
	char names[2][NAME_BYTES];
	struct value_text time;
	struct string line = {0};

	for (int i = 0; i < 2; i++)
		string_addf(&line, "%c: %s, %s of %s thread%s, %s samples. ", 'A' + i,
			    text_name(trace_get_info(diff->sides[i].trace)->file, names[i], sizeof(names[i])),
			    text_ns(output, diff->elapsed_ns[i], &time), number_count(diff->rows[i].nr_threads).s,
			    diff->rows[i].nr_threads == 1 ? "" : "s", number_count(diff->rows[i].sum.samples).s);
	if (diff->of_commands)
		string_add(&line, "The rows are those of the commands and of what they started.");
	else if (diff->is_scaled)
		string_addf(&line,
			    "The recordings differ in length: for the differences, times of B are multiplied by %.3f.",
			    (double)diff->lengths[0] / (double)(diff->lengths[1] ? diff->lengths[1] : 1));
	output_paragraph(output, string_text(&line));
	string_free(&line);
}

static void put_text(const struct profile_diff *diff)
{
	static const struct grid_column columns[] = {{"A", GRID_RIGHT},		 {"B", GRID_RIGHT},
						     {"B - A", GRID_RIGHT},	 {"+-", GRID_RIGHT},
						     {"function", GRID_ELASTIC}, {"in", GRID_ELASTIC},
						     {"program", GRID_ELASTIC}};
	const struct report *report = &diff->sides[0];
	struct row_limit limit = row_limit_new(&report->options->rows, ROWS);
	uint64_t whole = diff->elapsed_ns[0] > diff->elapsed_ns[1] ? diff->elapsed_ns[0] : diff->elapsed_ns[1];
	struct value_text rest;
	struct grid *grid;

	put_heading(diff);
	grid = grid_new(&report->output, "  ", columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = 0; i < diff->changes.nr; i++) {
		const struct profile_change *change = diff->changes.at[i];
		struct string text = {0};

		if (!row_limit_shows(&limit, size_of(change), whole))
			continue;
		change_text(change, &text);
		grid_ns(grid, change->ns[0]);
		grid_ns(grid, change->ns[1]);
		put_change(grid, &report->output, change);
		put_deviation(grid, diff, change);
		grid_name(grid, string_text(&text));
		grid_name(grid, is_wait(change->row) ? "" : change->row->file);
		grid_name(grid, change->row->program);
		string_free(&text);
	}
	grid_end(grid, row_limit_rest(&limit, &report->output, &rest));
}

/* ---- JSON ---- */

static void put_json(const struct profile_diff *diff)
{
	struct json json_of_out = {.out = diff->sides[0].output.out, .first = true}, *json = &json_of_out;
	struct string text = {0};

	json_open(json, NULL, "{");
	json_text(json, "schema", "trace-profile-diff/1");
	json_text(json, "a", trace_get_info(diff->sides[0].trace)->file);
	json_text(json, "b", trace_get_info(diff->sides[1].trace)->file);
	json_bool(json, "of_commands", diff->of_commands);
	json_bool(json, "scaled", diff->is_scaled);
	json_pair(json, "length_ns", diff->lengths[0], diff->lengths[1]);
	json_pair(json, "elapsed_ns", diff->elapsed_ns[0], diff->elapsed_ns[1]);
	json_open(json, "rows", "[");
	for (size_t i = 0; i < diff->changes.nr; i++) {
		const struct profile_change *change = diff->changes.at[i];

		putc('\n', json->out);
		json_open(json, NULL, "{");
		text.len = 0;
		change_text(change, &text);
		json_text(json, "kind", profile_kind_word(change->row->kind));
		json_text(json, "name", string_text(&text));
		json_text(json, "file", is_wait(change->row) ? "" : change->row->file);
		json_text(json, "program", change->row->program);
		json_pair(json, "self_ns", change->ns[0], change->ns[1]);
		json_pair(json, "samples", change->samples[0], change->samples[1]);
		json_key(json, "change_ns");
		fprintf(json->out, "%" PRId64, change->change_ns);
		json_u64(json, "deviation_ns", deviation(diff, change));
		json_close(json, "}");
	}
	json_close(json, "]");
	json_close(json, "}\n");
	string_free(&text);
}

/* ---- the report ---- */

static int make_rows(struct profile_diff *diff, int side)
{
	const struct report *report = &diff->sides[side];
	struct trace_profile_numbers numbers;
	struct trace_error error = {0};
	struct pointers family = {0};

	trace_profile_get_numbers(report->profile, &numbers);
	if (!numbers.samples && !report->is_windowed)
		return complain(1, "%s has no samples: tracedaemon --sample TRACE -- COMMAND records some",
				trace_get_info(report->trace)->file);
	if (diff->of_commands)
		family = command_family(&report->command);
	if (profile_rows_make(report, diff->of_commands ? &family : NULL, &diff->rows[side], &error) == -ENOMEM)
		memory_end();
	if (error.code)
		fprintf(stderr, "tracevisualizer: warning: %s\n", error.message);
	pointers_free(&family);
	return 0;
}

int report_profile_diff(const struct report *sides)
{
	struct profile_diff diff = {.sides = sides};
	bool have_commands = sides[0].command.process && sides[1].command.process;
	int result = 0;

	diff.of_commands = have_commands && !has_process_choice(&sides[0].options->processes);
	for (int i = 0; i < 2 && !result; i++) {
		uint64_t from_ns, to_ns;

		trace_analysis_window(sides[i].analysis, &from_ns, &to_ns);
		diff.lengths[i] = to_ns - from_ns;
		result = make_rows(&diff, i);
		diff.elapsed_ns[i] = profile_elapsed(&diff.rows[i].sum);
	}
	diff.is_scaled = !have_commands && diff.lengths[0] != diff.lengths[1];
	if (!result) {
		collect(&diff);
		if (sides[0].options->opreport.is_chosen)
			opreport_diff(sides, diff.rows);
		else if (sides[0].options->reports.json)
			put_json(&diff);
		else
			put_text(&diff);
	}
	pointers_free(&diff.changes);
	table_clear(&diff.by_key);
	strings_clear(&diff.keys);
	for (int i = 0; i < 2; i++)
		profile_rows_free(&diff.rows[i]);
	return result;
}
