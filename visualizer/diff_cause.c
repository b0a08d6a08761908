/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <trace/critical_path.h>
#include "checked_memory.h"
#include "complain.h"
#include "diff_cause.h"
#include "grid.h"
#include "json_pair.h"
#include "process_origin.h"
#include "recorded.h"
#include "path_choice.h"
#include "report_critical_path.h"
#include "value_text.h"

#define ROWS 5

/* one program in one state, or in one kind of wait, on both paths */
struct diff_cause_row {
	struct trace_contributor what; /* without a process: ids differ between recordings; title: program_of() */
	uint64_t ns[2];
};

struct causes {
	struct diff_cause_row *rows; /* owned */
	size_t nr, room;
};

void diff_cause_begin(struct report *side)
{
	struct trace_history_options options = {.size = sizeof(options)};
	struct trace_error error = {0};

	options.command = trace_string(side->trace, TRACE_STRING_INFO, TRACE_INFO_COMMAND);
	if (!options.command || is_left_out(side->trace, TRACE_LEFT_OUT_KERNEL))
		return;
	side->history = trace_history_new(side->analysis, &options, &error);
	if (error.code == -ENOMEM)
		memory_end();
}

static bool is_same(const struct trace_contributor *one, const struct trace_contributor *two)
{
	return one->state == two->state && one->kind == two->kind && strcmp(one->title, two->title) == 0;
}

const char *diff_title(const struct report sides[2], int side, const char *title)
{
	const struct trace_process *commands[] = {sides[0].command.process, sides[1].command.process};

	if (!commands[0] || !commands[1] || strcmp(title, process_program(commands[side])) != 0 ||
	    strcmp(title, process_program(commands[!side])) == 0)
		return title;
	return "the command";
}

static void add(struct causes *causes, const struct report sides[2], int side, const struct trace_contributor *row)
{
	struct trace_contributor what = *row;
	size_t i = 0;

	what.pid = what.tid = 0;
	what.title = diff_title(sides, side, program_of(row->title, row->comm));
	while (i < causes->nr && !is_same(&causes->rows[i].what, &what))
		i++;
	if (i == causes->nr) {
		causes->rows = memory_grow(causes->rows, causes->nr++, &causes->room, sizeof(*causes->rows));
		causes->rows[i] = (struct diff_cause_row){.what = what};
	}
	causes->rows[i].ns[side] += what.ns;
}

/* False if the path of this side is not known. */
static bool collect(struct causes *causes, const struct report sides[2], int number)
{
	const struct report *side = &sides[number];
	struct trace_critical_path *path = NULL;
	const struct trace_contributor *row;
	const struct trace_thread *thread = NULL;
	uint64_t from = 0;

	if (side->history && side->command.process && command_has_ended(&side->command))
		thread = critical_path_of_command(side, &from);
	if (thread)
		path = trace_critical_path_new(side->history, thread, from, UINT64_MAX, NULL);
	for (size_t i = 0; path && (row = trace_critical_path_contributor(path, i)); i++)
		if (row->by == TRACE_BY_COMMAND)
			add(causes, sides, number, row);
	trace_critical_path_free(path);
	return path != NULL;
}

static uint64_t change(const struct diff_cause_row *row)
{
	return row->ns[0] > row->ns[1] ? row->ns[0] - row->ns[1] : row->ns[1] - row->ns[0];
}

static int order(const void *left, const void *right, void *unused)
{
	const struct diff_cause_row *l = left, *r = right;

	(void)unused;
	return change(l) > change(r) ? -1 : change(l) < change(r);
}

static void put_row(struct grid *grid, const struct text_output *output, const char *what, const uint64_t *ns)
{
	struct value_text text;

	grid_text(grid, what);
	grid_ns(grid, ns[0]);
	grid_ns(grid, ns[1]);
	grid_text(grid, text_difference(output, ns[0], ns[1], &text));
}

static void put_rows(const struct causes *causes, const struct text_output *output, size_t max)
{
	static const struct grid_column columns[] = {
		{"", GRID_ELASTIC}, {"A", GRID_RIGHT}, {"B", GRID_RIGHT}, {"B - A", GRID_RIGHT}};
	struct grid *grid = grid_new(output, "  ", columns, 4);
	uint64_t rest[2] = {0, 0}, sum[2] = {0, 0};
	char text[512];

	for (size_t i = 0; i < causes->nr; i++) {
		for (int side = 0; side < 2; side++) {
			sum[side] += causes->rows[i].ns[side];
			rest[side] += i < max ? 0 : causes->rows[i].ns[side];
		}
		if (i >= max)
			continue;
		path_row_text(&causes->rows[i].what, text, sizeof(text));
		put_row(grid, output, text, causes->rows[i].ns);
	}
	if (causes->nr > max)
		put_row(grid, output, "all others", rest);
	put_row(grid, output, "the run", sum);
	grid_end(grid, NULL);
}

void diff_cause_put(const struct report sides[2])
{
	const struct row_choice *choice = &sides[0].options->rows;
	struct causes causes = {0};

	if (collect(&causes, sides, 0) && collect(&causes, sides, 1)) {
		memory_sort(causes.rows, causes.nr, sizeof(*causes.rows), order, NULL);
		fputs("\n", sides[0].output.out);
		output_title(&sides[0].output, "",
			     "What the run itself did or waited for (critical path; adds up to the run)");
		put_rows(&causes, &sides[0].output, choice->all ? SIZE_MAX : choice->top ? (size_t)choice->top : ROWS);
		fputs("\n", sides[0].output.out);
	}
	free(causes.rows);
}

/* ---- the limit ---- */

static bool run_is_known(const struct report *side)
{
	return side->command.process && command_has_ended(&side->command);
}

/* How much longer than A the command of B may run */
static uint64_t allowed_ns(const struct fail_choice *limit, uint64_t a_ns)
{
	return limit->share > 0 ? (uint64_t)((double)a_ns * limit->share + 0.5) : limit->ns;
}

static bool is_above(const struct fail_choice *limit, const uint64_t ran_ns[2])
{
	return ran_ns[1] > ran_ns[0] && ran_ns[1] - ran_ns[0] > allowed_ns(limit, ran_ns[0]);
}

int diff_is_above(const struct report sides[2])
{
	const struct fail_choice *limit = &sides[0].options->fail;
	uint64_t ran_ns[2];

	if (!limit->text)
		return 0;
	for (int i = 0; i < 2; i++) {
		if (!run_is_known(&sides[i]))
			return complain(1,
					"--fail-above: the run of a command is not known in %c: record both with "
					"tracedaemon TRACE -- COMMAND",
					"AB"[i]);
		ran_ns[i] = command_ran_ns(&sides[i].command);
	}
	if (!is_above(limit, ran_ns))
		return 0;
	return complain(1, "B took %.1f %% longer than A, and --fail-above=%s allows no more",
			100.0 * (double)(ran_ns[1] - ran_ns[0]) / (double)ran_ns[0], limit->text);
}

/* ---- JSON ---- */

static void json_cause(struct json *json, const struct diff_cause_row *row)
{
	char text[512];

	path_row_text(&row->what, text, sizeof(text));
	json_open(json, NULL, "{");
	json_text(json, "comm", row->what.comm);
	json_text(json, "title", row->what.title);
	json_text(json, "state", row->what.state == TRACE_STATE_RUNNING ? "cpu" : trace_state_name(row->what.state));
	json_text(json, "kind", row->what.state == TRACE_STATE_BLOCKED ? trace_wait_kind_name(row->what.kind) : "");
	json_text(json, "text", text);
	json_pair(json, "ns", row->ns[0], row->ns[1]);
	json_close(json, "}");
}

static void json_limit(struct json *json, const struct fail_choice *limit, const uint64_t *ran_ns, bool known)
{
	json_open(json, "fail_above", "{");
	json_text(json, "limit", limit->text);
	json_known(json, "allowed_ns", allowed_ns(limit, ran_ns[0]), known);
	if (known)
		json_bool(json, "is_above", is_above(limit, ran_ns));
	else
		json_known(json, "is_above", 0, false);
	json_close(json, "}");
}

void diff_cause_json(struct json *json, const struct report sides[2])
{
	struct causes causes = {0};
	bool known[2] = {run_is_known(&sides[0]), run_is_known(&sides[1])}, found;
	uint64_t ran_ns[2] = {known[0] ? command_ran_ns(&sides[0].command) : 0,
			      known[1] ? command_ran_ns(&sides[1].command) : 0},
		 sum[2] = {0, 0};

	json_pair_known(json, "run_ns", ran_ns, known);
	found = collect(&causes, sides, 0) && collect(&causes, sides, 1);
	memory_sort(causes.rows, causes.nr, sizeof(*causes.rows), order, NULL);
	json_open(json, "causes", "[");
	for (size_t i = 0; found && i < causes.nr; i++) {
		json_cause(json, &causes.rows[i]);
		sum[0] += causes.rows[i].ns[0];
		sum[1] += causes.rows[i].ns[1];
	}
	json_close(json, "]");
	json_pair_known(json, "causes_ns", sum, (const bool[]){found, found});
	if (sides[0].options->fail.text)
		json_limit(json, &sides[0].options->fail, ran_ns, known[0] && known[1]);
	free(causes.rows);
}
