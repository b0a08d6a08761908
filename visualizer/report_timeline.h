/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef VISUALIZER_REPORT_TIMELINE_H
#define VISUALIZER_REPORT_TIMELINE_H
/* report_timeline.h - tracevisualizer --timeline. */
#include "report.h"

/**
 * timeline_check() - before any output: 0 if there is something to show, or 1 or 2 after a message
 */
int timeline_check(const struct report *report);
/**
 * timeline_choose() - show the processes that the options choose by all that is known of them
 * @before: an earlier pass of the same trace
 */
void timeline_choose(struct report *report, const struct trace_analysis *before);
/**
 * timeline_begin() - before the pass, which writes the timeline to the output of @report as it
 * reads
 */
void timeline_begin(struct report *report);
/** timeline_end() - after the pass: write the rest */
void timeline_end(const struct report *report);
struct timeline_output *timeline_free(struct timeline_output *timeline); /* NULL is fine; returns NULL */
#endif
