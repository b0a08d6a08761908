/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * limits.c - the trace tells what has no name in it because there was no room
 */
#include "limits.h"

#include <inttypes.h>
#include <stdio.h>
#include "config.h"
#include "perf_maps.h"
#include "sample_skeleton.h"
#include "samples.h"
#include "start_state.h"

#define TEXT_BYTES 256

/** struct passed_limit - @format: of the bound and of what is beyond it */
struct passed_limit {
	const char *format;
	unsigned int bound;
	uint64_t beyond;
};

void limits_describe(const struct tracer_passed *passed, tracer_describe_fn describe, void *context)
{
	const struct passed_limit limits[] = {
		{"the names of further control groups at the start: there were more than %u, and %" PRIu64
		 " threads are in others",
		 TRACER_MAX_CGROUPS, passed->group_threads},
		{"the names of further functions of deferred work: there were more than %u, and others ran %" PRIu64
		 " times",
		 TRACER_MAX_WORK_FUNCTIONS, passed->work_runs},
		{"names of generated code: perf-PID.map has more than %u MiB in %" PRIu64 " processes",
		 PERF_MAPS_FILE_BYTES >> 20, passed->large_maps},
		{"names of generated code: a perf-PID.map may take %u s of CPU time, and %" PRIu64
		 " were not read to their end",
		 PERF_MAPS_CPU_SECONDS, passed->unread_maps},
		{"names of the kernel's code: samples hit more than %u addresses, and others %" PRIu64
		 " times, which may have no names",
		 SAMPLE_MAX_ADDRESSES, passed->kernel_hits},
		{"names of generated code: samples hit more than %u addresses, and others %" PRIu64
		 " times, which may have no names",
		 SAMPLE_MAX_ADDRESSES, passed->program_hits},
		{"callers in further files without frame pointers: more than %u files have code, and others were "
		 "mapped %" PRIu64 " times",
		 WALK_MAX_FILES, passed->files},
		{"callers in further mappings of a process without frame pointers: it may have %u of code, and "
		 "%" PRIu64 " others had no room",
		 WALK_MAX_MAPPINGS, passed->mappings},
		{"callers in further processes without frame pointers: %u may run at once, and the mappings of "
		 "others had no room %" PRIu64 " times",
		 WALK_MAX_PROCESSES, passed->lists},
		{"callers in further files without frame pointers: all unwind tables may have %u MiB, and %" PRIu64
		 " others had no room",
		 (unsigned int)(SAMPLE_TABLES_BYTES >> 20), passed->tables},
	};
	char text[TEXT_BYTES];

	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
		if (!limits[i].beyond)
			continue;
		snprintf(text, sizeof(text), limits[i].format, limits[i].bound, limits[i].beyond);
		describe(context, text);
	}
}

/* Programs of BPF write them meanwhile. */
static uint64_t count_of(const volatile unsigned long long *count)
{
	return __atomic_load_n(count, __ATOMIC_RELAXED);
}

static void add_samples(const struct tracer_sampling *sampling, struct tracer_passed *passed)
{
	passed->large_maps = sampling->large_maps;
	passed->unread_maps = sampling->unread_maps;
	passed->kernel_hits = count_of(&sampling->skeleton->bss->unnamed_kernel_hits);
#if defined(__x86_64__)
	struct sample_table_counts counts = {0};

	if (!sampling->has_tables)
		return;
	sample_tables_get_counts(sampling->tables, &counts);
	passed->tables = counts.refused;
	passed->program_hits = count_of(&sampling->skeleton->bss->unnamed_program_hits);
	passed->files = count_of(&sampling->skeleton->bss->unnumbered_files);
	passed->mappings = count_of(&sampling->skeleton->bss->lost_mappings);
	passed->lists = count_of(&sampling->skeleton->bss->lost_lists);
#endif
}

void tracer_describe_limits(const struct tracer *tracer, tracer_describe_fn describe, void *context)
{
	struct tracer_passed passed = {
		.group_threads = tracer->unnamed_group_threads,
		.work_runs = count_of(&tracer->skeleton->bss->unnamed_work_runs),
	};

	if (tracer->sampling)
		add_samples(tracer->sampling, &passed);
	limits_describe(&passed, describe, context);
}
