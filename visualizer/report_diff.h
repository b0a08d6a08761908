/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef VISUALIZER_REPORT_DIFF_H
#define VISUALIZER_REPORT_DIFF_H
/* report_diff.h - tracevisualizer --diff A B. */
#include "report.h"

/**
 * report_diff() - compare two analyzed traces; text, or JSON of schema trace-diff/1
 * @sides: the two reports; the output is that of the first
 */
void report_diff(const struct report *sides);
#endif
