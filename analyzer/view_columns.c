/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* view_columns.c - the columns of a picture: differences of sums at the edges of the columns. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "state.h"
#include "view_rows.h"

/*
 * struct columns - what one call of trace_view_columns() is about
 * @even: of a process: how many more threads than in the column before are in a class for all of a
 * column, [nr + 1][TRACE_NR_CLASSES]; NULL: each column of a row is added by itself
 */
struct columns {
	uint64_t from, to;
	uint32_t nr;
	uint64_t *ns; /* [nr][TRACE_NR_CLASSES] */
	int32_t *even;
};

/* @nr times the width may need more than 64 bits. */
static uint64_t edge(const struct columns *c, uint32_t i)
{
	return c->from + (uint64_t)((unsigned __int128)(c->to - c->from) * i / c->nr);
}

/* The part of @from .. @to that is in @begin .. @end. */
static uint64_t overlap(uint64_t from, uint64_t to, uint64_t begin, uint64_t end)
{
	from = from > begin ? from : begin;
	to = to < end ? to : end;
	return to > from ? to - from : 0;
}

/*
 * The rest of a column that has no interval: before the birth and after the end the row is absent.
 * In between, the pass has not told it yet; after the pass, it is unknown.
 */
static void add_rest(const struct trace_view *view, uint64_t *ns, uint64_t from, uint64_t to, uint64_t told,
		     const struct trace_row *life)
{
	bool is_read = view->analysis->done;
	uint64_t lives = overlap(from, to, life->from_ns, is_read || life->to_ns < view_end(view) ? life->to_ns : to);

	if (lives < told)
		lives = told;
	ns[TRACE_CLASS_ABSENT] += to - from - lives;
	ns[is_read ? TRACE_CLASS_WAIT + TRACE_WAIT_UNKNOWN : TRACE_CLASS_UNREAD] += lives - told;
}

typedef void (*until_fn)(const struct trace_view *view, uint32_t idx, uint64_t ns, struct view_edge *edge,
			 struct class_times *ret_times);

/* struct beyond_of_row - what a full view has of a row; @life: from the end of its intervals on */
struct beyond_of_row {
	const struct view_beyond *all;
	const struct beyond_row *row; /* NULL: nothing */
	struct beyond_life life;
	struct beyond_edge edge;
};

static struct beyond_of_row beyond_of(struct trace_view *view, const struct trace_row *life, uint32_t idx, bool is_cpu)
{
	struct view_beyond *all = &view->beyond;
	uint32_t nr = is_cpu ? all->nr_cpus : all->nr_threads;
	struct beyond_row *row = idx < nr ? (is_cpu ? all->cpus : all->threads) + idx : NULL;
	uint64_t begin = row ? row->begin : 0;

	if (row && beyond_settle(all, row) < 0)
		view->failed = -ENOMEM;
	return (struct beyond_of_row){.all = all,
				      .row = row,
				      .life = {.from_ns = begin > life->from_ns ? begin : life->from_ns,
					       .to_ns = life->to_ns}};
}

/* ---- columns in one class ---- */

/* struct even_time - a class, and its end: a thread is in it for all of the time until then */
struct even_time {
	enum trace_class class_of_time;
	uint64_t to;
};

/* The time without intervals from @from to @to at most: as add_rest() */
static struct even_time rest_from(const struct trace_view *view, const struct trace_row *life, uint64_t from,
				  uint64_t to)
{
	bool is_read = view->analysis->done, ends = is_read || life->to_ns < view_end(view);
	struct even_time rest = {is_read ? TRACE_CLASS_WAIT + TRACE_WAIT_UNKNOWN : TRACE_CLASS_UNREAD, to};
	uint64_t next = to;

	if (from < life->from_ns) {
		rest.class_of_time = TRACE_CLASS_ABSENT;
		next = life->from_ns;
	} else if (ends && from >= life->to_ns) {
		rest.class_of_time = TRACE_CLASS_ABSENT;
	} else if (ends) {
		next = life->to_ns;
	}
	rest.to = next < to ? next : to;
	return rest;
}

/* The state of thread @idx from @from on; it ends at @from if the order of states is not kept. */
static struct even_time stretch_from(const struct trace_view *view, uint32_t idx, const struct trace_row *life,
				     uint64_t from)
{
	const struct series *series = &view->history->timelines[idx].series;
	uint32_t entry;

	if (!series->nr || from >= series->end)
		return rest_from(view, life, from, UINT64_MAX);
	if (from < series->from[0])
		return rest_from(view, life, from, series->from[0]);
	entry = series_before(series, from + 1);
	if (series->value[entry] & PIECE)
		return (struct even_time){TRACE_CLASS_ABSENT, from};
	return (struct even_time){view_class(view, idx, entry), series_to(series, entry)};
}

/* The number of columns that begin at or before @ns, in which the first one is number 0 */
static uint32_t columns_until(const struct columns *c, uint64_t ns)
{
	uint32_t nr;

	if (ns >= c->to)
		return c->nr;
	nr = ns > c->from ? (uint32_t)((unsigned __int128)(ns - c->from) * c->nr / (c->to - c->from)) : 0;
	while (nr < c->nr && edge(c, nr + 1) <= ns)
		nr++;
	return nr;
}

/*
 * A process may have 100,000 threads, most of which live in a few columns only. All columns from
 * @first on that end in one stretch of the thread are added at once, to the numbers of threads.
 * Returns the first column behind them.
 */
static uint32_t add_even(const struct trace_view *view, const struct columns *c, uint32_t idx,
			 const struct trace_row *life, uint32_t first)
{
	struct even_time stretch = stretch_from(view, idx, life, edge(c, first));
	uint32_t end = columns_until(c, stretch.to);

	if (end <= first)
		return first;
	c->even[(size_t)first * TRACE_NR_CLASSES + stretch.class_of_time]++;
	c->even[(size_t)end * TRACE_NR_CLASSES + stretch.class_of_time]--;
	return end;
}

static void end_even(const struct columns *c)
{
	int32_t nr_threads[TRACE_NR_CLASSES] = {0};

	for (uint32_t i = 0; i < c->nr; i++)
		for (int class = 0; class < TRACE_NR_CLASSES; class ++) {
			size_t at = (size_t)i * TRACE_NR_CLASSES + (size_t) class;

			nr_threads[class] += c->even[at];
			c->ns[at] += (uint64_t)nr_threads[class] * (edge(c, i + 1) - edge(c, i));
		}
}

/* ---- rows ---- */

/* Add the columns of a thread or a CPU. @hints: struct view_edge; NULL: a thread */
static void add_row(struct trace_view *view, const struct columns *c, uint32_t idx, until_fn until,
		    const struct trace_row *life, uint32_t *hints)
{
	struct view_edge last = VIEW_NO_EDGE;
	struct beyond_of_row beyond = beyond_of(view, life, idx, hints);
	struct class_times sums[2];
	uint64_t from = c->from;
	uint32_t first = c->even && !beyond.row ? add_even(view, c, idx, life, 0) : 0;

	last.hints = hints;
	if (first == c->nr)
		return;
	from = edge(c, first);
	until(view, idx, from, &last, &sums[first & 1]);
	if (beyond.row)
		beyond_until(beyond.all, beyond.row, beyond.life, from, &beyond.edge, sums[0].ns);
	for (uint32_t i = first; i < c->nr; i++) {
		uint64_t to = edge(c, i + 1), told = 0, *ns = c->ns + (size_t)i * TRACE_NR_CLASSES;
		const struct class_times *before = &sums[i & 1];
		struct class_times *now = &sums[!(i & 1)];

		until(view, idx, to, &last, now);
		if (beyond.row)
			beyond_until(beyond.all, beyond.row, beyond.life, to, &beyond.edge, now->ns);
		for (int class = 0; class < TRACE_NR_CLASSES; class ++) {
			ns[class] += now->ns[class] - before->ns[class];
			told += now->ns[class] - before->ns[class];
		}
		add_rest(view, ns, from, to, told, life);
		from = to;
		first = c->even && !beyond.row && i + 1 < c->nr ? add_even(view, c, idx, life, i + 1) : i + 1;
		if (first == i + 1)
			continue;
		i = first - 1;
		from = edge(c, first);
		until(view, idx, from, &last, &sums[first & 1]);
	}
}

static int add_thread(struct trace_view *view, const struct columns *c, uint32_t idx, bool of_process)
{
	struct trace_row row;

	if (!trace_view_get_row(view, (struct trace_row_id){TRACE_ROW_THREAD, idx}, &row) ||
	    view_sums_thread(view, idx) < 0)
		return -ENOMEM;
	if (of_process && !overlap(c->from, c->to, row.from_ns, row.to_ns))
		return 0;
	add_row(view, c, idx, view_thread_until, &row, NULL);
	return 0;
}

static int add_process(struct trace_view *view, struct columns *c, uint32_t idx)
{
	int error = 0;

	if (c->nr > 1)
		c->even = calloc((c->nr + 1) * (size_t)TRACE_NR_CLASSES, sizeof(*c->even));
	if (c->nr > 1 && !c->even)
		return -ENOMEM;
	for (uint32_t thread = view->processes[idx].first; thread != NO_THREAD && !error;
	     thread = view->threads[thread].next)
		error = add_thread(view, c, thread, true);
	if (c->even)
		end_even(c);
	free(c->even);
	for (uint32_t i = 0; i < c->nr; i++)
		c->ns[(size_t)i * TRACE_NR_CLASSES + TRACE_CLASS_ABSENT] = 0;
	return error;
}

static int add_cpu(struct trace_view *view, const struct columns *c, const struct trace_row *row)
{
	uint32_t *hints = calloc(view->history->nr_timelines + 1, sizeof(*hints));
	int error = hints ? view_sums_cpu(view, row->id.index) : -ENOMEM;

	if (!error)
		add_row(view, c, row->id.index, view_cpu_until, row, hints);
	free(hints);
	return error;
}

int trace_view_columns(struct trace_view *view, struct trace_row_id id, uint64_t from_ns, uint64_t to_ns, uint32_t nr,
		       uint64_t *ret_ns)
{
	struct columns c = {from_ns, to_ns, nr, ret_ns, NULL};
	struct trace_row row;
	int error = view_refresh(view);

	if (error)
		return error;
	if (to_ns <= from_ns || !nr || !trace_view_get_row(view, id, &row))
		return -EINVAL;
	memset(ret_ns, 0, (size_t)nr * TRACE_NR_CLASSES * sizeof(*ret_ns));
	if (id.kind == TRACE_ROW_THREAD)
		return add_thread(view, &c, id.index, false);
	if (id.kind == TRACE_ROW_PROCESS)
		return add_process(view, &c, id.index);
	return add_cpu(view, &c, &row);
}
