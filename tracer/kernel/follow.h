/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TRACER_FOLLOW_H
#define TRACER_FOLLOW_H
/* follow.h - the processes that a recording follows. */
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct tracer;

pid_t tracer_own_number(void); /* pid of this process in the first pid namespace */
bool tracer_in_first_namespace(void);
/* Adds the descendants of followed processes; forks must be recorded already; notes failures. */
void tracer_follow_descendants(struct tracer *tracer);
/* The filter by process passes @number, or did so before it ended. */
bool tracer_followed(const struct tracer *tracer, uint32_t number);

#endif
