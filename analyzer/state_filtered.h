/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_STATE_FILTERED_H
#define ANALYZER_STATE_FILTERED_H
/* state_filtered.h - processes without recorded events, because a filter excluded them */
#include <stdbool.h>
#include "hash_table.h"

struct trace_analysis;
struct trace_process;

struct process_filter {
	bool is_on;		   /* only events of some processes were recorded */
	struct hash_table passing; /* pid + 1 of the recorded processes */
	struct hash_table hidden;  /* those of them that the filter does not select now, or not yet */
	struct hash_table woken;   /* tid + 1 of threads that did not run when the trace began */
};

/** filtered_prepare() - before the pass: find the processes without recorded events */
int filtered_prepare(struct trace_analysis *a);

/** filtered_hide() - @process is not selected from now on; @hides false: it is */
void filtered_hide(struct trace_analysis *a, const struct trace_process *process, bool hides);

/** filtered_slept() - was @tid woken before any event showed it on a CPU? */
bool filtered_slept(const struct process_filter *filter, uint32_t tid);

/** filtered_hides() - were the events of @process not recorded? */
bool filtered_hides(const struct process_filter *filter, const struct trace_process *process);
#endif
