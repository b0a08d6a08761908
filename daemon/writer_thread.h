/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DAEMON_WRITER_THREAD_H
#define DAEMON_WRITER_THREAD_H
/*
 * writer_thread.h - the thread that compresses and writes, behind a queue of limited size.
 *
 * The drain thread pushes packed blocks and never waits for a disk. When the disk is slower than the events the queue fills,
 * writer_thread_full() says so, the drain thread leaves the sub-buffers where they are, the rings fill, and the
 * kernel discards and counts: memory stays bounded and nothing is lost silently.
 *
 * All functions are for the one thread that made it. From writer_thread_new() to writer_thread_stop() the writer belongs to
 * the new thread, but for trace_writer_pack(), which any thread may call.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <trace/writer.h>

#include "clock.h"

struct writer_thread;

/** writer_thread_new() - start it. @fd: the file under @writer, for writer_thread_push_sync(). Both borrowed. NULL: -ENOMEM,
 * -EAGAIN */
struct writer_thread *writer_thread_new(struct trace_writer *writer, int fd, size_t limit_bytes, struct trace_error *ret_error);

/** writer_thread_adapt() - let the level of compression follow what stands in the way (level.h); otherwise it stays as the writer has it */
void writer_thread_adapt(struct writer_thread *thread);

/** writer_thread_full() - is more queued than the limit allows? If so, wake_fd becomes readable when there is room again */
bool writer_thread_full(struct writer_thread *thread);

/** writer_thread_is_crowded() - the same of most of it: for those who are to leave a part of the queue to others */
bool writer_thread_is_crowded(struct writer_thread *thread);

/** writer_thread_wake_fd() - readable when there is room again, or a sync is done; writer_thread_acknowledge() resets it */
int writer_thread_wake_fd(const struct writer_thread *thread);
void writer_thread_acknowledge(struct writer_thread *thread);

/**
 * writer_thread_push() - queue a block, beyond the limit if need be; consumes @packed
 * @lost: writer_thread_abandon() adds @events to it; NULL: nobody counts. What cannot be written, the writer counts itself
 */
int writer_thread_push(struct writer_thread *thread, struct trace_packed *packed, uint64_t events, uint64_t *lost);
int writer_thread_push_clock(struct writer_thread *thread, const struct clock_sample *sample);

/** writer_thread_push_sync() - when all that was pushed before is on disk, writer_thread_synced() grows by one */
int writer_thread_push_sync(struct writer_thread *thread);
uint64_t writer_thread_synced(struct writer_thread *thread);

/** writer_thread_totals() - what was written so far */
void writer_thread_totals(struct writer_thread *thread, struct trace_writer_totals *ret_totals);

/** writer_thread_error() - the first failed write: its errno and @ret_error filled in; 0 when there was none */
int writer_thread_error(struct writer_thread *thread, struct trace_error *ret_error);

/** writer_thread_empty() - is everything that was pushed written? */
bool writer_thread_empty(struct writer_thread *thread);

/** writer_thread_abandon() - count all that is queued as lost, so that writer_thread_stop() waits for one block at most */
void writer_thread_abandon(struct writer_thread *thread);

/** writer_thread_stop() - write what is queued and end the thread; the writer is the caller's again */
void writer_thread_stop(struct writer_thread *thread);

/** writer_thread_free() - stops first. NULL is fine. Returns NULL. */
struct writer_thread *writer_thread_free(struct writer_thread *thread);
#endif
