/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef VISUALIZER_REPORT_STRACE_H
#define VISUALIZER_REPORT_STRACE_H
/* report_strace.h - --strace: the system calls and signals of a trace as strace(1) writes them. */
#include "report.h"

/**
 * strace_begin() - before the pass; the lines are written during it
 * Returns 0, or 2 after a message.
 */
int strace_begin(struct report *report);
/** strace_end() - after the pass: the rest, and the table of -c. Returns 0, or 1 after a message */
int strace_end(struct report *report);
#endif
