/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test_overview_waits.c - the words for waits: each cause, and several */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "builder.h"
#include "overview_waits.h"
#include "unit.h"

#define ELAPSED_NS 1000000u
#define OWN_PID	   10

/* struct case_of - waits of a process that existed for ELAPSED_NS, or of several, and the words */
struct case_of {
	struct trace_wait waits[4];
	uint64_t blocked_ns;
	uint32_t own_pid;
	bool is_family;
	const char *words;
};

static struct report make_report(struct trace **ret_trace)
{
	struct tb *tb = tb_new();
	struct trace_error error = {0};
	struct report report = {0};

	tb_window(tb, 1000, 2000);
	tb_thread(tb, 10, 10, 1, "one", 0, true);
	tb_thread(tb, 11, 10, 1, "cache", 0, false);
	tb_thread(tb, 12, 10, 1, "pool", 0, false);
	tb_thread(tb, 13, 10, 1, "pool", 0, false);
	*ret_trace = tb_open_trace(tb);
	tb_free(tb);
	report.analysis = trace_analysis_new(*ret_trace, NULL, &error);
	CU_ASSERT_PTR_NOT_NULL_FATAL(report.analysis);
	CU_ASSERT_EQUAL_FATAL(trace_analysis_run(report.analysis, &error), 0);
	return report;
}

static void check(const struct case_of *cases, size_t nr)
{
	struct trace *trace;
	struct report report = make_report(&trace);

	for (size_t i = 0; i < nr; i++) {
		struct process_sum sum = {.blocked_ns = cases[i].blocked_ns,
					  .waits = (struct trace_wait *)cases[i].waits};
		struct string s = {0};

		while (sum.nr_waits < 4 && sum.waits[sum.nr_waits].ns)
			sum.nr_waits++;
		overview_waits(&s, &report, &sum,
			       &(struct overview_scale){.reference_ns = ELAPSED_NS,
							.own_pid = cases[i].own_pid,
							.is_family = cases[i].is_family});
		for (char *at = string_text(&s); (at = strchr(at, *UNBROKEN_BLANK));)
			*at = ' ';
		if (strcmp(string_text(&s), cases[i].words) != 0)
			printf("case %zu: \"%s\", not \"%s\"\n", i, string_text(&s), cases[i].words);
		CU_ASSERT_STRING_EQUAL(string_text(&s), cases[i].words);
		string_free(&s);
	}
	trace_analysis_free(report.analysis);
	trace_close(trace);
}

#define WAIT(kind_, pid_, target_, via_, ns_)                                                                   \
	{                                                                                                       \
		.kind = TRACE_WAIT_##kind_, .pid = pid_, .target = target_, .comm = "", .via = via_, .ns = ns_, \
		.count = 1                                                                                      \
	}

static void one_wait_is_named_behind_its_time(void)
{
	static const struct {
		struct trace_wait wait;
		const char *words;
	} waits[] = {
		{WAIT(FILE, 0, "/x", "", 340000), " for the file /x"},
		{WAIT(PROCESS, 12, "sh -c", "", 340000), " for process 12 sh -c"},
		{WAIT(PROCESS, 12, "", "pipe", 340000), " for process 12 via pipe"},
		{WAIT(PROCESS, 10, "one", "futex", 340000), " for another of its threads via futex"},
		{WAIT(PROCESS, 0, "several", "pipe", 340000), " for several processes via pipe"},
		{WAIT(PROCESS, 0, "unknown", "", 340000), " for an unknown process"},
		{WAIT(PROCESS, 0, "postgres", "tcp", 340000), " for processes named postgres via tcp"},
		{WAIT(NETWORK, 0, "10.0.0.1:80", "tcp", 340000), " for the network, 10.0.0.1:80 via tcp"},
		{WAIT(TIMEOUT, 0, "", "", 340000), " for a timer"},
		{WAIT(DEVICE, 0, "tty", "", 340000), " for the device tty"},
		{WAIT(MEMORY, 0, "", "", 340000), " for memory"},
		{WAIT(STOPPED, 0, "", "", 340000), " for being continued after a stop"},
		{WAIT(STOPPED, 7, "gdb", "", 340000), " for being continued after a stop by process 7 gdb"},
		{WAIT(OTHER, 0, "futex", "futex", 340000), " for the system call futex"},
		{WAIT(UNKNOWN, 0, "", "", 340000), " for something unknown"},
		{WAIT(UNKNOWN, 0, "hidden", "", 340000), " for something unknown, hidden"},
		{WAIT(KERNEL, 0, "next job", "", 340000), " for the kernel: next job"},
		{WAIT(QUOTA, 0, "", "", 340000), " for the CPU quota of its control group"},
		{WAIT(QUOTA, 0, "/shop", "", 340000), " for the CPU quota of its control group /shop"},
	};
	_Static_assert(TRACE_NR_WAIT_KINDS == 11, "each kind has its case");

	for (size_t i = 0; i < sizeof(waits) / sizeof(waits[0]); i++) {
		struct case_of one = {{waits[i].wait}, waits[i].wait.ns, OWN_PID, false, waits[i].words};

		check(&one, 1);
	}
}

/* struct own_case - waits for threads of the process itself: 0: a thread that is not known */
struct own_case {
	struct {
		uint32_t tid, ns;
		bool idle;
	} waits[4];
	const char *words;
};

#define OWN(tid_, ns_)                 \
	{                              \
		.tid = tid_, .ns = ns_ \
	}
#define IDLE(tid_, ns_)                              \
	{                                            \
		.tid = tid_, .ns = ns_, .idle = true \
	}

static void check_own(const struct report *report, const struct own_case *one)
{
	struct trace_wait wait = WAIT(PROCESS, OWN_PID, "one", "futex", 0);
	struct own_wait own[4];
	struct process_sum sum = {.waits = &wait, .nr_waits = 1, .own = own};
	struct string s = {0};

	for (; sum.nr_own < 4 && one->waits[sum.nr_own].ns; sum.nr_own++) {
		uint32_t tid = one->waits[sum.nr_own].tid;

		own[sum.nr_own] = (struct own_wait){.thread = tid ? trace_find_thread(report->analysis, tid) : NULL,
						    .ns = one->waits[sum.nr_own].ns,
						    .idle = one->waits[sum.nr_own].idle};
		wait.ns += one->waits[sum.nr_own].idle ? 0 : own[sum.nr_own].ns;
	}
	sum.blocked_ns = wait.ns;
	overview_waits(&s, report, &sum, &(struct overview_scale){.reference_ns = ELAPSED_NS, .own_pid = OWN_PID});
	CU_ASSERT_STRING_EQUAL(string_text(&s), one->words);
	string_free(&s);
}

static void waits_for_own_threads_tell_how_many_and_which(void)
{
	static const struct own_case cases[] = {
		{{OWN(11, 30000)}, " for its thread cache (11) via futex"},
		{{OWN(11, 30000), IDLE(12, 20000)}, " for its thread cache (11) via futex"},
		{{OWN(11, 30000), OWN(12, 20000)}, " for its threads cache (11) and pool (12) via futex"},
		{{OWN(12, 30000), OWN(13, 20000)}, " for 2 of its threads pool via futex"},
		{{OWN(12, 30000), OWN(0, 25000), OWN(13, 20000)}, " for 2 or more of its threads pool via futex"},
		{{OWN(12, 30000), OWN(11, 20000), OWN(13, 20000)},
		 " for 3 of its threads, the longest for pool (12) via futex"},
		{{OWN(12, 50000), OWN(11, 20000), OWN(13, 20000)}, " for 3 of its threads, mostly pool (12) via futex"},
		{{OWN(11, 30000), OWN(0, 20000)}, " for 1 or more of its threads, mostly cache (11) via futex"},
		{{OWN(0, 30000), OWN(11, 20000)},
		 " for 1 or more of its threads, the longest for cache (11) via futex"},
		{{OWN(0, 30000)}, " for another of its threads via futex"},
	};
	struct trace *trace;
	struct report report = make_report(&trace);

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		check_own(&report, &cases[i]);
	trace_analysis_free(report.analysis);
	trace_close(trace);
}

/* 333333 and 6000 ns of 1 ms are both "34 %": a share of its own would say the same twice. */
static void a_wait_that_reads_like_all_is_the_only_one(void)
{
	static const struct case_of cases[] = {
		{{WAIT(PROCESS, 12, "sh -c", "", 336000), WAIT(TIMEOUT, 0, "", "", 5000)},
		 341000,
		 10,
		 false,
		 " for process 12 sh -c"},
		{{WAIT(PROCESS, 12, "sh -c", "", 330000), WAIT(TIMEOUT, 0, "", "", 11000)},
		 341000,
		 10,
		 false,
		 ": 33 % for process 12 sh -c, 1.1 % for a timer"},
		{{WAIT(TIMEOUT, 0, "", "", 500)}, 500, 10, false, " for a timer"},
	};

	check(cases, sizeof(cases) / sizeof(cases[0]));
}

static void several_waits_add_up_with_others(void)
{
	static const struct case_of cases[] = {
		{{WAIT(PROCESS, 12, "sh", "", 290000), WAIT(TIMEOUT, 0, "", "", 280000),
		  WAIT(MEMORY, 0, "", "", 200000), WAIT(FILE, 0, "/x", "", 110000)},
		 880000,
		 10,
		 false,
		 ": 29 % for process 12 sh, 28 % for a timer, 31 % for others"},
		{{WAIT(PROCESS, 12, "sh", "", 290000), WAIT(TIMEOUT, 0, "", "", 280000), WAIT(MEMORY, 0, "", "", 9000)},
		 579000,
		 10,
		 false,
		 ": 29 % for process 12 sh, 28 % for a timer"},
		{{WAIT(PROCESS, 12, "sh", "", 20000), WAIT(TIMEOUT, 0, "", "", 9000), WAIT(MEMORY, 0, "", "", 9000)},
		 38000,
		 10,
		 false,
		 ": 2.0 % for process 12 sh, 1.8 % for others"},
		{{WAIT(TIMEOUT, 0, "", "", 5000), WAIT(MEMORY, 0, "", "", 4000)}, 9000, 10, false, " in short waits"},
	};

	check(cases, sizeof(cases) / sizeof(cases[0]));
}

/* Idle waits come last, and may be longer. */
static void an_idle_wait_is_told_as_idle(void)
{
	static const struct case_of cases[] = {
		{{WAIT(FILE, 0, "/x", "", 20000),
		  {.kind = TRACE_WAIT_PROCESS,
		   .pid = 12,
		   .target = "sh",
		   .comm = "",
		   .via = "tcp",
		   .idle = true,
		   .ns = 500000,
		   .count = 1}},
		 520000,
		 10,
		 false,
		 ": 2.0 % for the file /x, 50 % for process 12 sh via tcp (idle between requests)"},
	};

	check(cases, 1);
}

static void waits_of_a_family_have_times(void)
{
	static const struct case_of cases[] = {
		{{WAIT(FILE, 0, "/x", "", 340000)}, 340000, 0, true, " for the file /x"},
		{{WAIT(FILE, 0, "/x", "", 300000), WAIT(TIMEOUT, 0, "", "", 20000), WAIT(MEMORY, 0, "", "", 20000)},
		 340000,
		 0,
		 true,
		 " not for one another: 300.00 us for the file /x, 20.00 us for a timer, 20.00 us for others"},
		{{WAIT(TIMEOUT, 0, "", "", 5000), WAIT(MEMORY, 0, "", "", 4000)},
		 9000,
		 0,
		 true,
		 " not for one another, in short waits"},
	};

	check(cases, sizeof(cases) / sizeof(cases[0]));
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		CASE(one_wait_is_named_behind_its_time),
		CASE(a_wait_that_reads_like_all_is_the_only_one),
		CASE(several_waits_add_up_with_others),
		CASE(an_idle_wait_is_told_as_idle),
		CASE(waits_of_a_family_have_times),
		CASE(waits_for_own_threads_tell_how_many_and_which),
		{NULL, NULL},
	};

	return unit_main("overview_waits", cases, argc, argv);
}
