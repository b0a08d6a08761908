/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* process_choice.c - the processes that --pid, --tid, --comm and --cgroup choose. */
#include <string.h>
#include "process_choice.h"

/* True in the control group @data and its descendants. */
static bool is_in_cgroup(const void *data, const struct trace_identity *identity)
{
	const char *cgroup = data, *path = identity->cgroup;
	size_t length = strlen(cgroup);

	while (length && cgroup[length - 1] == '/')
		length--;
	return *path && strncmp(path, cgroup, length) == 0 && (path[length] == 0 || path[length] == '/');
}

bool comm_is(const char *comm, const char *name)
{
	return strncmp(comm, name, COMM_BYTES - 1) == 0;
}

bool has_process_choice(const struct process_choice *choice)
{
	return choice->pid >= 0 || choice->tid >= 0 || choice->comm || choice->cgroup;
}

/* A thread with the number and, unless the process is called so, the name. */
static bool has_thread(const struct process_choice *choice, const struct trace_process *process)
{
	bool is_called = !choice->comm || trace_process_is_called(process, choice->comm);
	const struct trace_thread *thread = NULL;

	if (choice->tid < 0 && is_called)
		return true;
	while ((thread = trace_next_thread(process, thread)))
		if ((choice->tid < 0 || trace_thread_tid(thread) == (uint32_t)choice->tid) &&
		    (is_called || comm_is(trace_thread_comm(thread), choice->comm)))
			return true;
	return false;
}

bool process_is_chosen(const struct process_choice *choice, const struct trace_process *process)
{
	if (choice->pid >= 0 && trace_process_pid(process) != (uint32_t)choice->pid)
		return false;
	if (choice->cgroup && !trace_process_ever_was(process, is_in_cgroup, choice->cgroup))
		return false;
	return (choice->tid < 0 && !choice->comm) || has_thread(choice, process);
}
