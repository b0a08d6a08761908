/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* wait_poll.c - the cause of a wait on several files at once: see wait_poll.h */
#include "kernel_numbers.h"
#include "potential_wakers.h"
#include "state_end.h"
#include "state_request.h"
#include "state_socket.h"
#include "state_uring.h"
#include "wait_alone.h"
#include "wait_context.h"
#include "wait_file.h"
#include "wait_path.h"
#include "wait_poll.h"
#include "wait_socket.h"
#include "wait_waker.h"

bool wait_polls(const struct wait_context *ctx)
{
	enum call_class class = frame_class(ctx->a, ctx->frame);

	return class == CALL_POLL || class == CALL_SELECT || class == CALL_EPOLL_WAIT;
}

bool wait_rests(const struct wait_context *ctx)
{
	return thread_serves(ctx->a, ctx->thread) && !wait_is_asked(ctx->a, ctx->thread, ctx->pending);
}

/*
 * For a wait without a waker: the cause that the wait would have if this file ended it. Kind
 * `unknown` if the file does not decide.
 */
static struct wait_cause cause_if_ended_by(const struct wait_context *ctx, file_idx file)
{
	struct frame frame = *ctx->frame;
	struct wait_context variant = *ctx;
	struct wait_cause v;

	frame.file = file;
	variant.frame = &frame;
	v = wait_by_file(&variant, file);
	if (v.kind == TRACE_WAIT_PROCESS && v.target == PROCESS_UNKNOWN && v.via == VIA_EVENTFD)
		/* another process is rare, and an eventfd has no name by which to find it */
		v.target = ctx->thread->process->idx;
	if (v.kind == TRACE_WAIT_OTHER)
		v.kind = TRACE_WAIT_UNKNOWN;
	return v;
}

/* Combine the causes of several files: their common cause, or "several" if they differ. */
static struct wait_cause combined(struct wait_cause sum, struct wait_cause v, enum via via)
{
	if (v.kind == TRACE_WAIT_UNKNOWN)
		return sum;
	if (sum.kind != TRACE_WAIT_UNKNOWN && wait_key(&sum) != wait_key(&v))
		return wait_cause_of(TRACE_WAIT_PROCESS, via, PROCESS_SEVERAL);
	return v;
}

static struct wait_cause by_descriptors(const struct wait_context *ctx)
{
	const struct end_wait *end = lasts_until_end(ctx) ? end_wait_of(ctx->a, ctx->thread, ctx->frame) : NULL;
	struct wait_cause sum = {.kind = TRACE_WAIT_UNKNOWN};

	if (end && end->counts_fds && !end->nr_fds)
		return cause_timeout(); /* poll() without descriptors is a sleep */
	for (uint32_t i = 0; end && i < end->nr_fds; i++)
		sum = combined(sum, cause_if_ended_by(ctx, fd_file(ctx->thread, ctx->a->end.fds[end->first_fd + i])),
			       VIA_POLL);
	return sum.kind == TRACE_WAIT_UNKNOWN ? cause_other_call(ctx, VIA_POLL) : sum;
}

/*
 * The files for which the call returned: recordings of some processes have them (fs_ready). If the
 * thread slept several times in the call, all sleeps were for them.
 */
static bool has_ready(const struct wait_context *ctx)
{
	return ctx->thread->ready && ctx->thread->ready->ns >= ctx->frame->begin.ns;
}

static struct wait_cause by_ready(const struct wait_context *ctx)
{
	struct wait_cause sum = {.kind = TRACE_WAIT_UNKNOWN};

	for (int i = 0; i < MAX_READY_FILES; i++)
		if (ctx->thread->ready->files[i])
			sum = combined(sum, cause_if_ended_by(ctx, ctx->thread->ready->files[i]), VIA_POLL);
	return sum.kind == TRACE_WAIT_UNKNOWN ? wait_by_waker(ctx, VIA_POLL) : sum;
}

/* The common cause of the io_uring requests that are still in progress. */
static struct wait_cause by_requests(const struct wait_context *ctx)
{
	struct wait_cause sum = {.kind = TRACE_WAIT_UNKNOWN};
	file_idx file;

	for (size_t i = 0; (file = wakers_request(ctx->a, ctx->thread->process, i)); i++)
		sum = combined(sum, cause_if_ended_by(ctx, file), VIA_URING);
	if (sum.kind == TRACE_WAIT_UNKNOWN)
		return wait_by_call_alone(ctx, VIA_URING);
	if (sum.kind == TRACE_WAIT_PROCESS || sum.kind == TRACE_WAIT_FILE)
		sum.via = VIA_URING;
	return sum;
}

/* The latest decided wait of an io_uring worker, as the wait of its submitter. */
static struct wait_cause cause_of_worker(const struct wait_context *ctx)
{
	struct wait_cause v = wait_of_key(ctx->waker->thread->last_wait);

	v.via = VIA_URING;
	v.idle = false;
	return v;
}

struct wait_cause wait_by_uring(const struct wait_context *ctx)
{
	const struct trace_process *self = ctx->thread->process;
	file_idx file = ctx->pending->cut		       ? 0
			: ctx->waker->ring_file		       ? ctx->waker->ring_file - 1
			: self->uring_ns >= ctx->pending->from ? self->uring_file
							       : 0;
	const struct trace_thread *waker = ctx->pending->cut ? NULL : ctx->waker->thread;
	struct wait_cause v;

	if (waker && (waker->flags & THREAD_IO_WORKER) && waker->process == self &&
	    waker->last_wait_ns > ctx->pending->from &&
	    !(*file_text(ctx->a, file) && LINUX_S_ISREG(ctx->a->files.list[file].mode)))
		return cause_of_worker(ctx);
	if (ctx->pending->cut && !ctx->gap)
		v = by_requests(ctx);
	else
		v = file ? wait_by_file(ctx, file) : wait_by_waker(ctx, VIA_URING);
	if (v.kind == TRACE_WAIT_PROCESS || v.kind == TRACE_WAIT_FILE)
		v.via = VIA_URING;
	v.idle = (v.kind == TRACE_WAIT_PROCESS || v.kind == TRACE_WAIT_NETWORK) && wait_rests(ctx);
	return v;
}

struct wait_cause wait_of_io_worker(const struct wait_context *ctx)
{
	file_idx file = uring_worker_file(ctx->thread->process);
	struct wait_cause v = wait_by_waker(ctx, VIA_URING);

	if (v.kind == TRACE_WAIT_FILE && file && LINUX_S_ISREG(ctx->a->files.list[file].mode))
		v.target = file_path(ctx->a, file);

	v.idle = v.kind == TRACE_WAIT_TIMEOUT ||
		 (v.kind == TRACE_WAIT_PROCESS && v.target == ctx->thread->process->idx);
	return v;
}

/* poll() and select() without descriptors are sleeps. */
static bool has_descriptors(const struct wait_context *ctx)
{
	switch (frame_class(ctx->a, ctx->frame)) {
	case CALL_POLL:
		return ctx->frame->nr_args < 2 || ctx->frame->args[1];
	case CALL_SELECT:
		return !ctx->frame->nr_args || ctx->frame->args[0];
	default:
		return true;
	}
}

/* The wait ended with the first answer that came on a connection, or it may do so. */
static bool asks_first(const struct wait_context *ctx, const struct socket_state *ready)
{
	return thread_asks_first(ctx->thread) && (ctx->pending->cut || (ready && ready->asker == ctx->thread));
}

/*
 * The means of a wakeup by neither pipe nor socket. A queue of messages has a path of any name, and
 * the type of a regular file: the waker's call tells it. No other object of such calls has a
 * descriptor.
 */
static enum via via_by_waker(const struct wait_context *ctx)
{
	const struct waker *waker = ctx->waker;
	enum via via = waker->via ? (enum via)waker->via : file_via(ctx->a, waker->file);

	if (!via && ctx->a->calls[waker->call].class == CALL_IPC)
		return VIA_MQUEUE;
	return via ? via : VIA_POLL;
}

struct wait_cause wait_by_poll(const struct wait_context *ctx)
{
	const struct socket_state *sock = ctx->waker->cause == CAUSE_SOCKET ? sock_of_inode(ctx->a, ctx->waker->detail)
									    : NULL;
	const struct socket_state *waker_socket = sock_of_file(ctx->a, ctx->waker->file); /* the waker's end */
	bool is_told = wait_waker_is_filtered(ctx) && has_ready(ctx);
	struct wait_cause v;

	if (is_told)
		sock = sock_of_file(ctx->a, ctx->thread->ready->files[0]);

	if (ctx->pending->cut)
		v = ctx->gap ? wait_cause_of(TRACE_WAIT_UNKNOWN, VIA_NONE, 0) : by_descriptors(ctx);
	else if (is_told)
		v = by_ready(ctx);
	else if (ctx->waker->by_signal && woken_by_task(ctx)) /* for a signalfd, or it interrupted the call */
		v = cause_is_waker(ctx, VIA_SIGNAL);
	else if (ctx->waker->file && LINUX_S_ISFIFO(ctx->a->files.list[ctx->waker->file].mode))
		v = wait_by_waker(ctx, VIA_PIPE);
	else if (sock)
		v = wait_by_socket(ctx, sock);
	else if (waker_socket)
		v = wait_by_waker(ctx, via_of_socket(waker_socket));
	else
		v = wait_by_waker(ctx, via_by_waker(ctx));
	v.idle = v.kind != TRACE_WAIT_UNKNOWN && has_descriptors(ctx) && wait_rests(ctx) &&
		 !asks_first(ctx, sock || !waker_socket ? sock : sock_peer(ctx->a, waker_socket));
	return v;
}

/*
 * io_getevents(): the analysis does not follow its requests, as it does those of io_uring. The
 * file on which the waker acted decides, or the disk.
 */
struct wait_cause wait_by_aio(const struct wait_context *ctx)
{
	struct wait_cause v = wait_by_poll(ctx);

	/* a database that waits for its disk is not idle */
	v.idle &= v.kind == TRACE_WAIT_PROCESS || v.kind == TRACE_WAIT_NETWORK;
	return v;
}
