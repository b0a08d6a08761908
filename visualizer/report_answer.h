/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef VISUALIZER_REPORT_ANSWER_H
#define VISUALIZER_REPORT_ANSWER_H
/* report_answer.h - tracevisualizer without options: the answer on one screen. */
#include "report.h"

/** answer_begin() - before the pass: keep what the critical path needs, if the trace has it */
void answer_begin(struct report *report);
/** report_answer() - at most 23 lines on a terminal of 80 columns, and what to type next */
void report_answer(const struct report *report);
#endif
