/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tracer_maps.c - what processes map as code, for tracers that record addresses of code: with
 * samples, and with the callers of system calls
 *
 * The kernel numbers the processes as the PID namespace of the tracer does. Samples do not work in
 * another one than the first; callers do, without the names of programs that begin later.
 */
#include "follow.h"
#include "loader.h"
#include "tracer_maps.h"

static bool wants_callers(const struct tracer *tracer)
{
	const struct tracer_options *options = &tracer->options;

	return options->caller != TRACER_CALLER_NONE && !options->overwrite && tracer_in_first_namespace();
}

int tracer_open_code_maps(struct tracer *tracer, struct trace_error *ret_error)
{
	int result;

	if (!tracer->options.sample_period && !wants_callers(tracer))
		return 0;
	result = code_maps_open(&tracer->code_maps, tracer->nr_cpus, ret_error);
	if (!result || tracer->options.sample_period)
		return result;
	code_maps_close(&tracer->code_maps); /* without them callers of later programs have no names */
	return 0;
}

void tracer_switch_code_maps(struct tracer *tracer, const uint64_t mask[TRACE_MASK_WORDS])
{
	bool on = (mask[TRACE_EV_sample / 64] >> TRACE_EV_sample % 64 & 1) ||
		  (mask[TRACE_EV_sys_caller / 64] >> TRACE_EV_sys_caller % 64 & 1);

	code_maps_switch(&tracer->code_maps, on);
}

/** struct maps_of_followed - @passes: of process @last; most records of one process are together */
struct maps_of_followed {
	const struct tracer *tracer;
	tracer_code_map_fn fn;
	void *context;
	uint32_t last;
	bool passes;
};

static void take_if_followed(void *context, const struct tracer_code_map *map)
{
	struct maps_of_followed *maps = context;

	if (map->map.pid != maps->last) {
		maps->passes = tracer_followed(maps->tracer, map->map.pid);
		maps->last = map->map.pid;
	}
	if (maps->passes)
		maps->fn(maps->context, map);
}

/* Addresses of code are of processes that a filter by process passes. */
uint64_t tracer_take_code_maps(struct tracer *tracer, tracer_code_map_fn fn, void *context)
{
	struct maps_of_followed maps = {.tracer = tracer, .fn = fn, .context = context};

	if (tracer->skeleton->rodata->config.filter_pid && tracer_in_first_namespace())
		return code_maps_take(&tracer->code_maps, take_if_followed, &maps);
	return code_maps_take(&tracer->code_maps, fn, context);
}
