/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "similar_task.h"

#include "similar.h"

const char *similar_task(const struct trace_analysis *analysis, const char *name)
{
	struct similar best = {.wanted = name};

	for (size_t i = 0; i < trace_nr_processes(analysis); i++) {
		const struct trace_process *process = trace_get_process(analysis, i);

		similar_offer(&best, trace_process_title(process));
		similar_offer(&best, trace_process_comm(process));
		for (const struct trace_thread *thread = NULL; (thread = trace_next_thread(process, thread));)
			similar_offer(&best, trace_thread_comm(thread));
	}
	return best.name;
}
