/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_WORK_SUMS_H
#define ANALYZER_WORK_SUMS_H
/* work_sums.h - what deferred work of the kernel costs, and for which process: work_sums.c. */
#include <stdbool.h>
#include <stdint.h>
#include "handler.h"
#include "hash_table.h"

struct cpu;
struct trace_analysis;
struct trace_thread;

struct work_sums {
	struct hash_table rows; /* work_sum_row */
	struct hash_table runs; /* work_run_row: by worker */
};

/**
 * work_run_begin() - the worker on @cpu begins to execute work
 * @queuer: the thread that queued it; NULL: an interrupt did, or it is not known
 */
void work_run_begin(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, uint64_t func,
		    const struct trace_thread *queuer);
/** work_run_issues() - true if a worker on @cpu executes work, and so issues a request */
bool work_run_issues(struct trace_analysis *a, const struct cpu *cpu);
/** work_run_began() - when the worker with this trace_thread_index() began its work; 0: never */
uint64_t work_run_began(const struct trace_analysis *a, uint32_t thread);
void work_run_end(struct trace_analysis *a, struct cpu *cpu, uint64_t ns);

/** work_sums_edge() - the pass is at @ns, the begin of the window, or its end: is_past_window */
void work_sums_edge(struct trace_analysis *a, uint64_t ns);
void work_sums_clear(struct work_sums *sums);

event_handler on_fs_writeback;
#endif
