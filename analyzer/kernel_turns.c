/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * kernel_turns.c - locks of the kernel, and the threads that held them during a wait
 *
 * Terms. The kernel has a lock for each file, directory, pipe, socket, file position and address
 * space. A thread that waits for one sleeps so that signals do not end it. A release is the wakeup
 * of such a thread, by a task. A turn is the part of a wait in which one thread held the lock.
 *
 * Rule. The last turn is of the thread that ended the wait. If that thread had itself waited for
 * the same lock, in the call in which it released the lock, then its turn begins at its own
 * wakeup, and the turn before is of the thread that woke it; and so on.
 *
 * It was the same lock if the earlier release, as the end of the wait that is split, would give a
 * cause of the same means and path. So a thread that held a directory and waited for the server of
 * the file system meanwhile keeps its turn.
 *
 * Example. A lists a directory from 0 to 300 ms. B wants to create a file there from 100 ms on, C
 * from 110 ms on. A wakes B at 300 ms, and B wakes C at 301 ms. C waited 190 ms for A and 1 ms for
 * B.
 *
 * The log has the latest MAX_RELEASES releases of all such locks. The part of a wait before them
 * has an unknown holder.
 */
#include <errno.h>
#include <stdlib.h>
#include "array_room.h"
#include "kernel_numbers.h"
#include "kernel_turns.h"
#include "state.h"
#include "state_frame.h"
#include "wait.h"
#include "wait_object.h"

#define MAX_RELEASES 4096u /* a power of two */

struct kernel_release {
	uint64_t ns;
	struct waker by;
	uint64_t by_call_ns; /* the begin of the call in which the waker released */
	uint64_t call_ns;    /* the begin of the call in which @woken waited */
	const struct trace_thread *woken;
};

static struct kernel_release *release_at(const struct kernel_turns *log, uint64_t nr)
{
	return &log->list[nr & (log->capacity - 1)];
}

static uint64_t oldest(const struct kernel_turns *log)
{
	return log->nr > log->capacity ? log->nr - log->capacity : 0;
}

static bool log_has_room(struct trace_analysis *a, struct kernel_turns *log)
{
	if (log->capacity >= MAX_RELEASES || /* until then none is overwritten */
	    array_room((void **)&log->list, (uint32_t)log->nr, &log->capacity, sizeof(*log->list)))
		return true;
	a->failed = -ENOMEM;
	return false;
}

void kernel_released(struct trace_analysis *a, const struct trace_thread *woken, const struct waker *waker)
{
	struct trace_thread *by = waker->thread;
	const struct frame *own = by ? frame_syscall(by) : NULL;
	struct kernel_turns *log = &a->kernel_turns;

	if (!own || waker->worker || (by->flags & THREAD_KERNEL) || !woken->depth ||
	    !(woken->task_state & TRACE_TASK_UNINTERRUPTIBLE) || !log_has_room(a, log))
		return;
	*release_at(log, log->nr++) = (struct kernel_release){.ns = waker->ns,
							      .by = *waker,
							      .by_call_ns = own->begin.ns,
							      .call_ns = woken->frames[0].begin.ns,
							      .woken = woken};
}

bool is_for_kernel_lock(const struct pending *pending, const struct wait_cause *v)
{
	return v->kind == TRACE_WAIT_PROCESS && !v->idle && (v->via == VIA_LOCK || v->via == VIA_MEMORY) &&
	       (pending->task_state & TRACE_TASK_UNINTERRUPTIBLE) && !pending->cut && pending->depth &&
	       pending->waker.thread && !pending->waker.worker;
}

static bool is_same_lock(const struct trace_analysis *a, const struct wait_cause *v, const struct wait_cause *other)
{
	return other->kind == v->kind && other->via == v->via && wait_path(a, other) == wait_path(a, v);
}

/* Adds a turn before the others. They are collected from the end of the wait on. */
static void turn_add(struct trace_analysis *a, size_t *nr, uint64_t from, uint64_t to, const struct waker *by)
{
	struct kernel_turns *log = &a->kernel_turns;
	uint64_t born = by ? by->thread->start_ns : 0;

	if (from >= to)
		return;
	if (born > from) { /* before its begin it held nothing */
		turn_add(a, nr, born, to, by);
		to = born < to ? born : to;
		by = NULL;
	}
	if (!array_room((void **)&log->turns, (uint32_t)*nr, &log->max_turns, sizeof(*log->turns))) {
		a->failed = -ENOMEM;
		return;
	}
	log->turns[(*nr)++] = (struct kernel_turn){from, to, by};
}

const struct kernel_turn *kernel_turns(struct trace_analysis *a, struct trace_thread *thread,
				       const struct pending *pending, const struct wait_cause *v, size_t *ret_nr)
{
	struct kernel_turns *log = &a->kernel_turns;
	const struct trace_thread *holder = thread;
	const struct waker *by = &pending->waker;
	uint64_t to = pending->to, call_ns = thread->frames[0].begin.ns, i;
	size_t nr = 0;

	for (i = log->nr; i > oldest(log) && release_at(log, i - 1)->ns > pending->from; i--) {
		const struct kernel_release *release = release_at(log, i - 1);
		struct wait_cause other;

		if (release->woken != holder || release->call_ns != call_ns || release->ns > to)
			continue;
		if (holder != thread) {
			other = wait_decide_by(a, thread, pending, &release->by);
			if (!is_same_lock(a, v, &other))
				continue;
			turn_add(a, &nr, release->ns, to, by);
			to = release->ns;
			by = &release->by;
		} else if (release->ns != pending->waker.ns) {
			continue;
		}
		holder = release->by.thread;
		call_ns = release->by_call_ns;
	}
	if (i && i == oldest(log) && release_at(log, i)->ns > pending->from) {
		uint64_t known = release_at(log, i)->ns < to ? release_at(log, i)->ns : to;

		turn_add(a, &nr, known, to, by);
		by = NULL;
		to = known;
	}
	turn_add(a, &nr, pending->from, to, by);
	for (size_t j = 0; j < nr / 2; j++) {
		struct kernel_turn turn = log->turns[j];

		log->turns[j] = log->turns[nr - 1 - j];
		log->turns[nr - 1 - j] = turn;
	}
	*ret_nr = a->failed ? 0 : nr;
	return log->turns;
}

void kernel_turns_mark(const struct kernel_turns *log, uint64_t *files)
{
	for (uint64_t i = oldest(log); i < log->nr; i++) {
		const struct waker *by = &release_at(log, i)->by;

		files[by->file / 64] |= 1ull << by->file % 64;
		files[by->second_file / 64] |= 1ull << by->second_file % 64;
	}
}

void kernel_turns_clear(struct kernel_turns *turns)
{
	free(turns->list);
	free(turns->turns);
}
