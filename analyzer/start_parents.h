/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_START_PARENTS_H
#define ANALYZER_START_PARENTS_H
/* start_parents.h - parents of the start state that may have adopted before it was read */
#include "hash_table.h"

struct trace_analysis;
struct trace_event;

/** struct start_parents - the processes that begin in the pass of start_changes.c */
struct start_parents {
	struct hash_table born; /* born_row */
};

/** start_parents_fork() - a sched_fork of the pass */
void start_parents_fork(struct trace_analysis *a, struct start_parents *parents, const struct trace_event *event);
/** start_parents_adopt() - a sched_adopt of the pass */
void start_parents_adopt(struct trace_analysis *a, struct start_parents *parents, const struct trace_event *event);
/** start_parents_forget() - after the pass: parents are unknown until the last adoption */
void start_parents_forget(struct trace_analysis *a);
void start_parents_clear(struct start_parents *parents);
#endif
