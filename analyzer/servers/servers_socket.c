/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* servers_socket.c - the events of sockets and pipes: what was connected, sent and received */
#include <errno.h>
#include <string.h>
#include "kernel_numbers.h"
#include "servers_receive.h"
#include "servers_request.h"
#include "servers_ring.h"
#include "servers_socket.h"
#include "servers_state.h"

#define TCP_FIN_WAIT1 4 /* include/net/tcp_states.h */
#define TCP_CLOSE     7
#define TCP_LAST_ACK  9

void socket_on_endpoints(struct trace_servers *s, const struct trace_event *event)
{
	const struct trace_sock_endpoints *ends = event->payload;
	struct servers_thread *thread = servers_current_thread(s, event);
	struct endpoint *endpoint;

	if (!thread)
		return;
	if (!thread->call.role)
		call_recover(s, thread);
	endpoint_learn(s, ends, thread->process, thread->call.role == CALL_MAKE || thread->call.role == CALL_ACCEPT);
	endpoint = endpoint_find(&s->endpoints, ends->ino);
	if (!endpoint)
		return;
	thread->ring.made = endpoint;
	if (thread->call.role == CALL_ACCEPT && !endpoint->listening) {
		/*
		 * A connection from before the trace may have waited to be accepted, with data in
		 * it.
		 */
		request_accept(s, thread, endpoint);
	} else if (thread->call.role == CALL_CONNECT && endpoint->kind != ENDPOINT_DATAGRAM) {
		endpoint->role = ROLE_CLIENT;
		if (endpoint->peer)
			endpoint->peer->role = ROLE_SERVER;
	}
}

static bool in_interrupt(const struct trace_servers *s, const struct trace_event *event)
{
	return trace_cpu_interrupt(s->analysis, event->cpu) != NULL;
}

static struct servers_thread *transferring(struct trace_servers *s, const struct trace_event *event)
{
	struct servers_thread *thread = in_interrupt(s, event) ? NULL : servers_current_thread(s, event);

	if (thread && !thread->call.role)
		call_recover(s, thread);
	return thread;
}

void socket_on_send(struct trace_servers *s, const struct trace_event *event)
{
	const struct trace_sock_send *send = event->payload;
	struct servers_thread *thread = transferring(s, event);
	struct endpoint *endpoint = NULL;

	if (thread) /* a failed send must not make a closed connection known again */
		endpoint = send->ret > 0 ? endpoint_get(s, send->ino, send->family, 0, send->protocol)
					 : endpoint_find(&s->endpoints, send->ino);
	if (!endpoint)
		return;
	endpoint->owner = thread->process;
	if (ring_sends(s, thread, endpoint, send->ret, (uint32_t)send->position))
		return;
	if (thread->call.endpoint != endpoint) { /* the descriptor was not known, or it is a splice */
		thread->call.endpoint = endpoint;
		request_prepare(s, thread, endpoint);
	}
	if (channel_out(endpoint))
		channel_end(channel_out(endpoint), thread);
	/* a datagram may be empty */
	if (send->ret < 0 || (!send->ret && endpoint->kind != ENDPOINT_DATAGRAM))
		return;
	if (channel_out(endpoint))
		channel_send(s, channel_out(endpoint), thread,
			     endpoint->kind == ENDPOINT_SEQPACKET ? 1 : (uint64_t)send->ret, (uint32_t)send->position);
	request_send(s, thread, endpoint);
	request_prepare(s, thread, endpoint); /* sendmmsg: the next message */
}

/*
 * A datagram is in the queue of the socket that it was sent to. The event is in the sender's
 * context.
 */
void socket_on_ready(struct trace_servers *s, const struct trace_event *event)
{
	const struct trace_sock_ready *ready = event->payload;
	struct endpoint *target;
	struct servers_thread *thread;

	if (in_interrupt(s, event)) {
		packet_ready(s, event);
		return;
	}
	target = endpoint_find(&s->endpoints, ready->ino);
	if (!target || target->kind != ENDPOINT_DATAGRAM)
		return;
	thread = transferring(s, event);
	if (!thread || (thread->call.role != CALL_SEND && thread->call.role != CALL_SPLICE &&
			!ring_datagram(s, thread, ready->ino)))
		return;
	thread->destination = ready->ino;
	if (thread->call.endpoint && thread->call.role != CALL_RING)
		request_prepare(s, thread, thread->call.endpoint);
	channel_send(s, &target->channel, thread, 1, 0);
}

/*
 * recv() with MSG_PEEK: the request is known from now on. A message is one request, so it begins
 * with the call that takes it.
 */
static void look(struct trace_servers *s, struct servers_thread *thread, struct endpoint *endpoint,
		 const struct trace_sock_recv *receive)
{
	struct channel *channel = channel_in(endpoint);

	if (receive->ret <= 0 || (endpoint->kind != ENDPOINT_STREAM && endpoint->kind != ENDPOINT_TCP))
		return;
	if (ring_looks(s, thread, endpoint, channel, receive->ret, (uint32_t)receive->position))
		return;
	endpoint->owner = thread->process;
	thread->call.endpoint = endpoint;
	if (channel)
		channel_peek(s, endpoint, channel, thread, (uint64_t)receive->ret, (uint32_t)receive->position);
	else
		receive_unknown(s, thread, endpoint);
}

void socket_on_look(struct trace_servers *s, const struct trace_event *event)
{
	const struct trace_sock_recv *receive = event->payload; /* sock_look has the same shape */
	struct servers_thread *thread = receive->ret > 0 ? transferring(s, event) : NULL;
	struct endpoint *endpoint = thread ? endpoint_get(s, receive->ino, receive->family, 0, receive->protocol)
					   : NULL;

	if (endpoint)
		look(s, thread, endpoint, receive);
}
_Static_assert(sizeof(struct trace_sock_recv) == sizeof(struct trace_sock_look), "socket_on_look() reads it");

/* Nothing was received: true for an empty datagram, false for the end of the data. */
static bool is_empty_message(const struct endpoint *endpoint, const struct channel *channel, int32_t ret)
{
	return !ret && endpoint->kind == ENDPOINT_DATAGRAM && channel->nr;
}

void socket_on_receive(struct trace_servers *s, const struct trace_event *event)
{
	const struct trace_sock_recv *receive = event->payload;
	struct servers_thread *thread = transferring(s, event);
	struct endpoint *endpoint = !thread ? NULL
				    : receive->ret > 0 || receive->ret == -LINUX_EAGAIN
					    ? endpoint_get(s, receive->ino, receive->family, 0, receive->protocol)
					    : endpoint_find(&s->endpoints, receive->ino);
	struct channel *channel = endpoint ? channel_in(endpoint) : NULL;
	bool messages = endpoint && (endpoint->kind == ENDPOINT_DATAGRAM || endpoint->kind == ENDPOINT_SEQPACKET);

	if (!endpoint || thread->call.errors || endpoint->kind == ENDPOINT_OTHER)
		return;
	if (thread->call.peek) {
		look(s, thread, endpoint, receive);
		return;
	}
	if (receive->ret == -LINUX_EAGAIN && channel)
		channel_drained(s, channel, trace_analysis_now(s->analysis));
	if (receive->ret <= 0 && !is_empty_message(endpoint, channel, receive->ret))
		return;
	if (ring_receives(s, thread, endpoint, channel, messages ? 1 : receive->ret, (uint32_t)receive->position))
		return;
	endpoint->owner = thread->process;
	thread->call.endpoint = endpoint;
	if (messages)
		thread->call.bytes_asked = 0; /* a short message says nothing about the next one */
	if (channel)
		channel_receive(s, endpoint, channel, thread, messages ? 1 : (uint64_t)receive->ret,
				(uint32_t)receive->position);
	else
		receive_unknown(s, thread, endpoint);
}

/*
 * close() returns before its last packet is sent. This event shows which socket sends that packet.
 */
void socket_on_state(struct trace_servers *s, const struct trace_event *event)
{
	const struct trace_sock_state *state = event->payload;
	bool closes = state->new_state == TCP_FIN_WAIT1 || state->new_state == TCP_LAST_ACK;
	struct servers_thread *thread = closes ? transferring(s, event) : NULL;
	struct endpoint *endpoint = closes || state->new_state == TCP_CLOSE ? endpoint_find(&s->endpoints, state->ino)
									    : NULL;

	const char *call = thread ? trace_thread_syscall(s->analysis, thread->thread) : NULL;

	if (thread && !thread->call.role)
		thread->call.endpoint = endpoint;
	if (endpoint)
		endpoint_closed(s, endpoint, call && strcmp(call, "shutdown") != 0, !closes);
}

void socket_on_open(struct trace_servers *s, const struct trace_event *event)
{
	const struct trace_fs_open *open = event->payload;
	struct servers_thread *thread = LINUX_S_ISFIFO(open->mode) ? servers_current_thread(s, event) : NULL;
	struct endpoint *pipe = thread ? pipe_get(s, open->dev, open->ino) : NULL;

	if (!pipe)
		return;
	if (!pipe->is_new && (thread->call.role == CALL_MAKE || thread->call.role == CALL_OPEN) && !pipe->is_old &&
	    !s->gaps.until_ns) {
		pipe->is_new = true;
		if (!pipe->channel.sent && !pipe->channel.received)
			pipe->channel.in_step = true;
	}
	if ((open->flags & 3) == 0 && thread->call.role == CALL_OPEN) /* O_RDONLY */
		pipe->owner = thread->process;
}
