/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_e2e_critical.c - record programs with a known critical path (critical_scenarios.c), and
 * compare the report with what they measured themselves. Root only; skipped (77) where the kernel
 * cannot be recorded.
 *
 * The machine has other work too, and a thread that waits for a CPU meanwhile is on the path as
 * well. So the test compares the time on CPUs and in sleeps, which other programs cannot stretch.
 * Where two threads may run at once, the wait for a CPU is the slack.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "e2e_session.h"
#include "spend.h"
#include "unit.h"

/* Every path reaches from one end of the window to the other, without hole or overlap. */
static void check_segments(const json_t *report)
{
	const json_t *window = json_object_get(report, "window"), *segments = json_object_get(report, "segments");
	long long at = json_number(window, "from_ns");
	json_t *segment;
	size_t i;

	CU_ASSERT_STRING_EQUAL(json_text(report, "schema"), "trace-critical-path/1");
	json_array_foreach(segments, i, segment) {
		CU_ASSERT_EQUAL(json_number(segment, "from_ns"), at);
		at = json_number(segment, "to_ns");
	}
	CU_ASSERT_EQUAL(at, json_number(window, "to_ns"));
}

static void record(struct session *s, const char *scenario)
{
	session_begin(s);
	for (int attempt = 0; attempt < 3; attempt++) {
		/* an overloaded machine loses events; the unknown parts that result are not tested
		 * here */
		CU_ASSERT_EQUAL_FATAL(session_run("rm -f %s %s; %s/tracedaemon %s -- %s %s %s 2>%s/stderr", s->trace,
						  s->truth, TRACE_BIN, s->trace, TRACE_SCENARIOS, scenario, s->truth,
						  s->folder),
				      0);
		if (session_run("%s/tracevisualizer -s %s 2>/dev/null | grep -q '^Lost'", TRACE_BIN, s->trace) != 0)
			break;
	}
	s->report = session_load(s, "--critical-path");
	CU_ASSERT_PTR_NOT_NULL_FATAL(s->report);
	CU_ASSERT_EQUAL(json_number(json_object_get(s->report, "thread"), "tid"), session_truth(s, "pid"));
	check_segments(s->report);
}

/* Time on the path, of @pid (0: all), in @state ("cpu": any on a CPU) and of @kind ("": any). */
static long long share(const json_t *report, const char *by, long long pid, const char *state, const char *kind)
{
	long long ns = 0;
	json_t *row;
	size_t i;

	json_array_foreach(json_object_get(report, "contributors"), i, row) {
		const char *its = json_text(row, "state");
		int on_cpu = strcmp(its, "blocked") != 0 && strcmp(its, "wait-cpu") != 0;

		if (strcmp(json_text(row, "by"), by) != 0 || (pid && json_number(row, "pid") != pid))
			continue;
		if ((strcmp(state, "cpu") == 0 ? on_cpu : strcmp(its, state) == 0) &&
		    (!*kind || strcmp(json_text(row, "kind"), kind) == 0))
			ns += json_number(row, "ns");
	}
	return ns;
}

/* Births and ends of processes are in the trace, and partly in the truth; on a virtual machine they
 * take milliseconds. */
#define BIRTH_AND_END (5 * MS)

/* @low - slack <= @got <= @high + slack, where the slack is 1 % plus @slack. */
static void check_between(const char *what, long long got, long long low, long long high)
{
	long long slack = high / 100 + BIRTH_AND_END;

	if (got < low - slack || got > high + slack)
		fprintf(stderr, "\n    %s: %lld, expected %lld to %lld\n", what, got, low, high);
	CU_ASSERT(got >= low - slack && got <= high + slack);
}

static void a_family_waits_for_the_grandchild(void)
{
	struct session s;
	long long grandchild, cpu, window, unknown;

	record(&s, "family");
	grandchild = session_truth(&s, "grandchild");
	cpu = session_truth(&s, "grandchild_cpu_ns");
	window = json_number(json_object_get(s.report, "window"), "ns");
	/* the kernel hides some threads, and the threads that run after them */
	unknown = share(s.report, "thread", 0, "blocked", "unknown");
	CU_ASSERT(unknown < window / 20);
	check_between("CPU of the grandchild", share(s.report, "thread", grandchild, "cpu", ""), cpu - unknown,
		      cpu + session_stolen_ns(&s));
	check_between("its sleep", share(s.report, "thread", grandchild, "blocked", "timeout"), 200 * MS - unknown,
		      session_truth(&s, "slept_ns"));
	CU_ASSERT_EQUAL(share(s.report, "thread", 0, "blocked", "process"), 0);
	CU_ASSERT(share(s.report, "link", grandchild, "blocked", "") >= cpu + 200 * MS - unknown - BIRTH_AND_END);
	CU_ASSERT(window >= session_truth(&s, "elapsed_ns"));
	CU_ASSERT_EQUAL(share(s.report, "command", 0, "cpu", "") + share(s.report, "command", 0, "wait-cpu", "") +
				share(s.report, "command", 0, "blocked", ""),
			window);
	session_end(&s);
}

static void a_pipeline_waits_for_its_slowest_stage(void)
{
	struct session s;
	long long b, b_cpu, beside;

	record(&s, "pipeline");
	b = session_truth(&s, "b");
	b_cpu = session_truth(&s, "b_cpu_ns");
	/* While c does its own work, or waits for a CPU, b may continue off the path. Before a has
	 * made its first item, b waits for it. */
	beside = share(s.report, "thread", session_truth(&s, "c"), "cpu", "") +
		 share(s.report, "thread", session_truth(&s, "c"), "wait-cpu", "") +
		 share(s.report, "thread", 0, "blocked", "unknown");
	check_between("CPU of b", share(s.report, "thread", b, "cpu", ""), b_cpu - beside,
		      b_cpu + session_stolen_ns(&s));
	CU_ASSERT(share(s.report, "thread", session_truth(&s, "a"), "cpu", "") < b_cpu / 10);
	CU_ASSERT(share(s.report, "link", b, "blocked", "") > b_cpu / 2);
	session_end(&s);
}

static void a_convoy_is_the_work_under_the_lock(void)
{
	struct session s;
	long long pid, cpu, queued;

	record(&s, "convoy");
	pid = session_truth(&s, "pid");
	cpu = session_truth(&s, "workers_cpu_ns");
	/* A worker that was woken but finds the lock taken again, or has no CPU yet, is on the path
	 * for a moment next to the holder. */
	queued = share(s.report, "thread", pid, "wait-cpu", "") + share(s.report, "thread", 0, "blocked", "unknown");
	check_between("CPU of all", share(s.report, "thread", pid, "cpu", ""), cpu - queued,
		      cpu + 5 * MS + session_stolen_ns(&s));
	/* A worker may take the lock again before another one wakes: then main waits for it to end,
	 * and no worker on the path waits for the lock. */
	CU_ASSERT(share(s.report, "lock", pid, "blocked", "") + share(s.report, "link", pid, "blocked", "") >= cpu / 2);
	session_end(&s);
}

static void a_process_and_a_window_can_be_chosen(void)
{
	struct session s;
	char options[160];
	json_t *chosen;
	long long start;
	double begin; /* of the scenario, in seconds of the trace */

	record(&s, "family");
	start = json_number(json_object_get(s.report, "window"), "from_ns");
	snprintf(options, sizeof(options), "--critical-path=%lld --to 100", session_truth(&s, "grandchild"));
	chosen = session_load(&s, options);
	CU_ASSERT_PTR_NOT_NULL_FATAL(chosen);
	check_segments(chosen);
	CU_ASSERT_EQUAL(json_number(json_object_get(chosen, "thread"), "tid"), session_truth(&s, "grandchild"));
	CU_ASSERT(json_number(json_object_get(chosen, "window"), "from_ns") > start);
	json_decref(chosen);
	chosen = session_load(&s, "");
	begin = (double)(start - json_number(json_object_get(chosen, "trace"), "start_ns")) / 1e9;
	json_decref(chosen);
	/* as the kernel truncates names: it still chooses, and reports have the whole name */
	snprintf(options, sizeof(options), "--from %.6f --to %.6f --critical-path=critical_scenar", begin + 0.05,
		 begin + 0.15);
	chosen = session_load(&s, options);
	CU_ASSERT_PTR_NOT_NULL_FATAL(chosen);
	check_segments(chosen);
	CU_ASSERT(json_number(json_object_get(chosen, "window"), "ns") <= 100 * MS);
	json_decref(chosen);
	CU_ASSERT_EQUAL(
		session_run("%s/tracevisualizer --critical-path=no.such.name %s 2>/dev/null", TRACE_BIN, s.trace), 1);
	CU_ASSERT_EQUAL(
		session_run("%s/tracevisualizer --critical-path %s | grep -q '^critical_scenarios waited .* for [^ ]'",
			    TRACE_BIN, s.trace),
		0);
	CU_ASSERT_EQUAL(session_run("%s/tracevisualizer --critical-path --all %s | grep -q 'timeout in clock_nanosleep "
				    " <- waitpid'",
				    TRACE_BIN, s.trace),
			0);
	session_end(&s);
}

static const struct unit_case cases[] = {
	{"a_family_waits_for_the_grandchild", a_family_waits_for_the_grandchild},
	{"a_pipeline_waits_for_its_slowest_stage", a_pipeline_waits_for_its_slowest_stage},
	{"a_convoy_is_the_work_under_the_lock", a_convoy_is_the_work_under_the_lock},
	{"a_process_and_a_window_can_be_chosen", a_process_and_a_window_can_be_chosen},
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	if (geteuid() != 0 || access("/sys/kernel/btf/vmlinux", R_OK) != 0) {
		fprintf(stderr, "test_e2e_critical: needs root and a kernel with BTF\n");
		return 77;
	}
	return unit_main("critical path, end to end", cases, argc, argv);
}
