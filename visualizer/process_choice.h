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
/** thread_has_choice() - true if @thread has the number and names that the options say */
bool thread_has_choice(const struct process_choice *choice, const struct trace_thread *thread);
/**
 * process_choice_is_known() - after the analysis: true if a process or thread is called as @choice
 * says, or if it has no name
 * If not, and if process_choice_is_in_args(), users of @choice set in_args: the name then chooses
 * as pgrep -f.
 */
bool process_choice_is_known(const struct process_choice *choice, const struct trace_analysis *analysis);
bool process_choice_is_in_args(const struct process_choice *choice, const struct trace_analysis *analysis);
/** has_process_choice() - true if one of these options is given */
bool has_process_choice(const struct process_choice *choice);
/** process_is_chosen() - true if the options choose @process, or are absent */
bool process_is_chosen(const struct process_choice *choice, const struct trace_process *process);
#endif
