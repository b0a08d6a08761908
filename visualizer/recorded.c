/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* recorded.c - which events a trace has: without them the absence of a figure means nothing. */
#include <stdlib.h>
#include <string.h>
#include "recorded.h"

bool has_recorded(const struct trace_analysis *analysis, uint32_t id)
{
	return trace_analysis_recorded(analysis, id) != TRACE_RECORDED_NEVER;
}

bool has_scheduling(const struct trace_analysis *analysis)
{
	uint64_t start, end;

	trace_analysis_window(analysis, &start, &end);
	/* after recording halts, some events may still come until their BPF program is released */
	return trace_analysis_halted_ns(analysis) < end - start;
}

bool has_interrupts(const struct trace_analysis *analysis)
{
	return has_recorded(analysis, TRACE_EV_irq_entry) || has_recorded(analysis, TRACE_EV_softirq_entry) ||
	       has_recorded(analysis, TRACE_EV_vector_entry);
}

bool is_left_out(const struct trace *trace, const char *what)
{
	const char *left_out = trace_string(trace, TRACE_STRING_INFO, TRACE_INFO_LEFT_OUT);

	return left_out && strcmp(left_out, what) == 0;
}

uint32_t chosen_pid(const struct trace *trace)
{
	const char *text = trace_string(trace, TRACE_STRING_INFO, TRACE_INFO_CHOSEN);

	return text ? (uint32_t)strtoul(text, NULL, 10) : 0;
}

bool is_unrecorded(const struct trace *trace, const struct trace_analysis *analysis, enum trace_category category)
{
	const struct trace_event_type *type;
	bool any = false;

	for (size_t i = 0; (type = trace_get_type(trace, i)); i++) {
		if (type->category != category || type->id >= TRACE_EV_MAX || strcmp(type->program, "NONE") == 0)
			continue;
		if (has_recorded(analysis, type->id))
			return false;
		any = true;
	}
	return any;
}
