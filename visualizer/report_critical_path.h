/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef VISUALIZER_REPORT_CRITICAL_PATH_H
#define VISUALIZER_REPORT_CRITICAL_PATH_H
/* report_critical_path.h - tracevisualizer --critical-path. */
#include "report.h"

/** path_row_text() - "sleep: timeout", "app 12 via futex /lock" ...: what a contributor is */
void path_row_text(const struct trace_contributor *row, char *text, size_t size);
/**
 * report_critical_path() - text, or JSON of schema trace-critical-path/1. Returns 0, or 1 after a
 * message
 */
int report_critical_path(const struct report *report);
#endif
