/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DAEMON_DRAIN_H
#define DAEMON_DRAIN_H
/*
 * drain.h - from the tracer's rings to the writer's queue: records become chunks, and the books of each ring are kept.
 *
 * Discard mode only; flight.h reads rings that overwrite. One thread.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <trace/tracer.h>
#include <trace/writer.h>

#include "writer_thread.h"

struct drain;

/**
 * drain_new() - keep books from now on; what the rings hold already is passed over
 * @tracer: borrowed until drain_free(), started. While its programs are attached, some events come and
 *          others do not yet: the recording begins after that. NULL: -ENOMEM
 */
struct drain *drain_new(struct tracer *tracer, struct trace_error *ret_error);
struct drain *drain_free(struct drain *drain); /* NULL is fine; returns NULL */

/** drain_connect() - where it goes; before drain_run(). Borrowed */
void drain_connect(struct drain *drain, struct trace_writer *writer, struct writer_thread *thread);

enum drain_result {
	DRAIN_IDLE,    /* nothing was complete */
	DRAIN_TOOK,    /* took all that was complete */
	DRAIN_BLOCKED, /* the queue is full: call again when the writer's wake_fd says so */
};

/** drain_run() - take every complete sub-buffer, one of each ring in turn */
enum drain_result drain_run(struct drain *drain);

/**
 * drain_flush() - close the sub-buffers in use, for drain_run() to take
 * Returns how full the fullest of them was, in 1/1024.
 */
uint32_t drain_flush(struct drain *drain);

/** drain_end() - flush; what comes later is not part of the recording. Before tracer_stop(), for the same reason as above */
void drain_end(struct drain *drain);

/** drain_is_empty() - after drain_end(): is all of the recording taken? */
bool drain_is_empty(const struct drain *drain);

/** drain_abandon() - after drain_end(): count what the rings still hold of the recording as lost. Returns the number of events */
uint64_t drain_abandon(struct drain *drain);

/** struct drain_totals - of all rings, so far. @lost: found no room, or could not be packed; @filtered: refused by the filters */
struct drain_totals {
	uint64_t events;
	uint64_t lost;
	uint64_t filtered;
};
void drain_get_totals(const struct drain *drain, struct drain_totals *ret_totals);

/** drain_statistics() - the account of each ring, with what the writer lost: after writer_thread_stop() */
size_t drain_nr_rings(const struct drain *drain);
void drain_statistics(const struct drain *drain, size_t idx, struct trace_stream_stats *ret_stats);
#endif
