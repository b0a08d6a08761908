/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* state_container.c - the control group of each process. A child begins in its parent's group. */
#include "state.h"
#include "state_container.h"

struct cgroup_row {
	uint64_t key; /* id + 1 */
	string_id path;
};

void cgroup_learn(struct trace_analysis *a, uint64_t cgroup, const char *path)
{
	struct cgroup_row *row = acct_row(a, &a->cgroups, sizeof(*row), cgroup + 1);

	row->path = strings_intern(&a->strings, path);
}

string_id cgroup_path_of(const struct trace_analysis *a, uint64_t cgroup)
{
	const struct cgroup_row *row = table_find(&a->cgroups, sizeof(*row), cgroup + 1);

	return row ? row->path : 0;
}

void cgroup_put(struct trace_analysis *a, struct trace_process *process, uint64_t cgroup)
{
	process->cgroup = cgroup;
	process->cgroup_path = cgroup_path_of(a, cgroup);
}

uint32_t trace_process_ns_pid(const struct trace_process *process)
{
	return process->ns_pid;
}

uint64_t trace_process_cpu_limit(const struct trace_process *process)
{
	return process->cpu_limit_ns;
}

const char *trace_process_cgroup(const struct trace_process *process)
{
	return process->strings ? strings_text(process->strings, process->cgroup_path) : "";
}
