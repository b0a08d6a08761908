/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef LIBTRACE_STEP_H
#define LIBTRACE_STEP_H
/* step.h - find the step of a clock from times that it returned. */
#include <stddef.h>
#include <stdint.h>

enum {
	STEP_MIN_EVENTS = 512,	    /* fewer are not enough */
	STEP_INTERVAL_NS = 1 << 20, /* in a longer interval an error of the step would give a wrong number of steps */
};

/** step_search() - the step in ns of the clock that produced @n @times; 0: it has none */
double step_search(const uint32_t *times, size_t n);
#endif
