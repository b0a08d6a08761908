/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * samples.c - takes samples: a perf event "cpu-clock" on each CPU runs a BPF program when its timer
 * expires.
 *
 * A round period sees a program that works in step with it wrongly: of two functions that take
 * turns each millisecond, samples of a fixed 1 ms found 100 % and 0 %. So the caller changes the
 * period some times a second, with tracer_set_sample_period(). The kernel has no frequency to keep:
 * only shares count, because the times are exact without samples.
 *
 * Instead of the timer, an event of the processor or of the kernel may run the program, each so
 * many times. A processor interrupts with an NMI, which may be in any of our programs: the rings
 * are made for that.
 */
#include "samples.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <bpf/bpf.h>
#include "file_opener.h"
#include "follow.h"
#include "iterator_child.h"
#include "not_traced.h"
#include "sample_skeleton.h"
#include "shared_maps.h"

#define PERIODS_OF_A_CHANGE 32

/**
 * struct choice - programs of the object. @waits: for the stacks of waits. @tables: walk by unwind
 * tables, which needs the former
 */
struct choice {
	bool waits, tables;
};

#if defined(__x86_64__)
static void choose_walk(struct samples_bpf *skeleton, const struct choice *choice)
{
	struct bpf_map *const maps[] = {skeleton->maps.unwind_tables,	skeleton->maps.unwind_pages,
					skeleton->maps.walk_processes,	skeleton->maps.wanted_tables,
					skeleton->maps.walk_states,	skeleton->maps.walk_files,
					skeleton->maps.mapping_changes, skeleton->maps.program_addresses};
	struct bpf_program *const programs[] = {skeleton->progs.sample_by_tables,
						skeleton->progs.wait_exit_by_tables,
						skeleton->progs.waker_stack_by_tables,
						skeleton->progs.walk_exec,
						skeleton->progs.walk_fork,
						skeleton->progs.walk_free,
						skeleton->progs.walk_start};

	for (size_t i = 0; i < sizeof(maps) / sizeof(maps[0]); i++)
		bpf_map__set_autocreate(maps[i], choice->tables);
	for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++)
		bpf_program__set_autoload(programs[i], choice->tables);
}

static struct bpf_program *sample_program(const struct tracer_sampling *sampling)
{
	return sampling->has_tables ? sampling->skeleton->progs.sample_by_tables : sampling->skeleton->progs.sample;
}

/* The programs that are attached while samples are taken: those that note mappings. */
static size_t list_programs(const struct tracer_sampling *sampling, struct bpf_program **programs)
{
	if (!sampling->has_tables)
		return 0;
	programs[0] = sampling->skeleton->progs.walk_fork;
	programs[1] = sampling->skeleton->progs.walk_exec;
	programs[2] = sampling->skeleton->progs.walk_free;
	return 3;
}

static struct bpf_program *waker_program(const struct tracer_sampling *sampling)
{
	return sampling->has_tables ? sampling->skeleton->progs.waker_stack_by_tables
				    : sampling->skeleton->progs.waker_stack;
}

static struct bpf_program *exit_program(const struct tracer_sampling *sampling)
{
	return sampling->has_tables ? sampling->skeleton->progs.wait_exit_by_tables
				    : sampling->skeleton->progs.wait_exit;
}

/*
 * The mappings of the processes that run already: the iterator writes nothing. Without them the
 * walks of such a process find no table.
 */
static void note_mappings(const struct tracer_sampling *sampling)
{
	int result = iterator_child_read(sampling->skeleton->progs.walk_start, NULL, NULL, NULL);

	if (result == -EBUSY)
		files_note_unread();
}
#else
static void choose_walk(struct samples_bpf *skeleton, const struct choice *choice)
{
}

static struct bpf_program *sample_program(const struct tracer_sampling *sampling)
{
	return sampling->skeleton->progs.sample;
}

static size_t list_programs(const struct tracer_sampling *sampling, struct bpf_program **programs)
{
	return 0;
}

static struct bpf_program *waker_program(const struct tracer_sampling *sampling)
{
	return sampling->skeleton->progs.waker_stack;
}

static struct bpf_program *exit_program(const struct tracer_sampling *sampling)
{
	return sampling->skeleton->progs.wait_exit;
}

static void note_mappings(const struct tracer_sampling *sampling)
{
}
#endif

/* A flight recorder runs for days: the latest addresses of samples have names, not the first. */
static void keep_latest(struct samples_bpf *skeleton)
{
	bpf_map__set_type(skeleton->maps.kernel_addresses, BPF_MAP_TYPE_LRU_HASH);
#if defined(__x86_64__)
	bpf_map__set_type(skeleton->maps.program_addresses, BPF_MAP_TYPE_LRU_HASH);
	bpf_map__set_map_flags(skeleton->maps.program_addresses, 0);
#endif
}

static int load_choice(struct tracer *tracer, struct tracer_sampling *sampling, const struct choice *choice)
{
	int result;

	sampling->skeleton = samples_bpf__open();
	if (!sampling->skeleton)
		return -errno;
	bpf_program__set_autoload(sampling->skeleton->progs.sample, !choice->tables);
	bpf_program__set_autoload(sampling->skeleton->progs.wait_stack, choice->waits);
	bpf_program__set_autoload(sampling->skeleton->progs.wait_stack_not_woken, choice->waits);
	bpf_program__set_autoload(sampling->skeleton->progs.wait_exit, choice->waits && !choice->tables);
	bpf_program__set_autoload(sampling->skeleton->progs.waker_stack, choice->waits && !choice->tables);
	choose_walk(sampling->skeleton, choice);
	if (tracer->options.overwrite)
		keep_latest(sampling->skeleton);
	memcpy((void *)&sampling->skeleton->rodata->config, (const void *)&tracer->skeleton->rodata->config,
	       sizeof(sampling->skeleton->rodata->config));
	sampling->skeleton->rodata->by_event = tracer->options.sample_event != NULL;
	result = tracer_share_maps(tracer, sampling->skeleton->obj);
	if (!result)
		result = bpf_map__reuse_fd(sampling->skeleton->maps.wanted_exits,
					   bpf_map__fd(tracer->skeleton->maps.wanted_exits));
	if (!result)
		result = samples_bpf__load(sampling->skeleton);
	if (!result && choice->tables)
		result = sample_tables_start(sampling->skeleton, tracer->options.sample_command, &sampling->tables);
	if (!result) {
		sampling->has_waits = choice->waits;
		sampling->has_tables = choice->tables;
		return 0;
	}
	samples_bpf__destroy(sampling->skeleton);
	sampling->skeleton = NULL;
	return result;
}

static void note_refusal(struct tracer *tracer, int error)
{
	char text[TRACER_NOTE_BYTES];

	snprintf(text, sizeof(text),
		 "sample: the callers in programs without frame pointers (the kernel refuses the BPF programs that "
		 "find them: %s)",
		 strerror(-error));
	tracer_note(tracer, text);
}

/* A kernel that refuses some of the programs may take the others. */
static int load_programs(struct tracer *tracer, struct tracer_sampling *sampling)
{
	static const struct choice choices[] = {
#if defined(__x86_64__)
		{.waits = true, .tables = true},
#endif
		{.waits = true},
		{.waits = false}
	};
	int result = 0;

	for (size_t i = 0; i < sizeof(choices) / sizeof(choices[0]); i++) {
		result = load_choice(tracer, sampling, &choices[i]);
		if (!result)
			break;
		if (choices[i].tables)
			note_refusal(tracer, result);
	}
	return result;
}

/* The timer of an idle CPU is not recorded. */
static int open_clock(const struct tracer_options *options, uint32_t cpu)
{
	struct perf_event_attr attributes = {
		.size = sizeof(attributes),
		.type = options->sample_event ? options->sample_type : PERF_TYPE_SOFTWARE,
		.config = options->sample_event ? options->sample_config : PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = options->sample_period,
		.disabled = 1,
		.exclude_idle = 1,
	};

	return (int)syscall(SYS_perf_event_open, &attributes, -1, (int)cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

static int open_clocks(struct tracer *tracer, struct tracer_sampling *sampling)
{
	for (uint32_t cpu = 0; cpu < sampling->nr_cpus; cpu++) {
		int fd = open_clock(&tracer->options, cpu), result;

		sampling->clocks[cpu] = -1;
		if (fd < 0 && errno == ENODEV)
			continue; /* a possible CPU that is not present */
		if (fd < 0)
			return -errno;
		sampling->links[cpu] = bpf_program__attach_perf_event(sample_program(sampling), fd);
		result = -errno;
		if (!sampling->links[cpu]) {
			close(fd);
			return result;
		}
		/* libbpf enables the event when it attaches the program */
		ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
		sampling->clocks[cpu] = fd;
	}
	return 0;
}

int tracer_load_samples(struct tracer *tracer, struct trace_error *ret_error)
{
	struct tracer_sampling *sampling = calloc(1, sizeof(*sampling));
	int result;

	if (!sampling)
		return error_set(ret_error, -ENOMEM, "no memory for samples");
	tracer->sampling = sampling;
	if (!tracer_in_first_namespace())
		return error_set(ret_error, -ENOTSUP,
				 "--sample does not work inside a PID namespace: record from outside of it");
	sampling->links = calloc(tracer->nr_cpus, sizeof(*sampling->links));
	sampling->clocks = calloc(tracer->nr_cpus, sizeof(*sampling->clocks));
	sampling->changed = calloc(tracer->nr_cpus, sizeof(*sampling->changed));
	if (!sampling->links || !sampling->clocks || !sampling->changed)
		return error_set(ret_error, -ENOMEM, "no memory for the samples of %u CPUs", tracer->nr_cpus);
	sampling->nr_cpus = tracer->nr_cpus;
	result = load_programs(tracer, sampling);
	if (!result)
		result = open_clocks(tracer, sampling);
	if (result && tracer->options.sample_event)
		return error_set(
			ret_error, result,
			"this machine takes no samples by the event %s: %s; record with --sample alone, or with "
			"another event (perf list has those that are there; a virtual machine often has none)",
			tracer->options.sample_event, strerror(-result));
	if (result)
		return error_set(ret_error, result,
				 "the kernel refuses samples (a BPF program on cpu-clock): %s; record without --sample",
				 strerror(-result));
	return 0;
}

static void switch_link(struct bpf_link **link, struct bpf_program *program, bool on)
{
	if (!on)
		bpf_link__destroy(*link);
	if (!on || !*link)
		*link = on ? bpf_program__attach(program) : NULL;
}

static int put_program(const struct bpf_map *map, uint32_t index, const struct bpf_program *program, bool on)
{
	int fd = bpf_program__fd(program);

	return on ? bpf_map_update_elem(bpf_map__fd(map), &index, &fd, BPF_ANY)
		  : bpf_map_delete_elem(bpf_map__fd(map), &index);
}

/* The programs of the events continue with these. */
static void switch_waits(struct tracer *tracer, bool on)
{
	const struct tracer_sampling *sampling = tracer->sampling;
	const struct tracer_bpf *events = tracer->skeleton;
	int failed;

	failed = put_program(events->maps.wait_programs, WAIT_IS_WOKEN, sampling->skeleton->progs.wait_stack, on);
	failed |= put_program(events->maps.wait_programs, WAIT_IS_NOT_WOKEN,
			      sampling->skeleton->progs.wait_stack_not_woken, on);
	failed |= put_program(events->maps.waker_programs, 0, waker_program(sampling), on);
	failed |= put_program(events->maps.exit_programs, 0, exit_program(sampling), on);
	if (failed && on)
		tracer_note(tracer, "sample: the stacks of waits (the kernel does not let BPF programs continue with "
				    "others)");
}

static bool is_attached(const struct tracer *tracer, uint32_t event)
{
	for (size_t i = 0; i < tracer->nr_programs; i++)
		if (tracer->programs[i].event == event && tracer->programs[i].attached)
			return true;
	return false;
}

/* Without the program of the event sys_exit, that of the stacks is attached itself. */
static void switch_exit(const struct tracer *tracer, bool on)
{
	struct tracer_sampling *sampling = tracer->sampling;

	switch_link(&sampling->exit_link, exit_program(sampling), on && !is_attached(tracer, TRACE_EV_sys_exit));
}

static void switch_programs(struct tracer *tracer, bool on)
{
	struct tracer_sampling *sampling = tracer->sampling;
	struct bpf_program *programs[MAX_SAMPLE_PROGRAMS] = {NULL};
	size_t nr = list_programs(sampling, programs);

	for (size_t i = 0; i < nr; i++)
		switch_link(&sampling->program_links[i], programs[i], on);
	if (sampling->has_waits)
		switch_waits(tracer, on);
	if (on && sampling->has_tables)
		note_mappings(sampling);
}

void tracer_free_samples(struct tracer *tracer)
{
	struct tracer_sampling *sampling = tracer->sampling;

	if (!sampling)
		return;
	for (uint32_t cpu = 0; cpu < sampling->nr_cpus; cpu++)
		bpf_link__destroy(sampling->links[cpu]);
	if (sampling->is_on)
		switch_programs(tracer, false);
	sample_tables_stop(sampling->tables);
	samples_bpf__destroy(sampling->skeleton);
	free(sampling->links);
	free(sampling->clocks);
	free(sampling->changed);
	free(sampling);
	tracer->sampling = NULL;
}

/* The programs are on before the first sample. */
void tracer_switch_samples(struct tracer *tracer, bool on)
{
	struct tracer_sampling *sampling = tracer->sampling;

	if (sampling && sampling->has_waits)
		switch_exit(tracer, on);
	if (!sampling || sampling->is_on == on)
		return;
	if (on)
		switch_programs(tracer, true);
	for (uint32_t cpu = 0; cpu < sampling->nr_cpus; cpu++)
		if (sampling->clocks[cpu] >= 0)
			ioctl(sampling->clocks[cpu], on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0);
	if (!on)
		switch_programs(tracer, false);
	sampling->is_on = on;
}

/* A change ends the period that runs: a timer loses its sample, a software event has one. */
static bool is_change_due(struct tracer_sampling *sampling, uint32_t cpu, uint64_t mean)
{
	uint64_t counted; /* ns, or events */

	if (read(sampling->clocks[cpu], &counted, sizeof(counted)) != sizeof(counted) ||
	    (counted - sampling->changed[cpu]) / PERIODS_OF_A_CHANGE < mean)
		return false;
	sampling->changed[cpu] = counted;
	return true;
}

void tracer_set_sample_mean(struct tracer *tracer, uint64_t period)
{
	tracer->options.sample_period = period;
	for (uint32_t cpu = 0; tracer->sampling && cpu < tracer->sampling->nr_cpus; cpu++)
		tracer->sampling->changed[cpu] = 0;
}

void tracer_set_sample_period(struct tracer *tracer, uint32_t cpu, uint64_t period)
{
	struct tracer_sampling *sampling = tracer->sampling;

	if (sampling && sampling->is_on && cpu < sampling->nr_cpus && sampling->clocks[cpu] >= 0 &&
	    is_change_due(sampling, cpu, tracer->options.sample_period))
		ioctl(sampling->clocks[cpu], PERF_EVENT_IOC_PERIOD, &period);
}
