/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef VISUALIZER_REPORT_OVERVIEW_H
#define VISUALIZER_REPORT_OVERVIEW_H
/* report_overview.h - the first paragraphs of a report. */
#include "process_rows.h"

/**
 * report_overview() - about the chosen processes or the command, and about the machine
 */
void report_overview(const struct report *report, const struct process_row *rows, size_t nr,
		     const struct trace_figures *system);
/**
 * report_overview_of_programs() - the same for a trace without kernel events; @any: programs
 * recorded some events
 */
void report_overview_of_programs(const struct report *report, bool any);
#endif
