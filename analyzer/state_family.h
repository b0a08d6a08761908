/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_STATE_FAMILY_H
#define ANALYZER_STATE_FAMILY_H
/* state_family.h - parents and children of processes */
#include <stdint.h>
#include "handler.h"

struct trace_analysis;
struct trace_process;
struct trace_thread;

/** family_join() - @process is a child of its ppid, if that process is known */
void family_join(struct trace_analysis *a, struct trace_process *process);
/** family_found() - @process, which the start state lacks, gets its children of the start state */
void family_found(struct trace_analysis *a, struct trace_process *process);
/** family_forget() - the parent of @process is unknown until family_adopted() */
void family_forget(struct trace_process *process);
/** family_adopted() - @process has had the parent @ppid since @ns */
void family_adopted(struct trace_analysis *a, struct trace_process *process, uint64_t ns, uint32_t ppid);
/** family_leave() - @process is not anyone's child any more, and has no children */
void family_leave(struct trace_process *process);

/**
 * family_thread_ends() - @thread has ended: if no thread of its process lives, its children get
 * another parent
 */
void family_thread_ends(struct trace_analysis *a, const struct trace_thread *thread, uint64_t ns);
/** family_signalled() - @thread, which exits, has sent SIGCHLD to the process @to */
void family_signalled(struct trace_analysis *a, const struct trace_thread *thread, const struct trace_process *to,
		      uint64_t ns);
/**
 * family_end() - the last thread of @process has ended: the parent of children that no event has
 * given to another process is not known
 */
void family_end(struct trace_analysis *a, struct trace_process *process, uint64_t ns);

event_handler on_sched_adopt;
#endif
