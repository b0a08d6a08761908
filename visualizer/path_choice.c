/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* path_choice.c - the thread that --critical-path is about. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "busiest.h"
#include "complain.h"
#include "path_choice.h"
#include "process_choice.h"
#include "program_title.h"
#include "recorded.h"
#include "same_name.h"
#include "similar_task.h"
#include "value_text.h"

#define NAME_BYTES 256
#define LISTED	   4 /* threads in a message */

static const char how_to_choose[] = "choose a process: --critical-path=PID or --critical-path=NAME";

static uint64_t from_ns(const struct report *report)
{
	return report->window.from_ns;
}

static uint64_t to_ns(const struct report *report)
{
	return report->window.to_ns;
}

int critical_path_begin(struct report *report)
{
	struct trace_history_options options = {.size = sizeof(options)};
	struct trace_error error = {0};

	if (is_left_out(report->trace, TRACE_LEFT_OUT_KERNEL))
		return complain(1, "the kernel was not recorded, only events of programs: what threads waited for is "
				   "unknown; record as root");
	if (report->window.has_from)
		options.from_ns = from_ns(report);
	if (report->window.has_to)
		options.to_ns = to_ns(report);
	options.command = trace_string(report->trace, TRACE_STRING_INFO, TRACE_INFO_COMMAND);
	if (!options.command && !report->options->reports.critical_task)
		return complain(1, "no command was recorded with this trace; %s", how_to_choose);
	report->history = trace_history_new(report->analysis, &options, &error);
	return report->history ? 0 : complain(1, "--critical-path: %s", error.message);
}

static uint64_t overlap(const struct report *report, const struct trace_thread *thread)
{
	uint64_t from = from_ns(report), to = to_ns(report);

	if (from < trace_thread_start_ns(thread))
		from = trace_thread_start_ns(thread);
	if (to > trace_thread_end_ns(thread))
		to = trace_thread_end_ns(thread);
	return to > from ? to - from : 0;
}

/* ---- names ---- */

/* How a task of the command line matches a thread: the greater, the better. */
enum match { MATCHES_NOT, MATCHES_ARGS, MATCHES_THREAD, MATCHES_PROCESS, MATCHES_NUMBER };

/**
 * struct path_choice - a task and the threads that match it
 * @found: those that match best, which all match in the same way; of a process its first thread
 */
struct path_choice {
	const struct report *report;
	const char *task;
	uint32_t tid; /* 0: @task is a name */
	enum match match;
	struct pointers found;
};

static bool is_first(const struct trace_thread *thread)
{
	return trace_thread_tid(thread) == trace_process_pid(trace_thread_process(thread));
}

static enum match match(const struct path_choice *choice, const struct trace_thread *thread)
{
	const struct trace_process *process = trace_thread_process(thread);

	if (choice->tid)
		return trace_thread_tid(thread) == choice->tid ? MATCHES_NUMBER : MATCHES_NOT;
	if (is_first(thread) && trace_process_is_called(process, choice->task))
		return MATCHES_PROCESS;
	if (comm_is(trace_thread_comm(thread), choice->task))
		return MATCHES_THREAD;
	return is_first(thread) && program_args_have(trace_process_args(process), choice->task) ? MATCHES_ARGS
												: MATCHES_NOT;
}

static void find_thread(struct path_choice *choice, const struct trace_thread *thread)
{
	enum match matched = match(choice, thread);

	if (!matched || matched < choice->match || !overlap(choice->report, thread))
		return;
	if (matched > choice->match)
		choice->found.nr = 0;
	choice->match = matched;
	pointers_add(&choice->found, thread);
}

static struct path_choice find(const struct report *report, const char *task)
{
	struct path_choice choice = {.report = report, .task = task};
	unsigned long tid;
	char *end;

	tid = strtoul(task, &end, 10);
	choice.tid = *end || tid > UINT32_MAX ? 0 : (uint32_t)tid;
	for (size_t i = 0; i < trace_nr_processes(report->analysis); i++)
		for (const struct trace_thread *thread = NULL;
		     (thread = trace_next_thread(trace_get_process(report->analysis, i), thread));)
			find_thread(&choice, thread);
	return choice;
}

static bool is_of_command(const struct report *report, const struct trace_thread *thread)
{
	return report->command.process && trace_thread_process(thread) == report->command.process;
}

/* If two match as well: the recorded command, else the longer-lived. Ids are reused. */
static bool is_better(const struct report *report, const struct trace_thread *thread, const struct trace_thread *best)
{
	if (is_of_command(report, thread) != is_of_command(report, best))
		return is_of_command(report, thread);
	return overlap(report, thread) > overlap(report, best);
}

static const struct trace_thread *best_of(const struct path_choice *choice)
{
	const struct trace_thread *best = NULL;

	for (size_t i = 0; i < choice->found.nr; i++)
		if (!best || is_better(choice->report, choice->found.at[i], best))
			best = choice->found.at[i];
	return best;
}

/* ---- threads ---- */

static const struct trace_thread *most_work_of(const struct report *report, struct pointers *threads)
{
	busiest_sort(report, (const struct trace_thread **)threads->at, threads->nr);
	return threads->nr ? threads->at[0] : NULL;
}

static void add_thread(struct string *s, const struct trace_thread *thread, bool with_process)
{
	const struct trace_process *process = trace_thread_process(thread);
	char name[NAME_BYTES + 32];

	string_addf(s, "%u %s", trace_thread_tid(thread), text_comm(trace_thread_comm(thread), name, sizeof(name)));
	if (with_process)
		string_addf(s, " of %s",
			    text_process(trace_process_title(process), trace_process_pid(process), name, sizeof(name)));
}

static void add_threads(struct string *s, const struct pointers *threads, bool with_processes)
{
	for (size_t i = 0; i < threads->nr && i < LISTED; i++) {
		string_add(s, i ? ", " : "");
		add_thread(s, threads->at[i], with_processes);
	}
	if (threads->nr > LISTED)
		string_addf(s, ", and %zu more", threads->nr - LISTED);
}

/* The threads of a process that live in the window, those with the most work first. */
static struct pointers threads_of(const struct report *report, const struct trace_process *process)
{
	struct pointers threads = {0};

	for (const struct trace_thread *thread = NULL; (thread = trace_next_thread(process, thread));)
		if (overlap(report, thread))
			pointers_add(&threads, thread);
	most_work_of(report, &threads);
	return threads;
}

static void note_thread(const struct trace_thread *thread, const struct pointers *threads, const char *why)
{
	const struct trace_process *process = trace_thread_process(thread);
	struct string list = {0};
	char name[NAME_BYTES + 32];

	add_threads(&list, threads, false);
	fprintf(stderr,
		"tracevisualizer: %s has %zu threads: %s; using %u, %s; choose another with --critical-path=TID\n",
		text_process(trace_process_title(process), trace_process_pid(process), name, sizeof(name)), threads->nr,
		string_text(&list), trace_thread_tid(thread), why);
	string_free(&list);
}

/* @first: the first thread of a process, chosen by its name or number */
static const struct trace_thread *choose_of_process(const struct path_choice *choice, const struct trace_thread *first)
{
	const struct report *report = choice->report;
	bool is_command = is_of_command(report, first);
	struct pointers threads = threads_of(report, trace_thread_process(first));
	const struct trace_thread *thread = is_command || choice->tid ? first : threads.at[0];

	/* a number says which; without a word only if the user could not have meant another one */
	if (threads.nr > 1 && (!choice->tid || threads.at[0] != first))
		note_thread(thread, &threads,
			    is_command	  ? "the first one, with which the command ends"
			    : choice->tid ? "the first one"
					  : "which has the most work");
	pointers_free(&threads);
	return thread;
}

static const struct trace_thread *choose_of_threads(struct path_choice *choice)
{
	const struct report *report = choice->report;
	const struct trace_thread *thread = best_of(choice);
	bool is_command = is_of_command(report, thread);
	struct string list = {0};
	char name[NAME_BYTES];

	if (choice->found.nr == 1)
		return thread;
	if (!is_command)
		thread = most_work_of(report, &choice->found);
	add_threads(&list, &choice->found, true);
	fprintf(stderr,
		"tracevisualizer: %zu threads match %s: %s; using %u, %s; choose another with --critical-path=TID\n",
		choice->found.nr, text_name(choice->task, name, sizeof(name)), string_text(&list),
		trace_thread_tid(thread), is_command ? "of the recorded command" : "which has the most work");
	string_free(&list);
	return thread;
}

/*
 * If a thread other than the first one calls exec, it goes on with the id of the first thread,
 * which dies.
 */
static const struct trace_thread *thread_after_exec(const struct report *report, const struct trace_thread *command)
{
	const struct trace_process *process = command ? trace_thread_process(command) : NULL;
	const struct trace_thread *best = command;

	for (const struct trace_thread *thread = NULL; process && (thread = trace_next_thread(process, thread));)
		if (trace_thread_tid(thread) == trace_process_pid(process) &&
		    overlap(report, thread) > overlap(report, best))
			best = thread;
	return best;
}

const struct trace_thread *critical_path_of_command(const struct report *report, uint64_t *ret_from_ns)
{
	const struct trace_thread *thread = thread_after_exec(report,
							      trace_history_command(report->history, ret_from_ns));

	/* the path begins where the reports let the command's run begin */
	if (thread && trace_thread_process(thread) == report->command.process)
		*ret_from_ns = command_from_ns(&report->command);
	return thread;
}

static void complain_of_task(const struct report *report, const char *task)
{
	const char *near = similar_task(report->analysis, task);
	char name[NAME_BYTES];

	complain(1, "no thread %s in this window;%s%s%s tracevisualizer -a lists the processes", task,
		 near ? " did you mean " : "", near ? text_name(near, name, sizeof(name)) : "", near ? "?" : "");
}

/* One of several processes is chosen: name the others, too. */
static void note_process(const struct path_choice *choice, const struct trace_thread *thread)
{
	struct string list = {0};
	char name[NAME_BYTES];

	if (!same_name_list(&list, choice->report, choice->task, choice->match == MATCHES_ARGS, NULL))
		string_add(&list, "their names are equal");
	fprintf(stderr,
		"tracevisualizer: %zu %s match %s: %s; using %u, the %s; choose another with --critical-path=PID\n",
		choice->found.nr, choice->tid ? "threads" : "processes", text_name(choice->task, name, sizeof(name)),
		string_text(&list), trace_thread_tid(thread),
		is_of_command(choice->report, thread) ? "recorded command" : "longest-lived");
	string_free(&list);
}

static const struct trace_thread *choose_task(const struct report *report, const char *task)
{
	struct path_choice choice = find(report, task);
	const struct trace_thread *thread = best_of(&choice);

	if (choice.match == MATCHES_THREAD) {
		thread = choose_of_threads(&choice);
	} else if (thread) {
		if (choice.found.nr > 1)
			note_process(&choice, thread);
		if (is_first(thread))
			thread = choose_of_process(&choice, thread);
	} else {
		complain_of_task(report, task);
	}
	pointers_free(&choice.found);
	return thread;
}

static const struct trace_thread *choose_command(const struct report *report, uint64_t *ret_begun_ns)
{
	const struct trace_thread *thread = thread_after_exec(report,
							      trace_history_command(report->history, ret_begun_ns));

	if (!thread)
		complain(1, "the trace does not contain the start of the recorded command; %s", how_to_choose);
	return thread;
}

struct trace_critical_path *critical_path_choose(const struct report *report, struct trace_error *ret_error)
{
	const char *task = report->options->reports.critical_task;
	uint64_t from = from_ns(report), begun = 0;
	const struct trace_thread *thread = task ? choose_task(report, task) : choose_command(report, &begun);

	if (!thread)
		return NULL;
	/* the path begins where the reports let the command's run begin */
	if (trace_thread_process(thread) == report->command.process)
		begun = command_from_ns(&report->command);
	return trace_critical_path_new(report->history, thread, begun > from ? begun : from, to_ns(report), ret_error);
}
