/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef VISUALIZER_REPORT_WORK_H
#define VISUALIZER_REPORT_WORK_H
/* report_work.h - deferred work of the kernel, and the processes that it is for. */
#include "json.h"
#include "report.h"

/** report_work() - a line for each kind of work and process; nothing if no work was recorded */
void report_work(const struct report *report);
/** json_work() - the key deferred_work */
void json_work(struct json *json, const struct report *report);
#endif
