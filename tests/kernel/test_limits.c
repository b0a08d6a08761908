/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test_limits.c - what has no room in the maps of a real recording is counted and told. Root only;
 * skipped (77) where the kernel cannot be recorded. */
#include <bpf/bpf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../../tracer/kernel/loader.h"
#include "../../tracer/kernel/sample_skeleton.h"
#include "../../tracer/kernel/samples.h"
#include "../../tracer/kernel/walk_files.h"
#include "unit.h"

#define TRIES 100

static void add_text(void *context, const char *text)
{
	strncat(context, text, 2047 - strlen(context));
}

static struct tracer *new_tracer(uint64_t sample_period)
{
	struct tracer_options options = {
		.size = sizeof(options), .filter_uid = -1, .filter_gid = -1, .sample_period = sample_period};
	struct trace_error error = {0};
	struct tracer *tracer = tracer_new(&options, &error);

	CU_ASSERT_PTR_NOT_NULL_FATAL(tracer);
	return tracer;
}

/* The keys are no addresses of functions. */
static void fill(const struct bpf_map *map)
{
	static const char value[256];
	uint64_t key = 1;

	while (bpf_map_update_elem(bpf_map__fd(map), &key, value, BPF_NOEXIST) == 0)
		key++;
	CU_ASSERT_EQUAL(key - 1, bpf_map__max_entries(map));
}

/* The kernel does deferred work all the time; a sync of a file makes some. */
static bool is_told(const struct tracer *tracer, const char *wanted)
{
	char text[2048] = "";

	for (int i = 0; i < TRIES && !strstr(text, wanted); i++) {
		text[0] = '\0';
		sync();
		usleep(20000);
		tracer_describe_limits(tracer, add_text, text);
	}
	return strstr(text, wanted);
}

static void further_functions_of_deferred_work_are_told(void)
{
	struct tracer *tracer = new_tracer(0);
	struct trace_error error = {0};
	char text[2048] = "";

	tracer_describe_limits(tracer, add_text, text);
	CU_ASSERT_STRING_EQUAL(text, "");
	fill(tracer->skeleton->maps.work_functions);
	CU_ASSERT_EQUAL_FATAL(tracer_start(tracer, &error), 0);
	CU_ASSERT(is_told(tracer, "functions of deferred work: there were more than 1024, and others ran "));
	tracer_free(tracer);
}

#if defined(__x86_64__)
/* A program that begins maps code of files that have no number then. */
static void have_program(void)
{
	CU_ASSERT_EQUAL(system("exec ls / > /dev/null"), 0);
}

static void start_samples(struct tracer *tracer)
{
	struct trace_error error = {0};
	uint64_t mask[TRACE_MASK_WORDS];

	CU_ASSERT_EQUAL_FATAL(tracer_start(tracer, &error), 0);
	tracer_get_mask(tracer, mask);
	mask[TRACE_EV_sample / 64] |= 1ull << TRACE_EV_sample % 64;
	CU_ASSERT_EQUAL_FATAL(tracer_set_mask(tracer, mask, &error), 0);
}

static void what_samples_have_no_room_for_is_told(void)
{
	struct tracer *tracer = new_tracer(1000000);
	const struct tracer_sampling *sampling = tracer->sampling;

	CU_ASSERT_TRUE_FATAL(sampling->has_tables);
	fill(sampling->skeleton->maps.kernel_addresses);
	sampling->skeleton->data->nr_walk_files = WALK_MAX_FILES;
	start_samples(tracer);
	have_program();
	CU_ASSERT(is_told(tracer, "names of the kernel's code: samples hit more than 32768 addresses, and others "));
	CU_ASSERT(is_told(tracer, "more than 8192 files have code, and others were mapped "));
	tracer_free(tracer);
}

/* Numbers that no process has. */
static void fill_processes(const struct bpf_map *map)
{
	static const struct walk_process none;
	uint32_t tgid = 1u << 30;

	while (bpf_map_update_elem(bpf_map__fd(map), &tgid, &none, BPF_NOEXIST) == 0)
		tgid++;
	CU_ASSERT_EQUAL(tgid - (1u << 30), bpf_map__max_entries(map));
}

static void mappings_of_further_processes_are_told(void)
{
	struct tracer *tracer = new_tracer(1000000);

	CU_ASSERT_TRUE_FATAL(tracer->sampling->has_tables);
	fill_processes(tracer->sampling->skeleton->maps.walk_processes);
	start_samples(tracer);
	have_program();
	CU_ASSERT(is_told(tracer, "8192 may run at once, and the mappings of others had no room "));
	tracer_free(tracer);
}

/* The same page again and again is a mapping of its own each time, because its base differs. */
static void further_mappings_of_a_process_are_told(void)
{
	struct tracer *tracer = new_tracer(1000000);
	void *pages[2 * WALK_MAX_MAPPINGS];
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	start_samples(tracer);
	for (int i = 0; i < 2 * WALK_MAX_MAPPINGS; i++)
		pages[i] = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	CU_ASSERT(is_told(tracer, "it may have 128 of code, and "));
	for (int i = 0; i < 2 * WALK_MAX_MAPPINGS; i++)
		munmap(pages[i], 4096);
	close(fd);
	tracer_free(tracer);
}
#endif

static const struct unit_case cases[] = {
	CASE(further_functions_of_deferred_work_are_told),
#if defined(__x86_64__)
	CASE(what_samples_have_no_room_for_is_told),
	CASE(mappings_of_further_processes_are_told),
	CASE(further_mappings_of_a_process_are_told),
#endif
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	if (geteuid() != 0 || access("/sys/kernel/btf/vmlinux", R_OK) != 0) {
		fprintf(stderr, "test_limits: needs root and a kernel with BTF\n");
		return 77;
	}
	return unit_main("limits", cases, argc, argv);
}
