/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test_ready.c - the pages of every ring are touched before the first event. Root only; skipped
 * (77) where the kernel cannot be recorded. */
#include <bpf/bpf.h>
#include <stdio.h>
#include <unistd.h>

#include "../../tracer/kernel/loader.h"
#include "unit.h"

static uint64_t runs_of(const struct bpf_program *program)
{
	struct bpf_prog_info info = {0};
	uint32_t bytes = sizeof(info);

	return bpf_obj_get_info_by_fd(bpf_program__fd(program), &info, &bytes) == 0 ? info.run_cnt : 0;
}

static void every_page_of_every_ring_is_touched(void)
{
	struct tracer_options options = {.size = sizeof(options), .subbuf_bytes = 256 << 10, .nr_subbufs = 8};
	struct trace_error error;
	int counting = bpf_enable_stats(BPF_STATS_RUN_TIME);
	struct tracer *tracer = tracer_new(&options, &error);
	uint64_t wanted = 0;

	CU_ASSERT_FATAL(counting >= 0);
	CU_ASSERT_PTR_NOT_NULL_FATAL(tracer);
	for (long cpu = 0; cpu < sysconf(_SC_NPROCESSORS_ONLN); cpu++)
		for (int i = 0; i < 2; i++) {
			const struct subbuf_ring *ring = &tracer_get_ring(tracer, i)->ring;

			wanted += ((uint64_t)ring->subbuf_bytes * ring->nr_subbufs / 4096 + TRACER_READY_PAGES - 1) /
				  TRACER_READY_PAGES;
		}
	CU_ASSERT(wanted >= 4);
	CU_ASSERT_EQUAL(runs_of(tracer->skeleton->progs.make_ready), wanted);
	tracer_free(tracer);
	close(counting);
}

static const struct unit_case cases[] = {
	{"every_page_of_every_ring_is_touched", every_page_of_every_ring_is_touched},
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	if (geteuid() != 0 || access("/sys/kernel/btf/vmlinux", R_OK) != 0) {
		fprintf(stderr, "test_ready: needs root and a kernel with BTF\n");
		return 77;
	}
	return unit_main("ready", cases, argc, argv);
}
