/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test_refused.c - BPF programs that this kernel refuses are left out, and all others are loaded.
 * Root only; skipped (77) where the kernel cannot be recorded. */
#include <bpf/btf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../tracer/kernel/loader.h"
#include "../../tracer/kernel/constants.h"
#include "../../tracer/kernel/programs.h"
#include "unit.h"

/* They are not even tried if their tracepoints have fewer arguments than they read; a program that
 * reads more is refused. */
static const char *const for_older_kernels[] = {"uring_complete__values", "fs_throttle__limits"};

/* As @like, but not loaded. */
static struct tracer *not_loaded(const struct tracer *like)
{
	struct tracer *tracer = calloc(1, sizeof(*tracer));

	CU_ASSERT_PTR_NOT_NULL_FATAL(tracer);
	tracer->options = like->options;
	tracer->nr_cpus = like->nr_cpus;
	tracer->types = btf__load_vmlinux_btf();
	tracer->skeleton = tracer_open_programs();
	CU_ASSERT_FATAL(tracer->types && tracer->skeleton);
	memcpy((void *)tracer->skeleton->rodata, (const void *)like->skeleton->rodata,
	       sizeof(*tracer->skeleton->rodata));
	bpf_map__set_max_entries(tracer->skeleton->maps.rings, like->nr_cpus);
	bpf_map__set_value_size(tracer->skeleton->maps.rings, bpf_map__value_size(like->skeleton->maps.rings));
	bpf_map__set_max_entries(tracer->skeleton->maps.structural_rings, like->nr_cpus);
	bpf_map__set_value_size(tracer->skeleton->maps.structural_rings,
				bpf_map__value_size(like->skeleton->maps.structural_rings));
	tracer_list_programs(tracer);
	return tracer;
}

static bool would_be_refused(const struct tracer_program *p)
{
	for (size_t i = 0; i < sizeof(for_older_kernels) / sizeof(for_older_kernels[0]); i++)
		if (p->unavailable[0] && strcmp(bpf_program__name(p->program), for_older_kernels[i]) == 0)
			return true;
	return false;
}

static size_t nr_loaded(const struct tracer *tracer)
{
	size_t nr = 0;

	for (size_t i = 0; i < tracer->nr_programs; i++)
		nr += bpf_program__fd(tracer->programs[i].program) >= 0;
	return nr;
}

static void refused_programs_are_left_out_and_no_others(void)
{
	struct trace_error error;
	struct tracer *whole = tracer_new(NULL, &error), *tracer;
	bool *refused;
	size_t nr = 0;

	CU_ASSERT_PTR_NOT_NULL_FATAL(whole);
	tracer = not_loaded(whole);
	refused = calloc(tracer->nr_programs, sizeof(*refused));
	for (size_t i = 0; i < tracer->nr_programs; i++) {
		struct tracer_program *p = &tracer->programs[i];

		refused[i] = would_be_refused(p);
		nr += refused[i];
		if (refused[i]) {
			p->unavailable[0] = '\0';
			bpf_program__set_autoload(p->program, true);
		}
	}
	if (!nr)
		printf("(none: the kernel is older) ");
	CU_ASSERT_EQUAL(tracer_load_programs(tracer, &error), 0);
	CU_ASSERT_EQUAL(nr_loaded(tracer), nr_loaded(whole));
	for (size_t i = 0; i < tracer->nr_programs; i++)
		CU_ASSERT_EQUAL(strstr(tracer->programs[i].unavailable, "this kernel refuses the program") != NULL,
				refused[i]);
	free(refused);
	tracer_free(tracer);
	tracer_free(whole);
}

static const struct unit_case cases[] = {
	{"refused_programs_are_left_out_and_no_others", refused_programs_are_left_out_and_no_others},
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	if (geteuid() != 0 || access("/sys/kernel/btf/vmlinux", R_OK) != 0) {
		fprintf(stderr, "test_refused: needs root and a kernel with BTF\n");
		return 77;
	}
	return unit_main("refused", cases, argc, argv);
}
