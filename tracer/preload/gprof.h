/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TRACER_PRELOAD_GPROF_H
#define TRACER_PRELOAD_GPROF_H
/*
 * gprof.h - libtracer-gprof.so: the arcs of a program, in tables of its threads
 *
 * An arc is an address that calls and an address in the function that it called. Each thread has
 * tables of its own, so that a count is one instruction without a lock. A thread that begins takes
 * the tables of one that has ended, with their counts.
 *
 * A table is never moved or freed: a thread with too many arcs in its table begins with a larger
 * one, where each arc begins at 0. So a signal handler that does this in the middle of a count does
 * no harm. A reader adds all tables.
 */
#include <stddef.h>
#include <stdint.h>

/** struct gprof_arc - @self: 0: the slot is free. Written last */
struct gprof_arc {
	uintptr_t from, self;
	uint64_t count;
	uint64_t spare;
};

/**
 * struct gprof_table - open addressing, the next slot after a collision; less than half full
 * @mask: of offsets into @arcs, in bytes. Known to gprof_arcs.c in assembler, and so is @arcs
 * @next: an older table of the thread
 */
struct gprof_table {
	uint64_t mask;
	struct gprof_table *next;
	uint64_t nr;
	uint64_t spare[5];
	struct gprof_arc arcs[];
};

/** struct gprof_thread - @tables: newest first; in lists of all threads and of those that ended */
struct gprof_thread {
	struct gprof_table *tables;
	struct gprof_thread *next, *next_free;
};

enum gprof_mode {
	GPROF_COUNTS,
	GPROF_PAUSED, /* moncontrol(0) */
	GPROF_TIMES,  /* the numbers are known in assembler */
};

extern unsigned char gprof_mode;	   /* enum gprof_mode */
extern struct gprof_thread *gprof_threads; /* only added to */
extern uint64_t gprof_lost;		   /* counts for which there was no memory */

/** gprof_threads_begin() - before the first thread ends. More than once does no harm. */
void gprof_threads_begin(void);
/** gprof_lock() - also blocks all signals. gprof_unlock(): @old is what it returned */
uint64_t gprof_lock(void);
void gprof_unlock(uint64_t old);
/** gprof_forget() - in a child of fork(): all counts are 0 */
void gprof_forget(void);

/** gprof_each_arc() - @visit all slots that have counts; an arc may be in several */
void gprof_each_arc(void (*visit)(void *context, const struct gprof_arc *arc), void *context);
#endif
