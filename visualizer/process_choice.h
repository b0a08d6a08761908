/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef VISUALIZER_PROCESS_CHOICE_H
#define VISUALIZER_PROCESS_CHOICE_H
/* process_choice.h - the processes that --pid, --tid, --comm and --cgroup choose. */
#include <stdbool.h>
#include <trace/analysis.h>
#include "visualizer_options.h"

#define COMM_BYTES 16 /* TASK_COMM_LEN of the kernel, which cuts longer names */
/**
 * comm_is() - true if @comm, of a process or thread, equals @name up to the length that the kernel
 * keeps
 */
bool comm_is(const char *comm, const char *name);
/** has_process_choice() - true if one of these options is given */
bool has_process_choice(const struct process_choice *choice);
/** process_is_chosen() - true if the options choose @process, or are absent */
bool process_is_chosen(const struct process_choice *choice, const struct trace_process *process);
#endif
