/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* process_choice.c - the processes that --pid, --tid, --comm and --cgroup choose. */
#include <string.h>
#include "process_choice.h"
#include "program_title.h"

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
	return choice->pid >= 0 || choice->tid >= 0 || choice->comm || choice->thread || choice->cgroup;
}

/* True if @process is called as the options say, or they have no name. */
static bool process_has_name(const struct process_choice *choice, const struct trace_process *process)
{
	return !choice->comm || (choice->in_args ? program_args_have(trace_process_args(process), choice->comm)
						 : trace_process_is_called(process, choice->comm));
}

bool thread_has_choice(const struct process_choice *choice, const struct trace_thread *thread)
{
	if (choice->tid >= 0 && trace_thread_tid(thread) != (uint32_t)choice->tid)
		return false;
	if (choice->thread && !comm_is(trace_thread_comm(thread), choice->thread))
		return false;
	return process_has_name(choice, trace_thread_process(thread)) ||
	       (!choice->in_args && comm_is(trace_thread_comm(thread), choice->comm));
}

/* A thread with the number and names, unless the process alone decides. */
static bool has_thread(const struct process_choice *choice, const struct trace_process *process)
{
	if (choice->tid < 0 && !choice->thread && process_has_name(choice, process))
		return true;
	for (const struct trace_thread *thread = NULL; (thread = trace_next_thread(process, thread));)
		if (thread_has_choice(choice, thread))
			return true;
	return false;
}

/* True if a process or thread is called as @choice says. */
static bool is_name(const struct process_choice *choice, const struct trace_process *process)
{
	if (process_has_name(choice, process))
		return true;
	for (const struct trace_thread *thread = NULL; (thread = trace_next_thread(process, thread));)
		if (comm_is(trace_thread_comm(thread), choice->comm))
			return true;
	return false;
}

bool process_choice_is_known(const struct process_choice *choice, const struct trace_analysis *analysis)
{
	for (size_t i = 0; choice->comm && i < trace_nr_processes(analysis); i++)
		if (is_name(choice, trace_get_process(analysis, i)))
			return true;
	return !choice->comm;
}

bool process_choice_is_in_args(const struct process_choice *choice, const struct trace_analysis *analysis)
{
	for (size_t i = 0; choice->comm && i < trace_nr_processes(analysis); i++)
		if (program_args_have(trace_process_args(trace_get_process(analysis, i)), choice->comm))
			return true;
	return false;
}

bool process_is_chosen(const struct process_choice *choice, const struct trace_process *process)
{
	if (choice->pid >= 0 && trace_process_pid(process) != (uint32_t)choice->pid)
		return false;
	if (choice->cgroup && !trace_process_ever_was(process, is_in_cgroup, choice->cgroup))
		return false;
	return (choice->tid < 0 && !choice->comm && !choice->thread) || has_thread(choice, process);
}
