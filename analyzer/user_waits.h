/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_USER_WAITS_H
#define ANALYZER_USER_WAITS_H
/* user_waits.h - the waits of threads in the segments of their scopes and requests. */
#include "user_accounting.h"

/** wait_unknown - the row of waits with an unknown cause */
extern const struct span_wait wait_unknown;
/** steps_earn() - an event or a wait arrived: increase the budget of steps */
void steps_earn(struct trace_user_events *user);
/**
 * segment_begin() - begin @segment of @actor now, for @span
 * @collect: collect its waits.
 */
void segment_begin(struct trace_user_events *user, struct actor *actor, struct segment *segment, struct span_sum *span,
		   bool collect);
/** segment_drop() - end @segment without a result */
void segment_drop(struct trace_user_events *user, struct actor *actor, struct segment *segment);
/**
 * segment_times() - the times of its thread since it began
 * @known_ns: time of its waits with a known cause.
 */
struct trace_times segment_times(struct trace_user_events *user, const struct segment *segment, uint64_t known_ns);
/** segment_end() - add one span with the times and waits of @segment to its sum; drop @segment */
void segment_end(struct trace_user_events *user, struct actor *actor, struct segment *segment);
/** actor_wait() - the thread of @actor was blocked: collect the wait for all its segments */
void actor_wait(struct trace_user_events *user, struct actor *actor, const struct trace_interval *interval);
void actor_waits_free(struct actor *actor);

/**
 * request_follow() - begin a segment of @request for its actor; from now on its span gets the
 * actor's waits as they arrive, if the actor can follow one more name
 */
void request_follow(struct trace_user_events *user, struct user_request *request);
/**
 * request_unfollow() - stop that
 * @ends: the request ends.
 * Returns the time of waits that arrived meanwhile, in ns.
 */
uint64_t request_unfollow(struct trace_user_events *user, struct user_request *request, bool ends);
/**
 * request_collect() - with a window: @request keeps the waits of its present segment
 * Returns their time in ns; 0 if that would take too many steps.
 */
uint64_t request_collect(struct trace_user_events *user, struct user_request *request);
/**
 * requests_take_back() - subtract the waits of @actor's current segments from the spans of its
 * followed requests, because those requests will not end
 */
void requests_take_back(struct trace_user_events *user, struct actor *actor);
/** request_take_back() - the same for the earlier segments of @request */
void request_take_back(struct trace_user_events *user, struct user_request *request);

#endif
