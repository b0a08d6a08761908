/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* view_sums.c - cumulative sums of the classes of a row's entries: view_rows.h. */
#include <errno.h>
#include <stdlib.h>
#include "state.h"
#include "view_rows.h"

#define BLOCK	    64u /* entries of a thread between two sums */
#define PIECE_PARTS 64u /* of a piece that is cut */
#define CPU_BLOCK   16u /* of a CPU */
#define FEW	    8u	/* entries of a thread until its next run */
#define AHEAD	    6u	/* runs of a CPU from one prefetch to the next: prefetch_runs() */

/* ---- search ---- */

/* As series_before(), for an instant near the entry @hint. */
static uint32_t entry_before(const struct series *series, uint64_t ns, uint32_t hint)
{
	uint32_t low = hint, step = 1;

	if (hint >= series->nr || series->from[hint] >= ns || ns > series->end)
		return series_before(series, ns);
	while (low + step < series->nr && series->from[low + step] < ns) {
		low += step;
		step *= 2;
	}
	return series_search(series, ns, low, low + step < series->nr ? low + step : series->nr);
}

static void subtract(struct class_times *times, const struct class_times *less)
{
	for (int i = 0; i < TRACE_NR_CLASSES; i++)
		times->ns[i] -= less->ns[i];
}

static void add(struct class_times *times, const struct class_times *more)
{
	for (int i = 0; i < TRACE_NR_CLASSES; i++)
		times->ns[i] += more->ns[i];
}

/* ---- threads ---- */

enum trace_class view_class(const struct trace_view *view, uint32_t idx, uint32_t entry)
{
	const struct trace_history *history = view->history;
	uint32_t value = history->timelines[idx].series.value[entry];

	return (enum trace_class)history->classes[history_activity_of(history, value)];
}

static const enum trace_class piece_classes[PIECE_STATES] = {TRACE_CLASS_USER, TRACE_CLASS_SYSCALL, TRACE_CLASS_TRAP,
							     TRACE_CLASS_INTERRUPTED, TRACE_CLASS_RUNNING};

/* The time of @piece in its first @part of PIECE_PARTS parts, in @ns; returns the sum. */
static uint64_t piece_part(const struct history_piece *piece, uint64_t part, uint64_t *ns)
{
	uint64_t sum = 0;

	for (int i = 0; i < PIECE_STATES; i++) {
		ns[i] = piece->ns[i] * part / PIECE_PARTS;
		sum += ns[i];
	}
	return sum;
}

/*
 * Add the first @ns of a piece of @length. The order of its intervals is not kept. So the piece is
 * divided into parts that have the same mixture, and in the part in which @ns is, the states follow
 * each other. Then the time in each state never decreases with @ns, and all states together are
 * @ns.
 */
static void add_cut_piece(const struct history_piece *piece, uint64_t length, uint64_t ns, struct class_times *times)
{
	uint64_t part = ns * PIECE_PARTS / length, begin[PIECE_STATES], end[PIECE_STATES], left;

	while (part < PIECE_PARTS - 1 && piece_part(piece, part + 1, end) <= ns)
		part++;
	while (piece_part(piece, part, begin) > ns)
		part--;
	left = ns - piece_part(piece, part, begin);
	piece_part(piece, part + 1, end);
	for (int i = 0; i < PIECE_STATES; i++) {
		uint64_t more = end[i] - begin[i] < left ? end[i] - begin[i] : left;

		times->ns[piece_classes[i]] += begin[i] + more;
		left -= more;
	}
}

/* Add the time of an entry of @ns. */
static inline void add_whole_entry(const struct trace_history *history, const struct thread_timeline *timeline,
				   uint32_t value, uint64_t ns, struct class_times *times)
{
	const struct history_piece *piece;

	if (!(value & PIECE)) {
		times->ns[history->classes[value]] += ns;
		return;
	}
	piece = &timeline->pieces[value & ~PIECE];
	for (int i = 0; i < PIECE_STATES; i++)
		times->ns[piece_classes[i]] += piece->ns[i];
}

/* Add the time of an entry until @ns. */
static void add_entry(const struct trace_view *view, uint32_t idx, uint32_t entry, uint64_t ns,
		      struct class_times *times)
{
	const struct thread_timeline *timeline = &view->history->timelines[idx];
	uint64_t from = timeline->series.from[entry], length = series_to(&timeline->series, entry) - from;
	const struct history_piece *piece;

	if (timeline->series.value[entry] & PIECE && ns - from < length) {
		piece = &timeline->pieces[timeline->series.value[entry] & ~PIECE];
		add_cut_piece(piece, length, ns - from, times);
		return;
	}
	add_whole_entry(view->history, timeline, timeline->series.value[entry], ns - from, times);
}

/* The sum before block @idx. */
static struct class_times sum_before(const struct row_sums *sums, uint32_t idx)
{
	const uint64_t *at = sums->sums + (size_t)idx * sums->nr_classes;
	struct class_times times = {0};

	for (uint32_t left = sums->classes; left; left &= left - 1)
		times.ns[__builtin_ctz(left)] = *at++;
	return times;
}

/*
 * Columns follow each other. So the sum goes on from the last edge, if that is not before the block
 * of @entry. Returns the first entry that is not in edge->before.
 */
static uint32_t edge_begin(struct view_edge *edge, uint32_t entry, uint32_t block, const struct row_sums *sums)
{
	uint32_t first = entry / block * block, last = edge->entry;

	edge->entry = entry;
	if (last >= first && last <= entry)
		return last;
	edge->before = sum_before(sums, entry / block);
	return first;
}

void view_thread_until(const struct trace_view *view, uint32_t idx, uint64_t ns, struct view_edge *edge,
		       struct class_times *ret_times)
{
	const struct thread_timeline *timeline = &view->history->timelines[idx];
	const struct series *series = &timeline->series;
	uint32_t entry;

	*ret_times = (struct class_times){0};
	if (!series->nr || ns <= series->from[0])
		return;
	if (ns > series->end)
		ns = series->end;
	entry = entry_before(series, ns, edge->entry);
	for (uint32_t i = edge_begin(edge, entry, BLOCK, &view->threads[idx].sums); i < entry; i++)
		add_whole_entry(view->history, timeline, series->value[i], series->from[i + 1] - series->from[i],
				&edge->before);
	*ret_times = edge->before;
	add_entry(view, idx, entry, ns, ret_times);
}

/* ---- CPUs ---- */

/*
 * The time of a thread in a span of few entries: add them, instead of all entries of the blocks in
 * which the span begins and ends. The sums are the same.
 */
static void add_few(const struct trace_view *view, uint32_t idx, uint64_t from, uint64_t to, uint32_t first,
		    uint32_t last, struct class_times *times)
{
	const struct series *series = &view->history->timelines[idx].series;
	struct class_times before = {0};

	if (from > series->from[first]) {
		add_entry(view, idx, first, from, &before);
		subtract(times, &before);
	}
	for (uint32_t i = first; i <= last; i++)
		add_entry(view, idx, i, i < last ? series->from[i + 1] : to, times);
}

/* The time of the thread @idx from @from to @to. @hint: an entry near @from; becomes that of @to */
static void add_thread(const struct trace_view *view, uint32_t idx, uint64_t from, uint64_t to, uint32_t *hint,
		       struct class_times *times)
{
	const struct series *series = &view->history->timelines[idx].series;
	struct view_edge edge = VIEW_NO_EDGE;
	struct class_times at_end, at_begin;
	uint32_t first, last;

	if (!series->nr || to <= series->from[0] || from >= series->end)
		return;
	to = to < series->end ? to : series->end;
	first = from > series->from[0] ? entry_before(series, from, *hint) : 0;
	last = entry_before(series, to, first);
	*hint = last;
	if (last - first < BLOCK) {
		add_few(view, idx, from, to, first, last, times);
		return;
	}
	view_thread_until(view, idx, from, &edge, &at_begin);
	view_thread_until(view, idx, to, &edge, &at_end);
	subtract(&at_end, &at_begin);
	add(times, &at_end);
}

/*
 * add_thread() of a span that begins and ends with entries, at most FEW after @hint: nearly all
 * runs of a CPU do. Returns false for others.
 */
static inline bool add_next(const struct trace_view *view, uint32_t idx, uint64_t from, uint64_t to, uint32_t *hint,
			    struct class_times *times)
{
	const struct thread_timeline *timeline = &view->history->timelines[idx];
	const struct series *series = &timeline->series;
	uint32_t first = *hint, limit = series->nr - first > FEW ? first + FEW : series->nr, last;

	while (first < limit && series->from[first] < from)
		first++;
	if (first >= limit || series->from[first] != from)
		return false;
	for (last = first; last < limit && series_to(series, last) < to;)
		last++;
	if (last == limit || series_to(series, last) != to)
		return false;
	for (uint32_t i = first; i <= last; i++)
		add_whole_entry(view->history, timeline, series->value[i], series_to(series, i) - series->from[i],
				times);
	*hint = last;
	return true;
}

/* The time of the thread @run on the CPU, by what it did. @hints: by timeline, or NULL */
static void add_run(const struct trace_view *view, uint32_t run, uint64_t from, uint64_t to, uint32_t *hints,
		    struct class_times *times)
{
	uint32_t none = UINT32_MAX;

	if (run == RUN_ALONE + CPU_IDLE)
		times->ns[TRACE_CLASS_IDLE] += to - from;
	else if (run == RUN_ALONE + CPU_INTERRUPTED)
		times->ns[TRACE_CLASS_INTERRUPTED] += to - from;
	else if (run == RUN_ALONE + CPU_UNKNOWN)
		times->ns[TRACE_CLASS_WAIT + TRACE_WAIT_UNKNOWN] += to - from;
	else if (!hints || !add_next(view, run, from, to, &hints[run], times))
		add_thread(view, run, from, to, hints ? &hints[run] : &none, times);
}

void view_cpu_until(const struct trace_view *view, uint32_t cpu, uint64_t ns, struct view_edge *edge,
		    struct class_times *ret_times)
{
	const struct series *runs = &view->cpus[cpu].runs;
	uint32_t entry;

	*ret_times = (struct class_times){0};
	if (!runs->nr || ns <= runs->from[0])
		return;
	if (ns > runs->end)
		ns = runs->end;
	entry = entry_before(runs, ns, edge->entry);
	for (uint32_t i = edge_begin(edge, entry, CPU_BLOCK, &view->cpus[cpu].sums); i < entry; i++)
		add_run(view, runs->value[i], runs->from[i], runs->from[i + 1], edge->hints, &edge->before);
	*ret_times = edge->before;
	add_run(view, runs->value[entry], runs->from[entry], ns, edge->hints, ret_times);
}

/* ---- to make them ---- */

static bool is_made(const struct trace_view *view, const struct row_sums *sums, const struct series *series)
{
	return sums->sums && sums->nr_entries == series->nr && sums->changes == series->changes &&
	       sums->is_final == view->analysis->done;
}

/* Room for @max sums of the classes @classes; those that are made keep their numbers. */
static int sums_room(struct row_sums *sums, uint32_t max, uint32_t classes)
{
	uint32_t nr_classes = (uint32_t)__builtin_popcount(classes);
	const uint64_t *from = sums->sums;
	uint64_t *bigger = calloc((size_t)max * nr_classes + 1, sizeof(*bigger)), *to = bigger;

	if (!bigger)
		return -ENOMEM;
	for (uint32_t i = 0; i < sums->nr; i++)
		for (uint32_t left = classes; left; left &= left - 1, to++)
			if (sums->classes & left & -left)
				*to = *from++;
	free(sums->sums);
	sums->sums = bigger;
	sums->max = max;
	sums->classes = classes;
	sums->nr_classes = nr_classes;
	return 0;
}

/* Make room for the sums of @series. Blocks that have not changed since are kept. */
static int sums_begin(const struct trace_view *view, struct row_sums *sums, const struct series *series, uint32_t block)
{
	uint32_t nr = series->nr ? (series->nr - 1) / block + 1 : 1;

	if (!sums->nr || sums->changes != series->changes || sums->is_final != view->analysis->done) {
		free(sums->sums);
		*sums = (struct row_sums){.nr = 1};
	}
	if (nr > sums->max && sums_room(sums, view->analysis->done ? nr : nr + nr / 2, sums->classes) < 0)
		return -ENOMEM;
	sums->nr_entries = series->nr;
	sums->changes = series->changes;
	sums->is_final = view->analysis->done;
	return (int)nr;
}

/* @times: of all entries before the next block. Returns 0 or -ENOMEM. */
static int sums_add(struct row_sums *sums, const struct class_times *times)
{
	uint32_t classes = 0;
	uint64_t *to;

	for (uint32_t i = 0; i < TRACE_NR_CLASSES; i++)
		classes |= times->ns[i] ? 1u << i : 0;
	if (classes & ~sums->classes && sums_room(sums, sums->max, sums->classes | classes) < 0)
		return -ENOMEM;
	to = sums->sums + (size_t)sums->nr++ * sums->nr_classes;
	for (uint32_t left = sums->classes; left; left &= left - 1)
		*to++ = times->ns[__builtin_ctz(left)];
	return 0;
}

static int sums_fail(struct row_sums *sums)
{
	free(sums->sums);
	*sums = (struct row_sums){0};
	return -ENOMEM;
}

int view_sums_thread(struct trace_view *view, uint32_t idx)
{
	const struct series *series = &view->history->timelines[idx].series;
	struct row_sums *sums = &view->threads[idx].sums;
	struct class_times times;
	int nr;

	if (is_made(view, sums, series))
		return 0;
	nr = sums_begin(view, sums, series, BLOCK);
	if (nr < 0)
		return nr;
	times = sum_before(sums, sums->nr - 1);
	while (sums->nr < (uint32_t)nr) {
		for (uint32_t i = (sums->nr - 1) * BLOCK; i < sums->nr * BLOCK; i++)
			add_entry(view, idx, i, series->from[i + 1], &times);
		if (sums_add(sums, &times) < 0)
			return sums_fail(sums);
	}
	return 0;
}

static const struct thread_timeline *timeline_of_run(const struct trace_view *view, const struct series *runs,
						     uint32_t run)
{
	return run < runs->nr && runs->value[run] < RUN_ALONE ? &view->history->timelines[runs->value[run]] : NULL;
}

/*
 * Each run is of another thread, whose entries are in no cache. First its timeline, then its next
 * entries, then its next piece.
 */
static void prefetch_runs(const struct trace_view *view, const struct series *runs, uint32_t i, const uint32_t *hints)
{
	const struct thread_timeline *far = timeline_of_run(view, runs, i + 3 * AHEAD),
				     *near = timeline_of_run(view, runs, i + 2 * AHEAD),
				     *next = timeline_of_run(view, runs, i + AHEAD);

	if (far) {
		memory_prefetch(far, sizeof(*far));
		line_prefetch(&hints[runs->value[i + 3 * AHEAD]]);
	}
	if (near && near->series.nr) {
		uint32_t entry = hints[runs->value[i + 2 * AHEAD]];

		line_prefetch(near->series.from + entry);
		line_prefetch(near->series.value + entry);
	}
	if (next && next->nr_pieces) {
		uint32_t value = next->series.value[hints[runs->value[i + AHEAD]]];

		line_prefetch(next->pieces + (value & PIECE ? (value & ~PIECE) + 1 : 0));
	}
}

int view_sums_cpu(struct trace_view *view, uint32_t cpu)
{
	const struct series *runs = &view->cpus[cpu].runs;
	struct row_sums *sums = &view->cpus[cpu].sums;
	struct class_times times;
	uint32_t *hints;
	int nr;

	if (is_made(view, sums, runs))
		return 0;
	for (uint32_t i = 0; i < runs->nr; i++)
		if (runs->value[i] < RUN_ALONE && view_sums_thread(view, runs->value[i]) < 0)
			return -ENOMEM;
	hints = calloc(view->history->nr_timelines + 1, sizeof(*hints));
	if (!hints)
		return -ENOMEM;
	nr = sums_begin(view, sums, runs, CPU_BLOCK);
	if (nr > 0)
		times = sum_before(sums, sums->nr - 1);
	while (nr > 0 && sums->nr < (uint32_t)nr) {
		for (uint32_t i = (sums->nr - 1) * CPU_BLOCK; i < sums->nr * CPU_BLOCK; i++) {
			prefetch_runs(view, runs, i, hints);
			add_run(view, runs->value[i], runs->from[i], runs->from[i + 1], hints, &times);
		}
		if (sums_add(sums, &times) < 0)
			nr = sums_fail(sums);
	}
	free(hints);
	return nr < 0 ? nr : 0;
}
