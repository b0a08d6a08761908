/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_STATE_START_H
#define ANALYZER_STATE_START_H
/* state_start.h - the state before the first event */

#include <stdbool.h>
#include <stdint.h>

struct trace_analysis;
struct trace_error;
struct trace_event;
struct trace_thread;

/* The thread on a CPU when the events of that CPU begin, as far as it is known. */
struct first_thread {
	enum { FIRST_NOTHING, FIRST_NAMED, FIRST_LOST } kind;
	uint32_t tid;	  /* NAMED: the thread that the event names */
	uint64_t lost_ns; /* LOST: begin of the gap before any event that names a thread */
	/*
	 * Not NAMED: the thread that the start state saw running there before any loss; NULL: none.
	 */
	struct trace_thread *running;
};

/**
 * first_thread_find() - does @event of the CPU name its thread, or is it a loss? Then @first tells
 * it.
 */
bool first_thread_find(const struct trace_analysis *a, struct first_thread *first, const struct trace_event *event);

int start_load(struct trace_analysis *a, struct trace_error *ret_error);
#endif
