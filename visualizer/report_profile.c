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
#include "number_text.h"
#include "profile_folded.h"
#include "process_rows.h"
#include "profile_json.h"
#include "profile_within.h"
#include "opreport.h"
#include "report_code.h"
#include "report_flame.h"
#include "report_lines.h"
#include "report_pprof.h"
#include "report_profile_by.h"
#include "report_profile_tree.h"
#include "report_profile.h"
#include "row_limit.h"
#include "value_text.h"

#define ROWS	   25
#define NAME_BYTES 256

/* ---- text ---- */

/* One of 5,000 is not 0.0 %, and all but one are not 100.0 %. */
static void put_share(struct string *line, uint64_t samples, uint64_t all)
{
	double share = percent(samples, all);

	string_addf(line, "%.*f %%", samples && samples < all && (share < 0.05 || share >= 99.95) ? 2 : 1, share);
}

/* "Stacks: 99.7 % are whole, 0.2 % end at a file before its unwind table was ready." */
static void put_completeness(const struct profile_rows *rows, struct string *line)
{
	static const char *const whys[TRACE_PROFILE_NR_ENDS] = {
		[TRACE_PROFILE_END_POINTERS] = "have frame pointers that lead nowhere",
		[TRACE_PROFILE_END_NOT_READY] = "end at a file before its unwind table was ready",
		[TRACE_PROFILE_END_NO_CALLER] = "end at code without a description or a frame pointer",
		[TRACE_PROFILE_END_UNSUPPORTED] = "end at code with an unusual description",
		[TRACE_PROFILE_END_UNREADABLE] = "end at memory that was not present",
		[TRACE_PROFILE_END_UNMAPPED] = "end at code in an unknown mapping",
	};
	uint64_t all = rows->sum.samples;

	if (!all)
		return;
	string_add(line, " Stacks: ");
	put_share(line, rows->ends[STACK_WHOLE], all);
	string_add(line, " are whole");
	if (rows->ends[STACK_CUT]) {
		string_add(line, ", ");
		put_share(line, rows->ends[STACK_CUT], all);
		string_add(line, " are longer than what is recorded");
	}
	for (int i = 0; i < TRACE_PROFILE_NR_ENDS; i++) {
		if (!rows->lost[i] || !whys[i])
			continue;
		string_add(line, ", ");
		put_share(line, rows->lost[i], all);
		string_addf(line, " %s", whys[i]);
	}
	string_addf(line, ".");
}

/* The time to which the profile is restricted, and how much that is */
static void put_within(const struct report *report)
{
	const struct profile_within *within = report->within;
	struct value_text ns;
	char name[NAME_BYTES];

	if (!within)
		return;
	text_name(within->name, name, sizeof(name));
	if (within->kind == WITHIN_SCOPE)
		output_line(&report->output, "", "Only in %s: %s times, %s of threads together.", name,
			    number_count(within->number).s, text_ns(&report->output, within->ns, &ns));
	else if (within->kind == WITHIN_CLIENT)
		output_line(&report->output, "", "Only what servers did for %s: %s requests, %s of CPU time.", name,
			    number_count(within->number).s, text_ns(&report->output, within->ns, &ns));
	else
		output_line(&report->output, "", "Only the critical path of %s: %s segments, %s long.", name,
			    number_count(within->number).s, text_ns(&report->output, within->ns, &ns));
}

static void put_numbers(const struct report *report, const struct profile_rows *rows)
{
	const struct text_output *output = &report->output;
	struct trace_profile_numbers numbers;
	struct value_text elapsed, cpu, wait, blocked, rest, unnamed, generated, untraced;
	const char *sampled_by = trace_string(report->trace, TRACE_STRING_INFO, TRACE_INFO_SAMPLED_BY);
	struct string line = {0};
	char name[NAME_BYTES];

	trace_profile_get_numbers(report->profile, &numbers);
	string_addf(&line, "%s thread%s, elapsed %s", number_count(rows->nr_threads).s,
		    rows->nr_threads == 1 ? "" : "s", text_ns(output, profile_elapsed(&rows->sum), &elapsed));
	if (rows->sum.wait_cpu_ns || rows->sum.blocked_ns)
		string_addf(&line, ": %s on a CPU, %s waiting for one, %s blocked",
			    text_ns(output, rows->sum.on_cpu_ns, &cpu), text_ns(output, rows->sum.wait_cpu_ns, &wait),
			    text_ns(output, rows->sum.blocked_ns, &blocked));
	else
		string_add(&line, ", all of it on a CPU");
	if (rows->rest_ns)
		string_addf(&line, " (of it %s at rest)", text_ns(output, rows->rest_ns, &rest));
	if (rows->not_traced_ns)
		string_addf(&line,
			    "; in %s of that it is not known what they did: events were lost, left out or hidden",
			    text_ns(output, rows->not_traced_ns, &untraced));
	string_addf(&line, ". These times are exact; %s sample%s divide%s those on a CPU among functions.",
		    number_count(rows->sum.samples).s, rows->sum.samples == 1 ? "" : "s",
		    rows->sum.samples == 1 ? "s" : "");
	if (sampled_by)
		string_addf(&line, " They were taken by the event %s, so a function has time as it has events.",
			    text_name(sampled_by, name, sizeof(name)));
	if (rows->wait_stacks)
		string_addf(&line, " %s stacks of waits tell where threads were blocked.",
			    number_count(rows->wait_stacks).s);
	if (numbers.unplaced)
		string_addf(&line, " %s more are not used: events before them are missing.",
			    number_count(numbers.unplaced).s);
	put_completeness(rows, &line);
	if (rows->unnamed_ns)
		string_addf(&line, " %s are in code without a name: the rows say why.",
			    text_ns(output, rows->unnamed_ns, &unnamed));
	if (rows->generated_ns)
		string_addf(&line,
			    " %s of that are in no file: if programs generated that code, node --perf-basic-prof, "
			    "jcmd PID Compiler.perfmap of java and python3 -X perf write its names where the recorder "
			    "finds them.",
			    text_ns(output, rows->generated_ns, &generated));
	output_paragraph(output, string_text(&line));
	string_free(&line);
}

static void put_name(struct grid *grid, const struct profile_row *row)
{
	struct string text = {0};

	profile_row_text(row, &text);
	grid_name(grid, string_text(&text));
	string_free(&text);
}

/* "2.1 %": the standard deviation of the time, as part of it */
static void put_deviation(struct grid *grid, const struct profile_row *row)
{
	char text[32] = "";

	if (row->self.samples && profile_elapsed(&row->self))
		snprintf(text, sizeof(text), "%.1f %%", percent(profile_deviation(row), profile_elapsed(&row->self)));
	grid_text(grid, text);
}

/* ---- text: the table of functions, and that of waits ---- */

static bool is_on_cpu(const struct profile_row *row)
{
	return row->kind == PROFILE_FUNCTION || row->kind == PROFILE_NOT_SAMPLED || row->kind == PROFILE_INCOMPLETE;
}

/* "flush_orders", "read_all 64 %": the function with the most of a wait */
static void put_where(struct grid *grid, const struct profile_row *row, bool has_stacks)
{
	struct string text = {0};
	double part = percent(row->where_ns, profile_elapsed(&row->self));

	if (row->where) {
		profile_row_text(row->where, &text);
		if (part < 99.5)
			string_addf(&text, " %.0f %%", part);
	} else if (has_stacks && row->kind == PROFILE_BLOCKED) {
		string_add(&text, "(not known)"); /* no wait of the row has a stack of its program */
	}
	grid_name(grid, string_text(&text));
	string_free(&text);
}

/* "release_order", "(timer) 64 %": where the most of a wait ended */
static void put_woken(struct grid *grid, const struct profile_row *row)
{
	struct string text = {0};

	woken_in_text(row->woken, profile_elapsed(&row->self), &text);
	grid_name(grid, string_text(&text));
	string_free(&text);
}

static void put_row(struct grid *grid, const struct profile_row *row, uint64_t whole, bool on_cpu, bool has_stacks)
{
	grid_ns(grid, profile_elapsed(&row->self));
	grid_percent(grid, profile_elapsed(&row->self), whole);
	if (on_cpu) {
		grid_ns(grid, row->total.on_cpu_ns);
		grid_count(grid, row->self.samples);
		put_deviation(grid, row);
	}
	put_name(grid, row);
	if (on_cpu) {
		grid_name(grid, row->file);
	} else {
		put_where(grid, row, has_stacks);
		put_woken(grid, row);
	}
	grid_name(grid, row->program);
}

static void put_table(const struct report *report, const struct profile_rows *rows, bool on_cpu)
{
	static const struct grid_column functions[] = {{"time", GRID_RIGHT},  {"%", GRID_RIGHT},
						       {"total", GRID_RIGHT}, {"samples", GRID_OPTIONAL},
						       {"+-", GRID_RIGHT},    {"function", GRID_ELASTIC},
						       {"in", GRID_ELASTIC},  {"program", GRID_ELASTIC}},
					waits[] = {{"time", GRID_RIGHT},     {"%", GRID_RIGHT},
						   {"waits", GRID_ELASTIC},  {"mostly in", GRID_EXTRA},
						   {"woken in", GRID_EXTRA}, {"program", GRID_ELASTIC}};
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

		uint64_t matters_ns = on_cpu ? row->total.on_cpu_ns : profile_elapsed(&row->self);

		if (is_on_cpu(row) == on_cpu &&
		    row_limit_shows_if(&limit, percent(matters_ns, whole) >= WORTH_A_ROW, profile_elapsed(&row->self)))
			put_row(grid, row, whole, on_cpu, rows->wait_stacks);
	}
	grid_end(grid, row_limit_rest(&limit, &report->output, &rest));
	fputs("\n", report->output.out);
}

/* ---- the report ---- */

static int verify_contexts(const struct report *report, const struct profile_rows *rows)
{
	const char *function = report->options->profile.function;
	struct trace_error error = {0};

	if (profile_tree_verify(&rows->tree, &rows->sum, &error) ||
	    (function && profile_neighbours_verify(rows, function, &error)) ||
	    (report->options->profile.form == PROFILE_LINES && profile_lines_verify(rows, &error)))
		return complain_of_error(&error);
	return 0;
}

static int put_function(const struct report *report, const struct profile_rows *rows)
{
	const struct profile_choice *choice = &report->options->profile;
	struct profile_neighbours neighbours = profile_neighbours_make(rows, choice->function,
								       choice->form == PROFILE_CALLERS);
	int result = 0;

	if (!neighbours.nr_rows)
		result = complain(1, "no sample has the function '%s': --profile --all lists those that have some",
				  choice->function);
	else if (report->options->reports.json)
		profile_json(report, rows, &neighbours);
	else
		profile_neighbours_put(report, &neighbours);
	profile_neighbours_free(&neighbours);
	return result;
}

static int put_lines(const struct report *report, const struct profile_rows *rows)
{
	struct trace_error error = {0};
	struct pointers lines = {0};

	if (profile_lines_of(rows, report->options->profile.source, &lines, &error))
		return complain_of_error(&error);
	if (report->options->reports.json)
		profile_lines_json(report, rows, &lines);
	else
		report_lines(report, &lines);
	pointers_free(&lines);
	return 0;
}

static int put_code(const struct report *report, const struct profile_rows *rows)
{
	struct trace_error error = {0};
	struct pointers code = {0};
	size_t nr_others;

	if (profile_code_of(rows, report->options->profile.code, &code, &nr_others, &error))
		return complain_of_error(&error);
	if (report->options->reports.json)
		profile_code_json(report, rows, &code);
	else
		report_code(report, &code, nr_others);
	pointers_free(&code);
	return 0;
}

/* --flame and --pprof write files of their own. A report is then written only if it is chosen. */
static int put_files(const struct report *report, const struct profile_rows *rows)
{
	const struct profile_choice *choice = &report->options->profile;
	int result = choice->flame ? report_flame(report, rows, choice->flame) : 0;

	return !result && choice->pprof ? report_pprof(report, rows, choice->pprof) : result;
}

static bool has_report(const struct visualizer_options *options)
{
	return options->profile.has_form || options->profile.is_flat || options->reports.json ||
	       (!options->profile.flame && !options->profile.pprof);
}

/* The time of events that the recorder could not trace is in other rows. */
static void put_not_traced(const struct report *report)
{
	char text[NAME_BYTES];

	for (size_t i = 0; trace_not_traced(report->trace, i); i++)
		output_line(&report->output, "", "Not traced: %s",
			    text_name(trace_not_traced(report->trace, i), text, sizeof(text)));
}

static void put_text(const struct report *report, const struct profile_rows *rows)
{
	put_numbers(report, rows);
	if (report->options->profile.form == PROFILE_TREE)
		profile_tree_put(report, rows);
	else if (report->options->profile.form == PROFILE_BY)
		profile_by_put(report, rows);
	else
		for (int on_cpu = 1; on_cpu >= 0; on_cpu--)
			put_table(report, rows, on_cpu);
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

static int put_form(const struct report *report, const struct profile_rows *rows)
{
	const struct profile_choice *choice = &report->options->profile;

	if (report->options->opreport.is_chosen) {
		opreport_put(report, rows);
		return 0;
	}
	if (choice->function)
		return put_function(report, rows);
	if (choice->form == PROFILE_LINES)
		return put_lines(report, rows);
	if (choice->form == PROFILE_ASM)
		return put_code(report, rows);
	if (report->options->reports.json) {
		profile_json(report, rows, NULL);
	} else if (choice->form == PROFILE_FOLDED) {
		profile_folded_put(report->output.out, rows, choice->part);
	} else {
		put_within(report);
		put_not_traced(report);
		if (!report->within && command_comes_first(report))
			put_command(report);
		put_text(report, rows);
	}
	return 0;
}

/* Samples tell where in the code a thread was; the rest is known without. */
static bool needs_samples(const struct report *report)
{
	const struct profile_choice *choice = &report->options->profile;

	if (report->is_windowed || report->within)
		return false;
	return choice->form != PROFILE_BY || profile_by_has(&choice->by, BY_DSO) ||
	       profile_by_has(&choice->by, BY_SYMBOL) || profile_by_has(&choice->by, BY_LINE);
}

int report_profile(const struct report *report)
{
	struct trace_profile_numbers numbers;
	struct trace_error error = {0};
	struct profile_rows rows = {0};
	int result = 0;

	trace_profile_get_numbers(report->profile, &numbers);
	if (!numbers.samples && !numbers.wait_stacks && needs_samples(report))
		return complain(1, "the trace has no samples: tracedaemon --sample TRACE -- COMMAND records some");
	if (profile_rows_make(report, NULL, &rows, &error) == -ENOMEM)
		memory_end();
	if (!rows.rows.nr)
		result = complain(1, "no chosen thread has any time in the trace");
	if (!result && report->options->reports.verify)
		result = verify_contexts(report, &rows);
	if (!result)
		result = put_files(report, &rows);
	if (!result && has_report(report->options))
		result = put_form(report, &rows);
	if (error.code)
		fprintf(stderr, "tracevisualizer: warning: %s\n", error.message);
	profile_rows_free(&rows);
	return result;
}
