/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_STATE_FAMILY_H
#define ANALYZER_STATE_FAMILY_H
/* state_family.h - parents and children of processes */
#include "handler.h"

struct trace_analysis;
struct trace_process;

/** family_join() - @process is a child of its ppid, if that process is known */
void family_join(struct trace_analysis *a, struct trace_process *process);
/** family_leave() - @process is not anyone's child any more, and has no children */
void family_leave(struct trace_process *process);

event_handler on_sched_adopt;
#endif
