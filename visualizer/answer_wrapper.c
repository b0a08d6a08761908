/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "answer_wrapper.h"

#include <string.h>

#define NEARLY_ALL 90 /* percent of the path */

/* A call in which a process waits for its children, or for the signal that one has ended. */
static bool waits_for_child(const char *call)
{
	static const char *const calls[] = {"rt_sigsuspend", "rt_sigtimedwait", "pause", "wait4", "waitid"};

	for (size_t i = 0; call && i < sizeof(calls) / sizeof(calls[0]); i++)
		if (strcmp(call, calls[i]) == 0)
			return true;
	return false;
}

static bool ran_out_of_time(const struct path_tree *tree)
{
	const struct path_wait *wait = tree->waits;

	return tree->nr_waits && wait->link == 0 && wait->place == PLACE_BLOCKED + TRACE_WAIT_TIMEOUT &&
	       waits_for_child(wait->first.name) && wait->ns > tree->ns / 100 * NEARLY_ALL;
}

static uint64_t life_ns(const struct trace_process *process)
{
	return trace_process_end_ns(process) - trace_process_start_ns(process);
}

const struct process_row *wrapped_row(const struct process_row *rows, size_t nr, const struct path_tree *tree)
{
	const struct trace_process *wrapper = tree->links[0].process;
	const struct process_row *longest = NULL;

	for (size_t i = 0; ran_out_of_time(tree) && i < nr; i++)
		if (trace_process_starter(rows[i].process) == wrapper &&
		    (!longest || life_ns(rows[i].process) > life_ns(longest->process)))
			longest = &rows[i];
	return longest;
}
