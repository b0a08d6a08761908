/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * gap_log.c - the gaps that have begun, and the begins of all losses
 *
 * Gaps are joined if they overlap, whichever CPU they concern. Each has the sum of the gaps before
 * it, so the time of an interval that lies in gaps takes two binary searches.
 */
#include "gap_log.h"
#include "state.h"

/* How many more pieces of intervals a gap allows: hooks.c. */
#define PIECES_PER_GAP 256u

/*
 * Called when a gap begins, so that gaps come in the order of their starts. Joins overlapping gaps.
 */
void gap_join(struct trace_analysis *a, uint64_t start, uint64_t end)
{
	struct gap *last = a->nr_gaps ? &a->gaps[a->nr_gaps - 1] : NULL;

	if (end <= start)
		return;
	if (last && start <= last->end) {
		if (end > last->end)
			last->end = end;
		return;
	}
	a->gaps[a->nr_gaps] = (struct gap){.start = start, .end = end, .before = last ? last->before + (last->end - last->start) : 0};
	a->nr_gaps++;
	a->pieces_left += PIECES_PER_GAP;
}

/* The number of joined gaps that begin before @ns. */
static size_t gaps_before(const struct trace_analysis *a, uint64_t ns)
{
	size_t low = 0, high = a->nr_gaps;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (a->gaps[middle].start < ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

size_t lost_from(const struct trace_analysis *a, uint64_t ns)
{
	size_t nr = gaps_before(a, ns);

	return nr ? nr - 1 : 0;
}

/* Gap time from the beginning until @ns. */
static uint64_t gap_time(const struct trace_analysis *a, uint64_t ns)
{
	size_t nr = gaps_before(a, ns);
	const struct gap *last;

	if (!nr)
		return 0;
	last = &a->gaps[nr - 1];
	return last->before + ((ns < last->end ? ns : last->end) - last->start);
}

uint64_t lost_overlap(const struct trace_analysis *a, uint64_t from, uint64_t to)
{
	return a->nr_gaps ? gap_time(a, to) - gap_time(a, from) : 0;
}

/* The first of @times that is not before @ns; UINT64_MAX: none. */
static uint64_t time_from(const uint64_t *times, size_t nr, uint64_t ns)
{
	size_t low = 0, high = nr;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (times[middle] < ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low < nr ? times[low] : UINT64_MAX;
}

uint64_t lost_first(const struct trace_analysis *a, uint64_t from, uint64_t to)
{
	size_t nr = gaps_before(a, from + 1);
	uint64_t first = UINT64_MAX, doubt = time_from(a->doubts, a->nr_doubts, from), late = time_from(a->late_doubts, a->nr_late_doubts, from);

	if (nr && a->gaps[nr - 1].end > from)
		first = from;
	else if (nr < a->nr_gaps)
		first = a->gaps[nr].start;
	if (doubt < first)
		first = doubt;
	if (late < first)
		first = late;
	return first < to ? first : UINT64_MAX;
}
