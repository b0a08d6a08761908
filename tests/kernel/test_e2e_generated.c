/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_e2e_generated.c - the stacks, the names and the times of code that programs generate, from
 * their perf maps: node and java. And the times of Go, whose code has frame pointers and no
 * description for the unwinder.
 *
 * Root only; skipped (77) where the kernel cannot be recorded. A language that is not installed is
 * left out, and a line says so.
 */
#include <math.h>
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

/**
 * struct program - @has: a command that succeeds where its language is installed
 * @build, @run: with the folder of the sources as $S, a folder of its own as $D
 * @is_mapped: the functions are in a file /tmp/perf-PID.map, which the test deletes
 */
struct program {
	const char *name;
	const char *has;
	const char *build;
	const char *run;
	bool is_mapped;
};

#define GO_BUILD "env GOCACHE=" TRACE_BUILD "/tests/go-cache GOTOOLCHAIN=local go build -o $D/"

enum { SCRIPT_OF_NODE, NODE, JAVA, GO, GOROUTINES, NR_PROGRAMS };

static const struct program programs[NR_PROGRAMS] = {
	[SCRIPT_OF_NODE] = {"script", "node --version", "true", "node --perf-basic-prof script.js $D/truth", true},
	[NODE] = {"node", "node --version", "true", "node --perf-basic-prof $S/generated_times.js $D/truth", true},
	[JAVA] = {"java", "javac -version && java -version", "javac -d $D $S/GeneratedTimes.java",
		  "java -XX:+PreserveFramePointer -XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit -cp $D "
		  "GeneratedTimes "
		  "$D/truth",
		  true},
	[GO] = {"go", "go version", GO_BUILD "generated $S/generated_times.go", "$D/generated $D/truth", false},
	[GOROUTINES] = {"goroutines", "go version", GO_BUILD "goroutines $S/goroutines.go", "$D/goroutines", false},
};

static struct session all;

/* Create the file @path in the folder of the recording. */
static FILE *new_file(const char *path)
{
	char whole[128];
	FILE *file;

	snprintf(whole, sizeof(whole), "%s/%s", all.folder, path);
	file = fopen(whole, "w");
	CU_ASSERT_PTR_NOT_NULL_FATAL(file);
	return file;
}

/* Build @program; it is one more line of @script. */
static void add_program(FILE *script, const struct program *program)
{
	if (session_run("{ %s; } >/dev/null 2>&1", program->has))
		return;
	CU_ASSERT_EQUAL_FATAL(session_run("S=" TRACE_SOURCES " D=%s/%s; mkdir $D && %s >$D/stdout 2>$D/stderr",
					  all.folder, program->name, program->build),
			      0);
	fprintf(script, "S=" TRACE_SOURCES " D=%s/%s; cd $D && %s >$D/stdout 2>$D/stderr || exit 1\n", all.folder,
		program->name, program->run);
	if (program == &programs[SCRIPT_OF_NODE]) {
		FILE *file = new_file("script/script.js");

		fputs(SCRIPT, file);
		fclose(file);
	}
}

/* One recording of all programs, one after the other. */
static void record_all(void)
{
	FILE *script;

	session_begin(&all);
	script = new_file("run");
	for (int i = 0; i < NR_PROGRAMS; i++)
		add_program(script, &programs[i]);
	fclose(script);
	CU_ASSERT_EQUAL_FATAL(session_run(TRACE_BIN "/tracedaemon --sample=500us %s -- sh %s/run 2>%s/stderr",
					  all.trace, all.folder, all.folder),
			      0);
}

/* Returns whether the program was recorded. *ret_s: the recording, with its truth */
static bool has_recorded(const struct program *program, struct session *ret_s)
{
	char map[64];

	if (!all.trace[0])
		record_all();
	*ret_s = all;
	snprintf(ret_s->truth, sizeof(ret_s->truth), "%s/%s/truth", all.folder, program->name);
	if (session_run("test -d %s/%s", all.folder, program->name)) {
		printf("%s is not installed. ", program->name);
		return false;
	}
	if (program->is_mapped) {
		snprintf(map, sizeof(map), "/tmp/perf-%lld.map", session_truth(ret_s, "pid"));
		CU_ASSERT_EQUAL(unlink(map), 0); /* the names are in the trace */
	}
	return true;
}

static void generated_code_has_the_names_that_its_program_wrote_down(void)
{
	struct session s;
	json_t *profile, *row, *stacks;
	long long named = 0, whole = 0, samples;
	char options[64];
	size_t i;

	if (!has_recorded(&programs[SCRIPT_OF_NODE], &s))
		return;
	CU_ASSERT_EQUAL(
		session_run("%s/tracevisualizer --profile --verify %s >%s/stdout", TRACE_BIN, s.trace, s.folder), 0);
	snprintf(options, sizeof(options), "--folded=on --pid=%lld", session_truth(&s, "pid"));
	profile = session_load(&s, options);
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
}

/* ---- the times that functions measure of themselves ---- */

/* A compiler of generated code makes several functions of one, and names have more in them. */
static long long time_of(const json_t *profile, const char *function, const char *key)
{
	json_t *row;
	long long sum = 0;
	size_t i;

	json_array_foreach(json_object_get(profile, "rows"), i, row)
		if (strstr(json_text(row, "name"), function))
			sum += json_number(row, key);
	return sum;
}

/* The share that n samples tell may be off by five standard deviations, and by 2 points for what a
 * function calls and for the time before it was compiled. */
static void compare_times(const struct session *s, const struct program *program)
{
	double light = (double)session_truth(s, "light"), heavy = (double)session_truth(s, "heavy"), samples, found;
	double truth = light / (light + heavy), deviation, times;
	char options[64];
	json_t *profile;

	snprintf(options, sizeof(options), "--profile --pid=%lld", session_truth(s, "pid"));
	profile = session_load(s, options);
	CU_ASSERT_PTR_NOT_NULL_FATAL(profile);
	times = (double)(time_of(profile, "own_light", "on_cpu_ns") + time_of(profile, "own_heavy", "on_cpu_ns"));
	samples = (double)(time_of(profile, "own_light", "samples") + time_of(profile, "own_heavy", "samples"));
	CU_ASSERT_FATAL(times > 0 && samples > 500);
	found = (double)time_of(profile, "own_light", "on_cpu_ns") / times;
	deviation = sqrt(truth * (1 - truth) / samples);
	printf("%s: own_light() %.2f %% by itself, %.2f %% in the profile, +- %.2f; %.0f of %.0f ms named\n",
	       program->name, truth * 100, found * 100, deviation * 100, times / 1e6, (light + heavy) / 1e6);
	CU_ASSERT(fabs(found - truth) <= 5 * deviation + 0.02);
	CU_ASSERT(times >= (light + heavy) * 0.8); /* code has a name when it was generated */
	json_decref(profile);
}

static void functions_have_the_times_that_they_know_of_themselves(void)
{
	for (int i = NODE; i <= GO; i++) {
		struct session s;

		if (has_recorded(&programs[i], &s))
			compare_times(&s, &programs[i]);
	}
}

/* Go runs the collector and other parts on stacks of threads. A function of the collector has
 * the callers of the goroutine; one of the scheduler begins at the begin of that stack. */
static void stacks_of_go_go_on_in_the_goroutine(void)
{
	long long samples, whole, called = 0, begins = 0;
	json_t *profile, *row;
	struct session s;
	size_t i;

	if (!has_recorded(&programs[GOROUTINES], &s))
		return;
	profile = session_load(&s, "--profile --comm=goroutines");
	CU_ASSERT_PTR_NOT_NULL_FATAL(profile);
	samples = json_number(profile, "samples");
	whole = json_number(json_object_get(profile, "stacks"), "whole");
	json_decref(profile);
	profile = session_load(&s, "--folded=all --comm=goroutines");
	CU_ASSERT_PTR_NOT_NULL_FATAL(profile);
	json_array_foreach(json_object_get(profile, "folded"), i, row) {
		const char *stack = json_text(row, "stack"), *allocate = strstr(stack, ";main.allocate;");

		called += allocate && strstr(allocate, ";runtime.systemstack");
		begins += strstr(stack, "goroutines;runtime.mcall;") != NULL;
	}
	printf("%lld of %lld samples whole; %lld stacks of the collector below allocate(), %lld begin a stack\n", whole,
	       samples, called, begins);
	CU_ASSERT(samples > 500 && whole >= samples - samples / 50);
	CU_ASSERT(called > 0);
	CU_ASSERT(begins > 0);
	json_decref(profile);
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		CASE(generated_code_has_the_names_that_its_program_wrote_down),
		CASE(functions_have_the_times_that_they_know_of_themselves),
		CASE(stacks_of_go_go_on_in_the_goroutine),
		{NULL, NULL},
	};
	int result;

	if (geteuid() != 0 || access("/sys/kernel/btf/vmlinux", R_OK) != 0) {
		fprintf(stderr, "test_e2e_generated: needs root and a kernel with BTF\n");
		return 77;
	}
	result = unit_main("e2e_generated", cases, argc, argv);
	if (all.trace[0])
		session_end(&all);
	return result;
}
