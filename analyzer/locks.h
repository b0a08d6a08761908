/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_LOCKS_H
#define ANALYZER_LOCKS_H
/* locks.h - the report of locks that processes waited for */
#include <stdbool.h>
#include <stdint.h>
#include "wait_cause.h"

struct trace_analysis;
struct trace_thread;

/* see locks.c */
struct lock_row {
	uint64_t key;
	uint64_t subject;	 /* address of a futex, string_id of a file's path */
	uint32_t waiter, holder; /* processes */
	uint64_t via;
	uint64_t ns;
	uint64_t count;
};

/** lock_is_via() - is a wait for a process by this means a wait for a lock? */
static inline bool lock_is_via(enum via via)
{
	return via == VIA_FUTEX || via == VIA_LOCK || via == VIA_SEMAPHORE;
}

/** lock_waited() - account a wait of @thread for a lock; its system call must still be its frame */
void lock_waited(struct trace_analysis *a, const struct trace_thread *thread, const struct wait_cause *v, uint64_t ns);
#endif
