/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_STATE_END_H
#define ANALYZER_STATE_END_H
/* state_end.h - the waits of threads at the end of the recording, as the recorder read them */
#include <stdint.h>
#include "hash_table.h"

struct frame;
struct trace_analysis;
struct trace_event;
struct trace_thread;

/* The wait of a thread at the end of the recording, as the recorder read it: state_end.c. */
struct end_wait {
	uint64_t key; /* tid + 1 */
	uint64_t ns;  /* when the recorder read it */
	uint64_t args[4];
	uint32_t call;
	uint32_t holder;   /* pid of the process that has the lock; 0: none */
	uint32_t first_fd; /* index into end_state.fds */
	uint32_t nr_fds;
	uint64_t counts_fds; /* the call waits for descriptors, and all of them are here */
};

struct end_state {
	struct hash_table waits; /* struct end_wait */
	int32_t *fds;		 /* owned */
	uint32_t nr_fds, max_fds;
};

void end_state_clear(struct end_state *end);
void end_load(struct trace_analysis *a, const struct trace_event *event);

/**
 * end_wait_of() - the record of @thread's wait at the end of the recording
 *
 * Returns NULL if there is none, or if @thread was not in the call of @frame.
 */
const struct end_wait *end_wait_of(const struct trace_analysis *a, const struct trace_thread *thread,
				   const struct frame *frame);

/**
 * end_learn_call() - take the call of @thread from its record at the end, if its entry is missing
 */
void end_learn_call(struct trace_analysis *a, struct trace_thread *thread);
#endif
