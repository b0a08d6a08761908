/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef VISUALIZER_PROCESS_SUM_H
#define VISUALIZER_PROCESS_SUM_H
/* process_sum.h - the figures of several processes, added up. */
#include "report.h"

/**
 * struct own_wait - waits of one process for one of its threads
 * @thread: NULL: not known, or it has too many
 */
struct own_wait {
	const struct trace_thread *thread;
	uint64_t ns;
	bool idle;
};

/**
 * struct process_sum - figures of some processes
 * @user_ns ... @elapsed_ns: sums
 * @among_ns: waits of these processes for one another
 * @probe_ns: part of @system_ns: the cost of @probe_hits hits of probes
 * @event_ns: part of @user_ns: the cost of recording @event_records events of their own
 * @waits: owned: waits for other processes and things, longest first
 * @own: owned: the waits of one process for its own threads, longest first. In @waits they are one
 *     row, or one more for those that are idle
 * @holders: owned: the same for other processes on the CPU, and for idle CPUs that woke up
 */
struct process_sum {
	uint64_t user_ns, system_ns, interrupted_ns, wait_cpu_ns, blocked_ns, elapsed_ns;
	uint64_t among_ns, probe_hits, probe_ns, event_records, event_ns;
	struct trace_wait *waits;
	struct own_wait *own;
	struct trace_cpu_wait *holders;
	size_t nr, threads, nr_waits, nr_own, nr_holders;
	struct hash_table pids;		   /* rows of a key: pid_key() */
	struct hash_table waits_by_target; /* struct summed_wait */
	struct hash_table own_by_thread;   /* struct summed_own */
	struct hash_table holders_by_pid;  /* struct summed_holder */
	struct strings targets, vias;	   /* strings of @waits_by_target */
};
/** process_sum_new() - the sum of @processes, of struct trace_process */
struct process_sum process_sum_new(const struct report *report, const struct pointers *processes);
void process_sum_clear(struct process_sum *sum);
#endif
