/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef VISUALIZER_REPORT_H
#define VISUALIZER_REPORT_H
/*
 * report.h - the state of one run of tracevisualizer: what was read, what was chosen, and where the
 * report goes.
 *
 * A report is a function of this state. Most helpers need one part only, and take that part: the
 * output (text_output.h), the choice of processes, rows or time (visualizer_options.h), the trace
 * and its analysis, or the recorded command (report_command.h). Functions of reports return no
 * error for lack of memory: the program ends (checked_memory.h). A new output, such as a web page
 * or another file format, is a folder of its own below this one, and takes the same parts.
 */
#include <trace/analysis.h>
#include <trace/critical_path.h>
#include <trace/profile.h>
#include <trace/reader.h>
#include <trace/servers.h>
#include <trace/user_events.h>
#include "report_command.h"
#include "text_output.h"
#include "visualizer_options.h"

struct disk_figures;
struct only_client;
struct slowest;
struct strace;
struct trace_symbols;
struct report_file;
struct timeline_output;
struct wait_places;

/**
 * struct report - all that a report may use
 * @window: of --from, --to and --around
 * @is_windowed: the figures of @analysis, @user and @disks are those of the window. Servers have
 *     none: a report leaves them out
 * @analysis, @servers, @user, @history, @profile: owned; NULL if the chosen reports do not need
 *     them
 * @disks: owned; for -a and --json, else NULL
 * @slowest: for --slowest, else NULL; borrowed
 * @timeline: owned; for --timeline, else NULL
 * @strace: owned; for --strace, else NULL
 * @only_clients: without @servers: what only_client_of() tells; borrowed
 * @symbols: borrowed; names of code, kept longer than the report. NULL: the report has its own
 * @places: owned; where in the code threads waited; NULL: the trace does not tell, or no report
 *     asks
 * @file: the file behind @output, if it is one: report_file.h; owned by the stream
 */
struct report {
	const struct visualizer_options *options;
	const struct trace *trace;
	struct time_window window;
	bool is_windowed;
	struct trace_analysis *analysis;
	struct trace_servers *servers;
	const struct only_client *only_clients;
	size_t nr_only_clients;
	struct trace_user_events *user;
	struct trace_history *history;
	struct trace_profile *profile;
	struct profile_within *within;	 /* owned; the profile is of nothing else; NULL: of all */
	struct profile_clients *clients; /* owned; the labels of @profile; NULL: it has none */
	struct trace_symbols *symbols;
	struct wait_places *places;
	struct report_command command;
	struct disk_figures *disks;
	struct slowest *slowest;
	struct timeline_output *timeline;
	struct strace *strace;
	struct text_output output;
	struct report_file *file;
	bool is_for_page; /* the list of processes is cut where it would be too long for a browser */
};

/**
 * report_check_memory() - end the program if the analysis, the servers or the user events lacked
 * memory
 */
void report_check_memory(const struct report *report);
/**
 * report_has() - true if -a has this part
 * Servers are of the whole recording only, so that a window of it has none.
 */
static inline bool report_has(const struct report *report, enum section section)
{
	return section_is_chosen(report->options, section) && !(report->is_windowed && section == SECTION_SERVERS);
}
#endif
