/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* same_name.c - the list of processes that one name chooses, as pgrep -l shows it. */
#include <stdlib.h>
#include "same_name.h"
#include "process_choice.h"
#include "value_text.h"

#define LISTED	   4
#define NAME_BYTES 256
#define NAME_WIDTH 40 /* columns of a title */

static void add_process(struct string *s, const struct trace_process *process)
{
	char buffer[NAME_BYTES];
	char *title = text_cut(text_comm(trace_process_title(process), buffer, sizeof(buffer)), NAME_WIDTH);

	string_addf(s, "%u %s", trace_process_pid(process), title);
	free(title);
}

size_t same_name_list(struct string *s, const struct report *report, const char *name, bool in_args,
		      const struct trace_process *except)
{
	const struct process_choice called = {.pid = -1, .tid = -1, .comm = name, .in_args = in_args};
	size_t nr = 0;

	for (size_t i = 0; i < trace_nr_processes(report->analysis); i++) {
		const struct trace_process *process = trace_get_process(report->analysis, i);

		if (process == except || !trace_nr_threads(process) ||
		    !process_is_chosen(name ? &called : &report->options->processes, process))
			continue;
		if (nr < LISTED && nr)
			string_add(s, ", ");
		if (nr++ < LISTED)
			add_process(s, process);
	}
	if (nr > LISTED)
		string_addf(s, ", and %zu more", nr - LISTED);
	return nr;
}

void same_name_note(const struct report *report)
{
	const struct process_choice *choice = &report->options->processes;
	struct string list = {0};
	char name[NAME_BYTES];
	size_t nr;

	if (!choice->in_args)
		return;
	nr = same_name_list(&list, report, NULL, true, NULL);
	fprintf(stderr, "tracevisualizer: no process or thread is called %s; %zu process%s it in the arguments: %s\n",
		text_name(choice->comm, name, sizeof(name)), nr, nr == 1 ? " has" : "es have", string_text(&list));
	string_free(&list);
}
