/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * critical_path.c - go back from the end of a window; where a thread waited for another thread,
 * continue with that thread.
 *
 * Terms. The critical path is the chain of what a thread really waited for. It consists of
 * segments: one thread in one state. The window is the time to explain. A visit is a thread on the
 * way, with a bound: the walk does not follow the thread to before its bound.
 *
 * Mechanism. The walk starts with the chosen thread at the end of the window and goes back in time,
 * interval by interval. Each interval becomes a segment, cut to the bound. A wait that another
 * thread ended is not a segment. Instead the walk enters that thread at the end of the wait, with
 * the begin of the wait as its bound, and returns to the waiter at that bound.
 *
 * Example, for the window of A from 0 to 42 ms:
 *
 *	ms    0         10      18       27     34      42
 *	A     ==========........................========      = on a CPU    . blocked
 *	B     ==================.........===============      B ended A's wait at 34 ms,
 *	C     ================================                C ended B's wait at 27 ms
 *	path  A         B       C        B      A
 *
 * The walk takes A from 42 to 34 ms, enters B with the bound 10 ms and takes it from 34 to 27 ms,
 * and enters C with the bound 18 ms. It takes C from 27 to 18 ms, returns to B until 10 ms, and to
 * A until 0. The segments are 10 + 8 + 9 + 7 + 8 = 42 ms, the whole window.
 *
 * It follows that the path never explains a wait by what happened before the wait began, and that
 * every instant is in exactly one segment. The walk ends, because time only goes back and the walk
 * does not enter a thread again that is on the way already.
 *
 * The thread that ended a wait is, by the first line that applies:
 *
 *	a timeout, after which the        the thread that ended the last of these waits:
 *	thread asked for the same again   history_again.h
 *	a sleep, a stop, a gap, a quota   none
 *	a new thread not yet woken        the thread that forked it; the walk continues with the
 *	                                  parent, because before that the thread did not exist. If
 *	                                  no fork is known, the wait itself is a segment until then
 *	woken by a user thread            that thread. If the cause of the wait is another process
 *	                                  (a local TCP peer), see the next line
 *	`process` woken by an interrupt   the thread of the other process that was on a CPU last,
 *	                                  because the packet came from it
 *	woken by a kernel thread          that thread, and then the thread that queued its work;
 *	                                  but see below
 *	anything else                     none: a disk, a packet, a timer
 *
 * If there is none, the wait itself is a segment.
 *
 * The walk does not enter a kernel thread for a wait for a file, a device or memory: if a writeback
 * thread ended a wait for a file, the segment is the wait for the file and names it. A kernel
 * thread may have got its work from an unknown thread. The time before it got the work is then a
 * segment of the wait itself. A wait that goes on after the end of the window is followed to the
 * thread that ended it later. Elsewhere, a wait that goes on after the instant at which the walk
 * arrives was not over, so no thread ended it. A wait for a CPU is split by the threads that had
 * the CPU.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "error_set.h"
#include "critical_path_steps.h"
#include "state.h"

static void *grown(struct trace_critical_path *path, void *array, size_t *max, size_t bytes)
{
	size_t wanted = *max + *max / 2 + 16;
	void *bigger = reallocarray(array, wanted, bytes);

	if (!bigger) {
		path->failed = -ENOMEM;
		return array;
	}
	*max = wanted;
	return bigger;
}

/* ---- segments ---- */

static bool is_on_cpu(enum trace_state state)
{
	return state != TRACE_STATE_WAIT_CPU && state != TRACE_STATE_BLOCKED;
}

/*
 * Extend the last segment if it is the same. Two visits of a thread can share one: the parent of a
 * thread that waited for its first wakeup, and of the same thread before it existed.
 */
static bool step_joins(const struct trace_critical_path *path, const struct visit *visit, uint32_t activity)
{
	const struct path_step *last = path->nr_steps ? &path->steps[path->nr_steps - 1] : NULL;
	const struct path_pattern *pattern = last ? &path->patterns[last->pattern] : NULL;

	return last && pattern->timeline == visit->timeline && pattern->activity == activity &&
	       pattern->waiter == visit->waiter && last->depth == path->nr_visits - 1 &&
	       is_on_cpu((enum trace_state)path->history->activities[activity].state);
}

static bool is_same_pattern(const struct path_pattern *a, const struct path_pattern *b)
{
	return a->timeline == b->timeline && a->activity == b->activity && a->holder == b->holder &&
	       a->waiter == b->waiter && a->wait == b->wait;
}

static uint32_t pattern_new(struct trace_critical_path *path, const struct path_pattern *pattern)
{
	if (path->nr_patterns >= path->max_patterns)
		path->patterns = grown(path, path->patterns, &path->max_patterns, sizeof(*path->patterns));
	if (path->failed)
		return 0;
	path->patterns[path->nr_patterns] = *pattern;
	return (uint32_t)path->nr_patterns++;
}

/* The number of this pattern; 0 and path.failed: no memory. */
static uint32_t pattern_of(struct trace_critical_path *path, const struct path_pattern *pattern)
{
	uint64_t key = hash_u64(hash_u64((uint64_t)pattern->timeline << 32 | pattern->activity) ^
				((uint64_t)pattern->waiter << 32 | pattern->wait));
	uint32_t *memo = &path->pattern_memos[key % PATTERN_MEMOS]; /* successive segments are of few patterns */
	struct pattern_row *row;

	if (*memo && is_same_pattern(&path->patterns[*memo - 1], pattern))
		return *memo - 1;
	key = hash_u64(key ^ pattern->holder);
	for (key = key ? key : 1;; key = key + 1 ? key + 1 : 1) {
		row = table_find(&path->pattern_by_hash, sizeof(*row), key); /* nearly always */
		row = row ? row : table_add(&path->pattern_by_hash, sizeof(*row), key);
		if (!row) {
			path->failed = -ENOMEM;
			return 0;
		}
		if (!row->idx) {
			row->idx = pattern_new(path, pattern) + 1;
			return row->idx - 1;
		}
		if (is_same_pattern(&path->patterns[row->idx - 1], pattern)) {
			*memo = row->idx;
			return row->idx - 1;
		}
	}
}

static void step_add(struct trace_critical_path *path, const struct visit *visit, uint64_t from, uint32_t activity,
		     uint32_t holder)
{
	struct path_pattern pattern = {visit->timeline, activity, holder, visit->waiter, visit->wait};
	struct path_step step = {.from = from, .depth = (uint32_t)path->nr_visits - 1};

	if (step_joins(path, visit, activity)) {
		path->steps[path->nr_steps - 1].from = from;
		return;
	}
	if (path->nr_steps >= path->max_steps)
		path->steps = grown(path, path->steps, &path->max_steps, sizeof(*path->steps));
	step.pattern = path->failed ? 0 : pattern_of(path, &pattern);
	if (!path->failed)
		path->steps[path->nr_steps++] = step;
}

/* Which thread had @cpu; NULL: nothing is known of it. */
static struct series *slices_of(const struct trace_history *history, int32_t cpu)
{
	if (cpu < 0)
		return NULL;
	if (history->coarse && history->runs)
		return history->runs(history->view, (uint32_t)cpu);
	return (uint32_t)cpu < history->nr_cpus ? &history->cpus[cpu] : NULL;
}

/* A view tells several kinds of runs without a thread. They are one slice here. */
static bool is_alone(uint32_t run)
{
	return run >= RUN_ALONE && run != INTERRUPTS;
}

static uint64_t begin_of_slice(const struct series *slices, uint32_t slice, uint64_t from)
{
	while (slice && is_alone(slices->value[slice]) && is_alone(slices->value[slice - 1]) &&
	       slices->from[slice] > from)
		slice--;
	return slices->from[slice] > from && (slice || !is_alone(slices->value[0])) ? slices->from[slice] : from;
}

/* Add the wait for a CPU as one segment for each thread that had the CPU. */
static void step_add_queued(struct trace_critical_path *path, const struct visit *visit, uint64_t from, uint64_t to,
			    uint32_t activity)
{
	struct series *slices = slices_of(path->history, path->history->activities[activity].cpu);

	while (to > from && !path->failed) {
		uint32_t slice = slices ? series_before_near(slices, to) : UINT32_MAX;
		uint32_t holder = slice != UINT32_MAX && !is_alone(slices->value[slice]) ? slices->value[slice]
											 : NO_THREAD;
		uint64_t start = slice != UINT32_MAX ? begin_of_slice(slices, slice, from) : from;

		if (slice == UINT32_MAX && slices && slices->nr && slices->end < to && slices->end > from)
			start = slices->end;
		step_add(path, visit, start, activity, holder);
		to = start;
	}
}

/* ---- the thread that ended a wait ---- */

/* The latest instant in @from .. @to at which a thread was on a CPU; @from: never. */
static uint64_t last_on_cpu(const struct trace_history *history, struct thread_timeline *timeline, uint64_t from,
			    uint64_t to)
{
	uint64_t at = to < timeline->series.end ? to : timeline->series.end;
	uint32_t idx = series_before_near(&timeline->series, at);

	for (; idx != UINT32_MAX && at > from; idx--) {
		uint32_t value = history_activity_of(history, timeline->series.value[idx]);

		if (value != HOLE && is_on_cpu((enum trace_state)history->activities[value].state))
			return at;
		at = timeline->series.from[idx];
	}
	return from;
}

static uint32_t latest_of(const struct trace_history *history, const struct trace_process *process, uint64_t from,
			  uint64_t to)
{
	uint32_t best = NO_THREAD;

	for (const struct trace_thread *thread = NULL; (thread = trace_next_thread(process, thread));) {
		uint32_t timeline = history_timeline(history, thread);
		uint64_t at = timeline == NO_THREAD ? from
						    : last_on_cpu(history, &history->timelines[timeline], from, to);

		if (at > from) {
			best = timeline;
			from = at;
		}
	}
	return best;
}

/* A timer of TCP sent the packet. Whatever the threads of the other end did then, they had sent. */
static bool is_of_tcp_timer(const struct history_activity *activity)
{
	return activity->kind == TRACE_WAIT_PROCESS && strcmp(activity->via, "tcp_timer") == 0;
}

bool history_is_followed(const struct history_activity *activity)
{
	return !is_of_tcp_timer(activity) && activity->kind != TRACE_WAIT_TIMEOUT &&
	       activity->kind != TRACE_WAIT_STOPPED && activity->kind != TRACE_WAIT_UNKNOWN &&
	       activity->kind != TRACE_WAIT_QUOTA;
}

/*
 * For other kinds the segment names the object, which says more than the kernel thread that worked
 * on it.
 */
static bool may_be_work(const struct history_activity *activity)
{
	return activity->kind == TRACE_WAIT_PROCESS || activity->kind == TRACE_WAIT_KERNEL ||
	       activity->kind == TRACE_WAIT_OTHER;
}

uint32_t history_thread_that_ended(const struct trace_history *history, uint32_t idx,
				   const struct history_activity *activity, uint64_t from, uint64_t to)
{
	const struct thread_timeline *timeline = &history->timelines[idx];
	const struct trace_thread *waker = activity->waker == NO_THREAD ? NULL
									: history->timelines[activity->waker].thread;
	uint32_t other = NO_THREAD;

	if (activity->again)
		return activity->waker;
	if (!history_is_followed(activity))
		return NO_THREAD;
	if (waker && trace_thread_is_kernel(waker)) {
		if (may_be_work(activity))
			return activity->waker;
		waker = NULL;
	}
	if (!waker && from <= trace_thread_start_ns(timeline->thread) && strcmp(activity->via, "fork") == 0)
		return timeline->parent;
	if (activity->kind == TRACE_WAIT_PROCESS && activity->other &&
	    (!waker || trace_thread_process(waker) != activity->other))
		other = latest_of(history, activity->other, from, to);
	return other == NO_THREAD && waker ? activity->waker : other;
}

/* ---- the walk ---- */

static bool enter(struct trace_critical_path *path, uint32_t timeline, uint64_t at, uint64_t bound, uint32_t waiter,
		  uint32_t wait)
{
	if (timeline == NO_THREAD || path->history->timelines[timeline].on_path)
		return false;
	if (path->nr_visits >= path->max_visits)
		path->visits = grown(path, path->visits, &path->max_visits, sizeof(*path->visits));
	if (path->failed)
		return false;
	path->history->timelines[timeline].on_path = true;
	path->visits[path->nr_visits++] =
		(struct visit){.timeline = timeline, .entered = at, .bound = bound, .waiter = waiter, .wait = wait};
	return true;
}

/* By which means a wait was followed. */
const char *path_waited_via(const struct history_activity *wait)
{
	if (wait->kind == TRACE_WAIT_UNKNOWN) /* HOLE */
		return "fork";
	if (wait->again)
		return history_is_futex(wait->name) ? "futex" : wait->name;
	return *wait->via ? wait->via : trace_wait_kind_name((enum trace_wait_kind)wait->kind);
}

bool path_is_lock(const char *via)
{
	return strcmp(via, "futex") == 0 || strcmp(via, "lock") == 0 || strcmp(via, "semaphore") == 0;
}

/*
 * A visited thread held the lock during the whole visit, whatever it did or waited for meanwhile.
 */
static void note_held(struct trace_critical_path *path, const struct visit *visit)
{
	if (visit->waiter == NO_THREAD || !path_is_lock(path_waited_via(&path->history->activities[visit->wait])))
		return;
	if (path->nr_held >= path->max_held)
		path->held = grown(path, path->held, &path->max_held, sizeof(*path->held));
	if (!path->failed)
		path->held[path->nr_held++] = (struct path_lock){visit->timeline, visit->wait,
								 visit->entered - visit->bound};
}

static void leave(struct trace_critical_path *path)
{
	const struct visit *visit = &path->visits[--path->nr_visits];

	path->history->timelines[visit->timeline].on_path = false;
	note_held(path, visit);
}

/* The visited thread does not exist: back to @from, the path is the wait of a thread that does. */
static void step_add_waiter(struct trace_critical_path *path, uint64_t from)
{
	size_t nr_visits = path->nr_visits;
	uint32_t wait;

	do
		wait = path->visits[--path->nr_visits].wait;
	while (wait == HOLE && path->nr_visits > 1);
	step_add(path, &path->visits[path->nr_visits - 1], from, wait, NO_THREAD);
	path->nr_visits = nr_visits;
}

/*
 * For a time without stored intervals before @to. If the thread did not exist yet, the walk enters
 * its parent. Without a parent, the time is the waiter's wait: no thread has a segment outside its
 * life. Otherwise the state is unknown. Returns where the walk continues.
 */
static uint64_t step_unseen(struct trace_critical_path *path, const struct visit *visit, uint64_t from, uint64_t to)
{
	const struct thread_timeline *timeline = &path->history->timelines[visit->timeline];
	uint64_t born = trace_thread_start_ns(timeline->thread), end = trace_thread_end_ns(timeline->thread);

	if (to <= born && path->nr_visits > 1 && enter(path, timeline->parent, to, visit->bound, visit->timeline, HOLE))
		return to;
	if (from < born && born < to)
		from = born;
	if (to > end && from < end)
		from = end;
	if ((to <= born || from >= end) && path->nr_visits > 1)
		step_add_waiter(path, from);
	else
		step_add(path, visit, from, HOLE, NO_THREAD);
	return from;
}

/* True for a visited kernel thread that had no work yet, if no known thread gave it the work. */
static bool had_no_work(const struct trace_critical_path *path, const struct history_activity *activity)
{
	const struct visit *visit = &path->visits[path->nr_visits - 1];

	return path->nr_visits > 1 && visit->wait != HOLE && activity->state == TRACE_STATE_BLOCKED &&
	       activity->kind == TRACE_WAIT_KERNEL && activity->idle &&
	       trace_thread_is_kernel(path->history->timelines[visit->timeline].thread);
}

/*
 * The entry @idx of the visited thread, which begins at @from, and those before it while it was on
 * a CPU: they are next to each other, so none is searched. Returns where the last one begins.
 */
static uint64_t step_add_running(struct trace_critical_path *path, const struct visit *visit, uint32_t idx,
				 uint64_t from)
{
	const struct trace_history *history = path->history;
	struct series *series = &history->timelines[visit->timeline].series;
	uint32_t value = history_activity_of(history, series->value[idx]);

	for (;;) {
		step_add(path, visit, from, value, NO_THREAD);
		if (!idx || from <= visit->bound || path->failed)
			break;
		value = history_activity_of(history, series->value[idx - 1]);
		if (value == HOLE || !is_on_cpu((enum trace_state)history->activities[value].state))
			break;
		idx--;
		from = series->from[idx] > visit->bound ? series->from[idx] : visit->bound;
	}
	series->recent = idx;
	return from;
}

/* True if the thread that ended the wait @idx explains the time before @at. */
static bool ends_at(const struct trace_critical_path *path, const struct series *series, uint32_t idx, uint64_t at)
{
	return series_to(series, idx) == at || at == path->to_ns;
}

/* Go back from @at, by one step, or to the begin of a time on a CPU. Returns where that ended. */
static uint64_t step_back(struct trace_critical_path *path, uint64_t at)
{
	struct trace_history *history = path->history;
	struct visit visit = path->visits[path->nr_visits - 1];
	struct series *series = &history->timelines[visit.timeline].series;
	uint32_t idx = series_before_near(series, at);
	uint64_t from = visit.bound;
	const struct history_activity *activity;
	uint32_t value;

	if (idx == UINT32_MAX) {
		if (series->nr && at > series->end && series->end > from)
			from = series->end;
		return step_unseen(path, &visit, from, at);
	}
	if (series->from[idx] > from)
		from = series->from[idx];
	if (series->value[idx] == HOLE)
		return step_unseen(path, &visit, from, at);
	value = history_activity_of(history, series->value[idx]);
	activity = &history->activities[value];
	if (activity->state == TRACE_STATE_BLOCKED && ends_at(path, series, idx, at) &&
	    enter(path, history_thread_that_ended(history, visit.timeline, activity, from, at), at, from,
		  visit.timeline, value))
		return at;
	if (had_no_work(path, activity)) {
		leave(path);
		step_add(path, &path->visits[path->nr_visits - 1], visit.bound, visit.wait, NO_THREAD);
		return visit.bound;
	}
	if (activity->state == TRACE_STATE_WAIT_CPU)
		step_add_queued(path, &visit, from, at, value);
	else if (is_on_cpu((enum trace_state)activity->state))
		return step_add_running(path, &visit, idx, from);
	else
		step_add(path, &visit, from, value, NO_THREAD);
	return from;
}

static void walk(struct trace_critical_path *path, uint32_t timeline)
{
	uint64_t at = path->to_ns;

	enter(path, timeline, at, path->from_ns, NO_THREAD, HOLE);
	while (path->nr_visits) {
		if (at <= path->visits[path->nr_visits - 1].bound || path->failed)
			leave(path);
		else
			at = step_back(path, at);
	}
	for (size_t i = 0; i < path->nr_steps / 2; i++) {
		struct path_step step = path->steps[i];

		path->steps[i] = path->steps[path->nr_steps - 1 - i];
		path->steps[path->nr_steps - 1 - i] = step;
	}
}

/* ---- what a step means ---- */

uint64_t path_step_to(const struct trace_critical_path *path, size_t idx)
{
	return idx + 1 < path->nr_steps ? path->steps[idx + 1].from : path->to_ns;
}

/* A segment without its time and depth. */
struct trace_path_segment path_segment_of_pattern(const struct trace_critical_path *path,
						  const struct path_pattern *pattern)
{
	const struct trace_history *history = path->history;
	const struct history_activity *activity = &history->activities[pattern->activity];
	struct trace_path_segment s = {
		.thread = history->timelines[pattern->timeline].thread,
		.name = activity->name,
		.state = (enum trace_state)activity->state,
		.kind = (enum trace_wait_kind)activity->kind,
		.idle = activity->idle,
		.target = activity->target,
		.via = activity->via,
		.other = activity->other,
		.holder_name = "",
		.waited_via = "",
		.waited_path = "",
	};
	if (is_on_cpu(s.state) && s.state != TRACE_STATE_INTERRUPTED && !path->sees_calls) {
		s.state = TRACE_STATE_RUNNING; /* not known whether it was in a system call */
		s.name = "";
	}
	if (s.state == TRACE_STATE_WAIT_CPU) {
		s.holder = pattern->holder < history->nr_timelines ? history->timelines[pattern->holder].thread : NULL;
		s.holder_name = s.holder					? trace_thread_comm(s.holder)
				: pattern->holder == INTERRUPTS			? "interrupts"
				: trace_analysis_is_filtered(history->analysis) ? "unknown"
										: "idle CPU";
	}
	if (pattern->waiter != NO_THREAD) {
		s.waiter = history->timelines[pattern->waiter].thread;
		s.waited_via = path_waited_via(&history->activities[pattern->wait]);
		s.waited_path = history->activities[pattern->wait].path;
		s.waited_address = history->activities[pattern->wait].address;
	}
	return s;
}

/* ---- public ---- */

/* Cut the window to the life of the thread and to the stored history. */
static bool cut_window(struct trace_critical_path *path)
{
	const struct trace_history *history = path->history;
	uint64_t start, end, born = trace_thread_start_ns(path->thread), died = trace_thread_end_ns(path->thread);

	trace_analysis_window(history->analysis, &start, &end);
	start = start > history->from_ns ? start : history->from_ns;
	end = end < history->to_ns ? end : history->to_ns;
	start = start > born ? start : born;
	if (died && died < end)
		end = died;
	if (path->from_ns < start)
		path->from_ns = start;
	if (path->to_ns > end)
		path->to_ns = end;
	return path->from_ns < path->to_ns;
}

struct trace_critical_path *trace_critical_path_new(struct trace_history *history, const struct trace_thread *thread,
						    uint64_t from_ns, uint64_t to_ns, struct trace_error *ret_error)
{
	struct trace_critical_path *path = calloc(1, sizeof(*path));
	uint32_t timeline = history_timeline(history, thread);
	int error = history->failed;

	if (!path && !error)
		error = -ENOMEM;
	if (error)
		goto fail;
	path->history = history;
	path->thread = thread;
	path->sees_calls = trace_analysis_sees_calls(history->analysis);
	path->from_ns = from_ns;
	path->to_ns = to_ns;
	if (timeline == NO_THREAD || !cut_window(path)) {
		error = -EINVAL;
		goto fail;
	}
	walk(path, timeline);
	error = path->failed;
	if (!error)
		return path;
fail:
	if (error == -E2BIG)
		error_set(ret_error, error,
			  "there are too many scheduling changes to keep them all; choose a shorter window");
	else if (error == -EINVAL)
		error_set(ret_error, error, "the thread did not exist in this window");
	else
		error_set(ret_error, error, "out of memory; choose a shorter window");
	return trace_critical_path_free(path);
}

struct trace_critical_path *trace_critical_path_free(struct trace_critical_path *path)
{
	if (!path)
		return NULL;
	free(path->steps);
	free(path->patterns);
	table_clear(&path->pattern_by_hash);
	free(path->visits);
	free(path->held);
	free(path->contributors);
	free(path);
	return NULL;
}

const struct trace_thread *trace_critical_path_thread(const struct trace_critical_path *path)
{
	return path->thread;
}

void trace_critical_path_window(const struct trace_critical_path *path, uint64_t *ret_from_ns, uint64_t *ret_to_ns)
{
	*ret_from_ns = path->from_ns;
	*ret_to_ns = path->to_ns;
}

size_t trace_critical_path_nr_segments(const struct trace_critical_path *path)
{
	return path->nr_steps;
}

void trace_critical_path_segment(const struct trace_critical_path *path, size_t idx,
				 struct trace_path_segment *ret_segment)
{
	const struct path_step *step = &path->steps[idx];

	*ret_segment = path_segment_of_pattern(path, &path->patterns[step->pattern]);
	ret_segment->from_ns = step->from;
	ret_segment->to_ns = path_step_to(path, idx);
	ret_segment->depth = step->depth;
}

void trace_critical_path_step(const struct trace_critical_path *path, size_t idx, struct trace_path_step *ret_step)
{
	const struct path_step *step = &path->steps[idx];

	*ret_step = (struct trace_path_step){step->from, path_step_to(path, idx), step->depth, step->pattern};
}

size_t trace_critical_path_nr_patterns(const struct trace_critical_path *path)
{
	return path->nr_patterns;
}

void trace_critical_path_pattern(const struct trace_critical_path *path, uint32_t pattern,
				 struct trace_path_segment *ret_segment)
{
	*ret_segment = path_segment_of_pattern(path, &path->patterns[pattern]);
}
