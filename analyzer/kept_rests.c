/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * kept_rests.c - waits between two parts of an answer that a thread relays, and rests after it
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
 * A thread keeps MAX_KEPT waits. If there are more, the oldest was a rest.
 */
#include <errno.h>
#include <stdlib.h>
#include "gap_log.h"
#include "kept_rests.h"
#include "pending.h"
#include "state.h"
#include "state_frame.h"
#include "wait_cause.h"

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

static struct kept_rest *kept_at(struct kept_rests *rests, uint32_t i)
{
	return &rests->list[(rests->first + i) % MAX_KEPT];
}

/* ---- decisions ---- */

/* Account the first @nr kept waits in the frame of their call. */
static void account_first(struct trace_analysis *a, struct trace_thread *thread, uint32_t nr)
{
	struct kept_rests *rests = thread->requests.rests;
	struct frame frame = thread->frames[0];
	uint8_t depth = thread->depth;

	thread->depth = 1;
	for (; nr; nr--) {
		const struct kept_rest *kept = kept_at(rests, 0);

		thread->frames[0] = (struct frame){.kind = FRAME_SYSCALL,
						   .call = kept->call,
						   .file = kept->file,
						   .nr_args = 1,
						   .args = {kept->argument}};
		pending_account(a, thread, &kept->wait, &kept->cause);
		rests->first = (rests->first + 1) % MAX_KEPT;
		rests->nr--;
	}
	thread->frames[0] = frame;
	thread->depth = depth;
}

void rests_end(struct trace_analysis *a, struct trace_thread *thread)
{
	if (!thread || !thread->requests.rests)
		return;
	account_first(a, thread, thread->requests.rests->nr);
	free(thread->requests.rests);
	thread->requests.rests = NULL;
	a->nr_kept--;
}

/* The request was open from @from_ns on. */
static void were_blocked(struct trace_thread *thread, uint64_t from_ns)
{
	struct kept_rests *rests = thread->requests.rests;

	for (uint32_t i = rests ? rests->nr : 0; i && kept_at(rests, i - 1)->wait.from >= from_ns; i--)
		kept_at(rests, i - 1)->cause.idle = false;
}

/* ---- parts ---- */

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

/* More of the answer, or its end, follows the part that was relayed last. */
static void answer_went_on(const struct trace_analysis *a, const struct socket_state *sock)
{
	if (sock->relayer && gap_log_first_loss(&a->gaps, sock->relayed_ns, a->now) == UINT64_MAX)
		were_blocked(sock->relayer, sock->relayed_ns);
}

void relay_closed(const struct trace_analysis *a, const struct trace_thread *thread, struct socket_state *sock)
{
	if (thread->brings_part)
		answer_went_on(a, sock);
	relay_forget(sock);
}

void answer_relayed(struct trace_analysis *a, struct trace_thread *thread, struct socket_state *sock)
{
	if (!thread->brings_part)
		return;
	answer_went_on(a, sock);
	if (sock->relayer != thread) {
		relay_forget(sock);
		sock->relayer = thread;
		thread->requests.nr_relays++;
	}
	sock->relayed_ns = a->now;
}

/* ---- waits ---- */

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

/* Memory for the kept waits of @thread. */
static struct kept_rests *rests_get(struct trace_analysis *a, struct trace_thread *thread)
{
	if (!thread->requests.rests) {
		thread->requests.rests = calloc(1, sizeof(*thread->requests.rests));
		if (thread->requests.rests)
			a->nr_kept++;
		else
			a->failed = -ENOMEM;
	}
	return thread->requests.rests;
}

bool rest_is_kept(struct trace_analysis *a, struct trace_thread *thread, const struct pending *pending,
		  const struct wait_cause *v)
{
	const struct frame *call = frame_outermost(thread);
	struct kept_rests *rests;

	if (!thread->requests.nr_relays)
		rests_end(a, thread);
	if (!thread->requests.nr_relays || pending->cut || pending->depth != 1 || !call)
		return false;
	rests = rests_get(a, thread);
	if (!rests)
		return false;
	if (rests->nr == MAX_KEPT)
		account_first(a, thread, 1);
	*kept_at(rests, rests->nr++) = (struct kept_rest){
		.wait = *pending, .cause = *v, .call = call->call, .file = call->file, .argument = call->args[0]};
	return true;
}

void rests_mark(const struct trace_thread *thread, uint64_t *files)
{
	struct kept_rests *rests = thread->requests.rests;

	for (uint32_t i = 0; rests && i < rests->nr; i++) {
		const struct kept_rest *kept = kept_at(rests, i);

		files[kept->file / 64] |= 1ull << kept->file % 64;
		files[kept->wait.waker.file / 64] |= 1ull << kept->wait.waker.file % 64;
	}
}
