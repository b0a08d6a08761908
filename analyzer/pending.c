/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * pending.c - finished waits without a decided cause
 *
 * wait.c decides the cause of a wait at the end of the system call or fault in which the thread
 * blocked. Until then the wait is pending: its time is in the sums of the thread at once, its row
 * by wait cause follows.
 *
 * The first waits of a call that blocks often are decided before its end, as all that they need is
 * known. The path of a call is an exception: if the program had not touched its page before, the
 * recorder can read it only when the call ends. The waits of such a call are kept until then.
 *
 * A wait for a lock becomes one wait for each thread that owned the lock in turn (lock_log.h). The
 * rows of the waits, the report of the locks and the hooks get the same pieces. A wait for a lock
 * of the kernel is split, too (kernel_turns.h).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "interrupted.h"
#include "kept_rests.h"
#include "kernel_turns.h"
#include "locks.h"
#include "pending.h"
#include "relay.h"
#include "state.h"
#include "state_frame.h"
#include "state_uring.h"
#include "wait.h"

static void emit_blocked(struct trace_analysis *a, struct trace_thread *thread, const struct pending *pending,
			 const struct wait_cause *v)
{
	const struct frame *call = frame_outermost(thread);
	struct trace_interval interval = {.thread = thread,
					  .from_ns = pending->from,
					  .to_ns = pending->to,
					  .state = TRACE_STATE_BLOCKED,
					  .cpu = -1,
					  .kind = (enum trace_wait_kind)v->kind,
					  .idle = v->idle,
					  .waker = pending->waker.thread,
					  .worker = pending->waker.worker};

	interval.via = via_name((enum via)v->via);
	if (call)
		interval.name = strings_text(&a->strings, a->calls[call->call].name);
	interval.other = wait_process(a, v);
	interval.target = wait_target(a, v);
	interval.path = strings_text(&a->strings, wait_path(a, v));
	a->hooks.wait_key = wait_key(v);
	emit_pieces(a, &interval);
	a->hooks.wait_key = 0;
}

static bool is_for_lock(const struct wait_cause *v)
{
	return v->kind == TRACE_WAIT_PROCESS && !v->idle &&
	       (v->via == VIA_FUTEX || v->via == VIA_LOCK || v->via == VIA_SEMAPHORE);
}

/* A condition that no thread signalled has no owner and no holder. */
static bool is_in_report(const struct trace_analysis *a, const struct trace_thread *thread,
			 const struct pending *pending, const struct wait_cause *v)
{
	return is_for_lock(v) && (!pending->cut || v->via != VIA_FUTEX || futex_is_lock(a, thread, &thread->frames[0]));
}

void pending_account(struct trace_analysis *a, struct trace_thread *thread, const struct pending *pending,
		     const struct wait_cause *v)
{
	struct wait_cause row = wait_cause_with_thread(a, *v, thread, pending->waker.thread);

	if (pending->known_ns) {
		acct_cause(a, thread, &row, pending->depth ? thread->frames[pending->depth - 1].file : 0,
			   pending->known_ns);
		if (row.kind == TRACE_WAIT_FILE)
			disk_waits_wait(a, &(struct disk_wait){pending->from, pending->to, row.target,
							       thread->process->idx});
		if (is_in_report(a, thread, pending, v))
			lock_waited(a, thread, v, pending);
	}
	if (WATCHED(a, TRACE_STATE_BLOCKED))
		emit_blocked(a, thread, pending, &row);
}

void pending_split(struct trace_analysis *a, struct trace_thread *thread, const struct pending *pending,
		   const struct wait_cause *v, const struct waker *release, uint64_t release_ns)
{
	string_id path = wait_path(a, v);
	struct pending whole = *pending;
	const struct lock_piece *pieces;
	size_t nr;

	whole.to = release_ns;
	whole.waker = *release;
	pieces = lock_split(a, thread, &whole, &nr);
	for (size_t i = 0; i < nr && pieces[i].from < pending->to; i++) {
		struct pending piece = whole;
		struct wait_cause cause = *v;

		piece.from = pieces[i].from;
		piece.to = pieces[i].to < pending->to ? pieces[i].to : pending->to;
		piece.known_ns = piece.to - piece.from;
		piece.waker.thread = pieces[i].owner;
		cause.has_path = false;
		cause.target = pieces[i].owner ? pieces[i].owner->process->idx : (uint32_t)PROCESS_UNKNOWN;
		cause = wait_cause_with_path(a, cause, path);
		pending_account(a, thread, &piece, &cause);
	}
}

/* Account @pending as waits for the threads that held a lock of the kernel in turn. */
static void split_turns(struct trace_analysis *a, struct trace_thread *thread, const struct pending *pending,
			const struct wait_cause *v)
{
	string_id path = wait_path(a, v);
	size_t nr;
	const struct kernel_turn *turns = kernel_turns(a, thread, pending, v, &nr);

	for (size_t i = 0; i < nr; i++) {
		struct pending piece = *pending;
		struct wait_cause cause = *v;

		piece.from = turns[i].from;
		piece.to = turns[i].to;
		piece.known_ns = piece.to - piece.from;
		piece.waker = turns[i].by ? *turns[i].by : (struct waker){.ns = piece.to};
		cause.has_path = false;
		cause.target = turns[i].by ? turns[i].by->thread->process->idx : (uint32_t)PROCESS_UNKNOWN;
		cause = wait_cause_with_path(a, cause, path);
		pending_account(a, thread, &piece, &cause);
	}
}

/* Account @pending with its wait cause. */
static void wait_account(struct trace_analysis *a, struct trace_thread *thread, const struct pending *pending)
{
	struct wait_cause v = wait_decide(a, thread, pending);

	if (thread->brings_part || v.via == VIA_PIPE)
		rest_ended(thread, pending, &v);
	if (v.idle && (thread->requests.nr_relays || thread->requests.rests) && rest_is_kept(a, thread, pending, &v))
		return;
	if (is_for_kernel_lock(pending, &v)) {
		split_turns(a, thread, pending, &v);
		return;
	}
	if (!pending->waker.lock || pending->cut || !is_for_lock(&v)) {
		pending_account(a, thread, pending, &v);
		return;
	}
	pending_split(a, thread, pending, &v, &pending->waker, pending->to);
	if (thread->is_interrupted)
		interrupted_released(thread, pending);
}

#define FIRST_EARLY 4
#define MAX_EARLY   256

/* The recorder read the call after the oldest wait: it may have been in another one. */
static bool lacks_call(const struct trace_thread *thread)
{
	return thread->read_ns > thread->pending[0].to;
}

/* The path of the call may still come, with the end of the call. */
static bool lacks_path(const struct trace_analysis *a, struct trace_thread *thread)
{
	const struct frame *frame = frame_outermost(thread);
	enum call_class class = frame ? frame_class(a, frame) : CALL_OTHER;

	return thread->pending[0].depth == 1 && frame && frame->kind == FRAME_SYSCALL && !frame->has_path &&
	       (class == CALL_PATH || class == CALL_INODE || class == CALL_OPEN || class == CALL_EXEC);
}

/* Keep the oldest pending wait; false: there are too many, or memory is out. */
static bool keep_oldest(struct trace_analysis *a, struct trace_thread *thread)
{
	struct kept_waits *kept = thread->kept_waits;

	if (!kept || kept->nr == kept->room) {
		uint32_t room = kept ? 2 * kept->room : FIRST_EARLY;

		if (room > MAX_EARLY)
			return false;
		kept = realloc(kept, sizeof(*kept) + room * sizeof(kept->list[0]));
		if (!kept) {
			a->failed = -ENOMEM;
			return false;
		}
		if (!thread->kept_waits)
			kept->nr = 0;
		kept->room = room;
		thread->kept_waits = kept;
		thread->keeps_waits = true;
	}
	kept->list[kept->nr++] = thread->pending[0];
	return true;
}

static void decide_kept(struct trace_analysis *a, struct trace_thread *thread)
{
	struct kept_waits *kept = thread->kept_waits;

	for (uint32_t i = 0; i < kept->nr; i++)
		wait_account(a, thread, &kept->list[i]);
	free(kept);
	thread->kept_waits = NULL;
	thread->keeps_waits = false;
}

void pending_wait(struct trace_analysis *a, struct trace_thread *thread, uint64_t ns, const struct waker *waker)
{
	struct pending pending = {.from = thread->since,
				  .to = ns,
				  .task_state = thread->task_state,
				  .flags = thread->flags,
				  .is_asked = thread->is_asked,
				  .depth = thread->depth};
	uint64_t lost;

	if (ns <= thread->since)
		return;
	lost = gap_log_overlap(&a->gaps, pending.from, ns);
	pending.known_ns = ns - pending.from - lost;
	pending.cut = !waker || lost;
	if (waker)
		pending.waker = *waker;
	if (waker && thread->ring)
		pending.waker.ring_file = uring_file_of_wakeup(a, thread, waker);
	acct_blocked(a, thread, ns, lost);
	if (!thread->depth) {
		wait_account(a, thread, &pending);
		return;
	}
	if (thread->nr_pending == MAX_PENDING) { /* The call blocks often: decide the oldest wait now. */
		if (!(lacks_path(a, thread) || lacks_call(thread)) || !keep_oldest(a, thread))
			wait_account(a, thread, &thread->pending[0]);
		memmove(&thread->pending[0], &thread->pending[1], sizeof(pending) * (MAX_PENDING - 1));
		thread->nr_pending--;
	}
	thread->pending[thread->nr_pending++] = pending;
	if (a->files.nr >= FILES_COLD) /* the wait's file is read when the call ends */
		line_prefetch(&a->files.list[thread->frames[thread->depth - 1].file]);
}

void pending_decide(struct trace_analysis *a, struct trace_thread *thread, unsigned int depth)
{
	unsigned int kept = 0;

	if (thread->keeps_waits && !depth)
		decide_kept(a, thread);
	for (unsigned int i = 0; i < thread->nr_pending; i++)
		if (thread->pending[i].depth > depth)
			wait_account(a, thread, &thread->pending[i]);
		else
			thread->pending[kept++] = thread->pending[i];
	thread->nr_pending = (uint8_t)kept;
}
