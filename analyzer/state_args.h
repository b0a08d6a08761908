/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_STATE_ARGS_H
#define ANALYZER_STATE_ARGS_H
/* state_args.h - the arguments of processes, and their titles */
#include "handler.h"

struct trace_process;
struct late_args;

event_handler on_sched_args;
/** args_load() - start_args: of a process at the start, or of one when the recording ended */
void args_load(struct trace_analysis *a, const struct trace_event *event);
/** args_inherit() - @child is a copy of @parent */
void args_inherit(struct trace_process *child, const struct trace_process *parent);
/** args_forget() - @process executes another program */
void args_forget(struct trace_process *process);
/** args_end() - at the end of the pass: processes get the titles that were read then */
void args_end(struct trace_analysis *a);
#endif
