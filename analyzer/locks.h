/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_LOCKS_H
#define ANALYZER_LOCKS_H
/* locks.h - the report of locks that processes waited for */
#include <stdbool.h>
#include <stdint.h>
#include "wait_cause.h"

struct hash_table;
struct pending;
struct trace_analysis;
struct trace_thread;

/* see locks.c */
struct lock_row {
	uint64_t key;
	uint64_t subject; /* address of a futex, string_id of a file's path */
	const struct trace_thread *waiter;
	const struct trace_thread *owner; /* NULL: it is not known which thread of the process */
	uint32_t holder;		  /* process */
	uint32_t via;
	uint64_t ns;
	uint64_t count;
};

/**
 * lock_waited() - account @wait of @thread for a lock; its system call must still be its frame
 * Its waker is the thread that owned the lock; NULL: not known.
 */
void lock_waited(struct trace_analysis *a, const struct trace_thread *thread, const struct wait_cause *v,
		 const struct pending *wait);
/** lock_list() - trace_lock_waits() of the struct lock_row of @rows */
struct trace_lock_wait *lock_list(const struct trace_analysis *a, const struct hash_table *rows, size_t *ret_nr);
#endif
