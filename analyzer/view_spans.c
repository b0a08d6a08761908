/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* view_spans.c - the intervals of a row, what ended a wait, and the holders of a CPU. */
#include <errno.h>
#include <stdlib.h>
#include "sort.h"
#include "state.h"
#include "view_rows.h"

/* ---- spans ---- */

static const struct trace_thread *thread_of(const struct trace_view *view, uint32_t timeline)
{
	return timeline == NO_THREAD ? NULL : view->history->timelines[timeline].thread;
}

static struct trace_view_span span_of_thread(const struct trace_view *view, uint32_t idx, uint32_t entry)
{
	const struct thread_timeline *timeline = &view->history->timelines[idx];
	const struct history_activity *activity =
		&view->history->activities[history_activity_of(view->history, timeline->series.value[entry])];

	return (struct trace_view_span){.thread = timeline->thread,
					.from_ns = timeline->series.from[entry],
					.to_ns = series_to(&timeline->series, entry),
					.class_of_time = view_class(view, idx, entry),
					.state = (enum trace_state)activity->state,
					.kind = (enum trace_wait_kind)activity->kind,
					.idle = activity->idle,
					.cpu = activity->cpu,
					.name = activity->name,
					.target = activity->target,
					.via = activity->via,
					.path = activity->path,
					.address = activity->address,
					.other = activity->other,
					.waker = thread_of(view, activity->waker)};
}

static enum trace_class class_of_run(uint32_t run)
{
	return run == RUN_ALONE + CPU_IDLE	    ? TRACE_CLASS_IDLE
	       : run == RUN_ALONE + CPU_INTERRUPTED ? TRACE_CLASS_INTERRUPTED
	       : run == RUN_ALONE + CPU_UNKNOWN	    ? (enum trace_class)(TRACE_CLASS_WAIT + TRACE_WAIT_UNKNOWN)
						    : TRACE_CLASS_RUNNING;
}

static struct trace_view_span span_of_cpu(const struct trace_view *view, uint32_t cpu, uint32_t entry)
{
	const struct series *runs = &view->cpus[cpu].runs;
	uint32_t run = runs->value[entry];

	return (struct trace_view_span){.thread = run < RUN_ALONE ? thread_of(view, run) : NULL,
					.from_ns = runs->from[entry],
					.to_ns = series_to(runs, entry),
					.class_of_time = class_of_run(run),
					.state = TRACE_STATE_RUNNING,
					.cpu = (int32_t)cpu,
					.name = "",
					.target = "",
					.via = "",
					.path = ""};
}

int trace_view_spans(struct trace_view *view, struct trace_row_id id, uint64_t from_ns, uint64_t to_ns,
		     trace_view_span_fn fn, void *data)
{
	const struct series *series;
	struct trace_row row;
	uint32_t entry;

	if (id.kind == TRACE_ROW_PROCESS || !trace_view_get_row(view, id, &row))
		return -EINVAL;
	series = id.kind == TRACE_ROW_CPU ? &view->cpus[id.index].runs : &view->history->timelines[id.index].series;
	entry = series_before(series, from_ns + 1);
	if (entry == UINT32_MAX)
		entry = series->nr && from_ns >= series->end ? series->nr : 0;
	for (; entry < series->nr && series->from[entry] < to_ns; entry++) {
		struct trace_view_span span = id.kind == TRACE_ROW_CPU ? span_of_cpu(view, id.index, entry)
								       : span_of_thread(view, id.index, entry);

		if (!fn(data, &span))
			break;
	}
	return 0;
}

/* ---- what ended a wait ---- */

bool trace_view_next(struct trace_view *view, struct trace_row_id id, uint64_t ns, struct trace_row_id *ret_id,
		     uint64_t *ret_ns)
{
	const struct trace_history *history = view->history;
	const struct history_activity *activity;
	const struct series *series;
	uint32_t entry, next;
	uint64_t to;

	if (id.kind != TRACE_ROW_THREAD || id.index >= history->nr_timelines)
		return false;
	series = &history->timelines[id.index].series;
	entry = series_before(series, ns + 1);
	if (entry == UINT32_MAX || series->value[entry] == HOLE)
		return false;
	activity = &history->activities[history_activity_of(history, series->value[entry])];
	to = series_to(series, entry);
	if (activity->state != TRACE_STATE_BLOCKED || to >= view_end(view))
		return false;
	next = history_thread_that_ended(history, id.index, activity, series->from[entry], to);
	if (next == NO_THREAD || next == id.index)
		return false;
	*ret_id = (struct trace_row_id){TRACE_ROW_THREAD, next};
	*ret_ns = to;
	return true;
}

/* ---- the holders of a CPU ---- */

struct view_holder_row {
	uint64_t key; /* the run + 1 */
	uint64_t ns;
};

static int longest_first(const void *left, const void *right)
{
	const struct view_holder_row *l = left, *r = right;

	return l->ns != r->ns ? (l->ns > r->ns ? -1 : 1) : l->key < r->key ? -1 : l->key > r->key;
}

static bool sum_holders(const struct series *runs, uint64_t from, uint64_t to, struct hash_table *holders)
{
	uint32_t entry = series_before(runs, from + 1);

	if (entry == UINT32_MAX)
		entry = runs->nr && from >= runs->end ? runs->nr : 0;
	for (; entry < runs->nr && runs->from[entry] < to; entry++) {
		struct view_holder_row *row = table_add(holders, sizeof(*row), runs->value[entry] + 1ull);
		uint64_t begin = runs->from[entry] > from ? runs->from[entry] : from,
			 end = series_to(runs, entry) < to ? series_to(runs, entry) : to;

		if (!row)
			return false;
		row->ns += end > begin ? end - begin : 0;
	}
	return true;
}

int trace_view_holders(struct trace_view *view, uint32_t cpu, uint64_t from_ns, uint64_t to_ns, trace_view_holder_fn fn,
		       void *data)
{
	struct hash_table holders = {0};
	struct view_holder_row *rows = NULL;
	const struct view_holder_row *row = NULL;
	size_t nr = 0;
	int error = -ENOMEM;

	if (cpu >= view->nr_cpus)
		return -EINVAL;
	if (!sum_holders(&view->cpus[cpu].runs, from_ns, to_ns, &holders))
		goto end;
	rows = calloc(holders.used + 1, sizeof(*rows));
	while (rows && (row = table_next(&holders, sizeof(*row), row)))
		rows[nr++] = *row;
	if (!rows || !sort_rows(rows, nr, sizeof(*rows), longest_first))
		goto end;
	for (size_t i = 0; i < nr; i++) {
		uint32_t run = (uint32_t)(rows[i].key - 1);

		if (rows[i].ns)
			fn(data, run < RUN_ALONE ? thread_of(view, run) : NULL, class_of_run(run), rows[i].ns);
	}
	error = 0;
end:
	free(rows);
	table_clear(&holders);
	return error;
}
