/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* answer_choice.c - choose what the first answer is about. */
#include "answer_choice.h"

#include <inttypes.h>

#include "answer_path.h"
#include "answer_wrapper.h"
#include "busiest.h"
#include "process_choice.h"
#include "recorded.h"
#include "saved_pressure.h"
#include "value_text.h"

#define NAME_BYTES 256

static void add_process(struct string *s, const struct trace_process *process)
{
	char name[NAME_BYTES];

	string_addf(s, "%s %" PRIu32, text_name(trace_process_title(process), name, sizeof(name)),
		    trace_process_pid(process));
}

static void take_one(struct answer_choice *choice, const struct trace_thread *thread, uint64_t from_ns, uint64_t to_ns)
{
	choice->threads[0] = thread;
	choice->nr = 1;
	choice->from_ns = from_ns;
	choice->to_ns = to_ns;
}

/* The tree of @path, which it frees, instead of @tree. */
static void take_tree(struct path_tree *tree, struct trace_critical_path *path)
{
	path_tree_clear(tree);
	*tree = path_tree_new(path);
	trace_critical_path_free(path);
}

/* ---- a trace that a trigger saved ---- */

/* A part of the trace, or a chosen process, is not what the trigger was for. */
static bool is_of_whole(const struct report *report)
{
	return !report->is_windowed && !report->window.has_from && !report->window.has_to &&
	       !has_process_choice(&report->options->processes);
}

static bool choose_pressure(const struct report *report, const struct process_row *rows, size_t nr,
			    struct answer_choice *choice, struct path_tree *tree)
{
	struct trace_critical_path *path = saved_pressure_path(report, rows, nr, &choice->saved, &choice->before);
	uint64_t from, to;

	if (!path)
		return false;
	trace_critical_path_window(path, &from, &to);
	take_one(choice, trace_critical_path_thread(path), from, to);
	take_tree(tree, path);
	return true;
}

/* The path of the trigger's thread, from the begin of what it counted until the thread went on. */
static bool choose_saved(const struct report *report, const struct process_row *rows, size_t nr,
			 struct answer_choice *choice, struct path_tree *tree)
{
	struct saved_for *saved = &choice->saved;
	const struct trace_thread *thread = saved_for_thread(saved, rows, nr);
	uint64_t start = trace_get_info(report->trace)->start_ns, from, to = UINT64_MAX;
	struct trace_critical_path *path;

	if (!thread)
		return choose_pressure(report, rows, nr, choice, tree);
	from = saved->begin_ns == saved->end_ns || saved->begin_ns < start ? 0 : saved->begin_ns;
	path = answer_path_of(report, thread, from, to);
	if (path && saved->begin_ns != saved->end_ns) {
		to = saved->end_ns = saved_for_gone_on_ns(path, saved->end_ns);
		trace_critical_path_free(path);
		path = answer_path_of(report, thread, from, to);
	}
	if (!path)
		return false;
	take_one(choice, thread, from, to);
	take_tree(tree, path);
	return true;
}

/* ---- all other traces ---- */

/* The command's exec is lost or unreadable: the answer is about another process. */
static void explain_no_command(const struct report *report, struct answer_choice *choice)
{
	const char *words = trace_string(report->trace, TRACE_STRING_INFO, TRACE_INFO_COMMAND);
	char name[NAME_BYTES];

	if (!words || !*words || report->command.process || !is_of_whole(report))
		return;
	string_addf(&choice->before, "The command, %s, is not known here: no event of its begin could be read. ",
		    text_name(words, name, sizeof(name)));
	string_add(&choice->before, "This is about the process with the most work.");
}

/* Instead of a wrapper the command that it ran. */
static void take_wrapped(const struct report *report, const struct process_row *rows, size_t nr,
			 struct answer_choice *choice, struct path_tree *tree)
{
	const struct process_row *row = wrapped_row(rows, nr, tree);
	const struct trace_thread *thread = row ? busiest_thread(report, row, 1) : NULL;
	struct trace_critical_path *path = thread ? answer_path_of(report, thread, 0, UINT64_MAX) : NULL;

	if (!path)
		return;
	add_process(&choice->before, trace_thread_process(choice->threads[0]));
	string_add(&choice->before, " waited for ");
	add_process(&choice->before, row->process);
	string_add(&choice->before, " until its time was over.");
	take_one(choice, thread, 0, UINT64_MAX);
	take_tree(tree, path);
}

/*
 * The threads that have the work of a process in parts: the tree is that of the paths of them all.
 * Changes nothing if one thread has it.
 */
static void take_group(const struct report *report, struct answer_choice *choice, struct path_tree *tree)
{
	struct answer_choice group = *choice;
	struct path_tree of_all;

	group.nr = busiest_group(report, trace_thread_process(choice->threads[0]), group.threads, ANSWER_THREADS);
	if (group.nr < 2)
		return;
	of_all = answer_tree(report, &group, 0, UINT64_MAX);
	if (of_all.nr_links && of_all.links[0].nr > 1) {
		path_tree_clear(tree);
		*tree = of_all;
		*choice = group;
	} else {
		path_tree_clear(&of_all);
	}
}

void answer_choose(const struct report *report, const struct process_row *rows, size_t nr, struct answer_choice *choice,
		   struct path_tree *tree)
{
	const struct trace_thread *thread;
	struct trace_critical_path *path;
	uint64_t from;

	*choice = (struct answer_choice){.to_ns = UINT64_MAX};
	*tree = (struct path_tree){0};
	if (is_of_whole(report) && !saved_for_get(report->trace, &choice->saved))
		choice->saved.text = NULL;
	if (!report->history || !has_scheduling(report->analysis))
		return;
	choice->of_saved = choice->saved.text && choose_saved(report, rows, nr, choice, tree);
	if (choice->of_saved)
		return;
	thread = answer_thread(report, rows, nr, &from, &choice->of_command);
	path = answer_path_of(report, thread, from, UINT64_MAX);
	if (!path)
		return;
	take_one(choice, thread, from, UINT64_MAX);
	take_tree(tree, path);
	if (choice->of_command) {
		take_wrapped(report, rows, nr, choice, tree);
	} else {
		explain_no_command(report, choice);
		take_group(report, choice, tree);
	}
}

struct path_tree answer_tree(const struct report *report, const struct answer_choice *choice, uint64_t from_ns,
			     uint64_t to_ns)
{
	struct trace_critical_path *paths[ANSWER_THREADS];
	struct path_tree tree = {0};
	size_t nr = 0;

	from_ns = from_ns > choice->from_ns ? from_ns : choice->from_ns;
	to_ns = to_ns < choice->to_ns ? to_ns : choice->to_ns;
	for (size_t i = 0; i < choice->nr; i++) {
		paths[nr] = answer_path_of(report, choice->threads[i], from_ns, to_ns);
		nr += paths[nr] != NULL;
	}
	if (nr)
		tree = path_tree_of(paths, nr);
	for (size_t i = 0; i < nr; i++)
		trace_critical_path_free(paths[i]);
	return tree;
}

void answer_choice_clear(struct answer_choice *choice)
{
	string_free(&choice->before);
	*choice = (struct answer_choice){0};
}
