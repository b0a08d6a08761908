/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* view_count.c - the report of a span, made in steps: view_count.h. */
#include <pthread.h>
#include <stdlib.h>
#include "checked_memory.h"
#include "view_books.h"
#include "view_count.h"
#include "whole_trace.h"

#define EVENTS_AT_ONCE 500000u	  /* of a question: 20 to 40 ms */
#define STEPS_AT_ONCE  500u	  /* of the pass, if all have as many events */
#define MAX_STEPS      100000u	  /* of the whole pass, which are enough where events come in bursts */
#define MAX_KEPT       8u	  /* reports */
#define MAX_KEPT_BYTES (8u << 20) /* but the last one is kept, whatever its size */
#define MAX_REFUSED    20u

/* struct count_span - of a report, ns of the trace's clock; 0 and 0: the whole trace */
struct count_span {
	uint64_t from_ns, to_ns;
};

struct count_report {
	struct count_span span;
	char *text; /* owned */
	size_t bytes;
};

/*
 * struct view_count - @lock protects all. @pass: NULL: none; it is for @span, and for the page of
 * that number, and at @step of @nr_steps
 * @kept: the oldest first
 */
struct view_count {
	pthread_mutex_t lock;
	struct view_books_pass *pass; /* owned */
	struct count_span span;
	uint64_t page;
	uint64_t step, nr_steps;
	unsigned int nr_refused;
	struct count_report kept[MAX_KEPT];
	size_t nr_kept, kept_bytes;
};

struct view_count *view_count_new(void)
{
	struct view_count *count = memory_take(1, sizeof(*count));

	pthread_mutex_init(&count->lock, NULL);
	return count;
}

static void drop_oldest(struct view_count *count)
{
	count->kept_bytes -= count->kept[0].bytes;
	free(count->kept[0].text);
	count->nr_kept--;
	for (size_t i = 0; i < count->nr_kept; i++)
		count->kept[i] = count->kept[i + 1];
}

struct view_count *view_count_free(struct view_count *count)
{
	if (!count)
		return NULL;
	while (count->nr_kept)
		drop_oldest(count);
	view_books_pass_free(count->pass);
	pthread_mutex_destroy(&count->lock);
	free(count);
	return NULL;
}

/* ---- reports ---- */

static bool is_same(const struct count_span *one, const struct count_span *other)
{
	return one->from_ns == other->from_ns && one->to_ns == other->to_ns;
}

static struct count_span span_asked(struct view_session *session, struct view_question *question)
{
	struct report report = {0};

	view_books_window(session, question, &report);
	return report.is_windowed ? (struct count_span){report.window.from_ns,
							report.window.has_to ? report.window.to_ns : UINT64_MAX}
				  : (struct count_span){0};
}

static const struct count_report *kept_of(const struct view_count *count, const struct count_span *span)
{
	for (size_t i = count->nr_kept; i > 0; i--)
		if (is_same(&count->kept[i - 1].span, span))
			return &count->kept[i - 1];
	return NULL;
}

static void keep(struct view_count *count)
{
	struct count_report report = {.span = count->span};
	struct text_stream stream;

	view_books_pass_write(count->pass, memory_stream_begin(&stream));
	report.text = memory_stream_end(&stream, &report.bytes);
	count->pass = view_books_pass_free(count->pass);
	while (count->nr_kept && (count->nr_kept == MAX_KEPT || count->kept_bytes + report.bytes > MAX_KEPT_BYTES))
		drop_oldest(count);
	count->kept[count->nr_kept++] = report;
	count->kept_bytes += report.bytes;
}

void view_counted_books(struct view_session *session, struct view_question *question, FILE *out)
{
	struct count_span span = span_asked(session, question);
	const struct count_report *report;
	bool is_kept;

	pthread_mutex_lock(&session->count->lock);
	report = *question->error ? NULL : kept_of(session->count, &span);
	is_kept = report;
	if (report)
		fwrite(report->text, 1, report->bytes, out);
	pthread_mutex_unlock(&session->count->lock);
	if (!is_kept)
		view_books(session, question, out);
}

/* ---- the pass ---- */

static uint64_t events_of(const struct view_count *count)
{
	uint64_t nr = 0;

	for (uint32_t id = 0; count->pass && id <= TRACE_EV_USER; id++)
		nr += trace_analysis_count(view_books_pass_analysis(count->pass), id);
	return nr;
}

/* The end of the step. The pass is over the whole trace, which may be more than a session shows. */
static uint64_t step_end(const struct view_count *count)
{
	uint64_t start, end;

	if (count->step >= count->nr_steps)
		return UINT64_MAX;
	trace_analysis_window(view_books_pass_analysis(count->pass), &start, &end);
	return start + (uint64_t)((double)(end - start) * (double)count->step / (double)count->nr_steps);
}

/* @max more events, or a few more. Returns as trace_analysis_step(). */
static int go_on(struct view_count *count, uint64_t max, struct trace_error *ret_error)
{
	uint64_t until = events_of(count) + max;
	int result = 0;

	while (result == 0 && events_of(count) < until) {
		count->step++;
		result = view_books_pass_step(count->pass, step_end(count), ret_error);
	}
	return result;
}

static uint64_t steps_of(uint64_t events, uint64_t max)
{
	uint64_t steps = events > UINT64_MAX / STEPS_AT_ONCE ? MAX_STEPS : events * STEPS_AT_ONCE / max + 1;

	return steps < MAX_STEPS ? steps : MAX_STEPS;
}

/* True if the pass is for @span now. False: another page counts, or the question has an error. */
static bool take_pass(struct view_session *session, struct view_question *question, const struct count_span *span,
		      uint64_t max)
{
	uint64_t page = question_number(question, "page", 0);
	struct view_count *count = session->count;

	if (*question->error || (count->pass && count->page != page && ++count->nr_refused < MAX_REFUSED))
		return false;
	count->nr_refused = 0;
	if (count->pass && is_same(&count->span, span)) {
		count->page = page;
		return true;
	}
	view_books_pass_free(count->pass);
	count->step = 0;
	count->nr_steps = steps_of(whole_trace_events(session->report.trace), max);
	count->span = *span;
	count->page = page;
	count->pass = view_books_pass_new(session, question);
	return count->pass;
}

static void count_more(struct view_session *session, struct view_question *question, const struct count_span *span)
{
	uint64_t max = question_number(question, "max", EVENTS_AT_ONCE);
	struct view_count *count = session->count;
	struct trace_error error = {0};
	int result;

	max = max > EVENTS_AT_ONCE ? EVENTS_AT_ONCE : max ? max : 1;
	if (!take_pass(session, question, span, max))
		return;
	result = go_on(count, max, &error);
	if (result > 0)
		keep(count);
	if (result >= 0)
		return;
	count->pass = view_books_pass_free(count->pass);
	snprintf(question->error, sizeof(question->error), "%.100s", error.message);
}

bool view_count_goes_on(struct view_count *count)
{
	bool goes_on;

	pthread_mutex_lock(&count->lock);
	goes_on = count->pass;
	pthread_mutex_unlock(&count->lock);
	return goes_on;
}

static bool is_counted(const struct view_session *session, const struct count_span *span)
{
	return kept_of(session->count, span) ||
	       (is_same(span, &(struct count_span){0}) && view_books_are_kept(session));
}

void view_count(struct view_session *session, struct view_question *question, struct json *json)
{
	struct count_span span = span_asked(session, question);
	struct view_count *count = session->count;
	uint64_t events, of = whole_trace_events(session->report.trace);
	bool is_done;

	if (*question->error)
		return;
	pthread_mutex_lock(&count->lock);
	if (!is_counted(session, &span))
		count_more(session, question, &span);
	is_done = is_counted(session, &span);
	events = count->pass && is_same(&count->span, &span) ? events_of(count) : is_done ? of : 0;
	pthread_mutex_unlock(&count->lock);
	json_bool(json, "done", is_done);
	json_u64(json, "events", events < of ? events : of);
	json_u64(json, "of", of);
}
