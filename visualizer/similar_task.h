/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef VISUALIZER_SIMILAR_TASK_H
#define VISUALIZER_SIMILAR_TASK_H
/* similar_task.h - the process or thread of a trace whose name was probably meant. */
#include <trace/analysis.h>

/**
 * similar_task() - the title or comm, of a process or thread, that is most similar to @name
 * Returns NULL if none is; else it is borrowed from @analysis.
 */
const char *similar_task(const struct trace_analysis *analysis, const char *name);
#endif
