/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef VISUALIZER_REPORT_USER_H
#define VISUALIZER_REPORT_USER_H
/* report_user.h - the part of the reports about programs' own events. */
#include "json.h"
#include "report.h"

/**
 * report_user() - the tables of events, scopes and requests; nothing for a trace without such
 * events
 */
void report_user(const struct report *report);
/** report_user_has_any() - true if the chosen processes have such events */
bool report_user_has_any(const struct report *report);
/** report_user_json() - keys user_events and spans */
void report_user_json(struct json *json, const struct report *report);
struct trace_span;
/** report_user_json_spans() - the key spans of these rows, without their waits */
void report_user_json_spans(struct json *json, const struct trace_analysis *analysis, const struct trace_span *spans,
			    size_t nr);
#endif
