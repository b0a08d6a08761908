/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_e2e_generated.c - the stacks and the names of code that node generates, from its perf map
 *
 * Root only; skipped (77) without node, or where the kernel cannot be recorded.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "e2e_session.h"
#include "unit.h"

/* The functions are too large to be one; the last line is the CPU time of the process in us. */
#define SCRIPT                                                                                  \
	"function trace_inner(n){let s=0;for(let i=0;i<n;i++)s=(s*31+i)%1000003;return s;}\n"   \
	"function trace_outer(n){let s=0;for(let i=0;i<50;i++)s+=trace_inner(n+i);return s;}\n" \
	"const begin=process.cpuUsage().user;let t=0;\n"                                        \
	"while(process.cpuUsage().user<begin+1000000)t+=trace_outer(20000);\n"                  \
	"require(\"fs\").writeFileSync(process.argv[2],\"pid \"+process.pid+\"\\ncpu \"+1e6+\"\\n\");\n"

static void write_script(const struct session *s)
{
	char path[512];
	FILE *file;

	snprintf(path, sizeof(path), "%s/script.js", s->folder);
	file = fopen(path, "w");
	CU_ASSERT_PTR_NOT_NULL_FATAL(file);
	fputs(SCRIPT, file);
	fclose(file);
}

static void generated_code_has_the_names_that_its_program_wrote_down(void)
{
	struct session s;
	json_t *profile, *row, *stacks;
	long long named = 0, whole = 0, samples;
	char map[64];
	size_t i;

	session_begin(&s);
	write_script(&s);
	CU_ASSERT_EQUAL_FATAL(
		session_run("cd %s && %s/tracedaemon --sample=500us %s -- node --perf-basic-prof %s/script.js %s "
			    ">%s/stdout 2>%s/stderr",
			    s.folder, TRACE_BIN, s.trace, s.folder, s.truth, s.folder, s.folder),
		0);
	snprintf(map, sizeof(map), "/tmp/perf-%lld.map", session_truth(&s, "pid"));
	CU_ASSERT_EQUAL(unlink(map), 0); /* the names are in the trace */
	CU_ASSERT_EQUAL(session_run("%s/tracevisualizer --profile --verify %s >%s/stdout 2>&1", TRACE_BIN, s.trace,
				    s.folder),
			0);
	profile = session_load(&s, "--folded=on");
	CU_ASSERT_PTR_NOT_NULL_FATAL(profile);
	json_array_foreach(json_object_get(profile, "folded"), i, row) {
		const char *stack = json_text(row, "stack");

		if (!strstr(stack, "trace_inner") && !strstr(stack, "trace_outer"))
			continue;
		named += json_number(row, "ns");
		whole += strstr(stack, "(stack incomplete)") ? 0 : json_number(row, "ns");
	}
	stacks = json_object_get(profile, "stacks");
	samples = json_number(profile, "samples");
	printf("%lld ms in named functions, %lld ms of them with whole stacks; %lld samples, %lld whole\n",
	       named / 1000000, whole / 1000000, samples, json_number(stacks, "whole"));
	CU_ASSERT(named >= 800000000);
	CU_ASSERT(whole >= named / 100 * 99);
	json_decref(profile);
	session_end(&s);
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		CASE(generated_code_has_the_names_that_its_program_wrote_down),
		{NULL, NULL},
	};

	if (geteuid() != 0 || access("/sys/kernel/btf/vmlinux", R_OK) != 0 ||
	    system("node --version >/dev/null 2>&1")) {
		fprintf(stderr, "test_e2e_generated: needs root, a kernel with BTF, and node\n");
		return 77;
	}
	return unit_main("e2e_generated", cases, argc, argv);
}
