/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * view_scopes.c - scopes and requests of programs: which thread was in which, from when to when.
 *
 * A request may go from thread to thread: each of its pieces is a place in the lane of that thread.
 * Scopes of a thread nest, and so the depth of a place is the number of places around it.
 */
#include <stdlib.h>
#include <trace/user_events.h>
#include "view_collected.h"
#include "view_row.h"
#include "view_scopes.h"

#define MAX_SCOPES 2000000u /* 56 bytes each */
#define MAX_LISTED 20000u
#define MAX_DEPTH  64u

/* struct view_scope - a thread was in a scope, or worked on a request */
struct view_scope {
	const struct trace_thread *thread;
	const char *name; /* of the user events */
	uint64_t from_ns, to_ns;
	uint64_t begin_ns, end_ns; /* of the whole request */
	uint16_t depth;
	bool is_request, has_begun, has_ended;
};

/* struct view_scope_list - @is_sorted: by thread and time, with depths, after the pass */
struct view_scope_list {
	struct trace_user_events *user; /* owned */
	struct view_scope *items;	/* owned */
	size_t nr, room;
	bool is_cut, is_sorted;
};

static void on_span(void *data, const struct trace_span_instance *instance)
{
	struct view_scope_list *list = data;

	for (size_t i = 0; i < instance->nr_pieces; i++) {
		const struct trace_span_piece *piece = &instance->pieces[i];

		if (!piece->thread)
			continue;
		if (list->nr == MAX_SCOPES) {
			list->is_cut = true;
			return;
		}
		list->items = memory_grow(list->items, list->nr, &list->room, sizeof(*list->items));
		list->items[list->nr++] = (struct view_scope){.thread = piece->thread,
							      .name = instance->name,
							      .from_ns = piece->from_ns,
							      .to_ns = piece->to_ns,
							      .begin_ns = instance->begin_ns,
							      .end_ns = instance->end_ns,
							      .is_request = instance->kind == TRACE_SPAN_REQUEST,
							      .has_begun = instance->has_begun,
							      .has_ended = instance->has_ended};
	}
}

void view_scopes_begin(struct view_session *session, struct trace_analysis *analysis)
{
	struct view_scope_list *list = memory_take(1, sizeof(*list));

	session->scopes = list;
	list->user = trace_user_events_new(session->report.trace, analysis, NULL);
	if (!list->user)
		memory_end();
	trace_user_events_on_span(list->user, on_span, list);
}

bool view_scopes_exist(const struct view_session *session)
{
	return session->scopes && session->scopes->nr;
}

/* Those without an end are told at the end of the pass. */
static void end_spans(struct view_scope_list *list)
{
	trace_nr_spans(list->user);
	if (trace_user_events_error(list->user, NULL) < 0)
		memory_end();
}

void view_scopes_pair(struct view_session *session, view_thread_of *shown)
{
	struct view_scope_list *list = session->scopes;

	end_spans(list);
	for (size_t i = 0; i < list->nr; i++)
		list->items[i].thread = shown(session, list->items[i].thread);
}

void view_scopes_free(struct view_session *session)
{
	if (!session->scopes)
		return;
	trace_user_events_free(session->scopes->user);
	free(session->scopes->items);
	free(session->scopes);
	session->scopes = NULL;
}

/* By thread, then what begins first, then what ends last. */
static int by_place(const void *left, const void *right, void *data)
{
	const struct view_scope *l = left, *r = right;
	uint32_t one = trace_thread_index(l->thread), two = trace_thread_index(r->thread);

	if (one != two)
		return one < two ? -1 : 1;
	if (l->from_ns != r->from_ns)
		return l->from_ns < r->from_ns ? -1 : 1;
	return l->to_ns == r->to_ns ? 0 : l->to_ns > r->to_ns ? -1 : 1;
}

/* A place takes the first depth that is free, so those around it are above it. */
static void find_depths(struct view_scope_list *list)
{
	uint64_t ends[MAX_DEPTH] = {0};

	for (size_t i = 0; i < list->nr; i++) {
		struct view_scope *scope = &list->items[i];
		bool is_first = !i || list->items[i - 1].thread != scope->thread;
		uint16_t depth = 0;

		for (uint32_t k = 0; k < MAX_DEPTH && is_first; k++)
			ends[k] = 0;
		while (depth < MAX_DEPTH - 1 && ends[depth] > scope->from_ns)
			depth++;
		scope->depth = depth;
		ends[depth] = scope->to_ns;
	}
}

/* The list, once the trace is read. */
static const struct view_scope_list *scopes_of(struct view_session *session)
{
	struct view_scope_list *list = session->scopes;

	if (!list || !view_is_collected(session))
		return NULL;
	if (!list->is_sorted) {
		end_spans(list);
		memory_sort(list->items, list->nr, sizeof(*list->items), by_place, NULL);
		find_depths(list);
	}
	list->is_sorted = true;
	return list;
}

/* ---- which threads have some ---- */

static void put_lane(struct json *json, struct view_session *session, const struct view_scope *scopes, size_t nr)
{
	struct trace_row_id id;
	uint32_t depth = 0;
	uint64_t ns = 0;

	if (!trace_view_row_of(session->view, scopes->thread, &id))
		return;
	for (size_t i = 0; i < nr; i++) {
		depth = scopes[i].depth > depth ? scopes[i].depth : depth;
		ns += scopes[i].depth ? 0 : scopes[i].to_ns - scopes[i].from_ns;
	}
	json_open(json, NULL, "\n{");
	json_u64(json, "row", view_row_number(id));
	json_u64(json, "count", nr);
	json_u64(json, "ns", ns);
	json_u64(json, "depths", depth + 1);
	json_close(json, "}");
}

void view_lanes(struct view_session *session, struct view_question *question, struct json *json)
{
	const struct view_scope_list *list = scopes_of(session);

	json_open(json, "lanes", "[");
	for (size_t i = 0, end; list && i < list->nr; i = end) {
		for (end = i + 1; end < list->nr && list->items[end].thread == list->items[i].thread;)
			end++;
		put_lane(json, session, &list->items[i], end - i);
	}
	json_close(json, "]");
	json_bool(json, "cut", list && list->is_cut);
}

/* ---- those of a thread ---- */

static void put_scope(struct json *json, struct view_session *session, const struct view_scope *scope)
{
	json_open(json, NULL, "\n{");
	json_time(json, session, "from", scope->from_ns);
	json_time(json, session, "to", scope->to_ns);
	json_text(json, "name", scope->name);
	json_text(json, "kind", scope->is_request ? "request" : "scope");
	json_u64(json, "depth", scope->depth);
	json_time(json, session, "begin", scope->begin_ns);
	json_time(json, session, "end", scope->end_ns);
	json_bool(json, "begun", scope->has_begun);
	json_bool(json, "ended", scope->has_ended);
	json_close(json, "}");
}

void view_scopes(struct view_session *session, struct view_question *question, struct json *json)
{
	struct view_window window = view_window_asked(session, question);
	const struct view_scope_list *list = scopes_of(session);
	uint64_t left = question_number(question, "max", MAX_LISTED), least = question_number(question, "least", 0);
	struct trace_row row;
	bool is_cut = false;

	if (!view_row_asked(session, question, &row) || *question->error)
		return;
	if (!row.thread) {
		snprintf(question->error, sizeof(question->error), "only threads have scopes");
		return;
	}
	left = left < MAX_LISTED ? left : MAX_LISTED;
	json_u64(json, "row", view_row_number(row.id));
	json_open(json, "scopes", "[");
	for (size_t i = 0; list && i < list->nr && !is_cut; i++) {
		const struct view_scope *scope = &list->items[i];

		if (scope->thread != row.thread || scope->from_ns >= window.to || scope->to_ns < window.from ||
		    scope->to_ns - scope->from_ns < least)
			continue;
		is_cut = !left;
		left -= !is_cut;
		if (!is_cut)
			put_scope(json, session, scope);
	}
	json_close(json, "]");
	json_bool(json, "cut", is_cut);
}
