/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * samples.c - takes samples: a perf event "cpu-clock" on each CPU runs a BPF program when its timer
 * expires.
 *
 * A round period sees a program that works in step with it wrongly: of two functions that take
 * turns each millisecond, samples of a fixed 1 ms found 100 % and 0 %. So the caller changes the
 * period some times a second, with tracer_set_sample_period(). The kernel has no frequency to keep:
 * only shares count, because the times are exact without samples.
 */
#include "samples.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "follow.h"
#include "sample_skeleton.h"
#include "shared_maps.h"

/* @with_waits: also the programs for stacks of waits */
static int load_programs(struct tracer *tracer, struct tracer_sampling *sampling, bool with_waits)
{
	int result;

	sampling->skeleton = samples_bpf__open();
	if (!sampling->skeleton)
		return -errno;
	bpf_program__set_autoload(sampling->skeleton->progs.wait_stack, with_waits);
	bpf_program__set_autoload(sampling->skeleton->progs.wait_exit, with_waits);
	memcpy((void *)&sampling->skeleton->rodata->config, (const void *)&tracer->skeleton->rodata->config,
	       sizeof(sampling->skeleton->rodata->config));
	result = tracer_share_maps(tracer, sampling->skeleton->obj);
	if (!result)
		result = samples_bpf__load(sampling->skeleton);
	if (!result) {
		sampling->has_waits = with_waits;
		return 0;
	}
	samples_bpf__destroy(sampling->skeleton);
	sampling->skeleton = NULL;
	return result;
}

static int load_program(struct tracer *tracer, struct tracer_sampling *sampling)
{
	/* a kernel that refuses the stacks of waits may take the samples */
	return load_programs(tracer, sampling, true) ? load_programs(tracer, sampling, false) : 0;
}

/* The timer of an idle CPU is not recorded. */
static int open_clock(uint32_t cpu, uint64_t period_ns)
{
	struct perf_event_attr attributes = {
		.size = sizeof(attributes),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = period_ns,
		.disabled = 1,
		.exclude_idle = 1,
	};

	return (int)syscall(SYS_perf_event_open, &attributes, -1, (int)cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

static int open_clocks(struct tracer *tracer, struct tracer_sampling *sampling)
{
	for (uint32_t cpu = 0; cpu < sampling->nr_cpus; cpu++) {
		int fd = open_clock(cpu, tracer->options.sample_ns), result;

		sampling->clocks[cpu] = -1;
		if (fd < 0 && errno == ENODEV)
			continue; /* a possible CPU that is not present */
		if (fd < 0)
			return -errno;
		sampling->links[cpu] = bpf_program__attach_perf_event(sampling->skeleton->progs.sample, fd);
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
	if (!sampling->links || !sampling->clocks)
		return error_set(ret_error, -ENOMEM, "no memory for the samples of %u CPUs", tracer->nr_cpus);
	sampling->nr_cpus = tracer->nr_cpus;
	result = load_program(tracer, sampling);
	if (!result)
		result = open_clocks(tracer, sampling);
	if (result)
		return error_set(ret_error, result,
				 "the kernel refuses samples (a BPF program on cpu-clock): %s; record without --sample",
				 strerror(-result));
	return code_maps_open(&sampling->maps, tracer->nr_cpus, ret_error);
}

static void switch_waits(struct tracer_sampling *sampling, bool on)
{
	struct bpf_program *programs[NR_WAIT_PROGRAMS] = {NULL};

	if (!sampling->has_waits)
		return;
	programs[0] = sampling->skeleton->progs.wait_exit;
	programs[1] = sampling->skeleton->progs.wait_stack;
	for (size_t i = 0; i < NR_WAIT_PROGRAMS; i++) {
		bpf_link__destroy(sampling->wait_links[i]);
		sampling->wait_links[i] = on ? bpf_program__attach(programs[i]) : NULL;
	}
}

void tracer_free_samples(struct tracer *tracer)
{
	struct tracer_sampling *sampling = tracer->sampling;

	if (!sampling)
		return;
	code_maps_close(&sampling->maps);
	for (uint32_t cpu = 0; cpu < sampling->nr_cpus; cpu++)
		bpf_link__destroy(sampling->links[cpu]);
	switch_waits(sampling, false);
	samples_bpf__destroy(sampling->skeleton);
	free(sampling->links);
	free(sampling->clocks);
	free(sampling);
	tracer->sampling = NULL;
}

void tracer_switch_samples(struct tracer *tracer, bool on)
{
	struct tracer_sampling *sampling = tracer->sampling;

	if (!sampling || sampling->is_on == on)
		return;
	for (uint32_t cpu = 0; cpu < sampling->nr_cpus; cpu++)
		if (sampling->clocks[cpu] >= 0)
			ioctl(sampling->clocks[cpu], on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0);
	switch_waits(sampling, on);
	code_maps_switch(&sampling->maps, on);
	sampling->is_on = on;
}

void tracer_set_sample_period(struct tracer *tracer, uint32_t cpu, uint64_t period_ns)
{
	struct tracer_sampling *sampling = tracer->sampling;

	if (sampling && sampling->is_on && cpu < sampling->nr_cpus && sampling->clocks[cpu] >= 0)
		ioctl(sampling->clocks[cpu], PERF_EVENT_IOC_PERIOD, &period_ns);
}

uint64_t tracer_take_code_maps(struct tracer *tracer, tracer_code_map_fn fn, void *context)
{
	return tracer->sampling ? code_maps_take(&tracer->sampling->maps, fn, context) : 0;
}
