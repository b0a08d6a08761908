/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef VISUALIZER_REPORT_JSON_H
#define VISUALIZER_REPORT_JSON_H
/* report_json.h - the summary as JSON. */
#include "report.h"

/** report_json() - JSON of schema trace-summary/1 */
void report_json(const struct report *report);
#endif
