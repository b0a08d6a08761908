/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* view_span.c - the states of a row as JSON: all of a span, or the one at an instant. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "text_output.h"
#include "value_text.h"
#include "verdict.h"
#include "view_clients.h"
#include "view_row.h"
#include "view_samples.h"
#include "view_span.h"

#define MAX_SPANS  200000u
#define LOCK_WIDTH 60 /* columns of a path */

/* ---- a span ---- */

static void put_words(struct json *json, const struct trace_view_span *span)
{
	const char *const texts[][2] = {
		{"name", span->name}, {"target", span->target}, {"via", span->via}, {"path", span->path}};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (*texts[i][1])
			json_text(json, texts[i][0], texts[i][1]);
}

/* The keys of a span, in the open object. */
static void put_span(struct json *json, struct view_session *session, const struct trace_view_span *span, bool of_cpu)
{
	json_time(json, session, "from", span->from_ns);
	json_time(json, session, "to", span->to_ns);
	json_u64(json, "class", span->class_of_time);
	json_text(json, "state", of_cpu ? trace_class_name(span->class_of_time) : trace_state_name(span->state));
	if (of_cpu)
		json_thread(json, session, "thread", span->thread);
	put_words(json, span);
	if (span->cpu >= 0)
		json_u64(json, "cpu", (uint64_t)span->cpu);
	if (of_cpu || span->state != TRACE_STATE_BLOCKED)
		return;
	json_text(json, "kind", trace_wait_kind_name(span->kind));
	json_bool(json, "idle", span->idle);
	json_process(json, session, "other", span->other);
	json_thread(json, session, "waker", span->waker);
}

/* ---- all of them ---- */

struct span_list {
	struct view_session *session;
	struct json *json;
	bool of_cpu, is_cut;
	uint64_t left, min_ns;
};

static bool put_listed(void *data, const struct trace_view_span *span)
{
	struct span_list *list = data;

	if (span->to_ns - span->from_ns < list->min_ns)
		return true;
	list->is_cut = !list->left;
	if (list->is_cut)
		return false;
	list->left--;
	json_open(list->json, NULL, "\n{");
	put_span(list->json, list->session, span, list->of_cpu);
	json_close(list->json, "}");
	return true;
}

void view_spans(struct view_session *session, struct view_question *question, struct json *json)
{
	struct view_window window = view_window_asked(session, question);
	struct span_list list = {.session = session,
				 .json = json,
				 .left = question_number(question, "max", MAX_SPANS),
				 .min_ns = question_number(question, "min", 0)};
	struct trace_row row;

	if (!view_row_asked(session, question, &row) || *question->error)
		return;
	if (list.left > MAX_SPANS)
		list.left = MAX_SPANS;
	list.of_cpu = row.id.kind == TRACE_ROW_CPU;
	json_u64(json, "row", view_row_number(row.id));
	json_open(json, "spans", "[");
	if (trace_view_spans(session->view, row.id, window.from, window.to, put_listed, &list) < 0)
		snprintf(question->error, sizeof(question->error),
			 "the row of a process has no spans; its threads have");
	json_close(json, "]");
	json_bool(json, "cut", list.is_cut);
}

/* ---- the one at an instant ---- */

struct found_span {
	struct trace_view_span span;
	bool is_found;
};

static bool take_first(void *data, const struct trace_view_span *span)
{
	struct found_span *found = data;

	found->span = *span;
	found->is_found = true;
	return false;
}

/* The CPU that @thread had at @ns; -1: none. */
static int64_t cpu_of(struct view_session *session, const struct trace_thread *thread, uint64_t ns)
{
	for (uint32_t cpu = 0; cpu < trace_view_nr_rows(session->view, TRACE_ROW_CPU); cpu++) {
		struct found_span found = {0};

		if (trace_view_spans(session->view, (struct trace_row_id){TRACE_ROW_CPU, cpu}, ns, ns + 1, take_first,
				     &found) == 0 &&
		    found.is_found && found.span.thread == thread)
			return cpu;
	}
	return -1;
}

static void add_time(struct string *s, const struct view_session *session, const struct trace_view_span *span)
{
	struct value_text time;

	string_add(s, text_ns(&session->report.output, span->to_ns - span->from_ns, &time));
}

/* The object of a wait, as the verdict names it. */
static void add_object(struct string *s, const struct view_session *session, const struct trace_view_span *span)
{
	struct path_wait wait = {.place = (enum path_place)(PLACE_BLOCKED + span->kind),
				 .first = {.thread = span->thread,
					   .from_ns = span->from_ns,
					   .to_ns = span->to_ns,
					   .state = span->state,
					   .kind = span->kind,
					   .idle = span->idle,
					   .name = span->name,
					   .target = span->target,
					   .via = span->via,
					   .other = span->other,
					   .holder_name = "",
					   .waited_via = "",
					   .waited_path = ""}};

	verdict_wait_text(&session->report, &wait, s);
}

/* The file whose lock it was. */
static void add_lock(struct string *s, const char *path)
{
	char *cut = text_cut(path, LOCK_WIDTH);

	string_addf(s, " of %s", cut);
	free(cut);
}

/* Nothing is recorded of the thread, so its state is unknown after a switch to it. */
static bool is_hidden(const struct trace_view_span *span)
{
	return span->state == TRACE_STATE_BLOCKED && span->kind == TRACE_WAIT_UNKNOWN &&
	       strcmp(span->target, "hidden") == 0;
}

static void add_sentence(struct string *s, const struct view_session *session, const struct trace_view_span *span)
{
	if (is_hidden(span)) {
		string_add(s, "is hidden from the recorder: what it did in these ");
		add_time(s, session, span);
		string_add(s, " is unknown");
		return;
	}
	switch (span->state) {
	case TRACE_STATE_BLOCKED:
		string_add(s, span->idle ? "rested " : "waited ");
		add_time(s, session, span);
		string_add(s, span->idle ? ", until there was work; it waited for " : " for ");
		add_object(s, session, span);
		if (*span->path)
			add_lock(s, span->path);
		break;
	case TRACE_STATE_WAIT_CPU:
		string_add(s, "waited ");
		add_time(s, session, span);
		string_add(s, " for a CPU");
		break;
	default:
		string_add(s, "ran ");
		add_time(s, session, span);
		string_add(s, span->state == TRACE_STATE_USER	       ? " in its own code"
			      : span->state == TRACE_STATE_INTERRUPTED ? " on a CPU that was interrupted"
			      : span->state == TRACE_STATE_TRAP	       ? " in a page fault"
			      : span->state == TRACE_STATE_SYSCALL     ? " in the kernel"
								       : " on a CPU");
		if (*span->name)
			string_addf(s, ", in %s", span->name);
	}
}

struct holder_list {
	struct view_session *session;
	struct json *json;
};

static void put_holder(void *data, const struct trace_thread *thread, enum trace_class class_of_time, uint64_t ns)
{
	struct holder_list *list = data;

	json_open(list->json, NULL, "{");
	json_thread(list->json, list->session, "thread", thread);
	if (!thread)
		json_text(list->json, "state", trace_class_name(class_of_time));
	json_u64(list->json, "ns", ns);
	json_close(list->json, "}");
}

static void put_next(struct view_session *session, struct json *json, struct trace_row_id id, uint64_t ns)
{
	struct trace_row_id next;
	uint64_t next_ns;

	if (!trace_view_next(session->view, id, ns, &next, &next_ns))
		return;
	json_open(json, "next", "{");
	json_u64(json, "row", view_row_number(next));
	json_time(json, session, "t", next_ns ? next_ns - 1 : 0);
	json_close(json, "}");
}

/* A thread waits for a CPU between the wakeup and the time when it runs. */
static void put_woken(struct view_session *session, struct json *json, struct trace_row_id id,
		      const struct trace_view_span *wait)
{
	struct found_span next = {0};
	bool waits = trace_view_spans(session->view, id, wait->to_ns, wait->to_ns + 1, take_first, &next) == 0 &&
		     next.is_found && next.span.state == TRACE_STATE_WAIT_CPU;

	view_samples_woken(session, json, wait, waits ? next.span.to_ns : wait->to_ns);
}

static void put_thread_at(struct view_session *session, struct json *json, struct trace_row_id id, uint64_t ns,
			  const struct trace_view_span *span)
{
	struct holder_list list = {session, json};
	struct string sentence = {0};
	int64_t cpu = -1;

	add_sentence(&sentence, session, span);
	for (char *at = string_text(&sentence); (at = strchr(at, *UNBROKEN_BLANK));)
		*at = ' ';
	json_text(json, "sentence", string_text(&sentence));
	string_free(&sentence);
	if (span->state == TRACE_STATE_WAIT_CPU && span->cpu >= 0) {
		json_open(json, "holders", "[");
		if (trace_view_holders(session->view, (uint32_t)span->cpu, span->from_ns, span->to_ns, put_holder,
				       &list) == -ENOMEM)
			memory_end();
		json_close(json, "]");
	} else if (span->state != TRACE_STATE_BLOCKED) {
		cpu = cpu_of(session, span->thread, ns);
	}
	if (cpu >= 0)
		json_u64(json, "cpu", (uint64_t)cpu);
	if (cpu >= 0)
		json_billed(json, session, span->thread, ns);
	if (span->state == TRACE_STATE_BLOCKED)
		put_woken(session, json, id, span);
	put_next(session, json, id, ns);
}

static bool is_beyond(const struct view_session *session, uint64_t ns)
{
	uint64_t full_ns = trace_view_full_ns(session->view);

	return full_ns && ns >= full_ns;
}

/* ---- why the state of a CPU is unknown ---- */

/* The hidden thread that got a CPU at @from_ns; NULL: none. */
static const struct trace_thread *hidden_since(struct view_session *session, uint64_t from_ns)
{
	for (uint32_t i = 0; i < trace_view_nr_rows(session->view, TRACE_ROW_THREAD); i++) {
		struct trace_row_id id = {TRACE_ROW_THREAD, i};
		struct found_span found = {0};

		if (trace_view_spans(session->view, id, from_ns, from_ns + 1, take_first, &found) == 0 &&
		    found.is_found && found.span.from_ns == from_ns && is_hidden(&found.span))
			return found.span.thread;
	}
	return NULL;
}

static bool is_in_gap(const struct view_session *session, uint32_t cpu, uint64_t from_ns, uint64_t to_ns)
{
	const struct trace_analysis *analysis = session->report.analysis;
	size_t nr = trace_nr_gaps(session->report.trace),
	       nr_late = analysis ? trace_analysis_nr_late_gaps(analysis) : 0;

	for (size_t i = 0; i < nr + nr_late; i++) {
		const struct trace_gap *gap = i < nr ? trace_get_gap(session->report.trace, i)
						     : trace_analysis_get_late_gap(analysis, i - nr);

		if (gap->cpu == cpu && gap->start_ns < to_ns && gap->end_ns > from_ns)
			return true;
	}
	return false;
}

static void put_unknown(struct view_session *session, struct json *json, uint32_t cpu,
			const struct trace_view_span *span)
{
	json_thread(json, session, "hidden", hidden_since(session, span->from_ns));
	json_bool(json, "lost", is_in_gap(session, cpu, span->from_ns, span->to_ns));
}

void view_at(struct view_session *session, struct view_question *question, struct json *json)
{
	uint64_t t = question_number(question, "t", 0), ns = session->start + t;
	struct found_span found = {0};
	struct trace_row row;

	if (!view_row_asked(session, question, &row) || *question->error)
		return;
	if (t > session->end - session->start ||
	    trace_view_spans(session->view, row.id, ns, ns + 1, take_first, &found) < 0 || !found.is_found ||
	    found.span.from_ns > ns || found.span.to_ns <= ns) {
		snprintf(question->error, sizeof(question->error), "%s",
			 is_beyond(session, ns)
				 ? "only sums are kept of this time: --view --from --to shows a part of it in full"
				 : "nothing is known of this row at that time");
		return;
	}
	json_u64(json, "row", view_row_number(row.id));
	put_span(json, session, &found.span, row.id.kind == TRACE_ROW_CPU);
	if (row.id.kind == TRACE_ROW_THREAD)
		put_thread_at(session, json, row.id, ns, &found.span);
	else if (found.span.class_of_time == trace_class_of(TRACE_STATE_BLOCKED, TRACE_WAIT_UNKNOWN, false))
		put_unknown(session, json, row.id.index, &found.span);
}
