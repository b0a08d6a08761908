/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef VISUALIZER_PASS_PROGRESS_H
#define VISUALIZER_PASS_PROGRESS_H
/*
 * pass_progress.h - how far a pass over the trace is, on the terminal: progress_line.h
 *
 * A pass of an analysis has a hook for that, but only if stderr is a terminal; so the analysis of a
 * script costs the same without it. complain() and memory_end() erase the line.
 */
#include <trace/analysis.h>
#include "progress_line.h"

/** pass_progress_watch() - before the pass of @analysis; @what: borrowed, "tracevisualizer: ..." */
void pass_progress_watch(struct trace_analysis *analysis, const char *what);
/** pass_progress_of_file() - for output that is written meanwhile: nothing, if it is no file */
struct work_progress pass_progress_of_file(int fd, const char *what);
#endif
