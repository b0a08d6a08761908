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

	if (session_run("node --version >/dev/null 2>&1")) {
		printf("node is not installed. ");
		return;
	}
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

/* ---- the times that functions measure of themselves ---- */

/**
 * struct language - @has: a command that succeeds where it is installed
 * @build, @run: with the folder of the sources as $S, the folder of the session as $D
 * @is_mapped: the functions are in a file /tmp/perf-PID.map, which the test deletes
 */
struct language {
	const char *name;
	const char *has;
	const char *build;
	const char *run;
	bool is_mapped;
};

static const struct language languages[] = {
	{"node", "node --version", "true", "node --perf-basic-prof $S/generated_times.js $D/truth", true},
	{"java", "javac -version && java -version", "javac -d $D $S/GeneratedTimes.java",
	 "java -XX:+PreserveFramePointer -XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit -cp $D GeneratedTimes "
	 "$D/truth",
	 true},
	{"go", "go version",
	 "env GOCACHE=" TRACE_BUILD "/tests/go-cache GOTOOLCHAIN=local go build -o $D/generated $S/generated_times.go",
	 "$D/generated $D/truth", false},
};

static bool run_language(struct session *s, const struct language *language)
{
	if (session_run("{ %s; } >/dev/null 2>&1", language->has)) {
		printf("%s is not installed. ", language->name);
		return false;
	}
	CU_ASSERT_EQUAL_FATAL(
		session_run("S=" TRACE_SOURCES " D=%s; %s >$D/stdout 2>$D/stderr", s->folder, language->build), 0);
	CU_ASSERT_EQUAL_FATAL(session_run("S=" TRACE_SOURCES " D=%s; cd $D && " TRACE_BIN
					  "/tracedaemon --sample=700us %s -- %s "
					  ">$D/stdout 2>$D/stderr",
					  s->folder, s->trace, language->run),
			      0);
	if (language->is_mapped) {
		char map[64];

		snprintf(map, sizeof(map), "/tmp/perf-%lld.map", session_truth(s, "pid"));
		CU_ASSERT_EQUAL(unlink(map), 0); /* the names are in the trace */
	}
	return true;
}

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
static void compare_times(const struct session *s, const struct language *language)
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
	       language->name, truth * 100, found * 100, deviation * 100, times / 1e6, (light + heavy) / 1e6);
	CU_ASSERT(fabs(found - truth) <= 5 * deviation + 0.02);
	CU_ASSERT(times >= (light + heavy) * 0.9);
	json_decref(profile);
}

static void functions_have_the_times_that_they_know_of_themselves(void)
{
	for (size_t i = 0; i < sizeof(languages) / sizeof(languages[0]); i++) {
		struct session s;

		session_begin(&s);
		if (run_language(&s, &languages[i]))
			compare_times(&s, &languages[i]);
		session_end(&s);
	}
}

/* Go runs the collector and other parts on stacks of threads. A function of the collector has
 * the callers of the goroutine; one of the scheduler begins at the begin of that stack. */
static void stacks_of_go_go_on_in_the_goroutine(void)
{
	static const struct language go = {
		"go", "go version",
		"env GOCACHE=" TRACE_BUILD
		"/tests/go-cache GOTOOLCHAIN=local go build -o $D/goroutines $S/goroutines.go",
		"$D/goroutines", false};
	long long samples, whole, called = 0, begins = 0;
	json_t *profile, *row;
	struct session s;
	size_t i;

	session_begin(&s);
	if (!run_language(&s, &go)) {
		session_end(&s);
		return;
	}
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
	session_end(&s);
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		CASE(generated_code_has_the_names_that_its_program_wrote_down),
		CASE(functions_have_the_times_that_they_know_of_themselves),
		CASE(stacks_of_go_go_on_in_the_goroutine),
		{NULL, NULL},
	};

	if (geteuid() != 0 || access("/sys/kernel/btf/vmlinux", R_OK) != 0) {
		fprintf(stderr, "test_e2e_generated: needs root and a kernel with BTF\n");
		return 77;
	}
	return unit_main("e2e_generated", cases, argc, argv);
}
