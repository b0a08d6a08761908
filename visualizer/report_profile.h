/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef VISUALIZER_REPORT_PROFILE_H
#define VISUALIZER_REPORT_PROFILE_H
/* report_profile.h - --profile: the elapsed time of the chosen threads by function */
#include "report.h"

/**
 * report_profile() - print the report, as text or JSON; after the pass. Returns 0, or 1 after a
 * message
 */
int report_profile(const struct report *report);
#endif
