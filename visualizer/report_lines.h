/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef VISUALIZER_REPORT_LINES_H
#define VISUALIZER_REPORT_LINES_H
/* report_lines.h - --lines: a source with the time of each line. */
#include "profile_lines.h"

/** report_lines() - the lines of a source, from profile_lines_of(), as text */
void report_lines(const struct report *report, const struct pointers *lines);
#endif
