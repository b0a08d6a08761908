/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_e2e_kernel_work.c - the kernel's work outside of calls, of processes that measure themselves
 * (workload_kernel_work.c): it is neither own code nor a page fault, and has its own row.
 *
 * Root only; skipped (77) where the kernel cannot be recorded.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "e2e_session.h"
#include "unit.h"

#define MS	 1000000ll
#define SLACK_NS (8 * MS) /* beside own code: starts of programs, and what the host takes */
#define TICK_NS	 (10 * MS)

static struct session session;
static bool verified;

/* Once, for all test cases. */
static void record(void)
{
	if (session.report)
		return;
	session_begin(&session);
	CU_ASSERT_EQUAL_FATAL(session_run("%s/tracedaemon %s -- %s %s %s 2>/dev/null", TRACE_BIN, session.trace,
					  TRACE_WORKLOAD_KERNEL_WORK, session.truth, session.folder),
			      0);
	verified = session_run("%s/tracevisualizer --verify %s >/dev/null", TRACE_BIN, session.trace) == 0;
	session.report = session_load(&session, "");
	CU_ASSERT_PTR_NOT_NULL_FATAL(session.report);
}

static long long truth(const char *scenario, const char *key)
{
	char name[64];

	snprintf(name, sizeof(name), "%s.%s", scenario, key);
	return session_truth(&session, name);
}

static json_t *process(const char *scenario)
{
	json_t *found;

	record();
	found = json_process(session.report, truth(scenario, "pid"));
	CU_ASSERT_PTR_NOT_NULL_FATAL(found);
	return found;
}

static long long work_ns(const json_t *object, const char *name, const char *key)
{
	json_t *row = json_row(object, "kernel_work", "name", name);

	return row ? json_number(row, key) : 0;
}

/* The numbers, if a check failed. */
static void check(bool held, const char *scenario, const char *what, long long ours, long long expected)
{
	if (!held || getenv("TRACE_VERBOSE"))
		fprintf(stderr, "\n    %s: %s %lld ns, expected %lld", scenario, what, ours, expected);
	CU_ASSERT(held);
}

static void check_most(const char *scenario, const char *what, long long ours, long long most)
{
	check(ours <= most + most / 50 + SLACK_NS, scenario, what, ours, most);
}

/*
 * The process's own clock of CPU time includes interrupts, and may include a part of the time
 * that the host takes.
 */
static void check_between(const char *scenario, const char *what, long long ours, long long least, long long most)
{
	long long slack = most / 20 + SLACK_NS;

	check(ours >= least - slack && ours <= most + slack, scenario, what, ours, most);
}

/* The part of the process's own clock that is not its own time. */
static long long taken_ns(const json_t *one)
{
	return json_number(one, "interrupted_ns") + json_number(one, "stolen_ns");
}

static void every_trace_verifies(void)
{
	record();
	CU_ASSERT(verified);
}

static void the_end_of_a_process_is_not_own_code(void)
{
	check_most("threads_end", "user", json_number(process("threads_end"), "user_ns"),
		   truth("threads_end", "spun_ns"));
	check_most("is_killed", "user", json_number(process("is_killed"), "user_ns"), truth("is_killed", "spun_ns"));
	CU_ASSERT(work_ns(process("is_killed"), "exit", "cpu_ns") > MS);
}

static void a_core_dump_is_a_row(void)
{
	json_t *dumper = process("dumps_core"), *wait;
	long long ns = truth("dumps_core", "gone_ns") - truth("dumps_core", "begun_ns"), ours;

	if (!WCOREDUMP(truth("dumps_core", "status")))
		return; /* this machine keeps no core dumps */
	ours = work_ns(dumper, "core dump", "elapsed_ns");
	check_most("dumps_core", "core dump", ours, ns);
	check(ours > MS, "dumps_core", "core dump", ours, ns); /* a copy of 64 MiB takes longer */
	/* The rest is its exit, which waits for the disk, and the time until its parent runs. */
	check(ours + work_ns(dumper, "exit", "elapsed_ns") > ns / 4, "dumps_core", "core dump and exit", ours, ns);
	check_most("dumps_core", "user", json_number(dumper, "user_ns"), truth("dumps_core", "filled_ns"));
	wait = json_row(dumper, "waits", "via", "coredump");
	CU_ASSERT_PTR_NOT_NULL(wait);
	if (wait)
		CU_ASSERT_EQUAL(json_number(wait, "pid"), truth("dumps_core", "pid"));
}

static void a_fault_ends_in_its_handler(void)
{
	json_t *one = process("handles_faults");

	check_most("handles_faults", "trap", json_number(one, "trap_ns"), 0);
	check_between("handles_faults", "user", json_number(one, "user_ns"),
		      truth("handles_faults", "computed_ns") - taken_ns(one), truth("handles_faults", "cpu_ns"));
}

static void the_code_before_an_exception_is_own_code(void)
{
	json_t *one = process("handles_exceptions");
	long long cpu = truth("handles_exceptions", "cpu_ns");

	check_between("handles_exceptions", "user", json_number(one, "user_ns"), cpu * 3 / 4 - taken_ns(one), cpu);
}

static void a_step_of_a_debugger_is_a_signal_and_a_stop(void)
{
	static const char *const rows[] = {"signal", "stop"};
	json_t *one = process("is_stepped");

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		long long calls = work_ns(one, rows[i], "calls");

		if (calls < truth("is_stepped", "steps"))
			fprintf(stderr, "\n    is_stepped: %s %lld times", rows[i], calls);
		CU_ASSERT(calls >= truth("is_stepped", "steps"));
	}
}

static void late_releases_are_task_work(void)
{
	static const char *const scenarios[] = {"munmaps", "dups", "closes_range", "umounts"};

	for (size_t i = 0; i < sizeof(scenarios) / sizeof(scenarios[0]); i++) {
		json_t *one = process(scenarios[i]);

		if (truth(scenarios[i], "cpu_ns") < 0)
			continue; /* refused: no mount namespaces */
		check(json_number(one, "user_ns") < truth(scenarios[i], "cpu_ns") * 3 / 4, scenarios[i], "user",
		      json_number(one, "user_ns"), 0);
		check_between(scenarios[i], "task work", work_ns(one, "task work", "cpu_ns"),
			      truth(scenarios[i], "cpu_ns") - taken_ns(one),
			      truth(scenarios[i], "cpu_ns") + session_stolen_ns(&session));
	}
}

/* At most a tick of the time behind the call is unknown. */
static void without_a_recorded_end_no_more_than_a_tick_is_unknown(void)
{
	json_t *one = process("has_no_rseq");
	long long known = json_number(one, "user_ns") + work_ns(one, "task work", "cpu_ns"),
		  cpu = truth("has_no_rseq", "cpu_ns");

	check_most("has_no_rseq", "user and task work", known, cpu);
	check(known >= cpu - TICK_NS - SLACK_NS, "has_no_rseq", "user and task work", known, cpu);
	check(work_ns(one, "task work", "cpu_ns") > MS, "has_no_rseq", "task work", work_ns(one, "task work", "cpu_ns"),
	      MS);
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		CASE(every_trace_verifies),
		CASE(the_end_of_a_process_is_not_own_code),
		CASE(a_core_dump_is_a_row),
		CASE(a_fault_ends_in_its_handler),
		CASE(the_code_before_an_exception_is_own_code),
		CASE(a_step_of_a_debugger_is_a_signal_and_a_stop),
		CASE(late_releases_are_task_work),
		CASE(without_a_recorded_end_no_more_than_a_tick_is_unknown),
		{NULL, NULL},
	};
	int result;

	if (geteuid() != 0 || access("/sys/kernel/btf/vmlinux", R_OK) != 0) {
		fprintf(stderr, "test_e2e_kernel_work: needs root and a kernel with BTF\n");
		return 77;
	}
	result = unit_main("kernel work", cases, argc, argv);
	if (*session.folder)
		session_end(&session);
	return result;
}
