/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_LOCK_LOG_H
#define ANALYZER_LOCK_LOG_H
/* lock_log.h - the releases of each lock: which thread owned it during which part of a wait */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "handler.h"
#include "hash_table.h"

struct frame;
struct pending;
struct trace_analysis;
struct trace_thread;
struct waker;

/* a wakeup of a thread that waited for the lock, or a requeue of such threads to another lock */
struct lock_release {
	uint64_t ns;
	struct trace_thread *by;    /* the owner until then */
	struct trace_thread *woken; /* NULL: a requeue */
	uint32_t to;		    /* of a requeue: log of the second futex */
	uint32_t to_memory;	    /* hash of the file of the second futex; 0: of no file */
};

struct lock_log {
	struct lock_release *list; /* owned; release n is at n % capacity */
	uint64_t nr;		   /* releases so far */
	uint32_t capacity;	   /* 0, or a power of two */
	bool has_owner;		   /* a wait had the value of a lock: see lock_log.c */
	bool has_none;		   /* a wait had another value, so this is no lock */
};

/* a part of a wait, with the thread that owned the lock; NULL: not known */
struct lock_piece {
	uint64_t from, to;
	struct trace_thread *owner;
};

struct lock_logs {
	struct hash_table by_key;  /* identity of a lock -> index in @list */
	struct lock_log *list;	   /* owned; [0] unused */
	struct lock_piece *pieces; /* owned; of the wait that was split last */
	uint32_t nr, max;
	uint32_t max_pieces;
};

/**
 * lock_released() - @woken, which may wait for a lock, was woken
 *
 * Sets @waker->lock to the log of the lock, or to 0 if the wakeup released none.
 */
void lock_released(struct trace_analysis *a, struct trace_thread *woken, struct waker *waker);

/**
 * futex_called() - the call of @frame ended: note that it moved the waiters of a futex to another
 * one, or, in @thread, that it signalled a futex that is no lock
 */
void futex_called(struct trace_analysis *a, struct trace_thread *thread, const struct frame *frame);
/** on_futex_moved() - the same of futex_requeue(2), whose futexes are in memory */
event_handler on_futex_moved;

/**
 * lock_split() - split a wait for a lock among its owners
 * @pending: ended by the thread that released the lock
 * Returns the pieces in order of time, valid until the next call, and their number; 0: out of
 * memory. They have no holes.
 */
const struct lock_piece *lock_split(struct trace_analysis *a, const struct trace_thread *thread,
				    const struct pending *pending, size_t *ret_nr);

/**
 * futex_is_lock() - true if @thread waits for a lock in the futex call of @frame, and not for a
 * condition
 */
bool futex_is_lock(const struct trace_analysis *a, const struct trace_thread *thread, const struct frame *frame);

/**
 * futex_was_moved() - true if @thread, which is in the futex call of @frame, may wait for a futex
 * in other memory than that of its call
 */
bool futex_was_moved(const struct trace_analysis *a, const struct trace_thread *thread, const struct frame *frame);

/**
 * futex_is_foreign() - true if @thread waits for a futex in memory that @by does not share
 *
 * A child that exits wakes by what it held: a lock of a file, an end of a pipe, memory. If it woke
 * a thread that waits for such a futex, its signal did.
 */
bool futex_is_foreign(const struct trace_analysis *a, struct trace_thread *thread, const struct trace_thread *by);

void lock_logs_clear(struct lock_logs *logs);
#endif
