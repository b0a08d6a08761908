/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef VISUALIZER_REPORT_PROFILE_BY_H
#define VISUALIZER_REPORT_PROFILE_BY_H
/* report_profile_by.h - --by: the table of a profile by chosen keys */
#include "profile_rows.h"
#include "report.h"

void profile_by_put(const struct report *report, const struct profile_rows *rows);
#endif
