/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef VISUALIZER_REPORT_PROFILE_DIFF_H
#define VISUALIZER_REPORT_PROFILE_DIFF_H
/* report_profile_diff.h - --profile --diff A B: the difference of each function. */
#include "report.h"

/**
 * report_profile_diff() - text, or JSON of schema trace-profile-diff/1
 * @sides: analyzed, with profiles; the output is that of the first. Returns 0, or 1 after a message
 */
int report_profile_diff(const struct report *sides);
#endif
