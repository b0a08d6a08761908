/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_STATE_LIFE_H
#define ANALYZER_STATE_LIFE_H
/* state_life.h - birth, exec and death of threads; threads that the state does not know yet */
#include <stdint.h>
#include "handler.h"

struct trace_analysis;
struct trace_thread;

/**
 * thread_get() - the thread with number @tid; creates one if there is none
 *
 * Returns NULL if @tid is 0 or too large.
 */
struct trace_thread *thread_get(struct trace_analysis *a, uint32_t tid);

/** thread_living() - as thread_get(), but replaces a dead thread: its number was reused unseen */
struct trace_thread *thread_living(struct trace_analysis *a, uint32_t tid);

/**
 * thread_note_exchange() - @tid was seen where @current was expected
 *
 * Checks whether exec gave @current, or its leader, the other's number.
 */
void thread_note_exchange(struct trace_analysis *a, struct trace_thread *current, uint32_t tid);

event_handler on_sched_fork, on_sched_exec, on_fs_exec, on_sched_exit, on_sched_free, on_sched_comm;
#endif
