/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_STATE_FAMILY_H
#define ANALYZER_STATE_FAMILY_H
/* state_family.h - parents and children of processes */
#include <stdint.h>
#include <trace/error.h>
#include "handler.h"

struct trace_analysis;
struct trace_process;

/** struct family_violation - a process that has, or gets, a dead parent; ns 0: there is none */
struct family_violation {
	uint64_t ns;
	uint32_t pid;
	uint32_t parent;
};

/** family_join() - @process is a child of its ppid, if that process is known */
void family_join(struct trace_analysis *a, struct trace_process *process);
/** family_leave() - @process is not anyone's child any more, and has no children */
void family_leave(struct trace_process *process);
/** family_check_fork() - process @parent_pid, which has ended by the state, has a child */
void family_check_fork(struct trace_analysis *a, uint32_t pid, uint32_t parent_pid, uint64_t ns);
/** family_verify() - after the pass: a living process has a living parent */
int family_verify(const struct trace_analysis *a, struct trace_error *ret_error);

event_handler on_sched_adopt;
#endif
