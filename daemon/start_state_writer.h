/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DAEMON_START_STATE_WRITER_H
#define DAEMON_START_STATE_WRITER_H
/*
 * start_state_writer.h - what existed before the first event, as chunks of the trace and as the classic list of processes.
 */
#include <stdint.h>
#include <stdio.h>
#include <trace/tracer.h>
#include <trace/writer.h>

#include "metadata_events.h"
#include "writer_thread.h"

/**
 * struct start_state_sink - where it goes
 * @meanwhile: called after some records each: to read the state of thousands of processes takes longer than it takes rings to fill; NULL: nothing is to be done
 */
struct start_state_sink {
	struct trace_writer *writer;
	struct writer_thread *thread;
	void (*meanwhile)(void *context);
	void *context;
};

/**
 * start_state_push() - read the state and give it to the writer
 * @proc: if not NULL, one line per process and interrupt is written to it, in the classic's form
 * @ret_blocks: if not NULL, how many chunks it took
 * Returns 0; or a negative errno when the state is incomplete.
 */
int start_state_push(struct tracer *tracer, const struct start_state_sink *sink, FILE *proc, uint64_t *ret_blocks, struct trace_error *ret_error);

/** start_state_again() - the same once more, among the notes, because what changes it is recorded again after a pause */
int start_state_again(struct tracer *tracer, const struct start_state_sink *sink, struct notes *notes, struct trace_error *ret_error);

/** end_state_push() - what threads waited for at @ts_ns, the end; @blocks: of the start state, whose numbers go on */
int end_state_push(struct tracer *tracer, const struct start_state_sink *sink, uint64_t ts_ns, uint64_t blocks, struct trace_error *ret_error);
#endif
