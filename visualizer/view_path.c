/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* view_path.c - critical paths, and the verdict with links, as JSON. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "answer_waits.h"
#include "recorded.h"
#include "verdict.h"
#include "view_path.h"
#include "view_row.h"

#define MAX_SEGMENTS 5000u
#define MAX_PARTS    10000u
#define MANY_PARTS   (4 * MAX_PARTS) /* are joined before more are added */
#define COLUMNS	     2000u	     /* of a screen, at least */
#define WAITS	     5u

/* ---- links ---- */

/* The longest segment of @thread: a place to look at. */
static struct view_window longest_of(const struct path_tree *tree, const struct trace_thread *thread)
{
	struct view_window best = {0};

	for (size_t i = 0; i < tree->nr_links; i++) {
		const struct path_link *link = &tree->links[i];

		if (link->thread == thread && link->longest_to_ns - link->longest_from_ns > best.to - best.from)
			best = (struct view_window){link->longest_from_ns, link->longest_to_ns};
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

static void put_link(struct json *json, struct view_session *session, const char *text, size_t bytes,
		     const struct trace_thread *thread, const struct view_window *window)
{
	json_open(json, NULL, "{");
	put_text(json, text, bytes);
	put_place(json, session, thread, window);
}

/*
 * A name in the verdict is joined to its number by an unbroken blank: "for prices 29924, which".
 * Such a pair between @begin and @stop, if it is a link of the tree, is a link of the page.
 */
static void put_names(struct json *json, struct view_session *session, const char *begin, const char *stop,
		      const struct path_tree *tree)
{
	for (const char *at = begin; (at = memchr(at, *UNBROKEN_BLANK, (size_t)(stop - at)));) {
		const char *name = at, *end = at + 1;
		const struct trace_thread *thread;
		struct view_window window;

		while (end < stop && isdigit((unsigned char)*end))
			end++;
		thread = end > at + 1 ? thread_numbered(tree, strtoul(at + 1, NULL, 10)) : NULL;
		at++;
		if (!thread)
			continue;
		name = name_of(thread, begin, name);
		window = longest_of(tree, thread);
		put_words(json, begin, (size_t)(name - begin));
		put_link(json, session, name, (size_t)(end - name), thread, &window);
		json_close(json, "}");
		begin = at = end;
	}
	put_words(json, begin, (size_t)(stop - begin));
}

/* The functions of the report are of all of the time: without @is_whole, the tree is not. */
static struct report report_of(const struct view_session *session, bool is_whole)
{
	struct report report = session->report;

	if (!is_whole)
		report.places = NULL;
	return report;
}

/* The sentence of the verdict about @tree: its clauses are links of the page. */
static void put_clauses(struct json *json, struct view_session *session, const struct path_tree *tree, bool is_whole)
{
	struct report report = report_of(session, is_whole);
	struct verdict_clauses clauses;
	struct string sentence = {0};
	const char *text;
	size_t at = 0;

	verdict_add(&sentence, &report, tree, &clauses);
	text = string_text(&sentence);
	for (size_t i = 0; i < clauses.nr; i++) {
		const struct verdict_clause *clause = &clauses.list[i];
		struct view_window window = longest_of(tree, clause->thread);

		if (clause->wait)
			window = (struct view_window){clause->wait->first.from_ns, clause->wait->first.to_ns};
		put_names(json, session, text + at, text + clause->begin, tree);
		put_link(json, session, text + clause->begin, clause->end - clause->begin, clause->thread, &window);
		if (clause->wait) {
			json_bool(json, "is_wait", true);
			json_process(json, session, "other", clause->wait->first.other);
		}
		json_close(json, "}");
		at = clause->end;
	}
	put_names(json, session, text + at, text + sentence.len, tree);
	string_free(&sentence);
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

/* ---- paths of many segments ---- */

/* struct path_part - @thread was on the path for @ns between @from and @to, in @count segments */
struct path_part {
	const struct trace_thread *thread;
	uint64_t from, to, ns, count;
};
/* row: the latest part of a thread. @key: address of the thread */
struct open_part {
	uint64_t key;
	struct path_part part;
};
/* struct path_parts - the parts; @gap: segments of a thread that are closer are one part */
struct path_parts {
	struct hash_table open;
	struct path_part *items; /* owned */
	size_t nr, room;
	uint64_t gap;
};

static void add_part(struct path_parts *parts, const struct path_part *part)
{
	parts->items = memory_grow(parts->items, parts->nr, &parts->room, sizeof(*part));
	parts->items[parts->nr++] = *part;
}

static void join_part(struct path_parts *parts, const struct path_part *part)
{
	struct open_part *open = memory_row(&parts->open, sizeof(*open), (uintptr_t)part->thread);

	if (open->part.count && part->from - open->part.to < parts->gap) {
		open->part.to = part->to;
		open->part.ns += part->ns;
		open->part.count += part->count;
		return;
	}
	if (open->part.count)
		add_part(parts, &open->part);
	open->part = *part;
}

static int by_begin(const void *left, const void *right, void *data)
{
	const struct path_part *l = left, *r = right;

	if (l->from != r->from)
		return l->from < r->from ? -1 : 1;
	return l->to < r->to ? -1 : l->to > r->to;
}

/* No more segments come. */
static void end_parts(struct path_parts *parts)
{
	for (const struct open_part *open = NULL; (open = table_next(&parts->open, sizeof(*open), open));)
		add_part(parts, &open->part);
	table_clear(&parts->open);
	memory_sort(parts->items, parts->nr, sizeof(*parts->items), by_begin, NULL);
}

/* Parts that are farther apart become one, until there are few. */
static void join_parts(struct path_parts *parts)
{
	while (parts->nr > MAX_PARTS) {
		struct path_parts joined = {.gap = parts->gap * 2};

		for (size_t i = 0; i < parts->nr; i++)
			join_part(&joined, &parts->items[i]);
		end_parts(&joined);
		if (joined.nr == parts->nr && joined.gap > parts->items[parts->nr - 1].to) {
			free(joined.items);
			return; /* each thread has one part */
		}
		free(parts->items);
		*parts = joined;
	}
}

/*
 * As if the parts until now had been added with the gap that leaves few of them. All parts
 * together need a gap that is not smaller, so they are the same in the end.
 */
static void thin_parts(struct path_parts *parts)
{
	struct path_parts thin;

	end_parts(parts);
	join_parts(parts);
	thin = (struct path_parts){.gap = parts->gap};
	for (size_t i = 0; i < parts->nr; i++)
		join_part(&thin, &parts->items[i]);
	free(parts->items);
	*parts = thin;
}

static void put_part(struct json *json, struct view_session *session, const struct path_part *part)
{
	const struct view_window window = {part->from, part->to};

	json_open(json, NULL, "\n{");
	put_place(json, session, part->thread, &window);
	json_u64(json, "ns", part->ns);
	json_u64(json, "count", part->count);
	json_close(json, "}");
}

/* The threads of the segments, by the number of their pattern. */
static const struct trace_thread **threads_of_patterns(const struct trace_critical_path *path)
{
	size_t nr = trace_critical_path_nr_patterns(path);
	const struct trace_thread **threads = memory_take(nr, sizeof(struct trace_thread *));
	struct trace_path_segment segment;

	for (uint32_t i = 0; i < nr; i++) {
		trace_critical_path_pattern(path, i, &segment);
		threads[i] = segment.thread;
	}
	return threads;
}

/*
 * A path of a million segments is no picture. Its answer has where each thread was on it, to the
 * precision of a screen, and the segments that are visible there, as long as they are few.
 */
static void put_long_path(struct json *json, struct view_session *session, const struct trace_critical_path *path,
			  uint64_t column)
{
	const struct trace_thread **threads = threads_of_patterns(path);
	struct path_parts parts = {.gap = column};
	struct trace_path_segment segment;
	struct trace_path_step s;
	size_t nr_shown = 0, most = MANY_PARTS;

	json_open(json, "segments", "[");
	for (size_t i = 0; i < trace_critical_path_nr_segments(path); i++) {
		trace_critical_path_step(path, i, &s);
		join_part(&parts, &(struct path_part){threads[s.pattern], s.from_ns, s.to_ns, s.to_ns - s.from_ns, 1});
		if (parts.nr >= most) {
			thin_parts(&parts);
			most = 2 * parts.nr > MANY_PARTS ? 2 * parts.nr : MANY_PARTS;
		}
		if (s.to_ns - s.from_ns < column || nr_shown == MAX_SEGMENTS)
			continue;
		trace_critical_path_segment(path, i, &segment);
		put_segment(json, session, &segment);
		nr_shown++;
	}
	free(threads);
	json_close(json, "]");
	end_parts(&parts);
	join_parts(&parts);
	json_open(json, "parts", "[");
	for (size_t i = 0; i < parts.nr; i++)
		put_part(json, session, &parts.items[i]);
	json_close(json, "]");
	json_u64(json, "precision_ns", parts.gap);
	free(parts.items);
}

static void put_segments(struct json *json, struct view_session *session, const struct trace_critical_path *path,
			 const struct view_window *window)
{
	size_t nr = trace_critical_path_nr_segments(path);
	struct trace_path_segment segment;

	json_u64(json, "nr_segments", nr);
	if (nr > MAX_SEGMENTS) {
		put_long_path(json, session, path, (window->to - window->from) / COLUMNS + 1);
		return;
	}
	json_open(json, "segments", "[");
	for (size_t i = 0; i < nr; i++) {
		trace_critical_path_segment(path, i, &segment);
		put_segment(json, session, &segment);
	}
	json_close(json, "]");
}

/* ---- the answer ---- */

static const struct trace_thread *first_thread(const struct trace_row *row)
{
	return row->thread ? row->thread : row->process ? trace_next_thread(row->process, NULL) : NULL;
}

/* The path of the command begins where the answer does: its recorder held it until then. */
static uint64_t path_begin(struct view_session *session, const struct trace_thread *thread, uint64_t from)
{
	const struct answer_choice *answer = &session->answer.is;

	view_session_choose(session);
	return answer->of_command && thread == answer->threads[0] && answer->from_ns > from ? answer->from_ns : from;
}

void view_path(struct view_session *session, struct view_question *question, struct json *json)
{
	struct view_window window = view_window_asked(session, question);
	struct trace_critical_path *path = NULL;
	struct trace_error error = {.message = "the path of a CPU is that of no thread"};
	const struct trace_thread *thread;
	struct path_tree tree;
	struct trace_row row;

	if (!view_row_asked(session, question, &row) || *question->error)
		return;
	thread = first_thread(&row);
	if (thread)
		path = trace_critical_path_new(session->report.history, thread,
					       path_begin(session, thread, window.from), window.to, &error);
	if (!path) {
		snprintf(question->error, sizeof(question->error), "%.100s", error.message);
		return;
	}
	json_u64(json, "row", view_row_number(row.id));
	trace_critical_path_window(path, &window.from, &window.to);
	json_time(json, session, "from", window.from);
	json_time(json, session, "to", window.to);
	put_segments(json, session, path, &window);
	tree = path_tree_new(path);
	json_open(json, "sentence", "[");
	put_clauses(json, session, &tree, false);
	json_close(json, "]");
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

static void put_waits(struct json *json, struct view_session *session, const struct path_tree *tree, bool is_whole)
{
	struct report report = report_of(session, is_whole);
	struct answer_wait *waits;
	size_t nr;

	waits = answer_waits(&report, tree, &nr);
	json_open(json, "waits", "[");
	for (size_t i = 0; i < nr && i < WAITS; i++) {
		const struct trace_path_segment *first = &waits[i].longest->first;
		const struct view_window window = {first->from_ns, first->to_ns};

		json_open(json, NULL, "{");
		json_u64(json, "ns", waits[i].ns);
		json_u64(json, "count", waits[i].count);
		json_u64(json, "class", class_of_place(waits[i].longest->place));
		json_text(json, "waiter", waits[i].thread);
		json_text(json, "text", waits[i].what);
		if (*waits[i].where)
			json_text(json, "where", waits[i].where);
		if (*waits[i].woken)
			json_text(json, "woken", waits[i].woken);
		json_thread(json, session, "thread", first->thread);
		json_process(json, session, "other", first->other);
		put_place(json, session, first->thread, &window);
		json_close(json, "}");
	}
	json_close(json, "]");
	answer_waits_free(waits, nr);
}

/* The sentences before the verdict, as on the screen: the trigger, a link to its time, and why. */
static void put_before(struct json *json, struct view_session *session, struct answer_choice *answer)
{
	const struct saved_for *saved = &answer->saved;
	struct string text = {0};

	if (saved->text) {
		saved_for_add(&text, saved);
		string_add(&text, ".");
		json_open(json, NULL, "{");
		json_text(json, "text", string_text(&text));
		if (saved->end_ns > saved->begin_ns && saved->begin_ns >= session->start) {
			json_time(json, session, "from", saved->begin_ns);
			/* the thread went on later than the trigger counted */
			json_time(json, session, "to", answer->to_ns == UINT64_MAX ? saved->end_ns : answer->to_ns);
		}
		json_close(json, "}");
		put_words(json, " ", 1);
	}
	string_free(&text);
	if (session->is_complete && answer->before.len) {
		string_addf(&text, "%s ", string_text(&answer->before));
		put_words(json, string_text(&text), text.len);
	}
	string_free(&text);
}

static void put_tree(struct json *json, struct view_session *session, const struct path_tree *tree, bool is_whole)
{
	struct trace_row_id id;

	if (trace_view_row_of(session->view, tree->links[0].thread, &id))
		json_u64(json, "row", view_row_number(id));
	json_u64(json, "ns", tree->ns);
	json_u64(json, "threads", tree->links[0].nr);
	put_bars(json, tree);
	put_waits(json, session, tree, is_whole);
}

static const char *why_no_verdict(const struct view_session *session)
{
	return !session->is_complete ? "The trace is being read."
	       : has_scheduling(session->report.analysis)
		       ? "No process worked in this span."
		       : "The trace has no scheduling changes, so nothing is known of waits.";
}

void view_verdict(struct view_session *session, struct view_question *question, struct json *json)
{
	struct view_window window = view_window_asked(session, question);
	struct answer_choice *answer = &session->answer.is;
	bool is_whole = window.from == session->start && window.to == session->end;
	struct path_tree tree;

	if (*question->error)
		return;
	view_session_choose(session);
	tree = answer_tree(&session->report, answer, window.from, window.to);
	json_open(json, "sentence", "[");
	put_before(json, session, answer);
	if (tree.nr_links)
		put_clauses(json, session, &tree, is_whole);
	else
		put_words(json, why_no_verdict(session), strlen(why_no_verdict(session)));
	json_close(json, "]");
	if (tree.nr_links)
		put_tree(json, session, &tree, is_whole);
	path_tree_clear(&tree);
}
