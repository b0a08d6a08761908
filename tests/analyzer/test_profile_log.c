/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_profile_log.c - the profile of a span from a log equals that of a pass with that window
 *
 * The oracle is an analysis with a window, for each of many random spans. All shares are compared,
 * with the whole stacks of their samples, as text.
 *
 * 	test_profile_log                         random machines
 * 	TRACE_TEST_PROFILE=FILE test_profile_log      also 50 spans of a recording
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <trace/profile.h>
#include <unistd.h>
#include "random_story.h"
#include "sample_case.h"
#include "unit.h"

#define NR_SPANS     40
#define NR_SEEDS     40
#define NR_SAMPLES   1500
#define MANY_BLOCKS  50 /* entries of a block */
#define STORY_NS     100000
#define IN_READ	     0xffffffff81000100ull
#define IN_PROGRAM   0x401000ull
#define PART(number) (16 + (number))
#define EXIT_PART    128
#define WAKER	     3 /* by a thread; then by a softirq, and by an interrupt */
#define WAIT	     1

/* struct logged - a trace, its pass with a log, and what was compared */
struct logged {
	struct trace *trace;
	struct trace_analysis *analysis;
	struct trace_profile_log *log;
	size_t nr_samples, nr_wait_stacks, nr_wakers;
};

static struct logged logged_new(struct trace *trace, const struct trace_profile_log_options *options)
{
	struct logged l = {.trace = trace, .analysis = trace_analysis_new(trace, NULL, NULL)};
	struct trace_error error = {0};

	l.log = trace_profile_log_new(l.analysis, options, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(l.log);
	CU_ASSERT_PTR_NULL(trace_profile_of_span(l.log, 0, 0, &error));
	CU_ASSERT_EQUAL(error.code, -EAGAIN);
	CU_ASSERT_EQUAL(trace_profile_log_end(l.log, NULL), -EAGAIN);
	CU_ASSERT_EQUAL_FATAL(trace_analysis_run(l.analysis, NULL), 0);
	CU_ASSERT_EQUAL_FATAL(trace_profile_log_end(l.log, NULL), 0);
	return l;
}

static void logged_free(struct logged *l)
{
	trace_profile_log_free(l->log);
	trace_analysis_free(l->analysis);
}

/* ---- profiles as text ---- */

static void put_stack(FILE *out, const struct trace_profile *profile, uint32_t number)
{
	struct trace_profile_frame frame;

	for (; trace_profile_get_frame(profile, number, &frame); number = frame.caller)
		fprintf(out, " %lx of %u at %lu: %d%d%d%d %d", frame.address, frame.tid, frame.ts_ns, frame.in_kernel,
			frame.is_caller, frame.is_claimed, frame.is_cut, frame.end);
}

static uint32_t number_of(const struct trace_thread *thread)
{
	return thread ? trace_thread_index(thread) : UINT32_MAX;
}

static void put_share(FILE *out, struct trace_profile *profile, const struct trace_profile_share *s)
{
	fprintf(out, "%u: %d %d %d %s %s %s %s %u %u; %lu of %lu, %lu stacks, %lu intervals, %lu ns;",
		number_of(s->thread), s->state, s->kind, s->idle, s->name, s->target, s->via, s->path,
		s->other ? trace_process_pid(s->other) : 0, number_of(s->other_thread), s->samples, s->of, s->stacks,
		s->intervals, s->ns);
	put_stack(out, profile, s->frame);
	fprintf(out, "; woken by %d %u", s->waker_kind, number_of(s->waker));
	put_stack(out, profile, s->waker_frame);
	fprintf(out, "\n");
}

/* All of @profile, which it frees. */
static char *text_of(struct trace_profile *profile, struct logged *l)
{
	struct trace_profile_numbers numbers;
	struct trace_profile_share share;
	uint64_t from, to;
	size_t bytes;
	char *text;
	FILE *out = open_memstream(&text, &bytes);

	CU_ASSERT_PTR_NOT_NULL_FATAL(profile);
	CU_ASSERT_EQUAL(trace_profile_error(profile), 0);
	trace_profile_window(profile, &from, &to);
	trace_profile_get_numbers(profile, &numbers);
	fprintf(out, "%lu to %lu: %lu %lu %lu %lu %lu\n", from, to, numbers.samples, numbers.unplaced, numbers.cut,
		numbers.wait_stacks, numbers.waker_stacks);
	for (size_t i = 0; trace_profile_get_share(profile, i, &share); i++) {
		put_share(out, profile, &share);
		l->nr_samples += share.samples;
		l->nr_wait_stacks += share.stacks;
		l->nr_wakers += share.waker_kind != TRACE_PROFILE_WAKER_NONE;
	}
	trace_profile_free(profile);
	fclose(out);
	return text;
}

static char *text_of_pass(struct logged *l, uint64_t from, uint64_t to)
{
	const struct trace_analysis_options options = {.size = sizeof(options), .from_ns = from, .to_ns = to};
	struct trace_analysis *analysis = trace_analysis_new(l->trace, &options, NULL);
	struct trace_profile *profile = trace_profile_new(analysis, NULL);
	char *text;

	CU_ASSERT_EQUAL_FATAL(trace_analysis_run(analysis, NULL), 0);
	text = text_of(profile, l);
	trace_analysis_free(analysis);
	return text;
}

static bool check_span(struct logged *l, uint64_t from, uint64_t to)
{
	char *of_log = text_of(trace_profile_of_span(l->log, from, to, NULL), l),
	     *of_pass = text_of_pass(from || to ? l : &(struct logged){.trace = l->trace}, from, to);
	bool is_same = strcmp(of_log, of_pass) == 0;

	CU_ASSERT(is_same);
	if (!is_same)
		printf("from %lu to %lu:\n%s---- a pass:\n%s", from, to, of_log, of_pass);
	free(of_log);
	free(of_pass);
	return is_same;
}

static bool check_spans(struct logged *l, struct dice *dice)
{
	uint64_t start, end;
	bool is_same;

	trace_analysis_window(l->analysis, &start, &end);
	is_same = check_span(l, 0, 0) && check_span(l, start, end) && check_span(l, start, 0);
	for (int i = 0; i < NR_SPANS && is_same; i++) {
		uint64_t from = start + below(dice, end - start), to = from + 1 + below(dice, end - from);

		is_same = check_span(l, from, i % 8 ? to : 0);
	}
	return is_same && check_span(l, end - 1, end + 10) && check_span(l, 1, start ? start : 1);
}

/* ---- random machines ---- */

static void add_samples(struct tb *tb, struct dice *dice)
{
	static const uint8_t sources[] = {0,	 0,	0,	   WAIT,      WAIT,    2,	 2,
					  WAKER, WAKER, WAKER + 1, WAKER + 2, PART(0), EXIT_PART};

	for (int i = 0; i < NR_SAMPLES; i++) {
		struct lists lists = {.nr_kernel = below(dice, 3),
				      .nr_user = below(dice, 3),
				      .source = sources[below(dice, sizeof(sources))],
				      .certain = below(dice, 2),
				      .cut = (uint8_t)(64 * below(dice, 2)),
				      .user = {IN_PROGRAM}};

		if (lists.source >= WAKER && lists.source < PART(0))
			lists.kernel[lists.nr_kernel++] = 1 + below(dice, 14);
		add_sample(tb, (uint32_t)below(dice, 2), 1000 + below(dice, STORY_NS), 1 + (uint32_t)below(dice, 14),
			   lists.source != WAIT && below(dice, 2) ? IN_PROGRAM + below(dice, 4) : IN_READ, &lists);
	}
}

static void check_story(uint64_t seed, const struct mood *mood, const struct trace_profile_log_options *options,
			struct logged *sum)
{
	struct tb *tb = random_story(seed, mood);
	struct dice dice = {.state = seed, .mood = mood};
	struct logged l;

	add_samples(tb, &dice);
	l = logged_new(tb_open_trace(tb), options);
	if (!check_spans(&l, &dice))
		printf("seed %llu\n", (unsigned long long)seed);
	sum->nr_samples += l.nr_samples;
	sum->nr_wait_stacks += l.nr_wait_stacks;
	sum->nr_wakers += l.nr_wakers;
	logged_free(&l);
	trace_close(l.trace);
	tb_free(tb);
}

static void profiles_of_spans_are_those_of_a_pass(void)
{
	static const struct mood plausible = {.nr_tids = 12, .switches = 30, .sleeps = 60, .moves = true},
				 noise = {.noise = 40,
					  .nr_tids = 14,
					  .switches = 40,
					  .sleeps = 50,
					  .cuts = 1,
					  .losses = true,
					  .streams = true,
					  .masks = true,
					  .moves = true};
	const struct trace_profile_log_options options = {.size = sizeof(options), .nr_entries = MANY_BLOCKS};
	struct logged sum = {0};

	for (uint64_t seed = 1 + (uint64_t)unit_first(unit_step(5)); seed <= NR_SEEDS; seed += unit_step(5)) {
		check_story(seed, &plausible, &options, &sum);
		check_story(seed, &noise, &options, &sum);
	}
	CU_ASSERT(sum.nr_samples > 1000);
	CU_ASSERT(sum.nr_wait_stacks > 100);
	CU_ASSERT(sum.nr_wakers > 10);
}

static void a_log_can_be_in_a_file(void)
{
	static const struct mood plausible = {.nr_tids = 12, .switches = 30, .sleeps = 60, .moves = true};
	struct trace_profile_log_options options = {.size = sizeof(options),
						    .has_file = true,
						    .nr_entries = MANY_BLOCKS};
	struct trace_error error = {0};
	char path[] = "/tmp/profile_log.XXXXXX";
	struct logged sum = {0}, l;
	struct tb *tb;

	options.fd = mkstemp(path);
	CU_ASSERT_FATAL(options.fd >= 0);
	unlink(path);
	check_story(3, &plausible, &options, &sum);
	CU_ASSERT_EQUAL_FATAL(ftruncate(options.fd, 0), 0);
	tb = random_story(4, &plausible);
	l = logged_new(tb_open_trace(tb), &options);
	CU_ASSERT_EQUAL_FATAL(ftruncate(options.fd, 0), 0);
	CU_ASSERT_PTR_NULL(trace_profile_of_span(l.log, 0, 0, &error));
	CU_ASSERT_EQUAL(error.code, -ENODATA);
	logged_free(&l);
	trace_close(l.trace);
	tb_free(tb);
	close(options.fd);
}

static void a_log_is_of_a_whole_pass(void)
{
	static const struct mood plausible = {.nr_tids = 12, .switches = 30, .sleeps = 60};
	const struct trace_analysis_options window = {.size = sizeof(window), .from_ns = 1, .to_ns = 2};
	struct tb *tb = random_story(1, &plausible);
	struct trace *trace = tb_open_trace(tb);
	struct trace_analysis *analysis = trace_analysis_new(trace, &window, NULL);
	struct trace_error error = {0};

	CU_ASSERT_PTR_NULL(trace_profile_log_new(analysis, NULL, &error));
	CU_ASSERT_EQUAL(error.code, -EBUSY);
	trace_analysis_free(analysis);
	CU_ASSERT_PTR_NULL(trace_profile_log_free(NULL));
	trace_close(trace);
	tb_free(tb);
}

static void profiles_of_a_recording_are_those_of_a_pass(void)
{
	const char *path = getenv("TRACE_TEST_PROFILE");
	struct dice dice = {.state = 1};
	struct logged l;

	if (!path)
		return;
	l = logged_new(trace_open(path, NULL), NULL);
	check_spans(&l, &dice);
	printf("%zu samples, %zu stacks of waits, %zu of wakers\n", l.nr_samples, l.nr_wait_stacks, l.nr_wakers);
	logged_free(&l);
	trace_close(l.trace);
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		CASE(profiles_of_spans_are_those_of_a_pass),
		CASE(a_log_can_be_in_a_file),
		CASE(a_log_is_of_a_whole_pass),
		CASE(profiles_of_a_recording_are_those_of_a_pass),
		{NULL, NULL},
	};

	return unit_main("profile_log", cases, argc, argv);
}
