/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef VISUALIZER_REPORT_SECTIONS_H
#define VISUALIZER_REPORT_SECTIONS_H
/* report_sections.h - the machine-wide tables. */
#include "report.h"

/**
 * report_sections() - kinds of waits, files, locks, pairs of processes, interrupts, devices; @f:
 * figures of the system
 */
void report_sections(const struct report *report, const struct trace_figures *f);
/** report_locks() - the locks alone, of the chosen processes */
void report_locks(const struct report *report);
#endif
