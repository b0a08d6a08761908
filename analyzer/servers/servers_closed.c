/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * servers_closed.c - closed connections are freed when nothing refers to them any more
 *
 * A connection is freed when all of these are true:
 *
 *   - both ends are closed (TCP: by their states; pipes and other sockets: by the analysis)
 *   - everything sent has been received
 *   - no thread or packet refers to it
 *   - no request that came in through it is alive
 *
 * sweep() checks this when enough connections were closed: as many as remained after the last
 * sweep, and SWEEP_MIN more.
 */
#include <errno.h>
#include <stdlib.h>
#include "kernel_numbers.h"
#include "servers_state.h"

#define SWEEP_MIN 1024u
/*
 * The other end may have shut down one direction only. If it has not received the data on its way
 * within this time, it never will.
 */
#define UNREAD_NS 10000000000u

static void retire(struct trace_servers *s, struct endpoint *endpoint)
{
	struct endpoint **bigger;

	if (endpoint->retired)
		return;
	if (s->closed.nr == s->closed.max) {
		bigger = reallocarray(s->closed.items, s->closed.max ? s->closed.max * 2 : SWEEP_MIN,
				      sizeof(struct endpoint *));
		if (!bigger) {
			s->failed = -ENOMEM;
			return;
		}
		s->closed.max = s->closed.max ? s->closed.max * 2 : SWEEP_MIN;
		s->closed.items = bigger;
	}
	endpoint->retired = true;
	s->closed.items[s->closed.nr++] = endpoint;
}

static void pin(struct endpoint *endpoint)
{
	if (endpoint)
		endpoint->pinned = true;
}

static bool is_over(const struct trace_servers *s, const struct endpoint *endpoint)
{
	if (!endpoint->closed_ns || endpoint->pinned || endpoint->at_port || endpoint->ring_ops.nr ||
	    endpoint->channel.nr_sending)
		return false;
	if (!endpoint->channel.nr || !endpoint->peer || endpoint->peer->released)
		return true;
	return trace_analysis_now(s->analysis) > endpoint->closed_ns + UNREAD_NS;
}

static void sweep(struct trace_servers *s)
{
	uint32_t left = 0;

	for (uint32_t i = 0; i < s->closed.nr; i++)
		s->closed.items[i]->pinned = false;
	for (uint32_t i = 0; i < s->threads.nr; i++) {
		struct servers_thread *thread = s->threads.by_idx[i];

		if (!thread)
			continue;
		pin(thread->call.endpoint);
		pin(thread->call.target);
		pin(thread->ring.made);
	}
	packets_pin(&s->packets);
	/* requests here that are not answered yet never will be */
	for (uint32_t i = 0; i < s->closed.nr; i++) {
		struct endpoint *endpoint = s->closed.items[i];

		if (is_over(s, endpoint) && (!endpoint->peer || is_over(s, endpoint->peer)))
			endpoint_empty(endpoint);
	}
	for (uint32_t i = 0; i < s->closed.nr; i++) {
		struct endpoint *endpoint = s->closed.items[i], *peer = endpoint->peer;

		if (!endpoint->closed_ns) /* it was connected again */
			endpoint->retired = false;
		else if (is_over(s, endpoint) && !endpoint->requests &&
			 (!peer || (is_over(s, peer) && !peer->requests)))
			endpoint_remove(&s->endpoints, endpoint);
		else
			s->closed.items[left++] = endpoint;
	}
	s->closed.nr = left;
	s->closed.sweep_at = left * 2 + SWEEP_MIN;
}

static void retire_both(struct trace_servers *s, struct endpoint *endpoint)
{
	retire(s, endpoint);
	if (endpoint->peer)
		retire(s, endpoint->peer);
	if (s->closed.nr >= (s->closed.sweep_at ? s->closed.sweep_at : SWEEP_MIN))
		sweep(s);
}

void endpoint_closed(struct trace_servers *s, struct endpoint *endpoint, bool released, bool by_peer)
{
	endpoint->released |= released;
	if (endpoint->kind != ENDPOINT_TCP || endpoint->listening || endpoint->closed_ns)
		return;
	endpoint->closed_ns = trace_analysis_now(s->analysis);
	if (!by_peer)
		open_ended(s, endpoint);
	if (endpoint->peer ? !endpoint->peer->closed_ns : !endpoint_is_remote(endpoint))
		return; /* the other end may be connected, and not accepted yet */
	retire_both(s, endpoint);
}

void endpoint_released(void *data, const struct trace_file_id *id)
{
	struct trace_servers *s = data;
	struct endpoint *endpoint = LINUX_S_ISFIFO(id->mode) ? pipe_find(&s->endpoints, id->dev, id->ino)
							     : endpoint_find(&s->endpoints, id->ino);

	if (!endpoint)
		return;
	if (endpoint->kind == ENDPOINT_TCP && (endpoint->listening || endpoint->ends.remote_port)) {
		open_ended(s, endpoint); /* its peer may have reset it long ago */
		return;			 /* TCP connections are released by their states */
	}
	endpoint->released = true;
	open_ended(s, endpoint);
	if (!endpoint->closed_ns)
		endpoint->closed_ns = trace_analysis_now(s->analysis);
	if (!endpoint->peer || endpoint->peer->closed_ns)
		retire_both(s, endpoint);
}
