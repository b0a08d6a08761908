/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_pass_steps.c - any division of the pass into steps gives the same reports and calls the same
 * hooks.
 *
 * tracevisualizer runs within this program, whose own trace_analysis_run() it calls: that one makes
 * the pass in steps.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <trace/analysis.h>
#include <trace/critical_path.h>
#include <trace/servers.h>
#include <trace/user_events.h>
#include <xxhash.h>

#include "image.h"
#include "random_story.h"
#include "shape_reports.h"
#include "unit.h"

/* ---- divisions ---- */

enum division { WHOLE, RANDOM, EACH_NS, EMPTY, ASKED, NR_DIVISIONS };

static enum division division;
static uint64_t nr_steps, hooks_hash, nr_intervals;
static struct dice dice;

static void add_to_hash(const void *data, size_t bytes)
{
	hooks_hash = XXH3_64bits_withSeed(data, bytes, hooks_hash);
}

static void add_text(const char *text)
{
	if (text)
		add_to_hash(text, strlen(text) + 1);
}

static void on_interval(void *data, struct trace_analysis *analysis, const struct trace_interval *interval)
{
	const struct trace_thread *threads[] = {interval->thread, interval->waker, interval->worker};
	uint64_t numbers[] = {interval->from_ns,
			      interval->to_ns,
			      interval->state,
			      (uint64_t)interval->cpu,
			      interval->kind,
			      interval->idle,
			      interval->other ? trace_process_pid(interval->other) : 0,
			      trace_analysis_now(analysis)};

	add_to_hash(numbers, sizeof(numbers));
	for (size_t i = 0; i < sizeof(threads) / sizeof(threads[0]); i++) {
		uint32_t idx = threads[i] ? trace_thread_index(threads[i]) : UINT32_MAX;

		add_to_hash(&idx, sizeof(idx));
	}
	add_text(interval->name);
	add_text(interval->target);
	add_text(interval->via);
	add_text(interval->path);
	nr_intervals++;
}

static void on_event(void *data, struct trace_analysis *analysis, const struct trace_event *event)
{
	uint64_t numbers[] = {event->ts_ns, event->id, event->cpu, event->stream};

	add_to_hash(numbers, sizeof(numbers));
	add_to_hash(event->payload, event->payload_bytes);
}

static void on_late_gap(void *data, struct trace_analysis *analysis, const struct trace_gap *gap)
{
	uint64_t numbers[] = {gap->start_ns, gap->end_ns, gap->lost, gap->stream, gap->cause};

	add_to_hash(numbers, sizeof(numbers));
}

/* Functions that the caller may use between two steps. */
static void ask(const struct trace_analysis *analysis)
{
	for (uint32_t cpu = 0; cpu < trace_nr_cpus(analysis); cpu++) {
		const struct trace_thread *thread = trace_thread_on_cpu(analysis, cpu);
		struct trace_times times;

		if (!thread)
			continue;
		trace_thread_times(analysis, thread, &times);
		trace_thread_syscall(analysis, thread);
		trace_process_title(trace_thread_process(thread));
	}
	for (size_t i = 0; i < trace_nr_processes(analysis); i++)
		trace_figures_free(trace_process_figures(analysis, trace_get_process(analysis, i)));
	trace_figures_free(trace_system_figures(analysis));
}

/* The end of the next step after @ns */
static uint64_t next_step(uint64_t ns)
{
	uint64_t far = below(&dice, 8) ? 60 : 800;

	switch (division) {
	case WHOLE:
		return UINT64_MAX;
	case EACH_NS:
		return ns + 1;
	default:
		return ns + below(&dice, far);
	}
}

static int empty_steps(struct trace_analysis *analysis, uint64_t ns, struct trace_error *ret_error)
{
	int result = trace_analysis_step(analysis, ns, ret_error);

	if (!result)
		result = trace_analysis_step(analysis, ns / 2, ret_error);
	return result ? result : trace_analysis_step(analysis, 0, ret_error);
}

/* Replaces the function of the library for all of this program. */
int trace_analysis_run(struct trace_analysis *analysis, struct trace_error *ret_error)
{
	uint64_t start_ns, end_ns, ns;
	int result = 0;

	if (trace_analysis_on_event(analysis, NULL, on_event, NULL) < 0 ||
	    trace_analysis_on_interval(analysis, on_interval, NULL) < 0 ||
	    trace_analysis_on_late_gap(analysis, on_late_gap, NULL) < 0)
		return -ENOMEM;
	trace_analysis_window(analysis, &start_ns, &end_ns);
	for (ns = start_ns; !result; nr_steps++) {
		ns = division == EACH_NS && ns > start_ns + (1 << 20) ? UINT64_MAX : next_step(ns);
		result = trace_analysis_step(analysis, ns, ret_error);
		if (!result && division == EMPTY)
			result = empty_steps(analysis, ns, ret_error);
		if (!result && division == ASKED)
			ask(analysis);
	}
	return result < 0 ? result : 0;
}

/* ---- the same results ---- */

static const char *const reports[][4] = {
	{"--json"},	{"--json", "--all", "--verify"}, {"--json", "--from=0.0000011", "--to=0.000017"},
	{"-a", "--ns"}, {"--critical-path", "--json"},
};

static void check_trace(const struct image *image, uint64_t seed)
{
	for (size_t i = 0; i < sizeof(reports) / sizeof(reports[0]); i++) {
		char *whole = NULL;
		uint64_t hash = 0, intervals = 0, steps = 0;

		for (division = WHOLE; division < NR_DIVISIONS; division++) {
			char *text;

			hooks_hash = nr_intervals = nr_steps = 0;
			dice.state = seed;
			text = shape_report(image->path, reports[i]);
			if (division == WHOLE) {
				whole = text;
				hash = hooks_hash;
				intervals = nr_intervals;
				steps = nr_steps;
				continue;
			}
			CU_ASSERT_TRUE(!whole == !text);
			CU_ASSERT_TRUE(!text || strcmp(whole, text) == 0);
			CU_ASSERT(hash == hooks_hash && intervals == nr_intervals);
			CU_ASSERT_TRUE(!steps || nr_steps > 5 * steps);
			free(text);
		}
		CU_ASSERT_TRUE(!whole || intervals > 10);
		free(whole);
	}
}

static struct mood mood_of(uint64_t seed)
{
	return (struct mood){.noise = (uint32_t)(seed % 3 * 10),
			     .nr_tids = seed % 4 ? 12 : 60,
			     .switches = 25,
			     .sleeps = 50,
			     .losses = seed & 1,
			     .cuts = 1,
			     .nr_events = 600,
			     .streams = seed % 3 == 0,
			     .masks = seed % 5 == 1,
			     .moves = seed & 2,
			     .programs = seed & 1};
}

static struct image story_image(uint64_t seed, bool spoil)
{
	struct mood mood = mood_of(seed);
	struct tb *tb = random_story(seed, &mood);
	struct image image = image_new(tb, true);

	for (size_t i = 1; spoil && image_spoil(&image, TRACE_CHUNK_EVENTS, i); i += 3)
		;
	tb_free(tb);
	return image;
}

static void any_division_gives_the_same(void)
{
	uint64_t nr = getenv("TRACE_TEST_LONG") ? 200 : 4 / (uint64_t)unit_step(2);

	for (uint64_t seed = 1; seed <= nr; seed++) {
		struct image image = story_image(seed, false);

		check_trace(&image, seed);
		image_free(&image);
	}
}

static void any_division_gives_the_same_for_a_damaged_trace(void)
{
	uint64_t nr = getenv("TRACE_TEST_LONG") ? 200 : 4 / (uint64_t)unit_step(2);

	for (uint64_t seed = 1001; seed <= 1000 + nr; seed++) {
		struct image image = story_image(seed, true);

		check_trace(&image, seed);
		image_free(&image);
	}
}

/* ---- between steps ---- */

static void a_step_handles_the_events_before_its_end(void)
{
	struct tb *tb = tb_new();
	struct trace_analysis *analysis;
	struct trace_error error = {0};
	struct trace *trace;

	tb_window(tb, 1000, 9000);
	tb_thread(tb, 10, 10, 1, "one", 0, true);
	tb_switch(tb, 0, 2000, 10, 20, 1);
	tb_switch(tb, 0, 3000, 20, 10, 1);
	tb_switch(tb, 0, 4000, 10, 0, 1);
	trace = tb_open_trace(tb);
	analysis = trace_analysis_new(trace, NULL, NULL);
	CU_ASSERT_EQUAL(trace_analysis_step(analysis, 2000, &error), 0);
	CU_ASSERT_EQUAL(trace_thread_tid(trace_thread_on_cpu(analysis, 0)), 10);
	CU_ASSERT_EQUAL(trace_analysis_verify(analysis, &error), -EBADMSG);
	CU_ASSERT_EQUAL(trace_analysis_step(analysis, 2001, &error), 0);
	CU_ASSERT_EQUAL(trace_analysis_now(analysis), 2000);
	CU_ASSERT_EQUAL(trace_thread_tid(trace_thread_on_cpu(analysis, 0)), 20);
	CU_ASSERT_EQUAL(trace_analysis_step(analysis, 2000, &error), 0);
	CU_ASSERT_EQUAL(trace_analysis_step(analysis, 4000, &error), 0);
	CU_ASSERT_EQUAL(trace_analysis_now(analysis), 3000);
	CU_ASSERT_EQUAL(trace_analysis_step(analysis, UINT64_MAX, &error), 1);
	CU_ASSERT_EQUAL(trace_analysis_verify(analysis, &error), 0);
	CU_ASSERT_EQUAL(trace_analysis_step(analysis, UINT64_MAX, &error), -EBUSY);
	trace_analysis_free(analysis);
	trace_close(trace);
	tb_free(tb);
}

static void a_pass_is_cancelled_between_steps(void)
{
	for (uint64_t seed = 1; seed <= 30; seed++) {
		struct image image = story_image(seed, seed & 4);
		struct trace *trace = trace_open(image.path, NULL);
		struct trace_analysis_options options = {.size = sizeof(options), .verify = true};
		struct trace_analysis *analysis = trace_analysis_new(trace, &options, NULL);
		struct trace_servers *servers = trace_servers_new(trace, analysis, NULL);
		struct trace_history *history = trace_history_new(analysis, NULL, NULL);
		struct trace_user_events *user = trace_user_events_new(trace, analysis, NULL);
		uint64_t ns = trace_get_info(trace)->start_ns, until_ns = ns + seed * 300;

		for (dice.state = seed, division = RANDOM; ns < until_ns; ns = next_step(ns) + 1)
			if (trace_analysis_step(analysis, ns, NULL))
				break;
		ask(analysis);
		trace_user_events_free(user);
		trace_history_free(history);
		trace_servers_free(servers);
		trace_analysis_free(analysis);
		trace_close(trace);
		image_free(&image);
	}
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		CASE(a_step_handles_the_events_before_its_end),
		CASE(a_pass_is_cancelled_between_steps),
		CASE(any_division_gives_the_same),
		CASE(any_division_gives_the_same_for_a_damaged_trace),
		{NULL, NULL},
	};

	return unit_main("the pass in steps", cases, argc, argv);
}
