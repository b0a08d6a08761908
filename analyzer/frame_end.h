/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_FRAME_END_H
#define ANALYZER_FRAME_END_H
/* frame_end.h - the end of system calls and page faults */
#include <stdbool.h>
#include <stdint.h>
#include "state_thread.h"

struct trace_analysis;
struct trace_thread;

/** frames_pop() - end frames until @depth are left: account them and decide their waits */
void frames_pop(struct trace_analysis *a, struct trace_thread *thread, uint64_t ns, unsigned int depth, int64_t ret);

/** frame_is_error() - did the call fail, or was the fault a major one? */
static inline bool frame_is_error(const struct frame *frame, int64_t ret)
{
	/* -512..-516 make the kernel restart the call: the program sees no error. */
	return frame->kind == FRAME_TRAP ? frame->major : ret < 0 && ret >= -4095 && !(ret <= -512 && ret >= -516);
}
#endif
