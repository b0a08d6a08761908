/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TRACER_START_PROC_H
#define TRACER_START_PROC_H
/* start_proc.h - the part of the start state that /proc shows. */
#include "start_state.h"

/**
 * tracer_abi_of_program() - TRACE_ABI_32 if the file is a 32-bit program of this machine, which has
 * other call numbers; otherwise, or if the file cannot be read, native
 */
enum trace_abi tracer_abi_of_program(const char *path);

/** tracer_emit_runs() - emit thread_runs of a thread, from /proc; nothing if it has exited */
int tracer_emit_runs(struct tracer_collector *c, uint32_t tgid, uint32_t tid, uint64_t ts_ns);

/**
 * tracer_start_state_of_proc() - the threads that the iterators did not show,
 * with their files, from /proc
 */
int tracer_start_state_of_proc(struct tracer_collector *c);

#endif
