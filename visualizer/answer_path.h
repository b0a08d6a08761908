/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef VISUALIZER_ANSWER_PATH_H
#define VISUALIZER_ANSWER_PATH_H
/* answer_path.h - the critical path that the first answer is about. */
#include "process_rows.h"
#include "report.h"

/**
 * answer_path() - of the command's thread; without a command, or with chosen processes, of the
 * thread in @rows with the most work
 * @from_ns, @to_ns: a part of the trace; the path of the command does not begin before its run
 * @ret_of_command: may be false
 * Returns NULL if no such thread has time in the window. The caller frees the path.
 */
struct trace_critical_path *answer_path(const struct report *report, const struct process_row *rows, size_t nr,
					uint64_t from_ns, uint64_t to_ns, bool *ret_of_command);
/**
 * answer_thread() - its thread; NULL: none. answer_path_of(): a path of it, or NULL
 * @ret_from_ns: the path does not begin before
 */
const struct trace_thread *answer_thread(const struct report *report, const struct process_row *rows, size_t nr,
					 uint64_t *ret_from_ns, bool *ret_of_command);
struct trace_critical_path *answer_path_of(const struct report *report, const struct trace_thread *thread,
					   uint64_t from_ns, uint64_t to_ns);
#endif
