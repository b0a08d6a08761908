/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * thread_choice.c - the threads of a process that --tid and --comm choose.
 *
 * --comm=NAME chooses a process that is called NAME as a whole. In another process it chooses only
 * the threads that are called so, and the figures are theirs.
 */
#include "checked_figures.h"
#include "process_choice.h"
#include "thread_choice.h"
#include "value_text.h"

#define NAME_BYTES 256

bool thread_is_chosen(const struct report *report, const struct trace_thread *thread)
{
	return thread_has_choice(&report->options->processes, thread);
}

static bool is_chosen(const void *report, const struct trace_thread *thread)
{
	return thread_is_chosen(report, thread);
}

struct trace_figures *chosen_figures(const struct report *report, const struct trace_process *process)
{
	const struct process_choice *choice = &report->options->processes;

	if (choice->tid < 0 && !choice->comm && !choice->thread)
		return checked_figures(trace_process_figures(report->analysis, process));
	return checked_figures(trace_process_figures_of(report->analysis, process, is_chosen, report));
}

size_t chosen_threads(const struct report *report, const struct trace_process *process)
{
	size_t nr = 0;

	for (const struct trace_thread *thread = NULL; (thread = trace_next_thread(process, thread));)
		nr += thread_is_chosen(report, thread);
	return nr;
}

void chosen_threads_text(struct string *s, const struct report *report, const struct trace_process *process)
{
	const struct trace_thread *thread = trace_next_thread(process, NULL);
	size_t nr = chosen_threads(report, process);
	char name[NAME_BYTES + 32];

	if (nr == trace_nr_threads(process))
		return;
	while (nr == 1 && !thread_is_chosen(report, thread))
		thread = trace_next_thread(process, thread);
	if (nr == 1)
		string_addf(s, ", thread %s",
			    text_process(trace_thread_comm(thread), trace_thread_tid(thread), name, sizeof(name)));
	else
		string_addf(s, ", %zu threads", nr);
}
