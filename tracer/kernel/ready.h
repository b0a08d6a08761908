/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TRACER_READY_H
#define TRACER_READY_H
/* ready.h - touches the pages of the rings before the first event. */

struct tracer;

void tracer_make_ready(const struct tracer *tracer);

#endif
