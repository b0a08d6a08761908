/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * report_answer.c - tracevisualizer without options: a verdict, bars, the five waits that matter,
 * and what to type next.
 *
 * The critical path of the thread that answer_choice.h has, or of several, has the verdict, the
 * bars and the waits, so their times are parts of the same whole. For a machine the bars are those
 * of the busiest programs instead.
 *
 * A terminal of 24 lines shows all of it: each part has a maximum of lines.
 */
#include <errno.h>
#include <glib.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "answer_choice.h"
#include "answer_waits.h"
#include "bars.h"
#include "checked_figures.h"
#include "cpu_takers.h"
#include "go_program.h"
#include "grid.h"
#include "losses.h"
#include "path_tree.h"
#include "process_choice.h"
#include "process_rows.h"
#include "recorded.h"
#include "report_answer.h"
#include "report_cpus.h"
#include "report_probes.h"
#include "report_disk_uses.h"
#include "report_groups.h"
#include "report_overview.h"
#include "report_user.h"
#include "same_name.h"
#include "time_point.h"
#include "verdict.h"
#include "wait_places.h"

#define VERDICT_LINES  5 /* beside all waits */
#define CHAIN_LINES    7 /* a longer verdict has instead of waits */
#define BARS	       5
#define WAITS	       5
#define DISK_MATTERS   5  /* percent of the path */
#define CODE_MATTERS   40 /* percent of the path: own code of one program */
#define LINK_MATTERS   2  /* percent of the path: own code of a link, so that few links are summed */
#define GO_MATTERS     50 /* percent of the path: a Go program, with what it waited for */
#define PYTHON_MATTERS 10 /* percent of the path: threads of a Python program that wait for one another */
#define TEXT_BYTES     256
#define LINE_WIDTH     100 /* where the output has no width, as in paragraphs */
#define WORD_WIDTH     16  /* what a wrapped line may leave unused */
#define NAME_WIDTH     40  /* of names in a sentence that is too long for a terminal with all of them */

void answer_begin(struct report *report)
{
	struct trace_history_options options = {.size = sizeof(options)};
	struct trace_error error = {0};

	options.command = trace_string(report->trace, TRACE_STRING_INFO, TRACE_INFO_COMMAND);
	report->history = trace_history_new(report->analysis, &options, &error);
	if (!report->history && error.code == -ENOMEM)
		memory_end();
}

/* ---- parts ---- */

/* Characters that a wrapped line has at least. */
static size_t least_of_line(const struct text_output *output)
{
	size_t width = output->width && output->width < LINE_WIDTH ? output->width : LINE_WIDTH;

	return width > 2 * WORD_WIDTH ? width - WORD_WIDTH : width;
}

static size_t lines_of(const struct text_output *output, const struct string *s)
{
	return (s->len + least_of_line(output) - 1) / least_of_line(output);
}

static void cut_names(struct string *s, size_t width)
{
	char *cut = text_cut_words(string_text(s), width);

	string_free(s);
	string_add(s, cut);
	free(cut);
}

/* Names fit on a line of the terminal; if all of them are too much for @lines, they are shorter. */
static void fit_names(const struct text_output *output, struct string *s, size_t lines)
{
	if (!output->width)
		return;
	cut_names(s, output->width);
	if (lines_of(output, s) > lines)
		cut_names(s, NAME_WIDTH);
}

/* At most @lines lines on a terminal: the end of a longer text is cut. A file has all of it. */
static void put_text(const struct text_output *output, struct string *s, size_t lines)
{
	char *cut = output->width ? text_cut(string_text(s), lines * least_of_line(output)) : string_take(s);

	output_paragraph(output, cut);
	free(cut);
	string_free(s);
}

static int largest_first(const void *left, const void *right, void *data)
{
	const struct bar *l = left, *r = right;

	return l->ns > r->ns ? -1 : l->ns < r->ns;
}

/* The last bar has the rest, so that the bars add up to @whole_ns. */
static void put_bars(const struct text_output *output, struct bar *bars, size_t nr, uint64_t whole_ns, const char *rest)
{
	memory_sort(bars, nr, sizeof(*bars), largest_first, NULL);
	if (nr > BARS) {
		for (size_t i = BARS; i < nr; i++)
			bars[BARS - 1].ns += bars[i].ns;
		snprintf(bars[BARS - 1].label, sizeof(bars[0].label), "%s", rest);
		*bars[BARS - 1].behind = '\0';
		nr = BARS;
	}
	bars_put(output, bars, nr, whole_ns);
	fputs("\n", output->out);
}

static void path_bars(const struct report *report, const struct path_tree *tree)
{
	struct bar bars[NR_PLACES] = {0};
	struct string title = {0};
	struct value_text time;
	size_t nr = 0;

	string_addf(&title, "Where the %s of ", text_ns(&report->output, tree->ns, &time));
	verdict_root_text(tree, &title);
	string_add(&title, tree->links[0].nr == 1 ? " went, itself or what it waited for:"
						  : " went, themselves or what they waited for:");
	for (char *at = string_text(&title); (at = strchr(at, *UNBROKEN_BLANK));)
		*at = ' ';
	output_title(&report->output, "", string_text(&title));
	string_free(&title);
	for (enum path_place place = 0; place < NR_PLACES; place++) {
		uint64_t ns = path_tree_place_ns(tree, place);

		if (!ns)
			continue;
		bars[nr].ns = ns;
		snprintf(bars[nr++].label, sizeof(bars[0].label), "%s", verdict_place(place));
	}
	put_bars(&report->output, bars, nr, tree->ns, "all other");
}

/*
 * Processes of one name and origin are one sum, as where they take CPUs from others: a script that
 * starts a hundred short programs is among the busiest, though none of these is.
 */
static struct cpu_taker *busiest_programs(const struct process_row *rows, size_t nr, size_t *ret_nr)
{
	struct trace_cpu_wait *times = memory_take(nr + 1, sizeof(*times));
	struct cpu_taker *list;

	for (size_t i = 0; i < nr; i++)
		times[i] = (struct trace_cpu_wait){.pid = trace_process_pid(rows[i].process),
						   .comm = trace_process_comm(rows[i].process),
						   .ns = rows[i].user_ns + rows[i].system_ns,
						   .title = trace_process_title(rows[i].process),
						   .process = rows[i].process};
	list = cpu_takers(times, nr, 0, ret_nr);
	free(times);
	return list;
}

/* Does @said, the verdict and the ends of the bars, say that most time was in @function? */
static bool is_told(const char *said, const char *function)
{
	static const char *const before[] = {"own code (", "\nmostly in "};
	size_t bytes = strlen(function);

	for (size_t i = 0; i < sizeof(before) / sizeof(before[0]); i++)
		for (const char *at = said; (at = strstr(at, before[i]));) {
			at += strlen(before[i]);
			if (strncmp(at, function, bytes) == 0 && strchr(" )\n" UNBROKEN_BLANK, at[bytes]))
				return true;
		}
	return false;
}

static bool is_on_path(const struct path_tree *tree, const struct trace_process *process)
{
	for (size_t i = 0; i < tree->nr_links; i++)
		if (process && tree->links[i].process == process)
			return true;
	return false;
}

/* "mostly in sort_rows 64 %"; "" if that is not known, or if the verdict has told it */
static void busy_text(const struct report *report, const struct cpu_taker *taker, bool is_in_verdict,
		      const char *verdict, char *text, size_t size)
{
	struct wait_place place = taker->nr == 1 && taker->first.process
					  ? cpu_place_of_process(report->places, taker->first.process, CPU_ALL)
					  : cpu_place_of_title(report->places, report->analysis, taker->first.title);
	struct string where = {0};
	char name[TEXT_BYTES];

	cpu_place_text(&place, &where);
	*text = '\0';
	if (*string_text(&where) && !(is_in_verdict && is_told(verdict, place.function)))
		snprintf(text, size, "mostly in %s", text_name(string_text(&where), name, sizeof(name)));
	string_free(&where);
}

/* The CPU time of the machine: the busiest programs. @said gets the functions. */
static void program_bars(const struct report *report, const struct process_row *rows, size_t nr,
			 const struct path_tree *tree, const char *verdict, struct string *said)
{
	struct cpu_total cpus = cpu_total(report->analysis);
	struct cpu_taker *list = busiest_programs(rows, nr, &nr);
	struct bar *bars = memory_take(nr + 1, sizeof(*bars));
	char title[TEXT_BYTES];
	struct value_text time;

	for (size_t i = 0; i < nr; i++) {
		struct string label = {0};

		cpu_taker_text(&label, &list[i], NULL);
		if (list[i].nr > 1 && !process_origin(&list[i].origin))
			string_add(&label, " processes");
		bars[i].ns = list[i].ns;
		snprintf(bars[i].label, sizeof(bars[i].label), "%s", string_text(&label));
		busy_text(report, &list[i], list[i].nr == 1 && is_on_path(tree, list[i].first.process), verdict,
			  bars[i].behind, sizeof(bars[i].behind));
		if (i < BARS - 1 || nr == BARS)
			string_addf(said, "\n%s\n", bars[i].behind);
		string_free(&label);
	}
	snprintf(title, sizeof(title), "CPU time of the busiest programs (%% of the %s of %zu CPU%s):",
		 text_ns(&report->output, cpus.all_ns, &time), trace_nr_cpus(report->analysis),
		 trace_nr_cpus(report->analysis) == 1 ? "" : "s");
	output_title(&report->output, "", title);
	put_bars(&report->output, bars, nr, cpus.all_ns, "all other programs");
	free(bars);
	free(list);
}

static void put_waits(const struct report *report, const struct path_tree *tree, size_t most)
{
	static const struct grid_column columns[] = {{"waited", GRID_RIGHT},	{"%", GRID_RIGHT},
						     {"thread", GRID_ELASTIC},	{"for", GRID_ELASTIC},
						     {"mostly in", GRID_EXTRA}, {"woken in", GRID_EXTRA}};
	struct answer_wait *lines;
	struct grid *grid;
	size_t nr;

	if (!tree->nr_waits)
		return;
	lines = answer_waits(report, tree, &nr);
	grid = grid_new(&report->output, "  ", columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = 0; i < nr && i < most; i++) {
		grid_ns(grid, lines[i].ns);
		grid_percent(grid, lines[i].ns, tree->ns);
		grid_text(grid, lines[i].thread);
		grid_text(grid, lines[i].what);
		grid_name(grid, lines[i].where);
		grid_name(grid, lines[i].woken);
	}
	grid_end(grid, NULL);
	fputs("\n", report->output.out);
	answer_waits_free(lines, nr);
}

/* The trace as a word for the shell. */
static void add_trace(struct string *s, const char *path)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./+,:@%=-";
	char name[2 * TEXT_BYTES], *quoted;

	if (strcmp(path, "-") == 0) {
		string_add(s, "TRACE");
	} else if (path[strspn(path, plain)] == 0) {
		string_add(s, path);
	} else {
		quoted = g_shell_quote(path);
		string_add(s, text_name(quoted, name, sizeof(name)));
		g_free(quoted);
	}
}

/* The first part that the recording left out on request; -s lists all. */
static void put_not_traced(const struct report *report)
{
	const char *first = trace_not_traced(report->trace, 0);
	struct string s = {0};
	char *name;

	if (!first)
		return;
	name = memory_take(4 * strlen(first) + 1, 1); /* \xNN is the longest form of a byte */
	string_addf(&s, "Not traced: %s%s", text_name(first, name, 4 * strlen(first) + 1),
		    trace_not_traced(report->trace, 1) ? "; more: -s" : "");
	if (is_left_out(report->trace, TRACE_LEFT_OUT_PROCESSES))
		string_add(&s, "; a recording of all, such as tracedaemon -t 10s TRACE, shows them, too.");
	put_text(&report->output, &s, 2);
	free(name);
}

/* The processes that made a disk busy for which the path waited. */
static void put_disk(const struct report *report, const struct path_tree *tree)
{
	struct string s = {0};

	for (size_t i = 0; i < tree->nr_waits && i < WAITS && !s.len; i++) {
		const struct path_wait *wait = &tree->waits[i];

		if (wait->place != PLACE_BLOCKED + TRACE_WAIT_FILE || percent(wait->ns, tree->ns) < DISK_MATTERS)
			continue;
		disk_users_add(&s, report, wait->first.thread, wait->first.target);
	}
	if (s.len)
		put_text(&report->output, &s, 2);
}

/* On the path, of all threads of @process. */
static uint64_t own_code_ns(const struct path_tree *tree, const struct trace_process *process)
{
	uint64_t ns = 0;

	for (size_t i = 0; i < tree->nr_links; i++)
		ns += tree->links[i].process == process ? tree->links[i].places[PLACE_OWN_CODE] : 0;
	return ns;
}

/*
 * The function in which the program of the path with most of its own code was, unless @said has it;
 * in a recording without samples, how to see it.
 */
static void put_own_code(const struct report *report, const struct path_tree *tree, const char *said)
{
	const struct path_link *link = &tree->links[0];
	uint64_t most_ns = 0;
	struct wait_place place;
	struct string s = {0}, where = {0};
	char name[TEXT_BYTES];

	for (size_t i = 0; i < tree->nr_links; i++) {
		uint64_t ns = percent(tree->links[i].places[PLACE_OWN_CODE], tree->ns) < LINK_MATTERS
				      ? 0
				      : own_code_ns(tree, tree->links[i].process);

		link = ns > most_ns ? &tree->links[i] : link;
		most_ns = ns > most_ns ? ns : most_ns;
	}
	if (percent(most_ns, tree->ns) < CODE_MATTERS)
		return;
	place = cpu_place_of_process(report->places, link->process, CPU_OWN_CODE);
	cpu_place_text(&place, &where);
	if (report->profile && !where.len)
		return;
	text_name(trace_process_title(link->process), name, sizeof(name));
	if (report->profile && is_told(said, place.function)) {
		string_addf(&s, "--profile shows all functions of %s (%" PRIu32 ").", name,
			    trace_process_pid(link->process));
		string_free(&where);
		put_text(&report->output, &s, 2);
		return;
	}
	if (report->profile) {
		string_addf(&s, "The own code of %s (%" PRIu32 ")", name, trace_process_pid(link->process));
		string_addf(&s, " was mostly in %s; --profile shows all functions.",
			    text_name(string_text(&where), name, sizeof(name)));
	} else {
		string_addf(&s, "tracedaemon --sample records in which functions %s (%" PRIu32 ") ran.", name,
			    trace_process_pid(link->process));
	}
	string_free(&where);
	put_text(&report->output, &s, 2);
}

/* A control group that kept others from running. */
static void put_group(const struct report *report, const struct process_row *rows, size_t nr)
{
	struct string s = {0};

	if (has_scheduling(report->analysis))
		groups_sentence(&s, report, rows, nr);
	if (s.len)
		put_text(&report->output, &s, 2);
}

/* The other processes that the name chooses, too. */
static void put_same_name(const struct report *report, const struct trace_process *shown)
{
	struct string s = {0}, list = {0};
	char name[TEXT_BYTES];

	if (shown && report->options->processes.comm && same_name_list(&list, report, NULL, false, shown)) {
		string_addf(&s, "-p %s chooses more: %s; -p PID chooses one.",
			    text_name(report->options->processes.comm, name, sizeof(name)), string_text(&list));
		put_text(&report->output, &s, 2);
	}
	string_free(&list);
}

/* The Go program that the path is about, or that its thread waited for; NULL: none. */
static const struct trace_process *go_process(const struct report *report, const struct path_tree *tree)
{
	for (size_t i = 0; i < tree->nr_links; i++) {
		const struct path_link *link = &tree->links[i];

		if ((i == 0 || percent(link->ns, tree->ns) >= GO_MATTERS) &&
		    go_program_is(report->options->symbols.folder, trace_process_exe(link->process)))
			return link->process;
	}
	return NULL;
}

/* The waits of goroutines are no waits of threads, so the screen cannot have them. */
static void put_goroutines(const struct report *report, const struct path_tree *tree)
{
	const struct trace_process *shown = go_process(report, tree);
	struct string s = {0};
	char name[TEXT_BYTES];

	if (!shown)
		return;
	string_addf(&s,
		    "%s is a Go program: goroutines wait for locks and channels inside it, and the kernel sees only "
		    "idle threads. Probes show them: docs/RECIPES.md, \"Goroutines\".",
		    text_comm(trace_process_comm(shown), name, sizeof(name)));
	put_text(&report->output, &s, 3);
	string_free(&s);
}

static bool is_python(const struct trace_process *process)
{
	const char *exe = trace_process_exe(process), *name = strrchr(exe, '/');

	name = name ? name + 1 : *exe ? exe : trace_process_comm(process);
	return strncmp(name, "python", strlen("python")) == 0;
}

/* The time of the path in which threads of @process waited for one another, or in futex. */
static uint64_t futex_ns(const struct path_tree *tree, const struct trace_process *process)
{
	uint64_t ns = 0;

	for (size_t i = 1; i < tree->nr_links; i++)
		ns += tree->links[i].is_thread && tree->links[i].process == process ? tree->links[i].ns : 0;
	for (size_t i = 0; i < tree->nr_waits; i++) {
		const struct path_wait *wait = &tree->waits[i];

		if (tree->links[wait->link].process == process && !tree->links[wait->link].is_thread &&
		    wait->place != PLACE_WAIT_CPU && strcmp(wait->first.via, "futex") == 0)
			ns += wait->ns;
	}
	return ns;
}

/* The Python program whose threads waited for one another on the path; NULL: none. */
static const struct trace_process *python_process(const struct path_tree *tree)
{
	for (size_t i = 0; i < tree->nr_links; i++) {
		const struct trace_process *process = tree->links[i].process;

		if (is_python(process) && percent(futex_ns(tree, process), tree->ns) >= PYTHON_MATTERS)
			return process;
	}
	return NULL;
}

/* The kernel sees a lock of the interpreter as a futex, and a thread that wants it as a timeout. */
static void put_interpreter_lock(const struct report *report, const struct trace_process *shown)
{
	struct string s = {0};
	char name[TEXT_BYTES];

	if (!shown)
		return;
	string_addf(&s, "%s runs one thread at a time: it is Python, with the GIL. Their waits: -a --section=locks.",
		    text_process(trace_process_title(shown), trace_process_pid(shown), name, sizeof(name)));
	put_text(&report->output, &s, 2);
}

/* The trigger that saved the trace, and when what it was for began and counted. */
static void put_saved_for(const struct report *report, const struct saved_for *saved)
{
	struct wall_text times;
	struct string s = {0};

	saved_for_add(&s, saved);
	if (*wall_range_text(report->trace, saved->begin_ns, saved->end_ns, &times))
		string_addf(&s, ", %s", wall_range_text(report->trace, saved->begin_ns, saved->end_ns, &times));
	string_add(&s, ".");
	put_text(&report->output, &s, 3);
}

/* The command for the books of what the trigger was for. */
static void put_saved_window(const struct report *report, const struct saved_for *saved,
			     const struct trace_thread *thread)
{
	uint64_t start = trace_get_info(report->trace)->complete_from_ns, from = saved->begin_ns - start,
		 to = saved->end_ns - start;
	struct string s = {0};

	if (saved->begin_ns < start || from == to)
		return;
	string_addf(&s, "tracevisualizer -a --from=%" PRIu64 ".%09" PRIu64 "s --to=%" PRIu64 ".%09" PRIu64 "s ",
		    from / 1000000000, from % 1000000000, to / 1000000000, to % 1000000000);
	string_addf(&s, "--pid=%" PRIu32 " ", trace_process_pid(trace_thread_process(thread)));
	add_trace(&s, report->options->trace);
	output_line(&report->output, "", "This time alone: %s", string_text(&s));
	string_free(&s);
}

static void put_end(const struct report *report)
{
	struct string s = {0};

	losses_sentence(&s, report->trace, report->analysis);
	if (s.len)
		put_text(&report->output, &s, 2);
	put_not_traced(report);
	report_unhit(report);
	string_add(&s, "More: tracevisualizer -a ");
	add_trace(&s, report->options->trace);
	output_line(&report->output, "", "%s; or --slowest=NAME, --critical-path, -d, -h", string_text(&s));
	string_free(&s);
}

/* ---- the screen ---- */

/* The lines of the verdict @s: the end of its chain is worth more than the shortest waits. */
static size_t verdict_lines(const struct text_output *output, const struct string *s)
{
	size_t lines = lines_of(output, s);

	return lines < VERDICT_LINES ? VERDICT_LINES : lines < CHAIN_LINES ? lines : CHAIN_LINES;
}

static void about_path(const struct report *report, const struct process_row *rows, size_t nr,
		       const struct path_tree *tree, bool of_machine)
{
	const struct trace_process *python = python_process(tree);
	struct string s = {0}, said = {0}, functions = {0};
	size_t lines;

	verdict_add(&s, report, tree, NULL);
	string_add(&said, string_text(&s));
	fit_names(&report->output, &s, CHAIN_LINES);
	lines = verdict_lines(&report->output, &s);
	put_text(&report->output, &s, lines);
	if (of_machine)
		program_bars(report, rows, nr, tree, string_text(&said), &functions);
	else
		path_bars(report, tree);
	put_waits(report, tree, WAITS + VERDICT_LINES - lines);
	put_disk(report, tree);
	string_add(&said, string_text(&functions));
	if (!python || report->profile) /* its samples would be of the interpreter */
		put_own_code(report, tree, string_text(&said));
	put_goroutines(report, tree);
	put_interpreter_lock(report, python);
	string_free(&said);
	string_free(&functions);
}

void report_answer(const struct report *report)
{
	bool of_machine = !has_process_choice(&report->options->processes) && !chosen_pid(report->trace);
	struct answer_choice choice;
	struct process_row *rows;
	struct path_tree tree;
	size_t nr;

	rows = process_rows(report, &nr);
	answer_choose(report, rows, nr, &choice, &tree);
	if (choice.saved.text)
		put_saved_for(report, &choice.saved);
	fit_names(&report->output, &choice.before, 3);
	if (choice.before.len)
		put_text(&report->output, &choice.before, 3);
	if (is_left_out(report->trace, TRACE_LEFT_OUT_KERNEL)) {
		report_overview_of_programs(report, report_user_has_any(report));
	} else if (tree.nr_links) {
		about_path(report, rows, nr, &tree, of_machine && !choice.of_saved && !choice.of_command);
	} else {
		struct trace_figures *system = checked_figures(trace_system_figures(report->analysis));

		report_overview(report, rows, nr, system);
		trace_figures_free(system);
	}
	if (!is_left_out(report->trace, TRACE_LEFT_OUT_KERNEL)) {
		put_group(report, rows, nr);
		put_same_name(report, choice.nr ? trace_thread_process(choice.threads[0]) : NULL);
	}
	if (choice.of_saved)
		put_saved_window(report, &choice.saved, choice.threads[0]);
	put_end(report);
	path_tree_clear(&tree);
	answer_choice_clear(&choice);
	free(rows);
}
