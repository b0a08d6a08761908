/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_state_probes.c - the cost of probes and of events that programs record themselves is told
 * apart from the program's own code, and a hit is the thread's that made it.
 *
 * Thread 10 ("one") runs on CPU 0 in its own code from 2000 to 9000 unless a test says otherwise.
 */
#include "analysis_case.h"
#include "unit.h"

#define OWN_NS 7000

static uint16_t probe(struct analysis_case *c, const char *name)
{
	const struct trace_event_type type = {.name = name,
					      .classic = "NONE",
					      .text = "",
					      .doc = "",
					      .program = "NONE",
					      .category = TRACE_CATEGORY_USER,
					      .flags = TRACE_EVENT_ON,
					      .source = "hot:f"};

	return tb_user_type(c->tb, &type);
}

static void costs(struct analysis_case *c, uint16_t id, uint32_t ns)
{
	struct trace_probe_cost cost = {.event = id, .ns = ns, .least_ns = ns - 100, .most_ns = ns + 200};

	tb_start(c->tb, 1100, TRACE_EV_probe_cost, &cost, sizeof(cost), NULL);
}

static void hit(struct analysis_case *c, uint64_t ns, uint16_t id)
{
	tb_user_event(c->tb, 0, ns, id, NULL, 0);
}

static struct analysis_case in_own_code(void)
{
	struct analysis_case c = case_new();

	tb_thread(c.tb, 10, 10, 1, "one", 0, true);
	tb_sys_exit(c.tb, 0, 2000, 10);
	tb_switch(c.tb, 0, 9000, 10, 0, TRACE_TASK_RUNNING);
	return c;
}

static void hits_cost_time_in_the_kernel(void)
{
	struct analysis_case c = in_own_code();
	uint16_t id = probe(&c, "hot:f");

	costs(&c, id, 400);
	for (uint64_t ns = 3000; ns <= 5000; ns += 1000)
		hit(&c, ns, id);
	case_run(&c);
	CU_ASSERT_EQUAL(c.one->probe_hits, 3);
	CU_ASSERT_EQUAL(c.one->probe_ns, 1200);
	CU_ASSERT_EQUAL(c.one->probe_least_ns, 900);
	CU_ASSERT_EQUAL(c.one->probe_most_ns, 1800);
	CU_ASSERT_EQUAL(c.one->user_ns, OWN_NS - 1200);
	CU_ASSERT_EQUAL(c.one->trap_ns, 1200);
	CU_ASSERT_EQUAL(case_cpu(&c, 0).user_ns, c.one->user_ns);
	CU_ASSERT_EQUAL(case_cpu(&c, 0).system_ns, c.one->syscall_ns + c.one->trap_ns);
	case_free(&c);
}

/* The next hit takes the rest of its cost. */
static void a_hit_takes_no_more_than_there_was(void)
{
	struct analysis_case c = in_own_code();
	uint16_t id = probe(&c, "hot:f");

	costs(&c, id, 400);
	hit(&c, 2100, id);
	hit(&c, 2200, id);
	case_run(&c);
	CU_ASSERT_EQUAL(c.one->probe_ns, 200);
	CU_ASSERT_EQUAL(c.one->probe_least_ns, 200);
	case_free(&c);

	c = in_own_code();
	id = probe(&c, "hot:f");
	costs(&c, id, 400);
	hit(&c, 2100, id);
	hit(&c, 4000, id);
	case_run(&c);
	CU_ASSERT_EQUAL(c.one->probe_ns, 800);
	case_free(&c);
}

/* A probe in the kernel; a trace of an older recorder. */
static void a_probe_of_unknown_cost_takes_nothing(void)
{
	struct analysis_case c = in_own_code();
	uint16_t known = probe(&c, "hot:f"), id = probe(&c, "kernel:f");

	costs(&c, known, 400);
	hit(&c, 3000, id);
	case_run(&c);
	CU_ASSERT_EQUAL(c.one->probe_hits, 0);
	CU_ASSERT_EQUAL(c.one->user_ns, OWN_NS);
	case_free(&c);
}

/* One probe can have several places, and one place's instruction may be cheaper. */
static void places_of_one_probe_widen_the_range(void)
{
	struct analysis_case c = in_own_code();
	uint16_t id = probe(&c, "hot:f");
	struct trace_probe_use *uses;
	size_t nr;

	costs(&c, id, 900);
	costs(&c, id, 400);
	hit(&c, 3000, id);
	case_run(&c);
	uses = trace_probe_uses(c.analysis, &nr);
	CU_ASSERT_EQUAL_FATAL(nr, 1);
	CU_ASSERT_STRING_EQUAL(uses[0].name, "hot:f");
	CU_ASSERT_EQUAL(trace_process_pid(uses[0].process), 10);
	CU_ASSERT_EQUAL(uses[0].hits, 1);
	CU_ASSERT_EQUAL(uses[0].hit_ns, 400);
	CU_ASSERT_EQUAL(uses[0].hit_least_ns, 300);
	CU_ASSERT_EQUAL(uses[0].hit_most_ns, 1100);
	free(uses);
	case_free(&c);
}

/* "cold" has a cost, so it is a probe, and no event; "kernel:g" may be no probe. */
static void a_probe_without_hits_is_listed(void)
{
	struct analysis_case c = in_own_code();
	uint16_t hot = probe(&c, "hot:f"), cold = probe(&c, "cold:f");
	const char **names;
	size_t nr;

	probe(&c, "kernel:g");
	costs(&c, hot, 400);
	costs(&c, cold, 400);
	hit(&c, 3000, hot);
	case_run(&c);
	names = trace_probes_without_hits(c.analysis, &nr);
	CU_ASSERT_EQUAL_FATAL(nr, 1);
	CU_ASSERT_STRING_EQUAL(names[0], "cold:f");
	free(names);
	case_free(&c);
}

static void program_event(void *data, struct trace_analysis *analysis, const struct trace_event *event)
{
	const struct trace_thread *thread = trace_event_thread(analysis, event);

	*(uint32_t *)data = thread ? trace_thread_tid(thread) : 0;
}

/* The kernel hides thread 70, so it recorded no switch from 70 to "one". */
static void a_hit_is_not_a_hidden_threads(void)
{
	uint64_t mask[TRACE_MASK_WORDS] = {[TRACE_EV_USER / 64] = 1ull << TRACE_EV_USER % 64};
	struct analysis_case c = case_new();
	struct trace_error error = {0};
	uint16_t id = probe(&c, "hot:f");
	uint32_t tid = 0;

	costs(&c, id, 400);
	tb_thread(c.tb, 10, 10, 1, "one", 0, true);
	tb_sys_enter(c.tb, 0, 2000, SYS_getpid);
	tb_sys_exit(c.tb, 0, 2100, 10);
	tb_switch(c.tb, 0, 3000, 10, 70, TRACE_TASK_RUNNING);
	hit(&c, 3600, id);
	hit(&c, 5000, id);
	tb_switch(c.tb, 0, 9000, 10, 0, TRACE_TASK_RUNNING);
	c.trace = tb_open_trace(c.tb);
	c.analysis = trace_analysis_new(c.trace, NULL, &error);
	CU_ASSERT_EQUAL(trace_analysis_on_event(c.analysis, mask, program_event, &tid), 0);
	CU_ASSERT_EQUAL(trace_analysis_run(c.analysis, &error), 0);
	CU_ASSERT_EQUAL(trace_analysis_verify(c.analysis, &error), 0);
	c.one = trace_process_figures(c.analysis, case_process(&c, 10));
	CU_ASSERT_EQUAL(tid, 10);
	CU_ASSERT_EQUAL(c.one->probe_hits, 2);
	case_free(&c);
}

/* ---- tracepoints of the kernel ---- */

/* The thread of the last of @nr switches. Thread 10 goes at 3000, and 20, which exits, at 5000. */
static uint32_t thread_of_switch(unsigned int nr, bool has_prev_pid)
{
	static const struct trace_field fields[] = {
		{.name = "prev_pid", .offset = 0, .bytes = 4, .kind = TRACE_KIND_DEC, .is_signed = true},
	};
	const struct trace_event_type type = {.name = "sched:sched_switch",
					      .classic = "NONE",
					      .text = "",
					      .doc = "tracepoint of the kernel",
					      .program = "NONE",
					      .fields = has_prev_pid ? fields : NULL,
					      .nr_fields = has_prev_pid,
					      .fixed_bytes = has_prev_pid ? 8 : 0,
					      .category = TRACE_CATEGORY_USER,
					      .flags = TRACE_EVENT_ON,
					      .source = "sched:sched_switch"};
	uint64_t mask[TRACE_MASK_WORDS] = {[TRACE_EV_USER / 64] = 1ull << TRACE_EV_USER % 64};
	struct analysis_case c = case_new();
	uint16_t id = tb_user_type(c.tb, &type);
	struct trace_error error = {0};
	uint64_t going[] = {10, 20};
	uint32_t tid = 0;

	tb_thread(c.tb, 10, 10, 1, "one", 0, true);
	tb_thread(c.tb, 20, 20, 1, "two", 0, true);
	for (unsigned int i = 0; i < nr; i++) {
		if (going[i] == 20)
			tb_exit(c.tb, 0, 4500, 20, 20, true);
		tb_switch(c.tb, 0, 3000 + 2000 * i, (uint32_t)going[i], (uint32_t)going[!i],
			  going[i] == 20 ? TRACE_TASK_DEAD : TRACE_TASK_RUNNING);
		tb_user_event(c.tb, 0, 3001 + 2000 * i, id, has_prev_pid ? &going[i] : NULL, has_prev_pid ? 8 : 0);
	}
	c.trace = tb_open_trace(c.tb);
	c.analysis = trace_analysis_new(c.trace, NULL, &error);
	CU_ASSERT_EQUAL(trace_analysis_on_event(c.analysis, mask, program_event, &tid), 0);
	CU_ASSERT_EQUAL(trace_analysis_run(c.analysis, &error), 0);
	case_free(&c);
	return tid;
}

static void a_switch_is_an_event_of_the_thread_that_goes(void)
{
	for (unsigned int has_prev_pid = 0; has_prev_pid < 2; has_prev_pid++) {
		CU_ASSERT_EQUAL(thread_of_switch(1, has_prev_pid), 10);
		CU_ASSERT_EQUAL(thread_of_switch(2, has_prev_pid), 20);
	}
}

/* ---- events that programs record themselves ---- */

static uint16_t own_event(struct analysis_case *c)
{
	static const struct trace_field fields[] = {{.name = "tid", .offset = 0, .bytes = 4, .kind = TRACE_KIND_TID}};
	const struct trace_event_type type = {.name = "hot:called",
					      .classic = "NONE",
					      .text = "",
					      .doc = "",
					      .program = "NONE",
					      .fields = fields,
					      .nr_fields = 1,
					      .fixed_bytes = 8,
					      .category = TRACE_CATEGORY_USER,
					      .flags = TRACE_EVENT_ON | TRACE_EVENT_TID,
					      .source = ""};
	struct trace_user_stream stream = {.stream = TB_USER_STREAM, .pid = 10};

	tb_event(c->tb, 0, 1200, TRACE_EV_user_stream, &stream, sizeof(stream), "one");
	return tb_user_type(c->tb, &type);
}

static void own_events_added(struct analysis_case *c, uint32_t ps, uint32_t nr)
{
	struct trace_event_cost cost = {.ps = ps, .least_ps = ps - 1000, .most_ps = ps + 4000};
	uint32_t payload[2] = {10, 0};
	uint16_t id = own_event(c);

	if (ps)
		tb_start(c->tb, 1100, TRACE_EV_event_cost, &cost, sizeof(cost), NULL);
	for (uint32_t i = 0; i < nr; i++)
		tb_user_event(c->tb, 0, 3000 + i, id, payload, sizeof(payload));
}

static void own_events_cost(struct analysis_case *c, uint32_t ps, uint32_t nr)
{
	own_events_added(c, ps, nr);
	case_run(c);
}

/* In user mode: so the cost is a part of the own code, and no sum changes. */
static void own_events_cost_a_part_of_the_own_code(void)
{
	struct analysis_case c = in_own_code();
	struct trace_event_use *uses;
	uint32_t least_ps, most_ps;
	size_t nr;

	own_events_cost(&c, 10500, 20);
	CU_ASSERT_EQUAL(c.one->event_records, 20);
	CU_ASSERT_EQUAL(c.one->event_ns, 210);
	CU_ASSERT_EQUAL(c.one->event_least_ns, 190);
	CU_ASSERT_EQUAL(c.one->event_most_ns, 290);
	CU_ASSERT_EQUAL(c.one->user_ns, OWN_NS);
	CU_ASSERT_EQUAL(c.one->probe_hits, 0);
	uses = trace_event_uses(c.analysis, &nr);
	CU_ASSERT_EQUAL_FATAL(nr, 1);
	CU_ASSERT_STRING_EQUAL(uses[0].name, "hot:called");
	CU_ASSERT_EQUAL(trace_process_pid(uses[0].process), 10);
	CU_ASSERT_EQUAL(uses[0].events, 20);
	CU_ASSERT_EQUAL(uses[0].cost_ns, 210);
	CU_ASSERT_EQUAL(trace_event_cost_ps(c.analysis, &least_ps, &most_ps), 10500);
	CU_ASSERT_EQUAL(least_ps, 9500);
	CU_ASSERT_EQUAL(most_ps, 14500);
	free(uses);
	case_free(&c);
}

static void own_events_cost_no_more_than_the_own_code(void)
{
	struct analysis_case c = in_own_code();

	own_events_cost(&c, 999000, 20);
	CU_ASSERT_EQUAL(c.one->event_ns, OWN_NS);
	CU_ASSERT_EQUAL(c.one->event_most_ns, OWN_NS);
	case_free(&c);
}

/* A trace of an older recorder. */
static void own_events_of_unknown_cost_take_nothing(void)
{
	struct analysis_case c = in_own_code();
	struct trace_event_use *uses;
	size_t nr;

	own_events_cost(&c, 0, 20);
	CU_ASSERT_EQUAL(c.one->event_records, 0);
	CU_ASSERT_EQUAL(c.one->event_ns, 0);
	uses = trace_event_uses(c.analysis, &nr);
	CU_ASSERT_EQUAL(nr, 0);
	free(uses);
	case_free(&c);
}

/* An event with a text, and @bytes of payload: number of the thread, reference and text. */
static void long_event(struct analysis_case *c, uint64_t ns, uint16_t id, uint16_t bytes)
{
	uint32_t payload[100] = {10, (bytes - 8u) << 16 | 8}; /* struct user_reference */

	memset(&payload[2], 'a', bytes - 8u);
	tb_user_event(c->tb, 0, ns, id, payload, bytes + 1u);
}

static uint16_t text_event(struct analysis_case *c)
{
	static const struct trace_field fields[] = {
		{.name = "tid", .offset = 0, .bytes = 4, .kind = TRACE_KIND_TID},
		{.name = "text", .offset = 4, .bytes = 4, .kind = TRACE_KIND_STRING}};
	const struct trace_event_type type = {.name = "hot:said",
					      .classic = "NONE",
					      .text = "",
					      .doc = "",
					      .program = "NONE",
					      .fields = fields,
					      .nr_fields = 2,
					      .fixed_bytes = 8,
					      .has_string = true,
					      .category = TRACE_CATEGORY_USER,
					      .flags = TRACE_EVENT_ON | TRACE_EVENT_TID,
					      .source = ""};

	return tb_user_type(c->tb, &type);
}

/* 3 events of 10 ns; two with a text, 20 ns, of which one has 128 bytes more: 4 ns for 64 */
static void texts_cost_more(void)
{
	struct trace_long_cost cost = {.ps = 20000, .least_ps = 18000, .most_ps = 26000, .ps_per_64_bytes = 4000};
	struct analysis_case c = in_own_code();
	struct trace_event_use *uses;
	uint16_t id = text_event(&c);
	uint32_t ps_per_64_bytes;
	size_t nr;

	tb_start(c.tb, 1100, TRACE_EV_long_cost, &cost, sizeof(cost), NULL);
	long_event(&c, 4000, id, 24);
	long_event(&c, 5000, id, 24 + 128);
	own_events_cost(&c, 10000, 3);
	CU_ASSERT_EQUAL(c.one->event_records, 5);
	CU_ASSERT_EQUAL(c.one->event_ns, 3 * 10 + 20 + 28);
	CU_ASSERT_EQUAL(c.one->event_least_ns, 3 * 9 + 18 + 26);
	CU_ASSERT_EQUAL(c.one->event_most_ns, 3 * 14 + 26 + 34);
	CU_ASSERT_EQUAL(trace_event_long_cost_ps(c.analysis, &ps_per_64_bytes), 20000);
	CU_ASSERT_EQUAL(ps_per_64_bytes, 4000);
	uses = trace_event_uses(c.analysis, &nr);
	CU_ASSERT_EQUAL_FATAL(nr, 2);
	CU_ASSERT_STRING_EQUAL(uses[1].name, "hot:said");
	CU_ASSERT_EQUAL(uses[1].cost_ns, 48);
	free(uses);
	case_free(&c);
}

static void texts_of_unknown_cost_cost_as_the_others(void)
{
	struct analysis_case c = in_own_code();
	uint16_t id = text_event(&c);

	long_event(&c, 4000, id, 24 + 128);
	own_events_cost(&c, 10000, 3);
	CU_ASSERT_EQUAL(c.one->event_ns, 40);
	case_free(&c);
}

/* The thread records 20 events from 3000 on; those from 3005 to 3009 are in the window. */
static void a_window_has_the_cost_of_its_own_events(void)
{
	struct trace_analysis_options options = {.size = sizeof(options), .from_ns = 3005, .to_ns = 3010};
	struct analysis_case c = in_own_code();
	struct trace_event_use *uses;
	struct trace_error error = {0};
	size_t nr;

	own_events_added(&c, 1000, 20);
	c.trace = tb_open_trace(c.tb);
	c.analysis = trace_analysis_new(c.trace, &options, &error);
	CU_ASSERT_PTR_NOT_NULL_FATAL(c.analysis);
	case_run(&c);
	CU_ASSERT_EQUAL(c.one->event_records, 5);
	CU_ASSERT_EQUAL(c.one->user_ns, 5);
	CU_ASSERT_EQUAL(c.one->event_ns, 5);
	uses = trace_event_uses(c.analysis, &nr);
	CU_ASSERT_EQUAL_FATAL(nr, 1);
	CU_ASSERT_EQUAL(uses[0].events, 5);
	free(uses);
	case_free(&c);
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		CASE(hits_cost_time_in_the_kernel),
		CASE(a_hit_takes_no_more_than_there_was),
		CASE(a_probe_of_unknown_cost_takes_nothing),
		CASE(places_of_one_probe_widen_the_range),
		CASE(a_probe_without_hits_is_listed),
		CASE(a_hit_is_not_a_hidden_threads),
		CASE(a_switch_is_an_event_of_the_thread_that_goes),
		CASE(own_events_cost_a_part_of_the_own_code),
		CASE(own_events_cost_no_more_than_the_own_code),
		CASE(own_events_of_unknown_cost_take_nothing),
		CASE(texts_cost_more),
		CASE(texts_of_unknown_cost_cost_as_the_others),
		CASE(a_window_has_the_cost_of_its_own_events),
		{NULL, NULL},
	};

	return unit_main("cost of probes", cases, argc, argv);
}
