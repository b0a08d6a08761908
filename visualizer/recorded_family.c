/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* recorded_family.c - the processes that the recording was made for. */
#include "recorded.h"
#include "recorded_family.h"

const struct trace_process *chosen_process(const struct report *report)
{
	const struct trace_process *found = NULL;
	uint32_t pid = chosen_pid(report->trace);

	for (size_t i = 0; pid && i < trace_nr_processes(report->analysis); i++) {
		const struct trace_process *process = trace_get_process(report->analysis, i);

		if (trace_process_pid(process) == pid && trace_nr_threads(process) &&
		    (!found || trace_process_start_ns(process) < trace_process_start_ns(found)))
			found = process;
	}
	return found;
}

struct pointers recorded_family(const struct report *report)
{
	const struct trace_process *root = report->command.process;

	if (!root)
		root = chosen_process(report);
	return root ? process_family(report->analysis, root) : (struct pointers){0};
}
