/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DAEMON_WRITER_THREAD_H
#define DAEMON_WRITER_THREAD_H
/*
 * writer_thread.h - the thread that compresses and writes, with a queue of limited size
 *
 * The drain thread pushes packed blocks and never waits for a disk. When the disk is too slow:
 * 1. The queue fills, and writer_thread_full() returns true.
 * 2. The drain thread leaves the sub-buffers in the rings, and the rings fill.
 * 3. The kernel discards events and counts them. So memory stays bounded and each loss is counted.
 *
 * Only the thread that called writer_thread_new() may call these functions. From
 * writer_thread_new() to writer_thread_stop() the new thread owns the writer; but any thread may
 * call trace_writer_pack(). THREADS.md lists what the two threads share.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <trace/writer.h>

#include "clock.h"

struct writer_thread;

/**
 * writer_thread_new() - start the thread
 * @writer: borrowed. @fd: the file of @writer, for writer_thread_push_sync(); borrowed. -1: it
 *     has none
 * Returns NULL on -ENOMEM or -EAGAIN.
 */
struct writer_thread *writer_thread_new(struct trace_writer *writer, int fd, size_t limit_bytes,
					struct trace_error *ret_error);

/**
 * writer_thread_adapt() - adapt the compression level to the bottleneck (level.h); otherwise it
 * stays fixed
 */
void writer_thread_adapt(struct writer_thread *thread);

/**
 * writer_thread_full() - does the queue exceed its limit? If so, wake_fd becomes readable when
 * there is room again
 */
bool writer_thread_full(struct writer_thread *thread);

/**
 * writer_thread_is_nearly_full() - is the queue above 7/8 of its limit? For pushers that must leave
 * room for others
 */
bool writer_thread_is_nearly_full(struct writer_thread *thread);

/**
 * writer_thread_wake_fd() - readable when there is room again or a sync is done
 * writer_thread_acknowledge() resets it.
 */
int writer_thread_wake_fd(const struct writer_thread *thread);
void writer_thread_acknowledge(struct writer_thread *thread);

/**
 * writer_thread_push() - queue a block, even above the limit; consumes @packed
 * @lost: writer_thread_abandon() adds @events to it; NULL: not counted. The writer itself counts
 * events that it cannot write.
 */
int writer_thread_push(struct writer_thread *thread, struct trace_packed *packed, uint64_t events, uint64_t *lost);
int writer_thread_push_clock(struct writer_thread *thread, const struct clock_sample *sample);

/**
 * writer_thread_push_sync() - queue a sync. writer_thread_synced() grows by one when all earlier
 * items are on disk
 */
int writer_thread_push_sync(struct writer_thread *thread);
uint64_t writer_thread_synced(const struct writer_thread *thread);

/**
 * writer_thread_push_call() - queue a call of a function with the writer, in the writer's thread
 */
typedef int (*writer_thread_fn)(void *context, struct trace_writer *writer, struct trace_error *ret_error);
int writer_thread_push_call(struct writer_thread *thread, writer_thread_fn call, void *context);

/** writer_thread_totals() - the totals written so far */
void writer_thread_totals(struct writer_thread *thread, struct trace_writer_totals *ret_totals);

/** writer_thread_lost() - the total of events that could not be written so far */
uint64_t writer_thread_lost(const struct writer_thread *thread);

/** writer_thread_error() - the first write error. Returns its errno, with @ret_error; 0: none */
int writer_thread_error(const struct writer_thread *thread, struct trace_error *ret_error);

/** writer_thread_empty() - are all pushed items written? */
bool writer_thread_empty(const struct writer_thread *thread);

/**
 * writer_thread_abandon() - drop the queue and count its events as lost
 * Then writer_thread_stop() waits for one block at most.
 */
void writer_thread_abandon(struct writer_thread *thread);

/**
 * writer_thread_stop() - write the queued items and end the thread; the caller owns the writer
 * again
 */
void writer_thread_stop(struct writer_thread *thread);

/** writer_thread_free() - stops first. NULL is fine. Returns NULL. */
struct writer_thread *writer_thread_free(struct writer_thread *thread);
#endif
