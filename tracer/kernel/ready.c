// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * ready.c - the pages of the rings are looked at before the first event.
 *
 * In a virtual machine whose host translates its addresses in software, or within another one, a page costs a microsecond or more when it is first
 * looked at through a mapping. The kernel has one of the rings, where the event that is first in a page would pay, and we have another.
 */
#include <bpf/bpf.h>
#include "loader.h"

#define PAGE_BYTES 4096u

static bool run(const struct tracer *tracer, const struct tracer_ring *ring, uint32_t page)
{
	uint64_t arguments[] = {ring->structural, ring->cpu, page};
	/* The first pages on the ring's CPU: it says when there is none. */
	LIBBPF_OPTS(bpf_test_run_opts, options, .ctx_in = arguments, .ctx_size_in = sizeof(arguments), .flags = page ? 0 : BPF_F_TEST_RUN_ON_CPU,
		    .cpu = page ? 0 : ring->cpu);

	return bpf_prog_test_run_opts(bpf_program__fd(tracer->skeleton->progs.make_ready), &options) == 0;
}

/** tracer_make_ready() - what this costs, it costs now. A ring whose CPU is offline is left alone; a kernel that cannot do it records all the same */
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
