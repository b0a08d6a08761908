/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_KERNEL_TURNS_H
#define ANALYZER_KERNEL_TURNS_H
/* kernel_turns.h - locks of the kernel: which thread held one during which part of a wait */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct kernel_release;
struct pending;
struct trace_analysis;
struct trace_thread;
struct wait_cause;
struct waker;

struct kernel_turns {
	struct kernel_release *list; /* owned; release n is at n % capacity */
	uint64_t nr;		     /* releases so far */
	uint32_t capacity;	     /* 0, or a power of two */
	struct kernel_turn *turns;   /* owned; of the wait that was split last */
	uint32_t max_turns;
};

/* a part of a wait, with the wakeup that ended it */
struct kernel_turn {
	uint64_t from, to;
	const struct waker *by; /* NULL: the holder is not known */
};

/** kernel_released() - @woken, which sleeps so that signals do not end it, was woken by a task */
void kernel_released(struct trace_analysis *a, const struct trace_thread *woken, const struct waker *waker);

/**
 * is_for_kernel_lock() - true if the wait @pending with the cause @v was for a lock of the kernel
 */
bool is_for_kernel_lock(const struct pending *pending, const struct wait_cause *v);

/**
 * kernel_turns() - split a wait for a lock of the kernel among the threads that held it
 * Returns the turns in order of time, without holes, valid until the next call, and their number;
 * 0: out of memory.
 */
const struct kernel_turn *kernel_turns(struct trace_analysis *a, struct trace_thread *thread,
				       const struct pending *pending, const struct wait_cause *v, size_t *ret_nr);

/** kernel_turns_mark() - set the bits of the files that the log has */
void kernel_turns_mark(const struct kernel_turns *log, uint64_t *files);

void kernel_turns_clear(struct kernel_turns *turns);
#endif
