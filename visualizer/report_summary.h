/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef VISUALIZER_REPORT_SUMMARY_H
#define VISUALIZER_REPORT_SUMMARY_H
/* report_summary.h - the summary of the original: -s, and a part of -a. */
#include "report.h"

/** report_summary() - the times, the numbers of events, and what is missing */
void report_summary(const struct report *report);
#endif
