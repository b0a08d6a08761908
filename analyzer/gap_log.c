/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * gap_log.c - the gaps that have begun, and the begins of all losses
 *
 * Gaps are joined if they overlap, whichever CPU they concern. Each has the sum of the gaps before
 * it, so the time of an interval that lies in gaps takes two binary searches.
 *
 * Example: CPU 0 has a gap from 10 to 20 ms, CPU 1 from 15 to 30 ms, CPU 0 again from 50 to 60 ms.
 * The log has two joined gaps: 10 to 30 ms (before: 0) and 50 to 60 ms (before: 20 ms). Until 55 ms
 * there are 20 + 5 = 25 ms of gaps, until 25 ms there are 15 ms. So 10 ms of the interval from 25
 * to 55 ms lie in gaps.
 */
#include <stdlib.h>
#include "gap_log.h"

/* How many more pieces of intervals a gap allows: hooks.c. */
#define PIECES_PER_GAP 256u

/*
 * Called when a gap begins, so that gaps come in the order of their starts. Joins overlapping gaps.
 */
void gap_log_add(struct gap_log *log, uint64_t start, uint64_t end)
{
	struct gap *last = log->nr ? &log->joined[log->nr - 1] : NULL;

	if (end <= start)
		return;
	if (last && start <= last->end) {
		if (end > last->end)
			last->end = end;
		return;
	}
	log->joined[log->nr] =
		(struct gap){.start = start, .end = end, .before = last ? last->before + (last->end - last->start) : 0};
	log->nr++;
	log->pieces_left += PIECES_PER_GAP;
}

/* The number of joined gaps that begin before @ns. */
static size_t gaps_before(const struct gap_log *log, uint64_t ns)
{
	size_t low = 0, high = log->nr;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (log->joined[middle].start < ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

size_t gap_log_from(const struct gap_log *log, uint64_t ns)
{
	size_t nr = gaps_before(log, ns);

	return nr ? nr - 1 : 0;
}

/* Gap time from the beginning until @ns. */
static uint64_t gap_time(const struct gap_log *log, uint64_t ns)
{
	size_t nr = gaps_before(log, ns);
	const struct gap *last;

	if (!nr)
		return 0;
	last = &log->joined[nr - 1];
	return last->before + ((ns < last->end ? ns : last->end) - last->start);
}

uint64_t gap_log_overlap(const struct gap_log *log, uint64_t from, uint64_t to)
{
	return log->nr ? gap_time(log, to) - gap_time(log, from) : 0;
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

uint64_t gap_log_first_loss(const struct gap_log *log, uint64_t from, uint64_t to)
{
	size_t nr = gaps_before(log, from + 1);
	uint64_t first = UINT64_MAX, loss = time_from(log->losses, log->nr_losses, from),
		 late = time_from(log->late_losses, log->nr_late_losses, from);

	if (nr && log->joined[nr - 1].end > from)
		first = from;
	else if (nr < log->nr)
		first = log->joined[nr].start;
	if (loss < first)
		first = loss;
	if (late < first)
		first = late;
	return first < to ? first : UINT64_MAX;
}

void gap_log_clear(struct gap_log *log)
{
	free(log->joined);
	free(log->losses);
	free(log->late_losses);
	free(log->late);
	free(log->of_cpus);
}
