/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef VISUALIZER_REPORT_CRITICAL_PATH_H
#define VISUALIZER_REPORT_CRITICAL_PATH_H
/* report_critical_path.h - tracevisualizer --critical-path. */
#include "report.h"

/**
 * critical_path_begin() - before the pass: keep what --critical-path needs, in @report->history
 * Returns 0, or 1 or 2 after a message.
 */
int critical_path_begin(struct report *report);
/**
 * critical_path_of_command() - the thread of the recorded command, found in @report->history; NULL:
 * none
 * @ret_from_ns: where its run begins
 */
const struct trace_thread *critical_path_of_command(const struct report *report, uint64_t *ret_from_ns);
/**
 * critical_path_choose() - after the pass: the path of the thread that the options choose, cut to
 * the window of @report
 * Returns NULL after a message, or with the reason in @ret_error.
 */
struct trace_critical_path *critical_path_choose(const struct report *report, struct trace_error *ret_error);
/** path_row_text() - "sleep: timeout", "app 12 via futex /lock" ...: what a contributor is */
void path_row_text(const struct trace_contributor *row, char *text, size_t size);
/**
 * report_critical_path() - text, or JSON of schema trace-critical-path/1. Returns 0, or 1 after a
 * message
 */
int report_critical_path(const struct report *report);
#endif
