/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * attach.c - attaches the programs that the mask of events needs, and detaches the others
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "loader.h"
#include "deferring.h"
#include "follow.h"
#include "not_traced.h"
#include "probe_attach.h"
#include "programs.h"
#include "samples.h"
#include "tracer_maps.h"

static bool is_perf_event(const struct bpf_program *program)
{
	return strcmp(bpf_program__section_name(program), "perf_event") == 0;
}

static int open_fault_counter(uint32_t cpu, bool major)
{
	struct perf_event_attr attributes = {
		.size = sizeof(attributes),
		.type = PERF_TYPE_SOFTWARE,
		.config = major ? PERF_COUNT_SW_PAGE_FAULTS_MAJ : PERF_COUNT_SW_PAGE_FAULTS_MIN,
		.sample_period = 1,
	};

	return (int)syscall(SYS_perf_event_open, &attributes, -1, (int)cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

static void detach(struct tracer_program *p)
{
	for (size_t i = 0; i < p->nr_links; i++)
		bpf_link__destroy(p->links[i]);
	free(p->links);
	p->links = NULL;
	p->nr_links = 0;
	p->attached = false;
}

static int attach_faults(struct tracer *tracer, struct tracer_program *p)
{
	bool major = strstr(bpf_program__name(p->program), "major") != NULL;

	p->links = calloc(tracer->nr_cpus, sizeof(*p->links));
	if (!p->links)
		return -ENOMEM;
	for (uint32_t cpu = 0; cpu < tracer->nr_cpus; cpu++) {
		int fd = open_fault_counter(cpu, major);
		struct bpf_link *link;

		if (fd < 0 && errno == ENODEV)
			continue; /* a possible CPU that is not present */
		if (fd < 0)
			return -errno;
		link = bpf_program__attach_perf_event(p->program, fd);
		if (!link) {
			int result = -errno;

			close(fd);
			return result;
		}
		p->links[p->nr_links++] = link;
	}
	return 0;
}

static int attach(struct tracer *tracer, struct tracer_program *p)
{
	int result = 0;

	if (is_perf_event(p->program)) {
		result = attach_faults(tracer, p);
	} else {
		struct bpf_link *link = bpf_program__attach(p->program);

		if (!link)
			return -errno;
		p->links = malloc(sizeof(*p->links));
		if (!p->links) {
			bpf_link__destroy(link);
			return -ENOMEM;
		}
		p->links[0] = link;
		p->nr_links = 1;
	}
	if (result)
		detach(p);
	p->attached = result == 0;
	return result;
}

/* Forks and frees are needed to follow children, and to distinguish a process from a
 * later one with the same pid. */
static bool is_needed(const struct tracer *tracer, const struct tracer_program *p, const uint64_t *mask)
{
	if ((tracer->options.follow || tracer->options.filter_pid > 0) &&
	    (tracer_program_serves(p, TRACE_EV_sched_fork) || tracer_program_serves(p, TRACE_EV_sched_free)))
		return true;
	return tracer_program_wanted(tracer, p, mask);
}

int tracer_set_mask(struct tracer *tracer, const uint64_t asked_mask[TRACE_MASK_WORDS], struct trace_error *ret_error)
{
	size_t attached = 0, wanted = 0;
	uint64_t mask[TRACE_MASK_WORDS];

	memcpy(mask, asked_mask, sizeof(mask));
	if (tracer->options.no_args)
		mask[TRACE_EV_sched_args / 64] &= ~(1ull << TRACE_EV_sched_args % 64);
	memcpy(tracer->options.mask, mask, sizeof(tracer->options.mask));
	for (int i = 0; i < TRACE_MASK_WORDS; i++)
		tracer->skeleton->bss->event_mask[i] = mask[i];
	for (size_t i = 0; i < tracer->nr_programs; i++) {
		struct tracer_program *p = &tracer->programs[i];
		bool needed = is_needed(tracer, p, mask);

		wanted += needed;
		if (p->attached && !needed)
			detach(p);
		if (needed && !p->attached && !p->unavailable[0]) {
			int result = attach(tracer, p);

			if (result)
				snprintf(p->unavailable, sizeof(p->unavailable), "cannot be attached: %s",
					 strerror(-result));
		}
		if (needed && p->unavailable[0])
			tracer_note_not_traced(tracer, p);
		attached += p->attached;
	}
	if (mask[TRACE_EV_cpu_stolen / 64] >> TRACE_EV_cpu_stolen % 64 & 1)
		tracer_note_steal(tracer);
	tracer_choose_deferring(tracer);
	tracer_switch_code_maps(tracer, mask);
	tracer_switch_samples(tracer, mask[TRACE_EV_sample / 64] >> TRACE_EV_sample % 64 & 1);
	if (wanted && !attached)
		return error_set(ret_error, -ENOTSUP, "none of the %zu programs could be attached (the first: %s)",
				 wanted, tracer->not_traced[0]);
	return 0;
}

void tracer_get_mask(const struct tracer *tracer, uint64_t ret_mask[TRACE_MASK_WORDS])
{
	memcpy(ret_mask, tracer->options.mask, sizeof(tracer->options.mask));
}

int tracer_start(struct tracer *tracer, struct trace_error *ret_error)
{
	uint64_t mask[TRACE_MASK_WORDS];

	int result;

	tracer_get_mask(tracer, mask);
	result = tracer_set_mask(tracer, mask, ret_error);
	if (!result && tracer->options.follow)
		tracer_follow_descendants(tracer);
	return result;
}

void tracer_stop(struct tracer *tracer)
{
	bool any = tracer->sampling != NULL;

	tracer_switch_samples(tracer, false);
	code_maps_switch(&tracer->code_maps, false);
	for (size_t i = 0; i < tracer->nr_programs; i++) {
		any |= tracer->programs[i].attached;
		detach(&tracer->programs[i]);
	}
	any |= tracer->probing != NULL;
	tracer_unlink_probes(tracer);
	if (!any)
		return;
	/* A grace period: programs that run on other CPUs now finish their records. */
	syscall(SYS_membarrier, 1 /* MEMBARRIER_CMD_GLOBAL */, 0, 0);
	tracer_flush_rings(tracer);
	for (size_t i = 0; i < tracer->nr_rings; i++)
		subbuf_flush(&tracer->rings[i].ring);
}

static uint64_t program_missed(const struct tracer_program *program)
{
	struct bpf_prog_info info = {0};
	uint32_t bytes = sizeof(info);
	int fd = bpf_program__fd(program->program);

	return fd >= 0 && bpf_obj_get_info_by_fd(fd, &info, &bytes) == 0 ? info.recursion_misses : 0;
}

uint64_t tracer_missed(const struct tracer *tracer, uint32_t id)
{
	uint64_t missed = id == TRACE_EV_USER ? tracer_probes_missed(tracer) : 0;

	for (size_t i = 0; i < tracer->nr_programs; i++)
		if (tracer->programs[i].event == id)
			missed += program_missed(&tracer->programs[i]);
	return missed;
}
