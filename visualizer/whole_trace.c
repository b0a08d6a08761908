/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* whole_trace.c - figures of the whole trace, of which the file may be a part. */
#include <stdlib.h>
#include "whole_trace.h"

static const char *part_text(const struct trace *trace)
{
	return trace_string(trace, TRACE_STRING_INFO, TRACE_INFO_PART);
}

uint64_t whole_trace_events(const struct trace *trace)
{
	const char *text = part_text(trace);

	return text ? strtoull(text, NULL, 10) : trace_get_info(trace)->events;
}

uint64_t whole_trace_contradictions(const struct trace *trace, const struct trace_analysis *analysis)
{
	const char *text = part_text(trace);
	char *end;

	if (!text)
		return trace_analysis_inconsistencies(analysis);
	strtoull(text, &end, 10);
	return strtoull(end, NULL, 10);
}
