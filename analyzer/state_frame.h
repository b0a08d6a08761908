/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_STATE_FRAME_H
#define ANALYZER_STATE_FRAME_H
/*
 * state_frame.h - the frames of a thread: the system call that it is in, and the page faults in
 * that call. frame_end.h ends them.
 */
#include <stdbool.h>
#include <stdint.h>
#include "state.h"

static inline struct frame *frame_top(struct trace_thread *thread)
{
	return thread->depth ? &thread->frames[thread->depth - 1] : NULL;
}

/** frame_syscall() - the system call that the thread is in, below its faults; NULL: none */
static inline struct frame *frame_syscall(struct trace_thread *thread)
{
	return thread->depth && thread->frames[0].kind == FRAME_SYSCALL ? &thread->frames[0] : NULL;
}

/** frame_outermost() - the same, or the kernel's work outside of calls that it is in; NULL: none */
static inline struct frame *frame_outermost(struct trace_thread *thread)
{
	return thread->depth && thread->frames[0].kind != FRAME_TRAP ? &thread->frames[0] : NULL;
}

static inline enum call_class frame_class(const struct trace_analysis *a, const struct frame *frame)
{
	return (enum call_class)a->calls[frame->call].class;
}

/** frame_drop_call() - mark the call of @frame as not known */
static inline void frame_drop_call(struct frame *frame)
{
	frame->call = CALL_UNKNOWN;
	frame->file = 0;
	frame->nr_args = 0;
	frame->has_path = false;
}

/**
 * call_accepts() - is it accept()?
 *
 * Also true for socketcall() of 32-bit programs with SYS_ACCEPT or SYS_ACCEPT4 (<linux/net.h>).
 */
static inline bool call_accepts(const struct trace_analysis *a, const struct frame *frame)
{
	enum call_class class = frame_class(a, frame);

	return class == CALL_ACCEPT ||
	       (class == CALL_SOCKETCALL && frame->nr_args && (frame->args[0] == 5 || frame->args[0] == 18));
}

/** frame_is_error() - did the call fail, or was the fault a major one? */
static inline bool frame_is_error(const struct frame *frame, int64_t ret)
{
	/* -512..-516 make the kernel restart the call: the program sees no error. */
	return frame->kind == FRAME_TRAP ? frame->major : ret < 0 && ret >= -4095 && !(ret <= -512 && ret >= -516);
}
#endif
