/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef VISUALIZER_ANSWER_PATH_H
#define VISUALIZER_ANSWER_PATH_H
/* answer_path.h - the thread of a command, or the one with the most work, and its critical path. */
#include "process_rows.h"
#include "report.h"

/**
 * answer_thread() - of the command; without a command, or with chosen processes, the thread in
 * @rows with the most work; NULL: none
 * @ret_from_ns: its path does not begin before: the command's does not begin before its run
 */
const struct trace_thread *answer_thread(const struct report *report, const struct process_row *rows, size_t nr,
					 uint64_t *ret_from_ns, bool *ret_of_command);
/**
 * answer_path_of() - its path in a part of the trace, which the caller frees
 * Returns NULL if @thread is NULL or has no time there.
 */
struct trace_critical_path *answer_path_of(const struct report *report, const struct trace_thread *thread,
					   uint64_t from_ns, uint64_t to_ns);
#endif
