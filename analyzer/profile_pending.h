/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_PROFILE_PENDING_H
#define ANALYZER_PROFILE_PENDING_H
/*
 * profile_pending.h - stacks of waits as far as the kernel's part, until the thread leaves the call
 * and the program's part is recorded.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <trace/analysis.h>
#include "hash_table.h"

/**
 * struct pending_stack - @user_ip: where the thread entered the kernel; 0: a thread of the kernel
 * @is_woken: the wait was chosen at the wakeup, at @woken_ns, by number @waker; 0: not known
 * @kernel: the innermost first
 */
struct pending_stack {
	struct pending_stack *next;
	uint64_t since_ns, ts_ns, woken_ns;
	uint64_t user_ip;
	uint32_t waker;
	bool is_cut, is_woken;
	size_t nr_kernel;
	uint64_t kernel[];
};

/** pending_add() - keep a stack of @thread; NULL: no memory. The caller fills it */
struct pending_stack *pending_add(struct hash_table *pending, const struct trace_thread *thread, size_t nr_kernel);
/** pending_first() - the stacks of @thread; NULL: none */
struct pending_stack *pending_first(const struct hash_table *pending, const struct trace_thread *thread);
/** pending_drop() - @thread has none any more */
void pending_drop(struct hash_table *pending, const struct trace_thread *thread);
/**
 * pending_threads() - the threads that have some, in the order of their numbers: the same in each
 * pass; to be freed. NULL: no memory
 */
const struct trace_thread **pending_threads(const struct hash_table *pending, size_t *ret_nr);
void pending_clear(struct hash_table *pending);
#endif
