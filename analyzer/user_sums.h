/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_USER_SUMS_H
#define ANALYZER_USER_SUMS_H
/* user_sums.h - the sums of the events, spans and waits of programs. */
#include "user_accounting.h"

/** user_fail() - note that memory ran out; returns NULL */
void *user_fail(struct trace_user_events *user);
/** user_counts() - the pass is in the window of the analysis, or there is none */
bool user_counts(const struct trace_user_events *user);
/** user_spans_are_full() - further kinds of spans are left out, which depends on the window */
bool user_spans_are_full(const struct trace_user_events *user);
/** user_counts_ends() - a request counts as a whole when it ends, and not piece by piece */
bool user_counts_ends(const struct trace_user_events *user);
/** span_left_open() - one of @span that began at @from_ns has no result: it may count as open */
void span_left_open(const struct trace_user_events *user, struct span_sum *span, uint64_t from_ns);
/** span_unmatched() - an end of @span has no begin, or a begin was not followed */
void span_unmatched(const struct trace_user_events *user, struct span_sum *span);
void latency_add(struct trace_user_events *user, struct latency *latency, uint64_t ns);
/** event_sum() - the sum of @name in the process of @owner; made if missing; NULL: out of memory */
struct event_sum *event_sum(struct trace_user_events *user, const struct owner *owner, string_id name);
/** span_sum() - the same for a span; NULL also if there are too many kinds of spans */
struct span_sum *span_sum(struct trace_user_events *user, const struct owner *owner, enum trace_span_kind kind,
			  string_id name, string_id from);
void times_add(struct trace_times *to, const struct trace_times *times);
/** wait_add() - add @ns and @count to the row of @wait in @waits; 2^64 - n subtracts n */
void wait_add(struct trace_user_events *user, struct hash_table *waits, const struct span_wait *wait, uint64_t ns,
	      uint64_t count);
void waits_merge(struct trace_user_events *user, struct hash_table *into, const struct hash_table *from);
uint64_t waits_sum(const struct hash_table *waits);
/**
 * times_since() - the difference of a thread's sums @now and @before
 * @known_ns: at least so much of the difference is a wait.
 */
struct trace_times times_since(const struct trace_times *now, const struct trace_times *before, uint64_t known_ns);
/**
 * span_add() - add a span that took @elapsed; time in neither @times nor @queued counts as unseen
 */
void span_add(struct trace_user_events *user, struct span_sum *span, uint64_t elapsed, const struct trace_times *times,
	      uint64_t queued);
uint64_t owner_key(const struct owner *owner);
bool same_owner(const struct owner *left, const struct owner *right);
static inline uint64_t user_mix(uint64_t hash, uint64_t value)
{
	return hash_u64(hash ^ value) * 0xd6e8feb86659fd93ULL + 1;
}

#endif
