/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TRACER_PRELOAD_GPROF_SITES_H
#define TRACER_PRELOAD_GPROF_SITES_H
/* gprof_sites.h - functions built with -fpatchable-function-entry call the counter */
#include <stdbool.h>
#include <stddef.h>

/** enum gprof_left_out - why a function is not counted */
enum gprof_left_out {
	LEFT_OUT_PROCESSOR, /* not x86-64 */
	LEFT_OUT_START,	    /* unwind information does not tell where it begins */
	LEFT_OUT_ROOM,	    /* fewer than 5 bytes of NOPs */
	LEFT_OUT_THREADS,   /* a thread may be between its NOPs */
	LEFT_OUT_FAR,	    /* no memory within the reach of a call */
	NR_LEFT_OUT,
};

/**
 * gprof_sites_begin() - find the functions of all loaded files, and switch their calls on
 * @ret_left_out: numbers of functions that are not counted
 * Returns the number of functions that are counted, or a negative errno: none is
 */
long gprof_sites_begin(size_t ret_left_out[NR_LEFT_OUT]);
/**
 * gprof_sites_switch() - calls or NOPs, while threads run; one thread at a time
 * Returns 0 or a negative errno: each function has one of both, and what it does is the same
 */
int gprof_sites_switch(bool on);
#endif
