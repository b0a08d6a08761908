/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* view_beyond.c - sums of a full view: view_beyond.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "view_beyond.h"

#define SUM	  TRACE_NR_CLASSES /* of all classes of a part */
#define CUT_PARTS 64u		   /* of a part that a column cuts */

void beyond_begin(struct view_beyond *beyond, uint64_t from_ns, uint64_t to_ns)
{
	beyond->from_ns = from_ns;
	beyond->to_ns = to_ns > from_ns ? to_ns : from_ns;
	beyond->nr = BEYOND_PARTS;
	beyond->width_ns = (beyond->to_ns - from_ns) / BEYOND_PARTS + 1;
}

struct beyond_row *beyond_row_of(struct beyond_row **rows, uint32_t *nr, uint32_t idx)
{
	uint32_t more = idx + idx / 2 + 64;
	struct beyond_row *bigger;

	if (idx < *nr)
		return &(*rows)[idx];
	bigger = reallocarray(*rows, more, sizeof(*bigger));
	if (!bigger)
		return NULL;
	memset(bigger + *nr, 0, (more - *nr) * sizeof(*bigger));
	*rows = bigger;
	*nr = more;
	return &bigger[idx];
}

/* ---- add ---- */

static void row_halve(struct beyond_row *row, uint32_t nr)
{
	row->part /= 2;
	for (unsigned int i = 0; i < BEYOND_STATES; i++) {
		uint64_t *ns = row->ns[i], *smaller;

		for (uint32_t part = 0; ns && part < nr; part++)
			ns[part] = ns[2 * part] + ns[2 * part + 1];
		smaller = ns ? realloc(ns, nr * sizeof(*ns)) : NULL;
		row->ns[i] = smaller ? smaller : ns;
	}
}

/* Two parts become one. */
static void halve(struct view_beyond *beyond)
{
	beyond->nr /= 2;
	beyond->width_ns *= 2;
	beyond->bytes /= 2;
	beyond->now /= 2;
	beyond->now_from = beyond->now_to = 0; /* the next one is not added to the last part */
	for (uint32_t i = 0; i < beyond->nr_threads; i++)
		row_halve(&beyond->threads[i], beyond->nr);
	for (uint32_t i = 0; i < beyond->nr_cpus; i++)
		row_halve(&beyond->cpus[i], beyond->nr);
}

static bool has_array(struct view_beyond *beyond, struct beyond_row *row, unsigned int state)
{
	if (row->ns[state])
		return true;
	row->ns[state] = calloc(beyond->nr, sizeof(*row->ns[state]));
	beyond->bytes += row->ns[state] ? beyond->nr * sizeof(*row->ns[state]) : 0;
	return row->ns[state];
}

/* The time of @part in @life. */
static struct beyond_life part_of_life(const struct view_beyond *beyond, uint32_t part, struct beyond_life life)
{
	uint64_t from = beyond->from_ns + part * beyond->width_ns, to = from + beyond->width_ns;

	to = to < beyond->to_ns ? to : beyond->to_ns;
	from = from > life.from_ns ? from : life.from_ns;
	to = to < life.to_ns ? to : life.to_ns;
	return (struct beyond_life){from, to > from ? to : from};
}

/* Whatever the trace contains, no part has more time than its length. */
static int add_to_part(struct view_beyond *beyond, struct beyond_row *row, unsigned int class_of_time, uint32_t part,
		       uint64_t ns)
{
	struct beyond_life of_part = part_of_life(beyond, part, (struct beyond_life){row->begin, UINT64_MAX});
	uint64_t room;

	if (!has_array(beyond, row, class_of_time) || !has_array(beyond, row, SUM))
		return -ENOMEM;
	room = of_part.to_ns - of_part.from_ns - row->ns[SUM][part];
	ns = ns < room ? ns : room;
	row->ns[class_of_time][part] += ns;
	row->ns[SUM][part] += ns;
	return 0;
}

static void halve_if_many(struct view_beyond *beyond)
{
	while (beyond->bytes > BEYOND_MAX_BYTES && beyond->nr > 1)
		halve(beyond);
}

int beyond_settle(struct view_beyond *beyond, struct beyond_row *row)
{
	int error = 0;

	for (unsigned int i = 0; i < TRACE_NR_CLASSES && !error; i++) {
		if (row->now[i])
			error = add_to_part(beyond, row, i, row->part, row->now[i]);
		row->now[i] = 0;
	}
	halve_if_many(beyond);
	return error;
}

static uint32_t part_at(const struct view_beyond *beyond, uint64_t ns)
{
	return (uint32_t)((ns - beyond->from_ns) / beyond->width_ns);
}

int beyond_add_slowly(struct view_beyond *beyond, struct beyond_row *row, enum trace_class class_of_time, uint64_t from,
		      uint64_t to)
{
	int error = beyond_settle(beyond, row);

	from = from > row->begin ? from : row->begin;
	from = from > beyond->from_ns ? from : beyond->from_ns;
	to = to < beyond->to_ns ? to : beyond->to_ns;
	if (from >= to)
		return error;
	row->part = part_at(beyond, to - 1);
	if (row->part >= beyond->now) {
		beyond->now = row->part;
		beyond->now_from = beyond->from_ns + row->part * beyond->width_ns;
		beyond->now_to = beyond->now_from + beyond->width_ns;
		beyond->now_to = beyond->now_to < beyond->to_ns ? beyond->now_to : beyond->to_ns;
	}
	while (from < to && !error) {
		uint32_t part = part_at(beyond, from);
		uint64_t next = beyond->from_ns + (part + 1ull) * beyond->width_ns;

		error = add_to_part(beyond, row, class_of_time, part, (to < next ? to : next) - from);
		from = next;
	}
	return error;
}

/* ---- columns ---- */

/* The ns of each state, and of none, in part @part of CUT_PARTS; returns the sum. */
static uint64_t cut_until(const uint64_t *states, uint64_t cut, uint64_t *ret_ns)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < BEYOND_STATES; i++) {
		ret_ns[i] = (uint64_t)((unsigned __int128)states[i] * cut / CUT_PARTS);
		sum += ret_ns[i];
	}
	return sum;
}

/*
 * Add the first @ns of a part of @length with @states; the last one is the time that was not told.
 * The part is divided into pieces with the same mixture, in which the states follow each other. So
 * the time in each state never decreases with @ns, and all states together are @ns.
 */
static void add_cut(const uint64_t *states, uint64_t length, uint64_t ns, uint64_t *times)
{
	uint64_t cut = (uint64_t)((unsigned __int128)ns * CUT_PARTS / length), begin[BEYOND_STATES], end[BEYOND_STATES],
		 left;

	while (cut < CUT_PARTS - 1 && cut_until(states, cut + 1, end) <= ns)
		cut++;
	while (cut && cut_until(states, cut, begin) > ns)
		cut--;
	left = ns - cut_until(states, cut, begin);
	cut_until(states, cut + 1, end);
	for (unsigned int i = 0; i < BEYOND_STATES; i++) {
		uint64_t more = end[i] - begin[i] < left ? end[i] - begin[i] : left;

		if (i < TRACE_NR_CLASSES)
			times[i] += begin[i] + more;
		left -= more;
	}
}

/* If a trace contradicts itself, a row may have more time than its life: it gets the whole part. */
static void add_part(const struct view_beyond *beyond, const struct beyond_row *row, uint32_t part,
		     struct beyond_life life, uint64_t ns, uint64_t *times)
{
	uint64_t states[BEYOND_STATES], sum = row->ns[SUM] ? row->ns[SUM][part] : 0;
	struct beyond_life of_part = part_of_life(beyond, part, life);

	if (sum > of_part.to_ns - of_part.from_ns)
		of_part = part_of_life(beyond, part, (struct beyond_life){0, UINT64_MAX});
	if (!sum || ns <= of_part.from_ns)
		return;
	ns = (ns < of_part.to_ns ? ns : of_part.to_ns) - of_part.from_ns;
	for (unsigned int i = 0; i < TRACE_NR_CLASSES; i++)
		states[i] = row->ns[i] ? row->ns[i][part] : 0;
	states[SUM] = of_part.to_ns - of_part.from_ns - sum;
	add_cut(states, of_part.to_ns - of_part.from_ns, ns, times);
}

void beyond_until(const struct view_beyond *beyond, const struct beyond_row *row, struct beyond_life life, uint64_t ns,
		  struct beyond_edge *edge, uint64_t *times)
{
	uint64_t part = ns > beyond->from_ns ? (ns - beyond->from_ns) / beyond->width_ns : 0;

	part = part < beyond->nr ? part : beyond->nr;
	for (; edge->part < part; edge->part++)
		for (unsigned int i = 0; i < TRACE_NR_CLASSES; i++)
			edge->ns[i] += row->ns[i] ? row->ns[i][edge->part] : 0;
	for (unsigned int i = 0; i < TRACE_NR_CLASSES; i++)
		times[i] += edge->ns[i];
	if (part < beyond->nr)
		add_part(beyond, row, (uint32_t)part, life, ns, times);
}

void beyond_clear(struct view_beyond *beyond)
{
	for (uint32_t i = 0; i < beyond->nr_threads; i++)
		for (unsigned int k = 0; k < BEYOND_STATES; k++)
			free(beyond->threads[i].ns[k]);
	for (uint32_t i = 0; i < beyond->nr_cpus; i++)
		for (unsigned int k = 0; k < BEYOND_STATES; k++)
			free(beyond->cpus[i].ns[k]);
	free(beyond->threads);
	free(beyond->cpus);
	*beyond = (struct view_beyond){0};
}
