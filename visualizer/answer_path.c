/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* answer_path.c - the thread of a command, or the one with the most work, and its path. */
#include <errno.h>
#include "answer_path.h"
#include "busiest.h"
#include "checked_memory.h"
#include "process_choice.h"
#include "path_choice.h"

const struct trace_thread *answer_thread(const struct report *report, const struct process_row *rows, size_t nr,
					 uint64_t *ret_from_ns, bool *ret_of_command)
{
	bool chosen = has_process_choice(&report->options->processes);
	const struct trace_thread *thread;

	*ret_from_ns = 0;
	thread = chosen || !report->command.process ? NULL : critical_path_of_command(report, ret_from_ns);
	*ret_of_command = thread;
	return thread ? thread : busiest_thread(report, rows, nr);
}

struct trace_critical_path *answer_path_of(const struct report *report, const struct trace_thread *thread,
					   uint64_t from_ns, uint64_t to_ns)
{
	struct trace_critical_path *path;
	struct trace_error error = {0};

	path = thread && from_ns < to_ns ? trace_critical_path_new(report->history, thread, from_ns, to_ns, &error)
					 : NULL;
	if (!path && error.code == -ENOMEM)
		memory_end();
	return path;
}
