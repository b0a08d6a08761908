/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_e2e_own_times.c - the times of functions in a profile, compared with what each measured of
 * itself: recursive and inlined functions, tail calls, handlers of exceptions and of signals,
 * threads, children by fork() and by vfork() and exec, waits for a pipe and for a lock. The program
 * (workload_own_times.cpp) is built without frame pointers.
 *
 * The times that a function measures have those of interrupts, which are a row of their own in the
 * profile. So the shares of the functions are compared, not their times: a share that n samples
 * tell may be off by five standard deviations, sqrt(p (1 - p) / n), and by 1 point for the calls by
 * which the functions measure.
 *
 * Root only; skipped (77) where the kernel cannot be recorded.
 */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "e2e_session.h"
#include "unit.h"

#define COMM	  "workload_own_ti" /* as long as the kernel's names */
#define MS	  1000000ll
#define WAITED_NS (10 * 20 * MS) /* NR_WAITS * WAIT_NS */

/**
 * struct function - @is_part: its time is also in another function of the list
 * @caller: is directly before it in whole stacks. @never: is not on its stacks
 */
struct function {
	const char *name;
	const char *caller;
	const char *never;
	bool is_part;
};

static const struct function functions[] = {
	{"own_recursive", NULL, NULL, false},
	{"own_outer", NULL, NULL, false},
	{"own_inner", "own_outer", NULL, true},
	{"own_tail_first", NULL, NULL, false},
	{"own_tail_second", NULL, "own_tail_first", false}, /* its caller has returned, as it were */
	{"own_caught", NULL, NULL, false},
	{"own_handler", NULL, NULL, false},
	{"own_thread", NULL, NULL, false},
	{"own_child", NULL, NULL, false},
	{"own_spawned", NULL, NULL, false},
};
#define NR_FUNCTIONS (sizeof(functions) / sizeof(functions[0]))

static struct session session;
static json_t *profile;

/* A function in several processes has several lines. */
static long long truth_of(const char *name)
{
	char line[128], key[64];
	long long value, sum = 0;
	FILE *truth = fopen(session.truth, "re");

	while (truth && fgets(line, sizeof(line), truth))
		if (sscanf(line, "%63s %lld", key, &value) == 2 && !strcmp(key, name))
			sum += value;
	if (truth)
		fclose(truth);
	return sum;
}

/* All rows of the function: of each program. */
static long long total_of(const char *name, const char *key)
{
	json_t *row;
	long long sum = 0;
	size_t i;

	json_array_foreach(json_object_get(profile, "rows"), i, row)
		if (!strcmp(json_text(row, "name"), name))
			sum += json_number(json_object_get(row, "total"), key);
	return sum;
}

static void the_program_is_recorded(void)
{
	session_begin(&session);
	CU_ASSERT_EQUAL_FATAL(session_run("%s/tracedaemon --sample=500us %s -- %s %s >%s/stdout 2>%s/stderr", TRACE_BIN,
					  session.trace, TRACE_OWN_TIMES, session.truth, session.folder,
					  session.folder),
			      0);
	CU_ASSERT_EQUAL(session_run("%s/tracevisualizer --profile --verify %s >%s/stdout", TRACE_BIN, session.trace,
				    session.folder),
			0);
	profile = session_load(&session, "--profile --comm=" COMM);
	CU_ASSERT_PTR_NOT_NULL_FATAL(profile);
}

static void each_function_has_the_share_that_it_knows(void)
{
	double all_truth = 0, all_found = 0, all_samples = 0;

	for (size_t i = 0; i < NR_FUNCTIONS; i++) {
		if (functions[i].is_part)
			continue;
		all_truth += (double)truth_of(functions[i].name);
		all_found += (double)total_of(functions[i].name, "on_cpu_ns");
		all_samples += (double)total_of(functions[i].name, "samples");
	}
	CU_ASSERT_FATAL(all_truth > 0 && all_found > 0 && all_samples > 1000);
	for (size_t i = 0; i < NR_FUNCTIONS; i++) {
		double truth = (double)truth_of(functions[i].name) / all_truth;
		double found = (double)total_of(functions[i].name, "on_cpu_ns") / all_found;
		double deviation = sqrt(truth * (1 - truth) / all_samples);

		printf("%s: %.2f %% of the time, %.2f %% in the profile, +- %.2f\n", functions[i].name, truth * 100,
		       found * 100, deviation * 100);
		CU_ASSERT(truth > 0);
		CU_ASSERT(fabs(found - truth) <= 5 * deviation + 0.01);
	}
}

static bool is_directly_below(const char *stack, const char *caller, const char *name)
{
	char both[128];

	snprintf(both, sizeof(both), "%s;%s", caller, name);
	return strstr(stack, both);
}

static void the_callers_are_those_of_the_source(void)
{
	json_t *folded = session_load(&session, "--folded=on --comm=" COMM), *row;
	long long wrong = 0, whole = 0, incomplete = 0;
	size_t i;

	CU_ASSERT_PTR_NOT_NULL_FATAL(folded);
	json_array_foreach(json_object_get(folded, "folded"), i, row) {
		const char *stack = json_text(row, "stack");
		bool is_incomplete = strstr(stack, "(stack incomplete)");

		if (!strstr(stack, ";own_"))
			continue;
		*(is_incomplete ? &incomplete : &whole) += json_number(row, "ns");
		for (size_t f = 0; f < NR_FUNCTIONS && !is_incomplete; f++)
			if (strstr(stack, functions[f].name) &&
			    ((functions[f].never && strstr(stack, functions[f].never)) ||
			     (functions[f].caller &&
			      !is_directly_below(stack, functions[f].caller, functions[f].name)))) {
				fprintf(stderr, "%s\n", stack);
				wrong++;
			}
	}
	printf("%lld us in whole stacks, %lld in incomplete ones\n", whole / 1000, incomplete / 1000);
	CU_ASSERT_EQUAL(wrong, 0);
	CU_ASSERT(whole >= 50 * incomplete);
	json_decref(folded);
}

/* A wait of 1 ms or more always has a stack. The times that the program measured have its waits for
 * a CPU, too. */
static void each_function_has_the_waits_that_it_knows(void)
{
	static const char *const waits[] = {"own_pipe_wait", "own_lock_wait"};
	long long waited_for_cpu = json_number(profile, "wait_cpu_ns");

	for (size_t i = 0; i < sizeof(waits) / sizeof(waits[0]); i++) {
		long long found = total_of(waits[i], "blocked_ns"), truth = truth_of(waits[i]);

		printf("%s: waited %lld us, %lld in the profile\n", waits[i], truth / 1000, found / 1000);
		CU_ASSERT(found <= truth);
		CU_ASSERT(found >= WAITED_NS * 19 / 20 - waited_for_cpu);
	}
}

/* The kernel counts until a process has ended, and takes off what a hypervisor took, to 1 ns, of
 * which only ticks of 10 ms are known here. */
static void the_time_of_processes_is_that_of_getrusage(void)
{
	char options[64];
	json_t *parent;
	long long usage = truth_of("usage"), found, stolen = session_stolen_ns(&session);

	snprintf(options, sizeof(options), "--profile --pid=%lld", truth_of("parent"));
	parent = session_load(&session, options);
	CU_ASSERT_PTR_NOT_NULL_FATAL(parent);
	found = json_number(profile, "on_cpu_ns") - json_number(parent, "on_cpu_ns");
	printf("CPU time %lld us by wait4(), %lld in the profile: %+.3f %%; %lld ms stolen\n", usage / 1000,
	       found / 1000, (double)(found - usage) * 100 / (double)usage, stolen / MS);
	CU_ASSERT(usage > 500 * MS);
	CU_ASSERT(found >= usage - usage / 200);
	CU_ASSERT(found <= usage + usage / 200 + stolen + 20 * MS);
	json_decref(parent);
}

static void the_recording_ends(void)
{
	json_decref(profile);
	session_end(&session);
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		CASE(the_program_is_recorded),
		CASE(each_function_has_the_share_that_it_knows),
		CASE(the_callers_are_those_of_the_source),
		CASE(each_function_has_the_waits_that_it_knows),
		CASE(the_time_of_processes_is_that_of_getrusage),
		CASE(the_recording_ends),
		{NULL, NULL},
	};

	if (geteuid() != 0 || access("/sys/kernel/btf/vmlinux", R_OK) != 0) {
		fprintf(stderr, "test_e2e_own_times: needs root and a kernel with BTF\n");
		return 77;
	}
	return unit_main("e2e_own_times", cases, argc, argv);
}
