/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TRACER_PRELOAD_GPROF_H
#define TRACER_PRELOAD_GPROF_H
/* gprof.h - libtracer-gprof.so: the arcs of a program, in tables of its threads: gprof_layout.h. */
#include "gprof_layout.h"

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
