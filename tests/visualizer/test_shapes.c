/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_shapes.c - traces with events of unusual shapes: shorter, longer, with fields at other
 * offsets, with numbers that no kernel has.
 *
 * The first cases have known results. The last one runs a little of what fuzz_shapes does with many
 * more.
 */
#include <stdlib.h>
#include <string.h>
#include <trace/analysis.h>
#include <trace/user_events.h>

#include "builder.h"
#include "image.h"
#include "shape_edits.h"
#include "shape_reports.h"
#include "unit.h"

enum { NR_TRIES = 300, NR_AS_THEY_ARE = 46 };

/* Decodes the trace of @tb, and frees @tb. */
static struct reshape *apart(struct tb *tb)
{
	struct image image = image_new(tb, true);
	struct reshape *r = reshape_new(image.data, image.bytes);

	image_free(&image);
	tb_free(tb);
	return r;
}

/* Encodes the trace again, and frees @r. */
static struct image together(struct reshape *r)
{
	size_t bytes;
	unsigned char *data = reshape_put(r, &bytes);
	struct image image = image_of(data, bytes);

	free(data);
	reshape_free(r);
	return image;
}

/* The basis of all cases here: a trace decoded and encoded without an edit has no fault, has a
 * table, and is compressed as before. */
static void an_unedited_trace_is_intact(void)
{
	static const struct mood mood = {
		.noise = 5, .nr_tids = 12, .switches = 25, .sleeps = 50, .cuts = 2, .nr_events = 400, .programs = true};
	struct reshape *r = apart(random_story(1, &mood));
	struct image image;
	char *text;

	CU_ASSERT_TRUE(r->complete && r->has_table);
	r->stride += 8; /* that of a later version */
	image = together(r);
	text = shape_report(image.path, (const char *[]){"--verify", NULL});
	CU_ASSERT_PTR_NOT_NULL(text);
	free(text);
	image_free(&image);
}

/* The table says that the first chunk is longer, which does not match the chunk's position. */
static void a_false_table_is_not_used(void)
{
	static const struct mood mood = {
		.noise = 5, .nr_tids = 12, .switches = 25, .sleeps = 50, .cuts = 2, .nr_events = 400};
	struct reshape *r = apart(random_story(1, &mood)), *lies = apart(random_story(1, &mood));
	struct image image[2];
	struct trace *trace[2];

	lies->table_lie = (struct reshape_lie){.is_told = true,
					       .at = offsetof(struct trace_table_entry, raw_bytes),
					       .value = 1ull << 40 | 1};
	image[0] = together(r);
	image[1] = together(lies);
	for (int i = 0; i < 2; i++)
		trace[i] = trace_open(image[i].path, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(trace[1]);
	CU_ASSERT_EQUAL(trace_get_info(trace[1])->events, trace_get_info(trace[0])->events);
	for (int i = 0; i < 2; i++) {
		trace_close(trace[i]);
		image_free(&image[i]);
	}
}

/* Changes the events of this id in a chunk, which have one payload and no string: from now on they
 * consist of this text only. */
static void only_text(struct reshape *r, uint32_t id, const char *text)
{
	reshape_resize(r, id, 0, true);
	for (size_t i = 0; i < r->nr; i++)
		for (uint32_t j = 0; r->chunks[i].events && j < r->chunks[i].head.nr_types; j++) {
			struct reshape_events *events = &r->chunks[i].events[j];

			if (events->head.id != id)
				continue;
			free(events->texts);
			events->texts = (unsigned char *)strdup(text);
			events->lengths[0] = events->text_bytes = strlen(text);
		}
}

/* "1" is the number 49. */
static void a_short_event_says_nothing_about_the_start(void)
{
	struct tb *tb = tb_new();
	struct image image;
	struct trace *trace;
	struct trace_analysis *analysis;
	struct reshape *r;

	tb_window(tb, 1000, 3000);
	tb_thread(tb, 49, 49, 1, "asleep", 0, false);
	tb_exit(tb, 0, 2000, 7, 7, true);
	r = apart(tb);
	only_text(r, TRACE_EV_sched_exit, "1");
	image = together(r);
	trace = trace_open(image.path, NULL);
	CU_ASSERT_EQUAL_FATAL(trace_get_info(trace)->events, 1);
	analysis = trace_analysis_new(trace, NULL, NULL);
	CU_ASSERT_EQUAL(trace_analysis_run(analysis, NULL), 0);
	CU_ASSERT_PTR_NULL(trace_thread_on_cpu(analysis, 0));
	trace_analysis_free(analysis);
	trace_close(trace);
	image_free(&image);
}

/* Nor does the list say which thread runs. */
static void a_short_event_gives_a_list_no_thread(void)
{
	struct tb *tb = tb_new();
	struct image image;
	struct reshape *r;
	char *text;

	tb_switch(tb, 0, 1000, 7, 8, TRACE_TASK_RUNNING);
	tb_irq(tb, 0, 2000, 7);
	r = apart(tb);
	only_text(r, TRACE_EV_sched_switch, "1");
	image = together(r);
	text = shape_report(image.path, (const char *[]){"-d", "-ft", NULL});
	CU_ASSERT_PTR_NOT_NULL_FATAL(text);
	CU_ASSERT_PTR_NULL(strstr(text, "49"));
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "N/A"));
	free(text);
	image_free(&image);
}

/* More than 63 bits: the difference of two of its times was once taken for a negative one. */
static void three_hundred_years_between_two_program_events_add_up(void)
{
	static const struct trace_field id = {"id", 8, 8, true, TRACE_KIND_DEC};
	struct trace_event_type type = {.name = "shop:met",
					.classic = "NONE",
					.text = "",
					.doc = "",
					.program = "NONE",
					.fields = &id,
					.nr_fields = 1,
					.fixed_bytes = 16,
					.category = TRACE_CATEGORY_USER,
					.flags = TRACE_EVENT_ON | TRACE_EVENT_TID,
					.source = ""};
	uint64_t payload[2] = {10, 1}, later = (1ull << 63) + 5000;
	struct tb *tb = tb_new();
	uint16_t met = tb_user_type(tb, &type);
	struct trace *trace;
	struct trace_analysis *analysis;
	struct trace_user_events *user;

	tb_window(tb, 1000, later + 1000);
	tb_thread(tb, 10, 10, 1, "shop", 0, true);
	tb_user_event(tb, 0, 1500, met, payload, sizeof(payload));
	tb_sys_enter(tb, 0, 1600, 0, 0);
	tb_switch(tb, 0, 1700, 10, 0, TRACE_TASK_INTERRUPTIBLE);
	tb_waking(tb, 0, 4700, 10, TRACE_CONTEXT_HARDIRQ);
	tb_switch(tb, 0, 4800, 0, 10, TRACE_TASK_RUNNING);
	tb_sys_exit(tb, 0, 4900, 0);
	tb_sys_enter(tb, 0, 5100, 0, 0); /* the cause of this wait is not known before the return */
	tb_switch(tb, 0, 5200, 10, 0, TRACE_TASK_INTERRUPTIBLE);
	tb_cut(tb, 0);
	tb_user_cut(tb, 0);
	tb_waking(tb, 0, later - 2000, 10, TRACE_CONTEXT_HARDIRQ);
	tb_switch(tb, 0, later - 1000, 0, 10, TRACE_TASK_RUNNING);
	tb_user_event(tb, 0, later, met, payload, sizeof(payload));
	trace = tb_open_trace(tb);
	analysis = trace_analysis_new(trace, NULL, NULL);
	user = trace_user_events_new(trace, analysis, NULL);
	CU_ASSERT_EQUAL(trace_analysis_run(analysis, NULL), 0);
	CU_ASSERT_EQUAL(trace_user_events_verify(user, NULL), 0);
	trace_user_events_free(user);
	trace_analysis_free(analysis);
	trace_close(trace);
	tb_free(tb);
}

static void any_edit(struct reshape *r, struct dice *dice)
{
	struct shape_edit edit = shape_edit_random(dice);

	shape_edit(r, &edit);
}

/* A few of the inputs that fuzz_shapes tries for hours, and every report on the unedited traces. A
 * fault ends this program. */
static void every_report_works_on_any_shape(void)
{
	static const struct mood moods[] = {
		{.noise = 30,
		 .nr_tids = 12,
		 .switches = 25,
		 .sleeps = 50,
		 .cuts = 2,
		 .nr_events = 150,
		 .losses = true,
		 .programs = true},
		{.noise = 5,
		 .nr_tids = 20,
		 .switches = 60,
		 .sleeps = 30,
		 .nr_events = 150,
		 .streams = true,
		 .programs = true,
		 .moves = true},
		{.noise = 100, .nr_tids = 8, .nr_events = 150, .masks = true},
	};
	struct dice dice = {.state = 1};

	for (uint32_t nr = 0; nr < NR_TRIES; nr += (uint32_t)unit_step(3)) {
		struct reshape *r = apart(random_story(nr, &moods[nr % 3]));
		size_t bytes;
		unsigned char *data;

		for (uint32_t i = 0; i < nr / NR_AS_THEY_ARE * 4 && i < 12; i++)
			any_edit(r, &dice);
		data = reshape_put(r, &bytes);
		shape_look(data, bytes, nr);
		free(data);
		reshape_free(r);
	}
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		CASE(an_unedited_trace_is_intact),
		CASE(a_false_table_is_not_used),
		{"a_short_event_says_nothing_about_the_start", a_short_event_says_nothing_about_the_start},
		{"a_short_event_gives_a_list_no_thread", a_short_event_gives_a_list_no_thread},
		{"three_hundred_years_between_two_program_events_add_up",
		 three_hundred_years_between_two_program_events_add_up},
		{"every_report_works_on_any_shape", every_report_works_on_any_shape},
		{NULL, NULL},
	};

	return unit_main("shapes", cases, argc, argv);
}
