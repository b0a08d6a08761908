/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* user_sums.c - sums of events and spans. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "state.h"
#include "user_sums.h"
#include "window.h"
#include "user_accounting.h"

/* kinds of spans; further ones are not followed, because there can be many pairs of events */
#define MAX_SPANS 65536

void *user_fail(struct trace_user_events *u)
{
	u->failed = -ENOMEM;
	return NULL;
}

bool user_counts(const struct trace_user_events *u)
{
	return !u->analysis->is_before_window && !u->analysis->is_past_window;
}

bool user_spans_are_full(const struct trace_user_events *u)
{
	return u->nr_spans == MAX_SPANS;
}

bool user_counts_ends(const struct trace_user_events *u)
{
	return u->analysis->window || u->hooks;
}

static bool counts_as_open(const struct trace_user_events *u, uint64_t from_ns)
{
	return u->analysis->is_past_window ? from_ns < window_to(u->analysis->window) : !u->analysis->is_before_window;
}

void span_left_open(const struct trace_user_events *u, struct span_sum *span, uint64_t from_ns)
{
	span->open += counts_as_open(u, from_ns);
	if (u->hooks)
		u->hooks->open(u->hooks_data, span, from_ns);
}

void span_unmatched(const struct trace_user_events *u, struct span_sum *span)
{
	span->unmatched += user_counts(u);
	if (u->hooks)
		u->hooks->unmatched(u->hooks_data, span);
}

void latency_add(struct trace_user_events *u, struct latency *latency, uint64_t ns)
{
	uint64_t key = latency_key(1, ns);

	if (!histogram_add(&latency->buckets, histogram_row_key(key), histogram_cell(key), 1)) {
		user_fail(u);
		return;
	}
	if (!latency->count || ns < latency->min)
		latency->min = ns;
	if (ns > latency->max)
		latency->max = ns;
	latency->count++;
	latency->sum += ns;
}

/* Texts of the analysis are equal if their addresses are; but "" has one in each file. */
static const char *one_text(const char *text)
{
	static const char none[] = "";

	return *text ? text : none;
}

/* The row of @wait in @waits. It is added if it is missing. */
static struct span_wait *wait_row(struct trace_user_events *u, struct hash_table *waits, const struct span_wait *wait)
{
	const char *target = one_text(wait->target), *via = one_text(wait->via), *path = one_text(wait->path);
	uint64_t object = user_mix(user_mix((uintptr_t)target, (uintptr_t)path), (uintptr_t)wait->thread);
	uint64_t key = user_mix(user_mix(user_mix(user_mix(wait->kind * 2ull + wait->idle, object), (uintptr_t)via),
					 (uintptr_t)wait->other),
				1);
	struct span_wait *row;

	for (;; key++) {
		key += !key;
		row = table_add(waits, sizeof(*row), key);
		if (!row)
			return user_fail(u);
		if (!row->target) {
			*row = (struct span_wait){.key = key,
						  .target = target,
						  .via = via,
						  .path = path,
						  .other = wait->other,
						  .thread = wait->thread,
						  .kind = wait->kind,
						  .idle = wait->idle};
			return row;
		}
		if (row->kind == wait->kind && row->idle == wait->idle && row->target == target && row->via == via &&
		    row->other == wait->other && row->path == path && row->thread == wait->thread)
			return row;
	}
}

void wait_add(struct trace_user_events *u, struct hash_table *waits, const struct span_wait *wait, uint64_t ns,
	      uint64_t count)
{
	struct span_wait *row = wait_row(u, waits, wait);

	if (!row)
		return;
	row->ns += ns;
	row->count += count;
}

void waits_merge(struct trace_user_events *u, struct hash_table *into, const struct hash_table *from)
{
	const struct span_wait *row = NULL;

	while ((row = table_next(from, sizeof(*row), row)))
		wait_add(u, into, row, row->ns, row->count);
}

uint64_t waits_sum(const struct hash_table *waits)
{
	const struct span_wait *row = NULL;
	uint64_t sum = 0;

	while ((row = table_next(waits, sizeof(*row), row)))
		sum += row->ns;
	return sum;
}

static uint64_t times_sum(const struct trace_times *t)
{
	return t->user_ns + t->syscall_ns + t->trap_ns + t->interrupted_ns + t->wait_cpu_ns + t->blocked_ns;
}

void times_add(struct trace_times *to, const struct trace_times *t)
{
	to->user_ns += t->user_ns;
	to->syscall_ns += t->syscall_ns;
	to->trap_ns += t->trap_ns;
	to->interrupted_ns += t->interrupted_ns;
	to->wait_cpu_ns += t->wait_cpu_ns;
	to->blocked_ns += t->blocked_ns;
}

enum { USER, SYSCALL, TRAP, INTERRUPTED, WAIT_CPU, BLOCKED, NR_PARTS };

/* Difference of two 64-bit totals: times from a file may need more than 63 bits. */
typedef __int128 difference;

/*
 * Take up to @ns from the parts @first ... @end - 1, but leave each at least its @minimum. Returns
 * the rest.
 */
static difference take(difference *parts, const difference *minimum, int first, int end, difference ns)
{
	for (int i = first; i < end; i++) {
		difference much = parts[i] > minimum[i] ? parts[i] - minimum[i] : 0;

		much = much < ns ? much : ns;
		parts[i] -= much;
		ns -= much;
	}
	return ns;
}

/*
 * Time that is not accounted yet is guessed: time on a CPU as user mode, time off the CPUs as one
 * wait. If the accounting decides otherwise later, the guess in @before was too much for one part.
 * That part is then less @now than @before. The difference is taken from the other parts, which got
 * it although it was before the span.
 * @known_ns: time of waits with a known cause.
 */
struct trace_times times_since(const struct trace_times *now, const struct trace_times *before, uint64_t known_ns)
{
	difference minimum[NR_PARTS] = {[BLOCKED] = known_ns},
		   parts[NR_PARTS] = {
			   [USER] = (difference)now->user_ns - before->user_ns,
			   [SYSCALL] = (difference)now->syscall_ns - before->syscall_ns,
			   [TRAP] = (difference)now->trap_ns - before->trap_ns,
			   [INTERRUPTED] = (difference)now->interrupted_ns - before->interrupted_ns,
			   [WAIT_CPU] = (difference)now->wait_cpu_ns - before->wait_cpu_ns,
			   [BLOCKED] = (difference)now->blocked_ns - before->blocked_ns,
		   };

	for (int i = 0; i < NR_PARTS; i++) {
		difference missing = parts[i] < minimum[i] ? minimum[i] - parts[i] : 0;

		parts[i] += missing;
		missing = i < WAIT_CPU ? take(parts, minimum, USER, WAIT_CPU, missing)
				       : take(parts, minimum, WAIT_CPU, NR_PARTS, missing);
		take(parts, minimum, USER, NR_PARTS, missing);
	}
	return (struct trace_times){
		.user_ns = (uint64_t)parts[USER],
		.syscall_ns = (uint64_t)parts[SYSCALL],
		.trap_ns = (uint64_t)parts[TRAP],
		.interrupted_ns = (uint64_t)parts[INTERRUPTED],
		.wait_cpu_ns = (uint64_t)parts[WAIT_CPU],
		.blocked_ns = (uint64_t)parts[BLOCKED],
	};
}

uint64_t owner_key(const struct owner *owner)
{
	return owner->process ? (uintptr_t)owner->process : owner->pid;
}

bool same_owner(const struct owner *l, const struct owner *r)
{
	return l->process == r->process && (l->process || l->pid == r->pid);
}

/* Make room for one more pointer in the list @at, which uses @used of @room. */
static bool list_room(void **at, size_t used, size_t *room)
{
	size_t more = *room ? *room * 2 : 16;
	void *bigger;

	if (used < *room)
		return true;
	bigger = reallocarray(*at, more, sizeof(void *));
	if (!bigger)
		return false;
	*at = bigger;
	*room = more;
	return true;
}

struct event_sum *event_sum(struct trace_user_events *u, const struct owner *owner, string_id name)
{
	uint64_t key = user_mix(user_mix(owner_key(owner), name), 2);
	struct user_pointer_row *row;
	struct event_sum *sum;

	for (;; key++) {
		key += !key;
		row = table_add(&u->event_index, sizeof(*row), key);
		if (!row)
			return user_fail(u);
		sum = row->pointer;
		if (!sum)
			break;
		if (same_owner(&sum->owner, owner) && sum->name == name)
			return sum;
	}
	sum = list_room((void **)&u->events, u->nr_events, &u->events_room) ? calloc(1, sizeof(*sum)) : NULL;
	if (!sum)
		return user_fail(u);
	sum->owner = *owner;
	sum->name = name;
	return u->events[u->nr_events++] = row->pointer = sum;
}

struct span_sum *span_sum(struct trace_user_events *u, const struct owner *owner, enum trace_span_kind kind,
			  string_id name, string_id from)
{
	uint64_t key = user_mix(user_mix(user_mix(owner_key(owner), name), from), 3 + kind);
	struct user_pointer_row *row;
	struct span_sum *sum;

	for (;; key++) {
		key += !key;
		row = table_find(&u->span_index, sizeof(*row), key);
		if (!row)
			break;
		sum = row->pointer;
		if (same_owner(&sum->owner, owner) && sum->kind == kind && sum->name == name && sum->from == from)
			return sum;
	}
	if (u->nr_spans == MAX_SPANS) {
		u->spans_left_out = true;
		return NULL;
	}
	sum = list_room((void **)&u->spans, u->nr_spans, &u->spans_room) ? calloc(1, sizeof(*sum)) : NULL;
	row = sum ? table_add(&u->span_index, sizeof(*row), key) : NULL;
	if (!row) {
		free(sum);
		return user_fail(u);
	}
	sum->owner = *owner;
	sum->number = (uint32_t)u->nr_spans;
	sum->kind = kind;
	sum->name = name;
	sum->from = from;
	return u->spans[u->nr_spans++] = row->pointer = sum;
}

void span_add(struct trace_user_events *u, struct span_sum *span, uint64_t elapsed, const struct trace_times *times,
	      uint64_t queued)
{
	latency_add(u, &span->elapsed, elapsed);
	times_add(&span->times, times);
	span->queued += queued;
	span->unseen += elapsed - queued - times_sum(times);
	if (u->hooks)
		u->hooks->span(u->hooks_data, span, trace_analysis_now(u->analysis) - elapsed, times, queued);
}
