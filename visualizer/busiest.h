/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef VISUALIZER_BUSIEST_H
#define VISUALIZER_BUSIEST_H
/*
 * busiest.h - the thread with the most work, for a recording without a command.
 *
 * Work is CPU time, and waits for a CPU, for files, hosts, memory, quota and other processes. No
 * work are idle waits, timeouts, and waits for descendants, as those of make, a shell, or a
 * supervisor that reads the output of its jobs. A process that never had a CPU has no work,
 * whatever it waits for: no event shows that the wait has to do with the time that was recorded.
 *
 * The recorder, tracedaemon, comes last: it waits for a CPU that those have which it records.
 *
 * In a recording of a whole machine, a process that waited in half of the time for answers over
 * sockets, files, hosts, memory or quota comes before those that computed: which processes had the
 * CPUs is in a table of its own.
 */
#include "process_rows.h"
#include "report.h"

/** busiest_thread() - of the processes in @rows, the one of tracedaemon -P first; NULL: none */
const struct trace_thread *busiest_thread(const struct report *report, const struct process_row *rows, size_t nr);
/** busiest_sort() - order @threads by their work in the whole recording, most first */
void busiest_sort(const struct report *report, const struct trace_thread **threads, size_t nr);
/**
 * busiest_group() - the threads that have the work of @process in parts, those of a server that
 * begins one for each request: at most @max into @threads, those with most work
 * Returns their number; 0: one thread has half of the work, or more.
 */
size_t busiest_group(const struct report *report, const struct trace_process *process,
		     const struct trace_thread **threads, size_t max);
#endif
