/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef LIBTRACE_STEP_H
#define LIBTRACE_STEP_H
/* step.h - in which steps a clock goes on, from times that it told. */
#include <stddef.h>
#include <stdint.h>

enum {
	STEP_LEAST_EVENTS = 512,   /* fewer tell nothing */
	STEP_INTERVAL_NS = 1 << 20, /* in longer ones an error of the step would make a wrong number of steps */
};

/** step_search() - the step, in ns, of the clock that told @n @times; 0: it has none */
double step_search(const uint32_t *times, size_t n);
#endif
