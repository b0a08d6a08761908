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
#include "history_pieces.h"
#include "hooks.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MAX_INTERVALS (16u << 20)

struct history_idx_row {
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
	if (history->failed)
		return;
	history->failed = error;
	history->full_ns = trace_analysis_now(history->analysis);
	if (error != -E2BIG || !history->beyond)
		hooks_end_on_cpu(history->analysis, history, history->full_ns);
}

/* ---- series ---- */

static bool series_room(struct trace_history *history, struct series *series, uint32_t nr)
{
	if (series_has_room(series, nr))
		return true;
	fail(history, -ENOMEM);
	return false;
}

static void append(struct trace_history *history, struct series *series, uint64_t from, uint64_t to, uint32_t value)
{
	/* A wait is not extended: its end is the instant of its wakeup. */
	bool joins = !(value & PIECE) && history->activities[value].state != TRACE_STATE_BLOCKED;
	int nr = series_append(series, from, to, value, HOLE, joins);

	if (nr < 0)
		fail(history, nr);
	else
		history->nr_intervals += (size_t)nr;
}

static void series_insert(struct trace_history *history, struct series *series, uint32_t idx, uint64_t from,
			  uint32_t value)
{
	if (!series_room(history, series, 1))
		return;
	memmove(series->from + idx + 1, series->from + idx, (series->nr - idx) * sizeof(*series->from));
	memmove(series->value + idx + 1, series->value + idx, (series->nr - idx) * sizeof(*series->value));
	series->from[idx] = from;
	series->value[idx] = value;
	series->nr++;
	series->changes++;
	history->nr_intervals++;
}

/* Put the part of the interval that is in the hole @idx there; the rest of the hole stays. */
static void fill_hole(struct trace_history *history, struct series *series, uint32_t idx, uint64_t from, uint64_t to,
		      uint32_t value)
{
	uint64_t hole_from = series->from[idx], hole_to = series_to(series, idx);

	if (to < hole_to)
		series_insert(history, series, idx + 1, to, HOLE);
	if (from > hole_from)
		series_insert(history, series, idx + 1, from, value);
	else
		series->value[idx] = value;
	series->changes++;
}

/* @from is not before the first entry, and @to is not after the end: it is near it. */
static void fill_holes(struct trace_history *history, struct series *series, uint64_t from, uint64_t to, uint32_t value)
{
	series->recent = series->nr - 1;
	while (from < to && !history->failed) {
		uint32_t idx = series_before_near(series, to);
		uint64_t start = series->from[idx] > from ? series->from[idx] : from;

		if (series->value[idx] == HOLE)
			fill_hole(history, series, idx, start, to, value);
		to = start;
	}
}

/*
 * A late interval. The time before the first entry is a hole, too: it gets an entry when it is
 * needed. Most begin after one of the last entries, so the first one need not be fetched.
 */
static void series_put_late(struct trace_history *history, struct series *series, uint64_t from, uint64_t to,
			    uint32_t value)
{
	uint32_t recent = series->nr > NR_RECENT ? series->nr - NR_RECENT : 0;

	if (from < series->from[recent] && from < series->from[0])
		series_insert(history, series, 0, from, HOLE);
	if (!history->failed)
		fill_holes(history, series, from, to < series->end ? to : series->end, value);
}

static void series_put(struct trace_history *history, struct series *series, uint64_t from, uint64_t to, uint32_t value)
{
	if (series->nr && from < series->end) {
		series_put_late(history, series, from, to, value);
		from = series->end;
	}
	if (from < to && !history->failed)
		append(history, series, from, to, value);
}

/* ---- activities ---- */

static const char *text_of(const char *text)
{
	static const char none[] = "";

	return text && *text ? text : none;
}

static struct history_activity activity_of(enum trace_state state)
{
	const char *none = text_of(NULL);

	return (struct history_activity){.name = none,
					 .target = none,
					 .via = none,
					 .path = none,
					 .waker = NO_THREAD,
					 .cpu = -1,
					 .state = (uint8_t)state};
}

static uint64_t activity_hash(const struct history_activity *m)
{
	uint64_t parts[] = {(uintptr_t)m->name,
			    (uintptr_t)m->target,
			    (uintptr_t)m->via,
			    (uintptr_t)m->other,
			    (uintptr_t)m->path,
			    m->address,
			    m->waker,
			    (uint64_t)(uint32_t)m->cpu << 32 | (uint64_t)m->state << 16 | (uint64_t)m->kind << 8 |
				    (uint64_t)m->again << 1 | m->idle};
	uint64_t hash = 1;

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		hash = hash_u64(hash ^ parts[i]);
	return hash ? hash : 1;
}

static bool activity_equal(const struct history_activity *a, const struct history_activity *b)
{
	return a->name == b->name && a->target == b->target && a->via == b->via && a->other == b->other &&
	       a->waker == b->waker && a->path == b->path && a->address == b->address && a->cpu == b->cpu &&
	       a->state == b->state && a->kind == b->kind && a->idle == b->idle && a->again == b->again;
}

static uint32_t activity_new(struct trace_history *history, const struct history_activity *activity)
{
	uint32_t max = history->max_activities ? history->max_activities * 2 : 64;
	struct history_activity *bigger;
	uint8_t *classes;

	if (history->nr_activities >= history->max_activities) {
		bigger = reallocarray(history->activities, max, sizeof(*bigger));
		if (bigger)
			history->activities = bigger;
		classes = reallocarray(history->classes, max, sizeof(*classes));
		if (classes)
			history->classes = classes;
		if (!bigger || !classes) {
			fail(history, -ENOMEM);
			return HOLE;
		}
		history->max_activities = max;
	}
	history->activities[history->nr_activities] = *activity;
	history->classes[history->nr_activities] = (uint8_t)trace_class_of((enum trace_state)activity->state,
									   (enum trace_wait_kind)activity->kind,
									   activity->idle);
	return history->nr_activities++;
}

uint32_t history_activity_get(struct trace_history *history, struct history_activity *activity)
{
	struct history_idx_row *row;

	for (activity->hash = activity_hash(activity);; activity->hash += activity->hash == UINT64_MAX ? 2 : 1) {
		row = table_add(&history->activity_by_hash, sizeof(*row), activity->hash);
		if (!row) {
			fail(history, -ENOMEM);
			return HOLE;
		}
		if (!row->idx)
			return row->idx = activity_new(history, activity);
		if (activity_equal(&history->activities[row->idx], activity))
			return row->idx;
	}
}

static struct history_memo *memo_of(struct trace_history *history, enum trace_state state, const char *name,
				    int32_t cpu)
{
	uint64_t key = (uintptr_t)name ^ (uint64_t)(uint32_t)cpu << 8 ^ state;

	return &history->memos[hash_u64(key) % HISTORY_MEMOS];
}

static bool memo_is(const struct history_memo *memo, enum trace_state state, const char *name, int32_t cpu)
{
	return memo->name == name && memo->cpu == cpu && memo->state == state;
}

/*
 * The activity of an interval on a CPU, or of a wait for @cpu. Most intervals are such, and differ
 * in few names: the last ones are remembered.
 */
static uint32_t activity_by_name(struct trace_history *history, enum trace_state state, const char *name, int32_t cpu)
{
	struct history_memo *memo = memo_of(history, state, name, cpu);

	if (!memo_is(memo, state, name, cpu)) {
		struct history_activity activity = activity_of(state);

		activity.name = name;
		activity.cpu = cpu;
		*memo = (struct history_memo){name, cpu, history_activity_get(history, &activity), (uint8_t)state};
	}
	return memo->value;
}

/* ---- timelines ---- */

uint32_t history_timeline(const struct trace_history *history, const struct trace_thread *thread)
{
	uint32_t idx = trace_thread_index(thread);

	return idx < history->nr_by_thread ? history->timeline_by_thread[idx] - 1 : NO_THREAD;
}
_Static_assert(NO_THREAD == UINT32_MAX, "0 - 1 is no timeline");

void history_prefetch(const struct trace_history *history, const struct trace_thread *thread, bool is_next)
{
	uint32_t idx = history_timeline(history, thread);
	const struct thread_timeline *timeline;

	if (idx == NO_THREAD)
		return;
	timeline = &history->timelines[idx];
	if (!is_next) {
		memory_prefetch(timeline, sizeof(*timeline));
		return;
	}
	if (timeline->series.nr) {
		line_prefetch(timeline->series.from + timeline->series.nr);
		line_prefetch(timeline->series.value + timeline->series.nr);
	}
	if (timeline->nr_pieces)
		line_prefetch(timeline->pieces + timeline->nr_pieces);
}

static uint32_t parent_of(const struct trace_history *history, const struct trace_thread *thread)
{
	const struct birth_row *birth = table_find(&history->births, sizeof(*birth), trace_thread_tid(thread) + 1ull);

	return birth && birth->ns == trace_thread_start_ns(thread) ? birth->parent : NO_THREAD;
}

int history_set_timeline(struct trace_history *history, const struct trace_thread *thread, uint32_t idx)
{
	uint32_t at = trace_thread_index(thread), nr = history->nr_by_thread;

	if (at >= nr) {
		uint32_t more = at + at / 2 + 64, *bigger;

		bigger = reallocarray(history->timeline_by_thread, more, sizeof(*bigger));
		if (!bigger)
			return -ENOMEM;
		memset(bigger + nr, 0, (more - nr) * sizeof(*bigger));
		history->timeline_by_thread = bigger;
		history->nr_by_thread = more;
	}
	history->timeline_by_thread[at] = idx + 1;
	return 0;
}

static uint32_t timeline_new(struct trace_history *history, const struct trace_thread *thread)
{
	uint32_t max = history->max_timelines ? history->max_timelines * 2 : 64, idx = history->nr_timelines;

	if (history->nr_timelines >= history->max_timelines) {
		struct thread_timeline *bigger = reallocarray(history->timelines, max, sizeof(*bigger));

		if (!bigger)
			goto fail;
		history->timelines = bigger;
		history->max_timelines = max;
	}
	if (history_set_timeline(history, thread, idx) < 0)
		goto fail;
	history->timelines[idx] = (struct thread_timeline){.thread = thread, .parent = parent_of(history, thread)};
	return history->nr_timelines++;
fail:
	fail(history, -ENOMEM);
	return NO_THREAD;
}

static uint32_t timeline_get(struct trace_history *history, const struct trace_thread *thread)
{
	uint32_t idx = history_timeline(history, thread);

	return idx == NO_THREAD ? timeline_new(history, thread) : idx;
}

/* ---- limit on the number of intervals ---- */

/* Once coarse: the next interval on a CPU of @timeline. */
static void put_on_cpu(struct trace_history *history, struct thread_timeline *timeline, uint64_t from, uint64_t to,
		       uint8_t state)
{
	struct series *series = &timeline->series;

	if (!history->with_pieces || (series->nr && from < series->end)) {
		series_put(history, series, from, to, history->running);
		return;
	}
	while (from < to && !history->failed) {
		uint64_t end = to - from > UINT32_MAX ? from + UINT32_MAX : to;
		uint32_t last = series->nr ? series->value[series->nr - 1] : HOLE, piece;

		if (series->nr && from == series->end &&
		    piece_has_room(timeline, last, series->from[series->nr - 1], end))
			series->end = end;
		else if ((piece = piece_new(timeline)) != HOLE)
			append(history, series, from, end, piece);
		else
			fail(history, -ENOMEM);
		if (!history->failed)
			piece_add_ns(timeline, state, end - from);
		from = end;
	}
}

static void timeline_coarsen(struct trace_history *history, struct series *series)
{
	uint32_t nr = 0;

	for (uint32_t i = 0; i < series->nr; i++) {
		uint32_t value = series->value[i];

		if (value != HOLE && is_on_cpu(history->activities[value].state))
			value = history->running;
		if (nr && value == history->running && series->value[nr - 1] == value)
			continue;
		series->from[nr] = series->from[i];
		series->value[nr++] = value;
	}
	history->nr_intervals -= series->nr - nr;
	series->nr = nr;
	series->changes++;
}

/* Interrupts become part of the time slice in which they occurred. */
static void cpu_coarsen(struct trace_history *history, struct series *series)
{
	uint32_t nr = 0;

	for (uint32_t i = 0; i < series->nr; i++) {
		if (nr && (series->value[i] == INTERRUPTS || series->value[i] == series->value[nr - 1]))
			continue;
		series->from[nr] = series->from[i];
		series->value[nr++] = series->value[i];
	}
	history->nr_intervals -= series->nr - nr;
	series->nr = nr;
}

static void forget_cpus(struct trace_history *history)
{
	for (uint32_t i = 0; i < history->nr_cpus; i++) {
		history->nr_intervals -= history->cpus[i].nr;
		series_free(&history->cpus[i]);
	}
	free(history->cpus);
	history->cpus = NULL;
	history->nr_cpus = 0;
}

static void coarsen(struct trace_history *history)
{
	struct history_activity running = activity_of(TRACE_STATE_RUNNING);

	if (!history->coarse) {
		history->running = history_activity_get(history, &running);
		history->coarse = true;
		for (uint32_t i = 0; i < history->nr_timelines; i++)
			if (!history->with_pieces)
				timeline_coarsen(history, &history->timelines[i].series);
			else if (pieces_of_timeline(history, &history->timelines[i]) < 0)
				fail(history, -ENOMEM);
		for (uint32_t i = 0; i < history->nr_timelines; i++)
			series_trim(&history->timelines[i].series, history->timelines[i].series.nr / 2 + 8);
		if (history->runs)
			forget_cpus(history);
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
static void note_cpu_holder(struct trace_history *history, uint32_t cpu, uint64_t from, uint64_t to, uint32_t holder)
{
	struct series *series = cpu_series(history, cpu);

	if (!series || !series_room(history, series, 2) || (series->nr && from < series->end))
		return;
	if (series->nr && from > series->end) {
		series->from[series->nr] = series->end;
		series->value[series->nr++] = NO_THREAD;
		history->nr_intervals++;
	}
	if (!series->nr || series->value[series->nr - 1] != holder) {
		series->from[series->nr] = from;
		series->value[series->nr++] = holder;
		history->nr_intervals++;
	}
	series->end = to;
}
static bool tells_beyond(const struct trace_history *history)
{
	return history->failed == -E2BIG && history->beyond;
}

/* The part of an interval that is in the window, once the history is full. */
static void tell_beyond(struct trace_history *history, const struct trace_thread *thread, int32_t cpu, uint64_t from,
			uint64_t to, enum trace_class class_of_time)
{
	uint32_t timeline;

	from = from > history->from_ns ? from : history->from_ns;
	to = to < history->to_ns ? to : history->to_ns;
	if (!tells_beyond(history) || from >= to)
		return;
	timeline = timeline_get(history, thread);
	if (timeline != NO_THREAD)
		history->beyond(history->view, timeline, cpu, from, to, class_of_time);
}

void history_thread(struct trace_history *history, const struct trace_thread *thread)
{
	if (!history->failed || tells_beyond(history))
		timeline_get(history, thread);
}

/*
 * Note the lock of a wait: it has a @path, or it is an argument of the call that is about to end.
 */
static void note_lock(struct trace_analysis *analysis, const struct trace_thread *thread, const char *path,
		      struct history_activity *activity)
{
	uint64_t argument = trace_thread_syscall_arg(thread, 0);

	if (strcmp(activity->via, "futex") == 0 || strcmp(activity->via, "semaphore") == 0)
		activity->address = argument;
	else if (strcmp(activity->via, "lock") == 0)
		activity->path = text_of(path && *path ? path : trace_thread_file(analysis, thread, (int)argument));
}

/* A thread often waits for the same again. */
static uint32_t blocked_activity(struct trace_history *history, struct trace_analysis *analysis, uint32_t timeline,
				 const struct trace_interval *interval)
{
	const struct trace_thread *waker = interval->worker ? interval->worker : interval->waker;
	struct history_activity activity = activity_of(interval->state);
	uint32_t *last;

	activity.name = text_of(interval->name);
	activity.kind = (uint8_t)interval->kind;
	activity.idle = interval->idle;
	activity.target = text_of(interval->target);
	activity.via = text_of(interval->via);
	activity.other = interval->other;
	note_lock(analysis, interval->thread, interval->path, &activity);
	activity.waker = waker ? timeline_get(history, waker) : NO_THREAD;
	last = &history->timelines[timeline].blocked; /* after timeline_get(), which may move it */
	if (*last == HOLE || !activity_equal(&history->activities[*last], &activity))
		*last = history_activity_get(history, &activity);
	return *last;
}

/* The part of an interval from @from to @to, which is in the window. */
static void put_interval(struct trace_history *history, struct trace_analysis *analysis, uint32_t timeline,
			 const struct trace_interval *interval, uint64_t from, uint64_t to)
{
	enum trace_state state = interval->state;
	bool on_cpu = is_on_cpu((uint8_t)state);
	uint32_t value;

	if (history->nr_intervals >= history->max_intervals)
		coarsen(history);
	if (on_cpu)
		history->timelines[timeline].asked.other_ns += to - from;
	if (state == TRACE_STATE_RUNNING && !history->timelines[timeline].running_since)
		history->timelines[timeline].running_since = from;
	if (history->coarse && on_cpu) {
		put_on_cpu(history, &history->timelines[timeline], from, to, (uint8_t)state);
	} else {
		value = state == TRACE_STATE_BLOCKED ? blocked_activity(history, analysis, timeline, interval)
						     : activity_by_name(history, state, text_of(interval->name),
									on_cpu ? -1 : interval->cpu);
		series_put(history, &history->timelines[timeline].series, from, to, value);
		if (state == TRACE_STATE_BLOCKED && !history->failed)
			history_note_again(history, timeline, interval, value);
	}
	if (on_cpu && interval->cpu >= 0 && !(history->coarse && history->runs))
		note_cpu_holder(history, (uint32_t)interval->cpu, from, to,
				state == TRACE_STATE_INTERRUPTED && !history->coarse ? INTERRUPTS : timeline);
}

static void on_interval(void *data, struct trace_analysis *analysis, const struct trace_interval *interval)
{
	struct trace_history *history = data;
	uint64_t from = interval->from_ns > history->from_ns ? interval->from_ns : history->from_ns;
	uint64_t to = interval->to_ns < history->to_ns ? interval->to_ns : history->to_ns;
	uint32_t timeline;

	if (history->failed) {
		tell_beyond(history, interval->thread, is_on_cpu((uint8_t)interval->state) ? interval->cpu : -1,
			    interval->from_ns, interval->to_ns,
			    trace_class_of(interval->state, interval->kind, interval->idle));
		return;
	}
	/*
	 * Also for an interval outside the window: the thread's parent is known now, and perhaps
	 * not later.
	 */
	timeline = timeline_get(history, interval->thread);
	if (from < to && timeline != NO_THREAD) {
		put_interval(history, analysis, timeline, interval, from, to);
		if (history->on_run && is_on_cpu((uint8_t)interval->state) && interval->cpu >= 0)
			history->on_run(history->view, (uint32_t)interval->cpu, from, to, timeline);
	}
}

/* True if an entry fits in behind the last one of @series, which ends at @ns: it has one. */
static inline bool goes_on(const struct series *series, uint64_t ns)
{
	return series->end == ns && series->nr - 1 < series->max - 1;
}

static inline size_t extend(struct series *series, uint64_t from, uint64_t to, uint32_t value)
{
	bool is_new = series->value[series->nr - 1] != value;

	if (is_new) {
		series->from[series->nr] = from;
		series->value[series->nr++] = value;
	}
	series->end = to;
	return is_new;
}

/*
 * The usual interval: next to the last one of its thread and of its CPU, in a state that was seen
 * lately, with room for it. Returns false, and changes nothing, for all others.
 */
static inline bool put_next(struct trace_history *history, const struct trace_thread *thread, uint32_t cpu,
			    uint64_t from, uint64_t to, enum trace_state state, const char *name)
{
	uint32_t idx = history_timeline(history, thread);
	const struct history_memo *memo = memo_of(history, state, name, -1);
	struct thread_timeline *timeline;

	if (idx == NO_THREAD || cpu >= history->nr_cpus || to > history->to_ns || history->coarse || history->failed ||
	    history->nr_intervals >= history->max_intervals)
		return false;
	timeline = &history->timelines[idx];
	if (!goes_on(&timeline->series, from) || !goes_on(&history->cpus[cpu], from) ||
	    !memo_is(memo, state, name, -1) || state == TRACE_STATE_RUNNING)
		return false;
	history->nr_intervals += extend(&timeline->series, from, to, memo->value);
	history->nr_intervals += extend(&history->cpus[cpu], from, to,
					state == TRACE_STATE_INTERRUPTED ? INTERRUPTS : idx);
	timeline->asked.other_ns += to - from;
	if (history->on_run)
		history->on_run(history->view, cpu, from, to, idx);
	return true;
}

/*
 * The same for the history of a view, once coarse: the interval fits into the last piece of its
 * thread.
 */
static inline bool put_in_piece(struct trace_history *history, const struct trace_thread *thread, uint32_t cpu,
				uint64_t from, uint64_t to, enum trace_state state)
{
	uint32_t idx = history_timeline(history, thread);
	struct thread_timeline *timeline;
	struct series *series;

	if (idx == NO_THREAD || to > history->to_ns || history->failed || state == TRACE_STATE_RUNNING ||
	    history->nr_intervals >= history->max_intervals)
		return false;
	timeline = &history->timelines[idx];
	series = &timeline->series;
	if (!series->nr || series->end != from ||
	    !piece_has_room(timeline, series->value[series->nr - 1], series->from[series->nr - 1], to))
		return false;
	series->end = to;
	piece_add_ns(timeline, (uint8_t)state, to - from);
	timeline->asked.other_ns += to - from;
	history->on_run(history->view, cpu, from, to, idx);
	return true;
}

static void on_cpu(void *data, struct trace_analysis *analysis, const struct trace_thread *thread, uint32_t cpu,
		   uint64_t from_ns, uint64_t to_ns, enum trace_state state, const char *name)
{
	struct trace_history *history = data;
	struct trace_interval interval;

	if (history->failed) {
		tell_beyond(history, thread, (int32_t)cpu, from_ns, to_ns,
			    trace_class_of(state, TRACE_WAIT_UNKNOWN, false));
		return;
	}
	name = text_of(name);
	if (history->coarse && history->on_run) {
		if (put_in_piece(history, thread, cpu, from_ns, to_ns, state))
			return;
	} else if (put_next(history, thread, cpu, from_ns, to_ns, state, name)) {
		return;
	}
	interval = (struct trace_interval){.thread = thread,
					   .from_ns = from_ns,
					   .to_ns = to_ns,
					   .state = state,
					   .cpu = (int32_t)cpu,
					   .name = name,
					   .target = "",
					   .via = ""};
	on_interval(history, analysis, &interval);
}

/* The mode of @thread is known now: what was RUNNING so far gets its state. */
static void on_mode(void *data, struct trace_analysis *analysis, const struct trace_thread *thread, bool in_syscall)
{
	struct trace_history *history = data;
	struct history_activity known = activity_of(in_syscall ? TRACE_STATE_SYSCALL : TRACE_STATE_USER);
	uint32_t idx = history_timeline(history, thread), value;
	struct thread_timeline *timeline;

	if (idx == NO_THREAD || !history->timelines[idx].running_since || history->failed)
		return;
	value = history_activity_get(history, &known);
	timeline = &history->timelines[idx];
	for (uint32_t i = timeline->series.nr; i > 0 && series_to(&timeline->series, i - 1) > timeline->running_since;
	     i--) {
		uint32_t *entry = &timeline->series.value[i - 1];

		if (*entry & PIECE)
			piece_known(&timeline->pieces[*entry & ~PIECE], known.state);
		else if (!history->coarse && history->activities[*entry].state == TRACE_STATE_RUNNING)
			*entry = value;
	}
	timeline->running_since = 0;
	timeline->series.changes++;
}

/*
 * Rank of @thread among several of the command's name: a child of the recorder first, because the
 * recorder forks the command before it begins to record; then one that existed at the start; then
 * the first.
 */
static int command_rank_of(const struct trace_history *history, const struct trace_thread *thread)
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
	if (command_rank_of(history, thread) <= history->command_rank)
		return;
	history->command = thread;
	history->command_ns = event->ts_ns;
	history->command_rank = command_rank_of(history, thread);
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
	birth->parent = parent ? timeline_get(history, parent) : NO_THREAD;
}

/* ---- begin, end ---- */

/* A second history of an analysis has no hook of its own for intervals on a CPU. */
static int hook_intervals(struct trace_history *history)
{
	bool is_first = hooks_on_cpu(history->analysis, on_cpu, history) == 0;

	return trace_analysis_on_interval_of(history->analysis, is_first ? ~STATES_ON_CPU : UINT32_MAX, on_interval,
					     history);
}

struct trace_history *trace_history_new(struct trace_analysis *analysis, const struct trace_history_options *options,
					struct trace_error *ret_error)
{
	static const struct trace_history_options defaults = {.size = sizeof(defaults)};
	uint64_t mask[4] = {0};
	struct trace_history *history;
	struct history_activity hole;
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
	hole = activity_of(TRACE_STATE_BLOCKED);
	hole.kind = TRACE_WAIT_UNKNOWN;
	activity_new(history, &hole);
	mask[TRACE_EV_sched_fork / 64] |= 1ull << TRACE_EV_sched_fork % 64;
	mask[TRACE_EV_sched_exec / 64] |= 1ull << TRACE_EV_sched_exec % 64;
	if (history->failed)
		goto fail;
	error = trace_analysis_on_event(analysis, mask, on_event, history);
	if (!error)
		error = hook_intervals(history);
	if (!error)
		error = hooks_on_mode(analysis, on_mode, history);
	if (!error)
		return history;
fail:
	error_set(ret_error, error, "%s",
		  error == -EBUSY ? "the analysis was run already; create the history before it" : "out of memory");
	if (history)
		trace_analysis_remove_hooks(analysis, history);
	return trace_history_free(history);
}

struct trace_history *trace_history_free(struct trace_history *history)
{
	if (!history)
		return NULL;
	for (uint32_t i = 0; i < history->nr_timelines; i++)
		series_free(&history->timelines[i].series);
	for (uint32_t i = 0; i < history->nr_timelines; i++)
		if (history->timelines[i].max_pieces)
			free(history->timelines[i].pieces);
	for (size_t i = 0; i < history->nr_memory; i++)
		free(history->memory[i]);
	free(history->memory);
	for (uint32_t i = 0; i < history->nr_cpus; i++)
		series_free(&history->cpus[i]);
	free(history->timeline_by_thread);
	table_clear(&history->activity_by_hash);
	table_clear(&history->births);
	free(history->timelines);
	free(history->cpus);
	free(history->activities);
	free(history->classes);
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
