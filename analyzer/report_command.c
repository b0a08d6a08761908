/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * report_command.c - which process is the command that was recorded?
 *
 * The trace has its words, not its number. The recorder forks it before it begins to record and lets it go then: so it is there from the
 * start, a child of the recorder, and its first program is that of the command. Failing that, the first of the name to be started.
 *
 * Until it is let go it waits for the recorder, to read the state of the system, for ten milliseconds or so. That is in its books, as all of its time is, but it
 * is none of the command's: who asks how long a command ran, and what it waited for, is told of the rest.
 */
#include <string.h>
#include "command_name.h"
#include "report.h"

static bool is_child_of_recorder(const struct trace_analysis *analysis, const struct trace_thread *thread)
{
	const struct trace_thread *parent = trace_find_thread(analysis, trace_process_ppid(trace_thread_process(thread)));
	uint64_t start, end;

	trace_analysis_window(analysis, &start, &end);
	return parent && trace_thread_start_ns(thread) <= start && strcmp(trace_thread_comm(parent), "tracedaemon") == 0;
}

static void on_exec(void *data, struct trace_analysis *analysis, const struct trace_event *event)
{
	const struct trace_thread *thread;
	struct report *report = data;
	struct trace_times times;

	if (report->command_is_sure || event->type->fixed_bytes < sizeof(struct trace_sched_exec))
		return;
	thread = trace_event_thread(analysis, event); /* its number may have changed already */
	if (!thread || !runs_command(thread, trace_event_string(event), trace_string(report->trace, TRACE_STRING_INFO, TRACE_INFO_COMMAND)))
		return;
	report->command_is_sure = is_child_of_recorder(analysis, thread);
	if (report->command_is_sure) {
		trace_thread_times(analysis, thread, &times);
		report->command_held_ns = times.blocked_ns;
	}
	if (report->command_is_sure || !report->command)
		report->command = trace_thread_process(thread);
}

int command_begin(struct report *report)
{
	const char *command = trace_string(report->trace, TRACE_STRING_INFO, TRACE_INFO_COMMAND);
	uint64_t mask[TRACE_MASK_WORDS] = {0};

	if (!command || !*command)
		return 0;
	mask[TRACE_EV_sched_exec / 64] |= 1ull << TRACE_EV_sched_exec % 64;
	return trace_analysis_on_event(report->analysis, mask, on_exec, report);
}

const char *command_words(const struct report *report)
{
	return report->command_is_sure ? "the command" : "the first process seen with the command's name";
}

uint64_t command_ran_ns(const struct report *report)
{
	return trace_process_end_ns(report->command) - trace_process_start_ns(report->command) - report->command_held_ns;
}

/*
 * For the recorder; in a recording of some processes nobody is known to have the other end of the pipe that held it. If events were lost meanwhile, it is not
 * known for whom it was; but that it was held is.
 */
static bool is_hold(const struct report *report, const struct trace_wait *wait, bool lost)
{
	if (lost)
		return wait->kind == TRACE_WAIT_UNKNOWN;
	if (wait->kind == TRACE_WAIT_PROCESS)
		return wait->pid == trace_process_ppid(report->command);
	return wait->kind == TRACE_WAIT_OTHER && strcmp(wait->via, "pipe") == 0;
}

static void take_hold(const struct report *report, struct trace_figures *figures, bool lost, uint64_t *left)
{
	uint64_t taken;

	for (size_t i = 0; i < figures->nr_waits; i++) {
		taken = is_hold(report, &figures->waits[i], lost) ? MIN(*left, figures->waits[i].ns) : 0;
		figures->waits[i].ns -= taken;
		figures->blocked_ns -= taken;
		figures->elapsed_ns -= taken;
		*left -= taken;
	}
}

void command_free_figures(const struct report *report, struct trace_figures *figures)
{
	uint64_t left = report->command_held_ns;

	take_hold(report, figures, false, &left);
	take_hold(report, figures, true, &left);
}

GPtrArray *command_family(const struct report *report)
{
	const struct trace_process *root = report->command;
	GPtrArray *list = g_ptr_array_new();
	GHashTable *pids = g_hash_table_new(NULL, NULL);
	uint64_t start_ns = trace_process_start_ns(root); /* all of its threads are asked */

	g_ptr_array_add(list, (gpointer)root);
	g_hash_table_add(pids, GUINT_TO_POINTER(trace_process_pid(root)));
	for (size_t i = 0; i < trace_nr_processes(report->analysis); i++) { /* parents come before their children */
		const struct trace_process *process = trace_get_process(report->analysis, i);

		if (process == root || !trace_nr_threads(process) || trace_process_start_ns(process) < start_ns ||
		    !g_hash_table_contains(pids, GUINT_TO_POINTER(trace_process_ppid(process))))
			continue;
		g_ptr_array_add(list, (gpointer)process);
		g_hash_table_add(pids, GUINT_TO_POINTER(trace_process_pid(process)));
	}
	g_hash_table_destroy(pids);
	return list;
}
