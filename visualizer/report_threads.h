/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef VISUALIZER_REPORT_THREADS_H
#define VISUALIZER_REPORT_THREADS_H
/* report_threads.h - the table of the threads of a process. */
#include "report.h"

/**
 * report_threads() - a line for each thread of @process, with its name and its longest wait;
 * nothing if it has only one
 */
void report_threads(const struct report *report, const struct trace_process *process);
#endif
