/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* gaps.c - sort the gaps of a trace by their begins, and their numbers by their ends. */
#include "gaps.h"

#include "sort.h"
#include "trace.h"

#include <errno.h>
#include <stdlib.h>

static int compare_gap_start(const void *a, const void *b)
{
	const struct trace_gap *x = a, *y = b;

	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	if (x->end_ns != y->end_ns)
		return x->end_ns < y->end_ns ? -1 : 1;
	return x->stream < y->stream ? -1 : x->stream > y->stream;
}

static int compare_gap_end(const void *a, const void *b, void *gaps)
{
	const struct trace_gap *x = (const struct trace_gap *)gaps + *(const uint32_t *)a;
	const struct trace_gap *y = (const struct trace_gap *)gaps + *(const uint32_t *)b;

	if (x->end_ns != y->end_ns)
		return x->end_ns < y->end_ns ? -1 : 1;
	if (x->cpu != y->cpu)
		return x->cpu < y->cpu ? -1 : 1;
	return *(const uint32_t *)a < *(const uint32_t *)b ? -1 : 1;
}

int gaps_sort(struct trace *trace)
{
	free(trace->gaps_by_end);
	trace->nr_gaps_by_end = 0;
	trace->gaps_by_end = malloc((trace->nr_gaps + 1) * sizeof(*trace->gaps_by_end));
	if (!trace->gaps_by_end)
		return -ENOMEM;
	if (!trace->nr_gaps)
		return 0;
	if (!sort_rows(trace->gaps, trace->nr_gaps, sizeof(*trace->gaps), compare_gap_start))
		return -ENOMEM;
	for (size_t i = 0; i < trace->nr_gaps; i++)
		if (trace->gaps[i].cause != TRACE_GAP_MISSED)
			trace->gaps_by_end[trace->nr_gaps_by_end++] = (uint32_t)i;
	return sort_stable(trace->gaps_by_end, trace->nr_gaps_by_end, sizeof(*trace->gaps_by_end), compare_gap_end,
			   trace->gaps)
		       ? 0
		       : -ENOMEM;
}
