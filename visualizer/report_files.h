/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef VISUALIZER_REPORT_FILES_H
#define VISUALIZER_REPORT_FILES_H
/* report_files.h - the table of files, for a process and for the machine. */
#include "report.h"

/**
 * report_files() - the files of @f
 * @whole_ns: 100 % for the time waited for a file
 * @max: maximum of rows, unless --top or --all choose another one
 */
void report_files(const struct report *report, const char *indent, const struct trace_figures *f, uint64_t whole_ns,
		  size_t max);
#endif
