/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test_limits.c - what has no room in the maps of a real recording is counted and told. Root only;
 * skipped (77) where the kernel cannot be recorded. */
#include <bpf/bpf.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../../tracer/kernel/loader.h"
#include "unit.h"

#define TRIES 100

static void add_text(void *context, const char *text)
{
	strncat(context, text, 2047 - strlen(context));
}

static struct tracer *new_tracer(void)
{
	struct tracer_options options = {.size = sizeof(options), .filter_uid = -1, .filter_gid = -1};
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
	struct tracer *tracer = new_tracer();
	struct trace_error error = {0};
	char text[2048] = "";

	tracer_describe_limits(tracer, add_text, text);
	CU_ASSERT_STRING_EQUAL(text, "");
	fill(tracer->skeleton->maps.work_functions);
	CU_ASSERT_EQUAL_FATAL(tracer_start(tracer, &error), 0);
	CU_ASSERT(is_told(tracer, "functions of deferred work: there were more than 1024, and others ran "));
	tracer_free(tracer);
}

static const struct unit_case cases[] = {
	CASE(further_functions_of_deferred_work_are_told),
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
