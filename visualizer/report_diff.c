/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * report_diff.c - tracevisualizer --diff A B: compare two traces.
 *
 * Process ids differ between recordings, names do not. So the figures of processes of one name are
 * added up. Names are ordered by the sum of the absolute differences of their quantities. Idle
 * waits and sleep are left out of this sum: they last as long as the recording and say nothing
 * about the program. JSON: schema trace-diff/1; keys may be added, but never renamed.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h> /* MAX() */
#include "checked_figures.h"
#include "checked_memory.h"
#include "diff_cause.h"
#include "grid.h"
#include "json.h"
#include "json_pair.h"
#include "losses.h"
#include "process_choice.h"
#include "process_origin.h"
#include "recorded.h"
#include "report_diff.h"
#include "row_limit.h"
#include "thread_choice.h"

#define NAMES 10 /* rows, unless --top or --all choose another number */

enum quantity {
	/* one per kind of wait */
	Q_ELAPSED,
	Q_CPU,
	Q_USER,
	Q_SYSTEM,
	Q_INTERRUPTED,
	Q_WAIT_CPU,
	Q_WAITS,
	Q_IDLE = Q_WAITS + TRACE_NR_WAIT_KINDS,
	NR_QUANTITIES,
};
static const struct {
	const char *key;
	const char *text;
	bool ranks; /* counts for the order of names */
} quantities[NR_QUANTITIES] = {
	[Q_ELAPSED] = {"elapsed_ns", "elapsed, of all threads", false},
	[Q_CPU] = {"cpu_ns", "on a CPU", true},
	[Q_USER] = {"user_ns", "on a CPU, in its own code", true},
	[Q_SYSTEM] = {"system_ns", "on a CPU, in the kernel", true},
	[Q_INTERRUPTED] = {"interrupted_ns", "interrupted", true},
	[Q_WAIT_CPU] = {"wait_cpu_ns", "waiting for a CPU", true},
	[Q_WAITS + TRACE_WAIT_FILE] = {"wait_file_ns", "waiting for files", true},
	[Q_WAITS + TRACE_WAIT_PROCESS] = {"wait_process_ns", "waiting for processes", true},
	[Q_WAITS + TRACE_WAIT_NETWORK] = {"wait_network_ns", "waiting for the network", true},
	[Q_WAITS + TRACE_WAIT_TIMEOUT] = {"wait_timeout_ns", "waiting for timers", false},
	[Q_WAITS + TRACE_WAIT_DEVICE] = {"wait_device_ns", "waiting for devices", false},
	[Q_WAITS + TRACE_WAIT_MEMORY] = {"wait_memory_ns", "waiting for memory", true},
	[Q_WAITS + TRACE_WAIT_STOPPED] = {"wait_stopped_ns", "stopped", false},
	[Q_WAITS + TRACE_WAIT_OTHER] = {"wait_other_ns", "waiting, other causes", false},
	[Q_WAITS + TRACE_WAIT_KERNEL] = {"wait_kernel_ns", "waiting for the kernel", false},
	[Q_WAITS + TRACE_WAIT_QUOTA] = {"wait_quota_ns", "waiting for CPU quota", true},
	[Q_WAITS + TRACE_WAIT_UNKNOWN] = {"wait_unknown_ns", "unknown (not recorded)", false},
	[Q_IDLE] = {"idle_ns", "idle between requests", false},
};

/* The processes of one name, in both traces. */
struct diff_name {
	char comm[16];	/* of one of them */
	char title[64]; /* the name: process_program() */
	uint64_t nr[2];
	uint64_t ns[2][NR_QUANTITIES];
};

struct diff {
	const struct report *sides; /* both */
	struct strings titles;
	struct hash_table by_title; /* struct diff_name_row */
	struct pointers names;	    /* owned struct diff_name */
};

struct diff_name_row {
	uint64_t key;		/* string in @titles */
	struct diff_name *name; /* borrowed */
};

/* True if the events that @quantity needs were recorded. */
static bool is_known(const struct report *side, int quantity)
{
	if (quantity == Q_USER || quantity == Q_SYSTEM)
		return trace_analysis_sees_calls(side->analysis);
	return quantity != Q_INTERRUPTED || has_interrupts(side->analysis);
}

/*
 * True if both traces have @quantity. Q_CPU, the sum of Q_USER and Q_SYSTEM, is compared only where
 * these cannot be.
 */
static bool is_compared(const struct diff *diff, int quantity)
{
	if (quantity == Q_CPU)
		return !is_compared(diff, Q_USER);
	return is_known(&diff->sides[0], quantity) && is_known(&diff->sides[1], quantity);
}

static struct diff_name *name_get(struct diff *diff, int side, const struct trace_process *process)
{
	const char *title = diff_title(diff->sides, side, process_program(process));
	struct diff_name_row *row = memory_row(&diff->by_title, sizeof(*row), memory_key(&diff->titles, title));

	if (row->name)
		return row->name;
	row->name = memory_take(1, sizeof(*row->name));
	snprintf(row->name->comm, sizeof(row->name->comm), "%s", trace_process_comm(process));
	snprintf(row->name->title, sizeof(row->name->title), "%s", title);
	pointers_add(&diff->names, row->name);
	return row->name;
}

/*
 * If both traces recorded a command, only the two commands are compared, unless options ask for
 * more.
 */
static bool of_commands(const struct diff *diff)
{
	const struct visualizer_options *options = diff->sides[0].options;

	return diff->sides[0].command.process && diff->sides[1].command.process && !options->rows.all &&
	       !has_process_choice(&options->processes) && !options->processes.cgroup;
}

static void add_process(struct diff *diff, int side, const struct trace_process *process)
{
	struct trace_figures *f = chosen_figures(&diff->sides[side], process);
	struct diff_name *name;

	if (process == diff->sides[side].command.process)
		command_subtract_recorder_wait(&diff->sides[side].command, f);
	/* slept all the time */
	if (!f->user_ns && !f->syscall_ns && !f->trap_ns && !diff->sides[side].options->rows.all) {
		trace_figures_free(f);
		return;
	}
	name = name_get(diff, side, process);
	name->nr[side]++;
	name->ns[side][Q_ELAPSED] += f->elapsed_ns;
	name->ns[side][Q_CPU] += f->user_ns + f->syscall_ns + f->trap_ns;
	name->ns[side][Q_USER] += f->user_ns;
	name->ns[side][Q_SYSTEM] += f->syscall_ns + f->trap_ns;
	name->ns[side][Q_INTERRUPTED] += f->interrupted_ns;
	name->ns[side][Q_WAIT_CPU] += f->wait_cpu_ns;
	for (size_t i = 0; i < f->nr_waits; i++)
		name->ns[side][f->waits[i].idle ? Q_IDLE : Q_WAITS + (int)f->waits[i].kind] += f->waits[i].ns;
	trace_figures_free(f);
}

static uint64_t distance(uint64_t one, uint64_t two)
{
	return one > two ? one - two : two - one;
}

static uint64_t weight(const struct diff *diff, const struct diff_name *name)
{
	uint64_t sum = 0;

	for (int i = 0; i < NR_QUANTITIES; i++)
		if (quantities[i].ranks && is_compared(diff, i))
			sum += distance(name->ns[0][i], name->ns[1][i]);
	return sum;
}

/* True if all compared quantities are equal, also those that do not count for the order. */
static bool is_alike(const struct diff *diff, const struct diff_name *name)
{
	for (int i = 0; i < NR_QUANTITIES; i++)
		if (is_compared(diff, i) && name->ns[0][i] != name->ns[1][i])
			return false;
	return name->nr[0] == name->nr[1];
}

static bool are_alike(const struct diff *diff)
{
	for (size_t i = 0; i < diff->names.nr; i++)
		if (!is_alike(diff, diff->names.at[i]))
			return false;
	return true;
}

static int order(const void *left, const void *right, void *diff)
{
	const struct diff_name *l = *(const struct diff_name *const *)left,
			       *r = *(const struct diff_name *const *)right;
	uint64_t one = weight(diff, l), two = weight(diff, r);

	return one > two ? -1 : one < two ? 1 : strcmp(l->title, r->title);
}

static void collect_side(struct diff *diff, int side)
{
	const struct report *report = &diff->sides[side];
	struct pointers list = {0};

	if (of_commands(diff))
		list = command_family(&report->command);
	else
		for (size_t i = 0; i < trace_nr_processes(report->analysis); i++)
			pointers_add(&list, trace_get_process(report->analysis, i));
	for (size_t i = 0; i < list.nr; i++)
		if (trace_nr_threads(list.at[i]) && process_is_chosen(&report->options->processes, list.at[i]))
			add_process(diff, side, list.at[i]);
	pointers_free(&list);
}

static void collect(struct diff *diff)
{
	collect_side(diff, 0);
	collect_side(diff, 1);
	memory_sort(diff->names.at, diff->names.nr, sizeof(*diff->names.at), order, diff);
}

/* ---- text ---- */

static uint64_t elapsed_ns(const struct trace_analysis *analysis)
{
	uint64_t start, end;

	trace_analysis_window(analysis, &start, &end);
	return end - start;
}

static const char *text_ratio(uint64_t a, uint64_t b, struct value_text *text)
{
	if (!a || !b)
		snprintf(text->bytes, sizeof(text->bytes), "%s", a ? "only A" : b ? "only B" : "");
	else
		snprintf(text->bytes, sizeof(text->bytes), "%.*f", b < 10 * a ? 2 : 0, (double)b / (double)a);
	return text->bytes;
}

static void put_line(struct grid *grid, const struct text_output *output, const char *what, uint64_t a, uint64_t b)
{
	struct value_text text;

	grid_text(grid, what);
	grid_ns(grid, a);
	grid_ns(grid, b);
	grid_text(grid, text_difference(output, a, b, &text));
	grid_text(grid, text_ratio(a, b, &text));
}

/* True if neither command was found by its name only. */
static bool are_sure(const struct diff *diff)
{
	return diff->sides[0].command.is_sure && diff->sides[1].command.is_sure;
}

static void put_side(const struct report *report, const struct report *side, char letter)
{
	char name[256];
	struct losses_text lost;
	struct value_text t;
	size_t gaps;

	losses_lost(side->trace, side->analysis, &gaps);
	output_line(&report->output, "", "%c: %s, %s%s%s", letter,
		    text_name(trace_get_info(side->trace)->file, name, sizeof(name)),
		    text_ns(&side->output, elapsed_ns(side->analysis), &t), gaps ? "; lost: " : "",
		    gaps ? losses_text(side->trace, side->analysis, &lost) : "");
}

static const char *where(bool in_a, bool in_b)
{
	return in_a ? "in B" : in_b ? "in A" : "in either";
}

static bool put_left_out(const struct diff *diff)
{
	bool any = false;

	for (int i = 0; i < 2; i++)
		if (is_left_out(diff->sides[i].trace, TRACE_LEFT_OUT_KERNEL)) {
			output_line(&diff->sides[0].output, "",
				    "The kernel was not recorded in %c, only events of programs: it has no processes "
				    "to compare.",
				    "AB"[i]);
			any = true;
		}
	return any;
}

static void put_unknown(const struct diff *diff)
{
	const struct report *a = &diff->sides[0], *b = &diff->sides[1];
	struct string s = {0};

	if (!is_compared(diff, Q_USER)) {
		string_addf(&s, "Not all system calls were recorded %s: the time in the kernel is unknown.",
			    where(is_known(a, Q_USER), is_known(b, Q_USER)));
		output_line(&a->output, "", "%s", string_text(&s));
	}
	if (!is_compared(diff, Q_INTERRUPTED)) {
		string_free(&s);
		string_addf(&s, "Interrupts were not recorded %s: they count there as time on a CPU.",
			    where(is_known(a, Q_INTERRUPTED), is_known(b, Q_INTERRUPTED)));
		output_line(&a->output, "", "%s", string_text(&s));
	}
	string_free(&s);
}

static void add_run(struct string *s, const struct report *side, char letter)
{
	char name[256];
	struct value_text t;

	string_add(s, text_name(trace_process_title(side->command.process), name, sizeof(name)));
	text_ns(&side->output, command_ran_ns(&side->command), &t);
	if (command_has_ended(&side->command))
		string_addf(s, " ran for %s in %c", t.bytes, letter);
	else
		string_addf(s, " had run for %s when %c ended, and %s", t.bytes, letter,
			    command_not_ended(&side->command));
}

/* The two run times. Their ratio is unknown if a command had not ended. */
static void put_runs(const struct diff *diff)
{
	const struct report *a = &diff->sides[0], *b = &diff->sides[1];
	const char *also = are_sure(diff) ? "" : command_words(&b->command);
	uint64_t spans[2] = {command_ran_ns(&a->command), command_ran_ns(&b->command)};
	struct string s = {0};
	char name[256];
	struct value_text t;

	if (!spans[0] || !spans[1])
		goto end;
	string_addf(&s, "T%s ", command_words(&a->command) + 1);
	add_run(&s, a, 'A');
	if (command_has_ended(&a->command) && command_has_ended(&b->command)) {
		string_addf(&s, ", %s%s%s for %s in B: %.2f times as long.", also, *also ? " " : "",
			    text_name(trace_process_title(b->command.process), name, sizeof(name)),
			    text_ns(&b->output, spans[1], &t), (double)spans[1] / (double)spans[0]);
	} else {
		string_addf(&s, "; %s%s", also, *also ? " " : "");
		add_run(&s, b, 'B');
		string_add(&s, ".");
	}
	output_line(&a->output, "", "%s", string_text(&s));
end:
	string_free(&s);
}

static void put_heading(const struct diff *diff)
{
	const struct report *a = &diff->sides[0], *b = &diff->sides[1];

	put_side(a, a, 'A');
	put_side(a, b, 'B');
	if (a->command.process && b->command.process)
		put_runs(diff);
	if (of_commands(diff))
		output_line(&a->output, "", "Only %s and the processes that they started; --all compares everything.",
			    are_sure(diff) ? "the commands" : "these processes");
	diff_cause_put(diff->sides);
	output_line(&a->output, "", "Processes of one name are added up; the greatest differences come first.");
	if (!put_left_out(diff))
		put_unknown(diff);
	fputs("\n", a->output.out);
}

static void put_name(const struct diff *diff, const struct diff_name *name)
{
	static const struct grid_column columns[] = {
		{"", GRID_ELASTIC}, {"A", GRID_RIGHT}, {"B", GRID_RIGHT}, {"B - A", GRID_RIGHT}, {"B / A", GRID_RIGHT}};
	const struct report *report = &diff->sides[0];
	struct grid *grid = grid_new(&report->output, "  ", columns, 5);
	struct row_limit limit = row_limit_new(&report->options->rows, NR_QUANTITIES);
	char comm[256], title[512];

	snprintf(title, sizeof(title), "%s: %" PRIu64 " process%s in A, %" PRIu64 " in B",
		 text_comm(name->title, comm, sizeof(comm)), name->nr[0], name->nr[0] == 1 ? "" : "es", name->nr[1]);
	output_title(&report->output, "", title);
	limit.max = NR_QUANTITIES; /* --top limits names */
	for (int i = 0; i < NR_QUANTITIES; i++) {
		uint64_t a = name->ns[0][i], b = name->ns[1][i];

		if ((a || b) && is_compared(diff, i) &&
		    (i == Q_ELAPSED ||
		     row_limit_shows(&limit, a > b ? a : b, MAX(name->ns[0][Q_ELAPSED], name->ns[1][Q_ELAPSED]))))
			put_line(grid, &report->output, quantities[i].text, a, b);
	}
	grid_end(grid, NULL);
	fputs("\n", report->output.out);
}

static void put_text(const struct diff *diff)
{
	const struct report *report = &diff->sides[0];
	uint64_t whole = MAX(elapsed_ns(report->analysis), elapsed_ns(diff->sides[1].analysis));
	struct row_limit limit = row_limit_new(&report->options->rows, NAMES);

	put_heading(diff);
	if (diff->names.nr && are_alike(diff)) {
		output_line(&report->output, "",
			    "No differences: %zu name%s, with the same times in both to the nanosecond.",
			    diff->names.nr, diff->names.nr == 1 ? "" : "s");
		if (!report->options->rows.all && !report->options->rows.top)
			return;
		fputs("\n", report->output.out);
	}
	for (size_t i = 0; i < diff->names.nr; i++)
		if (row_limit_shows(&limit, weight(diff, diff->names.at[i]), whole))
			put_name(diff, diff->names.at[i]);
	if (limit.left)
		output_line(&report->output, "", "(%zu more name%s less; --all shows them)", limit.left,
			    limit.left == 1 ? " differs" : "s differ");
}

/* ---- JSON ---- */

static void put_json(const struct diff *diff)
{
	struct json json = {.out = diff->sides[0].output.out, .first = true};
	size_t max = diff->sides[0].options->rows.top ? (size_t)diff->sides[0].options->rows.top : SIZE_MAX, gaps[2];
	uint64_t lost[2] = {losses_lost(diff->sides[0].trace, diff->sides[0].analysis, &gaps[0]),
			    losses_lost(diff->sides[1].trace, diff->sides[1].analysis, &gaps[1])};
	uint64_t claimed[2];
	const bool are_known[2] = {losses_claimed(diff->sides[0].trace, &claimed[0]),
				   losses_claimed(diff->sides[1].trace, &claimed[1])};

	json_open(&json, NULL, "{");
	json_text(&json, "schema", "trace-diff/1");
	json_text(&json, "a", trace_get_info(diff->sides[0].trace)->file);
	json_text(&json, "b", trace_get_info(diff->sides[1].trace)->file);
	json_pair(&json, "elapsed_ns", elapsed_ns(diff->sides[0].analysis), elapsed_ns(diff->sides[1].analysis));
	json_pair(&json, "lost", lost[0], lost[1]);
	json_pair_known(&json, "claimed", claimed, are_known);
	json_pair(&json, "gaps", gaps[0], gaps[1]);
	diff_cause_json(&json, diff->sides);
	json_open(&json, "names", "[");
	for (size_t i = 0; i < diff->names.nr && i < max; i++) {
		const struct diff_name *name = diff->names.at[i];

		json_open(&json, NULL, "{");
		json_text(&json, "comm", name->comm);
		json_text(&json, "title", name->title);
		json_pair(&json, "processes", name->nr[0], name->nr[1]);
		for (int j = 0; j < NR_QUANTITIES; j++)
			json_pair_known(&json, quantities[j].key, (uint64_t[]){name->ns[0][j], name->ns[1][j]},
					(bool[]){is_known(&diff->sides[0], j), is_known(&diff->sides[1], j)});
		json_close(&json, "}");
	}
	json_close(&json, "]");
	json_close(&json, "}\n");
}

void report_diff(const struct report *sides)
{
	struct diff diff = {.sides = sides};

	collect(&diff);
	if (sides[0].options->reports.json)
		put_json(&diff);
	else
		put_text(&diff);
	table_clear(&diff.by_title);
	strings_clear(&diff.titles);
	pointers_free_all(&diff.names);
}
