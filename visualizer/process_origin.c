/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* process_origin.c - the process that started others, or from which they descend. */
#include <string.h>
#include "process_origin.h"
#include "value_text.h"

#define NAME_BYTES    256
#define MAX_ANCESTORS 1000 /* a damaged trace may have a circle of starters */
#define INIT_PIDS     2	   /* init and the kernel's own, from which all processes descend */

const char *program_of(const char *title, const char *comm)
{
	return strstr(title, ": ") ? comm : title;
}

const char *process_program(const struct trace_process *process)
{
	return program_of(trace_process_title(process), trace_process_comm(process));
}

static size_t depth_of(const struct trace_process *process)
{
	size_t depth = 0;

	for (; process && depth < MAX_ANCESTORS; process = trace_process_starter(process))
		depth++;
	return depth;
}

/* The nearest process that is @one or an ancestor of it, and the same of @other; NULL: none. */
static const struct trace_process *common_ancestor(const struct trace_process *one, const struct trace_process *other)
{
	size_t depth = depth_of(one), other_depth = depth_of(other);

	for (; depth > other_depth; depth--)
		one = trace_process_starter(one);
	for (; other_depth > depth; other_depth--)
		other = trace_process_starter(other);
	for (; depth && one != other; depth--) {
		one = trace_process_starter(one);
		other = trace_process_starter(other);
	}
	return depth ? one : NULL;
}

void process_origin_add(struct process_origin *origin, const struct trace_process *process)
{
	const struct trace_process *starter = process ? trace_process_starter(process) : NULL;

	if (!origin->any) {
		*origin = (struct process_origin){.starter = starter, .is_direct = true, .any = true};
	} else if (origin->starter != starter) {
		origin->starter = common_ancestor(origin->starter, starter);
		origin->is_direct = false;
	}
}

const struct trace_process *process_origin(const struct process_origin *origin)
{
	bool is_known = origin->starter && (origin->is_direct || trace_process_pid(origin->starter) > INIT_PIDS);

	return is_known ? origin->starter : NULL;
}

void process_origin_text(struct string *s, const struct process_origin *origin)
{
	const struct trace_process *starter = process_origin(origin);
	char name[NAME_BYTES + 32];

	if (!starter)
		return;
	string_add(s, origin->is_direct ? " started by " : " under ");
	string_add(s, text_process(trace_process_title(starter), trace_process_pid(starter), name, sizeof(name)));
}
