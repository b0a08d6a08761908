/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_FRAME_END_H
#define ANALYZER_FRAME_END_H
/* frame_end.h - the end of system calls and page faults */
#include <stdint.h>

struct trace_analysis;
struct trace_thread;

/** frames_pop() - end frames until @depth are left: account them and decide their waits */
void frames_pop(struct trace_analysis *a, struct trace_thread *thread, uint64_t ns, unsigned int depth, int64_t ret);
#endif
