/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * view_samples.c - the samples of a thread, and what woke it.
 *
 * The list has 16 bytes for each sample, sorted by thread and time. It is made by a cursor of its
 * own, so a view of an index has samples, too. A stack is read again when it is asked for.
 */
#include "view_samples.h"

#include <inttypes.h>
#include <stdlib.h>
#include "losses.h"
#include "profile_names.h"
#include "view_row.h"

#define MAX_SAMPLES 16000000u /* 16 bytes each */
#define MAX_COLUMNS 20000u

/** struct sample_time - a sample of the timer */
struct sample_time {
	uint64_t ts_ns;
	uint32_t tid;
	uint32_t cpu;
};

/**
 * struct view_sample_list - @events: of the trace when the list was made. @names: of stacks
 * @has_times: they were read
 */
struct view_sample_list {
	struct sample_time *times; /* owned */
	size_t nr, room;
	uint64_t events;
	bool has_times;
	bool is_cut;
	struct profile_names names;
	bool has_names;
};

/* ---- the list ---- */

static int by_thread(const void *left, const void *right, void *data)
{
	const struct sample_time *l = left, *r = right;

	(void)data;
	if (l->tid != r->tid)
		return l->tid < r->tid ? -1 : 1;
	return (l->ts_ns > r->ts_ns) - (l->ts_ns < r->ts_ns);
}

static struct trace_cursor *sample_cursor(const struct trace *trace, uint64_t from_ns, uint64_t to_ns)
{
	uint64_t mask[TRACE_MASK_WORDS] = {0};
	struct trace_cursor_options options = {
		.size = sizeof(options), .mask = mask, .from_ns = from_ns, .to_ns = to_ns};

	mask[TRACE_EV_sample / 64] |= 1ull << TRACE_EV_sample % 64;
	return pass_cursor(trace, &options);
}

/* The sample of the timer in @event; NULL: it is none */
static const struct trace_sample *timer_sample(const struct trace_event *event)
{
	const struct trace_sample *sample = event->payload;

	return event->id == TRACE_EV_sample && event->type->fixed_bytes >= sizeof(*sample) && !sample->source ? sample
													      : NULL;
}

static void read_times(struct view_sample_list *list, const struct trace *trace)
{
	struct trace_cursor *cursor = sample_cursor(trace, 0, UINT64_MAX);
	const struct trace_event *event;

	while (!list->is_cut && (event = trace_cursor_next(cursor))) {
		const struct trace_sample *sample = timer_sample(event);

		list->is_cut = sample && list->nr == MAX_SAMPLES;
		if (!sample || list->is_cut)
			continue;
		list->times = memory_grow(list->times, list->nr, &list->room, sizeof(*list->times));
		list->times[list->nr++] = (struct sample_time){event->ts_ns, sample->tid, event->cpu};
	}
	events_pass_end(cursor, true);
	memory_sort(list->times, list->nr, sizeof(*list->times), by_thread, NULL);
}

void view_samples_free(struct view_session *session)
{
	struct view_sample_list *list = session->samples;

	if (!list)
		return;
	if (list->has_names)
		profile_names_clear(&list->names);
	free(list->times);
	free(list);
	session->samples = NULL;
}

/* The list, perhaps without its times; another one when the trace has grown. */
static struct view_sample_list *list_with_names(struct view_session *session)
{
	uint64_t events = trace_get_info(session->report.trace)->events;

	if (session->samples && session->samples->events != events)
		view_samples_free(session);
	if (!session->samples) {
		session->samples = memory_take(1, sizeof(*session->samples));
		session->samples->events = events;
	}
	return session->samples;
}

static struct view_sample_list *list_of(struct view_session *session)
{
	struct view_sample_list *list = list_with_names(session);

	if (!list->has_times)
		read_times(list, session->report.trace);
	list->has_times = true;
	return list;
}

/* The first sample of thread @tid at or after @ns, or the first one of a later thread */
static size_t first_from(const struct view_sample_list *list, uint32_t tid, uint64_t ns)
{
	const struct sample_time wanted = {.tid = tid, .ts_ns = ns};
	size_t from = 0, to = list->nr;

	while (from < to) {
		size_t middle = from + (to - from) / 2;

		if (by_thread(&list->times[middle], &wanted, NULL) < 0)
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

/** struct sample_run - samples of a thread, in sequence: from @first to before @end */
struct sample_run {
	size_t first, end;
};

/* All that is shown: of --from and --to a part. The last event of a trace is at its end. */
static struct view_window shown_window(const struct view_session *session)
{
	return (struct view_window){session->start, session->end + !session->window.has_to};
}

/* Numbers of threads are used again: those in the life of the thread. */
static struct sample_run run_of(const struct view_sample_list *list, const struct trace_row *row,
				const struct view_window *window)
{
	uint64_t from = row->from_ns > window->from ? row->from_ns : window->from,
		 to = row->to_ns < window->to ? row->to_ns + 1 : window->to;
	uint32_t tid = trace_thread_tid(row->thread);

	if (from >= to)
		return (struct sample_run){0};
	return (struct sample_run){first_from(list, tid, from), first_from(list, tid, to)};
}

/* ---- which threads have some ---- */

void view_sampled(struct view_session *session, struct view_question *question, struct json *json)
{
	const struct view_sample_list *list = list_of(session);
	const struct view_window whole = shown_window(session);
	struct trace_row row;

	(void)question;
	json_open(json, "rows", "[");
	for (uint32_t i = 0; list->nr && i < trace_view_nr_rows(session->view, TRACE_ROW_THREAD); i++) {
		struct sample_run run;

		if (!trace_view_get_row(session->view, (struct trace_row_id){TRACE_ROW_THREAD, i}, &row))
			continue;
		run = run_of(list, &row, &whole);
		if (run.first == run.end)
			continue;
		json_open(json, NULL, "\n{");
		json_u64(json, "row", view_row_number(row.id));
		json_u64(json, "samples", run.end - run.first);
		json_close(json, "}");
	}
	json_close(json, "]");
	json_bool(json, "cut", list->is_cut);
}

/* ---- how many, and when ---- */

static bool thread_asked(struct view_session *session, struct view_question *question, struct trace_row *ret_row)
{
	if (!view_row_asked(session, question, ret_row))
		return false;
	if (!ret_row->thread)
		snprintf(question->error, sizeof(question->error), "only threads have samples");
	return ret_row->thread && !*question->error;
}

/* The column in which @ns is: the last one that begins at or before it */
static uint64_t column_of(const struct view_window *window, uint64_t columns, uint64_t ns)
{
	uint64_t width = window->to - window->from;
	uint64_t column = (uint64_t)((unsigned __int128)(ns - window->from) * columns / width);

	/* columns begin at whole ns, rounded down */
	while (column + 1 < columns &&
	       window->from + (uint64_t)((unsigned __int128)width * (column + 1) / columns) <= ns)
		column++;
	return column;
}

void view_samples(struct view_session *session, struct view_question *question, struct json *json)
{
	struct view_window window = view_window_asked(session, question);
	uint64_t columns = question_number(question, "columns", 1);
	const struct view_sample_list *list;
	struct sample_run run;
	struct trace_row row;

	if (!thread_asked(session, question, &row))
		return;
	if (!columns || columns > MAX_COLUMNS) {
		snprintf(question->error, sizeof(question->error), "columns are at least 1 and at most %u",
			 MAX_COLUMNS);
		return;
	}
	list = list_of(session);
	run = run_of(list, &row, &window);
	json_u64(json, "row", view_row_number(row.id));
	json_u64(json, "columns", columns);
	json_u64(json, "samples", run.end - run.first);
	json_open(json, "list", "[");
	for (size_t i = run.first, end; i < run.end; i = end) {
		uint64_t column = column_of(&window, columns, list->times[i].ts_ns);

		for (end = i; end < run.end && column_of(&window, columns, list->times[end].ts_ns) == column;)
			end++;
		json_separate(json);
		fprintf(json->out, "[%" PRIu64 ",%zu]", column, end - i);
	}
	json_close(json, "]");
}

/* ---- a stack ---- */

/* The sample of the row that is nearest to @ns, but not further away than @within; NULL: none */
static const struct sample_time *nearest(struct view_session *session, const struct trace_row *row, uint64_t ns,
					 uint64_t within)
{
	const struct view_sample_list *list = list_of(session);
	struct view_window window = shown_window(session);
	struct sample_run run;
	const struct sample_time *best = NULL;
	uint64_t distance = 0;

	if (ns > within && ns - within > window.from)
		window.from = ns - within;
	if (ns < UINT64_MAX - within && ns + within + 1 < window.to)
		window.to = ns + within + 1;
	run = run_of(list, row, &window);
	for (size_t i = run.first; i < run.end; i++) {
		uint64_t at = list->times[i].ts_ns, its = at > ns ? at - ns : ns - at;

		if (!best || its < distance) {
			best = &list->times[i];
			distance = its;
		}
	}
	return best;
}

static void put_functions(struct json *json, const struct profile_names *names, const struct profile_stack *stack)
{
	json_open(json, "stack", "[");
	for (size_t i = 0; i < stack->nr; i++) {
		const struct frame_name *name = profile_name_of(names, stack->functions[i]);

		json_open(json, NULL, "\n{");
		json_text(json, "function", name->name);
		json_text(json, "why", name->why);
		json_text(json, "file", name->file);
		json_text(json, "source", name->source);
		json_u64(json, "line", name->line);
		json_bool(json, "inlined", name->is_inlined);
		json_close(json, "}");
	}
	json_close(json, "]");
}

/* Frames have numbers in their stack, so those of the last one are forgotten. The functions of
 * @ret_stack belong to the caller. */
static void put_stack(struct view_session *session, struct json *json, const struct trace_profile_frame *frames,
		      size_t nr, struct profile_stack *ret_stack)
{
	static const char *const ends[NR_STACK_ENDS] = {
		[STACK_WHOLE] = "whole", [STACK_CUT] = "cut", [STACK_LOST] = "incomplete"};
	struct view_sample_list *list = session->samples;
	enum stack_end end;

	if (!list->has_names)
		profile_names_begin(&list->names, &session->report);
	list->has_names = true;
	profile_names_forget(&list->names);
	list->names.frames = frames;
	list->names.nr_frames = nr;
	end = profile_stack_of(&list->names, (uint32_t)nr - 1, ret_stack);
	put_functions(json, &list->names, ret_stack);
	json_text(json, "end", ends[end]);
}

static void put_sample(struct view_session *session, struct json *json, const struct sample_time *wanted)
{
	struct trace_profile_frame frames[TRACE_PROFILE_MAX_FRAMES];
	struct trace_cursor *cursor = sample_cursor(session->report.trace, wanted->ts_ns, wanted->ts_ns + 1);
	const struct trace_event *event;
	struct profile_stack stack = {0};
	size_t nr = 0;

	json_time(json, session, "t", wanted->ts_ns);
	json_u64(json, "cpu", wanted->cpu);
	while (!nr && (event = trace_cursor_next(cursor))) {
		const struct trace_sample *sample = timer_sample(event);

		if (sample && sample->tid == wanted->tid)
			nr = trace_profile_stack_of(event, frames);
	}
	events_pass_end(cursor, true);
	if (nr)
		put_stack(session, json, frames, nr, &stack);
	free(stack.functions);
}

void view_sample(struct view_session *session, struct view_question *question, struct json *json)
{
	uint64_t t = question_number(question, "t", 0), within = question_number(question, "within", 0);
	const struct sample_time *found;
	struct trace_row row;

	if (!thread_asked(session, question, &row))
		return;
	json_u64(json, "row", view_row_number(row.id));
	found = nearest(session, &row, t < UINT64_MAX - session->start ? session->start + t : UINT64_MAX, within);
	json_bool(json, "found", found != NULL);
	if (found)
		put_sample(session, json, found);
}

/* ---- what ended a wait ---- */

#define MOST_WAKEUP_NS 10000000u /* from a wakeup to its sample, which the same tracepoint takes */

static const char *waker_function(const struct view_sample_list *list, const struct profile_stack *stack)
{
	const struct frame_name *name = profile_place_in(&list->names, stack);

	return !name ? "(kernel)" : *name->name ? name->name : "(no name)";
}

static void put_woken(struct view_session *session, struct json *json, const struct trace_profile_frame *frames,
		      size_t nr, enum trace_profile_waker kind)
{
	struct profile_stack stack = {0};

	json_open(json, "woken", "{");
	put_stack(session, json, frames, nr, &stack);
	json_text(json, "in",
		  kind == TRACE_PROFILE_WAKER_THREAD ? waker_function(session->samples, &stack)
						     : trace_profile_waker_word(kind));
	json_close(json, "}");
	free(stack.functions);
}

void view_samples_woken(struct view_session *session, struct json *json, const struct trace_view_span *wait,
			uint64_t runs_ns)
{
	struct trace_profile_frame frames[TRACE_PROFILE_MAX_FRAMES];
	uint64_t until_ns = runs_ns - wait->to_ns > MOST_WAKEUP_NS ? wait->to_ns + MOST_WAKEUP_NS : runs_ns;
	const struct trace_event *event;
	enum trace_profile_waker kind;
	struct trace_cursor *cursor;
	uint32_t woken = 0;
	size_t nr = 0;

	if (!trace_string(session->report.trace, TRACE_STRING_KERNEL_CODE, 0)) /* it comes with samples */
		return;
	list_with_names(session);
	cursor = sample_cursor(session->report.trace, wait->to_ns, until_ns + 1);
	while (!nr && (event = trace_cursor_next(cursor))) {
		nr = trace_profile_waker_stack_of(event, &woken, &kind, frames);
		nr = woken == trace_thread_tid(wait->thread) ? nr : 0;
	}
	events_pass_end(cursor, true);
	if (nr && kind != TRACE_PROFILE_WAKER_THREAD && wait->kind == TRACE_WAIT_TIMEOUT)
		kind = TRACE_PROFILE_WAKER_TIMER;
	if (nr)
		put_woken(session, json, frames, nr, kind);
}
