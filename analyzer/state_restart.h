/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_STATE_RESTART_H
#define ANALYZER_STATE_RESTART_H
/* state_restart.h - the start state, read again after a pause */
#include <stdint.h>
#include "handler.h"

struct trace_analysis;
struct trace_cursor;

struct restart {
	uint64_t since_ns;	    /* when the current repetition of the start state began; 0: none */
	struct trace_cursor *ahead; /* owned: reads ahead in it; NULL: not needed yet */
	uint32_t nr, nr_ahead;	    /* start_again events: until now, until @ahead */
};

/**
 * start_read_ahead() - an unknown thread is seen during a pause: read ahead in the repeated start
 * state
 *
 * The threads that the state has there are known from now on.
 */
void start_read_ahead(struct trace_analysis *a);

event_handler on_start_again, on_start_thread, on_start_record;
#endif
