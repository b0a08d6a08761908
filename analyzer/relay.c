/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * relay.c - answers that a thread relays in parts, and its waits between them
 *
 * A proxy sends the first part of an answer to its client while the backend still works on the
 * rest. The trace does not have the length of an answer, so the first part does not show whether
 * more follows. The next part shows it.
 *
 * Terms. A thread brings a part if it received on a connection on which it asked, or from a pipe of
 * another process, since its last wait. It relays an answer if it brings a part when it sends to a
 * client.
 *
 * Rule. A wait that looks idle is kept as long as the thread may be relaying: it relayed on a
 * client's connection, and has neither read from it nor closed it since. If the thread then sends
 * more on that connection, and brings a part again, then the request was open all the time: the
 * waits since the last part were not idle, whatever ended them. When the thread has no such
 * connection any more, the kept waits were rests.
 *
 * Example: a proxy relays the first part of an answer at 10 ms. It waits until 20 ms, when another
 * client's request comes, and from 21 ms to 40 ms, when the backend sends the last part, which it
 * relays. Both waits are blocked. It waits from 41 ms to 90 ms, when the client's next request
 * comes: this wait is idle.
 *
 * Both conditions are needed. A server that pushes messages to its subscribers sends more without a
 * request, too, but nothing came from a server that it asked: it waits for new work. A backend that
 * says good-bye on a connection at rest sends more, but nothing goes to a client.
 *
 * kept_rests.c keeps the waits and accounts them.
 */
#include "gap_log.h"
#include "open_datagrams.h"
#include "relay.h"
#include "state.h"
#include "wait_cause.h"

/* The request was open from @from_ns on. */
static void were_blocked(struct trace_thread *thread, uint64_t from_ns)
{
	struct kept_rests *rests = thread->requests.rests;

	for (uint32_t i = rests ? rests->nr : 0; i && kept_at(rests, i - 1)->wait.from >= from_ns; i--)
		kept_at(rests, i - 1)->cause.idle = false;
}

void part_came(const struct trace_analysis *a, struct trace_thread *thread)
{
	thread->brings_part = true;
	thread->requests.part_ns = a->now;
}

void relay_forget(struct socket_state *sock)
{
	if (sock->relayer && sock->relayer->requests.nr_relays)
		sock->relayer->requests.nr_relays--;
	sock->relayer = NULL;
}

/* A request was open from @from_ns until now at the thread that relays on @sock. */
static void open_since(const struct trace_analysis *a, const struct socket_state *sock, uint64_t from_ns)
{
	if (sock->relayer && gap_log_first_loss(&a->gaps, from_ns, a->now) == UINT64_MAX)
		were_blocked(sock->relayer, from_ns);
}

/* More of the answer, or its end, follows the part that was relayed last. */
static void answer_went_on(const struct trace_analysis *a, const struct socket_state *sock)
{
	open_since(a, sock, sock->relayed_ns);
}

void relay_closed(const struct trace_analysis *a, const struct trace_thread *thread, struct socket_state *sock)
{
	if (thread->brings_part)
		answer_went_on(a, sock);
	relay_forget(sock);
}

void answer_relayed(struct trace_analysis *a, struct trace_thread *thread, struct socket_state *sock, bool answers)
{
	uint64_t open_ns = answers || thread->brings_part ? datagram_answered(sock, thread) : 0;

	if (!thread->brings_part)
		return;
	if (open_ns)
		open_since(a, sock, open_ns);
	else
		answer_went_on(a, sock);
	if (sock->relayer != thread) {
		relay_forget(sock);
		sock->relayer = thread;
		thread->requests.nr_relays++;
	}
	sock->relayed_ns = a->now;
}

static bool is_from_other_process(const struct trace_thread *thread, const struct wait_cause *v)
{
	return v->kind == TRACE_WAIT_PROCESS && v->via == VIA_PIPE && v->target != thread->process->idx;
}

void rest_ended(struct trace_thread *thread, const struct pending *pending, const struct wait_cause *v)
{
	if (is_from_other_process(thread, v)) {
		thread->brings_part = true;
		thread->requests.part_ns = pending->to;
	} else if (v->kind != TRACE_WAIT_FILE && pending->to > thread->requests.part_ns) {
		thread->brings_part = false;
	}
}
