/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Probes on the real kernel, against what the probed program counted itself. */
#include "unit.h"

#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <trace/reader.h>

#include "../tracer/kernel/probe_skeleton.h"
#include "session.h"

#define CALLS	3000
#define THREADS 4

/** struct tally - events of one name. @sum: of the field that was asked for. @odd, @even: strings of the field who */
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
	trace_cursor_free(cursor);
	trace_close(trace);
	return found;
}

static void record(struct session *s, const char *probes)
{
	session_begin(s);
	CU_ASSERT_EQUAL(session_run("%s/tracedaemon --quiet --follow %s %s -- %s %d %d %s 2> %s/messages", TRACE_BIN, probes, s->trace, PROBE_TARGET, CALLS,
				    THREADS, s->truth, s->folder),
			0);
	CU_ASSERT_EQUAL(session_run("%s/tracevisualizer --verify %s > /dev/null", TRACE_BIN, s->trace), 0);
	CU_ASSERT_EQUAL(session_truth(s, "calls"), CALLS * THREADS);
}

static void every_call_is_an_event_with_its_arguments(void)
{
	struct session s;
	struct tally found;
	int64_t sum = 0;

	for (int i = 0; i < CALLS; i++)
		sum += 1000 + i;
	record(&s, "--probe '" PROBE_TARGET ":pay order->id number who order->low order->high order->next->id order->small counter'");
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
	CU_ASSERT_EQUAL(tally(&s, "probe_target:pay", "id", NULL).sum, (1000LL * CALLS + (int64_t)CALLS * (CALLS - 1) / 2) * THREADS);
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

static void semaphores_are_down_when_nobody_listens(void)
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

static void what_cannot_be_attached_is_listed_with_the_reason(void)
{
	struct trace_error error;
	struct trace *trace;
	struct session s;
	const char *text;
	bool found = false;

	record(&s, "--probe kernel:no_such_function_anywhere --probe " PROBE_TARGET ":pay");
	CU_ASSERT_EQUAL(tally(&s, "probe_target:pay", NULL, NULL).nr, CALLS * THREADS);
	trace = trace_open(s.trace, &error);
	CU_ASSERT_PTR_NOT_NULL_FATAL(trace);
	for (size_t i = 0; (text = trace_not_traced(trace, i)); i++)
		found |= !strncmp(text, "kernel:no_such_function_anywhere: ", 34);
	CU_ASSERT_TRUE(found);
	trace_close(trace);
	session_end(&s);
}

static void the_flight_recorder_has_probes_too(void)
{
	struct session s;

	session_begin(&s);
	CU_ASSERT_EQUAL(session_run("%s/tracedaemon --quiet -k --control %s/socket --probe '" PROBE_TARGET ":pay number'", TRACE_BIN, s.folder), 0);
	session_run("%s 500 1 %s", PROBE_TARGET, s.truth);
	CU_ASSERT_EQUAL(session_run("%s/tracedaemon --quiet -j --control %s/socket %s", TRACE_BIN, s.folder, s.trace), 0);
	session_run("%s/tracedaemon --quiet -q --control %s/socket > /dev/null", TRACE_BIN, s.folder);
	CU_ASSERT_EQUAL(tally(&s, "probe_target:pay", "number", NULL).nr, 500);
	CU_ASSERT_EQUAL(tally(&s, "probe_target:pay", "number", NULL).sum, 500 * 499 / 2);
	session_end(&s);
}

static void a_wrong_probe_is_a_usage_error(void)
{
	struct session s;

	session_begin(&s);
	CU_ASSERT_EQUAL(session_run("%s/tracedaemon --probe '" PROBE_TARGET ":nosuch' %s -- true 2> %s/messages", TRACE_BIN, s.trace, s.folder), 2);
	CU_ASSERT_EQUAL(session_run("test $(wc -l < %s/messages) = 1", s.folder), 0);
	CU_ASSERT_EQUAL(session_run("test ! -e %s", s.trace), 0);
	session_end(&s);
}

/* Why: see probes.bpf.c. The verifier tells the depths, of the main program first; what runs with preemption off comes last. */
static void programs_that_may_be_preempted_have_small_stacks(void)
{
	static const struct tracer_geometry geometry = {
		.subbuf_bytes = 1 << 14, .subbuf_bytes_log2 = 14, .nr_subbufs_log2 = 1, .slots_mask = (1 << 15) - 1};
	static char log[1 << 16];
	struct probes_bpf *skeleton = probes_bpf__open();
	int depths[4] = {1000, 1000, 1000, 1000};
	const char *found;

	CU_ASSERT_PTR_NOT_NULL_FATAL(skeleton);
	memcpy((void *)&skeleton->rodata->config.ring, &geometry, sizeof(geometry));
	memcpy((void *)&skeleton->rodata->config.structural, &geometry, sizeof(geometry));
	skeleton->rodata->may_fault = skeleton->rodata->may_hold = true;
	bpf_map__set_value_size(skeleton->maps.rings, (1 << 15) + 8192);
	bpf_map__set_value_size(skeleton->maps.structural_rings, (1 << 15) + 8192);
	bpf_program__set_autoload(skeleton->progs.probe_user_multi, false);
	bpf_program__set_autoload(skeleton->progs.probe_kernel, false);
	bpf_program__set_log_level(skeleton->progs.probe_user, 4);
	bpf_program__set_log_buf(skeleton->progs.probe_user, log, sizeof(log));
	CU_ASSERT_EQUAL(probes_bpf__load(skeleton), 0);
	found = strstr(log, "stack depth ");
	CU_ASSERT_PTR_NOT_NULL(found);
	if (found)
		CU_ASSERT_EQUAL(sscanf(found, "stack depth %d+%d+%d+%d", &depths[0], &depths[1], &depths[2], &depths[3]), 4);
	for (int i = 0; i < 4; i++)
		CU_ASSERT(depths[i] < 64);
	probes_bpf__destroy(skeleton);
}

static const struct unit_case cases[] = {
	{"programs_that_may_be_preempted_have_small_stacks", programs_that_may_be_preempted_have_small_stacks},
	{"every_call_is_an_event_with_its_arguments", every_call_is_an_event_with_its_arguments},
	{"registers_and_memory_hold_the_arguments", registers_and_memory_hold_the_arguments},
	{"results_are_those_of_the_program", results_are_those_of_the_program},
	{"a_scope_begins_and_ends", a_scope_begins_and_ends},
	{"static_probes_raise_their_semaphores", static_probes_raise_their_semaphores},
	{"semaphores_are_down_when_nobody_listens", semaphores_are_down_when_nobody_listens},
	{"functions_of_libraries_are_counted", functions_of_libraries_are_counted},
	{"one_recording_holds_many_probes", one_recording_holds_many_probes},
	{"what_cannot_be_attached_is_listed_with_the_reason", what_cannot_be_attached_is_listed_with_the_reason},
	{"the_flight_recorder_has_probes_too", the_flight_recorder_has_probes_too},
	{"a_wrong_probe_is_a_usage_error", a_wrong_probe_is_a_usage_error},
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	return unit_main("probes_e2e", cases, argc, argv);
}
