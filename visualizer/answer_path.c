/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* answer_path.c - choose the thread whose critical path is the answer. */
#include <errno.h>
#include "answer_path.h"
#include "busiest.h"
#include "checked_memory.h"
#include "process_choice.h"
#include "report_critical_path.h"

struct trace_critical_path *answer_path(const struct report *report, const struct process_row *rows, size_t nr,
					uint64_t from_ns, uint64_t to_ns, bool *ret_of_command)
{
	bool chosen = has_process_choice(&report->options->processes);
	struct trace_critical_path *path;
	struct trace_error error = {0};
	const struct trace_thread *thread;
	uint64_t begun = 0;

	*ret_of_command = false;
	if (!report->history)
		return NULL;
	thread = chosen || !report->command.process ? NULL : critical_path_of_command(report, &begun);
	*ret_of_command = thread;
	if (!thread)
		thread = busiest_thread(report, rows, nr);
	if (begun > from_ns)
		from_ns = begun;
	path = thread && from_ns < to_ns ? trace_critical_path_new(report->history, thread, from_ns, to_ns, &error)
					 : NULL;
	if (!path && error.code == -ENOMEM)
		memory_end();
	return path;
}
