/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* process_choice.c - the processes that --pid, --comm and --cgroup choose. */
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
	return choice->pid >= 0 || choice->comm || choice->cgroup;
}

bool process_is_chosen(const struct process_choice *choice, const struct trace_process *process)
{
	if (choice->pid >= 0 && trace_process_pid(process) != (uint32_t)choice->pid)
		return false;
	if (choice->cgroup && !trace_process_ever_was(process, is_in_cgroup, choice->cgroup))
		return false;
	return !choice->comm || trace_process_is_called(process, choice->comm);
}
