/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_STATE_SYSCALL_H
#define ANALYZER_STATE_SYSCALL_H
/* state_syscall.h - the system call that a thread is in, and the file that the call acts on */
#include <stdbool.h>
#include <stdint.h>
#include "state.h"

/** call_file() - the file of the descriptor that is the call's first argument; 0: none */
file_idx call_file(struct trace_analysis *a, const struct trace_thread *thread, const struct frame *frame);
/**
 * call_descriptor() - the entry in @thread's descriptor table that a call refers to
 * @enter: its sys_enter3 or sys_enter6; NULL: none
 *
 * Returns NULL if the call has no descriptor, or if the descriptor is beyond the table.
 */
static inline const uint32_t *call_descriptor(const struct trace_analysis *a, const struct trace_thread *thread, const struct trace_sys_enter3 *enter)
{
	if (!enter || !thread->fds || !(a->calls[call_idx(enter->nr, enter->abi)].flags & CALL_HAS_FD) || enter->arg0 >= thread->fds->nr)
		return NULL;
	return &thread->fds->files[enter->arg0];
}
/** frames_pop() - end frames until @depth are left: account them and decide their waits */
void frames_pop(struct trace_analysis *a, struct trace_thread *thread, uint64_t ns, unsigned int depth, int64_t ret);
static inline struct frame *frame_top(struct trace_thread *thread)
{
	return thread->depth ? &thread->frames[thread->depth - 1] : NULL;
}
/** frame_syscall() - the system call that the thread is in, below its faults; NULL: none */
static inline struct frame *frame_syscall(struct trace_thread *thread)
{
	return thread->depth && thread->frames[0].kind == FRAME_SYSCALL ? &thread->frames[0] : NULL;
}
static inline enum call_class frame_class(const struct trace_analysis *a, const struct frame *frame)
{
	return (enum call_class)a->calls[frame->call].class;
}
/**
 * call_accepts() - is it accept()?
 *
 * Also true for socketcall() of 32-bit programs with SYS_ACCEPT or SYS_ACCEPT4 (<linux/net.h>).
 */
static inline bool call_accepts(const struct trace_analysis *a, const struct frame *frame)
{
	enum call_class class = frame_class(a, frame);

	return class == CALL_ACCEPT || (class == CALL_SOCKETCALL && frame->nr_args && (frame->args[0] == 5 || frame->args[0] == 18));
}
/** frame_path() - the path argument of @thread's system call, as a string for reports; 0: none */
string_id frame_path(struct trace_analysis *a, struct trace_thread *thread);

/** file_count_read() - a call of @thread read @bytes from @file; 0: not known */
void file_count_read(struct trace_analysis *a, struct trace_thread *thread, file_idx file, uint64_t bytes);
void file_count_written(struct trace_analysis *a, struct trace_thread *thread, file_idx file, uint64_t bytes);
#endif
