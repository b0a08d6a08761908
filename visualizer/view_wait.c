/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* view_wait.c - the waits of a span, summed by what was waited for. */
#include <stdlib.h>
#include <string.h>
#include "view_row.h"
#include "view_span.h"

#define MAX_WAITS 200u

/* struct view_wait - all waits of a thread for one object, in one call */
struct view_wait {
	struct trace_view_span first;
	uint64_t ns, count, from;
};
struct view_wait_row {
	uint64_t key;
	size_t idx; /* + 1 */
};
struct wait_sums {
	struct view_wait *waits; /* owned */
	size_t nr, room;
	struct hash_table rows;
	struct view_window window;
};

static bool is_same(const struct trace_view_span *a, const struct trace_view_span *b)
{
	return a->thread == b->thread && a->class_of_time == b->class_of_time && a->kind == b->kind &&
	       a->target == b->target && a->via == b->via && a->other == b->other && a->name == b->name;
}

static uint64_t key_of(const struct trace_view_span *span)
{
	const uint64_t parts[] = {(uintptr_t)span->thread, (uint64_t)span->class_of_time << 8 | span->kind,
				  (uintptr_t)span->target, (uintptr_t)span->via,
				  (uintptr_t)span->other,  (uintptr_t)span->name};
	uint64_t key = 1;

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		key = hash_u64(key ^ parts[i]);
	return key;
}

static bool add_wait(void *data, const struct trace_view_span *span)
{
	struct wait_sums *sums = data;
	uint64_t from = span->from_ns > sums->window.from ? span->from_ns : sums->window.from,
		 to = span->to_ns < sums->window.to ? span->to_ns : sums->window.to;
	struct view_wait_row *row;

	if ((span->state != TRACE_STATE_BLOCKED && span->state != TRACE_STATE_WAIT_CPU) || from >= to)
		return true;
	for (uint64_t key = key_of(span);; key++) {
		row = memory_row(&sums->rows, sizeof(*row), key ? key : 1);
		if (!row->idx || is_same(&sums->waits[row->idx - 1].first, span))
			break;
	}
	if (!row->idx) {
		sums->waits = memory_grow(sums->waits, sums->nr, &sums->room, sizeof(*sums->waits));
		sums->waits[sums->nr++] = (struct view_wait){.first = *span};
		row->idx = sums->nr;
	}
	sums->waits[row->idx - 1].ns += to - from;
	sums->waits[row->idx - 1].count += span->from_ns >= sums->window.from;
	return true;
}

static int longest_first(const void *left, const void *right, void *data)
{
	const struct view_wait *l = left, *r = right;

	return l->ns > r->ns ? -1 : l->ns < r->ns;
}

static void sum_rows(struct view_session *session, const struct trace_row *asked, struct wait_sums *sums)
{
	for (uint32_t i = 0; i < trace_view_nr_rows(session->view, TRACE_ROW_THREAD); i++) {
		struct trace_row_id id = {TRACE_ROW_THREAD, i};
		struct trace_row row;

		if (!trace_view_get_row(session->view, id, &row))
			continue;
		if (asked && asked->id.kind == TRACE_ROW_PROCESS && row.parent != asked->id.index)
			continue;
		if (asked && asked->id.kind == TRACE_ROW_THREAD && i != asked->id.index)
			continue;
		if (trace_view_spans(session->view, id, sums->window.from, sums->window.to, add_wait, sums) < 0)
			memory_end();
	}
}

static void put_wait(struct json *json, struct view_session *session, const struct view_wait *wait)
{
	const struct trace_view_span *first = &wait->first;
	bool for_cpu = first->state == TRACE_STATE_WAIT_CPU;

	json_open(json, NULL, "\n{");
	json_u64(json, "ns", wait->ns);
	json_u64(json, "count", wait->count);
	json_u64(json, "class", first->class_of_time);
	json_text(json, "kind", for_cpu ? "cpu" : trace_wait_kind_name(first->kind));
	json_bool(json, "idle", !for_cpu && first->idle);
	if (*first->target)
		json_text(json, "target", first->target);
	if (*first->via)
		json_text(json, "via", first->via);
	if (*first->name)
		json_text(json, "call", first->name);
	json_process(json, session, "other", first->other);
	json_thread(json, session, "thread", first->thread);
	json_time(json, session, "from", first->from_ns);
	json_time(json, session, "to", first->to_ns);
	json_close(json, "}");
}

void view_waits(struct view_session *session, struct view_question *question, struct json *json)
{
	struct wait_sums sums = {.window = view_window_asked(session, question)};
	bool is_asked = question_text(question, "row", NULL);
	struct trace_row row;
	uint64_t rest = 0;

	if (*question->error || (is_asked && !view_row_asked(session, question, &row)))
		return;
	sum_rows(session, is_asked ? &row : NULL, &sums);
	memory_sort(sums.waits, sums.nr, sizeof(*sums.waits), longest_first, NULL);
	json_open(json, "waits", "[");
	for (size_t i = 0; i < sums.nr; i++)
		if (i < MAX_WAITS)
			put_wait(json, session, &sums.waits[i]);
		else
			rest += sums.waits[i].ns;
	json_close(json, "]");
	json_u64(json, "rest_ns", rest);
	table_clear(&sums.rows);
	free(sums.waits);
}
