/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * report_summary.c - the summary of the original: the times of the trace, the numbers of events,
 * and what is missing.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h> /* MAX() */
#include "losses.h"
#include "number_text.h"
#include "recorded.h"
#include "report_summary.h"

static void seconds(const struct text_output *output, const char *label, uint64_t ns)
{
	output_line(output, "", "%s: (%" PRIu64 ", %" PRIu64 ")", label, ns / 1000000000, ns / 1000 % 1000000);
}

/* The events that each line of the original counts. */
static const struct {
	const char *label;
	uint32_t ids[3];
} counted[] = {
	{"Scheduling changes", {TRACE_EV_sched_switch}},
	{"Kernel timer tics", {TRACE_EV_vector_entry}},
	{"System call entries", {TRACE_EV_sys_enter, TRACE_EV_sys_enter3, TRACE_EV_sys_enter6}},
	{"System call exits", {TRACE_EV_sys_exit}},
	{"Trap entries", {TRACE_EV_fault_entry}},
	{"Trap exits", {TRACE_EV_fault_exit}},
	{"IRQ entries", {TRACE_EV_irq_entry}},
	{"IRQ exits", {TRACE_EV_irq_exit}},
	{"Bottom halves", {TRACE_EV_softirq_entry}},
	{"Timer expiries", {TRACE_EV_timer_expire, TRACE_EV_hrtimer_expire}},
	{"Page allocations", {TRACE_EV_page_alloc}},
	{"Page frees", {TRACE_EV_page_free}},
	{"Packets Out", {TRACE_EV_net_tx}},
	{"Packets In", {TRACE_EV_net_rx}},
};

/* A paragraph. */
#define put_note(report, ...) (fputs("\n", (report)->output.out), output_line(&report->output, "", __VA_ARGS__))

static void put_unrecorded(const struct report *report)
{
	bool scheduling = has_scheduling(report->analysis);
	struct string names = {0};

	if (scheduling && !trace_analysis_sees_wakeups(report->analysis))
		put_note(report, "Wakeups were not recorded, or not all of the time: while a thread was not on a CPU, "
				 "it is unknown whether it waited for a CPU or for something else.");
	if (scheduling && !trace_analysis_sees_calls(report->analysis))
		put_note(report, "System calls were not recorded, or not all of the time, or without their entries or "
				 "exits: for time on a CPU it is unknown which part was in a thread's own code, and "
				 "which in the kernel.");
	if (scheduling && !trace_analysis_sees_traps(report->analysis))
		put_note(report, "Page faults were not recorded, or not all of the time: their time counts as that of "
				 "the code in which they occurred.");
	if (scheduling && !trace_analysis_sees_interrupts(report->analysis))
		put_note(report, "Interrupts were not recorded, or not all of them: their time counts as that of the "
				 "running thread.");
	for (enum trace_category category = 0; category < TRACE_NR_CATEGORIES; category++)
		if (is_unrecorded(report->trace, report->analysis, category))
			string_addf(&names, "%s%s", names.len ? ", " : "", trace_category_name(category));
	if (names.len)
		put_note(report, "Not recorded, and so not in this report (categories of events): %s.",
			 string_text(&names));
	string_free(&names);
}

/* @what may contain a path with arbitrary bytes. */
static void put_not_traced(const struct text_output *output, const char *what, bool first)
{
	size_t bytes = 4 * strlen(what) + 1; /* \xNN is the longest form of a byte */
	char *name = memory_take(bytes, 1);

	fputs(first ? "\n" : "", output->out);
	output_line(output, "", "Not traced: %s", text_name(what, name, bytes));
	free(name);
}

static void put_losses(const struct report *report)
{
	uint64_t contradictions = trace_analysis_inconsistencies(report->analysis),
		 halted = trace_analysis_halted_ns(report->analysis);
	uint64_t overwritten = losses_of(report->trace).overwritten, older = losses_older(report->trace);
	struct losses_text lost;
	struct value_text t;
	size_t gaps;

	losses_lost(report->trace, report->analysis, &gaps);
	if (overwritten)
		put_note(report,
			 "%s older event%s overwritten: the report covers the time for which the flight "
			 "recorder had the events of all CPUs.",
			 number_count(overwritten).s, overwritten == 1 ? " was" : "s were");
	if (older)
		put_note(report, "Only -d shows the %s older event%s of some CPUs and of programs.",
			 number_count(older).s, older == 1 ? "" : "s");
	if (contradictions)
		put_note(report,
			 "%s inconsistenc%s: an event contradicts the state of its thread, because events "
			 "before it are missing without a gap, or were filtered.",
			 number_count(contradictions).s, contradictions == 1 ? "y" : "ies");
	if (gaps)
		put_note(report, "Lost: %s in %zu gap%s; the affected times are counted as unknown.",
			 losses_text(report->trace, report->analysis, &lost), gaps, gaps == 1 ? "" : "s");
	if (halted && !is_left_out(report->trace, TRACE_LEFT_OUT_KERNEL))
		put_note(report,
			 "For %s no scheduling changes were recorded, because recording was halted or the event was "
			 "not enabled: that time is unknown.",
			 text_ns(&report->output, halted, &t));
	put_unrecorded(report);
	for (size_t i = 0; trace_not_traced(report->trace, i); i++)
		put_not_traced(&report->output, trace_not_traced(report->trace, i), !i);
}

/* The ids are variants of one event: one recorded id is enough. */
static void put_count(const struct report *report, const char *label, const uint32_t *ids)
{
	enum trace_recorded recorded = TRACE_RECORDED_NEVER;
	uint64_t nr = 0;

	for (int i = 0; i < 3 && ids[i]; i++) {
		nr += trace_analysis_count(report->analysis, ids[i]);
		recorded = MAX(recorded, trace_analysis_recorded(report->analysis, ids[i]));
	}
	if (!nr && recorded == TRACE_RECORDED_NEVER)
		output_line(&report->output, "\t", "%s: not recorded", label);
	else
		output_line(&report->output, "\t", "%s: %" PRIu64 "%s", label, nr,
			    recorded == TRACE_RECORDED_PARTLY ? ", not recorded all the time" : "");
}

void report_summary(const struct report *report)
{
	const struct trace_info *info = trace_get_info(report->trace);
	const char *recorder = trace_string(report->trace, TRACE_STRING_INFO, TRACE_INFO_RECORDER);
	uint64_t start, end, events = 0, offset, own = 0;
	struct wall_text wall;

	if (recorder && *recorder)
		output_line(&report->output, "", "Recorded by: %s", recorder);
	trace_analysis_window(report->analysis, &start, &end);
	offset = info->start_realtime_ns ? info->start_realtime_ns - info->start_ns : 0;
	seconds(&report->output, "Trace start time", start + offset);
	seconds(&report->output, "Trace end time", end + offset);
	seconds(&report->output, "Trace duration", end - start);
	if (*wall_range_text(report->trace, start, end, &wall))
		output_line(&report->output, "", "Wall clock: %s", wall.bytes);
	for (uint32_t id = 0; id < TRACE_EV_MAX; id++) {
		const struct trace_event_type *type = trace_type_by_id(report->trace, id);
		uint64_t nr = trace_analysis_count(report->analysis, id);

		/* made by the reader, or part of the start state */
		if (id == TRACE_EV_trace_lost || (type && type->category == TRACE_CATEGORY_START))
			continue;
		events += nr;
		own += type && type->category == TRACE_CATEGORY_TRACE ? nr : 0;
	}
	fputs("\nNumber of occurences of:\n", report->output.out);
	if (own)
		output_line(&report->output, "\t", "Events: %" PRIu64 ", %" PRIu64 " of them about the recording",
			    events, own);
	else
		output_line(&report->output, "\t", "Events: %" PRIu64, events);
	for (size_t i = 0; i < sizeof(counted) / sizeof(counted[0]); i++)
		put_count(report, counted[i].label, counted[i].ids);
	put_losses(report);
}
