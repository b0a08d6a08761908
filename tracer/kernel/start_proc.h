/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TRACER_START_PROC_H
#define TRACER_START_PROC_H
/* start_proc.h - the part of the start state that /proc shows. */
#include "start_state.h"

/**
 * tracer_abi_of_process() - TRACE_ABI_32 if the process runs a 32-bit program of this machine,
 * which has other call numbers; otherwise, or if the process cannot be read, native. x32 programs
 * count as 32-bit ones here; a bit of their call numbers tells them apart.
 */
enum trace_abi tracer_abi_of_process(uint32_t tgid);

/* __X32_SYSCALL_BIT of asm/unistd.h */
#define TRACER_X32_BIT 0x40000000

/** tracer_emit_runs() - emit thread_runs of a thread, from /proc; nothing if it has exited */
int tracer_emit_runs(struct tracer_collector *c, uint32_t tgid, uint32_t tid, uint64_t ts_ns);

/**
 * tracer_start_state_of_proc() - the threads that the iterators did not show,
 * with their files, from /proc
 */
int tracer_start_state_of_proc(struct tracer_collector *c);

#endif
