/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef VISUALIZER_REPORT_PROCESSES_H
#define VISUALIZER_REPORT_PROCESSES_H
/* report_processes.h - the table of processes. */
#include "process_rows.h"

/** report_processes() - a line for each of @rows, or for a group of small ones of one name */
void report_processes(const struct report *report, const struct process_row *rows, size_t nr);
#endif
