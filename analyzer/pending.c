/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * pending.c - finished waits without a decided cause
 *
 * wait.c decides the cause of a wait at the end of the system call or fault in which the thread
 * blocked. Until then the wait is pending: its time is in the sums of the thread at once, its row
 * by wait cause follows.
 */
#include <string.h>
#include "locks.h"
#include "pending.h"
#include "state.h"
#include "state_frame.h"
#include "wait.h"
#include "wait_check.h"

static void emit_blocked(struct trace_analysis *a, struct trace_thread *thread, const struct pending *pending,
			 const struct wait_cause *v)
{
	const struct frame *call = frame_syscall(thread);
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
	emit_pieces(a, &interval);
}

void pending_account(struct trace_analysis *a, struct trace_thread *thread, const struct pending *pending,
		     const struct wait_cause *v)
{
	if (pending->known_ns) {
		acct_cause(a, thread, v, pending->depth ? thread->frames[pending->depth - 1].file : 0,
			   pending->known_ns);
		if (v->kind == TRACE_WAIT_PROCESS && lock_is_via((enum via)v->via))
			lock_waited(a, thread, v, pending->known_ns);
	}
	if (a->evidence)
		check_wait(a, thread, pending, v);
	if (WATCHED(a, TRACE_STATE_BLOCKED))
		emit_blocked(a, thread, pending, v);
}

/* Decide the wait cause of @pending, and account it. */
static void wait_account(struct trace_analysis *a, struct trace_thread *thread, const struct pending *pending)
{
	struct wait_cause v = wait_decide(a, thread, pending);

	pending_account(a, thread, pending, &v);
}

void pending_wait(struct trace_analysis *a, struct trace_thread *thread, uint64_t ns, const struct waker *waker)
{
	struct pending pending = {.from = thread->since,
				  .to = ns,
				  .task_state = thread->task_state,
				  .flags = thread->flags,
				  .depth = thread->depth};
	uint64_t lost;

	if (ns <= thread->since)
		return;
	lost = gap_log_overlap(&a->gaps, pending.from, ns);
	pending.known_ns = ns - pending.from - lost;
	pending.cut = !waker || lost;
	if (waker)
		pending.waker = *waker;
	acct_blocked(a, thread, ns, lost);
	if (!thread->depth) {
		wait_account(a, thread, &pending);
		return;
	}
	if (thread->nr_pending == MAX_PENDING) { /* The call blocks often: decide the oldest wait now. */
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

	for (unsigned int i = 0; i < thread->nr_pending; i++)
		if (thread->pending[i].depth > depth)
			wait_account(a, thread, &thread->pending[i]);
		else
			thread->pending[kept++] = thread->pending[i];
	thread->nr_pending = (uint8_t)kept;
}
