/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_KEPT_RESTS_H
#define ANALYZER_KEPT_RESTS_H
/* kept_rests.h - waits between two parts of an answer that a thread relays, and rests after it */
#include <stdbool.h>
#include <stdint.h>

struct kept_rests;
struct pending;
struct socket_state;
struct trace_analysis;
struct trace_thread;
struct wait_cause;

/** part_came() - @thread received a part of an answer to its own request */
void part_came(const struct trace_analysis *a, struct trace_thread *thread);
/** answer_relayed() - @thread sent on @sock, a server's end at which no request is open any more */
void answer_relayed(struct trace_analysis *a, struct trace_thread *thread, struct socket_state *sock);
/** relay_closed() - @thread closes @sock, on which a thread of its process relayed an answer */
void relay_closed(const struct trace_analysis *a, const struct trace_thread *thread, struct socket_state *sock);
/** relay_forget() - no more of the latest answer is sent on @sock */
void relay_forget(struct socket_state *sock);

/**
 * rest_is_kept() - keep the wait @pending of @thread, with the cause @v, which looks idle, until
 * it is known whether an answer went on
 * Returns false if that is known already: the caller accounts the wait.
 */
bool rest_is_kept(struct trace_analysis *a, struct trace_thread *thread, const struct pending *pending,
		  const struct wait_cause *v);
/** rest_ended() - @thread waited for @v; it has nothing left of what it received before */
void rest_ended(struct trace_thread *thread, const struct pending *pending, const struct wait_cause *v);

/** rests_end() - account all kept waits of @thread, which may be NULL: they were rests */
void rests_end(struct trace_analysis *a, struct trace_thread *thread);
/** rests_mark() - mark the files of the kept waits of @thread in the bit set @files */
void rests_mark(const struct trace_thread *thread, uint64_t *files);
#endif
