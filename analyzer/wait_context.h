/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_WAIT_CONTEXT_H
#define ANALYZER_WAIT_CONTEXT_H
/* wait_context.h - the wait context: what the decision of a wait cause starts from */
#include <stdbool.h>
#include <stdint.h>
#include "pending.h"
#include "state.h"
#include "state_frame.h"
#include "wait_cause.h"

/* The wait context: a thread, its closed wait, and the frame in which it blocked. */
struct wait_context {
	struct trace_analysis *a;
	struct trace_thread *thread;
	const struct pending *pending;
	const struct waker *waker;
	const struct frame *frame; /* a system call, or the kernel's work outside of calls */
	bool gap;		   /* the end was not recorded: a gap, or the time of a hidden thread */
	int64_t result;		   /* result of the call if it replaces an unrecorded end; else 0 */
};

static inline bool woken_by_task(const struct wait_context *ctx)
{
	return ctx->waker->thread && !(ctx->waker->thread->flags & THREAD_KERNEL) &&
	       ctx->waker->thread->process->idx >= NR_PSEUDO_PROCESSES;
}

static inline struct wait_cause cause_is_waker(const struct wait_context *ctx, enum via via)
{
	return wait_cause_of(TRACE_WAIT_PROCESS, via, ctx->waker->thread->process->idx);
}

static inline struct wait_cause cause_timeout(void)
{
	return wait_cause_of(TRACE_WAIT_TIMEOUT, VIA_NONE, 0);
}

/**
 * lasts_until_end() - false for an interrupted wait: what the recorder read at the end is of
 * another one
 */
static inline bool lasts_until_end(const struct wait_context *ctx)
{
	return !ctx->pending->interrupted;
}

/** is_last_wait() - true for the latest of the thread's waits: a result is its result */
static inline bool is_last_wait(const struct wait_context *ctx)
{
	return ctx->thread->nr_pending && ctx->pending == &ctx->thread->pending[ctx->thread->nr_pending - 1];
}

/**
 * returns_from_wait() - true if the current event is the return of the call from this wait. If an
 * event is missing since the wait began, it may be the return of another call.
 */
static inline bool returns_from_wait(const struct wait_context *ctx)
{
	return (ctx->thread->flags & THREAD_RETURNS) && is_last_wait(ctx) &&
	       gap_log_first_loss(&ctx->a->gaps, ctx->pending->from, ctx->a->now) == UINT64_MAX;
}

/** ended_before() - true if @process had ended before the thread slept; false for NULL */
static inline bool ended_before(const struct wait_context *ctx, const struct trace_process *process)
{
	return process && process->first && !process->nr_living && process_end_ns(process) < ctx->pending->from;
}

/** cause_other_call() - kind `other`: only the name of the call is known */
struct wait_cause cause_other_call(const struct wait_context *ctx, enum via via);
/** path_argument() - the path that was passed to the call; 0: none */
string_id path_argument(const struct wait_context *ctx);
#endif
