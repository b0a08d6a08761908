/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_REPORT_H
#define ANALYZER_REPORT_H
/* report.h - the outputs of tracevisualizer, and what they share: which processes in which order, and how values are written. */
#include <stdbool.h>
#include <stdio.h>
#include <trace/analysis.h>
#include <trace/critical_path.h>
#include <trace/reader.h>
#include <trace/servers.h>
#include "options.h"

struct report {
	const struct trace *trace;
	struct trace_analysis *analysis; /* NULL for lists */
	struct trace_servers *servers;	 /* the same */
	struct trace_history *history;	 /* of --critical-path, else NULL */
	const struct options *options;
	FILE *out;
	bool colour;
};

/** report_json() - schema trace-summary/1. The reports return 0, or -ENOMEM. */
int report_json(struct report *report);
/** report_text() - the verdict, the classic summary, and the time of every process */
int report_text(struct report *report);
/** report_summary() - times and numbers of events */
void report_summary(struct report *report);
/** report_list() - one line per event. 0, or 2 after a message: a name that is no event */
int report_list(struct report *report);

/** critical_path_begin() - before the pass: keep what --critical-path will need. 0, or 1 after a message */
int critical_path_begin(struct report *report);
/** report_critical_path() - text, or JSON of schema trace-critical-path/1. 0, -ENOMEM, or 1 after a message */
int report_critical_path(struct report *report);

/* ---- which processes ---- */

struct process_row {
	const struct trace_process *process;
	uint64_t elapsed_ns, user_ns, system_ns, interrupted_ns, wait_cpu_ns, blocked_ns;
	bool folded; /* a kernel thread, or one that did nothing: one line for all of them, unless --all */
};

/** process_rows() - those that the options ask for, sorted; owned by the caller. NULL: out of memory */
struct process_row *process_rows(const struct report *report, size_t *ret_nr);

/* ---- how values are written ---- */

struct text { /* room for one formatted value */
	char bytes[64];
};

/** text_ns() - "1.234 ms", or "1234567" with --ns */
const char *text_ns(const struct report *report, uint64_t ns, struct text *text);
const char *text_bytes(const struct report *report, uint64_t bytes, struct text *text);
/** text_name() - a name for a terminal: control characters and invalid UTF-8 come out as \xNN. Cut to @size. Returns @buffer. */
const char *text_name(const char *name, char *buffer, size_t size);
/** report_json_string() - quoted and escaped */
void report_json_string(FILE *out, const char *text);
double percent(uint64_t part, uint64_t whole);
#endif
