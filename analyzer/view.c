/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* view.c - a view of an analysis, and its rows. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "error_set.h"
#include "state.h"
#include "view_rows.h"

struct view_process_row {
	uint64_t key; /* address of the process */
	uint32_t idx;
};

/* ---- CPUs ---- */

static struct view_cpu *cpu_get(struct trace_view *view, uint32_t cpu)
{
	struct view_cpu *bigger;

	if (cpu < view->nr_cpus)
		return &view->cpus[cpu];
	bigger = reallocarray(view->cpus, cpu + 1, sizeof(*bigger));
	if (!bigger) {
		view->failed = -ENOMEM;
		return NULL;
	}
	memset(bigger + view->nr_cpus, 0, (cpu + 1 - view->nr_cpus) * sizeof(*bigger));
	view->cpus = bigger;
	view->nr_cpus = cpu + 1;
	return &view->cpus[cpu];
}

/* The arrays have room for half as many entries again: give it back. */
static void trim(struct trace_view *view)
{
	for (uint32_t i = 0; i < view->history->nr_timelines; i++)
		timeline_trim(&view->history->timelines[i]);
	for (uint32_t i = 0; i < view->history->nr_cpus; i++)
		series_trim(&view->history->cpus[i], 0);
	for (uint32_t i = 0; i < view->nr_cpus; i++)
		series_trim(&view->cpus[i].runs, 0);
}

/* ---- beyond the limit of intervals ---- */

static void note_beyond(struct trace_view *view, struct beyond_row *row, const struct series *series,
			enum trace_class class_of_time, uint64_t from, uint64_t to)
{
	if (row && !row->is_known) {
		row->begin = series->nr ? series->end : 0;
		row->is_known = true;
	}
	if (!row || beyond_add(&view->beyond, row, class_of_time, from, to) < 0)
		view->failed = -ENOMEM;
}

static void note_cpu_beyond(struct trace_view *view, uint32_t cpu, enum trace_class class_of_time, uint64_t from,
			    uint64_t to)
{
	const struct view_cpu *row = cpu_get(view, cpu);

	if (row)
		note_beyond(view, beyond_row_of(&view->beyond.cpus, &view->beyond.nr_cpus, cpu), &row->runs,
			    class_of_time, from, to);
}

/* No series gets more entries: they need no room. */
static void begin_beyond(struct trace_view *view)
{
	if (view->beyond.nr)
		return;
	beyond_begin(&view->beyond, view->analysis->start_ns, view->analysis->end_ns);
	trim(view);
}

static void on_beyond(void *data, uint32_t timeline, int32_t cpu, uint64_t from, uint64_t to,
		      enum trace_class class_of_time)
{
	struct trace_view *view = data;

	begin_beyond(view);
	note_beyond(view, beyond_row_of(&view->beyond.threads, &view->beyond.nr_threads, timeline),
		    &view->history->timelines[timeline].series, class_of_time, from, to);
	if (cpu >= 0)
		note_cpu_beyond(view, (uint32_t)cpu, class_of_time, from, to);
}

static const enum trace_class alone_classes[] = {[CPU_IDLE] = TRACE_CLASS_IDLE,
						 [CPU_INTERRUPTED] = TRACE_CLASS_INTERRUPTED,
						 [CPU_UNKNOWN] = TRACE_CLASS_WAIT + TRACE_WAIT_UNKNOWN};

/* ---- runs ---- */

/* These calls come in order; what begins before the end of the last run is ignored. */
static void note_run(struct trace_view *view, uint32_t cpu, uint64_t from, uint64_t to, uint32_t run)
{
	struct view_cpu *row = cpu_get(view, cpu);

	from = from > view->history->from_ns ? from : view->history->from_ns;
	to = to < view->history->to_ns ? to : view->history->to_ns;
	if (!row || view->history->failed || from >= to || (row->runs.nr && from < row->runs.end))
		return;
	if (series_append(&row->runs, from, to, run, RUN_ALONE + CPU_UNKNOWN, true) < 0)
		view->failed = -ENOMEM;
}

static void on_cpu_time(void *data, uint32_t cpu, uint64_t from, uint64_t to, enum cpu_alone what)
{
	struct trace_view *view = data;
	const struct trace_history *history = view->history;

	if (history->failed != -E2BIG) {
		note_run(view, cpu, from, to, RUN_ALONE + what);
		return;
	}
	begin_beyond(view);
	from = from > history->from_ns ? from : history->from_ns;
	to = to < history->to_ns ? to : history->to_ns;
	if (from < to)
		note_cpu_beyond(view, cpu, alone_classes[what], from, to);
}

/* The history has the interval already. Most continue the run of their thread. */
static void on_run(void *data, uint32_t cpu, uint64_t from, uint64_t to, uint32_t timeline)
{
	struct trace_view *view = data;
	struct series *runs = cpu < view->nr_cpus ? &view->cpus[cpu].runs : NULL;

	if (runs && runs->nr && runs->end == from && runs->value[runs->nr - 1] == timeline && from < to &&
	    to <= view->history->to_ns && !view->history->failed)
		runs->end = to;
	else
		note_run(view, cpu, from, to, timeline);
}

static void on_soon(void *data, const struct trace_thread *thread, bool is_next)
{
	const struct trace_view *view = data;
	uint32_t timeline;

	if (!view->history->failed) {
		history_prefetch(view->history, thread, is_next);
	} else if (is_next && view->beyond.nr) {
		timeline = history_timeline(view->history, thread);
		if (timeline < view->beyond.nr_threads)
			memory_prefetch(&view->beyond.threads[timeline], 64);
	}
}

struct series *view_runs(void *view, uint32_t cpu)
{
	struct trace_view *self = view;

	return cpu < self->nr_cpus ? &self->cpus[cpu].runs : NULL;
}

static void on_done(void *data)
{
	struct trace_view *view = data;

	trim(view);
	for (uint32_t i = 0; i < view->beyond.nr_threads; i++)
		if (beyond_settle(&view->beyond, &view->beyond.threads[i]) < 0)
			view->failed = -ENOMEM;
	for (uint32_t i = 0; i < view->beyond.nr_cpus; i++)
		if (beyond_settle(&view->beyond, &view->beyond.cpus[i]) < 0)
			view->failed = -ENOMEM;
}

/* ---- threads and processes ---- */

/*
 * Threads are numbered as they appear, not as their first intervals end: a part of a trace
 * (trace_write_part()) has other intervals before the part, and the same numbers.
 */
static void on_new_thread(void *data, const struct trace_thread *thread)
{
	struct trace_view *view = data;

	if (!(thread->flags & THREAD_FILTERED))
		history_thread(view->history, thread);
}

static uint32_t process_row(struct trace_view *view, const struct trace_process *process)
{
	struct view_process_row *row = table_add(&view->process_by_pointer, sizeof(*row), (uintptr_t)process);
	uint32_t max = view->max_processes ? view->max_processes * 2 : 64;

	if (!row)
		return NO_THREAD;
	if (row->idx)
		return row->idx - 1;
	if (view->nr_processes >= view->max_processes) {
		struct view_process *bigger = reallocarray(view->processes, max, sizeof(*bigger));

		if (!bigger)
			return NO_THREAD;
		view->processes = bigger;
		view->max_processes = max;
	}
	view->processes[view->nr_processes] =
		(struct view_process){.process = process, .first = NO_THREAD, .last = NO_THREAD};
	row->idx = ++view->nr_processes;
	return row->idx - 1;
}

static bool thread_row(struct trace_view *view, uint32_t idx)
{
	uint32_t nr = process_row(view, trace_thread_process(view->history->timelines[idx].thread));
	struct view_process *process;

	if (nr == NO_THREAD)
		return false;
	process = &view->processes[nr];
	view->threads[idx] = (struct view_thread){.process = nr, .next = NO_THREAD};
	if (process->first == NO_THREAD)
		process->first = idx;
	else
		view->threads[process->last].next = idx;
	process->last = idx;
	return true;
}

/* A view without memory for its rows tells none of them, and its owner asks trace_view_error(). */
int view_refresh(struct trace_view *view)
{
	uint32_t nr = view->history->nr_timelines;

	if (nr > view->max_threads) {
		uint32_t max = nr + nr / 2 + 64;
		struct view_thread *bigger = reallocarray(view->threads, max, sizeof(*bigger));

		if (!bigger)
			return view->failed = -ENOMEM;
		view->threads = bigger;
		view->max_threads = max;
	}
	for (; view->nr_threads < nr; view->nr_threads++)
		if (!thread_row(view, view->nr_threads))
			return view->failed = -ENOMEM;
	return view->failed ? view->failed : view->history->failed == -ENOMEM ? -ENOMEM : 0;
}

uint64_t view_end(const struct trace_view *view)
{
	return view->analysis->done ? view->analysis->end_ns : view->analysis->now;
}

size_t trace_view_nr_rows(struct trace_view *view, enum trace_row_kind kind)
{
	if (view_refresh(view) < 0)
		return 0;
	return kind == TRACE_ROW_CPU	   ? view->nr_cpus
	       : kind == TRACE_ROW_PROCESS ? view->nr_processes
	       : kind == TRACE_ROW_THREAD  ? view->nr_threads
					   : 0;
}

static void thread_life(const struct trace_view *view, uint32_t idx, struct trace_row *row)
{
	const struct trace_thread *thread = view->history->timelines[idx].thread;

	row->thread = thread;
	row->from_ns = trace_thread_start_ns(thread);
	row->to_ns = thread->sched_state == SCHED_DEAD || view->analysis->done ? trace_thread_end_ns(thread)
									       : view_end(view);
}

static void process_life(const struct trace_view *view, const struct view_process *process, struct trace_row *row)
{
	row->from_ns = UINT64_MAX;
	for (uint32_t idx = process->first; idx != NO_THREAD; idx = view->threads[idx].next) {
		struct trace_row thread;

		thread_life(view, idx, &thread);
		row->from_ns = thread.from_ns < row->from_ns ? thread.from_ns : row->from_ns;
		row->to_ns = thread.to_ns > row->to_ns ? thread.to_ns : row->to_ns;
	}
}

bool trace_view_get_row(struct trace_view *view, struct trace_row_id id, struct trace_row *ret_row)
{
	if (id.index >= trace_view_nr_rows(view, id.kind))
		return false;
	*ret_row = (struct trace_row){.id = id};
	if (id.kind == TRACE_ROW_CPU) {
		ret_row->from_ns = view->analysis->start_ns;
		ret_row->to_ns = view_end(view);
	} else if (id.kind == TRACE_ROW_PROCESS) {
		ret_row->process = view->processes[id.index].process;
		process_life(view, &view->processes[id.index], ret_row);
	} else {
		ret_row->parent = view->threads[id.index].process;
		ret_row->process = view->processes[ret_row->parent].process;
		thread_life(view, id.index, ret_row);
	}
	return true;
}

bool trace_view_row_of(struct trace_view *view, const struct trace_thread *thread, struct trace_row_id *ret_id)
{
	uint32_t idx = history_timeline(view->history, thread);

	*ret_id = (struct trace_row_id){TRACE_ROW_THREAD, idx};
	return idx != NO_THREAD;
}

bool trace_view_row_of_process(struct trace_view *view, const struct trace_process *process,
			       struct trace_row_id *ret_id)
{
	const struct view_process_row *row;

	if (view_refresh(view) < 0)
		return false;
	row = table_find(&view->process_by_pointer, sizeof(*row), (uintptr_t)process);
	*ret_id = (struct trace_row_id){TRACE_ROW_PROCESS, row ? row->idx - 1 : 0};
	return row;
}

/* ---- begin, end ---- */

struct trace_view *trace_view_new(struct trace_analysis *analysis, const struct trace_view_options *options,
				  struct trace_error *ret_error)
{
	static const struct trace_view_options defaults = {.size = sizeof(defaults)};
	struct trace_history_options history = {.size = sizeof(history)};
	struct trace_view *view;

	if (!options)
		options = &defaults;
	if (analysis->hooks.cpu_time) {
		error_set(ret_error, -EBUSY, "the analysis has a view already");
		return NULL;
	}
	view = calloc(1, sizeof(*view));
	if (!view) {
		error_set(ret_error, -ENOMEM, "out of memory");
		return NULL;
	}
	history.from_ns = options->from_ns;
	history.to_ns = options->to_ns;
	history.max_intervals = options->max_intervals;
	history.command = options->command;
	view->analysis = analysis;
	view->history = trace_history_new(analysis, &history, ret_error);
	if (!view->history)
		return trace_view_free(view);
	view->history->with_pieces = true;
	view->history->runs = view_runs;
	view->history->on_run = on_run;
	view->history->beyond = on_beyond;
	view->history->view = view;
	analysis->hooks.cpu_time = on_cpu_time;
	analysis->hooks.soon = on_soon;
	analysis->hooks.done = on_done;
	analysis->hooks.cpu_time_data = view;
	analysis->hooks.new_thread = on_new_thread;
	analysis->hooks.new_thread_data = view;
	return view;
}

struct trace_view *trace_view_free(struct trace_view *view)
{
	if (!view)
		return NULL;
	if (view->analysis->hooks.cpu_time_data == view) {
		view->analysis->hooks.cpu_time = NULL;
		view->analysis->hooks.new_thread = NULL;
		view->analysis->hooks.soon = NULL;
		view->analysis->hooks.done = NULL;
	}
	trace_history_free(view->history);
	for (uint32_t i = 0; i < view->nr_threads; i++)
		free(view->threads[i].sums.sums);
	for (uint32_t i = 0; i < view->nr_cpus; i++) {
		series_free(&view->cpus[i].runs);
		free(view->cpus[i].sums.sums);
	}
	beyond_clear(&view->beyond);
	table_clear(&view->process_by_pointer);
	free(view->threads);
	free(view->processes);
	free(view->cpus);
	free(view);
	return NULL;
}

int trace_view_error(const struct trace_view *view)
{
	return view->failed ? view->failed : view->history->failed;
}

uint64_t trace_view_full_ns(const struct trace_view *view)
{
	return trace_view_error(view) == -E2BIG ? view->history->full_ns : 0;
}

struct trace_history *trace_view_history(const struct trace_view *view)
{
	return view->history;
}

const void *trace_view_notes(const struct trace_view *view, size_t *ret_nr)
{
	*ret_nr = view->nr_notes;
	return view->notes;
}

const char *trace_class_name(enum trace_class class_of_time)
{
	switch (class_of_time) {
	case TRACE_CLASS_WAIT_CPU:
		return "wait_cpu";
	case TRACE_CLASS_REST:
		return "rest";
	case TRACE_CLASS_RUNNING:
		return "running";
	case TRACE_CLASS_IDLE:
		return "idle";
	case TRACE_CLASS_ABSENT:
		return "absent";
	case TRACE_CLASS_UNREAD:
		return "unread";
	default:
		if (class_of_time >= TRACE_CLASS_WAIT)
			return trace_wait_kind_name(
				(enum trace_wait_kind)((unsigned int)class_of_time - TRACE_CLASS_WAIT));
		return trace_state_name((enum trace_state)class_of_time);
	}
}
