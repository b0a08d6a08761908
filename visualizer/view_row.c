/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* view_row.c - the rows of a picture, sorted by what matters, and their sums. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "recorded_family.h"
#include "view_row.h"

#define KIND_SHIFT  28
#define MAX_MATCHES 500u
#define MAX_LISTED  10000u /* processes, and as many threads, in an answer */

/* ---- numbers ---- */

uint32_t view_row_number(struct trace_row_id id)
{
	return (uint32_t)id.kind << KIND_SHIFT | id.index;
}

bool view_row_numbered(struct view_session *session, uint64_t number, struct trace_row *ret_row)
{
	struct trace_row_id id = {(enum trace_row_kind)(number >> KIND_SHIFT),
				  (uint32_t)(number & ((1u << KIND_SHIFT) - 1))};

	return number < (TRACE_ROW_THREAD + 1ull) << KIND_SHIFT && trace_view_get_row(session->view, id, ret_row);
}

bool view_row_asked(struct view_session *session, struct view_question *question, struct trace_row *ret_row)
{
	if (view_row_numbered(session, question_number(question, "row", UINT64_MAX), ret_row))
		return true;
	if (!*question->error)
		snprintf(question->error, sizeof(question->error), "there is no such row");
	return false;
}

struct view_window view_window_asked(struct view_session *session, struct view_question *question)
{
	uint64_t from = question_number(question, "from", 0), whole = session->end - session->start,
		 to = question_number(question, "to", whole);

	if (from >= to && !*question->error)
		snprintf(question->error, sizeof(question->error), "the span is empty: from must be less than to");
	if (to > whole)
		to = whole;
	if (from >= to)
		from = to ? to - 1 : 0;
	return (struct view_window){session->start + from, session->start + to};
}

void json_time(struct json *json, const struct view_session *session, const char *key, uint64_t ns)
{
	json_u64(json, key, ns > session->start ? ns - session->start : 0);
}

static const char *thread_name(const struct trace_thread *thread)
{
	const struct trace_process *process = trace_thread_process(thread);
	const char *own = trace_thread_comm(thread);

	/* the threads of most programs have the name of their process */
	return strcmp(own, trace_process_comm(process)) == 0 && *trace_process_title(process)
		       ? trace_process_title(process)
		       : own;
}

void json_thread(struct json *json, struct view_session *session, const char *key, const struct trace_thread *thread)
{
	struct trace_row_id id;

	if (!thread)
		return;
	json_open(json, key, "{");
	json_text(json, "name", thread_name(thread));
	json_u64(json, "tid", trace_thread_tid(thread));
	if (trace_view_row_of(session->view, thread, &id))
		json_u64(json, "row", view_row_number(id));
	json_close(json, "}");
}

void json_process(struct json *json, struct view_session *session, const char *key, const struct trace_process *process)
{
	struct trace_row_id id;

	if (!process)
		return;
	json_open(json, key, "{");
	json_text(json, "name", trace_process_title(process));
	json_u64(json, "pid", trace_process_pid(process));
	if (trace_view_row_of_process(session->view, process, &id))
		json_u64(json, "row", view_row_number(id));
	json_close(json, "}");
}

/* ---- rows by interest ---- */

/*
 * struct listed - @active_ns: the part of @busy_ns on a CPU, waiting for one, or unknown; 0: it
 * only waited. @is_left_out: the answer has too many; it is in the sums of the rest
 */
struct listed {
	struct trace_row row;
	uint64_t busy_ns, active_ns;
	bool of_command, is_kernel, is_left_out;
};

static int by_interest(const void *left, const void *right, void *data)
{
	const struct listed *l = left, *r = right;

	if (l->is_kernel != r->is_kernel)
		return l->is_kernel ? 1 : -1;
	if (l->of_command != r->of_command)
		return l->of_command ? -1 : 1;
	if (!l->active_ns != !r->active_ns)
		return l->active_ns ? -1 : 1;
	if (l->busy_ns != r->busy_ns)
		return l->busy_ns > r->busy_ns ? -1 : 1;
	return l->row.id.index < r->row.id.index ? -1 : l->row.id.index > r->row.id.index;
}

static void add_times(struct view_session *session, struct listed *row)
{
	static const enum trace_class active[] = {TRACE_CLASS_USER,
						  TRACE_CLASS_SYSCALL,
						  TRACE_CLASS_TRAP,
						  TRACE_CLASS_RUNNING,
						  TRACE_CLASS_INTERRUPTED,
						  TRACE_CLASS_WAIT_CPU,
						  TRACE_CLASS_WAIT + TRACE_WAIT_UNKNOWN};
	uint64_t ns[TRACE_NR_CLASSES];
	int error = trace_view_columns(session->view, row->row.id, session->start, session->end, 1, ns);

	if (error == -ENOMEM)
		memory_end();
	if (error)
		return;
	for (int class = 0; class < TRACE_CLASS_ABSENT; class ++)
		row->busy_ns += class == TRACE_CLASS_REST || class == TRACE_CLASS_IDLE ? 0 : ns[class];
	for (size_t i = 0; i < sizeof(active) / sizeof(active[0]); i++)
		row->active_ns += ns[active[i]];
}

struct view_pointer_row {
	uint64_t key; /* an address */
};

/* The processes that the recording was made for, by address. */
static struct hash_table family_of(const struct view_session *session)
{
	struct hash_table table = {0};
	struct pointers family = recorded_family(&session->report);

	for (size_t i = 0; i < family.nr; i++)
		memory_row(&table, sizeof(struct view_pointer_row), (uintptr_t)family.at[i]);
	pointers_free(&family);
	return table;
}

static struct listed *list_rows(struct view_session *session, enum trace_row_kind kind, size_t *ret_nr)
{
	size_t nr = trace_view_nr_rows(session->view, kind);
	struct listed *rows = memory_take(nr + 1, sizeof(*rows));
	struct hash_table family = family_of(session);

	for (uint32_t i = 0; i < nr; i++) {
		struct listed *row = &rows[i];

		if (!trace_view_get_row(session->view, (struct trace_row_id){kind, i}, &row->row))
			continue;
		add_times(session, row);
		if (kind == TRACE_ROW_CPU)
			continue;
		row->of_command = table_find(&family, sizeof(struct view_pointer_row), (uintptr_t)row->row.process);
		row->is_kernel = trace_process_is_kernel(row->row.process);
	}
	if (kind != TRACE_ROW_CPU)
		memory_sort(rows, nr, sizeof(*rows), by_interest, NULL);
	table_clear(&family);
	*ret_nr = nr;
	return rows;
}

static void put_row(struct json *json, struct view_session *session, const struct listed *listed)
{
	static const char *const kinds[] = {"cpu", "process", "thread"};
	const struct trace_row *row = &listed->row;

	json_open(json, NULL, "\n{");
	json_u64(json, "id", view_row_number(row->id));
	json_text(json, "kind", kinds[row->id.kind]);
	if (row->id.kind == TRACE_ROW_THREAD)
		json_u64(json, "parent", view_row_number((struct trace_row_id){TRACE_ROW_PROCESS, row->parent}));
	if (row->id.kind == TRACE_ROW_CPU) {
		json_u64(json, "cpu", row->id.index);
	} else {
		json_text(json, "name",
			  row->thread ? trace_thread_comm(row->thread) : trace_process_comm(row->process));
		json_text(json, "title", row->thread ? thread_name(row->thread) : trace_process_title(row->process));
		json_u64(json, "pid", trace_process_pid(row->process));
		json_bool(json, "kernel", listed->is_kernel);
		json_bool(json, "command", listed->of_command);
	}
	if (row->thread)
		json_u64(json, "tid", trace_thread_tid(row->thread));
	json_time(json, session, "from", row->from_ns);
	json_time(json, session, "to", row->to_ns);
	json_u64(json, "busy_ns", listed->busy_ns);
	json_u64(json, "active_ns", listed->active_ns);
	json_close(json, "}");
}

/* struct row_lists - all rows, the most interesting ones of each kind first; owned */
struct row_lists {
	struct listed *of[TRACE_ROW_THREAD + 1];
	size_t nr[TRACE_ROW_THREAD + 1];
};

static bool has_too_many(struct view_session *session)
{
	return trace_view_nr_rows(session->view, TRACE_ROW_PROCESS) > MAX_LISTED ||
	       trace_view_nr_rows(session->view, TRACE_ROW_THREAD) > MAX_LISTED;
}

/*
 * A browser takes long for the rows of 100,000 processes, and shows none of them. So an answer has
 * the most interesting ones, and the sums of the rest. A thread is listed below its process only.
 */
static void leave_out(struct row_lists *lists)
{
	size_t nr_processes = lists->nr[TRACE_ROW_PROCESS];
	bool *are_left_out = memory_take(nr_processes + 1, sizeof(*are_left_out));

	for (size_t i = MAX_LISTED; i < nr_processes; i++) {
		struct listed *process = &lists->of[TRACE_ROW_PROCESS][i];

		process->is_left_out = are_left_out[process->row.id.index] = true;
	}
	for (size_t i = 0; i < lists->nr[TRACE_ROW_THREAD]; i++) {
		struct listed *thread = &lists->of[TRACE_ROW_THREAD][i];

		thread->is_left_out = i >= MAX_LISTED || are_left_out[thread->row.parent];
	}
	free(are_left_out);
}

static struct row_lists row_lists_new(struct view_session *session)
{
	struct row_lists lists = {0};

	for (enum trace_row_kind kind = TRACE_ROW_CPU; kind <= TRACE_ROW_THREAD; kind++)
		lists.of[kind] = list_rows(session, kind, &lists.nr[kind]);
	leave_out(&lists);
	return lists;
}

static void row_lists_free(struct row_lists *lists)
{
	for (enum trace_row_kind kind = TRACE_ROW_CPU; kind <= TRACE_ROW_THREAD; kind++)
		free(lists->of[kind]);
}

static void put_rest(struct json *json, const struct row_lists *lists, enum trace_row_kind kind, const char *key)
{
	uint64_t nr = 0, busy_ns = 0, active_ns = 0;

	for (size_t i = 0; i < lists->nr[kind]; i++) {
		const struct listed *listed = &lists->of[kind][i];

		if (!listed->is_left_out)
			continue;
		nr++;
		busy_ns += listed->busy_ns;
		active_ns += listed->active_ns;
	}
	json_open(json, key, "{");
	json_u64(json, "rows", nr);
	json_u64(json, "busy_ns", busy_ns);
	json_u64(json, "active_ns", active_ns);
	json_close(json, "}");
}

static void put_rests(struct json *json, const struct row_lists *lists)
{
	json_open(json, "rest", "{");
	put_rest(json, lists, TRACE_ROW_PROCESS, "processes");
	put_rest(json, lists, TRACE_ROW_THREAD, "threads");
	json_close(json, "}");
}

/* The threads of each process follow it. */
static void put_rows(struct json *json, struct view_session *session, const struct row_lists *lists)
{
	const struct listed *processes = lists->of[TRACE_ROW_PROCESS], *threads = lists->of[TRACE_ROW_THREAD];
	size_t *first = memory_take(lists->nr[TRACE_ROW_PROCESS] + 1, sizeof(*first)),
	       *next = memory_take(lists->nr[TRACE_ROW_THREAD] + 1, sizeof(*next));

	for (size_t i = lists->nr[TRACE_ROW_THREAD]; i > 0; i--) { /* of the sorted threads, index + 1 */
		if (threads[i - 1].is_left_out)
			continue;
		next[i - 1] = first[threads[i - 1].row.parent];
		first[threads[i - 1].row.parent] = i;
	}
	json_open(json, "rows", "[");
	for (size_t i = 0; i < lists->nr[TRACE_ROW_CPU]; i++)
		put_row(json, session, &lists->of[TRACE_ROW_CPU][i]);
	for (size_t i = 0; i < lists->nr[TRACE_ROW_PROCESS] && !processes[i].is_left_out; i++) {
		put_row(json, session, &processes[i]);
		for (size_t t = first[processes[i].row.id.index]; t; t = next[t - 1])
			put_row(json, session, &threads[t - 1]);
	}
	json_close(json, "]");
	free(first);
	free(next);
}

void view_rows(struct view_session *session, struct view_question *question, struct json *json)
{
	struct row_lists lists = row_lists_new(session);

	put_rows(json, session, &lists);
	if (has_too_many(session))
		put_rests(json, &lists);
	row_lists_free(&lists);
}

/* ---- sums ---- */

static void put_ns(struct json *json, const uint64_t *ns)
{
	json_open(json, "ns", "[");
	for (int class = 0; class < TRACE_NR_CLASSES; class ++) {
		json_separate(json);
		fprintf(json->out, "%llu", (unsigned long long)ns[class]);
	}
	json_close(json, "]");
}

static void put_sum(struct json *json, struct trace_row_id id, const uint64_t *ns)
{
	json_open(json, NULL, "\n{");
	json_u64(json, "id", view_row_number(id));
	put_ns(json, ns);
	json_close(json, "}");
}

/* struct rest_sum - the rows of a kind that have no sum of their own */
struct rest_sum {
	size_t nr;
	uint64_t ns[TRACE_NR_CLASSES];
};

static void put_rest_sum(struct json *json, const char *key, const struct rest_sum *rest)
{
	json_open(json, key, "{");
	json_u64(json, "rows", rest->nr);
	put_ns(json, rest->ns);
	json_close(json, "}");
}

/*
 * The sums of a kind, in the order of the rows, or of @lists if it has rows that are left out. A
 * thread that is absent from the span has no sum.
 */
static struct rest_sum put_sums(struct json *json, struct view_session *session, const struct view_window *window,
				const struct row_lists *lists, enum trace_row_kind kind)
{
	const struct listed *listed = lists->of[kind];
	uint64_t ns[TRACE_NR_CLASSES];
	struct rest_sum rest = {0};

	for (uint32_t i = 0; i < trace_view_nr_rows(session->view, kind); i++) {
		struct trace_row_id id = listed ? listed[i].row.id : (struct trace_row_id){kind, i};

		if (trace_view_columns(session->view, id, window->from, window->to, 1, ns) < 0)
			memory_end();
		if (kind == TRACE_ROW_THREAD && ns[TRACE_CLASS_ABSENT] >= window->to - window->from)
			continue;
		if (!listed || !listed[i].is_left_out) {
			put_sum(json, id, ns);
			continue;
		}
		rest.nr++;
		for (int class = 0; class < TRACE_NR_CLASSES; class ++)
			rest.ns[class] += ns[class];
	}
	return rest;
}

void view_sums(struct view_session *session, struct view_question *question, struct json *json)
{
	struct view_window window = view_window_asked(session, question);
	struct rest_sum rest[TRACE_ROW_THREAD + 1];
	struct row_lists lists = {0};

	if (*question->error)
		return;
	if (has_too_many(session))
		lists = row_lists_new(session);
	json_time(json, session, "from", window.from);
	json_time(json, session, "to", window.to);
	json_open(json, "rows", "[");
	for (enum trace_row_kind kind = TRACE_ROW_CPU; kind <= TRACE_ROW_THREAD; kind++)
		rest[kind] = put_sums(json, session, &window, &lists, kind);
	json_close(json, "]");
	if (has_too_many(session)) {
		json_open(json, "rest", "{");
		put_rest_sum(json, "processes", &rest[TRACE_ROW_PROCESS]);
		put_rest_sum(json, "threads", &rest[TRACE_ROW_THREAD]);
		json_close(json, "}");
	}
	row_lists_free(&lists);
}

/* ---- search ---- */

/* As strcasestr(), which not all C libraries have. */
static bool contains(const char *text, const char *part)
{
	size_t length = strlen(part);

	for (; *text; text++) {
		size_t i = 0;

		while (i < length && tolower((unsigned char)text[i]) == tolower((unsigned char)part[i]))
			i++;
		if (i == length)
			return true;
	}
	return !length;
}

static bool row_contains(const struct trace_row *row, const char *text)
{
	char number[24];

	snprintf(number, sizeof(number), "%u",
		 row->thread ? trace_thread_tid(row->thread) : trace_process_pid(row->process));
	return strcmp(number, text) == 0 || contains(trace_process_title(row->process), text) ||
	       contains(row->thread ? trace_thread_comm(row->thread) : trace_process_comm(row->process), text);
}

/*
 * struct targets - objects of waits that contain a text, each once, with the first place
 * @is_cut: there are more
 */
struct targets {
	struct view_session *session;
	struct json *json;
	const char *text;
	struct trace_row_id row;
	struct hash_table seen;
	size_t nr;
	bool is_cut;
};

/* The @object of @span, if it has the text, and is new: equal texts have the same address. */
static void put_object(struct targets *targets, const struct trace_view_span *span, const char *object)
{
	const size_t bytes = sizeof(struct view_pointer_row);

	if (!*object || table_find(&targets->seen, bytes, (uintptr_t)object))
		return;
	memory_row(&targets->seen, bytes, (uintptr_t)object);
	if (!contains(object, targets->text))
		return;
	targets->is_cut = targets->nr == MAX_MATCHES;
	if (targets->is_cut)
		return;
	json_open(targets->json, NULL, "\n{");
	json_text(targets->json, "path", object);
	json_u64(targets->json, "row", view_row_number(targets->row));
	json_time(targets->json, targets->session, "t", span->from_ns);
	json_close(targets->json, "}");
	targets->nr++;
}

static bool put_target(void *data, const struct trace_view_span *span)
{
	struct targets *targets = data;

	put_object(targets, span, span->target);
	if (!targets->is_cut)
		put_object(targets, span, span->path);
	return !targets->is_cut;
}

void view_search(struct view_session *session, struct view_question *question, struct json *json)
{
	struct targets targets = {.session = session, .json = json, .text = question_text(question, "text", "")};
	struct trace_row row;
	size_t nr = 0;

	if (!*targets.text) {
		snprintf(question->error, sizeof(question->error), "text is missing");
		return;
	}
	json_open(json, "rows", "[");
	for (enum trace_row_kind kind = TRACE_ROW_PROCESS; kind <= TRACE_ROW_THREAD; kind++)
		for (uint32_t i = 0; i < trace_view_nr_rows(session->view, kind) && nr <= MAX_MATCHES; i++)
			if (trace_view_get_row(session->view, (struct trace_row_id){kind, i}, &row) &&
			    row_contains(&row, targets.text) && nr++ < MAX_MATCHES) {
				json_separate(json);
				fprintf(json->out, "%u", view_row_number(row.id));
			}
	json_close(json, "]");
	json_open(json, "paths", "[");
	for (uint32_t i = 0; i < trace_view_nr_rows(session->view, TRACE_ROW_THREAD) && !targets.is_cut; i++) {
		targets.row = (struct trace_row_id){TRACE_ROW_THREAD, i};
		if (trace_view_spans(session->view, targets.row, session->start, session->end, put_target, &targets) <
		    0)
			memory_end();
	}
	json_close(json, "]");
	json_bool(json, "cut", nr > MAX_MATCHES || targets.is_cut);
	table_clear(&targets.seen);
}
