/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * critical_path_history.c - add to a history: intervals from the interval hook, forks and execs
 * from the event hook.
 *
 * The intervals of a thread arrive almost in order. A blocked interval arrives late: only when its
 * wait cause is known, after later intervals of the thread. So an interval that begins after the
 * end of the last one leaves a hole, and a late interval fills its hole. Nothing else is ever
 * overwritten: whatever the trace contains, a series has one entry for each instant.
 *
 * If there are too many intervals, the history becomes coarse, from its beginning on: all states on
 * a CPU become one. Most intervals are of that kind, because programs enter and leave the kernel
 * much more often than they are switched, and the path does not need them to be exact.
 */
#include "critical_path_history.h"
#include "command_name.h"
#include "error_set.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MAX_INTERVALS (16u << 20)

struct line_idx_row {
	uint64_t key;
	uint32_t idx;
};
struct birth_row {
	uint64_t key;
	uint64_t ns;
	uint32_t parent;
};

static void fail(struct trace_history *history, int error)
{
	if (!history->failed)
		history->failed = error;
}

/* ---- series ---- */

uint32_t series_before(const struct series *series, uint64_t ns)
{
	uint32_t low = 0, high = series->nr;

	if (!series->nr || ns <= series->from[0] || ns > series->end)
		return UINT32_MAX;
	while (high - low > 1) {
		uint32_t middle = low + (high - low) / 2;

		if (series->from[middle] < ns)
			low = middle;
		else
			high = middle;
	}
	return low;
}

static bool series_room(struct trace_history *history, struct series *series, uint32_t nr)
{
	uint32_t max = series->max + series->max / 2 + 8;
	uint64_t *from;
	uint32_t *what;

	if (series->nr + nr <= series->max)
		return true;
	from = reallocarray(series->from, max, sizeof(*from));
	if (from)
		series->from = from;
	what = reallocarray(series->what, max, sizeof(*what));
	if (what)
		series->what = what;
	if (!from || !what) {
		fail(history, -ENOMEM);
		return false;
	}
	series->max = max;
	return true;
}

static void series_append(struct trace_history *history, struct series *series, uint64_t from, uint64_t to,
			  uint32_t what)
{
	bool joins = series->nr && from == series->end && series->what[series->nr - 1] == what;

	/* A wait is not extended: its end is the instant of its wakeup. */
	if (joins && history->moments[what].state != TRACE_STATE_BLOCKED) {
		series->end = to;
		return;
	}
	if (!series_room(history, series, 2))
		return;
	if (series->nr && from > series->end) {
		series->from[series->nr] = series->end;
		series->what[series->nr++] = HOLE;
		history->nr_intervals++;
	}
	series->from[series->nr] = from;
	series->what[series->nr++] = what;
	series->end = to;
	history->nr_intervals++;
}

static void series_insert(struct trace_history *history, struct series *series, uint32_t idx, uint64_t from,
			  uint32_t what)
{
	if (!series_room(history, series, 1))
		return;
	memmove(series->from + idx + 1, series->from + idx, (series->nr - idx) * sizeof(*series->from));
	memmove(series->what + idx + 1, series->what + idx, (series->nr - idx) * sizeof(*series->what));
	series->from[idx] = from;
	series->what[idx] = what;
	series->nr++;
	history->nr_intervals++;
}

/* Put the part of the interval that is in the hole @idx there; the rest of the hole stays. */
static void fill_hole(struct trace_history *history, struct series *series, uint32_t idx, uint64_t from, uint64_t to,
		      uint32_t what)
{
	uint64_t hole_from = series->from[idx], hole_to = series_to(series, idx);

	if (to < hole_to)
		series_insert(history, series, idx + 1, to, HOLE);
	if (from > hole_from)
		series_insert(history, series, idx + 1, from, what);
	else
		series->what[idx] = what;
}

static void fill_holes(struct trace_history *history, struct series *series, uint64_t from, uint64_t to, uint32_t what)
{
	while (from < to && !history->failed) {
		uint32_t idx = series_before(series, to);
		uint64_t start;

		if (idx == UINT32_MAX)
			return;
		start = series->from[idx] > from ? series->from[idx] : from;
		if (series->what[idx] == HOLE)
			fill_hole(history, series, idx, start, to, what);
		to = start;
	}
}

/* The time before the first entry is a hole, too. It gets an entry when it is needed. */
static void series_put(struct trace_history *history, struct series *series, uint64_t from, uint64_t to, uint32_t what)
{
	if (series->nr && from < series->from[0])
		series_insert(history, series, 0, from, HOLE);
	if (history->failed)
		return;
	if (series->nr && from < series->end) {
		fill_holes(history, series, from, to < series->end ? to : series->end, what);
		from = series->end;
	}
	if (from < to && !history->failed)
		series_append(history, series, from, to, what);
}

static void series_clear(struct series *series)
{
	free(series->from);
	free(series->what);
}

/* ---- moments ---- */

static const char *text_of(const char *text)
{
	static const char none[] = "";

	return text && *text ? text : none;
}

static struct history_moment moment_of(enum trace_state state)
{
	const char *none = text_of(NULL);

	return (struct history_moment){.name = none,
				       .target = none,
				       .via = none,
				       .path = none,
				       .waker = NO_THREAD,
				       .cpu = -1,
				       .state = (uint8_t)state};
}

static uint64_t moment_hash(const struct history_moment *m)
{
	uint64_t parts[] = {
		(uintptr_t)m->name,
		(uintptr_t)m->target,
		(uintptr_t)m->via,
		(uintptr_t)m->other,
		(uintptr_t)m->path,
		m->address,
		m->waker,
		(uint64_t)(uint32_t)m->cpu << 32 | (uint64_t)m->state << 16 | (uint64_t)m->kind << 8 | m->idle};
	uint64_t hash = 1;

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		hash = hash_u64(hash ^ parts[i]);
	return hash ? hash : 1;
}

static bool moment_equal(const struct history_moment *a, const struct history_moment *b)
{
	return a->name == b->name && a->target == b->target && a->via == b->via && a->other == b->other &&
	       a->waker == b->waker && a->path == b->path && a->address == b->address && a->cpu == b->cpu &&
	       a->state == b->state && a->kind == b->kind && a->idle == b->idle;
}

static uint32_t moment_new(struct trace_history *history, const struct history_moment *moment)
{
	uint32_t max = history->max_moments ? history->max_moments * 2 : 64;
	struct history_moment *bigger;

	if (history->nr_moments >= history->max_moments) {
		bigger = reallocarray(history->moments, max, sizeof(*bigger));
		if (!bigger) {
			fail(history, -ENOMEM);
			return HOLE;
		}
		history->moments = bigger;
		history->max_moments = max;
	}
	history->moments[history->nr_moments] = *moment;
	return history->nr_moments++;
}

static uint32_t moment_get(struct trace_history *history, struct history_moment *moment)
{
	struct line_idx_row *row;

	for (moment->hash = moment_hash(moment);; moment->hash += moment->hash == UINT64_MAX ? 2 : 1) {
		row = table_add(&history->moment_by_hash, sizeof(*row), moment->hash);
		if (!row) {
			fail(history, -ENOMEM);
			return HOLE;
		}
		if (!row->idx)
			return row->idx = moment_new(history, moment);
		if (moment_equal(&history->moments[row->idx], moment))
			return row->idx;
	}
}

/* ---- lines ---- */

uint32_t history_line(const struct trace_history *history, const struct trace_thread *thread)
{
	const struct line_idx_row *row = table_find(&history->line_by_thread, sizeof(*row), (uintptr_t)thread);

	return row ? row->idx : NO_THREAD;
}

static uint32_t parent_of(const struct trace_history *history, const struct trace_thread *thread)
{
	const struct birth_row *birth = table_find(&history->births, sizeof(*birth), trace_thread_tid(thread) + 1ull);

	return birth && birth->ns == trace_thread_start_ns(thread) ? birth->parent : NO_THREAD;
}

static uint32_t line_new(struct trace_history *history, const struct trace_thread *thread)
{
	uint32_t max = history->max_lines ? history->max_lines * 2 : 64;
	struct line_idx_row *row;

	if (history->nr_lines >= history->max_lines) {
		struct line *bigger = reallocarray(history->lines, max, sizeof(*bigger));

		if (!bigger)
			goto fail;
		history->lines = bigger;
		history->max_lines = max;
	}
	row = table_add(&history->line_by_thread, sizeof(*row), (uintptr_t)thread);
	if (!row)
		goto fail;
	row->idx = history->nr_lines;
	history->lines[row->idx] = (struct line){.thread = thread, .parent = parent_of(history, thread)};
	return history->nr_lines++;
fail:
	fail(history, -ENOMEM);
	return NO_THREAD;
}

static uint32_t line_get(struct trace_history *history, const struct trace_thread *thread)
{
	uint32_t idx = history_line(history, thread);

	return idx == NO_THREAD ? line_new(history, thread) : idx;
}

/* ---- limit on the number of intervals ---- */

static bool is_on_cpu(uint8_t state)
{
	return state != TRACE_STATE_WAIT_CPU && state != TRACE_STATE_BLOCKED;
}

static void line_coarsen(struct trace_history *history, struct series *series)
{
	uint32_t nr = 0;

	for (uint32_t i = 0; i < series->nr; i++) {
		uint32_t what = series->what[i];

		if (what != HOLE && is_on_cpu(history->moments[what].state))
			what = history->running;
		if (nr && what == history->running && series->what[nr - 1] == what)
			continue;
		series->from[nr] = series->from[i];
		series->what[nr++] = what;
	}
	history->nr_intervals -= series->nr - nr;
	series->nr = nr;
}

/* Interrupts become part of the time slice in which they occurred. */
static void cpu_coarsen(struct trace_history *history, struct series *series)
{
	uint32_t nr = 0;

	for (uint32_t i = 0; i < series->nr; i++) {
		if (nr && (series->what[i] == INTERRUPTS || series->what[i] == series->what[nr - 1]))
			continue;
		series->from[nr] = series->from[i];
		series->what[nr++] = series->what[i];
	}
	history->nr_intervals -= series->nr - nr;
	series->nr = nr;
}

static void coarsen(struct trace_history *history)
{
	struct history_moment running = moment_of(TRACE_STATE_RUNNING);

	if (!history->coarse) {
		history->running = moment_get(history, &running);
		history->coarse = true;
		for (uint32_t i = 0; i < history->nr_lines; i++)
			line_coarsen(history, &history->lines[i].series);
		for (uint32_t i = 0; i < history->nr_cpus; i++)
			cpu_coarsen(history, &history->cpus[i]);
	}
	if (history->nr_intervals >= history->max_intervals)
		fail(history, -E2BIG);
}

/* ---- from the hooks ---- */

static struct series *cpu_series(struct trace_history *history, uint32_t cpu)
{
	struct series *bigger;

	if (cpu < history->nr_cpus)
		return &history->cpus[cpu];
	bigger = reallocarray(history->cpus, cpu + 1, sizeof(*bigger));
	if (!bigger) {
		fail(history, -ENOMEM);
		return NULL;
	}
	memset(bigger + history->nr_cpus, 0, (cpu + 1 - history->nr_cpus) * sizeof(*bigger));
	history->cpus = bigger;
	history->nr_cpus = cpu + 1;
	return &history->cpus[cpu];
}

/*
 * Note the thread that had the CPU. These calls come in order; an interval that begins before the
 * end of the last one is ignored.
 */
static void keep_slice(struct trace_history *history, uint32_t cpu, uint64_t from, uint64_t to, uint32_t who)
{
	struct series *series = cpu_series(history, cpu);

	if (!series || !series_room(history, series, 2) || (series->nr && from < series->end))
		return;
	if (series->nr && from > series->end) {
		series->from[series->nr] = series->end;
		series->what[series->nr++] = NO_THREAD;
		history->nr_intervals++;
	}
	if (!series->nr || series->what[series->nr - 1] != who) {
		series->from[series->nr] = from;
		series->what[series->nr++] = who;
		history->nr_intervals++;
	}
	series->end = to;
}

/* Note the lock of a wait: it is an argument of the call that is about to end. */
static void note_lock(struct trace_analysis *analysis, const struct trace_thread *thread, struct history_moment *moment)
{
	uint64_t argument = trace_thread_syscall_arg(thread, 0);

	if (strcmp(moment->via, "futex") == 0 || strcmp(moment->via, "semaphore") == 0)
		moment->address = argument;
	else if (strcmp(moment->via, "lock") == 0)
		moment->path = text_of(trace_thread_file(analysis, thread, (int)argument));
}

static void on_interval(void *data, struct trace_analysis *analysis, const struct trace_interval *interval)
{
	struct trace_history *history = data;
	uint64_t from = interval->from_ns > history->from_ns ? interval->from_ns : history->from_ns;
	uint64_t to = interval->to_ns < history->to_ns ? interval->to_ns : history->to_ns;
	bool off_cpu = !is_on_cpu((uint8_t)interval->state);
	const struct trace_thread *waker = interval->worker ? interval->worker : interval->waker;
	struct history_moment moment = moment_of(interval->state);
	uint32_t line, what;

	if (history->failed)
		return;
	/*
	 * Also for an interval outside the window: the thread's parent is known now, and perhaps
	 * not later.
	 */
	line = line_get(history, interval->thread);
	if (from >= to || line == NO_THREAD)
		return;
	moment.name = text_of(interval->name);
	if (interval->state == TRACE_STATE_BLOCKED) {
		moment.kind = (uint8_t)interval->kind;
		moment.idle = interval->idle;
		moment.target = text_of(interval->target);
		moment.via = text_of(interval->via);
		moment.other = interval->other;
		note_lock(analysis, interval->thread, &moment);
		moment.waker = waker ? line_get(history, waker) : NO_THREAD;
	} else if (interval->state == TRACE_STATE_WAIT_CPU) {
		moment.cpu = interval->cpu;
	}
	if (history->nr_intervals >= history->max_intervals)
		coarsen(history);
	what = history->coarse && !off_cpu ? history->running : moment_get(history, &moment);
	series_put(history, &history->lines[line].series, from, to, what);
	if (!off_cpu && interval->cpu >= 0)
		keep_slice(history, (uint32_t)interval->cpu, from, to,
			   interval->state == TRACE_STATE_INTERRUPTED && !history->coarse ? INTERRUPTS : line);
}

/*
 * Rank of @thread among several of the command's name: a child of the recorder first, because the
 * recorder forks the command before it begins to record; then one that existed at the start; then
 * the first.
 */
static int belief(const struct trace_history *history, const struct trace_thread *thread)
{
	const struct trace_thread *parent = trace_find_thread(history->analysis,
							      trace_process_ppid(trace_thread_process(thread)));
	uint64_t start, end;

	trace_analysis_window(history->analysis, &start, &end);
	if (trace_thread_start_ns(thread) > start)
		return 1;
	return parent && strcmp(trace_thread_comm(parent), "tracedaemon") == 0 ? 3 : 2;
}

static void on_exec(struct trace_history *history, const struct trace_event *event)
{
	const struct trace_thread *thread;

	if (!history->command_line || event->type->fixed_bytes < sizeof(struct trace_sched_exec))
		return;
	/* the thread with its tid may have changed already */
	thread = trace_event_thread(history->analysis, event);
	if (!thread || !runs_command(thread, trace_event_string(event), history->command_line))
		return;
	if (belief(history, thread) <= history->command_belief)
		return;
	history->command = thread;
	history->command_ns = event->ts_ns;
	history->command_belief = belief(history, thread);
}

static void on_event(void *data, struct trace_analysis *analysis, const struct trace_event *event)
{
	struct trace_history *history = data;
	const struct trace_sched_fork *fork = event->payload;
	const struct trace_thread *parent;
	struct birth_row *birth;

	if (event->id == TRACE_EV_sched_exec) {
		on_exec(history, event);
		return;
	}
	if (event->type->fixed_bytes < sizeof(*fork))
		return;
	parent = trace_find_thread(analysis, fork->parent_tid);
	birth = table_add(&history->births, sizeof(*birth), fork->tid + 1ull);
	if (!birth) {
		fail(history, -ENOMEM);
		return;
	}
	birth->ns = event->ts_ns;
	birth->parent = parent ? line_get(history, parent) : NO_THREAD;
}

/* ---- begin, end ---- */

struct trace_history *trace_history_new(struct trace_analysis *analysis, const struct trace_history_options *options,
					struct trace_error *ret_error)
{
	static const struct trace_history_options defaults = {.size = sizeof(defaults)};
	uint64_t mask[4] = {0};
	struct trace_history *history;
	struct history_moment hole;
	int error = -ENOMEM;

	if (!options)
		options = &defaults;
	if (options->to_ns && options->to_ns <= options->from_ns) {
		error_set(ret_error, -EINVAL, "the window is empty: its end is not after its beginning");
		return NULL;
	}
	history = calloc(1, sizeof(*history));
	if (!history)
		goto fail;
	history->analysis = analysis;
	history->from_ns = options->from_ns;
	history->to_ns = options->to_ns ? options->to_ns : UINT64_MAX;
	history->command_line = options->command && *options->command ? options->command : NULL;
	history->max_intervals = options->max_intervals ? options->max_intervals : MAX_INTERVALS;
	hole = moment_of(TRACE_STATE_BLOCKED);
	hole.kind = TRACE_WAIT_UNKNOWN;
	moment_new(history, &hole);
	mask[TRACE_EV_sched_fork / 64] |= 1ull << TRACE_EV_sched_fork % 64;
	mask[TRACE_EV_sched_exec / 64] |= 1ull << TRACE_EV_sched_exec % 64;
	if (history->failed)
		goto fail;
	error = trace_analysis_on_event(analysis, mask, on_event, history);
	if (!error)
		error = trace_analysis_on_interval(analysis, on_interval, history);
	if (!error)
		return history;
fail:
	error_set(ret_error, error, "%s",
		  error == -EBUSY ? "the analysis was run already; create the history before it" : "out of memory");
	return trace_history_free(history);
}

struct trace_history *trace_history_free(struct trace_history *history)
{
	if (!history)
		return NULL;
	for (uint32_t i = 0; i < history->nr_lines; i++)
		series_clear(&history->lines[i].series);
	for (uint32_t i = 0; i < history->nr_cpus; i++)
		series_clear(&history->cpus[i]);
	table_clear(&history->line_by_thread);
	table_clear(&history->moment_by_hash);
	table_clear(&history->births);
	free(history->lines);
	free(history->cpus);
	free(history->moments);
	free(history);
	return NULL;
}

bool trace_history_is_coarse(const struct trace_history *history)
{
	return history->coarse;
}

size_t trace_history_nr_intervals(const struct trace_history *history)
{
	return history->nr_intervals;
}

const struct trace_thread *trace_history_command(const struct trace_history *history, uint64_t *ret_exec_ns)
{
	if (history->command && ret_exec_ns)
		*ret_exec_ns = history->command_ns;
	return history->command;
}
