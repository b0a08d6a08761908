/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * user_waits.c - segments: the time of a thread from one instant to another, and its waits in it.
 *
 * A thread is in any number of segments at once: one for each scope and request, and one that began
 * with its last event (a mark). A wait is part of all of them. Adding each wait to each segment
 * would cost too much, so the thread stores its waits once, in stretches.
 *
 * Stretches. A stretch lasts from one begin of segments to the next. A wait is added to the newest
 * stretch only. The waits of a segment are the sum of the stretches from its own to the newest.
 * When the last segment that begins with a stretch has ended, the stretch is merged into the next
 * older one, the smaller table into the larger. The oldest stretch is dropped instead.
 *
 * Example: scope A begins at 1 ms, scope B at 2 ms. There are the stretches [1, 2) and [2, now). A
 * wait of 0.5 ms from 3 to 3.5 ms is added to [2, now). B ends at 4 ms: its waits are those of [2,
 * now), 0.5 ms. That stretch is merged into [1, now), so when A ends at 5 ms, its waits are 0.5 ms,
 * too.
 *
 * Scopes and marks read their stretches when they end. Each stretch is read at most once by each of
 * the at most MAX_DEPTH + 1 segments that were open when the stretch began, so this work is
 * bounded.
 *
 * Requests do not read stretches, because there can be any number of them. Instead a span gets each
 * wait at once, multiplied by the number of its requests on which the thread works. A thread has at
 * most MAX_FOLLOWED such spans. If a request does not end after all, its waits are taken back:
 * - for its present segment, together with all other requests of the thread in one sweep over the
 *   stretches (requests_take_back()). A cause that prevents the end of one request prevents all of
 *   them, because only requests of the thread's own program are followed;
 * - for its earlier segments, from a table of the request. When a thread leaves a request before
 *   its end, the stretches are copied into that table.
 *
 * The copy may take long if other segments have many stretches. Therefore steps are counted: each
 * event and each wait earns STEPS_PER_EVENT. If there are not enough steps, the span is folded: its
 * waits become one row of kind UNKNOWN. So the work for each event is bounded, whatever programs
 * do.
 */
#include <stdlib.h>
#include "state.h"
#include "user_waits.h"
#include "wait_object.h"
#include "user_accounting.h"
#include "user_sums.h"

/* names of requests with waits that one thread collects at once; the waits of others are UNKNOWN */
#define MAX_FOLLOWED	64u
#define STEPS_PER_EVENT 32u /* visits of a row or a stretch that each event pays for */

const struct span_wait wait_unknown = {.target = "", .via = "", .path = "", .kind = TRACE_WAIT_UNKNOWN};

/* ---- steps ---- */

void steps_earn(struct trace_user_events *u)
{
	u->steps += STEPS_PER_EVENT;
}

static bool steps_take(struct trace_user_events *u, uint64_t nr)
{
	if (nr > u->steps)
		return false;
	u->steps -= nr;
	return true;
}

static void span_fold(struct span_sum *span)
{
	span->is_folded = true;
	table_clear(&span->waits);
}

static void span_wait(struct trace_user_events *u, struct span_sum *span, const struct span_wait *wait, uint64_t ns,
		      uint64_t count)
{
	if (!span->is_folded)
		wait_add(u, &span->waits, wait, ns, count);
}

/* ---- stretches ---- */

static struct stretch *stretch_new(struct trace_user_events *u)
{
	struct stretch *stretch = u->spare;

	if (!stretch)
		return calloc(1, sizeof(*stretch));
	u->spare = stretch->older;
	stretch->older = NULL;
	return stretch;
}

/*
 * Add a segment that begins now to the newest stretch, or to a new one. Returns NULL when out of
 * memory.
 */
static struct stretch *stretch_pin(struct trace_user_events *u, struct actor *actor)
{
	struct stretch *newest = actor->newest, *stretch;
	uint64_t now = trace_analysis_now(u->analysis);

	if (newest && (!newest->pins || newest->from_ns == now)) {
		newest->from_ns = now;
		newest->pins++;
		return newest;
	}
	stretch = stretch_new(u);
	if (!stretch)
		return user_fail(u);
	stretch->from_ns = now;
	stretch->pins = 1;
	stretch->older = newest;
	if (newest)
		newest->newer = stretch;
	return actor->newest = stretch;
}

static void stretch_remove(struct trace_user_events *u, struct actor *actor, struct stretch *stretch)
{
	if (stretch->newer)
		stretch->newer->older = stretch->older;
	else
		actor->newest = stretch->older;
	if (stretch->older)
		stretch->older->newer = stretch->newer;
	table_clear(&stretch->waits);
	*stretch = (struct stretch){.older = u->spare};
	u->spare = stretch;
}

/*
 * Remove a segment that began with @stretch. The last stretch of a thread stays, empty, for its
 * next segment.
 */
static void stretch_unpin(struct trace_user_events *u, struct actor *actor, struct stretch *stretch)
{
	struct stretch *older = stretch->older;

	if (--stretch->pins)
		return;
	if (!older && !stretch->newer) {
		table_clear(&stretch->waits);
		return;
	}
	if (older) {
		if (older->waits.used < stretch->waits.used) {
			struct hash_table waits = older->waits;

			older->waits = stretch->waits;
			stretch->waits = waits;
		}
		waits_merge(u, &older->waits, &stretch->waits);
	}
	stretch_remove(u, actor, stretch);
}

/* ---- segments ---- */

void segment_begin(struct trace_user_events *u, struct actor *actor, struct segment *segment, struct span_sum *span,
		   bool collect)
{
	*segment = (struct segment){.span = span, .thread = actor->thread, .from_ns = trace_analysis_now(u->analysis)};
	if (!actor->thread)
		return;
	trace_thread_times(u->analysis, actor->thread, &segment->before);
	if (collect)
		segment->stretch = stretch_pin(u, actor);
}

void segment_drop(struct trace_user_events *u, struct actor *actor, struct segment *segment)
{
	if (segment->stretch)
		stretch_unpin(u, actor, segment->stretch);
	segment->stretch = NULL;
	segment->span = NULL;
}

struct trace_times segment_times(struct trace_user_events *u, const struct segment *segment, uint64_t known_ns)
{
	struct trace_times now, times = {0};

	if (!segment->thread)
		return times;
	trace_thread_times(u->analysis, segment->thread, &now);
	return times_since(&now, &segment->before, known_ns);
}

void segment_end(struct trace_user_events *u, struct actor *actor, struct segment *segment)
{
	struct span_sum *span = segment->span;
	struct trace_times times;
	uint64_t known = 0;

	for (const struct stretch *stretch = segment->stretch; stretch; stretch = stretch->newer) {
		known += waits_sum(&stretch->waits);
		waits_merge(u, &span->waits, &stretch->waits);
	}
	times = segment_times(u, segment, known);
	if (times.blocked_ns > known)
		wait_add(u, &span->waits, &wait_unknown, times.blocked_ns - known, 1);
	span_add(u, span, trace_analysis_now(u->analysis) - segment->from_ns, &times, 0);
	segment_drop(u, actor, segment);
}

/* ---- requests ---- */

static struct following *following_of(const struct actor *actor, const struct span_sum *span)
{
	for (uint32_t i = 0; i < actor->nr_followed; i++)
		if (actor->followed[i].span == span)
			return &actor->followed[i];
	return NULL;
}

static struct following *following_new(struct trace_user_events *u, struct actor *actor, struct span_sum *span)
{
	struct following *following;

	if (actor->nr_followed == MAX_FOLLOWED)
		return NULL;
	if (!(actor->nr_followed & (actor->nr_followed - 1))) { /* a power of two: the array is full */
		following = reallocarray(actor->followed, actor->nr_followed ? 2ul * actor->nr_followed : 1,
					 sizeof(*following));
		if (!following)
			return user_fail(u);
		actor->followed = following;
	}
	following = &actor->followed[actor->nr_followed++];
	*following = (struct following){.span = span};
	return following;
}

void request_follow(struct trace_user_events *u, struct user_request *request)
{
	struct actor *actor = request->actor;
	struct following *following = NULL;

	if (actor->thread && request->program == actor->program && !request->span->is_folded && !user_counts_ends(u))
		following = following_of(actor, request->span) ?: following_new(u, actor, request->span);
	segment_begin(u, actor, &request->segment, request->span,
		      following || (user_counts_ends(u) && request->program == actor->program));
	if (!following)
		return;
	following->nr++;
	request->is_followed = true;
	request->followed_ns = actor->followed_ns;
}

/*
 * Copy what the span of @request got from its present segment. If the request does not end, the
 * span has to give it back.
 */
static void request_keep(struct trace_user_events *u, struct user_request *request)
{
	for (const struct stretch *stretch = request->segment.stretch; stretch && !request->span->is_folded;
	     stretch = stretch->newer) {
		if (steps_take(u, 1ull + stretch->waits.used))
			waits_merge(u, &request->waits, &stretch->waits);
		else
			span_fold(request->span);
	}
}

uint64_t request_collect(struct trace_user_events *u, struct user_request *request)
{
	uint64_t known = 0;

	request_keep(u, request);
	for (const struct stretch *stretch = request->segment.stretch; stretch && !request->span->is_folded;
	     stretch = stretch->newer)
		known += waits_sum(&stretch->waits);
	return known;
}

uint64_t request_unfollow(struct trace_user_events *u, struct user_request *request, bool ends)
{
	struct actor *actor = request->actor;
	struct following *following;

	if (!request->is_followed)
		return 0;
	if (!ends)
		request_keep(u, request);
	request->is_followed = false;
	following = following_of(actor, request->span);
	if (!--following->nr)
		*following = actor->followed[--actor->nr_followed];
	return actor->followed_ns - request->followed_ns;
}

/*
 * The oldest followed request of @actor. The last loss of events ended all older requests, so the
 * loop visits each request that is not followed at most once.
 */
static struct user_request *oldest_followed(const struct actor *actor)
{
	struct user_request *request = actor->requests, *oldest = NULL;
	uint64_t nr = 0;

	for (uint32_t i = 0; i < actor->nr_followed; i++)
		nr += actor->followed[i].nr;
	for (; nr; request = request->older) {
		if (!request->is_followed)
			continue;
		oldest = request;
		nr--;
	}
	return oldest;
}

static void take_back(struct trace_user_events *u, struct span_sum *span, const struct hash_table *waits,
		      uint64_t times)
{
	const struct span_wait *row = NULL;

	while (!span->is_folded && (row = table_next(waits, sizeof(*row), row)))
		wait_add(u, &span->waits, row, -times * row->ns, -times * row->count);
}

void requests_take_back(struct trace_user_events *u, struct actor *actor)
{
	const struct user_request *request = oldest_followed(actor);

	for (const struct stretch *stretch = request ? request->segment.stretch : NULL; stretch;
	     stretch = stretch->newer) {
		for (; request && (!request->is_followed || request->segment.stretch == stretch);
		     request = request->newer)
			if (request->is_followed)
				following_of(actor, request->span)->nr_swept++;
		for (uint32_t i = 0; i < actor->nr_followed; i++)
			if (actor->followed[i].nr_swept)
				take_back(u, actor->followed[i].span, &stretch->waits, actor->followed[i].nr_swept);
	}
	for (uint32_t i = 0; i < actor->nr_followed; i++)
		actor->followed[i].nr_swept = 0;
}

void request_take_back(struct trace_user_events *u, struct user_request *request)
{
	if (user_counts_ends(u)) /* the span did not get them */
		return;
	take_back(u, request->span, &request->waits, 1);
}

/* ---- waits ---- */

/*
 * Add a wait to the stretches. It may have begun before open segments did: the clocks of a program
 * and the kernel differ a little, and in a gap of the kernel's events the thread counts as waiting.
 * Each segment gets the part since its own begin. Returns false if that would take too many steps.
 */
static bool stretches_wait(struct trace_user_events *u, struct actor *actor, const struct span_wait *wait,
			   uint64_t from_ns, uint64_t to_ns)
{
	uint64_t count = 1;

	for (struct stretch *stretch = actor->newest; stretch && from_ns < to_ns; stretch = stretch->older) {
		uint64_t since = stretch->from_ns > from_ns ? stretch->from_ns : from_ns;

		if (stretch->from_ns > from_ns && !steps_take(u, 1))
			return false;
		if (since >= to_ns)
			continue;
		wait_add(u, &stretch->waits, wait, to_ns - since, count);
		/*
		 * only the newest of its stretches counts it: each segment with a part of the wait
		 * includes that one
		 */
		count = 0;
		to_ns = since;
	}
	return true;
}

/* The spans got the whole wait for each request. Subtract the part before the request began. */
static bool requests_wait_less(struct trace_user_events *u, struct actor *actor, const struct span_wait *wait,
			       uint64_t from_ns, uint64_t to_ns)
{
	for (struct user_request *request = actor->requests; request && request->segment.from_ns > from_ns;
	     request = request->older) {
		uint64_t before = (request->segment.from_ns < to_ns ? request->segment.from_ns : to_ns) - from_ns;

		if (!steps_take(u, 1))
			return false;
		if (!request->is_followed)
			continue;
		span_wait(u, request->span, wait, -before, request->segment.from_ns < to_ns ? 0 : UINT64_MAX);
		request->followed_ns += before;
	}
	return true;
}

void actor_wait(struct trace_user_events *u, struct actor *actor, const struct trace_interval *interval)
{
	struct span_wait wait = {.target = interval->target ? interval->target : "",
				 .via = interval->via ? interval->via : "",
				 .path = interval->path ? interval->path : "",
				 .other = interval->other,
				 .thread = wait_thread_now(u->analysis),
				 .kind = interval->kind,
				 .idle = interval->idle};
	uint64_t ns = interval->to_ns - interval->from_ns;
	bool collected;

	if (!actor->newest || !actor->newest->pins || interval->to_ns <= interval->from_ns)
		return;
	collected = stretches_wait(u, actor, &wait, interval->from_ns, interval->to_ns);
	if (collected && actor->nr_followed) {
		actor->followed_ns += ns;
		for (uint32_t i = 0; i < actor->nr_followed; i++)
			span_wait(u, actor->followed[i].span, &wait, actor->followed[i].nr * ns, actor->followed[i].nr);
		collected = requests_wait_less(u, actor, &wait, interval->from_ns, interval->to_ns);
	}
	for (uint32_t i = 0; !collected && i < actor->nr_followed; i++)
		span_fold(actor->followed[i].span);
}

void actor_waits_free(struct actor *actor)
{
	struct stretch *older;

	for (struct stretch *stretch = actor->newest; stretch; stretch = older) {
		older = stretch->older;
		table_clear(&stretch->waits);
		free(stretch);
	}
	free(actor->followed);
}
