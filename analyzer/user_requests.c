/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * user_requests.c - requests that programs name themselves: from begin to end, on whatever threads they are.
 *
 * A request is with the thread that began it last, until that ends it or hands it off; then it is queued, with nobody, until
 * another begins it again.
 */
#include <stdlib.h>
#include "user_events.h"

struct request {
	struct owner owner;
	string_id name;
	uint64_t id;
	struct span_sum *span;
	struct actor *actor; /* that works for it; NULL: nobody */
	struct segment segment;
	struct request *next; /* of the actor */
	uint64_t begin_ns;
	uint64_t since_ns; /* with nobody since */
	struct trace_times times;
	uint64_t queued;
	struct table waits;
};

struct request_row {
	uint64_t key;
	struct request *request; /* owned; NULL: ended */
};

/* The row of this request, or one for it. */
static struct request_row *request_find(struct trace_user_events *u, const struct owner *owner, string_id name, uint64_t id)
{
	uint64_t key = user_mix(user_mix(user_mix(owner_key(owner), name), id), 7);
	struct request_row *row, *ended = NULL;

	for (;; key++) {
		key += !key;
		row = table_find(&u->requests, sizeof(*row), key);
		if (!row)
			return ended ? ended : table_add(&u->requests, sizeof(*row), key);
		if (!row->request)
			ended = ended ? ended : row;
		else if (same_owner(&row->request->owner, owner) && row->request->name == name && row->request->id == id)
			return row;
	}
}

/* Nobody works for it from now on. */
static void request_leave(struct trace_user_events *u, struct request *request)
{
	struct request **at = &request->actor->requests;
	struct trace_times times = segment_end(u, &request->segment);

	times_add(&request->times, &times);
	waits_merge(u, &request->waits, &request->segment.waits);
	table_clear(&request->segment.waits);
	while (*at != request)
		at = &(*at)->next;
	*at = request->next;
	request->actor = NULL;
	request->since_ns = trace_analysis_now(u->analysis);
}

static struct request *request_new(struct trace_user_events *u, struct actor *actor, string_id name, uint64_t id)
{
	struct span_sum *span = span_sum(u, &actor->owner, TRACE_SPAN_REQUEST, name, 0);
	struct request *request = span ? calloc(1, sizeof(*request)) : NULL;

	if (!request)
		return span ? user_fail(u) : NULL;
	request->owner = actor->owner;
	request->name = name;
	request->id = id;
	request->span = span;
	request->begin_ns = request->since_ns = trace_analysis_now(u->analysis);
	return request;
}

static void request_free(struct request *request)
{
	if (!request)
		return;
	table_clear(&request->segment.waits);
	table_clear(&request->waits);
	free(request);
}

/* Rows of requests that ended stay, for those behind them: from time to time all that live get a new table. */
static void requests_tidy(struct trace_user_events *u)
{
	struct table old = u->requests;
	struct request_row *row = NULL, *moved;

	if (++u->nr_ended < 1024 || u->nr_ended < old.used / 2)
		return;
	u->requests = (struct table){0};
	u->nr_ended = 0;
	while ((row = table_next(&old, sizeof(*row), row))) {
		if (!row->request)
			continue;
		moved = request_find(u, &row->request->owner, row->request->name, row->request->id);
		if (moved) {
			moved->request = row->request;
		} else {
			user_fail(u);
			request_free(row->request);
		}
	}
	table_clear(&old);
}

void request_begin(struct trace_user_events *u, struct actor *actor, string_id name, uint64_t id)
{
	struct request_row *row = request_find(u, &actor->owner, name, id);
	struct request *request;

	if (!row) {
		user_fail(u);
		return;
	}
	if (!row->request)
		row->request = request_new(u, actor, name, id);
	request = row->request;
	if (!request || request->actor == actor)
		return;
	if (request->actor)
		request_leave(u, request); /* taken over without a handoff */
	else
		request->queued += trace_analysis_now(u->analysis) - request->since_ns;
	request->actor = actor;
	request->next = actor->requests;
	actor->requests = request;
	segment_begin(u, &request->segment, request->span, actor->thread);
}

void request_end(struct trace_user_events *u, struct actor *actor, string_id name, uint64_t id)
{
	struct request_row *row = request_find(u, &actor->owner, name, id);
	struct request *request = row ? row->request : NULL;
	struct span_sum *span;

	if (!request) {
		span = span_sum(u, &actor->owner, TRACE_SPAN_REQUEST, name, 0);
		if (span)
			span->unmatched++;
		return;
	}
	if (request->actor)
		request_leave(u, request);
	else
		request->queued += trace_analysis_now(u->analysis) - request->since_ns;
	span_add(u, request->span, trace_analysis_now(u->analysis) - request->begin_ns, &request->times, request->queued, &request->waits);
	request_free(request);
	row->request = NULL;
	requests_tidy(u);
}

void request_handoff(struct trace_user_events *u, struct actor *actor, string_id name, uint64_t id)
{
	struct request_row *row = request_find(u, &actor->owner, name, id);

	if (row && row->request && row->request->actor)
		request_leave(u, row->request);
}

void requests_wait(struct trace_user_events *u, struct actor *actor, const struct trace_interval *interval)
{
	for (struct request *request = actor->requests; request; request = request->next)
		segment_wait(u, &request->segment, interval);
}

void requests_forget(struct trace_user_events *u, uint32_t pid)
{
	struct request_row *row = NULL;

	while ((row = table_next(&u->requests, sizeof(*row), row))) {
		if (!row->request || (pid && row->request->owner.pid != pid))
			continue;
		if (row->request->actor)
			request_leave(u, row->request);
		row->request->span->open++;
		request_free(row->request);
		row->request = NULL;
		u->nr_ended++;
	}
}

void requests_free(struct trace_user_events *u)
{
	const struct request_row *row = NULL;

	while ((row = table_next(&u->requests, sizeof(*row), row)))
		request_free(row->request);
	table_clear(&u->requests);
}
