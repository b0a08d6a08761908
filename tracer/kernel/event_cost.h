/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TRACER_EVENT_COST_H
#define TRACER_EVENT_COST_H
/* event_cost.h - measure what an event of a program costs that program: event_cost.c. */
#include <stdint.h>

/* The cost of an event: picoseconds; 0: not known. The other two are the measured extremes. */
struct event_cost {
	uint32_t ps;
	uint32_t least_ps;
	uint32_t most_ps;
};

/* @inlined: of an event with fields alone; @text: with a text of 16 bytes. */
struct event_costs {
	struct event_cost inlined;
	struct event_cost text;
	uint32_t ps_per_64_bytes; /* of text beyond that */
};

/**
 * event_cost_measure() - record some thousands of events into memory that nobody reads
 *
 * Takes some 2 milliseconds. The cost is 0 on machines where programs do not record in line,
 * and in a thread for which the C library has registered no restartable sequences.
 */
struct event_costs event_cost_measure(void);
#endif
