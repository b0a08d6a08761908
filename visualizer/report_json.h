/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef VISUALIZER_REPORT_JSON_H
#define VISUALIZER_REPORT_JSON_H
/* report_json.h - the summary as JSON. */
#include "json.h"
#include "report.h"

/** report_json() - JSON of schema trace-summary/1 */
void report_json(const struct report *report);
/**
 * report_json_head() - the begin of that, up to the name of the file: all that follows is the same
 * for a trace of another name
 */
struct json report_json_head(FILE *out, const struct trace *trace);
/**
 * report_json_calls() - the keys syscalls, kernel_work and traps of a process, in the open object
 * report_json_files() - files
 * report_json_locks() - locks
 */
void report_json_calls(struct json *json, const struct report *report, const struct trace_figures *f);
void report_json_files(struct json *json, const struct report *report, const struct trace_figures *f);
void report_json_locks(struct json *json, const struct trace_lock_wait *locks, size_t nr);
#endif
