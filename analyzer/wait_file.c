/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* wait_file.c - the cause of a wait on a file: see wait_file.h */
#include <string.h>
#include "kernel_numbers.h"
#include "state_socket.h"
#include "wait_alone.h"
#include "wait_context.h"
#include "wait_file.h"
#include "wait_holder.h"
#include "wait_path.h"
#include "wait_socket.h"
#include "wait_waker.h"

static bool is_terminal(const struct wait_context *ctx, file_idx file)
{
	return file_via(ctx->a, file) == VIA_TTY;
}

static bool is_same_file(const struct trace_analysis *a, file_idx used, file_idx idx)
{
	const struct traced_file *one = &a->files.list[used], *other = &a->files.list[idx];

	return used && one->ino == other->ino && one->dev == other->dev;
}

bool waker_used_file(const struct wait_context *ctx, file_idx idx)
{
	return woken_by_task(ctx) && !ctx->pending->cut &&
	       (is_same_file(ctx->a, ctx->waker->file, idx) || is_same_file(ctx->a, ctx->waker->second_file, idx));
}

/*
 * Data of a file arrives through interrupts and kernel threads. If the waker was itself in a call
 * on the same file, it held the file's lock: for a large write, or a lease.
 */
static bool waker_held_lock(const struct wait_context *ctx, file_idx idx)
{
	return !ctx->waker->worker && waker_used_file(ctx, idx);
}

/* True if the waker is a fanotify listener: it has to permit the access first. */
static bool waker_had_to_permit(const struct wait_context *ctx)
{
	return woken_by_task(ctx) && !ctx->pending->cut && ctx->waker->file &&
	       strncmp(path_anonymous(file_text(ctx->a, ctx->waker->file)), "[fanotify", 9) == 0;
}

/*
 * For a call with an unknown descriptor, such as an ioctl() that creates it. If the waker acted on
 * the other end of a terminal, the wait is for a terminal.
 */
static struct wait_cause by_unknown_descriptor(const struct wait_context *ctx)
{
	return wait_by_waker(ctx, woken_by_task(ctx) && is_terminal(ctx, ctx->waker->file) ? VIA_TTY : VIA_NONE);
}

/* The wait was on @path, and the waker held a lock there. Kind `unknown`: no sign of that. */
static struct wait_cause by_holder(const struct wait_context *ctx, string_id path)
{
	const char *text = strings_text(&ctx->a->strings, path);
	string_id directory;

	if (!woken_by_task(ctx) || ctx->pending->cut || ctx->waker->worker)
		return (struct wait_cause){.kind = TRACE_WAIT_UNKNOWN};
	if (held_memory_of(ctx->waker, text))
		return wait_cause_with_path(ctx->a, cause_is_waker(ctx, VIA_MEMORY), path);
	if (is_kernel_file(text))
		return wait_cause_with_path(ctx->a, cause_is_waker(ctx, VIA_LOCK), path);
	if (held_file(ctx->a, ctx->waker, text))
		return wait_cause_with_path(ctx->a, cause_is_waker(ctx, VIA_LOCK), path);
	directory = held_directory(ctx->a, ctx->waker, text);
	if (directory)
		return wait_cause_with_path(ctx->a, cause_is_waker(ctx, VIA_LOCK), directory);
	return (struct wait_cause){.kind = TRACE_WAIT_UNKNOWN};
}

/*
 * The kernel looks at a lease every few ms if its holder need not give all of it up: a timer ends
 * these sleeps. The call has sent the holder a signal. If it began before the recording, so did the
 * signal, and the holder is not known.
 */
static struct wait_cause for_data_or_lease(const struct wait_context *ctx, string_id path, enum via via)
{
	const struct trace_thread *thread = ctx->thread;
	uint64_t begin = thread->is_interrupted ? thread->rare->interrupted_ns : ctx->frame->begin.ns;
	bool by_timer = !ctx->pending->cut && !ctx->waker->thread && ctx->waker->cause == CAUSE_TIMER &&
			(ctx->pending->task_state & TRACE_TASK_INTERRUPTIBLE);

	if (by_timer && thread->rare && thread->rare->path_signal && thread->rare->path_signal_ns >= begin)
		return wait_cause_with_path(ctx->a,
					    wait_cause_of(TRACE_WAIT_PROCESS, VIA_LOCK, thread->rare->path_signal),
					    path);
	if (by_timer && begin <= ctx->a->start_ns)
		return (struct wait_cause){.kind = TRACE_WAIT_UNKNOWN};
	return wait_cause_of(TRACE_WAIT_FILE, via, path);
}

/*
 * The waker held the pipe's lock, or gave or took data. At the same end it passed on a wakeup that
 * came from the other end.
 */
static struct wait_cause by_pipe(const struct wait_context *ctx, file_idx idx)
{
	enum call_class own = frame_class(ctx->a, ctx->frame);
	bool by_timer = !ctx->pending->cut && !ctx->waker->thread && ctx->waker->cause == CAUSE_TIMER;

	/* a pipe has no timeout: a timer's signal woke the thread, and the other end came then */
	if (by_timer && (own == CALL_READ || own == CALL_WRITE || own == CALL_OPEN))
		return wait_by_call_alone(ctx, VIA_PIPE);
	if (!waker_used_file(ctx, idx))
		return wait_by_waker(ctx, VIA_PIPE);
	if (ctx->pending->task_state & TRACE_TASK_UNINTERRUPTIBLE) /* for data the thread would sleep interruptibly */
		return wait_cause_with_path(ctx->a, cause_is_waker(ctx, VIA_LOCK), file_path(ctx->a, idx));
	if ((own == CALL_READ || own == CALL_WRITE) && ctx->a->calls[ctx->waker->call].class == own)
		return wait_by_call_alone(ctx, VIA_PIPE);
	return wait_by_waker(ctx, VIA_PIPE);
}

/* A regular file or a directory. */
static struct wait_cause by_inode(const struct wait_context *ctx, file_idx idx)
{
	struct wait_cause v;

	if (waker_held_lock(ctx, idx))
		return wait_cause_with_path(ctx->a, cause_is_waker(ctx, VIA_LOCK), file_path(ctx->a, idx));
	if (waker_had_to_permit(ctx))
		return cause_is_waker(ctx, VIA_INOTIFY);
	v.kind = TRACE_WAIT_UNKNOWN;
	if (woken_by_task(ctx))
		v = by_holder(ctx, file_path(ctx->a, idx));
	if (v.kind != TRACE_WAIT_UNKNOWN)
		return v;
	return for_data_or_lease(ctx, file_path(ctx->a, idx),
				 ctx->thread->flags & THREAD_THROTTLED ? VIA_THROTTLE : VIA_NONE);
}

/* The device by which a program serves a file system: it waits for the next request. */
static struct wait_cause by_served_device(const struct wait_context *ctx)
{
	struct wait_cause v = cause_is_waker(ctx, VIA_FUSE);

	v.idle = true;
	return v;
}

struct wait_cause wait_by_file(const struct wait_context *ctx, file_idx idx)
{
	const struct socket_state *sock;

	if (!idx)
		return by_unknown_descriptor(ctx);
	if (wait_ended_by_rcu(ctx))
		return wait_by_waker_alone(ctx, VIA_NONE);
	switch (ctx->a->files.list[idx].mode & LINUX_S_IFMT) {
	case LINUX_S_IFREG:
	case LINUX_S_IFDIR:
		return by_inode(ctx, idx);
	case LINUX_S_IFLNK:
	case LINUX_S_IFBLK:
		return wait_cause_of(TRACE_WAIT_FILE, ctx->thread->flags & THREAD_THROTTLED ? VIA_THROTTLE : VIA_NONE,
				     file_path(ctx->a, idx));
	case LINUX_S_IFIFO:
		return by_pipe(ctx, idx);
	case LINUX_S_IFCHR:
		if (serves_files(ctx->a, idx) && woken_by_task(ctx) && !ctx->pending->cut)
			return by_served_device(ctx);
		if (is_terminal(ctx, idx) && woken_by_task(ctx) && !ctx->pending->cut)
			return cause_is_waker(ctx, VIA_TTY);
		return wait_cause_of(TRACE_WAIT_DEVICE, VIA_NONE, file_path(ctx->a, idx));
	case LINUX_S_IFSOCK:
		sock = sock_of_file(ctx->a, idx);
		return sock ? wait_by_socket(ctx, sock) : wait_by_waker(ctx, VIA_SOCKET);
	default: /* no type: an anonymous inode, or a file with a known path only */
		if (strncmp(path_anonymous(file_text(ctx->a, idx)), "[timerfd", 8) == 0)
			return cause_timeout();
		if (file_text(ctx->a, idx)[0] == '/')
			return wait_cause_of(TRACE_WAIT_FILE, VIA_NONE, file_path(ctx->a, idx));
		return wait_by_waker(ctx, file_via(ctx->a, idx));
	}
}

struct wait_cause wait_by_path(const struct wait_context *ctx)
{
	if (ctx->frame->file)
		return wait_by_file(ctx, ctx->frame->file);
	if (waker_had_to_permit(ctx))
		return cause_is_waker(ctx, VIA_INOTIFY); /* or it denied the access: then there is no descriptor */
	if (ctx->frame->has_path && !ctx->gap && !wait_ended_by_rcu(ctx)) {
		struct wait_cause v = by_holder(ctx, path_argument(ctx));

		return v.kind != TRACE_WAIT_UNKNOWN ? v : for_data_or_lease(ctx, path_argument(ctx), VIA_NONE);
	}
	return wait_by_waker(ctx, VIA_NONE);
}
