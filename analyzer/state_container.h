/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_STATE_CONTAINER_H
#define ANALYZER_STATE_CONTAINER_H
/* state_container.h - the control groups of processes */
#include <stdint.h>

struct trace_analysis;
struct trace_process;

/** cgroup_learn() - note the path of a control group */
void cgroup_learn(struct trace_analysis *a, uint64_t cgroup, const char *path);

/** cgroup_put() - @process is in control group @cgroup from now on */
void cgroup_put(struct trace_analysis *a, struct trace_process *process, uint64_t cgroup);

/** cgroup_path_of() - its path; 0: not known */
uint32_t cgroup_path_of(const struct trace_analysis *a, uint64_t cgroup);
#endif
