/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* wait_waker.c - the cause of a wait by its waker: see wait_waker.h */
#include <stdio.h>
#include <string.h>
#include "state_device.h"
#include "state_socket.h"
#include "wait_alone.h"
#include "wait_context.h"
#include "wait_waker.h"

static bool is_core_dump(uint32_t call)
{
	return call == CALL_SIGNAL || call == CALL_CORE_DUMP;
}

/* Is the thread in exit, or in other work of the kernel outside of calls? */
static bool is_past_calls(const struct wait_context *ctx)
{
	return ctx->frame->kind == FRAME_KERNEL || frame_class(ctx->a, ctx->frame) == CALL_EXIT;
}

/*
 * exit_group() and fatal signals wake all threads of the process so that they exit, whatever they
 * wait for.
 */
static bool woken_to_die(const struct wait_context *ctx)
{
	const struct call *call = &ctx->a->calls[ctx->waker->call];

	if (ctx->waker->thread->process != ctx->thread->process || is_past_calls(ctx))
		return false;
	return is_core_dump(ctx->waker->call) ||
	       (call->class == CALL_EXIT && strcmp(strings_text(&ctx->a->strings, call->name), "exit_group") == 0);
}

/*
 * The thread that dumps core waits until the others of its process have stopped, and for the
 * program that takes the dump. The others wait until the dump is complete.
 */
static bool waits_for_dump(const struct wait_context *ctx)
{
	return is_past_calls(ctx) &&
	       (is_core_dump(ctx->frame->call) ||
		(ctx->waker->thread->process == ctx->thread->process && is_core_dump(ctx->waker->call)));
}

#define RCU_NAME "RCU grace period"

static bool is_of_rcu(const struct trace_thread *thread)
{
	return (thread->flags & THREAD_KERNEL) && strncmp(thread->comm, "rcu", 3) == 0;
}

bool wait_ended_by_rcu(const struct wait_context *ctx)
{
	return !ctx->pending->cut &&
	       (ctx->waker->thread ? is_of_rcu(ctx->waker->thread) : ctx->waker->cause == CAUSE_RCU);
}

/*
 * The name without the instance: "kworker/0:1-events" becomes "kworker", because it does not
 * matter which worker ran. The threads of RCU have many names, so they share one target.
 */
static struct wait_cause by_kernel_thread(const struct wait_context *ctx, enum via via)
{
	const char *comm = ctx->waker->thread->comm;
	char name[sizeof(ctx->waker->thread->comm)];

	snprintf(name, sizeof(name), "%.*s", (int)strcspn(comm, "/"), comm);
	if (is_of_rcu(ctx->waker->thread))
		return wait_cause_of(TRACE_WAIT_KERNEL, via, strings_intern(&ctx->a->strings, RCU_NAME));
	return wait_cause_of(TRACE_WAIT_KERNEL, via, strings_intern(&ctx->a->strings, *name ? name : "kernel thread"));
}

bool wait_waker_is_filtered(const struct wait_context *ctx)
{
	const struct waker *waker = ctx->waker;

	return ctx->a->filter.is_on && !ctx->pending->cut && !waker->thread &&
	       (waker->cause == CAUSE_NONE || (waker->cause == CAUSE_KERNEL && waker->is_bare));
}

/* The call tells what the thread waited for, and not its waker. */
static struct wait_cause by_filtered_waker(const struct wait_context *ctx, enum via via)
{
	struct wait_cause v = wait_by_call_alone(ctx, via);
	char text[64];

	if (v.kind != TRACE_WAIT_OTHER)
		return v;
	snprintf(text, sizeof(text), "%.24s (woken by: not recorded)", strings_text(&ctx->a->strings, v.target));
	v.target = strings_intern(&ctx->a->strings, text);
	return v;
}

/*
 * A process is no child of its own: then the call had ended before the recording, and the thread
 * waits in its exit, as for the core dump of another one.
 */
static struct wait_cause by_task(const struct wait_context *ctx, enum via via)
{
	if (via == VIA_WAITPID && ctx->waker->thread->process == ctx->thread->process)
		return wait_cause_of(TRACE_WAIT_UNKNOWN, VIA_NONE, 0);
	return cause_is_waker(ctx, via);
}

struct wait_cause wait_by_waker_alone(const struct wait_context *ctx, enum via via)
{
	if (ctx->pending->cut)
		return ctx->gap ? wait_cause_of(TRACE_WAIT_UNKNOWN, VIA_NONE, 0) : wait_by_call_alone(ctx, via);
	if (woken_by_task(ctx))
		return by_task(ctx, woken_to_die(ctx) ? VIA_EXIT : waits_for_dump(ctx) ? VIA_COREDUMP : via);
	if (wait_waker_is_filtered(ctx))
		return by_filtered_waker(ctx, via);
	switch (ctx->waker->cause) {
	case CAUSE_TIMER:
		return cause_timeout();
	case CAUSE_SOCKET:
	case CAUSE_NETWORK:
		return via == VIA_SOCKET ? cause_other_call(ctx, via)
					 : wait_cause_of(TRACE_WAIT_NETWORK, VIA_NONE, sock_address(ctx->a, NULL));
	case CAUSE_BLOCK:
		return wait_cause_of(TRACE_WAIT_FILE, VIA_NONE,
				     path_argument(ctx) ? path_argument(ctx) : device_name(ctx->a, ctx->waker->detail));
	case CAUSE_DEVICE:
		return wait_cause_of(TRACE_WAIT_DEVICE, VIA_NONE, (string_id)ctx->waker->detail);
	case CAUSE_RCU:
		return wait_cause_of(TRACE_WAIT_KERNEL, via, strings_intern(&ctx->a->strings, RCU_NAME));
	case CAUSE_KERNEL:
		return wait_cause_of(TRACE_WAIT_KERNEL, via, (string_id)ctx->waker->detail);
	case CAUSE_UNSEEN:
		return wait_cause_of(TRACE_WAIT_UNKNOWN, VIA_NONE, 0);
	default:
		return ctx->waker->thread ? by_kernel_thread(ctx, via) : cause_other_call(ctx, via);
	}
}
