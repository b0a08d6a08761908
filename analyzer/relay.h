/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_RELAY_H
#define ANALYZER_RELAY_H
/* relay.h - answers that a thread relays in parts, and its waits between them */
#include <stdbool.h>
#include <stdint.h>
#include "state_thread.h"
#include "wait_cause.h"

struct socket_state;
struct trace_analysis;

#define MAX_KEPT 256u

struct kept_rest {
	struct pending wait;
	struct wait_cause cause;
	uint32_t call;
	file_idx file;
	uint64_t argument;
};

struct kept_rests {
	uint32_t first, nr; /* waits [first, first + nr) modulo MAX_KEPT, in order of time */
	struct kept_rest list[MAX_KEPT];
};

static inline struct kept_rest *kept_at(struct kept_rests *rests, uint32_t i)
{
	return &rests->list[(rests->first + i) % MAX_KEPT];
}

/** part_came() - @thread received a part of an answer to its own request */
void part_came(const struct trace_analysis *a, struct trace_thread *thread);
/**
 * answer_relayed() - @thread sent on @sock, a server's end at which no request is open any more
 * @answers: the latest request was open until then
 */
void answer_relayed(struct trace_analysis *a, struct trace_thread *thread, struct socket_state *sock, bool answers);
/** relay_closed() - @thread closes @sock, on which a thread of its process relayed an answer */
void relay_closed(const struct trace_analysis *a, const struct trace_thread *thread, struct socket_state *sock);
/** relay_forget() - no more of the latest answer is sent on @sock */
void relay_forget(struct socket_state *sock);

/** rest_ended() - @thread waited for @v; it has nothing left of what it received before */
void rest_ended(struct trace_thread *thread, const struct pending *pending, const struct wait_cause *v);
#endif
