/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* wait_context.c - the wait context: see wait_context.h */
#include "wait_context.h"

/*
 * If the entry was not recorded, the name of the call is unknown. A successful return does not
 * prove that the event that ended the wait was recorded.
 */
struct wait_cause cause_other_call(const struct wait_context *ctx, enum via via)
{
	if (ctx->frame->call == CALL_UNKNOWN || ctx->result)
		return wait_cause_of(TRACE_WAIT_UNKNOWN, VIA_NONE, 0);
	return wait_cause_of(TRACE_WAIT_OTHER, via, ctx->a->calls[ctx->frame->call].name);
}

string_id path_argument(const struct wait_context *ctx)
{
	const struct frame *frame = frame_syscall(ctx->thread);

	return frame && frame->has_path ? path_whole(ctx->a, ctx->thread, frame) : 0;
}
