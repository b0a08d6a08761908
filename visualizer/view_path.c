/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* view_path.c - critical paths, and the verdict with links, as JSON. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "answer_path.h"
#include "recorded.h"
#include "verdict.h"
#include "view_path.h"
#include "view_row.h"

#define MAX_SEGMENTS 100000u
#define WAITS	     5u

/* ---- links ---- */

/* The longest segment of @thread: a place to look at. */
static struct view_window longest_of(const struct trace_critical_path *path, const struct trace_thread *thread)
{
	struct view_window best = {0};
	struct trace_path_segment s;

	for (size_t i = 0; i < trace_critical_path_nr_segments(path); i++) {
		trace_critical_path_segment(path, i, &s);
		if (s.thread == thread && s.to_ns - s.from_ns > best.to - best.from)
			best = (struct view_window){s.from_ns, s.to_ns};
	}
	return best;
}

static void put_place(struct json *json, struct view_session *session, const struct trace_thread *thread,
		      const struct view_window *window)
{
	struct trace_row_id id;

	if (!thread || !trace_view_row_of(session->view, thread, &id))
		return;
	json_u64(json, "row", view_row_number(id));
	json_time(json, session, "from", window->from);
	json_time(json, session, "to", window->to);
}

static void put_text(struct json *json, const char *text, size_t bytes)
{
	char *copy = memory_copy(text, bytes);

	for (char *at = copy; (at = strchr(at, *UNBROKEN_BLANK));)
		*at = ' ';
	json_text(json, "text", copy);
	free(copy);
}

static void put_words(struct json *json, const char *text, size_t bytes)
{
	if (!bytes)
		return;
	json_open(json, NULL, "{");
	put_text(json, text, bytes);
	json_close(json, "}");
}

/* The thread of a link of @tree with this pid or tid; NULL: none. */
static const struct trace_thread *thread_numbered(const struct path_tree *tree, unsigned long number)
{
	for (size_t i = 0; i < tree->nr_links; i++) {
		const struct trace_thread *thread = tree->links[i].thread;

		if (trace_thread_tid(thread) == number || trace_process_pid(trace_thread_process(thread)) == number)
			return thread;
	}
	return NULL;
}

/* Where the name of @thread begins that ends before @end, in a text that begins at @begin. */
static const char *name_of(const struct trace_thread *thread, const char *begin, const char *end)
{
	struct string name = {0};
	const char *at = end;
	size_t length;

	verdict_thread_text(thread, &name);
	length = strcspn(string_text(&name), UNBROKEN_BLANK);
	if ((size_t)(end - begin) >= length && strncmp(end - length, string_text(&name), length) == 0)
		at = end - length;
	else
		while (at > begin && at[-1] != ' ')
			at--;
	string_free(&name);
	return at;
}

/*
 * A name in the verdict is joined to its number by an unbroken blank: "for prices 29924, which".
 * Such a pair, if it is a link of the tree, is a link of the page.
 */
static void put_sentence(struct json *json, struct view_session *session, const char *text,
			 const struct path_tree *tree, const struct trace_critical_path *path)
{
	const char *begin = text;

	json_open(json, "sentence", "[");
	for (const char *at = text; (at = strchr(at, *UNBROKEN_BLANK));) {
		const char *name = at, *end = at + 1;
		const struct trace_thread *thread;
		struct view_window window;

		while (isdigit((unsigned char)*end))
			end++;
		thread = end > at + 1 ? thread_numbered(tree, strtoul(at + 1, NULL, 10)) : NULL;
		at++;
		if (!thread)
			continue;
		name = name_of(thread, begin, name);
		window = longest_of(path, thread);
		put_words(json, begin, (size_t)(name - begin));
		json_open(json, NULL, "{");
		put_text(json, name, (size_t)(end - name));
		put_place(json, session, thread, &window);
		json_close(json, "}");
		begin = at = end;
	}
	put_words(json, begin, strlen(begin));
	json_close(json, "]");
}

/* ---- path ---- */

static void put_segment(struct json *json, struct view_session *session, const struct trace_path_segment *s)
{
	const struct view_window window = {s->from_ns, s->to_ns};
	struct trace_row_id id;

	json_open(json, NULL, "\n{");
	put_place(json, session, s->thread, &window);
	json_u64(json, "class", trace_class_of(s->state, s->kind, s->idle));
	json_text(json, "state", trace_state_name(s->state));
	if (*s->name)
		json_text(json, "name", s->name);
	if (s->state == TRACE_STATE_BLOCKED)
		json_text(json, "kind", trace_wait_kind_name(s->kind));
	if (*s->target)
		json_text(json, "target", s->target);
	if (*s->via)
		json_text(json, "via", s->via);
	json_process(json, session, "other", s->other);
	json_thread(json, session, "holder", s->holder);
	if (s->waiter && trace_view_row_of(session->view, s->waiter, &id))
		json_u64(json, "waiter", view_row_number(id));
	if (*s->waited_via)
		json_text(json, "waited_via", s->waited_via);
	json_u64(json, "depth", s->depth);
	json_close(json, "}");
}

static const struct trace_thread *first_thread(const struct trace_row *row)
{
	return row->thread ? row->thread : row->process ? trace_next_thread(row->process, NULL) : NULL;
}

void view_path(struct view_session *session, struct view_question *question, struct json *json)
{
	struct view_window window = view_window_asked(session, question);
	struct trace_critical_path *path = NULL;
	struct trace_error error = {.message = "the path of a CPU is that of no thread"};
	struct path_tree tree;
	struct string sentence = {0};
	struct trace_row row;

	if (!view_row_asked(session, question, &row) || *question->error)
		return;
	if (first_thread(&row))
		path = trace_critical_path_new(session->report.history, first_thread(&row), window.from, window.to,
					       &error);
	if (!path) {
		snprintf(question->error, sizeof(question->error), "%.100s", error.message);
		return;
	}
	json_u64(json, "row", view_row_number(row.id));
	trace_critical_path_window(path, &window.from, &window.to);
	json_time(json, session, "from", window.from);
	json_time(json, session, "to", window.to);
	json_open(json, "segments", "[");
	for (size_t i = 0; i < trace_critical_path_nr_segments(path) && i < MAX_SEGMENTS; i++) {
		struct trace_path_segment segment;

		trace_critical_path_segment(path, i, &segment);
		put_segment(json, session, &segment);
	}
	json_close(json, "]");
	json_bool(json, "cut", trace_critical_path_nr_segments(path) > MAX_SEGMENTS);
	tree = path_tree_new(path);
	verdict_add(&sentence, &session->report, &tree);
	put_sentence(json, session, string_text(&sentence), &tree, path);
	string_free(&sentence);
	path_tree_clear(&tree);
	trace_critical_path_free(path);
}

/* ---- verdict ---- */

static uint64_t class_of_place(enum path_place place)
{
	static const enum trace_class classes[PLACE_BLOCKED] = {[PLACE_OWN_CODE] = TRACE_CLASS_USER,
								[PLACE_KERNEL] = TRACE_CLASS_SYSCALL,
								[PLACE_CPU] = TRACE_CLASS_RUNNING,
								[PLACE_INTERRUPTED] = TRACE_CLASS_INTERRUPTED,
								[PLACE_WAIT_CPU] = TRACE_CLASS_WAIT_CPU};

	return place < PLACE_BLOCKED ? classes[place] : TRACE_CLASS_WAIT + (uint64_t)(place - PLACE_BLOCKED);
}

static void put_bars(struct json *json, const struct path_tree *tree)
{
	json_open(json, "bars", "[");
	for (enum path_place place = 0; place < NR_PLACES; place++) {
		uint64_t ns = path_tree_place_ns(tree, place);

		if (!ns)
			continue;
		json_open(json, NULL, "{");
		json_text(json, "label", verdict_place(place));
		json_u64(json, "ns", ns);
		json_u64(json, "class", class_of_place(place));
		json_close(json, "}");
	}
	json_close(json, "]");
}

static void put_waits(struct json *json, struct view_session *session, const struct path_tree *tree)
{
	json_open(json, "waits", "[");
	for (size_t i = 0; i < tree->nr_waits && i < WAITS; i++) {
		const struct path_wait *wait = &tree->waits[i];
		const struct view_window window = {wait->first.from_ns, wait->first.to_ns};
		struct string text = {0};

		json_open(json, NULL, "{");
		json_u64(json, "ns", wait->ns);
		json_u64(json, "count", wait->count);
		json_u64(json, "class", class_of_place(wait->place));
		verdict_wait_text(wait, &text);
		put_text(json, string_text(&text), text.len);
		string_free(&text);
		json_thread(json, session, "thread", wait->first.thread);
		put_place(json, session, wait->first.thread, &window);
		json_close(json, "}");
	}
	json_close(json, "]");
}

static void put_path(struct json *json, struct view_session *session, const struct trace_critical_path *path)
{
	struct path_tree tree = path_tree_new(path);
	struct string sentence = {0};
	struct trace_row_id id;

	verdict_add(&sentence, &session->report, &tree);
	put_sentence(json, session, string_text(&sentence), &tree, path);
	string_free(&sentence);
	if (trace_view_row_of(session->view, trace_critical_path_thread(path), &id))
		json_u64(json, "row", view_row_number(id));
	json_u64(json, "ns", tree.ns);
	put_bars(json, &tree);
	put_waits(json, session, &tree);
	path_tree_clear(&tree);
}

void view_verdict(struct view_session *session, struct view_question *question, struct json *json)
{
	struct view_window window = view_window_asked(session, question);
	struct trace_critical_path *path = NULL;

	if (*question->error)
		return;
	if (has_scheduling(session->report.analysis)) {
		view_session_choose(session);
		path = answer_path_of(&session->report, session->answer.thread,
				      session->answer.from_ns > window.from ? session->answer.from_ns : window.from,
				      window.to);
	}
	if (path) {
		put_path(json, session, path);
		trace_critical_path_free(path);
		return;
	}
	json_open(json, "sentence", "[");
	json_open(json, NULL, "{");
	json_text(json, "text",
		  !session->is_complete ? "The trace is being read."
		  : has_scheduling(session->report.analysis)
			  ? "No process worked in this span."
			  : "The trace has no scheduling changes, so nothing is known of waits.");
	json_close(json, "}");
	json_close(json, "]");
}
