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
 * segment of the wait itself. A wait that continues beyond the instant at which the walk arrives
 * was not over, so no thread ended it. A wait for a CPU is split by the threads that had the CPU.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "error_set.h"
#include "sort.h"
#include "critical_path_history.h"
#include "state.h"

/* struct path_step - a segment; it ends where the next one begins */
struct path_step {
	uint64_t from;
	uint32_t timeline;
	uint32_t activity;
	uint32_t holder; /* WAIT_CPU */
	uint32_t waiter; /* a timeline; none for the chosen thread */
	uint32_t wait;	 /* the waiter's activity; HOLE: the waiter did not exist yet */
	uint32_t depth;
};

/* struct visit - a thread on the way */
struct visit {
	uint32_t timeline;
	uint64_t entered; /* the end of the time that it explains */
	uint64_t bound;
	uint32_t waiter;
	uint32_t wait;
};

/* struct path_lock - a thread held a lock for which the path waited */
struct path_lock {
	uint32_t timeline;
	uint32_t wait; /* the waiter's activity */
	uint64_t ns;
};

struct trace_critical_path {
	struct trace_history *history; /* borrowed */
	const struct trace_thread *thread;
	uint64_t from_ns, to_ns;
	struct path_step *steps; /* owned; while walking, latest first */
	size_t nr_steps, max_steps;
	struct visit *visits; /* owned */
	size_t nr_visits, max_visits;
	struct path_lock *held; /* owned */
	size_t nr_held, max_held;
	struct trace_contributor *contributors; /* owned */
	size_t nr_contributors;
	bool sees_calls;
	bool is_summed; /* made when they are asked for: a picture does not need them */
	int failed;
};

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

	return last && last->timeline == visit->timeline && last->activity == activity &&
	       last->waiter == visit->waiter && last->depth == path->nr_visits - 1 &&
	       is_on_cpu((enum trace_state)path->history->activities[activity].state);
}

static void step_add(struct trace_critical_path *path, const struct visit *visit, uint64_t from, uint32_t activity,
		     uint32_t holder)
{
	if (step_joins(path, visit, activity)) {
		path->steps[path->nr_steps - 1].from = from;
		return;
	}
	if (path->nr_steps >= path->max_steps)
		path->steps = grown(path, path->steps, &path->max_steps, sizeof(*path->steps));
	if (path->failed)
		return;
	path->steps[path->nr_steps++] = (struct path_step){.from = from,
							   .timeline = visit->timeline,
							   .activity = activity,
							   .holder = holder,
							   .waiter = visit->waiter,
							   .wait = visit->wait,
							   .depth = (uint32_t)path->nr_visits - 1};
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

bool history_is_followed(const struct history_activity *activity)
{
	return activity->kind != TRACE_WAIT_TIMEOUT && activity->kind != TRACE_WAIT_STOPPED &&
	       activity->kind != TRACE_WAIT_UNKNOWN && activity->kind != TRACE_WAIT_QUOTA;
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
static const char *waited_via(const struct history_activity *wait)
{
	if (wait->kind == TRACE_WAIT_UNKNOWN) /* HOLE */
		return "fork";
	if (wait->again)
		return history_is_futex(wait->name) ? "futex" : wait->name;
	return *wait->via ? wait->via : trace_wait_kind_name((enum trace_wait_kind)wait->kind);
}

static bool is_lock(const char *via)
{
	return strcmp(via, "futex") == 0 || strcmp(via, "lock") == 0 || strcmp(via, "semaphore") == 0;
}

/*
 * A visited thread held the lock during the whole visit, whatever it did or waited for meanwhile.
 */
static void note_held(struct trace_critical_path *path, const struct visit *visit)
{
	if (visit->waiter == NO_THREAD || !is_lock(waited_via(&path->history->activities[visit->wait])))
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

/* Go one step back from @at. Returns where the step ended. */
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
	if (activity->state == TRACE_STATE_BLOCKED && series_to(series, idx) == at &&
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

/* ---- contributors ---- */

struct sum_row {
	uint64_t key;
	struct trace_contributor sum;
};
/* steps that differ in their time only */
struct alike_row {
	uint64_t key;
	size_t step; /* one of them */
	uint64_t ns;
	uint64_t count;
};
struct path_sums {
	struct hash_table rows;
	struct hash_table alike;
	struct trace_critical_path *path;
	uint32_t own; /* process */
};

static uint64_t hash_text(uint64_t hash, const char *text)
{
	while (*text)
		hash = hash_u64(hash ^ (unsigned char)*text++);
	return hash;
}

/*
 * Commands are the same if their names are, whatever their process numbers; but the chosen process
 * has rows of its own.
 */
static bool same(const struct trace_contributor *a, const struct trace_contributor *b, uint32_t own)
{
	return a->by == b->by && a->state == b->state && a->kind == b->kind && a->tid == b->tid &&
	       strcmp(a->comm, b->comm) == 0 && strcmp(a->title, b->title) == 0 && a->address == b->address &&
	       strcmp(a->target, b->target) == 0 && strcmp(a->via, b->via) == 0 &&
	       (a->pid == b->pid || (a->by == TRACE_BY_COMMAND && a->pid != own && b->pid != own));
}

/* @share->count must be at least 1. */
static void sum_add(struct path_sums *sums, const struct trace_contributor *share)
{
	uint64_t key = hash_u64((uint64_t)share->by << 40 ^ (uint64_t)share->state << 32 ^ (uint64_t)share->kind << 24 ^
				1);
	struct sum_row *row;

	key = hash_u64(hash_u64(key ^ share->tid) ^ share->address);
	key = hash_text(hash_text(hash_text(key, share->title), share->target), share->via);
	if (share->by != TRACE_BY_COMMAND || share->pid == sums->own)
		key = hash_u64(key ^ share->pid);
	for (key = key ? key : 1;; key = key + 1 ? key + 1 : 1) {
		row = table_add(&sums->rows, sizeof(*row), key);
		if (!row) {
			sums->path->failed = -ENOMEM;
			return;
		}
		if (!row->sum.count) {
			row->sum = *share;
			return;
		}
		if (same(&row->sum, share, sums->own))
			break;
	}
	row->sum.ns += share->ns;
	row->sum.count += share->count;
	if (row->sum.pid != share->pid)
		row->sum.pid = 0;
}

/* The first thread has the title of its process. */
static const char *title_of_thread(const struct trace_thread *thread)
{
	const struct trace_process *process = trace_thread_process(thread);

	return trace_thread_tid(thread) == trace_process_pid(process) ? trace_process_title(process)
								      : trace_thread_comm(thread);
}

static void share_set_process(struct trace_contributor *share, const struct trace_thread *thread)
{
	share->comm = trace_process_comm(trace_thread_process(thread));
	share->title = trace_process_title(trace_thread_process(thread));
	share->pid = trace_process_pid(trace_thread_process(thread));
}

static void sum_segments(struct path_sums *sums, const struct trace_path_segment *segment, uint64_t ns, uint64_t count)
{
	struct trace_contributor share = {
		.state = segment->state, .kind = segment->kind, .target = "", .via = "", .ns = ns, .count = count};
	struct trace_contributor command;

	share_set_process(&share, segment->thread);
	command = share;
	command.by = TRACE_BY_COMMAND;
	if (is_on_cpu(segment->state) && segment->state != TRACE_STATE_INTERRUPTED)
		command.state = TRACE_STATE_RUNNING;
	sum_add(sums, &command);
	share.by = TRACE_BY_THREAD;
	share.tid = trace_thread_tid(segment->thread);
	share.comm = trace_thread_comm(segment->thread);
	share.title = title_of_thread(segment->thread);
	sum_add(sums, &share);
	if (segment->waiter && !is_lock(segment->waited_via)) {
		struct trace_contributor link = {.by = TRACE_BY_LINK,
						 .state = TRACE_STATE_BLOCKED,
						 .kind = TRACE_WAIT_PROCESS,
						 .target = "",
						 .via = segment->waited_via,
						 .ns = ns,
						 .count = count};

		share_set_process(&link, segment->thread);
		sum_add(sums, &link);
	}
	if (segment->state == TRACE_STATE_BLOCKED) {
		struct trace_contributor target = {.by = TRACE_BY_TARGET,
						   .comm = "",
						   .title = "",
						   .state = segment->state,
						   .kind = segment->kind,
						   .target = segment->target,
						   .via = segment->via,
						   .ns = ns,
						   .count = count};

		if (segment->other)
			target.pid = trace_process_pid(segment->other);
		sum_add(sums, &target);
	}
	if (segment->state == TRACE_STATE_WAIT_CPU) {
		struct trace_contributor competitor = {.by = TRACE_BY_COMPETITOR,
						       .comm = segment->holder_name,
						       .title = segment->holder_name,
						       .state = segment->state,
						       .target = "",
						       .via = "",
						       .ns = ns,
						       .count = count};

		if (segment->holder)
			share_set_process(&competitor, segment->holder);
		sum_add(sums, &competitor);
	}
}

static int compare(const void *left, const void *right)
{
	const struct trace_contributor *l = left, *r = right;

	if (l->by != r->by)
		return l->by < r->by ? -1 : 1;
	if (l->ns != r->ns)
		return l->ns > r->ns ? -1 : 1;
	if (l->pid != r->pid)
		return l->pid < r->pid ? -1 : 1;
	if (l->tid != r->tid)
		return l->tid < r->tid ? -1 : 1;
	if (l->state != r->state)
		return l->state < r->state ? -1 : 1;
	return strcmp(l->comm, r->comm) ? strcmp(l->comm, r->comm) : strcmp(l->target, r->target);
}

static bool steps_alike(const struct path_step *a, const struct path_step *b)
{
	return a->timeline == b->timeline && a->activity == b->activity && a->holder == b->holder &&
	       a->waiter == b->waiter && a->wait == b->wait;
}

/*
 * A path may have millions of steps, but few different ones. Merge equal steps by their numbers
 * before any name is compared.
 */
static void alike_add(struct path_sums *sums, size_t idx)
{
	const struct trace_critical_path *path = sums->path;
	const struct path_step *step = &path->steps[idx];
	uint64_t key = hash_u64(hash_u64((uint64_t)step->timeline << 32 | step->activity) ^
				((uint64_t)step->waiter << 32 | step->wait));
	struct alike_row *row;

	key = hash_u64(key ^ step->holder);
	for (key = key ? key : 1;; key = key + 1 ? key + 1 : 1) {
		row = table_add(&sums->alike, sizeof(*row), key);
		if (!row) {
			sums->path->failed = -ENOMEM;
			return;
		}
		if (!row->count)
			row->step = idx;
		if (steps_alike(step, &path->steps[row->step]))
			break;
	}
	row->ns += (idx + 1 < path->nr_steps ? path->steps[idx + 1].from : path->to_ns) - step->from;
	row->count++;
}

/* struct held_row - one thread that held one lock */
struct held_row {
	uint64_t key; /* timeline + 1, activity of the wait */
	uint64_t ns;
	uint64_t count;
};

static void sum_held(struct path_sums *sums)
{
	struct trace_critical_path *path = sums->path;
	struct hash_table rows = {0};
	struct held_row *row;

	for (size_t i = 0; i < path->nr_held && !path->failed; i++) {
		const struct path_lock *held = &path->held[i];

		row = table_add(&rows, sizeof(*row), (held->timeline + 1ull) << 32 | held->wait);
		if (!row) {
			path->failed = -ENOMEM;
			break;
		}
		row->ns += held->ns;
		row->count++;
	}
	for (row = NULL; !path->failed && (row = table_next(&rows, sizeof(*row), row));) {
		const struct history_activity *wait = &path->history->activities[(uint32_t)row->key];
		const struct trace_thread *thread = path->history->timelines[(row->key >> 32) - 1].thread;
		struct trace_contributor share = {.by = TRACE_BY_LOCK,
						  .state = TRACE_STATE_BLOCKED,
						  .kind = TRACE_WAIT_PROCESS,
						  .target = wait->path,
						  .via = waited_via(wait),
						  .address = wait->address,
						  .ns = row->ns,
						  .count = row->count};

		share_set_process(&share, thread);
		share.tid = trace_thread_tid(thread);
		share.comm = trace_thread_comm(thread);
		share.title = title_of_thread(thread);
		sum_add(sums, &share);
	}
	table_clear(&rows);
}

static void sum_up(struct trace_critical_path *path)
{
	struct path_sums sums = {.path = path, .own = trace_process_pid(trace_thread_process(path->thread))};
	struct trace_path_segment segment;
	struct alike_row *alike = NULL;
	struct sum_row *row = NULL;

	for (size_t i = 0; i < path->nr_steps && !path->failed; i++)
		alike_add(&sums, i);
	while (!path->failed && (alike = table_next(&sums.alike, sizeof(*alike), alike))) {
		trace_critical_path_segment(path, alike->step, &segment);
		sum_segments(&sums, &segment, alike->ns, alike->count);
	}
	if (!path->failed)
		sum_held(&sums);
	path->contributors = calloc(sums.rows.used + 1, sizeof(*path->contributors));
	if (!path->contributors)
		path->failed = -ENOMEM;
	while (!path->failed && (row = table_next(&sums.rows, sizeof(*row), row)))
		path->contributors[path->nr_contributors++] = row->sum;
	table_clear(&sums.rows);
	table_clear(&sums.alike);
	if (!path->failed &&
	    !sort_rows(path->contributors, path->nr_contributors, sizeof(*path->contributors), compare))
		path->failed = -ENOMEM;
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
	const struct trace_history *history = path->history;
	const struct path_step *step = &path->steps[idx];
	const struct history_activity *activity = &history->activities[step->activity];
	struct trace_path_segment *s = ret_segment;

	*s = (struct trace_path_segment){
		.thread = history->timelines[step->timeline].thread,
		.from_ns = step->from,
		.to_ns = idx + 1 < path->nr_steps ? path->steps[idx + 1].from : path->to_ns,
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
		.depth = step->depth,
	};
	if (is_on_cpu(s->state) && s->state != TRACE_STATE_INTERRUPTED && !path->sees_calls) {
		s->state = TRACE_STATE_RUNNING; /* not known whether it was in a system call */
		s->name = "";
	}
	if (s->state == TRACE_STATE_WAIT_CPU) {
		s->holder = step->holder < history->nr_timelines ? history->timelines[step->holder].thread : NULL;
		s->holder_name = s->holder					 ? trace_thread_comm(s->holder)
				 : step->holder == INTERRUPTS			 ? "interrupts"
				 : trace_analysis_is_filtered(history->analysis) ? "unknown"
										 : "idle CPU";
	}
	if (step->waiter != NO_THREAD) {
		s->waiter = history->timelines[step->waiter].thread;
		s->waited_via = waited_via(&history->activities[step->wait]);
		s->waited_path = history->activities[step->wait].path;
		s->waited_address = history->activities[step->wait].address;
	}
}

/* A lack of memory is one of the analysis: trace_analysis_error(). */
static void sum_once(const struct trace_critical_path *path)
{
	struct trace_critical_path *own = (struct trace_critical_path *)path;

	if (own->is_summed)
		return;
	own->is_summed = true;
	sum_up(own);
	if (own->failed)
		own->history->analysis->failed = own->failed;
}

size_t trace_critical_path_nr_contributors(const struct trace_critical_path *path)
{
	sum_once(path);
	return path->nr_contributors;
}

const struct trace_contributor *trace_critical_path_contributor(const struct trace_critical_path *path, size_t idx)
{
	sum_once(path);
	return idx < path->nr_contributors ? &path->contributors[idx] : NULL;
}

const char *trace_contributor_by_name(enum trace_contributor_by by)
{
	static const char *const names[TRACE_NR_CONTRIBUTORS_BY] = {"command", "thread", "target",
								    "lock",    "link",	 "competitor"};

	return (unsigned int)by < TRACE_NR_CONTRIBUTORS_BY ? names[by] : "unknown";
}

/* ---- verify ---- */

static int violation(struct trace_error *ret_error, const char *what, uint64_t got, uint64_t expected)
{
	return error_set(ret_error, -EBADMSG,
			 "critical path: %s: %" PRIu64 " ns instead of %" PRIu64 "; this is a bug of the analysis",
			 what, got, expected);
}

int trace_critical_path_verify(const struct trace_critical_path *path, struct trace_error *ret_error)
{
	uint64_t sums[TRACE_NR_CONTRIBUTORS_BY] = {0}, at = path->from_ns, queued = 0, blocked = 0,
		 window = path->to_ns - path->from_ns;
	struct trace_path_segment segment;

	for (size_t i = 0; i < path->nr_steps; i++) {
		trace_critical_path_segment(path, i, &segment);
		if (segment.from_ns != at || segment.to_ns <= segment.from_ns)
			return violation(ret_error, "a segment begins at", segment.from_ns, at);
		at = segment.to_ns;
		queued += segment.state == TRACE_STATE_WAIT_CPU ? segment.to_ns - segment.from_ns : 0;
		blocked += segment.state == TRACE_STATE_BLOCKED ? segment.to_ns - segment.from_ns : 0;
	}
	if (at != path->to_ns)
		return violation(ret_error, "the last segment ends at", at, path->to_ns);
	sum_once(path);
	if (path->failed)
		return error_set(ret_error, path->failed, "no memory for the sums of a critical path");
	for (size_t i = 0; i < path->nr_contributors; i++)
		sums[path->contributors[i].by] += path->contributors[i].ns;
	if (sums[TRACE_BY_COMMAND] != window)
		return violation(ret_error, "the sum by command is", sums[TRACE_BY_COMMAND], window);
	if (sums[TRACE_BY_THREAD] != window)
		return violation(ret_error, "the sum by thread is", sums[TRACE_BY_THREAD], window);
	if (sums[TRACE_BY_COMPETITOR] != queued)
		return violation(ret_error, "the sum by competitor is", sums[TRACE_BY_COMPETITOR], queued);
	if (sums[TRACE_BY_TARGET] != blocked)
		return violation(ret_error, "the sum by target is", sums[TRACE_BY_TARGET], blocked);
	return 0;
}
