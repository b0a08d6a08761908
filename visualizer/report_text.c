/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * report_text.c - the text summary: the labels and the order of the original, and what each process
 * waited for, which the original could not know.
 *
 * The order is from the general to the particular. First come the first paragraph
 * (report_overview.c), the CPUs, a line for each process, and the machine by files, locks and so on
 * (report_sections.c). The parts of the original follow: the numbers of events, a page for each
 * process, the whole system.
 */
#include <stdlib.h>
#include "checked_figures.h"
#include "losses.h"
#include "process_choice.h"
#include "recorded.h"
#include "report_cpus.h"
#include "report_groups.h"
#include "report_overview.h"
#include "report_pages.h"
#include "report_probes.h"
#include "report_processes.h"
#include "report_sections.h"
#include "report_servers.h"
#include "report_summary.h"
#include "report_text.h"
#include "report_user.h"
#include "report_work.h"
#include "value_text.h"

/* The trace has no kernel events: processes, CPUs and waits are unknown. */
static void programs_alone(const struct report *report)
{
	bool any = report_user_has_any(report);

	report_overview_of_programs(report, any);
	report_user(report);
	report_summary(report);
}

/* From when to when the report is, by the wall clock. */
static void put_range(const struct report *report)
{
	const struct trace_info *info = trace_get_info(report->trace);
	struct value_text part, whole;
	uint64_t start, end;
	struct wall_text wall;

	trace_analysis_window(report->analysis, &start, &end);
	if (*wall_range_text(report->trace, start, end, &wall))
		output_line(&report->output, "", "%s", wall.bytes);
	if (report->is_windowed)
		output_line(&report->output, "", "A window of %s of the trace's %s. Not in a window: servers.",
			    text_ns(&report->output, end - start, &part),
			    text_ns(&report->output, info->end_ns - info->complete_from_ns, &whole));
}

/* Every report says what is missing, also one without the first paragraphs. */
static void losses_alone(const struct report *report)
{
	struct string s = {0};

	losses_sentence(&s, report->trace, report->analysis);
	if (s.len)
		output_paragraph(&report->output, string_text(&s));
	string_free(&s);
}

/* A report of hundreds of lines: what it has, and how to see one part. A pipe gets none. */
static void contents(const struct report *report)
{
	if (!report->output.width || report->options->sections)
		return;
	output_line(&report->output, "", "Sections (--section=NAME,...): %s", SECTIONS);
	fputs("\n", report->output.out);
}

static void figures_of_all(const struct report *report, const struct process_row *rows, size_t nr)
{
	if (has_scheduling(report->analysis)) {
		if (report_has(report, SECTION_CPUS))
			report_cpus(report);
		if (report_has(report, SECTION_PROCESSES))
			report_processes(report, rows, nr);
		if (report_has(report, SECTION_GROUPS))
			report_groups(report, rows, nr);
	}
	if (report_has(report, SECTION_SERVERS))
		report_servers(report);
	if (report_has(report, SECTION_PROGRAMS))
		report_user(report);
	if (report_has(report, SECTION_PROBES)) {
		report_probes(report);
		report_event_costs(report);
	}
}

/* The parts of the original. */
static void classic(const struct report *report, const struct process_row *rows, size_t nr,
		    const struct trace_figures *system)
{
	if (report_has(report, SECTION_EVENTS)) {
		report_summary(report);
		fputs("\n", report->output.out);
	}
	if (report_has(report, SECTION_DETAILS)) {
		report_pages(report, rows, nr);
		report_system_page(report, system);
	}
}

void report_text(const struct report *report)
{
	const struct visualizer_options *options = report->options;
	struct trace_figures *system;
	struct process_row *rows;
	size_t nr;

	put_range(report);
	if (is_left_out(report->trace, TRACE_LEFT_OUT_KERNEL)) {
		programs_alone(report);
		return;
	}
	rows = process_rows(report, &nr);
	system = checked_figures(trace_system_figures(report->analysis));
	if (options->sections)
		losses_alone(report);
	else
		report_overview(report, rows, nr, system);
	contents(report);
	figures_of_all(report, rows, nr);
	if (!has_process_choice(&options->processes)) {
		report_sections(report, system);
		if (report_has(report, SECTION_WORK))
			report_work(report);
	} else if (report_has(report, SECTION_LOCKS)) {
		report_locks(report);
	}
	classic(report, rows, nr, system);
	trace_figures_free(system);
	free(rows);
}
