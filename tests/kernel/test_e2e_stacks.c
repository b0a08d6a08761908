/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_e2e_stacks.c - the stacks of programs without frame pointers, compared with the chains of
 * calls that workload_stacks.cpp makes
 *
 * A table may be late on a busy machine, so a stack may end early. But no whole stack may be wrong.
 * Each program runs for a moment first, and then the tables have time to become ready.
 *
 * Root only; skipped (77) where the kernel cannot be recorded.
 */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "e2e_session.h"
#include "unit.h"

#define INCOMPLETE "(stack incomplete)"

/* dive() 30 times */
#define FIVE(name) name ";" name ";" name ";" name ";" name ";"
#define DIVES	   FIVE("dive") FIVE("dive") FIVE("dive") FIVE("dive") FIVE("dive") FIVE("dive")

/**
 * struct chain - whole stacks with @leaf contain @callers
 * @direct: and this, behind functions of a library; NULL: it is all in @callers
 * @function, @times: and this one so often
 */
struct chain {
	const char *leaf;
	const char *callers;
	const char *direct;
	const char *function;
	int times;
};

static const struct chain chains[] = {
	{"leaf_flat", ";main;busy_flat;leaf_flat", NULL, NULL, 0},
	{"leaf_deep", ";main;busy_deep;" DIVES "leaf_deep", NULL, NULL, 0},
	{"leaf_deeper", ";main;busy_deeper;dive_on;", ";dive_on;leaf_deeper", ";dive_on", 1000},
	{"leaf_compared", ";main;busy_sorting;", ";compare;leaf_compared", NULL, 0},
	{"leaf_signal", ";main;busy_signals;", ";on_signal;leaf_signal", NULL, 0},
	{"leaf_caught", ";main;busy_exceptions;leaf_caught", NULL, NULL, 0},
	{"leaf_alternate", ";main;busy_alternate;", ";on_alternate;leaf_alternate", NULL, 0},
	{"leaf_context", ";in_context;leaf_context", NULL, NULL, 0},
	{"leaf_bound", ";main;busy_binding;bind_once;call_bound;", ";choose_bound;leaf_bound", NULL, 0},
	{"leaf_thread", ";in_thread;busy_thread;leaf_thread", NULL, NULL, 0},
	{"leaf_child", ";main;in_child;busy_child;leaf_child", NULL, NULL, 0},
	{"leaf_short", ";main;busy_short;leaf_short", NULL, NULL, 0},
};

/** struct found - the time in stacks with a leaf */
struct found {
	long long whole, incomplete, wrong;
};

/* ";leaf" or ";leaf;...": the kernel may be below the leaf. */
static bool has_function(const char *stack, const char *function)
{
	size_t chars = strlen(function);

	for (const char *at = stack; (at = strstr(at, function)); at++)
		if (at > stack && at[-1] == ';' && (!at[chars] || at[chars] == ';'))
			return true;
	return false;
}

static bool is_chain(const char *stack, const struct chain *chain)
{
	int times = 0;

	for (const char *at = stack; chain->function && (at = strstr(at, chain->function)); at++)
		times++;
	return strstr(stack, chain->callers) && (!chain->direct || strstr(stack, chain->direct)) &&
	       times == chain->times;
}

/* The time in stacks with the leaf of @chain. */
static struct found find_chain(const json_t *profile, const struct chain *chain)
{
	struct found found = {0};
	json_t *row;
	size_t i;

	json_array_foreach(json_object_get(profile, "folded"), i, row) {
		const char *stack = json_text(row, "stack");
		long long ns = json_number(row, "ns");

		if (!has_function(stack, chain->leaf))
			continue;
		if (strstr(stack, INCOMPLETE)) {
			found.incomplete += ns;
		} else if (is_chain(stack, chain)) {
			found.whole += ns;
		} else {
			found.wrong += ns;
			fprintf(stderr, "%s: %s\n", chain->leaf, stack);
		}
	}
	return found;
}

/* Another program in the same inode, with the size and the time of the first one. */
#define WRITTEN_AGAIN                                                                                  \
	"cd $(mktemp -d) && cp " TRACE_PARTS " x && truncate -s $(stat -c %%s " TRACE_STACKS ") x && " \
	"touch -d 2020-01-01 x && ./x && cat " TRACE_STACKS " >x && touch -d 2020-01-01 x && "         \
	"for i in $(seq 100); do ./x short; done; rm -r $PWD"

#define INSTALLED                                                                                            \
	"sleep 3 | python3 -c \"import sys; sys.stdin.read()\" & sleep 3 | gzip & wait; for i in 1 2 3; do " \
	"python3 -c \"sum(len(str(i)) for i in range(400000))\"; "                                           \
	"head -c 4000000 %s/tracevisualizer | gzip -9 >/dev/null; done"

static struct session all;

/* One recording of the programs of several cases, one after the other. */
static const struct session *recorded(void)
{
	static const char command[] = "%s/tracedaemon --sample=500us %s -- sh -c '(" TRACE_STACKS " warm; " TRACE_STACKS
				      ") && " TRACE_PARTS " && (" WRITTEN_AGAIN ") && (" INSTALLED
				      ")' >%s/stdout 2>%s/stderr";

	if (all.trace[0])
		return &all;
	session_begin(&all);
	CU_ASSERT_EQUAL_FATAL(session_run(command, TRACE_BIN, all.trace, TRACE_BIN, all.folder, all.folder), 0);
	CU_ASSERT_EQUAL(session_run("%s/tracevisualizer --profile --verify %s >%s/stdout", TRACE_BIN, all.trace,
				    all.folder),
			0);
	return &all;
}

static void stacks_without_frame_pointers_are_the_chains_of_calls(void)
{
	json_t *profile = session_load(recorded(), "--folded=on --comm=workload_stacks");
	json_t *of_short = session_load(recorded(), "--folded=on --comm=exe"); /* it executes /proc/self/exe */

	CU_ASSERT_FATAL(profile && of_short);
	for (size_t i = 0; i < sizeof(chains) / sizeof(chains[0]); i++) {
		const bool is_short = strcmp(chains[i].leaf, "leaf_short") == 0;
		struct found found = find_chain(is_short ? of_short : profile, &chains[i]);

		printf("%s: %lld us whole, %lld us incomplete\n", chains[i].leaf, found.whole / 1000,
		       found.incomplete / 1000);
		CU_ASSERT_EQUAL(found.wrong, 0);
		CU_ASSERT(found.whole > 0);
		CU_ASSERT(found.whole >= 4 * found.incomplete);
	}
	json_decref(of_short);
	json_decref(profile);
}

static void code_in_three_parts_of_a_program_is_known(void)
{
	static const struct chain chain = {"leaf_parts", ";main;high;low;leaf_parts", NULL, NULL, 0};
	const struct session *s = recorded();
	struct found found;
	json_t *profile = session_load(s, "--folded=on --comm=workload_parts");

	CU_ASSERT_PTR_NOT_NULL_FATAL(profile);
	found = find_chain(profile, &chain);
	printf("%lld us whole, %lld us incomplete\n", found.whole / 1000, found.incomplete / 1000);
	if (!found.whole) /* seen twice, and not understood yet */
		session_run("%s/tracevisualizer --folded=on --comm=workload_parts %s | head -20 >&2", TRACE_BIN,
			    s->trace);
	CU_ASSERT_EQUAL(found.wrong, 0);
	CU_ASSERT(found.whole > 0 && found.whole >= 4 * found.incomplete); /* the table may be late */
	json_decref(profile);
}

/* Its table is not that of the first program. */
static void a_file_that_was_written_again_has_its_own_table(void)
{
	json_t *profile = session_load(recorded(), "--profile --comm=x");
	long long samples, whole;

	CU_ASSERT_PTR_NOT_NULL_FATAL(profile);
	samples = json_number(profile, "samples");
	whole = json_number(json_object_get(profile, "stacks"), "whole");
	printf("%lld of %lld samples whole\n", whole, samples);
	CU_ASSERT(samples > 200 && whole >= samples - samples / 5); /* a table may be late */
	json_decref(profile);
}

/* The probe has another return address on the stack. */
static void a_function_with_a_probed_return_has_its_callers(void)
{
	static const struct chain chain = {"leaf_flat", ";main;busy_flat;leaf_flat", NULL, NULL, 0};
	struct session s;
	struct found found;
	json_t *profile;

	session_begin(&s);
	CU_ASSERT_EQUAL_FATAL(session_run("%s/tracedaemon --sample=500us --probe '" TRACE_STACKS
					  ":busy_flat%%return' %s -- " TRACE_STACKS " >%s/stdout 2>%s/stderr",
					  TRACE_BIN, s.trace, s.folder, s.folder),
			      0);
	profile = session_load(&s, "--folded=on --comm=workload_stacks");
	CU_ASSERT_PTR_NOT_NULL_FATAL(profile);
	found = find_chain(profile, &chain);
	printf("%lld us whole, %lld us incomplete\n", found.whole / 1000, found.incomplete / 1000);
	CU_ASSERT_EQUAL(found.wrong, 0);
	CU_ASSERT(found.whole > 0 && found.whole >= 4 * found.incomplete);
	json_decref(profile);
	session_end(&s);
}

/* Those without names of functions, too: the walk itself knows the begin of a thread. */
static void stacks_of_installed_programs_are_whole(void)
{
	static const char *const programs[] = {"gzip", "python3"};

	for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
		char options[64];
		json_t *profile, *stacks;
		long long samples, whole, explained;

		snprintf(options, sizeof(options), "--profile --comm=%s", programs[i]);
		profile = session_load(recorded(), options);
		CU_ASSERT_PTR_NOT_NULL_FATAL(profile);
		stacks = json_object_get(profile, "stacks");
		samples = json_number(profile, "samples");
		whole = json_number(stacks, "whole");
		explained = whole + json_number(stacks, "cut") + json_number(stacks, "not_ready");
		printf("%s: %lld of %lld samples whole, %lld before the table was ready\n", programs[i], whole, samples,
		       json_number(stacks, "not_ready"));
		CU_ASSERT(samples > 100);
		CU_ASSERT(whole >= samples - samples / 5);
		CU_ASSERT(explained >= samples - samples / 20);
		json_decref(profile);
	}
}

/* With an empty cache, and then with the tables that the first recording kept. */
static void the_tables_of_a_command_are_ready_when_it_begins(void)
{
	static const char *const commands[] = {"gzip -9 -c %s/tracevisualizer",
					       "sh -c 'exec gzip -9 -c %s/tracevisualizer'"};
	struct session s;

	session_begin(&s);
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		char command[512];
		json_t *profile;
		long long late;

		snprintf(command, sizeof(command), commands[i], TRACE_BIN);
		CU_ASSERT_EQUAL_FATAL(session_run("XDG_CACHE_HOME=%s %s/tracedaemon --sample=250us %s -- %s >/dev/null "
						  "2>%s/stderr",
						  s.folder, TRACE_BIN, s.trace, command, s.folder),
				      0);
		profile = session_load(&s, "--profile --comm=gzip");
		CU_ASSERT_PTR_NOT_NULL_FATAL(profile);
		late = json_number(json_object_get(profile, "stacks"), "not_ready");
		printf("%lld of %lld samples before the table was ready\n", late, json_number(profile, "samples"));
		CU_ASSERT(json_number(profile, "samples") > 100);
		/* Another program wants the CPU, too. Without tables hundreds are late. */
		CU_ASSERT(late <= json_number(profile, "samples") / (i ? 10 : 100));
		json_decref(profile);
	}
	session_end(&s);
}

/* Without any table on disk: a shell starts programs of some ms that its arguments, or a script,
 * name. A table that is made when its program begins is late by several samples of it. */
static void the_tables_of_programs_that_a_shell_starts_are_ready(void)
{
	static const char *const commands[] = {"sh -c 'head -c 300000 %s/tracevisualizer | sort | md5sum'",
					       "sh %s/script"};
	static const char *const programs[] = {"head", "sort", "md5sum"};
	struct session s;

	session_begin(&s);
	CU_ASSERT_EQUAL_FATAL(session_run("echo 'head -c 300000 %s/tracevisualizer | sort | md5sum' >%s/script",
					  TRACE_BIN, s.folder),
			      0);
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		char command[512];
		long long late = 0, samples = 0;

		snprintf(command, sizeof(command), commands[i], i ? s.folder : TRACE_BIN);
		CU_ASSERT_EQUAL_FATAL(session_run("XDG_CACHE_HOME=%s/%zu %s/tracedaemon --sample=100us --follow %s -- "
						  "%s >/dev/null 2>%s/stderr",
						  s.folder, i, TRACE_BIN, s.trace, command, s.folder),
				      0);
		for (size_t n = 0; n < sizeof(programs) / sizeof(programs[0]); n++) {
			char options[64];
			json_t *profile;

			snprintf(options, sizeof(options), "--profile --comm=%s", programs[n]);
			profile = session_load(&s, options);
			CU_ASSERT_PTR_NOT_NULL_FATAL(profile);
			late += json_number(json_object_get(profile, "stacks"), "not_ready");
			samples += json_number(profile, "samples");
			json_decref(profile);
		}
		printf("%lld of %lld samples before the table was ready\n", late, samples);
		CU_ASSERT(samples > 20);
		CU_ASSERT(late <= 3); /* another program wants the CPU, too */
	}
	session_end(&s);
}

#define REFUSED "sample: the callers in programs without frame pointers (the kernel refuses"

static int nr_refused(const json_t *summary)
{
	const json_t *notes = json_object_get(json_object_get(summary, "trace"), "not_traced");
	int nr = 0;

	for (size_t i = 0; i < json_array_size(notes); i++)
		nr += strstr(json_string_value(json_array_get(notes, i)), REFUSED) != NULL;
	return nr;
}

/* The leaves without a frame of their own hide their callers, and all other things are there. */
static void without_the_walker_frame_pointers_are_followed_and_the_report_says_so(void)
{
	struct session s;
	json_t *profile, *stacks, *summary;

	session_begin(&s);
	CU_ASSERT_EQUAL_FATAL(session_run("LD_PRELOAD=%s %s/tracedaemon --sample=500us %s -- " TRACE_STACKS
					  " >%s/stdout 2>%s/stderr",
					  TRACE_REFUSE_WALK, TRACE_BIN, s.trace, s.folder, s.folder),
			      0);
	CU_ASSERT_EQUAL(
		session_run("%s/tracevisualizer --profile --verify %s >%s/stdout", TRACE_BIN, s.trace, s.folder), 0);
	profile = session_load(&s, "--profile --comm=workload_stacks");
	CU_ASSERT_PTR_NOT_NULL_FATAL(profile);
	stacks = json_object_get(profile, "stacks");
	summary = session_load(&s, "-a");
	CU_ASSERT_EQUAL(nr_refused(summary), 1);
	CU_ASSERT_EQUAL(session_run("grep -cF '" REFUSED "' %s/stderr >/dev/null", s.folder), 0);
	json_decref(summary);
	CU_ASSERT(json_number(json_row(profile, "rows", "name", "leaf_flat"), "samples") > 100);
	CU_ASSERT(json_number(stacks, "by_pointers") > 100);
	CU_ASSERT(json_number(stacks, "waits") > 0);
	CU_ASSERT_EQUAL(json_number(stacks, "not_ready"), 0);
	json_decref(profile);
	session_end(&s);
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		CASE(stacks_without_frame_pointers_are_the_chains_of_calls),
		CASE(code_in_three_parts_of_a_program_is_known),
		CASE(a_file_that_was_written_again_has_its_own_table),
		CASE(a_function_with_a_probed_return_has_its_callers),
		CASE(stacks_of_installed_programs_are_whole),
		CASE(the_tables_of_a_command_are_ready_when_it_begins),
		CASE(the_tables_of_programs_that_a_shell_starts_are_ready),
		CASE(without_the_walker_frame_pointers_are_followed_and_the_report_says_so),
		{NULL, NULL},
	};
	int result;

	if (geteuid() != 0 || access("/sys/kernel/btf/vmlinux", R_OK) != 0) {
		fprintf(stderr, "test_e2e_stacks: needs root and a kernel with BTF\n");
		return 77;
	}
	result = unit_main("e2e_stacks", cases, argc, argv);
	if (all.trace[0])
		session_end(&all);
	return result;
}
