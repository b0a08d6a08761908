/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DAEMON_START_STATE_WRITER_H
#define DAEMON_START_STATE_WRITER_H
/*
 * start_state_writer.h - write the state before the first event, as chunks of the trace and as the
 * classic process list
 */
#include <stdint.h>
#include <stdio.h>
#include <trace/tracer.h>
#include <trace/writer.h>

#include "build_ids.h"
#include "metadata_events.h"
#include "writer_thread.h"

/**
 * struct start_state_sink - the destination of the state
 * @meanwhile: called after every 64 records, to drain the rings: they fill faster than the state of
 * thousands of processes is read. NULL: not needed
 * @build_ids: gets those of mapped files; NULL: not wanted
 */
struct start_state_sink {
	struct trace_writer *writer;
	struct writer_thread *thread;
	void (*meanwhile)(void *context);
	void *context;
	struct build_ids *build_ids;
};

/**
 * start_state_push() - read the state and push it to the writer
 * @proc: if not NULL, gets one line per process and interrupt in the classic format
 * @ret_blocks: if not NULL, gets the number of chunks
 * Returns 0; or a negative errno if the state is incomplete.
 */
int start_state_push(struct tracer *tracer, const struct start_state_sink *sink, FILE *proc, uint64_t *ret_blocks,
		     struct trace_error *ret_error);

/**
 * start_state_repeat() - read the state once more after a pause, as metadata events
 * Needed when events that change the state are recorded again.
 */
int start_state_repeat(struct tracer *tracer, const struct start_state_sink *sink, struct metadata_events *metadata,
		       struct trace_error *ret_error);

/**
 * end_state_push() - write what threads waited for at @ts_ns, the end
 * @blocks: number of chunks of the start state; the numbering continues
 */
int end_state_push(struct tracer *tracer, const struct start_state_sink *sink, uint64_t ts_ns, uint64_t blocks,
		   struct trace_error *ret_error);
#endif
