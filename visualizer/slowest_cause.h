/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef VISUALIZER_SLOWEST_CAUSE_H
#define VISUALIZER_SLOWEST_CAUSE_H
/* slowest_cause.h - what the longest instances of --slowest depended on: their critical paths. */
#include "slowest_parts.h"
#include "text_output.h"

/**
 * slowest_verdict_add() - the sentence about the critical path of @parts
 * Nothing is added for a request of several threads, and without a history or a known thread.
 */
void slowest_verdict_add(struct string *s, const struct report *report, const struct slowest *slowest,
			 const struct instance_parts *parts);
/**
 * slowest_main_wait_add() - the longest wait of @parts, for a CPU or something else, with its time
 * and its object
 */
void slowest_main_wait_add(struct string *s, const struct report *report, const struct slowest *slowest,
			   const struct instance_parts *parts);
#endif
