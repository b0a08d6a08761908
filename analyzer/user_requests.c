/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * user_requests.c - requests that programs mark themselves, from begin to end, across threads.
 *
 * The thread that began a request last works on it, until that thread ends it or hands it off.
 * After a handoff the request is queued: no thread works on it until one begins it again.
 */
#include <stdlib.h>
#include "state.h"
#include "user_requests.h"
#include "user_accounting.h"
#include "user_instances.h"
#include "user_sums.h"
#include "user_waits.h"

struct user_request_row {
	uint64_t key;
	struct user_request *first; /* owned, and so are all others with the same hash */
};

static uint64_t request_key(const struct owner *owner, string_id name, uint64_t id)
{
	return user_mix(user_mix(user_mix(owner_key(owner), name), id), 7) | 1;
}

/* The pointer to this request, or the pointer that would have it; NULL: no request has its hash. */
static struct user_request **request_find(struct trace_user_events *u, const struct owner *owner, string_id name,
					  uint64_t id)
{
	struct user_request_row *row = table_find(&u->requests, sizeof(*row), request_key(owner, name, id));
	struct user_request **at = row ? &row->first : NULL;

	while (at && *at && !(same_owner(&(*at)->owner, owner) && (*at)->name == name && (*at)->id == id))
		at = &(*at)->same;
	return at;
}

/*
 * Detach @request from its thread.
 * @ends: the request ends now
 */
static void request_leave(struct trace_user_events *u, struct user_request *request, bool ends)
{
	struct actor *actor = request->actor;
	uint64_t known = user_counts_ends(u) ? request_collect(u, request) : request_unfollow(u, request, ends);
	struct trace_times times = segment_times(u, &request->segment, known);

	request_piece(u, request);
	times_add(&request->times, &times);
	if (times.blocked_ns > known) {
		request->unknown_ns += times.blocked_ns - known;
		request->nr_unknown++;
	}
	segment_drop(u, actor, &request->segment);
	if (request->newer)
		request->newer->older = request->older;
	else
		actor->requests = request->older;
	if (request->older)
		request->older->newer = request->newer;
	request->older = request->newer = NULL;
	request->actor = NULL;
	request->since_ns = trace_analysis_now(u->analysis);
}

static struct user_request *request_new(struct trace_user_events *u, struct actor *actor, string_id name, uint64_t id)
{
	struct span_sum *span = span_sum(u, &actor->owner, TRACE_SPAN_REQUEST, name, 0);
	struct user_request_row *row =
		span ? table_add(&u->requests, sizeof(*row), request_key(&actor->owner, name, id)) : NULL;
	struct user_request *request = row ? calloc(1, sizeof(*request)) : NULL;

	if (!request)
		return span ? user_fail(u) : NULL;
	request->same = row->first;
	row->first = request;
	request->owner = actor->owner;
	request->name = name;
	request->id = id;
	request->span = span;
	request->begin_ns = request->since_ns = trace_analysis_now(u->analysis);
	request->program = actor->program;
	request->next = request->program->requests;
	if (request->next)
		request->next->prev = request;
	request->program->requests = request;
	return request;
}

static void request_remove(struct trace_user_events *u, struct user_request *request)
{
	uint64_t key = request_key(&request->owner, request->name, request->id);
	struct user_request_row *row = table_find(&u->requests, sizeof(*row), key);
	struct user_request **at = &row->first;

	while (*at != request)
		at = &(*at)->same;
	*at = request->same;
	if (!row->first)
		table_remove(&u->requests, sizeof(*row), key);
	if (request->next)
		request->next->prev = request->prev;
	if (request->prev)
		request->prev->next = request->next;
	else
		request->program->requests = request->next;
	table_clear(&request->waits);
	free(request->pieces);
	free(request);
}

void request_begin(struct trace_user_events *u, struct actor *actor, string_id name, uint64_t id)
{
	struct user_request **at = request_find(u, &actor->owner, name, id);
	struct user_request *request = at && *at ? *at : request_new(u, actor, name, id);

	if (!request || request->actor == actor)
		return;
	if (request->actor)
		request_leave(u, request, false); /* another thread took it over without a handoff */
	else
		request->queued += trace_analysis_now(u->analysis) - request->since_ns;
	request->actor = actor;
	request->older = actor->requests;
	if (request->older)
		request->older->newer = request;
	actor->requests = request;
	request_follow(u, request);
}

static void request_add(struct trace_user_events *u, const struct user_request *request)
{
	span_add(u, request->span, trace_analysis_now(u->analysis) - request->begin_ns, &request->times,
		 request->queued);
	if (request->span->is_folded)
		return;
	if (user_counts_ends(u))
		waits_merge(u, &request->span->waits, &request->waits);
	if (request->nr_unknown)
		wait_add(u, &request->span->waits, &wait_unknown, request->unknown_ns, request->nr_unknown);
}

void request_end(struct trace_user_events *u, struct actor *actor, string_id name, uint64_t id)
{
	struct user_request **at = request_find(u, &actor->owner, name, id);
	struct user_request *request = at ? *at : NULL;
	struct span_sum *span;

	if (!request) {
		span = span_sum(u, &actor->owner, TRACE_SPAN_REQUEST, name, 0);
		if (span) {
			span_unmatched(u, span);
			span_tell_end(u, actor, span);
		}
		return;
	}
	if (request->actor)
		request_leave(u, request, true);
	else
		request->queued += trace_analysis_now(u->analysis) - request->since_ns;
	if (user_counts(u))
		request_add(u, request);
	else
		span_left_open(u, request->span, request->begin_ns);
	request_tell(u, request, true);
	request_remove(u, request);
}

void request_handoff(struct trace_user_events *u, struct actor *actor, string_id name, uint64_t id)
{
	struct user_request **at = request_find(u, &actor->owner, name, id);

	if (at && *at && (*at)->actor)
		request_leave(u, *at, false);
}

void requests_leave(struct trace_user_events *u, struct actor *actor)
{
	while (actor->requests)
		request_leave(u, actor->requests, false);
}

void requests_drop(struct trace_user_events *u, struct program *program)
{
	struct user_request *request;

	for (struct actor *actor = program->used; actor; actor = actor->next_used[USED_OF_PROGRAM])
		requests_take_back(u, actor);
	while ((request = program->requests)) {
		request_take_back(u, request);
		if (request->actor)
			request_leave(u, request, true);
		span_left_open(u, request->span, request->begin_ns);
		request_tell(u, request, false);
		request_remove(u, request);
	}
}
