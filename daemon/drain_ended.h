/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DAEMON_DRAIN_ENDED_H
#define DAEMON_DRAIN_ENDED_H
/*
 * drain_ended.h - the statistics of the rings of programs that have ended, which go into the trace
 * before its end, so that the daemon need not keep them
 *
 * Terms. A ring has ended when the drain no longer reads it. A batch is DRAIN_ENDED_BATCH ended
 * rings.
 * Rule. The main thread puts the statistics of a batch into the queue of the writer, behind all
 * blocks of these rings. The writer writes them, and forgets the streams. Then the main thread
 * frees the rings, and keeps their sums. One batch is in the queue at a time.
 *
 *	main thread                                    writer
 *	FREE -> QUEUED, then pushes the call           QUEUED -> WRITING, then writes
 *	WRITTEN -> FREE, frees the rings               WRITING -> WRITTEN
 *	QUEUED -> FREE, before the queue is dropped    WRITING -> FREE, if it cannot write
 *
 * If the queue is dropped, the numbers of a batch behind the dropped blocks are wrong: so the main
 * thread takes it back first. If the writer has begun it, no block before it is in the queue.
 */
#include <stdbool.h>
#include <stddef.h>
#include <trace/writer.h>

#define DRAIN_ENDED_BATCH 1024u

struct writer_thread;

enum drain_ended_state { ENDED_FREE, ENDED_QUEUED, ENDED_WRITING, ENDED_WRITTEN };

/**
 * struct drain_ended - the batch; zeroed: there is none
 * @state: enum drain_ended_state; both threads change it
 * @streams: owned; @nr of them. The main thread changes them in the state ENDED_FREE only
 */
struct drain_ended {
	int state;
	struct trace_stream_stats *streams;
	size_t nr;
};

/** drain_ended_push() - give the streams of @ended to the writer. Returns 0 or -ENOMEM */
int drain_ended_push(struct drain_ended *ended, struct writer_thread *thread);
/** drain_ended_is_free() - can a batch be filled in? */
bool drain_ended_is_free(const struct drain_ended *ended);
/** drain_ended_take() - if the batch has been written: true, once; the caller frees its rings */
bool drain_ended_take(struct drain_ended *ended);
/** drain_ended_cancel() - before the writer's queue is dropped: the batch is not written */
void drain_ended_cancel(struct drain_ended *ended);
void drain_ended_release(struct drain_ended *ended);
#endif
