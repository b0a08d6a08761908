/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * limits.c - the trace tells what has no name in it because there was no room
 */
#include "limits.h"

#include <inttypes.h>
#include <stdio.h>
#include "config.h"
#include "loader.h"
#include "start_state.h"

#define TEXT_BYTES 256

void limits_describe(const struct tracer_passed *passed, tracer_describe_fn describe, void *context)
{
	char text[TEXT_BYTES];

	if (passed->group_threads) {
		snprintf(text, sizeof(text),
			 "the names of further control groups at the start: there were more than %d, and %" PRIu64
			 " threads are in others",
			 TRACER_MAX_CGROUPS, passed->group_threads);
		describe(context, text);
	}
	if (passed->work_runs) {
		snprintf(text, sizeof(text),
			 "the names of further functions of deferred work: there were more than %d, and others ran "
			 "%" PRIu64 " times",
			 TRACER_MAX_WORK_FUNCTIONS, passed->work_runs);
		describe(context, text);
	}
}

void tracer_describe_limits(const struct tracer *tracer, tracer_describe_fn describe, void *context)
{
	const struct tracer_passed passed = {
		.group_threads = tracer->unnamed_group_threads,
		.work_runs = __atomic_load_n(&tracer->skeleton->bss->unnamed_work_runs, __ATOMIC_RELAXED),
	};

	limits_describe(&passed, describe, context);
}
