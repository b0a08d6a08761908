/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Probes on the real kernel, compared with what the probed program counted itself. */
#include "unit.h"

#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <trace/analysis.h>
#include <trace/reader.h>
#include <trace/user_events.h>
#include <unistd.h>

#include "../../tracer/kernel/probe_skeleton.h"
#include "e2e_session.h"

#define CALLS	3000
#define THREADS 4

/**
 * struct tally - events of one name
 * @sum: of the selected field
 * @odd, @even: strings of the field "who"
 */
struct tally {
	uint64_t nr;
	int64_t sum;
	uint64_t odd;
	uint64_t even;
};

static struct tally tally(const struct session *s, const char *name, const char *field, const char *text_field)
{
	struct trace_error error = {0};
	struct trace *trace = trace_open(s->trace, &error);
	struct trace_cursor *cursor = trace ? trace_cursor_new(trace, NULL, &error) : NULL;
	const struct trace_event *event;
	struct tally found = {0};

	CU_ASSERT_PTR_NOT_NULL(cursor);
	while (cursor && (event = trace_cursor_next(cursor))) {
		const struct trace_field *text;
		const char *bytes;
		size_t length;

		if (!event->type || strcmp(event->type->name, name))
			continue;
		found.nr++;
		if (field)
			found.sum += (int64_t)trace_event_u64(event, trace_type_field(event->type, field));
		text = text_field ? trace_type_field(event->type, text_field) : NULL;
		bytes = text ? trace_event_bytes(event, text, &length) : NULL;
		found.odd += bytes && length == 3 && !memcmp(bytes, "odd", 3);
		found.even += bytes && length == 4 && !memcmp(bytes, "even", 4);
	}
	CU_ASSERT_EQUAL(trace_cursor_end(cursor, NULL), 0);
	trace_close(trace);
	return found;
}

static void record_to(struct session *s, const char *probes, int status)
{
	session_begin(s);
	CU_ASSERT_EQUAL(session_run("%s/tracedaemon --quiet --follow %s %s -- %s %d %d %s 2> %s/messages", TRACE_BIN,
				    probes, s->trace, PROBE_TARGET, CALLS, THREADS, s->truth, s->folder),
			status);
	CU_ASSERT_EQUAL(session_run("%s/tracevisualizer --verify %s > /dev/null", TRACE_BIN, s->trace), 0);
	CU_ASSERT_EQUAL(session_truth(s, "calls"), CALLS * THREADS);
}

static void record(struct session *s, const char *probes)
{
	record_to(s, probes, 0);
}

static void every_call_is_an_event_with_its_arguments(void)
{
	struct session s;
	struct tally found;
	int64_t sum = 0;

	for (int i = 0; i < CALLS; i++)
		sum += 1000 + i;
	record(&s, "--probe '" PROBE_TARGET
		   ":pay order->id number who order->low order->high order->next->id order->small counter'");
	found = tally(&s, "probe_target:pay", "order_id", "who");
	CU_ASSERT_EQUAL(found.nr, CALLS * THREADS);
	CU_ASSERT_EQUAL(found.sum, sum * THREADS);
	CU_ASSERT_EQUAL(found.odd, CALLS / 2 * THREADS);
	CU_ASSERT_EQUAL(found.even, CALLS / 2 * THREADS);
	CU_ASSERT_EQUAL(tally(&s, "probe_target:pay", "order_low", NULL).sum, 5 * CALLS * THREADS);
	CU_ASSERT_EQUAL(tally(&s, "probe_target:pay", "order_high", NULL).sum, 77 * CALLS * THREADS);
	CU_ASSERT_EQUAL(tally(&s, "probe_target:pay", "order_next_id", NULL).sum, 99 * CALLS * THREADS);
	CU_ASSERT_EQUAL(tally(&s, "probe_target:pay", "order_small", NULL).sum, -3 * CALLS * THREADS);
	CU_ASSERT(tally(&s, "probe_target:pay", "counter", NULL).sum > 0);
	session_end(&s);
}

static void registers_and_memory_hold_the_arguments(void)
{
	struct session s;
	struct tally found;

	record(&s, "--probe '" PROBE_TARGET ":pay number=$arg2:s32 id=+0(%di) who=$arg3:string next=+0(+96(%di))'");
	found = tally(&s, "probe_target:pay", "number", "who");
	CU_ASSERT_EQUAL(found.nr, CALLS * THREADS);
	CU_ASSERT_EQUAL(found.sum, (int64_t)CALLS * (CALLS - 1) / 2 * THREADS);
	CU_ASSERT_EQUAL(found.odd, CALLS / 2 * THREADS);
	CU_ASSERT_EQUAL(tally(&s, "probe_target:pay", "id", NULL).sum,
			(1000LL * CALLS + (int64_t)CALLS * (CALLS - 1) / 2) * THREADS);
	session_end(&s);
}

static void results_are_those_of_the_program(void)
{
	struct session s;
	struct tally found;

	record(&s, "--probe '" PROBE_TARGET ":pay%return' --probe '" PROBE_TARGET ":recurse%return'");
	found = tally(&s, "probe_target:pay.return", "retval", NULL);
	CU_ASSERT_EQUAL(found.nr, CALLS * THREADS);
	CU_ASSERT_EQUAL(found.sum, session_truth(&s, "results"));
	found = tally(&s, "probe_target:recurse.return", "retval", NULL); /* in a child process, nested */
	CU_ASSERT_EQUAL(found.nr, 11);
	CU_ASSERT_EQUAL(found.sum, 55);
	session_end(&s);
}

static void a_scope_begins_and_ends(void)
{
	struct session s;

	record(&s, "--probe '" PROBE_TARGET ":pay%scope number $retval'");
	CU_ASSERT_EQUAL(tally(&s, "probe_target:pay.begin", NULL, NULL).nr, CALLS * THREADS);
	CU_ASSERT_EQUAL(tally(&s, "probe_target:pay.end", "retval", NULL).nr, CALLS * THREADS);
	CU_ASSERT_EQUAL(tally(&s, "probe_target:pay.end", "retval", NULL).sum, session_truth(&s, "results"));
	session_end(&s);
}

static void static_probes_raise_their_semaphores(void)
{
	struct session s;
	struct tally found;

	record(&s, "--probe 'usdt:" PROBE_TARGET ":shop:paid $arg1 $arg2 who=$arg3:string $arg4'");
	CU_ASSERT_EQUAL(session_truth(&s, "watched"), CALLS * THREADS);
	found = tally(&s, "shop:paid", "arg2", "who");
	CU_ASSERT_EQUAL(found.nr, CALLS * THREADS);
	CU_ASSERT_EQUAL(found.sum, (int64_t)CALLS * (CALLS - 1) / 2 * THREADS);
	CU_ASSERT_EQUAL(found.odd, CALLS / 2 * THREADS);
	CU_ASSERT_EQUAL(tally(&s, "shop:paid", "arg4", NULL).sum, -5 * CALLS * THREADS);
	session_end(&s);
}

static void semaphores_are_down_without_a_recording(void)
{
	struct session s;

	record(&s, "--probe 'usdt:" PROBE_TARGET ":shop:done'");
	CU_ASSERT_EQUAL(session_truth(&s, "watched"), 0);
	CU_ASSERT_EQUAL(tally(&s, "shop:done", NULL, NULL).nr, CALLS * THREADS);
	CU_ASSERT_EQUAL(tally(&s, "shop:paid", NULL, NULL).nr, 0);
	session_end(&s);
}

static void functions_of_libraries_are_counted(void)
{
	struct session s;

	record(&s, "--probe libc.so.6:getppid --probe '" PROBE_TARGET ":never_called'");
	CU_ASSERT_EQUAL(tally(&s, "libc:getppid", NULL, NULL).nr, (uint64_t)session_truth(&s, "getppid"));
	CU_ASSERT_EQUAL(tally(&s, "probe_target:never_called", NULL, NULL).nr, 0);
	session_end(&s);
}

/*
 * Many short processes take turns with others, which the filter leaves out; some kernels hide a
 * thread from every tracer, and no switch from it is recorded. Each process makes one hit.
 */
static void no_hit_is_of_a_process_that_did_not_make_it(void)
{
	long long hits = 0;
	struct session s;
	json_t *use;
	size_t i;

	session_begin(&s);
	CU_ASSERT_EQUAL(
		session_run("%s/tracedaemon --quiet --follow --probe libc.so.6:clock_nanosleep %s -- sh -c "
			    "'for i in 1 2 3; do for j in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do "
			    "sleep 0.001; done & done; wait' 2> %s/messages",
			    TRACE_BIN, s.trace, s.folder),
		0);
	s.report = session_load(&s, "");
	CU_ASSERT_PTR_NOT_NULL_FATAL(s.report);
	json_array_foreach(json_object_get(s.report, "probes"), i, use) {
		CU_ASSERT_STRING_EQUAL(json_text(use, "comm"), "sleep");
		CU_ASSERT_EQUAL(json_number(use, "hits"), 1);
		hits += json_number(use, "hits");
	}
	CU_ASSERT_EQUAL(tally(&s, "libc:clock_nanosleep", NULL, NULL).nr, 60);
	CU_ASSERT_TRUE(hits > 50 && hits <= 60); /* some may be of an unknown process */
	CU_ASSERT_EQUAL(session_run("%s/tracevisualizer --verify %s > /dev/null", TRACE_BIN, s.trace), 0);
	session_end(&s);
}

/* Its own CPU time includes the cost of its events, so that is less; and each costs some. */
static void recorded_calls_are_told_apart_from_the_own_code(void)
{
	enum { CALLS_OF_FUNCTION = 200000 };
	struct session s;
	json_t *costs, *use, *process;
	long long event_ns;

	session_begin(&s);
	CU_ASSERT_EQUAL(
		session_run("TRACER_BUFFERS=1Mx64 %s/tracedaemon --quiet --preload functions %s -- %s functions "
			    "%d >/dev/null 2> %s/messages",
			    TRACE_BIN, s.trace, PRELOAD_TARGET, CALLS_OF_FUNCTION, s.folder),
		0);
	CU_ASSERT_EQUAL(session_run("%s/tracevisualizer --verify %s > /dev/null", TRACE_BIN, s.trace), 0);
	s.report = session_load(&s, "");
	CU_ASSERT_PTR_NOT_NULL_FATAL(s.report);
	costs = json_object_get(s.report, "event_costs");
	CU_ASSERT_TRUE(json_number(costs, "event_least_ps") <= json_number(costs, "event_ps"));
	CU_ASSERT_TRUE(json_number(costs, "event_ps") <= json_number(costs, "event_most_ps"));
	if (!json_number(costs, "event_ps")) { /* a C library without restartable sequences */
		session_end(&s);
		return;
	}
	use = json_row(costs, "uses", "name", "function:exit");
	CU_ASSERT_PTR_NOT_NULL_FATAL(use);
	CU_ASSERT_EQUAL(json_number(use, "events"), 3ll * CALLS_OF_FUNCTION);
	process = json_process(s.report, json_number(use, "pid"));
	CU_ASSERT_PTR_NOT_NULL_FATAL(process);
	CU_ASSERT_TRUE(json_number(process, "event_records") >= 6ll * CALLS_OF_FUNCTION);
	event_ns = json_number(process, "event_ns");
	CU_ASSERT_TRUE(event_ns >= json_number(process, "event_least_ns"));
	CU_ASSERT_TRUE(event_ns > 6ll * CALLS_OF_FUNCTION);
	CU_ASSERT_TRUE(event_ns < json_number(process, "user_ns"));
	CU_ASSERT_EQUAL(session_run("%s/tracevisualizer -a -p %lld %s 2>/dev/null >%s/page", TRACE_BIN,
				    json_number(use, "pid"), s.trace, s.folder),
			0);
	CU_ASSERT_EQUAL(session_run("grep -q 'on a CPU, recording its own events' %s/page", s.folder), 0);
	CU_ASSERT_EQUAL(session_run("grep -q \"Cost of programs' own events\" %s/page", s.folder), 0);
	CU_ASSERT_EQUAL(session_run("grep -q 'function:exit' %s/page", s.folder), 0);
	session_end(&s);
}

static void one_recording_holds_many_probes(void)
{
	struct session s;

	record(&s, "--probe '" PROBE_TARGET ":*' --probe usdt:" PROBE_TARGET);
	CU_ASSERT_EQUAL(tally(&s, "probe_target:pay", NULL, NULL).nr, CALLS * THREADS);
	CU_ASSERT_EQUAL(tally(&s, "probe_target:pay_often", NULL, NULL).nr, THREADS);
	CU_ASSERT_EQUAL(tally(&s, "probe_target:recurse", NULL, NULL).nr, 11);
	CU_ASSERT_EQUAL(tally(&s, "probe_target:main", NULL, NULL).nr, 1);
	CU_ASSERT_EQUAL(tally(&s, "shop:paid", NULL, NULL).nr, CALLS * THREADS);
	session_end(&s);
}

/* An instruction has one breakpoint, however many probes it has. Its cost counts once. */
static void a_further_probe_at_an_instruction_costs_less(void)
{
	struct session s;
	json_t *probes, *first, *second;

	record(&s, "--probe '" PROBE_TARGET ":recurse' --probe '" PROBE_TARGET ":recurse depth=$arg1:s32'");
	s.report = session_load(&s, "");
	CU_ASSERT_PTR_NOT_NULL_FATAL(s.report);
	probes = json_object_get(s.report, "probes");
	if (json_array_size(probes)) { /* the costs are measured on x86-64 only */
		CU_ASSERT_EQUAL_FATAL(json_array_size(probes), 2);
		first = json_array_get(probes, 0); /* the dearer one */
		second = json_array_get(probes, 1);
		CU_ASSERT_EQUAL(json_number(second, "hits"), json_number(first, "hits"));
		CU_ASSERT_TRUE(json_number(second, "hit_ns") < json_number(first, "hit_ns"));
	}
	session_end(&s);
}

static bool is_not_traced(const struct trace *trace, const char *begin)
{
	const char *text;

	for (size_t i = 0; (text = trace_not_traced(trace, i)); i++)
		if (!strncmp(text, begin, strlen(begin)))
			return true;
	return false;
}

/* The recording says so, and each report. */
static void a_probe_without_hits_is_told(void)
{
	struct session s;

	record(&s, "--probe " PROBE_TARGET ":never_called --probe " PROBE_TARGET ":pay");
	CU_ASSERT_EQUAL(session_run("grep -q 'probe .*probe_target:never_called: no hit$' %s/messages", s.folder), 0);
	CU_ASSERT_NOT_EQUAL(session_run("grep 'pay: no hit' %s/messages", s.folder), 0);
	for (int all = 0; all < 2; all++) {
		session_run("%s/tracevisualizer %s %s > %s/report", TRACE_BIN, all ? "-a" : "", s.trace, s.folder);
		CU_ASSERT_EQUAL(session_run("grep -q '^probe probe_target:never_called: no hit$' %s/report", s.folder),
				0);
		CU_ASSERT_NOT_EQUAL(session_run("grep 'pay: no hit' %s/report", s.folder), 0);
	}
	session_end(&s);
}

/* A breakpoint that breaks a program would break every program that runs the file. The kernel's
 * refusal is reported even if the program did not run before. */
static void no_program_is_broken_by_a_probe(void)
{
	struct trace_error error;
	struct trace *trace;
	struct session s;

	if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma"))
		return;
	session_begin(&s);
	CU_ASSERT_EQUAL(session_run("cp %s %s/vectors", PROBE_TARGET_VECTORS, s.folder), 0);
	CU_ASSERT_EQUAL(
		session_run(
			"%s/tracedaemon --quiet --probe '%s/vectors:is_*' %s -- %s/vectors > /dev/null 2>%s/messages",
			TRACE_BIN, s.folder, s.trace, s.folder, s.folder),
		0);
	CU_ASSERT_EQUAL(tally(&s, "vectors:is_probed", NULL, NULL).nr, 1);
	trace = trace_open(s.trace, &error);
	CU_ASSERT_PTR_NOT_NULL_FATAL(trace);
	CU_ASSERT_TRUE(is_not_traced(trace, "vectors:is_like_je: the kernel runs the instruction there wrongly"));
	CU_ASSERT_TRUE(is_not_traced(trace, "vectors:is_refused: the kernel cannot probe the instruction there"));
	CU_ASSERT_FALSE(is_not_traced(trace, "vectors:is_probed"));
	trace_close(trace);
	session_end(&s);
}

static void unattachable_probes_are_listed_with_the_reason(void)
{
	struct trace_error error;
	struct trace *trace;
	struct session s;

	record(&s, "--probe kernel:no_such_function_anywhere --probe " PROBE_TARGET ":pay");
	CU_ASSERT_EQUAL(tally(&s, "probe_target:pay", NULL, NULL).nr, CALLS * THREADS);
	trace = trace_open(s.trace, &error);
	CU_ASSERT_PTR_NOT_NULL_FATAL(trace);
	CU_ASSERT_TRUE(is_not_traced(trace, "kernel:no_such_function_anywhere: "));
	trace_close(trace);
	session_end(&s);
}

static void the_flight_recorder_has_probes_too(void)
{
	struct session s;

	session_begin(&s);
	CU_ASSERT_EQUAL(session_run("%s/tracedaemon --quiet -k --control %s/socket --probe '" PROBE_TARGET
				    ":pay number'",
				    TRACE_BIN, s.folder),
			0);
	session_run("%s 500 1 %s", PROBE_TARGET, s.truth);
	CU_ASSERT_EQUAL(session_run("%s/tracedaemon --quiet -j --control %s/socket %s", TRACE_BIN, s.folder, s.trace),
			0);
	session_run("%s/tracedaemon --quiet -q --control %s/socket > /dev/null", TRACE_BIN, s.folder);
	CU_ASSERT_EQUAL(tally(&s, "probe_target:pay", "number", NULL).nr, 500);
	CU_ASSERT_EQUAL(tally(&s, "probe_target:pay", "number", NULL).sum, 500 * 499 / 2);
	session_end(&s);
}

static void a_wrong_probe_is_a_usage_error(void)
{
	struct session s;

	session_begin(&s);
	CU_ASSERT_EQUAL(session_run("%s/tracedaemon --probe '" PROBE_TARGET ":nosuch' %s -- true 2> %s/messages",
				    TRACE_BIN, s.trace, s.folder),
			2);
	CU_ASSERT_EQUAL(session_run("test $(wc -l < %s/messages) = 1", s.folder), 0);
	CU_ASSERT_EQUAL(session_run("test ! -e %s", s.trace), 0);
	session_end(&s);
}

/* of the functions of a program: the main one, and those that it calls before it disables
 * preemption */
#define PREEMPTIBLE 4
#define SMALL_STACK 48 /* the kernel rounds up to 16, and 64 or more is too much */

/* Reason: see probes.bpf.c. The verifier prints the stack depths, that of the main program first;
 * functions that run with preemption off come last. */
static void programs_that_may_be_preempted_have_small_stacks(void)
{
	const struct tracer_geometry geometry = {
		.subbuf_bytes = 1 << 14, .subbuf_bytes_log2 = 14, .nr_subbufs_log2 = 1, .slots_mask = (1 << 15) - 1};
	const struct tracer_config config = {.ring = geometry,
					     .structural = geometry,
					     .exclude_tgid = 1,
					     .filtering = 1,
					     .filter_pid = 1,
					     .follow = 1,
					     .filter_pgrp = 1,
					     .filter_by_uid = 1,
					     .filter_by_gid = 1};
	static char logs[2][1 << 16];
	struct probes_bpf *skeleton = probes_bpf__open();
	struct bpf_program *programs[2];

	CU_ASSERT_PTR_NOT_NULL_FATAL(skeleton);
	memcpy((void *)&skeleton->rodata->config, &config, sizeof(config));
	skeleton->rodata->may_fault = skeleton->rodata->may_disable_preemption = true;
	bpf_map__set_value_size(skeleton->maps.rings, (1 << 15) + 8192);
	bpf_map__set_value_size(skeleton->maps.structural_rings, (1 << 15) + 8192);
	bpf_program__set_autoload(skeleton->progs.probe_kernel, false);
	programs[0] = skeleton->progs.probe_user;
	programs[1] = skeleton->progs.probe_user_multi;
	for (int i = 0; i < 2; i++) {
		bpf_program__set_log_level(programs[i], 4);
		bpf_program__set_log_buf(programs[i], logs[i], sizeof(logs[i]));
	}
	CU_ASSERT_EQUAL(probes_bpf__load(skeleton), 0);
	for (int i = 0; i < 2; i++) {
		const char *found = strstr(logs[i], "stack depth ");
		int depths[PREEMPTIBLE] = {1000, 1000, 1000, 1000};

		CU_ASSERT_PTR_NOT_NULL(found);
		if (found)
			CU_ASSERT_EQUAL(sscanf(found, "stack depth %d+%d+%d+%d", &depths[0], &depths[1], &depths[2],
					       &depths[3]),
					PREEMPTIBLE);
		for (int j = 0; j < PREEMPTIBLE; j++)
			CU_ASSERT(depths[j] <= SMALL_STACK);
	}
	probes_bpf__destroy(skeleton);
}

/* ---- on and off ---- */

static void only_the_probes_that_are_chosen_are_recorded(void)
{
	struct session s;

	record(&s, "-e 'sched,*:getpp*' --probe libc.so.6:getppid --probe " PROBE_TARGET ":pay");
	CU_ASSERT_EQUAL(tally(&s, "libc:getppid", NULL, NULL).nr, (uint64_t)session_truth(&s, "getppid"));
	CU_ASSERT_EQUAL(tally(&s, "probe_target:pay", NULL, NULL).nr, 0);
	CU_ASSERT_EQUAL(session_truth(&s, "breakpoint"), 0);
	session_end(&s);
	/* as the user typed the function */
	record(&s, "-e 'sched,libc.so.6:getpp*' --probe libc.so.6:getppid --probe " PROBE_TARGET ":pay");
	CU_ASSERT_EQUAL(tally(&s, "libc:getppid", NULL, NULL).nr, (uint64_t)session_truth(&s, "getppid"));
	session_end(&s);
	record(&s, "-e '-libc:*' --probe libc.so.6:getppid --probe " PROBE_TARGET ":pay");
	CU_ASSERT_EQUAL(tally(&s, "libc:getppid", NULL, NULL).nr, 0);
	CU_ASSERT_EQUAL(tally(&s, "probe_target:pay", NULL, NULL).nr, CALLS * THREADS);
	CU_ASSERT_EQUAL(session_truth(&s, "breakpoint"), 1);
	session_end(&s);
}

static void both_ends_of_a_scope_go_together(void)
{
	struct session s;

	record(&s, "-e 'sched,probe_target:pay.begin' --probe '" PROBE_TARGET ":pay%scope' --probe '" PROBE_TARGET
		   ":recurse%scope'");
	CU_ASSERT_EQUAL(tally(&s, "probe_target:pay.begin", NULL, NULL).nr, CALLS * THREADS);
	CU_ASSERT_EQUAL(tally(&s, "probe_target:pay.end", NULL, NULL).nr, CALLS * THREADS);
	CU_ASSERT_EQUAL(tally(&s, "probe_target:recurse.begin", NULL, NULL).nr, 0);
	CU_ASSERT_EQUAL(tally(&s, "probe_target:recurse.end", NULL, NULL).nr, 0);
	session_end(&s);
}

static void a_pattern_that_matches_no_probe_is_reported(void)
{
	struct session s;

	record_to(&s, "-e 'sched,probe_target:pay,probe_target:nothing*' --probe '" PROBE_TARGET ":pay'", 1);
	CU_ASSERT_EQUAL(session_run("%s/tracevisualizer -a %s | tr -s '\\n ' '  ' | grep -q 'probe_target:nothing\\*: "
				    "no program had such an event'",
				    TRACE_BIN, s.trace),
			0);
	CU_ASSERT_NOT_EQUAL(
		session_run("%s/tracevisualizer -a %s | grep -q 'probe_target:pay: no'", TRACE_BIN, s.trace), 0);
	session_end(&s);
}

/* ---- at run time ---- */

static void begin_in_background(struct session *s, const char *options)
{
	session_begin(s);
	CU_ASSERT_EQUAL(session_run("%s/tracedaemon --quiet --background -e sched --control %s/socket %s %s", TRACE_BIN,
				    s->folder, options, s->trace),
			0);
}

static void change_mask(const struct session *s, const char *mask)
{
	CU_ASSERT_EQUAL(session_run("%s/tracectl --control %s/socket mask '%s' > %s/answer", TRACE_BIN, s->folder, mask,
				    s->folder),
			0);
}

static bool answered(const struct session *s, const char *text)
{
	return session_run("grep -q '%s' %s/answer", text, s->folder) == 0;
}

static void run_target(const struct session *s, int calls)
{
	CU_ASSERT_EQUAL(session_run("%s %d 1 %s", PROBE_TARGET, calls, s->truth), 0);
}

/* The daemon answers that it stops, and ends a little later. */
static void end_in_background(const struct session *s)
{
	CU_ASSERT_EQUAL(session_run("%s/tracectl --control %s/socket stop > /dev/null", TRACE_BIN, s->folder), 0);
	session_run("for i in $(seq 500); do test -e %s/socket || break; sleep 0.02; done", s->folder);
	CU_ASSERT_EQUAL(session_run("%s/tracevisualizer --verify %s > /dev/null", TRACE_BIN, s->trace), 0);
}

static void probes_are_switched_while_programs_run(void)
{
	struct session s;

	begin_in_background(&s, "--probe '" PROBE_TARGET ":pay $arg3' --probe '" PROBE_TARGET ":recurse'");
	run_target(&s, 100);
	CU_ASSERT_EQUAL(session_truth(&s, "breakpoint"), 1);
	change_mask(&s, "-probe_target:pay");
	CU_ASSERT_TRUE(answered(&s, "Probes that are on: probe_target:recurse$"));
	CU_ASSERT_TRUE(answered(&s, "Probes that are off: probe_target:pay$"));
	run_target(&s, 1000);
	change_mask(&s, "+probe_target:pay");
	CU_ASSERT_TRUE(answered(&s, "Probes that are on: probe_target:pay probe_target:recurse$"));
	run_target(&s, 20);
	CU_ASSERT_EQUAL(session_run("%s/tracedaemon -m --control %s/socket -e 'sched,probe_target:r*' > /dev/null",
				    TRACE_BIN, s.folder),
			0);
	run_target(&s, 1000);
	CU_ASSERT_EQUAL(session_run("%s/tracectl --control %s/socket halt > /dev/null", TRACE_BIN, s.folder), 0);
	change_mask(&s, "sched");
	run_target(&s, 1000);
	CU_ASSERT_EQUAL(session_run("%s/tracectl --control %s/socket begin > /dev/null", TRACE_BIN, s.folder), 0);
	run_target(&s, 3);
	end_in_background(&s);
	CU_ASSERT_EQUAL(tally(&s, "probe_target:pay", NULL, NULL).nr, 123);
	CU_ASSERT_EQUAL(tally(&s, "probe_target:recurse", NULL, NULL).nr, 5 * 11);
	CU_ASSERT_EQUAL(tally(&s, "trace_select", NULL, NULL).nr, 6);
	session_end(&s);
}

/* The daemon does not wait for the kernel, which removes breakpoints a little later. */
static void a_probe_that_is_off_leaves_no_breakpoint(void)
{
	struct session s;
	long long breakpoint = 1;

	begin_in_background(&s, "--probe '" PROBE_TARGET ":pay'");
	change_mask(&s, "-*:*");
	for (int i = 0; i < 200 && breakpoint; i++) {
		run_target(&s, 1);
		breakpoint = session_truth(&s, "breakpoint");
	}
	CU_ASSERT_EQUAL(breakpoint, 0);
	end_in_background(&s);
	CU_ASSERT_EQUAL(tally(&s, "probe_target:pay", NULL, NULL).nr, 0);
	session_end(&s);
}

#define TWINS 5

/* Two requests at once: the daemon handles the second when it has hardly begun to close what the
 * first switched off. */
static void off_and_on(const struct session *s)
{
	static const char *const requests[2] = {"mask -twin:*", "mask +twin:*"};
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	static char answer[1 << 14];
	int fds[2];

	snprintf(address.sun_path, sizeof(address.sun_path), "%s/socket", s->folder);
	for (int i = 0; i < 2; i++) {
		fds[i] = socket(AF_UNIX, SOCK_SEQPACKET, 0);
		CU_ASSERT_EQUAL(connect(fds[i], (const struct sockaddr *)&address, sizeof(address)), 0);
		CU_ASSERT(send(fds[i], requests[i], strlen(requests[i]), 0) > 0);
	}
	for (int i = 0; i < 2; i++) {
		CU_ASSERT(recv(fds[i], answer, sizeof(answer), 0) > 0);
		CU_ASSERT_EQUAL(strncmp(answer, "ok", 2), 0);
		close(fds[i]);
	}
}

/* The twins are probes on one function. Each of them records a call at most once, so its numbers
 * grow, except where a program begins. */
static void check_that_numbers_grow(const struct session *s)
{
	struct trace_error error = {0};
	struct trace *trace = trace_open(s->trace, &error);
	struct trace_cursor *cursor = trace_cursor_new(trace, NULL, &error);
	const struct trace_event *event;
	uint64_t last[TWINS] = {0}, nr = 0, twice = 0;
	unsigned int twin;

	while (cursor && (event = trace_cursor_next(cursor))) {
		uint64_t number;

		if (!event->type || sscanf(event->type->name, "twin:%u", &twin) != 1 || twin >= TWINS)
			continue;
		number = trace_event_u64(event, trace_type_field(event->type, "number")) + 1;
		twice += number == last[twin] || (number < last[twin] && number > 1);
		last[twin] = number;
		nr++;
	}
	CU_ASSERT_EQUAL(twice, 0);
	CU_ASSERT(nr >= (uint64_t)TWINS * 10);
	CU_ASSERT_EQUAL(trace_cursor_end(cursor, NULL), 0);
	trace_close(trace);
}

/* While the old link is still being closed, a new one serves the function. */
static void a_probe_that_is_switched_repeatedly_records_each_call_once(void)
{
	char options[TWINS * 200], *end = options;
	struct session s;

	for (int i = 0; i < TWINS; i++)
		end += snprintf(end, 200, "--probe 'twin:%d=" PROBE_TARGET ":pay number=$arg2:s32' ", i);
	begin_in_background(&s, options);
	session_run("%s 50000 1 %s & echo $! > %s/pid", PROBE_TARGET, s.truth, s.folder);
	for (int i = 0; i < 100; i++)
		off_and_on(&s);
	session_run("while test -e /proc/$(cat %s/pid); do sleep 0.02; done", s.folder);
	change_mask(&s, "+twin:*");
	run_target(&s, 10);
	end_in_background(&s);
	check_that_numbers_grow(&s);
	session_end(&s);
}

static void a_file_that_has_changed_is_not_probed_again(void)
{
	struct session s;
	char options[256];

	session_begin(&s);
	session_run("cp %s %s/target", PROBE_TARGET, s.folder);
	snprintf(options, sizeof(options), "--probe %s/target:pay", s.folder);
	CU_ASSERT_EQUAL(session_run("%s/tracedaemon --quiet --background -e sched --control %s/socket %s %s", TRACE_BIN,
				    s.folder, options, s.trace),
			0);
	session_run("%s/target 5 1 %s", s.folder, s.truth);
	change_mask(&s, "-target:*");
	session_run("rm %s/target; { cat %s; echo; } > %s/target; chmod +x %s/target", s.folder, PROBE_TARGET, s.folder,
		    s.folder);
	change_mask(&s, "+target:*");
	CU_ASSERT_TRUE(answered(&s, "not traced: target:pay: the file has changed since the recording began"));
	session_run("%s/target 7 1 %s", s.folder, s.truth);
	CU_ASSERT_EQUAL(session_truth(&s, "breakpoint"), 0);
	end_in_background(&s);
	CU_ASSERT_EQUAL(tally(&s, "target:pay", NULL, NULL).nr, 5);
	CU_ASSERT_EQUAL(session_run("%s/tracevisualizer -a %s | tr -s '\\n ' '  ' | grep -q 'the file has changed "
				    "since the recording began'",
				    TRACE_BIN, s.trace),
			0);
	session_end(&s);
}

/**
 * struct scopes - the scopes of one name in a trace
 */
struct scopes {
	uint64_t ended;
	uint64_t open;
	uint64_t unmatched;
};

static struct scopes scopes(const struct session *s, const char *name)
{
	struct trace_error error = {0};
	struct trace *trace = trace_open(s->trace, &error);
	struct trace_analysis *analysis = trace_analysis_new(trace, NULL, &error);
	struct trace_user_events *user = trace_user_events_new(trace, analysis, &error);
	struct scopes found = {0};

	CU_ASSERT_EQUAL(trace_analysis_run(analysis, &error), 0);
	for (size_t i = 0; i < trace_nr_spans(user); i++) {
		const struct trace_span *span = trace_get_span(user, i);

		if (span->kind == TRACE_SPAN_SCOPE && !strcmp(span->name, name))
			found = (struct scopes){span->elapsed.count, span->open, span->unmatched};
	}
	trace_user_events_free(user);
	trace_analysis_free(analysis);
	trace_close(trace);
	return found;
}

/* Waits until the @nr-th call of hold() has begun. */
static void hold(const struct session *s, int nr)
{
	if (nr > 1)
		session_run("printf . > %s/in", s->folder);
	CU_ASSERT_EQUAL(session_run("for i in $(seq 500); do test $(wc -l < %s/out) -ge %d && grep -q ' read\\|pipe' "
				    "/proc/$(cat %s/pid)/wchan && exit 0; sleep 0.02; done; exit 1",
				    s->folder, nr, s->folder),
			0);
}

/*
 * The first call begins. The probe is off while it ends and while the second one begins, and on
 * again when that one ends. The other function of its option stays on, so the breakpoint stays. The
 * end of the second call is recorded, and does not belong to the first one.
 */
static void a_scope_that_is_open_while_its_probe_is_off_has_no_duration(void)
{
	struct scopes found;
	struct session s;

	begin_in_background(&s, "--probe '" PROBE_TARGET ":[hp][oa][ly]*%scope'");
	session_run("mkfifo %s/in; touch %s/out; { sleep 60 & echo $! > %s/keeper; } > %s/in < /dev/null & %s hold < "
		    "%s/in > %s/out & echo $! > %s/pid",
		    s.folder, s.folder, s.folder, s.folder, PROBE_TARGET, s.folder, s.folder, s.folder);
	hold(&s, 1);
	change_mask(&s, "-probe_target:hold");
	CU_ASSERT_TRUE(answered(&s, "Probes that are off: probe_target:hold"));
	hold(&s, 2);
	change_mask(&s, "+probe_target:hold");
	hold(&s, 3);
	hold(&s, 4);
	session_run("kill $(cat %s/pid) $(cat %s/keeper)", s.folder, s.folder);
	end_in_background(&s);
	CU_ASSERT_EQUAL(tally(&s, "probe_target:hold.begin", NULL, NULL).nr, 3);
	CU_ASSERT_EQUAL(tally(&s, "probe_target:hold.end", NULL, NULL).nr, 2);
	found = scopes(&s, "probe_target:hold");
	CU_ASSERT_EQUAL(found.ended, 1); /* the third */
	CU_ASSERT_EQUAL(found.open, 2);	 /* the first and the fourth */
	CU_ASSERT_EQUAL(found.unmatched, 1);
	session_end(&s);
}

static void a_flight_recorder_notes_switched_probes(void)
{
	struct session s;

	session_begin(&s);
	CU_ASSERT_EQUAL(
		session_run(
			"%s/tracedaemon --quiet -k --control %s/socket -e 'sched,probe_target:*' --probe '" PROBE_TARGET
			":pay number'",
			TRACE_BIN, s.folder),
		0);
	run_target(&s, 50);
	change_mask(&s, "-probe_target:pay");
	run_target(&s, 500);
	change_mask(&s, "+probe_target:pay");
	run_target(&s, 7);
	CU_ASSERT_EQUAL(session_run("%s/tracedaemon --quiet -j --control %s/socket %s", TRACE_BIN, s.folder, s.trace),
			0);
	session_run("%s/tracedaemon --quiet -q --control %s/socket > /dev/null", TRACE_BIN, s.folder);
	CU_ASSERT_EQUAL(tally(&s, "probe_target:pay", NULL, NULL).nr, 57);
	CU_ASSERT_EQUAL(tally(&s, "trace_select", NULL, NULL).nr, 3);
	session_end(&s);
}

static const struct unit_case cases[] = {
	{"programs_that_may_be_preempted_have_small_stacks", programs_that_may_be_preempted_have_small_stacks},
	{"every_call_is_an_event_with_its_arguments", every_call_is_an_event_with_its_arguments},
	{"registers_and_memory_hold_the_arguments", registers_and_memory_hold_the_arguments},
	{"results_are_those_of_the_program", results_are_those_of_the_program},
	{"a_scope_begins_and_ends", a_scope_begins_and_ends},
	{"static_probes_raise_their_semaphores", static_probes_raise_their_semaphores},
	{"semaphores_are_down_without_a_recording", semaphores_are_down_without_a_recording},
	{"functions_of_libraries_are_counted", functions_of_libraries_are_counted},
	{"no_hit_is_of_a_process_that_did_not_make_it", no_hit_is_of_a_process_that_did_not_make_it},
	{"recorded_calls_are_told_apart_from_the_own_code", recorded_calls_are_told_apart_from_the_own_code},
	{"one_recording_holds_many_probes", one_recording_holds_many_probes},
	{"unattachable_probes_are_listed_with_the_reason", unattachable_probes_are_listed_with_the_reason},
	{"no_program_is_broken_by_a_probe", no_program_is_broken_by_a_probe},
	{"a_further_probe_at_an_instruction_costs_less", a_further_probe_at_an_instruction_costs_less},
	{"a_probe_without_hits_is_told", a_probe_without_hits_is_told},
	{"the_flight_recorder_has_probes_too", the_flight_recorder_has_probes_too},
	{"a_wrong_probe_is_a_usage_error", a_wrong_probe_is_a_usage_error},
	{"only_the_probes_that_are_chosen_are_recorded", only_the_probes_that_are_chosen_are_recorded},
	{"both_ends_of_a_scope_go_together", both_ends_of_a_scope_go_together},
	{"a_pattern_that_matches_no_probe_is_reported", a_pattern_that_matches_no_probe_is_reported},
	{"probes_are_switched_while_programs_run", probes_are_switched_while_programs_run},
	{"a_probe_that_is_off_leaves_no_breakpoint", a_probe_that_is_off_leaves_no_breakpoint},
	{"a_probe_that_is_switched_repeatedly_records_each_call_once",
	 a_probe_that_is_switched_repeatedly_records_each_call_once},
	{"a_file_that_has_changed_is_not_probed_again", a_file_that_has_changed_is_not_probed_again},
	{"a_scope_that_is_open_while_its_probe_is_off_has_no_duration",
	 a_scope_that_is_open_while_its_probe_is_off_has_no_duration},
	{"a_flight_recorder_notes_switched_probes", a_flight_recorder_notes_switched_probes},
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	return unit_main("probes_e2e", cases, argc, argv);
}
