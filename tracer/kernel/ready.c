/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * ready.c - loads from the pages of the rings before the first event
 *
 * In a virtual machine with address translation in software, or with nested virtualisation, the
 * first access to a page through a mapping costs a microsecond or more. The kernel has one mapping
 * of the rings, where the first event in a page would pay for it; this process has another.
 */
#include "ready.h"

#include <bpf/bpf.h>
#include "loader.h"

#define PAGE_BYTES 4096u

static bool run(const struct tracer *tracer, const struct tracer_ring *ring, uint32_t page)
{
	uint64_t arguments[] = {ring->structural, ring->cpu, page};
	/* The first pages run on the ring's CPU; the call fails if that CPU is offline. */
	LIBBPF_OPTS(bpf_test_run_opts, options, .ctx_in = arguments, .ctx_size_in = sizeof(arguments),
		    .flags = page ? 0 : BPF_F_TEST_RUN_ON_CPU, .cpu = page ? 0 : ring->cpu);

	return bpf_prog_test_run_opts(bpf_program__fd(tracer->skeleton->progs.make_ready), &options) == 0;
}

/**
 * tracer_make_ready() - pay for the first accesses now
 * It skips a ring with an offline CPU. A kernel that cannot do this records all the same.
 */
void tracer_make_ready(const struct tracer *tracer)
{
	for (size_t i = 0; i < tracer->nr_rings; i++) {
		const struct tracer_ring *ring = &tracer->rings[i];
		size_t bytes = (size_t)ring->ring.subbuf_bytes * ring->ring.nr_subbufs;
		bool is_online = true;

		for (uint32_t page = 0; is_online && page < bytes / PAGE_BYTES; page += TRACER_READY_PAGES)
			is_online = run(tracer, ring, page);
		for (size_t at = 0; is_online && at < bytes; at += PAGE_BYTES)
			__atomic_load_n(ring->ring.data + at, __ATOMIC_RELAXED);
	}
}
