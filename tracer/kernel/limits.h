/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TRACER_LIMITS_H
#define TRACER_LIMITS_H
/* limits.h - bounds of a tracer that were passed, and the sentences about them. */
#include <stdint.h>
#include <trace/tracer.h>

/**
 * struct tracer_passed - how much is beyond each bound; 0: the bound was not passed
 * @group_threads: threads of the start in control groups without a name
 * @work_runs: runs of deferred work whose function had no room
 */
struct tracer_passed {
	uint64_t group_threads;
	uint64_t work_runs;
};

/** limits_describe() - call @describe with a sentence for each bound that was passed */
void limits_describe(const struct tracer_passed *passed, tracer_describe_fn describe, void *context);

#endif
