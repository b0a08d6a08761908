/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * user_requests.c - requests that programs name themselves: from begin to end, on whatever threads they are.
 *
 * A request is with the thread that began it last, until that ends it or hands it off; then it is queued, with nobody, until
 * another begins it again.
 */
#include <stdlib.h>
#include "user_accounting.h"

struct request {
	struct owner owner;
	string_id name;
	uint64_t id;
	struct span_sum *span;
	struct actor *actor; /* that works for it; NULL: nobody */
	struct segment segment;
	struct request *next; /* of the actor */
	struct request *same; /* of the same hash */
	uint64_t begin_ns;
	uint64_t since_ns; /* with nobody since */
	struct trace_times times;
	uint64_t queued;
	struct table waits;
};

struct request_row {
	uint64_t key;
	struct request *first; /* owned, and all of the same hash behind it */
};

static uint64_t request_key(const struct owner *owner, string_id name, uint64_t id)
{
	return user_mix(user_mix(user_mix(owner_key(owner), name), id), 7) | 1;
}

/* Where the pointer to this request is, or would be; NULL: no request has its hash. */
static struct request **request_find(struct trace_user_events *u, const struct owner *owner, string_id name, uint64_t id)
{
	struct request_row *row = table_find(&u->requests, sizeof(*row), request_key(owner, name, id));
	struct request **at = row ? &row->first : NULL;

	while (at && *at && !(same_owner(&(*at)->owner, owner) && (*at)->name == name && (*at)->id == id))
		at = &(*at)->same;
	return at;
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
	struct request_row *row = span ? table_add(&u->requests, sizeof(*row), request_key(&actor->owner, name, id)) : NULL;
	struct request *request = row ? calloc(1, sizeof(*request)) : NULL;

	if (!request)
		return span ? user_fail(u) : NULL;
	request->same = row->first;
	row->first = request;
	request->owner = actor->owner;
	request->name = name;
	request->id = id;
	request->span = span;
	request->begin_ns = request->since_ns = trace_analysis_now(u->analysis);
	return request;
}

static void request_free(struct request *request)
{
	table_clear(&request->segment.waits);
	table_clear(&request->waits);
	free(request);
}

/* @at: where the pointer to it is. */
static void request_remove(struct trace_user_events *u, struct request **at)
{
	struct request *request = *at;
	uint64_t key = request_key(&request->owner, request->name, request->id);
	struct request_row *row = table_find(&u->requests, sizeof(*row), key);

	*at = request->same;
	request_free(request);
	if (!row->first)
		table_remove(&u->requests, sizeof(*row), key);
}

void request_begin(struct trace_user_events *u, struct actor *actor, string_id name, uint64_t id)
{
	struct request **at = request_find(u, &actor->owner, name, id);
	struct request *request = at && *at ? *at : request_new(u, actor, name, id);

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
	struct request **at = request_find(u, &actor->owner, name, id);
	struct request *request = at ? *at : NULL;
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
	request_remove(u, at);
}

void request_handoff(struct trace_user_events *u, struct actor *actor, string_id name, uint64_t id)
{
	struct request **at = request_find(u, &actor->owner, name, id);

	if (at && *at && (*at)->actor)
		request_leave(u, *at);
}

void requests_leave(struct trace_user_events *u, struct actor *actor)
{
	while (actor->requests)
		request_leave(u, actor->requests);
}

void requests_wait(struct trace_user_events *u, struct actor *actor, const struct trace_interval *interval)
{
	for (struct request *request = actor->requests; request; request = request->next)
		segment_wait(u, &request->segment, interval);
}

/* Those of @pid, or all with 0, from one row; the row itself stays. */
static void row_forget(struct trace_user_events *u, struct request_row *row, uint32_t pid)
{
	struct request **at = &row->first, *request;

	while ((request = *at)) {
		if (pid && request->owner.pid != pid) {
			at = &request->same;
			continue;
		}
		if (request->actor)
			request_leave(u, request);
		request->span->open++;
		*at = request->same;
		request_free(request);
	}
}

void requests_forget(struct trace_user_events *u, uint32_t pid)
{
	struct table kept = {0}, all = u->requests;
	struct request_row *row = NULL, *moved;

	while ((row = table_next(&all, sizeof(*row), row))) {
		row_forget(u, row, pid);
		moved = row->first ? table_add(&kept, sizeof(*moved), row->key) : NULL;
		if (moved)
			moved->first = row->first;
		else if (row->first)
			user_fail(u);
	}
	table_clear(&all);
	u->requests = kept;
}

void requests_free(struct trace_user_events *u)
{
	requests_forget(u, 0);
	table_clear(&u->requests);
}
