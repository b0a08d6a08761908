/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * servers_set.c - requests, and sets of requests: their references
 *
 * A set with several references is not changed, but replaced.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "servers_set.h"

/* ---- requests ---- */

struct server_request *request_ref(struct server_request *request)
{
	if (request)
		request->refs++;
	return request;
}

static void endpoint_leave(struct server_request *request)
{
	*request->link = request->next;
	if (request->next)
		request->next->link = request->link;
}

void request_unref(struct server_request *request)
{
	while (request && --request->refs == 0) {
		struct server_request *parent = request->parent;

		endpoint_leave(request);
		if (request->window)
			window_free(request->window);
		if (request->pending)
			free(request->pending);
		free(request);
		request = parent;
	}
}

/* ---- sets ---- */

/*
 * The first set of one request alone is part of the request (request.only), so most sets need no
 * memory of their own.
 */
static bool is_part(const struct set *set)
{
	return set->nr == 1 && set == &set->items[0]->only;
}

void set_release(struct set *set)
{
	bool part = is_part(set);
	uint32_t nr = set->nr;

	for (uint32_t i = 0; i < nr; i++) {
		struct server_request *request = set->items[i];

		if (request->refs > 1)
			request->refs--;
		else
			request_unref(request); /* frees @set, too, if it is part of this request */
	}
	if (!part)
		free(set);
}

/* Returns the index of @request in @set, or set->nr if it is not there. */
static uint32_t set_find(const struct set *set, const struct server_request *request)
{
	struct server_request *const *at = set->items, *const *end = at + set->nr;

	while (at < end && *at != request)
		at++;
	return (uint32_t)(at - set->items);
}

bool set_has(const struct set *set, const struct server_request *request)
{
	return set && set_find(set, request) < set->nr;
}

/* Room for @nr requests, rounded up to a power of two: that many fit without another allocation. */
static struct set *set_new(struct request_sets *sets, uint32_t nr)
{
	uint32_t room = nr > 2 ? 1u << (32 - __builtin_clz(nr - 1)) : 2;
	struct set *set = malloc(sizeof(*set) + room * sizeof(set->items[0]));

	if (!set) {
		sets->failed = -ENOMEM;
		return NULL;
	}
	set->refs = 1;
	set->nr = 0;
	set->unreplied = 0;
	set->all_counted = false;
	return set;
}

static struct set *set_of_one(struct request_sets *sets, struct server_request *request)
{
	struct set *set = request->only.refs ? set_new(sets, 1) : &request->only;

	if (!set)
		return NULL;
	set->refs = 1;
	set->nr = 1;
	set->unreplied = request->replied ? 0 : sets->replies + 1;
	set->all_counted = request->counted;
	set->items[0] = request_ref(request);
	return set;
}

/* True if there is no other reference through which the change would be seen. */
static bool can_change(const struct set *set)
{
	return set->refs == 1 && !is_part(set);
}

/* True if the set can change, and has room for one more. */
static bool can_grow(const struct set *set)
{
	return can_change(set) && (set->nr < 2 || (set->nr & (set->nr - 1)));
}

/* The caller has checked can_grow(), or made the set with enough room. */
static void set_append(struct set *set, struct server_request *request)
{
	set->items[set->nr++] = request_ref(request);
	if (request->replied)
		set->unreplied = 0;
	set->all_counted &= request->counted;
}

/* Append @nr requests of @old, from index @from on, to @set, which has room for them. */
static void set_copy(struct set *set, const struct set *old, uint32_t from, uint32_t nr)
{
	for (uint32_t i = 0; i < nr; i++) {
		set->items[set->nr + i] = old->items[from + i];
		old->items[from + i]->refs++;
	}
	set->nr += nr;
	set->unreplied = old->unreplied;
	set->all_counted = old->all_counted;
}

/* Remove the request at index @at. */
static void set_remove_at(struct request_sets *sets, struct set **slot, uint32_t at)
{
	struct set *old = *slot, *set = NULL;

	if (can_change(old) && old->nr > 1) {
		request_unref(old->items[at]);
		memmove(old->items + at, old->items + at + 1, (--old->nr - at) * sizeof(old->items[0]));
		return;
	}
	if (old->nr == 2)
		set = set_of_one(sets, old->items[!at]);
	else if (old->nr > 2 && (set = set_new(sets, old->nr - 1))) {
		set_copy(set, old, 0, at);
		set_copy(set, old, at + 1, old->nr - at - 1);
	}
	*slot = set;
	set_unref(old);
}

/*
 * Add @request, which is not in the set. In a set of MAX_SET it replaces the oldest: the cost of
 * each event of a thread grows with its set.
 */
static void set_add(struct request_sets *sets, struct set **slot, struct server_request *request)
{
	struct set *old, *set;

	if (*slot && (*slot)->nr >= MAX_SET)
		set_remove_at(sets, slot, 0);
	old = *slot;
	if (!old) {
		*slot = set_of_one(sets, request);
		return;
	}
	if (can_grow(old)) {
		set_append(old, request);
		return;
	}
	set = set_new(sets, old->nr + 1);
	if (!set)
		return;
	set_copy(set, old, 0, old->nr);
	set_append(set, request);
	set_unref(old);
	*slot = set;
}

void set_put(struct request_sets *sets, struct set **slot, struct server_request *request)
{
	if (!set_has(*slot, request))
		set_add(sets, slot, request);
}

uint64_t set_stamp(struct request_sets *sets, const struct set *set)
{
	sets->stamp++;
	for (uint32_t i = 0; set && i < set->nr; i++)
		set->items[i]->stamp = sets->stamp;
	return sets->stamp;
}

/* Searching for a few requests among many is cheaper than writing a stamp to each of the many. */
static bool are_few(const struct set *set)
{
	return set->nr <= 2;
}

void set_put_all(struct request_sets *sets, struct set **slot, const struct set *more)
{
	uint64_t stamp;

	if (!more || more == *slot)
		return;
	if (are_few(more)) {
		for (uint32_t i = 0; i < more->nr; i++)
			if (!more->items[i]->replied)
				set_put(sets, slot, more->items[i]);
		return;
	}
	stamp = set_stamp(sets, *slot);
	for (uint32_t i = 0; i < more->nr; i++)
		if (!more->items[i]->replied && more->items[i]->stamp != stamp)
			set_add(sets, slot, more->items[i]);
}

/* @set has no other reference. Returns how many requests stay. */
static uint32_t set_compact(struct set *set, uint32_t first, request_fn drop, const void *data)
{
	uint32_t kept = first, nr = set->nr;

	for (uint32_t i = first; i < nr; i++) {
		struct server_request *request = set->items[i];

		if (drop(request, data))
			request_unref(request);
		else
			set->items[kept++] = request;
	}
	set->nr = kept;
	return kept;
}

/*
 * Make a set of the @kept requests that stay; @old has other references. Returns NULL if out of
 * memory.
 */
static struct set *set_kept(struct request_sets *sets, const struct set *old, uint32_t first, uint32_t kept,
			    request_fn drop, const void *data)
{
	struct set *set = kept > 1 ? set_new(sets, kept) : NULL;

	if (set)
		set_copy(set, old, 0, first);
	else if (kept == 1 && first)
		return set_of_one(sets, old->items[0]);
	for (uint32_t i = first + 1; (set || kept == 1) && i < old->nr; i++) {
		if (drop(old->items[i], data))
			continue;
		if (kept == 1)
			return set_of_one(sets, old->items[i]);
		set->items[set->nr++] = request_ref(old->items[i]);
	}
	return set;
}

/* @first is the index of the first request that is removed. */
static void set_filter_from(struct request_sets *sets, struct set **slot, uint32_t first, request_fn drop,
			    const void *data)
{
	struct set *old = *slot;
	uint32_t kept = first;

	if (can_change(old) && set_compact(old, first, drop, data))
		return;
	for (uint32_t i = first + 1; i < old->nr; i++)
		kept += !drop(old->items[i], data);
	*slot = kept ? set_kept(sets, old, first, kept, drop, data) : NULL;
	set_unref(old);
}

/*
 * Inline, as is a @drop known at compile time: in most calls no request of a set of thousands is
 * removed.
 */
static inline __attribute__((always_inline)) void set_filter_inline(struct request_sets *sets, struct set **slot,
								    request_fn drop, const void *data)
{
	const struct set *set = *slot;

	for (uint32_t i = 0; set && i < set->nr; i++)
		if (drop(set->items[i], data)) {
			set_filter_from(sets, slot, i, drop, data);
			return;
		}
}

void set_filter(struct request_sets *sets, struct set **slot, request_fn drop, const void *data)
{
	set_filter_inline(sets, slot, drop, data);
}

static bool is_replied(const struct server_request *request, const void *unused)
{
	(void)unused;
	return request->replied;
}

static bool is_only_accepted(const struct server_request *request, const void *unused)
{
	(void)unused;
	return !request->counted;
}

/*
 * Returns the index of the first answered request, or set->nr if there is none. Usually the set is
 * known to have no answered request, except perhaps the one that was answered last anywhere.
 */
static uint32_t first_replied(const struct request_sets *sets, struct set *set)
{
	uint32_t first = 0;

	if (set->unreplied == sets->replies + 1)
		return set->nr;
	if (set->unreplied && set->unreplied == sets->replies)
		first = set_find(set, sets->last_replied);
	while (first < set->nr && !set->items[first]->replied)
		first++;
	if (first == set->nr)
		set->unreplied = sets->replies + 1;
	return first;
}

bool set_any_replied(const struct request_sets *sets, struct set *set)
{
	return set && first_replied(sets, set) < set->nr;
}

void set_drop_replied(struct request_sets *sets, struct set **slot)
{
	bool is_one = *slot && (*slot)->unreplied && (*slot)->unreplied == sets->replies;
	uint32_t first = *slot ? first_replied(sets, *slot) : 0;

	if (!*slot || first == (*slot)->nr)
		return;
	if (is_one)
		set_remove_at(sets, slot, first);
	else
		set_filter_from(sets, slot, first, is_replied, NULL);
	if (*slot)
		(*slot)->unreplied = sets->replies + 1;
}

void set_drop_accepted(struct request_sets *sets, struct set **slot)
{
	if (!*slot || (*slot)->all_counted)
		return;
	set_filter_inline(sets, slot, is_only_accepted, NULL);
	if (*slot)
		(*slot)->all_counted = true;
}

static bool has_stamp(const struct server_request *request, const void *stamp)
{
	return request->stamp == *(const uint64_t *)stamp;
}

static bool has_other_stamp(const struct server_request *request, const void *stamp)
{
	return request->stamp != *(const uint64_t *)stamp;
}

void set_drop(struct request_sets *sets, struct set **slot, const struct set *others)
{
	uint64_t stamp;

	if (!*slot || !others)
		return;
	stamp = set_stamp(sets, others);
	set_filter_inline(sets, slot, has_stamp, &stamp);
}

void set_keep(struct request_sets *sets, struct set **slot, const struct set *others)
{
	uint64_t stamp;

	if (!*slot)
		return;
	stamp = set_stamp(sets, others);
	set_filter_inline(sets, slot, has_other_stamp, &stamp);
}

void set_remove(struct request_sets *sets, struct set **slot, const struct server_request *request)
{
	uint32_t at = *slot ? set_find(*slot, request) : 0;

	if (*slot && at < (*slot)->nr)
		set_remove_at(sets, slot, at);
}

void set_put_latest(struct request_sets *sets, struct set **slot, struct server_request *request, uint32_t max)
{
	struct set *old, *latest;

	set_put(sets, slot, request);
	old = *slot;
	if (!old || old->nr <= 2 * max)
		return;
	latest = set_new(sets, max);
	for (uint32_t i = old->nr - max; latest && i < old->nr; i++)
		latest->items[latest->nr++] = request_ref(old->items[i]);
	*slot = latest;
	set_unref(old);
}

bool set_any_accepted(const struct set *set)
{
	for (uint32_t i = 0; set && !set->all_counted && i < set->nr; i++)
		if (!set->items[i]->counted)
			return true;
	return false;
}

bool set_any_counted(const struct set *set)
{
	for (uint32_t i = 0; set && i < set->nr; i++)
		if (set->items[i]->counted)
			return true;
	return false;
}

bool set_any_unanswered(const struct set *set)
{
	for (uint32_t i = 0; set && i < set->nr; i++)
		if (!set->items[i]->replied)
			return true;
	return false;
}
