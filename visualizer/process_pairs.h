/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef VISUALIZER_PROCESS_PAIRS_H
#define VISUALIZER_PROCESS_PAIRS_H
/* process_pairs.h - the waits of processes for other processes, as pairs. */
#include <stddef.h>
#include <trace/analysis.h>

/** struct process_pair - a process waited for another one */
struct process_pair {
	const struct trace_process *waiter;
	struct trace_wait wait;
};
/** process_pairs() - the pairs, longest time first; the caller frees them */
struct process_pair *process_pairs(const struct trace_analysis *analysis, size_t *ret_nr);
#endif
