/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_page_part.c - the page of a part has a smaller trace, with which all figures of the part are
 * those of the whole trace
 *
 * 	test_page_part                       random stories
 * 	TRACE_TEST_PART=FILE test_page_part  also a recording
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include "builder.h"
#include "page_part.h"
#include "random_story.h"
#include "unit.h"
#include "view_session.h"

#define NR_STORIES 25
#define QUESTION   128

static struct visualizer_options options_of(uint64_t from_ns, uint64_t to_ns)
{
	return (struct visualizer_options){.reports.view = true,
					   .events.cpu = -1,
					   .processes.pid = -1,
					   .processes.tid = -1,
					   .window.from = {.origin = TIME_AFTER_START, .ns = from_ns},
					   .window.to = {.origin = TIME_AFTER_START, .ns = to_ns}};
}

static struct trace *story(uint64_t seed)
{
	struct mood mood = {.noise = (uint32_t)(seed % 3 * 10),
			    .nr_tids = seed % 5 ? 12 : 60,
			    .switches = 25,
			    .sleeps = 50,
			    .losses = seed & 1,
			    .cuts = 1,
			    .nr_events = 1500,
			    .streams = seed % 3 == 0,
			    .moves = seed & 2,
			    .programs = seed & 1};
	struct tb *tb = random_story(seed, &mood);
	struct trace *trace = tb_open_trace(tb);

	tb_free(tb);
	return trace;
}

static uint64_t duration_of(const struct trace *trace)
{
	const struct trace_info *info = trace_get_info(trace);

	return info->end_ns - info->complete_from_ns;
}

static void begin(struct view_session *session, const struct trace *trace, const struct visualizer_options *options)
{
	CU_ASSERT_EQUAL_FATAL(view_session_begin(session, trace, options), 0);
	while (!session->is_billed)
		CU_ASSERT_FATAL(view_session_step(session, 1, 1) >= 0);
}

/* Windows that the choice of the part has not compared. */
static void compare(const struct trace *whole, const struct trace *part, const struct visualizer_options *options,
		    struct dice *dice)
{
	static const char *const questions[] = {"books", "sums", "waits", "clients", "verdict"};
	struct view_session sessions[2] = {0};
	uint64_t width;

	begin(&sessions[0], whole, options);
	begin(&sessions[1], part, options);
	width = sessions[0].end - sessions[0].start;
	for (size_t i = 0; i < sizeof(questions) / sizeof(questions[0]); i++) {
		uint64_t from = below(dice, width), to = from + 1 + below(dice, width - from);
		struct view_answer answers[2];
		char question[QUESTION];

		snprintf(question, sizeof(question), "%s?from=%llu&to=%llu", questions[i], (unsigned long long)from,
			 (unsigned long long)to);
		for (int j = 0; j < 2; j++)
			answers[j] = view_answer(&sessions[j], question);
		CU_ASSERT_EQUAL_FATAL(answers[0].size, answers[1].size);
		CU_ASSERT(memcmp(answers[0].bytes, answers[1].bytes, answers[0].size) == 0);
		for (int j = 0; j < 2; j++)
			free(answers[j].bytes);
	}
	view_session_end(&sessions[0]);
	view_session_end(&sessions[1]);
}

/* Returns the events of the part; 0: it needs the whole trace. */
static uint64_t check(const struct trace *trace, uint64_t from_ns, uint64_t to_ns, struct dice *dice)
{
	struct visualizer_options options = options_of(from_ns, to_ns);
	struct time_window window;
	struct page_part part;
	uint64_t events = 0;

	CU_ASSERT_EQUAL_FATAL(time_window_of(trace, &options.window, &window), 0);
	CU_ASSERT_EQUAL_FATAL(page_part_new(trace, &window, &options, &part), 0);
	if (part.trace) {
		events = trace_get_info(part.trace)->events;
		CU_ASSERT_EQUAL(trace_verify(part.trace, NULL), 0);
		compare(trace, part.trace, &options, dice);
	}
	page_part_free(&part);
	return events;
}

static void parts_of_random_stories_have_the_figures_of_the_whole(void)
{
	struct dice dice = {.state = 29};
	int nr_smaller = 0;

	for (uint64_t seed = 1; seed <= NR_STORIES; seed += (uint64_t)unit_step(5)) {
		struct trace *trace = story(seed);
		uint64_t duration = duration_of(trace), from = below(&dice, duration * 2 / 3);
		uint64_t events = check(trace, from, from + 1 + below(&dice, duration / 3), &dice);

		nr_smaller += events && events < trace_get_info(trace)->events;
		trace_close(trace);
	}
	/* most have a part of their own: the events are as wild as the kernel's never are */
	CU_ASSERT(nr_smaller * 2 * unit_step(5) > NR_STORIES);
}

/* Two threads pass a byte to and fro; a third one waits from the begin to behind the part's end. */
static struct trace *ping_pong(uint32_t nr)
{
	struct tb *tb = tb_new();
	struct trace *trace;
	uint64_t ns = 2000;

	tb_string(tb, TRACE_STRING_SYSCALL, SYS_read, "read");
	tb_string(tb, TRACE_STRING_SYSCALL, SYS_write, "write");
	tb_thread(tb, 10, 10, 1, "ping", 0, true);
	tb_thread(tb, 20, 20, 1, "pong", 0, false);
	tb_thread(tb, 30, 30, 1, "waits", 1, true);
	for (uint32_t tid = 10; tid <= 30; tid += 10)
		tb_fd(tb, tid, 3, 1, 700 + tid / 20, S_IFIFO | 0600, "pipe:[700]");
	tb_switch(tb, 1, 1000, 0, 30, TRACE_TASK_RUNNING);
	tb_sys_enter(tb, 1, 1100, SYS_read, 3, 1, 1);
	tb_switch(tb, 1, 1200, 30, 0, TRACE_TASK_INTERRUPTIBLE);
	tb_switch(tb, 0, 1000, 0, 10, TRACE_TASK_RUNNING);
	for (uint32_t i = 0; i < nr; i++) {
		uint32_t runs = i % 2 ? 20 : 10, other = 30 - runs;

		tb_sys_enter(tb, 0, ns, SYS_write, 3, 1, 1);
		tb_waking(tb, 0, ns + 100, other, TRACE_CONTEXT_TASK);
		tb_sys_exit(tb, 0, ns + 200, 1);
		tb_sys_enter(tb, 0, ns + 300, SYS_read, 3, 1, 1);
		tb_switch(tb, 0, ns + 400, runs, other, TRACE_TASK_INTERRUPTIBLE);
		if (i)
			tb_sys_exit(tb, 0, ns + 500, 1);
		ns += 1000;
	}
	tb_waking(tb, 0, ns, 30, TRACE_CONTEXT_TASK);
	tb_switch(tb, 1, ns + 100, 0, 30, TRACE_TASK_RUNNING);
	tb_sys_exit(tb, 1, ns + 200, 1);
	trace = tb_open_trace(tb);
	tb_free(tb);
	return trace;
}

static void a_part_is_as_large_as_it_is_long(void)
{
	struct trace *trace = ping_pong(5000);
	struct dice dice = {.state = 30};
	uint64_t all = trace_get_info(trace)->events, events;

	events = check(trace, 4000000, 4100000, &dice); /* 2 % */
	CU_ASSERT(events > all / 50 && events < all / 15);
	events = check(trace, 1000000, 1500000, &dice); /* 10 % */
	CU_ASSERT(events > all / 10 && events < all / 4);
	trace_close(trace);
}

static void a_recording_that_is_named(void)
{
	const char *file = getenv("TRACE_TEST_PART");
	struct dice dice = {.state = 31};
	struct trace *trace = file ? trace_open(file, NULL) : NULL;

	for (int i = 0; trace && i < 5; i++) {
		uint64_t duration = duration_of(trace), from = below(&dice, duration / 2),
			 to = from + duration / (10u << i);
		uint64_t events = check(trace, from, to, &dice);

		printf("%llu to %llu ns: %llu of %llu events\n", (unsigned long long)from, (unsigned long long)to,
		       (unsigned long long)events, (unsigned long long)trace_get_info(trace)->events);
	}
	trace_close(trace);
}

static const struct unit_case cases[] = {CASE(parts_of_random_stories_have_the_figures_of_the_whole),
					 CASE(a_part_is_as_large_as_it_is_long),
					 CASE(a_recording_that_is_named),
					 {NULL, NULL}};

int main(int argc, char **argv)
{
	return unit_main("page_part", cases, argc, argv);
}
