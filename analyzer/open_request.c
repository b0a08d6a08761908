/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* open_request.c - which requests are open at a thread: its counts, kept at the sockets */
#include "open_request.h"
#include <errno.h>
#include "kernel_numbers.h"
#include "open_datagrams.h"
#include "relay.h"
#include "state.h"

bool requests_were_read(const struct thread_requests *requests)
{
	return requests->nr_read && !requests->hands_over;
}

void requests_changed(struct trace_thread *thread)
{
	const struct thread_requests *requests = &thread->requests;

	thread->is_asked = requests_were_read(requests) || requests->nr_asked || requests->has_job;
}

static void reader_leave(struct socket_state *sock)
{
	if (sock->reader && sock->reader->requests.nr_read) {
		sock->reader->requests.nr_read--;
		requests_changed(sock->reader);
	}
	sock->reader = NULL;
}

static void asker_leave(struct socket_state *sock)
{
	uint32_t *nr = !sock->asker    ? NULL
		       : sock->answers ? &sock->asker->requests.nr_asked
				       : &sock->asker->requests.nr_first;

	if (nr && *nr) {
		--*nr;
		requests_changed(sock->asker);
	}
	sock->asker = NULL;
}

static void request_open(struct trace_analysis *a, struct trace_thread *thread, struct socket_state *sock)
{
	sock->reader = thread;
	thread->requests.nr_read++;
	thread->requests.since_ns = a->now;
	requests_changed(thread);
}

void request_read(struct trace_analysis *a, struct trace_thread *thread, struct socket_state *sock)
{
	bool needs_answer = sock->type == LINUX_SOCK_STREAM || sock->answers || !sock->has_read;

	reader_leave(sock);
	if (!datagrams_are_open(sock)) /* else an answer to another client may go on */
		relay_forget(sock);
	if (sock->type == LINUX_SOCK_DGRAM && !datagram_read(sock, thread, a->now))
		a->failed = -ENOMEM;
	sock->has_read = true;
	if (needs_answer)
		request_open(a, thread, sock);
}

void request_stalled(struct trace_analysis *a, struct trace_thread *thread, struct socket_state *sock)
{
	if (!sock->reader)
		request_open(a, thread, sock);
}

void request_answered(struct trace_analysis *a, struct trace_thread *thread, struct socket_state *sock)
{
	bool answers = sock->reader;

	if (sock->reader)
		sock->reader->requests.hands_over = sock->reader != thread;
	reader_leave(sock);
	answer_relayed(a, thread, sock, answers);
	sock->answers = true;
}

void request_asked(struct trace_analysis *a, struct trace_thread *thread, struct socket_state *sock)
{
	asker_leave(sock);
	sock->asker = thread;
	++*(sock->answers ? &thread->requests.nr_asked : &thread->requests.nr_first);
	thread->requests.since_ns = a->now;
	requests_changed(thread);
}

void request_got_answer(struct socket_state *sock)
{
	if (!sock->asker)
		return;
	asker_leave(sock);
	sock->answers = true;
}

void request_close(const struct trace_analysis *a, const struct trace_thread *thread, struct socket_state *sock)
{
	if (sock->reader && sock->reader->process == thread->process)
		reader_leave(sock);
	if (sock->asker && sock->asker->process == thread->process)
		asker_leave(sock);
	if (sock->relayer && sock->relayer->process == thread->process)
		relay_closed(a, thread, sock);
}

void request_accepted(struct trace_thread *thread, uint64_t ns)
{
	thread->requests.accepts = thread->requests.has_accepted = true;
	thread->requests.accepted_ns = ns;
}

void request_forget(struct socket_state *sock)
{
	reader_leave(sock);
	asker_leave(sock);
	relay_forget(sock);
}
