/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TRACER_PRELOAD_GPROF_TIMES_H
#define TRACER_PRELOAD_GPROF_TIMES_H
/*
 * gprof_times.h - elapsed time and CPU time of each context: a function with all of its callers
 *
 * A thread has a tree of contexts of its own, and a stack of the calls that have not returned. All
 * of this is only changed by the thread itself.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * struct gprof_context - @parent: its number; context 0 is the root. @level: callers above it
 * @calls: of this context. @active: calls that have not returned
 * @elapsed: in units of the processor's clock. @cpu_ns: of it, on a CPU
 */
struct gprof_context {
	uint32_t parent, level;
	uintptr_t self;
	uint64_t calls, active;
	uint64_t elapsed, cpu_ns;
};

/** struct gprof_contexts - a thread's; @not_timed: calls without a time, for want of room */
struct gprof_contexts {
	struct gprof_context *at;
	uint32_t nr;
	uint64_t not_timed;
};

/** gprof_times_begin() - 0, or a negative errno: there can be no times */
int gprof_times_begin(void);
/** gprof_times_now() - calls of this thread that have not returned get their times until now */
void gprof_times_now(void);
/** gprof_times_forget() - in a child of fork(): as if all calls began now */
void gprof_times_forget(void);
/**
 * gprof_times_thread_ends() - this thread; its contexts remain for the next one
 * The caller has gprof_lock().
 */
void gprof_times_thread_ends(void);
/** gprof_each_timed() - @visit the contexts of each thread */
void gprof_each_timed(void (*visit)(void *context, const struct gprof_contexts *contexts), void *context);
/** gprof_elapsed_ns() - ns of units of the processor's clock, by how it ran until now */
uint64_t gprof_elapsed_ns(uint64_t elapsed);

/* ---- for gprof_arcs.c ---- */

/**
 * gprof_enter() - @slot: of the return address, which becomes that of gprof_return
 * gprof_leave() - the return address that was in @slot; gprof_caller(): that it has or had
 * gprof_enter_plain(), gprof_leave_plain() - for functions that tell their end themselves; @at: an
 * address in their frame
 */
void gprof_enter(uintptr_t *slot, uintptr_t self);
uintptr_t gprof_leave(uintptr_t *slot);
uintptr_t gprof_caller(const uintptr_t *slot);
void gprof_enter_plain(uintptr_t at, uintptr_t self);
void gprof_leave_plain(uintptr_t self);
#endif
